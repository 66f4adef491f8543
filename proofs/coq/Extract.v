(** The checker in OCaml. What is believed here besides Coq: that OCaml's integers of zarith are Coq's. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt ExtrOcamlNativeString.
From Tightdp Require Import Numbers Program Forms Certificate Accuracy.

Extraction Language OCaml.
Extraction "kernel.ml" check_forms check_attained check_violated check_accuracy well_made not_empty positive_at nonpos padd popp pmul pzero
  rational.
