(** All outputs of a way, one by one, with their weights under x and x'; and what is attained without δ by a pair of
    neighbours, at some output that the file need not name. *)

From Coq Require Import ZArith List Bool Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Law Datasets.
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

Lemma leaves_left : forall q v w y, law (left_of q) v (on_event K (same_outputs y))
  = sum (leaves q v w) (fun e => if same_outputs y (fst e) then size (fst (snd e)) else 0).
Proof.
  induction q as [|[p [a b]] q IH]; intros v w y.
  - cbn [left_of map leaves Program.sum fst snd]. rewrite law_end. unfold on_event. destruct (same_outputs y []); ring.
  - cbn [left_of map fst snd leaves]. fold (left_of q). rewrite (law_left K T p a b _ v w), sum_flat_map. apply sum_ext. intros j _.
    rewrite sum_map. cbn [fst snd]. destruct y as [|o y].
    + rewrite sum_zero by reflexivity. unfold Datasets.law. apply sum_zero. intros e _. rewrite expected_zero by reflexivity. ring.
    + assert (E : forall z, same_outputs (o :: y) (fst j :: z) = same_output (fst j) (Some o) && same_outputs y z) by reflexivity.
      rewrite (sum_ext K (leaves _ _ _) _ (fun e => if same_output (fst j) (Some o) then if same_outputs y (fst e) then size (fst (snd e)) else 0 else 0)).
      2: { intros e _. rewrite E. destruct (same_output _ _); reflexivity. }
      destruct (same_output (fst j) (Some o)) eqn:F.
      * rewrite <- IH. unfold Datasets.law. apply sum_ext. intros e _. f_equal. apply expected_same. intro z. unfold on_event. rewrite E. reflexivity.
      * rewrite sum_zero by reflexivity. unfold Datasets.law. apply sum_zero. intros e _. rewrite expected_zero; [ring|].
        intro z. unfold on_event. rewrite E. reflexivity.
Qed.

Lemma leaves_right : forall q v w y, law (right_of q) w (on_event K (same_outputs y))
  = sum (leaves q v w) (fun e => if same_outputs y (fst e) then size (snd (snd e)) else 0).
Proof.
  induction q as [|[p [a b]] q IH]; intros v w y.
  - cbn [right_of map leaves Program.sum fst snd]. rewrite law_end. unfold on_event. destruct (same_outputs y []); ring.
  - cbn [right_of map fst snd leaves]. fold (right_of q). rewrite (law_right K T p a b _ v w), sum_flat_map. apply sum_ext. intros j _.
    rewrite sum_map. cbn [fst snd]. destruct y as [|o y].
    + rewrite sum_zero by reflexivity. unfold Datasets.law. apply sum_zero. intros e _. rewrite expected_zero by reflexivity. ring.
    + assert (E : forall z, same_outputs (o :: y) (fst j :: z) = same_output (fst j) (Some o) && same_outputs y z) by reflexivity.
      rewrite (sum_ext K (leaves _ _ _) _ (fun e => if same_output (fst j) (Some o) then if same_outputs y (fst e) then size (snd (snd e)) else 0 else 0)).
      2: { intros e _. rewrite E. destruct (same_output _ _); reflexivity. }
      destruct (same_output (fst j) (Some o)) eqn:F.
      * rewrite <- (IH (fst (snd j))). unfold Datasets.law. apply sum_ext. intros e _. f_equal. apply expected_same. intro z.
        unfold on_event. rewrite E. reflexivity.
      * rewrite sum_zero by reflexivity. unfold Datasets.law. apply sum_zero. intros e _. rewrite expected_zero; [ring|].
        intro z. unfold on_event. rewrite E. reflexivity.
Qed.

Lemma only_one : forall (l : list (output * (vector * vector))) (f : vector * vector -> K) y, NoDup (map fst l) ->
  (forall b, In (y, b) l -> sum l (fun e => if same_outputs y (fst e) then f (snd e) else 0) = f b)
  /\ (~ In y (map fst l) -> sum l (fun e => if same_outputs y (fst e) then f (snd e) else 0) = 0).
Proof.
  intros l f y. induction l as [|e l IH]; intro N; [split; [intros b [] | reflexivity]|]. inversion N as [|? ? N1 N2]; subst.
  destruct (IH N2) as [I1 I2]. cbn [Program.sum map]. split.
  - intros b [->|H]; cbn [fst snd].
    + rewrite same_outputs_refl, I2 by exact N1. ring.
    + destruct (same_outputs y (fst e)) eqn:E; [apply same_outputs_spec in E; subst y; exfalso; apply N1; apply (in_map fst _ _ H)|].
      rewrite (I1 b H). ring.
  - intro H. destruct (same_outputs y (fst e)) eqn:E; [apply same_outputs_spec in E; exfalso; apply H; left; symmetry; exact E|].
    rewrite I2; [ring|]. intro J. apply H. right. exact J.
Qed.

Lemma total_left : forall q v w, law (left_of q) v (fun _ => 1) = sum (leaves q v w) (fun e => size (fst (snd e))).
Proof.
  induction q as [|[p [a b]] q IH]; intros v w; cbn [left_of map fst snd leaves].
  - rewrite law_end. cbn [Program.sum fst snd]. ring.
  - fold (left_of q). rewrite (law_left K T p a b _ v w), sum_flat_map. apply sum_ext. intros j _. rewrite sum_map. apply IH.
