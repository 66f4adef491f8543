(** The checker in OCaml. What is believed here besides Coq: that OCaml's integers of zarith are Coq's. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt ExtrOcamlNativeString.
From Tightdp Require Import Numbers Program Forms Certificate Accuracy Datasets.

Extraction Language OCaml.
Extraction "kernel.ml" check_forms check_within check_witness check_accuracy check_accuracy_at well_made not_empty positive_at nonpos padd popp pmul pzero
  rational.
