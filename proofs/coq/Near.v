(** Mechanisms whose probabilities are known up to an error: each event has the probability that the program gives it, up
    to lost / whole. So noise, or a loop, may be cut off where it goes on, and masses may be rounded. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Law Turns Datasets Outputs.
Import ListNotations.
Open Scope Z_scope.

Definition error := (Z * Z)%type.

(** e^ε and δ with a smaller δ, or with a larger one: the error of an event under x, and e^ε times that under x'. *)
Definition shifted (smaller : bool) (e : error) (p : point) : point :=
  let rest := pmul [fst e] (pmul (padd (fst (fst p)) (snd (fst p))) (snd (snd p))) in
  (fst p, (padd (pmul (pmul [snd e] (snd (fst p))) (fst (snd p))) (if smaller then popp rest else rest),
           pmul (pmul [snd e] (snd (fst p))) (snd (snd p)))).

(** Where no δ is left: whether each output alone, if it has any weight, has as much to spare. *)
Definition spare (c : claim) (delta_up delta_down : poly) (t : table) : bool :=
  let m := total_at true t in
  let m' := total_at false t in
  positive_at (root c) m && positive_at (root c) m'
  && forallb (fun e => let vw := fst (snd e) in
       pzero (size_of (fst vw)) && pzero (size_of (snd vw))
       || nonpos (root c) (padd (pmul delta_down (gap_of (up c) (down c) m m' vw)) (popp (pmul (pmul delta_up (down c)) (pmul m m'))))) t.
Definition near_ok (d : within_claim) (e : error) (t : table) (p : point) : bool :=
  let near := at_point d (shifted true e p) in
  if positive_at (root (base d)) (popp (delta_up near)) then spare (base near) (delta_up near) (delta_down near) t
  else ok_at near Within t.

Definition fit (r : Z) (e : error) (p : point) : bool :=
  (0 <=? fst e) && (0 <? snd e) && positive_at r (snd (fst p)) && nonpos r (popp (fst (fst p)))
  && positive_at r (snd (snd p)) && nonpos r (popp (fst (snd p))).
Definition check_near (d : within_claim) (e : error) (ps : list point) : bool :=
  negb (infinite d) && forallb (fit (root (base d)) e) ps && all_ok d false (fun t => forallb (near_ok d e t) ps).
Definition check_near_exceeds (d : within_claim) (e : error) (p : point) (x y : dataset) : bool :=
  negb (infinite d) && fit (root (base d)) e p && check_along (at_point d (shifted false e p)) Exceeds x y.

(** What is claimed, of any probabilities of events that are as near as that. Where δ is smaller than the errors the
    mechanism may publish nothing that the program never publishes, on x or on x'. *)
Section Meaning.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Notation val := (value_of K T).

Definition close (c : claim) (e : error) (x : dataset) (M : (output -> bool) -> K) : Prop :=
  let ps := program_on c x in
  forall E, 0 <= M E
  /\ inj (snd e) * mass K T ps E <= (inj (snd e) * M E + inj (fst e)) * mass_of_all K T ps
  /\ inj (snd e) * M E * mass_of_all K T ps <= inj (snd e) * mass K T ps E + inj (fst e) * mass_of_all K T ps.
Definition nothing_else (c : claim) (x y : dataset) (M : (output -> bool) -> K) : Prop :=
  forall E, (forall z, E z = true -> mass K T (program_on c x) (same_outputs z) = 0 /\ mass K T (program_on c y) (same_outputs z) = 0) -> M E = 0.
Definition ours_near (d : within_claim) (M : (output -> bool) -> K) E : K := val (delta_down d) * (val (down (base d)) * M E).
Definition most_near (d : within_claim) (M' : (output -> bool) -> K) E : K :=
  val (delta_down d) * (val (up (base d)) * M' E) + val (delta_up d) * val (down (base d)).

Definition near_within (d : within_claim) (e : error) : Prop :=
  forall x y, is_dataset (base d) x -> is_dataset (base d) y -> compared d x y -> fair K T d x y
  /\ forall M M', close (base d) e x M -> close (base d) e y M' -> nothing_else (base d) x y M ->
     forall E, ours_near d M E <= most_near d M' E.
Definition near_exceeded (d : within_claim) (e : error) : Prop :=
  exists x y E, is_dataset (base d) x /\ is_dataset (base d) y /\ compared d x y /\ fair K T d x y
  /\ forall M M', close (base d) e x M -> close (base d) e y M' -> most_near d M' E < ours_near d M E.
End Meaning.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).
Notation size := (size K T).

Lemma le_by : forall a b a' b' : K, a' <= b' -> b - a = b' - a' -> a <= b.
Proof. intros a b a' b' H E. apply le_sub. rewrite E. apply sub_le. exact H. Qed.

Lemma lt_by : forall a b : K, 0 < b - a -> a < b.
Proof. intros a b [H N]. split; [apply le_sub; exact H|]. intros ->. apply N. ring. Qed.

(** From the smaller δ to the claim, and from the larger one. *)
Section Step.
Variables dd du dn up w l A B m m' M M' : K.
Hypothesis (Hdd : 0 <= dd) (Hdn : 0 < dn) (Hup : 0 <= up) (Hw : 0 < w) (Hm : 0 < m) (Hm' : 0 < m').

Lemma step_within : w * M * m <= w * A + l * m -> w * B <= (w * M' + l) * m' ->
  w * dn * dd * (dn * A * m') <= w * dn * dd * (up * B * m) + (w * dn * du - l * ((up + dn) * dd)) * dn * (m * m') ->
  dd * (dn * M) <= dd * (up * M') + du * dn.
Proof.
  intros C1 C2 H. apply le_sub. match goal with |- 0 <= ?a - ?b => replace (a - b) with (- (b - a)) by ring end. apply opp_le.
  apply cancel_nonpos with (dn * (w * (m * m'))); [repeat apply mul_positive; assumption|].
  assert (D1 : dn * dd * dn * m' * (w * M * m) <= dn * dd * dn * m' * (w * A + l * m)).
  { apply mul_le; [|exact C1]. repeat apply le_mul; try assumption; try apply Hdn; apply Hm'. }
  assert (D2 : dn * dd * up * m * (w * B) <= dn * dd * up * m * ((w * M' + l) * m')).
  { apply mul_le; [|exact C2]. repeat apply le_mul; try assumption; try apply Hdn; apply Hm. }
  pose proof (le_add2 K _ _ _ _ (le_add2 K _ _ _ _ D1 D2) H) as S. eapply le_by; [exact S | ring].
Qed.

Lemma step_exceeds : w * A <= (w * M + l) * m -> w * M' * m' <= w * B + l * m' ->
  w * dn * dd * (up * B * m) + (w * dn * du + l * ((up + dn) * dd)) * dn * (m * m') < w * dn * dd * (dn * A * m') ->
  dd * (up * M') + du * dn < dd * (dn * M).
Proof.
  intros C1 C2 H. apply lt_by. apply cancel_positive with (dn * (w * (m * m'))); [repeat apply mul_positive; assumption|].
  assert (D1 : dn * dd * dn * m' * (w * A) <= dn * dd * dn * m' * ((w * M + l) * m)).
  { apply mul_le; [|exact C1]. repeat apply le_mul; try assumption; try apply Hdn; apply Hm'. }
  assert (D2 : dn * dd * up * m * (w * M' * m') <= dn * dd * up * m * (w * B + l * m')).
  { apply mul_le; [|exact C2]. repeat apply le_mul; try assumption; try apply Hdn; apply Hm. }
  pose proof (le_add2 K _ _ _ _ D1 D2) as S. destruct H as [H N]. pose proof (le_add2 K _ _ _ _ S H) as S'. split.
  - apply sub_le in S'. match type of S' with 0 <= ?a => match goal with |- 0 <= ?b => replace b with a by ring end end. exact S'.
  - intro E. apply N. apply le_antisym; [exact H|].
    eapply le_by; [exact S|]. match type of E with 0 = ?e => match goal with |- ?a = ?b => replace a with (a + e) by (rewrite <- E; ring) end end. ring.
Qed.
End Step.

Lemma sum_most_one : forall {A} (l : list A) f a, In a l -> (forall b, In b l -> f b <= 0) -> sum l f <= f a.
Proof.
  intros A l f a. induction l as [|b l IH]; intros H N; [contradiction|]. cbn [Program.sum]. destruct H as [->|H].
  - eapply le_by; [apply (sum_nonpos K l f); intros b Hb; apply N; right; exact Hb | ring].
  - eapply le_by; [apply (le_add2 K _ _ _ _ (N b (or_introl eq_refl)) (IH H (fun c Hc => N c (or_intror Hc)))) | ring].
Qed.

Section OnePoint.
Variable d : within_claim.
Hypothesis is_root : is_root_of_e K (root (base d)) T.
Variable e : error.
Variable p : point.
Hypothesis fits : fit (root (base d)) e p = true.
Hypothesis finite : infinite d = false.
Notation dn := (val (snd (fst p))).
Notation up' := (val (fst (fst p))).
Notation dd := (val (snd (snd p))).
Notation du := (val (fst (snd p))).

Lemma fit_says : (0 <= @inj K (fst e) /\ 0 < @inj K (snd e) /\ 0 < dn /\ 0 <= up' /\ 0 < dd /\ 0 <= du)
  /\ val (snd (snd (shifted true e p))) = inj (snd e) * dn * dd /\ val (snd (snd (shifted false e p))) = inj (snd e) * dn * dd
  /\ val (fst (snd (shifted true e p))) = inj (snd e) * dn * du - inj (fst e) * ((up' + dn) * dd)
  /\ val (fst (snd (shifted false e p))) = inj (snd e) * dn * du + inj (fst e) * ((up' + dn) * dd).
Proof.
  pose proof fits as H. unfold fit in H. repeat (apply andb_true_iff in H as [H ?]).
  rename H0 into F6, H1 into F5, H2 into F4, H3 into F3, H4 into F2. apply Z.leb_le in H. apply Z.ltb_lt in F2.
  apply (positive_sound K T _ is_root) in F3, F5. apply (nonpos_sound K T _ is_root) in F4, F6. rewrite value_opp in F4, F6. apply opp_le in F4, F6.
  split.
  - split; [apply inj_nonneg; exact H|]. split; [apply inj_positive; exact F2|]. split; [exact F3|].
    split; [replace up' with (- - up') by ring; exact F4|]. split; [exact F5|]. replace du with (- - du) by ring. exact F6.
  - assert (C : forall a : Z, val [a] = inj a) by (intro a; cbn [value_of]; ring).
    unfold shifted. cbn [fst snd]. rewrite !value_add, !value_opp, !value_mul, !C, value_add. repeat split; ring.
Qed.

Section Pair.
Variables (n : nat) (places : list (nat * option nat)).
Hypothesis law_is : law_of (base d) = For n places.
Variables x y : dataset.
Variable u : table.
Hypothesis led : leads (way_of d places x y) begin u.
Notation c := (base d).
Notation all := (leaves (way_of d places x y) start start).
Notation dd' := (val (snd (snd (shifted true e p)))).
Notation du' := (val (fst (snd (shifted true e p)))).

Definition seen (E : output -> bool) : bool :=
  existsb (fun l => E (fst l) && negb (pzero (size_of (fst (snd l))) && pzero (size_of (snd (snd l))))) all.

Lemma unseen : forall E, seen E = false -> forall z, E z = true ->
  mass K T (program_on c x) (same_outputs z) = 0 /\ mass K T (program_on c y) (same_outputs z) = 0.
Proof.
  intros E H z Ez. pose proof (fun s => mass_at K T d n places law_is x y s z) as M. destruct (M true) as [M1 M2]. destruct (M false) as [N1 N2].
  cbn [side fst snd] in *. destruct (existsb (same_outputs z) (map fst all)) eqn:I.
  2: { assert (I' : ~ In z (map fst all)); [|split; [apply M2, I' | apply N2, I']]. intro J.
       assert (X : existsb (same_outputs z) (map fst all) = true) by (apply existsb_exists; exists z; split; [exact J | apply same_outputs_refl]). congruence. }
  apply existsb_exists in I as [z0 [I Q]]. apply same_outputs_spec in Q. subst z0.
  apply in_map_iff in I as [[z' [v w]] [<- I]]. cbn [fst] in *. rewrite (M1 _ I), (N1 _ I). cbn [side fst snd].
  destruct (pzero (size_of v) && pzero (size_of w)) eqn:P.
  - apply andb_true_iff in P as [P1 P2]. apply (value_zero K T) in P1, P2. rewrite !size_of_sound in *. auto.
  - exfalso. assert (X : seen E = true); [|congruence]. apply existsb_exists. exists (z', (v, w)). split; [exact I|]. cbn [fst snd]. rewrite Ez, P. reflexivity.
Qed.

(** Each output has enough to spare, so all events of some have. *)
Lemma spare_says : spare (base (at_point d (shifted true e p))) (fst (snd (shifted true e p))) (snd (snd (shifted true e p))) u = true ->
  du' <= 0 -> 0 <= dn -> fair K T d x y
  /\ forall E, seen E = true -> ours K T (at_point d (shifted true e p)) x y E <= allowed K T (at_point d (shifted true e p)) x y E.
Proof.
  intros H Ndu Ndn. unfold spare in H. cbv zeta in H. apply andb_true_iff in H as [H F]. apply andb_true_iff in H as [L O].
  pose proof (is_fair K T d n places law_is x y u led is_root L O) as Fair. split; [exact Fair|]. intros E S.
  pose proof (fun s => expected_at K T d n places law_is x y s (on_event K E)) as X. pose proof (X true) as X1. pose proof (X false) as X2. clear X.
  pose proof (all_at K T d n places law_is x y u led) as A. pose proof (A true) as A1. pose proof (A false) as A2. clear A.
  cbn [side fst snd] in *. destruct Fair as [_ [_ [Mx My]]]. unfold ours, allowed. unfold mass.
  change (program_on (base (at_point d (shifted true e p)))) with (program_on c).
  cbn [at_point base delta_up delta_down up down fst snd]. change (fst (shifted true e p)) with (fst p).
  change (fun y0 : output => if E y0 then 1 else 0) with (on_event K E). rewrite X1, X2. clear X1 X2.
  set (m := mass_of_all K T (program_on c x)) in *. set (m' := mass_of_all K T (program_on c y)) in *.
  rewrite forallb_forall in F.
  assert (Each : forall l, In l all -> let gap := dd' * (dn * m' * size (fst (snd l)) - up' * m * size (snd (snd l))) in
    (pzero (size_of (fst (snd l))) && pzero (size_of (snd (snd l))) = true /\ gap = 0) \/ gap <= du' * dn * (m * m')).
  { intros l Hl. destruct (each_leaf d places x y u led l Hl) as [f [F1 F2]]. specialize (F f F1). rewrite F2 in F. cbv zeta.
    apply orb_true_iff in F as [F|F].
    - left. split; [exact F|]. apply andb_true_iff in F as [P1 P2]. apply (value_zero K T) in P1, P2. rewrite size_of_sound in P1, P2. rewrite P1, P2. ring.
    - right. apply (nonpos_sound K T _ is_root) in F. unfold gap_of in F. rewrite !value_add, !value_opp, !value_mul, !value_add, !value_opp, !value_mul, !size_of_sound in F.
      cbn [at_point base up down fst snd] in F. change (fst (shifted true e p)) with (fst p) in F. rewrite <- A1, <- A2 in F. eapply le_by; [exact F | ring]. }
  assert (Neg : du' * dn * (m * m') <= 0).
  { match goal with |- ?a <= _ => replace a with (dn * (m * m') * du') by ring end. apply mul_nonpos; [|exact Ndu].
    apply le_mul; [exact Ndn | apply le_mul; [apply Mx | apply My]]. }
  unfold seen in S. apply existsb_exists in S as [l0 [H0 S]]. apply andb_true_iff in S as [S1 S2].
  set (gap := fun l : output * (vector * vector) => dd' * (dn * m' * size (fst (snd l)) - up' * m * size (snd (snd l)))).
  assert (Q : sum all (fun l => gap l * on_event K E (fst l)) <= du' * dn * (m * m')).
  { apply le_trans with (gap l0 * on_event K E (fst l0)).
    - apply (sum_most_one all (fun l => gap l * on_event K E (fst l))); [exact H0|]. intros l Hl. unfold on_event. destruct (E (fst l)).
      + destruct (Each l Hl) as [[_ G]|G]; unfold gap; [rewrite G; eapply le_by; [apply (le_refl K 0) | ring]|].
        eapply le_trans; [|exact Neg]. eapply le_by; [exact G | ring].
      + eapply le_by; [apply (le_refl K 0) | ring].
    - unfold on_event. rewrite S1. destruct (Each l0 H0) as [[G _]|G]; [rewrite G in S2; discriminate|]. eapply le_by; [exact G | unfold gap; ring]. }
  eapply le_by; [exact Q|].
  assert (R : sum all (fun l => gap l * on_event K E (fst l))
    = dd' * (dn * m' * sum all (fun l => size (fst (snd l)) * on_event K E (fst l)) - up' * m * sum all (fun l => size (snd (snd l)) * on_event K E (fst l)))).
  { clear. unfold gap. induction all as [|l l' IH]; cbn [Program.sum]; [ring|]. rewrite IH. ring. }
  rewrite R. ring.
Qed.
End Pair.

Lemma near_says : forall n places x y u, law_of (base d) = For n places -> leads (way_of d places x y) begin u -> near_ok d e u p = true ->
  fair K T d x y /\ forall M M', close K T (base d) e x M -> close K T (base d) e y M' -> nothing_else K T (base d) x y M ->
    forall E, ours_near K T (at_point d p) M E <= most_near K T (at_point d p) M' E.
Proof.
  intros n places x y u S L O. destruct fit_says as [[He [Hw [Hdn [Hup [Hdd Hdu]]]]] [Vd [_ [Vu _]]]].
  unfold near_ok in O. cbv zeta in O.
  assert (Step : fair K T d x y -> forall M M' E, close K T (base d) e x M -> close K T (base d) e y M' ->
    ours K T (at_point d (shifted true e p)) x y E <= allowed K T (at_point d (shifted true e p)) x y E ->
    ours_near K T (at_point d p) M E <= most_near K T (at_point d p) M' E).
  { intros [_ [_ [Mx My]]] M M' E C C' H. destruct (C E) as [_ [_ C1]]. destruct (C' E) as [_ [C2 _]].
    unfold ours, allowed in H. change (program_on (base (at_point d (shifted true e p)))) with (program_on (base d)) in H.
    cbn [at_point base delta_up delta_down up down fst snd] in H. change (fst (shifted true e p)) with (fst p) in H. rewrite Vd, Vu in H. unfold ours_near, most_near. cbn [at_point base delta_up delta_down up down fst snd].
    eapply step_within; [apply Hdd | exact Hdn | exact Hup | exact Hw | exact Mx | exact My | exact C1 | exact C2 | exact H]. }
  destruct (positive_at (root (base d)) (popp (delta_up (at_point d (shifted true e p))))) eqn:N.
  - apply (positive_sound K T _ is_root) in N. rewrite value_opp in N. cbn [at_point delta_up] in N. destruct N as [N _].
    destruct (spare_says n places S x y u L O) as [F B]; [|apply Hdn|].
    { match goal with |- ?a <= 0 => replace a with (- - a) by ring end. apply le_opp. exact N. }
    split; [exact F|]. intros M M' C C' Only E. destruct (seen places x y E) eqn:X; [apply (Step F M M' E C C'), B, X|].
    unfold ours_near, most_near. rewrite (Only E); [|apply (unseen n places S x y E X)]. cbn [at_point base delta_up delta_down up down fst snd].
    destruct (C' E) as [P _]. apply le_sub.
    match goal with |- 0 <= ?a => replace a with (dd * (up' * M' E) + du * dn) by ring end.
    replace (0 : K) with (0 + 0 : K) by ring. apply le_add2; apply le_mul; try assumption; [apply Hdd | apply le_mul; assumption | apply Hdn].
  - destruct (table_says K T (at_point d (shifted true e p)) is_root n places S Within x y u) as [F B]; [|exact L | exact O|].
    { cbn [at_point delta_down]. rewrite Vd. apply le_mul; [apply le_mul; [apply Hw | apply Hdn] | apply Hdd]. }
    split; [exact F|]. intros M M' C C' _ E. exact (Step F M M' E C C' (B finite E)).
Qed.
End OnePoint.
End Proofs.

Theorem near_within_sound : forall K T d e ps, is_root_of_e K (root (base d)) T -> check_near d e ps = true ->
  forall p, In p ps -> near_within K T (at_point d p) e.
Proof.
  intros K T d e ps R H p Hp x y Dx Dy C. unfold check_near in H. apply andb_true_iff in H as [H G]. apply andb_true_iff in H as [I F].
  rewrite forallb_forall in F. specialize (F p Hp). apply negb_true_iff in I.
  destruct (all_says_of d _ x y G Dx Dy C) as [n [places [u [S [L O]]]]]. rewrite forallb_forall in O. specialize (O p Hp).
  exact (near_says K T d R e p F I n places x y u S L O).
Qed.

Theorem near_exceeded_sound : forall K T d e p x y, is_root_of_e K (root (base d)) T -> check_near_exceeds d e p x y = true ->
  near_exceeded K T (at_point d p) e.
Proof.
  intros K T d e p x y R H. unfold check_near_exceeds in H. apply andb_true_iff in H as [H G]. apply andb_true_iff in H as [I F].
  destruct (along_says K T (at_point d (shifted false e p)) R Exceeds x y G) as [X [Y [Z [[Fair [E [A _]]] _]]]].
  exists x, y, E. repeat (split; [assumption|]). intros M M' C C'.
  destruct (fit_says K T d R e p F) as [[He [Hw [Hdn [Hup [Hdd Hdu]]]]] [_ [Vd [_ Vu]]]].
  destruct Fair as [_ [_ [Mx My]]]. destruct (C E) as [_ [C1 _]]. destruct (C' E) as [_ [_ C2]].
  unfold ours, allowed in A. change (program_on (base (at_point d (shifted false e p)))) with (program_on (base d)) in A.
  cbn [at_point base delta_up delta_down up down fst snd] in A. change (fst (shifted false e p)) with (fst p) in A. rewrite Vd, Vu in A.
  unfold ours_near, most_near. cbn [at_point base delta_up delta_down up down fst snd].
  eapply step_exceeds; [apply Hdd | exact Hdn | exact Hup | exact Hw | exact Mx | exact My | exact C1 | exact C2 | exact A].
Qed.

Print Assumptions near_within_sound.
Print Assumptions near_exceeded_sound.
