(** Audits in one run: how many guesses of m secrets, uniform on k options each, can be right, for every mechanism with a
    guarantee, every finite set of outputs, and every guesser that answers r of them. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Composition.
Import ListNotations.
Open Scope Z_scope.

Section Words.
Variable k : nat.

(** All secrets, and those that differ from one in one place. *)
Fixpoint words (m : nat) : list (list nat) :=
  match m with O => [[]] | S m => flat_map (fun a => map (cons a) (words m)) (seq 0 k) end.
Definition others (a : nat) : list nat := filter (fun b => negb (Nat.eqb a b)) (seq 0 k).
Fixpoint around (s : list nat) : list (list nat) :=
  match s with [] => [] | a :: s => map (fun b => b :: s) (others a) ++ map (cons a) (around s) end.

(** A guess is an option or none for each secret: how many there are, how many are right, and whether the one in the place
    in which two secrets differ is that of the first. *)
Definition guess := list (option nat).
Definition answered (g : guess) : nat := length (filter (fun x => match x with Some _ => true | None => false end) g).
Fixpoint right (g : guess) (s : list nat) : nat :=
  match g, s with
  | x :: g, a :: s => (if match x with Some b => Nat.eqb b a | None => false end then 1 else 0) + right g s
  | _, _ => 0
  end%nat.
Fixpoint hit (g : guess) (s t : list nat) : bool :=
  match g, s, t with
  | x :: g, a :: s, b :: t => if Nat.eqb a b then hit g s t else match x with Some c => Nat.eqb c a | None => false end
  | _, _, _ => false
  end.
Definition is_guess (m r : nat) (g : guess) : Prop :=
  length g = m /\ answered g = r /\ Forall (fun x => match x with Some b => (b < k)%nat | None => True end) g.

Lemma in_others : forall a b, In b (others a) <-> (b < k)%nat /\ b <> a.
Proof.
  intros a b. unfold others. rewrite filter_In, in_seq, negb_true_iff, Nat.eqb_neq. split; intros [H1 H2]; split; try lia; congruence.
Qed.

Lemma in_words : forall m s, In s (words m) -> length s = m /\ Forall (fun a => (a < k)%nat) s.
Proof.
  induction m as [|m IH]; intros s H; cbn [words] in H.
  - destruct H as [<-|[]]. split; [reflexivity | constructor].
  - apply in_flat_map in H as [a [Ha H]]. apply in_map_iff in H as [t [<- Ht]]. destruct (IH t Ht) as [L F]. apply in_seq in Ha.
    split; [cbn; congruence | constructor; [lia | exact F]].
Qed.

Lemma hit_right : forall g s t, In t (around s) -> hit g s t = true -> right g s = S (right g t).
Proof.
  intros g. induction g as [|x g IH]; intros [|a s] t H E; cbn [around] in H; try contradiction; [discriminate|].
  apply in_app_or in H as [H|H]; apply in_map_iff in H as [b [<- Hb]].
  - apply in_others in Hb as [_ N]. cbn [hit] in E. cbn [right]. replace (Nat.eqb a b) with false in E by (symmetry; apply Nat.eqb_neq; congruence).
    destruct x as [c|]; [|discriminate]. apply Nat.eqb_eq in E. subst c. rewrite Nat.eqb_refl.
    replace (Nat.eqb a b) with false by (symmetry; apply Nat.eqb_neq; congruence). reflexivity.
  - cbn [hit] in E. rewrite Nat.eqb_refl in E. cbn [right]. rewrite (IH s b Hb E). lia.
Qed.

Lemma others_count : forall a, (a < k)%nat -> length (others a) = (k - 1)%nat.
Proof.
  intros a H. unfold others.
  assert (G : forall n from, length (filter (fun b => negb (Nat.eqb a b)) (seq from n)) = (n - (if (from <=? a)%nat && (a <? from + n)%nat then 1 else 0))%nat).
  { induction n as [|n IH]; intro from; [reflexivity|]. cbn [seq filter]. destruct (Nat.eqb a from) eqn:E; cbn [negb length].
    - apply Nat.eqb_eq in E. subst from. rewrite IH. replace (S a <=? a)%nat with false by (symmetry; apply Nat.leb_gt; lia). cbn [andb].
      replace (a <=? a)%nat with true by (symmetry; apply Nat.leb_le; lia). replace (a <? a + S n)%nat with true by (symmetry; apply Nat.ltb_lt; lia). cbn [andb]. lia.
    - apply Nat.eqb_neq in E. rewrite IH.
      destruct ((from <=? a)%nat && (a <? from + S n)%nat) eqn:D1; destruct ((S from <=? a)%nat && (a <? S from + n)%nat) eqn:D2;
        rewrite ?andb_true_iff, ?andb_false_iff, ?Nat.leb_le, ?Nat.leb_gt, ?Nat.ltb_lt, ?Nat.ltb_ge in *; lia. }
  rewrite G. replace ((0 <=? a)%nat && (a <? 0 + k)%nat) with true; [reflexivity|].
  symmetry. apply andb_true_iff. split; [reflexivity | apply Nat.ltb_lt; lia].
Qed.

Lemma around_count : forall s, Forall (fun a => (a < k)%nat) s -> length (around s) = (length s * (k - 1))%nat.
Proof.
  induction s as [|a s IH]; intro F; [reflexivity|]. apply Forall_cons_iff in F as [Fa F]. cbn [around length].
  rewrite app_length, !map_length, others_count, IH by assumption. lia.
Qed.

Section Counting.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).
Notation when := (when K).
Definition number (n : nat) : K := inj (Z.of_nat n).

