(** Zero-concentrated privacy of discrete Gaussian noise: the numbers to which it is added are known from the dataset, and
    their squared distance, over twice the variance, is at most ρ. Then the moment of every whole order a of a sum of noise
    and number is at most e^(a (a-1) ρ). *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Turns Accuracy Datasets Composition Outputs.
Import ListNotations.
Open Scope Z_scope.

(** A claim about the numbers that a program leaves behind, with the variance of the noise on each, and ρ. *)
Record concentration := { noisy : within_claim; variances : list (Z * Z); rho_up : Z; rho_down : Z }.

(** Integers for 1 / (2 variance), in units of 1 / scale. *)
Definition scale_of (vs : list (Z * Z)) : Z := fold_right (fun v m => Z.lcm (2 * fst v) m) 1 vs.
Definition weights_of (vs : list (Z * Z)) : list Z := let m := scale_of vs in map (fun v => snd v * (m / (2 * fst v))) vs.
Fixpoint apart (ws c d : list Z) : Z :=
  match ws, c, d with w :: ws', n :: c', m :: d' => w * ((n - m) * (n - m)) + apart ws' c' d' | _, _, _ => 0 end.

Definition whole_number (v : value) : option Z := match v with Number n 1 => Some n | _ => None end.
Definition numbers_of (k : nat) (v : vector) : option (list Z) :=
  match v with
  | [(s, _)] => match all_of whole_number s with Some c => if Nat.eqb (length c) k then Some c else None | None => None end
  | _ => None
  end.
Definition centres_ok (c : concentration) (asked : verdict) (t : table) : bool :=
  let r := root (base (noisy c)) in
  positive_at r (total_at true t) && positive_at r (total_at false t)
  && match t with
     | [e] => match numbers_of (length (variances c)) (fst (fst (snd e))), numbers_of (length (variances c)) (snd (fst (snd e))) with
              | Some n, Some m => let ours := rho_down c * apart (weights_of (variances c)) n m in
                                  let most := rho_up c * scale_of (variances c) in
                                  match asked with Within => ours <=? most | Exceeds => most <? ours | Reaches => ours =? most end
              | _, _ => false
              end
     | _ => false
     end.
Definition valid (c : concentration) : bool :=
  (0 <? rho_down c) && (0 <=? rho_up c) && forallb (fun v => (0 <? fst v) && (0 <? snd v)) (variances c).
Definition check_concentration (c : concentration) : bool := valid c && all_ok (noisy c) false (centres_ok c Within).
Definition check_concentration_at (c : concentration) (asked : verdict) (x y : dataset) : bool :=
  valid c && pair_ok (noisy c) (centres_ok c asked) x y.

(** What all runs of a program leave behind. *)
Fixpoint ends_in (ps : program) (s : state) (P : state -> Prop) : Prop :=
  match ps with
  | [] => P s
  | (p, record) :: rest => run p record s <> None /\ Forall (fun r => ends_in rest (after r) P) (results p record s)
  end.
Definition leaves_numbers (ps : program) (n : list Z) : Prop := ends_in ps [] (fun s => all_of whole_number s = Some n).

Lemma ends_led : forall q t u, leads q t u -> forall P Q : state -> Prop,
  (forall f, In f u -> (forall s, In s (map fst (fst (fst (snd f)))) -> P s) /\ (forall s, In s (map fst (snd (fst (snd f)))) -> Q s)) ->
  forall e, In e t -> (forall s, In s (map fst (fst (fst (snd e)))) -> ends_in (left_of q) s P)
                      /\ (forall s, In s (map fst (snd (fst (snd e)))) -> ends_in (right_of q) s Q).
Proof.
  intros q t u L. induction L as [t|p a b q t u W L IH]; intros P Q H e He; [apply H; exact He|].
  specialize (W e He). unfold entry_well in W. cbn [fst snd] in W. apply andb_true_iff in W as [W1 W2].
  cbn [left_of right_of map fst snd]. fold (left_of q) (right_of q). split; intros s Hs; cbn [ends_in].
  - split; [eapply runs_well_sound; eassumption|]. apply Forall_forall. intros x Hx.
    destruct (told_by_in p a _ s x Hs Hx) as [v [U1 U2]].
    destruct (joined_in_left _ (told_by p b (snd (fst (snd e)))) _ _ U1) as [j [J1 J2]].
    destruct (moved_table_in p a b t e j He J1) as [f [F1 F2]]. destruct (IH P Q H f F1) as [G _]. apply G. rewrite F2, J2. exact U2.
  - split; [eapply runs_well_sound; eassumption|]. apply Forall_forall. intros x Hx.
    destruct (told_by_in p b _ s x Hs Hx) as [v [U1 U2]].
    destruct (joined_in_right (told_by p a (fst (fst (snd e)))) _ _ _ (told_by_keys _ _ _) U1) as [j [J1 J2]].
    destruct (moved_table_in p a b t e j He J1) as [f [F1 F2]]. destruct (IH P Q H f F1) as [_ G]. apply G. rewrite F2, J2. exact U2.
Qed.

Lemma numbers_of_sound : forall k v n, numbers_of k v = Some n -> length n = k /\ forall s, In s (map fst v) -> all_of whole_number s = Some n.
Proof.
  intros k [|[s a] [|e v]] n H; try discriminate H. cbn [numbers_of] in H. destruct (all_of whole_number s) as [c|] eqn:E; [|discriminate].
  destruct (Nat.eqb (length c) k) eqn:L; [|discriminate]. injection H as <-. apply Nat.eqb_eq in L. split; [exact L|].
  intros u [<-|[]]. exact E.
Qed.

(** The weights are those of the variances. *)
Lemma scale_divides : forall vs v, In v vs -> (2 * fst v | scale_of vs).
Proof.
  intros vs v. induction vs as [|u vs IH]; [intros []|]. intros [->|H]; cbn [scale_of fold_right]; fold (scale_of vs).
  - apply Z.divide_lcm_l.
  - apply Z.divide_trans with (scale_of vs); [apply IH; exact H | apply Z.divide_lcm_r].
Qed.

Lemma weights_right : forall vs, (forall v, In v vs -> 0 < fst v) ->
  Forall2 (fun v w => w * (2 * fst v) = snd v * scale_of vs) vs (weights_of vs).
Proof.
  intros vs P. unfold weights_of. cbv zeta. assert (D : forall v, In v vs -> (2 * fst v | scale_of vs)) by apply scale_divides.
  set (m := scale_of vs) in *. clearbody m. induction vs as [|v vs IH]; constructor.
  - destruct (D v (or_introl eq_refl)) as [k ->]. pose proof (P v (or_introl eq_refl)). rewrite Z.div_mul by lia. ring.
  - apply IH; intros u Hu; [apply P | apply D]; right; exact Hu.
Qed.

Lemma scale_positive : forall vs, (forall v, In v vs -> 0 < fst v) -> 0 < scale_of vs.
Proof.
  intros vs P. induction vs as [|v vs IH]; [reflexivity|]. cbn [scale_of fold_right]. fold (scale_of vs).
  pose proof (P v (or_introl eq_refl)). pose proof (IH (fun u Hu => P u (or_intror Hu))).
  pose proof (Z.lcm_nonneg (2 * fst v) (scale_of vs)). assert (Z.lcm (2 * fst v) (scale_of vs) <> 0); [|lia].
  intro E. apply Z.lcm_eq_0 in E. lia.
Qed.

Lemma weights_nonneg : forall vs, (forall v, In v vs -> 0 < fst v /\ 0 < snd v) -> Forall (fun w => 0 <= w) (weights_of vs).
Proof.
  intros vs P. unfold weights_of. cbv zeta. pose proof (scale_positive vs (fun v Hv => proj1 (P v Hv))) as S. set (m := scale_of vs) in *. clearbody m.
  apply Forall_forall. intros w H. apply in_map_iff in H as [v [<- H]]. destruct (P v H). apply Z.mul_nonneg_nonneg; [lia|]. apply Z.div_pos; lia.
Qed.

Lemma apart_nonneg : forall ws c d, Forall (fun w => 0 <= w) ws -> 0 <= apart ws c d.
Proof.
  intros ws c d H. revert c d. induction H as [|w ws Hw _ IH]; intros c d; [reflexivity|]. destruct c as [|n c], d as [|m d]; cbn [apart]; try lia.
  apply Z.add_nonneg_nonneg; [apply Z.mul_nonneg_nonneg; [exact Hw | apply Z.square_nonneg] | apply IH].
Qed.

(** The centre that a moment of order b + 1 leads to. *)
Fixpoint shifted_centre (b : Z) (c d : list Z) : list Z :=
  match c, d with n :: c', m :: d' => ((b + 1) * n - b * m) :: shifted_centre b c' d' | _, _ => [] end.
Fixpoint minus (z s : list Z) : list Z := match z, s with n :: z', m :: s' => (n - m) :: minus z' s' | _, _ => [] end.

Lemma apart_moment : forall ws b c d z, length c = length ws -> length d = length ws -> length z = length ws ->
  (b + 1) * apart ws z c + b * (b + 1) * apart ws c d = b * apart ws z d + apart ws z (shifted_centre b c d).
Proof.
  induction ws as [|w ws IH]; intros b [|n c] [|m d] [|x z] Lc Ld Lz; try discriminate; [cbn; ring|]. cbn [apart shifted_centre].
  specialize (IH b c d z). injection Lc as Lc. injection Ld as Ld. injection Lz as Lz. specialize (IH Lc Ld Lz).
  replace ((b + 1) * (w * ((x - n) * (x - n)) + apart ws z c) + b * (b + 1) * (w * ((n - m) * (n - m)) + apart ws c d))
    with ((b + 1) * (w * ((x - n) * (x - n))) + b * (b + 1) * (w * ((n - m) * (n - m))) + ((b + 1) * apart ws z c + b * (b + 1) * apart ws c d)) by ring.
  rewrite IH. ring.
Qed.

Lemma apart_minus : forall ws z s, length z = length ws -> length s = length ws -> apart ws z s = apart ws (minus z s) (map (fun _ => 0) ws).
Proof.
  induction ws as [|w ws IH]; intros [|n z] [|m s] Lz Ls; try discriminate; [reflexivity|]. cbn [apart minus map].
  injection Lz as Lz. injection Ls as Ls. rewrite (IH z s Lz Ls). ring.
Qed.

Section Noise.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).

