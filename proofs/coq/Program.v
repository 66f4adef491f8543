(** Core programs: their syntax, and the law of what they publish. This file is what a reader has to agree with. *)

From Coq Require Import ZArith List Bool String.
From Tightdp Require Import Numbers.
Import ListNotations.
Open Scope Z_scope.

(** Values: rational numbers in lowest terms (truth values are 1 and 0), none, texts as lists of characters, tuples;
    and what an operation gives that Python refuses, which nothing may publish. *)
Inductive value :=
| Number (n : Z) (d : positive)
| Nothing
| Text (characters : list Z)
| Tuple (parts : list value)
| Undefined.

Fixpoint same (a b : value) : bool :=
  match a, b with
  | Number n d, Number m e => (n =? m) && (d =? e)%positive
  | Nothing, Nothing | Undefined, Undefined => true
  | Text s, Text t => (fix go s t := match s, t with
                                     | [], [] => true
                                     | c :: s', e :: t' => (c =? e) && go s' t'
                                     | _, _ => false end) s t
  | Tuple l, Tuple m => (fix go l m := match l, m with
                                       | [], [] => true
                                       | u :: l', v :: m' => same u v && go l' m'
                                       | _, _ => false end) l m
  | _, _ => false
  end.

Definition defined (v : value) : bool := match v with Undefined => false | _ => true end.
Definition rational (n : Z) (d : positive) : value :=
  let g := Z.gcd n (Zpos d) in Number (n / g) (Z.to_pos (Zpos d / g)).
Definition truth (b : bool) : value := Number (if b then 1 else 0) 1.

Inductive operation :=
| Add | Sub | Mul | Div | FloorDiv | Mod | Min | Max | Lt | Le | Gt | Ge | Neg | Abs
| Eq | Ne | Not | Bool | Else | MakeTuple.

Definition truthy (v : value) : bool :=
  match v with
  | Number n _ => negb (n =? 0)
  | Text [] | Tuple [] | Nothing | Undefined => false
  | _ => true
  end.

Definition compare (n : Z) (d : positive) (m : Z) (e : positive) : comparison := n * Zpos e ?= m * Zpos d.
Definition floor_div (n : Z) (d : positive) (m : Z) (e : positive) : Z := (n * Zpos e) / (m * Zpos d).
Definition less c := match c with Datatypes.Lt => true | _ => false end.
Definition more c := match c with Datatypes.Gt => true | _ => false end.

Definition on_numbers (o : operation) (n : Z) (d : positive) (m : Z) (e : positive) : value :=
  match o with
  | Add => rational (n * Zpos e + m * Zpos d) (d * e)
  | Sub => rational (n * Zpos e - m * Zpos d) (d * e)
  | Mul => rational (n * m) (d * e)
  | Div => match m with
           | Z0 => Undefined
           | Zpos k => rational (n * Zpos e) (d * k)
           | Zneg k => rational (- (n * Zpos e)) (d * k)
           end
  | FloorDiv => if m =? 0 then Undefined else Number (floor_div n d m e) 1
  | Mod => if m =? 0 then Undefined
           else rational (n * Zpos e - floor_div n d m e * (m * Zpos d)) (d * e)
  | Min => if more (compare n d m e) then Number m e else Number n d
  | Max => if less (compare n d m e) then Number m e else Number n d
  | Lt => truth (less (compare n d m e))
  | Le => truth (negb (more (compare n d m e)))
  | Gt => truth (more (compare n d m e))
  | Ge => truth (negb (less (compare n d m e)))
  | _ => Undefined
  end.

(** What an operation gives; arithmetic and order of what is no number are undefined. *)
Definition apply (o : operation) (args : list value) : value :=
  match o, args with
  | Else, [a; b] => if defined a then a else b
  | MakeTuple, _ => if forallb defined args then Tuple args else Undefined
  | Eq, [a; b] => if defined a && defined b then truth (same a b) else Undefined
  | Ne, [a; b] => if defined a && defined b then truth (negb (same a b)) else Undefined
  | Not, [a] => if defined a then truth (negb (truthy a)) else Undefined
  | Bool, [a] => if defined a then truth (truthy a) else Undefined
  | Neg, [Number n d] => Number (- n) d
  | Abs, [Number n d] => Number (Z.abs n) d
  | _, [Number n d; Number m e] => on_numbers o n d m e
  | _, _ => Undefined
  end.

