(** What an audit in one run can see of a program: a fair coin gives each client one of two records, and of what is then
    published k of the coins are guessed. The efficacy is the largest expected share of right guesses. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate.
From Tightdp Require Datasets.
Import ListNotations.
Open Scope Z_scope.

(** A part, and what it may be run with: the coin of a client, and the record that it gives. *)
Definition coin := (nat * bool)%type.
Definition choice := (option coin * option value)%type.
Definition choices (pairs : list (value * value)) (client : option nat) : list choice :=
  match client with
  | None => [(None, None)]
  | Some i => [(Some (i, false), option_map fst (nth_error pairs i)); (Some (i, true), option_map snd (nth_error pairs i))]
  end.
Definition experiment := list (part * list choice).
Definition experiment_of (pairs : list (value * value)) (m : mechanism) : experiment :=
  map (fun q => (fst q, choices pairs (snd q))) m.

(** All ways in which the coins may fall: the program with these records, and the coins. *)
Fixpoint tossed (ps : experiment) : list (program * list coin) :=
  match ps with
  | [] => [([], [])]
  | (p, chs) :: rest => flat_map (fun ch => map (fun t => ((p, snd ch) :: fst t, match fst ch with Some c => c :: snd t | None => snd t end))
                                                (tossed rest)) chs
  end.

(** Guesses of coins. One is right where no coin of that client is another: each client has one. *)
Definition right (coins : list coin) (g : coin) : bool :=
  forallb (fun c => negb (Nat.eqb (fst g) (fst c)) || Bool.eqb (snd c) (snd g)) coins.
Definition guesser := output -> list coin.
Definition guesses (k n : nat) (l : list coin) : Prop := length l = k /\ NoDup (map fst l) /\ Forall (fun g => (fst g < n)%nat) l.

Section Score.
Variable K : domain.
Variable T : K.
(** How many guesses are right: the sum over all coins and runs, whose weights are times a factor for the coins. *)
Definition score (ps : experiment) (factor : program * list coin -> K) (f : guesser) : K :=
  sum K (tossed ps) (fun t => mul (factor t) (expected K T (fst t) [] (fun y => sum K (f y) (fun g => if right (snd t) g then one else zero)))).
End Score.

(** With up / down of the claim: of k guesses that share is right at most, whatever is guessed, and it can be reached.
    Times their factors, all ways in which the coins may fall have the same weight. *)
Definition has_efficacy (K : domain) (T : K) (c : claim) (pairs : list (value * value)) (k : nat) : Prop :=
  match law_of c with
  | ForEvery _ _ _ => False
  | For n places =>
      let ps := experiment_of pairs (map (fun p => (part_at c (fst p), snd p)) places) in
      exists (whole : K) (factor : program * list coin -> K), lt zero whole
      /\ (forall t, In t (tossed ps) ->
            meaningful (fst t) [] /\ lt zero (mass_of_all K T (fst t)) /\ mul (factor t) (mass_of_all K T (fst t)) = whole)
      /\ let of_all := fun f => mul (value_of K T (down c)) (score K T ps factor f) in
         let share := mul (value_of K T (up c)) (mul (inj (Z.of_nat k * 2 ^ Z.of_nat n)) whole) in
         (forall f, (forall y, guesses k n (f y)) -> le (of_all f) share)
         /\ exists f, (forall y, guesses k n (f y)) /\ of_all f = share
  end.

(** For each client, the weights of runs in which its coin has fallen either way. *)
Definition row := list (poly * poly).
Definition entry (r : row) (g : coin) : poly := let w := nth (fst g) r ([], []) in if snd g then snd w else fst w.
Fixpoint only (i : nat) (b : bool) (r : row) : row :=
  match r, i with
  | [], _ => []
  | w :: rest, O => (if b then ([], snd w) else (fst w, [])) :: rest
  | w :: rest, S j => w :: only j b rest
  end.
Definition narrow (c : option coin) (r : row) : row := match c with Some (i, b) => only i b r | None => r end.
Definition times_row (a : poly) (r : row) : row := map (fun w => (pmul a (fst w), pmul a (snd w))) r.
Fixpoint plus_row (r q : row) : row :=
  match r, q with
  | w :: r', u :: q' => (padd (fst w) (fst u), padd (snd w) (snd u)) :: plus_row r' q'
  | [], _ => q
  | _, [] => r
  end.

(** States with their rows, by what is published. *)
Definition ways := list (state * row).
Fixpoint put_way (s : state) (r : row) (v : ways) : ways :=
  match v with
  | [] => [(s, r)]
  | (u, q) :: rest => if same (Tuple s) (Tuple u) then (u, plus_row r q) :: rest else (u, q) :: put_way s r rest
  end.
Fixpoint put_heard (t : told) (s : state) (r : row) (l : list (told * ways)) : list (told * ways) :=
  match l with
  | [] => [(t, [(s, r)])]
  | (u, v) :: rest => if same (Tuple t) (Tuple u) then (u, put_way s r v) :: rest else (u, v) :: put_heard t s r rest
  end.
Definition heard (p : part) (chs : list choice) (v : ways) : list (told * ways) :=
  fold_right (fun e l => fold_right (fun ch l => fold_right (fun x l =>
    put_heard (published x) (after x) (times_row (weight x) (narrow (fst ch) (snd e))) l)
    l (results p (snd ch) (fst e))) l chs) [] v.

(** The weight of all runs of a part, which no state and no record may change. *)
Definition odds_of (p : part) : poly :=
  fold_right (fun l t => match l with
                         | Draw _ law => pmul (total law) t
                         | DrawBy _ _ ((_, law) :: _) => pmul (total law) t
                         | _ => t end) [1] (lines p).
Definition weights_of (l : list result) : poly := fold_right (fun x t => padd (weight x) t) [] l.
Definition steady (p : part) (chs : list choice) (v : ways) : bool :=
  forallb (fun e => forallb (fun ch => match run p (snd ch) (fst e) with
                                       | Some l => equal_poly (weights_of l) (odds_of p)
                                       | None => false end) chs) v.
Definition whole_of (ps : experiment) : poly := fold_right (fun q t => pmul (odds_of (fst q)) t) [1] ps.

Section Check.
Variable root : Z.
Variables k n : nat.

(** The best guess of each client, the k best of these, and why none is better: no entry that is left out is above the
    last that is taken. *)
Fixpoint rank (g : poly * coin) (l : list (poly * coin)) : list (poly * coin) :=
  match l with
  | [] => [g]
  | h :: rest => if positive_at root (padd (fst g) (popp (fst h))) then g :: l else h :: rank g rest
  end.
Definition likelier (i : nat) (w : poly * poly) : poly * coin :=
  if positive_at root (padd (snd w) (popp (fst w))) then (snd w, (i, true)) else (fst w, (i, false)).
Definition ranked (r : row) : list coin :=
  map snd (firstn k (fold_right rank [] (map (fun each => likelier (fst each) (snd each)) (combine (seq 0 n) r)))).
Definition below (r : row) (a b : poly) : bool := nonpos root (padd a (popp b)).
Definition settled (r : row) (l : list coin) : bool :=
  let least := match l with [] => [] | g :: _ => entry r (last l g) end in
  Nat.eqb (length l) k && distinct (map fst l)
  && forallb (fun g => (fst g <? n)%nat && below r least (entry r g)) l
  && forallb (fun i => let most := match find (fun g => Nat.eqb (fst g) i) l with Some g => entry r g | None => least end in
                       below r (entry r (i, false)) most && below r (entry r (i, true)) most) (seq 0 n).
Definition all_rows (v : ways) : row := fold_right (fun e t => plus_row (snd e) t) [] v.

Definition over_told (f : ways -> option poly) (l : list (told * ways)) : option poly :=
  fold_right (fun j t => match f (snd j), t with Some a, Some b => Some (padd a b) | _, _ => None end) (Some []) l.
Fixpoint best (ps : experiment) (v : ways) : option poly :=
  match ps with
  | [] => let r := all_rows v in
          if settled r (ranked r) then Some (fold_right (fun g t => padd (entry r g) t) [] (ranked r)) else None
  | (p, chs) :: rest =>
      if steady p chs v
      then over_told (best rest) (heard p chs v)
      else None
  end.

(** Where a program observes, all runs have another weight for each way in which the coins may fall. So all these ways are
    gone through: each has a factor, the product of the weights of others. *)
Fixpoint law_from (ps : program) (v : vector) : list (output * poly) :=
  match ps with
  | [] => [([], Datasets.size_of v)]
  | (p, record) :: rest => flat_map (fun j => map (fun e => (fst j :: fst e, snd e)) (law_from rest (snd j))) (Datasets.told_by p record v)
  end.
Definition law_of_all (ps : program) : list (output * poly) := law_from ps [([], [1])].
Definition total_of (l : list (output * poly)) : poly := fold_right (fun e t => padd (snd e) t) [] l.
Definition product_of (l : list poly) : poly := fold_right pmul [1] l.
Definition put_weight (a : poly) (l : list poly) : list poly := if existsb (equal_poly a) l then l else a :: l.
Definition factor_of (weights : list poly) (l : list (output * poly)) : poly :=
  product_of (filter (fun w => negb (equal_poly w (total_of l))) weights).
Definition narrow_all (coins : list coin) (r : row) : row := fold_right (fun c r => narrow (Some c) r) r coins.
Definition with_law (t : program * list coin) := (t, law_of_all (fst t)).
Definition gathered (weights : list poly) (laws : list ((program * list coin) * list (output * poly))) : list (told * ways) :=
  fold_right (fun q l => fold_right (fun e l =>
    put_heard (map Tuple (fst e)) [] (times_row (pmul (factor_of weights (snd q)) (snd e)) (narrow_all (snd (fst q)) (repeat ([1], [1]) n))) l)
    l (snd q)) [] laws.
Definition best_of_observed (ps : experiment) : option (poly * poly) :=
  let laws := map with_law (tossed ps) in
  let weights := fold_right (fun q l => put_weight (total_of (snd q)) l) [] laws in
  let whole := product_of weights in
  if forallb (fun q => explored (fst (fst q)) [[]] && positive_at root (total_of (snd q))
                       && equal_poly (pmul (factor_of weights (snd q)) (total_of (snd q))) whole) laws
  then option_map (pair whole) (over_told (best []) (gathered weights laws))
  else None.
End Check.

Definition observing (ps : experiment) : bool :=
  existsb (fun q => existsb (fun l => match l with Observe _ => true | _ => false end) (lines (fst q))) ps.

Definition check_efficacy (c : claim) (pairs : list (value * value)) (k : nat) : bool :=
  match law_of c with
  | ForEvery _ _ _ => false
  | For n places =>
      let ps := experiment_of pairs (map (fun p => (part_at c (fst p), snd p)) places) in
      well_made c && Nat.eqb (length (clients places)) n && Nat.eqb (length pairs) n && (k <=? n)%nat
      && forallb (fun q => existsb (same (fst q)) (records c) && existsb (same (snd q)) (records c)) pairs
      && positive_at (root c) (down c)
      && match (if observing ps then best_of_observed (root c) k n ps
                else option_map (pair (whole_of ps)) (best (root c) k n ps [([], repeat ([1], [1]) n)])) with
         | None => false
         | Some (whole, most) => positive_at (root c) whole
                                 && equal_poly (pmul (down c) most) (pmul (up c) (pscale (Z.of_nat k * 2 ^ Z.of_nat n) whole))
         end
  end.

Section Proofs.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).
Notation sum := (sum K).

