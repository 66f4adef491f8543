(** The rule "table": how well any private mechanism can do. A table does so well, and multipliers show that none does better. *)

From Coq Require Import ZArith List Bool Lia Ring Permutation.
From Tightdp Require Import Numbers Program Sums Accuracy Optimum.
Import ListNotations.
Open Scope Z_scope.

(** A dataset has a list of records for each group of clients whose order no answer depends on; records by their numbers. *)
Definition grouped := list (list nat).
Inductive measure := RightAnswer | Accurate (alpha_up alpha_down : Z) | AbsoluteError | SquaredError.

(** Rational numbers have a numerator and a denominator. *)
Record optimum := {
  all_records : list value; near_by : relation; near_listed : option (list (grouped * grouped)); sizes : list nat;
  answers : list (grouped * value); offered : list value; measured : measure;
  keeps : Z * Z; allows : Z * Z; slack : Z * Z; least_value : Z * Z; most_value : Z * Z }.

(** Evidence in whole numbers: gains times [common]; a table whose rows add up to [row_total]; weights that add up to
    [weight_total], and multipliers in the same unit, for pairs of datasets one for each output. *)
Record tabled := {
  common : Z; row_total : Z; mechanism_table : list (list Z); weight_total : Z; dataset_weights : list Z;
  multipliers : list (nat * nat * list Z) }.

Definition is_error (m : measure) : bool := match m with AbsoluteError | SquaredError => true | _ => false end.

(** What a measure is the mean of, minus where it is an error. *)
Definition gain_of (m : measure) (output target : value) : Z * Z :=
  match m, output, target with
  | RightAnswer, _, _ => (if same output target then 1 else 0, 1)
  | Accurate up down, Number n d, Number k e =>
      (if down * Z.abs (n * Zpos e - k * Zpos d) <=? up * (Zpos d * Zpos e) then 1 else 0, 1)
  | AbsoluteError, Number n d, Number k e => (- Z.abs (n * Zpos e - k * Zpos d), Zpos d * Zpos e)
  | SquaredError, Number n d, Number k e =>
      (- ((n * Zpos e - k * Zpos d) * (n * Zpos e - k * Zpos d)), (Zpos d * Zpos e) * (Zpos d * Zpos e))
  | _, _, _ => (0, 0)
  end.

Section Meaning.
Variable o : optimum.
Notation many := (length (all_records o)).

Definition is_grouped (x : grouped) : Prop :=
  Forall2 (fun size group => length group = size /\ Forall (fun r => (r < many)%nat) group) (sizes o) x.
Definition near_records (a b : nat) : bool := near (near_by o) (nth a (all_records o) Nothing) (nth b (all_records o) Nothing).

(** One client's two records are near, all others' are equal; or, for [UnitAll], some are near and all others equal. *)
Fixpoint one_near (q : list (nat * nat)) : Prop :=
  match q with
  | [] => False
  | p :: q => (near_records (fst p) (snd p) = true /\ Forall (fun p => fst p = snd p) q) \/ (fst p = snd p /\ one_near q)
  end.
Definition near_pairs (q : list (nat * nat)) : Prop :=
  match near_by o with
  | UnitAll => Exists (fun p => fst p <> snd p) q /\ Forall (fun p => fst p = snd p \/ near_records (fst p) (snd p) = true) q
  | _ => one_near q
  end.
Definition neighbouring (x y : grouped) : Prop :=
  match near_listed o with
  | Some l => In (x, y) l
  | None => exists q, map (map fst) q = x /\ map (map snd) q = y /\ near_pairs (concat q)
  end.

Definition opposite (r : Z * Z) : Z * Z := (- fst r, snd r).
Definition reached : Z * Z := if is_error (measured o) then opposite (most_value o) else least_value o.
Definition limit : Z * Z := if is_error (measured o) then opposite (least_value o) else most_value o.
Notation outputs := (seq 0 (length (offered o))).

Section In.
Variable K : domain.
Local Open Scope K_scope.
Definition is_ratio (a : K) (r : Z * Z) : Prop := inj (snd r) * a = inj (fst r).

