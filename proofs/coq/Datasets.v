(** The rule "datasets": all pairs of neighbours are gone through, those that lead to the same weights taken together.

    For (ε, δ), for neighbours that are listed, and for programs that observe; along one pair, for its refutation and for
    what is attained. *)

From Coq Require Import ZArith List Bool Lia Ring FMapPositive.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate Turns Accuracy.
Import ListNotations.
Open Scope Z_scope.

(** A claim with δ = delta_up / delta_down, and its neighbours where they are listed; and a curve of such claims. *)
Record within_claim := {
  base : claim; delta_up : poly; delta_down : poly; infinite : bool; listed_pairs : option (list (dataset * dataset)) }.

Definition point := ((poly * poly) * (poly * poly))%type.
Definition at_point (d : within_claim) (p : point) : within_claim :=
  let c := base d in
  {| base := {| root := root c; records := records c; related := related c; up := fst (fst p); down := snd (fst p);
                parts := parts c; law_of := law_of c |};
     delta_up := fst (snd p); delta_down := snd (snd p); infinite := infinite d; listed_pairs := listed_pairs d |}.

Definition compared (d : within_claim) (x y : dataset) : Prop :=
  match listed_pairs d with None => neighbours (related (base d)) x y | Some l => In (x, y) l end.

(** The weights of states after a part, for everything that it publishes, by the first number of it. *)
Definition lower (y z : told) : bool := match y, z with Number n _ :: _, Number m _ :: _ => n <? m | _, _ => false end.
Fixpoint put_told (y : told) (s : state) (a : poly) (l : list (told * vector)) : list (told * vector) :=
  match l with
  | [] => [(y, [(s, a)])]
  | (z, v) :: rest => if same (Tuple y) (Tuple z) then (z, place_in s a v) :: rest
                      else if lower y z then (y, [(s, a)]) :: l else (z, v) :: put_told y s a rest
  end.
Definition told_once (p : part) (record : option value) (v : vector) : list (told * vector) :=
  fold_right (fun e l => fold_right (fun x l => put_told (published x) (after x) (pmul (snd e) (weight x)) l) l
                                    (results p record (fst e))) [] v.
Definition told_by : part -> option value -> vector -> list (told * vector) :=
  kept (fun p record v => map (fun j => (fst j, shared (snd j)))
    (over_rows (fun e rs l => fold_right (fun x l => put_told (published x) (after x) (pmul (snd e) (weight x)) l) l rs) [] p record v)).
Fixpoint find_told {A} (y : told) (l : list (told * list A)) : list A :=
  match l with [] => [] | (z, v) :: rest => if same (Tuple y) (Tuple z) then v else find_told y rest end.
Lemma find_in : forall {A} (l : list (told * list A)) j, NoDup (map fst l) -> In j l -> find_told (fst j) l = snd j.
Proof.
  intros A l j. induction l as [|[u v] l IH]; intros N H; [contradiction|]. inversion N as [|? ? N1 N2]; subst. cbn [find_told].
  destruct H as [<-|H].
  - cbn [fst snd]. replace (same (Tuple u) (Tuple u)) with true by (symmetry; apply same_spec; reflexivity). reflexivity.
  - destruct (same (Tuple (fst j)) (Tuple u)) eqn:E; [|apply IH; assumption]. apply same_spec in E. injection E as <-.
    exfalso. apply N1. apply (in_map fst _ _ H).
Qed.
Fixpoint without (y : told) (l : list (told * vector)) : list (told * vector) :=
  match l with [] => [] | e :: rest => if same (Tuple y) (Tuple (fst e)) then rest else e :: without y rest end.

