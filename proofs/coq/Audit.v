(** The rule "dual": a point of the dual of a linear program bounds how many guesses are right, against all mechanisms. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Composition OneRun.
Import ListNotations.
Open Scope Z_scope.

(** One pair of the guarantee: (ln t_up/t_down, d_up/d_down)-DP; its multiplier, and what that costs at least for one secret,
    both in some unit. *)
Record promise := { t_up : Z; t_down : Z; d_up : Z; d_down : Z; most : Z; price : Z }.
Record audit := {
  canaries : Z; options : Z; guesses : nat; correct : nat; promises : list promise;
  one_unit : Z; constant_ : Z; bound_up : Z; bound_down : Z }.

Definition ceiling (a b : Z) : Z := - ((- a) / b).
Definition spent_on (p : promise) (y : Z) : Z := ceiling (t_up p * y) (t_down p).

(** The least that will do, from the last number of right guesses on, taken from the first pairs. What this finds is checked
    after it. *)
Fixpoint spend (ps : list promise) (left : Z) : list Z :=
  match ps with [] => [] | p :: rest => let y := Z.min left (most p) in y :: spend rest (left - y) end.
Definition total_of (ys : list Z) : Z := fold_right Z.add 0 ys.
Fixpoint cost_of (ps : list promise) (ys : list Z) : Z :=
  match ps, ys with p :: ps, y :: ys => spent_on p y + cost_of ps ys | _, _ => 0 end.

Section Check.
Variable a : audit.
Fixpoint rows (i : nat) (after : list Z) (found : list (list Z)) : list (list Z) :=
  let wanted := Z.max 0 ((if (correct a <=? i)%nat then one_unit a else 0) - constant_ a
                         + ceiling ((Z.of_nat (guesses a) - Z.of_nat i) * cost_of (promises a) after) (options a - 1)) in
  let ys := spend (promises a) (ceiling wanted (Z.max 1 (Z.of_nat i))) in
  match i with O => ys :: found | S j => rows j ys (ys :: found) end.
Fixpoint fits (i : nat) (found : list (list Z)) : bool :=
  match found with
  | [] => Nat.eqb i (S (guesses a))
  | ys :: rest =>
      Nat.eqb (length ys) (length (promises a))
      && forallb (fun q => (0 <=? snd q) && (snd q <=? most (fst q))) (combine (promises a) ys)
      && ((options a - 1) * ((if (correct a <=? i)%nat then one_unit a else 0) - constant_ a - Z.of_nat i * total_of ys)
          + (Z.of_nat (guesses a) - Z.of_nat i) * cost_of (promises a) (hd [] rest) <=? 0)
      && fits (S i) rest
  end.
Definition check_audit : bool :=
  (1 <? options a) && (0 <? one_unit a) && (0 <? bound_down a)
  && forallb (fun p => (0 <? t_down p) && (0 <? d_down p) && (0 <=? most p) && (d_up p * most p <=? d_down p * price p)) (promises a)
  && (bound_down a * (constant_ a + canaries a * total_of (map price (promises a))) <=? bound_up a * one_unit a)
  && fits 0 (rows (guesses a) [] []).
End Check.

(** P(at least v of r guesses are right) <= bound, for every mechanism with the guarantee and every guesser: a sum over all
    secrets, each of which has the weight W. *)
Definition bounded_audit (a : audit) : Prop :=
  forall (K : domain) (m k : nat) (Y : Type) (law : list nat -> finite_law K Y) (guessed : Y -> guess) (W : K),
  Z.of_nat m = canaries a -> Z.of_nat k = options a ->
  (forall s, In s (words k m) -> weighted K (law s)) -> (forall s, In s (words k m) -> mean K (law s) (fun _ => one) = W) ->
  (forall y, is_guess k m (guesses a) (guessed y)) ->
  (forall p, In p (promises a) -> guarantee k K m Y law W (inj (t_up p)) (inj (t_down p)) (inj (d_up p)) (inj (d_down p))) ->
  le (mul (inj (bound_down a)) (rights k K m Y law guessed (fun i => if (correct a <=? i)%nat then one else zero)))
     (mul (inj (bound_up a)) (mul (number K (k ^ m)) W)).

Lemma ceiling_above : forall a b, 0 < b -> a <= b * ceiling a b.
Proof. intros a b H. unfold ceiling. pose proof (Z.mul_div_le (- a) b H). lia. Qed.

Lemma right_most : forall g s, (right g s <= answered g)%nat.
Proof.
  induction g as [|x g IH]; intros [|a s]; try (cbn; lia). cbn [right]. unfold answered. cbn [filter]. specialize (IH s). unfold answered in IH.
  destruct x as [c|]; cbn [length]; [destruct (Nat.eqb c a)|]; lia.
Qed.

Section Proofs.
Variable a : audit.
Hypothesis ok : check_audit a = true.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).
Variables m k : nat.
Variable Y : Type.
Variable law : list nat -> finite_law K Y.
Variable guessed : Y -> guess.
Variable W : K.
Hypothesis secrets : Z.of_nat m = canaries a.
Hypothesis choices : Z.of_nat k = options a.
Hypothesis weights : forall s, In s (words k m) -> weighted K (law s).
Hypothesis masses : forall s, In s (words k m) -> mean K (law s) (fun _ => 1) = W.
Hypothesis are_guesses : forall y, is_guess k m (guesses a) (guessed y).
Hypothesis promised : forall p, In p (promises a) ->
  guarantee k K m Y law W (inj (t_up p)) (inj (t_down p)) (inj (d_up p)) (inj (d_down p)).
