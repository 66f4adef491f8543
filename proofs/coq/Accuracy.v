(** Accuracy: the error that a program leaves is larger than alpha with probability at most beta, on all datasets; or that
    this is false, or attained, on one. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Turns.
Import ListNotations.
Open Scope Z_scope.

(** What is left at the end is published, so that it can be spoken of. *)
Definition publishing (p : part) : part :=
  {| reads := reads p; takes := takes p; lines := lines p; publishes := leaves p; leaves := [] |}.
Fixpoint measured (ps : program) : program :=
  match ps with
  | [] => []
  | [(p, r)] => [(publishing p, r)]
  | q :: rest => q :: measured rest
  end.

(** Whether the one number that is published last is away from 0 by more than n/d; what is no number is, too. *)
Definition wrong (n : Z) (d : positive) (y : output) : bool :=
  match last y [] with
  | [Number m e] => n * Zpos e <? Z.abs m * Zpos d
  | _ => true
  end.

(** What a part does from each state, found once; and the weights of states after it. *)
Definition rows : part -> option value -> list state -> list (option (list result)) :=
  kept (fun p record l => map (run p record) l).
Definition over_rows {A} (g : state * poly -> list result -> A -> A) (a : A) (p : part) (record : option value) (v : vector) : A :=
  fold_right (fun e l => g (fst e) (match snd e with Some l => l | None => [] end) l) a (combine v (rows p record (map fst v))).
Definition moved_by (p : part) (record : option value) (v : vector) : vector :=
  over_rows (fun e rs l => fold_right (fun r l => place_in (after r) (pmul (snd e) (weight r)) l) l rs) [] p record v.
Fixpoint same_list {A} (eq : A -> A -> bool) (l m : list A) : bool :=
  match l, m with
  | [], [] => true
  | a :: l', b :: m' => eq a b && same_list eq l' m'
  | _, _ => false
  end.
Lemma same_list_itself : forall {A} (eq : A -> A -> bool), (forall a, eq a a = true) -> forall l, same_list eq l l = true.
Proof. intros A eq H. induction l as [|a l IH]; [reflexivity|]. cbn [same_list]. rewrite H, IH. reflexivity. Qed.

Definition same_entry (e f : state * poly) : bool := same (Tuple (fst e)) (Tuple (fst f)) && same_list Z.eqb (snd e) (snd f).
Lemma same_vector_itself : forall v, same_list same_entry v v = true.
Proof.
  apply same_list_itself. intros [s a]. unfold same_entry. cbn [fst snd]. rewrite (same_list_itself Z.eqb Z.eqb_refl).
  replace (same (Tuple s) (Tuple s)) with true by (symmetry; apply same_spec; reflexivity). reflexivity.
Qed.
Definition same_vector : vector -> vector -> bool := quick (same_list same_entry) same_vector_itself.
(** One object for equal vectors. *)
Definition shared : vector -> vector := kept (fun _ _ v => v) tt tt.
(** A vector, and from which record on a client that may change places with the one before meets them. *)
Definition front := list (vector * nat).
Definition add_vector (v : vector * nat) (l : front) : front :=
  if existsb (fun u => same_vector (fst v) (fst u) && Nat.eqb (snd v) (snd u)) l then l else v :: l.

Section Check.
Variable root : Z.
Variables beta_up beta_down : poly.
Variables (n : Z) (d : positive).
Variable asked : verdict.

Definition runs_well_once (p : part) (record : option value) (v : vector) : bool :=
  forallb (fun row => match row with Some _ => true | None => false end) (rows p record (map fst v)).
Definition runs_well : part -> option value -> vector -> bool := kept runs_well_once.
Definition weight_if (p : part) (record : option value) (v : vector) (event : output -> bool) : poly :=
  fold_right (fun e t => fold_right (fun r t => if event [published r] then padd (pmul (snd e) (weight r)) t else t) t
                                    (results p record (fst e))) [] v.
Definition accurate (p : part) (record : option value) (v : vector) : bool :=
  let all := weight_if p record v (fun _ => true) in
  forallb (fun e => forallb (fun r => match published r with [Number _ _] => true | _ => false end)
                            (results p record (fst e))) v
  && (runs_well p record v && positive_at root all
  && let over := padd (pmul beta_down (weight_if p record v (wrong n d))) (popp (pmul beta_up all)) in
     match asked with Within => nonpos root over | Exceeds => positive_at root over | Reaches => pzero over end).

(** All vectors of weights that datasets lead to, part by part, with the records that each part may read; of clients that
    may change places in one order. *)
Fixpoint enumerated (ps : list (part * list (option value))) (fs : list bool) (found : front) : bool :=
  match ps with
  | [] => false
  | [(p, rs)] => forallb (fun v => forallb (fun r => accurate (publishing p) (snd r) (fst v)) (from_on (snd v) rs)) found
  | (p, rs) :: rest =>
      forallb (fun v => forallb (fun r => runs_well p (snd r) (fst v)) (from_on (snd v) rs)) found
      && enumerated rest (tl fs) (fold_right (fun v found => fold_right (fun r =>
           add_vector (moved_by p (snd r) (fst v), if hd false fs then fst r else 0%nat)) found (from_on (snd v) rs)) [] found)
  end.
End Check.

Definition measured_by (c : claim) (n : Z) (d : positive) (asked : verdict) (fs : list bool) (reads_ : nat * option nat -> list (option value)) : bool :=
  match law_of c with
  | For m places => well_made c && positive_at (root c) (down c)
                    && enumerated (root c) (up c) (down c) n d asked (map (fun p => (part_at c (fst p), reads_ p)) places) fs [([([], [1])], 0%nat)]
  | ForEvery _ _ _ => false
  end.
Definition read_by (c : claim) (i : nat) : list (option value) := records_of (records c) (part_at c i).
Definition turned_places (c : claim) (g : part -> part) : list bool :=
  match law_of c with For _ places => turns_of (part_at c) (read_by c) g (map fst places) | ForEvery _ _ _ => [] end.
Definition check_accuracy (c : claim) (n : Z) (d : positive) : bool :=
  measured_by c n d Within (turned_places c publishing) (fun p => read_by c (fst p)).
Definition check_accuracy_at (c : claim) (n : Z) (d : positive) (asked : verdict) (x : dataset) : bool :=
  listed c x && measured_by c n d asked [] (fun p => [record_of x p]).

(** With beta = up / down of the claim: P(|error| > n/d | x) is at most beta, above it, or equal to it, on a dataset x. *)
Definition accurate_on (K : domain) (T : K) (c : claim) (n : Z) (d : positive) (asked : verdict) (ps : program) : Prop :=
  let over := mul (value_of K T (down c)) (mass K T ps (wrong n d)) in
  let bar := mul (value_of K T (up c)) (mass_of_all K T ps) in
  meaningful ps [] /\ lt zero (mass_of_all K T ps)
  /\ match asked with Within => le over bar | Exceeds => lt bar over | Reaches => over = bar end.
Definition accuracy_at (K : domain) (T : K) (c : claim) (n : Z) (d : positive) (asked : verdict) (x : dataset) : Prop :=
  accurate_on K T c n d asked (measured (program_on c x)).
Definition accuracy (K : domain) (T : K) (c : claim) (n : Z) (d : positive) : Prop :=
  forall x, is_dataset c x -> accuracy_at K T c n d Within x.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).

