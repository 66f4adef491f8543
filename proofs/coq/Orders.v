(** Moments of orders that are not whole: the sum of P(y|x)^a / P(y|x')^(a-1) over all outputs y, for a = (q + d) / q.

    Each of its terms is a number t with t^q P(y|x')^d = P(y|x)^(q+d). It lies between multiples of 1/grain, whose powers
    are compared; by which root they were found does not matter. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Law Turns Datasets Composition Outputs Near.
Import ListNotations.
Open Scope Z_scope.

(** An order (q + d) / q, q = S root_below, a bound, and how far the law of the mechanism may be from that of the program. *)
Record order_claim := { order_among : within_claim; root_below : nat; beyond : nat; lost : error; order_up : poly; order_down : poly }.

Definition grain : Z := 18446744073709551616.
Fixpoint raised_to (a : Z) (n : nat) : Z := match n with O => 1 | S n => a * raised_to a n end.

(** The largest r with r^q <= goal, by Newton's method from not far above; it is not believed. *)
Fixpoint nearer (q : nat) (goal : Z) (fuel : nat) (x : Z) : Z :=
  match fuel with O => x | S fuel => if raised_to x q <=? goal then nearer q goal fuel (16 * x)
    else if raised_to (x / 16) q <=? goal then x else nearer q goal fuel (x / 16) end.
Fixpoint newton (q : nat) (goal : Z) (fuel : nat) (x : Z) : Z :=
  match fuel with O => x | S fuel =>
    let y := (Z.of_nat (pred q) * x + goal / raised_to x (pred q)) / Z.of_nat q in if y <? x then newton q goal fuel y else x end.
Definition floor_root (q : nat) (goal : Z) : Z := newton q goal (10 * 20) (nearer q goal (40 * 50) grain).

(** What is known of one term, in grains: weights v of m with an error on one side, w of m' with one on the other. *)
Section Term.
Variable c : order_claim.
Variable high : bool.
Variables m m' : Z.
Notation q := (S (root_below c)).
Notation d := (beyond c).
Definition ours_of (v : Z) : Z := if high then v else Z.max 0 (snd (lost c) * v - fst (lost c) * m).
Definition theirs_of (w : Z) : Z := if high then w else snd (lost c) * w + fst (lost c) * m'.
Definition units : Z := if high then 1 else snd (lost c).
Definition above_ (v w : Z) : Z := raised_to (ours_of v) (q + d) * raised_to (units * m') d * raised_to grain q.
Definition below_ (v w : Z) : Z := raised_to (theirs_of w) d * raised_to (units * m) (q + d).
Definition grains (v w : Z) : Z :=
  if theirs_of w =? 0 then 0 else
  let r := floor_root q (above_ v w / below_ v w) in
  if high then if raised_to r q * below_ v w =? above_ v w then r else r + 1 else r.
Definition grains_right (v w : Z) : bool :=
  if theirs_of w =? 0 then negb high || (v =? 0) else
  let r := grains v w in
  (0 <? theirs_of w) && (0 <=? ours_of v) && (0 <=? r)
  && if high then above_ v w <=? raised_to r q * below_ v w else raised_to r q * below_ v w <=? above_ v w.
End Term.

Definition number (p : poly) : Z := hd 0 p.
Definition order_ok (c : order_claim) (asked : verdict) (t : table) : bool :=
  let r := root (base (order_among c)) in
  let high := match asked with Within => true | _ => false end in
  let m := total_at true t in
  let m' := total_at false t in
  let total := fold_right (fun e s => snd (snd e) * grains c high (number m) (number m') (number (size_of (fst (fst (snd e))))) (number (size_of (snd (fst (snd e))))) + s) 0 t in
  let more := padd (pmul (order_down c) [total]) (popp (pmul (order_up c) [grain])) in
  constant m && constant m' && positive_at r m && positive_at r m' && (0 <? number m) && (0 <? number m')
  && (0 <=? fst (lost c)) && (0 <? snd (lost c))
  && forallb (fun e => let v := size_of (fst (fst (snd e))) in let w := size_of (snd (fst (snd e))) in
                       constant v && constant w && grains_right c high (number m) (number m') (number v) (number w)) t
  && match asked with
     | Within => (fst (lost c) =? 0) && nonpos r more
     | Exceeds => positive_at r more
     | Reaches => false
     end.
Definition check_order (c : order_claim) : bool :=
  positive_at (root (base (order_among c))) (order_down c) && all_ok (order_among c) false (order_ok c Within).
Definition check_order_exceeds (c : order_claim) (x y : dataset) : bool :=
  positive_at (root (base (order_among c))) (order_down c) && pair_ok (order_among c) (order_ok c Exceeds) x y.

(** What is claimed: of all probabilities of outputs, M on x and M' on x', that are as near to those of the program, and
    all numbers t that are the terms of their moment. (Where M' is 0 and M is not there are none: it is infinite.) *)
Section Meaning.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Notation val := (value_of K T).

Definition close_at (e : error) (ps : program) (z : output) (M : K) : Prop :=
  0 <= M
  /\ inj (snd e) * mass K T ps (same_outputs z) <= (inj (snd e) * M + inj (fst e)) * mass_of_all K T ps
  /\ inj (snd e) * M * mass_of_all K T ps <= inj (snd e) * mass K T ps (same_outputs z) + inj (fst e) * mass_of_all K T ps.
Definition terms_of (c : order_claim) (x y : dataset) (M M' t : output -> K) : Prop := forall z,
  close_at (lost c) (program_on (base (order_among c)) x) z (M z) /\ close_at (lost c) (program_on (base (order_among c)) y) z (M' z)
  /\ 0 <= t z /\ power K (t z) (S (root_below c)) * power K (M' z) (beyond c) = power K (M z) (S (root_below c) + beyond c)
  /\ (M' z = 0 -> t z = 0).
Definition order_of (c : order_claim) (asked : verdict) (x y : dataset) : Prop :=
  let P := fun s z => mass K T (program_on (base (order_among c)) s) (same_outputs z) in
  fair K T (order_among c) x y
  /\ exists l : list output, NoDup l /\ (forall z, ~ In z l -> P x z = 0 /\ P y z = 0)
     /\ (asked = Within -> forall z, P y z = 0 -> P x z = 0)
     /\ forall M M' t, terms_of c x y M M' t ->
        let ours := val (order_down c) * sum K l t in
        match asked with Within => ours <= val (order_up c) | Exceeds => val (order_up c) < ours | Reaches => False end.
Definition orders (c : order_claim) : Prop :=
  forall x y, is_dataset (base (order_among c)) x -> is_dataset (base (order_among c)) y -> compared (order_among c) x y -> order_of c Within x y.
End Meaning.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).
Notation power := (power K).

Lemma inj_raised : forall a n, @inj K (raised_to a n) = power (inj a) n.
Proof. intros a n. induction n as [|n IH]; cbn [raised_to Composition.power]; [apply inj_one | rewrite inj_mul, IH; reflexivity]. Qed.

Lemma power_mul : forall (a b : K) n, power (a * b) n = power a n * power b n.
Proof. intros a b n. induction n as [|n IH]; cbn [Composition.power]; [ring | rewrite IH; ring]. Qed.

Lemma power_le : forall (a b : K) n, 0 <= a -> a <= b -> power a n <= power b n.
Proof.
  intros a b n A H. induction n as [|n IH]; cbn [Composition.power]; [apply le_refl|]. apply le_trans with (a * power b n).
  - apply mul_le; [exact A | exact IH].
  - replace (a * power b n) with (power b n * a) by ring. replace (b * power b n) with (power b n * b) by ring.
    apply mul_le; [apply power_nonneg; eapply le_trans; eassumption | exact H].
Qed.

Lemma lt_le_trans : forall a b e : K, a < b -> b <= e -> a < e.
Proof. intros a b e [H N] L. split; [eapply le_trans; eassumption|]. intros ->. apply N. apply le_antisym; assumption. Qed.

(** Roots are in the order of powers, also times a number above 0. *)
Lemma root_le : forall (a b f : K) n, 0 <= a -> 0 <= b -> 0 < f -> power a (S n) * f <= power b (S n) * f -> a <= b.
Proof.
  intros a b f n A B F H. destruct (le_total K a b) as [L|L]; [exact L|].
  assert (E : power a (S n) = power b (S n)).
  { apply le_antisym; [|apply power_le; assumption]. apply le_sub.
    replace (power b (S n) - power a (S n)) with (- (power a (S n) - power b (S n))) by ring. apply opp_le. apply cancel_nonpos with f; [exact F|].
    apply sub_le in H. replace (f * (power a (S n) - power b (S n))) with (- (power b (S n) * f - power a (S n) * f)) by ring. apply le_opp. exact H. }
  cbn [Composition.power] in E. assert (P : power b n <= power a n) by (apply power_le; assumption).
  (* (a - b) a^n + b (a^n - b^n) = 0, and both are at least 0 *)
  assert (S1 : 0 <= (a - b) * power a n) by (apply le_mul; [apply sub_le; exact L | apply power_nonneg; exact A]).
  assert (S2 : 0 <= b * (power a n - power b n)) by (apply le_mul; [exact B | apply sub_le; exact P]).
  assert (Z0 : (a - b) * power a n = 0).
  { apply le_antisym; [|exact S1]. apply le_sub. replace (0 - (a - b) * power a n) with (b * (power a n - power b n) + (b * power b n - a * power a n)) by ring.
    rewrite E. replace (b * (power a n - power b n) + (b * power b n - b * power b n)) with (b * (power a n - power b n)) by ring. exact S2. }
  apply no_divisors in Z0 as [Z0|Z0].
  - replace a with ((a - b) + b) by ring. rewrite Z0. replace (0 + b) with b by ring. apply le_refl.
  - assert (A0 : a = 0). { clear - Z0. induction n as [|n IH]; cbn [Composition.power] in Z0; [exfalso; apply (zero_not_one K); symmetry; exact Z0|].
      apply no_divisors in Z0 as [Z0|Z0]; [exact Z0 | apply IH; exact Z0]. }
    rewrite A0. exact B.
Qed.

(** One term t, from above and from below. With M m = v and M' m' = w, or closely. *)
Section OneTerm.
Variables (n d : nat) (t M M' v w m m' g r : K).
Hypothesis (Ht : 0 <= t) (HM : 0 <= M) (HM' : 0 <= M') (Hr : 0 <= r) (Hg : 0 <= g) (Hm : 0 < m) (Hm' : 0 < m') (Hw : 0 < w) (Hv : 0 <= v).
Hypothesis is_term : power t (S n) * power M' d = power M (S n + d).
Notation B := (power w d * power m (S n + d)).
Notation A := (power v (S n + d) * power m' d * power g (S n)).

Lemma B_positive : 0 < B.
Proof. apply mul_positive; apply power_positive; assumption. Qed.

Lemma scaled : power (g * t) (S n) * (power (M' * m') d * power m (S n + d)) = power g (S n) * (power (M * m) (S n + d) * power m' d).
Proof.
  rewrite !power_mul. replace (power g (S n) * power t (S n) * (power M' d * power m' d * power m (S n + d)))
    with (power g (S n) * (power t (S n) * power M' d) * power m' d * power m (S n + d)) by ring. rewrite is_term. ring.
Qed.

Lemma term_most : M * m = v -> M' * m' = w -> A <= power r (S n) * B -> g * t <= r.
Proof.
  intros E1 E2 H. apply root_le with B n; [apply le_mul; assumption | exact Hr | apply B_positive|].
  pose proof scaled as Sc. rewrite E1, E2 in Sc. rewrite Sc. replace (power g (S n) * (power v (S n + d) * power m' d)) with A by ring. exact H.
Qed.

Lemma term_least : v <= M * m -> M' * m' <= w -> power r (S n) * B <= A -> r <= g * t.
Proof.
  intros E1 E2 H. apply root_le with B n; [exact Hr | apply le_mul; assumption | apply B_positive|].
  apply le_trans with A; [exact H|]. apply le_trans with (power g (S n) * (power (M * m) (S n + d) * power m' d)).
  - replace A with (power g (S n) * power m' d * power v (S n + d)) by ring.
    replace (power g (S n) * (power (M * m) (S n + d) * power m' d)) with (power g (S n) * power m' d * power (M * m) (S n + d)) by ring.
    apply mul_le; [apply le_mul; apply power_nonneg; [exact Hg | apply Hm'] | apply power_le; assumption].
  - rewrite <- scaled. replace (power (g * t) (S n) * (power (M' * m') d * power m (S n + d))) with (power (g * t) (S n) * power m (S n + d) * power (M' * m') d) by ring.
    replace (power (g * t) (S n) * B) with (power (g * t) (S n) * power m (S n + d) * power w d) by ring.
    apply mul_le; [apply le_mul; apply power_nonneg; [apply le_mul; assumption | apply Hm]|].
    apply power_le; [apply le_mul; [exact HM' | apply Hm'] | exact E2].
Qed.
End OneTerm.

Section Asked.
Variable c : order_claim.
Variable asked : verdict.
Variable u : table.
Notation r := (root (base (order_among c))).
Hypothesis is_root : is_root_of_e K r T.
Hypothesis good : order_ok c asked u = true.
Variables (n : nat) (places : list (nat * option nat)).
Hypothesis law_is : law_of (base (order_among c)) = For n places.
Variables x y : dataset.
Hypothesis led : leads (way_of (order_among c) places x y) begin u.
Notation all := (leaves (way_of (order_among c) places x y) start start).
Notation high := (match asked with Within => true | _ => false end).
Notation m := (number (total_at true u)).
Notation m' := (number (total_at false u)).
Notation P := (fun s z => mass K T (program_on (base (order_among c)) s) (same_outputs z)).
Definition in_grains (v w : vector) : Z := grains c high m m' (number (size_of v)) (number (size_of w)).

Lemma good_parts : (constant (total_at true u) = true /\ constant (total_at false u) = true)
  /\ (positive_at r (total_at true u) = true /\ positive_at r (total_at false u) = true)
  /\ ((0 < m)%Z /\ (0 < m')%Z /\ (0 <= fst (lost c))%Z /\ (0 < snd (lost c))%Z)
  /\ forall e, In e u -> constant (size_of (fst (fst (snd e)))) = true /\ constant (size_of (snd (fst (snd e)))) = true
       /\ grains_right c high m m' (number (size_of (fst (fst (snd e))))) (number (size_of (snd (fst (snd e))))) = true.
Proof.
  pose proof good as H. unfold order_ok in H. cbv zeta in H. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H F].
  repeat (apply andb_true_iff in H as [H ?]).
  repeat match goal with H : (_ <? _)%Z = true |- _ => apply Z.ltb_lt in H | H : (_ <=? _)%Z = true |- _ => apply Z.leb_le in H end.
  repeat (split; try assumption). all: rewrite forallb_forall in F; specialize (F e H7); cbv zeta in F; apply andb_true_iff in F as [F F3];
    apply andb_true_iff in F as [F1 F2]; assumption.
Qed.

Lemma known_masses : forall l, In l all -> P x (fst l) = inj (number (size_of (fst (snd l)))) /\ P y (fst l) = inj (number (size_of (snd (snd l))))
  /\ grains_right c high m m' (number (size_of (fst (snd l)))) (number (size_of (snd (snd l)))) = true.
Proof.
  intros l H. destruct (each_leaf (order_among c) places x y u led l H) as [f [F1 F2]].
  destruct good_parts as [_ [_ [_ G]]]. destruct (G f F1) as [C1 [C2 C3]]. rewrite F2 in C1, C2, C3. destruct l as [z vw]. cbn [fst snd] in *.
  pose proof (fun s => proj1 (mass_at K T (order_among c) n places law_is x y s z) vw H) as M. pose proof (M true) as M1. pose proof (M false) as M2.
  cbn [side fst snd] in M1, M2. split; [|split; [|exact C3]]; unfold number; rewrite <- (value_constant K T) by assumption; rewrite size_of_sound; assumption.
Qed.

Lemma known_totals : mass_of_all K T (program_on (base (order_among c)) x) = inj m /\ mass_of_all K T (program_on (base (order_among c)) y) = inj m'.
Proof.
  pose proof (all_at K T (order_among c) n places law_is x y u led) as A. pose proof (A true) as A1. pose proof (A false) as A2. cbn [side fst snd] in A1, A2.
  destruct good_parts as [[C1 C2] _]. unfold number. rewrite <- !(value_constant K T) by assumption. split; assumption.
Qed.

Lemma in_all_grains : @inj K (fold_right (fun e s => (snd (snd e) * in_grains (fst (fst (snd e))) (snd (fst (snd e))) + s)%Z) 0%Z u)
  = sum all (fun l => inj (in_grains (fst (snd l)) (snd (snd l)))).
Proof.
  rewrite <- (all_leaves K (order_among c) places x y u led (fun v w => inj (in_grains v w))). unfold Datasets.tsum. clear good led.
  generalize in_grains. intro f. induction u as [|e t IH]; cbn [fold_right Program.sum]; [apply inj_zero|]. rewrite inj_add, inj_mul, IH. reflexivity.
Qed.

Lemma max_le : forall (a : Z) (b : K), 0 <= b -> inj a <= b -> inj (Z.max 0 a) <= b.
Proof. intros a b H1 H2. destruct (Z.max_spec 0 a) as [[_ ->]|[_ ->]]; [exact H2 | rewrite inj_zero; exact H1]. Qed.

Variables M M' t : output -> K.
Hypothesis terms : terms_of K T c x y M M' t.

Lemma grains_bound : (high = true -> fst (lost c) = 0%Z) -> forall l, In l all ->
  if high then inj grain * t (fst l) <= inj (in_grains (fst (snd l)) (snd (snd l))) else inj (in_grains (fst (snd l)) (snd (snd l))) <= inj grain * t (fst l).
Proof.
  intros E l H. destruct (known_masses l H) as [P1 [P2 G]]. destruct known_totals as [T1 T2]. destruct (terms (fst l)) as [C1 [C2 [T0 [Term Zero]]]].
  destruct good_parts as [_ [_ [[Pm [Pm' [Pf Ps]]] _]]].
  unfold close_at in C1, C2. cbv beta in P1, P2. rewrite P1, T1 in C1. rewrite P2, T2 in C2. clear P1 P2 T1 T2. destruct C1 as [M0 [C1 C1']]. destruct C2 as [M0' [C2 C2']].
  unfold in_grains. set (v := number (size_of (fst (snd l)))) in *. set (w := number (size_of (snd (snd l)))) in *. clearbody v w.
  set (mm := m) in *. set (mm' := m') in *. clearbody mm mm'. set (s := t (fst l)) in *. set (N := M (fst l)) in *. set (N' := M' (fst l)) in *. clearbody s N N'.
  assert (G0 : 0 <= @inj K grain) by (apply inj_nonneg; discriminate).
  pose proof (inj_positive K _ Pm) as Jm. pose proof (inj_positive K _ Pm') as Jm'. pose proof (inj_positive K _ Ps) as Js. pose proof (inj_nonneg K _ Pf) as Jf.
  unfold grains_right in G. destruct (theirs_of c high mm' w =? 0)%Z eqn:W0.
  - unfold grains. rewrite W0. apply Z.eqb_eq in W0. destruct high.
    + cbn [negb orb] in G. apply Z.eqb_eq in G. unfold theirs_of in W0. subst v w. rewrite E in C2' by reflexivity.
      rewrite inj_zero in C2'. assert (N0 : N' = 0).
      { assert (X : inj (snd (lost c)) * N' * inj mm' <= 0) by (eapply le_trans; [exact C2' | match goal with |- ?a <= 0 => replace a with (0 : K) by ring end; apply le_refl]).
        apply le_antisym; [|exact M0']. apply cancel_nonpos with (inj (snd (lost c)) * inj mm'); [apply mul_positive; assumption|].
        replace (inj (snd (lost c)) * inj mm' * N') with (inj (snd (lost c)) * N' * inj mm') by ring. exact X. }
      rewrite (Zero N0), inj_zero. replace (inj grain * 0) with (0 : K) by ring. apply le_refl.
    + rewrite inj_zero. apply le_mul; assumption.
  - apply andb_true_iff in G as [G G4]. apply andb_true_iff in G as [G G3]. apply andb_true_iff in G as [G1 G2].
    apply Z.ltb_lt in G1. apply Z.leb_le in G2, G3. set (b := grains c high mm mm' v w) in *. clearbody b. unfold above_, below_ in G4.
    pose proof (inj_nonneg K _ G3) as R0. pose proof (inj_positive K _ G1) as W1. pose proof (inj_nonneg K _ G2) as V0. destruct high; apply Z.leb_le in G4.
    + cbn [ours_of theirs_of units] in *. rewrite !Z.mul_1_l in G4. apply (inj_le K) in G4. rewrite !inj_mul, !inj_raised in G4.
      rewrite E in C1, C1', C2, C2' by reflexivity. rewrite inj_zero in C1, C1', C2, C2'.
      assert (Same : forall a b k : K, inj (snd (lost c)) * a <= (inj (snd (lost c)) * b + 0) * k -> inj (snd (lost c)) * b * k <= inj (snd (lost c)) * a + 0 * k -> b * k = a).
      { intros a f k H1 H2. assert (Z1 : inj (snd (lost c)) * (f * k - a) = 0).
        { apply le_antisym; apply le_sub.
          - apply sub_le in H2. match type of H2 with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact H2.
          - apply sub_le in H1. match type of H1 with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact H1. }
        apply no_divisors in Z1 as [Z1|Z1]; [destruct Js; congruence|]. replace (f * k) with ((f * k - a) + a) by ring. rewrite Z1. ring. }
      apply (term_most (root_below c) (beyond c) s N N' (inj v) (inj w) (inj mm) (inj mm') (inj grain) (inj b)); try assumption; apply Same; assumption.
    + cbn [ours_of theirs_of units] in *. apply (inj_le K) in G4. rewrite !inj_mul, !inj_raised in G4.
      rewrite !inj_mul in G4.
      apply (term_least (root_below c) (beyond c) s N N' (inj (Z.max 0 (snd (lost c) * v - fst (lost c) * mm))) (inj (snd (lost c) * w + fst (lost c) * mm'))
               (inj (snd (lost c)) * inj mm) (inj (snd (lost c)) * inj mm') (inj grain) (inj b)); try assumption; try (apply mul_positive; assumption).
      * apply max_le; [apply le_mul; [exact M0 | apply le_mul; [apply Js | apply Jm]]|].
        replace (snd (lost c) * v - fst (lost c) * mm)%Z with (snd (lost c) * v + - (fst (lost c) * mm))%Z by lia. rewrite inj_add, inj_opp, !inj_mul.
        apply le_sub. apply sub_le in C1. match type of C1 with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact C1.
      * rewrite inj_add, !inj_mul. apply le_sub. apply sub_le in C2'. match type of C2' with 0 <= ?e => match goal with |- 0 <= ?g => replace g with e by ring end end. exact C2'.
Qed.
End Asked.

Lemma order_says : forall c asked n places x y u, is_root_of_e K (root (base (order_among c))) T -> law_of (base (order_among c)) = For n places ->
  0 < val (order_down c) -> leads (way_of (order_among c) places x y) begin u -> order_ok c asked u = true -> order_of K T c asked x y.
Proof.
  intros c asked n places x y u R S D L O. unfold order_of. cbv zeta. pose proof (good_parts c asked u O) as [_ [[N1 N2] [[_ [Pm' _]] _]]].
  split; [apply (is_fair K T (order_among c) n places S x y u L R); assumption|].
  set (all := leaves (way_of (order_among c) places x y) start start). exists (map fst all). split; [apply leaves_keys|].
  split; [intros z H; pose proof (fun s => proj2 (mass_at K T (order_among c) n places S x y s z) H) as M; split; [exact (M true) | exact (M false)]|].
  split.
  - intros -> z Q. destruct (existsb (same_outputs z) (map fst all)) eqn:I.
    + apply existsb_exists in I as [z' [H I]]. apply same_outputs_spec in I. subst z'.      apply in_map_iff in H as [l [<- H]]. destruct (known_masses c Within u O n places S x y L l H) as [P1 [P2 G]]. cbv beta in P1, P2. rewrite P1.
      rewrite P2 in Q. apply inj_zero_only in Q. unfold grains_right, theirs_of in G. rewrite Q in G. cbn [Z.eqb negb orb] in G.
      apply Z.eqb_eq in G. rewrite G. apply inj_zero.
    + apply (proj2 (mass_at K T (order_among c) n places S x y true z)). intro H.
      assert (J : existsb (same_outputs z) (map fst all) = true) by (apply existsb_exists; exists z; split; [exact H | apply same_outputs_refl]). congruence.
  - intros M M' t terms. rewrite sum_map. pose proof O as H. unfold order_ok in H. cbv zeta in H. apply andb_true_iff in H as [_ H].
    assert (G0 : 0 < @inj K grain) by (apply inj_positive; reflexivity).
    assert (C : forall a : Z, val [a] = inj a) by (intro a; cbn [value_of]; ring).
    pose proof (fun E l Hl => grains_bound c asked u O n places S x y L M M' t terms E l Hl) as B.
    pose proof (in_all_grains c asked u places x y L) as Sum. fold all in Sum. unfold in_grains in Sum.
    destruct asked; [| | discriminate].
    + apply andb_true_iff in H as [E H]. apply Z.eqb_eq in E. apply (nonpos_sound K T _ R) in H. rewrite value_add, value_opp, !value_mul, !C, Sum in H.
      assert (X : inj grain * sum all (fun e => t (fst e)) <= sum all (fun l => inj (in_grains c Within u (fst (snd l)) (snd (snd l))))).
      { rewrite sum_scale. apply sum_le. intros l Hl. exact (B (fun _ => E) l Hl). }
      unfold in_grains in X. set (up := val (order_up c)) in *. set (down := val (order_down c)) in *.
      set (s := sum all (fun e => t (fst e))) in *. match type of X with _ <= ?e => set (total := e) in * end.
      apply le_sub. replace (up - down * s) with (- (down * s - up)) by ring. apply opp_le. apply cancel_nonpos with (inj grain); [exact G0|].
      apply le_trans with (down * total + - (up * inj grain)); [|exact H].
      replace (inj grain * (down * s - up)) with (down * (inj grain * s) + - (up * inj grain)) by ring. apply le_add2; [|apply le_refl].
      apply mul_le; [apply D | exact X].
    + apply (positive_sound K T _ R) in H. rewrite value_add, value_opp, !value_mul, !C, Sum in H.
      assert (X : sum all (fun l => inj (in_grains c Exceeds u (fst (snd l)) (snd (snd l)))) <= inj grain * sum all (fun e => t (fst e))).
      { rewrite sum_scale. apply sum_le. intros l Hl. apply (B (fun F => False_ind _ (Bool.diff_false_true F)) l Hl). }
      unfold in_grains in X. set (up := val (order_up c)) in *. set (down := val (order_down c)) in *.
      set (s := sum all (fun e => t (fst e))) in *. match type of X with ?e <= _ => set (total := e) in * end.
      assert (Y : 0 < inj grain * (down * s - up)).
      { apply lt_le_trans with (down * total + - (up * inj grain)); [exact H|].
        replace (inj grain * (down * s - up)) with (down * (inj grain * s) + - (up * inj grain)) by ring. apply le_add2; [|apply le_refl].
        apply mul_le; [apply D | exact X]. }
      apply cancel_positive in Y; [|exact G0]. destruct Y as [Y1 Y2]. split; [apply le_sub; exact Y1|]. intro E. apply Y2. rewrite E. ring.
Qed.
End Proofs.

Theorem orders_sound : forall K T c, is_root_of_e K (root (base (order_among c))) T -> check_order c = true -> orders K T c.
Proof.
  intros K T c R H x y Dx Dy C. unfold check_order in H. apply andb_true_iff in H as [D G]. apply (positive_sound K T _ R) in D.
  destruct (all_says_of _ _ x y G Dx Dy C) as [n [places [u [S [L O]]]]]. eapply order_says; eassumption.
Qed.

Theorem order_exceeds_sound : forall K T c x y, is_root_of_e K (root (base (order_among c))) T -> check_order_exceeds c x y = true ->
  is_dataset (base (order_among c)) x /\ is_dataset (base (order_among c)) y /\ compared (order_among c) x y /\ order_of K T c Exceeds x y.
Proof.
  intros K T c x y R H. unfold check_order_exceeds in H. apply andb_true_iff in H as [D G]. apply (positive_sound K T _ R) in D.
  destruct (pair_says _ _ x y G) as [X [Y [Z0 [n [places [u [S [L O]]]]]]]]. repeat (split; [assumption|]). eapply order_says; eassumption.
Qed.

Print Assumptions orders_sound.
Print Assumptions order_exceeds_sound.