Notation r := (guesses a).
Notation rights := (rights k K m Y law guessed).
Notation number := (number K).

Lemma rights_le : forall v w, (forall i, (i <= r)%nat -> v i <= w i) -> rights v <= rights w.
Proof.
  intros v w H. apply sum_le. intros s Hs. apply sum_le. intros e He. apply mul_le; [apply weights with s; assumption|].
  apply H. destruct (are_guesses (fst e)) as [_ [G _]]. rewrite <- G. apply right_most.
Qed.
Lemma rights_scale : forall c w, c * rights w = rights (fun i => c * w i).
Proof.
  intros c w. unfold OneRun.rights. rewrite sum_scale. apply sum_ext. intros s _. unfold mean. rewrite sum_scale. apply sum_ext. intros e _. ring.
Qed.
Lemma rights_plus : forall v w, rights (fun i => v i + w i) = rights v + rights w.
Proof.
  intros v w. unfold OneRun.rights. rewrite <- sum_plus. apply sum_ext. intros s _. unfold mean. rewrite <- sum_plus. apply sum_ext. intros e _. ring.
Qed.
Lemma rights_ext : forall v w, (forall i, v i = w i) -> rights v = rights w.
Proof. intros v w H. unfold OneRun.rights. apply sum_ext. intros s _. unfold mean. apply sum_ext. intros e _. rewrite H. reflexivity. Qed.
Lemma rights_one : rights (fun _ => 1) = number (k ^ m) * W.
Proof.
  unfold OneRun.rights. rewrite (sum_ext K (words k m) _ (fun _ => W)) by (intros s Hs; apply masses; exact Hs).
  rewrite sum_constant, length_words. reflexivity.
Qed.

Lemma W_nonneg : (0 < k)%nat -> 0 <= W.
Proof.
  intro Hk. assert (H : In (repeat 0%nat m) (words k m)).
  { clear - Hk. induction m as [|n IH]; [left; reflexivity|]. cbn [words repeat]. apply in_flat_map. exists 0%nat.
    split; [apply in_seq; lia | apply in_map; exact IH]. }
  rewrite <- (masses _ H). apply mean_nonneg; [apply weights; exact H | intro y; apply zero_le_one].
Qed.

Definition found := rows a r [] [].
Definition column (t i : nat) : Z := nth t (nth i found []) 0%Z.

Lemma checks : (1 < options a)%Z /\ (0 < one_unit a)%Z /\ (0 < bound_down a)%Z
  /\ Forall (fun p => (0 < t_down p)%Z /\ (0 < d_down p)%Z /\ (0 <= most p)%Z /\ (d_up p * most p <= d_down p * price p)%Z) (promises a)
  /\ (bound_down a * (constant_ a + canaries a * total_of (map price (promises a))) <= bound_up a * one_unit a)%Z
  /\ fits a 0 found = true.
