(** Numbers of certificates: polynomials in T = e^(1/d), and their signs, in every linearly ordered integral domain.

    No real numbers are assumed. The theorems hold in every ordered domain with an element T that lies in all the
    enclosures of e^(1/d) by its series: the reals are one, and for certificates without T the integers are. Where d is
    negative T is any element above 0: what is proved holds for all values of an unknown. *)

From Coq Require Import ZArith List Bool Lia Setoid Ring.
Import ListNotations.
Open Scope Z_scope.

(** A linearly ordered integral domain, with the image [inj] of the integers in it. *)
Record domain := {
  carrier :> Type;
  zero : carrier; one : carrier;
  add : carrier -> carrier -> carrier; mul : carrier -> carrier -> carrier;
  sub : carrier -> carrier -> carrier; opp : carrier -> carrier;
  is_ring : ring_theory zero one add mul sub opp eq;
  le : carrier -> carrier -> Prop;
  le_refl : forall a, le a a;
  le_trans : forall a b c, le a b -> le b c -> le a c;
  le_antisym : forall a b, le a b -> le b a -> a = b;
  le_total : forall a b, le a b \/ le b a;
  le_add : forall a b c, le a b -> le (add c a) (add c b);
  le_mul : forall a b, le zero a -> le zero b -> le zero (mul a b);
  no_divisors : forall a b, mul a b = zero -> a = zero \/ b = zero;
  zero_le_one : le zero one;
  zero_not_one : zero <> one;
  inj : Z -> carrier;
  inj_one : inj 1 = one;
  inj_add : forall a b, inj (a + b) = add (inj a) (inj b);
  inj_mul : forall a b, inj (a * b) = mul (inj a) (inj b)
}.

Arguments zero {_}. Arguments one {_}. Arguments add {_}. Arguments mul {_}. Arguments sub {_}. Arguments opp {_}.
Arguments le {_}. Arguments inj {_}.

Definition lt {K : domain} (a b : K) := le a b /\ a <> b.

Declare Scope K_scope.
Delimit Scope K_scope with K.
Infix "+" := add : K_scope.
Infix "*" := mul : K_scope.
Infix "-" := sub : K_scope.
Infix "<=" := le : K_scope.
Infix "<" := lt : K_scope.
Notation "- a" := (opp a) : K_scope.
Notation "0" := zero : K_scope.
Notation "1" := one : K_scope.

Definition poly := list Z.

(** The enclosures of e^(1/d): with D(m) = m! d^m and A(m) = the sum of D(m) / (k! d^k) over k <= m,
    e^(1/d) lies between A(m) / D(m) and (A(m) + 1) / D(m), for every m >= 1. *)
Fixpoint series (d : Z) (m : nat) : Z * Z :=
  match m with
  | O => (1, 1)
  | S k => let (a, b) := series d k in (a * (Z.of_nat m * d) + 1, b * (Z.of_nat m * d))
  end.

Definition is_root_of_e (K : domain) (d : Z) (T : K) : Prop :=
  if d <? 0 then lt zero T
  else forall m, (1 <= m)%nat ->
    le (inj (fst (series d m))) (mul (inj (snd (series d m))) T)
    /\ le (mul (inj (snd (series d m))) T) (inj (fst (series d m) + 1)).

Fixpoint padd (p q : poly) : poly :=
  match p, q with
  | [], _ => q
  | _, [] => p
  | a :: p', b :: q' => (a + b) :: padd p' q'
  end.
Definition pscale (c : Z) (p : poly) : poly := map (Z.mul c) p.
Fixpoint pmul (p q : poly) : poly :=
  match p with
  | [] => []
  | [a] => pscale a q
  | a :: p' => padd (pscale a q) (0 :: pmul p' q)
  end.
Definition popp (p : poly) : poly := map Z.opp p.
Definition pzero (p : poly) : bool := forallb (Z.eqb 0) p.
Definition constant (p : poly) : bool := forallb (Z.eqb 0) (tl p).