(** e^(1/scale), and the number that is 1 over it. *)
Variables up_e down_e : K.
Hypothesis inverse : up_e * down_e = 1.
Hypothesis at_least_one : 1 <= up_e.
Variable ws : list Z.
Hypothesis weights : Forall (fun w => (0 <= w)%Z) ws.

(** Up to one factor for all centres, the probability of z where the noise is added to c; and 1 over it. *)
Definition density (c z : list Z) : K := power K down_e (Z.to_nat (apart ws z c)).
Definition over_density (c z : list Z) : K := power K up_e (Z.to_nat (apart ws z c)).

Lemma power_add : forall a n m, power K a (n + m) = power K a n * power K a m.
Proof. intros a n m. induction n as [|n IH]; cbn [power Nat.add]; [ring | rewrite IH; ring]. Qed.
Lemma power_power : forall a n m, power K (power K a n) m = power K a (m * n).
Proof. intros a n m. induction m as [|m IH]; cbn [power Nat.mul]; [reflexivity | rewrite IH, power_add; reflexivity]. Qed.
Lemma power_inverse : forall n, power K up_e n * power K down_e n = 1.
Proof.
  induction n as [|n IH]; cbn [power]; [ring|].
  replace (up_e * power K up_e n * (down_e * power K down_e n)) with ((up_e * down_e) * (power K up_e n * power K down_e n)) by ring.
  rewrite inverse, IH. ring.
