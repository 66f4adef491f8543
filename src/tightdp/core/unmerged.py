"""The errors of noise that has no finite program."""

from __future__ import annotations

import ast

from tightdp.errors import LanguageError


class Unmerged(LanguageError):
    """A use of noise on all integers that has no exact finite form here."""


class Uncut(Unmerged):
    """Noise, of some kind, that has no exact finite form: only the algebra of `cells` knows it, or an enclosure."""

    def __init__(self, kind: str, why: str = "has no answer to this question", enclosed: bool = False) -> None:
        hint = "ask for ε, δ, accuracy or errors at one n, of outputs that are linear in the noise, or clamped"
        super().__init__(f"{kind} {why}", hint)
        self.kind, self.enclosed = kind, enclosed


class Endless(Uncut):
    """A loop without a bound: only the algebra of `cells`, or an enclosure, may know how it ends."""

    def __init__(self, what: str, hint: str, node: ast.AST | None = None) -> None:
        super().__init__("a loop without a bound", enclosed=node is not None)
        self.what, self.hint, self.node = what, hint, node


class Early(Exception):
    """A loop draws below what it counts: the algebra is asked about it before it is unrolled for long."""


class Recut(LanguageError):
    """A question about a draw whose cells do not tell the answer: they are to be cut at further numbers.

    Where cells of several draws are cut `alike`, each may call for further ones of the others, without an end.
    """

    def __init__(self, alike: bool) -> None:
        super().__init__("a number is cut in cells that are too wide", "cut it further")
        self.alike = alike


def outside(what: str, hint: str = "clamp it first, as in max(lo, min(value, hi))") -> Unmerged:
    """Return the error for such a use."""
    return Unmerged(f"noise on all integers {what}", hint)