(** Rows as functions. *)
Definition of_row (r : row) (g : coin) : K := val (entry r g).
Definition narrowed (c : option coin) (f : coin -> K) (g : coin) : K :=
  match c with None => f g | Some c => if negb (Nat.eqb (fst g) (fst c)) || Bool.eqb (snd c) (snd g) then f g else 0 end.

Lemma entry_narrow : forall c r g, of_row (narrow c r) g = narrowed c (of_row r) g.
Proof.
  intros [[i b]|] r g; [|reflexivity]. unfold narrow, narrowed, of_row, entry. cbn [fst snd]. destruct g as [j d]. cbn [fst snd].
  revert i j. induction r as [|w r IH]; intros i j.
  - replace (only i b []) with (@nil (poly * poly)) by (destruct i; reflexivity).
    rewrite !nth_overflow by (cbn; lia). destruct d, (negb _ || _); reflexivity.
  - destruct i as [|i], j as [|j]; cbn [only nth Nat.eqb].
    + destruct b, d; reflexivity.
    + reflexivity.
    + reflexivity.
    + apply IH.
Qed.

Lemma entry_times : forall a r g, of_row (times_row a r) g = val a * of_row r g.
Proof.
  intros a r [j d]. unfold of_row, entry. cbn [fst snd]. revert j. induction r as [|w r IH]; intro j.
  - destruct j, d; cbn; ring.
  - destruct j as [|j]; cbn [times_row map nth]; [destruct d; cbn [fst snd]; apply value_mul | apply IH].
