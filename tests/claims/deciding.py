"""What the tests of claims share: a claim decided alone, a check with a bar, proofs that are right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sympy

from tightdp.claims import Fails, Outcome, Paper, identity, positive, program
from tightdp.claims.run import run_paper

ROOT = Path(__file__).parent.parent.parent
OAKLEY = ROOT / "proofs" / "oakley2024"
X = sympy.Symbol("x")

rr = program(str(ROOT / "programs" / "randomized_response.py"))


def outcome(statement: str = "A statement.", **arguments: Any) -> Outcome:
    """The outcome of a single claim."""
    paper = Paper("test2026")
    paper.claim("T1", "Thm 1", statement, **arguments)
    return next(iter(run_paper(paper)))


def below(bar: int) -> Callable[..., bool | Fails]:
    """A check that holds below a bar."""
    return lambda n: n < bar or Fails(f"{n} is not below {bar}", found=n)


def by_words() -> None:
    """Squares are not negative."""
    positive(X**2 + 1, X, None, None, "x² + 1 > 0")


def wrong_step() -> None:
    """It is not so."""
    identity(X, X + 1, "x = x + 1")


def without_steps() -> None:
    """Nothing is checked."""


def without_words() -> None:
    identity(X, X, "x = x")
