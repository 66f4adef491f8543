"""Regression tests for theory: claims of papers are written with their checks and decided at every run.

A file of claims has one `Paper`; every row of it states a claim, the instances on which it is checked, the
check, a proof where there is one, and the verdict that was recorded. `check_file` decides them in a test,
`tightdp claims` on the command line. See docs/claims.md.

In: a file, a package or a directory of claims. Out: verdicts with their evidence, lines, JSON, report pages. May import
`session` and below.
"""

from tightdp.claims import brute
from tightdp.claims.exactly import Exactly
from tightdp.claims.instances import grid, random_dp_law, random_law, seeds
from tightdp.claims.model import Claim, Correction, Paper, Row, Verdict
from tightdp.claims.proof import ProofError, certain, exhaustive, identity, limit, positive
from tightdp.claims.quantifiers import Places, columns, every, largest, least, some, whole
from tightdp.claims.run import ClaimsDifferError, Outcome, check_file, program, run_claims
from tightdp.exact.reals import Real, UndecidedError, exp, log, real, sqrt

__all__ = [
    "Claim",
    "ClaimsDifferError",
    "Correction",
    "Exactly",
    "Outcome",
    "Paper",
    "Places",
    "ProofError",
    "Real",
    "Row",
    "UndecidedError",
    "Verdict",
    "brute",
    "certain",
    "check_file",
    "columns",
    "every",
    "exhaustive",
    "exp",
    "grid",
    "identity",
    "largest",
    "least",
    "limit",
    "log",
    "positive",
    "program",
    "random_dp_law",
    "random_law",
    "real",
    "run_claims",
    "seeds",
    "some",
    "sqrt",
    "whole",
]