Inductive operand := Name (x : string) | Constant (v : value).

(** Lines define values, one after the other. A name that stands again has its last value. *)
Inductive line :=
| Input (x : string) (component : nat)
| Draw (x : string) (law : list (value * poly))
| DrawBy (x : string) (on : operand) (laws : list (value * list (value * poly)))
| Case (x : string) (on : operand) (table : list (value * operand))
| Apply (x : string) (o : operation) (args : list operand)
| Fails (condition : operand)
| Observe (condition : operand).

(** A part of a program: which values it takes and leaves behind, what it publishes; whether it reads a record. *)
Record part := { reads : bool; takes : list string; lines : list line; publishes : list string; leaves : list string }.

Definition scope := list (string * value).
Fixpoint look (x : string) (s : scope) : option value :=
  match s with
  | [] => None
  | (y, v) :: rest => if String.eqb x y then Some v else look x rest
  end.
Definition read (s : scope) (o : operand) : option value :=
  match o with Name x => look x s | Constant v => Some v end.
Fixpoint all_of {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | a :: rest => match f a, all_of f rest with Some b, Some found => Some (b :: found) | _, _ => None end
  end.
Fixpoint chosen {A} (v : value) (table : list (value * A)) : option A :=
  match table with
  | [] => None
  | (key, a) :: rest => if same v key then Some a else chosen v rest
  end.
Definition total (law : list (value * poly)) : poly := fold_right (fun each found => padd (snd each) found) [] law.

(** The runs of a line: scopes with weights. None where there is no meaning: a failed check, a name without value. *)
Definition run_line (record : option value) (s : scope) (l : line) : option (list (scope * poly)) :=
  match l with
  | Input x at_ => match record with
                   | Some (Tuple parts) => option_map (fun v => [((x, v) :: s, [1])]) (nth_error parts at_)
                   | _ => None
                   end
  | Draw x law => Some (map (fun each => ((x, fst each) :: s, snd each)) law)
  | DrawBy x on laws =>
      match read s on with
      | None => None
      | Some v => match chosen v laws with
                  | Some law => Some (map (fun each => ((x, fst each) :: s, snd each)) law)
                  | None => Some [((x, Undefined) :: s, match laws with [] => [1] | (_, law) :: _ => total law end)]
                  end
      end
  | Case x on table =>
      match read s on with
      | None => None
      | Some v => match chosen v table with
                  | Some branch => option_map (fun u => [((x, u) :: s, [1])]) (read s branch)
                  | None => Some [((x, Undefined) :: s, [1])]
                  end
      end
  | Apply x o args => option_map (fun found => [((x, apply o found) :: s, [1])]) (all_of (read s) args)
  | Fails c => match read s c with
               | Some (Number 0 1) => Some [(s, [1])]
               | _ => None
               end
  | Observe c => match read s c with
                 | Some (Number 0 1) => Some []
                 | Some (Number 1 1) => Some [(s, [1])]
                 | _ => None
                 end
  end.

Fixpoint run_lines (record : option value) (ls : list line) (s : scope) : option (list (scope * poly)) :=
  match ls with
  | [] => Some [(s, [1])]
  | l :: rest =>
      match run_line record s l with
      | None => None
      | Some runs =>
          option_map (@List.concat _)
            (all_of (fun run => option_map (map (fun later => (fst later, pmul (snd run) (snd later))))
                                           (run_lines record rest (fst run))) runs)
      end
  end.

Definition state := list value.
Definition told := list value.
Record result := { published : told; after : state; weight : poly }.

Fixpoint bind (names : list string) (s : state) : option scope :=
  match names, s with
  | [], [] => Some []
  | x :: names', v :: s' => option_map (cons (x, v)) (bind names' s')
  | _, _ => None
  end.

(** The runs of a part from a state: what it publishes, which is defined, and the state after it. *)
Definition run_once (p : part) (record : option value) (s : state) : option (list result) :=
  match bind (takes p) s with
  | None => None
  | Some start =>
      match run_lines (if reads p then record else None) (lines p) start with
      | None => None
      | Some runs =>
          all_of (fun r => match all_of (fun x => look x (fst r)) (publishes p),
                                 all_of (fun x => look x (fst r)) (leaves p) with
                           | Some y, Some s' => if forallb defined y
                                                then Some {| published := y; after := s'; weight := snd r |}
                                                else None
                           | _, _ => None
                           end) runs
      end
  end.

(** The same function: what it was for some arguments may be kept. *)
Definition kept {A B C D} (f : A -> B -> C -> D) (a : A) (b : B) (c : C) : D := f a b c.
(** The same, of what is equal to itself: where both are one object there is nothing to compare. *)
Definition quick {A} (f : A -> A -> bool) (itself : forall a, f a a = true) (a b : A) : bool := f a b.
Definition run : part -> option value -> state -> option (list result) := kept run_once.

Definition results (p : part) (record : option value) (s : state) : list result :=
  match run p record s with Some l => l | None => [] end.

(** A program with the records of one dataset: its parts in order, each with the record of its client, if any. *)
Definition program := list (part * option value).
Definition output := list told.

(** Whether every run has a meaning, from a state. *)
Fixpoint meaningful (ps : program) (s : state) : Prop :=
  match ps with
  | [] => True
  | (p, record) :: rest =>
      run p record s <> None /\ Forall (fun r => meaningful rest (after r)) (results p record s)
  end.

Section Law.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.

Fixpoint sum {A} (l : list A) (f : A -> K) : K :=
  match l with [] => 0 | a :: rest => f a + sum rest f end.

(** The sum over all runs of their weight times h of what they publish; for h = 1 on an event and 0 elsewhere that is
    the weight of the event. Probabilities are such weights divided by the weight of all runs. *)
Fixpoint expected (ps : program) (s : state) (h : output -> K) : K :=
  match ps with
  | [] => h []
  | (p, record) :: rest =>
      sum (results p record s)
          (fun r => value_of K T (weight r) * expected rest (after r) (fun y => h (published r :: y)))
  end.

Definition mass (ps : program) (event : output -> bool) : K :=
  expected ps [] (fun y => if event y then 1 else 0).
Definition mass_of_all (ps : program) : K := expected ps [] (fun _ => 1).
End Law.

(** Programs of mechanisms: parts in order, each with the number of the client whose record it reads. *)
Definition mechanism := list (part * option nat).
Definition dataset := list value.
Definition on (m : mechanism) (x : dataset) : program :=
  map (fun each => (fst each, match snd each with Some c => nth_error x c | None => None end)) m.

(** The same for every n: a part before, one for every client in order, one after. *)
Definition every (first each last : part) (x : dataset) : program :=
  (first, None) :: map (fun record => (each, Some record)) x ++ [(last, None)].

(** Neighbours. *)
Inductive relation := ReplaceOne | AddRemove | UnitStep | UnitAll.
Definition near (r : relation) (a b : value) : bool :=
  match r, a, b with
  | ReplaceOne, _, _ => negb (same a b)
  | AddRemove, Tuple [u], Tuple [v] => xorb (same u Nothing) (same v Nothing)
  | UnitStep, Tuple [Number n 1], Tuple [Number m 1]
  | UnitAll, Tuple [Number n 1], Tuple [Number m 1] => Z.abs (n - m) =? 1
  | _, _, _ => false
  end.

Definition neighbours (r : relation) (x y : dataset) : Prop :=
  match r with
  | UnitAll => x <> y /\ Forall2 (fun a b => a = b \/ near r a b = true) x y
  | _ => exists before a b later, x = before ++ a :: later /\ y = before ++ b :: later /\ near r a b = true
  end.
