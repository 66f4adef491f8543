(** Finite sums in an ordered domain. *)

From Coq Require Import ZArith List Bool Ring.
From Tightdp Require Import Numbers Program.
Import ListNotations.

Section Sums.
Variable K : domain.
Local Open Scope K_scope.
Add Ring K_ring : (is_ring K).
Notation sum := (sum K).

Definition when (b : bool) (x : K) : K := if b then x else 0.

Lemma sum_app : forall {A} (l m : list A) f, sum (l ++ m) f = sum l f + sum m f.
Proof. intros A l m f. induction l as [|a l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_map : forall {A B} (g : A -> B) l f, sum (map g l) f = sum l (fun a => f (g a)).
Proof. intros A B g l f. induction l as [|a l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_flat_map : forall {A B} (g : A -> list B) l f, sum (flat_map g l) f = sum l (fun a => sum (g a) f).
Proof. intros A B g l f. induction l as [|a l IH]; simpl; [ring|]. rewrite sum_app, IH. ring. Qed.

Lemma sum_ext : forall {A} (l : list A) f g, (forall a, In a l -> f a = g a) -> sum l f = sum l g.
Proof.
  intros A l f g H. induction l as [|a l IH]; simpl; [ring|].
  rewrite (H a) by (left; reflexivity). rewrite IH; [ring|]. intros b Hb. apply H. right; exact Hb.
Qed.

Lemma sum_scale : forall {A} c (l : list A) f, c * sum l f = sum l (fun a => c * f a).
Proof. intros A c l f. induction l as [|a l IH]; simpl; [ring|]. rewrite <- IH. ring. Qed.

Lemma sum_plus : forall {A} (l : list A) f g, sum l (fun a => f a + g a) = sum l f + sum l g.
Proof. intros A l f g. induction l as [|a l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_zero : forall {A} (l : list A) f, (forall a, In a l -> f a = 0) -> sum l f = 0.
Proof.
  intros A l f H. induction l as [|a l IH]; simpl; [ring|].
  rewrite (H a) by (left; reflexivity). rewrite IH; [ring|]. intros b Hb. apply H. right; exact Hb.
Qed.

Lemma sum_swap : forall {A B} (l : list A) (m : list B) f,
  sum l (fun a => sum m (fun b => f a b)) = sum m (fun b => sum l (fun a => f a b)).
Proof.
  intros A B l m f. induction l as [|a l IH]; simpl.
  - symmetry. apply sum_zero. reflexivity.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_le : forall {A} (l : list A) f g, (forall a, In a l -> f a <= g a) -> sum l f <= sum l g.
Proof.
  intros A l f g H. induction l as [|a l IH]; simpl; [apply le_refl|].
  apply le_add2; [apply H; left; reflexivity | apply IH; intros b Hb; apply H; right; exact Hb].
Qed.

Lemma sum_nonneg : forall {A} (l : list A) f, (forall a, In a l -> 0 <= f a) -> 0 <= sum l f.
Proof.
  intros A l f H. apply le_trans with (sum l (fun _ => 0)); [|apply sum_le; exact H].
  rewrite (sum_zero l (fun _ => 0)) by reflexivity. apply le_refl.
Qed.

Lemma sum_nonpos : forall {A} (l : list A) f, (forall a, In a l -> f a <= 0) -> sum l f <= 0.
Proof.
  intros A l f H. apply le_trans with (sum l (fun _ => 0)); [apply sum_le; exact H|].
  rewrite (sum_zero l (fun _ => 0)) by reflexivity. apply le_refl.
Qed.

Lemma sum_when : forall {A} (l : list A) b f, sum l (fun a => when b (f a)) = when b (sum l f).
Proof. intros A l [] f; simpl; [reflexivity|]. apply sum_zero. reflexivity. Qed.

Lemma when_scale : forall c b (x : K), c * when b x = when b (c * x).
Proof. intros c [] x; simpl; ring. Qed.

Lemma when_and : forall a b (x : K), when (a && b) x = when a (when b x).
Proof. intros [] [] x; reflexivity. Qed.
End Sums.
