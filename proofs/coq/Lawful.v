(** Weights of events are not negative where odds are not: so weights over that of all runs are probabilities. *)

From Coq Require Import ZArith List Bool Lia Ring.
From Tightdp Require Import Numbers Program Sums Forms Lists Soundness Certificate.
Import ListNotations.
Open Scope Z_scope.

Definition odds_good (root : Z) (law : list (value * poly)) : bool := forallb (fun e => nonpos root (popp (snd e))) law.
Definition lawful_line (root : Z) (l : line) : bool :=
  match l with
  | Draw _ law => odds_good root law
  | DrawBy _ _ laws => forallb (fun q => odds_good root (snd q)) laws
  | _ => true
  end.
Definition lawful (c : claim) : bool := forallb (fun p => forallb (lawful_line (root c)) (lines p)) (parts c).

Section Proofs.
Variable K : domain.
Variable T : K.
Variable root' : Z.
Hypothesis is_root : is_root_of_e K root' T.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation val := (value_of K T).

Lemma val_one : val [1%Z] = 1.
Proof. rewrite (value_constant K T [1%Z]) by reflexivity. cbn [hd]. apply inj_one. Qed.

Lemma odds_good_in : forall law e, odds_good root' law = true -> In e law -> 0 <= val (snd e).
Proof.
  intros law e H He. unfold odds_good in H. rewrite forallb_forall in H. apply (nonneg_sound K T root' is_root). apply H. exact He.
Qed.

Lemma total_good : forall law, odds_good root' law = true -> 0 <= val (total law).
Proof.
  induction law as [|e law IH]; intro H; [apply le_refl|]. cbn [total fold_right]. fold (total law). rewrite value_add.
  replace (0 : K) with (0 + 0 : K) by ring. apply le_add2; [apply (odds_good_in (e :: law)); [exact H | left; reflexivity]|].
  apply IH. unfold odds_good in *. cbn [forallb] in H. apply andb_true_iff in H as [_ H]. exact H.
Qed.

Lemma chosen_in : forall {A} v (table : list (value * A)) a, chosen v table = Some a -> exists key, In (key, a) table.
Proof.
  intros A v table a. induction table as [|[key b] table IH]; intro H; [discriminate|]. cbn [chosen] in H.
  destruct (same v key); [injection H as ->; exists key; left; reflexivity|]. destruct (IH H) as [k Hk]. exists k. right. exact Hk.
Qed.

Definition fine_runs (runs : list (scope * poly)) : Prop := forall r, In r runs -> 0 <= val (snd r).

Lemma single : forall s : scope, fine_runs [(s, [1%Z])].
Proof. intros s r [<-|[]]. cbn [snd]. rewrite val_one. apply zero_le_one. Qed.

Lemma drawn : forall x s law, odds_good root' law = true -> fine_runs (map (fun each : value * poly => ((x, fst each) :: s, snd each)) law).
Proof. intros x s law H r Hr. apply in_map_iff in Hr as [e [<- He]]. cbn [snd]. apply (odds_good_in law); assumption. Qed.

Lemma run_line_fine : forall record s l runs, lawful_line root' l = true -> run_line record s l = Some runs -> fine_runs runs.
Proof.
  intros record s l runs L H. destruct l as [x i|x law|x on laws|x on table|x o args|c|c]; cbn [run_line lawful_line] in *.
  - destruct record as [[| | |ps|]|]; try discriminate. destruct (nth_error ps i); [|discriminate]. injection H as <-. apply single.
  - injection H as <-. apply drawn. exact L.
  - destruct (read s on) as [v|]; [|discriminate]. destruct (chosen v laws) as [law|] eqn:E; injection H as <-.
    + apply drawn. destruct (chosen_in _ _ _ E) as [key Hk]. rewrite forallb_forall in L. apply (L _ Hk).
    + intros r [<-|[]]. cbn [snd]. destruct laws as [|[key law] laws]; [rewrite val_one; apply zero_le_one|].
      apply total_good. rewrite forallb_forall in L. apply (L (key, law)). left. reflexivity.
  - destruct (read s on) as [v|]; [|discriminate]. destruct (chosen v table) as [b|]; [destruct (read s b); [|discriminate]|]; injection H as <-; apply single.
  - destruct (all_of (read s) args); [|discriminate]. injection H as <-. apply single.
  - destruct (read s c) as [[[| |] [| |]| | | |]|]; try discriminate. injection H as <-. apply single.
  - destruct (read s c) as [[[|[| |]|] [| |]| | | |]|]; try discriminate; injection H as <-; [intros r [] | apply single].
Qed.

Lemma run_lines_fine : forall record ls s runs, forallb (lawful_line root') ls = true -> run_lines record ls s = Some runs -> fine_runs runs.
Proof.
  intros record ls. induction ls as [|l ls IH]; intros s runs L H; cbn [run_lines] in H; [injection H as <-; apply single|].
  cbn [forallb] in L. apply andb_true_iff in L as [L1 L2]. destruct (run_line record s l) as [first|] eqn:E; [|discriminate].
  pose proof (run_line_fine _ _ _ _ L1 E) as F.
  destruct (all_of _ first) as [later|] eqn:A; [|discriminate]. injection H as <-. apply all_of_spec in A.
  intros r Hr. apply in_concat in Hr as [some [Hs Hr]].
  assert (G : exists a, In a first /\ option_map (map (fun b => (fst b, pmul (snd a) (snd b)))) (run_lines record ls (fst a)) = Some some).
  { clear - A Hs. induction A as [|a b first later E _ IHA]; [contradiction|]. destruct Hs as [->|Hs]; [exists a; split; [left; reflexivity | exact E]|].
    destruct (IHA Hs) as [a' [H1 H2]]. exists a'. split; [right; exact H1 | exact H2]. }
  destruct G as [a [Ha G]]. destruct (run_lines record ls (fst a)) as [rest|] eqn:R; [|discriminate]. injection G as <-.
  apply in_map_iff in Hr as [b [<- Hb]]. cbn [snd]. rewrite value_mul. apply le_mul; [apply F; exact Ha | apply (IH _ _ L2 R b Hb)].
Qed.

Lemma results_fine : forall p record s r, forallb (lawful_line root') (lines p) = true -> In r (results p record s) -> 0 <= val (weight r).
Proof.
  intros p record s r L H. unfold results in H. destruct (run p record s) as [l|] eqn:R; [|contradiction]. change (run p record s) with (run_once p record s) in R. unfold run_once in R.
  destruct (bind (takes p) s) as [start|]; [|discriminate]. destruct (run_lines _ (lines p) start) as [runs|] eqn:E; [|discriminate].
  pose proof (run_lines_fine _ _ _ _ L E) as F. clear E. apply all_of_spec in R. induction R as [|a b runs l X _ IH]; [contradiction|].
  destruct H as [->|H]; [|apply IH; [exact H | intros q Hq; apply F; right; exact Hq]].
  destruct (all_of _ (publishes p)) as [y|]; [|discriminate]. destruct (all_of _ (leaves p)) as [s'|]; [|discriminate].
  destruct (forallb defined y); [|discriminate]. injection X as <-. cbn [weight]. apply F. left. reflexivity.
Qed.

Lemma expected_nonneg : forall ps s h, (forall p r, In (p, r) ps -> forallb (lawful_line root') (lines p) = true) -> (forall y, 0 <= h y) ->
  0 <= expected K T ps s h.
Proof.
  induction ps as [|[p record] ps IH]; intros s h L H; cbn [expected]; [apply H|]. apply sum_nonneg. intros r Hr.
  apply le_mul; [apply (results_fine p record s); [apply (L p record); left; reflexivity | exact Hr]|].
  apply IH; [intros q r' Hq; apply (L q r'); right; exact Hq | intro y; apply H].
Qed.
End Proofs.

Lemma means_nonneg : forall K T c x h, is_root_of_e K (root c) T -> lawful c = true -> (forall y, le zero (h y)) ->
  le zero (expected K T (program_on c x) [] h).
Proof.
  intros K T c x h R L H0. apply expected_nonneg with (root c).
  - exact R.
  - intros p r H. unfold lawful in L. rewrite forallb_forall in L.
    assert (P : forall i, forallb (lawful_line (root c)) (lines (part_at c i)) = true).
    { intro i. unfold part_at. destruct (Nat.lt_ge_cases i (length (parts c))) as [B|B]; [apply L, nth_In; exact B|]. rewrite nth_overflow by exact B. reflexivity. }
    unfold program_on in H. destruct (law_of c) as [n places|a b d].
    + unfold on in H. rewrite map_map in H. apply in_map_iff in H as [q [Eq _]]. injection Eq as <- _. apply P.
    + unfold every in H. destruct H as [H|H]; [injection H as <- _; apply P|]. apply in_app_or in H as [H|[H|[]]].
      * apply in_map_iff in H as [q [Eq _]]. injection Eq as <- _. apply P.
      * injection H as <- _. apply P.
  - exact H0.
Qed.

Theorem weights_nonneg : forall K T c x E, is_root_of_e K (root c) T -> lawful c = true -> le zero (mass K T (program_on c x) E).
Proof.
  intros K T c x E R L. apply means_nonneg; [exact R | exact L|]. intro y. destruct (E y); [apply zero_le_one | apply le_refl].
Qed.

Print Assumptions weights_nonneg.
