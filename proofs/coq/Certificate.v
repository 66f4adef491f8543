(** The checker of certificates, and what it establishes. *)

From Coq Require Import ZArith List Bool Lia Ring FMapPositive.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness.
Import ListNotations.
Open Scope Z_scope.

(** Whose law it is: one mechanism for n clients, or one for every n (a part before, one for each client, one after). *)
Inductive scheme := For (n : nat) (places : list (nat * option nat)) | ForEvery (first each last : nat).

Record claim := {
  root : Z; records : list value; related : relation; up : poly; down : poly;
  parts : list part; law_of : scheme }.

(** What is asked of a quantity: at most the bound, more, or the bound itself. *)
Inductive verdict := Within | Exceeds | Reaches.

Record forms := { units : bool; cuts : list cut; steps : list step; order : list nat }.
Record witness := { pair_x : dataset; pair_y : dataset; event : list (option told) }.

Definition part_at (c : claim) (i : nat) : part := nth i (parts c) empty_part.

(** The program of a claim on a dataset. *)
Definition program_on (c : claim) (x : dataset) : program :=
  match law_of c with
  | For _ places => on (map (fun p => (part_at c (fst p), snd p)) places) x
  | ForEvery first each last => every (part_at c first) (part_at c each) (part_at c last) x
  end.

(** The datasets of a claim: of n records, or of any number. *)
Definition is_dataset (c : claim) (x : dataset) : Prop :=
  match law_of c with For n _ => length x = n | ForEvery _ _ _ => True end /\ Forall (fun r => In r (records c)) x.

Definition distinct (l : list nat) : bool :=
  (fix go l := match l with [] => true | a :: rest => negb (existsb (Nat.eqb a) rest) && go rest end) l.
Definition clients (places : list (nat * option nat)) : list nat :=
  flat_map (fun p => match snd p with Some c => [c] | None => [] end) places.

(** Whether parts are there, read a record where they have a client, and each client has one part. *)
Definition well_made (c : claim) : bool :=
  match law_of c with
  | For n places =>
      let many := length (parts c) in
      forallb (fun p => (fst p <? many)%nat
                        && let reading := reads (part_at c (fst p)) in
                           match snd p with Some k => reading && (k <? n)%nat | None => negb reading end) places
      && distinct (clients places)
  | ForEvery first each last =>
      forallb (fun i => (i <? length (parts c))%nat) [first; each; last]
      && negb (reads (part_at c first)) && reads (part_at c each) && negb (reads (part_at c last))
  end.

(** Some records are near, so that there are neighbours. *)
Definition not_empty (c : claim) : bool :=
  existsb (fun a => existsb (fun b => near (related c) a b) (records c)) (records c)
  && match law_of c with For n _ => (0 <? n)%nat | ForEvery _ _ _ => true end.

Definition check_forms (c : claim) (e : forms) : bool :=
  well_made c && not_empty c
  && bound_holds (root c) (up c) (down c) (related c) (units e)
  && check_steps (root c) (up c) (down c) (parts c) (records c) (related c) (units e) (cuts_of (up c) (down c) (cuts e)) (steps e)
  && match all_of (nth_error (steps e)) (order e), law_of c with
     | Some ss, For _ places => linked (S (length (cuts e))) 0 ss
                                && Nat.eqb (length ss) (length places)
                                && forallb (fun q => Nat.eqb (step_part (fst q)) (fst (snd q))) (combine ss places)
     | Some [a; b; d], ForEvery first each last =>
         Nat.eqb (step_part a) first && Nat.eqb (step_part b) each && Nat.eqb (step_part d) last
         && Nat.eqb (step_after b) (step_before b) && linked (S (length (cuts e))) 0 [a; b; d]
     | _, _ => false
     end.

(** The weight of an event, carried along the parts state by state. *)
Definition same_output (y : told) (w : option told) : bool :=
  match w with None => true | Some v => same (Tuple y) (Tuple v) end.
Fixpoint in_event (w : list (option told)) (y : output) : bool :=
  match w, y with
  | [], [] => true
  | a :: w', b :: y' => same_output b a && in_event w' y'
  | _, _ => false
  end.
Definition vector := list (state * poly).
(** Some order of states, by the first number and by hashes; nothing depends on which. *)
Definition earlier (s u : state) : bool :=
  match s, u with
  | Number n _ :: _, Number m _ :: _ => if n =? m then (place s <? place u)%positive else n <? m
  | _, _ => (place s <? place u)%positive
  end.

(** States in that order, so that equal vectors look equal. *)
Fixpoint place_in (s : state) (a : poly) (l : vector) : vector :=
  match l with
  | [] => [(s, a)]
  | (u, b) :: rest => if same (Tuple s) (Tuple u) then (u, padd a b) :: rest
                      else if earlier s u then (s, a) :: l else (u, b) :: place_in s a rest
  end.
Fixpoint carried (ps : program) (w : list (option told)) (v : list (state * poly)) : poly :=
  match ps, w with
  | [], [] => fold_right (fun e t => padd (snd e) t) [] v
  | (p, record) :: ps', y :: w' =>
      carried ps' w' (fold_right (fun e l =>
        fold_right (fun r l => if same_output (published r) y then place_in (after r) (pmul (snd e) (weight r)) l else l)
                   l (results p record (fst e))) [] v)
  | _, _ => []
  end.