(** Lower and upper ends of b^length times the value of a polynomial, where b times T lies between a and a + 1. *)
Fixpoint ends (a b : Z) (p : poly) : Z * Z * Z :=
  match p with
  | [] => (0, 0, 1)
  | c :: q =>
    let '(low, high, power) := ends a b q in
    let power := power * b in
    (c * power + (if 0 <=? low then a * low else (a + 1) * low),
     c * power + (if 0 <=? high then (a + 1) * high else a * high), power)
  end.

Definition precisions : list nat := [12; 40; 120; 400]%nat.

(** Whether the coefficients of a polynomial, times some power of 1 + T, are not negative; and [strict]ly, not all 0. *)
Fixpoint one_sign (strict : bool) (times : nat) (p : poly) : bool :=
  forallb (Z.leb 0) p && negb (strict && pzero p)
  || match times with O => false | S k => one_sign strict k (pmul [1; 1] p) end.
Definition most_times : nat := 64.

(** At the first precision at which that is seen: whether a polynomial is above 0 (Gt), or at most 0 (Lt). *)
Fixpoint sign_at (d : Z) (p : poly) (ms : list nat) : comparison :=
  match ms with
  | [] => Eq
  | m :: rest => let (a, b) := series d m in let e := ends a b p in
                 if 0 <? fst (fst e) then Gt else if snd (fst e) <=? 0 then Lt else sign_at d p rest
  end.
Definition nonpos (d : Z) (p : poly) : bool :=
  if constant p then hd 0 p <=? 0 else if d <? 0 then one_sign false most_times (popp p)
  else (0 <? d) && match sign_at d p precisions with Lt => true | _ => false end.
Definition positive_at (d : Z) (p : poly) : bool :=
  if constant p then 0 <? hd 0 p else if d <? 0 then one_sign true most_times p
  else (0 <? d) && match sign_at d p precisions with Gt => true | _ => false end.

Section Domain.
Variable K : domain.
Local Open Scope K_scope.

Add Ring K_ring : (is_ring K).

Lemma inj_zero : @inj K 0 = 0.
Proof.
  assert (H : @inj K (1 + 0)%Z = inj 1 + inj 0) by apply inj_add.
  simpl in H. rewrite inj_one in H.
  assert (E : (inj 0 : K) = (1 + inj 0) - 1) by ring. rewrite E, <- H. ring.
Qed.

Lemma inj_opp : forall a, @inj K (- a)%Z = - inj a.
Proof.
  intro a. assert (H : @inj K (a + - a)%Z = inj a + inj (- a)%Z) by apply inj_add.
  rewrite Z.add_opp_diag_r, inj_zero in H.
  assert (E : (inj (- a)%Z : K) = (inj a + inj (- a)%Z) - inj a) by ring. rewrite E, <- H. ring.
Qed.

Lemma le_add2 : forall a b c d : K, a <= b -> c <= d -> a + c <= b + d.
Proof.
  intros a b c d H1 H2. apply le_trans with (a + d). { apply le_add; exact H2. }
  replace (a + d) with (d + a) by ring. replace (b + d) with (d + b) by ring. apply le_add; exact H1.
Qed.

Lemma le_sub : forall a b : K, 0 <= b - a -> a <= b.
Proof.
  intros a b H. replace b with (a + (b - a)) by ring. replace a with (a + 0) at 1 by ring. apply le_add; exact H.
Qed.

Lemma sub_le : forall a b : K, a <= b -> 0 <= b - a.
Proof.
  intros a b H. replace (b - a) with ((- a) + b) by ring. replace (0:K) with ((- a) + a) by ring. apply le_add; exact H.
Qed.

Lemma mul_le : forall c a b : K, 0 <= c -> a <= b -> c * a <= c * b.
Proof.
  intros c a b Hc H. apply le_sub. replace (c * b - c * a) with (c * (b - a)) by ring.
  apply le_mul; [exact Hc | apply sub_le; exact H].
Qed.

Lemma opp_le : forall a : K, a <= 0 -> 0 <= - a.
Proof. intros a H. replace (- a) with (0 - a) by ring. apply sub_le; exact H. Qed.