Qed.

Lemma entry_plus : forall r q g, of_row (plus_row r q) g = of_row r g + of_row q g.
Proof.
  intros r q [j d]. unfold of_row, entry. cbn [fst snd]. revert q j. induction r as [|w r IH]; intros q j.
  - cbn [plus_row]. destruct j, d; cbn; ring.
  - destruct q as [|u q]; [cbn [plus_row]; destruct j, d; cbn; ring|]. cbn [plus_row].
    destruct j as [|j]; cbn [nth]; [destruct d; cbn [fst snd]; apply value_add | apply IH].
Qed.

(** What guesses gain, from a state on, with a weight for each guess. *)
Fixpoint gain (ps : experiment) (s : state) (f : coin -> K) (h : guesser) : K :=
  match ps with
  | [] => sum (h []) f
  | (p, chs) :: rest => sum chs (fun ch => sum (results p (snd ch) s) (fun x =>
      val (weight x) * gain rest (after x) (narrowed (fst ch) f) (fun y => h (published x :: y))))
  end.

Lemma gain_tossed : forall ps s f h,
  gain ps s f h = sum (tossed ps) (fun t => expected K T (fst t) s (fun y => sum (h y) (fun g => if right (snd t) g then f g else 0))).
Proof.
  induction ps as [|[p chs] ps IH]; intros s f h.
  - change (sum (h []) f = sum (h []) f + 0). ring.
  - cbn [gain tossed]. rewrite sum_flat_map. apply sum_ext. intros ch _. rewrite sum_map. cbn [fst snd expected].
    rewrite <- sum_swap. apply sum_ext. intros x _. rewrite IH, sum_scale. apply sum_ext. intros [q coins] _. cbn [fst snd]. f_equal.
    apply expected_same. intro y. apply sum_ext. intros g _. destruct (fst ch) as [c|]; [|reflexivity].
    change (right (c :: coins) g) with ((negb (Nat.eqb (fst g) (fst c)) || Bool.eqb (snd c) (snd g)) && right coins g).
    cbn [narrowed]. destruct (negb (Nat.eqb (fst g) (fst c)) || Bool.eqb (snd c) (snd g)); cbn [andb]; destruct (right coins g); reflexivity.
Qed.

Lemma gain_ext : forall ps s f f' h h', (forall y g, In g (h y) -> f g = f' g) -> (forall y, h y = h' y) -> gain ps s f h = gain ps s f' h'.
Proof.
  induction ps as [|[p chs] ps IH]; intros s f f' h h' F H; cbn [gain].
  - rewrite <- H. apply sum_ext. intros g Hg. apply (F [] g Hg).
  - apply sum_ext. intros ch _. apply sum_ext. intros x _. f_equal. apply IH; [|intro y; apply H].
    intros y g Hg. unfold narrowed. rewrite (F _ g Hg). reflexivity.
Qed.