Lemma same_list_sound : forall {A} (eq : A -> A -> bool), (forall a b, eq a b = true -> a = b) ->
  forall l m, same_list eq l m = true -> l = m.
Proof.
  intros A eq H. induction l as [|a l IH]; intros [|b m] E; try discriminate E; [reflexivity|].
  cbn [same_list] in E. apply andb_true_iff in E as [E1 E2]. rewrite (H a b E1), (IH m E2). reflexivity.
Qed.

Lemma same_vector_sound : forall u v, same_vector u v = true -> u = v.
Proof.
  unfold same_vector, quick. apply same_list_sound. intros [s a] [t b] H. unfold same_entry in H. cbn [fst snd] in H. apply andb_true_iff in H as [H1 H2].
  apply same_spec in H1. injection H1 as ->. apply (same_list_sound Z.eqb) in H2; [subst; reflexivity|].
  intros x y E. apply Z.eqb_eq. exact E.
Qed.

Lemma add_vector_in : forall v l, In v (add_vector v l).
Proof.
  intros [v k] l. unfold add_vector. destruct (existsb _ l) eqn:E; [|left; reflexivity].
  apply existsb_exists in E as [[u j] [Hu E]]. cbn [fst snd] in E. apply andb_true_iff in E as [E2 E1].
  apply Nat.eqb_eq in E1. apply same_vector_sound in E2. subst. exact Hu.