Qed.
Lemma total_right : forall q v w, law (right_of q) w (fun _ => 1) = sum (leaves q v w) (fun e => size (snd (snd e))).
Proof.
  induction q as [|[p [a b]] q IH]; intros v w; cbn [right_of map fst snd leaves].
  - rewrite law_end. cbn [Program.sum fst snd]. ring.
  - fold (right_of q). rewrite (law_right K T p a b _ v w), sum_flat_map. apply sum_ext. intros j _. rewrite sum_map. apply IH.
Qed.

(** What the table at the end of a way says of two datasets. *)
Definition left_total (u : table) : poly := table_sum u (fun vw => size_of (fst vw)).
Definition right_total (u : table) : poly := table_sum u (fun vw => size_of (snd vw)).
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

Lemma mass_left : forall E, mass K T (program_on c x) E = law (left_of q) start (on_event K E).
Proof. intro E. unfold start. rewrite law_begin, (program_left d n places law_is x y). reflexivity. Qed.
Lemma mass_right : forall E, mass K T (program_on c y) E = law (right_of q) start (on_event K E).
Proof. intro E. unfold start. rewrite law_begin, (program_right d n places law_is x y). reflexivity. Qed.

Lemma all_left : mass_of_all K T (program_on c x) = val (left_total u).
Proof.
  transitivity (law (left_of q) start (fun _ => 1)); [unfold start; rewrite law_begin, (program_left d n places law_is x y); reflexivity|].
  rewrite (total_left q start start), <- (all_leaves (fun v _ => size v)). unfold left_total. rewrite table_sum_sound. apply tsum_ext.
  intros v w. cbn [fst]. rewrite size_of_sound. reflexivity.
Qed.
Lemma all_right : mass_of_all K T (program_on c y) = val (right_total u).
Proof.
  transitivity (law (right_of q) start (fun _ => 1)); [unfold start; rewrite law_begin, (program_right d n places law_is x y); reflexivity|].
  rewrite (total_right q start start), <- (all_leaves (fun _ w => size w)). unfold right_total. rewrite table_sum_sound. apply tsum_ext.
  intros v w. cbn [snd]. rewrite size_of_sound. reflexivity.
Qed.

Lemma is_fair : is_root_of_e K (root c) T -> positive_at (root c) (left_total u) = true -> positive_at (root c) (right_total u) = true ->
  fair K T d x y.
Proof.
  intros R L O.
  refine (proj1 (table_says K T (at_point d (([], []), ([], []))) R n places law_is Within x y u (le_refl K 0) led _)).
  unfold ok_at, table_ok, settled, counts, gap_of. cbn [at_point base up down delta_up delta_down infinite root fst snd pmul padd popp map]. cbv zeta.
  fold (left_total u) (right_total u). rewrite L, O. cbn [andb].
  cbn. assert (F : forallb (fun _ : positive * ((vector * vector) * Z) => true) u = true) by (clear; induction u as [|e t IH]; [reflexivity | exact IH]).
  rewrite F. destruct (0 <=? root c); reflexivity.
Qed.
End Pair.
End Outputs.


(** Whether some output is in the ratio, with weight. *)
Definition equal_at (d : within_claim) (t : table) : bool :=
  let c := base d in
  let equal := fun vw => pzero (gap_of (up c) (down c) (left_total t) (right_total t) vw) && positive_at (root c) (size_of (fst vw)) in
  settled (root c) (up c) (down c) (left_total t) (right_total t) t
  && positive_at (root c) (left_total t) && positive_at (root c) (right_total t)
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
  set (equal := fun vw => pzero (gap_of (up c) (down c) (left_total u) (right_total u) vw) && positive_at (root c) (size_of (fst vw))) in *.
  set (leaves_ := leaves (way_of d places x y) start start) in *.
  destruct (some_leaf leaves_ equal (fun vw => val (size_of (fst vw)))) as [[z vw] [Hz E]].
  { rewrite (sum_ext K leaves_ _ (fun e => val (if equal (fst (snd e), snd (snd e)) then size_of (fst (snd e)) else []))); [exact A|].
    intros [z [v w]] _. cbn [fst snd]. destruct (equal (v, w)); reflexivity. }
  cbn [snd] in E. unfold equal in E. apply andb_true_iff in E as [E1 E2]. apply (value_zero K T) in E1. apply (positive_sound K T _ is_root) in E2.
  unfold gap_of in E1. rewrite value_add, value_opp, !value_mul in E1.
  assert (Px : mass K T (program_on c x) (same_outputs z) = val (size_of (fst vw))).
  { rewrite (mass_left K T d n places S x y), (leaves_left K T _ start start), size_of_sound.
    apply (only_one K leaves_ (fun b => size (fst b))); [apply leaves_keys | exact Hz]. }
  assert (Py : mass K T (program_on c y) (same_outputs z) = val (size_of (snd vw))).
  { rewrite (mass_right K T d n places S x y), (leaves_right K T _ start start), size_of_sound.
    apply (only_one K leaves_ (fun b => size (snd b))); [apply leaves_keys | exact Hz]. }
  exists x, y, (same_outputs z). repeat (split; [assumption|]). unfold ours, allowed. rewrite Px, Py, Z0.
  rewrite (all_left K T d n places S x y u L), (all_right K T d n places S x y u L). split; [|left; exact E2].
  match type of E1 with ?a + - ?b = 0 => assert (G0 : a = b) by (replace a with ((a + - b) + b) by ring; rewrite E1; ring) end.
  match goal with |- ?dd * (?du * ?p * ?t) = _ => replace (dd * (du * p * t)) with (dd * (du * t * p)) by ring end. rewrite G0. ring.
Qed.
End Attained.

Print Assumptions equal_sound.