(** Under x and under x', for everything that either may publish. *)
Fixpoint joined (l m : list (told * vector)) : list (told * (vector * vector)) :=
  match l with
  | [] => map (fun e => (fst e, ([], snd e))) m
  | (y, v) :: rest => (y, (v, find_told y m)) :: joined rest (without y m)
  end.
Definition both_told (p : part) (a b : option value) (v w : vector) := joined (told_by p a v) (told_by p b w).

(** For how many outputs the weights are what they are. The first number only finds and orders entries; it is made of some
    weights, and of the first and the last state. *)
Definition table := list (positive * ((vector * vector) * Z)).
Definition rank_of (v : vector) (from : Z) : Z :=
  let h := fold_left (fun h e => fold_left (fun g c => 3 * g + c) (snd e) h) (firstn 12 v) from in
  ((h * step_factor + hash (Tuple (match v with [] => [] | e :: _ => fst e end))) * ratio_factor + hash (Tuple (fst (last v ([], []))))) mod modulus.
Definition rank_alone : vector -> Z := kept (fun _ _ v => rank_of v 17) tt tt.
Definition rank (vw : vector * vector) : positive :=
  Z.to_pos ((rank_alone (fst vw) * step_factor + rank_alone (snd vw)) mod modulus + 1).
Definition same_pair (a b : vector * vector) : bool := same_vector (fst a) (fst b) && same_vector (snd a) (snd b).
Fixpoint add_entry (k : positive) (vw : vector * vector) (n : Z) (t : table) : table :=
  match t with
  | [] => [(k, (vw, n))]
  | (j, (uu, m)) :: rest =>
      if (k =? j)%positive && same_pair vw uu then (j, (uu, n + m)) :: rest
      else if (k <? j)%positive then (k, (vw, n)) :: t else (j, (uu, m)) :: add_entry k vw n rest
  end.
Definition moved_table (p : part) (a b : option value) (t : table) : table :=
  fold_right (fun e l => fold_right (fun j l => add_entry (rank (snd j)) (snd j) (snd (snd e)) l) l
                                    (both_told p a b (fst (fst (snd e))) (snd (fst (snd e))))) [] t.
Definition same_table : table -> table -> bool :=
  same_list (fun e f => (fst e =? fst f)%positive && same_pair (fst (snd e)) (fst (snd f)) && (snd (snd e) =? snd (snd f))).

(** Tables that datasets lead to, whether records differ, and from which pair on the next client meets them. *)
Definition front := list (table * bool * nat).
Definition same_front (t u : table * bool * nat) : bool :=
  Bool.eqb (snd (fst t)) (snd (fst u)) && same_table (fst (fst t)) (fst (fst u)) && Nat.eqb (snd t) (snd u).
(** Those that are found, by a number which is made of their entries' first numbers. *)
Definition fronts := PositiveMap.t front.
Definition front_rank (t : table * bool * nat) : positive :=
  Z.to_pos (fold_left (fun h e => (h * step_factor + Zpos (fst e) * ratio_factor + snd (snd e)) mod modulus) (fst (fst t)) 0 + 1).
Definition those_of (k : positive) (m : fronts) : front := match PositiveMap.find k m with Some l => l | None => [] end.
Definition add_front (t : table * bool * nat) (m : fronts) : fronts :=
  let l := those_of (front_rank t) m in
  if existsb (same_front t) l then m else PositiveMap.add (front_rank t) (t :: l) m.
Definition all_fronts (m : fronts) : front := flat_map snd (PositiveMap.elements m).

Definition entry_well (p : part) (m : meeting) (e : positive * ((vector * vector) * Z)) : bool :=
  runs_well p (fst (fst m)) (fst (fst (snd e))) && runs_well p (snd (fst m)) (snd (fst (snd e))).
Definition size_of (v : vector) : poly := fold_right (fun e t => padd (snd e) t) [] v.
Definition table_sum (t : table) (f : vector * vector -> poly) : poly :=
  fold_right (fun e s => padd (pmul [snd (snd e)] (f (fst (snd e)))) s) [] t.

Section Check.
Variable root : Z.
Variables up down delta_up delta_down : poly.
Variable infinite : bool.
Variable asked : verdict.

Definition gap_of (m m' : poly) (vw : vector * vector) : poly :=
  padd (pmul (pmul down m') (size_of (fst vw))) (popp (pmul (pmul up m) (size_of (snd vw)))).
Definition counts (m m' : poly) (vw : vector * vector) : bool :=
  positive_at root (gap_of m m' vw) && (negb infinite || pzero (size_of (snd vw))).
(** With an unknown all signs are the same for all its values, as proofs/checker.py asks; no theorem needs that. *)
Definition settled (m m' : poly) (t : table) : bool :=
  (0 <=? root) || forallb (fun e => let g := gap_of m m' (fst (snd e)) in positive_at root g || nonpos root g) t.
Definition table_ok (t : table) : bool :=
  let m := table_sum t (fun vw => size_of (fst vw)) in
  let m' := table_sum t (fun vw => size_of (snd vw)) in
  let over := table_sum t (fun vw => if counts m m' vw then gap_of m m' vw else []) in
  let excess := padd (pmul delta_down over) (popp (pmul (pmul delta_up down) (pmul m m'))) in
  settled m m' t && positive_at root m && positive_at root m'
  && match asked with
     | Within => forallb (fun e => counts m m' (fst (snd e)) || nonpos root (gap_of m m' (fst (snd e)))) t && nonpos root excess
     | Exceeds => positive_at root excess
     | Reaches => pzero excess
     end.
End Check.

(** All tables that ways lead to, each asked once. *)
Section Through.
Variable at_once : bool.
Variable ok : table -> bool.
Definition skipped (f : table * bool * nat) (m : meeting) : bool := snd (fst f) && snd m && negb at_once.
Definition next (p : part) (ms : list meeting) (turn : bool) (fs : front) : front :=
  all_fronts (fold_right (fun f found => fold_right (fun km found => let m := snd km in
    if skipped f m then found
    else add_front (moved_table p (fst (fst m)) (snd (fst m)) (fst (fst f)), snd (fst f) || snd m, if turn then fst km else 0%nat) found)
    found (from_on (snd f) ms)) (PositiveMap.empty _) fs).
Fixpoint gone_through (ps : list (part * list meeting)) (turns : list bool) (fs : front) : bool :=
  match ps with
  | [] => forallb (fun f => ok (fst (fst f))) fs
  | (p, ms) :: rest =>
      forallb (fun f => forallb (fun km => skipped f (snd km) || forallb (entry_well p (snd km)) (fst (fst f))) (from_on (snd f) ms)) fs
      && gone_through rest (tl turns) (next p ms (hd false turns) fs)
  end.
End Through.

Definition begin : table := [(1%positive, ((([([], [1])], [([], [1])])), 1))].
Definition meetings (c : claim) (p : part) : list meeting :=
  if reads p then
    flat_map (fun a => flat_map (fun b => (if same a b then [(Some a, Some b, false)] else [])
                                          ++ (if near (related c) a b then [(Some a, Some b, true)] else [])) (records c)) (records c)
  else [(None, None, false)].
Definition met_by (x y : dataset) (c : claim) (p : nat * option nat) : part * list meeting :=
  (part_at c (fst p), [(record_of x p, record_of y p, false)]).

Definition ok_at (d : within_claim) (asked : verdict) : table -> bool :=
  table_ok (root (base d)) (up (base d)) (down (base d)) (delta_up d) (delta_down d) (infinite d) asked.

(** Whether all tables that neighbours lead to, or one pair, are found right; in one order where clients may change places. *)
Definition all_ok (d : within_claim) (turned : bool) (ok : table -> bool) : bool :=
  let c := base d in
  let gone := fun turns ps => gone_through (at_once (related c)) ok ps turns [(begin, false, 0%nat)] in
  match law_of c with
  | For n places =>
      well_made c
      && match listed_pairs d with
         | None => gone (if turned then turned_places c (fun p => p) else []) (map (fun p => (part_at c (fst p), meetings c (part_at c (fst p)))) places)
         | Some l => forallb (fun q => gone [] (map (met_by (fst q) (snd q) c) places)) l
         end
  | ForEvery _ _ _ => false
  end.
Definition check_within (d : within_claim) (ps : list point) : bool :=
  negb (infinite d) && forallb (fun p => positive_at (root (base d)) (snd (snd p))) ps
  && all_ok d true (fun t => forallb (fun p => ok_at (at_point d p) Within t) ps).

(** A pair that is compared, with an event or without. *)
Definition is_compared (d : within_claim) (x y : dataset) : bool :=
  listed (base d) x && listed (base d) y
  && match listed_pairs d with
     | None => neighbours_b (related (base d)) x y
     | Some l => existsb (fun q => same (Tuple x) (Tuple (fst q)) && same (Tuple y) (Tuple (snd q))) l
     end.
Definition pair_ok (d : within_claim) (ok : table -> bool) (x y : dataset) : bool :=
  is_compared d x y
  && match law_of (base d) with
     | For n places => well_made (base d)
                       && gone_through (at_once (related (base d))) ok (map (met_by x y (base d)) places) [] [(begin, false, 0%nat)]
     | ForEvery _ _ _ => false
     end.
Definition check_along (d : within_claim) (asked : verdict) (x y : dataset) : bool :=
  positive_at (root (base d)) (delta_down d)
  && match asked with Within => false | Exceeds => true | Reaches => positive_at (root (base d)) (delta_up d) end
  && pair_ok d (ok_at d asked) x y.

(** With an event that parts publish, where there is no δ: weights are carried along for it alone. *)
Definition check_event (d : within_claim) (asked : verdict) (w : witness) : bool :=
  let c := base d in
  let nx := total_weight c (pair_x w) in
  let ny := total_weight c (pair_y w) in
  let mx := weight_in c (pair_x w) (event w) in
  let my := weight_in c (pair_y w) (event w) in
  is_compared d (pair_x w) (pair_y w) && pzero (delta_up d) && positive_at (root c) (delta_down d) && positive_at (root c) (down c)
  && explored (program_on c (pair_x w)) [[]] && explored (program_on c (pair_y w)) [[]]
  && positive_at (root c) nx && positive_at (root c) ny && positive_at (root c) mx
  && match asked with
     | Within => false
     | Exceeds => (negb (infinite d) || pzero my)
                  && positive_at (root c) (padd (pmul (pmul (down c) mx) ny) (popp (pmul (pmul (up c) my) nx)))
     | Reaches => pzero (padd (pmul (pmul (down c) mx) ny) (popp (pmul (pmul (up c) my) nx)))
     end.

(** What is claimed: P(E|x) <= R P(E|x') + δ for all events E, times both weights of all runs; that this is false; and
    that some pair and event have equality. *)
Section Meaning.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Notation val := (value_of K T).

Definition fair (d : within_claim) (x y : dataset) : Prop :=
  meaningful (program_on (base d) x) [] /\ meaningful (program_on (base d) y) []
  /\ 0 < mass_of_all K T (program_on (base d) x) /\ 0 < mass_of_all K T (program_on (base d) y).
Definition ours (d : within_claim) (x y : dataset) (E : output -> bool) : K :=
  val (delta_down d) * (val (down (base d)) * mass K T (program_on (base d) x) E * mass_of_all K T (program_on (base d) y)).
Definition allowed (d : within_claim) (x y : dataset) (E : output -> bool) : K :=
  val (delta_down d) * (val (up (base d)) * mass K T (program_on (base d) y) E * mass_of_all K T (program_on (base d) x))
  + val (delta_up d) * val (down (base d)) * (mass_of_all K T (program_on (base d) x) * mass_of_all K T (program_on (base d) y)).

Definition within (d : within_claim) : Prop :=
  forall x y, is_dataset (base d) x -> is_dataset (base d) y -> compared d x y ->
  fair d x y /\ forall E, ours d x y E <= allowed d x y E.
Definition exceeded (d : within_claim) : Prop :=
  exists x y E, is_dataset (base d) x /\ is_dataset (base d) y /\ compared d x y /\ fair d x y
  /\ allowed d x y E < ours d x y E /\ (infinite d = true -> mass K T (program_on (base d) y) E = 0).
Definition reached (d : within_claim) : Prop :=
  exists x y E, is_dataset (base d) x /\ is_dataset (base d) y /\ compared d x y /\ fair d x y
  /\ ours d x y E = allowed d x y E /\ (0 < mass K T (program_on (base d) x) E \/ 0 < val (delta_up d)).
End Meaning.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).
Definition law (ps : program) (v : vector) (h : output -> K) : K := sum v (fun e => val (snd e) * expected K T ps (fst e) h).
Definition like_way (q q' : way) : Prop :=
  like K T [[]] q q' /\ (meaningful (left_of q') [] -> meaningful (left_of q) []) /\ (meaningful (right_of q') [] -> meaningful (right_of q) []).
Definition one_on (E : output -> bool) (y : output) : K := if E y then 1 else 0.

(** What is told apart. *)
Lemma told_by_is : forall p r v, told_by p r v = told_once p r v.
Proof.
  intros p r v. unfold told_by, kept. rewrite over_rows_is. fold (told_once p r v). induction (told_once p r v) as [|[y u] l IH]; [reflexivity|]. cbn [map fst snd]. rewrite IH. reflexivity.
Qed.

Lemma put_told_sum : forall y s a l (f : told -> state -> K),
  sum (put_told y s a l) (fun j => sum (snd j) (fun e => val (snd e) * f (fst j) (fst e)))
  = val a * f y s + sum l (fun j => sum (snd j) (fun e => val (snd e) * f (fst j) (fst e))).
Proof.
  intros y s a l f. induction l as [|[z v] l IH]; [cbn; ring|]. cbn [put_told].
  destruct (same (Tuple y) (Tuple z)) eqn:E.
  - apply same_spec in E. injection E as ->. cbn [Program.sum fst snd]. rewrite (place_in_sum K T s a v (f z)). ring.
  - destruct (lower y z); cbn [Program.sum fst snd]; [ring|]. rewrite IH. ring.
Qed.

Lemma told_by_sum : forall p r v (f : told -> state -> K),
  sum (told_by p r v) (fun j => sum (snd j) (fun e => val (snd e) * f (fst j) (fst e)))
  = sum v (fun e => val (snd e) * sum (results p r (fst e)) (fun x => val (weight x) * f (published x) (after x))).
Proof.
  intros p r v f. rewrite told_by_is; unfold told_once. induction v as [|[s a] v IH]; [reflexivity|]. cbn [fold_right Program.sum fst snd].
  rewrite <- IH. match goal with |- context [fold_right _ (fold_right ?g [] v) _] => generalize (fold_right g [] v) as rest end.
  intro rest. induction (results p r s) as [|x l IHl]; [cbn; ring|].
  cbn [fold_right Program.sum]. rewrite put_told_sum, IHl, value_mul. ring.
Qed.

Lemma put_told_in : forall y s a l, (exists u, In (y, u) (put_told y s a l) /\ In s (map fst u))
  /\ forall z u, In (z, u) l -> exists u', In (z, u') (put_told y s a l) /\ incl (map fst u) (map fst u').
Proof.
  intros y s a l. induction l as [|[z v] l [[u [I1 I2]] I3]].
  - split; [exists [(s, a)]; split; left; reflexivity | intros z u []].
  - cbn [put_told]. destruct (same (Tuple y) (Tuple z)) eqn:E.
    + apply same_spec in E. injection E as ->. split.
      * exists (place_in s a v). split; [left; reflexivity | apply place_in_new].
      * intros z' u' [H|H]; [injection H as <- <-; exists (place_in s a v); split; [left; reflexivity | intros t; apply place_in_old]|].
        exists u'. split; [right; exact H | intros t Ht; exact Ht].
    + destruct (lower y z).
      { split; [exists [(s, a)]; split; left; reflexivity|]. intros z' u' H. exists u'. split; [right; exact H | intros t Ht; exact Ht]. }
      split; [exists u; split; [right; exact I1 | exact I2]|]. intros z' u' [H|H].
      * injection H as <- <-. exists v. split; [left; reflexivity | intros t Ht; exact Ht].
      * destruct (I3 _ _ H) as [w [W1 W2]]. exists w. split; [right; exact W1 | exact W2].
Qed.

Lemma told_by_in : forall p r v s x, In s (map fst v) -> In x (results p r s) ->
  exists u, In (published x, u) (told_by p r v) /\ In (after x) (map fst u).
Proof.
  intros p r v s x Hs Hx. rewrite told_by_is; unfold told_once. induction v as [|[t a] v IH]; [contradiction|]. cbn [fold_right fst snd].
  match goal with |- context [fold_right _ (fold_right ?g [] v) _] => set (rest := fold_right g [] v) in * end.
  destruct Hs as [E|Hs].
  - cbn [fst] in E. subst t. clearbody rest. induction (results p r s) as [|y l IHl]; [contradiction|]. cbn [fold_right].
    destruct Hx as [->|Hx]; [apply put_told_in|]. destruct (IHl Hx) as [u [U1 U2]].
    destruct (proj2 (put_told_in (published y) (after y) (pmul a (weight y)) _) _ _ U1) as [w [W1 W2]]. exists w. auto.
  - destruct (IH Hs) as [u0 U0]. clear IH. revert u0 U0. clearbody rest.
    induction (results p r t) as [|y l IHl]; intros u0 [U1 U2]; [exists u0; auto|]. cbn [fold_right].
    destruct (IHl u0 (conj U1 U2)) as [u [V1 V2]].
    destruct (proj2 (put_told_in (published y) (after y) (pmul a (weight y)) _) _ _ V1) as [w [W1 W2]]. exists w. auto.
Qed.

(** Keys are different, and none is below one before it. *)
Definition ordered_keys (l : list told) : Prop := NoDup l /\ ForallOrdPairs (fun z w => lower w z = false) l.

Lemma lower_not : forall y z, lower y z = true -> lower z y = false /\ y <> z.
Proof.
  intros [|[n d| | | |] y] [|[m e| | | |] z] H; try discriminate H. unfold lower in *. apply Z.ltb_lt in H. split; [apply Z.ltb_ge; lia|].
  intro E. injection E as E _ _. lia.
Qed.
Lemma lower_before : forall y z w, lower y z = true -> lower w z = false -> lower w y = false.
Proof.
  intros [|[n d| | | |] y] [|[m e| | | |] z] [|[k f| | | |] w] H L; try discriminate H; try reflexivity. unfold lower in *.
  apply Z.ltb_lt in H. apply Z.ltb_ge in L. apply Z.ltb_ge. lia.
Qed.

Lemma put_told_keys : forall y s a l, ordered_keys (map fst l) -> ordered_keys (map fst (put_told y s a l))
  /\ incl (map fst (put_told y s a l)) (y :: map fst l).
Proof.
  intros y s a l. induction l as [|[z v] l IH]; intros [N O].
  - split; [split; repeat constructor; intros [] | intros t H; exact H].
  - cbn [put_told]. inversion N as [|? ? N1 N2]; subst. inversion O as [|? ? O1 O2]; subst.
    destruct (same (Tuple y) (Tuple z)) eqn:E; [split; [split; cbn [map fst]; assumption | intros t H; right; exact H]|].
    destruct (lower y z) eqn:B.
    + destruct (lower_not _ _ B) as [B1 B2]. split; [|intros t H; exact H]. cbn [map fst] in *. split.
      * constructor; [|exact N]. intros [H|H]; [congruence|]. rewrite Forall_forall in O1. specialize (O1 y H). congruence.
      * constructor; [|exact O]. constructor; [exact B1|]. rewrite Forall_forall in O1. apply Forall_forall. intros w Hw.
        apply lower_before with z; [exact B | apply O1; exact Hw].
    + destruct (IH (conj N2 O2)) as [[I1 I3] I2]. cbn [map fst]. split.
      * split; constructor; try assumption.
        -- intro H. apply I2 in H. destruct H as [->|H]; [|contradiction].
           assert (same (Tuple z) (Tuple z) = true) by (apply same_spec; reflexivity). congruence.
        -- rewrite Forall_forall in O1. apply Forall_forall. intros w Hw. apply I2 in Hw. destruct Hw as [<-|Hw]; [exact B | apply O1; exact Hw].
      * intros t [<-|H]; [right; left; reflexivity|]. apply I2 in H. destruct H as [->|H]; [left; reflexivity | right; right; exact H].
Qed.

Lemma told_by_keys : forall p r v, NoDup (map fst (told_by p r v)).
Proof.
  intros p r v. assert (O : ordered_keys (map fst (told_by p r v))); [|apply O].
  rewrite told_by_is; unfold told_once. induction v as [|e v IH]; [split; constructor|]. cbn [fold_right].
  induction (results p r (fst e)) as [|x l IHl]; [exact IH | apply put_told_keys; exact IHl].
Qed.

Lemma joined_left : forall l m (f : told -> vector -> K), (forall y, f y [] = 0) ->
  sum (joined l m) (fun j => f (fst j) (fst (snd j))) = sum l (fun e => f (fst e) (snd e)).
Proof.
  intros l. induction l as [|[y v] l IH]; intros m f Z; cbn [joined].
  - rewrite sum_map. apply sum_zero. intros e _. apply Z.
  - cbn [Program.sum fst snd]. rewrite IH by exact Z. reflexivity.
Qed.

Lemma without_is : forall y m, NoDup (map fst m) -> without y m = filter (fun e => negb (same (Tuple y) (Tuple (fst e)))) m.
Proof.
  intros y m. induction m as [|[z v] m IH]; intro N; [reflexivity|]. inversion N as [|? ? N1 N2]; subst. cbn [without filter fst].
  destruct (same (Tuple y) (Tuple z)) eqn:E; cbn [negb]; [|rewrite IH by exact N2; reflexivity]. apply same_spec in E. injection E as ->.
  clear IH N N2. induction m as [|[t w] m IH]; [reflexivity|]. cbn [filter fst]. destruct (same (Tuple z) (Tuple t)) eqn:E.
  - apply same_spec in E. injection E as ->. exfalso. apply N1. left. reflexivity.
  - cbn [negb]. rewrite <- IH; [reflexivity|]. intro H. apply N1. right. exact H.
Qed.

Lemma without_sum : forall y m (f : told -> vector -> K), (forall z, f z [] = 0) -> NoDup (map fst m) ->
  sum m (fun e => f (fst e) (snd e)) = f y (find_told y m) + sum (without y m) (fun e => f (fst e) (snd e)).
Proof.
  intros y m f Z. induction m as [|[z v] m IH]; intro N; [cbn; rewrite Z; ring|]. inversion N as [|? ? N1 N2]; subst.
  cbn [find_told without Program.sum fst snd]. destruct (same (Tuple y) (Tuple z)) eqn:E.
  - apply same_spec in E. injection E as ->. reflexivity.
  - cbn [Program.sum fst snd]. rewrite IH by exact N2. ring.
Qed.

Lemma without_keys : forall y m, NoDup (map fst m) -> NoDup (map fst (without y m)).
Proof.
  intros y m. induction m as [|[z v] m IH]; intro N; [constructor|]. inversion N as [|? ? N1 N2]; subst.
  cbn [without fst]. destruct (same (Tuple y) (Tuple z)); [exact N2|]. cbn [map fst]. constructor; [|apply IH; exact N2].
  intro H. apply N1. apply in_map_iff in H as [e [<- He]]. rewrite (without_is _ _ N2) in He. apply filter_In in He as [He _]. apply in_map. exact He.
Qed.

Lemma joined_right : forall l m (f : told -> vector -> K), (forall y, f y [] = 0) -> NoDup (map fst m) ->
  sum (joined l m) (fun j => f (fst j) (snd (snd j))) = sum m (fun e => f (fst e) (snd e)).
Proof.
  intros l. induction l as [|[y v] l IH]; intros m f Z N; cbn [joined].
  - rewrite sum_map. reflexivity.
  - cbn [Program.sum fst snd]. rewrite IH by (try apply without_keys; assumption). symmetry. apply without_sum; assumption.
Qed.

Lemma joined_in_left : forall l m y v, In (y, v) l -> exists j, In j (joined l m) /\ fst (snd j) = v.
Proof.
  intros l. induction l as [|[z u] l IH]; intros m y v H; [contradiction|]. cbn [joined]. destruct H as [H|H].
  - injection H as -> ->. exists (y, (v, find_told y m)). split; [left; reflexivity | reflexivity].
  - destruct (IH (without z m) y v H) as [j [J1 J2]]. exists j. split; [right; exact J1 | exact J2].
Qed.

Lemma joined_in_right : forall l m y v, NoDup (map fst m) -> In (y, v) m -> exists j, In j (joined l m) /\ snd (snd j) = v.
Proof.
  intros l. induction l as [|[z u] l IH]; intros m y v N H; cbn [joined].
  - exists (y, ([], v)). split; [apply (in_map (fun e => (fst e, ([], snd e))) _ _ H) | reflexivity].
  - destruct (same (Tuple z) (Tuple y)) eqn:E.
    + apply same_spec in E. injection E as ->. exists (y, (u, find_told y m)). split; [left; reflexivity | exact (find_in m (y, v) N H)].
    + destruct (IH (without z m) y v) as [j [J1 J2]].
      * apply without_keys. exact N.
      * rewrite (without_is _ _ N). apply filter_In. split; [exact H|]. cbn [fst]. rewrite E. reflexivity.
      * exists j. split; [right; exact J1 | exact J2].
Qed.

Lemma joined_keys : forall l m, NoDup (map fst l) -> NoDup (map fst m) ->
  NoDup (map fst (joined l m)) /\ incl (map fst (joined l m)) (map fst l ++ map fst m).
Proof.
  intros l. induction l as [|[y v] l IH]; intros m Nl Nm; cbn [joined].
  - rewrite map_map. cbn [fst]. split; [exact Nm | intros t H; exact H].
  - inversion Nl as [|? ? N1 N2]; subst. destruct (IH (without y m) N2 (without_keys y m Nm)) as [I1 I2]. cbn [map fst app]. split.
    + constructor; [|exact I1]. intro H. apply I2 in H. apply in_app_or in H as [H|H]; [contradiction|].
      apply in_map_iff in H as [e [E He]]. rewrite (without_is _ _ Nm) in He. apply filter_In in He as [_ He]. apply negb_true_iff in He.
      assert (F : same (Tuple y) (Tuple (fst e)) = true) by (apply same_spec; f_equal; symmetry; exact E).
      assert (X : same (Tuple y) (Tuple (fst e)) = false) by exact He. congruence.
    + intros t [<-|H]; [left; reflexivity|]. right. apply I2 in H. apply in_app_or in H as [H|H]; apply in_or_app; [left; exact H|].
      right. apply in_map_iff in H as [e [<- He]]. rewrite (without_is _ _ Nm) in He. apply filter_In in He as [He _]. apply in_map. exact He.
Qed.

Lemma both_told_keys : forall p a b v w, NoDup (map fst (both_told p a b v w)).
Proof. intros. apply joined_keys; apply told_by_keys. Qed.

Lemma law_left : forall p a b ps v w h,
  law ((p, a) :: ps) v h = sum (both_told p a b v w) (fun j => law ps (fst (snd j)) (fun z => h (fst j :: z))).
Proof.
  intros p a b ps v w h. unfold both_told. rewrite (joined_left _ _ (fun y u => law ps u (fun z => h (y :: z)))) by reflexivity.
  unfold law. rewrite (told_by_sum p a v (fun y s => expected K T ps s (fun z => h (y :: z)))). reflexivity.
Qed.

Lemma law_right : forall p a b ps v w h,
  law ((p, b) :: ps) w h = sum (both_told p a b v w) (fun j => law ps (snd (snd j)) (fun z => h (fst j :: z))).
Proof.
  intros p a b ps v w h. unfold both_told.
  rewrite (joined_right _ _ (fun y u => law ps u (fun z => h (y :: z)))) by (try reflexivity; apply told_by_keys).
  unfold law. rewrite (told_by_sum p b w (fun y s => expected K T ps s (fun z => h (y :: z)))). reflexivity.
Qed.

Section Best.
Variables c1 c2 : K.
Variable plus : vector -> vector -> bool.
Definition size (v : vector) : K := sum v (fun e => val (snd e)).
Definition gap (v w : vector) : K := c1 * size v - c2 * size w.

(** The sum over all outputs of what is above 0 there, as far as [plus] says; and the event that it is the sum over. *)
Fixpoint over (q : way) (v w : vector) : K :=
  match q with
  | [] => if plus v w then gap v w else 0
  | (p, (a, b)) :: rest => sum (both_told p a b v w) (fun j => over rest (fst (snd j)) (snd (snd j)))
  end.
Fixpoint decided (q : way) (v w : vector) : Prop :=
  match q with
  | [] => if plus v w then 0 <= gap v w else gap v w <= 0
  | (p, (a, b)) :: rest => forall j, In j (both_told p a b v w) -> decided rest (fst (snd j)) (snd (snd j))
  end.
Fixpoint find_both (y : told) (l : list (told * (vector * vector))) : option (vector * vector) :=
  match l with [] => None | (z, u) :: rest => if same (Tuple y) (Tuple z) then Some u else find_both y rest end.
Fixpoint best (q : way) (v w : vector) : output -> bool :=
  match q with
  | [] => fun _ => plus v w
  | (p, (a, b)) :: rest => fun y => match y with
                                    | [] => false
                                    | o :: z => match find_both o (both_told p a b v w) with
                                                | Some u => best rest (fst u) (snd u) z
                                                | None => false
                                                end
                                    end
  end.

Lemma find_both_in : forall l j, NoDup (map fst l) -> In j l -> find_both (fst j) l = Some (snd j).
Proof.
  intros l [y u] N H. cbn [fst snd]. induction l as [|[z t] l IH]; [contradiction|]. inversion N as [|? ? N1 N2]; subst. cbn [find_both].
  destruct H as [H|H].
  - injection H as -> ->. replace (same (Tuple y) (Tuple y)) with true by (symmetry; apply same_spec; reflexivity). reflexivity.
  - destruct (same (Tuple y) (Tuple z)) eqn:E; [|apply IH; assumption]. apply same_spec in E. injection E as ->.
    exfalso. apply N1. apply (in_map fst _ _ H).
Qed.

Lemma law_end : forall v h, law [] v h = size v * h [].
Proof.
  intros v h. unfold law, size. cbn [expected]. induction v as [|e v IH]; [cbn; ring|]. cbn [Program.sum]. rewrite IH. ring.
Qed.

Lemma sum_minus : forall {A} (l : list A) f g, c1 * sum l f - c2 * sum l g = sum l (fun j => c1 * f j - c2 * g j).
Proof.
  intros A l f g. induction l as [|a l IH]; cbn [Program.sum]; [ring|]. rewrite <- IH. ring.
Qed.

Lemma over_most : forall q v w E, decided q v w ->
  c1 * law (left_of q) v (one_on E) - c2 * law (right_of q) w (one_on E) <= over q v w.
Proof.
  induction q as [|[p [a b]] q IH]; intros v w E D.
  - cbn [left_of right_of map over]. cbn [decided] in D. rewrite !law_end. unfold one_on. destruct (E []).
    + match goal with |- ?x <= _ => replace x with (gap v w) by (unfold gap; ring) end.
      destruct (plus v w); [apply le_refl | exact D].
    + match goal with |- ?x <= _ => replace x with (0 : K) by ring end. destruct (plus v w); [exact D | apply le_refl].
  - cbn [left_of right_of map over fst snd]. fold (left_of q) (right_of q).
    rewrite (law_left p a b _ v w), (law_right p a b _ v w), sum_minus. apply sum_le. intros j Hj.
    apply (IH _ _ (fun z => E (fst j :: z))). cbn [decided] in D. apply D. exact Hj.
Qed.

Lemma over_reached : forall q v w,
  c1 * law (left_of q) v (one_on (best q v w)) - c2 * law (right_of q) w (one_on (best q v w)) = over q v w.
Proof.
  induction q as [|[p [a b]] q IH]; intros v w.
  - cbn [left_of right_of map over best]. rewrite !law_end. unfold one_on, gap. destruct (plus v w); ring.
  - cbn [left_of right_of map over fst snd]. fold (left_of q) (right_of q).
    rewrite (law_left p a b _ v w), (law_right p a b _ v w), sum_minus. apply sum_ext. intros j Hj. rewrite <- IH.
    pose proof (find_both_in _ j (both_told_keys p a b v w) Hj) as F.
    assert (S : forall z, one_on (best ((p, (a, b)) :: q) v w) (fst j :: z) = one_on (best q (fst (snd j)) (snd (snd j))) z).
    { intro z. unfold one_on. cbn [best]. rewrite F. reflexivity. }
    f_equal; f_equal; unfold law; apply sum_ext; intros e _; f_equal; apply expected_same; exact S.
Qed.

Lemma best_alone : (forall v w, plus v w = true -> size w = 0) -> forall q v w, law (right_of q) w (one_on (best q v w)) = 0.
Proof.
  intro Z. induction q as [|[p [a b]] q IH]; intros v w.
  - cbn [right_of map best]. rewrite law_end. unfold one_on. destruct (plus v w) eqn:E; [rewrite (Z v w E)|]; ring.
  - cbn [right_of map fst snd]. fold (right_of q). rewrite (law_right p a b _ v w). apply sum_zero. intros j Hj.
    rewrite <- (IH (fst (snd j)) (snd (snd j))). pose proof (find_both_in _ j (both_told_keys p a b v w) Hj) as F.
    unfold law. apply sum_ext. intros e _. f_equal. apply expected_same. intro z. unfold one_on. cbn [best]. rewrite F. reflexivity.
Qed.
End Best.

(** Sums over tables. *)
Definition tsum (t : table) (g : vector -> vector -> K) : K :=
  sum t (fun e => inj (snd (snd e)) * g (fst (fst (snd e))) (snd (fst (snd e)))).

Lemma same_pair_sound : forall a b, same_pair a b = true -> a = b.
Proof.
  intros [a a'] [b b'] H. unfold same_pair in H. cbn [fst snd] in H. apply andb_true_iff in H as [H1 H2].
  apply same_vector_sound in H1. apply same_vector_sound in H2. congruence.
Qed.

Lemma add_entry_sum : forall k vw n t g, tsum (add_entry k vw n t) g = inj n * g (fst vw) (snd vw) + tsum t g.
Proof.
  intros k vw n t g. unfold tsum. induction t as [|[j [uu m]] t IH]; [reflexivity|]. cbn [add_entry].
  destruct ((k =? j)%positive && same_pair vw uu) eqn:E.
  - apply andb_true_iff in E as [_ E]. apply same_pair_sound in E. subst uu. cbn [Program.sum fst snd]. rewrite inj_add. ring.
  - destruct (k <? j)%positive; cbn [Program.sum fst snd]; [reflexivity|]. rewrite IH. ring.
Qed.

Lemma add_entry_in : forall k vw n t, (exists e, In e (add_entry k vw n t) /\ fst (snd e) = vw)
  /\ forall f, In f t -> exists e, In e (add_entry k vw n t) /\ fst (snd e) = fst (snd f).
Proof.
  intros k vw n t. induction t as [|[j [uu m]] t [[e [I1 I2]] I3]].
  - split; [exists (k, (vw, n)); split; [left|]; reflexivity | intros f []].
  - cbn [add_entry]. destruct ((k =? j)%positive && same_pair vw uu) eqn:E.
    + apply andb_true_iff in E as [_ E]. apply same_pair_sound in E. subst uu. split.
      * exists (j, (vw, (n + m)%Z)). split; [left|]; reflexivity.
      * intros f [<-|H]; [exists (j, (vw, (n + m)%Z)); split; [left|]; reflexivity | exists f; split; [right; exact H | reflexivity]].
    + destruct (k <? j)%positive.
      * split; [exists (k, (vw, n)); split; [left|]; reflexivity | intros f H; exists f; split; [right; exact H | reflexivity]].
      * split; [exists e; split; [right; exact I1 | exact I2]|]. intros f [<-|H].
        -- exists (j, (uu, m)). split; [left|]; reflexivity.
        -- destruct (I3 f H) as [e' [J1 J2]]. exists e'. split; [right; exact J1 | exact J2].
Qed.

Lemma moved_table_sum : forall p a b t g,
  tsum (moved_table p a b t) g = tsum t (fun v w => sum (both_told p a b v w) (fun j => g (fst (snd j)) (snd (snd j)))).
Proof.
  intros p a b t g. unfold moved_table. induction t as [|[k [[v w] n]] t IH]; [reflexivity|]. cbn [fold_right fst snd].
  unfold tsum at 2. cbn [Program.sum fst snd]. fold (tsum t (fun v w => sum (both_told p a b v w) (fun j => g (fst (snd j)) (snd (snd j))))).
  rewrite <- IH. match goal with |- context [fold_right _ (fold_right ?h [] t) _] => generalize (fold_right h [] t) as rest end. intro rest.
  induction (both_told p a b v w) as [|j l IHl]; [cbn [fold_right Program.sum]; ring|]. cbn [fold_right Program.sum]. rewrite add_entry_sum, IHl. ring.
Qed.

Lemma moved_table_in : forall p a b t e j, In e t -> In j (both_told p a b (fst (fst (snd e))) (snd (fst (snd e)))) ->
  exists f, In f (moved_table p a b t) /\ fst (snd f) = snd j.
Proof.
  intros p a b t e j He Hj. unfold moved_table. induction t as [|e' t IH]; [contradiction|]. cbn [fold_right].
  match goal with |- context [fold_right _ (fold_right ?h [] t) _] => set (rest := fold_right h [] t) in * end.
  destruct He as [->|He].
  - clearbody rest. induction (both_told p a b (fst (fst (snd e))) (snd (fst (snd e)))) as [|i l IHl]; [contradiction|]. cbn [fold_right].
    destruct Hj as [->|Hj]; [apply add_entry_in|]. destruct (IHl Hj) as [f [F1 F2]].
    destruct (proj2 (add_entry_in (rank (snd i)) (snd i) (snd (snd e)) _) f F1) as [f' [G1 G2]]. exists f'. split; [exact G1 | congruence].
  - destruct (IH He) as [f0 F0]. clear IH. revert f0 F0. clearbody rest.
    induction (both_told p a b (fst (fst (snd e'))) (snd (fst (snd e')))) as [|i l IHl]; intros f0 [F1 F2]; [exists f0; auto|]. cbn [fold_right].
    destruct (IHl f0 (conj F1 F2)) as [f [G1 G2]].
    destruct (proj2 (add_entry_in (rank (snd i)) (snd i) (snd (snd e')) _) f G1) as [f' [H1 H2]]. exists f'. split; [exact H1 | congruence].
Qed.

Lemma same_table_sound : forall t u, same_table t u = true -> t = u.
Proof.
  apply same_list_sound. intros [k [vw n]] [j [uu m]] H. cbn [fst snd] in H. apply andb_true_iff in H as [H H3].
  apply andb_true_iff in H as [H1 H2]. apply Pos.eqb_eq in H1. apply same_pair_sound in H2. apply Z.eqb_eq in H3. congruence.
Qed.

Lemma in_fronts : forall u m, In u (all_fronts m) <-> exists k, In u (those_of k m).
Proof.
  intros u m. unfold all_fronts, those_of. rewrite in_flat_map. split.
  - intros [[k l] [H I]]. exists k. apply PositiveMap.elements_complete in H. rewrite H. exact I.
  - intros [k I]. destruct (PositiveMap.find k m) as [l|] eqn:E; [|contradiction]. exists (k, l). split; [apply PositiveMap.elements_correct; exact E | exact I].
Qed.
Lemma add_front_in : forall t m, In t (all_fronts (add_front t m)).
Proof.
  intros [[t b] k] m. apply in_fronts. exists (front_rank (t, b, k)). unfold add_front. destruct (existsb _ _) eqn:E.
  - apply existsb_exists in E as [[[u b'] j] [Hu E]]. unfold same_front in E. cbn [fst snd] in E. apply andb_true_iff in E as [E E0].
    apply andb_true_iff in E as [E1 E2]. apply Nat.eqb_eq in E0. apply eqb_prop in E1. apply same_table_sound in E2. subst. exact Hu.
  - unfold those_of at 1. rewrite PositiveMap.gss. left. reflexivity.
Qed.
Lemma add_front_keeps : forall t u m, In u (all_fronts m) -> In u (all_fronts (add_front t m)).
Proof.
  intros t u m H. apply in_fronts. apply in_fronts in H as [k H]. exists k. unfold add_front. destruct (existsb _ _); [exact H|].
  unfold those_of at 1. rewrite find_add. destruct (Pos.eq_dec k (front_rank t)) as [->|N]; [right; exact H | exact H].
Qed.

Section Claimed.
Variable root' : Z.
Hypothesis is_root : is_root_of_e K root' T.
Variables up_ down_ du dd : poly.
Variable inf : bool.
Variable asked : verdict.

Lemma size_of_sound : forall v, val (size_of v) = size v.
Proof. induction v as [|e v IH]; [reflexivity|]. cbn [size_of fold_right]. fold (size_of v). rewrite value_add, IH. reflexivity. Qed.

Lemma table_sum_sound : forall t f, val (table_sum t f) = tsum t (fun v w => val (f (v, w))).
Proof.
  intros t f. unfold tsum. induction t as [|[k [[v w] n]] t IH]; [reflexivity|]. cbn [table_sum fold_right Program.sum fst snd].
  fold (table_sum t f). rewrite value_add, value_mul, IH, (value_constant K T [n]) by reflexivity. reflexivity.
Qed.

Lemma tsum_ext : forall t f g, (forall v w, f v w = g v w) -> tsum t f = tsum t g.
Proof. intros t f g H. apply sum_ext. intros e _. rewrite H. reflexivity. Qed.

(** What the end of a way says of its start. *)
Definition holds (q : way) (t : table) : Prop :=
  (forall e, In e t -> (forall s, In s (map fst (fst (fst (snd e)))) -> meaningful (left_of q) s)
                       /\ (forall s, In s (map fst (snd (fst (snd e)))) -> meaningful (right_of q) s))
  /\ let m := tsum t (fun v _ => law (left_of q) v (fun _ => 1)) in
     let m' := tsum t (fun _ w => law (right_of q) w (fun _ => 1)) in
     let c1 := val down_ * m' in let c2 := val up_ * m in
     0 < m /\ 0 < m' /\
     exists plus, (inf = true -> forall v w, plus v w = true -> size w = 0)
     /\ let total := val dd * tsum t (over c1 c2 plus q) in let bar := val du * val down_ * (m * m') in
        match asked with
        | Within => (inf = false -> forall e, In e t -> decided c1 c2 plus q (fst (fst (snd e))) (snd (fst (snd e)))) /\ total <= bar
        | Exceeds => bar < total
        | Reaches => total = bar
        end.

Lemma holds_end : forall t, table_ok root' up_ down_ du dd inf asked t = true -> holds [] t.
Proof.
  intros t H. unfold table_ok in H. cbv zeta in H.
  set (m := table_sum t (fun vw => size_of (fst vw))) in *. set (m' := table_sum t (fun vw => size_of (snd vw))) in *.
  apply andb_true_iff in H as [H A]. apply andb_true_iff in H as [H1 H2]. apply andb_true_iff in H1 as [_ H1].
  apply (positive_sound K T root' is_root) in H1. apply (positive_sound K T root' is_root) in H2.
  assert (M : tsum t (fun v _ => law (left_of []) v (fun _ => 1)) = val m).
  { unfold m. rewrite table_sum_sound. apply tsum_ext. intros v w. cbn [left_of map fst snd]. rewrite law_end, size_of_sound. ring. }
  assert (M' : tsum t (fun _ w => law (right_of []) w (fun _ => 1)) = val m').
  { unfold m'. rewrite table_sum_sound. apply tsum_ext. intros v w. cbn [right_of map fst snd]. rewrite law_end, size_of_sound. ring. }
  split; [intros e _; split; intros s _; exact I|]. cbv zeta. rewrite M, M'. split; [exact H1|]. split; [exact H2|].
  assert (G : forall v w, gap (val down_ * val m') (val up_ * val m) v w = val (gap_of up_ down_ m m' (v, w))).
  { intros v w. unfold gap, gap_of. cbn [fst snd]. rewrite value_add, value_opp, !value_mul, !size_of_sound. ring. }
  exists (fun v w => counts root' up_ down_ inf m m' (v, w)). split.
  { intros -> v w C. unfold counts in C. apply andb_true_iff in C as [_ C]. cbn [negb orb snd] in C.
    rewrite <- size_of_sound. apply value_zero. exact C. }
  assert (O : tsum t (over (val down_ * val m') (val up_ * val m) (fun v w => counts root' up_ down_ inf m m' (v, w)) [])
              = val (table_sum t (fun vw => if counts root' up_ down_ inf m m' vw then gap_of up_ down_ m m' vw else []))).
  { rewrite table_sum_sound. apply tsum_ext. intros v w. cbn [over]. destruct (counts root' up_ down_ inf m m' (v, w)); [apply G | reflexivity]. }
  rewrite O.
  destruct asked.
  - apply andb_true_iff in A as [A B]. split.
    + intros I e He. rewrite forallb_forall in A. specialize (A e He). destruct e as [k [[v w] n]]. cbn [fst snd] in *. cbn [decided].
      rewrite G. destruct (counts root' up_ down_ inf m m' (v, w)) eqn:C.
      * unfold counts in C. apply andb_true_iff in C as [C _]. apply (positive_sound K T root' is_root) in C. apply C.
      * cbn [orb] in A. apply (nonpos_sound K T root' is_root). exact A.
    + apply (nonpos_sound K T root' is_root) in B. rewrite value_add, value_opp, !value_mul in B. apply le_sub. apply opp_le in B.
      match goal with |- 0 <= ?x - ?y => replace (x - y) with (- (y + - x)) by ring end. exact B.
  - apply (positive_sound K T root' is_root) in A. rewrite value_add, value_opp, !value_mul in A. destruct A as [P Q]. split.
    + apply le_sub. match goal with |- 0 <= ?x - ?y => replace (x - y) with (x + - y) by ring end. exact P.
    + intro E. apply Q. rewrite <- E. ring.
  - apply (value_zero K T) in A. rewrite value_add, value_opp, !value_mul in A.
    match type of A with ?x + - ?y = 0 => assert (E : x = y) end.
    { match type of A with ?x + - ?y = 0 => replace x with ((x + - y) + y) by ring end. rewrite A. ring. }
    exact E.
Qed.

Lemma holds_before : forall p a b q t, (forall e, In e t -> entry_well p (a, b, false) e = true) ->
  holds q (moved_table p a b t) -> holds ((p, (a, b)) :: q) t.
Proof.
  intros p a b q t W [F H]. cbv zeta in H.
  assert (M : tsum (moved_table p a b t) (fun v _ => law (left_of q) v (fun _ => 1))
              = tsum t (fun v _ => law (left_of ((p, (a, b)) :: q)) v (fun _ => 1))).
  { rewrite moved_table_sum. apply tsum_ext. intros v w. cbn [left_of map fst snd]. fold (left_of q). symmetry. apply (law_left p a b _ v w). }
  assert (M' : tsum (moved_table p a b t) (fun _ w => law (right_of q) w (fun _ => 1))
              = tsum t (fun _ w => law (right_of ((p, (a, b)) :: q)) w (fun _ => 1))).
  { rewrite moved_table_sum. apply tsum_ext. intros v w. cbn [right_of map fst snd]. fold (right_of q). symmetry. apply (law_right p a b _ v w). }
  rewrite M, M' in H. destruct H as [H1 [H2 [plus [Z H]]]]. split; [|cbv zeta; split; [exact H1|]; split; [exact H2|]; exists plus; split; [exact Z|]].
  - intros e He. specialize (W e He). unfold entry_well in W. cbn [fst snd] in W. apply andb_true_iff in W as [W1 W2].
    cbn [left_of right_of map fst snd]. fold (left_of q) (right_of q). split; intros s Hs; cbn [meaningful].
    + split; [eapply runs_well_sound; eassumption|]. apply Forall_forall. intros x Hx.
      destruct (told_by_in p a _ s x Hs Hx) as [u [U1 U2]].
      destruct (joined_in_left _ (told_by p b (snd (fst (snd e)))) _ _ U1) as [j [J1 J2]].
      destruct (moved_table_in p a b t e j He J1) as [f [F1 F2]]. destruct (F f F1) as [G _]. apply G. rewrite F2, J2. exact U2.
    + split; [eapply runs_well_sound; eassumption|]. apply Forall_forall. intros x Hx.
      destruct (told_by_in p b _ s x Hs Hx) as [u [U1 U2]].
      destruct (joined_in_right (told_by p a (fst (fst (snd e)))) _ _ _ (told_by_keys _ _ _) U1) as [j [J1 J2]].
      destruct (moved_table_in p a b t e j He J1) as [f [F1 F2]]. destruct (F f F1) as [_ G]. apply G. rewrite F2, J2. exact U2.
  - rewrite moved_table_sum in H. destruct asked; [|exact H|exact H]. destruct H as [D H]. split; [|exact H].
    intros I e He. cbn [decided]. intros j Hj. destruct (moved_table_in p a b t e j He Hj) as [f [F1 F2]].
    specialize (D I f F1). rewrite F2 in D. exact D.
Qed.

End Claimed.

(** The table that a way leads to from another, where all runs have a meaning. *)
Inductive leads : way -> table -> table -> Prop :=
| arrived : forall t, leads [] t t
| leading : forall p a b q t u, (forall e, In e t -> entry_well p (a, b, false) e = true) -> leads q (moved_table p a b t) u ->
    leads ((p, (a, b)) :: q) t u.

(** A way that is gone through. *)
Lemma gone_through_sound : forall once ok ps turns fs, gone_through once ok ps turns fs = true ->
  forall least b q t, in_order once ps turns least b q -> In (t, b, least) fs -> exists u, leads q t u /\ ok u = true.
Proof.
  intros once ok. induction ps as [|[p ms] ps IH]; intros turns fs H least b q t W Ht.
  - inversion W; subst. cbn [gone_through] in H. rewrite forallb_forall in H. exists t. split; [constructor | apply (H _ Ht)].
  - inversion W as [|? ? ? ? ? ? k a a' c q0 Hk Lk N W2]; subst. pose proof (in_from_on _ _ _ _ Hk Lk) as Hm.
    cbn [gone_through] in H. apply andb_true_iff in H as [H1 H2]. rewrite forallb_forall in H1. specialize (H1 _ Ht).
    cbn [fst snd] in H1. rewrite forallb_forall in H1. specialize (H1 _ Hm). cbn [fst snd] in H1.
    assert (S : skipped once (t, b, least) (a, a', c) = false) by exact N. rewrite S in H1. cbn [orb fst] in H1. rewrite forallb_forall in H1.
    assert (L : exists u, leads q0 (moved_table p a a' t) u /\ ok u = true).
    2: { destruct L as [u [L O]]. exists u. split; [|exact O]. constructor; [intros e He; apply (H1 e He) | exact L]. }
    apply (IH _ _ H2 _ _ _ _ W2). unfold next. set (turn := hd false turns). clearbody turn.
    clear - Ht Hm S. induction fs as [|f fs IHf]; [contradiction|]. cbn [fold_right]. destruct Ht as [->|Ht].
    + match goal with |- In _ (all_fronts (fold_right _ ?r _)) => generalize r as rest' end. clear IHf. intro rest'. cbn [fst snd].
      change (In (k, (a, a', c)) (@from_on meeting least ms)) in Hm. revert Hm. induction (@from_on meeting least ms) as [|m l IHm]; intro Hm; [contradiction|]. cbn [fold_right]. destruct Hm as [->|Hm].
      * cbn [fst snd]. rewrite S. cbn [fst snd]. apply add_front_in.
      * specialize (IHm Hm). destruct (skipped once (t, b, least) (snd m)); [exact IHm | apply add_front_keeps; exact IHm].
    + specialize (IHf Ht). clear Hm S. revert IHf. match goal with |- In _ (all_fronts ?r) -> _ => generalize r end. intros rest' IHf.
      induction (from_on (snd f) ms) as [|m l IHm]; [exact IHf|]. cbn [fold_right].
      destruct (skipped once f (snd m)); [exact IHm | apply add_front_keeps; exact IHm].
Qed.

Lemma holds_led : forall root' up_ down_ du dd inf asked q t u, is_root_of_e K root' T -> leads q t u ->
  table_ok root' up_ down_ du dd inf asked u = true -> holds up_ down_ du dd inf asked q t.
Proof. intros root' up_ down_ du dd inf asked q t u R L O. induction L; [eapply holds_end | apply holds_before]; eauto. Qed.

Section OneClaim.
Variable d : within_claim.
Notation c := (base d).
Hypothesis is_root_of : is_root_of_e K (root c) T.
Variables (n : nat) (places : list (nat * option nat)).
Hypothesis law_is : law_of c = For n places.

Definition way_of (x y : dataset) : way := map (fun p => (part_at c (fst p), (record_of x p, record_of y p))) places.

Lemma program_left : forall x y, left_of (way_of x y) = program_on c x.
Proof.
  intros x y. unfold way_of, left_of, program_on, on. rewrite law_is, !map_map. reflexivity.
Qed.
Lemma program_right : forall x y, right_of (way_of x y) = program_on c y.
Proof.
  intros x y. unfold way_of, right_of, program_on, on. rewrite law_is, !map_map. reflexivity.
Qed.

(** What the checks say of one pair of datasets. *)
Definition said (asked : verdict) (x y : dataset) : Prop :=
  fair K T d x y
  /\ match asked with
  | Within => infinite d = false -> forall E, ours K T d x y E <= allowed K T d x y E
  | Exceeds => exists E, allowed K T d x y E < ours K T d x y E /\ (infinite d = true -> mass K T (program_on c y) E = 0)
  | Reaches => exists E, ours K T d x y E = allowed K T d x y E
  end.

Lemma begin_sum : forall g, tsum begin g = g [([], [1%Z])] [([], [1%Z])].
Proof. intro g. unfold tsum, begin. cbn [Program.sum fst snd]. rewrite inj_one. ring. Qed.

Lemma law_begin : forall ps h, law ps [([], [1%Z])] h = expected K T ps [] h.
Proof.
  intros ps h. unfold law. cbn [Program.sum fst snd]. rewrite (value_constant K T [1%Z]) by reflexivity. cbn [hd]. rewrite inj_one. ring.
Qed.

Definition ours_of (A B : program) (E : output -> bool) : K := val (delta_down d) * (val (down c) * mass K T A E * mass_of_all K T B).
Definition allowed_of (A B : program) (E : output -> bool) : K :=
  val (delta_down d) * (val (up c) * mass K T B E * mass_of_all K T A) + val (delta_up d) * val (down c) * (mass_of_all K T A * mass_of_all K T B).
Definition said_of (asked : verdict) (A B : program) : Prop :=
  (meaningful A [] /\ meaningful B [] /\ 0 < mass_of_all K T A /\ 0 < mass_of_all K T B)
  /\ match asked with
  | Within => infinite d = false -> forall E, ours_of A B E <= allowed_of A B E
  | Exceeds => exists E, allowed_of A B E < ours_of A B E /\ (infinite d = true -> mass K T B E = 0)
  | Reaches => exists E, ours_of A B E = allowed_of A B E
  end.

Lemma way_says : forall asked q u, 0 <= val (delta_down d) -> leads q begin u -> ok_at d asked u = true -> said_of asked (left_of q) (right_of q).
Proof.
  intros asked q u Hdd W H. pose proof (holds_led _ _ _ _ _ _ _ _ _ _ is_root_of W H) as [F G].
  cbv zeta in G. rewrite !begin_sum, !law_begin in G.
  change (expected K T (left_of q) [] (fun _ => 1)) with (mass_of_all K T (left_of q)) in G.
  change (expected K T (right_of q) [] (fun _ => 1)) with (mass_of_all K T (right_of q)) in G.
  specialize (F _ (or_introl eq_refl)). cbn [fst snd] in F.
  destruct F as [F1 F2]. destruct G as [G1 [G2 [plus [Z G]]]]. rewrite begin_sum in G. split.
  { split; [apply F1; left; reflexivity|]. split; [apply F2; left; reflexivity|]. split; assumption. }
  set (m := mass_of_all K T (left_of q)) in *. set (m' := mass_of_all K T (right_of q)) in *.
  set (c1 := val (down c) * m') in *. set (c2 := val (up c) * m) in *.
  assert (OU : forall E, ours_of (left_of q) (right_of q) E = val (delta_down d) * (c1 * mass K T (left_of q) E)).
  { intro E. unfold ours_of, c1. fold m'. ring. }
  assert (AL : forall E, allowed_of (left_of q) (right_of q) E = val (delta_down d) * (c2 * mass K T (right_of q) E) + val (delta_up d) * val (down c) * (m * m')).
  { intro E. unfold allowed_of, c2. fold m m'. ring. }
  assert (MX : forall E, law (left_of q) [([], [1%Z])] (one_on E) = mass K T (left_of q) E).
  { intro E. rewrite law_begin. reflexivity. }
  assert (MY : forall E, law (right_of q) [([], [1%Z])] (one_on E) = mass K T (right_of q) E).
  { intro E. rewrite law_begin. reflexivity. }
  pose proof (over_reached c1 c2 plus q [([], [1%Z])] [([], [1%Z])]) as R. rewrite MX, MY in R.
  destruct asked.
  - intros I E. rewrite OU, AL. destruct G as [D G]. specialize (D I _ (or_introl eq_refl)). cbn [fst snd] in D.
    pose proof (over_most c1 c2 plus _ _ _ E D) as O. rewrite MX, MY in O.
    pose proof (mul_le K _ _ _ Hdd O) as O'. pose proof (le_trans K _ _ _ O' G) as O2.
    apply le_sub. apply sub_le in O2.
    match type of O2 with 0 <= ?u => match goal with |- 0 <= ?w => replace w with u by ring end end. exact O2.
  - exists (best plus q [([], [1%Z])] [([], [1%Z])]). split.
    + rewrite OU, AL. rewrite <- R in G. destruct G as [G N]. split.
      * apply le_sub. apply sub_le in G.
        match type of G with 0 <= ?u => match goal with |- 0 <= ?w => replace w with u by ring end end. exact G.
      * intro E. apply N.
        match type of E with ?a + ?b = ?e => assert (X : b = e - a) by (rewrite <- E; ring); rewrite X; ring end.
    + intro I. rewrite <- MY. apply best_alone. apply Z. exact I.
  - exists (best plus q [([], [1%Z])] [([], [1%Z])]). rewrite OU, AL. rewrite <- R in G. rewrite <- G. ring.
Qed.

Lemma table_says : forall asked x y u, 0 <= val (delta_down d) -> leads (way_of x y) begin u -> ok_at d asked u = true -> said asked x y.
Proof.
  intros asked x y u Hdd W H. pose proof (way_says asked _ u Hdd W H) as S. rewrite program_left, program_right in S. exact S.
Qed.

(** So it is of a way that is like it. *)
Lemma like_says : forall x y q, like_way (way_of x y) q -> said_of Within (left_of q) (right_of q) -> said Within x y.
Proof.
  intros x y q [[turn [_ L]] [M M']] [[F1 [F2 [F3 F4]]] G]. destruct (L [] (or_introl eq_refl)) as [L1 L2].
  rewrite program_left in M, L1. rewrite program_right in M', L2.
  assert (X : mass_of_all K T (program_on c x) = mass_of_all K T (left_of q)) by apply L1.
  assert (Y : mass_of_all K T (program_on c y) = mass_of_all K T (right_of q)) by apply L2.
  split; [unfold fair; rewrite X, Y; auto|]. intros I E. specialize (G I (fun y => E (turn y))).
  assert (XE : mass K T (program_on c x) E = mass K T (left_of q) (fun y => E (turn y))) by apply L1.
  assert (YE : mass K T (program_on c y) E = mass K T (right_of q) (fun y => E (turn y))) by apply L2.
  unfold ours, allowed. rewrite X, Y, XE, YE. exact G.
Qed.

Lemma way_alone : forall x y, walks (at_once (related c)) (map (met_by x y c) places) false (way_of x y).
Proof.
  intros x y. unfold way_of. clear law_is. induction places as [|p l IH]; [constructor|]. cbn [map]. unfold met_by at 1.
  apply walking with false; [left; reflexivity | reflexivity | exact IH].
Qed.

Lemma in_meetings : forall p a b, In (Some a) (records_of (records c) p) -> In (Some b) (records_of (records c) p) -> reads p = true ->
  (a = b -> In (Some a, Some b, false) (meetings c p)) /\ (near (related c) a b = true -> In (Some a, Some b, true) (meetings c p)).
Proof.
  intros p a b Ha Hb R. unfold records_of in Ha, Hb. unfold meetings. rewrite R in *.
  apply in_map_iff in Ha as [a' [Ea Ha]]. injection Ea as ->. apply in_map_iff in Hb as [b' [Eb Hb]]. injection Eb as ->.
  split; intro H; apply in_flat_map; exists a; (split; [exact Ha|]); apply in_flat_map; exists b; (split; [exact Hb|]); apply in_or_app.
  - left. subst b. replace (same a a) with true by (symmetry; apply same_spec; reflexivity). left. reflexivity.
  - right. rewrite H. left. reflexivity.
Qed.

Definition met_places (l : list (nat * option nat)) := map (fun p => (part_at c (fst p), meetings c (part_at c (fst p)))) l.
Definition way_places (x y : dataset) (l : list (nat * option nat)) : way :=
  map (fun p => (part_at c (fst p), (record_of x p, record_of y p))) l.

Lemma alike_met : forall x y i k, is_dataset c x -> length x = n -> reads (part_at c i) = true -> (k < n)%nat -> nth_error y k = nth_error x k ->
  In (record_of x (i, Some k), record_of y (i, Some k), false) (meetings c (part_at c i)).
Proof.
  intros x y i k [_ Fx] Lx R L E. unfold record_of. cbn [snd]. rewrite E.
  pose proof (in_records c (i, Some k) x n (conj R L) Lx Fx) as I. unfold record_of in I. cbn [fst snd] in I.
  destruct (nth_error x k) as [r|] eqn:N; [|apply nth_error_None in N; lia]. apply in_meetings; auto.
Qed.

Lemma walks_once : forall l a b r, is_dataset c (l ++ a :: r) -> is_dataset c (l ++ b :: r) -> length (l ++ a :: r) = n -> near (related c) a b = true ->
  forall some, Forall (reads_well c n) some -> NoDup (clients some) ->
  forall seen, (seen = true -> ~ In (length l) (clients some)) ->
  walks (at_once (related c)) (met_places some) seen (way_places (l ++ a :: r) (l ++ b :: r) some).
Proof.
  intros l a b r Dx Dy L N. assert (Ly : length (l ++ b :: r) = n) by (rewrite app_length in *; exact L).
  induction some as [|[i k] some IH]; intros F D seen S; [constructor|]. apply Forall_cons_iff in F as [Fp F'].
  cbn [met_places way_places map fst snd]. fold (met_places some) (way_places (l ++ a :: r) (l ++ b :: r) some).
  destruct k as [k|]; unfold reads_well in Fp; cbn [fst snd] in Fp.
  - cbn [clients flat_map snd app] in D. fold (clients some) in D. apply NoDup_cons_iff in D as [D1 D2]. destruct Fp as [R Lk].
    destruct (Nat.eq_dec k (length l)) as [->|Nk].
    + assert (seen = false) as -> by (destruct seen; [|reflexivity]; exfalso; apply (S eq_refl); left; reflexivity).
      pose proof (in_records c (i, Some (length l)) _ _ (conj R Lk) L (proj2 Dx)) as Ia.
      pose proof (in_records c (i, Some (length l)) _ _ (conj R Lk) Ly (proj2 Dy)) as Ib.
      unfold record_of in Ia, Ib. cbn [fst snd] in Ia, Ib. rewrite nth_error_here in Ia, Ib.
      apply walking with true; [|reflexivity|].
      * unfold record_of. cbn [snd]. rewrite !nth_error_here. apply in_meetings; assumption.
      * apply IH; [exact F' | exact D2 | intros _; exact D1].
    + apply walking with false; [|rewrite andb_false_r; reflexivity|].
      * apply alike_met; auto. apply nth_error_middle. exact Nk.
      * rewrite orb_false_r. apply IH; [exact F' | exact D2|]. intros E H. apply (S E). right. exact H.
  - apply walking with false; [|rewrite andb_false_r; reflexivity|].
    + unfold record_of, meetings. cbn [snd]. rewrite Fp. left. reflexivity.
    + rewrite orb_false_r. apply IH; [exact F' | exact D | exact S].
Qed.

Lemma walks_at_once : forall x y, is_dataset c x -> is_dataset c y -> length x = n -> length y = n -> related c = UnitAll ->
  Forall2 (fun a b => a = b \/ near UnitAll a b = true) x y ->
  forall some, Forall (reads_well c n) some -> forall seen, walks (at_once (related c)) (met_places some) seen (way_places x y some).
Proof.
  intros x y Dx Dy Lx Ly U N. induction some as [|[i k] some IH]; intros F seen; [constructor|]. apply Forall_cons_iff in F as [Fp F'].
  cbn [met_places way_places map fst snd]. fold (met_places some) (way_places x y some).
  assert (A : at_once (related c) = true) by (unfold at_once; rewrite U; reflexivity).
  destruct k as [k|]; unfold reads_well in Fp; cbn [fst snd] in Fp.
  - destruct Fp as [R Lk]. pose proof (Forall2_nth _ _ _ N k) as P.
    pose proof (in_records c (i, Some k) _ _ (conj R Lk) Lx (proj2 Dx)) as Ia.
    pose proof (in_records c (i, Some k) _ _ (conj R Lk) Ly (proj2 Dy)) as Ib.
    unfold record_of in Ia, Ib. cbn [fst snd] in Ia, Ib.
    destruct (nth_error x k) as [u|] eqn:Ex; destruct (nth_error y k) as [v|] eqn:Ey; try contradiction.
    + destruct (in_meetings _ u v Ia Ib R) as [M1 M2]. destruct P as [->|P].
      * apply walking with false; [|rewrite andb_false_r; reflexivity | apply IH; exact F'].
        unfold record_of. cbn [snd]. rewrite Ex, Ey. apply M1. reflexivity.
      * apply walking with true; [|rewrite A, andb_false_r; reflexivity | apply IH; exact F'].
        unfold record_of. cbn [snd]. rewrite Ex, Ey. apply M2. rewrite U. exact P.
    + apply nth_error_None in Ex. lia.
  - apply walking with false; [|rewrite andb_false_r; reflexivity | apply IH; exact F'].
    unfold record_of, meetings. cbn [snd]. rewrite Fp. left. reflexivity.
Qed.
End OneClaim.
End Proofs.

(** Where neighbours lead, a table was asked: on the same way, or on one that is like it. *)
Lemma meetings_read : forall c i m, In m (meetings c (part_at c i)) -> In (fst (fst m)) (read_by c i) /\ In (snd (fst m)) (read_by c i).
Proof.
  intros c i m H. unfold meetings, read_by, records_of in *. destruct (reads (part_at c i)).
  - apply in_flat_map in H as [a [Ha H]]. apply in_flat_map in H as [b [Hb H]]. apply in_app_or in H as [H|H];
      [destruct (same a b) | destruct (near (related c) a b)]; try contradiction; destruct H as [<-|[]]; cbn [fst snd];
      split; apply in_map; assumption.
  - destruct H as [<-|[]]. split; left; reflexivity.
Qed.

Lemma at_last_itself : forall {A B} (l : list (A * B)), at_last (fun a => a) l = l.
Proof. intros A B. induction l as [|[a b] [|e l] IH]; [reflexivity | reflexivity|]. cbn [at_last] in *. rewrite IH. reflexivity. Qed.

Lemma all_says : forall K T d turned ok x y, all_ok d turned ok = true -> is_dataset (base d) x -> is_dataset (base d) y -> compared d x y ->
  exists n places q u, law_of (base d) = For n places /\ leads q begin u /\ ok u = true
  /\ like_way K T (way_of d places x y) q /\ (turned = false -> q = way_of d places x y).
Proof.
  intros K T d turned ok x y H Dx Dy C. unfold all_ok in H. destruct (law_of (base d)) as [n places|] eqn:S; [|discriminate].
  apply andb_true_iff in H as [W G]. exists n, places.
  destruct (reads_well_of (base d) n places S W) as [RW ND]. pose proof Dx as [Lx Fx]. pose proof Dy as [Ly Fy]. rewrite S in Lx, Ly.
  assert (Self : forall q, like_way K T q q) by (intro q; split; [apply like_itself | split; intro M; exact M]).
  unfold compared in C. destruct (listed_pairs d) as [l|].
  - rewrite forallb_forall in G. specialize (G _ C). exists (way_of d places x y).
    destruct (gone_through_sound _ _ _ _ _ G 0%nat false (way_of d places x y) begin (any_order _ _ _ _ (way_alone d places x y)) (or_introl eq_refl)) as [u [L O]].
    exists u. split; [reflexivity|]. split; [exact L|]. split; [exact O|]. split; [apply Self | reflexivity].
  - set (met := map (fun p => (part_at (base d) (fst p), meetings (base d) (part_at (base d) (fst p)))) places) in *.
    assert (A : walks (at_once (related (base d))) met false (way_of d places x y)).
    { apply neighbours_cases in C. destruct C as [[U [_ N]]|[_ [l [a [b [r [-> [-> N]]]]]]]].
      - exact (walks_at_once d n x y Dx Dy Lx Ly U N places RW false).
      - exact (walks_once d n l a b r Dx Dy Lx N places RW ND false ltac:(discriminate)). }
    destruct turned.
    + assert (P : places_of (part_at (base d)) (fun p => p) (fun i => meetings (base d) (part_at (base d) i)) (map fst places) = met).
      { unfold places_of. rewrite at_last_itself, map_map. reflexivity. }
      rewrite <- P in A.
      destruct (in_order_is_enough K T (part_at (base d)) (read_by (base d)) (fun p => p) (fun i => meetings (base d) (part_at (base d) i))
                  (meetings_read (base d)) _ _ _ A) as [q [Q1 Q2]].
      rewrite P in Q1. unfold turned_places in G. rewrite S in G.
      destruct (gone_through_sound _ _ _ _ _ G 0%nat false q begin Q1 (or_introl eq_refl)) as [u [L O]].
      exists q, u. split; [reflexivity|]. split; [exact L|]. split; [exact O|]. split; [exact Q2 | discriminate].
    + destruct (gone_through_sound _ _ _ _ _ G 0%nat false (way_of d places x y) begin (any_order _ _ _ _ A) (or_introl eq_refl)) as [u [L O]].
      exists (way_of d places x y), u. split; [reflexivity|]. split; [exact L|]. split; [exact O|]. split; [apply Self | reflexivity].
Qed.

(** What is said of a table that neighbours lead to, on their way. *)
Lemma all_says_of : forall d ok x y, all_ok d false ok = true -> is_dataset (base d) x -> is_dataset (base d) y -> compared d x y ->
  exists n places u, law_of (base d) = For n places /\ leads (way_of d places x y) begin u /\ ok u = true.
Proof.
  intros d ok x y H Dx Dy C. destruct (all_says integers 0 d false ok x y H Dx Dy C) as [n [places [q [u [S [L [O [_ E]]]]]]]].
  rewrite (E eq_refl) in L. exists n, places, u. auto.
Qed.

Theorem within_sound : forall K T d ps, is_root_of_e K (root (base d)) T -> check_within d ps = true ->
  forall p, In p ps -> within K T (at_point d p).
Proof.
  intros K T d ps R H p Hp x y Dx Dy C. unfold check_within in H. apply andb_true_iff in H as [H G]. apply andb_true_iff in H as [I P].
  apply negb_true_iff in I. rewrite forallb_forall in P. specialize (P p Hp). apply (positive_sound K T _ R) in P. destruct P as [P _].
  destruct (all_says K T d true _ x y G Dx Dy C) as [n [places [q [u [S [L [O [W _]]]]]]]]. rewrite forallb_forall in O. specialize (O p Hp).
  pose proof (way_says K T (at_point d p) R Within q u P L O) as B.
  destruct (like_says K T (at_point d p) n places S x y q W B) as [F B']. split; [exact F | apply B'; exact I].
Qed.

Lemma is_compared_sound : forall d x y, is_compared d x y = true ->
  is_dataset (base d) x /\ is_dataset (base d) y /\ compared d x y.
Proof.
  intros d x y H. unfold is_compared in H. apply andb_true_iff in H as [H N]. apply andb_true_iff in H as [X Y].
  split; [apply listed_sound; exact X|]. split; [apply listed_sound; exact Y|]. unfold compared. destruct (listed_pairs d) as [l|].
  - apply existsb_exists in N as [[u v] [Hl E]]. cbn [fst snd] in E. apply andb_true_iff in E as [E1 E2].
    apply same_spec in E1. apply same_spec in E2. injection E1 as ->. injection E2 as ->. exact Hl.
  - apply neighbours_sound. exact N.
Qed.

Section Witnesses.
Variable K : domain.
Variable T : K.
Variable d : within_claim.
Hypothesis is_root : is_root_of_e K (root (base d)) T.
Local Open Scope K_scope.
Add Ring K_ring_here : (is_ring K).
Notation val := (value_of K T).
Notation c := (base d).

Lemma pair_says : forall ok x y, pair_ok d ok x y = true -> is_dataset c x /\ is_dataset c y /\ compared d x y
  /\ exists n places u, law_of c = For n places /\ leads (way_of d places x y) begin u /\ ok u = true.
Proof.
  intros ok x y H. unfold pair_ok in H. apply andb_true_iff in H as [C G]. destruct (is_compared_sound d x y C) as [X [Y Z]].
  destruct (law_of c) as [n places|] eqn:S; [|discriminate]. apply andb_true_iff in G as [_ G].
  split; [exact X|]. split; [exact Y|]. split; [exact Z|]. exists n, places.
  destruct (gone_through_sound _ ok _ _ _ G 0%nat false (way_of d places x y) begin (any_order _ _ _ _ (way_alone d places x y)) (or_introl eq_refl)) as [u U].
  exists u. tauto.
Qed.

Lemma along_says : forall asked x y, check_along d asked x y = true ->
  is_dataset c x /\ is_dataset c y /\ compared d x y /\ said K T d asked x y /\ (asked = Reaches -> 0 < val (delta_up d)).
Proof.
  intros asked x y H. unfold check_along in H. apply andb_true_iff in H as [H G]. apply andb_true_iff in H as [P A].
  apply (positive_sound K T _ is_root) in P. destruct P as [P _].
  destruct (pair_says _ x y G) as [X [Y [Z [n [places [u [S [L O]]]]]]]]. repeat (split; [assumption|]). split.
  - eapply table_says; eassumption.
  - intros ->. apply (positive_sound K T _ is_root). exact A.
Qed.

Lemma event_says : forall asked w, check_event d asked w = true ->
  let x := pair_x w in let y := pair_y w in let E := in_event (event w) in
  is_dataset c x /\ is_dataset c y /\ compared d x y /\ fair K T d x y
  /\ match asked with
     | Within => False
     | Exceeds => allowed K T d x y E < ours K T d x y E /\ (infinite d = true -> mass K T (program_on c y) E = 0)
     | Reaches => ours K T d x y E = allowed K T d x y E /\ 0 < mass K T (program_on c x) E
     end.
Proof.
  intros asked w H x y E. unfold check_event in H. cbv zeta in H. fold x y in H.
  apply andb_true_iff in H as [H A]. apply andb_true_iff in H as [H P5]. apply andb_true_iff in H as [H P4]. apply andb_true_iff in H as [H P3].
  apply andb_true_iff in H as [H E2]. apply andb_true_iff in H as [H E1]. apply andb_true_iff in H as [H P2]. apply andb_true_iff in H as [H P1].
  apply andb_true_iff in H as [H P0]. destruct (is_compared_sound d x y H) as [X [Y Z]]. apply (value_zero K T) in P0.
  apply (positive_sound K T _ is_root) in P1. apply (positive_sound K T _ is_root) in P2. apply (positive_sound K T _ is_root) in P3.
  apply (positive_sound K T _ is_root) in P4. apply (positive_sound K T _ is_root) in P5. rewrite total_sound in P3, P4. rewrite weight_in_sound in P5. fold E in P5.
  split; [exact X|]. split; [exact Y|]. split; [exact Z|]. split.
  { split; [eapply explored_sound; [eassumption | left; reflexivity]|]. split; [eapply explored_sound; [eassumption | left; reflexivity]|]. split; assumption. }
  assert (V : val (padd (pmul (pmul (down c) (weight_in c x (event w))) (total_weight c y)) (popp (pmul (pmul (up c) (weight_in c y (event w))) (total_weight c x))))
              = val (down c) * mass K T (program_on c x) E * mass_of_all K T (program_on c y) - val (up c) * mass K T (program_on c y) E * mass_of_all K T (program_on c x)).
  { rewrite value_add, value_opp, !value_mul, !weight_in_sound, !total_sound. unfold E. ring. }
  destruct asked; [discriminate | |].
  - apply andb_true_iff in A as [I A]. apply (positive_sound K T _ is_root) in A. rewrite V in A. split.
    + unfold ours, allowed. rewrite P0. pose proof (mul_positive K _ _ P1 A) as [Q1 Q2]. split.
      * apply le_sub. match type of Q1 with 0 <= ?u => match goal with |- 0 <= ?v => replace v with u by ring end end. exact Q1.
      * intro F. apply Q2. match type of F with ?a = ?b => match goal with |- 0 = ?e => replace e with (b - a) by ring end end. rewrite F. ring.
    + intro J. rewrite J in I. cbn [negb orb] in I. apply (value_zero K T) in I. rewrite weight_in_sound in I. exact I.
  - apply (value_zero K T) in A. rewrite V in A. split; [|exact P5]. unfold ours, allowed. rewrite P0.
    match type of A with ?a - ?b = 0 => assert (F : a = b) end.
    { match type of A with ?a - ?b = 0 => replace a with ((a - b) + b) by ring end. rewrite A. ring. }
    rewrite F. ring.
Qed.

(** A witness with its event, or where there is none the pair alone. *)
Definition check_witness (asked : verdict) (x y : dataset) (e : option (list (option told))) : bool :=
  match e with
  | Some e => check_event d asked {| pair_x := x; pair_y := y; event := e |}
  | None => check_along d asked x y
  end.

Theorem exceeded_sound : forall x y e, check_witness Exceeds x y e = true -> exceeded K T d.
Proof.
  intros x y [e|] H.
  - destruct (event_says Exceeds _ H) as [X [Y [Z [F [A B]]]]]. cbn [pair_x pair_y event] in *. exists x, y, (in_event e). auto 7.
  - destruct (along_says Exceeds _ _ H) as [X [Y [Z [[F [E [A B]]] _]]]]. exists x, y, E. auto 6.
Qed.

Theorem reached_sound : forall x y e, check_witness Reaches x y e = true -> reached K T d.
Proof.
  intros x y [e|] H.
  - destruct (event_says Reaches _ H) as [X [Y [Z [F [A B]]]]]. cbn [pair_x pair_y event] in *. exists x, y, (in_event e). auto 7.
  - destruct (along_says Reaches _ _ H) as [X [Y [Z [[F [E A]] P]]]]. specialize (P eq_refl). exists x, y, E. auto 8.
Qed.
End Witnesses.

Print Assumptions within_sound.
Print Assumptions exceeded_sound.
Print Assumptions reached_sound.
