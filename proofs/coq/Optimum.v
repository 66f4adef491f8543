(** How well any private mechanism can do: weak duality of the linear program behind optima.

    Datasets are numbered, and so are outputs. A mechanism is a table of probabilities; among its neighbours P(y|x) is at
    most R P(y|x') + s(y), where the s are at least 0 and add up to at most δ. Weights of the datasets, and multipliers of
    the neighbours, bound what each such mechanism gains where it gains least. Where the gain does not see an order of
    records, one dataset stands for all its orders: a mechanism may be averaged over them. *)

From Coq Require Import ZArith List Bool Arith Ring Permutation.
From Tightdp Require Import Numbers Program Sums.
Import ListNotations.

Section Duality.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).

Context {N : Type}.
Variables (datasets : nat) (outputs : list nat) (neighbours : list N) (from to : N -> nat).
Hypothesis numbered : forall p, In p neighbours -> (from p < datasets)%nat /\ (to p < datasets)%nat.
Notation all := (seq 0 datasets).

(** What is gained where y is published on x, and R and δ. *)
Variable gain : nat -> nat -> K.
Variables R delta : K.

Definition weighed (total : K) (P : nat -> nat -> K) : Prop :=
  (forall x y, In x all -> In y outputs -> 0 <= P x y) /\ (forall x, In x all -> sum outputs (P x) = total)
  /\ forall p, In p neighbours -> exists s : nat -> K,
       (forall y, In y outputs -> 0 <= s y /\ P (from p) y <= R * P (to p) y + s y) /\ sum outputs s <= total * delta.

Variable unit : K.
Variable weight : nat -> K.
Variable multiplier : N -> nat -> K.
Hypothesis weights_fine : (forall x, In x all -> 0 <= weight x) /\ sum all weight = unit.
Hypothesis multipliers_fine : forall p y, In p neighbours -> In y outputs -> 0 <= multiplier p y.

(** What an output of a dataset still counts; at most [top] of the dataset, and the multipliers at most [largest]. *)
Definition rest (x y : nat) : K :=
  weight x * gain x y - sum neighbours (fun p => when K (Nat.eqb (from p) x) (multiplier p y))
  + R * sum neighbours (fun p => when K (Nat.eqb (to p) x) (multiplier p y)).
Variable top : nat -> K.
Variable largest : N -> K.
Hypothesis top_says : forall x y, In x all -> In y outputs -> rest x y <= top x.
Hypothesis largest_says : forall p y, In p neighbours -> In y outputs -> multiplier p y <= largest p.
Hypothesis largest_fine : forall p, In p neighbours -> 0 <= largest p.

Lemma picked : forall (f : nat -> K) n k start, (start <= k < start + n)%nat -> sum (seq start n) (fun x => when K (Nat.eqb k x) (f x)) = f k.
Proof.
  intros f n. induction n as [|n IH]; intros k start H; [exfalso; rewrite Nat.add_0_r in H; apply (Nat.lt_irrefl k), (Nat.lt_le_trans k start k); apply H|].
  cbn [seq Program.sum]. destruct (Nat.eqb k start) eqn:E.
  - apply Nat.eqb_eq in E. subst k. rewrite sum_zero; [cbn; ring|]. intros x Hx. apply in_seq in Hx. destruct (Nat.eqb start x) eqn:F; [|reflexivity].
    apply Nat.eqb_eq in F. subst x. destruct Hx as [Hx _]. exfalso. apply (Nat.nle_succ_diag_l start), Hx.
  - apply Nat.eqb_neq in E. rewrite IH; [cbn; ring|]. destruct H as [H1 H2]. rewrite Nat.add_succ_r in H2. split.
    + apply Nat.le_succ_l. apply Nat.le_neq. split; [exact H1 | congruence].
    + exact H2.
Qed.

(** Sums over neighbours, by one of the two datasets. *)
Lemma by_dataset : forall (side : N -> nat) (P : nat -> K) (m : N -> K), (forall p, In p neighbours -> (side p < datasets)%nat) ->
  sum all (fun x => P x * sum neighbours (fun p => when K (Nat.eqb (side p) x) (m p))) = sum neighbours (fun p => P (side p) * m p).
