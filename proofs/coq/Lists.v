(** What listed values, their numbers, and moves by number have to do with the runs of a part. *)

From Coq Require Import ZArith List Bool Lia Ring FMapPositive.
From Tightdp Require Import Numbers Program Sums Forms.
Import ListNotations.
Open Scope Z_scope.

Section ValueInduction.
Variable P : value -> Prop.
Hypothesis number : forall n d, P (Number n d).
Hypothesis nothing : P Nothing.
Hypothesis text : forall s, P (Text s).
Hypothesis tuple : forall l, Forall P l -> P (Tuple l).
Hypothesis undefined : P Undefined.
Fixpoint value_induction (v : value) : P v :=
  match v with
  | Number n d => number n d
  | Nothing => nothing
  | Text s => text s
  | Tuple l => tuple l ((fix go l := match l return Forall P l with
                                     | [] => Forall_nil P
                                     | u :: l' => Forall_cons u (value_induction u) (go l')
                                     end) l)
  | Undefined => undefined
  end.
End ValueInduction.

(** [same] is equality. *)
Lemma same_spec : forall a b, same a b = true <-> a = b.
Proof.
  induction a as [n d| |s|l IH|] using value_induction; intros [m e| |t|k|]; simpl; try (split; [discriminate|congruence]); try tauto.
  - rewrite andb_true_iff, Z.eqb_eq, Pos.eqb_eq. split; [intros [-> ->]; reflexivity | intro E; inversion E; auto].
  - revert t. induction s as [|c s IHs]; intros [|e t]; try (split; [discriminate|congruence]); try tauto.
    rewrite andb_true_iff, Z.eqb_eq, IHs. split; [intros [-> E]; congruence | intro E; inversion E; auto].
  - revert k. induction IH as [|u l Hu _ IHl]; intros [|v k]; try (split; [discriminate|congruence]); try tauto.
    rewrite andb_true_iff, Hu, IHl. split; [intros [-> E]; congruence | intro E; inversion E; auto].
Qed.

Lemma all_of_spec : forall {A B} (f : A -> option B) l m, all_of f l = Some m -> Forall2 (fun a b => f a = Some b) l m.
Proof.
  intros A B f l. induction l as [|a l IH]; intros m H; simpl in H.
  - injection H as <-. constructor.
  - destruct (f a) eqn:E; [|discriminate]. destruct (all_of f l) eqn:F; [|discriminate].
    injection H as <-. constructor; [exact E | apply IH; reflexivity].
Qed.

Lemma numbered_from : forall {A} (l : list A) i k a, In (k, a) (numbered i l) -> (i <= k)%positive.
Proof.
  intros A l. induction l as [|b l IH]; intros i k a H; simpl in H; [contradiction|].
  destruct H as [E|H]; [injection E as -> _; lia | apply IH in H; lia].
Qed.

Lemma numbered_unique : forall {A} (l : list A) i k a b,
  In (k, a) (numbered i l) -> In (k, b) (numbered i l) -> a = b.
Proof.
  intros A l. induction l as [|c l IH]; intros i k a b Ha Hb; simpl in Ha, Hb; [contradiction|].
  destruct Ha as [Ea|Ha], Hb as [Eb|Hb].
  - congruence.
  - injection Ea as -> _. apply numbered_from in Hb. lia.
  - injection Eb as -> _. apply numbered_from in Ha. lia.
  - exact (IH _ _ _ _ Ha Hb).
Qed.

Lemma in_numbered : forall {A} (l : list A) i a, In a l -> exists k, In (k, a) (numbered i l).
Proof.
  intros A l. induction l as [|b l IH]; intros i a H; [contradiction|]. destruct H as [->|H].
  - exists i. left. reflexivity.
  - destruct (IH (Pos.succ i) a H) as [k Hk]. exists k. right. exact Hk.
Qed.

Lemma find_add : forall {A} (k j : positive) (a : A) t,
  PositiveMap.find k (PositiveMap.add j a t) = if Pos.eq_dec k j then Some a else PositiveMap.find k t.
Proof.
  intros A k j a t. destruct (Pos.eq_dec k j) as [->|N]; [apply PositiveMap.gss | apply PositiveMap.gso; exact N].
Qed.

