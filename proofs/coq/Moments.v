(** Moments of whole orders, the sums of P(y|x)^a / P(y|x')^(a-1) over all outputs y. Weights may have T in them.

    Neighbours are gone through as in Datasets.v; the table at the end has all weights. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Law Turns Datasets Composition Outputs.
Import ListNotations.
Open Scope Z_scope.

(** An order a = S below, and a bound. *)
Record moment_claim := { among : within_claim; below : nat; most_up : poly; most_down : poly }.

Definition left_of (e : positive * ((vector * vector) * Z)) : poly := size_of (fst (fst (snd e))).
Definition right_of (e : positive * ((vector * vector) * Z)) : poly := size_of (snd (fst (snd e))).
Fixpoint raised (p : poly) (n : nat) : poly := match n with O => [1] | S n => pmul p (raised p n) end.

(** A ratio in lower terms, where it is one of whole numbers. *)
Definition reduced (s : poly * poly) : poly * poly :=
  if constant (fst s) && constant (snd s)
  then let g := Z.gcd (hd 0 (fst s)) (hd 0 (snd s)) in
       if g =? 0 then s else ([hd 0 (fst s) / g], [hd 0 (snd s) / g])
  else s.

(** The sum of n v^a / w^(a-1) over a table, as a ratio. *)
Definition added (below : nat) (n : Z) (v w : poly) (s : poly * poly) : poly * poly :=
  let b := raised w below in
  reduced (padd (pmul (fst s) b) (pscale n (pmul (raised v (S below)) (snd s))), pmul (snd s) b).
Definition moment_sum (below : nat) (t : table) : poly * poly :=
  fold_right (fun e s => if pzero (right_of e) then s else added below (snd (snd e)) (left_of e) (right_of e) s) ([], [1]) t.

(** What only x leads to. *)
Definition alone (t : table) : poly :=
  fold_right (fun e s => if pzero (right_of e) then padd (pscale (snd (snd e)) (left_of e)) s else s) [] t.
Definition moment_ok (c : moment_claim) (asked : verdict) (t : table) : bool :=
  let r := root (base (among c)) in
  let m := total_at true t in
  let m' := total_at false t in
  let s := moment_sum (below c) t in
  let more := padd (pmul (most_down c) (pmul (fst s) (raised m' (below c))))
                   (popp (pmul (most_up c) (pmul (snd s) (raised m (S (below c)))))) in
  let everywhere := forallb (fun e => negb (pzero (right_of e)) || pzero (left_of e)) t in
  forallb (fun e => pzero (right_of e) || positive_at r (right_of e)) t
  && positive_at r m && positive_at r m'
  && match asked with
     | Within => everywhere && nonpos r more
     | Exceeds => positive_at r (alone t) && forallb (fun e => negb (pzero (right_of e)) || pzero (left_of e) || positive_at r (left_of e)) t
                  || everywhere && positive_at r more
     | Reaches => everywhere && pzero more
     end.

Definition check_moment (c : moment_claim) : bool :=
  positive_at (root (base (among c))) (most_down c) && all_ok (among c) false (moment_ok c Within).
Definition check_moment_at (c : moment_claim) (asked : verdict) (x y : dataset) : bool :=
  positive_at (root (base (among c))) (most_down c) && pair_ok (among c) (moment_ok c asked) x y.

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
    /\ let ours := value_of K T (most_down c) * (sum K l snd * power K (mass_of_all K T (program_on (base (among c)) y)) (below c)) in
       let most := value_of K T (most_up c) * (D * power K (mass_of_all K T (program_on (base (among c)) x)) (S (below c))) in
       match asked with Within => ours <= most | Exceeds => most < ours | Reaches => ours = most end in
  fair K T (among c) x y /\ (finite \/ asked = Exceeds /\ exists z, Q z = 0 /\ P z <> 0).
Definition moments (c : moment_claim) : Prop :=
  forall x y, is_dataset (base (among c)) x -> is_dataset (base (among c)) y -> compared (among c) x y -> moment_of c Within x y.
End Meaning.

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
Notation power := (power K).

Lemma value_raised : forall p n, val (raised p n) = power (val p) n.
Proof.
  intros p n. induction n as [|n IH]; cbn [raised Composition.power]; [cbn [value_of]; rewrite inj_one; ring|].
  rewrite value_mul, IH. reflexivity.
Qed.

Lemma reduced_sound : forall s, exists g : K, 0 < g /\ val (fst s) = g * val (fst (reduced s)) /\ val (snd s) = g * val (snd (reduced s)).
Proof.
  assert (One : forall s : poly * poly, exists g : K, 0 < g /\ val (fst s) = g * val (fst s) /\ val (snd s) = g * val (snd s)).
  { intro s. exists (1 : K). split; [split; [apply zero_le_one | apply zero_not_one]|]. split; ring. }
  intro s. unfold reduced. destruct (constant (fst s) && constant (snd s)) eqn:C; [|apply One]. apply andb_true_iff in C as [C1 C2]. cbv zeta.
  set (g := Z.gcd (hd 0%Z (fst s)) (hd 0%Z (snd s))). destruct (g =? 0)%Z eqn:E; [apply One|]. apply Z.eqb_neq in E.
  pose proof (Z.gcd_nonneg (hd 0%Z (fst s)) (hd 0%Z (snd s))) as G. pose proof (Z.gcd_divide_l (hd 0%Z (fst s)) (hd 0%Z (snd s))) as [i Ei].
  pose proof (Z.gcd_divide_r (hd 0%Z (fst s)) (hd 0%Z (snd s))) as [j Ej]. fold g in G, Ei, Ej.
  exists (inj g). split; [apply inj_positive; lia|]. cbn [fst snd value_of]. rewrite (value_constant K T _ C1), (value_constant K T _ C2), Ei, Ej.
  rewrite !Z.div_mul by exact E. rewrite !inj_mul. split; ring.
Qed.

Section Sums.
Variable below : nat.

(** A multiple of all denominators, and what is left of it without that of one term. *)
Fixpoint multiple (t : table) : K :=
  match t with
  | [] => 1
  | e :: rest => if pzero (right_of e) then multiple rest else power (val (right_of e)) below * multiple rest
  end.
Fixpoint without (w : poly) (t : table) : K :=
  match t with
  | [] => 1
  | e :: rest => if pzero (right_of e) then without w rest
                 else if list_eq_dec Z.eq_dec (right_of e) w then multiple rest
                 else power (val (right_of e)) below * without w rest
  end.
Definition term (t : table) (v w : vector) : K :=
  if pzero (size_of w) then 0 else without (size_of w) t * power (val (size_of v)) (S below).

Lemma without_times : forall t e, In e t -> pzero (right_of e) = false -> power (val (right_of e)) below * without (right_of e) t = multiple t.
Proof.
  induction t as [|f t IH]; intros e H N; [contradiction|]. cbn [without multiple]. destruct H as [->|H].
  - rewrite N. destruct (list_eq_dec Z.eq_dec (right_of e) (right_of e)) as [_|F]; [reflexivity | congruence].
  - destruct (pzero (right_of f)); [apply IH; assumption|].
    destruct (list_eq_dec Z.eq_dec (right_of f) (right_of e)) as [->|_]; [reflexivity|]. rewrite <- (IH e H N). ring.
Qed.

Lemma term_more : forall t e f, In f t -> pzero (right_of e) = false ->
  term (e :: t) (fst (fst (snd f))) (snd (fst (snd f))) = power (val (right_of e)) below * term t (fst (fst (snd f))) (snd (fst (snd f))).
Proof.
  intros t e f H N. unfold term. cbn [without]. rewrite N. fold (right_of f). destruct (pzero (right_of f)) eqn:Z0; [ring|].
  destruct (list_eq_dec Z.eq_dec (right_of e) (right_of f)) as [->|_]; [|ring]. rewrite <- (without_times t f H Z0). ring.
Qed.

Lemma moment_sum_sound : forall r t, is_root_of_e K r T -> (forall e, In e t -> pzero (right_of e) || positive_at r (right_of e) = true) ->
  0 < multiple t /\ 0 < val (snd (moment_sum below t))
  /\ val (snd (moment_sum below t)) * tsum t (term t) = val (fst (moment_sum below t)) * multiple t.
Proof.
  intros r t R. induction t as [|e t IH]; intro H.
  { cbn. rewrite inj_one. assert (P : 0 < (1 : K)) by (split; [apply zero_le_one | apply zero_not_one]).
    replace (1 + T * 0) with (1 : K) by ring. split; [exact P|]. split; [exact P | ring]. }
  destruct (IH (fun f Hf => H f (or_intror Hf))) as [D [P E]]. clear IH. specialize (H e (or_introl eq_refl)).
  cbn [moment_sum multiple fold_right]. fold (moment_sum below t). set (s := moment_sum below t) in *.
  assert (S1 : tsum (e :: t) (term (e :: t)) = inj (snd (snd e)) * term (e :: t) (fst (fst (snd e))) (snd (fst (snd e)))
                + sum t (fun f => inj (snd (snd f)) * term (e :: t) (fst (fst (snd f))) (snd (fst (snd f))))) by reflexivity.
  rewrite S1. clear S1. destruct (pzero (right_of e)) eqn:Z0.
  - split; [exact D|]. split; [exact P|]. rewrite <- E. f_equal. unfold term at 1. fold (right_of e). rewrite Z0. unfold Datasets.tsum.
    replace (sum t (fun f => inj (snd (snd f)) * term (e :: t) (fst (fst (snd f))) (snd (fst (snd f)))))
      with (sum t (fun f => inj (snd (snd f)) * term t (fst (fst (snd f))) (snd (fst (snd f))))); [ring|].
    apply sum_ext. intros f _. unfold term. cbn [without]. rewrite Z0. reflexivity.
  - cbn [orb] in H. apply (positive_sound K T r R) in H. pose proof (power_positive K _ below H) as B.
    split; [apply mul_positive; assumption|].
    rewrite (sum_ext K t _ (fun f => power (val (right_of e)) below * (inj (snd (snd f)) * term t (fst (fst (snd f))) (snd (fst (snd f))))))
      by (intros f Hf; rewrite (term_more t e f Hf Z0); ring).
    rewrite <- sum_scale. change (sum t (fun f => inj (snd (snd f)) * term t (fst (fst (snd f))) (snd (fst (snd f))))) with (tsum t (term t)).
    unfold term at 1. cbn [without]. fold (right_of e) (left_of e). rewrite Z0.
    destruct (list_eq_dec Z.eq_dec (right_of e) (right_of e)) as [_|F]; [|congruence].
    unfold added. cbv zeta. set (num := padd _ _). set (den := pmul _ _).
    destruct (reduced_sound (num, den)) as [g [G [G1 G2]]]. cbn [fst snd] in G1, G2. set (q := reduced (num, den)) in *.
    assert (V1 : val num = val (fst s) * power (val (right_of e)) below + inj (snd (snd e)) * (power (val (left_of e)) (S below) * val (snd s)))
      by (unfold num; rewrite value_add, value_mul, value_scale, value_mul, !value_raised; reflexivity).
    assert (V2 : val den = val (snd s) * power (val (right_of e)) below) by (unfold den; rewrite value_mul, value_raised; reflexivity).
    assert (Pd : 0 < val den) by (rewrite V2; apply mul_positive; assumption).
    split; [apply cancel_positive with g; [exact G | rewrite <- G2; exact Pd]|].
    set (b := power (val (right_of e)) below) in *. set (va := power (val (left_of e)) (S below)) in *. set (D0 := multiple t) in *.
    set (X := tsum t (term t)) in *. set (n := inj (snd (snd e))) in *.
    assert (Z1 : g * (val (snd q) * (n * (D0 * va) + b * X) - val (fst q) * (b * D0)) = 0).
    { replace (g * (val (snd q) * (n * (D0 * va) + b * X) - val (fst q) * (b * D0)))
        with ((g * val (snd q)) * (n * (D0 * va) + b * X) - (g * val (fst q)) * (b * D0)) by ring.
      rewrite <- G1, <- G2, V1, V2.
      replace (val (snd s) * b * (n * (D0 * va) + b * X)) with (val (snd s) * b * n * D0 * va + b * b * (val (snd s) * X)) by ring.
      rewrite E. ring. }
    apply no_divisors in Z1 as [Z1|Z1]; [destruct G as [_ G]; congruence|].
    replace (val (snd q) * (n * (D0 * va) + b * X)) with ((val (snd q) * (n * (D0 * va) + b * X) - val (fst q) * (b * D0)) + val (fst q) * (b * D0)) by ring.
    rewrite Z1. ring.
Qed.
End Sums.

Lemma alone_sum : forall t, tsum t (fun v w => if pzero (size_of w) then val (size_of v) else 0) = val (alone t).
Proof.
  intro t. unfold Datasets.tsum. induction t as [|e t IH]; [reflexivity|]. cbn [Program.sum alone fold_right].
  fold (alone t). rewrite IH. unfold right_of. destruct (pzero (size_of (snd (fst (snd e))))); [rewrite value_add, value_scale; reflexivity | ring].
Qed.

Section Asked.
Variable c : moment_claim.
Variable asked : verdict.
Variable u : table.
Notation r := (root (base (among c))).
Hypothesis is_root : is_root_of_e K r T.
Hypothesis good : moment_ok c asked u = true.
Notation D := (multiple (below c) u).

Lemma parts_of_good : forall e, In e u -> pzero (right_of e) || positive_at r (right_of e) = true.
Proof.
  pose proof good as H. unfold moment_ok in H. cbv zeta in H. do 3 apply andb_true_iff in H as [H _]. rewrite forallb_forall in H. exact H.
Qed.

Variables (n : nat) (places : list (nat * option nat)).
Hypothesis law_is : law_of (base (among c)) = For n places.
Variables x y : dataset.
Hypothesis led : leads (way_of (among c) places x y) begin u.
Notation all := (leaves (way_of (among c) places x y) start start).
Notation P := (fun z => mass K T (program_on (base (among c)) x) (same_outputs z)).
Notation Q := (fun z => mass K T (program_on (base (among c)) y) (same_outputs z)).
Definition terms : list (output * K) := map (fun e => (fst e, term (below c) u (fst (snd e)) (snd (snd e)))) all.

Lemma terms_keys : map fst terms = map fst all.
Proof. unfold terms. rewrite map_map. reflexivity. Qed.

Lemma masses : forall l, In l all -> P (fst l) = val (size_of (fst (snd l))) /\ Q (fst l) = val (size_of (snd (snd l))).
Proof.
  intros l H. destruct l as [z vw]. cbn [fst snd] in *. rewrite !size_of_sound.
  pose proof (fun s => proj1 (mass_at K T (among c) n places law_is x y s z) vw H) as M. split; [exact (M true) | exact (M false)].
Qed.

Lemma outside : forall z, ~ In z (map fst terms) -> P z = 0 /\ Q z = 0.
Proof.
  intros z H. rewrite terms_keys in H. pose proof (fun s => proj2 (mass_at K T (among c) n places law_is x y s z) H) as M.
  split; [exact (M true) | exact (M false)].
Qed.

Lemma each_term : (forall e, In e u -> pzero (right_of e) = true -> pzero (left_of e) = true) ->
  forall e, In e terms -> snd e * power (Q (fst e)) (below c) = D * power (P (fst e)) (S (below c))
                          /\ (Q (fst e) = 0 -> P (fst e) = 0 /\ snd e = 0).
Proof.
  intros A e H. cbv beta. unfold terms in H. apply in_map_iff in H as [l [<- H]]. cbn [fst snd].
  destruct (masses l H) as [-> ->]. destruct (each_leaf (among c) places x y u led l H) as [f [F1 F2]].
  specialize (A f F1). pose proof (parts_of_good f F1) as W. pose proof (without_times (below c) u f F1) as M.
  unfold left_of, right_of in A, W, M. rewrite F2 in A, W, M. unfold term. destruct (pzero (size_of (snd (snd l)))) eqn:E.
  - rewrite (value_zero K T _ (A eq_refl)). split; [cbn [Composition.power]; ring | intros _; split; reflexivity].
  - cbn [orb] in W. apply (positive_sound K T r is_root) in W. split.
    + rewrite <- (M eq_refl). ring.
    + intro Z0. destruct W as [_ W]. congruence.
Qed.

Definition sum_says : Prop :=
  let ours := val (most_down c) * (sum terms snd * power (mass_of_all K T (program_on (base (among c)) y)) (below c)) in
  let most := val (most_up c) * (D * power (mass_of_all K T (program_on (base (among c)) x)) (S (below c))) in
  match asked with Within => ours <= most | Exceeds => most < ours | Reaches => ours = most end.

Lemma asked_says :
  ((forall e, In e u -> pzero (right_of e) = true -> pzero (left_of e) = true) /\ sum_says)
  \/ asked = Exceeds /\ exists z, Q z = 0 /\ P z <> 0.
Proof.
  pose proof masses as Ms. pose proof good as H. unfold moment_ok in H. cbv zeta in H. apply andb_true_iff in H as [_ A].
  pose proof (all_at K T (among c) n places law_is x y u led) as A'. pose proof (A' true) as M. pose proof (A' false) as M'. clear A'.
  cbn [side fst snd] in M, M'. set (m := total_at true u) in *. set (m' := total_at false u) in *.
  assert (S1 : sum terms snd = tsum u (term (below c) u)).
  { unfold terms. rewrite sum_map. cbn [snd]. rewrite (all_leaves K (among c) places x y u led). reflexivity. }
  destruct (moment_sum_sound (below c) r u is_root parts_of_good) as [DP [Pos Eq]]. set (s := moment_sum (below c) u) in *.
  set (more := padd _ _) in A.
  assert (Says : forallb (fun e => negb (pzero (right_of e)) || pzero (left_of e)) u = true ->
    match asked with Within => val more <= 0 | Exceeds => 0 < val more | Reaches => val more = 0 end ->
    (forall e, In e u -> pzero (right_of e) = true -> pzero (left_of e) = true) /\ sum_says).
  { intros F G. split.
    - rewrite forallb_forall in F. intros e He Z0. specialize (F e He). rewrite Z0 in F. exact F.
    - unfold sum_says. cbv zeta. rewrite M, M', S1. set (X := tsum u (term (below c) u)) in *.
      set (ours := val (most_down c) * (X * power (val m') (below c))). set (most := val (most_up c) * (D * power (val m) (S (below c)))).
      assert (V : D * val more = val (snd s) * (ours - most)).
      { unfold more. rewrite value_add, value_opp, !value_mul, !value_raised.
        replace (val (snd s) * (ours - most)) with (val (most_down c) * (val (snd s) * X) * power (val m') (below c) - val (snd s) * most) by (unfold ours; ring).
        rewrite Eq. unfold most. ring. }
      destruct asked.
      + apply le_sub. replace (most - ours) with (- (ours - most)) by ring. apply opp_le. apply cancel_nonpos with (val (snd s)); [exact Pos|].
        rewrite <- V. apply mul_nonpos; [apply DP | exact G].
      + assert (L : 0 < ours - most) by (apply cancel_positive with (val (snd s)); [exact Pos | rewrite <- V; apply mul_positive; assumption]).
        destruct L as [L1 L2]. split; [apply le_sub; exact L1|]. intro E. apply L2. rewrite E. ring.
      + assert (Z0 : val (snd s) * (ours - most) = 0) by (rewrite <- V, G; ring). apply no_divisors in Z0 as [Z0|Z0]; [destruct Pos; congruence|].
        replace ours with ((ours - most) + most) by ring. rewrite Z0. ring. }
  destruct asked; [left | | left].
  - apply andb_true_iff in A as [A B]. apply Says; [exact A | apply (nonpos_sound K T r is_root); exact B].
  - apply orb_true_iff in A as [A|A].
    + right. split; [reflexivity|]. apply andb_true_iff in A as [A F]. rewrite forallb_forall in F.
      apply (positive_sound K T r is_root) in A. destruct A as [_ A].
      destruct (existsb (fun l => pzero (size_of (snd (snd l))) && positive_at r (size_of (fst (snd l)))) all) eqn:E.
      * apply existsb_exists in E as [l [Hl E]]. apply andb_true_iff in E as [E1 E2]. apply (positive_sound K T r is_root) in E2.
        destruct (Ms l Hl) as [P1 P2]. exists (fst l). cbv beta. rewrite P1, P2. split; [apply value_zero; exact E1|].
        destruct E2 as [_ E2]. congruence.
      * exfalso. apply A. rewrite <- alone_sum, (all_leaves K (among c) places x y u led). symmetry. apply sum_zero. intros l Hl.
        destruct (pzero (size_of (snd (snd l)))) eqn:E1; [|reflexivity]. apply value_zero.
        destruct (each_leaf (among c) places x y u led l Hl) as [f [F1 F2]]. specialize (F f F1). unfold left_of, right_of in F. rewrite F2, E1 in F. cbn [negb orb] in F.
        destruct (pzero (size_of (fst (snd l)))) eqn:E2; [reflexivity|]. cbn [orb] in F. exfalso.
        assert (X0 : existsb (fun l => pzero (size_of (snd (snd l))) && positive_at r (size_of (fst (snd l)))) all = true).
        { apply existsb_exists. exists l. split; [exact Hl|]. rewrite E1, F. reflexivity. }
        congruence.
    + left. apply andb_true_iff in A as [A B]. apply Says; [exact A | apply (positive_sound K T r is_root); exact B].
  - apply andb_true_iff in A as [A B]. apply Says; [exact A | apply value_zero; exact B].
Qed.
End Asked.

Lemma moment_says : forall c asked n places x y u, is_root_of_e K (root (base (among c))) T -> law_of (base (among c)) = For n places ->
  leads (way_of (among c) places x y) begin u -> moment_ok c asked u = true -> moment_of K T c asked x y.
Proof.
  intros c asked n places x y u R S L O. unfold moment_of. cbv zeta. split.
  { pose proof O as H. unfold moment_ok in H. cbv zeta in H. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H N2].
    apply andb_true_iff in H as [_ N1]. apply (is_fair K T (among c) n places S x y u L R); assumption. }
  destruct (asked_says c asked u R O n places S x y L) as [[A Says]|[A [z Z0]]]; [left | right; split; [exact A | exists z; exact Z0]].
  exists (terms c u places x y), (multiple (below c) u). split; [rewrite terms_keys; apply leaves_keys|].
  split; [intros z H; apply (outside c u n places S x y z H)|].
  split; [apply (moment_sum_sound (below c) _ u R (parts_of_good c asked u O))|].
  split; [intros e He; apply (each_term c asked u R O n places S x y L A e He) | exact Says].
Qed.
End Proofs.

Theorem moments_sound : forall K T c, is_root_of_e K (root (base (among c))) T -> check_moment c = true -> moments K T c.
Proof.
  intros K T c R H x y Dx Dy C. unfold check_moment in H. apply andb_true_iff in H as [D G].
  destruct (all_says_of _ _ x y G Dx Dy C) as [n [places [u [S [L O]]]]]. eapply moment_says; eassumption.
Qed.

Theorem moment_at_sound : forall K T c asked x y, is_root_of_e K (root (base (among c))) T -> check_moment_at c asked x y = true ->
  is_dataset (base (among c)) x /\ is_dataset (base (among c)) y /\ compared (among c) x y /\ moment_of K T c asked x y.
Proof.
  intros K T c asked x y R H. unfold check_moment_at in H. apply andb_true_iff in H as [D G].
  destruct (pair_says _ _ x y G) as [X [Y [Z0 [n [places [u [S [L O]]]]]]]]. repeat (split; [assumption|]). eapply moment_says; eassumption.
Qed.

Print Assumptions moments_sound.
Print Assumptions moment_at_sound.