Proof.
  intros side P m S. rewrite (sum_ext K all _ (fun x => sum neighbours (fun p => when K (Nat.eqb (side p) x) (P x * m p)))).
  2: { intros x _. rewrite sum_scale. apply sum_ext. intros p _. apply when_scale. }
  rewrite sum_swap. apply sum_ext. intros p Hp. apply (picked (fun x => P x * m p)). split; [apply Nat.le_0_l | cbn; apply S; exact Hp].
Qed.

Lemma weighed_duality : forall total P least, weighed total P -> (forall x, In x all -> least <= sum outputs (fun y => gain x y * P x y)) ->
  unit * least <= total * (sum all top + delta * sum neighbours largest).
Proof.
  intros total P least [P0 [P1 Priv]] L. destruct weights_fine as [W0 W1].
  assert (A : unit * least <= sum all (fun x => sum outputs (fun y => P x y * (weight x * gain x y)))).
  { apply le_trans with (sum all (fun x => weight x * least)).
    - replace (unit * least) with (least * sum all weight) by (rewrite W1; ring). rewrite sum_scale. apply sum_le. intros x _.
      replace (weight x * least) with (least * weight x) by ring. apply le_refl.
    - apply sum_le. intros x Hx. apply le_trans with (weight x * sum outputs (fun y => gain x y * P x y)); [apply mul_le; [apply W0 | apply L]; exact Hx|].
      rewrite sum_scale. apply sum_le. intros y _. replace (weight x * (gain x y * P x y)) with (P x y * (weight x * gain x y)) by ring. apply le_refl. }
  assert (B : sum all (fun x => sum outputs (fun y => P x y * (weight x * gain x y)))
    = sum all (fun x => sum outputs (fun y => P x y * rest x y))
      + sum neighbours (fun p => sum outputs (fun y => multiplier p y * (P (from p) y - R * P (to p) y)))).
  { rewrite (sum_swap K neighbours outputs), (sum_swap K all outputs), (sum_swap K all outputs), <- sum_plus. apply sum_ext. intros y _.
    assert (E : sum neighbours (fun p => multiplier p y * (P (from p) y - R * P (to p) y))
      = sum neighbours (fun p => P (from p) y * multiplier p y) + (- R) * sum neighbours (fun p => P (to p) y * multiplier p y)).
    { rewrite sum_scale, <- sum_plus. apply sum_ext. intros p _. ring. }
    rewrite E, <- (by_dataset from (fun x => P x y) (fun p => multiplier p y)), <- (by_dataset to (fun x => P x y) (fun p => multiplier p y));
      [|intros p Hp; apply (numbered p Hp) | intros p Hp; apply (numbered p Hp)].
    rewrite sum_scale, <- !sum_plus. apply sum_ext. intros x _. unfold rest. ring. }
  rewrite B in A. apply le_trans with (1 := A).
  replace (total * (sum all top + delta * sum neighbours largest)) with (total * sum all top + (total * delta) * sum neighbours largest) by ring.
  apply le_add2.
  - rewrite sum_scale. apply sum_le. intros x Hx. apply le_trans with (sum outputs (fun y => top x * P x y)).
    + apply sum_le. intros y Hy. replace (top x * P x y) with (P x y * top x) by ring. apply mul_le; [apply P0 | apply top_says]; assumption.
    + rewrite <- sum_scale, (P1 x Hx). replace (top x * total) with (total * top x) by ring. apply le_refl.
  - rewrite sum_scale. apply sum_le. intros p Hp. destruct (Priv p Hp) as [s [S1 S2]].
    apply le_trans with (sum outputs (fun y => largest p * s y)).
    + apply sum_le. intros y Hy. destruct (S1 y Hy) as [S0 S3]. apply le_trans with (multiplier p y * s y).
      * apply mul_le; [apply multipliers_fine; assumption|]. apply le_sub. apply sub_le in S3.
        match type of S3 with 0 <= ?u => match goal with |- 0 <= ?v => replace v with u by ring end end. exact S3.
      * replace (multiplier p y * s y) with (s y * multiplier p y) by ring. replace (largest p * s y) with (s y * largest p) by ring.
        apply mul_le; [exact S0 | apply largest_says; assumption].
    + rewrite <- sum_scale. replace (total * delta * largest p) with (largest p * (total * delta)) by ring. apply mul_le; [apply largest_fine; exact Hp | exact S2].
