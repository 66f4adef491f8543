(** Clients that may change places: with them, what they publish changes places, and no weight changes. So one order of
    what they meet is enough. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate.
Import ListNotations.
Open Scope Z_scope.

(** Two records that a part meets, and whether they differ. *)
Definition meeting := (option value * option value * bool)%type.

(** What a part does twice, with two records: both outputs and the state after them, with weights; [turned] the second
    output first. The difference of both orders is 0. *)
Definition twice (p : part) (turned : bool) (a b : option value) (s : state) : vector :=
  flat_map (fun x => map (fun y =>
    ((if turned then [Tuple (published y); Tuple (published x)] else [Tuple (published x); Tuple (published y)]) ++ after y,
     pmul (weight x) (weight y))) (results p b (after x))) (results p a s).
Definition turned_less (p : part) (a b : option value) (s : state) : vector :=
  fold_right (fun e l => place_in (fst e) (popp (snd e)) l)
             (fold_right (fun e l => place_in (fst e) (snd e) l) [] (twice p false a b s)) (twice p true b a s).
Definition may_turn : part -> list (option value) -> state -> bool :=
  kept (fun p rs s => forallb (fun a => forallb (fun b => forallb (fun e => pzero (snd e)) (turned_less p a b s)) rs) rs).

Fixpoint at_last {A B} (g : A -> A) (l : list (A * B)) : list (A * B) :=
  match l with [] => [] | [(a, b)] => [(g a, b)] | e :: rest => e :: at_last g rest end.

(** Which places may change with the next one, neither of them the last; None where some run has no meaning, or there are
    many states. Parts, and the records that they read, have numbers; the last part is another one. *)
Definition most_states : nat := 1000.
Definition run_all (p : part) (rs : list (option value)) (l : list state) : bool :=
  forallb (fun s => forallb (fun r => match run p r s with Some _ => true | None => false end) rs) l.
Definition steps_to (p : part) (rs : list (option value)) (l : list state) : list state :=
  fold_right (fun s found => fold_right (fun r found => fold_right (fun x => insert (after x)) found (results p r s)) found rs) [] l.
Section Turns.
Variable P : nat -> part.
Variable R : nat -> list (option value).
Variable g : part -> part.
Fixpoint turns (is : list nat) (l : list state) : option (list bool) :=
  match is with
  | [] => Some []
  | [i] => if run_all (g (P i)) (R i) l then Some [] else None
  | i :: (j :: later) as rest =>
      if (length l <=? most_states)%nat && run_all (P i) (R i) l
      then option_map (cons (match later with
                             | [] => false
                             | _ => Nat.eqb i j && forallb (may_turn (P i) (R i)) l
                             end)) (turns rest (steps_to (P i) (R i) l))
      else None
  end.
(** Where no place is like the next one there is nothing to look at. *)
Fixpoint alike_next (is : list nat) : bool :=
  match is with i :: (j :: _ as rest) => Nat.eqb i j || alike_next rest | _ => false end.
Definition turns_of (is : list nat) : list bool :=
  if alike_next is then match turns is [[]] with Some fs => fs | None => [] end else [].
End Turns.

(** Elements with their places, from one on. *)
Fixpoint counted {A} (k : nat) (l : list A) : list (nat * A) := match l with [] => [] | a :: rest => (k, a) :: counted (S k) rest end.
Definition from_on {A} (least : nat) (l : list A) : list (nat * A) := filter (fun e => (least <=? fst e)%nat) (counted 0 l).

Lemma in_from_on : forall {A} (l : list A) k a least, nth_error l k = Some a -> (least <= k)%nat -> In (k, a) (from_on least l).
Proof.
  intros A l k a least H L. apply filter_In. split; [|apply Nat.leb_le; exact L]. clear L.
  assert (G : forall l i k, nth_error l k = Some a -> In (i + k, a)%nat (counted i l)); [|exact (G l 0%nat k H)]. clear.
  induction l as [|b l IH]; intros i [|k] H; try discriminate H; cbn [counted].
  - injection H as ->. left. f_equal. lia.
  - right. replace (i + S k)%nat with (S i + k)%nat by lia. apply IH. exact H.
Qed.

(** A way through the parts, with two records for each. *)
Definition way := list (part * (option value * option value)).
Definition left_of (q : way) : program := map (fun e => (fst e, fst (snd e))) q.
Definition right_of (q : way) : program := map (fun e => (fst e, snd (snd e))) q.

(** Ways, along which only one pair differs, or all at once; and those on which places that may change meet pairs in order. *)
Section Walks.
Variable once : bool.
Inductive walks : list (part * list meeting) -> bool -> way -> Prop :=
| walked : forall b, walks [] b []
| walking : forall p ms rest b a a' c q, In (a, a', c) ms -> b && c && negb once = false -> walks rest (b || c) q ->
    walks ((p, ms) :: rest) b ((p, (a, a')) :: q).
Inductive in_order : list (part * list meeting) -> list bool -> nat -> bool -> way -> Prop :=
| none_left : forall fs least b, in_order [] fs least b []
| one_more : forall p ms rest fs least b k a a' c q, nth_error ms k = Some (a, a', c) -> (least <= k)%nat ->
    b && c && negb once = false -> in_order rest (tl fs) (if hd false fs then k else 0%nat) (b || c) q ->
    in_order ((p, ms) :: rest) fs least b ((p, (a, a')) :: q).

Lemma any_order : forall ps b q, walks ps b q -> in_order ps [] 0 b q.
Proof.
  intros ps b q W. induction W as [|p ms rest b a a' c q H N W IH]; [constructor|]. apply In_nth_error in H as [k H].
  eapply one_more; [exact H | lia | exact N | exact IH].
Qed.
End Walks.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).

Lemma expected_like : forall ps s g h, (forall y, length y = length ps -> g y = h y) -> expected K T ps s g = expected K T ps s h.
Proof.
  induction ps as [|[p r] ps IH]; intros s g h H; [apply H; reflexivity|]. cbn [expected]. apply sum_ext. intros x _.
  rewrite (IH _ (fun y => g (published x :: y)) (fun y => h (published x :: y))); [reflexivity|].
  intros y L. apply H. cbn [length]. congruence.
Qed.

Definition commute (p : part) (a b : option value) (s : state) : Prop := forall f : told -> told -> state -> K,
  sum (results p a s) (fun x => val (weight x) * sum (results p b (after x)) (fun y => val (weight y) * f (published x) (published y) (after y)))
  = sum (results p b s) (fun x => val (weight x) * sum (results p a (after x)) (fun y => val (weight y) * f (published y) (published x) (after y))).

Lemma twice_sum : forall p t a b s (f : state -> K),
  sum (twice p t a b s) (fun e => val (snd e) * f (fst e))
  = sum (results p a s) (fun x => val (weight x) * sum (results p b (after x)) (fun y => val (weight y) *
      f ((if t then [Tuple (published y); Tuple (published x)] else [Tuple (published x); Tuple (published y)]) ++ after y))).
Proof.
  intros p t a b s f. unfold twice. rewrite sum_flat_map. apply sum_ext. intros x _. rewrite sum_map, sum_scale. apply sum_ext.
  intros y _. cbn [fst snd]. rewrite value_mul. ring.
Qed.

Lemma less_sum : forall l m (f : state -> K),
  sum (fold_right (fun e v => place_in (fst e) (popp (snd e)) v) (fold_right (fun e v => place_in (fst e) (snd e) v) [] l) m)
      (fun e => val (snd e) * f (fst e))
  = sum l (fun e => val (snd e) * f (fst e)) - sum m (fun e => val (snd e) * f (fst e)).
Proof.
  intros l m f. induction m as [|e m IH].
  - cbn [fold_right Program.sum]. induction l as [|e l IH]; [cbn; ring|]. cbn [fold_right Program.sum]. rewrite place_in_sum, IH. ring.
  - cbn [fold_right Program.sum]. rewrite place_in_sum, IH, value_opp. ring.
Qed.

Lemma may_turn_sound : forall p rs s a b, may_turn p rs s = true -> In a rs -> In b rs -> commute p a b s.
Proof.
  intros p rs s a b H Ha Hb f. unfold may_turn, kept in H. rewrite forallb_forall in H. specialize (H a Ha).
  rewrite forallb_forall in H. specialize (H b Hb). rewrite forallb_forall in H.
  set (k := fun t : state => match t with Tuple u :: Tuple v :: t => f u v t | _ => 0 end).
  pose proof (less_sum (twice p false a b s) (twice p true b a s) k) as L. fold (turned_less p a b s) in L.
  rewrite (sum_zero K (turned_less p a b s)) in L.
  2: { intros e He. rewrite (value_zero K T (snd e)) by (apply H; exact He). ring. }
  rewrite !twice_sum in L. cbn [app k] in L.
  match type of L with 0 = ?x - ?y => assert (E : x = y); [replace x with ((x - y) + y) by ring; rewrite <- L; ring | exact E] end.
Qed.

(** Both laws are the same but for an order of outputs, from all these states. *)
Definition like (l : list state) (q q' : way) : Prop := exists turn : output -> output,
  (forall y, length (turn y) = length y /\ last (turn y) [] = last y [])
  /\ forall s, In s l ->
     (forall h, expected K T (left_of q) s h = expected K T (left_of q') s (fun y => h (turn y)))
     /\ (forall h, expected K T (right_of q) s h = expected K T (right_of q') s (fun y => h (turn y))).

Lemma like_itself : forall l q, like l q q.
Proof. intros l q. exists (fun y => y). split; [split; reflexivity|]. intros s _. split; reflexivity. Qed.

Lemma like_then : forall l q r t, like l q r -> like l r t -> like l q t.
Proof.
  intros l q r t [f [F1 F2]] [h [H1 H2]]. exists (fun y => f (h y)). split.
  - intro y. destruct (F1 (h y)) as [A B]. destruct (H1 y) as [C D]. split; congruence.
  - intros s Hs. destruct (F2 s Hs) as [L L']. destruct (H2 s Hs) as [M M']. split; intro e; [rewrite L, M | rewrite L', M']; reflexivity.
Qed.

Lemma like_after : forall l l' p a b q q',
  (forall s r x, In s l -> r = a \/ r = b -> In x (results p r s) -> In (after x) l') -> like l' q q' ->
  like l ((p, (a, b)) :: q) ((p, (a, b)) :: q').
Proof.
  intros l l' p a b q q' A [f [F1 F2]]. exists (fun y => match y with [] => [] | o :: z => o :: f z end). split.
  - intros [|o z]; [split; reflexivity|]. destruct (F1 z) as [L M]. split; [cbn [length]; congruence|].
    destruct z as [|u z]; destruct (f _) as [|v t] eqn:E; try discriminate L; [reflexivity|]. exact M.
  - intros s Hs. cbn [left_of right_of map fst snd]. fold (left_of q) (right_of q) (left_of q') (right_of q'). split; intro h;
      cbn [expected]; apply sum_ext; intros x Hx; f_equal; apply (F2 (after x)); [apply (A s a x) | apply (A s b x)]; auto.
Qed.

Lemma like_turned : forall l p a a' b b' q, q <> [] ->
  (forall s, In s l -> commute p a b s /\ commute p a' b' s) ->
  like l ((p, (a, a')) :: (p, (b, b')) :: q) ((p, (b, b')) :: (p, (a, a')) :: q).
Proof.
  intros l p a a' b b' q N C. exists (fun y => match y with o :: u :: w :: z => u :: o :: w :: z | _ => y end). split.
  - intros [|o [|u [|w z]]]; split; reflexivity.
  - assert (S : forall (a b : option value) (rest : program) s h, rest <> [] -> commute p a b s ->
      expected K T ((p, a) :: (p, b) :: rest) s h
      = expected K T ((p, b) :: (p, a) :: rest) s (fun y => h (match y with o :: u :: w :: z => u :: o :: w :: z | _ => y end))).
    { clear - K. intros a b rest s h N C. cbn [expected]. rewrite (C (fun u v t => expected K T rest t (fun z => h (u :: v :: z)))).
      apply sum_ext. intros x _. f_equal. apply sum_ext. intros y _. f_equal. apply expected_like. intros [|w z] L; [|reflexivity].
      destruct rest; [congruence | discriminate L]. }
    intros s Hs. destruct (C s Hs) as [C1 C2]. split; intro h; cbn [left_of right_of map fst snd]; apply S; try assumption;
      destruct q; congruence || discriminate.
Qed.

(** Where places may change, as far as it matters. *)
Inductive turning : list (part * list meeting) -> list bool -> list state -> Prop :=
| turning_none : forall fs l, turning [] fs l
| turning_last : forall p fs l, turning [p] fs l
| turning_more : forall p ms n later fs l l',
    (forall s m r x, In s l -> In m ms -> r = fst (fst m) \/ r = snd (fst m) -> In x (results p r s) -> In (after x) l') ->
    (hd false fs = true -> n = (p, ms) /\ later <> []
       /\ forall s m m', In s l -> In m ms -> In m' ms -> commute p (fst (fst m)) (fst (fst m')) s /\ commute p (snd (fst m)) (snd (fst m')) s) ->
    turning (n :: later) (tl fs) l' -> turning ((p, ms) :: n :: later) fs l.

Section Order.
Variable once : bool.

Lemma one_in_order : forall places p ms fs l, turning ((p, ms) :: places) fs l -> forall least b k a a' c q,
  nth_error ms k = Some (a, a', c) -> (least <= k)%nat -> b && c && negb once = false ->
  in_order once places (tl fs) (if hd false fs then least else 0%nat) (b || c) q ->
  exists q', in_order once ((p, ms) :: places) fs least b q' /\ like l ((p, (a, a')) :: q) q'.
Proof.
  induction places as [|[p2 ms2] places IH]; intros p ms fs l H least b k a a' c q Hk Lk N W.
  - exists ((p, (a, a')) :: q). split; [|apply like_itself]. inversion W; subst. econstructor; eauto. constructor.
  - inversion H as [| |? ? ? ? ? ? l' A B D]; subst. destruct (hd false fs) eqn:F.
    + destruct (B eq_refl) as [E [L C]]. injection E as -> ->. inversion W as [|? ? ? ? ? ? k2 a2 a2' c2 q2 Hk2 Lk2 N2 W2]; subst.
      destruct (Nat.le_gt_cases k k2) as [Le|Gt].
      * exists ((p, (a, a')) :: (p, (a2, a2')) :: q2). split; [|apply like_itself].
        eapply one_more; try eassumption. rewrite F. eapply one_more; eassumption.
      * destruct (IH p ms (tl fs) l' D k2 (b || c2)%bool k a a' c q2 Hk) as [q3 [Q1 Q2]].
        { lia. }
        { destruct b, c, c2, once; try reflexivity; discriminate. }
        { replace (b || c2 || c)%bool with (b || c || c2)%bool by (destruct b, c, c2; reflexivity). exact W2. }
        exists ((p, (a2, a2')) :: q3). split.
        { eapply one_more; [exact Hk2 | exact Lk2 | destruct b, c, c2, once; try reflexivity; discriminate |]. rewrite F. exact Q1. }
        apply nth_error_In in Hk. apply nth_error_In in Hk2.
        apply like_then with ((p, (a2, a2')) :: (p, (a, a')) :: q2).
        { apply like_turned; [|intros s Hs; exact (C s _ _ Hs Hk Hk2)]. inversion W2; subst; [exfalso; apply L; reflexivity | discriminate]. }
        apply like_after with l'; [|exact Q2]. intros s r x Hs Hr Hx. exact (A s _ r x Hs Hk2 Hr Hx).
    + exists ((p, (a, a')) :: q). split; [|apply like_itself]. eapply one_more; try eassumption. rewrite F. exact W.
Qed.

Lemma all_in_order : forall places fs l, turning places fs l -> forall b q, walks once places b q ->
  exists q', in_order once places fs 0 b q' /\ like l q q'.
Proof.
  induction places as [|[p ms] places IH]; intros fs l H b q W; inversion W as [|? ? ? ? a a' c q2 Hm N W2]; subst.
  - exists []. split; [constructor | apply like_itself].
  - assert (X : exists l', (forall s r x, In s l -> r = a \/ r = a' -> In x (results p r s) -> In (after x) l') /\ turning places (tl fs) l').
    { inversion H as [|? ? ?|? ? ? ? ? ? l' A B D]; subst.
      - exists (flat_map (fun s => flat_map (fun r => map after (results p r s)) [a; a']) l). split; [|constructor].
        intros s r x Hs Hr Hx. apply in_flat_map. exists s. split; [exact Hs|]. apply in_flat_map. exists r. split.
        + destruct Hr as [->| ->]; [left | right; left]; reflexivity.
        + apply in_map. exact Hx.
      - exists l'. split; [|exact D]. intros s r x Hs Hr Hx. exact (A s _ r x Hs Hm Hr Hx). }
    destruct X as [l' [A D]]. destruct (IH (tl fs) l' D _ _ W2) as [q3 [Q1 Q2]]. apply In_nth_error in Hm as [k Hk].
    destruct (one_in_order places p ms fs l H 0%nat b k a a' c q3 Hk) as [q' [R1 R2]]; [lia | exact N | |].
    { destruct (hd false fs); exact Q1. }
    exists q'. split; [exact R1|]. apply like_then with ((p, (a, a')) :: q3); [|exact R2]. apply like_after with l'; assumption.
Qed.
End Order.

(** What is found about turns. *)
Lemma steps_to_in : forall p rs l s r x, In s l -> In r rs -> In x (results p r s) -> In (after x) (steps_to p rs l).
Proof.
  intros p rs l s r x Hs Hr Hx. unfold steps_to. induction l as [|u l IH]; [contradiction|]. cbn [fold_right].
  match goal with |- context [fold_right _ (fold_right ?h [] l) rs] => set (rest := fold_right h [] l) in * end. clearbody rest.
  assert (Keep : forall rs' m, In (after x) m ->
    In (after x) (fold_right (fun r found => fold_right (fun x => insert (after x)) found (results p r u)) m rs')).
  { intros rs' m Hm. induction rs' as [|v rs' IHr]; [exact Hm|]. cbn [fold_right]. induction (results p v u) as [|y k IHk]; [exact IHr|].
    cbn [fold_right]. apply in_insert. exact IHk. }
  destruct Hs as [->|Hs]; [|apply Keep; apply IH; exact Hs]. clear IH. induction rs as [|v rs IHr]; [contradiction|]. cbn [fold_right].
  destruct Hr as [->|Hr].
  - clear IHr. induction (results p r s) as [|y k IHk]; [contradiction|]. cbn [fold_right]. destruct Hx as [->|Hx]; [apply insert_in|].
    apply in_insert. apply IHk. exact Hx.
  - specialize (IHr Hr). induction (results p v s) as [|y k IHk]; [exact IHr|]. cbn [fold_right]. apply in_insert. exact IHk.
Qed.

Lemma run_all_sound : forall p rs l s r, run_all p rs l = true -> In s l -> In r rs -> run p r s <> None.
Proof.
  intros p rs l s r H Hs Hr. unfold run_all in H. rewrite forallb_forall in H. specialize (H s Hs). rewrite forallb_forall in H.
  specialize (H r Hr). destruct (run p r s); congruence.
Qed.

Section Found.
Variable P : nat -> part.
Variable R : nat -> list (option value).
Variable g : part -> part.
Variable M : nat -> list meeting.
Hypothesis reads_them : forall i m, In m (M i) -> In (fst (fst m)) (R i) /\ In (snd (fst m)) (R i).
Definition places_of (is : list nat) : list (part * list meeting) := at_last g (map (fun i => (P i, M i)) is).

Lemma turns_sound : forall is l fs, turns P R g is l = Some fs -> turning (places_of is) fs l
  /\ forall once b q, walks once (places_of is) b q -> forall s, In s l -> meaningful (left_of q) s /\ meaningful (right_of q) s.
Proof.
  induction is as [|i [|j later] IH]; intros l fs H.
  - split; [constructor|]. intros once b q W s _. inversion W; subst. split; exact I.
  - cbn [turns] in H. destruct (run_all (g (P i)) (R i) l) eqn:A; [|discriminate]. split; [constructor|].
    intros once b q W s Hs. cbn [places_of map at_last] in W. inversion W as [|? ? ? ? a a' c q2 Hm N W2]; subst. inversion W2; subst.
    destruct (reads_them i _ Hm) as [Ha Ha']. cbn [fst snd] in Ha, Ha'. cbn [left_of right_of map meaningful fst snd].
    split; (split; [eapply run_all_sound; eassumption | apply Forall_forall; intros; exact I]).
  - change (turns P R g (i :: j :: later) l) with (if (length l <=? most_states)%nat && run_all (P i) (R i) l
      then option_map (cons (match later with [] => false | _ => Nat.eqb i j && forallb (may_turn (P i) (R i)) l end))
             (turns P R g (j :: later) (steps_to (P i) (R i) l)) else None) in H.
    destruct ((length l <=? most_states)%nat && run_all (P i) (R i) l) eqn:A; [|discriminate]. apply andb_true_iff in A as [_ A].
    destruct (turns P R g (j :: later) (steps_to (P i) (R i) l)) as [fs'|] eqn:E; [|discriminate]. injection H as <-.
    destruct (IH _ _ E) as [T1 T2].
    assert (S : places_of (i :: j :: later) = (P i, M i) :: places_of (j :: later)) by reflexivity. rewrite S. split.
    + assert (X : exists n rest, places_of (j :: later) = n :: rest /\ (later <> [] -> n = (P j, M j) /\ rest <> [])).
      { unfold places_of. cbn [map]. destruct later as [|k later]; cbn [at_last map].
        - exists (g (P j), M j), []. split; [reflexivity | congruence].
        - eexists _, _. split; [reflexivity|]. intros _. split; [reflexivity|]. destruct later; discriminate. }
      destruct X as [n [rest [EX X]]]. rewrite EX in *. apply turning_more with (steps_to (P i) (R i) l).
      * intros s m r x Hs Hm Hr Hx. destruct (reads_them i m Hm) as [H1 H2]. eapply steps_to_in; [exact Hs | | exact Hx].
        destruct Hr as [->| ->]; assumption.
      * cbn [hd]. intro F. destruct later as [|k later]; [discriminate|]. apply andb_true_iff in F as [F1 F2].
        apply Nat.eqb_eq in F1. subst j. destruct (X ltac:(discriminate)) as [-> X2]. split; [reflexivity|]. split; [exact X2|].
        intros s m m' Hs Hm Hm'. rewrite forallb_forall in F2. specialize (F2 s Hs).
        destruct (reads_them i m Hm) as [H1 H2]. destruct (reads_them i m' Hm') as [H3 H4].
        split; eapply may_turn_sound; eassumption.
      * exact T1.
    + intros once b q W s Hs. inversion W as [|? ? ? ? a a' c q2 Hm N W2]; subst. destruct (reads_them i _ Hm) as [Ha Ha'].
      cbn [fst snd] in Ha, Ha'. cbn [left_of right_of map meaningful fst snd]. fold (left_of q2) (right_of q2).
      split; (split; [eapply run_all_sound; eassumption|]); apply Forall_forall; intros x Hx; apply (T2 once _ _ W2);
        [exact (steps_to_in _ _ _ s a x Hs Ha Hx) | exact (steps_to_in _ _ _ s a' x Hs Ha' Hx)].
Qed.

(** All ways, in order; and where places have changed every run has a meaning. *)
Theorem in_order_is_enough : forall once is q, walks once (places_of is) false q ->
  exists q', in_order once (places_of is) (turns_of P R g is) 0 false q' /\ like [[]] q q'
             /\ ((meaningful (left_of q') [] -> meaningful (left_of q) []) /\ (meaningful (right_of q') [] -> meaningful (right_of q) [])).
Proof.
  intros once is q W. unfold turns_of. assert (Same : exists q', in_order once (places_of is) [] 0 false q' /\ like [[]] q q'
    /\ ((meaningful (left_of q') [] -> meaningful (left_of q) []) /\ (meaningful (right_of q') [] -> meaningful (right_of q) []))).
  { exists q. split; [apply any_order; exact W|]. split; [apply like_itself | split; intro H; exact H]. }
  destruct (alike_next is); [|exact Same]. destruct (turns P R g is [[]]) as [fs|] eqn:E; [|exact Same].
  destruct (turns_sound is [[]] fs E) as [T1 T2]. destruct (all_in_order once _ _ _ T1 _ _ W) as [q' [Q1 Q2]].
  exists q'. split; [exact Q1|]. split; [exact Q2|]. destruct (T2 once false q W [] (or_introl eq_refl)) as [M1 M2]. split; intros _; assumption.
Qed.
End Found.
End Proofs.

Print Assumptions in_order_is_enough.