Qed.

Lemma add_vector_keeps : forall v u l, In u l -> In u (add_vector v l).
Proof. intros v u l H. unfold add_vector. destruct (existsb _ l); [exact H | right; exact H]. Qed.

Lemma fold_vectors_keep : forall {A} (g : A -> vector * nat) l m u, In u m -> In u (fold_right (fun r => add_vector (g r)) m l).
Proof. intros A g l m u H. induction l as [|a l IH]; [exact H | apply add_vector_keeps; exact IH]. Qed.

Lemma fold_vectors_in : forall {A} (g : A -> vector * nat) l m r, In r l -> In (g r) (fold_right (fun r => add_vector (g r)) m l).
Proof.
  intros A g l m r H. induction l as [|a l IH]; [contradiction|]. cbn [fold_right].
  destruct H as [->|H]; [apply add_vector_in | apply add_vector_keeps; apply IH; exact H].
Qed.

Lemma place_in_states : forall s a l, In s (map fst (place_in s a l)) /\ forall t, In t (map fst l) -> In t (map fst (place_in s a l)).
Proof.
  intros s a l. induction l as [|[u b] l [I1 I2]]; [split; [left; reflexivity | intros t []]|]. cbn [place_in].
  destruct (same (Tuple s) (Tuple u)) eqn:E.
  - apply same_spec in E. injection E as E. subst u. cbn [map fst]. split.
    { left. reflexivity. }
    { intros t H. exact H. }
  - destruct (earlier s u); cbn [map fst].
    + split; [left; reflexivity | intros t H; right; exact H].
    + split; [right; exact I1|]. intros t [H|H]; [left; exact H | right; apply I2; exact H].
Qed.

Lemma place_in_new : forall s a l, In s (map fst (place_in s a l)).
Proof. intros. apply (proj1 (place_in_states s a l)). Qed.
Lemma place_in_old : forall s a l t, In t (map fst l) -> In t (map fst (place_in s a l)).
Proof. intros s a l. apply (proj2 (place_in_states s a l)). Qed.

Lemma over_rows_is : forall {A} (g : state * poly -> list result -> A -> A) a p r v,
  over_rows g a p r v = fold_right (fun e l => g e (results p r (fst e)) l) a v.
Proof.
  intros A g a p r v. unfold over_rows, rows, kept. induction v as [|e v IH]; [reflexivity|]. cbn [map combine fold_right fst snd]. rewrite IH. reflexivity.
Qed.

Lemma moved_by_sum : forall p r v (f : state -> K),
  sum (moved_by p r v) (fun e => val (snd e) * f (fst e))
  = sum v (fun e => val (snd e) * sum (results p r (fst e)) (fun x => val (weight x) * f (after x))).
Proof.
  intros p r v f. unfold moved_by. rewrite over_rows_is. induction v as [|[s a] v IH]; [reflexivity|]. cbn [fold_right Program.sum fst snd].
  rewrite <- IH. generalize (fold_right (fun e l => fold_right (fun x l0 => place_in (after x) (pmul (snd e) (weight x)) l0) l
    (results p r (fst e))) [] v) as rest. intro rest. induction (results p r s) as [|x l IHl]; [cbn; ring|].
  cbn [fold_right Program.sum]. rewrite place_in_sum, IHl, value_mul. ring.
Qed.

Lemma moved_by_states : forall p r v s x, In s (map fst v) -> In x (results p r s) -> In (after x) (map fst (moved_by p r v)).
Proof.
  intros p r v s x Hs Hx. unfold moved_by. rewrite over_rows_is. induction v as [|[t a] v IH]; [contradiction|]. cbn [fold_right fst snd].
  destruct Hs as [E|Hs].
  - cbn [fst] in E. subst t. generalize (fold_right (fun e l => fold_right (fun x0 l0 => place_in (after x0) (pmul (snd e) (weight x0)) l0) l
      (results p r (fst e))) [] v) as rest. intro rest. induction (results p r s) as [|y l IHl]; [contradiction|]. cbn [fold_right].
    destruct Hx as [->|Hx]; [apply place_in_new | apply place_in_old; apply IHl; exact Hx].
  - specialize (IH Hs). induction (results p r t) as [|y l IHl]; [exact IH|]. cbn [fold_right]. apply place_in_old. exact IHl.
