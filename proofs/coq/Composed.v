(** Adaptive composition of mechanisms that are (ε, δ)-DP each: no worse than that of randomized responses which are told
    apart for certain with probability δ (Kairouz, Oh, Viswanath 2015). For ε alone and k runs this is the best bound. *)

From Coq Require Import ZArith List Bool Ring.
From Tightdp Require Import Numbers Program Sums Lists Accuracy.
Import ListNotations.

(** e^ε = ratio_up / ratio_down, δ = lost_up / lost_down. *)
Record guarantee := { ratio_up : poly; ratio_down : poly; lost_up : poly; lost_down : poly }.

(** The most that a P(E) - b P'(E) can be for all events E: the sum of c max(0, α a - β b), and of [sure] a, over [scale]. *)
Record loss := { terms : list (poly * (poly * poly)); sure : poly; scale : poly }.
Fixpoint add_term (c : poly) (ab : poly * poly) (l : list (poly * (poly * poly))) : list (poly * (poly * poly)) :=
  match l with
  | [] => [(c, ab)]
  | (e, cd) :: rest => if same_list Z.eqb (fst ab) (fst cd) && same_list Z.eqb (snd ab) (snd cd)
                       then (padd c e, cd) :: rest else (e, cd) :: add_term c ab rest
  end.
Definition no_loss : loss := {| terms := [([1%Z], ([1%Z], [1%Z]))]; sure := []; scale := [1%Z] |}.
Definition after (g : guarantee) (l : loss) : loss :=
  let rest := padd (lost_down g) (popp (lost_up g)) in
  let both := padd (ratio_up g) (ratio_down g) in
  {| terms := fold_right (fun t found =>
       add_term (pmul rest (fst t)) (pmul (ratio_up g) (fst (snd t)), pmul (ratio_down g) (snd (snd t)))
         (add_term (pmul rest (fst t)) (pmul (ratio_down g) (fst (snd t)), pmul (ratio_up g) (snd (snd t))) found)) [] (terms l);
     sure := pmul both (padd (pmul (lost_down g) (sure l))
                             (pmul (lost_up g) (fold_right (fun t s => padd (pmul (fst t) (fst (snd t))) s) [] (terms l))));
     scale := pmul both (pmul (lost_down g) (scale l)) |}.
Definition composed (gs : list guarantee) : loss := fold_right after no_loss gs.

Definition fits (root : Z) (g : guarantee) : bool :=
  positive_at root (ratio_down g) && positive_at root (lost_down g) && nonpos root (popp (lost_up g))
  && nonpos root (padd (lost_up g) (popp (lost_down g)))
  && let more := padd (ratio_up g) (popp (ratio_down g)) in pzero more || positive_at root more.

(** Whether mechanisms with these guarantees are together as good as another guarantee says. *)
Definition check_composed (root : Z) (gs : list guarantee) (all : guarantee) : bool :=
  let l := composed gs in
  let gap := fun t : poly * (poly * poly) => padd (pmul (fst (snd t)) (ratio_down all)) (popp (pmul (snd (snd t)) (ratio_up all))) in
  let most := fold_right (fun t s => padd (if positive_at root (gap t) then pmul (fst t) (gap t) else []) s)
                         (pmul (sure l) (ratio_down all)) (terms l) in
  forallb (fits root) gs && positive_at root (ratio_down all) && positive_at root (lost_down all)
  && nonpos root (popp (ratio_up all)) && nonpos root (popp (lost_up all))
  && forallb (fun t => positive_at root (gap t) || nonpos root (gap t)) (terms l)
  && nonpos root (padd (pmul (lost_down all) most) (popp (pmul (pmul (lost_up all) (ratio_down all)) (scale l)))).

Section Meaning.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Notation val := (value_of K T).

(** A run that publishes finitely many things, each with its probabilities under x and under x'. *)
Definition run_law := list (nat * (K * K)).
Definition under_x (l : run_law) (E : nat * (K * K) -> bool) : K := sum K l (fun e => if E e then fst (snd e) else 0).
Definition under_y (l : run_law) (E : nat * (K * K) -> bool) : K := sum K l (fun e => if E e then snd (snd e) else 0).
Definition is_private (g : guarantee) (l : run_law) : Prop :=
  (forall e, In e l -> 0 <= fst (snd e) /\ 0 <= snd (snd e)) /\ under_x l (fun _ => true) = 1 /\ under_y l (fun _ => true) = 1
  /\ forall E, val (ratio_down g) * (val (lost_down g) * under_x l E) <= val (ratio_up g) * (val (lost_down g) * under_y l E) + val (lost_up g) * val (ratio_down g)
            /\ val (ratio_down g) * (val (lost_down g) * under_y l E) <= val (ratio_up g) * (val (lost_down g) * under_x l E) + val (lost_up g) * val (ratio_down g).

(** Runs one after the other: what is run next depends on what was published, and so does all that is told at the end. *)
Fixpoint runs (gs : list guarantee) : Type :=
  match gs with [] => nat | _ :: rest => (run_law * (nat -> runs rest))%type end.
Fixpoint all_private (gs : list guarantee) : runs gs -> Prop :=
  match gs with
  | [] => fun _ => True
  | g :: rest => fun r => is_private g (fst r) /\ forall y, all_private rest (snd r y)
  end.

(** The mean under x, and under x', of a number that depends on what is told. *)
Fixpoint mean_x (gs : list guarantee) (h : nat -> K) : runs gs -> K :=
  match gs with
  | [] => h
  | _ :: rest => fun r => sum K (fst r) (fun e => fst (snd e) * mean_x rest h (snd r (fst e)))
  end.
Fixpoint mean_y (gs : list guarantee) (h : nat -> K) : runs gs -> K :=
  match gs with
  | [] => h
  | _ :: rest => fun r => sum K (fst r) (fun e => snd (snd e) * mean_y rest h (snd r (fst e)))
  end.

(** For all tests, which have values between 0 and 1, as events have. *)
Definition is_composed (gs : list guarantee) (all : guarantee) : Prop :=
  forall r, all_private gs r -> forall h, (forall y, 0 <= h y /\ h y <= 1) ->
  val (lost_down all) * (val (ratio_down all) * mean_x gs h r) <= val (lost_down all) * (val (ratio_up all) * mean_y gs h r) + val (lost_up all) * val (ratio_down all).
End Meaning.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).
Variable root : Z.
Hypothesis is_root : is_root_of_e K root T.

(** Numbers can be compared with 0, as real numbers can. *)
Variable up : K -> bool.
Hypothesis up_says : forall a, if up a then 0 <= a else a <= 0.
Definition pos (a : K) : K := if up a then a else 0.

Lemma pos_cases : forall a, 0 <= pos a /\ a <= pos a /\ (0 <= a /\ pos a = a \/ a <= 0 /\ pos a = 0).
Proof.
  intro a. unfold pos. pose proof (up_says a) as H. destruct (up a).
  - split; [exact H|]. split; [apply le_refl | left; auto].
  - split; [apply le_refl|]. split; [exact H | right; auto].
Qed.

Definition good (g : guarantee) : Prop :=
  0 < val (ratio_down g) /\ 0 < val (lost_down g) /\ 0 <= val (lost_up g) /\ val (lost_up g) <= val (lost_down g)
  /\ (val (ratio_up g) = val (ratio_down g) \/ val (ratio_down g) < val (ratio_up g)).

Lemma nonneg_val : forall p, nonpos root (popp p) = true -> 0 <= val p.
Proof.
  intros p H. apply (nonpos_sound K T root is_root) in H. rewrite value_opp in H. apply opp_le in H.
  replace (val p) with (- - val p) by ring. exact H.
Qed.

Lemma less_val : forall p q, nonpos root (padd p (popp q)) = true -> val p <= val q.
Proof.
  intros p q H. apply (nonpos_sound K T root is_root) in H. rewrite value_add, value_opp in H. apply opp_le in H. apply le_sub.
  replace (val q - val p) with (- (val p + - val q)) by ring. exact H.
Qed.

Lemma fits_good : forall g, fits root g = true -> good g.
Proof.
  intros g H. unfold fits in H. cbv zeta in H. apply andb_true_iff in H as [H M]. apply andb_true_iff in H as [H W].
  apply andb_true_iff in H as [H L]. apply andb_true_iff in H as [B D].
  split; [apply (positive_sound K T root is_root); exact B|]. split; [apply (positive_sound K T root is_root); exact D|].
  split; [apply nonneg_val; exact L|]. split; [apply less_val; exact W|].
  apply orb_true_iff in M as [M|M].
  - left. apply (value_zero K T) in M. rewrite value_add, value_opp in M.
    replace (val (ratio_up g)) with ((val (ratio_up g) + - val (ratio_down g)) + val (ratio_down g)) by ring. rewrite M. ring.
  - right. apply (positive_sound K T root is_root) in M. rewrite value_add, value_opp in M. destruct M as [M1 M2]. split.
    + apply le_sub. replace (val (ratio_up g) - val (ratio_down g)) with (val (ratio_up g) + - val (ratio_down g)) by ring. exact M1.
    + intro E. apply M2. rewrite <- E. ring.
Qed.

(** One run: A P(E) - B P'(E) is the most at one of four corners. *)
Lemma one_run : forall n d f s A B p q : K, 0 < d -> 0 <= n -> (n = d \/ d < n) -> 0 <= f -> 0 <= s -> s <= f -> 0 <= A -> 0 <= B ->
  0 <= q -> p <= 1 ->
  d * (f * p) <= n * (f * q) + s * d -> d * (f * (1 - q)) <= n * (f * (1 - p)) + s * d ->
  f * ((n + d) * (A * p - B * q)) <= s * ((n + d) * A) + (f - s) * (pos (n * A - d * B) + pos (d * A - n * B)).
Proof.
  intros n d f s A B p q Hd Hn Hnd Hf Hs Hsf HA HB Hq Hp C1 C2.
  destruct (pos_cases (n * A - d * B)) as [U1 [U2 _]]. destruct (pos_cases (d * A - n * B)) as [V1 [V2 _]].
  set (u := pos (n * A - d * B)) in *. set (v := pos (d * A - n * B)) in *. clearbody u v.
  assert (Hr : 0 <= f - s) by (apply sub_le; exact Hsf).
  assert (Hnd0 : 0 <= n + d) by (replace (0 : K) with (0 + 0 : K) by ring; apply le_add2; [exact Hn | apply Hd]).
  assert (Case1 : n * A <= d * B -> f * ((n + d) * (A * p - B * q)) <= s * ((n + d) * A) + (f - s) * (u + v)).
  { intro H. apply le_trans with (s * ((n + d) * A)).
    - replace (f * ((n + d) * (A * p - B * q))) with ((n + d) * (f * (A * p - B * q))) by ring.
      replace (s * ((n + d) * A)) with ((n + d) * (s * A)) by ring. apply mul_le; [exact Hnd0|].
      apply le_sub. replace (s * A - f * (A * p - B * q)) with (- (f * (A * p - B * q) - s * A)) by ring. apply opp_le.
      apply cancel_nonpos with d; [exact Hd|].
      replace (d * (f * (A * p - B * q) - s * A)) with (A * (d * (f * p) - (n * (f * q) + s * d)) + f * q * (n * A - d * B)) by ring.
      replace (0 : K) with (0 + 0 : K) by ring. apply le_add2.
      + apply mul_nonpos; [exact HA|]. apply le_sub. replace (0 - (d * (f * p) - (n * (f * q) + s * d))) with (n * (f * q) + s * d - d * (f * p)) by ring.
        apply sub_le. exact C1.
      + apply mul_nonpos; [apply le_mul; assumption|]. apply le_sub. replace (0 - (n * A - d * B)) with (d * B - n * A) by ring. apply sub_le. exact H.
    - apply le_sub. replace (s * ((n + d) * A) + (f - s) * (u + v) - s * ((n + d) * A)) with ((f - s) * (u + v)) by ring.
      apply le_mul; [exact Hr|]. replace (0 : K) with (0 + 0 : K) by ring. apply le_add2; assumption. }
  assert (Case2 : n * B <= d * A -> f * ((n + d) * (A * p - B * q)) <= s * ((n + d) * A) + (f - s) * (u + v)).
  { intro H. apply le_trans with (s * ((n + d) * A) + (f - s) * ((n * A - d * B) + (d * A - n * B))).
    - replace (f * ((n + d) * (A * p - B * q))) with ((n + d) * (f * (A * p - B * q))) by ring.
      replace (s * ((n + d) * A) + (f - s) * (n * A - d * B + (d * A - n * B))) with ((n + d) * (f * A - (f - s) * B)) by ring.
      apply mul_le; [exact Hnd0|].
      apply le_sub. replace (f * A - (f - s) * B - f * (A * p - B * q)) with (- (f * (A * p - B * q) - (f * A - (f - s) * B))) by ring. apply opp_le.
      apply cancel_nonpos with d; [exact Hd|].
      replace (d * (f * (A * p - B * q) - (f * A - (f - s) * B)))
        with (B * (d * (f * (1 - q)) - (n * (f * (1 - p)) + s * d)) + f * (1 - p) * (n * B - d * A)) by ring.
      replace (0 : K) with (0 + 0 : K) by ring. apply le_add2.
      + apply mul_nonpos; [exact HB|]. apply le_sub. replace (0 - (d * (f * (1 - q)) - (n * (f * (1 - p)) + s * d))) with (n * (f * (1 - p)) + s * d - d * (f * (1 - q))) by ring.
        apply sub_le. exact C2.
      + apply mul_nonpos; [apply le_mul; [exact Hf | apply sub_le; exact Hp]|]. apply le_sub.
        replace (0 - (n * B - d * A)) with (d * A - n * B) by ring. apply sub_le. exact H.
    - apply le_add. apply mul_le; [exact Hr | apply le_add2; assumption]. }
  destruct (le_total K (n * A) (d * B)) as [H|H]; [apply Case1; exact H|].
  destruct (le_total K (n * B) (d * A)) as [G|G]; [apply Case2; exact G|].
  destruct Hnd as [->|Hnd].
  { destruct (le_total K (d * A) (d * B)) as [X|X]; [apply Case1; exact X | apply Case2; exact X]. }
  apply le_trans with (s * ((n + d) * A) + (f - s) * (n * A - d * B)).
  2: { apply le_add. apply mul_le; [exact Hr|]. apply le_trans with u; [exact U2|]. replace u with (u + 0) at 1 by ring. apply le_add. exact V1. }
  assert (Hk : 0 < n - d).
  { destruct Hnd as [N1 N2]. split; [apply sub_le; exact N1|]. intro E. apply N2. replace n with (n - d + d) by ring. rewrite <- E. ring. }
  apply le_sub. match goal with |- 0 <= ?x - ?y => replace (x - y) with (- (y - x)) by ring end. apply opp_le.
  apply cancel_nonpos with (n - d); [exact Hk|].
  match goal with |- ?e <= 0 => replace e with
    ((n * B - d * A) * (d * (f * p) - (n * (f * q) + s * d)) + (n * A - d * B) * (d * (f * (1 - q)) - (n * (f * (1 - p)) + s * d))) by ring end.
  replace (0 : K) with (0 + 0 : K) by ring. apply le_add2; apply mul_nonpos; try (apply sub_le; assumption).
  - apply le_sub. match goal with |- 0 <= 0 - (?x - ?y) => replace (0 - (x - y)) with (y - x) by ring end. apply sub_le. exact C1.
  - apply le_sub. match goal with |- 0 <= 0 - (?x - ?y) => replace (0 - (x - y)) with (y - x) by ring end. apply sub_le. exact C2.
Qed.

Definition over (ts : list (poly * (poly * poly))) (a b : K) : K :=
  sum ts (fun t => val (fst t) * pos (val (fst (snd t)) * a - val (snd (snd t)) * b)).

Lemma same_poly : forall p q, same_list Z.eqb p q = true -> p = q.
Proof. apply same_list_sound. intros a b H. apply Z.eqb_eq. exact H. Qed.

Lemma add_term_over : forall c ab ts a b, over (add_term c ab ts) a b = val c * pos (val (fst ab) * a - val (snd ab) * b) + over ts a b.
Proof.
  intros c ab ts a b. unfold over. induction ts as [|[e cd] ts IH]; [reflexivity|]. cbn [add_term].
  destruct (same_list Z.eqb (fst ab) (fst cd) && same_list Z.eqb (snd ab) (snd cd)) eqn:E.
  - apply andb_true_iff in E as [E1 E2]. apply same_poly in E1. apply same_poly in E2. cbn [Program.sum fst snd].
    rewrite value_add, E1, E2. ring.
  - cbn [Program.sum fst snd]. rewrite IH. ring.
Qed.

Definition nonneg_term (t : poly * (poly * poly)) : Prop := 0 <= val (fst t) /\ 0 <= val (fst (snd t)) /\ 0 <= val (snd (snd t)).

Lemma add_term_nonneg : forall c ab ts, nonneg_term (c, ab) -> Forall nonneg_term ts -> Forall nonneg_term (add_term c ab ts).
Proof.
  intros c ab ts H F. induction F as [|[e cd] ts N F IH]; [repeat constructor; apply H|]. cbn [add_term].
  destruct (same_list Z.eqb (fst ab) (fst cd) && same_list Z.eqb (snd ab) (snd cd)); constructor; auto.
  destruct H as [H _]. destruct N as [N1 [N2 N3]]. cbn [fst snd] in *. split; [|split; assumption]. cbn [fst]. rewrite value_add.
  replace (0 : K) with (0 + 0 : K) by ring. apply le_add2; assumption.
Qed.

Lemma split_run : forall (l : run_law K) A B, sum l (fun e => pos (A * fst (snd e) - B * snd (snd e)))
  = A * under_x K l (fun e => up (A * fst (snd e) - B * snd (snd e))) - B * under_y K l (fun e => up (A * fst (snd e) - B * snd (snd e))).
Proof.
  intros l A B. unfold under_x, under_y. induction l as [|e l IH]; cbn [Program.sum]; [ring|]. rewrite IH. unfold pos.
  destruct (up (A * fst (snd e) - B * snd (snd e))); ring.
Qed.

Lemma under_parts : forall l E,
  under_x K l (fun e => negb (E e)) = under_x K l (fun _ => true) - under_x K l E
  /\ under_y K l (fun e => negb (E e)) = under_y K l (fun _ => true) - under_y K l E.
Proof.
  intros l E. unfold under_x, under_y. induction l as [|e l [I1 I2]]; cbn [Program.sum]; [split; ring|]. rewrite I1, I2.
  destruct (E e); cbn [negb]; split; ring.
Qed.

Lemma event_bounds : forall g l E, is_private K T g l -> under_x K l E <= 1 /\ 0 <= under_y K l E.
Proof.
  intros g l E [N [X [Y _]]]. split.
  - rewrite <- X. apply sum_le. intros e He. destruct (N e He) as [N1 _]. destruct (E e); [apply le_refl | exact N1].
  - apply sum_nonneg. intros e He. destruct (N e He) as [_ N2]. destruct (E e); [exact N2 | apply le_refl].
Qed.

Lemma one_private_run : forall g l A B, good g -> is_private K T g l -> 0 <= A -> 0 <= B ->
  val (lost_down g) * ((val (ratio_up g) + val (ratio_down g)) * sum l (fun e => pos (A * fst (snd e) - B * snd (snd e))))
  <= val (lost_up g) * ((val (ratio_up g) + val (ratio_down g)) * A)
     + (val (lost_down g) - val (lost_up g)) * (pos (val (ratio_up g) * A - val (ratio_down g) * B) + pos (val (ratio_down g) * A - val (ratio_up g) * B)).
Proof.
  intros g l A B [Hd [Hw [Hl [Hlw Hnd]]]] P HA HB. rewrite split_run.
  set (E := fun e : nat * (K * K) => up (A * fst (snd e) - B * snd (snd e))).
  destruct (event_bounds g l E P) as [Xp Yp]. destruct (under_parts l E) as [Nx Ny].
  destruct P as [_ [X [Y D]]]. destruct (D E) as [D1 _]. destruct (D (fun e => negb (E e))) as [_ D2]. rewrite Nx, Ny, X, Y in D2.
  apply one_run; try assumption; try apply Hw.
  destruct Hnd as [->|[N _]]; [apply Hd|]. apply le_trans with (val (ratio_down g)); [apply Hd | exact N].
Qed.

Lemma after_over : forall g l a b, over (terms (after g l)) a b
  = sum (terms l) (fun t => (val (lost_down g) - val (lost_up g)) * (val (fst t)
      * (pos (val (ratio_up g) * (val (fst (snd t)) * a) - val (ratio_down g) * (val (snd (snd t)) * b))
         + pos (val (ratio_down g) * (val (fst (snd t)) * a) - val (ratio_up g) * (val (snd (snd t)) * b))))).
Proof.
  intros g l a b. cbn [after terms]. induction (terms l) as [|t ts IH]; [reflexivity|]. cbn [fold_right Program.sum].
  rewrite !add_term_over, IH. cbn [fst snd]. rewrite !value_mul, value_add, value_opp.
  replace (val (ratio_up g) * val (fst (snd t)) * a) with (val (ratio_up g) * (val (fst (snd t)) * a)) by ring.
  replace (val (ratio_down g) * val (snd (snd t)) * b) with (val (ratio_down g) * (val (snd (snd t)) * b)) by ring.
  replace (val (ratio_down g) * val (fst (snd t)) * a) with (val (ratio_down g) * (val (fst (snd t)) * a)) by ring.
  replace (val (ratio_up g) * val (snd (snd t)) * b) with (val (ratio_up g) * (val (snd (snd t)) * b)) by ring. ring.
Qed.

Lemma weight_sum : forall ts, val (fold_right (fun t s => padd (pmul (fst t) (fst (snd t))) s) [] ts) = sum ts (fun t : poly * (poly * poly) => val (fst t) * val (fst (snd t))).
Proof. induction ts as [|t ts IH]; [reflexivity|]. cbn [fold_right Program.sum]. rewrite value_add, value_mul, IH. reflexivity. Qed.

Lemma after_nonneg : forall g l, good g -> Forall nonneg_term (terms l) -> Forall nonneg_term (terms (after g l)).
Proof.
  intros g l [Hd [Hw [Hl [Hlw Hnd]]]] F. cbn [after terms].
  assert (Hn : 0 <= val (ratio_up g)) by (destruct Hnd as [->|[N _]]; [apply Hd | apply le_trans with (val (ratio_down g)); [apply Hd | exact N]]).
  assert (Hr : 0 <= val (padd (lost_down g) (popp (lost_up g)))).
  { rewrite value_add, value_opp. replace (val (lost_down g) + - val (lost_up g)) with (val (lost_down g) - val (lost_up g)) by ring. apply sub_le. exact Hlw. }
  induction F as [|t ts [N1 [N2 N3]] F IH]; [constructor|]. cbn [fold_right].
  apply add_term_nonneg; [|apply add_term_nonneg; [|exact IH]]; repeat split; cbn [fst snd]; rewrite value_mul; apply le_mul; try assumption; apply Hd.
Qed.

Lemma composed_bound : forall gs, Forall good gs ->
  Forall nonneg_term (terms (composed gs)) /\ 0 < val (scale (composed gs))
  /\ forall r, all_private K T gs r -> forall h, (forall y, 0 <= h y /\ h y <= 1) -> forall a b, 0 <= a -> 0 <= b ->
     val (scale (composed gs)) * (a * mean_x K gs h r - b * mean_y K gs h r) <= over (terms (composed gs)) a b + val (sure (composed gs)) * a.
Proof.
  assert (One : val [1%Z] = 1) by (cbn [value_of]; rewrite inj_one; ring).
  intros gs G. induction G as [|g gs Gg G [IN [IS IH]]].
  - cbn [composed fold_right no_loss terms scale sure]. split; [repeat constructor; cbn [fst snd]; rewrite One; apply zero_le_one|].
    split; [rewrite One; split; [apply zero_le_one | apply zero_not_one]|]. intros r _ h Hh a b Ha Hb. destruct (Hh r) as [H0 H1].
    unfold over. cbn [Program.sum fst snd mean_x mean_y]. rewrite One. destruct (pos_cases (1 * a - 1 * b)) as [P1 [P2 _]].
    apply le_trans with (h r * pos (1 * a - 1 * b)).
    + replace (1 * (a * h r - b * h r)) with (h r * (1 * a - 1 * b)) by ring. apply mul_le; assumption.
    + cbn [value_of]. replace (1 * pos (1 * a - 1 * b) + 0 + 0 * a) with (pos (1 * a - 1 * b) * 1) by ring.
      replace (h r * pos (1 * a - 1 * b)) with (pos (1 * a - 1 * b) * h r) by ring. apply mul_le; assumption.
  - change (composed (g :: gs)) with (after g (composed gs)). set (l := composed gs) in *.
    split; [apply after_nonneg; assumption|]. pose proof Gg as [Hd [Hw [Hl [Hlw Hnd]]]].
    assert (Hnd0 : 0 < val (ratio_up g) + val (ratio_down g)).
    { assert (Hn : 0 <= val (ratio_up g)) by (destruct Hnd as [->|[N _]]; [apply Hd | apply le_trans with (val (ratio_down g)); [apply Hd | exact N]]).
      assert (L : val (ratio_down g) <= val (ratio_up g) + val (ratio_down g)).
      { apply le_sub. replace (val (ratio_up g) + val (ratio_down g) - val (ratio_down g)) with (val (ratio_up g)) by ring. exact Hn. }
      split; [apply le_trans with (val (ratio_down g)); [apply Hd | exact L]|]. intro E. destruct Hd as [D1 D2]. apply D2.
      apply le_antisym; [exact D1 | rewrite E; exact L]. }
    split.
    { cbn [after scale]. rewrite !value_mul, value_add. repeat apply mul_positive; assumption. }
    intros [run next] [P R] h Hh a b Ha Hb. cbn [fst snd] in P, R. cbn [mean_x mean_y fst snd].
    assert (S1 : val (scale l) * (a * sum run (fun e => fst (snd e) * mean_x K gs h (next (fst e))) - b * sum run (fun e => snd (snd e) * mean_y K gs h (next (fst e))))
      <= sum run (fun e => over (terms l) (a * fst (snd e)) (b * snd (snd e)) + val (sure l) * (a * fst (snd e)))).
    { assert (E : forall m : run_law K, val (scale l) * (a * sum m (fun e => fst (snd e) * mean_x K gs h (next (fst e))) - b * sum m (fun e => snd (snd e) * mean_y K gs h (next (fst e))))
        = sum m (fun e => val (scale l) * ((a * fst (snd e)) * mean_x K gs h (next (fst e)) - (b * snd (snd e)) * mean_y K gs h (next (fst e))))).
      { induction m as [|e m IHm]; cbn [Program.sum]; [ring|]. rewrite <- IHm. ring. }
      rewrite E. apply sum_le. intros e He. destruct P as [N _]. destruct (N e He) as [N1 N2].
      apply IH; [apply R | exact Hh | apply le_mul; assumption | apply le_mul; assumption]. }
    assert (S2 : sum run (fun e => over (terms l) (a * fst (snd e)) (b * snd (snd e)) + val (sure l) * (a * fst (snd e)))
      = sum (terms l) (fun t => val (fst t) * sum run (fun e => pos ((val (fst (snd t)) * a) * fst (snd e) - (val (snd (snd t)) * b) * snd (snd e))))
        + val (sure l) * a).
    { rewrite sum_plus. f_equal.
      - unfold over. rewrite sum_swap. apply sum_ext. intros t _. rewrite sum_scale. apply sum_ext. intros e _. f_equal. f_equal. ring.
      - rewrite <- sum_scale. f_equal. destruct P as [_ [X _]]. unfold under_x in X. rewrite <- sum_scale, X. ring. }
    rewrite S2 in S1. clear S2.
    apply le_trans with ((val (ratio_up g) + val (ratio_down g)) * (val (lost_down g) *
      (sum (terms l) (fun t => val (fst t) * sum run (fun e => pos ((val (fst (snd t)) * a) * fst (snd e) - (val (snd (snd t)) * b) * snd (snd e))))
       + val (sure l) * a))).
    + cbn [after scale]. rewrite !value_mul, value_add.
      match goal with |- ?k * (?w * ?s) * ?x <= _ => replace (k * (w * s) * x) with (k * (w * (s * x))) by ring end.
      apply mul_le; [apply Hnd0|]. apply mul_le; [apply Hw | exact S1].
    + rewrite after_over. cbn [after sure]. rewrite !value_mul, !value_add, !value_mul, weight_sum.
      set (n := val (ratio_up g)) in *. set (d := val (ratio_down g)) in *. set (f := val (lost_down g)) in *. set (s := val (lost_up g)) in *.
      match goal with |- (n + d) * (f * (?x + ?g * a)) <= ?y + (n + d) * (f * ?g + s * ?z) * a =>
        apply le_trans with ((n + d) * (f * x) + (n + d) * (f * g * a)); [apply le_sub; match goal with |- 0 <= ?u - ?v => replace (u - v) with (0 : K) by ring end; apply le_refl|];
        apply le_trans with (y + (n + d) * (s * z) * a + (n + d) * (f * g * a)); [|apply le_sub; match goal with |- 0 <= ?u - ?v => replace (u - v) with (0 : K) by ring end; apply le_refl] end.
      apply le_add2; [|apply le_refl].
      assert (M : forall ts, Forall nonneg_term ts ->
        (n + d) * (f * sum ts (fun t => val (fst t) * sum run (fun e => pos ((val (fst (snd t)) * a) * fst (snd e) - (val (snd (snd t)) * b) * snd (snd e)))))
        <= sum ts (fun t => (f - s) * (val (fst t) * (pos (n * (val (fst (snd t)) * a) - d * (val (snd (snd t)) * b)) + pos (d * (val (fst (snd t)) * a) - n * (val (snd (snd t)) * b)))))
           + (n + d) * (s * sum ts (fun t => val (fst t) * val (fst (snd t)))) * a).
      { intros ts N. induction N as [|t ts [N1 [N2 N3]] N IHt]; cbn [Program.sum].
        - apply le_sub. match goal with |- 0 <= ?u => replace u with (0 : K) by ring end. apply le_refl.
        - pose proof (one_private_run g run (val (fst (snd t)) * a) (val (snd (snd t)) * b) Gg P (le_mul K _ _ N2 Ha) (le_mul K _ _ N3 Hb)) as O.
          fold n d f s in O. pose proof (mul_le K _ _ _ N1 O) as O'. pose proof (le_add2 K _ _ _ _ O' IHt) as Q. apply sub_le in Q. apply le_sub.
          match type of Q with 0 <= ?u => match goal with |- 0 <= ?v => replace v with u by ring end end. exact Q. }
      apply M. exact IN.
Qed.

Theorem composed_is_private : forall gs all, check_composed root gs all = true -> is_composed K T gs all.
Proof.
  intros gs all H r P h Hh. unfold check_composed in H. cbv zeta in H.
  apply andb_true_iff in H as [H M]. apply andb_true_iff in H as [H S]. apply andb_true_iff in H as [H L]. apply andb_true_iff in H as [H A].
  apply andb_true_iff in H as [H W]. apply andb_true_iff in H as [F B].
  assert (G : Forall good gs). { rewrite forallb_forall in F. apply Forall_forall. intros g Hg. apply fits_good. apply F. exact Hg. }
  destruct (composed_bound gs G) as [N [Sc C]]. apply (positive_sound K T root is_root) in B. apply (positive_sound K T root is_root) in W.
  apply nonneg_val in A. apply nonneg_val in L. apply less_val in M. rewrite !value_mul in M.
  pose proof (C r P h Hh (val (ratio_down all)) (val (ratio_up all)) (proj1 B) A) as Q.
  set (l := composed gs) in *.
  assert (V : val (fold_right (fun t s => padd (if positive_at root (padd (pmul (fst (snd t)) (ratio_down all)) (popp (pmul (snd (snd t)) (ratio_up all))))
      then pmul (fst t) (padd (pmul (fst (snd t)) (ratio_down all)) (popp (pmul (snd (snd t)) (ratio_up all)))) else []) s) (pmul (sure l) (ratio_down all)) (terms l))
    = over (terms l) (val (ratio_down all)) (val (ratio_up all)) + val (sure l) * val (ratio_down all)).
  { clear - S is_root up_says. unfold over. induction (terms l) as [|t ts IH]; cbn [fold_right Program.sum]; [rewrite value_mul; ring|].
    cbn [forallb] in S. apply andb_true_iff in S as [S1 S2]. rewrite value_add, (IH S2).
    assert (E : val (padd (pmul (fst (snd t)) (ratio_down all)) (popp (pmul (snd (snd t)) (ratio_up all)))) = val (fst (snd t)) * val (ratio_down all) - val (snd (snd t)) * val (ratio_up all)).
    { rewrite value_add, value_opp, !value_mul. ring. }
    destruct (positive_at root _) eqn:X.
    - apply (positive_sound K T root is_root) in X. rewrite value_mul, E in *. destruct (pos_cases (val (fst (snd t)) * val (ratio_down all) - val (snd (snd t)) * val (ratio_up all))) as [_ [_ [[_ ->]|[Y _]]]]; [ring|].
      exfalso. destruct X as [X1 X2]. apply X2. apply le_antisym; assumption.
    - cbn [orb] in S1. apply (nonpos_sound K T root is_root) in S1. rewrite E in S1.
      destruct (pos_cases (val (fst (snd t)) * val (ratio_down all) - val (snd (snd t)) * val (ratio_up all))) as [_ [_ [[Y Z0]|[_ Z0]]]]; rewrite Z0; cbn [value_of]; [|ring].
      assert (Z1 : val (fst (snd t)) * val (ratio_down all) - val (snd (snd t)) * val (ratio_up all) = 0) by (apply le_antisym; assumption). rewrite Z1. ring. }
  rewrite V in M. clear V.
  apply le_sub. match goal with |- 0 <= ?x - ?y => replace (x - y) with (- (y - x)) by ring end. apply opp_le.
  apply cancel_nonpos with (val (scale l)); [exact Sc|].
  pose proof (mul_le K _ _ _ (proj1 W) Q) as Q'. pose proof (le_trans K _ _ _ Q' M) as Q2. apply sub_le in Q2. apply le_sub.
  match type of Q2 with 0 <= ?u => match goal with |- 0 <= ?v => replace v with u by ring end end. exact Q2.
Qed.
End Proofs.

(** What is claimed of neighbours is claimed in both directions: those that have a name are symmetric. *)
Lemma same_symmetric : forall a b, same a b = same b a.
Proof.
  intros a b. destruct (same a b) eqn:E, (same b a) eqn:F; try reflexivity.
  - apply same_spec in E. symmetry in E. apply same_spec in E. congruence.
  - apply same_spec in F. symmetry in F. apply same_spec in F. congruence.
Qed.

Theorem near_symmetric : forall r a b, near r a b = near r b a.
Proof.
  intros [] a b.
  - cbn [near]. rewrite same_symmetric. reflexivity.
  - destruct a as [| | |[|u [|u' l]]|], b as [| | |[|v [|v' m]]|]; try reflexivity. apply xorb_comm.
  - destruct a as [| | |[|[n [d|d|]| | | |] [|u l]]|], b as [| | |[|[m [e|e|]| | | |] [|v k]]|]; try reflexivity.
    cbn [near]. f_equal. rewrite <- Z.abs_opp. f_equal. ring.
  - destruct a as [| | |[|[n [d|d|]| | | |] [|u l]]|], b as [| | |[|[m [e|e|]| | | |] [|v k]]|]; try reflexivity.
    cbn [near]. f_equal. rewrite <- Z.abs_opp. f_equal. ring.
Qed.

Print Assumptions composed_is_private.
