(** All outputs of a way, one by one, with their weights under x and x'; and what is attained without δ by a pair of
    neighbours, at some output that the file need not name. *)

From Coq Require Import ZArith List Bool Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Law Turns Datasets.
Import ListNotations.
Open Scope Z_scope.

Section Outputs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).
Notation law := (law K T).
Notation size := (size K T).
Notation tsum := (tsum K).

(** All that a way publishes, with the weights there. *)
Fixpoint leaves (q : way) (v w : vector) : list (output * (vector * vector)) :=
  match q with
  | [] => [([], (v, w))]
  | (p, (a, b)) :: rest => flat_map (fun j => map (fun e => (fst j :: fst e, snd e)) (leaves rest (fst (snd j)) (snd (snd j)))) (both_told p a b v w)
  end.

Lemma leaves_sum : forall q t u, leads q t u -> forall g,
  tsum u g = tsum t (fun v w => sum (leaves q v w) (fun e => g (fst (snd e)) (snd (snd e)))).
Proof.
  intros q t u L. induction L as [t|p a b q t u _ _ IH]; intro g.
  - apply tsum_ext. intros v w. cbn [leaves Program.sum fst snd]. ring.
  - rewrite IH, moved_table_sum. apply tsum_ext. intros v w. cbn [leaves]. rewrite sum_flat_map. apply sum_ext. intros j _.
    rewrite sum_map. reflexivity.
Qed.

Lemma leaves_in : forall q t u, leads q t u -> forall e l, In e t -> In l (leaves q (fst (fst (snd e))) (snd (fst (snd e)))) ->
  exists f, In f u /\ fst (snd f) = snd l.