Definition weight_in (c : claim) (x : dataset) (w : list (option told)) : poly := carried (program_on c x) w [([], [1])].

Definition listed (c : claim) (x : dataset) : bool :=
  match law_of c with For n _ => Nat.eqb (length x) n | ForEvery _ _ _ => true end
  && forallb (fun r => existsb (same r) (records c)) x.
Definition differences (r : relation) (x y : dataset) : nat :=
  length (filter (fun q => negb (same (fst q) (snd q))) (combine x y)).
Definition neighbours_b (r : relation) (x y : dataset) : bool :=
  Nat.eqb (length x) (length y)
  && forallb (fun q => same (fst q) (snd q) || near r (fst q) (snd q)) (combine x y)
  && match r with UnitAll => (0 <? differences r x y)%nat | _ => Nat.eqb (differences r x y) 1 end.

(** Whether all runs have a meaning, state by state. *)
Fixpoint insert (s : state) (l : list state) : list state :=
  match l with
  | [] => [s]
  | u :: rest => if same (Tuple s) (Tuple u) then l
                 else if earlier s u then s :: l else u :: insert s rest
  end.
Fixpoint explored (ps : program) (l : list state) : bool :=
  match ps with
  | [] => true
  | (p, record) :: rest =>
      forallb (fun s => match run p record s with Some _ => true | None => false end) l
      && explored rest (fold_right (fun s found => fold_right (fun r => insert (after r)) found (results p record s)) [] l)
  end.
Definition total_weight (c : claim) (x : dataset) : poly :=
  weight_in c x (map (fun _ => None) (program_on c x)).

(** What is claimed. *)
Section Meaning.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.

(** P(E|x) <= R P(E|x') with R = up / down, for all neighbours and events: the weights of all runs are equal, and
    those of each event in the ratio. *)
Definition private (c : claim) : Prop :=
  forall x y, is_dataset c x -> is_dataset c y -> neighbours (related c) x y ->
  meaningful (program_on c x) [] /\ meaningful (program_on c y) []
  /\ 0 < mass_of_all K T (program_on c x) /\ mass_of_all K T (program_on c x) = mass_of_all K T (program_on c y)
  /\ forall E : output -> bool,
       value_of K T (down c) * mass K T (program_on c x) E <= value_of K T (up c) * mass K T (program_on c y) E.
End Meaning.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).

Lemma distinct_sound : forall l, distinct l = true -> NoDup l.
Proof.
  induction l as [|a l IH]; intro H; [constructor|]. cbn in H. apply andb_true_iff in H as [H1 H2]. constructor.
  - intro Ha. apply negb_true_iff in H1. assert (E : existsb (Nat.eqb a) l = true).
    { apply existsb_exists. exists a. split; [exact Ha | apply Nat.eqb_refl]. }
    congruence.
  - apply IH. exact H2.
Qed.

Lemma neighbours_cases : forall r x y, neighbours r x y ->
  (r = UnitAll /\ at_once r = true /\ Forall2 (fun a b => a = b \/ near UnitAll a b = true) x y)
  \/ (at_once r = false /\ exists l a b t, x = l ++ a :: t /\ y = l ++ b :: t /\ near r a b = true).
Proof. intros [] x y N; unfold neighbours in N; auto. left. destruct N as [_ N]. auto. Qed.

Section OneClaim.
Variable c : claim.
Hypothesis is_root : is_root_of_e K (root c) T.
Notation alike' := (alike (records c)).
Notation differ' := (differ (records c) (related c)).

Definition reads_well (n : nat) (p : nat * option nat) : Prop :=
  match snd p with Some k => reads (part_at c (fst p)) = true /\ (k < n)%nat | None => reads (part_at c (fst p)) = false end.

Definition record_of (x : dataset) (p : nat * option nat) : option value :=
  match snd p with Some k => nth_error x k | None => None end.

Lemma in_records : forall p x n, reads_well n p -> length x = n -> Forall (fun r => In r (records c)) x ->
  In (record_of x p) (records_of (records c) (part_at c (fst p))).
Proof.
  intros [i [k|]] x n W L F; unfold reads_well, record_of, records_of in *; cbn [fst snd] in *.
  - destruct W as [R Hk]. rewrite R. destruct (nth_error x k) as [r|] eqn:E.
    + apply in_map. rewrite Forall_forall in F. apply F. apply nth_error_In with k. exact E.
    + apply nth_error_None in E. lia.
  - rewrite W. left. reflexivity.
Qed.

Lemma reads_well_of : forall n places, law_of c = For n places -> well_made c = true ->
  Forall (reads_well n) places /\ NoDup (clients places).
Proof.
  intros n places E W. unfold well_made in W. rewrite E in W. cbv zeta in W. apply andb_true_iff in W as [W D]. split; [|apply distinct_sound; exact D].
  rewrite forallb_forall in W. apply Forall_forall. intros p Hp. specialize (W p Hp). apply andb_true_iff in W as [_ W].
  unfold reads_well. destruct (snd p) as [k|].
  - apply andb_true_iff in W as [W1 W2]. split; [exact W1 | apply Nat.ltb_lt; exact W2].
  - apply negb_true_iff. exact W.
