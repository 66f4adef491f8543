(** Post-processing, group privacy, and the rules of sequential and parallel composition, for finite laws.

    A law is a list of outputs with weights. One law bounds another by u / d where d times every expectation of a
    function without negative values under the one is at most u times that under the other; events are functions with
    the values 0 and 1. *)

From Coq Require Import ZArith List Ring.
From Tightdp Require Import Numbers Program Sums.
Import ListNotations.

Section Laws.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).

Definition finite_law (Y : Type) := list (Y * K).
Definition mean {Y} (l : finite_law Y) (h : Y -> K) : K := sum l (fun e => snd e * h (fst e)).
Definition weighted {Y} (l : finite_law Y) : Prop := forall e, In e l -> 0 <= snd e.
Definition bounds {Y} (u d : K) (l m : finite_law Y) : Prop :=
  forall h, (forall y, 0 <= h y) -> d * mean l h <= u * mean m h.

Lemma mean_nonneg : forall {Y} (l : finite_law Y) h, weighted l -> (forall y, 0 <= h y) -> 0 <= mean l h.
Proof. intros Y l h W H. apply sum_nonneg. intros e He. apply le_mul; [apply W; exact He | apply H]. Qed.

(** What is computed from an output, with randomness of its own: a law [k y] for each output y. *)
Definition then_ {Y Z} (l : finite_law Y) (k : Y -> finite_law Z) : finite_law Z :=
  flat_map (fun e => map (fun f => (fst f, snd e * snd f)) (k (fst e))) l.

Lemma mean_then : forall {Y Z} (l : finite_law Y) (k : Y -> finite_law Z) h, mean (then_ l k) h = mean l (fun y => mean (k y) h).
Proof.
  intros Y Z l k h. unfold mean, then_. rewrite sum_flat_map. apply sum_ext. intros e _. rewrite sum_map, sum_scale.
  apply sum_ext. intros f _. cbn [fst snd]. ring.
Qed.

Theorem post_processing : forall {Y Z} u d (l m : finite_law Y) (k : Y -> finite_law Z),
  (forall y, weighted (k y)) -> bounds u d l m -> bounds u d (then_ l k) (then_ m k).
Proof. intros Y Z u d l m k W B h H. rewrite !mean_then. apply B. intro y. apply mean_nonneg; [apply W | exact H]. Qed.

Fixpoint power (a : K) (n : nat) : K := match n with O => 1 | S n => a * power a n end.

Lemma power_nonneg : forall a n, 0 <= a -> 0 <= power a n.
Proof. intros a n H. induction n as [|n IH]; [apply zero_le_one | apply le_mul; assumption]. Qed.

Lemma power_positive : forall a n, 0 < a -> 0 < power a n.
Proof.
  intros a n H. induction n as [|n IH]; [split; [apply zero_le_one | apply zero_not_one] | apply mul_positive; assumption].
Qed.

(** Laws in a row, each bounded by the next. *)
Inductive row {Y} (u d : K) : nat -> finite_law Y -> finite_law Y -> Prop :=
| alone : forall l, row u d O l l
| longer : forall n l m o, bounds u d l m -> row u d n m o -> row u d (S n) l o.

Theorem group_privacy : forall {Y} u d n (l m : finite_law Y), 0 <= u -> 0 <= d -> row u d n l m ->
  bounds (power u n) (power d n) l m.
Proof.
  intros Y u d n l m Hu Hd R. induction R as [l|n l m o B _ IH]; intros h H; cbn [power].
  - apply le_refl.
  - apply le_trans with (power d n * (u * mean m h)).
    + replace (d * power d n * mean l h) with (power d n * (d * mean l h)) by ring.
      apply mul_le; [apply power_nonneg; exact Hd | apply B; exact H].
    + replace (power d n * (u * mean m h)) with (u * (power d n * mean m h)) by ring.
      replace (u * power u n * mean o h) with (u * (power u n * mean o h)) by ring.
      apply mul_le; [exact Hu | apply IH; exact H].
Qed.