Proof.
  unfold check_audit in ok. apply andb_true_iff in ok as [ok F]. apply andb_true_iff in ok as [ok B]. apply andb_true_iff in ok as [ok P].
  apply andb_true_iff in ok as [ok D]. apply andb_true_iff in ok as [O U].
  apply Z.ltb_lt in O, U, D. apply Z.leb_le in B. split; [exact O|]. split; [exact U|]. split; [exact D|]. split; [|split; [exact B | exact F]].
  apply Forall_forall. intros p Hp. rewrite forallb_forall in P. specialize (P p Hp).
  apply andb_true_iff in P as [P P4]. apply andb_true_iff in P as [P P3]. apply andb_true_iff in P as [P1 P2].
  apply Z.ltb_lt in P1, P2. apply Z.leb_le in P3, P4. auto.
Qed.

Definition row_good (i : nat) (ys next : list Z) : Prop :=
  length ys = length (promises a)
  /\ Forall (fun q => (0 <= snd q <= most (fst q))%Z) (combine (promises a) ys)
  /\ ((options a - 1) * ((if (correct a <=? i)%nat then one_unit a else 0) - constant_ a - Z.of_nat i * total_of ys)
      + (Z.of_nat r - Z.of_nat i) * cost_of (promises a) next <= 0)%Z.

Lemma fits_rows : forall l i, fits a i l = true -> forall j, (i + j <= r)%nat -> row_good (i + j) (nth j l []) (nth (S j) l []).
Proof.
  induction l as [|ys l IH]; intros i H j Hj; cbn [fits] in H.
  - apply Nat.eqb_eq in H. lia.
  - apply andb_true_iff in H as [H H4]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
    destruct j as [|j].
    + rewrite Nat.add_0_r. cbn [nth]. split; [apply Nat.eqb_eq; exact H1|]. split.
      * apply Forall_forall. intros q Hq. rewrite forallb_forall in H2. specialize (H2 q Hq). apply andb_true_iff in H2 as [A B].
        apply Z.leb_le in A, B. lia.
      * apply Z.leb_le in H3. destruct l; exact H3.
    + replace (i + S j)%nat with (S i + j)%nat by lia. cbn [nth]. apply IH; [exact H4 | lia].
Qed.

Lemma row_is_good : forall i, (i <= r)%nat -> row_good i (nth i found []) (nth (S i) found []).
Proof. intros i H. apply (fits_rows found 0); [apply checks | exact H]. Qed.

Lemma fits_length : forall l i, fits a i l = true -> (i + length l = S r)%nat.
Proof.
  induction l as [|ys l IH]; intros i H; cbn [fits] in H.
  - apply Nat.eqb_eq in H. cbn. lia.
  - apply andb_true_iff in H as [_ H]. apply IH in H. cbn [length]. lia.
Qed.

Lemma in_row : forall ps ys t p, length ys = length ps -> Forall (fun q => (0 <= snd q <= most (fst q))%Z) (combine ps ys) ->
  nth_error ps t = Some p -> (0 <= nth t ys 0 <= most p)%Z.
Proof.
  induction ps as [|q ps IH]; intros ys t p L F E; [destruct t; discriminate|]. destruct ys as [|y ys]; [discriminate|].
  cbn [combine] in F. apply Forall_cons_iff in F as [Fy F]. destruct t as [|t]; cbn [nth nth_error] in *.
  - injection E as <-. exact Fy.
  - apply (IH ys t p); [injection L; auto | exact F | exact E].
Qed.

Lemma column_good : forall t p, nth_error (promises a) t = Some p -> (0 <= most p)%Z -> forall i, (0 <= column t i <= most p)%Z.
Proof.
  intros t p E M i. unfold column. destruct (Nat.le_gt_cases i r) as [Hi|Hi].
  - destruct (row_is_good i Hi) as [L [F _]]. apply (in_row (promises a)); assumption.
  - rewrite (nth_overflow found) by (pose proof (fits_length found 0 ltac:(apply checks)); lia).
    destruct t; cbn; lia.
