(** What is established of a program is what composition asks of a run: on two neighbours, all that the program publishes,
    each output with its probabilities, is a law to which [composed_is_private] applies. *)

From Coq Require Import ZArith List Bool Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Lawful Law Turns Datasets Composed.
Import ListNotations.
Open Scope Z_scope.

(** All outputs that a program may publish, and those of two, each once. *)
Fixpoint may_publish (ps : program) (s : state) : list output :=
  match ps with
  | [] => [[]]
  | (p, record) :: rest => flat_map (fun r => map (cons (published r)) (may_publish rest (Program.after r))) (results p record s)
  end.
Fixpoint each_once (l : list output) : list output :=
  match l with [] => [] | y :: rest => if existsb (same_outputs y) rest then each_once rest else y :: each_once rest end.

Lemma each_once_in : forall l z, In z (each_once l) <-> In z l.
Proof.
  induction l as [|y l IH]; intro z; [reflexivity|]. cbn [each_once]. specialize (IH z). destruct (existsb (same_outputs y) l) eqn:E; cbn [In].
  - apply existsb_exists in E as [u [Hu E]]. apply same_outputs_spec in E. subst u. split; [tauto|]. intros [<-|H]; [apply IH; exact Hu | tauto].
  - tauto.
Qed.

Lemma each_once_distinct : forall l, distinct_outputs (each_once l) = true.
Proof.
  induction l as [|y l IH]; [reflexivity|]. cbn [each_once]. destruct (existsb (same_outputs y) l) eqn:E; [exact IH|]. cbn [distinct_outputs].
  rewrite IH, andb_true_r. apply negb_true_iff. destruct (existsb (same_outputs y) (each_once l)) eqn:F; [|reflexivity].
  apply existsb_exists in F as [u [Hu F]]. rewrite each_once_in in Hu.
  assert (X : existsb (same_outputs y) l = true) by (apply existsb_exists; exists u; auto). congruence.
Qed.

Section Runs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).
Notation on_event := (on_event K).

Lemma expected_there : forall ps s g h, (forall z, In z (may_publish ps s) -> g z = h z) -> expected K T ps s g = expected K T ps s h.
Proof.
  induction ps as [|[p record] ps IH]; intros s g h H; cbn [expected may_publish] in *; [apply H; left; reflexivity|].
  apply sum_ext. intros r Hr. f_equal. apply IH. intros z Hz. apply H. apply in_flat_map. exists r. split; [exact Hr|]. apply in_map. exact Hz.
Qed.

Lemma expected_scale : forall ps s a h, expected K T ps s (fun z => a * h z) = a * expected K T ps s h.
Proof.
  induction ps as [|[p record] ps IH]; intros s a h; cbn [expected]; [reflexivity|]. rewrite sum_scale. apply sum_ext. intros r _.
  rewrite IH. ring.
Qed.

Lemma at_itself : forall ys z (h : output -> K), distinct_outputs ys = true -> In z ys -> sum ys (fun y => h y * on_event (same_outputs y) z) = h z.
Proof.
  induction ys as [|y ys IH]; intros z h D Hz; [contradiction|]. cbn [distinct_outputs] in D. apply andb_true_iff in D as [D1 D2].
  apply negb_true_iff in D1. cbn [Program.sum]. unfold Law.on_event at 1. destruct Hz as [->|Hz].
  - rewrite same_outputs_refl, sum_zero; [ring|]. intros u Hu. unfold Law.on_event. destruct (same_outputs u z) eqn:E; [|ring].
    apply same_outputs_spec in E. subst u. assert (X : existsb (same_outputs z) ys = true) by (apply existsb_exists; exists z; split; [exact Hu | apply same_outputs_refl]).
    congruence.
  - rewrite IH by assumption. destruct (same_outputs y z) eqn:E; [|ring]. apply same_outputs_spec in E. subst y.
    assert (X : existsb (same_outputs z) ys = true) by (apply existsb_exists; exists z; split; [exact Hz | apply same_outputs_refl]). congruence.
Qed.

Lemma one_by_one : forall ps ys h, distinct_outputs ys = true -> incl (may_publish ps []) ys ->
  expected K T ps [] h = sum ys (fun y => h y * mass K T ps (same_outputs y)).