Qed.
End Duality.

(** All orders of a list, and of each list of several. *)
Section Orders.
Context {A : Type}.
Fixpoint put_everywhere (a : A) (l : list A) : list (list A) :=
  match l with [] => [[a]] | b :: rest => (a :: l) :: map (cons b) (put_everywhere a rest) end.
Fixpoint orders (l : list A) : list (list A) := match l with [] => [[]] | a :: rest => flat_map (put_everywhere a) (orders rest) end.
Fixpoint all_orders (l : list (list A)) : list (list (list A)) :=
  match l with [] => [[]] | g :: rest => flat_map (fun z => map (cons z) (all_orders rest)) (orders g) end.

Lemma put_twice : forall a b l, Permutation (flat_map (put_everywhere a) (put_everywhere b l)) (flat_map (put_everywhere b) (put_everywhere a l)).
Proof.
  intros a b l. induction l as [|c l IH].
  - cbn. apply perm_swap.
  - assert (Push : forall u v, Permutation (flat_map (put_everywhere u) (map (cons c) (put_everywhere v l)))
                                 (map (fun z => u :: c :: z) (put_everywhere v l) ++ map (cons c) (flat_map (put_everywhere u) (put_everywhere v l)))).
    { intros u v. generalize (put_everywhere v l) as m. induction m as [|z m IHm]; [constructor|].
      cbn [map flat_map put_everywhere]. rewrite map_app. cbn [app]. constructor. rewrite IHm. rewrite !app_assoc.
      apply Permutation_app_tail. apply Permutation_app_comm. }
    cbn [put_everywhere flat_map]. rewrite (Push a b), (Push b a). cbn [app map]. rewrite !map_map. rewrite IH. clear IH.
    generalize (map (cons c) (flat_map (put_everywhere b) (put_everywhere a l))) as m. intro m.
    generalize (map (fun x => a :: c :: x) (put_everywhere b l)) as m1. generalize (map (fun x => b :: c :: x) (put_everywhere a l)) as m2. intros m2 m1.
    eapply perm_trans; [apply perm_swap|]. do 2 apply perm_skip. rewrite !app_assoc. apply Permutation_app_tail. apply Permutation_app_comm.
Qed.

Lemma flat_map_permuted : forall {B C} (f : B -> list C) l m, Permutation l m -> Permutation (flat_map f l) (flat_map f m).
Proof.
  intros B C f l m H. induction H as [|a l m H IH|a b l|l m n H1 IH1 H2 IH2]; cbn [flat_map]; [constructor | apply Permutation_app_head; exact IH | |].
  - rewrite !app_assoc. apply Permutation_app_tail. apply Permutation_app_comm.
  - rewrite IH1. exact IH2.
Qed.

Lemma flat_map_like : forall {B C} (f g : B -> list C) l, (forall b, Permutation (f b) (g b)) -> Permutation (flat_map f l) (flat_map g l).
Proof. intros B C f g l H. induction l as [|b l IH]; [constructor|]. cbn [flat_map]. apply Permutation_app; [apply H | exact IH]. Qed.

Lemma flat_map_twice : forall {B C D} (f : C -> list D) (g : B -> list C) l, flat_map f (flat_map g l) = flat_map (fun b => flat_map f (g b)) l.
Proof. intros B C D f g l. induction l as [|b l IH]; [reflexivity|]. cbn [flat_map]. rewrite flat_map_app, IH. reflexivity. Qed.

Lemma orders_permuted : forall l m, Permutation l m -> Permutation (orders l) (orders m).
Proof.
  intros l m H. induction H as [|a l m H IH|a b l|l m n H1 IH1 H2 IH2]; cbn [orders]; [constructor; constructor | apply flat_map_permuted; exact IH | |].
  - rewrite !flat_map_twice. apply flat_map_like. intro z. apply put_twice.
  - rewrite IH1. exact IH2.