Qed.
Lemma power_grows : forall n m, (n <= m)%nat -> power K up_e n <= power K up_e m.
Proof.
  intros n m H. induction H as [|m _ IH]; [apply le_refl|]. apply le_trans with (power K up_e m); [exact IH|]. cbn [power].
  replace (power K up_e m) with (power K up_e m * 1) at 1 by ring. replace (up_e * power K up_e m) with (power K up_e m * up_e) by ring.
  apply mul_le; [|exact at_least_one]. apply power_nonneg. apply le_trans with 1; [apply zero_le_one | exact at_least_one].
Qed.

Lemma one_moment : forall b c d z, length c = length ws -> length d = length ws -> length z = length ws ->
  power K (density c z) (S b) * power K (over_density d z) b
  = power K up_e (Z.to_nat (Z.of_nat b * Z.of_nat (S b) * apart ws c d)) * density (shifted_centre (Z.of_nat b) c d) z.
Proof.
  intros b c d z Lc Ld Lz. unfold density, over_density. rewrite !power_power.
  pose proof (apart_moment ws (Z.of_nat b) c d z Lc Ld Lz) as E.
  pose proof (apart_nonneg ws z c weights) as P1. pose proof (apart_nonneg ws z d weights) as P2.
  pose proof (apart_nonneg ws c d weights) as P3. pose proof (apart_nonneg ws z (shifted_centre (Z.of_nat b) c d) weights) as P4.
  set (A := apart ws z c) in *. set (B := apart ws z d) in *. set (C := apart ws c d) in *.
  set (D := apart ws z (shifted_centre (Z.of_nat b) c d)) in *. clearbody A B C D.
  set (i := (S b * Z.to_nat A)%nat). set (j := (b * Z.to_nat B)%nat). set (k := Z.to_nat (Z.of_nat b * Z.of_nat (S b) * C)). set (l := Z.to_nat D).
  assert (N : (i + k = j + l)%nat).
  { apply Nat2Z.inj. unfold i, j, k, l. rewrite !Nat2Z.inj_add, !Nat2Z.inj_mul, !Z2Nat.id by nia. rewrite <- E. lia. }
  replace (power K down_e i * power K up_e j) with (power K down_e i * power K up_e j * (power K up_e k * power K down_e k)) by (rewrite power_inverse; ring).
  replace (power K down_e i * power K up_e j * (power K up_e k * power K down_e k)) with (power K up_e k * power K up_e j * (power K down_e i * power K down_e k)) by ring.
  rewrite <- (power_add down_e i k), N, power_add.
  replace (power K up_e k * power K up_e j * (power K down_e j * power K down_e l)) with (power K up_e k * power K down_e l * (power K up_e j * power K down_e j)) by ring.
  rewrite power_inverse. ring.