Lemma gain_plus : forall ps s f f' h, gain ps s (fun g => f g + f' g) h = gain ps s f h + gain ps s f' h.
Proof.
  induction ps as [|[p chs] ps IH]; intros s f f' h; cbn [gain]; [apply sum_plus|].
  rewrite <- sum_plus. apply sum_ext. intros ch _. rewrite <- sum_plus. apply sum_ext. intros x _.
  rewrite (gain_ext ps (after x) _ (fun g => narrowed (fst ch) f g + narrowed (fst ch) f' g) _ (fun y => h (published x :: y))); [rewrite IH; ring | | reflexivity].
  intros y g _. unfold narrowed. destruct (fst ch) as [c|]; [|reflexivity]. destruct (_ || _); [reflexivity | ring].
Qed.

Lemma gain_scale : forall ps s a f h, gain ps s (fun g => a * f g) h = a * gain ps s f h.
Proof.
  induction ps as [|[p chs] ps IH]; intros s a f h; cbn [gain]; [rewrite sum_scale; reflexivity|].
  rewrite sum_scale. apply sum_ext. intros ch _. rewrite sum_scale. apply sum_ext. intros x _.
  rewrite (gain_ext ps (after x) _ (fun g => a * narrowed (fst ch) f g) _ (fun y => h (published x :: y))); [rewrite IH; ring | | reflexivity].
  intros y g _. unfold narrowed. destruct (fst ch) as [c|]; [|reflexivity]. destruct (_ || _); [reflexivity | ring].
Qed.

(** Sums over what is heard are sums over all results. *)
Section Regrouped.
Variable F : told -> state -> row -> K.
Hypothesis F_plus : forall t s r q, F t s (plus_row r q) = F t s r + F t s q.
Definition over_heard (l : list (told * ways)) : K := sum l (fun j => sum (snd j) (fun e => F (fst j) (fst e) (snd e))).

Lemma put_way_sum : forall t s r v, sum (put_way s r v) (fun e => F t (fst e) (snd e)) = F t s r + sum v (fun e => F t (fst e) (snd e)).
Proof.
  intros t s r v. induction v as [|[u q] v IH]; cbn [put_way Program.sum fst snd]; [reflexivity|].
  destruct (same (Tuple s) (Tuple u)) eqn:E; cbn [Program.sum fst snd].
  - apply same_spec in E. injection E as ->. rewrite F_plus. ring.
  - rewrite IH. ring.
Qed.

Lemma put_heard_sum : forall t s r l, over_heard (put_heard t s r l) = F t s r + over_heard l.
Proof.
  intros t s r l. unfold over_heard. induction l as [|[u v] l IH]; cbn [put_heard Program.sum fst snd]; [ring|].
  destruct (same (Tuple t) (Tuple u)) eqn:E; cbn [Program.sum fst snd].
  - apply same_spec in E. injection E as ->. rewrite put_way_sum. ring.
  - rewrite IH. ring.
Qed.

Lemma fold_sum : forall {A B} (g : A -> B -> B) (m : B -> K) (f : A -> K) l b,
  (forall a b, m (g a b) = f a + m b) -> m (fold_right g b l) = sum l f + m b.
Proof. intros A B g m f l b H. induction l as [|a l IH]; cbn [fold_right Program.sum]; [ring|]. rewrite H, IH. ring. Qed.

Lemma heard_sum : forall p chs v, over_heard (heard p chs v) = sum v (fun e => sum chs (fun ch => sum (results p (snd ch) (fst e)) (fun x =>
  F (published x) (after x) (times_row (weight x) (narrow (fst ch) (snd e)))))).
Proof.
  intros p chs v. unfold heard. rewrite (fold_sum _ over_heard (fun e => sum chs (fun ch => sum (results p (snd ch) (fst e)) (fun x =>
    F (published x) (after x) (times_row (weight x) (narrow (fst ch) (snd e))))))).
  - unfold over_heard at 1. cbn [Program.sum]. ring.
  - intros e l. apply fold_sum. intros ch m. apply fold_sum. intros x o. apply put_heard_sum.
Qed.
End Regrouped.

Definition keys (l : list (told * ways)) := map fst l.
Lemma put_heard_keys : forall t s r l, NoDup (keys l) -> NoDup (keys (put_heard t s r l)) /\ incl (keys (put_heard t s r l)) (t :: keys l).
Proof.
  intros t s r l. induction l as [|[u v] l IH]; intro N.
  - split; [repeat constructor; intros [] | apply incl_refl].
  - cbn [put_heard]. destruct (same (Tuple t) (Tuple u)) eqn:E; [split; [exact N | apply incl_tl, incl_refl]|].
    cbn [keys map fst] in *. inversion N as [|? ? N1 N2]; subst. destruct (IH N2) as [I1 I2]. split.
    + constructor; [|exact I1]. intro H. apply I2 in H. destruct H as [H|H]; [|contradiction]. subst u.
      assert (X : same (Tuple t) (Tuple t) = true) by (apply same_spec; reflexivity). congruence.
    + intros z [<-|H]; [right; left; reflexivity|]. apply I2 in H. destruct H as [<-|H]; [left; reflexivity | right; right; exact H].
Qed.

Lemma fold_keeps : forall {A B} (P : B -> Prop) (g : A -> B -> B) l b, (forall a b, P b -> P (g a b)) -> P b -> P (fold_right g b l).
Proof. intros A B P g l b H Hb. induction l as [|a l IH]; [exact Hb | apply H; exact IH]. Qed.

Lemma heard_keys : forall p chs v, NoDup (keys (heard p chs v)).
Proof.
  intros p chs v. unfold heard. apply (fold_keeps (fun l => NoDup (keys l))); [|constructor].
  intros e l N. apply (fold_keeps (fun l => NoDup (keys l))); [|exact N].
  intros ch m N2. apply (fold_keeps (fun l => NoDup (keys l))); [|exact N2].
  intros x o N3. apply put_heard_keys. exact N3.
Qed.

(** Every state that a run leads to stands somewhere. *)
Definition stands (s : state) (l : list (told * ways)) : Prop := exists j, In j l /\ In s (map fst (snd j)).
Lemma put_way_new : forall s r v, In s (map fst (put_way s r v)).
Proof.
  intros s r v. induction v as [|[u q] v IH]; cbn [put_way]; [left; reflexivity|].
  destruct (same (Tuple s) (Tuple u)) eqn:E; [apply same_spec in E; injection E as ->; left; reflexivity | right; exact IH].
Qed.
Lemma put_way_old : forall s u r v, In u (map fst v) -> In u (map fst (put_way s r v)).
Proof.
  intros s u r v. induction v as [|[z q] v IH]; intro H; [contradiction|]. cbn [put_way]. destruct (same (Tuple s) (Tuple z)); [exact H|].
  destruct H as [H|H]; [left; exact H | right; apply IH; exact H].
Qed.
Lemma put_heard_new : forall t s r l, stands s (put_heard t s r l).
Proof.
  intros t s r l. induction l as [|[u v] l [j [J1 J2]]]; cbn [put_heard].
  - exists (t, [(s, r)]). split; left; reflexivity.
  - destruct (same (Tuple t) (Tuple u)); [exists (u, put_way s r v); split; [left; reflexivity | apply put_way_new]|].
    exists j. split; [right; exact J1 | exact J2].
Qed.
Lemma put_heard_old : forall t s u r l, stands u l -> stands u (put_heard t s r l).
Proof.
  intros t s u r l [j [J1 J2]]. induction l as [|[z v] l IH]; [contradiction|]. cbn [put_heard].
  destruct (same (Tuple t) (Tuple z)); destruct J1 as [<-|J1].
  - exists (z, put_way s r v). split; [left; reflexivity | apply put_way_old; exact J2].
  - exists j. split; [right; exact J1 | exact J2].
  - exists (z, v). split; [left; reflexivity | exact J2].
  - destruct (IH J1) as [i [I1 I2]]. exists i. split; [right; exact I1 | exact I2].
Qed.

Lemma fold_reaches : forall {A B} (P : B -> Prop) (g : A -> B -> B) l a b,
  (forall a b, P b -> P (g a b)) -> In a l -> (forall b, P (g a b)) -> P (fold_right g b l).
Proof.
  intros A B P g l a b H I Q. induction l as [|c l IH]; [contradiction|]. cbn [fold_right]. destruct I as [->|I]; [apply Q | apply H, IH, I].
Qed.

Lemma heard_stands : forall p chs v e ch x, In e v -> In ch chs -> In x (results p (snd ch) (fst e)) -> stands (after x) (heard p chs v).
Proof.
  intros p chs v e ch x He Hc Hx. unfold heard.
  assert (O : forall r o s t l, stands s l -> stands s (put_heard r o t l)) by (intros; apply put_heard_old; assumption).
  apply (fold_reaches (stands (after x)) _ v e); [| exact He |].
  - intros a b H. apply fold_keeps; [|exact H]. intros c b' H'. apply fold_keeps; [|exact H']. intros z b2 H2. apply O. exact H2.
  - intro b. apply (fold_reaches (stands (after x)) _ chs ch); [| exact Hc |].
    + intros c b' H'. apply fold_keeps; [|exact H']. intros z b2 H2. apply O. exact H2.
    + intro b'. apply (fold_reaches (stands (after x)) _ _ x); [| exact Hx | intro; apply put_heard_new].
      intros z b2 H2. apply O. exact H2.
Qed.

Variable root' : Z.
Hypothesis is_root : is_root_of_e K root' T.
Variables k n : nat.
Hypothesis enough : (k <= n)%nat.

(** The best guesses are the best. *)
Lemma sum_within : forall (l m : list nat) (u : nat -> K), NoDup l -> (forall i, 0 <= u i) -> (forall i, In i l -> u i = 0 \/ In i m) ->
  sum l u <= sum m u.
Proof.
  induction l as [|i l IH]; intros m u N U H.
  - cbn [Program.sum]. apply sum_nonneg. intros; apply U.
  - inversion N as [|? ? N1 N2]; subst. cbn [Program.sum]. destruct (H i (or_introl eq_refl)) as [Z|I].
    + rewrite Z. replace (0 + sum l u) with (sum l u) by ring. apply IH; [exact N2 | exact U|]. intros j Hj. apply H. right. exact Hj.
    + apply in_split in I as [m1 [m2 ->]]. rewrite sum_app. cbn [Program.sum].
      replace (sum m1 u + (u i + sum m2 u)) with (u i + sum (m1 ++ m2) u) by (rewrite sum_app; ring). apply le_add. apply IH; [exact N2 | exact U|].
      intros j Hj. destruct (H j (or_intror Hj)) as [Z|I]; [left; exact Z|]. right. apply in_app_or in I. apply in_or_app.
      destruct I as [I|[I|I]]; [left; exact I | subst j; contradiction | right; exact I].
Qed.

Lemma below_sound : forall r a b, below root' r a b = true -> val a <= val b.
Proof.
  intros r a b H. unfold below in H. apply (nonpos_sound K T root' is_root) in H. rewrite value_add, value_opp in H. apply opp_le in H.
  apply le_sub. replace (val b - val a) with (- (val a + - val b)) by ring. exact H.
Qed.

Lemma sum_const : forall {A} (l : list A) (a : K), sum l (fun _ => a) = inj (Z.of_nat (length l)) * a.
Proof.
  intros A l a. induction l as [|b l IH]; [cbn; rewrite inj_zero; ring|].
  cbn [Program.sum length]. rewrite IH, Nat2Z.inj_succ, <- Z.add_1_r, inj_add, inj_one. ring.
Qed.

Definition find_client (l : list coin) (i : nat) := find (fun g : coin => Nat.eqb (fst g) i) l.
Lemma find_itself : forall l g, NoDup (map fst l) -> In g l -> find_client l (fst g) = Some g.
Proof.
  unfold find_client. induction l as [|h l IH]; intros g N H; [contradiction|]. inversion N as [|? ? N1 N2]; subst. cbn [find].
  destruct H as [->|H]; [rewrite Nat.eqb_refl; reflexivity|]. destruct (Nat.eqb (fst h) (fst g)) eqn:E; [|apply IH; assumption].
  apply Nat.eqb_eq in E. exfalso. apply N1. rewrite E. apply in_map. exact H.
Qed.

Lemma settled_sound : forall r l, settled root' k n r l = true -> guesses k n l
  /\ forall m, guesses k n m -> sum m (of_row r) <= sum l (of_row r).
Proof.
  intros r l H. unfold settled in H. set (least := match l with [] => [] | g :: _ => entry r (last l g) end) in H.
  apply andb_true_iff in H as [H A]. apply andb_true_iff in H as [H G]. apply andb_true_iff in H as [L D].
  apply Nat.eqb_eq in L. apply distinct_sound in D. rewrite forallb_forall in A, G.
  assert (Gl : forall g, In g l -> (fst g < n)%nat /\ val least <= of_row r g).
  { intros g Hg. specialize (G g Hg). apply andb_true_iff in G as [G1 G2]. split; [apply Nat.ltb_lt; exact G1 | eapply below_sound; exact G2]. }
  split; [split; [exact L | split; [exact D | apply Forall_forall; intros g Hg; apply Gl; exact Hg]]|].
  intros m [Lm [Dm Fm]]. set (u := fun i => match find_client l i with Some g => of_row r g - val least | None => 0 end).
  assert (U : forall i, 0 <= u i).
  { intro i. unfold u. destruct (find_client l i) as [g|] eqn:E; [|apply le_refl]. apply sub_le. apply Gl. apply find_some in E. apply E. }
  assert (S : sum m (of_row r) <= sum m (fun _ => val least) + sum (map fst m) u).
  { rewrite sum_map, <- sum_plus. apply sum_le. intros g Hg. rewrite Forall_forall in Fm. specialize (Fm g Hg).
    specialize (A (fst g)). rewrite in_seq in A. specialize (A (conj (Nat.le_0_l _) Fm)). cbv zeta in A. apply andb_true_iff in A as [A1 A2].
    apply below_sound in A1, A2. change (of_row r (fst g, false) <= val match find_client l (fst g) with Some g0 => entry r g0 | None => least end) in A1.
    change (of_row r (fst g, true) <= val match find_client l (fst g) with Some g0 => entry r g0 | None => least end) in A2.
    replace (val least + u (fst g)) with (val match find_client l (fst g) with Some g0 => entry r g0 | None => least end).
    - destruct g as [i []]; assumption.
    - unfold u. destruct (find_client l (fst g)); unfold of_row; ring. }
  assert (W : sum (map fst m) u <= sum (map fst l) u).
  { apply sum_within; [exact Dm | exact U|]. intros i _. unfold u. destruct (find_client l i) as [g|] eqn:E; [|left; reflexivity].
    right. apply find_some in E as [E1 E2]. apply Nat.eqb_eq in E2. rewrite <- E2. apply in_map. exact E1. }
  assert (Q : sum (map fst l) u = sum l (of_row r) - sum l (fun _ => val least)).
  { rewrite sum_map. transitivity (sum l (fun g => of_row r g + - val least)).
    - apply sum_ext. intros g Hg. unfold u. rewrite (find_itself l g D Hg). ring.
    - rewrite sum_plus. replace (sum l (fun _ => - val least)) with (- sum l (fun _ => val least)); [ring|]. rewrite !sum_const. ring. }
  eapply le_trans; [exact S|]. rewrite (sum_const m), Lm. replace (sum l (of_row r)) with (inj (Z.of_nat k) * val least + (sum l (of_row r) - sum l (fun _ => val least))).
  - apply le_add. rewrite <- Q. exact W.
  - rewrite (sum_const l), L. ring.
Qed.

Lemma all_rows_sum : forall v g, of_row (all_rows v) g = sum v (fun e => of_row (snd e) g).
Proof.
  intros v g. induction v as [|e v IH]; cbn [all_rows fold_right Program.sum]; [destruct g as [[|?] []]; reflexivity|]. fold (all_rows v). rewrite entry_plus, IH. reflexivity.
Qed.

(** A guesser who is as good as any. *)
Definition some_guess : list coin := map (fun i => (i, false)) (seq 0 k).
Fixpoint guess_of (ps : experiment) (v : ways) (y : output) : list coin :=
  match ps, y with
  | [], _ => let l := ranked root' k n (all_rows v) in if settled root' k n (all_rows v) l then l else some_guess
  | (p, chs) :: rest, t :: y' => guess_of rest (Datasets.find_told t (heard p chs v)) y'
  | _, _ => some_guess
  end.

Lemma some_guess_good : guesses k n some_guess.
Proof.
  unfold some_guess. split; [rewrite map_length, seq_length; reflexivity|]. split.
  - rewrite map_map. cbn [fst]. rewrite map_id. apply seq_NoDup.
  - apply Forall_forall. intros g H. apply in_map_iff in H as [i [<- H]]. apply in_seq in H. cbn [fst]. lia.
Qed.

Lemma guess_of_good : forall ps v y, guesses k n (guess_of ps v y).
Proof.
  induction ps as [|[p chs] ps IH]; intros v y; cbn [guess_of].
  - destruct (settled _ _ _ _ _) eqn:E; [apply settled_sound with (1 := E) | apply some_guess_good].
  - destruct y; [apply some_guess_good | apply IH].
Qed.

Notation from v ps h := (sum v (fun e => gain ps (fst e) (of_row (snd e)) h)).

Lemma from_heard : forall p chs ps v h,
  from v ((p, chs) :: ps) h = sum (heard p chs v) (fun j => from (snd j) ps (fun y => h (fst j :: y))).
Proof.
  intros p chs ps v h. pose (F := fun t s r => gain ps s (of_row r) (fun y => h (t :: y))).
  transitivity (over_heard F (heard p chs v)); [|reflexivity]. rewrite heard_sum.
  - apply sum_ext. intros e _. cbn [gain]. apply sum_ext. intros ch _. apply sum_ext. intros x _. unfold F.
    rewrite <- gain_scale. apply gain_ext; [|reflexivity]. intros y g _. rewrite entry_times, entry_narrow. reflexivity.
  - intros t s r q. unfold F. rewrite <- gain_plus. apply gain_ext; [|reflexivity]. intros y g _. apply entry_plus.
Qed.

Lemma folded : forall (f : ways -> option poly) l b, over_told f l = Some b ->
  exists a : told * ways -> poly, (forall j, In j l -> f (snd j) = Some (a j)) /\ val b = sum l (fun j => val (a j)).
Proof.
  unfold over_told. intros f l. induction l as [|j l IH]; intros b H; cbn [fold_right] in H.
  - injection H as <-. exists (fun _ => []). split; [intros j [] | reflexivity].
  - destruct (f (snd j)) as [a0|] eqn:E; [|discriminate].
    destruct (fold_right _ _ l) as [b0|] eqn:R; [|discriminate]. injection H as <-. destruct (IH b0 eq_refl) as [a [A1 A2]].
    exists (fun i => match f (snd i) with Some c => c | None => [] end). split.
    + intros i [<-|Hi]; [rewrite E; reflexivity | rewrite (A1 i Hi); reflexivity].
    + rewrite value_add. cbn [Program.sum]. rewrite E, A2. f_equal. apply sum_ext. intros i Hi. rewrite (A1 i Hi). reflexivity.
Qed.

Lemma best_sound : forall ps v b, best root' k n ps v = Some b ->
  (forall h, (forall y, guesses k n (h y)) -> from v ps h <= val b) /\ from v ps (guess_of ps v) = val b.
Proof.
  induction ps as [|[p chs] ps IH]; intros v b H; cbn [best] in H.
  - cbv zeta in H. set (r := all_rows v) in H. destruct (settled root' k n r (ranked root' k n r)) eqn:E; [|discriminate]. injection H as <-.
    assert (V : forall l, val (fold_right (fun g t => padd (entry r g) t) [] l) = sum l (of_row r)).
    { induction l as [|g l IHl]; [reflexivity|]. cbn [fold_right Program.sum]. rewrite value_add, IHl. reflexivity. }
    assert (S : forall l, sum v (fun e => sum l (of_row (snd e))) = sum l (of_row r)).
    { intro l. rewrite sum_swap. apply sum_ext. intros g _. symmetry. apply all_rows_sum. }
    rewrite V. split.
    + intros h G. cbn [gain]. rewrite (S (h [])). apply settled_sound; [exact E | apply G].
    + cbn [gain guess_of]. cbv zeta. fold r. rewrite E. apply S.
  - destruct (steady p chs v); [|discriminate]. apply folded in H as [a [A1 A2]]. split.
    + intros h G. rewrite from_heard, A2. apply sum_le. intros j Hj. apply (IH _ _ (A1 j Hj)). intro y. apply G.
    + rewrite from_heard, A2. apply sum_ext. intros j Hj. rewrite <- (proj2 (IH _ _ (A1 j Hj))). apply sum_ext. intros e _. apply gain_ext; [reflexivity|].
      intro y. exact (f_equal (fun w => guess_of ps w y) (Datasets.find_in (heard p chs v) j (heard_keys p chs v) Hj)).
Qed.

Lemma weights_sum : forall l, val (weights_of l) = sum l (fun x => val (weight x)).
Proof. induction l as [|x l IH]; [reflexivity|]. cbn [weights_of fold_right Program.sum]. fold (weights_of l). rewrite value_add, IH. reflexivity. Qed.

Lemma best_steady : forall ps v b t s, best root' k n ps v = Some b -> In t (tossed ps) -> In s (map fst v) ->
  meaningful (fst t) s /\ expected K T (fst t) s (fun _ => 1) = val (whole_of ps).
Proof.
  induction ps as [|[p chs] ps IH]; intros v b t s H Ht Hs; cbn [best] in H.
  - destruct Ht as [<-|[]]. cbn [fst meaningful expected whole_of fold_right]. split; [exact I|].
    rewrite (value_constant K T [1%Z]) by reflexivity. cbn [hd]. symmetry. apply inj_one.
  - destruct (steady p chs v) eqn:S; [|discriminate]. apply folded in H as [a [A1 _]].
    cbn [tossed] in Ht. apply in_flat_map in Ht as [ch [Hc Ht]]. apply in_map_iff in Ht as [t' [<- Ht]]. cbn [fst].
    apply in_map_iff in Hs as [e [<- He]]. unfold steady in S. rewrite forallb_forall in S. specialize (S e He).
    rewrite forallb_forall in S. specialize (S ch Hc). destruct (run p (snd ch) (fst e)) as [l|] eqn:R; [|discriminate].
    assert (E : results p (snd ch) (fst e) = l) by (unfold results; rewrite R; reflexivity).
    assert (J : forall x, In x l -> meaningful (fst t') (after x) /\ expected K T (fst t') (after x) (fun _ => 1) = val (whole_of ps)).
    { intros x Hx. rewrite <- E in Hx. destruct (heard_stands p chs v e ch x He Hc Hx) as [j [J1 J2]]. apply (IH (snd j) (a j)); auto. }
    split.
    + cbn [meaningful]. split; [rewrite R; discriminate|]. rewrite E. apply Forall_forall. intros x Hx. apply J. exact Hx.
    + cbn [expected whole_of fold_right fst]. fold (whole_of ps). rewrite E, value_mul, <- (equal_poly_sound K T _ _ S), weights_sum.
      rewrite (sum_ext K l _ (fun x => val (whole_of ps) * val (weight x))).
      * rewrite <- sum_scale. ring.
      * intros x Hx. rewrite (proj2 (J x Hx)). ring.
Qed.
(** The law of a program, output by output. *)
Lemma law_from_sum : forall ps v h,
  sum v (fun e => val (snd e) * expected K T ps (fst e) h) = sum (law_from ps v) (fun e => val (snd e) * h (fst e)).
Proof.
  induction ps as [|[p record] ps IH]; intros v h; cbn [law_from expected].
  - cbn [Program.sum fst snd]. induction v as [|e v IHv]; [cbn; ring|]. cbn [Program.sum Datasets.size_of fold_right].
    rewrite IHv, value_add. fold (Datasets.size_of v). ring.
  - rewrite sum_flat_map. rewrite (sum_ext K (Datasets.told_by p record v) _
      (fun j => sum (snd j) (fun e => val (snd e) * expected K T ps (fst e) (fun y => h (fst j :: y))))).
    + symmetry. apply (Datasets.told_by_sum K T p record v (fun y s => expected K T ps s (fun z => h (y :: z)))).
    + intros j _. rewrite sum_map, IH. reflexivity.
Qed.

Lemma law_of_all_sum : forall ps h, expected K T ps [] h = sum (law_of_all ps) (fun e => val (snd e) * h (fst e)).
Proof.
  intros ps h. unfold law_of_all. rewrite <- law_from_sum. cbn [Program.sum fst snd]. rewrite (value_constant K T [1%Z]) by reflexivity.
  cbn [hd]. rewrite inj_one. ring.
Qed.

Lemma total_of_sound : forall ps, val (total_of (law_of_all ps)) = mass_of_all K T ps.
Proof.
  intro ps. unfold mass_of_all. rewrite law_of_all_sum. induction (law_of_all ps) as [|e l IH]; [reflexivity|].
  cbn [total_of fold_right Program.sum]. fold (total_of l). rewrite value_add, IH. ring.
Qed.

Lemma entry_narrow_all : forall coins r g, of_row (narrow_all coins r) g = if right coins g then of_row r g else 0.
Proof.
  induction coins as [|c coins IH]; intros r g; [reflexivity|]. cbn [narrow_all fold_right]. fold (narrow_all coins r).
  rewrite entry_narrow. unfold narrowed. cbn [right forallb]. fold (right coins g). rewrite IH.
  destruct (negb (Nat.eqb (fst g) (fst c)) || Bool.eqb (snd c) (snd g)); reflexivity.
Qed.

Lemma entry_ones : forall g, (fst g < n)%nat -> of_row (repeat ([1%Z], [1%Z]) n) g = 1.
Proof.
  intros g H. unfold of_row, entry. rewrite (nth_indep _ ([], []) ([1%Z], [1%Z])) by (rewrite repeat_length; exact H). rewrite nth_repeat.
  transitivity (inj 1 : K); [|apply inj_one]. destruct (snd g); apply (value_constant K T [1%Z]); reflexivity.
Qed.

(** Sums over what is gathered are sums over all ways and outputs, which are kept as one value each. *)
Definition untold (t : told) : output := map (fun v => match v with Tuple l => l | _ => [] end) t.
Lemma untold_tuples : forall y, untold (map Tuple y) = y.
Proof. intro y. unfold untold. rewrite map_map. apply map_id. Qed.

Lemma gathered_keys : forall weights laws,
  NoDup (keys (gathered n weights laws)) /\ Forall (fun t => map Tuple (untold t) = t) (keys (gathered n weights laws)).
Proof.
  intros weights laws. unfold gathered.
  apply (fold_keeps (fun l => NoDup (keys l) /\ Forall (fun t => map Tuple (untold t) = t) (keys l))); [|split; constructor].
  intros q l H. apply fold_keeps; [|exact H]. clear. intros e l [N F].
  match goal with |- context [put_heard ?t ?s ?r l] => destruct (put_heard_keys t s r l N) as [N' I] end.
  split; [exact N'|]. apply Forall_forall. intros t Ht. apply I in Ht. rewrite Forall_forall in F. destruct Ht as [<-|Ht]; [|apply F; exact Ht].
  rewrite untold_tuples. reflexivity.
Qed.

Lemma gathered_sum : forall weights ps f, (forall y, guesses k n (f y)) ->
  score K T ps (fun t => val (factor_of weights (law_of_all (fst t)))) f
  = sum (gathered n weights (map with_law (tossed ps))) (fun j => from (snd j) [] (fun _ => f (untold (fst j)))).
Proof.
  intros weights ps f G. pose (F := fun (t : told) (_ : state) r => sum (f (untold t)) (of_row r)).
  transitivity (over_heard F (gathered n weights (map with_law (tossed ps)))); [|reflexivity].
  assert (P : forall t s r q, F t s (plus_row r q) = F t s r + F t s q).
  { intros t s r q. unfold F. rewrite <- sum_plus. apply sum_ext. intros g _. apply entry_plus. }
  unfold gathered. rewrite (fold_sum _ (over_heard F) (fun q => sum (snd q) (fun e => F (map Tuple (fst e)) []
    (times_row (pmul (factor_of weights (snd q)) (snd e)) (narrow_all (snd (fst q)) (repeat ([1%Z], [1%Z]) n)))))).
  - unfold over_heard at 1. cbn [Program.sum]. rewrite sum_map. unfold score.
    match goal with |- ?a = ?b + ?c => replace (b + c) with b by ring end.
    apply sum_ext. intros t _. cbn [with_law fst snd]. rewrite law_of_all_sum, sum_scale. apply sum_ext. intros e _. unfold F.
    rewrite untold_tuples, !sum_scale. apply sum_ext. intros g Hg. rewrite entry_times, entry_narrow_all, value_mul.
    destruct (G (fst e)) as [_ [_ L]]. rewrite Forall_forall in L. specialize (L g Hg).
    rewrite (Rmul_assoc (is_ring K)). f_equal. destruct (right (snd t) g); [symmetry; apply (entry_ones g L) | reflexivity].
  - intros q l. apply fold_sum. intros e m. apply put_heard_sum. exact P.
Qed.

Definition efficacy_of (ps : experiment) (whole most : K) : Prop :=
  exists factor : program * list coin -> K,
  (forall t, In t (tossed ps) -> meaningful (fst t) [] /\ 0 < mass_of_all K T (fst t) /\ factor t * mass_of_all K T (fst t) = whole)
  /\ (forall f, (forall y, guesses k n (f y)) -> score K T ps factor f <= most)
  /\ exists f, (forall y, guesses k n (f y)) /\ score K T ps factor f = most.

Lemma observed_sound : forall ps whole most, best_of_observed root' k n ps = Some (whole, most) -> efficacy_of ps (val whole) (val most).
Proof.
  intros ps whole most H. unfold best_of_observed in H. cbv zeta in H.
  set (weights := fold_right _ [] _) in H. set (laws := map with_law (tossed ps)) in H.
  destruct (forallb _ laws) eqn:W; [|discriminate].
  destruct (over_told _ _) as [b|] eqn:B; [|discriminate]. injection H as <- <-. apply folded in B as [a [A1 A2]].
  destruct (gathered_keys weights laws) as [N U]. rewrite Forall_forall in U.
  exists (fun t => val (factor_of weights (law_of_all (fst t)))). split; [|split].
  - intros t Ht. rewrite forallb_forall in W. specialize (W (with_law t) (in_map with_law _ _ Ht)). cbn [with_law fst snd] in W.
    apply andb_true_iff in W as [W E]. apply andb_true_iff in W as [M P].
    split; [eapply explored_sound; [exact M | left; reflexivity]|]. rewrite <- total_of_sound.
    split; [apply (positive_sound K T root' is_root); exact P|]. rewrite <- value_mul. apply (equal_poly_sound K T _ _ E).
  - intros f G. rewrite (gathered_sum weights ps f G), A2. apply sum_le. intros j Hj. apply (best_sound [] _ _ (A1 j Hj)). intro y. apply G.
  - exists (fun y => guess_of [] (Datasets.find_told (map Tuple y) (gathered n weights laws)) []). split; [intro y; apply guess_of_good|].
    rewrite gathered_sum by (intro y; apply guess_of_good). rewrite A2. apply sum_ext. intros j Hj.
    rewrite <- (proj2 (best_sound [] _ _ (A1 j Hj))). apply sum_ext. intros e _. cbn [gain].
    rewrite (U (fst j)) by (apply in_map; exact Hj). fold laws. exact (f_equal (fun w => sum (guess_of [] w []) (of_row (snd e))) (Datasets.find_in _ j N Hj)).
Qed.

Lemma unobserved_sound : forall ps most, best root' k n ps [([], repeat ([1%Z], [1%Z]) n)] = Some most -> 0 < val (whole_of ps) ->
  efficacy_of ps (val (whole_of ps)) (val most).
Proof.
  intros ps most E P. destruct (best_sound ps _ most E) as [M A]. exists (fun _ => 1).
  assert (S : forall f, (forall y, guesses k n (f y)) ->
    score K T ps (fun _ => 1) f = from [([], repeat ([1%Z], [1%Z]) n)] ps f).
  { intros f G. cbn [Program.sum fst snd]. transitivity (gain ps [] (fun _ => 1) f).
    - rewrite gain_tossed. apply sum_ext. intros t _. ring.
    - transitivity (gain ps [] (of_row (repeat ([1%Z], [1%Z]) n)) f); [|ring]. apply gain_ext; [|reflexivity].
      intros y g Hg. destruct (G y) as [_ [_ F]]. rewrite Forall_forall in F. symmetry. apply entry_ones. apply (F g Hg). }
  split; [|split].
  - intros t Ht. destruct (best_steady ps _ most t [] E Ht (or_introl eq_refl)) as [Q1 Q2]. unfold mass_of_all. rewrite Q2.
    split; [exact Q1 | split; [exact P | ring]].
  - intros f G. rewrite (S f G). apply M. exact G.
  - exists (guess_of ps [([], repeat ([1%Z], [1%Z]) n)]). split; [intro y; apply guess_of_good|].
    rewrite S by (intro y; apply guess_of_good). exact A.
Qed.
End Proofs.

Theorem efficacy_sound : forall K T c pairs k, is_root_of_e K (root c) T -> check_efficacy c pairs k = true -> has_efficacy K T c pairs k.
Proof.
  intros K T c pairs k R H. unfold check_efficacy in H. unfold has_efficacy. destruct (law_of c) as [n places|]; [|discriminate]. cbv zeta.
  set (ps := experiment_of pairs (map (fun p => (part_at c (fst p), snd p)) places)) in *.
  apply andb_true_iff in H as [H B]. apply andb_true_iff in H as [H U]. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H L].
  apply (positive_sound K T _ R) in U. apply Nat.leb_le in L. clear H.
  destruct (if observing ps then _ else _) as [[whole most]|] eqn:E; [|discriminate]. apply andb_true_iff in B as [P B].
  apply (positive_sound K T _ R) in P. apply (equal_poly_sound K T) in B. rewrite !value_mul, value_scale in B.
  assert (S : efficacy_of K T k n ps (value_of K T whole) (value_of K T most)).
  { destruct (observing ps); [apply (observed_sound K T (root c) R k n L ps _ _ E)|].
    destruct (best (root c) k n ps _) as [b|] eqn:Q; [|discriminate]. injection E as <- <-. apply (unobserved_sound K T (root c) R k n L ps b Q P). }
  destruct S as [factor [S1 [S2 [f [G S3]]]]].
  exists (value_of K T whole), factor. split; [exact P|]. split; [exact S1|]. rewrite <- B. split.
  - intros g Hg. apply mul_le; [exact (proj1 U) | apply S2; exact Hg].
  - exists f. split; [exact G|]. rewrite S3. reflexivity.
Qed.

Print Assumptions efficacy_sound.