Qed.

Definition aligned (ss : list step) (places : list (nat * option nat)) : Prop :=
  Forall2 (fun s p => part_of (parts c) s = part_at c (fst p)) ss places.

Definition records_pair (x y : dataset) (p : nat * option nat) := (record_of x p, record_of y p).

Lemma programs_agree : forall ss places x, aligned ss places ->
  program_of (parts c) ss (map (record_of x) places) = on (map (fun p => (part_at c (fst p), snd p)) places) x.
Proof.
  intros ss places x A. unfold program_of, on. rewrite map_map. induction A as [|s p ss places E _ IH]; [reflexivity|].
  cbn [map combine fst snd]. rewrite E, IH. reflexivity.
Qed.

Lemma nth_error_middle : forall (l r : dataset) a b k, k <> length l ->
  nth_error (l ++ a :: r) k = nth_error (l ++ b :: r) k.
Proof.
  induction l as [|u l IH]; intros r a b k H; destruct k as [|k]; cbn in *; try reflexivity; [congruence|].
  apply IH. lia.
Qed.

Lemma nth_error_here : forall (l r : dataset) a, nth_error (l ++ a :: r) (length l) = Some a.
Proof. induction l as [|u l IH]; intros; [reflexivity | apply IH]. Qed.

Lemma pairs_differ_once : forall n ss places l r a b,
  aligned ss places -> Forall (reads_well n) places -> NoDup (clients places) ->
  length (l ++ a :: r) = n -> Forall (fun v => In v (records c)) (l ++ a :: r) -> Forall (fun v => In v (records c)) (l ++ b :: r) ->
  near (related c) a b = true ->
  one_differs (parts c) (records c) (related c) ss (map (records_pair (l ++ a :: r) (l ++ b :: r)) places).
