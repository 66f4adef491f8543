(** Moments of whole orders, the sums of P(y|x)^a / P(y|x')^(a-1) over all outputs y, for laws without T.

    Neighbours are gone through as in Datasets.v; the table at the end has all weights. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Law Turns Datasets Composition Outputs.
Import ListNotations.
Open Scope Z_scope.

(** An order a = S below, and a bound. *)
Record moment_claim := { among : within_claim; below : nat; most_up : Z; most_down : Z }.

Fixpoint raised (a : Z) (n : nat) : Z := match n with O => 1 | S n => a * raised a n end.
Definition number (v : vector) : Z := hd 0 (size_of v).

(** The sum of n v^a / w^(a-1) over a table, as a ratio. *)
Definition added (below : nat) (n v w : Z) (s : Z * Z) : Z * Z :=
  let b := raised w below in
  let num := fst s * b + n * raised v (S below) * snd s in
  let den := snd s * b in
  let g := Z.gcd num den in (num / g, den / g).
Definition moment_sum (below : nat) (t : table) : Z * Z :=
  fold_right (fun e s => let w := number (snd (fst (snd e))) in
                         if w =? 0 then s else added below (snd (snd e)) (number (fst (fst (snd e)))) w s) (0, 1) t.

(** What only x leads to. *)
Definition alone (t : table) : Z :=
  fold_right (fun e s => (if number (snd (fst (snd e))) =? 0 then snd (snd e) * number (fst (fst (snd e))) else 0) + s) 0 t.
Definition moment_ok (c : moment_claim) (asked : verdict) (t : table) : bool :=
  let m := total_at true t in
  let m' := total_at false t in
  let s := moment_sum (below c) t in
  let ours := most_down c * fst s * raised (hd 0 m') (below c) in
  let most := most_up c * snd s * raised (hd 0 m) (S (below c)) in
  let everywhere := forallb (fun e => negb (number (snd (fst (snd e))) =? 0) || (number (fst (fst (snd e))) =? 0)) t in
  forallb (fun e => constant (size_of (fst (fst (snd e)))) && constant (size_of (snd (fst (snd e))))
                    && (0 <=? number (snd (fst (snd e))))) t
  && constant m && constant m' && (0 <? hd 0 m) && (0 <? hd 0 m')
  && match asked with
     | Within => everywhere && (ours <=? most)
     | Exceeds => negb (alone t =? 0) || everywhere && (most <? ours)
     | Reaches => everywhere && (ours =? most)
     end.

Definition check_moment (c : moment_claim) : bool := (0 <? most_down c) && all_ok (among c) false (moment_ok c Within).
Definition check_moment_at (c : moment_claim) (asked : verdict) (x y : dataset) : bool :=
  (0 <? most_down c) && pair_ok (among c) (moment_ok c asked) x y.

(** What is claimed: the list has all outputs y that x or x' lead to, each once, with D times its term, which is 0 where
    P(y|x') is 0. Then P(y|x) is 0, too, or the sum is infinite. *)
Section Meaning.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.

Definition moment_of (c : moment_claim) (asked : verdict) (x y : dataset) : Prop :=
  let P := fun z => mass K T (program_on (base (among c)) x) (same_outputs z) in
  let Q := fun z => mass K T (program_on (base (among c)) y) (same_outputs z) in
  let finite := exists (l : list (output * K)) D,
    NoDup (map fst l) /\ (forall z, ~ In z (map fst l) -> P z = 0 /\ Q z = 0) /\ 0 < D
    /\ (forall e, In e l -> snd e * power K (Q (fst e)) (below c) = D * power K (P (fst e)) (S (below c))
                            /\ (Q (fst e) = 0 -> P (fst e) = 0 /\ snd e = 0))
    /\ let ours := inj (most_down c) * (sum K l snd * power K (mass_of_all K T (program_on (base (among c)) y)) (below c)) in
       let most := inj (most_up c) * (D * power K (mass_of_all K T (program_on (base (among c)) x)) (S (below c))) in
       match asked with Within => ours <= most | Exceeds => most < ours | Reaches => ours = most end in
  fair K T (among c) x y /\ (finite \/ asked = Exceeds /\ exists z, Q z = 0 /\ P z <> 0).
Definition moments (c : moment_claim) : Prop :=
  forall x y, is_dataset (base (among c)) x -> is_dataset (base (among c)) y -> compared (among c) x y -> moment_of c Within x y.
End Meaning.

Lemma raised_positive : forall a n, 0 < a -> 0 < raised a n.
Proof. intros a n H. induction n as [|n IH]; cbn [raised]; nia. Qed.

(** A multiple of all denominators. *)
Definition multiple (below : nat) (t : table) : Z :=
  fold_right (fun e d => let w := number (snd (fst (snd e))) in if w =? 0 then d else raised w below * d) 1 t.
Definition times (below : nat) (D v w : Z) : Z := if w =? 0 then 0 else D / raised w below * raised v (S below).

Lemma multiple_positive : forall below t, (forall e, In e t -> 0 <= number (snd (fst (snd e)))) -> 0 < multiple below t.
Proof.
  intros below t. induction t as [|e t IH]; intro H; [reflexivity|]. cbn [multiple fold_right]. fold (multiple below t).
  specialize (IH (fun f Hf => H f (or_intror Hf))). pose proof (H e (or_introl eq_refl)) as He.
  destruct (number (snd (fst (snd e))) =? 0) eqn:E; [exact IH|]. apply Z.eqb_neq in E.
  pose proof (raised_positive (number (snd (fst (snd e)))) below ltac:(lia)). nia.
Qed.

Lemma multiple_of : forall below t e, In e t -> number (snd (fst (snd e))) <> 0 ->
  (raised (number (snd (fst (snd e)))) below | multiple below t).
Proof.
  intros below t e. induction t as [|f t IH]; intros H N; [contradiction|]. cbn [multiple fold_right]. fold (multiple below t).
  destruct H as [->|H].
  - apply Z.eqb_neq in N. rewrite N. apply Z.divide_factor_l.
  - destruct (number (snd (fst (snd f))) =? 0); [apply IH; assumption|]. apply Z.divide_mul_r, IH; assumption.
Qed.

Lemma added_sound : forall below n v w s D X, 0 < w -> 0 < snd s -> (raised w below | D) -> snd s * X = fst s * D ->
  0 < snd (added below n v w s)
  /\ snd (added below n v w s) * (n * (D / raised w below * raised v (S below)) + X) = fst (added below n v w s) * D.
Proof.
  intros below n v w s D X W Hs [k ->] E. pose proof (raised_positive w below W) as B. rewrite Z.div_mul by lia.
  unfold added. set (b := raised w below) in *. set (va := raised v (S below)).
  set (num := fst s * b + n * va * snd s). set (den := snd s * b). cbv zeta. cbn [fst snd].
  assert (P : 0 < den) by (unfold den; nia).
  assert (F : den * (n * (k * va) + X) = num * (k * b)).
  { unfold den, num. replace (snd s * b * (n * (k * va) + X)) with (snd s * b * n * k * va + b * (snd s * X)) by ring. rewrite E. ring. }
  pose proof (Z.gcd_divide_l num den) as [i Ei]. pose proof (Z.gcd_divide_r num den) as [j Ej].
  pose proof (Z.gcd_nonneg num den) as G. assert (G0 : Z.gcd num den <> 0) by (intro Z0; rewrite Z0 in Ej; lia).
  set (g := Z.gcd num den) in *. clearbody g. clearbody num den. subst num den. rewrite !Z.div_mul by exact G0.
  split; [nia|]. apply (Z.mul_reg_l _ _ g G0). replace (g * (j * (n * (k * va) + X))) with (j * g * (n * (k * va) + X)) by ring.
  rewrite F. ring.
Qed.

Definition whole_sum (below : nat) (D : Z) (t : table) : Z :=
  fold_right (fun e s => snd (snd e) * times below D (number (fst (fst (snd e)))) (number (snd (fst (snd e)))) + s) 0 t.

Lemma moment_sum_sound : forall below D t, (forall e, In e t -> 0 <= number (snd (fst (snd e)))) ->
  (forall e, In e t -> number (snd (fst (snd e))) <> 0 -> (raised (number (snd (fst (snd e)))) below | D)) ->
  0 < snd (moment_sum below t) /\ snd (moment_sum below t) * whole_sum below D t = fst (moment_sum below t) * D.
Proof.
  intros below D t. induction t as [|e t IH]; intros H M; [cbn; lia|].
  destruct (IH (fun f Hf => H f (or_intror Hf)) (fun f Hf => M f (or_intror Hf))) as [I1 I2]. cbn [moment_sum whole_sum fold_right].
  fold (moment_sum below t) (whole_sum below D t). unfold times. pose proof (H e (or_introl eq_refl)) as He.
  destruct (number (snd (fst (snd e))) =? 0) eqn:E.
  - rewrite Z.mul_0_r. cbn [Z.add]. auto.
  - apply Z.eqb_neq in E. apply added_sound; [lia | exact I1 | apply M; [left; reflexivity | exact E] | exact I2].
Qed.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).
Notation law := (law K T).
Notation size := (size K T).
Notation tsum := (tsum K).

Lemma inj_raised : forall a n, @inj K (raised a n) = power K (inj a) n.
Proof. intros a n. induction n as [|n IH]; cbn [raised power]; [apply inj_one | rewrite inj_mul, IH; reflexivity]. Qed.

Lemma inj_eq_zero : forall a, @inj K a = 0 -> a = 0%Z.
Proof.
  intros a H. destruct (Z.lt_trichotomy a 0) as [L|[E|L]]; [|exact E|].
  - pose proof (inj_positive K (- a) ltac:(lia)) as [_ P]. exfalso. apply P. rewrite inj_opp, H. ring.
  - pose proof (inj_positive K a L) as [_ P]. exfalso. apply P. symmetry. exact H.
Qed.

Lemma inj_order : forall a b, ((a < b)%Z -> (inj a : K) < inj b) /\ ((a <= b)%Z -> (inj a : K) <= inj b).
Proof.
  intros a b. split; intro H; [|apply inj_le; exact H]. split; [apply inj_le; lia|]. intro E.
  assert (Z0 : @inj K (b - a)%Z = 0) by (unfold Z.sub; rewrite inj_add, inj_opp, E; ring). apply inj_eq_zero in Z0. lia.
Qed.

Lemma size_number : forall v, constant (size_of v) = true -> size v = inj (number v).
Proof. intros v H. rewrite <- size_of_sound. apply value_constant. exact H. Qed.

Lemma term_sum : forall b m t, tsum t (fun v w => inj (times b m (number v) (number w))) = inj (whole_sum b m t).
Proof.
  intros b m t. unfold Datasets.tsum. induction t as [|e t IH]; [symmetry; apply inj_zero|]. cbn [Program.sum whole_sum fold_right].
  fold (whole_sum b m t). rewrite IH, inj_add, inj_mul. reflexivity.
Qed.

Lemma alone_sum : forall t, tsum t (fun v w => if (number w =? 0)%Z then inj (number v) else 0) = inj (alone t).
Proof.
  intro t. unfold Datasets.tsum. induction t as [|e t IH]; [symmetry; apply inj_zero|]. cbn [Program.sum alone fold_right].
  fold (alone t). rewrite IH, inj_add. f_equal. destruct (number (snd (fst (snd e))) =? 0)%Z; [rewrite inj_mul; reflexivity | rewrite inj_zero; ring].
Qed.

Section Asked.
Variable c : moment_claim.
Variable asked : verdict.
Variable u : table.
Hypothesis good : moment_ok c asked u = true.
Notation D := (multiple (below c) u).

Lemma parts_of_good : forall e, In e u ->
  size (fst (fst (snd e))) = inj (number (fst (fst (snd e)))) /\ size (snd (fst (snd e))) = inj (number (snd (fst (snd e))))
  /\ (0 <= number (snd (fst (snd e))))%Z.
Proof.
  pose proof good as H. unfold moment_ok in H. cbv zeta in H. do 5 apply andb_true_iff in H as [H _]. rewrite forallb_forall in H.
  intros e He. specialize (H e He). apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  split; [apply size_number; exact H1|]. split; [apply size_number; exact H2 | apply Z.leb_le; exact H3].
Qed.

Variables (n : nat) (places : list (nat * option nat)).
Hypothesis law_is : law_of (base (among c)) = For n places.
Variables x y : dataset.
Hypothesis led : leads (way_of (among c) places x y) begin u.
Notation all := (leaves (way_of (among c) places x y) start start).
Notation P := (fun z => mass K T (program_on (base (among c)) x) (same_outputs z)).
Notation Q := (fun z => mass K T (program_on (base (among c)) y) (same_outputs z)).
Definition terms : list (output * K) :=
  map (fun e => (fst e, inj (times (below c) D (number (fst (snd e))) (number (snd (snd e)))))) all.

Lemma terms_keys : map fst terms = map fst all.
Proof. unfold terms. rewrite map_map. reflexivity. Qed.

Lemma masses : forall l, In l all -> P (fst l) = inj (number (fst (snd l))) /\ Q (fst l) = inj (number (snd (snd l)))
  /\ (0 <= number (snd (snd l)))%Z.
Proof.
  intros l H. destruct (each_leaf (among c) places x y u led l H) as [f [F1 F2]]. destruct (parts_of_good f F1) as [G1 [G2 G3]].
  rewrite F2 in G1, G2, G3. rewrite <- G1, <- G2. destruct l as [z vw]. cbn [fst snd] in *.
  pose proof (fun s => proj1 (mass_at K T (among c) n places law_is x y s z) vw H) as M. split; [exact (M true) | split; [exact (M false) | exact G3]].
Qed.

Lemma outside : forall z, ~ In z (map fst terms) -> P z = 0 /\ Q z = 0.
Proof.
  intros z H. rewrite terms_keys in H. pose proof (fun s => proj2 (mass_at K T (among c) n places law_is x y s z) H) as M.
  split; [exact (M true) | exact (M false)].
Qed.

Lemma nonneg_entries : forall e, In e u -> (0 <= number (snd (fst (snd e))))%Z.
Proof. intros e He. apply (parts_of_good e He). Qed.

Lemma each_term : (forall e, In e u -> number (snd (fst (snd e))) = 0%Z -> number (fst (fst (snd e))) = 0%Z) ->
  forall e, In e terms -> snd e * power K (Q (fst e)) (below c) = inj D * power K (P (fst e)) (S (below c))
                          /\ (Q (fst e) = 0 -> P (fst e) = 0 /\ snd e = 0).
Proof.
  intros A e H. cbv beta. unfold terms in H. apply in_map_iff in H as [l [<- H]]. cbn [fst snd].
  destruct (masses l H) as [-> [-> N]]. destruct (each_leaf (among c) places x y u led l H) as [f [F1 F2]]. specialize (A f F1). pose proof (multiple_of (below c) u f F1) as M. rewrite F2 in A, M.
  set (a := number (fst (snd l))) in *. set (b := number (snd (snd l))) in *. rewrite <- !inj_raised, <- !inj_mul. unfold times.
  destruct (b =? 0)%Z eqn:E.
  - apply Z.eqb_eq in E. rewrite (A E). split; [f_equal; cbn [raised]; ring | intros _; split; apply inj_zero].
  - apply Z.eqb_neq in E. destruct (M E) as [k ->]. pose proof (raised_positive b (below c) ltac:(lia)) as B. split.
    + f_equal. rewrite Z.div_mul by lia. ring.
    + intro Z0. apply inj_eq_zero in Z0. contradiction.
Qed.

Definition sum_says : Prop :=
  let ours := inj (most_down c) * (sum terms snd * power K (mass_of_all K T (program_on (base (among c)) y)) (below c)) in
  let most := inj (most_up c) * (inj D * power K (mass_of_all K T (program_on (base (among c)) x)) (S (below c))) in
  match asked with Within => ours <= most | Exceeds => most < ours | Reaches => ours = most end.

Lemma asked_says :
  ((forall e, In e u -> number (snd (fst (snd e))) = 0%Z -> number (fst (fst (snd e))) = 0%Z) /\ sum_says)
  \/ asked = Exceeds /\ exists z, Q z = 0 /\ P z <> 0.
Proof.
  pose proof masses as Ms. pose proof good as H. unfold moment_ok in H. cbv zeta in H.
  apply andb_true_iff in H as [H A]. apply andb_true_iff in H as [H N2]. apply andb_true_iff in H as [H N1].
  apply andb_true_iff in H as [H C2]. apply andb_true_iff in H as [_ C1].
  pose proof (all_at K T (among c) n places law_is x y u led) as A'. pose proof (A' true) as M. pose proof (A' false) as M'. clear A'.
  cbn [side fst snd] in M, M'. rewrite (value_constant K T _ C1) in M. rewrite (value_constant K T _ C2) in M'.
  set (m := total_at true u) in *. set (m' := total_at false u) in *.
  assert (S1 : sum terms snd = inj (whole_sum (below c) D u)).
  { unfold terms. rewrite sum_map. cbn [snd]. rewrite <- term_sum, (all_leaves K (among c) places x y u led). reflexivity. }
  destruct (moment_sum_sound (below c) D u nonneg_entries) as [Pos Eq]; [intros e He; apply multiple_of; exact He|].
  pose proof (multiple_positive (below c) u nonneg_entries) as DP.
  set (s := moment_sum (below c) u) in *. set (X := whole_sum (below c) D u) in *.
  assert (Says : forallb (fun e => negb (number (snd (fst (snd e))) =? 0)%Z || (number (fst (fst (snd e))) =? 0)%Z) u = true ->
    (match asked with
     | Within => most_down c * fst s * raised (hd 0 m') (below c) <= most_up c * snd s * raised (hd 0 m) (S (below c))
     | Exceeds => most_up c * snd s * raised (hd 0 m) (S (below c)) < most_down c * fst s * raised (hd 0 m') (below c)
     | Reaches => most_down c * fst s * raised (hd 0 m') (below c) = most_up c * snd s * raised (hd 0 m) (S (below c)) end)%Z ->
    (forall e, In e u -> number (snd (fst (snd e))) = 0%Z -> number (fst (fst (snd e))) = 0%Z) /\ sum_says).
  { intros F G. split.
    - rewrite forallb_forall in F. intros e He Z0. specialize (F e He). rewrite Z0 in F. cbn in F. apply Z.eqb_eq. exact F.
    - unfold sum_says. cbv zeta. rewrite M, M', S1, <- !inj_raised, <- !inj_mul.
      set (rm := raised (hd 0%Z m) (S (below c))) in *. set (rm' := raised (hd 0%Z m') (below c)) in *.
      assert (L : (snd s * (most_down c * (X * rm')) = most_down c * fst s * rm' * D)%Z).
      { replace (snd s * (most_down c * (X * rm')))%Z with ((snd s * X) * most_down c * rm')%Z by ring. rewrite Eq. ring. }
      assert (L' : (snd s * (most_up c * (D * rm)) = most_up c * snd s * rm * D)%Z) by ring.
      destruct asked.
      + apply inj_order. apply (Z.mul_le_mono_pos_l _ _ (snd s) Pos). rewrite L, L'. apply Z.mul_le_mono_nonneg_r; [lia | exact G].
      + apply inj_order. apply (Z.mul_lt_mono_pos_l (snd s) _ _ Pos). rewrite L, L'. apply Z.mul_lt_mono_pos_r; [lia | exact G].
      + f_equal. apply (Z.mul_reg_l _ _ (snd s)); [lia|]. rewrite L, L', G. reflexivity. }
  destruct asked; [left | | left].
  - apply andb_true_iff in A as [A B]. apply Says; [exact A | apply Z.leb_le; exact B].
  - apply orb_true_iff in A as [A|A].
    + right. split; [reflexivity|]. apply negb_true_iff, Z.eqb_neq in A.
      destruct (existsb (fun l => (number (snd (snd l)) =? 0)%Z && negb (number (fst (snd l)) =? 0)%Z) all) eqn:E.
      * apply existsb_exists in E as [l [Hl E]]. apply andb_true_iff in E as [E1 E2]. apply Z.eqb_eq in E1. apply negb_true_iff, Z.eqb_neq in E2.
        destruct (Ms l Hl) as [P1 [P2 _]]. exists (fst l). cbv beta. rewrite P1, P2, E1. split; [apply inj_zero|]. intro Z0. apply E2, inj_eq_zero, Z0.
      * exfalso. apply A, inj_eq_zero. rewrite <- alone_sum, (all_leaves K (among c) places x y u led). apply sum_zero. intros l Hl.
        destruct (number (snd (snd l)) =? 0)%Z eqn:E1; [|reflexivity]. destruct (number (fst (snd l)) =? 0)%Z eqn:E2.
        -- apply Z.eqb_eq in E2. rewrite E2. apply inj_zero.
        -- exfalso. assert (X0 : existsb (fun l => (number (snd (snd l)) =? 0)%Z && negb (number (fst (snd l)) =? 0)%Z) all = true).
           { apply existsb_exists. exists l. split; [exact Hl|]. rewrite E1, E2. reflexivity. }
           congruence.
    + left. apply andb_true_iff in A as [A B]. apply Says; [exact A | apply Z.ltb_lt; exact B].
  - apply andb_true_iff in A as [A B]. apply Says; [exact A | apply Z.eqb_eq; exact B].
Qed.
End Asked.

Lemma moment_says : forall c asked n places x y u, is_root_of_e K (root (base (among c))) T -> law_of (base (among c)) = For n places ->
  leads (way_of (among c) places x y) begin u -> moment_ok c asked u = true -> moment_of K T c asked x y.
Proof.
  intros c asked n places x y u R S L O. unfold moment_of. cbv zeta. split.
  { pose proof O as H. unfold moment_ok in H. cbv zeta in H. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H N2].
    apply andb_true_iff in H as [H N1]. apply andb_true_iff in H as [H C2]. apply andb_true_iff in H as [_ C1].
    apply (is_fair K T (among c) n places S x y u L R); unfold positive_at; [rewrite C1 | rewrite C2]; assumption. }
  destruct (asked_says c asked u O n places S x y L) as [[A Says]|[A [z Z0]]]; [left | right; split; [exact A | exists z; exact Z0]].
  exists (terms c u places x y), (inj (multiple (below c) u)). split; [rewrite terms_keys; apply leaves_keys|].
  split; [intros z H; apply (outside c u n places S x y z H)|].
  split; [apply inj_positive, multiple_positive, (nonneg_entries c asked u O)|].
  split; [intros e He; apply (each_term c asked u O n places S x y L A e He) | exact Says].
Qed.
End Proofs.

Theorem moments_sound : forall K T c, is_root_of_e K (root (base (among c))) T -> check_moment c = true -> moments K T c.
Proof.
  intros K T c R H x y Dx Dy C. unfold check_moment in H. apply andb_true_iff in H as [D G]. apply Z.ltb_lt in D.
  destruct (all_says_of _ _ x y G Dx Dy C) as [n [places [u [S [L O]]]]]. eapply moment_says; eassumption.
Qed.

Theorem moment_at_sound : forall K T c asked x y, is_root_of_e K (root (base (among c))) T -> check_moment_at c asked x y = true ->
  is_dataset (base (among c)) x /\ is_dataset (base (among c)) y /\ compared (among c) x y /\ moment_of K T c asked x y.
Proof.
  intros K T c asked x y R H. unfold check_moment_at in H. apply andb_true_iff in H as [D G]. apply Z.ltb_lt in D.
  destruct (pair_says _ _ x y G) as [X [Y [Z0 [n [places [u [S [L O]]]]]]]]. repeat (split; [assumption|]). eapply moment_says; eassumption.
Qed.

Print Assumptions moments_sound.
Print Assumptions moment_at_sound.