Qed.

Lemma weight_if_sum : forall p r v E,
  val (weight_if p r v E) = sum v (fun e => val (snd e) * sum (results p r (fst e)) (fun x => val (weight x) * (if E [published x] then 1 else 0))).
Proof.
  intros p r v E. unfold weight_if. induction v as [|[s a] v IH]; [reflexivity|]. cbn [fold_right Program.sum fst snd].
  rewrite <- IH. generalize (fold_right (fun e t => fold_right (fun x t0 => if E [published x] then padd (pmul (snd e) (weight x)) t0 else t0) t
    (results p r (fst e))) [] v) as rest. intro rest. induction (results p r s) as [|x l IHl]; [cbn; ring|].
  cbn [fold_right Program.sum]. destruct (E [published x]); rewrite ?value_add, ?value_mul, IHl; ring.
Qed.

Variable root' : Z.
Hypothesis is_root : is_root_of_e K root' T.
Variables beta_up beta_down : poly.
Variables (n : Z) (d : positive).
Variable asked : verdict.

Lemma wrong_later : forall a b y, wrong n d (a :: b :: y) = wrong n d (b :: y).
Proof. reflexivity. Qed.

Definition fine (ps : program) (v : vector) : Prop :=
  (forall s, In s (map fst v) -> meaningful ps s)
  /\ 0 < sum v (fun e => val (snd e) * expected K T ps (fst e) (fun _ => 1))
  /\ let over := val beta_down * sum v (fun e => val (snd e) * expected K T ps (fst e) (fun y => if wrong n d y then 1 else 0)) in
     let bar := val beta_up * sum v (fun e => val (snd e) * expected K T ps (fst e) (fun _ => 1)) in
     match asked with Within => over <= bar | Exceeds => bar < over | Reaches => over = bar end.

Lemma runs_well_sound : forall p r v, runs_well p r v = true -> forall s, In s (map fst v) -> run p r s <> None.
Proof.
  intros p r v H s Hs. unfold runs_well, kept, runs_well_once, rows, kept in H. rewrite forallb_forall in H. apply in_map_iff in Hs as [e [<- He]].
  specialize (H _ (in_map (run p r) _ _ (in_map fst _ _ He))). destruct (run p r (fst e)); [congruence | discriminate].
Qed.

(** Records that are met in order. *)
Inductive picks : list (part * list (option value)) -> list bool -> nat -> list (option value) -> Prop :=
| picked_all : forall fs least, picks [] fs least []
| picked : forall p rp ps fs least k r rs, nth_error rp k = Some r -> (least <= k)%nat ->
    picks ps (tl fs) (if hd false fs then k else 0%nat) rs -> picks ((p, rp) :: ps) fs least (r :: rs).

Lemma enumerated_sound : forall ps fs found rs least, enumerated root' beta_up beta_down n d asked ps fs found = true ->
  picks ps fs least rs -> forall v, In (v, least) found -> fine (measured (combine (map fst ps) rs)) v.