Qed.

Lemma all_orders_permuted : forall l m, Forall2 (@Permutation A) l m -> Permutation (all_orders l) (all_orders m).
Proof.
  intros l m H. induction H as [|g h l m H _ IH]; [constructor; constructor|]. cbn [all_orders].
  rewrite (flat_map_permuted _ _ _ (orders_permuted _ _ H)). apply flat_map_like. intro z. apply Permutation_map. exact IH.
Qed.

Lemma put_everywhere_is : forall a l z, In z (put_everywhere a l) -> Permutation (a :: l) z.
Proof.
  intros a l. induction l as [|b l IH]; intros z H; [destruct H as [<-|[]]; reflexivity|]. destruct H as [<-|H]; [reflexivity|].
  apply in_map_iff in H as [t [<- H]]. rewrite perm_swap. constructor. apply IH. exact H.
Qed.
Lemma orders_are : forall l z, In z (orders l) -> Permutation l z.
Proof.
  induction l as [|a l IH]; intros z H; [destruct H as [<-|[]]; constructor|]. cbn [orders] in H. apply in_flat_map in H as [t [Ht H]].
  rewrite (IH t Ht). apply put_everywhere_is. exact H.
Qed.
Lemma all_orders_are : forall l z, In z (all_orders l) -> Forall2 (@Permutation A) l z.
Proof.
  induction l as [|g l IH]; intros z H; [destruct H as [<-|[]]; constructor|]. cbn [all_orders] in H. apply in_flat_map in H as [t [Ht H]].
  apply in_map_iff in H as [u [<- H]]. constructor; [apply orders_are; exact Ht | apply IH; exact H].
Qed.
End Orders.

Lemma put_everywhere_map : forall {A B} (f : A -> B) a l, put_everywhere (f a) (map f l) = map (map f) (put_everywhere a l).
Proof.
  intros A B f a l. induction l as [|b l IH]; [reflexivity|]. cbn [map put_everywhere]. rewrite IH, !map_map. reflexivity.
Qed.
Lemma orders_map : forall {A B} (f : A -> B) l, orders (map f l) = map (map f) (orders l).
Proof.
  intros A B f l. induction l as [|a l IH]; [reflexivity|]. cbn [map orders]. rewrite IH. clear IH.
  induction (orders l) as [|z m IHm]; [reflexivity|]. cbn [map flat_map]. rewrite map_app, put_everywhere_map, IHm. reflexivity.
Qed.
Lemma all_orders_map : forall {A B} (f : A -> B) l, all_orders (map (map f) l) = map (map (map f)) (all_orders l).
Proof.
  intros A B f l. induction l as [|g l IH]; [reflexivity|]. cbn [map all_orders]. rewrite IH, orders_map. clear IH.
  induction (orders g) as [|z m IHm]; [reflexivity|]. cbn [map flat_map]. rewrite map_app, IHm, !map_map. reflexivity.
Qed.


(** Mechanisms on datasets, as one list of records for each group of clients whose order the gain does not see. Neighbours
    are pairs of records, in an order of the clients of each group. *)
Section Averages.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring_averages : (is_ring K).
Notation sum := (sum K).
Context {A : Type}.
Notation dataset := (list (list A)).
Variable is_dataset : dataset -> Prop.
Variable near : list (list (A * A)) -> Prop.
Hypothesis any_order_near : forall q q', Forall2 (@Permutation (A * A)) q q' -> near q -> near q'.
Hypothesis any_order_dataset : forall x x', Forall2 (@Permutation A) x x' -> is_dataset x -> is_dataset x'.
Variable outputs : list nat.
Variable gain : dataset -> nat -> K.
Hypothesis any_order_gain : forall x x' y, Forall2 (@Permutation A) x x' -> gain x y = gain x' y.
Variables R delta : K.
Definition ours (q : list (list (A * A))) : dataset := map (map fst) q.
Definition theirs (q : list (list (A * A))) : dataset := map (map snd) q.

