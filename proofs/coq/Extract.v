(** The checker in OCaml. What is believed here besides Coq: that OCaml's integers of zarith are Coq's. *)

From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt ExtrOcamlNativeString.
From Tightdp Require Import Numbers Program Forms Certificate Accuracy Datasets Audit.

Extraction Language OCaml.
Extract Constant Z.of_nat => "Big_int_Z.big_int_of_int".
Extraction "kernel.ml" check_forms check_within check_witness check_accuracy check_accuracy_at check_audit well_made not_empty positive_at nonpos padd popp pmul pzero
  rational.