Qed.

(** Over any finitely many outputs the sum of P^a / P'^(a-1) is e^(a (a-1) distance) times the probability, around 0, of
    as many outputs: at most e^(a (a-1) distance) in all, and that much where they are more and more. *)
Theorem gaussian_moment : forall b c d outputs, length c = length ws -> length d = length ws -> (forall z, In z outputs -> length z = length ws) ->
  sum outputs (fun z => power K (density c z) (S b) * power K (over_density d z) b)
  = power K up_e (Z.to_nat (Z.of_nat b * Z.of_nat (S b) * apart ws c d))
    * sum (map (fun z => minus z (shifted_centre (Z.of_nat b) c d)) outputs) (density (map (fun _ => 0%Z) ws)).
Proof.
  intros b c d outputs Lc Ld Lz. rewrite sum_scale, sum_map. apply sum_ext. intros z Hz. specialize (Lz z Hz).
  rewrite (one_moment b c d z Lc Ld Lz). f_equal. unfold density. rewrite apart_minus; [reflexivity | exact Lz|].
  clear Lz. revert c d Lc Ld. induction ws as [|w l IH]; intros [|n c] [|m d] Lc Ld; try discriminate; [reflexivity|]. cbn [shifted_centre length].
  f_equal. inversion weights; subst. apply IH; [assumption | injection Lc; auto | injection Ld; auto].