Proof.
  intros ps ys h D I. rewrite (expected_there ps [] h (fun z => sum ys (fun y => h y * on_event (same_outputs y) z))).
  2: { intros z Hz. symmetry. apply at_itself; [exact D | apply I; exact Hz]. }
  clear D I. induction ys as [|y ys IH]; [apply expected_zero; reflexivity|]. cbn [Program.sum].
  rewrite expected_plus, expected_scale, IH. reflexivity.
Qed.

(** The run on x and on x': outputs by any numbers, with probabilities, where i and j are 1 over the weights of all runs. *)
Definition outputs_of (ps qs : program) : list output := each_once (may_publish ps [] ++ may_publish qs []).
Definition entry (number : output -> nat) (ps qs : program) (i j : K) (y : output) : nat * (K * K) :=
  (number y, (i * mass K T ps (same_outputs y), j * mass K T qs (same_outputs y))).
Definition run_of (number : output -> nat) (ps qs : program) (i j : K) : run_law K := map (entry number ps qs i j) (outputs_of ps qs).

Lemma under_run : forall number ps qs i j E,
  under_x K (run_of number ps qs i j) E = i * mass K T ps (fun y => E (entry number ps qs i j y))
  /\ under_y K (run_of number ps qs i j) E = j * mass K T qs (fun y => E (entry number ps qs i j y)).
Proof.
  intros number ps qs i j E. unfold under_x, under_y, run_of. rewrite !sum_map.
  assert (D : distinct_outputs (outputs_of ps qs) = true) by apply each_once_distinct.
  assert (I : incl (may_publish ps []) (outputs_of ps qs) /\ incl (may_publish qs []) (outputs_of ps qs)).
  { split; intros z Hz; apply each_once_in, in_or_app; [left | right]; exact Hz. }
  destruct I as [I1 I2]. set (h := fun y => if E (entry number ps qs i j y) then 1 else 0 : K).
  change (mass K T ps (fun y => E (entry number ps qs i j y))) with (expected K T ps [] h).
  change (mass K T qs (fun y => E (entry number ps qs i j y))) with (expected K T qs [] h).
  rewrite (one_by_one ps _ h D I1), (one_by_one qs _ h D I2), !sum_scale. unfold h. split; apply sum_ext; intros y _;
    cbn [entry fst snd]; destruct (E _); ring.
Qed.

Lemma inverse_nonneg : forall i m : K, 0 < m -> i * m = 1 -> 0 <= i.
Proof.
  intros i m Hm E. destruct (le_total K 0 i) as [H|H]; [exact H|]. exfalso. apply (zero_not_one K). apply le_antisym; [apply zero_le_one|].
  rewrite <- E. replace (i * m) with (m * i) by ring. apply mul_nonpos; [apply Hm | exact H].
Qed.

(** e^ε = up / down and δ = delta_up / delta_down. *)
Definition guaranteed (d : within_claim) : guarantee :=
  {| ratio_up := up (base d); ratio_down := down (base d); lost_up := delta_up d; lost_down := delta_down d |}.

Lemma one_way : forall d x y E F i j, fair K T d x y -> i * mass_of_all K T (program_on (base d) x) = 1 -> j * mass_of_all K T (program_on (base d) y) = 1 ->
  E = F -> ours K T d x y E <= allowed K T d x y F ->
  val (down (base d)) * (val (delta_down d) * (i * mass K T (program_on (base d) x) E))
  <= val (up (base d)) * (val (delta_down d) * (j * mass K T (program_on (base d) y) F)) + val (delta_up d) * val (down (base d)).
Proof.
  intros d x y E F i j [_ [_ [Mx My]]] Hi Hj -> H. unfold ours, allowed in H.
  pose proof (mul_le K (i * j) _ _ (le_mul K _ _ (inverse_nonneg i _ Mx Hi) (inverse_nonneg j _ My Hj)) H) as Q.
  set (m := mass_of_all K T (program_on (base d) x)) in *. set (m' := mass_of_all K T (program_on (base d) y)) in *.
  set (a := mass K T (program_on (base d) x) F) in *. set (b := mass K T (program_on (base d) y) F) in *.
  replace (i * j * (val (delta_down d) * (val (down (base d)) * a * m'))) with (val (down (base d)) * (val (delta_down d) * (i * a)) * (j * m')) in Q by ring.
  replace (i * j * (val (delta_down d) * (val (up (base d)) * b * m) + val (delta_up d) * val (down (base d)) * (m * m')))
    with (val (up (base d)) * (val (delta_down d) * (j * b)) * (i * m) + val (delta_up d) * val (down (base d)) * (i * m) * (j * m')) in Q by ring.
  rewrite Hi, Hj in Q. apply le_sub. apply sub_le in Q. match type of Q with 0 <= ?u => match goal with |- 0 <= ?v => replace v with u by ring end end. exact Q.
Qed.

Theorem run_is_private : forall d x y number i j, is_root_of_e K (root (base d)) T -> lawful (base d) = true -> within K T d ->
  is_dataset (base d) x -> is_dataset (base d) y -> compared d x y -> compared d y x ->
  i * mass_of_all K T (program_on (base d) x) = 1 -> j * mass_of_all K T (program_on (base d) y) = 1 ->
  is_private K T (guaranteed d) (run_of number (program_on (base d) x) (program_on (base d) y) i j).
Proof.
  intros d x y number i j R L W Dx Dy C C' Hi Hj. destruct (W x y Dx Dy C) as [Fxy Gxy]. destruct (W y x Dy Dx C') as [Fyx Gyx].
  pose proof Fxy as [_ [_ [Mx My]]]. split; [|split; [|split]].
  - intros e He. unfold run_of in He. apply in_map_iff in He as [z [<- _]]. cbn [entry fst snd].
    split; apply le_mul; [exact (inverse_nonneg i _ Mx Hi) | apply (weights_nonneg K T _ _ _ R L) | exact (inverse_nonneg j _ My Hj) | apply (weights_nonneg K T _ _ _ R L)].
  - rewrite (proj1 (under_run _ _ _ _ _ _)). exact Hi.
  - rewrite (proj2 (under_run _ _ _ _ _ _)). exact Hj.
  - intro E. cbn [guaranteed ratio_up ratio_down lost_up lost_down].
    rewrite (proj1 (under_run number _ _ i j E)), (proj2 (under_run number _ _ i j E)). split.
    + apply (one_way d x y _ _ i j Fxy Hi Hj eq_refl), Gxy.
    + apply (one_way d y x _ _ j i Fyx Hj Hi eq_refl), Gyx.
Qed.
(** The rule of forms says the same of a claim without δ. *)
Theorem private_is_within : forall d, private K T (base d) -> listed_pairs d = None -> val (delta_up d) = 0 -> 0 < val (delta_down d) -> within K T d.
Proof.
  intros d P N Z0 [Pos _] x y Dx Dy C. unfold compared in C. rewrite N in C. destruct (P x y Dx Dy C) as [Mx [My [Pm [Eq B]]]].
  split; [split; [exact Mx|]; split; [exact My|]; split; [exact Pm | rewrite <- Eq; exact Pm]|].
  intro E. unfold ours, allowed. rewrite Z0, <- Eq.
  pose proof (mul_le K _ _ _ Pos (mul_le K _ _ _ (proj1 Pm) (B E))) as Q. apply le_sub. apply sub_le in Q.
  match type of Q with 0 <= ?u => match goal with |- 0 <= ?v => replace v with u by ring end end. exact Q.
Qed.
End Runs.

(** Neighbours that have a name are so both ways. *)
Theorem neighbours_symmetric : forall r x y, neighbours r x y -> neighbours r y x.
Proof.
  intros r x y N. destruct r; unfold neighbours in *;
    try (destruct N as [l [a [b [t [-> [-> N]]]]]]; exists l, b, a, t; repeat split; rewrite near_symmetric; exact N).
  destruct N as [Ne N]. split; [congruence|]. clear Ne. induction N as [|a b x y H _ IH]; constructor; [|exact IH].
  destruct H as [->|H]; [left; reflexivity | right; rewrite near_symmetric; exact H].
Qed.

Print Assumptions run_is_private.
Print Assumptions private_is_within.
Print Assumptions neighbours_symmetric.
