(** What the rule "forms" accepts is true. *)

From Coq Require Import ZArith List Bool Lia Ring FMapPositive.
From Tightdp Require Import Numbers Program Sums Forms Lists.
Import ListNotations.
Open Scope Z_scope.

Section Soundness.
Variable K : domain.
Variable T : K.
Variable root : Z.
Hypothesis is_root : is_root_of_e K root T.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).
Notation val := (value_of K T).
Notation dot := (dot K T).
Notation weights := (weights K).
Notation held := (held K).
Notation good := (good K).

(** Sums of factors with one key. *)

Lemma dot_cons : forall k a f u, dot ((k, a) :: f) u = val a * u k + dot f u.
Proof. reflexivity. Qed.

Lemma dot_merge : forall l m u, dot (merge l m) u = dot l u + dot m u.
Proof.
  intros l. induction l as [|[k a] l IH]; intros m u.
  - simpl. unfold Lists.dot at 2. simpl. ring.
  - induction m as [|[j b] m IHm].
    + simpl. unfold Lists.dot at 3. simpl. ring.
    + cbn [merge]. destruct (k ?= j)%positive eqn:E.
      * apply Pos.compare_eq in E. subst j. rewrite !dot_cons, IH, value_add. ring.
      * rewrite !dot_cons, IH, dot_cons. ring.
      * rewrite (dot_cons j b). cbn [merge] in IHm. rewrite IHm, !dot_cons. ring.
Qed.

Lemma dot_pairs : forall n l u, (length l <= n)%nat -> sum (pairs l) (fun f => dot f u) = sum l (fun f => dot f u).
Proof.
  induction n as [|n IH]; intros l u H; [destruct l; [reflexivity | simpl in H; lia]|].
  destruct l as [|a [|b l]]; [reflexivity|reflexivity|]. cbn [pairs Program.sum].
  rewrite dot_merge, IH by (simpl in H; lia). ring.
Qed.

Lemma dot_concat : forall l u, dot (List.concat l) u = sum l (fun f => dot f u).
Proof. intros l u. induction l as [|f l IH]; [reflexivity|]. cbn [List.concat Program.sum]. rewrite dot_app, IH. reflexivity. Qed.

Lemma dot_rounds : forall n l u, dot (rounds n l) u = sum l (fun f => dot f u).
Proof.
  induction n as [|n IH]; intros l u; [apply dot_concat|]. cbn [rounds].
  destruct l as [|a [|b l]]; [reflexivity | simpl; ring|]. rewrite IH. apply dot_pairs with (length (a :: b :: l)). lia.
Qed.

Lemma dot_collected : forall f u, dot (collected f) u = dot f u.
Proof. intros f u. unfold collected. rewrite dot_rounds, sum_map. apply sum_ext. intros [k a] _. rewrite dot_cons. unfold Lists.dot. simpl. ring. Qed.

Lemma dot_scaled : forall c f u, dot (scaled c f) u = val c * dot f u.
Proof.
  intros c f u. unfold Lists.dot, scaled. rewrite sum_map, sum_scale. apply sum_ext. intros e _. cbn [fst snd].
  rewrite value_mul. ring.
Qed.

Lemma no_factor_positive_sound : forall f u, (forall k, 0 <= u k) -> no_factor_positive root f = true -> dot f u <= 0.
Proof.
  intros f u Hu H. rewrite <- dot_collected. unfold no_factor_positive in H. rewrite forallb_forall in H.
  apply sum_nonpos. intros e He. replace (val (snd e) * u (fst e)) with (u (fst e) * val (snd e)) by ring.
  apply mul_nonpos; [apply Hu | apply nonpos_sound with root; [exact is_root | apply H; exact He]].
Qed.

Lemma nonneg_sound : forall p, nonpos root (popp p) = true -> 0 <= val p.
Proof.
  intros p H. apply (nonpos_sound K T root is_root) in H. rewrite value_opp in H.
  apply opp_le in H. replace (val p) with (- - val p) by ring. exact H.
Qed.

Lemma bounded_sound : forall others why f u, (forall k, 0 <= u k) -> (forall g, In g others -> dot g u <= 0) ->
  bounded root others why f = true -> dot f u <= 0.
Proof.
  intros others why f u Hu Ho H. destruct f as [|e f]; [apply le_refl|]. cbn [bounded] in H.
  destruct why as [r|]; [|apply no_factor_positive_sound; assumption]. revert H. generalize (e :: f). clear e f. intros f H. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  apply (positive_sound K T root is_root) in H1. apply (no_factor_positive_sound _ u Hu) in H3.
  rewrite dot_app, dot_scaled in H3. apply cancel_nonpos with (val (factor r)); [exact H1|].
  rewrite forallb_forall in H2.
  assert (P : 0 <= dot (flat_map (fun use => scaled (popp (snd use)) (nth (fst use) others [])) (uses r)) u).
  { unfold Lists.dot. rewrite sum_flat_map. apply sum_nonneg. intros use Huse.
    change (0 <= dot (scaled (popp (snd use)) (nth (fst use) others [])) u). rewrite dot_scaled, value_opp.
    replace (- val (snd use) * dot (nth (fst use) others []) u) with (val (snd use) * - dot (nth (fst use) others []) u) by ring.
    apply le_mul; [apply nonneg_sound, H2; exact Huse|]. apply opp_le.
    destruct (Nat.lt_ge_cases (fst use) (length others)) as [L|L].
    - apply Ho. apply nth_In. exact L.
    - rewrite nth_overflow by exact L. apply le_refl. }
  apply le_trans with (val (factor r) * dot f u + dot (flat_map (fun use => scaled (popp (snd use)) (nth (fst use) others [])) (uses r)) u); [|exact H3].
  apply le_sub.
  match goal with |- 0 <= ?x + ?y - ?z => replace (x + y - z) with y by ring end. exact P.