Qed.

Lemma factor_most : forall b up down m a, (0 <= a)%Z -> (0 <= up)%Z -> (0 < down)%Z -> (0 <= m)%Z -> (down * a <= up * m)%Z ->
  power K (power K up_e (Z.to_nat (Z.of_nat b * Z.of_nat (S b) * a))) (Z.to_nat down) <= power K up_e (Z.to_nat (Z.of_nat b * Z.of_nat (S b) * (up * m))).
Proof.
  intros b up down m a Ha Hup Hd Hm H. rewrite power_power. apply power_grows. apply Nat2Z.inj_le. rewrite Nat2Z.inj_mul, !Z2Nat.id by nia. nia.
Qed.
End Noise.

(** What is claimed of neighbours: all runs on x leave the numbers n, all on x' m, and the sum of (n - m)^2 / (2 variance)
    is at most ρ, more, or ρ. *)
Definition centres (K : domain) (T : K) (c : concentration) (asked : verdict) (x y : dataset) : Prop :=
  fair K T (noisy c) x y /\ exists n m,
  (length n = length (variances c) /\ leaves_numbers (program_on (base (noisy c)) x) n)
  /\ (length m = length (variances c) /\ leaves_numbers (program_on (base (noisy c)) y) m)
  /\ let ours := rho_down c * apart (weights_of (variances c)) n m in
     let most := rho_up c * scale_of (variances c) in
     match asked with Within => ours <= most | Exceeds => most < ours | Reaches => ours = most end.

Lemma centres_say : forall K T c asked n places x y u, is_root_of_e K (root (base (noisy c))) T -> law_of (base (noisy c)) = For n places ->
  leads (way_of (noisy c) places x y) begin u -> centres_ok c asked u = true -> centres K T c asked x y.