(** Weights of the outputs that are private, with the same total W on all datasets. *)
Definition keeps_private (R delta W : K) (P : grouped -> nat -> K) : Prop :=
  (forall x y, is_grouped x -> In y outputs -> 0 <= P x y) /\ (forall x, is_grouped x -> sum K outputs (P x) = W)
  /\ forall x x', is_grouped x -> is_grouped x' -> neighbouring x x' -> exists s : nat -> K,
       (forall y, In y outputs -> 0 <= s y /\ P x y <= R * P x' y + s y) /\ sum K outputs s <= W * delta.
End In.

(** What an optimum says of all targets whose answers are these and the same for any order of a group's records: what a
    private mechanism (of total 1) gains where it gains least is at most [limit]; and some weights gain [reached]. *)
Definition best_between : Prop :=
  forall (K : domain) (target : grouped -> value) (gain : value -> value -> K) (delta : K),
  (forall x x', Forall2 (@Permutation nat) x x' -> target x = target x') ->
  (forall x t, In (x, t) (answers o) -> target x = t) ->
  (forall y t, In y (offered o) -> In t (map snd (answers o)) -> is_ratio K (gain y t) (gain_of (measured o) y t)) ->
  is_ratio K delta (slack o) ->
  let gained P x := sum K outputs (fun y => mul (gain (nth y (offered o) Nothing) (target x)) (P x y)) in
  (forall R P low, is_ratio K R (allows o) -> keeps_private K R delta one P ->
     (forall x, is_grouped x -> le low (gained P x)) -> le (mul (inj (snd limit)) low) (inj (fst limit)))
  /\ (forall R, is_ratio K R (keeps o) -> exists W P, lt zero W /\ keeps_private K R delta W P
        /\ forall x, is_grouped x -> le (mul (inj (fst reached)) W) (mul (inj (snd reached)) (gained P x))).

(** The check. Datasets are the same up to order where every record is there as often. *)
Definition same_lists : list (list nat) -> list (list nat) -> bool := same_list (same_list Nat.eqb).
Fixpoint count_of (r : nat) (group : list nat) : nat :=
  match group with [] => 0 | a :: group => (if Nat.eqb a r then 1 else 0) + count_of r group end%nat.
Definition counts (group : list nat) : list nat := map (fun r => count_of r group) (seq 0 many).
Definition key : grouped -> list (list nat) := map counts.
Definition keys : list (list (list nat)) := map (fun a => key (fst a)) (answers o).

(** All counts of so many records that add up to so many clients. *)
Fixpoint splits (kinds clients : nat) : list (list nat) :=
  match kinds with
  | O => match clients with O => [[]] | _ => [] end
  | S kinds => flat_map (fun c => map (cons c) (splits kinds (clients - c))) (seq 0 (S clients))
  end.
Fixpoint choices {A} (l : list (list A)) : list (list A) :=
  match l with [] => [[]] | a :: l => flat_map (fun c => map (cons c) (choices l)) a end.
Definition all_keys : list (list (list nat)) := choices (map (splits many) (sizes o)).

Fixpoint moved (group : list nat) : list (list nat) :=
  match group with
  | [] => []
  | a :: group => map (fun b => b :: group) (filter (near_records a) (seq 0 many)) ++ map (cons a) (moved group)
  end.
Fixpoint moved_once (x : grouped) : list grouped :=
  match x with [] => [] | g :: x => map (fun g' => g' :: x) (moved g) ++ map (cons g) (moved_once x) end.

Fixpoint in_order (group : list nat) : bool :=
  match group with a :: ((b :: _) as rest) => Nat.leb a b && in_order rest | _ => true end.
Definition unit (r : nat) : Z := match nth r (all_records o) Nothing with Tuple [Number n 1] => n | _ => 0 end.
Definition is_unit (r : value) : bool := match r with Tuple [Number _ 1] => true | _ => false end.
Fixpoint increasing (l : list Z) : bool := match l with a :: ((b :: _) as rest) => (a <? b) && increasing rest | _ => true end.
Definition close (a b : nat) : bool := Nat.eqb a b || near_records a b.

(** To which datasets one has a neighbour, up to order, by their numbers. *)
Definition numbers : list nat := seq 0 (length (answers o)).
Definition dataset_at (i : nat) : grouped := fst (nth i (answers o) ([], Nothing)).
Definition meets (i : nat) : list nat :=
  match near_listed o with
  | Some l => filter (fun j => existsb (fun p => same_lists (fst p) (dataset_at i) && same_lists (snd p) (dataset_at j)) l) numbers
  | None =>
      match near_by o with
      | UnitAll => filter (fun j => negb (same_lists (dataset_at i) (dataset_at j)) && same_list (same_list close) (dataset_at i) (dataset_at j)) numbers
      | _ => let found := map key (moved_once (dataset_at i)) in
             map fst (filter (fun jk => existsb (same_lists (snd jk)) found) (combine numbers keys))
      end
  end.

Variable e : tabled.
Definition gain_row (target : value) : list Z :=
  map (fun y => let (up, down) := gain_of (measured o) y target in up * (common e / down)) (offered o).
Definition gains : list (list Z) := map (fun a => gain_row (snd a)) (answers o).
Definition row (l : list (list Z)) (i : nat) : list Z := nth i l [].
Fixpoint product_of (u v : list Z) : Z := match u, v with a :: u, b :: v => a * b + product_of u v | _, _ => 0 end.
Definition total_of (l : list Z) : Z := fold_right Z.add 0 l.
Fixpoint plus_times (c : Z) (u v : list Z) : list Z :=
  match u, v with a :: u, b :: v => a + c * b :: plus_times c u v | _, _ => u end.
Definition largest (l : list Z) : Z := fold_right Z.max (hd 0 l) l.

(** What an output of a dataset still counts, with R = up / down, times [common] and down. *)
Definition rests (i : nat) : list Z :=
  fold_right (fun m l =>
    let l := if Nat.eqb (fst (fst m)) i then plus_times (- (common e * snd (allows o))) l (snd m) else l in
    if Nat.eqb (snd (fst m)) i then plus_times (common e * fst (allows o)) l (snd m) else l)
    (map (fun g => snd (allows o) * nth i (dataset_weights e) 0 * g) (row gains i)) (multipliers e).

Definition is_good (x : grouped) : bool :=
  Nat.eqb (length (sizes o)) (length x)
  && forallb (fun p => Nat.eqb (length (snd p)) (fst p) && forallb (fun r => Nat.ltb r many) (snd p)) (combine (sizes o) x).
Definition datasets_fine : bool :=
  forallb (fun a => is_good (fst a)) (answers o) && Nat.eqb (length all_keys) (length (answers o))
  && forallb (fun k => existsb (same_lists k) keys) all_keys
  && match near_listed o with
     | Some l => forallb (Nat.eqb 1) (sizes o)
     | None => match near_by o with
               | UnitAll => forallb is_unit (all_records o) && increasing (map unit (seq 0 many))
                            && forallb (fun a => forallb in_order (fst a)) (answers o)
               | _ => true end
     end.
Definition row_fine (l : list Z) : bool := Nat.eqb (length l) (length (offered o)) && forallb (Z.leb 0) l.
Definition gains_fine : bool :=
  (0 <? common e) && forallb (fun a => forallb (fun y => let (_, down) := gain_of (measured o) y (snd a) in
      (0 <? down) && (down * (common e / down) =? common e)) (offered o)) (answers o).
Definition claim_fine : bool :=
  (0 <? snd (allows o)) && (0 <? snd (slack o)) && (0 <=? fst (slack o)) && (0 <? snd (keeps o)) && (snd (keeps o) <=? fst (keeps o))
  && (0 <? snd reached) && (0 <? snd limit).

Definition over (t u : list Z) : Z :=
  fold_right Z.add 0 (map (Z.max 0) (plus_times (- fst (keeps o)) (map (Z.mul (snd (keeps o))) t) u)).
Definition table_fine : bool :=
  (0 <? row_total e) && Nat.eqb (length (mechanism_table e)) (length (answers o))
  && forallb (fun t => row_fine t && (total_of t =? row_total e)) (mechanism_table e)
  && forallb (fun i => forallb (fun j =>
        snd (slack o) * over (row (mechanism_table e) i) (row (mechanism_table e) j) <=? snd (keeps o) * (row_total e * fst (slack o)))
      (meets i)) numbers
  && forallb (fun p => fst reached * (row_total e * common e) <=? snd reached * product_of (fst p) (snd p)) (combine gains (mechanism_table e)).
Definition multipliers_fine : bool :=
  (0 <? weight_total e) && Nat.eqb (length (dataset_weights e)) (length (answers o)) && forallb (Z.leb 0) (dataset_weights e)
  && (total_of (dataset_weights e) =? weight_total e)
  && forallb (fun m => Nat.ltb (fst (fst m)) (length (answers o)) && row_fine (snd m)) (multipliers e)
  && (let near := map meets numbers in forallb (fun m => existsb (Nat.eqb (snd (fst m))) (nth (fst (fst m)) near [])) (multipliers e))
  && (snd limit * (snd (slack o) * total_of (map (fun i => largest (rests i)) numbers)
                   + fst (slack o) * (common e * snd (allows o)) * total_of (map (fun m => largest (snd m)) (multipliers e)))
      <=? fst limit * (weight_total e * (common e * snd (allows o)) * snd (slack o))).
Definition check_optimum : bool := datasets_fine && gains_fine && claim_fine && table_fine && multipliers_fine.

(** Counting. *)
Lemma all_true : forall {A} (f : A -> bool) l, forallb f l = true -> Forall (fun a => f a = true) l.
Proof. intros A f l H. apply Forall_forall. apply forallb_forall. exact H. Qed.
Lemma same_lists_eq : forall x y, same_lists x y = true <-> x = y.
Proof.
  intros x y. split.
  - apply same_list_sound. intros a b. apply same_list_sound. intros u v. apply Nat.eqb_eq.
  - intros <-. apply same_list_itself. intro a. apply same_list_itself. apply Nat.eqb_refl.
Qed.

Lemma count_is : forall r g, count_of r g = count_occ Nat.eq_dec g r.
Proof.
  intros r g. induction g as [|a g IH]; [reflexivity|]. cbn [count_of count_occ]. rewrite IH.
  destruct (Nat.eq_dec a r) as [->|N]; [rewrite Nat.eqb_refl; reflexivity|]. apply Nat.eqb_neq in N. rewrite N. reflexivity.
Qed.

Notation few := (Forall (fun r => (r < many)%nat)).
Lemma counts_permuted : forall g h, Permutation g h -> counts g = counts h.
Proof.
  intros g h P. apply map_ext. intro r. rewrite !count_is. apply (Permutation_count_occ Nat.eq_dec). exact P.
Qed.
Lemma counts_only : forall g h, few g -> few h -> counts g = counts h -> Permutation g h.
Proof.
  intros g h Fg Fh E. apply (Permutation_count_occ Nat.eq_dec). intro r. destruct (Nat.lt_ge_cases r many) as [L|L].
  - assert (In r (seq 0 many)) by (apply in_seq; lia). rewrite <- !count_is. unfold counts in E.
    generalize dependent (seq 0 many). intros l E I. induction l as [|a l IH]; [contradiction|]. cbn [map] in E. injection E as E1 E2.
    destruct I as [<-|I]; auto.
  - assert (None : forall k, few k -> count_occ Nat.eq_dec k r = 0%nat).
    { intros k F. apply count_occ_not_In. intro I. rewrite Forall_forall in F. specialize (F r I). lia. }
    rewrite !None by assumption. reflexivity.
Qed.

Lemma key_permuted : forall x y, Forall2 (@Permutation nat) x y -> key x = key y.
Proof. intros x y H. induction H as [|g h x y P _ IH]; [reflexivity|]. cbn [key map]. rewrite (counts_permuted g h P). f_equal. exact IH. Qed.
Lemma key_only : forall l x y, Forall2 (fun s g => length g = s /\ few g) l x -> Forall2 (fun s g => length g = s /\ few g) l y -> key x = key y -> Forall2 (@Permutation nat) x y.
Proof.
  intros l x y Hx. revert y. induction Hx as [|s g l x [_ Fg] _ IH]; intros y Hy E; inversion Hy as [|s' h l' y' [_ Fh] Hy' E1 E2]; subst; [constructor|].
  cbn [key map] in E. injection E as E1 E2. constructor; [apply counts_only; assumption | apply IH; assumption].
Qed.

Lemma grouped_permuted : forall x y, Forall2 (@Permutation nat) x y -> is_grouped x -> is_grouped y.
Proof.
  intros x y H. unfold is_grouped. generalize (sizes o) as l. induction H as [|g h x y P _ IH]; intros l G; inversion G as [|s g' l' x' [L F] G' E1 E2]; subst; constructor.
  - split; [symmetry; apply Permutation_length; exact P|]. eapply Permutation_Forall; eassumption.
  - apply IH. exact G'.
Qed.

Lemma in_splits : forall kinds clients v, length v = kinds -> list_sum v = clients -> In v (splits kinds clients).
Proof.
  induction kinds as [|k IH]; intros clients [|c v] L S; try discriminate L; cbn [splits].
  - cbn in S. subst clients. left. reflexivity.
  - cbn in S. fold (list_sum v) in S. apply in_flat_map. exists c. split; [apply in_seq; lia|]. apply in_map. apply IH; [injection L; auto | lia].
Qed.
Lemma in_choices : forall {A} (l : list (list A)) v, Forall2 (fun a c => In c a) l v -> In v (choices l).
Proof.
  intros A l v H. induction H as [|a c l v I _ IH]; [left; reflexivity|]. cbn [choices]. apply in_flat_map. exists c. split; [exact I | apply in_map; exact IH].
Qed.
Lemma counts_sum : forall g, few g -> list_sum (counts g) = length g.
Proof.
  assert (Z : forall l : list nat, list_sum (map (fun _ => 0%nat) l) = 0%nat) by (induction l; cbn; auto).
  assert (One : forall a n start, (start <= a < start + n)%nat -> list_sum (map (fun r => if Nat.eqb a r then 1%nat else 0%nat) (seq start n)) = 1%nat).
  { intros a. induction n as [|n IH]; intros start H; [lia|]. cbn [seq map list_sum fold_right]. destruct (Nat.eqb a start) eqn:E.
    - apply Nat.eqb_eq in E. subst a. rewrite (map_ext_in _ (fun _ => 0%nat)).
      + fold (list_sum (map (fun _ => 0%nat) (seq (S start) n))). rewrite Z. reflexivity.
      + intros r Hr. apply in_seq in Hr. destruct (Nat.eqb start r) eqn:F; [apply Nat.eqb_eq in F; lia | reflexivity].
    - apply Nat.eqb_neq in E. apply IH. lia. }
  assert (Plus : forall (f h : nat -> nat) l, list_sum (map (fun r => f r + h r)%nat l) = (list_sum (map f l) + list_sum (map h l))%nat).
  { intros f h l. induction l as [|a l IH]; [reflexivity|]. cbn [map list_sum fold_right]. fold (list_sum (map (fun r => f r + h r)%nat l)).
    fold (list_sum (map f l)). fold (list_sum (map h l)). rewrite IH. lia. }
  intros g F. induction F as [|a g L _ IH]; [unfold counts; cbn [count_of]; apply Z|].
  unfold counts in *. cbn [count_of]. rewrite Plus, IH, One by lia. reflexivity.
Qed.
Lemma key_listed : forall x, is_grouped x -> In (key x) all_keys.
Proof.
  intros x G. apply in_choices. unfold is_grouped in G. induction G as [|s g l x [L F] _ IH]; constructor; [|exact IH].
  apply in_splits; [unfold counts; rewrite map_length, seq_length; reflexivity | rewrite counts_sum by exact F; exact L].
Qed.

(** Pairs of records, in any order. *)
Lemma one_near_permuted : forall q r, Permutation q r -> one_near q -> one_near r.
Proof.
  intros q r P. induction P as [|p q r P IH|a b q|q r s P1 IH1 P2 IH2]; intro H; [exact H| | |auto].
  - cbn [one_near] in *. destruct H as [[N D]|[E H]]; [left; split; [exact N | eapply Permutation_Forall; eassumption] | right; auto].
  - cbn [one_near] in *. destruct H as [[N D]|[E [[N D]|[E' H]]]].
    + apply Forall_cons_iff in D as [D1 D2]. right. auto.
    + left. split; [exact N | constructor; assumption].
    + right. auto.
Qed.
Lemma near_pairs_permuted : forall q r, Permutation q r -> near_pairs q -> near_pairs r.
Proof.
  intros q r P. unfold near_pairs. destruct (near_by o); try (apply one_near_permuted; exact P).
  intros [E F]. split; [|eapply Permutation_Forall; eassumption]. apply Exists_exists in E as [p [I N]]. apply Exists_exists. exists p.
  split; [eapply Permutation_in; eassumption | exact N].
Qed.
Lemma concat_permuted : forall {A} (q r : list (list A)), Forall2 (@Permutation A) q r -> Permutation (concat q) (concat r).
Proof. intros A q r H. induction H; [constructor|]. cbn [concat]. apply Permutation_app; assumption. Qed.

Lemma one_near_app : forall q r, one_near (q ++ r) <-> (one_near q /\ Forall (fun p => fst p = snd p) r) \/ (Forall (fun p => fst p = snd p) q /\ one_near r).
Proof.
  induction q as [|p q IH]; intro r; cbn [app one_near].
  - split; [right; auto | intros [[[] _]|[_ H]]; exact H].
  - rewrite IH, Forall_app, Forall_cons_iff. tauto.
Qed.
Lemma diagonal : forall q : list (nat * nat), Forall (fun p => fst p = snd p) q -> map fst q = map snd q.
Proof. intros q F. induction F as [|p q E _ IH]; [reflexivity|]. cbn [map]. congruence. Qed.
Lemma twice : forall g : list nat, exists q, map fst q = g /\ map snd q = g /\ Forall (fun p => fst p = snd p) q.
Proof.
  intro g. exists (map (fun a => (a, a)) g). rewrite !map_map. cbn [fst snd]. rewrite map_id. repeat split. apply Forall_map. apply Forall_forall. reflexivity.
Qed.
Lemma twice_all : forall x : grouped, exists q, map (map fst) q = x /\ map (map snd) q = x /\ Forall (fun p => fst p = snd p) (concat q).
Proof.
  induction x as [|g x [q [E1 [E2 F]]]]; [exists []; repeat split; constructor|]. destruct (twice g) as [h [H1 [H2 H3]]].
  exists (h :: q). cbn [map concat]. rewrite E1, E2, H1, H2. repeat split. apply Forall_app; auto.
Qed.

Lemma in_moved : forall g h, few g -> In h (moved g) -> exists q, map fst q = g /\ map snd q = h /\ one_near q /\ few h.
Proof.
  induction g as [|a g IH]; intros h F H; [contradiction|]. apply Forall_cons_iff in F as [Fa F]. cbn [moved] in H.
  apply in_app_or in H as [H|H]; apply in_map_iff in H as [b [<- H]].
  - apply filter_In in H as [B N]. apply in_seq in B. destruct (twice g) as [q [E1 [E2 D]]]. exists ((a, b) :: q). cbn [map fst snd one_near].
    rewrite E1, E2. repeat split; auto. constructor; [lia | exact F].
  - destruct (IH b F H) as [q [E1 [E2 [N Fb]]]]. exists ((a, a) :: q). cbn [map fst snd one_near]. rewrite E1, E2. repeat split; auto.
Qed.
Lemma moved_in : forall q, few (map snd q) -> one_near q -> In (map snd q) (moved (map fst q)).
Proof.
  induction q as [|[a b] q IH]; intros F H; [contradiction|]. cbn [map fst snd moved one_near] in *. apply Forall_cons_iff in F as [Fb F].
  apply in_or_app. destruct H as [[N D]|[-> H]].
  - left. apply in_map_iff. exists b. rewrite (diagonal q D). split; [reflexivity|]. apply filter_In. split; [apply in_seq; lia | exact N].
  - right. apply in_map. apply IH; assumption.
Qed.
Lemma in_moved_once : forall x y, Forall few x -> In y (moved_once x) ->
  exists q, map (map fst) q = x /\ map (map snd) q = y /\ one_near (concat q) /\ Forall few y.
Proof.
  induction x as [|g x IH]; intros y F H; [contradiction|]. apply Forall_cons_iff in F as [Fg F]. cbn [moved_once] in H.
  apply in_app_or in H as [H|H]; apply in_map_iff in H as [h [<- H]].
  - destruct (in_moved g h Fg H) as [q [E1 [E2 [N Fh]]]]. destruct (twice_all x) as [r [F1 [F2 D]]]. exists (q :: r). cbn [map concat].
    rewrite E1, E2, F1, F2. repeat split; auto. apply one_near_app. auto.
  - destruct (IH h F H) as [q [E1 [E2 [N Fh]]]]. destruct (twice g) as [r [F1 [F2 D]]]. exists (r :: q). cbn [map concat].
    rewrite E1, E2, F1, F2. repeat split; auto. apply one_near_app. auto.
Qed.
Lemma grouped_few : forall x, is_grouped x -> Forall few x.
Proof. intros x G. unfold is_grouped in G. induction G as [|s g l x [_ F] _ IH]; constructor; assumption. Qed.
Lemma snd_grouped : forall q : list (list (nat * nat)), is_grouped (map (map fst) q) -> Forall few (map (map snd) q) -> is_grouped (map (map snd) q).
Proof.
  unfold is_grouped. generalize (sizes o) as l. intros l q. revert l. induction q as [|g q IH]; intros l G F; inversion G as [|s g' l' x' [L _] G' E1 E2]; subst; [constructor|].
  cbn [map] in *. apply Forall_cons_iff in F as [Fg F]. constructor; [split; [rewrite !map_length; reflexivity | exact Fg] | apply IH; assumption].
Qed.
Lemma diagonal_all : forall q : list (list (nat * nat)), Forall (fun p => fst p = snd p) (concat q) -> map (map fst) q = map (map snd) q.
Proof.
  induction q as [|g q IH]; intro F; [reflexivity|]. cbn [concat map] in *. apply Forall_app in F as [F1 F2]. rewrite (diagonal g F1), (IH F2). reflexivity.
Qed.
Lemma moved_once_in : forall q, Forall few (map (map snd) q) -> one_near (concat q) -> In (map (map snd) q) (moved_once (map (map fst) q)).
Proof.
  induction q as [|g q IH]; intros F H; [contradiction|]. cbn [map moved_once concat] in *. apply Forall_cons_iff in F as [Fg F].
  apply in_or_app. apply one_near_app in H as [[N D]|[D N]].
  - left. apply in_map_iff. exists (map snd g). rewrite (diagonal_all q D). split; [reflexivity | apply moved_in; assumption].
  - right. rewrite (diagonal g D). apply in_map. apply IH; assumption.
Qed.

(** Pairs, with the first records in another order. *)
Lemma reorder : forall (q : list (list (nat * nat))) x, Forall2 (@Permutation nat) x (map (map fst) q) ->
  exists r, map (map fst) r = x /\ Forall2 (@Permutation (nat * nat)) q r.
Proof.
  intros q. induction q as [|g q IH]; intros x H; inversion H as [|h g' x' q' P H' E1 E2]; subst; [exists []; split; [reflexivity | constructor]|].
  destruct (IH x' H') as [r [E R]]. apply Permutation_map_inv in P as [h' [-> P']]. exists (h' :: r). cbn [map]. rewrite E. split; [reflexivity | constructor; assumption].
Qed.
Lemma snd_permuted : forall q r : list (list (nat * nat)), Forall2 (@Permutation (nat * nat)) q r -> Forall2 (@Permutation nat) (map (map snd) q) (map (map snd) r).
Proof. intros q r H. induction H; cbn [map]; constructor; [apply Permutation_map; assumption | assumption]. Qed.
Lemma fst_permuted : forall q r : list (list (nat * nat)), Forall2 (@Permutation (nat * nat)) q r -> Forall2 (@Permutation nat) (map (map fst) q) (map (map fst) r).
Proof. intros q r H. induction H; cbn [map]; constructor; [apply Permutation_map; assumption | assumption]. Qed.

(** Units: closest where both are in order. *)
Fixpoint put (a : nat) (l : list nat) : list nat :=
  match l with [] => [a] | b :: l => if Nat.leb a b then a :: b :: l else b :: put a l end.
Definition ordered (l : list nat) : list nat := fold_right put [] l.

Lemma put_put : forall a b l, put a (put b l) = put b (put a l).
Proof.
  intros a b l. induction l as [|c l IH].
  - cbn [put]. destruct (Nat.leb_spec a b), (Nat.leb_spec b a); try reflexivity; try lia. replace b with a by lia. reflexivity.
  - cbn [put]. destruct (Nat.leb_spec b c) as [Bc|Bc], (Nat.leb_spec a c) as [Ac|Ac]; cbn [put].
    + destruct (Nat.leb_spec a b), (Nat.leb_spec b a); try lia.
      * replace b with a by lia. reflexivity.
      * destruct (Nat.leb_spec b c); [reflexivity | lia].
      * destruct (Nat.leb_spec a c); [reflexivity | lia].
    + destruct (Nat.leb_spec a b); [lia|]. destruct (Nat.leb_spec a c); [lia|]. destruct (Nat.leb_spec b c); [reflexivity | lia].
    + destruct (Nat.leb_spec b a); [lia|]. destruct (Nat.leb_spec b c); [lia|]. destruct (Nat.leb_spec a c); [reflexivity | lia].
    + destruct (Nat.leb_spec a c); [lia|]. destruct (Nat.leb_spec b c); [lia|]. rewrite IH. reflexivity.
Qed.
Lemma ordered_permuted : forall l m, Permutation l m -> ordered l = ordered m.
Proof.
  intros l m P. induction P as [|a l m _ IH|a b l|l m n _ IH1 _ IH2]; [reflexivity | cbn [ordered fold_right]; unfold ordered in IH; rewrite IH; reflexivity | | congruence].
  cbn [ordered fold_right]. apply put_put.
Qed.
Lemma put_first : forall a l, in_order (a :: l) = true -> put a l = a :: l.
Proof. intros a [|b l] H; [reflexivity|]. cbn [in_order] in H. apply andb_true_iff in H as [H _]. cbn [put]. rewrite H. reflexivity. Qed.
Lemma in_order_rest : forall a l, in_order (a :: l) = true -> in_order l = true.
Proof. intros a [|b l] H; [reflexivity|]. cbn [in_order] in H. apply andb_true_iff in H as [_ H]. exact H. Qed.
Lemma ordered_itself : forall l, in_order l = true -> ordered l = l.
Proof.
  induction l as [|a l IH]; intro H; [reflexivity|]. cbn [ordered fold_right]. fold (ordered l). rewrite IH by (apply in_order_rest with a; exact H).
  apply put_first. exact H.
Qed.
Lemma put_in_order : forall a l, in_order l = true -> in_order (put a l) = true.
Proof.
  intros a l. induction l as [|b l IH]; intro H; [reflexivity|]. cbn [put]. destruct (Nat.leb_spec a b) as [L|L].
  - cbn [in_order]. rewrite (proj2 (Nat.leb_le a b) L). exact H.
  - specialize (IH (in_order_rest b l H)). destruct l as [|c l]; cbn [put] in *.
    + cbn [in_order]. rewrite (proj2 (Nat.leb_le b a)) by lia. reflexivity.
    + cbn [in_order] in H. apply andb_true_iff in H as [H1 _]. destruct (Nat.leb a c); cbn [in_order] in *.
      * rewrite (proj2 (Nat.leb_le b a)) by lia. exact IH.
      * rewrite H1. exact IH.
Qed.
Lemma ordered_in_order : forall l, in_order (ordered l) = true.
Proof. induction l as [|a l IH]; [reflexivity|]. cbn [ordered fold_right]. apply put_in_order. exact IH. Qed.

Section Units.
Variable f : nat -> Z.
Notation by_one := (fun a b => (a < many)%nat /\ (b < many)%nat /\ Z.abs (f a - f b) <= 1).
Hypothesis rises : forall a b, (a < b)%nat -> (b < many)%nat -> f a < f b.
Lemma rises_le : forall a b, (a <= b)%nat -> (b < many)%nat -> f a <= f b.
Proof. intros a b H B. destruct (Nat.eq_dec a b) as [->|N]; [lia|]. pose proof (rises a b ltac:(lia) B). lia. Qed.

Lemma put_by_one : forall l m a b, Forall2 by_one l m -> by_one a b -> in_order l = true -> in_order m = true -> Forall2 by_one (put a l) (put b m).
Proof.
  intros l m a b H. revert a b. induction H as [|c d l m C H IH]; intros a b A Ol Om; [constructor; [exact A | constructor]|].
  destruct A as [A1 [A2 A3]]. destruct C as [C1 [C2 C3]]. cbn [put].
  pose proof (in_order_rest c l Ol) as Rl. pose proof (in_order_rest d m Om) as Rm.
  destruct (Nat.leb_spec a c) as [L|L], (Nat.leb_spec b d) as [M|M].
  - repeat (constructor; auto).
  - pose proof (rises_le a c L C1). pose proof (rises d b M A2). constructor; [repeat split; auto; lia|].
    rewrite <- (put_first c l Ol). apply IH; auto. repeat split; auto; lia.
  - pose proof (rises c a L A1). pose proof (rises_le b d M C2). constructor; [repeat split; auto; lia|].
    rewrite <- (put_first d m Om). apply IH; auto. repeat split; auto; lia.
  - constructor; [auto | apply IH; auto].
Qed.
Lemma ordered_by_one : forall l m, Forall2 by_one l m -> Forall2 by_one (ordered l) (ordered m).
Proof.
  intros l m H. induction H as [|a b l m A _ IH]; [constructor|]. cbn [ordered fold_right]. apply put_by_one; auto; apply ordered_in_order.
Qed.
End Units.

Lemma increasing_rises : forall n start, increasing (map unit (seq start n)) = true -> forall a b, (start <= a < b)%nat -> (b < start + n)%nat -> unit a < unit b.
Proof.
  induction n as [|n IH]; intros start H a b A B; [lia|]. destruct n as [|n]; [lia|]. cbn [seq map increasing] in H. apply andb_true_iff in H as [H1 H2].
  apply Z.ltb_lt in H1. specialize (IH (S start) H2). destruct (Nat.eq_dec a start) as [->|N]; [|apply IH; lia].
  destruct (Nat.eq_dec b (S start)) as [->|N]; [exact H1|]. specialize (IH (S start) b ltac:(lia) ltac:(lia)). lia.
Qed.

(** What has been checked of the datasets. *)
Hypothesis fine : datasets_fine = true.
Notation all := (seq 0 (length (answers o))).

Lemma fine_says : Forall (fun a => is_good (fst a) = true) (answers o) /\ (forall k, In k all_keys -> In k keys)
  /\ match near_listed o with
     | Some l => Forall (fun s => s = 1%nat) (sizes o)
     | None => match near_by o with
               | UnitAll => forallb is_unit (all_records o) = true /\ (forall a b, (a < b)%nat -> (b < many)%nat -> unit a < unit b)
                            /\ Forall (fun a => Forall (fun g => in_order g = true) (fst a)) (answers o)
               | _ => True end
     end.
Proof.
  unfold datasets_fine in fine. apply andb_true_iff in fine as [H H4]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  split; [apply all_true; exact H1|]. split.
  - intros k I. rewrite forallb_forall in H3. apply H3 in I. apply existsb_exists in I as [k' [I E]]. apply same_lists_eq in E. subst k'. exact I.
  - destruct (near_listed o); [|destruct (near_by o); try exact I].
    + apply Forall_forall. intros s I. rewrite forallb_forall in H4. apply H4 in I. apply Nat.eqb_eq in I. auto.
    + apply andb_true_iff in H4 as [H4 H6]. apply andb_true_iff in H4 as [H4 H5]. split; [exact H4|]. split.
      * intros a b A B. apply (increasing_rises many 0 H5); lia.
      * apply Forall_forall. intros a I. rewrite forallb_forall in H6. apply H6 in I. apply all_true. exact I.
Qed.

Lemma good_grouped : forall x, is_good x = true -> is_grouped x.
Proof.
  intros x H. unfold is_good in H. apply andb_true_iff in H as [H1 H2]. apply Nat.eqb_eq in H1. unfold is_grouped. revert x H1 H2.
  generalize (sizes o) as l. induction l as [|s l IH]; intros [|g x] L F; try discriminate L; [constructor|].
  cbn [combine forallb fst snd] in F. apply andb_true_iff in F as [F1 F2]. apply andb_true_iff in F1 as [F0 F1]. constructor; [|apply IH; auto].
  split; [apply Nat.eqb_eq; exact F0|]. apply Forall_forall. intros r I. rewrite forallb_forall in F1. apply Nat.ltb_lt. apply F1. exact I.
Qed.
Lemma kept_grouped : forall i, (i < length (answers o))%nat -> is_grouped (dataset_at i).
Proof.
  intros i H. apply good_grouped. destruct fine_says as [F _]. rewrite Forall_forall in F. apply F. apply nth_In. exact H.
Qed.

Fixpoint place (k : list (list nat)) (l : list (list (list nat))) : nat :=
  match l with [] => O | h :: l => if same_lists h k then O else S (place k l) end.
Lemma place_says : forall k l, In k l -> (place k l < length l)%nat /\ nth (place k l) l [] = k.
Proof.
  intros k l. induction l as [|h l IH]; intro I; [contradiction|]. cbn [place]. destruct (same_lists h k) eqn:E.
  - apply same_lists_eq in E. cbn. split; [lia | exact E].
  - destruct I as [->|I]; [pose proof (proj2 (same_lists_eq k k) eq_refl); congruence|]. destruct (IH I) as [I1 I2]. cbn. split; [lia | exact I2].
Qed.
Definition number (x : grouped) : nat := place (key x) keys.
Lemma nth_key : forall i, nth i keys [] = key (dataset_at i).
Proof. intro i. unfold keys, dataset_at. change (@nil (list nat)) with ((fun a : grouped * value => key (fst a)) ([], Nothing)) at 1. apply map_nth. Qed.
Lemma number_says : forall x, is_grouped x -> (number x < length (answers o))%nat /\ Forall2 (@Permutation nat) (dataset_at (number x)) x.
Proof.
  intros x G. destruct fine_says as [_ [F _]]. destruct (place_says (key x) keys (F _ (key_listed x G))) as [H1 H2].
  assert (L : (number x < length (answers o))%nat) by (unfold number; unfold keys in H1 at 2; rewrite map_length in H1; exact H1).
  split; [exact L|]. apply key_only with (sizes o); [apply kept_grouped; exact L | exact G|]. rewrite <- nth_key. exact H2.
Qed.

Lemma zipped : forall l x y, Forall2 (fun s g => length g = s /\ few g) l x -> Forall2 (fun s g => length g = s /\ few g) l y ->
  exists q : list (list (nat * nat)), map (map fst) q = x /\ map (map snd) q = y.
Proof.
  assert (Z : forall g h : list nat, length g = length h -> exists q, map fst q = g /\ map snd q = h).
  { induction g as [|a g IH]; intros [|b h] L; try discriminate L; [exists []; auto|]. destruct (IH h) as [q [E1 E2]]; [injection L; auto|].
    exists ((a, b) :: q). cbn [map fst snd]. rewrite E1, E2. auto. }
  intros l x y Hx. revert y. induction Hx as [|s g l x [L _] _ IH]; intros y Hy; inversion Hy as [|s' h l' y' [M _] Hy' E1 E2]; subst; [exists []; auto|].
  destruct (IH y' Hy') as [q [E1 E2]]. destruct (Z g h) as [r [F1 F2]]; [congruence|]. exists (r :: q). cbn [map]. rewrite E1, E2, F1, F2. auto.
Qed.

Definition near_q (q : list (list (nat * nat))) : Prop :=
  is_grouped (ours q) /\ is_grouped (theirs q)
  /\ match near_listed o with Some l => In (ours q, theirs q) l | None => near_pairs (concat q) end.

Lemma single_permuted : forall {A} l (x y : list (list A)), Forall2 (fun s g => length g = s) l x -> Forall (fun s => s = 1%nat) l -> Forall2 (@Permutation A) x y -> x = y.
Proof.
  intros A l x y G F H. revert l G F. induction H as [|g h x y P _ IH]; intros l G F; [reflexivity|]. inversion G as [|s g' l' x' L G' E1 E2]; subst.
  apply Forall_cons_iff in F as [F1 F]. rewrite (IH l' G' F). f_equal. destruct g as [|a [|b g]]; try discriminate F1.
  apply Permutation_length_1_inv in P. auto.
Qed.
Lemma only_lengths : forall l x, Forall2 (fun s g => length g = s /\ few g) l x -> Forall2 (fun s (g : list nat) => length g = s) l x.
Proof. intros l x H. induction H as [|s g l x [L _] _ IH]; constructor; assumption. Qed.

Lemma near_any_order : forall q r, Forall2 (@Permutation (nat * nat)) q r -> near_q q -> near_q r.
Proof.
  intros q r P [G1 [G2 N]]. split; [eapply grouped_permuted; [apply fst_permuted; exact P | exact G1]|].
  split; [eapply grouped_permuted; [apply snd_permuted; exact P | exact G2]|].
  destruct (near_listed o) as [l|] eqn:E.
  - destruct fine_says as [_ [_ F]]. rewrite E in F. replace r with q; [exact N|]. eapply single_permuted; [|exact F | exact P].
    apply only_lengths in G1. unfold ours in G1. clear - G1. remember (map (map fst) q) as x eqn:Ex. revert q Ex.
    induction G1 as [|s g l x L _ IH]; intros [|h q] Ex; try discriminate Ex; constructor; injection Ex as E1 E2.
    + subst g. rewrite map_length in L. exact L.
    + apply IH. exact E2.
  - eapply near_pairs_permuted; [apply concat_permuted; exact P | exact N].
Qed.

Lemma close_pairs : forall x y, same_list (same_list close) x y = true ->
  exists q, map (map fst) q = x /\ map (map snd) q = y /\ Forall (fun p => fst p = snd p \/ near_records (fst p) (snd p) = true) (concat q).
Proof.
  assert (One : forall g h, same_list close g h = true -> exists q, map fst q = g /\ map snd q = h /\ Forall (fun p => fst p = snd p \/ near_records (fst p) (snd p) = true) q).
  { induction g as [|a g IH]; intros [|b h] H; try discriminate H; [exists []; auto|]. cbn [same_list] in H. apply andb_true_iff in H as [H1 H2].
    destruct (IH h H2) as [q [E1 [E2 F]]]. exists ((a, b) :: q). cbn [map fst snd]. rewrite E1, E2. repeat split. constructor; [|exact F].
    unfold close in H1. apply orb_true_iff in H1 as [H1|H1]; [left; apply Nat.eqb_eq; exact H1 | right; exact H1]. }
  induction x as [|g x IH]; intros [|h y] H; try discriminate H; [exists []; repeat split; constructor|]. cbn [same_list] in H. apply andb_true_iff in H as [H1 H2].
  destruct (One g h H1) as [r [F1 [F2 F]]]. destruct (IH y H2) as [q [E1 [E2 E3]]]. exists (r :: q). cbn [map concat]. rewrite E1, E2, F1, F2.
  repeat split. apply Forall_app. auto.
Qed.

(** To which datasets one has a neighbour: all, and no others. *)
Lemma meets_sound : forall i j, (i < length (answers o))%nat -> In j (meets i) -> (j < length (answers o))%nat /\ exists q, near_q q
  /\ Forall2 (@Permutation nat) (dataset_at i) (ours q) /\ Forall2 (@Permutation nat) (dataset_at j) (theirs q).
Proof.
  intros i j Hi H.
  assert (Itself : forall x : grouped, Forall2 (@Permutation nat) x x) by (induction x; constructor; auto).
  assert (Num : forall k f, In k (filter f numbers) -> (k < length (answers o))%nat /\ f k = true).
  { intros k f I. apply filter_In in I as [I E]. apply in_seq in I. split; [lia | exact E]. }
  unfold meets in H. destruct (near_listed o) as [l|] eqn:E.
  - apply Num in H as [Hj H]. split; [exact Hj|]. apply existsb_exists in H as [[x y] [I Q]]. cbn [fst snd] in Q. apply andb_true_iff in Q as [Q1 Q2].
    apply same_lists_eq in Q1, Q2. subst x y. destruct (zipped (sizes o) (dataset_at i) (dataset_at j) (kept_grouped i Hi) (kept_grouped j Hj)) as [q [E1 E2]].
    exists q. unfold near_q, ours, theirs. rewrite E1, E2, E. repeat split; auto; apply kept_grouped; assumption.
  - assert (Moved : In j (map fst (filter (fun jk => existsb (same_lists (snd jk)) (map key (moved_once (dataset_at i)))) (combine numbers keys))) ->
      (j < length (answers o))%nat /\ exists q, one_near (concat q) /\ ours q = dataset_at i /\ Forall2 (@Permutation nat) (dataset_at j) (theirs q) /\ is_grouped (theirs q)).
    { clear H. intro H. apply in_map_iff in H as [[j' k] [Ej H]]. cbn [fst] in Ej. subst j'. apply filter_In in H as [H X]. cbn [snd] in X.
      assert (L : (j < length (answers o))%nat) by (apply in_combine_l in H; apply in_seq in H; lia). split; [exact L|].
      assert (K : k = key (dataset_at j)).
      { rewrite <- nth_key. unfold numbers in H. assert (C : length keys = length (answers o)) by apply map_length. rewrite <- C in H. clear - H.
        assert (W : forall s (l : list (list (list nat))), In (j, k) (combine (seq s (length l)) l) -> (s <= j)%nat /\ k = nth (j - s) l []).
        { intros s l. revert s. induction l as [|h l IH]; intros s I; [contradiction|]. cbn [length seq combine] in I. destruct I as [I|I].
          - injection I as <- <-. rewrite Nat.sub_diag. auto.
          - apply IH in I as [I1 I2]. split; [lia|]. replace (j - s)%nat with (S (j - S s)) by lia. exact I2. }
        destruct (W 0%nat keys H) as [_ W2]. rewrite Nat.sub_0_r in W2. exact W2. }
      apply existsb_exists in X as [k' [X1 X2]]. apply same_lists_eq in X2. subst k'. apply in_map_iff in X1 as [y [Ey X1]].
      apply in_moved_once in X1 as [q [Q1 [Q2 [Q3 Q4]]]]; [|apply grouped_few; apply kept_grouped; exact Hi].
      exists q. split; [exact Q3|]. split; [exact Q1|].
      assert (G : is_grouped (theirs q)) by (apply snd_grouped; [rewrite Q1; apply kept_grouped; exact Hi | rewrite Q2; exact Q4]).
      split; [|exact G]. apply key_only with (sizes o); [apply kept_grouped; exact L | exact G|]. unfold theirs. rewrite Q2, Ey. symmetry. exact K. }
    assert (Done : (exists q, near_pairs (concat q) /\ ours q = dataset_at i /\ Forall2 (@Permutation nat) (dataset_at j) (theirs q) /\ is_grouped (theirs q)) ->
      exists q, near_q q /\ Forall2 (@Permutation nat) (dataset_at i) (ours q) /\ Forall2 (@Permutation nat) (dataset_at j) (theirs q)).
    { intros [q [Q1 [Q2 [Q3 Q4]]]]. exists q. unfold near_q. rewrite E, Q2. repeat split; auto. apply kept_grouped. exact Hi. }
    unfold near_pairs in Done. destruct (near_by o) eqn:Eo; try (destruct (Moved H) as [Hj M]; split; [exact Hj | apply Done; exact M]).
    apply Num in H as [Hj H]. split; [exact Hj|]. apply Done. apply andb_true_iff in H as [H1 H2]. apply negb_true_iff in H1.
    destruct (close_pairs _ _ H2) as [q [Q1 [Q2 Q3]]]. exists q. unfold ours, theirs. rewrite Q2. repeat split; [|exact Q3 | exact Q1 | apply Itself | apply kept_grouped; exact Hj].
    destruct (Exists_dec (fun p : nat * nat => fst p <> snd p) (concat q)) as [X|X].
    { intro p. destruct (Nat.eq_dec (fst p) (snd p)); [right; auto | left; exact n]. }
    + exact X.
    + exfalso. assert (D : Forall (fun p : nat * nat => fst p = snd p) (concat q)).
      { apply Forall_forall. intros p I. destruct (Nat.eq_dec (fst p) (snd p)) as [Y|Y]; [exact Y|]. exfalso. apply X. apply Exists_exists. exists p. auto. }
      apply diagonal_all in D. rewrite Q1, Q2 in D. rewrite D in H1. pose proof (proj2 (same_lists_eq _ (dataset_at j)) eq_refl). congruence.
Qed.

Lemma close_ordered : near_by o = UnitAll -> near_listed o = None -> forall g h k : list nat, few g -> few h ->
  Forall2 (fun a b => a = b \/ near_records a b = true) g h -> in_order g = true -> in_order k = true -> Permutation k h -> same_list close g k = true.
Proof.
  intros Eo El g h k Fg Fh N Og Ok P. destruct fine_says as [_ [_ F]]. rewrite El, Eo in F. destruct F as [U [Rises _]].
  assert (Is : forall a b, (a < many)%nat -> (b < many)%nat -> near_records a b = (Z.abs (unit a - unit b) =? 1)).
  { intros a b A B. unfold near_records, unit. rewrite Eo. rewrite forallb_forall in U.
    pose proof (U _ (nth_In (all_records o) Nothing A)) as Ua. pose proof (U _ (nth_In (all_records o) Nothing B)) as Ub.
    unfold is_unit in Ua, Ub. destruct (nth a (all_records o) Nothing) as [| | |[|[n [d|d|]| | | |] [|? ?]]|]; try discriminate Ua.
    destruct (nth b (all_records o) Nothing) as [| | |[|[m [d|d|]| | | |] [|? ?]]|]; try discriminate Ub. reflexivity. }
  pose (by_one := fun a b => (a < many)%nat /\ (b < many)%nat /\ Z.abs (unit a - unit b) <= 1).
  assert (B : Forall2 by_one g h).
  { clear - N Fg Fh Is. induction N as [|a b g h D _ IH]; [constructor|]. apply Forall_cons_iff in Fg as [Fa Fg]. apply Forall_cons_iff in Fh as [Fb Fh].
    constructor; [|apply IH; assumption]. repeat split; auto. destruct D as [->|D]; [lia|]. rewrite Is in D by assumption. apply Z.eqb_eq in D. lia. }
  apply (ordered_by_one unit Rises) in B. rewrite (ordered_itself g Og), <- (ordered_permuted k h P), (ordered_itself k Ok) in B.
  clear - B Is Rises. induction B as [|a b g k [A [C D]] _ IH]; [reflexivity|]. cbn [same_list]. rewrite IH, andb_true_r. unfold close.
  destruct (Nat.eqb_spec a b) as [_|E]; [reflexivity|]. rewrite Is by assumption. cbn [orb]. apply Z.eqb_eq.
  destruct (Nat.lt_ge_cases a b) as [L|L]; [pose proof (Rises a b L C) | pose proof (Rises b a ltac:(lia) A)]; lia.
Qed.

Lemma close_grouped : near_by o = UnitAll -> near_listed o = None -> forall (r : list (list (nat * nat))) y,
  Forall few (map (map fst) r) -> Forall few (map (map snd) r) -> Forall (fun p => fst p = snd p \/ near_records (fst p) (snd p) = true) (concat r) ->
  Forall (fun g => in_order g = true) (map (map fst) r) -> Forall (fun g => in_order g = true) y ->
  Forall2 (@Permutation nat) y (map (map snd) r) -> same_list (same_list close) (map (map fst) r) y = true.
Proof.
  intros Eo El r. induction r as [|g r IH]; intros y F1 F2 N O1 O2 P; cbn [map concat] in *; inversion P as [|k h y' r' P1 P' E1 E2]; subst; [reflexivity|].
  apply Forall_cons_iff in F1 as [F1 F1']. apply Forall_cons_iff in F2 as [F2 F2']. apply Forall_cons_iff in O1 as [O1 O1'].
  apply Forall_cons_iff in O2 as [O2 O2']. apply Forall_app in N as [N N']. cbn [same_list]. apply andb_true_iff. split; [|apply IH; assumption].
  apply (close_ordered Eo El) with (map snd g); try assumption. clear - N. induction N as [|p g D _ IH]; constructor; assumption.
Qed.

Lemma meets_complete : forall x x', is_grouped x -> is_grouped x' -> neighbouring x x' -> number x = number x' \/ In (number x') (meets (number x)).
Proof.
  intros x x' G G' N. destruct (number_says x G) as [Hi Pi]. destruct (number_says x' G') as [Hj Pj].
  assert (I : In (number x') numbers) by (apply in_seq; lia).
  unfold neighbouring in N. unfold meets. destruct fine_says as [_ [_ F]]. destruct (near_listed o) as [l|] eqn:El.
  - right. apply filter_In. split; [exact I|]. apply existsb_exists. exists (x, x'). split; [exact N|]. cbn [fst snd].
    assert (S : forall z, is_grouped z -> (number z < length (answers o))%nat -> Forall2 (@Permutation nat) (dataset_at (number z)) z -> same_lists z (dataset_at (number z)) = true).
    { intros z Gz L P. apply same_lists_eq. symmetry. apply single_permuted with (sizes o); [apply only_lengths; apply kept_grouped; exact L | exact F | exact P]. }
    rewrite !S by assumption. reflexivity.
  - destruct N as [q [Q1 [Q2 Q3]]]. rewrite <- Q1 in Pi at 2. destruct (reorder q _ Pi) as [r [R1 R2]].
    apply (near_pairs_permuted _ _ (concat_permuted _ _ R2)) in Q3. pose proof (snd_permuted q r R2) as R3. rewrite Q2 in R3.
    assert (R4 : Forall2 (@Permutation nat) (dataset_at (number x')) (map (map snd) r)).
    { clear - Pj R3. revert R3. generalize (map (map snd) r) as y. induction Pj as [|g h a b P _ IH]; intros y H; inversion H as [|h' k b' y' P' H' E1 E2]; subst; constructor.
      - eapply perm_trans; eassumption.
      - apply IH. exact H'. }
    assert (R5 : is_grouped (map (map snd) r)) by (apply grouped_permuted with (dataset_at (number x')); [exact R4 | apply kept_grouped; exact Hj]).
    assert (Moved : one_near (concat r) -> In (number x') (map fst (filter (fun jk => existsb (same_lists (snd jk)) (map key (moved_once (dataset_at (number x))))) (combine numbers keys)))).
    { intro O. apply in_map_iff. exists (number x', key (dataset_at (number x'))). split; [reflexivity|]. apply filter_In. split.
      - rewrite <- nth_key. unfold numbers. assert (C : length keys = length (answers o)) by apply map_length. rewrite <- C in *.
        assert (W : forall k (l : list (list (list nat))) s, (k < length l)%nat -> In ((s + k)%nat, nth k l []) (combine (seq s (length l)) l)).
        { clear. induction k as [|k IH]; intros [|h l] s L; try (cbn in L; lia); cbn [length seq combine nth].
          - rewrite Nat.add_0_r. left. reflexivity.
          - right. replace (s + S k)%nat with (S s + k)%nat by lia. apply IH. cbn in L. lia. }
        apply (W (number x') keys 0%nat). exact Hj.
      - cbn [snd]. apply existsb_exists. exists (key (map (map snd) r)). split; [|apply same_lists_eq; apply key_permuted; exact R4].
        apply in_map. rewrite <- R1. apply moved_once_in; [apply grouped_few; exact R5 | exact O]. }
    unfold near_pairs in Q3. destruct (near_by o) eqn:Eo; try (right; apply Moved; exact Q3).
    destruct (same_lists (dataset_at (number x)) (dataset_at (number x'))) eqn:E.
    + left. apply same_lists_eq in E. transitivity (place (key x) keys); [reflexivity|]. transitivity (place (key x') keys); [|reflexivity]. f_equal. rewrite <- (key_permuted _ _ Pj), <- E. rewrite Q1 in Pi. symmetry. apply key_permuted. exact Pi.
    + right. apply filter_In. split; [exact I|]. rewrite E. cbn [negb andb]. rewrite <- R1. destruct F as [_ [_ F]].
      assert (O : forall i, (i < length (answers o))%nat -> Forall (fun g => in_order g = true) (dataset_at i)).
      { intros i L. rewrite Forall_forall in F. apply F. apply nth_In. exact L. }
      apply (close_grouped Eo El); [rewrite R1; apply grouped_few, kept_grouped; exact Hi | apply grouped_few; exact R5 | apply Q3 | rewrite R1; apply O; exact Hi | apply O; exact Hj | exact R4].
Qed.

(** How many orders there are depends on the sizes only. *)
Section Counted.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Lemma same_shape : forall x, is_grouped x -> map (map (fun _ => 0%nat)) x = map (repeat 0%nat) (sizes o).
Proof.
  intros x G. unfold is_grouped in G. induction G as [|s g l x [L _] _ IH]; [reflexivity|]. cbn [map]. rewrite IH. f_equal. subst s.
  clear. induction g as [|a g IH]; [reflexivity|]. cbn [map length repeat]. rewrite IH. reflexivity.
Qed.
Lemma orders_counted : forall x, is_grouped x -> count K (all_orders x) = count K (all_orders (map (repeat 0%nat) (sizes o))).
Proof. intros x G. rewrite <- (same_shape x G), all_orders_map. unfold count. symmetry. apply sum_map. Qed.
Lemma in_orders : forall {A} (l : list A), In l (orders l).
Proof.
  intros A l. induction l as [|a l IH]; [left; reflexivity|]. cbn [orders]. apply in_flat_map. exists l. split; [exact IH|]. destruct l; left; reflexivity.
Qed.
Lemma in_all_orders : forall {A} (x : list (list A)), In x (all_orders x).
Proof.
  intros A x. induction x as [|g x IH]; [left; reflexivity|]. cbn [all_orders]. apply in_flat_map. exists g. split; [apply in_orders | apply in_map; exact IH].
Qed.
Lemma count_positive : forall {A} (a : A) l, In a l -> 0 < count K l.
Proof.
  intros A a [|b l] I; [contradiction|]. unfold count. cbn [Program.sum]. assert (L : 0 <= sum K l (fun _ => 1)) by (apply sum_nonneg; intros; apply zero_le_one).
  assert (M : (1 : K) <= 1 + sum K l (fun _ => 1)) by (apply le_sub; match goal with |- 0 <= 1 + ?s - 1 => replace (1 + s - 1) with s by ring end; exact L).
  split; [apply le_trans with (1 : K); [apply zero_le_one | exact M]|]. intro E. apply (zero_not_one K). apply le_antisym; [apply zero_le_one | rewrite E; exact M].
Qed.
End Counted.

Section Ends.
Hypotheses (gains_ok : gains_fine = true) (claim_ok : claim_fine = true) (table_ok : table_fine = true) (multipliers_ok : multipliers_fine = true).
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).
Notation outputs := (seq 0 (length (offered o))).
Variables (target : grouped -> value) (gain : value -> value -> K) (delta : K).
Hypothesis any_order : forall x x', Forall2 (@Permutation nat) x x' -> target x = target x'.
Hypothesis answered : forall x t, In (x, t) (answers o) -> target x = t.
Hypothesis gains_are : forall y t, In y (offered o) -> In t (map snd (answers o)) -> is_ratio K (gain y t) (gain_of (measured o) y t).
Hypothesis delta_is : is_ratio K delta (slack o).
Definition gained_at (x : grouped) (y : nat) : K := gain (nth y (offered o) Nothing) (target x).

Lemma claim_says : (0 < snd (allows o))%Z /\ (0 < snd (slack o))%Z /\ (0 <= fst (slack o))%Z /\ (0 < snd (keeps o))%Z
  /\ (snd (keeps o) <= fst (keeps o))%Z /\ (0 < snd reached)%Z /\ (0 < snd limit)%Z.
Proof.
  unfold claim_fine in claim_ok. repeat rewrite andb_true_iff in claim_ok. destruct claim_ok as [[[[[[H1 H2] H3] H4] H5] H6] H7].
  apply Z.ltb_lt in H1, H2, H4, H6, H7. apply Z.leb_le in H3, H5. auto 10.
Qed.
Lemma cancel_le : forall c a b : K, 0 < c -> c * a <= c * b -> a <= b.
Proof.
  intros c a b P H. apply le_sub. apply sub_le in H. replace (b - a) with (- (a - b)) by ring. apply opp_le. apply cancel_nonpos with c; [exact P|].
  replace (c * (a - b)) with (- (c * b - c * a)) by ring. apply le_opp. exact H.
Qed.

Lemma sum_total : forall {A} (f : A -> Z) l, sum l (fun a => inj (f a)) = inj (total_of (map f l)).
Proof. intros A f l. induction l as [|a l IH]; [symmetry; apply inj_zero|]. cbn [Program.sum map total_of fold_right]. rewrite inj_add, IH. reflexivity. Qed.
Lemma sum_nth : forall l : list Z, sum (seq 0 (length l)) (fun i => inj (nth i l 0%Z)) = inj (total_of l).
Proof.
  induction l as [|a l IH]; [symmetry; apply inj_zero|]. cbn [length seq Program.sum nth total_of fold_right]. rewrite inj_add, <- seq_shift, sum_map.
  f_equal. exact IH.
Qed.
Lemma sum_product : forall u v : list Z, length u = length v -> sum (seq 0 (length u)) (fun i => inj (nth i u 0%Z) * inj (nth i v 0%Z)) = inj (product_of u v).
Proof.
  induction u as [|a u IH]; intros [|b v] L; try discriminate L; [symmetry; apply inj_zero|].
  cbn [length seq Program.sum nth product_of]. rewrite inj_add, inj_mul, <- seq_shift, sum_map. f_equal. apply IH. injection L. auto.
Qed.
Lemma plus_length : forall c u v, length (plus_times c u v) = length u.
Proof. intros c. induction u as [|a u IH]; intros [|b v]; try reflexivity. cbn [plus_times length]. rewrite IH. reflexivity. Qed.
Lemma plus_nth : forall c u v y, length v = length u -> nth y (plus_times c u v) 0%Z = (nth y u 0 + c * nth y v 0)%Z.
Proof.
  intros c. induction u as [|a u IH]; intros [|b v] y L; try discriminate L; [destruct y; cbn; lia|].
  cbn [plus_times]. destruct y as [|y]; cbn [nth]; [reflexivity|]. apply IH. injection L. auto.
Qed.
Lemma largest_above : forall a l, In a l -> (a <= largest l)%Z.
Proof.
  intros a l. unfold largest. generalize (hd 0%Z l) as z. intros z. induction l as [|b l IH]; intro I; [contradiction|]. cbn [fold_right].
  destruct I as [->|I]; [lia|]. specialize (IH I). lia.
Qed.
Lemma nonneg_nth : forall l y, forallb (Z.leb 0) l = true -> (0 <= nth y l 0)%Z.
Proof.
  intros l y H. rewrite forallb_forall in H. destruct (nth_in_or_default y l 0%Z) as [I|E]; [apply Z.leb_le; apply H; exact I | lia].
Qed.
Lemma row_says : forall l, row_fine l = true -> length l = length (offered o) /\ forall y, (0 <= nth y l 0)%Z.
Proof.
  intros l H. unfold row_fine in H. apply andb_true_iff in H as [H1 H2]. apply Nat.eqb_eq in H1. split; [exact H1 | intro y; apply nonneg_nth; exact H2].
Qed.

Lemma common_positive : (0 < common e)%Z.
Proof. unfold gains_fine in gains_ok. apply andb_true_iff in gains_ok as [H _]. apply Z.ltb_lt. exact H. Qed.
Lemma gains_row : forall i, (i < length (answers o))%nat -> row gains i = gain_row (snd (nth i (answers o) ([], Nothing))).
Proof.
  intros i H. unfold row, gains. rewrite (nth_indep _ [] ((fun a : grouped * value => gain_row (snd a)) ([], Nothing))) by (rewrite map_length; exact H).
  apply (map_nth (fun a : grouped * value => gain_row (snd a))).
Qed.
Lemma gains_length : forall i, (i < length (answers o))%nat -> length (row gains i) = length (offered o).
Proof. intros i H. rewrite gains_row by exact H. apply map_length. Qed.
Lemma gain_is : forall i y, (i < length (answers o))%nat -> (y < length (offered o))%nat -> inj (nth y (row gains i) 0%Z) = inj (common e) * gained_at (dataset_at i) y.
Proof.
  intros i y Hi Hy. rewrite gains_row by exact Hi. set (a := nth i (answers o) ([], Nothing)). set (w := nth y (offered o) Nothing).
  assert (Ia : In a (answers o)) by (apply nth_In; exact Hi). assert (Iw : In w (offered o)) by (apply nth_In; exact Hy).
  unfold gain_row. set (f := fun y => let (up, down) := gain_of (measured o) y (snd a) in (up * (common e / down))%Z).
  rewrite (nth_indep _ 0%Z (f Nothing)) by (rewrite map_length; exact Hy). rewrite map_nth. fold w. unfold f.
  unfold gained_at. fold w. rewrite (answered (dataset_at i) (snd a)) by (unfold dataset_at; fold a; rewrite <- surjective_pairing; exact Ia).
  pose proof (gains_are w (snd a) Iw (in_map snd _ _ Ia)) as G. unfold gains_fine in gains_ok. apply andb_true_iff in gains_ok as [_ F].
  rewrite forallb_forall in F. specialize (F a Ia). rewrite forallb_forall in F. specialize (F w Iw). unfold is_ratio in G.
  destruct (gain_of (measured o) w (snd a)) as [up down]. cbn [fst snd] in G. apply andb_true_iff in F as [_ F]. apply Z.eqb_eq in F.
  rewrite <- F at 2. rewrite !inj_mul, <- G. ring.
Qed.
Lemma gained_kept : forall x y, is_grouped x -> gained_at x y = gained_at (dataset_at (number x)) y.
Proof. intros x y G. unfold gained_at. f_equal. symmetry. apply any_order. apply number_says. exact G. Qed.

(** What the table does. *)
Section Table.
Variable R : K.
Hypothesis R_is : is_ratio K R (keeps o).
Notation table := (mechanism_table e).

Lemma table_says : (0 < row_total e)%Z /\ length table = length (answers o)
  /\ (forall i, (i < length (answers o))%nat -> row_fine (row table i) = true /\ total_of (row table i) = row_total e)
  /\ (forall i j, (i < length (answers o))%nat -> In j (meets i) ->
        (snd (slack o) * over (row table i) (row table j) <= snd (keeps o) * (row_total e * fst (slack o)))%Z)
  /\ (forall i, (i < length (answers o))%nat -> (fst reached * (row_total e * common e) <= snd reached * product_of (row gains i) (row table i))%Z).
Proof.
  unfold table_fine in table_ok. repeat rewrite andb_true_iff in table_ok. destruct table_ok as [[[[H1 H2] H3] H4] H5].
  apply Z.ltb_lt in H1. apply Nat.eqb_eq in H2. rewrite forallb_forall in H3, H4, H5. split; [exact H1|]. split; [exact H2|]. split; [|split].
  - intros i Hi. assert (I : In (row table i) table) by (apply nth_In; lia). apply H3 in I. apply andb_true_iff in I as [I1 I2]. apply Z.eqb_eq in I2. auto.
  - intros i j Hi Hj. assert (I : In i numbers) by (apply in_seq; lia). apply H4 in I. rewrite forallb_forall in I. apply Z.leb_le. apply I. exact Hj.
  - intros i Hi. assert (L : length gains = length table) by (unfold gains; rewrite map_length; lia).
    assert (I : In (row gains i, row table i) (combine gains table)).
    { unfold row. rewrite <- (combine_nth gains table i [] [] L). apply nth_In. rewrite combine_length, L, Nat.min_id. lia. }
    apply H5 in I. apply Z.leb_le. exact I.
Qed.
Definition does (x : grouped) (y : nat) : K := inj (nth y (row table (number x)) 0%Z).

Lemma table_keeps : keeps_private K R delta (inj (row_total e)) does.
Proof.
  destruct table_says as [T1 [T2 [T3 [T4 _]]]]. destruct claim_says as [_ [D1 [D0 [K1 [K2 _]]]]].
  assert (KP : 0 < @inj K (snd (keeps o))) by (apply inj_positive; exact K1). assert (DP : 0 < @inj K (snd (slack o))) by (apply inj_positive; exact D1).
  assert (WP : 0 <= @inj K (row_total e)) by (apply inj_nonneg; lia). unfold is_ratio in R_is, delta_is. split; [|split].
  - intros x y G _. apply inj_nonneg. apply row_says. apply T3. apply (number_says x G).
  - intros x G. destruct (number_says x G) as [L _]. destruct (T3 _ L) as [F E]. destruct (row_says _ F) as [C _]. rewrite <- C. unfold does. rewrite sum_nth, E. reflexivity.
  - intros x x' G G' N. destruct (number_says x G) as [L _]. destruct (number_says x' G') as [L' _].
    destruct (T3 _ L) as [F E]. destruct (row_says _ F) as [C P]. destruct (T3 _ L') as [F' E']. destruct (row_says _ F') as [C' P'].
    destruct (meets_complete x x' G G' N) as [S|S].
    + exists (fun _ => 0). split.
      * intros y _. split; [apply le_refl|]. unfold does. rewrite <- S. apply cancel_le with (inj (snd (keeps o))); [exact KP|].
        match goal with |- ?a * ?p <= ?a * (R * ?p + 0) => replace (a * (R * p + 0)) with ((a * R) * p) by ring end. rewrite R_is, <- !inj_mul. apply inj_le.
        specialize (P y). nia.
      * rewrite sum_zero by reflexivity. apply cancel_le with (inj (snd (slack o))); [exact DP|].
        replace (inj (snd (slack o)) * (inj (row_total e) * delta)) with (inj (row_total e) * (inj (snd (slack o)) * delta)) by ring. rewrite delta_is.
        replace (inj (snd (slack o)) * 0) with (0 : K) by ring. apply le_mul; [exact WP | apply inj_nonneg; exact D0].
    + set (t := row table (number x)) in *. set (u := row table (number x')) in *.
      pose (gap := fun y => (snd (keeps o) * nth y t 0 + - fst (keeps o) * nth y u 0)%Z).
      assert (GapK : forall y, inj (snd (keeps o)) * (does x y - R * does x' y) = inj (gap y)).
      { intro y. unfold gap, does. fold t u. rewrite inj_add, !inj_mul, inj_opp, <- R_is. ring. }
      exists (fun y => if (0 <=? gap y)%Z then does x y - R * does x' y else 0).
      assert (Sy : forall y, inj (snd (keeps o)) * (if (0 <=? gap y)%Z then does x y - R * does x' y else 0) = inj (Z.max 0 (gap y))).
      { intro y. destruct (Z.leb_spec 0 (gap y)) as [Z|Z]; [rewrite GapK; f_equal; lia|]. replace (Z.max 0 (gap y)) with 0%Z by lia. rewrite inj_zero. ring. }
      split.
      * intros y _. split; apply cancel_le with (inj (snd (keeps o))); try exact KP.
        -- rewrite Sy. replace (inj (snd (keeps o)) * 0) with (0 : K) by ring. apply inj_nonneg. lia.
        -- match goal with |- ?a * ?p <= ?a * (R * ?q + ?s) => replace (a * (R * q + s)) with (a * p + (a * s - a * (p - R * q))) by ring;
             replace (a * p) with (a * p + 0) at 1 by ring end. apply le_add. rewrite Sy, GapK. apply sub_le. apply inj_le. lia.
      * apply cancel_le with (inj (snd (slack o)) * inj (snd (keeps o))); [apply mul_positive; assumption|].
        match goal with |- ?a * ?b * ?s <= ?a * ?b * (?w * delta) => replace (a * b * s) with (a * (b * s)) by ring;
          replace (a * b * (w * delta)) with (b * (w * (a * delta))) by ring end. rewrite delta_is, sum_scale.
        rewrite (sum_ext K _ _ (fun y => inj (nth y (map (Z.max 0) (plus_times (- fst (keeps o)) (map (Z.mul (snd (keeps o))) t) u)) 0%Z))).
        -- assert (Ln : length (map (Z.max 0) (plus_times (- fst (keeps o)) (map (Z.mul (snd (keeps o))) t) u)) = length (offered o))
             by (rewrite map_length, plus_length, map_length; exact C).
           rewrite <- Ln, sum_nth, <- !inj_mul. apply inj_le. apply (T4 (number x) (number x') L S).
        -- intros y _. rewrite Sy. f_equal. match goal with |- _ = nth y (map ?f ?l) 0%Z => transitivity (f (nth y l 0%Z)); [f_equal | symmetry; exact (map_nth f l 0%Z y)] end. rewrite plus_nth by (rewrite map_length; congruence).
           unfold gap. f_equal. symmetry. rewrite <- (Z.mul_0_r (snd (keeps o))) at 1. apply map_nth.
Qed.

Lemma table_reaches : forall x, is_grouped x -> inj (fst reached) * inj (row_total e) <= inj (snd reached) * sum outputs (fun y => gained_at x y * does x y).
Proof.
  intros x G. destruct table_says as [_ [_ [T3 [_ T5]]]]. destruct (number_says x G) as [L _]. specialize (T5 _ L). destruct (T3 _ L) as [F _].
  destruct (row_says _ F) as [C _]. apply cancel_le with (inj (common e)); [apply inj_positive; apply common_positive|].
  replace (inj (common e) * (inj (snd reached) * sum outputs (fun y => gained_at x y * does x y)))
    with (inj (snd reached) * (inj (common e) * sum outputs (fun y => gained_at x y * does x y))) by ring.
  rewrite sum_scale, (sum_ext K _ _ (fun y => inj (nth y (row gains (number x)) 0%Z) * inj (nth y (row table (number x)) 0%Z))).
  - pose proof (gains_length _ L) as GL. rewrite <- GL, sum_product by congruence. rewrite <- !inj_mul. apply inj_le. lia.
  - intros y Hy. apply in_seq in Hy. rewrite (gained_kept x y G), (gain_is _ y L) by lia. unfold does. ring.
Qed.
End Table.

(** What no mechanism does better. *)
Section Multipliers.
Variable R : K.
Hypothesis R_is : is_ratio K R (allows o).
Notation C := (common e * snd (allows o))%Z.
Notation ms := (multipliers e).
Definition from_ (m : nat * nat * list Z) : nat := fst (fst m).
Definition to_ (m : nat * nat * list Z) : nat := snd (fst m).
Definition weight_ (i : nat) : K := inj (nth i (dataset_weights e) 0%Z).
Definition multiplier_ (m : nat * nat * list Z) (y : nat) : K := inj (C * nth y (snd m) 0)%Z.
Definition gain_ (x : grouped) (y : nat) : K := inj C * gained_at x y.

Lemma multipliers_say : (0 < weight_total e)%Z /\ length (dataset_weights e) = length (answers o) /\ (forall i, (0 <= nth i (dataset_weights e) 0)%Z)
  /\ total_of (dataset_weights e) = weight_total e
  /\ (forall m, In m ms -> (from_ m < length (answers o))%nat /\ row_fine (snd m) = true /\ In (to_ m) (meets (from_ m)))
  /\ (snd limit * (snd (slack o) * total_of (map (fun i => largest (rests i)) numbers)
                   + fst (slack o) * C * total_of (map (fun m => largest (snd m)) ms))
      <= fst limit * (weight_total e * C * snd (slack o)))%Z.
Proof.
  unfold multipliers_fine in multipliers_ok. repeat rewrite andb_true_iff in multipliers_ok. destruct multipliers_ok as [[[[[[H1 H2] H3] H4] H5] H6] H7].
  apply Z.ltb_lt in H1. apply Nat.eqb_eq in H2. apply Z.eqb_eq in H4. apply Z.leb_le in H7. rewrite forallb_forall in H5, H6.
  split; [exact H1|]. split; [exact H2|]. split; [intro i; apply nonneg_nth; exact H3|]. split; [exact H4|]. split; [|exact H7].
  intros m I. pose proof (H5 m I) as A. pose proof (H6 m I) as B. apply andb_true_iff in A as [A1 A2]. apply Nat.ltb_lt in A1. split; [exact A1|]. split; [exact A2|].
  apply existsb_exists in B as [j [B1 B2]]. apply Nat.eqb_eq in B2. subst j. unfold numbers in B1.
  rewrite (nth_indep _ [] (meets 0%nat)) in B1 by (rewrite map_length, seq_length; exact A1). rewrite map_nth, seq_nth in B1 by exact A1. exact B1.
Qed.

Lemma rests_are : forall i y, (i < length (answers o))%nat -> (y < length (offered o))%nat ->
  inj (nth y (rests i) 0%Z) = rest K ms from_ to_ (fun x => gain_ (dataset_at x)) R weight_ multiplier_ i y /\ length (rests i) = length (offered o).
Proof.
  intros i y Hi Hy. destruct multipliers_say as [_ [_ [_ [_ [M _]]]]]. unfold rest, rests.
  assert (F : forall m, In m ms -> length (snd m) = length (offered o)) by (intros m I; apply row_says; apply (M m I)). clear M.
  induction ms as [|m l IH]; cbn [fold_right Program.sum].
  - rewrite map_length, (gains_length i Hi). split; [|reflexivity].
    replace 0%Z with (snd (allows o) * nth i (dataset_weights e) 0 * 0)%Z at 1 by lia.
    rewrite (map_nth (fun g => snd (allows o) * nth i (dataset_weights e) 0 * g)%Z), inj_mul, (gain_is i y Hi Hy). unfold gain_, weight_. rewrite !inj_mul. ring.
  - destruct IH as [IH1 IH2]; [intros m' I; apply F; right; exact I|]. specialize (F m (or_introl eq_refl)).
    set (l0 := fold_right _ _ l) in *. fold (from_ m) (to_ m).
    assert (A : inj (nth y (if Nat.eqb (from_ m) i then plus_times (- C) l0 (snd m) else l0) 0%Z)
                = inj (nth y l0 0%Z) - when K (Nat.eqb (from_ m) i) (multiplier_ m y)
              /\ length (if Nat.eqb (from_ m) i then plus_times (- C) l0 (snd m) else l0) = length (offered o)).
    { destruct (Nat.eqb (from_ m) i); cbn [when]; [|split; [ring | exact IH2]]. rewrite plus_length. split; [|exact IH2].
      rewrite plus_nth by congruence. unfold multiplier_. rewrite inj_add, !inj_mul, inj_opp, inj_mul. ring. }
    destruct A as [A1 A2]. set (l1 := if Nat.eqb (from_ m) i then plus_times (- C) l0 (snd m) else l0) in *.
    assert (B : inj (nth y (if Nat.eqb (to_ m) i then plus_times (common e * fst (allows o)) l1 (snd m) else l1) 0%Z)
                = inj (nth y l1 0%Z) + R * when K (Nat.eqb (to_ m) i) (multiplier_ m y)
              /\ length (if Nat.eqb (to_ m) i then plus_times (common e * fst (allows o)) l1 (snd m) else l1) = length (offered o)).
    { destruct (Nat.eqb (to_ m) i); cbn [when]; [|split; [ring | exact A2]]. rewrite plus_length. split; [|exact A2].
      rewrite plus_nth by congruence. unfold multiplier_. rewrite inj_add, !inj_mul. unfold is_ratio in R_is. rewrite <- R_is. ring. }
    destruct B as [B1 B2]. split; [|exact B2]. rewrite B1, A1, IH1. ring.
Qed.

Lemma none_better : forall P low, keeps_private K R delta 1 P -> (forall x, is_grouped x -> low <= sum outputs (fun y => gained_at x y * P x y)) ->
  inj (snd limit) * low <= inj (fst limit).
Proof.
  intros P low [P0 [P1 P2]] G. destruct multipliers_say as [V [WL [W0 [WT [M B]]]]]. destruct claim_says as [A1 [D1 [D0 [_ [_ [_ L1]]]]]].
  pose proof common_positive as C0. assert (CP : (0 < C)%Z) by (apply Z.mul_pos_pos; assumption).
  assert (D : @inj K (weight_total e) * (inj C * low) <= sum (seq 0 (length (answers o))) (fun i => inj (largest (rests i))) + delta * sum ms (fun m => inj (C * largest (snd m))%Z)).
  { apply (averaged_duality K is_grouped near_q near_any_order grouped_permuted outputs gain_
      (fun x x' y H => f_equal (fun t => inj C * gain (nth y (offered o) Nothing) t) (any_order x x' H)) R delta dataset_at (length (answers o)) ms from_ to_
      (fun m I => conj (proj1 (M m I)) (proj1 (meets_sound _ _ (proj1 (M m I)) (proj2 (proj2 (M m I))))))
      (fun i I => kept_grouped i (proj2 (proj1 (in_seq _ _ _) I))) (count K (all_orders (map (repeat 0%nat) (sizes o))))
      (count_positive K _ _ (in_all_orders _)) (fun i I => orders_counted K _ (kept_grouped i (proj2 (proj1 (in_seq _ _ _) I))))
      (fun m I => proj2 (meets_sound _ _ (proj1 (M m I)) (proj2 (proj2 (M m I))))) _ weight_ multiplier_
      (fun i => inj (largest (rests i))) (fun m => inj (C * largest (snd m))%Z)) with (P := P).
    - split; [intros i _; apply inj_nonneg; apply W0|]. rewrite <- WL, <- WT. apply sum_nth.
    - intros m y I _. apply inj_nonneg. destruct (row_says _ (proj1 (proj2 (M m I)))) as [_ N]. specialize (N y). nia.
    - intros i y Hi Hy. apply in_seq in Hi, Hy. destruct (rests_are i y) as [E L]; try lia. rewrite <- E. apply inj_le. apply largest_above. apply nth_In. lia.
    - intros m y I Hy. apply in_seq in Hy. apply inj_le. destruct (row_says _ (proj1 (proj2 (M m I)))) as [L _].
      pose proof (largest_above (nth y (snd m) 0%Z) (snd m) ltac:(apply nth_In; lia)). nia.
    - intros m I. apply inj_nonneg. destruct (row_says _ (proj1 (proj2 (M m I)))) as [_ N].
      assert (0 <= largest (snd m))%Z; [|nia]. destruct (snd m) as [|a l] eqn:E; [cbn; lia|]. specialize (N 0%nat). cbn [nth] in N.
      pose proof (largest_above a (a :: l) (or_introl eq_refl)). lia.
    - split; [exact P0|]. split; [exact P1|]. intros q [G1 [G2 Q]]. destruct (P2 (ours q) (theirs q) G1 G2) as [s [S1 S2]].
      { unfold neighbouring. destruct (near_listed o); [exact Q|]. exists q. auto. }
      exists s. split; [exact S1|]. replace (1 * delta) with delta in S2 by ring. exact S2.
    - intros x Gx. unfold gain_. rewrite (sum_ext K _ _ (fun y => inj C * (gained_at x y * P x y))) by (intros; ring). rewrite <- sum_scale.
      apply mul_le; [apply inj_nonneg; lia | apply G; exact Gx]. }
  rewrite sum_total, (sum_ext K ms _ (fun m => inj C * inj (largest (snd m)))) in D by (intros; apply inj_mul). rewrite <- sum_scale, sum_total in D.
  fold numbers in D. set (tops := total_of (map (fun i => largest (rests i)) numbers)) in *. set (larges := total_of (map (fun m => largest (snd m)) ms)) in *.
  unfold is_ratio in delta_is. apply cancel_le with (inj (weight_total e * C * snd (slack o))%Z); [apply inj_positive; nia|].
  apply le_trans with (inj (snd limit * (snd (slack o) * tops + fst (slack o) * C * larges))%Z).
  - replace (inj (snd limit * (snd (slack o) * tops + fst (slack o) * C * larges))%Z) with (inj (snd limit * snd (slack o))%Z * (inj tops + delta * (inj C * inj larges))).
    + match goal with |- ?l <= ?c * ?b => match type of D with ?a <= _ => replace l with (c * a) end end;
        [apply mul_le; [apply inj_nonneg; nia | exact D]|]. rewrite !inj_mul. ring.
    + rewrite !inj_mul, inj_add, !inj_mul, <- delta_is. ring.
  - rewrite <- inj_mul. apply inj_le. lia.
Qed.
End Multipliers.
End Ends.
End Meaning.

Theorem optimum_sound : forall o e, check_optimum o e = true -> best_between o.
Proof.
  intros o e H. unfold check_optimum in H. repeat rewrite andb_true_iff in H. destruct H as [[[[H1 H2] H3] H4] H5].
  intros K target gain delta A1 A2 A3 A4. split.
  - intros R P low HR HP HG. exact (none_better o e H1 H2 H3 H5 K target gain delta A1 A2 A3 A4 R HR P low HP HG).
  - intros R HR. exists (inj (row_total e)), (does o e K). split; [|split].
    + apply inj_positive. apply (table_says o e H4).
    + apply (table_keeps o e H1 H3 H4 K delta A4 R HR).
    + intros x G. apply (table_reaches o e H1 H2 H4 K target gain A1 A2 A3 x G).
Qed.

Print Assumptions optimum_sound.