Definition private (P : dataset -> nat -> K) : Prop :=
  (forall x y, is_dataset x -> In y outputs -> 0 <= P x y) /\ (forall x, is_dataset x -> sum outputs (P x) = 1)
  /\ forall q, near q -> exists s : nat -> K,
       (forall y, In y outputs -> 0 <= s y /\ P (ours q) y <= R * P (theirs q) y + s y) /\ sum outputs s <= delta.

(** The sum over all orders. *)
Definition over_orders (P : dataset -> nat -> K) (x : dataset) (y : nat) : K := sum (all_orders x) (fun z => P z y).
Definition count {B} (l : list B) : K := sum l (fun _ => 1).

Lemma sum_permuted : forall {B} (l m : list B) f, Permutation l m -> sum l f = sum m f.
Proof. intros B l m f H. induction H; cbn [Program.sum]; [reflexivity | rewrite IHPermutation; reflexivity | ring | congruence]. Qed.

Lemma over_any_order : forall P x x' y, Forall2 (@Permutation A) x x' -> over_orders P x y = over_orders P x' y.
Proof. intros P x x' y H. apply sum_permuted. apply all_orders_permuted. exact H. Qed.

Lemma over_near : forall P q, private P -> near q -> exists s : nat -> K,
  (forall y, In y outputs -> 0 <= s y /\ over_orders P (ours q) y <= R * over_orders P (theirs q) y + s y)
  /\ sum outputs s <= count (all_orders q) * delta.
Proof.
  intros P q [_ [_ Priv]] N. unfold over_orders, ours, theirs. rewrite !all_orders_map.
  assert (Z : forall z, In z (all_orders q) -> near z) by (intros z Hz; apply any_order_near with q; [apply all_orders_are; exact Hz | exact N]).
  induction (all_orders q) as [|z l IH].
  - exists (fun _ => 0). cbn [map Program.sum]. split.
    + intros y _. split; [apply le_refl|]. replace (R * 0 + 0) with (0 : K) by ring. apply le_refl.
    + rewrite sum_zero by reflexivity. unfold count. cbn [Program.sum]. replace (0 * delta) with (0 : K) by ring. apply le_refl.
  - destruct IH as [s [S1 S2]]; [intros u Hu; apply Z; right; exact Hu|]. destruct (Priv z (Z z (or_introl eq_refl))) as [t [T1 T2]].
    exists (fun y => t y + s y). split.
    + intros y Hy. destruct (S1 y Hy) as [A1 A2]. destruct (T1 y Hy) as [B1 B2]. cbn [map Program.sum]. split.
      * replace (0 : K) with (0 + 0 : K) by ring. apply le_add2; assumption.
      * match goal with |- _ <= R * (?a + ?b) + (?u + ?v) => replace (R * (a + b) + (u + v)) with ((R * a + u) + (R * b + v)) by ring end.
        apply le_add2; assumption.
    + rewrite sum_plus. unfold count in *. cbn [Program.sum].
      match goal with |- _ <= (1 + ?c) * delta => replace ((1 + c) * delta) with (delta + c * delta) by ring end. apply le_add2; assumption.
Qed.

(** Some datasets, one for all its orders: a mechanism that is private gains no more where it gains least than weights and
    multipliers of these say. *)
Variable kept : nat -> dataset.
Context {N : Type}.
Variables (datasets : nat) (neighbours : list N) (from to : N -> nat).
Hypothesis numbered : forall p, In p neighbours -> (from p < datasets)%nat /\ (to p < datasets)%nat.
Notation all := (seq 0 datasets).
Hypothesis kept_datasets : forall x, In x all -> is_dataset (kept x).
Variable total : K.
Hypothesis total_positive : 0 < total.
Hypothesis same_orders : forall x, In x all -> count (all_orders (kept x)) = total.
Hypothesis kept_near : forall p, In p neighbours -> exists q, near q
  /\ Forall2 (@Permutation A) (kept (from p)) (ours q) /\ Forall2 (@Permutation A) (kept (to p)) (theirs q).

Lemma counted_orders : forall q, count (all_orders (ours q)) = count (all_orders q).
Proof. intro q. unfold count, ours. rewrite all_orders_map, sum_map. reflexivity. Qed.

