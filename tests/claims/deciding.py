"""What the tests of claims share: a claim decided alone, a check, arguments that are right and wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sympy

from tightdp.claims import Outcome, Paper, identity, positive, program
from tightdp.claims.run import run_paper

ROOT = Path(__file__).parent.parent.parent
OAKLEY = ROOT / "proofs" / "oakley2024"
X = sympy.Symbol("x")

rr = program(str(ROOT / "programs" / "randomized_response.py"))


def outcome(statement: Any = "`n < 9`", **arguments: Any) -> Outcome:
    """The outcome of a single claim."""
    paper = Paper("test2026")
    paper.claim("T1", "Thm 1", statement, **arguments)
    return next(iter(run_paper(paper)))


def itself(n: int) -> dict[str, Any]:
    """A check that measures n."""
    return {"m": int(n)}


def by_words() -> None:
    """Squares are not negative.

    For the reader: that n is the square of something.
    """
    positive(X**2 + 1, X, None, None, "x² + 1 > 0")


def wrong_step() -> None:
    """It is not so.

    For the reader: nothing.
    """
    identity(X, X + 1, "x = x + 1")


def without_steps() -> None:
    """Nothing is checked.

    For the reader: all of it.
    """


def without_words() -> None:
    identity(X, X, "x = x")


def without_reader() -> None:
    """It is so."""
    identity(X, X, "x = x")
