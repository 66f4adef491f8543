(** The checker in OCaml. What is believed here besides Coq: that OCaml's integers of zarith are Coq's, also as work.ml
    counts what they take, that what `kept` has kept is what the function was, and that one object is equal to itself. *)

From Coq Require Import ZArith String Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt ExtrOcamlNativeString.
From Tightdp Require Import Numbers Program Forms Certificate Lawful Law Accuracy Datasets Outputs Near Moments Orders Concentration Composed Audit Tables Efficacy.

Extraction Language OCaml.
Extract Inductive positive => "Big_int_Z.big_int" [ "Work.odd" "Work.even" "Big_int_Z.unit_big_int" ] "Work.positive".
Extract Constant Z.of_nat => "Big_int_Z.big_int_of_int".
Extract Constant Z.add => "Work.add".
Extract Constant Z.sub => "Work.sub".
Extract Constant Z.mul => "Work.mul".
Extract Constant Z.opp => "Work.opp".
Extract Constant Z.eqb => "Work.equal".
Extract Constant Z.div => "Work.div".
Extract Constant Z.modulo => "Work.modulo".
Extract Constant Z.gcd => "Work.gcd".
Extract Constant Z.compare => "(fun x y -> let s = Work.compare x y in if s = 0 then Eq else if s < 0 then Lt else Gt)".
Extract Constant Pos.eqb => "Work.equal".
Extract Constant Pos.add => "Work.add".
Extract Constant Pos.mul => "Work.mul".
Extract Constant Pos.compare => "(fun x y -> let s = Work.compare x y in if s = 0 then Eq else if s < 0 then Lt else Gt)".
Extract Constant kept "'a" "'b" "'c" "'d" => "Work.kept".
Extract Constant quick "'a" => "Work.quick".
Extract Inlined Constant String.eqb => "Work.same_name".
Extraction "kernel.ml" check_forms check_within check_witness check_accuracy check_accuracy_at check_equal check_near check_near_exceeds shifted check_moment check_moment_at check_order check_order_exceeds check_concentration check_concentration_at check_composed check_audit check_optimum check_law check_efficacy lawful well_made not_empty positive_at
  nonpos padd popp pmul pzero rational.