Lemma search_in : forall s b k, search s b = Some k -> In (k, s) b.
Proof.
  intros s b. induction b as [|[j u] b IH]; intros k H; [discriminate|]. cbn [search] in H.
  destruct (same (Tuple s) (Tuple u)) eqn:E.
  - injection H as ->. apply same_spec in E. injection E as ->. left. reflexivity.
  - right. apply IH. exact H.
Qed.

Lemma bucket_in : forall l p each, In each (bucket (plant l) p) -> In each (numbered 1 l).
Proof.
  intro l. unfold plant. generalize (numbered 1 l) as n. induction n as [|e n IH]; intros p each H.
  - unfold bucket in H. cbn [fold_right] in H. rewrite PositiveMap.gempty in H. contradiction.
  - cbn [fold_right] in H. cbv zeta in H. unfold bucket at 1 in H.
    rewrite find_add in H. destruct (Pos.eq_dec p (place (snd e))) as [->|N].
    + destruct H as [->|H]; [left; reflexivity | right; apply IH in H; exact H].
    + right. apply (IH p). exact H.
Qed.

Lemma number_of_in : forall l s k, number_of (plant l) s = Some k -> In (k, s) (numbered 1 l).
Proof. intros l s k H. apply bucket_in with (place s). apply search_in. exact H. Qed.

Definition is (o : option positive) (k : positive) : bool := match o with Some j => (j =? k)%positive | None => false end.

Section Moves.
Variable K : domain.
Variable T : K.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).
Notation when := (when K).
Notation val := (value_of K T).

Lemma sum_numbered : forall {A} (l : list A) i k a (f : positive * A -> K),
  In (k, a) (numbered i l) -> sum (numbered i l) (fun e => when (fst e =? k)%positive (f e)) = f (k, a).
Proof.
  intros A l. induction l as [|b l IH]; intros i k a f H; [contradiction|]. cbn [numbered Program.sum fst]. cbn [numbered] in H.
  destruct H as [E|H].
  - injection E as -> ->. rewrite Pos.eqb_refl. simpl. rewrite sum_zero; [ring|].
    intros [j c] Hj. apply numbered_from in Hj. simpl. replace (j =? k)%positive with false; [reflexivity|].
    symmetry. apply Pos.eqb_neq. lia.
  - pose proof (numbered_from _ _ _ _ H) as L. replace (i =? k)%positive with false.
    + simpl. rewrite (IH _ _ _ f H). ring.
    + symmetry. apply Pos.eqb_neq. lia.
Qed.

Lemma sum_entries : forall moves o k (g : positive * poly -> K),
  sum (entries (backwards moves) o k) g
  = sum moves (fun t => when ((told_as t =? o) && (to t =? k))%positive (g (from t, odds t))).
Proof.
  intros moves o k g. induction moves as [|t moves IH].
  - unfold entries, row, backwards. cbn [fold_right]. rewrite PositiveMap.gempty, PositiveMap.gempty. reflexivity.
  - cbn [backwards fold_right Program.sum]. rewrite <- IH. fold (backwards moves). unfold entries at 1, row at 1.
    rewrite find_add. destruct (Pos.eq_dec o (told_as t)) as [->|N].
    + rewrite Pos.eqb_refl. cbn [andb]. rewrite find_add.
      destruct (Pos.eq_dec k (to t)) as [->|M].
      * rewrite Pos.eqb_refl. cbn [Program.sum Sums.when]. reflexivity.
      * replace (to t =? k)%positive with false by (symmetry; apply Pos.eqb_neq; congruence). cbn [Sums.when].
        unfold entries. ring.
    + replace (told_as t =? o)%positive with false by (symmetry; apply Pos.eqb_neq; congruence).
      cbn [andb Sums.when]. unfold entries, row. ring.
Qed.

Section Part.
Variable p : part.
Variable record : option value.
Variables told_list states_before states_after : list (list value).
Variable moves : list (list move).
Hypothesis moved :
  all_of (moves_of (plant told_list) (plant states_after) p record) (numbered 1 states_before) = Some moves.

Notation at_told := (number_of (plant told_list)).
Notation at_before := (number_of (plant states_before)).
Notation at_after := (number_of (plant states_after)).

(** The moves of one state are the runs from it. *)
Lemma moves_of_sum : forall k s m (f : move -> K),
  moves_of (plant told_list) (plant states_after) p record (k, s) = Some m ->
  run p record s <> None
  /\ Forall (fun r => at_told (published r) <> None /\ at_after (after r) <> None) (results p record s)
  /\ Forall (fun t => from t = k) m
  /\ (forall f : positive -> positive -> positive -> poly -> K,
        sum m (fun t => f (told_as t) (from t) (to t) (odds t))
        = sum (results p record s) (fun r => match at_told (published r), at_after (after r) with
                                             | Some o, Some j => f o k j (weight r) | _, _ => 0 end)).