Qed.

Variables up down : poly.
Variable parts : list part.
Variable records : list value.
Variable related : relation.
Variable units : bool.
Notation part_of := (part_of parts).
Notation at_once := (at_once related).
Notation after_forms := (after_forms up down units).
Notation check_step := (check_step root up down parts records related units).
Notation records_of := (records_of records).
Hypothesis holds : bound_holds root up down related units = true.

(** Pairs of records that a part may meet. *)
Definition alike (p : part) (a b : option value) : Prop := a = b /\ In a (records_of p).
Definition differ (p : part) (a b : option value) : Prop :=
  In a (records_of p) /\ In b (records_of p)
  /\ match a, b with Some u, Some v => near related u v = true | _, _ => False end.

(** What an accepted step says, in words of runs. *)
Record step_facts (first : bool) (before after_ : cut) (s : step) (moves : option value -> list (list move)) := {
  fact_moved : forall a, In a (records_of (part_of s)) ->
    all_of (moves_of (plant (outputs s)) (plant (states after_)) (part_of s) a) (numbered 1 (states before)) = Some (moves a);
  fact_odds : forall a m t, In a (records_of (part_of s)) -> In m (moves a) -> In t m -> 0 <= val (odds t);
  fact_sum : exists w, 0 < w /\ forall a m, In a (records_of (part_of s)) -> In m (moves a) -> val (weight_of m) = w;
  fact_before : forall a o f u, In a (records_of (part_of s)) -> In o (map fst (numbered 1 (outputs s))) ->
    In f (befores after_) -> (forall k, 0 <= u k) -> (forall g, In g (befores before) -> dot g u <= 0) ->
    dot (pulled (fun k => k) (backwards (List.concat (moves a))) o f) u <= 0;
  fact_across : at_once = false -> forall a b o f u, differ (part_of s) a b ->
    In o (map fst (numbered 1 (outputs s))) -> In f (after_forms after_) ->
    (forall k, 0 <= u k) -> (forall g, In g (befores before) -> dot g u <= 0) ->
    dot (pulled (fun k => k) (backwards (List.concat (moves a))) o (fst (half f))
         ++ pulled (fun k => k) (backwards (List.concat (moves b))) o (snd (half f))) u <= 0;
  fact_after : units = false -> (first = false \/ at_once = true) -> forall a b o f u,
    (alike (part_of s) a b \/ (at_once = true /\ differ (part_of s) a b)) ->
    In o (map fst (numbered 1 (outputs s))) -> In f (afters after_) ->
    (forall k, 0 <= u k) -> (forall g, In g (afters before) -> dot g u <= 0) ->
    dot (pulled xO (backwards (List.concat (moves a))) o (fst (half f))
         ++ pulled xI (backwards (List.concat (moves b))) o (snd (half f))) u <= 0
}.

Lemma known_in : forall {A B} (f : A -> option (list B)) (g : list B -> back) rs ms i a,
  Forall2 (fun r m => f r = Some m) rs ms -> In a rs ->
  exists k m, f a = Some m /\ In (a, (k, g m)) (combine rs (numbered i (map g ms))).
Proof.
  intros A B f g rs ms i a H. revert i. induction H as [|r m rs ms E _ IH]; intros i Ha; [contradiction|].
  destruct Ha as [->|Ha].
  - exists i, m. split; [exact E | left; reflexivity].
  - destruct (IH (Pos.succ i) Ha) as [k [n [En Hn]]]. exists k, n. split; [exact En | right; exact Hn].
Qed.

Lemma numbered_list : forall {A} (l : list A) i f, In f l -> exists k, In (k, f) (numbered i l).
Proof. intros. apply in_numbered. assumption. Qed.

Lemma weight_of_sum : forall m, val (weight_of m) = sum m (fun t => val (odds t)).
Proof. induction m as [|t m IH]; [reflexivity|]. cbn [weight_of fold_right Program.sum]. fold (weight_of m). rewrite value_add, IH. reflexivity. Qed.

Lemma equal_poly_sound : forall p q, equal_poly p q = true -> val p = val q.
Proof.
  intros p q H. unfold equal_poly in H. apply (value_zero K T) in H. rewrite value_add, value_opp in H.
  replace (val p) with ((val p + - val q) + val q) by ring. rewrite H. ring.
Qed.

Lemma check_step_sound : forall first before after_ s, check_step first before after_ s = true ->
  exists moves, step_facts first before after_ s moves.
