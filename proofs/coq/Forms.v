(** The rule "forms" as a function: linear forms that bound likelihood ratios, at every cut between two parts.

    For each cut the evidence lists the states, and forms in the weights of the states: those before x and x' differ
    (keys are numbers of states), and those after it (keys 2k for the weight of state k under x, 2k+1 under x'). *)

From Coq Require Import ZArith List Bool FMapPositive.
From Tightdp Require Import Numbers Program.
Import ListNotations.
Open Scope Z_scope.

Definition form := list (positive * poly).
Record reason := { factor : poly; uses : list (nat * poly) }.
Record cut := { states : list state; befores : list form; afters : list form }.
(** Reasons are keyed by record, other record, what is published, and form, each by its number. *)
Definition reasons := list (positive * reason).
Record step := {
  step_part : nat; step_before : nat; step_after : nat; outputs : list told;
  why_before : reasons; why_across : reasons; why_after : reasons }.

(** Numbers of listed values. The tree only finds them fast: what it finds is compared. *)
Definition modulus := 1000003.
Definition step_factor := 1009.
Definition text_factor := 257.
Definition ratio_factor := 31.
Fixpoint hash (v : value) : Z :=
  match v with
  | Number n d => (n * ratio_factor + Zpos d) mod modulus
  | Nothing => 5
  | Text s => fold_left (fun h c => (h * text_factor + c) mod modulus) s 7
  | Tuple l => (fix go l h := match l with [] => h | u :: l' => go l' ((h * step_factor + hash u) mod modulus) end) l 11
  | Undefined => 13
  end.
Definition place (l : list value) : positive := Z.to_pos (hash (Tuple l) + 1).
Definition tree := PositiveMap.t (list (positive * list value)).
Fixpoint numbered {A} (from : positive) (l : list A) : list (positive * A) :=
  match l with [] => [] | a :: rest => (from, a) :: numbered (Pos.succ from) rest end.
Definition bucket (t : tree) (p : positive) := match PositiveMap.find p t with Some b => b | None => [] end.
Definition plant (l : list (list value)) : tree :=
  fold_right (fun each t => let p := place (snd each) in PositiveMap.add p (each :: bucket t p) t)
             (PositiveMap.empty _) (numbered 1 l).
Fixpoint search (s : list value) (b : list (positive * list value)) : option positive :=
  match b with
  | [] => None
  | (k, u) :: rest => if same (Tuple s) (Tuple u) then Some k else search s rest
  end.
Definition number_of (t : tree) (s : list value) : option positive := search s (bucket t (place s)).

Record move := { told_as : positive; from : positive; to : positive; odds : poly }.
Definition moves_of (told_tree after_tree : tree) (p : part) (record : option value) (each : positive * state)
  : option (list move) :=
  match run p record (snd each) with
  | None => None
  | Some l => all_of (fun r => match number_of told_tree (published r), number_of after_tree (after r) with
                               | Some o, Some k => Some {| told_as := o; from := fst each; to := k; odds := weight r |}
                               | _, _ => None
                               end) l
  end.

Definition back := PositiveMap.t (PositiveMap.t (list (positive * poly))).
Definition row (b : back) (o : positive) := match PositiveMap.find o b with Some m => m | None => PositiveMap.empty _ end.
Definition entries (b : back) (o k : positive) :=
  match PositiveMap.find k (row b o) with Some l => l | None => [] end.
Definition backwards (moves : list move) : back :=
  fold_right (fun t b => PositiveMap.add (told_as t)
                           (PositiveMap.add (to t) ((from t, odds t) :: entries b (told_as t) (to t)) (row b (told_as t)))
                           b) (PositiveMap.empty _) moves.

(** A form before a part that gives, for what is published as o, a form after it. *)
Definition pulled (key : positive -> positive) (b : back) (o : positive) (f : form) : form :=
  flat_map (fun each => map (fun old => (key (fst old), pmul (snd each) (snd old))) (entries b o (fst each))) f.

(** The sum of factors with one key, by sorting. *)
Fixpoint merge (l : form) : form -> form :=
  match l with
  | [] => fun m => m
  | (k, a) :: l' =>
      fix inner (m : form) : form :=
        match m with
        | [] => l
        | (j, b) :: m' => match (k ?= j)%positive with
                          | Datatypes.Lt => (k, a) :: merge l' m
                          | Datatypes.Eq => (k, padd a b) :: merge l' m'
                          | Datatypes.Gt => (j, b) :: inner m'
                          end
        end
  end.
Fixpoint pairs (l : list form) : list form :=
  match l with a :: b :: rest => merge a b :: pairs rest | _ => l end.
Fixpoint rounds (fuel : nat) (l : list form) : form :=
  match fuel with
  | O => List.concat l
  | S fuel => match l with [] => [] | [f] => f | _ => rounds fuel (pairs l) end
  end.
Definition collected (f : form) : form := rounds 64 (map (fun each => [each]) f).

Definition scaled (c : poly) (f : form) : form := map (fun each => (fst each, pmul c (snd each))) f.

Section Check.
Variable root : Z.
Variables up down : poly.

Definition no_factor_positive (f : form) : bool := forallb (fun each => nonpos root (snd each)) (collected f).

(** Whether a form is at most 0 where some others are: times a positive factor, it is at most a sum of these. *)
Definition bounded (others : list form) (why : option reason) (f : form) : bool :=
  match f, why with
  | [], _ => true
  | _, None => no_factor_positive f
  | _, Some r =>
      positive_at root (factor r)
      && forallb (fun use => nonpos root (popp (snd use))) (uses r)
      && no_factor_positive
           (scaled (factor r) f
            ++ flat_map (fun use => scaled (popp (snd use)) (nth (fst use) others [])) (uses r))
  end.

Definition key (a b o f : positive) : positive :=
  Z.to_pos (1 + Zpos f + 4194304 * (Zpos o + 4194304 * (Zpos b + 4194304 * Zpos a))).
Definition reasons_tree (l : reasons) : PositiveMap.t reason :=
  fold_right (fun each t => PositiveMap.add (fst each) (snd each) t) (PositiveMap.empty _) l.

Definition half (f : form) : form * form :=
  (flat_map (fun each => match fst each with xO k => [(k, snd each)] | _ => [] end) f,
   flat_map (fun each => match fst each with xI k => [(k, snd each)] | _ => [] end) f).

(** All weights under x at most up / down times those under x', state by state. *)
Definition unit_form (k : positive) : form := [(xO k, down); (xI k, popp up)].

Variable parts : list part.
Variable records : list value.
Variable related : relation.
Variable units : bool.
Definition empty_part : part := {| reads := false; takes := []; lines := []; publishes := []; leaves := [] |}.
Definition part_of (s : step) : part := nth (step_part s) parts empty_part.
Definition at_once : bool := match related with UnitAll => true | _ => false end.

Definition after_forms (c : cut) : list form :=
  if units then map (fun each => unit_form (fst each)) (numbered 1 (states c)) else afters c.

Definition equal_poly (p q : poly) : bool := pzero (padd p (popp q)).
Definition weight_of (l : list move) : poly := fold_right (fun t w => padd (odds t) w) [] l.

(** The moves of a part for each of its records, where all weights of a state have one positive sum. *)
Definition records_of (p : part) : list (option value) := if reads p then map Some records else [None].
Definition moves_for (before after_ : cut) (s : step) (record : option value) : option (list (list move)) :=
  let told_tree := plant (outputs s) in
  let after_tree := plant (states after_) in
  all_of (moves_of told_tree after_tree (part_of s) record) (numbered 1 (states before)).
Definition all_moves (before after_ : cut) (s : step) : option (list (list (list move))) :=
  all_of (moves_for before after_ s) (records_of (part_of s)).
Definition one_sum (moves : list (list (list move))) : bool :=
  match List.concat moves with
  | [] => false
  | first :: _ =>
      positive_at root (weight_of first)
      && forallb (fun each => equal_poly (weight_of each) (weight_of first)
                              && forallb (fun t => nonpos root (popp (odds t))) each) (List.concat moves)
  end.

Definition check_step (first : bool) (before after_ : cut) (s : step) : bool :=
  match all_moves before after_ s with
  | None => false
  | Some moves =>
      let outs := map fst (numbered 1 (outputs s)) in
      let backs := map (fun m => backwards (List.concat m)) moves in
      let known := combine (records_of (part_of s)) (numbered 1 backs) in
      let early := numbered 1 (befores after_) in
      let late := map (fun each => (fst each, half (snd each))) (numbered 1 (after_forms after_)) in
      let whyb := reasons_tree (why_before s) in
      let whyx := reasons_tree (why_across s) in
      let whya := reasons_tree (why_after s) in
      let near_pair a b := match fst a, fst b with Some u, Some v => near related u v | _, _ => false end in
      one_sum moves
      && forallb (fun a => forallb (fun o => forallb (fun f =>
           bounded (befores before) (PositiveMap.find (key (fst (snd a)) (fst (snd a)) o (fst f)) whyb)
                   (pulled (fun k => k) (snd (snd a)) o (snd f))) early) outs) known
      && (at_once || forallb (fun a => forallb (fun b => negb (near_pair a b) || forallb (fun o => forallb (fun f =>
           bounded (befores before) (PositiveMap.find (key (fst (snd a)) (fst (snd b)) o (fst f)) whyx)
                   (pulled (fun k => k) (snd (snd a)) o (fst (snd f))
                    ++ pulled (fun k => k) (snd (snd b)) o (snd (snd f)))) late) outs) known) known)
      && (units || (first && negb at_once)
          || forallb (fun a => forallb (fun b =>
               negb ((fst (snd a) =? fst (snd b))%positive || (at_once && near_pair a b))
               || forallb (fun o => forallb (fun f =>
                    bounded (afters before) (PositiveMap.find (key (fst (snd a)) (fst (snd b)) o (fst f)) whya)
                            (pulled xO (snd (snd a)) o (fst (snd f))
                             ++ pulled xI (snd (snd b)) o (snd (snd f)))) late) outs) known) known)
  end.

(** At the start there is one state, with equal weights under x and x'; at the end the bound is a form. *)
Definition start : cut :=
  {| states := [[]]; befores := []; afters := [[(2%positive, [1]); (3%positive, [-1])]; [(3%positive, [1]); (2%positive, [-1])]] |}.
Definition finish : cut := {| states := [[]]; befores := []; afters := [unit_form 1] |}.

Definition bound_holds : bool := negb (units && at_once) && positive_at root down && nonpos root (padd down (popp up)).

(** Whether steps lead from one cut to another. *)
Fixpoint linked (last at_ : nat) (ss : list step) : bool :=
  match ss with
  | [] => Nat.eqb at_ last
  | s :: rest => Nat.eqb (step_before s) at_ && linked last (step_after s) rest
  end.

Definition cuts_of (given : list cut) : list cut := start :: given ++ [finish].
Definition check_steps (cuts : list cut) (ss : list step) : bool :=
  forallb (fun s => negb (Nat.eqb (step_after s) 0)
                    && check_step (Nat.eqb (step_before s) 0) (nth (step_before s) cuts start)
                                  (nth (step_after s) cuts start) s) ss.
End Check.