Proof.
  intros q t u L. induction L as [t|p a b q t u _ _ IH]; intros e l He Hl.
  - destruct Hl as [<-|[]]. exists e. split; [exact He|]. cbn [snd]. destruct (fst (snd e)); reflexivity.
  - cbn [leaves] in Hl. apply in_flat_map in Hl as [j [Hj Hl]]. apply in_map_iff in Hl as [l' [<- Hl]].
    destruct (moved_table_in p a b t e j He Hj) as [f [F1 F2]]. cbn [snd]. apply (IH f l' F1). rewrite F2. exact Hl.
Qed.

Lemma nodup_parts : forall {A B} (l : list (A * B)) (g : A * B -> list (list A)),
  NoDup (map fst l) -> (forall j, NoDup (g j)) -> NoDup (flat_map (fun j => map (cons (fst j)) (g j)) l).
Proof.
  intros A B l g N G. induction l as [|j l IH]; [constructor|]. inversion N as [|? ? N1 N2]; subst. cbn [flat_map].
  specialize (G j) as Gj. induction Gj as [|z m Hz _ IHm]; [apply IH; exact N2|]. cbn [map app]. constructor; [|exact IHm].
  intro H. apply in_app_or in H as [H|H].
  - apply in_map_iff in H as [z' [E H]]. injection E as ->. contradiction.
  - apply in_flat_map in H as [i [Hi H]]. apply in_map_iff in H as [z' [E _]]. injection E as E _. apply N1. rewrite <- E. apply in_map. exact Hi.
Qed.

Lemma leaves_keys : forall q v w, NoDup (map fst (leaves q v w)).
Proof.
  induction q as [|[p [a b]] q IH]; intros v w; [repeat constructor; intros []|]. cbn [leaves].
  assert (E : map fst (flat_map (fun j => map (fun e => (fst j :: fst e, snd e)) (leaves q (fst (snd j)) (snd (snd j)))) (both_told p a b v w))
    = flat_map (fun j => map (cons (fst j)) (map fst (leaves q (fst (snd j)) (snd (snd j))))) (both_told p a b v w)).
  { induction (both_told p a b v w) as [|j l IHl]; [reflexivity|]. cbn [flat_map]. rewrite map_app, IHl, !map_map. reflexivity. }
  refine (eq_ind_r (@NoDup output) _ E). apply nodup_parts; [apply both_told_keys | intro j; apply IH].
Qed.

(** One of the two sides: true for x, false for x'. *)
Definition side {A} (s : bool) (both : A * A) : A := if s then fst both else snd both.
Definition side_of (s : bool) (q : way) : program := map (fun e => (fst e, side s (snd e))) q.

Lemma law_side : forall s p a b ps v w h, law ((p, side s (a, b)) :: ps) (side s (v, w)) h
  = sum (both_told p a b v w) (fun j => law ps (side s (snd j)) (fun z => h (fst j :: z))).
Proof. intros [] p a b ps v w h; [apply law_left | apply law_right]. Qed.

Lemma leaves_law : forall s q v w h, law (side_of s q) (side s (v, w)) h = sum (leaves q v w) (fun e => size (side s (snd e)) * h (fst e)).
Proof.
  intro s. induction q as [|[p [a b]] q IH]; intros v w h; cbn [side_of map leaves fst snd].
  - rewrite law_end. cbn [Program.sum fst snd]. ring.
  - fold (side_of s q). rewrite law_side, sum_flat_map. apply sum_ext. intros [o [v' w']] _. rewrite sum_map. apply IH.
Qed.

Lemma only_one : forall (l : list (output * (vector * vector))) (f : vector * vector -> K) y, NoDup (map fst l) ->
  (forall b, In (y, b) l -> sum l (fun e => f (snd e) * on_event K (same_outputs y) (fst e)) = f b)
  /\ (~ In y (map fst l) -> sum l (fun e => f (snd e) * on_event K (same_outputs y) (fst e)) = 0).
Proof.
  intros l f y. induction l as [|e l IH]; intro N; [split; [intros b [] | reflexivity]|]. inversion N as [|? ? N1 N2]; subst.
  destruct (IH N2) as [I1 I2]. cbn [Program.sum map]. unfold on_event at 1 3. split.
  - intros b [->|H]; cbn [fst snd].
    + rewrite same_outputs_refl, I2 by exact N1. ring.
    + destruct (same_outputs y (fst e)) eqn:E; [apply same_outputs_spec in E; subst y; exfalso; apply N1; apply (in_map fst _ _ H)|].
      rewrite (I1 b H). ring.
  - intro H. destruct (same_outputs y (fst e)) eqn:E; [apply same_outputs_spec in E; exfalso; apply H; left; symmetry; exact E|].
    rewrite I2; [ring|]. intro J. apply H. right. exact J.
Qed.

(** What the table at the end of a way says of two datasets. *)
Definition total_at (s : bool) (u : table) : poly := table_sum u (fun vw => size_of (side s vw)).
Definition start : vector := [([], [1%Z])].

Section Pair.
Variable d : within_claim.
Notation c := (base d).
Variables (n : nat) (places : list (nat * option nat)).
Hypothesis law_is : law_of c = For n places.
Variables x y : dataset.
Variable u : table.
Hypothesis led : leads (way_of d places x y) begin u.
Notation q := (way_of d places x y).

Lemma all_leaves : forall g, tsum u g = sum (leaves q start start) (fun e => g (fst (snd e)) (snd (snd e))).
Proof. intro g. rewrite (leaves_sum q begin u led), begin_sum. reflexivity. Qed.

Lemma each_leaf : forall l, In l (leaves q start start) -> exists f, In f u /\ fst (snd f) = snd l.
Proof. intros l Hl. apply (leaves_in q begin u led (1%positive, ((start, start), 1%Z)) l); [left; reflexivity | exact Hl]. Qed.

Notation on_side s := (program_on c (side s (x, y))).

Lemma expected_at : forall s h, expected K T (on_side s) [] h = sum (leaves q start start) (fun e => size (side s (snd e)) * h (fst e)).
Proof.
  intros s h. rewrite <- leaves_law, <- law_begin.
  destruct s; cbn [side fst snd]; [rewrite <- (program_left d n places law_is x y) | rewrite <- (program_right d n places law_is x y)]; reflexivity.
Qed.

Lemma mass_at : forall s z, (forall b, In (z, b) (leaves q start start) -> mass K T (on_side s) (same_outputs z) = size (side s b))
  /\ (~ In z (map fst (leaves q start start)) -> mass K T (on_side s) (same_outputs z) = 0).
Proof.
  intros s z. destruct (only_one (leaves q start start) (fun b => size (side s b)) z (leaves_keys _ _ _)) as [H1 H2].
  unfold mass. rewrite expected_at. split; [exact H1 | exact H2].
Qed.

Lemma all_at : forall s, mass_of_all K T (on_side s) = val (total_at s u).
Proof.
  intro s. unfold mass_of_all, total_at. rewrite expected_at, table_sum_sound.
  transitivity (tsum u (fun v w => size (side s (v, w)))).
  - rewrite all_leaves. apply sum_ext. intros [z [v w]] _. cbn [fst snd]. ring.
  - apply tsum_ext. intros v w. rewrite size_of_sound. reflexivity.
Qed.

Lemma is_fair : is_root_of_e K (root c) T -> positive_at (root c) (total_at true u) = true -> positive_at (root c) (total_at false u) = true ->
  fair K T d x y.
Proof.
  intros R L O.
  refine (proj1 (table_says K T (at_point d (([], []), ([], []))) R n places law_is Within x y u (le_refl K 0) led _)).
  unfold ok_at, table_ok, settled, counts, gap_of. cbn [at_point base up down delta_up delta_down infinite root fst snd pmul padd popp map]. cbv zeta.
  change (table_sum u (fun vw => size_of (fst vw))) with (total_at true u). change (table_sum u (fun vw => size_of (snd vw))) with (total_at false u).
  rewrite L, O. cbn [andb].
  cbn. assert (F : forallb (fun _ : positive * ((vector * vector) * Z) => true) u = true) by (clear; induction u as [|e t IH]; [reflexivity | exact IH]).
  rewrite F. destruct (0 <=? root c); reflexivity.
Qed.
End Pair.
End Outputs.


(** Whether some output is in the ratio, with weight. *)
Definition equal_at (d : within_claim) (t : table) : bool :=
  let c := base d in
  let equal := fun vw => pzero (gap_of (up c) (down c) (total_at true t) (total_at false t) vw) && positive_at (root c) (size_of (fst vw)) in
  settled (root c) (up c) (down c) (total_at true t) (total_at false t) t
  && positive_at (root c) (total_at true t) && positive_at (root c) (total_at false t)
  && positive_at (root c) (table_sum t (fun vw => if equal vw then size_of (fst vw) else [])).
Definition check_equal (d : within_claim) (x y : dataset) : bool :=
  pzero (delta_up d) && positive_at (root (base d)) (delta_down d) && pair_ok d (equal_at d) x y.

Section Attained.
Variable K : domain.
Variable T : K.
Variable d : within_claim.
Notation c := (base d).
Hypothesis is_root : is_root_of_e K (root c) T.
Local Open Scope K_scope.
Add Ring K_ring_here : (is_ring K).
Notation val := (value_of K T).
Notation size := (size K T).

Lemma some_leaf : forall (l : list (output * (vector * vector))) (b : vector * vector -> bool) (f : vector * vector -> K),
  0 < sum K l (fun e => if b (snd e) then f (snd e) else 0) -> exists e, In e l /\ b (snd e) = true.
Proof.
  intros l b f H. destruct (existsb (fun e => b (snd e)) l) eqn:E.
  - apply existsb_exists in E. exact E.
  - exfalso. destruct H as [_ H]. apply H. symmetry. apply sum_zero. intros e He. destruct (b (snd e)) eqn:B; [|reflexivity].
    assert (X : existsb (fun e => b (snd e)) l = true) by (apply existsb_exists; exists e; auto). congruence.
Qed.

Theorem equal_sound : forall x y, check_equal d x y = true -> reached K T d.
Proof.
  intros x y H. unfold check_equal in H. apply andb_true_iff in H as [H G]. apply andb_true_iff in H as [Z0 P].
  apply (value_zero K T) in Z0. apply (positive_sound K T _ is_root) in P.
  destruct (pair_says d _ x y G) as [X [Y [C [n [places [u [S [L O]]]]]]]].
  unfold equal_at in O. cbv zeta in O. apply andb_true_iff in O as [O A].
  apply andb_true_iff in O as [O1 O2]. apply andb_true_iff in O1 as [_ O1].
  pose proof (is_fair K T d n places S x y u L is_root O1 O2) as F. apply (positive_sound K T _ is_root) in A.
  rewrite table_sum_sound, (all_leaves K d places x y u L) in A.
  set (equal := fun vw => pzero (gap_of (up c) (down c) (total_at true u) (total_at false u) vw) && positive_at (root c) (size_of (fst vw))) in *.
  set (leaves_ := leaves (way_of d places x y) start start) in *.
  destruct (some_leaf leaves_ equal (fun vw => val (size_of (fst vw)))) as [[z vw] [Hz E]].
  { rewrite (sum_ext K leaves_ _ (fun e => val (if equal (fst (snd e), snd (snd e)) then size_of (fst (snd e)) else []))); [exact A|].
    intros [z [v w]] _. cbn [fst snd]. destruct (equal (v, w)); reflexivity. }
  cbn [snd] in E. unfold equal in E. apply andb_true_iff in E as [E1 E2]. apply (value_zero K T) in E1. apply (positive_sound K T _ is_root) in E2.
  unfold gap_of in E1. rewrite value_add, value_opp, !value_mul in E1.
  pose proof (fun s => proj1 (mass_at K T d n places S x y s z) vw Hz) as M. pose proof (M true) as Px. pose proof (M false) as Py. cbn [side fst snd] in Px, Py.
  rewrite <- size_of_sound in Px, Py.
  exists x, y, (same_outputs z). repeat (split; [assumption|]). unfold ours, allowed. rewrite Px, Py, Z0.
  pose proof (all_at K T d n places S x y u L) as A'. rewrite (A' true : mass_of_all K T (program_on c x) = _), (A' false : mass_of_all K T (program_on c y) = _). split; [|left; exact E2].
  match type of E1 with ?a + - ?b = 0 => assert (G0 : a = b) by (replace a with ((a + - b) + b) by ring; rewrite E1; ring) end.
  match goal with |- ?dd * (?du * ?p * ?t) = _ => replace (dd * (du * p * t)) with (dd * (du * t * p)) by ring end. rewrite G0. ring.
Qed.
End Attained.

Print Assumptions equal_sound.