Qed.

Lemma total_sum : forall (ps : list promise) ys, length ys = length ps ->
  inj (total_of ys) = sum (seq 0 (length ps)) (fun t => @inj K (nth t ys 0%Z)).
Proof.
  intros ps. induction ps as [|p ps IH]; intros [|y ys] L; try discriminate L; [apply inj_zero|].
  cbn [total_of fold_right length seq Program.sum nth]. fold (total_of ys). rewrite inj_add, IH by (injection L; auto).
  f_equal. rewrite <- seq_shift, sum_map. reflexivity.
Qed.

Lemma cost_sum : forall (ps : list promise) ys, length ys = length ps ->
  inj (cost_of ps ys) = sum (seq 0 (length ps)) (fun t => match nth_error ps t with Some p => @inj K (spent_on p (nth t ys 0%Z)) | None => 0 end).
Proof.
  intros ps. induction ps as [|p ps IH]; intros [|y ys] L; try discriminate L; [apply inj_zero|].
  cbn [cost_of length seq Program.sum nth nth_error]. rewrite inj_add, IH by (injection L; auto).
  f_equal. rewrite <- seq_shift, sum_map. reflexivity.
Qed.

Lemma price_sum : forall ps, inj (total_of (map price ps)) = sum (seq 0 (length ps)) (fun t => match nth_error ps t with Some p => @inj K (price p) | None => 0 end).
Proof.
  induction ps as [|p ps IH]; [apply inj_zero|]. cbn [map total_of fold_right length seq Program.sum nth_error].
  fold (total_of (map price ps)). rewrite inj_add, IH. f_equal. rewrite <- seq_shift, sum_map. reflexivity.
Qed.

Definition cost_at (t i : nat) : K := match nth_error (promises a) t with Some p => inj (spent_on p (column t i)) | None => 0 end.
Definition price_at (t : nat) : K := match nth_error (promises a) t with Some p => inj (price p) | None => 0 end.
Notation pairs := (k ^ m * (m * (k - 1)))%nat.

(** One pair of the guarantee. *)
Lemma one_promise : forall t, In t (seq 0 (length (promises a))) ->
  number (k - 1) * rights (fun i => number i * inj (column t i))
  <= rights (fun i => (number r - number i) * cost_at t (S i)) + price_at t * (W * number pairs).