Lemma le_opp : forall a : K, 0 <= a -> - a <= 0.
Proof. intros a H. apply le_sub. replace (0 - - a) with a by ring. exact H. Qed.

Lemma mul_nonpos : forall a b : K, 0 <= a -> b <= 0 -> a * b <= 0.
Proof. intros a b Ha Hb. replace (0:K) with (a * 0 : K) by ring. apply mul_le; assumption. Qed.

Lemma cancel_nonpos : forall c g : K, 0 < c -> c * g <= 0 -> g <= 0.
Proof.
  intros c g [Hc Hn] H. destruct (le_total K g 0) as [|G]; [assumption|].
  assert (E : c * g = 0) by (apply le_antisym; [exact H | apply le_mul; assumption]).
  apply no_divisors in E as [E|E]; [congruence | rewrite E; apply le_refl].
Qed.

Lemma cancel_positive : forall c g : K, 0 < c -> 0 < c * g -> 0 < g.
Proof.
  intros c g Hc [H1 H2]. split.
  - destruct (le_total K 0 g) as [|G]; [assumption|].
    exfalso. apply H2. apply le_antisym; [exact H1 | apply mul_nonpos; [apply Hc | exact G]].
  - intro E. apply H2. rewrite <- E. ring.
Qed.

Lemma mul_positive : forall a b : K, 0 < a -> 0 < b -> 0 < a * b.
Proof.
  intros a b [Ha Na] [Hb Nb]. split; [apply le_mul; assumption|].
  intro E. symmetry in E. apply no_divisors in E as [E|E]; congruence.
Qed.

Lemma inj_nonneg : forall a, (0 <= a)%Z -> 0 <= @inj K a.
Proof.
  apply natlike_ind. { rewrite inj_zero. apply le_refl. }
  intros a _ H. unfold Z.succ. rewrite inj_add, inj_one. replace (0:K) with (0 + 0 : K) by ring.
  apply le_add2; [exact H | apply zero_le_one].
Qed.

Lemma inj_le : forall a b, (a <= b)%Z -> @inj K a <= inj b.
Proof.
  intros a b H. apply le_sub. replace (inj b - inj a) with (@inj K (b - a)%Z).
  - apply inj_nonneg. lia.
  - unfold Z.sub. rewrite inj_add, inj_opp. ring.
Qed.

Lemma inj_nonpos : forall a, (a <= 0)%Z -> @inj K a <= 0.
Proof. intros a H. rewrite <- inj_zero. apply inj_le; exact H. Qed.

Lemma inj_positive : forall a, (0 < a)%Z -> 0 < @inj K a.
Proof.
  intros a H. split; [apply inj_nonneg; lia|]. intro E.
  assert (G : (1:K) <= 0). { rewrite <- inj_one, E. apply inj_le. lia. }
  apply (zero_not_one K). apply le_antisym; [apply zero_le_one | exact G].
Qed.

Variable T : K.

Fixpoint value_of (p : poly) : K :=
  match p with [] => 0 | c :: q => inj c + T * value_of q end.

Lemma value_add : forall p q, value_of (padd p q) = value_of p + value_of q.
Proof.
  induction p as [|a p IH]; intros [|b q]; simpl; try ring. rewrite IH, inj_add. ring.
Qed.

Lemma value_scale : forall c p, value_of (pscale c p) = inj c * value_of p.
Proof. intros c p. induction p as [|a p IH]; simpl; [ring|]. change (map (Z.mul c) p) with (pscale c p); rewrite IH, inj_mul; ring. Qed.

Lemma value_mul : forall p q, value_of (pmul p q) = value_of p * value_of q.
Proof.
  induction p as [|a p IH]; intro q; [simpl; ring|].
  assert (E : value_of (pmul (a :: p) q) = inj a * value_of q + T * value_of (pmul p q)).
  { destruct p. - simpl pmul. rewrite value_scale. simpl. ring.
    - cbn [pmul]. rewrite value_add, value_scale. cbn [value_of]. rewrite inj_zero. ring. }
  rewrite E, IH. simpl. ring.