Proof.
  intros K T c asked n places x y u R S L O. unfold centres_ok in O. cbv zeta in O. apply andb_true_iff in O as [O A]. apply andb_true_iff in O as [O1 O2].
  split; [apply (is_fair K T (noisy c) n places S x y u L R O1 O2)|].
  destruct u as [|e [|e' u]]; try discriminate A. destruct (numbers_of _ (fst (fst (snd e)))) as [v|] eqn:V; [|discriminate].
  destruct (numbers_of _ (snd (fst (snd e)))) as [w|] eqn:W; [|discriminate].
  destruct (numbers_of_sound _ _ _ V) as [V1 V2]. destruct (numbers_of_sound _ _ _ W) as [W1 W2].
  assert (F : forall f, In f [e] -> (forall s, In s (map fst (fst (fst (snd f)))) -> all_of whole_number s = Some v)
                                 /\ (forall s, In s (map fst (snd (fst (snd f)))) -> all_of whole_number s = Some w)).
  { intros f [<-|[]]. split; [exact V2 | exact W2]. }
  destruct (ends_led _ _ _ L _ _ F _ (or_introl eq_refl)) as [E1 E2].
  rewrite (program_left (noisy c) n places S) in E1. rewrite (program_right (noisy c) n places S) in E2.
  exists v, w. split; [split; [exact V1 | apply E1; left; reflexivity]|]. split; [split; [exact W1 | apply E2; left; reflexivity]|].
  cbv zeta. destruct asked; [apply Z.leb_le | apply Z.ltb_lt | apply Z.eqb_eq]; exact A.
Qed.

Theorem concentration_sound : forall K T c, is_root_of_e K (root (base (noisy c))) T -> check_concentration c = true ->
  forall x y, is_dataset (base (noisy c)) x -> is_dataset (base (noisy c)) y -> compared (noisy c) x y -> centres K T c Within x y.
Proof.
  intros K T c R H x y Dx Dy C. unfold check_concentration in H. apply andb_true_iff in H as [_ G].
  destruct (all_says_of _ _ x y G Dx Dy C) as [n [places [u [S [L O]]]]]. eapply centres_say; eassumption.
Qed.

Theorem concentration_at_sound : forall K T c asked x y, is_root_of_e K (root (base (noisy c))) T -> check_concentration_at c asked x y = true ->
  is_dataset (base (noisy c)) x /\ is_dataset (base (noisy c)) y /\ compared (noisy c) x y /\ centres K T c asked x y.
Proof.
  intros K T c asked x y R H. unfold check_concentration_at in H. apply andb_true_iff in H as [_ G].
  destruct (pair_says _ _ x y G) as [X [Y [Z0 [n [places [u [S [L O]]]]]]]]. repeat (split; [assumption|]). eapply centres_say; eassumption.
Qed.

(** So the moment of order b + 1 of these numbers with noise, over any finitely many outputs, is a factor times the weight
    of as many outputs around 0, and the factor is at most e^(b (b + 1) ρ), where [up_e] is e^(1/scale). *)
Theorem noise_moments : forall K T c x y, valid c = true -> centres K T c Within x y ->
  forall (up_e down_e : K), mul up_e down_e = one -> le one up_e ->
  let k := length (variances c) in let ws := weights_of (variances c) in
  exists n m, leaves_numbers (program_on (base (noisy c)) x) n /\ leaves_numbers (program_on (base (noisy c)) y) m
  /\ forall b, exists factor, le (power K factor (Z.to_nat (rho_down c))) (power K up_e (Z.to_nat (Z.of_nat b * Z.of_nat (S b) * (rho_up c * scale_of (variances c)))))
     /\ forall outputs, (forall z, In z outputs -> length z = k) ->
        sum K outputs (fun z => mul (power K (density K down_e ws n z) (S b)) (power K (over_density K up_e ws m z) b))
        = mul factor (sum K (map (fun z => minus z (shifted_centre (Z.of_nat b) n m)) outputs) (density K down_e ws (map (fun _ => 0) ws))).
Proof.
  intros K T c x y V [_ [n [m [[Ln Hn] [[Lm Hm] A]]]]] up_e down_e I G k ws. cbv zeta in A. unfold valid in V. apply andb_true_iff in V as [V Vs].
  apply andb_true_iff in V as [V1 V2]. apply Z.ltb_lt in V1. apply Z.leb_le in V2. rewrite forallb_forall in Vs.
  assert (P : forall v, In v (variances c) -> 0 < fst v /\ 0 < snd v).
  { intros v Hv. specialize (Vs v Hv). apply andb_true_iff in Vs as [P1 P2]. split; apply Z.ltb_lt; assumption. }
  pose proof (weights_nonneg _ P) as W. pose proof (scale_positive _ (fun v Hv => proj1 (P v Hv))) as Sc.
  assert (Lw : length ws = k) by (unfold ws, weights_of; apply map_length). fold k in Ln, Lm.
  exists n, m. split; [exact Hn|]. split; [exact Hm|]. intro b.
  exists (power K up_e (Z.to_nat (Z.of_nat b * Z.of_nat (S b) * apart ws n m))). split.
  - apply factor_most; try assumption; try lia. apply apart_nonneg. exact W.
  - intros outputs L. apply gaussian_moment; [exact I | exact W | congruence | congruence|]. intros z Hz. rewrite Lw. apply L. exact Hz.
Qed.

Print Assumptions concentration_sound.
Print Assumptions concentration_at_sound.
Print Assumptions noise_moments.