Proof.
  intros t Ht. apply in_seq in Ht. destruct (nth_error (promises a) t) as [p|] eqn:E; [|apply nth_error_None in E; lia].
  assert (Hp : In p (promises a)) by (apply nth_error_In with t; exact E).
  destruct checks as [O [_ [_ [P _]]]]. rewrite Forall_forall in P. destruct (P p Hp) as [P1 [P2 [P3 P4]]].
  assert (Kp : (0 < k)%nat) by lia. pose proof (W_nonneg Kp) as HW.
  pose proof (one_run k K m r Y law guessed W are_guesses _ _ _ _ (fun i => inj (column t i)) (inj (most p)) (promised p Hp)
                (inj_nonneg K _ P3) (fun i => conj (inj_nonneg K _ (proj1 (column_good t p E P3 i))) (inj_le K _ _ (proj2 (column_good t p E P3 i))))) as R.
  unfold cost_at, price_at. rewrite E.
  set (R1 := rights (fun i => number i * inj (column t i))) in *.
  set (R2 := rights (fun i => (number r - number i) * inj (column t (S i)))) in *.
  set (R3 := rights (fun i => (number r - number i) * inj (spent_on p (column t (S i))))).
  assert (C : inj (t_up p) * R2 <= inj (t_down p) * R3).
  { unfold R2, R3. rewrite !rights_scale. apply rights_le. intros i Hi.
    assert (N : 0 <= number r - number i) by (apply sub_le; unfold OneRun.number; apply inj_le; lia).
    replace (inj (t_up p) * ((number r - number i) * inj (column t (S i)))) with ((number r - number i) * inj (t_up p * column t (S i))%Z) by (rewrite inj_mul; ring).
    replace (inj (t_down p) * ((number r - number i) * inj (spent_on p (column t (S i)))))
      with ((number r - number i) * inj (t_down p * spent_on p (column t (S i)))%Z) by (rewrite inj_mul; ring).
    apply mul_le; [exact N|]. apply inj_le. apply ceiling_above. exact P1. }
  assert (D : inj (d_up p) * inj (most p) <= inj (d_down p) * @inj K (price p)) by (rewrite <- !inj_mul; apply inj_le; exact P4).
  assert (B : 0 < @inj K (t_down p)) by (apply inj_positive; exact P1). assert (DD : 0 < @inj K (d_down p)) by (apply inj_positive; exact P2).
  apply le_sub.
  assert (X : 0 <= inj (d_down p) * inj (t_down p) * (R3 + inj (price p) * (W * number pairs) - number (k - 1) * R1)).
  { apply sub_le in R. apply sub_le in C. apply sub_le in D.
    assert (Q1 : 0 <= inj (d_down p) * (inj (t_down p) * R3 - inj (t_up p) * R2)) by (apply le_mul; [apply DD | exact C]).
    assert (Q2 : 0 <= inj (t_down p) * (W * number pairs) * (inj (d_down p) * inj (price p) - inj (d_up p) * inj (most p))).
    { apply le_mul; [|exact D]. apply le_mul; [apply B|]. apply le_mul; [exact HW | apply number_nonneg]. }
    pose proof (le_add2 K _ _ _ _ (le_add2 K _ _ _ _ Q1 Q2) R) as Q.
    match type of Q with ?z <= ?e => replace z with (0 : K) in Q by ring; match goal with |- 0 <= ?g => replace g with e by ring end end. exact Q. }
  assert (Y' : inj (d_down p) * inj (t_down p) * (number (k - 1) * R1 - (R3 + inj (price p) * (W * number pairs))) <= 0).
  { apply le_sub. match type of X with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact X. }
  apply cancel_nonpos in Y'; [|apply mul_positive; assumption]. apply opp_le in Y'.
  match type of Y' with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact Y'.
Qed.

Lemma rights_sum : forall (l : list nat) (f : nat -> nat -> K), rights (fun i => sum l (fun t => f t i)) = sum l (fun t => rights (f t)).
Proof.
  intros l f. induction l as [|t l IH]; cbn [Program.sum].
  - unfold OneRun.rights. apply sum_zero. intros s _. unfold mean. apply sum_zero. intros e _. ring.
  - rewrite rights_plus, IH. reflexivity.
Qed.

Theorem audit_bound : inj (bound_down a) * rights (fun i => if (correct a <=? i)%nat then 1 else 0) <= inj (bound_up a) * (number (k ^ m) * W).
Proof.
  destruct checks as [O [U [BD [P [B F]]]]]. assert (Kp : (0 < k)%nat) by lia. pose proof (W_nonneg Kp) as HW.
  set (ts := seq 0 (length (promises a))). set (V := rights (fun i => if (correct a <=? i)%nat then 1 else 0)).
  set (Y1 := rights (fun i => number i * sum ts (fun t => inj (column t i)))).
  set (A1 := rights (fun i => (number r - number i) * sum ts (fun t => cost_at t (S i)))).
  assert (S1 : number (k - 1) * Y1 <= A1 + sum ts price_at * (W * number pairs)).
  { unfold Y1, A1.
    rewrite (rights_ext (fun i => number i * sum ts (fun t => inj (column t i))) (fun i => sum ts (fun t => number i * inj (column t i)))) by (intro i; apply sum_scale).
    rewrite (rights_ext (fun i => (number r - number i) * sum ts (fun t => cost_at t (S i))) (fun i => sum ts (fun t => (number r - number i) * cost_at t (S i)))) by (intro i; apply sum_scale).
    rewrite !rights_sum, sum_scale.
    replace (sum ts price_at * (W * number pairs)) with (sum ts (fun t => price_at t * (W * number pairs))).
    - rewrite <- sum_plus. apply sum_le. intros t Ht. apply one_promise. exact Ht.
    - replace (sum ts price_at * (W * number pairs)) with ((W * number pairs) * sum ts price_at) by ring. rewrite sum_scale. apply sum_ext. intros t _. ring. }
  assert (Kn : number (k - 1) = inj (options a - 1)%Z) by (unfold OneRun.number; f_equal; lia).
  assert (S2 : number (k - 1) * (inj (one_unit a) * V) + A1 <= number (k - 1) * (inj (constant_ a) * (number (k ^ m) * W)) + number (k - 1) * Y1).
  { unfold V, A1, Y1. rewrite <- rights_one. rewrite !rights_scale, <- !rights_plus. apply rights_le. intros i Hi.
    destruct (row_is_good i Hi) as [L [_ G]].
    assert (T : sum ts (fun t => inj (column t i)) = inj (total_of (nth i found []))).
    { symmetry. apply (total_sum (promises a)). exact L. }
    assert (C : (number r - number i) * sum ts (fun t => cost_at t (S i)) = (number r - number i) * inj (cost_of (promises a) (nth (S i) found []))).
    { destruct (Nat.eq_dec i r) as [->|N]; [ring|]. f_equal. symmetry.
      destruct (row_is_good (S i) ltac:(lia)) as [L' _]. apply (cost_sum (promises a)). exact L'. }
    rewrite T, C, Kn. apply (inj_nonpos K) in G. rewrite inj_add, !inj_mul in G. unfold Z.sub in G. rewrite !inj_add, !inj_opp, !inj_mul in G.
    apply opp_le in G. apply le_sub. unfold OneRun.number. unfold Z.sub. rewrite !inj_add, !inj_opp.
    assert (I : @inj K (if (correct a <=? i)%nat then one_unit a else 0)%Z = inj (one_unit a) * (if (correct a <=? i)%nat then 1 else 0)).
    { destruct (correct a <=? i)%nat; [ring | rewrite inj_zero; ring]. }
    rewrite I in G.
    match type of G with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact G. }
  assert (Q : 0 < number (k - 1)) by (rewrite Kn; apply inj_positive; lia).
  assert (S3 : inj (one_unit a) * V <= (inj (constant_ a) + inj (canaries a) * sum ts price_at) * (number (k ^ m) * W)).
  { apply le_sub. pose proof (le_add2 K _ _ _ _ S1 S2) as S. apply sub_le in S.
    assert (N : number pairs = number (k ^ m) * (inj (canaries a) * number (k - 1))).
    { unfold OneRun.number. rewrite !Nat2Z.inj_mul, !inj_mul, secrets. ring. }
    rewrite N in S.
    assert (X : number (k - 1) * (inj (one_unit a) * V - (inj (constant_ a) + inj (canaries a) * sum ts price_at) * (number (k ^ m) * W)) <= 0).
    { apply le_sub. match type of S with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact S. }
    apply cancel_nonpos in X; [|exact Q]. apply opp_le in X.
    match type of X with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact X. }
  assert (M : sum ts price_at = inj (total_of (map price (promises a)))) by (symmetry; apply price_sum). rewrite M in S3.
  apply (inj_le K) in B. rewrite !inj_mul, inj_add, inj_mul in B.
  assert (Z1 : 0 <= number (k ^ m) * W) by (apply le_mul; [apply number_nonneg | exact HW]).
  assert (X : inj (one_unit a) * (inj (bound_down a) * V - inj (bound_up a) * (number (k ^ m) * W)) <= 0).
  { apply le_sub. apply sub_le in S3. apply sub_le in B.
    assert (B0 : 0 <= @inj K (bound_down a)) by (apply inj_nonneg; lia).
    pose proof (le_add2 K _ _ _ _ (le_mul K _ _ B0 S3) (le_mul K _ _ Z1 B)) as S.
    match type of S with ?z <= ?e => replace z with (0 : K) in S by ring; match goal with |- 0 <= ?g => replace g with e by ring end end. exact S. }
  apply cancel_nonpos in X; [|apply inj_positive; exact U]. apply le_sub. apply opp_le in X.
  match type of X with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact X.
Qed.
End Proofs.

Theorem audit_sound : forall a, check_audit a = true -> bounded_audit a.
Proof. intros a H K m k Y law guessed W E1 E2 H1 H2 H3 H4. apply (audit_bound a H K m k Y law guessed W); assumption. Qed.

Print Assumptions audit_sound.