Lemma number_add : forall a b, number (a + b) = number a + number b.
Proof. intros. unfold number. rewrite Nat2Z.inj_add. apply inj_add. Qed.
Lemma number_zero : number 0 = 0.
Proof. apply inj_zero. Qed.
Lemma number_one : number 1 = 1.
Proof. apply inj_one. Qed.
Lemma number_nonneg : forall n, 0 <= number n.
Proof. intro n. apply inj_nonneg. lia. Qed.

Lemma sum_filter : forall {A} (b : A -> bool) l f, sum (filter b l) f = sum l (fun a => when (b a) (f a)).
Proof. intros A b l f. induction l as [|a l IH]; [reflexivity|]. cbn [filter Program.sum]. destruct (b a); cbn [Program.sum Sums.when]; rewrite IH; ring. Qed.

Lemma sum_constant : forall {A} (l : list A) (x : K), sum l (fun _ => x) = number (length l) * x.
Proof.
  intros A l x. induction l as [|a l IH]; cbn [Program.sum length]; [rewrite number_zero; ring|].
  rewrite IH. replace (S (length l)) with (1 + length l)%nat by reflexivity. rewrite number_add, number_one. ring.
Qed.

(** Pairs of secrets that differ in one place, in either order. *)
Lemma around_symmetric : forall m (f : list nat -> list nat -> K),
  sum (words m) (fun s => sum (around s) (fun t => f s t)) = sum (words m) (fun s => sum (around s) (fun t => f t s)).
Proof.
  induction m as [|m IH]; intro f; [reflexivity|]. cbn [words]. rewrite !sum_flat_map.
  assert (E : forall h : list nat -> list nat -> K,
    sum (seq 0 k) (fun a => sum (map (cons a) (words m)) (fun s => sum (around s) (fun t => h s t)))
    = sum (seq 0 k) (fun a => sum (seq 0 k) (fun b => when (negb (Nat.eqb a b)) (sum (words m) (fun s => h (a :: s) (b :: s)))))
      + sum (seq 0 k) (fun a => sum (words m) (fun s => sum (around s) (fun t => h (a :: s) (a :: t))))).
  { intro h. rewrite <- sum_plus. apply sum_ext. intros a _. rewrite sum_map.
    rewrite (sum_ext K (words m) _ (fun s => sum (others a) (fun b => h (a :: s) (b :: s)) + sum (around s) (fun t => h (a :: s) (a :: t)))).
    - rewrite sum_plus. f_equal. rewrite sum_swap. unfold others. rewrite sum_filter. reflexivity.
    - intros s _. cbn [around]. rewrite sum_app, !sum_map. reflexivity. }
  rewrite (E f), (E (fun s t => f t s)). f_equal.
  - rewrite sum_swap. apply sum_ext. intros a _. apply sum_ext. intros b _. rewrite (Nat.eqb_sym b a). reflexivity.
  - apply sum_ext. intros a _. apply (IH (fun s t => f (a :: s) (a :: t))).
Qed.

Lemma hits : forall g s, Forall (fun a => (a < k)%nat) s -> length g = length s ->
  sum (around s) (fun t => when (hit g s t) 1) = number (k - 1) * number (right g s).