Proof.
  intros first before after_ s H. unfold Forms.check_step in H.
  destruct (all_moves parts records before after_ s) as [ms|] eqn:E; [|discriminate]. cbv zeta in H.
  apply andb_true_iff in H as [H HA]. apply andb_true_iff in H as [H HX]. apply andb_true_iff in H as [HS HB].
  unfold all_moves in E. apply all_of_spec in E.
  exists (fun a => match moves_for parts before after_ s a with Some m => m | None => [] end).
  assert (G : forall a, In a (records_of (part_of s)) -> exists m, moves_for parts before after_ s a = Some m /\ In m ms).
  { clear - E. induction E as [|r m rs ms' F _ IH]; intros a Ha; [contradiction|]. destruct Ha as [->|Ha].
    - exists m. split; [exact F | left; reflexivity].
    - destruct (IH a Ha) as [n [F1 F2]]. exists n. split; [exact F1 | right; exact F2]. }
  pose proof (fun a Ha => known_in (moves_for parts before after_ s) (fun m => backwards (List.concat m)) _ ms 1%positive a E Ha) as KN.
  unfold one_sum in HS. destruct (List.concat ms) as [|m0 rest] eqn:C; [discriminate|].
  apply andb_true_iff in HS as [HS1 HS2]. rewrite <- C in HS2. rewrite forallb_forall in HS2.
  assert (Each : forall a m, In a (records_of (part_of s)) ->
     In m (match moves_for parts before after_ s a with Some m => m | None => [] end) -> In m (List.concat ms)).
  { intros a m Ha Hm. destruct (G a Ha) as [n [F1 F2]]. rewrite F1 in Hm. apply in_concat. exists n. split; assumption. }
  constructor.
  - intros a Ha. destruct (G a Ha) as [m [F _]]. rewrite F. exact F.
  - intros a m t Ha Hm Ht. specialize (HS2 m (Each a m Ha Hm)). apply andb_true_iff in HS2 as [_ O].
    rewrite forallb_forall in O. apply nonneg_sound, O. exact Ht.
  - exists (val (weight_of m0)). split; [apply (positive_sound K T root is_root); exact HS1|].
    intros a m Ha Hm. specialize (HS2 m (Each a m Ha Hm)). apply andb_true_iff in HS2 as [O _].
    apply equal_poly_sound. exact O.
  - intros a o f u Ha Ho Hf Hu Hg. destruct (KN a Ha) as [i [m [F In1]]]. rewrite F.
    rewrite forallb_forall in HB. specialize (HB _ In1). rewrite forallb_forall in HB. specialize (HB _ Ho).
    destruct (numbered_list (befores after_) 1%positive f Hf) as [j Hj].
    rewrite forallb_forall in HB. specialize (HB _ Hj). cbn [fst snd] in HB.
    eapply bounded_sound; [exact Hu | exact Hg | exact HB].
  - intros NA a b o f u [Ha [Hb N]] Ho Hf Hu Hg. rewrite NA in HX. cbn [orb] in HX.
    destruct (KN a Ha) as [i [m [F In1]]]. destruct (KN b Hb) as [j [n [F2 In2]]]. rewrite F, F2.
    rewrite forallb_forall in HX. specialize (HX _ In1). rewrite forallb_forall in HX. specialize (HX _ In2).
    cbn [fst snd] in HX. destruct a as [a|]; [|contradiction]. destruct b as [b|]; [|contradiction]. rewrite N in HX.
    cbn [negb orb] in HX. rewrite forallb_forall in HX. specialize (HX _ Ho).
    destruct (numbered_list _ 1%positive f Hf) as [q Hq].
    apply (in_map (fun each => (fst each, half (snd each)))) in Hq.
    rewrite forallb_forall in HX. specialize (HX _ Hq). cbn [fst snd] in HX.
    eapply bounded_sound; [exact Hu | exact Hg | exact HX].
  - intros NU FA a b o f u AB Ho Hf Hu Hg.
    assert (Z : units || first && negb at_once = false)
      by (rewrite NU; destruct FA as [->| ->]; [reflexivity | apply andb_false_r]).
    rewrite Z in HA. cbn [orb] in HA.
    assert (AF : In f (after_forms after_)) by (unfold Forms.after_forms; rewrite NU; exact Hf).
    destruct (numbered_list _ 1%positive f AF) as [q Hq].
    apply (in_map (fun each => (fst each, half (snd each)))) in Hq.
    assert (M : exists i m j n, moves_for parts before after_ s a = Some m /\ moves_for parts before after_ s b = Some n
      /\ In (a, (i, backwards (List.concat m))) (combine (records_of (part_of s)) (numbered 1 (map (fun m => backwards (List.concat m)) ms)))
      /\ In (b, (j, backwards (List.concat n))) (combine (records_of (part_of s)) (numbered 1 (map (fun m => backwards (List.concat m)) ms)))
      /\ negb ((i =? j)%positive || (at_once && match a, b with Some u, Some v => near related u v | _, _ => false end)) = false).
    { destruct AB as [[-> Ha]|[AO [Ha [Hb N]]]].
      - destruct (KN b Ha) as [i [m [F In1]]]. exists i, m, i, m. rewrite Pos.eqb_refl. auto 6.
      - destruct (KN a Ha) as [i [m [F In1]]]. destruct (KN b Hb) as [j [n [F2 In2]]]. exists i, m, j, n.
        destruct a as [a|]; [|contradiction]. destruct b as [b|]; [|contradiction].
        rewrite AO, N. cbn [andb]. rewrite orb_true_r. auto 6. }
    destruct M as [i [m [j [n [F [F2 [In1 [In2 NN]]]]]]]]. rewrite F, F2.
    rewrite forallb_forall in HA. specialize (HA _ In1). rewrite forallb_forall in HA. specialize (HA _ In2).
    cbn [fst snd] in HA. rewrite NN in HA. cbn [orb] in HA. rewrite forallb_forall in HA. specialize (HA _ Ho).
    rewrite forallb_forall in HA. specialize (HA _ Hq). cbn [fst snd] in HA.
    eapply bounded_sound; [exact Hu | exact Hg | exact HA].
Qed.

(** Weights under x and x' with keys as in a form about both. *)
Definition both (c : cut) (v w : weights) (k : positive) : K :=
  match k with xO k => held (states c) v k | xI k => held (states c) w k | xH => 0 end.

Lemma both_nonneg : forall c v w k, good (states c) v -> good (states c) w -> 0 <= both c v w k.
Proof. intros c v w [k|k|] Hv Hw; simpl; [apply held_nonneg | apply held_nonneg | apply le_refl]; assumption. Qed.

Lemma dot_half : forall f c v w, dot f (both c v w) = dot (fst (half f)) (held (states c) v) + dot (snd (half f)) (held (states c) w).
Proof.
  intros f c v w. unfold half. cbn [fst snd]. induction f as [|[k a] f IH].
  - unfold Lists.dot. simpl. ring.
  - rewrite dot_cons, IH. cbn [flat_map fst snd]. rewrite !dot_app.
    destruct k as [k|k|]; cbn [both]; unfold Lists.dot; simpl; ring.
Qed.

Definition program_of (ss : list step) (rs : list (option value)) : program := combine (map part_of ss) rs.

Variable given : list cut.
Variable ss_all : list step.
Notation cuts := (cuts_of up down given).
Hypothesis checked : check_steps root up down parts records related units cuts ss_all = true.
Definition cut_at (i : nat) : cut := nth i cuts start.
Definition last_cut : nat := S (length given).

Lemma cut_last : cut_at last_cut = finish up down.
Proof.
  unfold cut_at, last_cut, cuts_of. cbn [nth]. rewrite app_nth2 by lia. rewrite Nat.sub_diag. reflexivity.
Qed.

Lemma step_checked : forall s, In s ss_all ->
  step_after s <> O /\ exists moves, step_facts (Nat.eqb (step_before s) 0) (cut_at (step_before s)) (cut_at (step_after s)) s moves.
Proof.
  intros s Hs. unfold check_steps in checked. rewrite forallb_forall in checked. specialize (checked s Hs).
  apply andb_true_iff in checked as [C1 C2]. split.
  - intro E. rewrite E in C1. discriminate.
  - apply check_step_sound. exact C2.
Qed.

Notation law := (law K T).

Lemma good_states : forall c v, good (states c) v -> good (states c) v.
Proof. auto. Qed.

Section Move.
Variables (s : step) (before after_ : cut) (first : bool) (moves : option value -> list (list move)).
Hypothesis facts : step_facts first before after_ s moves.
Variable a : option value.
Hypothesis Ha : In a (records_of (part_of s)).
Definition next (v : weights) (o : positive) : weights := moved_on K T (part_of s) a (outputs s) v o.

Lemma next_good : forall v o, good (states before) v -> good (states after_) (next v o).
Proof.
  intros v o H. eapply good_after; [apply (fact_moved _ _ _ _ _ facts a Ha)| |exact H].
  intros m t Hm Ht. eapply fact_odds; eassumption.
Qed.

Lemma next_dot : forall v o f, good (states before) v ->
  dot (pulled (fun k => k) (backwards (List.concat (moves a))) o f) (held (states before) v) = dot f (held (states after_) (next v o)).
Proof.
  intros v o f H. eapply dot_pulled; [apply (fact_moved _ _ _ _ _ facts a Ha)| |exact H].
  intros m t Hm Ht. eapply fact_odds; eassumption.
Qed.

Lemma next_law : forall ps v h, good (states before) v ->
  law ((part_of s, a) :: ps) v h = sum (numbered 1 (outputs s)) (fun y => law ps (next v (fst y)) (fun z => h (snd y :: z))).
Proof.
  intros ps v h H. eapply law_step; [apply (fact_moved _ _ _ _ _ facts a Ha)| |exact H].
  intros m t Hm Ht. eapply fact_odds; eassumption.
Qed.

Lemma runs_of : forall k st, In (k, st) (numbered 1 (states before)) ->
  run (part_of s) a st <> None
  /\ Forall (fun r => number_of (plant (outputs s)) (published r) <> None
                      /\ number_of (plant (states after_)) (after r) <> None
                      /\ 0 <= val (weight r)) (results (part_of s) a st)
  /\ forall w, (forall m, In m (moves a) -> val (weight_of m) = w) -> sum (results (part_of s) a st) (fun r => val (weight r)) = w.
Proof.
  intros k st Hk. pose proof (fact_moved _ _ _ _ _ facts a Ha) as FM.
  assert (FO : forall m t, In m (moves a) -> In t m -> 0 <= val (odds t)) by (intros m t Hm Ht; eapply fact_odds; eassumption).
  destruct (weights_nonneg K T _ _ _ _ _ _ FM FO k st Hk) as [R1 R2]. split; [exact R1|]. split; [exact R2|].
  intros w Hw. destruct (moves_of_some K _ _ _ _ _ _ FM k st Hk) as [m [Hm [Em _]]].
  rewrite <- (Hw m Hm), weight_of_sum.
  destruct (moves_of_sum K _ _ _ _ k st m (fun _ => 0) Em) as [_ [_ [_ S]]].
  rewrite (S (fun _ _ _ q => val q)). apply sum_ext. intros r Hr. rewrite Forall_forall in R2.
  destruct (R2 r Hr) as [N1 [N2 _]].
  destruct (number_of (plant (outputs s)) (published r)); [|congruence].
  destruct (number_of (plant (states after_)) (after r)); [reflexivity | congruence].
Qed.
End Move.

Lemma expected_nonneg : forall ss at_ rs k st h, incl ss ss_all -> linked last_cut at_ ss = true ->
  Forall2 (fun s r => In r (records_of (part_of s))) ss rs -> In (k, st) (numbered 1 (states (cut_at at_))) ->
  (forall y, 0 <= h y) -> 0 <= expected K T (program_of ss rs) st h.
Proof.
  induction ss as [|s ss IH]; intros at_ rs k st h I L R G H; inversion R as [|? r ? rs' Hr R']; subst.
  - apply H.
  - cbn [linked] in L. apply andb_true_iff in L as [L1 L2]. apply Nat.eqb_eq in L1. subst at_.
    destruct (step_checked s (I s (or_introl eq_refl))) as [_ [moves F]].
    destruct (runs_of s _ _ _ moves F r Hr k st G) as [_ [W _]]. rewrite Forall_forall in W.
    unfold program_of. cbn [map combine expected]. apply sum_nonneg. intros x Hx. destruct (W x Hx) as [_ [N P]].
    apply le_mul; [exact P|]. destruct (number_of _ (after x)) as [j|] eqn:E; [|congruence]. apply number_of_in in E.
    apply IH with (step_after s) j; try assumption.
    + intros y Hy. apply I. right. exact Hy.
    + intro z. apply H.
Qed.

Lemma law_nonneg : forall ss at_ rs v h, incl ss ss_all -> linked last_cut at_ ss = true ->
  Forall2 (fun s r => In r (records_of (part_of s))) ss rs -> good (states (cut_at at_)) v ->
  (forall y, 0 <= h y) -> 0 <= law (program_of ss rs) v h.
Proof.
  intros ss at_ rs v h I L R G H. apply sum_nonneg. intros e He. destruct (good_before K _ v G e He) as [k [Hk [_ P]]].
  apply le_mul; [exact P|]. apply expected_nonneg with at_ k; assumption.
Qed.

(** All runs have a meaning, and their weights one positive sum, whatever the records are. *)
Lemma total_of : forall ss at_, incl ss ss_all -> linked last_cut at_ ss = true ->
  exists n, 0 < n /\ forall rs k st, Forall2 (fun s r => In r (records_of (part_of s))) ss rs ->
    In (k, st) (numbered 1 (states (cut_at at_))) ->
    meaningful (program_of ss rs) st /\ expected K T (program_of ss rs) st (fun _ => 1) = n.
Proof.
  induction ss as [|s ss IH]; intros at_ I L.
  - exists 1. split; [split; [apply zero_le_one | apply zero_not_one]|]. intros rs k st R _. split; [exact Logic.I | reflexivity].
  - cbn [linked] in L. apply andb_true_iff in L as [L1 L2]. apply Nat.eqb_eq in L1. subst at_.
    destruct (step_checked s (I s (or_introl eq_refl))) as [_ [moves F]].
    destruct (IH (step_after s)) as [n [Pn Hn]]; [intros y Hy; apply I; right; exact Hy | exact L2|].
    destruct (fact_sum _ _ _ _ _ F) as [w [Pw Hw]]. exists (w * n). split; [apply mul_positive; assumption|].
    intros rs k st R G. inversion R as [|? r ? rs' Hr R']; subst.
    destruct (runs_of s _ _ _ moves F r Hr k st G) as [M [W S]]. rewrite Forall_forall in W.
    assert (Later : forall x, In x (results (part_of s) r st) ->
      meaningful (program_of ss rs') (after x) /\ expected K T (program_of ss rs') (after x) (fun _ => 1) = n).
    { intros x Hx. destruct (W x Hx) as [_ [N _]]. destruct (number_of _ (after x)) as [j|] eqn:E; [|congruence].
      apply number_of_in in E. apply Hn with j; assumption. }
    unfold program_of. cbn [map combine meaningful expected]. split.
    + split; [exact M|]. apply Forall_forall. intros x Hx. apply Later. exact Hx.
    + rewrite (sum_ext K _ _ (fun x => n * val (weight x))).
      * rewrite <- sum_scale, (S w (fun m Hm => Hw r m Hr Hm)). ring.
      * intros x Hx. destruct (Later x Hx) as [_ E]. unfold program_of in E.
        match goal with |- _ * ?e = _ => replace e with n by (symmetry; exact E) end. ring.
Qed.

Lemma nonneg_down : 0 < val down /\ val down <= val up.
Proof.
  unfold bound_holds in holds. apply andb_true_iff in holds as [H H2]. apply andb_true_iff in H as [_ H1].
  split; [apply (positive_sound K T root is_root); exact H1|].
  apply (nonpos_sound K T root is_root) in H2. rewrite value_add, value_opp in H2.
  apply le_sub. replace (val up - val down) with (- (val down + - val up)) by ring. apply opp_le. exact H2.
Qed.

(** What may be met once x and x' have differed. *)
Definition met (s : step) (q : option value * option value) : Prop :=
  alike (part_of s) (fst q) (snd q) \/ (at_once = true /\ differ (part_of s) (fst q) (snd q)).

Lemma met_records : forall s q, met s q -> In (fst q) (records_of (part_of s)) /\ In (snd q) (records_of (part_of s)).
Proof. intros s [a b] [[E H]|[_ [H1 [H2 _]]]]; cbn [fst snd] in *; [subst b; split; assumption | split; assumption]. Qed.

Lemma dot_unit : forall c v w k, dot (unit_form up down k) (both c v w) = val down * held (states c) v k - val up * held (states c) w k.
Proof. intros. unfold unit_form. rewrite !dot_cons, value_opp. cbn [both]. unfold Lists.dot. simpl. ring. Qed.

Lemma finish_held : forall v, good (states (finish up down)) v -> sum v (fun e => snd e) = held (states (finish up down)) v 1.
Proof.
  intros v G. unfold Lists.held. apply sum_ext. intros e He. unfold Lists.good in G. rewrite Forall_forall in G.
  destruct (G e He) as [N _]. destruct (number_of (plant (states (finish up down))) (fst e)) as [k|] eqn:E; [|exfalso; apply N; exact E].
  apply number_of_in in E. destruct E as [E|[]]. injection E as <- _. reflexivity.
Qed.

Lemma finish_law : forall v h, law [] v h = h [] * sum v (fun e => snd e).
Proof. intros v h. unfold Lists.law. rewrite sum_scale. apply sum_ext. intros e _. simpl. ring. Qed.

Lemma at_finish : forall v w h, good (states (finish up down)) v -> good (states (finish up down)) w ->
  (forall f, In f (after_forms (finish up down)) -> dot f (both (finish up down) v w) <= 0) -> (forall y, 0 <= h y) ->
  val down * law [] v h <= val up * law [] w h.
Proof.
  intros v w h Gv Gw F H. rewrite !finish_law, (finish_held v Gv), (finish_held w Gw).
  assert (U : In (unit_form up down 1) (after_forms (finish up down))).
  { unfold Forms.after_forms. case units; left; reflexivity. }
  apply F in U. rewrite dot_unit in U. apply le_sub.
  match goal with |- 0 <= ?g => replace g with (h [] * - (val down * held (states (finish up down)) v 1 - val up * held (states (finish up down)) w 1)) by ring end.
  apply le_mul; [apply H | apply opp_le; exact U].
Qed.

Lemma later_by_forms : units = false -> forall ss at_ qs v w h, incl ss ss_all -> linked last_cut at_ ss = true ->
  at_ <> O \/ at_once = true -> Forall2 met ss qs ->
  good (states (cut_at at_)) v -> good (states (cut_at at_)) w ->
  (forall f, In f (afters (cut_at at_)) -> dot f (both (cut_at at_) v w) <= 0) -> (forall y, 0 <= h y) ->
  val down * law (program_of ss (map fst qs)) v h <= val up * law (program_of ss (map snd qs)) w h.
Proof.
  intro NU'. apply negb_true_iff in NU'. induction ss as [|s ss IH]; intros at_ qs v w h I L A R Gv Gw F H; inversion R as [|? q ? qs' Hq R']; subst.
  - cbn [linked] in L. apply Nat.eqb_eq in L. subst at_. rewrite cut_last in *. apply at_finish; try assumption.
    intros f Hf. apply F. unfold Forms.after_forms in Hf. apply negb_true_iff in NU'. rewrite NU' in Hf. exact Hf.
  - cbn [linked] in L. apply andb_true_iff in L as [L1 L2]. apply Nat.eqb_eq in L1. subst at_.
    destruct (step_checked s (I s (or_introl eq_refl))) as [NZ [moves SF]].
    destruct (met_records s q Hq) as [Ha Hb].
    unfold program_of. cbn [map combine]. rewrite (next_law s _ _ _ moves SF (fst q) Ha _ v h Gv).
    rewrite (next_law s _ _ _ moves SF (snd q) Hb _ w h Gw). rewrite !sum_scale. apply sum_le. intros y Hy.
    apply IH with (step_after s); try assumption.
    + intros x Hx. apply I. right. exact Hx.
    + left. exact NZ.
    + eapply next_good; eassumption.
    + eapply next_good; eassumption.
    + intros f Hf. rewrite dot_half.
      rewrite <- (next_dot s _ _ _ moves SF (fst q) Ha v (fst y) _ Gv).
      rewrite <- (next_dot s _ _ _ moves SF (snd q) Hb w (fst y) _ Gw).
      pose proof (fact_after _ _ _ _ _ SF (proj1 (negb_true_iff _) NU')) as FA.
      assert (FA' : Nat.eqb (step_before s) 0 = false \/ at_once = true).
      { destruct A as [A|A]; [left; apply Nat.eqb_neq; exact A | right; exact A]. }
      specialize (FA FA' (fst q) (snd q) (fst y) f (both (cut_at (step_before s)) v w) Hq (in_map fst _ _ Hy) Hf
                     (fun k => both_nonneg _ v w k Gv Gw) F).
      rewrite dot_app, (dot_key K T xO), (dot_key K T xI) in FA. exact FA.
    + intro z. apply H.
Qed.

(** With units all states keep their bound, whatever comes later, as x and x' are alike there. *)
Lemma law_by_state : forall c ps v h, good (states c) v ->
  law ps v h = sum (numbered 1 (states c)) (fun e => held (states c) v (fst e) * expected K T ps (snd e) h).
Proof.
  intros c ps v h G. unfold Lists.law, Lists.held.
  rewrite (sum_ext K (numbered 1 (states c)) _ (fun e => sum v (fun x => when K (is (number_of (plant (states c)) (fst x)) (fst e)) (snd x * expected K T ps (snd e) h)))).
  2: { intros e _. replace (sum v _ * expected K T ps (snd e) h) with (expected K T ps (snd e) h * sum v (fun x => when K (is (number_of (plant (states c)) (fst x)) (fst e)) (snd x))) by ring.
       rewrite sum_scale. apply sum_ext. intros x _. destruct (is _ _); simpl; ring. }
  rewrite sum_swap. apply sum_ext. intros x Hx. unfold Lists.good in G. rewrite Forall_forall in G. destruct (G x Hx) as [N _].
  destruct (number_of (plant (states c)) (fst x)) as [k|] eqn:E; [|exfalso; apply N; exact E]. apply number_of_in in E.
  rewrite (sum_ext K _ _ (fun e => when K (fst e =? k)%positive (snd x * expected K T ps (snd e) h))).
  - rewrite (sum_numbered K (states c) 1 k (fst x) (fun e => snd x * expected K T ps (snd e) h) E). reflexivity.
  - intros e _. cbn [is]. rewrite Pos.eqb_sym. reflexivity.
Qed.

Lemma later_by_units : units = true -> forall ss at_ qs v w h, incl ss ss_all -> linked last_cut at_ ss = true ->
  Forall2 (fun s q => alike (part_of s) (fst q) (snd q)) ss qs ->
  good (states (cut_at at_)) v -> good (states (cut_at at_)) w ->
  (forall f, In f (after_forms (cut_at at_)) -> dot f (both (cut_at at_) v w) <= 0) -> (forall y, 0 <= h y) ->
  val down * law (program_of ss (map fst qs)) v h <= val up * law (program_of ss (map snd qs)) w h.
Proof.
  intros U ss at_ qs v w h I L R Gv Gw F H.
  assert (E : map fst qs = map snd qs).
  { clear - R. induction R as [|s q ss qs [E _] _ IH]; [reflexivity|]. cbn [map]. rewrite E, IH. reflexivity. }
  assert (RR : Forall2 (fun s r => In r (records_of (part_of s))) ss (map snd qs)).
  { clear - R. induction R as [|s q ss qs [E Hq] _ IH]; [constructor|]. cbn [map]. constructor; [rewrite <- E; exact Hq | exact IH]. }
  rewrite E. set (ps := program_of ss (map snd qs)) in *. rewrite (law_by_state (cut_at at_) ps v h Gv), (law_by_state (cut_at at_) ps w h Gw).
  rewrite !sum_scale. apply sum_le. intros [k st] Hk. cbn [fst snd].
  assert (P : 0 <= expected K T ps st h) by (apply expected_nonneg with at_ k; assumption).
  assert (UF : In (unit_form up down k) (after_forms (cut_at at_))).
  { unfold Forms.after_forms. rewrite U. apply in_map_iff. exists (k, st). split; [reflexivity | exact Hk]. }
  apply F in UF. rewrite dot_unit in UF. apply le_sub.
  match goal with |- 0 <= ?g => replace g with (expected K T ps st h * - (val down * held (states (cut_at at_)) v k - val up * held (states (cut_at at_)) w k)) by ring end.
  apply le_mul; [exact P | apply opp_le; exact UF].
Qed.

(** At most one record differs. *)
Inductive one_differs : list step -> list (option value * option value) -> Prop :=
| no_more : one_differs [] []
| one_later : forall s q ss qs, alike (part_of s) (fst q) (snd q) -> one_differs ss qs -> one_differs (s :: ss) (q :: qs)
| one_here : forall s q ss qs, differ (part_of s) (fst q) (snd q) ->
    Forall2 (fun s q => alike (part_of s) (fst q) (snd q)) ss qs -> one_differs (s :: ss) (q :: qs).

Lemma one_by_forms : at_once = false -> forall ss at_ qs u h, incl ss ss_all -> linked last_cut at_ ss = true ->
  one_differs ss qs -> good (states (cut_at at_)) u ->
  (forall f, In f (befores (cut_at at_)) -> dot f (held (states (cut_at at_)) u) <= 0) -> (forall y, 0 <= h y) ->
  val down * law (program_of ss (map fst qs)) u h <= val up * law (program_of ss (map snd qs)) u h.
Proof.
  intro NA. destruct nonneg_down as [PD DU].
  induction ss as [|s ss IH]; intros at_ qs u h I L R G F H; inversion R as [|? q ? qs' Hq R'|? q ? qs' Hq R']; subst.
  - rewrite !finish_law.
    match goal with |- ?a * ?x <= ?b * ?x => replace (a * x) with (x * a) by ring; replace (b * x) with (x * b) by ring end.
    apply mul_le; [|exact DU]. apply le_mul; [apply H|]. apply sum_nonneg. intros e He.
    unfold Lists.good in G. rewrite Forall_forall in G. apply (G e He).
  - cbn [linked] in L. apply andb_true_iff in L as [L1 L2]. apply Nat.eqb_eq in L1. subst at_.
    destruct (step_checked s (I s (or_introl eq_refl))) as [_ [moves SF]]. destruct Hq as [E Ha].
    unfold program_of. cbn [map combine]. rewrite <- E. rewrite !(next_law s _ _ _ moves SF (fst q) Ha _ u h G).
    rewrite !sum_scale. apply sum_le. intros y Hy. apply IH with (step_after s); try assumption.
    + intros x Hx. apply I. right. exact Hx.
    + eapply next_good; eassumption.
    + intros f Hf. rewrite <- (next_dot s _ _ _ moves SF (fst q) Ha u (fst y) _ G).
      apply (fact_before _ _ _ _ _ SF); try assumption.
      * apply in_map. exact Hy.
      * intro k. apply held_nonneg. exact G.
    + intro z. apply H.
  - cbn [linked] in L. apply andb_true_iff in L as [L1 L2]. apply Nat.eqb_eq in L1. subst at_.
    destruct (step_checked s (I s (or_introl eq_refl))) as [NZ [moves SF]]. pose proof Hq as [Ha [Hb _]].
    unfold program_of. cbn [map combine]. rewrite (next_law s _ _ _ moves SF (fst q) Ha _ u h G).
    rewrite (next_law s _ _ _ moves SF (snd q) Hb _ u h G). rewrite !sum_scale. apply sum_le. intros y Hy.
    assert (FF : forall f, In f (after_forms (cut_at (step_after s))) ->
      dot f (both (cut_at (step_after s)) (next s (fst q) u (fst y)) (next s (snd q) u (fst y))) <= 0).
    { intros f Hf. rewrite dot_half.
      rewrite <- (next_dot s _ _ _ moves SF (fst q) Ha u (fst y) _ G).
      rewrite <- (next_dot s _ _ _ moves SF (snd q) Hb u (fst y) _ G). rewrite <- dot_app.
      apply (fact_across _ _ _ _ _ SF NA); try assumption.
      - apply in_map. exact Hy.
      - intro k. apply held_nonneg. exact G. }
    destruct (Bool.bool_dec units true) as [U|NU]; [|apply not_true_is_false in NU].
    + apply later_by_units with (step_after s); try assumption; try (eapply next_good; eassumption).
      * intros x Hx. apply I. right. exact Hx.
      * intro z. apply H.
    + apply later_by_forms with (step_after s); try assumption; try (eapply next_good; eassumption).
      * intros x Hx. apply I. right. exact Hx.
      * left. exact NZ.
      * clear - R'. induction R' as [|s' q' ss' qs' X _ IH]; constructor; [left; exact X | exact IH].
      * intros f Hf. apply FF. unfold Forms.after_forms. rewrite NU. exact Hf.
      * intro z. apply H.
Qed.

Lemma start_good : good (states (cut_at 0)) [([], 1)].
Proof. constructor; [|constructor]. cbn [fst snd]. split; [vm_compute; discriminate | apply zero_le_one]. Qed.

Lemma start_law : forall ps h, law ps [([], 1)] h = expected K T ps [] h.
Proof. intros. unfold Lists.law. cbn [Program.sum fst snd]. ring. Qed.

(** What the rule establishes of steps from the start to the end, with the records of two datasets. *)
Theorem steps_sound : forall ss qs h, incl ss ss_all -> linked last_cut 0 ss = true ->
  (if at_once then Forall2 met ss qs else one_differs ss qs) -> (forall y, 0 <= h y) ->
  val down * expected K T (program_of ss (map fst qs)) [] h <= val up * expected K T (program_of ss (map snd qs)) [] h.
Proof.
  intros ss qs h I L R H. rewrite <- !start_law. destruct at_once eqn:A.
  - assert (U : units = false).
    { unfold bound_holds in holds. rewrite A in holds. revert holds. case units; [discriminate | reflexivity]. }
    apply later_by_forms with O; try assumption; try apply start_good; [right; exact A|].
    intros f [<-|[<-|[]]]; unfold Lists.dot; cbn [Program.sum fst snd both cut_at nth cuts_of start states];
      rewrite (value_constant K T [1]%Z), (value_constant K T [-1]%Z) by reflexivity; cbn [hd];
      change (-1)%Z with (- (1))%Z; rewrite inj_opp, inj_one; apply le_sub;
      match goal with |- 0 <= ?g => replace g with (0 : K) by ring end; apply le_refl.
  - apply one_by_forms with O; try assumption; [apply start_good | intros f []].
Qed.

End Soundness.
