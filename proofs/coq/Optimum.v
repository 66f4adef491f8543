(** How well any private mechanism can do: weak duality of the linear program behind optima.

    Datasets are numbered, and so are outputs. A mechanism is a table of probabilities; among its neighbours P(y|x) is at
    most R P(y|x') + s(y), where the s are at least 0 and add up to at most δ. Weights of the datasets, and multipliers of
    the neighbours, bound what each such mechanism gains where it gains least. *)

From Coq Require Import ZArith List Bool Arith Ring.
From Tightdp Require Import Numbers Program Sums.
Import ListNotations.

Section Duality.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).

Variables (datasets : nat) (outputs : list nat) (neighbours : list (nat * nat)).
Hypothesis numbered : forall p, In p neighbours -> (fst p < datasets)%nat /\ (snd p < datasets)%nat.
Notation all := (seq 0 datasets).

(** What is gained where y is published on x, and R and δ. *)
Variable gain : nat -> nat -> K.
Variables R delta : K.

Definition mechanism (P : nat -> nat -> K) : Prop :=
  (forall x y, In x all -> In y outputs -> 0 <= P x y) /\ (forall x, In x all -> sum outputs (P x) = 1)
  /\ forall p, In p neighbours -> exists s : nat -> K,
       (forall y, In y outputs -> 0 <= s y /\ P (fst p) y <= R * P (snd p) y + s y) /\ sum outputs s <= delta.

Variable weight : nat -> K.
Variable multiplier : nat * nat -> nat -> K.
Hypothesis weights_fine : (forall x, In x all -> 0 <= weight x) /\ sum all weight = 1.
Hypothesis multipliers_fine : forall p y, In p neighbours -> In y outputs -> 0 <= multiplier p y.

(** What an output of a dataset still counts; at most [top] of the dataset, and the multipliers at most [largest]. *)
Definition rest (x y : nat) : K :=
  weight x * gain x y - sum neighbours (fun p => when K (Nat.eqb (fst p) x) (multiplier p y))
  + R * sum neighbours (fun p => when K (Nat.eqb (snd p) x) (multiplier p y)).
Variable top : nat -> K.
Variable largest : nat * nat -> K.
Hypothesis top_says : forall x y, In x all -> In y outputs -> rest x y <= top x.
Hypothesis largest_says : forall p y, In p neighbours -> In y outputs -> multiplier p y <= largest p.
Hypothesis largest_fine : forall p, In p neighbours -> 0 <= largest p.

Lemma picked : forall (f : nat -> K) n k from, (from <= k < from + n)%nat -> sum (seq from n) (fun x => when K (Nat.eqb k x) (f x)) = f k.
Proof.
  intros f n. induction n as [|n IH]; intros k from H; [exfalso; rewrite Nat.add_0_r in H; apply (Nat.lt_irrefl k), (Nat.lt_le_trans k from k); apply H|].
  cbn [seq Program.sum]. destruct (Nat.eqb k from) eqn:E.
  - apply Nat.eqb_eq in E. subst k. rewrite sum_zero; [cbn; ring|]. intros x Hx. apply in_seq in Hx. destruct (Nat.eqb from x) eqn:F; [|reflexivity].
    apply Nat.eqb_eq in F. subst x. destruct Hx as [Hx _]. exfalso. apply (Nat.nle_succ_diag_l from), Hx.
  - apply Nat.eqb_neq in E. rewrite IH; [cbn; ring|]. destruct H as [H1 H2]. rewrite Nat.add_succ_r in H2. split.
    + apply Nat.le_succ_l. apply Nat.le_neq. split; [exact H1 | congruence].
    + exact H2.
Qed.

(** Sums over neighbours, by one of the two datasets. *)
Lemma by_dataset : forall (side : nat * nat -> nat) (P : nat -> K) (m : nat * nat -> K), (forall p, In p neighbours -> (side p < datasets)%nat) ->
  sum all (fun x => P x * sum neighbours (fun p => when K (Nat.eqb (side p) x) (m p))) = sum neighbours (fun p => P (side p) * m p).