Proof.
  induction g as [|x g IH]; intros [|a s] F L; try discriminate L; cbn [around right].
  - cbn. rewrite number_zero. ring.
  - apply Forall_cons_iff in F as [Fa F]. rewrite sum_app, !sum_map. cbn [hit].
    rewrite (sum_ext K (others a) _ (fun _ => when (match x with Some c => Nat.eqb c a | None => false end) 1)).
    2: { intros b Hb. apply in_others in Hb as [_ N]. replace (Nat.eqb a b) with false by (symmetry; apply Nat.eqb_neq; congruence). reflexivity. }
    rewrite sum_constant, others_count by exact Fa.
    rewrite (sum_ext K (around s) _ (fun t => when (hit g s t) 1)) by (intros t _; rewrite Nat.eqb_refl; reflexivity).
    rewrite IH by (try exact F; injection L; auto). rewrite number_add.
    destruct (match x with Some c => Nat.eqb c a | None => false end); cbn [Sums.when]; rewrite ?number_one, ?number_zero; ring.
Qed.

Lemma one_of : forall c n from, sum (seq from n) (fun b => when (Nat.eqb c b) 1) = when ((from <=? c)%nat && (c <? from + n)%nat) 1.
Proof.
  intros c. induction n as [|n IH]; intro from; cbn [seq Program.sum].
  - rewrite Nat.add_0_r. destruct ((from <=? c)%nat && (c <? from)%nat) eqn:E; [|reflexivity].
    apply andb_true_iff in E as [E1 E2]. apply Nat.leb_le in E1. apply Nat.ltb_lt in E2. lia.
  - rewrite IH. destruct (Nat.eqb c from) eqn:E; cbn [Sums.when].
    + apply Nat.eqb_eq in E. subst from. replace (S c <=? c)%nat with false by (symmetry; apply Nat.leb_gt; lia).
      replace (c <=? c)%nat with true by (symmetry; apply Nat.leb_le; lia). replace (c <? c + S n)%nat with true by (symmetry; apply Nat.ltb_lt; lia).
      cbn [andb Sums.when]. ring.
    + apply Nat.eqb_neq in E.
      destruct ((from <=? c)%nat && (c <? from + S n)%nat) eqn:D1; destruct ((S from <=? c)%nat && (c <? S from + n)%nat) eqn:D2; cbn [Sums.when]; try ring;
        exfalso; rewrite ?andb_true_iff, ?andb_false_iff, ?Nat.leb_le, ?Nat.leb_gt, ?Nat.ltb_lt, ?Nat.ltb_ge in *; lia.
Qed.

Lemma misses : forall g s, Forall (fun x => match x with Some b => (b < k)%nat | None => True end) g -> length g = length s ->
  sum (around s) (fun t => when (hit g t s) 1) + number (right g s) = number (answered g).
