(** Alignment: a bound for every number of records, by comparing what a run on x does at each record with what a run on x'
    does. Where noise is on all integers, the branches of x are any finitely many of them: its probabilities are the
    suprema of such sums. *)

From Coq Require Import ZArith List Ring.
From Tightdp Require Import Numbers Program Sums.
Import ListNotations.

Section Alignment.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).

(** What a run may do at a record, in a state: with which weight, what is published, the state after it. *)
Variables Record Ours Theirs Told : Type.
Record branch (State : Type) := { chance : K; shown : Told; next : State }.
Arguments chance {_}. Arguments shown {_}. Arguments next {_}.
Variable ours : Record -> Ours -> list (branch Ours).
Variable theirs : Record -> Theirs -> list (branch Theirs).

Fixpoint value {State} (step : Record -> State -> list (branch State)) (xs : list Record) (s : State) (h : list Told -> K) : K :=
  match xs with
  | [] => h []
  | x :: rest => sum (step x s) (fun b => chance b * value step rest (next b) (fun y => h (shown b :: y)))
  end.

(** Cells with their prices, and pairs of records that may be met. *)
Variable priced : K -> Ours -> Theirs -> Prop.
Variable meet : Record -> Record -> Prop.

(** One of our branches, or a share of it, that is compared with one of theirs; the price of the cell in which both are then. *)
Record share := { part : K; of : branch Ours; price : K }.
Definition compared (b : branch Theirs) (c : share) : Prop :=
  0 <= part c /\ 0 <= chance (of c) /\ shown (of c) = shown b /\ priced (price c) (next (of c)) (next b).

(** Every branch of ours is divided into shares of sum 1; what is compared with one of theirs adds up to at most the price. *)
Definition aligned (bound : K) (l : list (branch Ours)) (l' : list (branch Theirs)) : Prop :=
  exists given : list (branch Theirs * list share),
    map fst given = l'
    /\ (forall f : branch Ours -> K, sum l f = sum given (fun e => sum (snd e) (fun c => part c * f (of c))))
    /\ forall e, In e given -> 0 <= chance (fst e) /\ (forall c, In c (snd e) -> compared (fst e) c)
                               /\ sum (snd e) (fun c => part c * chance (of c) * price c) <= bound * chance (fst e).

Hypothesis prices : forall b s t, priced b s t -> 1 <= b.
Hypothesis steps : forall b s t x x', priced b s t -> meet x x' -> aligned b (ours x s) (theirs x' t).

Hypothesis chances : forall x t b, In b (theirs x t) -> 0 <= chance b.

Lemma theirs_nonneg : forall xs t h, (forall y, 0 <= h y) -> 0 <= value theirs xs t h.
Proof.
  induction xs as [|x xs IH]; intros t h H; cbn [value]; [apply H|]. apply sum_nonneg. intros b Hb.
  apply le_mul; [apply chances with x t; exact Hb | apply IH; intro y; apply H].
Qed.

(** The price of a cell bounds what can be published from it on, for every number of records. *)
Theorem alignment : forall xs xs', Forall2 meet xs xs' -> forall b s t h, priced b s t -> (forall y, 0 <= h y) ->
  value ours xs s h <= b * value theirs xs' t h.
Proof.
  intros xs xs' M. induction M as [|x x' xs xs' Mx _ IH]; intros b s t h P H; cbn [value].
  - pose proof (prices b s t P) as B. replace (h []) with (h [] * 1) at 1 by ring. replace (b * h []) with (h [] * b) by ring.
    apply mul_le; [apply H | exact B].
  - destruct (steps b s t x x' P Mx) as [given [E [D G]]]. rewrite D, <- E, sum_map, sum_scale. apply sum_le. intros e He.
    destruct (G e He) as [_ [C S]]. set (rest := value theirs xs' (next (fst e)) (fun y => h (shown (fst e) :: y))).
    assert (R : 0 <= rest) by (apply theirs_nonneg; intro y; apply H).
    apply le_trans with (sum (snd e) (fun c => rest * (part c * chance (of c) * price c))).
    + apply sum_le. intros c Hc. destruct (C c Hc) as [C1 [C2 [C3 C4]]]. rewrite C3.
      replace (rest * (part c * chance (of c) * price c)) with (part c * (chance (of c) * (price c * rest))) by ring.
      apply mul_le; [exact C1|]. apply mul_le; [exact C2|]. apply IH; [exact C4 | intro y; apply H].
    + rewrite <- sum_scale. replace (b * (chance (fst e) * rest)) with (rest * (b * chance (fst e))) by ring. apply mul_le; assumption.
Qed.
End Alignment.

Print Assumptions alignment.