Proof.
  intros n ss places l r a b A W D L Fa Fb N.
  assert (Lb : length (l ++ b :: r) = n) by (rewrite app_length in *; exact L).
  assert (Same : forall s p, part_of (parts c) s = part_at c (fst p) -> reads_well n p -> snd p <> Some (length l) ->
    alike' (part_of (parts c) s) (record_of (l ++ a :: r) p) (record_of (l ++ b :: r) p)).
  { intros s p E Hp S. split.
    - unfold record_of. destruct (snd p) as [k|]; [|reflexivity]. apply nth_error_middle. congruence.
    - rewrite E. apply in_records with n; assumption. }
  induction A as [|s p ss places E A IH]; [constructor|]. inversion W as [|? ? Wp W']; subst.
  cbn [map]. destruct p as [i [k|]] eqn:P; rewrite <- P in *.
  - cbn [clients flat_map] in D. rewrite P in D at 1. cbn [snd app] in D.
    destruct (Nat.eq_dec k (length l)) as [->|Nk].
    + inversion D as [|? ? D1 D2]; subst. apply one_here.
      * cbn [fst snd records_pair]. unfold differ. split; [|split].
        -- rewrite E. apply in_records with (length (l ++ a :: r)); auto.
        -- rewrite E. apply in_records with (length (l ++ a :: r)); auto.
        -- unfold record_of. cbn [snd]. rewrite !nth_error_here. exact N.
      * clear IH Wp E D2 D W. revert D1. induction A as [|s' p' ss places E' A IH]; intro D1; [constructor|].
        inversion W' as [|? ? Wp' W'']; subst. cbn [map]. constructor.
        -- apply Same; [exact E' | exact Wp'|]. intro S. apply D1. cbn [flat_map]. rewrite S. left. reflexivity.
        -- apply IH; [exact W''|]. intro X. apply D1. cbn [flat_map]. apply in_or_app. right. exact X.
    + inversion D as [|? ? D1 D2]; subst. apply one_later; [|apply IH; assumption].
      cbn [fst snd records_pair]. apply Same; [exact E | exact Wp | cbn [snd]; congruence].
  - apply one_later; [|apply IH; [exact W'|]].
    + cbn [fst snd records_pair]. apply Same; [exact E | exact Wp | rewrite P; cbn [snd]; congruence].
    + cbn [clients flat_map] in D. rewrite P in D at 1. exact D.
Qed.

Lemma Forall2_nth : forall (R : value -> value -> Prop) x y, Forall2 R x y -> forall k,
  match nth_error x k, nth_error y k with Some a, Some b => R a b | None, None => True | _, _ => False end.
Proof.
  intros R x y H. induction H as [|a b x y E _ IH]; intros [|k]; cbn; auto. apply IH.
Qed.

Lemma pairs_met : forall n ss places x y, related c = UnitAll ->
  aligned ss places -> Forall (reads_well n) places ->
  is_dataset c x -> is_dataset c y -> length x = n -> length y = n ->
  Forall2 (fun a b => a = b \/ near UnitAll a b = true) x y ->
  Forall2 (met (parts c) (records c) (related c)) ss (map (records_pair x y) places).
Proof.
  intros n ss places x y U A W [_ Fx] [_ Fy] Lx Ly N.
  induction A as [|s p ss places E _ IH]; [constructor|]. inversion W as [|? ? Wp W']; subst. cbn [map]. constructor; [|apply IH; exact W'].
  pose proof (in_records p x _ Wp eq_refl Fx) as Ix. pose proof (in_records p y (length x) Wp Ly Fy) as Iy.
  unfold met. cbn [fst snd records_pair].
  pose proof (Forall2_nth _ _ _ N) as P.
  destruct (snd p) as [k|] eqn:S.
  - specialize (P k). unfold record_of in *. rewrite S in *.
    destruct (nth_error x k) as [u|] eqn:Ea; destruct (nth_error y k) as [v|] eqn:Eb; try contradiction.
    + destruct P as [->|P].
      * left. split; [reflexivity | rewrite E; exact Ix].
      * right. split; [unfold at_once; rewrite U; reflexivity|]. unfold differ. rewrite E, U. auto.
    + left. split; [reflexivity | rewrite E; exact Ix].
  - left. unfold record_of in *. rewrite S in *. split; [reflexivity | rewrite E; exact Ix].
Qed.

Variable e : forms.
Hypothesis ok : check_forms c e = true.

Lemma checks : well_made c = true /\ not_empty c = true /\ bound_holds (root c) (up c) (down c) (related c) (units e) = true
  /\ check_steps (root c) (up c) (down c) (parts c) (records c) (related c) (units e) (cuts_of (up c) (down c) (cuts e)) (steps e) = true.
Proof.
  unfold check_forms in ok. repeat (apply andb_true_iff in ok as [ok ?]). auto.
Qed.

Lemma found_in : forall ss l, all_of (nth_error (steps e)) l = Some ss -> incl ss (steps e).
Proof.
  intros ss l H. apply all_of_spec in H. intros s Hs. induction H as [|i s' l ss E _ IH]; [contradiction|].
  destruct Hs as [->|Hs]; [apply nth_error_In with i; exact E | apply IH; exact Hs].
Qed.

Lemma from_steps : forall ss qs x y,
  incl ss (steps e) -> linked (S (length (cuts e))) 0 ss = true ->
  (if at_once (related c) then Forall2 (met (parts c) (records c) (related c)) ss qs
   else one_differs (parts c) (records c) (related c) ss qs) ->
  Forall2 (fun s r => In r (records_of (records c) (part_of (parts c) s))) ss (map fst qs) ->
  Forall2 (fun s r => In r (records_of (records c) (part_of (parts c) s))) ss (map snd qs) ->
  program_of (parts c) ss (map fst qs) = program_on c x -> program_of (parts c) ss (map snd qs) = program_on c y ->
  meaningful (program_on c x) [] /\ meaningful (program_on c y) []
  /\ 0 < mass_of_all K T (program_on c x) /\ mass_of_all K T (program_on c x) = mass_of_all K T (program_on c y)
  /\ forall E : output -> bool, val (down c) * mass K T (program_on c x) E <= val (up c) * mass K T (program_on c y) E.
Proof.
  intros ss qs x y I L Q R1 R2 <- <-. destruct checks as [_ [_ [B S]]].
  destruct (total_of K T (root c) is_root (up c) (down c) (parts c) (records c) (related c) (units e) (cuts e) (steps e) S ss 0%nat I L)
    as [n [Pn Hn]].
  assert (S0 : In (1%positive, []) (numbered 1 (states (cut_at (up c) (down c) (cuts e) 0)))) by (left; reflexivity).
  destruct (Hn _ 1%positive [] R1 S0) as [M1 N1]. destruct (Hn _ 1%positive [] R2 S0) as [M2 N2].
  unfold mass_of_all. rewrite N1, N2. split; [exact M1|]. split; [exact M2|]. split; [exact Pn|]. split; [reflexivity|].
  intro E. unfold mass.
  apply (steps_sound K T (root c) is_root (up c) (down c) (parts c) (records c) (related c) (units e) B (cuts e) (steps e) S); try assumption.
  intro z. destruct (E z); [apply zero_le_one | apply le_refl].
Qed.

Lemma map_fst_pairs : forall x y places, map fst (map (records_pair x y) places) = map (record_of x) places.
Proof. intros. rewrite map_map. reflexivity. Qed.
Lemma map_snd_pairs : forall x y places, map snd (map (records_pair x y) places) = map (record_of y) places.
Proof. intros. rewrite map_map. reflexivity. Qed.

Lemma all_in_records : forall n ss places x, aligned ss places -> Forall (reads_well n) places -> length x = n ->
  Forall (fun r => In r (records c)) x ->
  Forall2 (fun s r => In r (records_of (records c) (part_of (parts c) s))) ss (map (record_of x) places).
Proof.
  intros n ss places x A W L F. induction A as [|s p ss places E _ IH]; [constructor|]. inversion W as [|? ? Wp W']; subst.
  cbn [map]. constructor; [rewrite E; apply in_records with (length x); auto | apply IH; exact W'].
Qed.

Theorem one_n_sound : forall n places, law_of c = For n places -> private K T c.
Proof.
  intros n places S x y Dx Dy N. destruct checks as [W _]. destruct (reads_well_of n places S W) as [RW ND].
  pose proof ok as O. unfold check_forms in O. apply andb_true_iff in O as [_ O].
  destruct (all_of (nth_error (steps e)) (order e)) as [ss|] eqn:EO; [|discriminate]. rewrite S in O.
  assert (O' : linked (Datatypes.S (length (cuts e))) 0 ss && Nat.eqb (length ss) (length places)
               && forallb (fun q => Nat.eqb (step_part (fst q)) (fst (snd q))) (combine ss places) = true).
  { destruct ss as [|s1 [|s2 [|s3 [|s4 ss]]]]; exact O. }
  clear O. apply andb_true_iff in O' as [O O3]. apply andb_true_iff in O as [O1 O2].
  assert (A : aligned ss places).
  { unfold aligned. apply Nat.eqb_eq in O2. clear - O2 O3. revert places O2 O3. induction ss as [|s ss IH]; intros [|p places] O2 O3; try discriminate; constructor.
    - cbn [combine forallb fst snd] in O3. apply andb_true_iff in O3 as [O3 _]. apply Nat.eqb_eq in O3. unfold part_of, part_at. rewrite O3. reflexivity.
    - apply IH; [injection O2; auto | cbn [combine forallb] in O3; apply andb_true_iff in O3 as [_ O3]; exact O3]. }
  pose proof Dx as [Lx Fx]. pose proof Dy as [Ly Fy]. rewrite S in Lx, Ly.
  assert (Px : program_on c x = on (map (fun p => (part_at c (fst p), snd p)) places) x) by (unfold program_on; rewrite S; reflexivity).
  assert (Py : program_on c y = on (map (fun p => (part_at c (fst p), snd p)) places) y) by (unfold program_on; rewrite S; reflexivity).
  apply from_steps with ss (map (records_pair x y) places).
  - apply found_in with (order e). exact EO.
  - exact O1.
  - apply neighbours_cases in N. destruct N as [[Rel [AO N]]|[AO [l [a [b [r [Ex [Ey N]]]]]]]]; rewrite AO.
    + apply pairs_met with n; assumption.
    + subst x y. apply pairs_differ_once with n; assumption.
  - rewrite map_fst_pairs. apply all_in_records with n; assumption.
  - rewrite map_snd_pairs. apply all_in_records with n; assumption.
  - rewrite map_fst_pairs, Px. apply programs_agree. exact A.
  - rewrite map_snd_pairs, Py. apply programs_agree. exact A.
Qed.

(** Every n. *)
Lemma linked_app : forall last ss at_ mid ss', linked mid at_ ss = true -> linked last mid ss' = true -> linked last at_ (ss ++ ss') = true.
Proof.
  intros last ss. induction ss as [|s ss IH]; intros at_ mid ss' L1 L2; cbn [linked app] in *.
  - apply Nat.eqb_eq in L1. subst. exact L2.
  - apply andb_true_iff in L1 as [A B]. rewrite A. apply IH with mid; assumption.
Qed.

Lemma linked_repeat : forall s n, step_after s = step_before s -> linked (step_before s) (step_before s) (repeat s n) = true.
Proof. intros s n E. induction n as [|n IH]; cbn [repeat linked]; [apply Nat.eqb_refl|]. rewrite Nat.eqb_refl, E. exact IH. Qed.

Definition option_pair (x y : dataset) : list (option value * option value) := combine (map Some x) (map Some y).

Theorem every_n_sound : forall first each last, law_of c = ForEvery first each last -> private K T c.
Proof.
  intros first each last S x y Dx Dy N. destruct checks as [W _].
  pose proof ok as O. unfold check_forms in O. apply andb_true_iff in O as [_ O].
  destruct (all_of (nth_error (steps e)) (order e)) as [ss|] eqn:EO; [|discriminate]. rewrite S in O.
  destruct ss as [|s1 [|s2 [|s3 [|s4 ss]]]]; try discriminate O.
  repeat (apply andb_true_iff in O as [O ?]). rename H into L, H0 into Loop, H1 into P3, H2 into P2, O into P1.
  apply Nat.eqb_eq in P1, P2, P3, Loop.
  unfold well_made in W. rewrite S in W. repeat (apply andb_true_iff in W as [W ?]). rename H into R3, H0 into R2, H1 into R1.
  apply negb_true_iff in R1, R3.
  assert (E1 : part_of (parts c) s1 = part_at c first) by (unfold part_of, part_at; rewrite P1; reflexivity).
  assert (E2 : part_of (parts c) s2 = part_at c each) by (unfold part_of, part_at; rewrite P2; reflexivity).
  assert (E3 : part_of (parts c) s3 = part_at c last) by (unfold part_of, part_at; rewrite P3; reflexivity).
  pose proof Dx as [_ Fx]. pose proof Dy as [_ Fy].
  assert (LL : length x = length y).
  { apply neighbours_cases in N. destruct N as [[_ [_ N]]|[_ [l [a [b [r [-> [-> _]]]]]]]]; [clear - N; induction N; cbn; congruence|].
    rewrite !app_length. reflexivity. }
  assert (Mfst : forall a b : dataset, length a = length b -> map fst (option_pair a b) = map Some a).
  { induction a as [|u a IH]; intros [|v b] H; try discriminate H; [reflexivity|]. cbn in *. f_equal. apply IH. injection H. auto. }
  assert (Msnd : forall a b : dataset, length a = length b -> map snd (option_pair a b) = map Some b).
  { induction a as [|u a IH]; intros [|v b] H; try discriminate H; [reflexivity|]. cbn in *. f_equal. apply IH. injection H. auto. }
  assert (Alike1 : alike' (part_of (parts c) s1) None None) by (rewrite E1; split; [reflexivity | unfold records_of; rewrite R1; left; reflexivity]).
  assert (Alike3 : alike' (part_of (parts c) s3) None None) by (rewrite E3; split; [reflexivity | unfold records_of; rewrite R3; left; reflexivity]).
  assert (InEach : forall v, In v (records c) -> In (Some v) (records_of (records c) (part_of (parts c) s2))).
  { intros v Hv. rewrite E2. unfold records_of. rewrite R2. apply in_map. exact Hv. }
  set (qs := (None, None) :: option_pair x y ++ [(None, None)]).
  set (steps' := s1 :: repeat s2 (length x) ++ [s3]).
  assert (Pr : forall z, length z = length x -> program_of (parts c) steps' (None :: map Some z ++ [None]) = program_on c z).
  { intros z Lz. unfold program_on. rewrite S. unfold every, program_of, steps'. cbn [map combine]. rewrite E1. f_equal.
    revert Lz. generalize (length x). induction z as [|v z IH]; intros [|k] Lz; try discriminate Lz.
    - cbn. rewrite E3. reflexivity.
    - cbn [repeat map app combine]. rewrite E2. f_equal. apply IH. injection Lz. auto. }
  assert (Rec : forall z, length z = length x -> Forall (fun r => In r (records c)) z ->
     Forall2 (fun s r => In r (records_of (records c) (part_of (parts c) s))) steps' (None :: map Some z ++ [None])).
  { intros z Lz Fz. unfold steps'. constructor; [apply Alike1|]. revert Lz. generalize (length x).
    induction z as [|v z IH]; intros [|k] Lz; try discriminate Lz.
    - cbn. constructor; [apply Alike3 | constructor].
    - inversion Fz; subst. cbn [repeat map app]. constructor; [apply InEach; assumption|]. apply IH; [assumption | injection Lz; auto]. }
  apply from_steps with steps' qs.
  - intros s Hs. pose proof (found_in _ _ EO) as I. unfold steps' in Hs. destruct Hs as [<-|Hs]; [apply I; left; reflexivity|].
    apply in_app_or in Hs as [Hs|[<-|[]]]; [apply repeat_spec in Hs; subst s; apply I; right; left; reflexivity | apply I; right; right; left; reflexivity].
  - cbn [linked] in L. apply andb_true_iff in L as [L1 L]. apply andb_true_iff in L as [L2 L]. apply andb_true_iff in L as [L3 L].
    unfold steps'. cbn [linked]. rewrite L1. cbn [andb]. apply Nat.eqb_eq in L2. rewrite <- L2.
    apply linked_app with (step_before s2); [apply linked_repeat; exact Loop|]. cbn [linked]. rewrite Loop in L3. rewrite L3. exact L.
  - unfold qs, steps'. apply neighbours_cases in N. destruct N as [[Rel [AO N]]|[AO [l [a [b [r [Ex [Ey Nab]]]]]]]]; rewrite AO.
    + constructor; [left; exact Alike1|].
      clear - N Fx Fy InEach Alike3 Rel AO. induction N as [|a b x y Hab _ IH]; cbn.
      * constructor; [left; exact Alike3 | constructor].
      * inversion Fx; subst. inversion Fy; subst. constructor; [|apply IH; assumption].
        unfold met. cbn [fst snd]. destruct Hab as [->|Hab].
        -- left. split; [reflexivity | apply InEach; assumption].
        -- right. split; [exact AO|]. split; [apply InEach; assumption|]. split; [apply InEach; assumption|]. rewrite Rel. exact Hab.
    + apply one_later; [exact Alike1|]. subst x y. clear - Fx Fy Nab InEach Alike3.
      induction l as [|u l IH]; cbn [app length repeat option_pair map combine].
      * inversion Fx; subst. inversion Fy; subst. apply one_here.
        -- cbn [fst snd]. split; [apply InEach; assumption | split; [apply InEach; assumption | exact Nab]].
        -- clear - H2 InEach Alike3. induction r as [|v r IH]; cbn; inversion H2; subst; constructor;
             [exact Alike3 | constructor | split; [reflexivity | apply InEach; assumption] | apply IH; assumption].
      * inversion Fx; subst. inversion Fy; subst. apply one_later; [split; [reflexivity | apply InEach; assumption]|].
        apply IH; assumption.
  - unfold qs. cbn [map fst]. rewrite map_app. rewrite Mfst by exact LL. apply Rec; [reflexivity | exact Fx].
  - unfold qs. cbn [map snd]. rewrite map_app. rewrite Msnd by exact LL. apply Rec; [symmetry; exact LL | exact Fy].
  - unfold qs. cbn [map fst]. rewrite map_app. rewrite Mfst by exact LL. apply Pr. reflexivity.
  - unfold qs. cbn [map snd]. rewrite map_app. rewrite Msnd by exact LL. apply Pr. symmetry. exact LL.
Qed.

Theorem forms_sound : private K T c.
Proof. destruct (law_of c) as [n places|first each last] eqn:S; [apply one_n_sound with n places | apply every_n_sound with first each last]; exact S. Qed.

End OneClaim.

(** Witnesses. *)
Section Witness.
Variable c : claim.
Hypothesis is_root : is_root_of_e K (root c) T.
Notation sum := (sum K).

Definition one_in (w : list (option told)) (y : output) : K := if in_event w y then 1 else 0.

Lemma place_in_sum : forall s a l (f : state -> K),
  sum (place_in s a l) (fun e => val (snd e) * f (fst e)) = val a * f s + sum l (fun e => val (snd e) * f (fst e)).
Proof.
  intros s a l f. induction l as [|[u b] l IH]; [reflexivity|]. cbn [place_in].
  destruct (same (Tuple s) (Tuple u)) eqn:E.
  - apply same_spec in E. injection E as ->. cbn [Program.sum fst snd]. rewrite value_add. ring.
  - destruct (earlier s u); cbn [Program.sum fst snd]; [reflexivity|]. rewrite IH. ring.
Qed.

Lemma expected_zero : forall ps s h, (forall y, h y = 0) -> expected K T ps s h = 0.
Proof.
  induction ps as [|[p r] ps IH]; intros s h H; [apply H|]. cbn [expected]. apply sum_zero. intros x _.
  rewrite IH; [ring|]. intro y. apply H.
Qed.

Lemma expected_same : forall ps s g h, (forall y, g y = h y) -> expected K T ps s g = expected K T ps s h.
Proof.
  induction ps as [|[p r] ps IH]; intros s g h H; [apply H|]. cbn [expected]. apply sum_ext. intros x _.
  rewrite (IH _ (fun y => g (published x :: y)) (fun y => h (published x :: y))); [reflexivity|]. intro y. apply H.
Qed.

Lemma carried_sound : forall ps w v,
  val (carried ps w v) = sum v (fun e => val (snd e) * expected K T ps (fst e) (one_in w)).
Proof.
  induction ps as [|[p r] ps IH]; intros [|y w] v.
  - cbn [carried expected]. unfold one_in. cbn [in_event]. induction v as [|[s a] v IHv]; [reflexivity|].
    cbn [fold_right Program.sum fst snd]. rewrite value_add, IHv. ring.
  - cbn [carried value_of]. symmetry. apply sum_zero. intros e _. cbn [expected]. unfold one_in. cbn [in_event]. ring.
  - cbn [carried value_of]. symmetry. apply sum_zero. intros e _. cbn [expected]. rewrite sum_zero; [ring|].
    intros x _. rewrite expected_zero; [ring|]. reflexivity.
  - cbn [carried]. rewrite IH. induction v as [|[s a] v IHv]; [reflexivity|]. cbn [fold_right Program.sum fst snd].
    rewrite <- IHv. generalize (fold_right (fun e l => fold_right (fun r0 l0 => if same_output (published r0) y
      then place_in (after r0) (pmul (snd e) (weight r0)) l0 else l0) l (results p r (fst e))) [] v) as rest. intro rest.
    cbn [expected]. rewrite sum_scale. induction (results p r s) as [|x l IHl]; [cbn [fold_right Program.sum]; ring|].
    cbn [fold_right Program.sum]. destruct (same_output (published x) y) eqn:E.
    + rewrite (place_in_sum (after x) _ _ (fun u => expected K T ps u (one_in w))), IHl, value_mul.
      rewrite (expected_same ps (after x) (fun z => one_in (y :: w) (published x :: z)) (one_in w)); [ring|].
      intro z. unfold one_in. cbn [in_event]. rewrite E. reflexivity.
    + rewrite IHl. rewrite (expected_zero ps (after x) (fun z => one_in (y :: w) (published x :: z))); [ring|].
      intro z. unfold one_in. cbn [in_event]. rewrite E. reflexivity.
Qed.

Lemma weight_in_sound : forall x w, val (weight_in c x w) = mass K T (program_on c x) (in_event w).
Proof.
  intros x w. unfold weight_in. rewrite carried_sound. cbn [Program.sum fst snd].
  rewrite (value_constant K T [1]%Z) by reflexivity. cbn [hd]. rewrite inj_one. unfold mass.
  replace (1 * expected K T (program_on c x) [] (one_in w) + 0) with (expected K T (program_on c x) [] (one_in w)) by ring.
  reflexivity.
Qed.

Lemma total_sound : forall x, val (total_weight c x) = mass_of_all K T (program_on c x).
Proof.
  intro x. unfold total_weight. rewrite weight_in_sound. unfold mass, mass_of_all. generalize (@nil value) as s.
  induction (program_on c x) as [|[p r] ps IH]; intro s; [reflexivity|]. cbn [expected map]. apply sum_ext. intros y _.
  rewrite <- IH. reflexivity.
Qed.

Lemma in_insert : forall s u l, In u l -> In u (insert s l).
Proof.
  intros s u l. induction l as [|v l IH]; intro H; [contradiction|]. cbn [insert].
  destruct (same (Tuple s) (Tuple v)); [exact H|]. destruct (earlier s v); [right; exact H|].
  destruct H as [->|H]; [left; reflexivity | right; apply IH; exact H].
Qed.

Lemma insert_in : forall s l, In s (insert s l).
Proof.
  intros s l. induction l as [|v l IH]; [left; reflexivity|]. cbn [insert]. destruct (same (Tuple s) (Tuple v)) eqn:E.
  - apply same_spec in E. injection E as ->. left. reflexivity.
  - destruct (earlier s v); [left; reflexivity | right; exact IH].
Qed.

Lemma explored_sound : forall ps l s, explored ps l = true -> In s l -> meaningful ps s.
Proof.
  induction ps as [|[p r] ps IH]; intros l s H Hs; [exact I|]. cbn [explored] in H. apply andb_true_iff in H as [H1 H2].
  rewrite forallb_forall in H1. specialize (H1 s Hs). split.
  - destruct (run p r s); [congruence | discriminate].
  - apply Forall_forall. intros x Hx. apply (IH _ _ H2). clear - Hs Hx. induction l as [|u l IHl]; [contradiction|].
    cbn [fold_right]. destruct Hs as [->|Hs].
    + generalize (fold_right (fun s found => fold_right (fun r0 => insert (after r0)) found (results p r s)) [] l) as m. intro m.
      induction (results p r s) as [|y k IHk]; [contradiction|]. cbn [fold_right]. destruct Hx as [->|Hx]; [apply insert_in|].
      apply in_insert. apply IHk. exact Hx.
    + specialize (IHl Hs). induction (results p r u) as [|y k IHk]; [exact IHl|]. cbn [fold_right]. apply in_insert. exact IHk.
Qed.

Lemma listed_sound : forall x, listed c x = true -> is_dataset c x.
Proof.
  intros x H. unfold listed in H. apply andb_true_iff in H as [H1 H2]. split.
  - destruct (law_of c); [apply Nat.eqb_eq; exact H1 | exact Logic.I].
  - rewrite forallb_forall in H2. apply Forall_forall. intros r Hr. specialize (H2 r Hr). apply existsb_exists in H2 as [u [Hu E]].
    apply same_spec in E. subst. exact Hu.
Qed.

Lemma no_differences : forall r x y, length x = length y -> differences r x y = O -> x = y.
Proof.
  intros r. induction x as [|a x IH]; intros [|b y] L D; try discriminate L; [reflexivity|]. unfold differences in D. cbn [combine filter fst snd] in D.
  destruct (same a b) eqn:E; [|discriminate D]. apply same_spec in E. subst b. f_equal. apply IH; [injection L; auto | exact D].
Qed.

Lemma neighbours_sound : forall r x y, neighbours_b r x y = true -> neighbours r x y.
Proof.
  intros r x y H. unfold neighbours_b in H. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2]. apply Nat.eqb_eq in H1.
  assert (One : r <> UnitAll -> Nat.eqb (differences r x y) 1 = true ->
    exists before a b later, x = before ++ a :: later /\ y = before ++ b :: later /\ near r a b = true).
  { intros _ D. apply Nat.eqb_eq in D. clear H3. revert y H1 H2 D. induction x as [|a x IH]; intros [|b y] L N D; try discriminate L; [discriminate D|].
    unfold differences in D. cbn [combine filter fst snd forallb] in D, N. apply andb_true_iff in N as [N1 N2].
    destruct (same a b) eqn:E.
    - apply same_spec in E. subst b. destruct (IH y) as [l [u [v [t [Ex [Ey N]]]]]]; [injection L; auto | exact N2 | exact D|].
      exists (a :: l), u, v, t. subst. auto.
    - cbn [orb] in N1. exists [], a, b, x. cbn [app]. split; [reflexivity|]. split; [|exact N1]. f_equal. symmetry.
      apply no_differences with r; [injection L; auto|]. cbn [length] in D. injection D. auto. }
  destruct r; try (apply One; [congruence | exact H3]). split.
  - intros ->. apply Nat.ltb_lt in H3. assert (Z : differences UnitAll y y = O).
    { clear. unfold differences. induction y as [|a y IH]; [reflexivity|]. cbn [combine filter fst snd].
      replace (same a a) with true by (symmetry; apply same_spec; reflexivity). exact IH. }
    lia.
  - clear H3 One. revert y H1 H2. induction x as [|a x IH]; intros [|b y] L N; try discriminate L; constructor; cbn [combine forallb fst snd] in N;
      apply andb_true_iff in N as [N1 N2].
    + apply orb_true_iff in N1 as [N1|N1]; [left; apply same_spec; exact N1 | right; exact N1].
    + apply IH; [injection L; auto | exact N2].
Qed.
End Witness.
End Proofs.

Print Assumptions forms_sound.