Theorem averaged_duality : forall (unit : K) (weight : nat -> K) (multiplier : N -> nat -> K) (top : nat -> K) (largest : N -> K),
  (forall x, In x all -> 0 <= weight x) /\ sum all weight = unit ->
  (forall p y, In p neighbours -> In y outputs -> 0 <= multiplier p y) ->
  (forall x y, In x all -> In y outputs -> rest K neighbours from to (fun x => gain (kept x)) R weight multiplier x y <= top x) ->
  (forall p y, In p neighbours -> In y outputs -> multiplier p y <= largest p) -> (forall p, In p neighbours -> 0 <= largest p) ->
  forall P least, private P -> (forall x, is_dataset x -> least <= sum outputs (fun y => gain x y * P x y)) ->
  unit * least <= sum all top + delta * sum neighbours largest.
Proof.
  intros unit weight multiplier top largest W M T L L0 P least Priv G. pose proof Priv as [P0 [P1 _]].
  assert (In_orders : forall x z, In x all -> In z (all_orders (kept x)) -> is_dataset z /\ forall y, gain (kept x) y = gain z y).
  { intros x z Hx Hz. apply all_orders_are in Hz. split; [eapply any_order_dataset; eauto | intro y; apply any_order_gain; exact Hz]. }
  assert (D : unit * (total * least) <= total * (sum all top + delta * sum neighbours largest)).
  { apply (weighed_duality K datasets outputs neighbours from to numbered (fun x => gain (kept x)) R delta unit weight multiplier W M top largest T L L0 total
             (fun x y => over_orders P (kept x) y)).
    - split; [|split].
      + intros x y Hx Hy. apply sum_nonneg. intros z Hz. apply P0; [apply (In_orders x z Hx Hz) | exact Hy].
      + intros x Hx. unfold over_orders. rewrite (sum_swap K outputs (all_orders (kept x))), <- (same_orders x Hx). unfold count.
        apply sum_ext. intros z Hz. apply P1. apply (In_orders x z Hx Hz).
      + intros p Hp. destruct (kept_near p Hp) as [q [Nq [E1 E2]]]. destruct (over_near P q Priv Nq) as [s [S1 S2]]. exists s. split.
        * intros y Hy. rewrite (over_any_order P _ _ y E1), (over_any_order P _ _ y E2). apply S1. exact Hy.
        * rewrite <- (same_orders (from p)) by (apply in_seq; split; [apply Nat.le_0_l | apply (numbered p Hp)]).
          unfold count at 1. rewrite (sum_permuted _ _ _ (all_orders_permuted _ _ E1)). fold (count (all_orders (ours q))).
          rewrite counted_orders. exact S2.
    - intros x Hx. unfold over_orders. rewrite <- (same_orders x Hx). unfold count.
      replace (sum (all_orders (kept x)) (fun _ => 1) * least) with (sum (all_orders (kept x)) (fun _ => least)).
      2: { replace (sum (all_orders (kept x)) (fun _ => 1) * least) with (least * sum (all_orders (kept x)) (fun _ => 1)) by ring.
           rewrite sum_scale. apply sum_ext. intros z _. ring. }
      rewrite (sum_ext K outputs _ (fun y => sum (all_orders (kept x)) (fun z => gain (kept x) y * P z y))) by (intros y _; apply sum_scale).
      rewrite sum_swap. apply sum_le. intros z Hz. destruct (In_orders x z Hx Hz) as [Dz Gz].
      rewrite (sum_ext K outputs _ (fun y => gain z y * P z y)) by (intros y _; rewrite Gz; reflexivity). apply G. exact Dz. }
  apply le_sub. apply sub_le in D.
  match goal with |- 0 <= ?b - ?a => replace (b - a) with (- (a - b)) by ring end. apply opp_le.
  apply cancel_nonpos with total; [exact total_positive|].
  match goal with |- total * (?a - ?b) <= 0 => replace (total * (a - b)) with (- (total * b - unit * (total * least))) by ring end. apply le_opp. exact D.
Qed.
End Averages.
