"""Every number that decides how much work is done, and nothing else: each with its unit and how it was calibrated.

They decide which way is taken and when a way gives up, never what an answer is. Work is counted, not timed: the same
question does the same on every machine.
"""

from __future__ import annotations

# Limits


# Numbers, language, symmetry and diagrams


# Lowering and the core program


# Noise on all integers, and proofs for every n


# Methods


# Questions and results


# Sessions


# Audits and claims

AUDIT_STATES = 1 << 18
"""Outputs, states of knowledge, or nodes of a function, that one audit keeps at most: some 100 bytes each."""
AUDIT_TABLE = 50_000
"""Entries of a table that is written down whole: pair vectors that are tried, counts of secret bits by class."""