Qed.

Lemma value_opp : forall p, value_of (popp p) = - value_of p.
Proof. induction p as [|a p IH]; simpl; [ring|]. change (map Z.opp p) with (popp p); rewrite IH, inj_opp; ring. Qed.

Lemma value_zero : forall p, pzero p = true -> value_of p = 0.
Proof.
  induction p as [|a p IH]; intro H; [reflexivity|]. unfold pzero in H. cbn [forallb] in H.
  apply andb_true_iff in H as [H1 H2]. apply Z.eqb_eq in H1. subst a. cbn [value_of].
  rewrite (IH H2), inj_zero; ring.
Qed.

Lemma value_constant : forall p, constant p = true -> value_of p = inj (hd 0%Z p).
Proof.
  intros [|a p] H; simpl; [symmetry; apply inj_zero|]. rewrite (value_zero p) by exact H. ring.
Qed.

Lemma ends_hold : forall a b p, (0 <= a)%Z -> (0 < b)%Z ->
  inj a <= inj b * T -> inj b * T <= inj (a + 1)%Z ->
  let '(low, high, power) := ends a b p in
  (0 < power)%Z /\ inj low <= inj power * value_of p /\ inj power * value_of p <= inj high.
Proof.
  intros a b p Ha Hb HA HB. induction p as [|c q IH].
  - simpl. split; [lia|]. rewrite inj_zero. replace (inj 1 * 0) with (0 : K) by ring. split; apply le_refl.
  - cbn [ends]. destruct (ends a b q) as [[low high] power]. destruct IH as [Hp [Hl Hh]].
    assert (PT : 0 <= @inj K b * T) by (apply le_trans with (inj a); [apply inj_nonneg; exact Ha | exact HA]).
    assert (V : @inj K (power * b)%Z * value_of (c :: q)
                = inj (c * (power * b))%Z + (inj b * T) * (inj power * value_of q)).
    { simpl. rewrite !inj_mul. ring. }
    assert (L : @inj K (if 0 <=? low then a * low else (a + 1) * low)%Z <= (inj b * T) * (inj power * value_of q)).
    { apply le_trans with ((inj b * T) * inj low); [|apply mul_le; assumption].
      destruct (0 <=? low)%Z eqn:E; [apply Z.leb_le in E | apply Z.leb_gt in E]; rewrite inj_mul.
      - replace (inj a * inj low) with (inj low * (inj a : K)) by ring.
        replace (inj b * T * inj low) with (inj low * (inj b * T)) by ring.
        apply mul_le; [apply inj_nonneg; exact E | exact HA].
      - apply le_sub.
        replace (inj b * T * inj low - inj (a + 1)%Z * inj low) with ((- inj low) * (inj (a + 1)%Z - inj b * T)) by ring.
        apply le_mul; [|apply sub_le; exact HB]. apply opp_le, inj_nonpos. lia. }
    assert (H : (inj b * T) * (inj power * value_of q) <= @inj K (if 0 <=? high then (a + 1) * high else a * high)%Z).
    { apply le_trans with ((inj b * T) * inj high); [apply mul_le; assumption|].
      destruct (0 <=? high)%Z eqn:E; [apply Z.leb_le in E | apply Z.leb_gt in E]; rewrite inj_mul.
      - replace (inj (a + 1)%Z * inj high) with (inj high * (inj (a + 1)%Z : K)) by ring.
        replace (inj b * T * inj high) with (inj high * (inj b * T)) by ring.
        apply mul_le; [apply inj_nonneg; exact E | exact HB].
      - apply le_sub.
        replace (inj a * inj high - inj b * T * inj high) with ((- inj high) * (inj b * T - inj a)) by ring.
        apply le_mul; [|apply sub_le; exact HA]. apply opp_le, inj_nonpos. lia. }
    cbv beta zeta. rewrite V. split; [nia|]. split.
    + rewrite inj_add. apply le_add. exact L.
    + rewrite (inj_add _ (c * (power * b))). apply le_add. exact H.
