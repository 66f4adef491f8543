(** The law of what a program publishes on one dataset: every output that is listed has its probability, and nothing else
    is published. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Lawful.
Import ListNotations.
Open Scope Z_scope.

(** An output, and its probability as a ratio. *)
Definition law_row := (output * (poly * poly))%type.
Definition event_of (y : output) : list (option told) := map Some y.
Definition same_outputs (y z : output) : bool := in_event (event_of y) z.
Fixpoint distinct_outputs (l : list output) : bool :=
  match l with [] => true | y :: rest => negb (existsb (same_outputs y) rest) && distinct_outputs rest end.

Definition check_law (c : claim) (x : dataset) (rows : list law_row) : bool :=
  lawful c && listed c x && explored (program_on c x) [[]] && positive_at (root c) (total_weight c x)
  && distinct_outputs (map fst rows)
  && forallb (fun r => positive_at (root c) (snd (snd r))
       && pzero (padd (pmul (snd (snd r)) (weight_in c x (event_of (fst r)))) (popp (pmul (fst (snd r)) (total_weight c x))))) rows
  && pzero (padd (fold_right (fun r t => padd (weight_in c x (event_of (fst r))) t) [] rows) (popp (total_weight c x))).

(** P(y|x) = up / down for all y that are listed, and P(E|x) = 0 for every event without them. *)
Definition has_law (K : domain) (T : K) (c : claim) (x : dataset) (rows : list law_row) : Prop :=
  let ps := program_on c x in
  is_dataset c x /\ meaningful ps [] /\ lt zero (mass_of_all K T ps)
  /\ (forall y up down, In (y, (up, down)) rows ->
        lt zero (value_of K T down) /\ mul (value_of K T down) (mass K T ps (same_outputs y)) = mul (value_of K T up) (mass_of_all K T ps))
  /\ (forall E : output -> bool, (forall y z, In y (map fst rows) -> same_outputs y z = true -> E z = false) -> mass K T ps E = zero).

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).

Lemma expected_plus : forall ps s g h,
  expected K T ps s (fun y => g y + h y) = expected K T ps s g + expected K T ps s h.
Proof.
  induction ps as [|[p r] ps IH]; intros s g h; [reflexivity|]. cbn [expected]. rewrite <- sum_plus. apply sum_ext.
  intros e _. rewrite IH. ring.
Qed.

Lemma expected_minus : forall ps s g h,
  expected K T ps s (fun y => g y - h y) = expected K T ps s g - expected K T ps s h.
Proof.
  intros ps s g h. assert (E : expected K T ps s g = expected K T ps s (fun y => g y - h y) + expected K T ps s h).
  { rewrite <- expected_plus. apply expected_same. intro y. ring. }
  rewrite E. ring.
Qed.

Lemma same_told : forall y (z : told), same (Tuple y) (Tuple z) = true -> y = z.
Proof. intros y z H. apply same_spec in H. injection H as ->. reflexivity. Qed.

Lemma same_outputs_spec : forall y z, same_outputs y z = true -> y = z.
Proof.
  unfold same_outputs, event_of. induction y as [|a y IH]; intros [|b z] H; try discriminate H; [reflexivity|].
  cbn [map in_event same_output] in H. apply andb_true_iff in H as [H1 H2]. apply same_told in H1. rewrite H1, (IH z H2). reflexivity.
Qed.

Lemma same_outputs_refl : forall y, same_outputs y y = true.
Proof.
  unfold same_outputs, event_of. induction y as [|a y IH]; [reflexivity|]. cbn [map in_event same_output]. rewrite IH, andb_true_r.
  apply same_spec. reflexivity.
Qed.

Definition on_event (E : output -> bool) (y : output) : K := if E y then 1 else 0.

(** Outputs that are told apart do not happen at once. *)
Lemma at_most_one : forall ys z, distinct_outputs ys = true -> 
  sum ys (fun y => on_event (same_outputs y) z) = 0 \/ sum ys (fun y => on_event (same_outputs y) z) = 1 /\ In z ys.
Proof.
  induction ys as [|y ys IH]; intros z D; [left; reflexivity|]. cbn [distinct_outputs] in D. apply andb_true_iff in D as [D1 D2].
  cbn [Program.sum]. unfold on_event at 1 3. destruct (same_outputs y z) eqn:E.
  - right. split; [|left; apply same_outputs_spec; exact E].
    apply same_outputs_spec in E. subst z. rewrite sum_zero; [ring|]. intros u Hu. unfold on_event.
    destruct (same_outputs u y) eqn:F; [|reflexivity]. exfalso. apply same_outputs_spec in F. subst u.
    apply negb_true_iff in D1. assert (X : existsb (same_outputs y) ys = true).
    { apply existsb_exists. exists y. split; [exact Hu | apply same_outputs_refl]. }
    congruence.
  - destruct (IH z D2) as [H|[H I]]; rewrite H; [left; ring | right; split; [ring | right; exact I]].