Proof.
  intros side P m S. rewrite (sum_ext K all _ (fun x => sum neighbours (fun p => when K (Nat.eqb (side p) x) (P x * m p)))).
  2: { intros x _. rewrite sum_scale. apply sum_ext. intros p _. apply when_scale. }
  rewrite sum_swap. apply sum_ext. intros p Hp. apply (picked (fun x => P x * m p)). split; [apply Nat.le_0_l | cbn; apply S; exact Hp].
Qed.

Theorem weak_duality : forall P least, mechanism P -> (forall x, In x all -> least <= sum outputs (fun y => gain x y * P x y)) ->
  least <= sum all top + delta * sum neighbours largest.
Proof.
  intros P least [P0 [P1 Priv]] L. destruct weights_fine as [W0 W1].
  assert (A : least <= sum all (fun x => sum outputs (fun y => P x y * (weight x * gain x y)))).
  { apply le_trans with (sum all (fun x => weight x * least)).
    - replace least with (least * sum all weight) at 1 by (rewrite W1; ring). rewrite sum_scale. apply sum_le. intros x _.
      replace (weight x * least) with (least * weight x) by ring. apply le_refl.
    - apply sum_le. intros x Hx. apply le_trans with (weight x * sum outputs (fun y => gain x y * P x y)); [apply mul_le; [apply W0 | apply L]; exact Hx|].
      rewrite sum_scale. apply sum_le. intros y _. replace (weight x * (gain x y * P x y)) with (P x y * (weight x * gain x y)) by ring. apply le_refl. }
  assert (B : sum all (fun x => sum outputs (fun y => P x y * (weight x * gain x y)))
    = sum all (fun x => sum outputs (fun y => P x y * rest x y))
      + sum neighbours (fun p => sum outputs (fun y => multiplier p y * (P (fst p) y - R * P (snd p) y)))).
  { rewrite (sum_swap K neighbours outputs), (sum_swap K all outputs), (sum_swap K all outputs), <- sum_plus. apply sum_ext. intros y _.
    assert (E : sum neighbours (fun p => multiplier p y * (P (fst p) y - R * P (snd p) y))
      = sum neighbours (fun p => P (fst p) y * multiplier p y) + (- R) * sum neighbours (fun p => P (snd p) y * multiplier p y)).
    { rewrite sum_scale, <- sum_plus. apply sum_ext. intros p _. ring. }
    rewrite E, <- (by_dataset fst (fun x => P x y) (fun p => multiplier p y)), <- (by_dataset snd (fun x => P x y) (fun p => multiplier p y));
      [|intros p Hp; apply (numbered p Hp) | intros p Hp; apply (numbered p Hp)].
    rewrite sum_scale, <- !sum_plus. apply sum_ext. intros x _. unfold rest. ring. }
  rewrite B in A. apply le_trans with (1 := A). apply le_add2.
  - apply sum_le. intros x Hx. apply le_trans with (sum outputs (fun y => top x * P x y)).
    + apply sum_le. intros y Hy. replace (top x * P x y) with (P x y * top x) by ring. apply mul_le; [apply P0 | apply top_says]; assumption.
    + rewrite <- sum_scale, (P1 x Hx). replace (top x * 1) with (top x) by ring. apply le_refl.
  - rewrite sum_scale. apply sum_le. intros p Hp. destruct (Priv p Hp) as [s [S1 S2]].
    apply le_trans with (sum outputs (fun y => largest p * s y)).
    + apply sum_le. intros y Hy. destruct (S1 y Hy) as [S0 S3]. apply le_trans with (multiplier p y * s y).
      * apply mul_le; [apply multipliers_fine; assumption|]. apply le_sub. apply sub_le in S3.
        match type of S3 with 0 <= ?u => match goal with |- 0 <= ?v => replace v with u by ring end end. exact S3.
      * replace (multiplier p y * s y) with (s y * multiplier p y) by ring. replace (largest p * s y) with (s y * largest p) by ring.
        apply mul_le; [exact S0 | apply largest_says; assumption].
    + rewrite <- sum_scale. replace (delta * largest p) with (largest p * delta) by ring. apply mul_le; [apply largest_fine; exact Hp | exact S2].
Qed.
End Duality.

Print Assumptions weak_duality.