Proof.
  induction g as [|x g IH]; intros [|a s] F L; try discriminate L; cbn [around right].
  - cbn. rewrite number_zero. ring.
  - apply Forall_cons_iff in F as [Fx F]. rewrite sum_app, !sum_map. cbn [hit].
    rewrite (sum_ext K (others a) _ (fun b => when (match x with Some c => Nat.eqb c b | None => false end) 1)).
    2: { intros b Hb. apply in_others in Hb as [_ N]. replace (Nat.eqb b a) with false by (symmetry; apply Nat.eqb_neq; congruence). reflexivity. }
    rewrite (sum_ext K (around s) _ (fun t => when (hit g t s) 1)) by (intros t _; rewrite Nat.eqb_refl; reflexivity).
    rewrite number_add. pose proof (IH s F ltac:(injection L; auto)) as I.
    assert (H : sum (others a) (fun b => when (match x with Some c => Nat.eqb c b | None => false end) 1)
                + number (if match x with Some b => Nat.eqb b a | None => false end then 1 else 0)
                = when (match x with Some _ => true | None => false end) 1).
    { destruct x as [c|]; [|rewrite sum_zero by reflexivity; rewrite number_zero; simpl; ring].
      unfold others. rewrite sum_filter. cbn [Sums.when].
      destruct (Nat.eqb c a) eqn:E.
      - apply Nat.eqb_eq in E. subst c. rewrite sum_zero; [rewrite number_one; ring|]. intros b _. destruct (Nat.eqb a b); reflexivity.
      - rewrite (sum_ext K (seq 0 k) _ (fun b => when (Nat.eqb c b) 1)).
        + rewrite one_of, number_zero. replace ((0 <=? c)%nat && (c <? 0 + k)%nat) with true; [simpl; ring|].
          symmetry. apply andb_true_iff. split; [apply Nat.leb_le; lia | apply Nat.ltb_lt; lia].
        + intros b _. destruct (Nat.eqb a b) eqn:D; [|reflexivity]. apply Nat.eqb_eq in D. subst b. rewrite E. reflexivity. }
    unfold answered. cbn [filter]. unfold answered in I.
    destruct x as [c|]; cbn [Sums.when length] in *.
    + match goal with |- ?p + ?r' + (?q + ?t) = _ => replace (p + r' + (q + t)) with ((p + q) + (r' + t)) by ring end.
      rewrite H, I. match goal with |- _ = number (S ?n) => change (S n) with (1 + n)%nat end. rewrite number_add, number_one. reflexivity.
    + match goal with |- ?p + ?r' + (?q + ?t) = _ => replace (p + r' + (q + t)) with ((p + q) + (r' + t)) by ring end.
      rewrite H, I. ring.
Qed.

(** What a mechanism with a guarantee can do. *)
Section Game.
Variables m r : nat.
Variable Y : Type.
Variable law : list nat -> finite_law K Y.
Variable guessed : Y -> guess.
Variable W : K.
Hypothesis weights : forall s, In s (words m) -> weighted K (law s).
Hypothesis masses : forall s, In s (words m) -> mean K (law s) (fun _ => 1) = W.
Hypothesis guesses : forall y, is_guess m r (guessed y).

(** (ln u/d, du/dd)-DP where one secret is replaced: for tests with values between 0 and 1, times any z. *)
Definition guarantee (u d du dd : K) : Prop :=
  forall s t z h, In s (words m) -> In t (around s) -> 0 <= z -> (forall y, 0 <= h y /\ h y <= z) ->
  dd * (d * mean K (law s) h) <= dd * (u * mean K (law t) h) + du * d * z * W.

Definition rights (w : nat -> K) : K := sum (words m) (fun s => mean K (law s) (fun y => w (right (guessed y) s))).

Lemma in_around : forall n s t, In s (words n) -> In t (around s) -> In t (words n).
Proof.
  induction n as [|n IH]; intros s t Hs Ht; cbn [words] in *.
  - destruct Hs as [<-|[]]. contradiction.
  - apply in_flat_map in Hs as [a [Ha Hs]]. apply in_map_iff in Hs as [s' [<- Hs]]. cbn [around] in Ht.
    apply in_app_or in Ht as [Ht|Ht]; apply in_map_iff in Ht as [b [<- Hb]].
    + apply in_others in Hb as [Lb _]. apply in_flat_map. exists b. split; [apply in_seq; lia | apply in_map; exact Hs].
    + apply in_flat_map. exists a. split; [exact Ha | apply in_map; apply (IH s'); assumption].
Qed.

Lemma mean_sum : forall {A} (l : list A) (p : finite_law K Y) (f : A -> Y -> K),
  sum l (fun a => mean K p (f a)) = mean K p (fun y => sum l (fun a => f a y)).
Proof.
  intros A l p f. unfold mean. rewrite sum_swap. apply sum_ext. intros e _. rewrite sum_scale. reflexivity.
Qed.

Lemma mean_ext : forall (p : finite_law K Y) f g, (forall y, f y = g y) -> mean K p f = mean K p g.
Proof. intros p f g H. unfold mean. apply sum_ext. intros e _. rewrite H. reflexivity. Qed.

Lemma length_words : length (words m) = (k ^ m)%nat.
Proof.
  clear. induction m as [|n IH]; [reflexivity|]. cbn [words Nat.pow].
  assert (G : forall l : list nat, length (flat_map (fun a => map (cons a) (words n)) l) = (length l * length (words n))%nat).
  { induction l as [|a l IHl]; [reflexivity|]. cbn [flat_map length]. rewrite app_length, map_length, IHl. lia. }
  rewrite G, seq_length, IH. reflexivity.
Qed.

(** The sharp inequality between numbers of right guesses, for every weighing w of them. *)
Theorem one_run : forall u d du dd w z, guarantee u d du dd -> 0 <= z -> (forall i, 0 <= w i /\ w i <= z) ->
  dd * (d * (number (k - 1) * rights (fun i => number i * w i)))
  <= dd * (u * rights (fun i => (number r - number i) * w (S i))) + du * d * z * W * number (k ^ m * (m * (k - 1))).
Proof.
  intros u d du dd w z G Hz Hw.
  set (h := fun s t y => when (hit (guessed y) s t) (w (right (guessed y) s))).
  assert (A : sum (words m) (fun s => sum (around s) (fun t => dd * (d * mean K (law s) (h s t))))
              <= sum (words m) (fun s => sum (around s) (fun t => dd * (u * mean K (law t) (h s t)) + du * d * z * W))).
  { apply sum_le. intros s Hs. apply sum_le. intros t Ht. apply (G s t z (h s t) Hs Ht Hz). intro y. unfold h.
    destruct (hit (guessed y) s t); cbn [Sums.when]; [apply Hw | split; [apply le_refl | exact Hz]]. }
  assert (L : sum (words m) (fun s => sum (around s) (fun t => dd * (d * mean K (law s) (h s t))))
              = dd * (d * (number (k - 1) * rights (fun i => number i * w i)))).
  { unfold rights. rewrite !sum_scale. apply sum_ext. intros s Hs.
    rewrite <- !sum_scale. f_equal. f_equal. rewrite mean_sum. unfold mean at 2. rewrite sum_scale. unfold mean. apply sum_ext. intros e _.
    destruct (in_words m s Hs) as [Ls Fs]. destruct (guesses (fst e)) as [Lg _].
    transitivity (snd e * (w (right (guessed (fst e)) s) * sum (around s) (fun t => when (hit (guessed (fst e)) s t) 1))).
    - f_equal. rewrite sum_scale. apply sum_ext. intros t _. unfold h. destruct (hit (guessed (fst e)) s t); simpl; ring.
    - rewrite hits by (try exact Fs; congruence). ring. }
  assert (R : sum (words m) (fun s => sum (around s) (fun t => dd * (u * mean K (law t) (h s t)) + du * d * z * W))
              = dd * (u * rights (fun i => (number r - number i) * w (S i))) + du * d * z * W * number (k ^ m * (m * (k - 1)))).
  { rewrite (sum_ext K (words m) _ (fun s => sum (around s) (fun t => dd * (u * mean K (law t) (h s t))) + number (m * (k - 1)) * (du * d * z * W))).
    2: { intros s Hs. rewrite sum_plus, sum_constant. destruct (in_words m s Hs) as [Ls Fs]. rewrite (around_count s Fs), Ls. reflexivity. }
    rewrite sum_plus, sum_constant, length_words. f_equal.
    - rewrite (around_symmetric m (fun s t => dd * (u * mean K (law t) (h s t)))). unfold rights. rewrite !sum_scale. apply sum_ext. intros s Hs.
      rewrite <- !sum_scale. f_equal. f_equal. rewrite mean_sum. unfold mean. apply sum_ext. intros e _. f_equal.
      destruct (in_words m s Hs) as [Ls Fs]. destruct (guesses (fst e)) as [Lg [Ag Fg]].
      transitivity (w (S (right (guessed (fst e)) s)) * sum (around s) (fun t => when (hit (guessed (fst e)) t s) 1)).
      + rewrite sum_scale. apply sum_ext. intros t Ht. unfold h. destruct (hit (guessed (fst e)) t s) eqn:E; cbn [Sums.when]; [|ring].
        assert (Hst : In s (around t)).
        { clear - Ht Fs. revert t Ht. induction s as [|a s IHs]; intros t Ht; cbn [around] in Ht; [contradiction|].
          apply Forall_cons_iff in Fs as [Fa Fs]. apply in_app_or in Ht as [Ht|Ht]; apply in_map_iff in Ht as [b [<- Hb]]; cbn [around]; apply in_or_app.
          - left. apply (in_map (fun b => b :: s)). apply in_others in Hb as [_ N]. apply in_others. split; [exact Fa | congruence].
          - right. apply in_map. apply (IHs Fs). exact Hb. }
        rewrite (hit_right _ t s Hst E). ring.
      + pose proof (misses _ s Fg ltac:(congruence)) as M. rewrite Ag in M. rewrite <- M. ring.
    - rewrite <- (Nat.mul_comm (m * (k - 1))). unfold number. rewrite !Nat2Z.inj_mul, !inj_mul. ring. }
  rewrite L, R in A. exact A.
Qed.
End Game.
End Counting.
End Words.

Print Assumptions one_run.
