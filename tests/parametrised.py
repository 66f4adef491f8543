"""Drawn mechanisms whose probabilities depend on the parameter q, and what is compared of them.

The constants in the draws of a drawn mechanism are replaced by functions of q, which lies between 0 and 1.
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tightdp.exact import enclosure
from tightdp.exact.field import ExpNumber, exp
from tightdp.results.pieces import Pieces
from tightdp.session.cellwise import limit_of

PROBABILITIES = ("q", "1 - q", "q / (1 + q)", "q * q", "(1 + q) / 4", "1 - q / 3", "(1 - q) * (1 - q)")
DIGITS = 60
RATIOS = ("q", "q / 2", "q * q", "1 / (2 + q)")


def with_parameter(source: str, seed: int) -> str:
    """The source with functions of q in its draws."""
    return ast.unparse(_Parametrised(random.Random(seed)).visit(ast.parse(source)))


class _Parametrised(ast.NodeTransformer):
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        at = {"flip": 0, "geometric": 1, "binomial": 1}.get(name)
        if at is not None and len(node.args) > at and _is_constant(node.args[at]):
            chosen = self._rng.choice(RATIOS if name == "geometric" else PROBABILITIES)
            node.args[at] = ast.parse(chosen, mode="eval").body
        return node


def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(part, (ast.Name, ast.Call)) and getattr(part, "id", "") != "q" for part in ast.walk(node))


def value_at(pieces: Pieces, value: Fraction) -> Any:
    """What an answer in pieces says at a value of the unknown; None where no piece is there."""
    part = pieces.part(value)
    if part is None:
        return None
    denominator = pieces.unknown.denominator
    return limit_of(part.value, exp(value / denominator) if denominator else value)


def ends_of(pieces: Pieces) -> list[Fraction]:
    """The rational ends of pieces."""
    found = (end.value for part in pieces.pieces for end in (part.start, part.stop))
    return [value for value in found if isinstance(value, Fraction)]


def differences(pieces: Pieces, values: list[Fraction], numeric: Callable[[Fraction], Any]) -> list[str]:
    """Where an answer in pieces is not what the engine finds with a number."""
    found = []
    for value in values:
        ours, theirs = value_at(pieces, value), numeric(value)
        if ours != theirs:
            found.append(f"{pieces.unknown.name} = {value}: {ours} in pieces, {theirs} with the number")
    return found


def rounded(exponent: Fraction) -> Fraction:
    """e^exponent to 60 digits."""
    return Fraction(math.floor(enclosure.exp(exponent, DIGITS + 5).lower * 10**DIGITS), 10**DIGITS)


def near(exact: Any, approximate: Any, digits: int) -> bool:
    """Whether two numbers agree to so many digits."""
    if math.inf in (exact, approximate):
        return bool(exact == approximate)
    value = exact.enclosure(digits + 5).lower if isinstance(exact, ExpNumber) else exact
    return bool(abs(value - approximate) <= Fraction(1, 10**digits) * max(1, abs(value)))