Qed.

Lemma sum_expected : forall ps ys s,
  expected K T ps s (fun z => sum ys (fun y => on_event (same_outputs y) z)) = sum ys (fun y => expected K T ps s (on_event (same_outputs y))).
Proof.
  intros ps ys s. induction ys as [|y ys IH]; [apply expected_zero; reflexivity|].
  cbn [Program.sum]. rewrite expected_plus, IH. reflexivity.
Qed.

Lemma rows_sum : forall c x (rows : list law_row),
  val (fold_right (fun r t => padd (weight_in c x (event_of (fst r))) t) [] rows)
  = sum (map fst rows) (fun y => mass K T (program_on c x) (same_outputs y)).
Proof.
  intros c x rows. induction rows as [|r rows IH]; [reflexivity|].
  cbn [fold_right map Program.sum]. rewrite value_add, weight_in_sound, IH. reflexivity.
Qed.

Theorem law_sound : forall c x rows, is_root_of_e K (root c) T -> check_law c x rows = true -> has_law K T c x rows.
Proof.
  intros c x rows R H. unfold check_law in H.
  apply andb_true_iff in H as [H S]. apply andb_true_iff in H as [H F]. apply andb_true_iff in H as [H D].
  apply andb_true_iff in H as [H P]. apply andb_true_iff in H as [H M]. apply andb_true_iff in H as [L X].
  apply (positive_sound K T _ R) in P. rewrite total_sound in P. apply (value_zero K T) in S.
  rewrite value_add, value_opp, rows_sum, total_sound in S.
  assert (S' : sum (map fst rows) (fun y => mass K T (program_on c x) (same_outputs y)) = mass_of_all K T (program_on c x)).
  { match type of S with add ?a (opp ?b) = zero => replace a with (add (add a (opp b)) b) by ring end. rewrite S. ring. }
  split; [apply listed_sound; exact X|]. split; [eapply explored_sound; [exact M | left; reflexivity]|]. split; [exact P|]. split.
  - intros y up down I. rewrite forallb_forall in F. specialize (F _ I). cbn [fst snd] in F. apply andb_true_iff in F as [F1 F2].
    apply (positive_sound K T _ R) in F1. split; [exact F1|]. apply (value_zero K T) in F2.
    rewrite value_add, value_opp, !value_mul, weight_in_sound, total_sound in F2.
    change (val down * mass K T (program_on c x) (same_outputs y) + - (val up * mass_of_all K T (program_on c x)) = 0) in F2.
    match type of F2 with ?a + - ?b = 0 => replace a with ((a + - b) + b) by ring end. rewrite F2. ring.
  - intros E A. apply le_antisym; [|apply weights_nonneg; assumption].
    set (seen := fun z => sum (map fst rows) (fun y => on_event (same_outputs y) z)).
    assert (N : le zero (expected K T (program_on c x) [] (fun z => sub one (add (on_event E z) (seen z))))).
    { apply means_nonneg; [exact R | exact L|]. intro z. unfold on_event at 1. unfold seen.
      destruct (at_most_one (map fst rows) z D) as [Z|[Z I]]; rewrite Z.
      - destruct (E z).
        + replace (sub one (add one zero)) with (@zero K) by ring. apply le_refl.
        + replace (sub one (add zero zero)) with (@one K) by ring. apply zero_le_one.
      - rewrite (A z z I (same_outputs_refl z)). replace (sub one (add zero one)) with (@zero K) by ring. apply le_refl. }
    rewrite (expected_minus _ _ (fun _ => one)), expected_plus in N. unfold seen in N. rewrite sum_expected in N.
    change (sum (map fst rows) (fun y => expected K T (program_on c x) [] (on_event (same_outputs y))))
      with (sum (map fst rows) (fun y => mass K T (program_on c x) (same_outputs y))) in N.
    rewrite S' in N. change (expected K T (program_on c x) [] (fun _ => one)) with (mass_of_all K T (program_on c x)) in N.
    change (expected K T (program_on c x) [] (on_event E)) with (mass K T (program_on c x) E) in N.
    replace (sub (mass_of_all K T (program_on c x)) (add (mass K T (program_on c x) E) (mass_of_all K T (program_on c x))))
      with (sub zero (mass K T (program_on c x) E)) in N by ring.
    apply le_sub. exact N.
Qed.
End Proofs.

Print Assumptions law_sound.