(** Two outputs, the second by a mechanism that may look at the first. *)
Theorem sequential : forall {Y Z} u d u' d' (l m : finite_law Y) (k k' : Y -> finite_law Z), 0 <= u' -> 0 <= d ->
  weighted l -> weighted m -> (forall y, weighted (k' y)) -> bounds u d l m -> (forall y, bounds u' d' (k y) (k' y)) ->
  bounds (u * u') (d * d') (then_ l (fun y => map (fun f => ((y, fst f), snd f)) (k y)))
                           (then_ m (fun y => map (fun f => ((y, fst f), snd f)) (k' y))).
Proof.
  intros Y Z u d u' d' l m k k' Hu' Hd Wl Wm Wk B B' h H. rewrite !mean_then.
  assert (E : forall (j : Y -> finite_law Z) y, mean (map (fun f => ((y, fst f), snd f)) (j y)) h = mean (j y) (fun z => h (y, z))).
  { intros j y. unfold mean. rewrite sum_map. reflexivity. }
  apply le_trans with (d * (u' * mean l (fun y => mean (k' y) (fun z => h (y, z))))).
  - replace (d * d' * mean l (fun y => mean (map (fun f => ((y, fst f), snd f)) (k y)) h))
      with (d * (d' * mean l (fun y => mean (map (fun f => ((y, fst f), snd f)) (k y)) h))) by ring.
    apply mul_le; [exact Hd|]. unfold mean at 1 3. rewrite !sum_scale. apply sum_le. intros e He. rewrite E.
    replace (d' * (snd e * mean (k (fst e)) (fun z => h (fst e, z)))) with (snd e * (d' * mean (k (fst e)) (fun z => h (fst e, z)))) by ring.
    replace (u' * (snd e * mean (k' (fst e)) (fun z => h (fst e, z)))) with (snd e * (u' * mean (k' (fst e)) (fun z => h (fst e, z)))) by ring.
    apply mul_le; [apply Wl; exact He|]. apply B'. intro z. apply H.
  - replace (d * (u' * mean l (fun y => mean (k' y) (fun z => h (y, z)))))
      with (u' * (d * mean l (fun y => mean (k' y) (fun z => h (y, z))))) by ring.
    replace (u * u' * mean m (fun y => mean (map (fun f => ((y, fst f), snd f)) (k' y)) h))
      with (u' * (u * mean m (fun y => mean (k' y) (fun z => h (y, z))))).
    + apply mul_le; [exact Hu'|]. apply B. intro y. apply mean_nonneg; [apply Wk | intro z; apply H].
    + replace (mean m (fun y => mean (map (fun f => ((y, fst f), snd f)) (k' y)) h)) with (mean m (fun y => mean (k' y) (fun z => h (y, z)))); [ring|].
      unfold mean at 1 3. apply sum_ext. intros e _. rewrite E. reflexivity.
Qed.

(** Mechanisms on disjoint parts of a dataset: a change of one record reaches one of them, and the others have the same
    law under both datasets. So a family of outputs, each of which is bounded by u / d and only one of which differs. *)
Definition beside {Y Z} (l : finite_law Y) (m : finite_law Z) : finite_law (Y * Z) :=
  then_ l (fun y => map (fun f => ((y, fst f), snd f)) m).

Lemma mean_beside : forall {Y Z} (l : finite_law Y) (m : finite_law Z) h,
  mean (beside l m) h = mean l (fun y => mean m (fun z => h (y, z))).
Proof. intros Y Z l m h. unfold beside. rewrite mean_then. unfold mean. apply sum_ext. intros e _. rewrite sum_map. reflexivity. Qed.

Theorem parallel : forall {Y Z} u d (l l' : finite_law Y) (m m' : finite_law Z), weighted l -> weighted m ->
  (bounds u d l l' -> bounds u d (beside l m) (beside l' m)) /\ (bounds u d m m' -> bounds u d (beside l m) (beside l m')).
Proof.
  intros Y Z u d l l' m m' Wl Wm. split; intros B h H; rewrite !mean_beside.
  - apply B. intro y. apply mean_nonneg; [exact Wm | intro z; apply H].
  - unfold mean at 1 3. rewrite !sum_scale. apply sum_le. intros e He.
    replace (d * (snd e * mean m (fun z => h (fst e, z)))) with (snd e * (d * mean m (fun z => h (fst e, z)))) by ring.
    replace (u * (snd e * mean m' (fun z => h (fst e, z)))) with (snd e * (u * mean m' (fun z => h (fst e, z)))) by ring.
    apply mul_le; [apply Wl; exact He|]. apply B. intro z. apply H.
Qed.
End Laws.

Print Assumptions post_processing.
Print Assumptions group_privacy.
Print Assumptions sequential.
Print Assumptions parallel.