Qed.

Lemma series_positive : forall d m, (0 < d)%Z -> (0 < fst (series d m) /\ 0 < snd (series d m))%Z.
Proof.
  intros d m Hd. induction m as [|m IH]; [simpl; lia|].
  cbn [series]. destruct (series d m) as [a b].
  assert (P : (0 < Z.of_nat (S m))%Z) by (apply (Nat2Z.inj_lt 0), Nat.lt_0_succ).
  remember (Z.of_nat (S m)) as k eqn:Ek. clear Ek. cbv beta iota delta [fst snd] in *. destruct IH as [Ia Ib].
  pose proof (Z.mul_pos_pos _ _ P Hd) as Q. pose proof (Z.mul_pos_pos _ _ Ia Q). pose proof (Z.mul_pos_pos _ _ Ib Q). lia.
Qed.

Lemma inj_zero_only : forall a, inj a = (0 : K) -> a = 0%Z.
Proof.
  intros a H. destruct (Z.lt_trichotomy a 0) as [L|[E|L]]; [|exact E|].
  - pose proof (inj_positive (- a) ltac:(lia)) as [_ P]. exfalso. apply P. rewrite inj_opp, H. ring.
  - pose proof (inj_positive a L) as [_ P]. exfalso. apply P. symmetry. exact H.
Qed.

Lemma coefficients_sign : forall p, 0 < T -> forallb (Z.leb 0) p = true -> 0 <= value_of p /\ (pzero p = false -> 0 < value_of p).
Proof.
  induction p as [|a p IH]; intros P H; [split; [apply le_refl | discriminate]|]. cbn [forallb] in H. apply andb_true_iff in H as [H1 H2].
  apply Z.leb_le in H1. destruct (IH P H2) as [I1 I2]. cbn [value_of].
  assert (L : 0 <= T * value_of p) by (apply le_mul; [apply P | exact I1]).
  pose proof (inj_nonneg a H1) as A.
  assert (N : 0 <= inj a + T * value_of p) by (replace (0 : K) with (0 + 0 : K) by ring; apply le_add2; assumption).
  split; [exact N|]. intro Z0. split; [exact N|]. intro E.
  assert (A0 : inj a = (0 : K)).
  { apply le_antisym; [|exact A]. apply le_sub. replace (0 - inj a) with (T * value_of p - (inj a + T * value_of p)) by ring.
    rewrite <- E. apply sub_le. exact L. }
  pose proof (inj_zero_only a A0) as A1. subst a. unfold pzero in Z0. cbn [forallb Z.eqb andb] in Z0. fold (pzero p) in Z0.
  destruct (mul_positive _ _ P (I2 Z0)) as [_ M]. apply M. rewrite E, inj_zero. ring.
Qed.

Lemma one_sign_sound : forall strict k p, 0 < T -> one_sign strict k p = true -> if strict then 0 < value_of p else 0 <= value_of p.
Proof.
  assert (Q : 0 < T -> 0 < 1 + T).
  { intro P. assert (L : (1 : K) <= 1 + T) by (apply le_sub; replace (1 + T - 1) with T by ring; apply P). split.
    - apply le_trans with (1 : K); [apply zero_le_one | exact L].
    - intro E. apply (zero_not_one K). apply le_antisym; [apply zero_le_one | rewrite E; exact L]. }
  intros strict. induction k as [|k IH]; intros p P H; cbn [one_sign] in H; apply orb_true_iff in H as [H|H]; try discriminate.
  1, 2: apply andb_true_iff in H as [H S]; destruct (coefficients_sign p P H) as [C1 C2];
    destruct strict; [apply C2; apply negb_true_iff in S; exact S | exact C1].
  assert (V : value_of (pmul [1; 1]%Z p) = (1 + T) * value_of p) by (rewrite value_mul; cbn [value_of]; rewrite inj_one; ring).
  specialize (IH _ P H). rewrite V in IH. destruct strict; [apply cancel_positive with (1 + T); auto|].
  apply le_sub. replace (value_of p - 0) with (- - value_of p) by ring. apply opp_le. apply cancel_nonpos with (1 + T); [apply Q; exact P|].
  replace ((1 + T) * - value_of p) with (- ((1 + T) * value_of p)) by ring. apply le_opp. exact IH.