Proof.
  induction ps as [|[p rp] ps IH]; intros fs found rs least H R v Hv; [discriminate|].
  inversion R as [|? ? ? ? ? k r rs' Hk Lk R']; subst. pose proof (in_from_on _ _ _ _ Hk Lk) as Hr.
  destruct ps as [|[q rq] ps].
  - inversion R'; subst. cbn [enumerated] in H. rewrite forallb_forall in H. specialize (H _ Hv). cbn [fst snd] in H. rewrite forallb_forall in H. specialize (H _ Hr). cbn [fst snd] in H.
    unfold accurate in H. cbv zeta in H. apply andb_true_iff in H as [_ H]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
    apply (positive_sound K T root' is_root) in H2. rewrite weight_if_sum in H2.
    cbn [map fst combine measured]. split; [|split].
    + intros s Hs. cbn [meaningful]. split; [eapply runs_well_sound; eassumption | apply Forall_forall; intros; exact I].
    + exact H2.
    + cbv zeta. cbn [expected].
      destruct asked; [apply (nonpos_sound K T root' is_root) in H3 | apply (positive_sound K T root' is_root) in H3 | apply (value_zero K T) in H3];
        rewrite value_add, value_opp, !value_mul, !weight_if_sum in H3.
      * apply le_sub. apply opp_le in H3.
        match goal with |- 0 <= ?a - ?b => match type of H3 with 0 <= - (?x + - ?y) => change (0 <= y - x); replace (y - x) with (- (x + - y)) by ring end end.
        exact H3.
      * destruct H3 as [H3 N]. split.
        -- apply le_sub. match type of H3 with 0 <= ?x + - ?y => change (0 <= x - y); replace (x - y) with (x + - y) by ring end. exact H3.
        -- intro E. apply N. match type of N with 0 <> ?x + - ?y => change (y = x) in E; rewrite E; ring end.
      * match type of H3 with ?x + - ?y = 0 => change (x = y); replace x with ((x + - y) + y) by ring end. rewrite H3. ring.
  - change (enumerated root' beta_up beta_down n d asked ((p, rp) :: (q, rq) :: ps) fs found) with
      (forallb (fun v => forallb (fun r => runs_well p (snd r) (fst v)) (from_on (snd v) rp)) found
       && enumerated root' beta_up beta_down n d asked ((q, rq) :: ps) (tl fs) (fold_right (fun v found => fold_right (fun r =>
            add_vector (moved_by p (snd r) (fst v), if hd false fs then fst r else 0%nat)) found (from_on (snd v) rp)) [] found)) in H.
    apply andb_true_iff in H as [H1 H2]. rewrite forallb_forall in H1. specialize (H1 _ Hv). cbn [fst snd] in H1.
    rewrite forallb_forall in H1. specialize (H1 _ Hr). cbn [fst snd] in H1.
    assert (M : In (moved_by p r v, if hd false fs then k else 0%nat) (fold_right (fun v found => fold_right (fun r =>
        add_vector (moved_by p (snd r) (fst v), if hd false fs then fst r else 0%nat)) found (from_on (snd v) rp)) [] found)).
    { clear - Hv Hr. induction found as [|u found IHf]; [contradiction|]. cbn [fold_right]. destruct Hv as [->|Hv].
      { apply (fold_vectors_in (fun r => (moved_by p (snd r) v, if hd false fs then fst r else 0%nat)) _ _ (k, r)). exact Hr. }
      { apply (fold_vectors_keep (fun r => (moved_by p (snd r) (fst u), if hd false fs then fst r else 0%nat))). apply IHf. exact Hv. } }
    inversion R' as [|? ? ? ? ? k2 r2 rs2 Hk2 Lk2 R2]; subst.
    destruct (IH _ _ _ _ H2 R' _ M) as [F1 [F2 F3]]. cbn [map fst] in *.
    assert (E : measured (combine (p :: q :: map fst ps) (r :: r2 :: rs2)) = (p, r) :: measured (combine (q :: map fst ps) (r2 :: rs2))) by reflexivity.
    rewrite E. set (later := measured (combine (q :: map fst ps) (r2 :: rs2))) in *. cbv zeta in F3.
    rewrite (moved_by_sum p r v (fun s => expected K T later s (fun _ => 1))) in F2.
    rewrite (moved_by_sum p r v (fun s => expected K T later s (fun _ => 1))) in F3.
    rewrite (moved_by_sum p r v (fun s => expected K T later s (fun y => if wrong n d y then 1 else 0))) in F3.
    split; [|split].
    + intros s Hs. cbn [meaningful]. split; [eapply runs_well_sound; eassumption|]. apply Forall_forall. intros x Hx.
      apply F1. eapply moved_by_states; eassumption.
    + exact F2.
    + cbv zeta. cbn [expected].
      rewrite (sum_ext K v _ (fun e => val (snd e) * sum (results p r (fst e)) (fun x => val (weight x) * expected K T later (after x) (fun y => if wrong n d y then 1 else 0)))).
      * exact F3.
      * intros e _. f_equal. apply sum_ext. intros x _. f_equal. apply expected_like. intros y L.
        destruct y as [|b y]; [|rewrite wrong_later; reflexivity].
        exfalso. unfold later in L. destruct ps, rs2; cbn in L; discriminate L.
Qed.
End Proofs.

Lemma measured_says : forall K T c n d asked fs reads_ rs m places, is_root_of_e K (root c) T -> law_of c = For m places ->
  measured_by c n d asked fs reads_ = true -> picks (map (fun p => (part_at c (fst p), reads_ p)) places) fs 0 rs ->
  accurate_on K T c n d asked (measured (combine (map (fun p => part_at c (fst p)) places) rs)).
Proof.
  intros K T c n d asked fs reads_ rs m places R S H I. unfold measured_by in H. rewrite S in H.
  apply andb_true_iff in H as [H E].
  destruct (enumerated_sound K T (root c) R (up c) (down c) n d asked _ _ _ _ _ E I [([], [1])] (or_introl eq_refl)) as [F1 [F2 F3]].
  rewrite map_map in F1, F2, F3. cbn [fst] in F1, F2, F3.
  set (ps := measured _) in *. unfold accurate_on. split; [apply F1; left; reflexivity|].
  cbv zeta in F3. cbn [Program.sum fst snd] in F2, F3. rewrite (value_constant K T [1]%Z) in F2, F3 by reflexivity. cbn [hd] in F2, F3. rewrite inj_one in F2, F3.
  assert (One : forall a : K, add (mul one a) zero = a).
  { intro a. rewrite (Radd_comm (is_ring K)), (Radd_0_l (is_ring K)). apply (Rmul_1_l (is_ring K)). }
  rewrite !One in F2. rewrite !One in F3. split; [exact F2 | exact F3].
Qed.

Lemma program_combined : forall c x m places, law_of c = For m places ->
  program_on c x = combine (map (fun p => part_at c (fst p)) places) (map (record_of x) places).
Proof.
  intros c x m places S. unfold program_on. rewrite S. unfold on. clear. induction places as [|p places IH]; [reflexivity|].
  cbn [map combine fst snd]. rewrite IH. reflexivity.
Qed.

(** Ways on which both records are one. *)
Definition both (r : option value) : meeting := (r, r, false).
Definition met_alone (c : claim) (i : nat) : list meeting := map both (read_by c i).
Definition way_alone (c : claim) (x : dataset) (places : list (nat * option nat)) : way :=
  at_last publishing (map (fun p => (part_at c (fst p), (record_of x p, record_of x p))) places).

Lemma measured_is : forall ps, measured ps = at_last publishing ps.
Proof. induction ps as [|[p r] [|q ps] IH]; [reflexivity | reflexivity|]. cbn [measured at_last] in *. rewrite IH. reflexivity. Qed.

Lemma left_at_last : forall g q, left_of (at_last g q) = at_last g (left_of q).
Proof.
  intros g q. induction q as [|[p r] [|e q] IH]; [reflexivity | reflexivity|].
  change (at_last g ((p, r) :: e :: q)) with ((p, r) :: at_last g (e :: q)).
  change (left_of ((p, r) :: at_last g (e :: q))) with ((p, fst r) :: left_of (at_last g (e :: q))). rewrite IH. reflexivity.
Qed.

Lemma walks_alone : forall c x places, Forall (fun p => In (record_of x p) (read_by c (fst p))) places ->
  forall b, walks true (places_of (part_at c) publishing (met_alone c) (map fst places)) b (way_alone c x places).
Proof.
  intros c x places F. unfold places_of, way_alone. induction F as [|p places Hp F IH]; intro b; [constructor|].
  assert (M : In (both (record_of x p)) (met_alone c (fst p))) by (apply in_map; exact Hp).
  destruct F as [|p2 places Hp2 F].
  - cbn [map at_last]. eapply walking; [exact M | destruct b; reflexivity | constructor].
  - cbn [map at_last]. eapply walking; [exact M | destruct b; reflexivity | apply IH].
Qed.

Lemma picked_alone : forall c is fs least b q, in_order true (places_of (part_at c) publishing (met_alone c) is) fs least b q ->
  exists rs, left_of q = measured (combine (map (part_at c) is) rs) /\ picks (map (fun i => (part_at c i, read_by c i)) is) fs least rs.
Proof.
  intros c is. unfold places_of. induction is as [|i is IH]; intros fs least b q W.
  - inversion W; subst. exists []. split; [reflexivity | constructor].
  - assert (Nth : forall k a a' e, nth_error (met_alone c i) k = Some (a, a', e) -> nth_error (read_by c i) k = Some a).
    { intros k a a' e H. unfold met_alone in H. rewrite nth_error_map in H. destruct (nth_error (read_by c i) k) as [r|]; [|discriminate].
      injection H as -> _ _. reflexivity. }
    destruct is as [|j is].
    + cbn [map at_last] in W. inversion W as [|? ? ? ? ? ? k a a' e q2 Hk Lk N W2]; subst. inversion W2; subst.
      exists [a]. split; [reflexivity|]. cbn [map]. eapply picked; [eapply Nth; exact Hk | exact Lk | constructor].
    + cbn [map at_last] in W. inversion W as [|? ? ? ? ? ? k a a' e q2 Hk Lk N W2]; subst.
      destruct (IH _ _ _ _ W2) as [rs [E P]]. exists (a :: rs). split.
      * cbn [left_of map fst snd] in *. fold (left_of q2). rewrite E. cbn [map combine]. inversion P; subst. reflexivity.
      * cbn [map] in *. eapply picked; [eapply Nth; exact Hk | exact Lk | exact P].
Qed.

Theorem accuracy_sound : forall K T c n d, is_root_of_e K (root c) T -> check_accuracy c n d = true -> accuracy K T c n d.
Proof.
  intros K T c n d R H x D. unfold check_accuracy in H. pose proof H as G. unfold measured_by in G.
  destruct (law_of c) as [m places|] eqn:S; [|discriminate]. apply andb_true_iff in G as [G _]. apply andb_true_iff in G as [W _].
  destruct (reads_well_of c m places S W) as [RW _]. pose proof D as [L F]. rewrite S in L.
  assert (I : Forall (fun p => In (record_of x p) (read_by c (fst p))) places).
  { rewrite Forall_forall in RW. apply Forall_forall. intros p Hp. apply in_records with m; auto. }
  destruct (in_order_is_enough K T (part_at c) (read_by c) publishing (met_alone c)) with (once := true) (is := map fst places) (q := way_alone c x places) as [q [Q1 [Q2 [Q3 _]]]].
  { intros i e He. unfold met_alone in He. apply in_map_iff in He as [r [<- Hr]]. split; exact Hr. }
  { apply walks_alone. exact I. }
  destruct (picked_alone c _ _ _ _ _ Q1) as [rs [E P]]. unfold turned_places in H. rewrite S in H. rewrite map_map in P.
  pose proof (measured_says K T c n d Within _ _ rs m places R S H P) as A. rewrite map_map in E. rewrite <- E in A.
  assert (Z : left_of (way_alone c x places) = measured (program_on c x)).
  { unfold way_alone. rewrite left_at_last, measured_is, (program_combined c x m places S). f_equal. unfold left_of. rewrite map_map.
    cbn [fst snd]. clear. induction places as [|p places IH]; [reflexivity|]. cbn [map combine]. rewrite IH. reflexivity. }
  unfold accuracy_at. rewrite <- Z. destruct Q2 as [turn [T1 T2]]. destruct (T2 [] (or_introl eq_refl)) as [T3 _].
  destruct A as [A1 [A2 A3]]. unfold accurate_on.
  assert (X : mass_of_all K T (left_of (way_alone c x places)) = mass_of_all K T (left_of q)) by apply T3.
  assert (Y : mass K T (left_of (way_alone c x places)) (wrong n d) = mass K T (left_of q) (wrong n d)).
  { unfold mass. rewrite T3. apply expected_same. intro y. unfold wrong. rewrite (proj2 (T1 y)). reflexivity. }
  rewrite X, Y. split; [apply Q3; exact A1|]. split; assumption.
Qed.

Theorem accuracy_at_sound : forall K T c n d asked x, is_root_of_e K (root c) T -> check_accuracy_at c n d asked x = true ->
  is_dataset c x /\ accuracy_at K T c n d asked x.
Proof.
  intros K T c n d asked x R H. unfold check_accuracy_at in H. apply andb_true_iff in H as [L H].
  pose proof (listed_sound c x L) as D. split; [exact D|]. pose proof H as G. unfold measured_by in G.
  destruct (law_of c) as [m places|] eqn:S; [|discriminate]. unfold accuracy_at. rewrite (program_combined c x m places S).
  eapply measured_says; [exact R | exact S | exact H|]. clear. induction places as [|p places IH]; [constructor|].
  cbn [map]. eapply picked with (k := 0%nat); [reflexivity | lia | exact IH].
Qed.

Print Assumptions accuracy_sound.
Print Assumptions accuracy_at_sound.
