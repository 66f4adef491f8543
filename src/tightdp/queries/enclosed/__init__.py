"""Enclosures where exact laws would outgrow memory: sums over many records that the program treats alike.

In: what one record adds to a sum that is published, for every value of the record. Out: both ends of δ, of e^ε at δ
and of the accuracy over all datasets and neighbours, in doubles with a proved error. May import what `queries` may.
The proofs are in docs/large.md.
"""