Qed.

Variable d : Z.
Hypothesis root : is_root_of_e K d T.

Lemma sign_at_sound : forall p ms, is_root_of_e K d T -> (0 < d)%Z -> Forall (fun m => 1 <= m)%nat ms ->
  match sign_at d p ms with Gt => 0 < value_of p | Lt => value_of p <= 0 | Eq => True end.
Proof.
  intros p ms R Hd F. unfold is_root_of_e in R. destruct (Z.ltb_spec d 0) as [N|_]; [lia|].
  induction F as [|m ms Hm F IH]; [exact I|]. cbn [sign_at].
  destruct (series_positive d m Hd) as [Sa Sb]. destruct (R m Hm) as [R1 R2]. destruct (series d m) as [a b]. simpl fst in *. simpl snd in *.
  pose proof (ends_hold a b p ltac:(lia) ltac:(lia) R1 R2) as E.
  destruct (ends a b p) as [[low high] power]. destruct E as [E1 [E2 E3]]. cbn [fst snd].
  destruct (Z.ltb_spec 0 low) as [H|_]; [|destruct (Z.leb_spec high 0) as [H|_]; [|exact IH]].
  - apply cancel_positive with (inj power); [apply inj_positive; exact E1|].
    destruct (inj_positive low H) as [P1 P2]. split; [apply le_trans with (inj low); assumption|].
    intro G. apply P2. apply le_antisym; [exact P1 | rewrite G; exact E2].
  - apply cancel_nonpos with (inj power); [apply inj_positive; exact E1|].
    apply le_trans with (inj high); [exact E3 | apply inj_nonpos; exact H].
Qed.

Lemma precise : Forall (fun m => 1 <= m)%nat precisions.
Proof. repeat constructor; lia. Qed.

Lemma nonpos_sound : forall p, nonpos d p = true -> value_of p <= 0.
Proof.
  intros p H. unfold nonpos in H. destruct (constant p) eqn:C.
  - rewrite value_constant by exact C. apply inj_nonpos. apply Z.leb_le. exact H.
  - destruct (d <? 0)%Z eqn:N.
    { unfold is_root_of_e in root. rewrite N in root.
      apply (one_sign_sound false) in H; [|exact root]. rewrite value_opp in H. apply le_sub. replace (0 - value_of p) with (- value_of p) by ring. exact H. }
    apply andb_true_iff in H as [Hd H]. apply Z.ltb_lt in Hd. pose proof (sign_at_sound p precisions root Hd precise) as S.
    destruct (sign_at d p precisions); [discriminate | exact S | discriminate].
Qed.

Lemma positive_sound : forall p, positive_at d p = true -> 0 < value_of p.
Proof.
  intros p H. unfold positive_at in H. destruct (constant p) eqn:C.
  - rewrite value_constant by exact C. apply inj_positive. apply Z.ltb_lt. exact H.
  - destruct (d <? 0)%Z eqn:N.
    { unfold is_root_of_e in root. rewrite N in root. apply (one_sign_sound true most_times); assumption. }
    apply andb_true_iff in H as [Hd H]. apply Z.ltb_lt in Hd. pose proof (sign_at_sound p precisions root Hd precise) as S.
    destruct (sign_at d p precisions); [discriminate | discriminate | exact S].
Qed.

End Domain.

(** The integers are such a domain: the structure is not empty, and for them the axioms are theorems. *)
Definition integers : domain.
Proof.
  refine {| carrier := Z; zero := 0; one := 1; add := Z.add; mul := Z.mul; sub := Z.sub; opp := Z.opp; le := Z.le;
            inj := fun a => a |}; try (intros; lia).
  exact Zth.
Defined.