Proof.
  intros k s m _ H. unfold moves_of in H. cbn [fst snd] in H. unfold results.
  destruct (run p record s) as [l|] eqn:R; [|discriminate]. apply all_of_spec in H.
  split; [congruence|]. clear R.
  induction H as [|r t l m E _ IH]; [repeat split; try constructor|].
  destruct IH as [I1 [I2 I3]].
  destruct (at_told (published r)) as [o|] eqn:Eo; [|discriminate].
  destruct (at_after (after r)) as [j|] eqn:Ej; [|discriminate]. injection E as <-.
  repeat split.
  - constructor; [rewrite Eo, Ej; split; congruence | assumption].
  - constructor; [reflexivity | assumption].
  - intro f. cbn [Program.sum]. rewrite Eo, Ej, I3. reflexivity.
Qed.

Lemma moves_of_some : forall k s, In (k, s) (numbered 1 states_before) ->
  exists m, In m moves /\ moves_of (plant told_list) (plant states_after) p record (k, s) = Some m
            /\ (forall f : move -> K, sum (List.concat moves) (fun t => when (from t =? k)%positive (f t)) = sum m f).
Proof.
  pose proof (all_of_spec _ _ _ moved) as H. clear moved. revert H. generalize 1%positive as i.
  revert moves. induction states_before as [|u l IH]; intros ms i H k s Hk; [contradiction|].
  cbn [numbered] in H, Hk. inversion H as [|? m ? ms' E F]; subst.
  assert (Fm : forall j v n, moves_of (plant told_list) (plant states_after) p record (j, v) = Some n
                             -> Forall (fun t => from t = j) n).
  { intros j v n Hn. apply (moves_of_sum j v n (fun _ => 0) Hn). }
  destruct Hk as [Ek|Hk].
  - injection Ek as -> ->. exists m. split; [left; reflexivity|]. split; [exact E|].
    intro f. cbn [List.concat]. rewrite sum_app.
    rewrite (sum_ext K m _ f).
    + rewrite (sum_zero K (List.concat ms')); [ring|].
      intros t Ht. apply in_concat in Ht as [n [Hn Ht]].
      assert (G : exists j v, (Pos.succ k <= j)%positive /\ moves_of (plant told_list) (plant states_after) p record (j, v) = Some n).
      { clear - F Hn. revert Hn. generalize dependent (Pos.succ k). revert ms'. induction l as [|v l IHl]; intros ms' i F Hn; cbn [numbered] in F; inversion F as [|? n' ? ms'' E' F']; subst; [contradiction|].
        destruct Hn as [->|Hn]; [exists i, v; split; [lia|exact E']|].
        destruct (IHl _ _ F' Hn) as [j [w [Hj Hw]]]. exists j, w. split; [lia|exact Hw]. }
      destruct G as [j [v [Hj Hn']]]. apply Fm in Hn'. rewrite Forall_forall in Hn'. rewrite (Hn' t Ht).
      replace (j =? k)%positive with false by (symmetry; apply Pos.eqb_neq; lia). reflexivity.
    + intros t Ht. apply Fm in E. rewrite Forall_forall in E. rewrite (E t Ht), Pos.eqb_refl. reflexivity.
  - destruct (IH ms' (Pos.succ i) F k s Hk) as [n [Hn [En Sn]]]. exists n. split; [right; exact Hn|]. split; [exact En|].
    intro f. cbn [List.concat]. rewrite sum_app, Sn.
    rewrite (sum_zero K m); [ring|]. intros t Ht. apply Fm in E. rewrite Forall_forall in E. rewrite (E t Ht).
    apply numbered_from in Hk. replace (i =? k)%positive with false by (symmetry; apply Pos.eqb_neq; lia). reflexivity.
Qed.

(** Weights of states, as a list: a state with its weight. *)
Definition weights := list (state * K).
Definition held (l : list (list value)) (v : weights) (k : positive) : K :=
  sum v (fun e => when (is (number_of (plant l) (fst e)) k) (snd e)).
Definition good (l : list (list value)) (v : weights) : Prop :=
  Forall (fun e => number_of (plant l) (fst e) <> None /\ 0 <= snd e) v.

(** The weights after a part, for what is published as o. *)
Definition moved_on (v : weights) (o : positive) : weights :=
  flat_map (fun e => flat_map (fun r => if is (at_told (published r)) o
                                        then [(after r, snd e * val (weight r))] else [])
                              (results p record (fst e))) v.

Hypothesis odds_good : forall m t, In m moves -> In t m -> 0 <= val (odds t).

Lemma weights_nonneg : forall k s, In (k, s) (numbered 1 states_before) ->
  run p record s <> None
  /\ Forall (fun r => at_told (published r) <> None /\ at_after (after r) <> None /\ 0 <= val (weight r)) (results p record s).
Proof.
  intros k s Hk. destruct (moves_of_some k s Hk) as [m [Hm [Em _]]].
  unfold moves_of in Em. cbn [fst snd] in Em. unfold results. destruct (run p record s) as [l|] eqn:R; [|discriminate].
  split; [congruence|]. apply all_of_spec in Em.
  assert (G : forall t, In t m -> 0 <= val (odds t)) by (intros t; apply odds_good; exact Hm).
  clear Hm R. induction Em as [|r t l m E _ IH]; [constructor|].
  constructor.
  - destruct (at_told (published r)) eqn:Eo; [|discriminate]. destruct (at_after (after r)) eqn:Ej; [|discriminate].
    injection E as <-. split; [congruence|]. split; [congruence|].
    specialize (G _ (or_introl eq_refl)). exact G.
  - apply IH. intros t' Ht'. apply G. right. exact Ht'.
Qed.

Lemma good_before : forall v, good states_before v -> forall e, In e v ->
  exists k, In (k, fst e) (numbered 1 states_before) /\ at_before (fst e) = Some k /\ 0 <= snd e.
Proof.
  intros v H e He. unfold good in H. rewrite Forall_forall in H. destruct (H e He) as [H1 H2].
  destruct (at_before (fst e)) as [k|] eqn:E; [|exfalso; apply H1; exact E]. exists k. split; [apply number_of_in; exact E|]. auto.
Qed.

Lemma good_after : forall v o, good states_before v -> good states_after (moved_on v o).
Proof.
  intros v o H. unfold good. apply Forall_forall. intros e He. unfold moved_on in He.
  apply in_flat_map in He as [b [Hb He]]. apply in_flat_map in He as [r [Hr He]].
  destruct (is (at_told (published r)) o); [|contradiction]. destruct He as [<-|[]]. cbn [fst snd].
  destruct (good_before v H b Hb) as [k [Hk [_ Hc]]]. destruct (weights_nonneg k (fst b) Hk) as [_ W].
  rewrite Forall_forall in W. destruct (W r Hr) as [_ [W2 W3]]. split; [exact W2 | apply le_mul; assumption].
Qed.

Lemma held_nonneg : forall l v k, good l v -> 0 <= held l v k.
Proof.
  intros l v k H. apply sum_nonneg. intros e He. unfold good in H. rewrite Forall_forall in H.
  destruct (H e He) as [_ H2]. destruct (is _ k); simpl; [exact H2 | apply le_refl].
Qed.

Lemma held_after : forall v o j, good states_before v ->
  held states_after (moved_on v o) j
  = sum (List.concat moves) (fun t => when ((told_as t =? o) && (to t =? j))%positive
                                           (val (odds t) * held states_before v (from t))).
Proof.
  intros v o j H. unfold held at 1, moved_on. rewrite sum_flat_map.
  transitivity (sum v (fun e => sum (List.concat moves) (fun t => when ((told_as t =? o) && (to t =? j))%positive
                 (val (odds t) * when (is (at_before (fst e)) (from t)) (snd e))))).
  - apply sum_ext. intros e He. rewrite sum_flat_map.
    destruct (good_before v H e He) as [k [Hk [Ek _]]]. rewrite Ek.
    destruct (moves_of_some k (fst e) Hk) as [m [_ [Em Sm]]].
    rewrite (sum_ext K (List.concat moves) _
      (fun t => when (from t =? k)%positive (when ((told_as t =? o) && (to t =? j))%positive (val (odds t) * snd e)))).
    2: { intros t _. cbn [is]. rewrite (Pos.eqb_sym k (from t)). destruct ((told_as t =? o) && (to t =? j))%positive, (from t =? k)%positive; simpl; ring. }
    rewrite Sm. destruct (moves_of_sum k (fst e) m (fun _ => 0) Em) as [_ [_ [_ S]]].
    rewrite (S (fun o' _ j' w => when ((o' =? o) && (j' =? j))%positive (val w * snd e))).
    destruct (weights_nonneg k (fst e) Hk) as [_ W]. rewrite Forall_forall in W.
    apply sum_ext. intros r Hr. destruct (W r Hr) as [W1 [W2 _]].
    destruct (at_told (published r)) as [o'|]; [|congruence]. cbn [is].
    destruct (at_after (after r)) as [j'|] eqn:Ej; [|congruence].
    destruct (o' =? o)%positive; cbn [Program.sum fst snd andb].
    + rewrite Ej. cbn [is]. destruct (j' =? j)%positive; simpl; ring.
    + reflexivity.
  - rewrite sum_swap. apply sum_ext. intros t _. rewrite sum_when. f_equal. unfold held. rewrite sum_scale. reflexivity.
Qed.

(** A form, of weights by number. *)
Definition dot (f : form) (u : positive -> K) : K := sum f (fun e => val (snd e) * u (fst e)).

Lemma dot_app : forall f g u, dot (f ++ g) u = dot f u + dot g u.
Proof. intros. apply sum_app. Qed.

Lemma dot_key : forall key b o f u, dot (pulled key b o f) u = dot (pulled (fun k => k) b o f) (fun k => u (key k)).
Proof.
  intros key b o f u. unfold dot, pulled. rewrite !sum_flat_map. apply sum_ext. intros e _. rewrite !sum_map. reflexivity.
Qed.

Lemma dot_pulled : forall v o f, good states_before v ->
  dot (pulled (fun k => k) (backwards (List.concat moves)) o f) (held states_before v)
  = dot f (held states_after (moved_on v o)).
Proof.
  intros v o f H. unfold dot, pulled. rewrite sum_flat_map. apply sum_ext. intros e _. rewrite sum_map. cbn [fst snd].
  rewrite (held_after v o (fst e) H), sum_scale. rewrite sum_entries. cbn [fst snd]. apply sum_ext. intros t _.
  rewrite value_mul. destruct ((told_as t =? o) && (to t =? fst e))%positive; simpl; ring.
Qed.

(** What is expected, of weights. *)
Definition law (ps : program) (v : weights) (h : output -> K) : K := sum v (fun e => snd e * expected K T ps (fst e) h).

Lemma law_step : forall ps v h, good states_before v ->
  law ((p, record) :: ps) v h
  = sum (numbered 1 told_list) (fun y => law ps (moved_on v (fst y)) (fun z => h (snd y :: z))).
Proof.
  intros ps v h H. unfold law.
  rewrite (sum_ext K (numbered 1 told_list) _ (fun y => sum v (fun e => sum (results p record (fst e)) (fun r =>
    when (is (at_told (published r)) (fst y))
         (snd e * val (weight r) * expected K T ps (after r) (fun z => h (snd y :: z))))))).
  2: { intros y _. unfold moved_on. rewrite sum_flat_map. apply sum_ext. intros e _. rewrite sum_flat_map.
       apply sum_ext. intros r _. destruct (is _ (fst y)); cbn [Program.sum fst snd]; simpl; ring. }
  rewrite sum_swap. apply sum_ext. intros e He. rewrite sum_swap. cbn [expected]. rewrite sum_scale.
  destruct (good_before v H e He) as [k [Hk _]]. destruct (weights_nonneg k (fst e) Hk) as [_ W].
  rewrite Forall_forall in W. apply sum_ext. intros r Hr. destruct (W r Hr) as [W1 _].
  destruct (at_told (published r)) as [o|] eqn:Eo; [|congruence]. apply number_of_in in Eo.
  rewrite (sum_ext K (numbered 1 told_list) _ (fun y => when (fst y =? o)%positive
    (snd e * val (weight r) * expected K T ps (after r) (fun z => h (snd y :: z))))).
  - rewrite (sum_numbered told_list 1 o (published r)
      (fun y => snd e * val (weight r) * expected K T ps (after r) (fun z => h (snd y :: z))) Eo). cbn [snd].
    assert (R : forall a b c : K, a * (b * c) = a * b * c) by (intros; ring). apply R.
  - intros y _. cbn [is]. rewrite Pos.eqb_sym. reflexivity.
Qed.
End Part.
End Moves.
