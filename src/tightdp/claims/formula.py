"""Formulas: what is printed is what is evaluated, on numbers or on symbols, and what is changed by mutation.

A formula is written as a paper has it, `E_n = e^ε/(1 + e^ε)` or `n >= λ >= 14·ln(4/δ)`: numbers, + - · * / ^, ², |x|,
⌊x⌋, ⌈x⌉, C(n,k), sqrt, ln, log2, exp, min, max, e^x, several relations = ≠ < <= > >= in a row, several formulas with
commas between them. Factors side by side are multiplied. A quantity may have any name, P(|O - c| <= α) too: the longest
known name that begins at a place is meant. `A <=> B` says that the formulas A hold exactly if the formulas B do. It is
read into a tree once; `evaluate` takes the arithmetic as a parameter,
Fractions and certified reals or SymPy, never floats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tightdp.errors import ParameterError
from tightdp.exact.reals import Real, UndecidedError, exp, log, real, sqrt

_HOW = "write a formula as docs/claims.md says"


def _equal(a: Any, b: Any) -> bool:
    """Whether two numbers are equal; certified reals that cannot be told apart raise UndecidedError."""
    if isinstance(a, Real) or isinstance(b, Real):
        return not (a < b or a > b)
    return bool(a == b)


RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": _equal,
    "≠": lambda a, b: not _equal(a, b),
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}
STRICTER = {"<=": "<", ">=": ">"}
_IFF = "<=>"
_SQUARES = {"²": "2", "³": "3"}
_CLOSING = {"(": ")", "|": "|", "⌊": "⌋", "⌈": "⌉"}
_FUNCTIONS = ("C", "exp", "ln", "log2", "max", "min", "sqrt")
_WORDLY = re.compile(r"[^\W²³]")


@dataclass(frozen=True)
class Node:
    """A piece of a formula.

    Its kind is number, name, ∞, e, negative, operation, power, factorial, call, enclosed, chain (of relations), all (of
    several chains), or iff (of two such).
    """

    kind: str
    text: str
    parts: tuple[Node, ...] = ()


# reading


@lru_cache(maxsize=1024)
def _tokens(text: str, names: frozenset[str]) -> list[tuple[str, str]]:
    """Cut a formula, long names first. Raises ParameterError at a word that is no name, function or sign."""
    end = r"(?![^\W²³])"  # no name or function goes on there
    known = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(name) + (end if _WORDLY.match(name[-1]) else "") for name in known) or "(?!)"
    functions = "|".join(sorted((*_FUNCTIONS, "e"), key=len, reverse=True))
    token = re.compile(
        rf"\s*(?:(?P<name>{words})|(?P<number>\d+(?:\.\d+)?)|(?P<relation><=>|<=|>=|[=≠<>])"
        rf"|(?P<sign>[-+·*/^()|⌊⌋⌈⌉,!²³])|(?P<function>(?:{functions}){end}|∞))"
    )
    found: list[tuple[str, str]] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = token.match(text, at)
        if match is None:
            what = f"{text[at:].lstrip()!r} in the formula {text} is no known name"
            raise ParameterError(what, f"known are {', '.join(known)}")
        kind = match.lastgroup or ""
        found.append((kind, match[kind]))
        at = match.end()
    return found


class _Reader:
    """Reads tokens into a tree, from left to right."""

    def __init__(self, text: str, names: frozenset[str]) -> None:
        self._text, self._tokens, self._at = text, _tokens(text, names), 0

    def formulas(self) -> tuple[Node, ...]:
        found = self._chains()
        if self._next() == _IFF:
            self._take()
            found = (Node("iff", _IFF, (Node("all", ",", found), Node("all", ",", self._chains()))),)
        self._ended()
        return found

    def term(self) -> Node:
        found = self._sum()
        self._ended()
        return found

    def _ended(self) -> None:
        if self._at < len(self._tokens):
            raise ParameterError(f"{self._text} breaks off at {self._next()!r}", _HOW)

    def _chains(self) -> tuple[Node, ...]:
        found = [self._chain()]
        while self._next() == ",":
            self._take()
            found.append(self._chain())
        return tuple(found)

    def _chain(self) -> Node:
        sides, relations = [self._sum()], []
        while self._next() in RELATIONS:
            relations.append(self._take())
            sides.append(self._sum())
        if not relations:
            raise ParameterError(f"{self._text} has no relation", "write an equation or an inequality")
        return Node("chain", " ".join(relations), tuple(sides))

    def _next(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _sum(self) -> Node:
        total = self._product()
        while self._kind() == "sign" and self._next() in ("+", "-"):
            sign = self._take()
            total = Node("operation", sign, (total, self._product()))
        return total

    def _product(self) -> Node:
        total = self._factor()
        while True:
            if self._kind() == "sign" and self._next() in ("/", "·", "*"):
                sign = self._take().replace("*", "·")
                total = Node("operation", sign, (total, self._factor()))
            elif self._kind() in ("number", "name", "function") or self._next() in ("(", "⌊", "⌈"):
                total = Node("operation", "", (total, self._factor()))  # a bar there closes an absolute value
            else:
                return total

    def _factor(self) -> Node:
        if self._next() == "-":
            self._take()
            return Node("negative", "-", (self._factor(),))
        base = self._atom()
        while True:
            sign = self._next()
            if sign in _SQUARES:
                base = Node("power", "^", (base, Node("number", _SQUARES[self._take()])))
            elif sign == "!":
                base = Node("factorial", self._take(), (base,))
            elif sign == "^":
                self._take()
                base = Node("power", "^", (base, self._factor()))
            else:
                return base

    def _atom(self) -> Node:
        if self._at == len(self._tokens):
            raise ParameterError(f"{self._text} breaks off", _HOW)
        kind, text = self._kind(), self._take()
        if kind in ("number", "name"):
            return Node(kind, text)
        if text in ("∞", "e"):
            return Node(text, text)
        if kind == "function":
            return Node("call", text, self._arguments())
        if text in _CLOSING:
            inside = self._sum()
            self._expect(_CLOSING[text])
            return Node("enclosed", text, (inside,))
        raise ParameterError(f"{text!r} is out of place in {self._text}", _HOW)

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(")
        found = [self._sum()]
        while self._next() == ",":
            self._take()
            found.append(self._sum())
        self._expect(")")
        return tuple(found)

    def _expect(self, text: str) -> None:
        if self._next() != text:
            raise ParameterError(f"{text} is missing in {self._text}", _HOW)
        self._take()


@lru_cache(maxsize=1024)
def read(text: str, names: frozenset[str]) -> tuple[Node, ...]:
    """Read formulas with commas between them. Raises ParameterError where one cannot be read."""
    return _Reader(text, names).formulas()


def read_term(text: str, names: frozenset[str]) -> Node:
    """Read an expression without a relation. Raises ParameterError where it cannot be read."""
    return _Reader(text, names).term()


# evaluating


def _quotient(top: Any, bottom: Any) -> Any:
    return Fraction(0) if isinstance(bottom, float) else top / bottom  # a float is infinite


def _power(base: Any, power: Any) -> Any:
    if isinstance(power, Fraction) and power.denominator == 1:
        return base ** int(power)
    return exp(real(power) * log(base))


def _floor(value: Any) -> Fraction:
    if not isinstance(value, Real):
        return Fraction(math.floor(value))
    low, high = value.enclosure(20)
    if math.floor(low) != math.floor(high):
        raise UndecidedError("a real is too close to a whole number to be rounded down", "compare it instead")
    return Fraction(math.floor(low))


def _known(value: Any) -> Any:
    return Fraction(int(value)) if isinstance(value, int) else value  # so that nothing divides to a float


EXACT: dict[str, Callable[..., Any]] = {
    "number": Fraction,
    "value": _known,
    "∞": lambda: math.inf,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "·": lambda a, b: a * b,
    "/": _quotient,
    "^": _power,
    "!": lambda n: Fraction(math.factorial(int(n))),
    "C": lambda n, k: Fraction(math.comb(int(n), int(k)) if k >= 0 else 0),
    "exp": exp,
    "ln": log,
    "log2": lambda x: log(x) / log(2),
    "max": max,
    "min": min,
    "sqrt": sqrt,
    "(": lambda x: x,
    "|": abs,
    "⌊": lambda x: _floor(x),
    "⌈": lambda x: -_floor(-x),
}
"""Fractions and certified reals."""


def evaluate(node: Node, values: Mapping[str, Any], arithmetic: Mapping[str, Callable[..., Any]] = EXACT) -> Any:
    """Return the value of an expression; its names have the given values."""
    if node.kind == "number":
        return arithmetic["number"](Fraction(node.text))
    if node.kind == "name":
        return arithmetic["value"](values[node.text])
    if node.kind == "∞":
        return arithmetic["∞"]()
    if node.kind == "e":
        return arithmetic["exp"](arithmetic["number"](Fraction(1)))
    if node.kind == "power" and node.parts[0].kind == "e":
        return arithmetic["exp"](evaluate(node.parts[1], values, arithmetic))
    parts = [evaluate(part, values, arithmetic) for part in node.parts]
    if node.kind == "negative":
        return -parts[0]
    return arithmetic[node.text or "·"](*parts)


def failing(formula: tuple[Node, ...], values: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """Return the first relation that does not hold, with both sides; None where all hold."""
    for chain in formula:
        if chain.kind == "iff":
            first, second = (failing(each.parts, values) is None for each in chain.parts)
            if first != second:
                return chain.text, first, second
            continue
        sides = [evaluate(part, values) for part in chain.parts]
        for relation, (left, right) in zip(chain.text.split(), pairwise(sides), strict=True):
            if not RELATIONS[relation](left, right):
                return relation, left, right
    return None


# writing


def plain(node: Node) -> str:
    """Write a piece of a formula as it may be read again."""
    parts = [plain(part) for part in node.parts]
    if node.kind == "chain":
        rest = (f" {relation} {part}" for relation, part in zip(node.text.split(), parts[1:], strict=True))
        return parts[0] + "".join(rest)
    if node.kind in ("iff", "all"):
        return f"{',' if node.kind == 'all' else f' {_IFF}'} ".join(parts)
    if node.kind == "operation" and not node.text and parts[0][-1].isdigit() and not parts[1][0].isdigit():
        return "".join(parts)
    if node.kind == "operation":
        return f" {node.text} ".join(parts) if node.text in ("+", "-") else (node.text or " ").join(parts)
    if node.kind == "power":
        return f"{parts[0]}^{parts[1]}"
    if node.kind == "enclosed":
        return f"{node.text}{parts[0]}{_CLOSING[node.text]}"
    if node.kind == "call":
        return f"{node.text}({', '.join(parts)})"
    return f"-{parts[0]}" if node.kind == "negative" else f"{parts[0]}!" if node.kind == "factorial" else node.text


# mutations


def mutants(
    formula: tuple[Node, ...], given: bool = False, step: Fraction = Fraction(1, 20)
) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """Yield the formula changed in one place, with what was changed: a constant by a small step either way, a sign,
    another strictness.

    Whole numbers in exponents move by 1, others by a twentieth of themselves; 0 by a twentieth. Where a relation has no
    number, its last side gets a factor. What is said becomes strict, what is `given` ceases to be: the other way round
    could not fail.
    """
    strictness = {strict: weak for weak, strict in STRICTER.items()} if given else STRICTER
    for at, chain in enumerate(formula):
        for what, changed in _changed(chain, step, strictness):
            yield f"{plain(chain)}: {what}", (*formula[:at], changed, *formula[at + 1 :])


def pieces(node: Node) -> Iterator[Node]:
    """Yield a piece of a formula and all its parts."""
    yield node
    for part in node.parts:
        yield from pieces(part)


def _changed(
    node: Node, step: Fraction, strictness: Mapping[str, str], whole: bool = False
) -> Iterator[tuple[str, Node]]:
    if node.kind == "number":
        value = Fraction(node.text)
        size = Fraction(1) if whole else abs(value) * step or step
        for moved in (value + size, value - size):
            yield f"{node.text} into {moved}", _constant(moved)
    if node.kind == "operation" and node.text in ("+", "-"):
        yield f"{node.text} into {'-+'['+-'.index(node.text)]}", replace(node, text="-+"["+-".index(node.text)])
    if node.kind == "negative":
        yield "- left out", node.parts[0]
    if node.kind == "chain":
        relations = node.text.split()
        for place, relation in enumerate(relations):
            if relation in strictness:
                other = strictness[relation]
                changed = " ".join((*relations[:place], other, *relations[place + 1 :]))
                yield f"{relation} into {other}", replace(node, text=changed)
        if not any(each.kind == "number" for each in pieces(node)):
            for factor in (1 + step, 1 - step):
                last = Node("operation", "·", (_constant(factor), Node("enclosed", "(", (node.parts[-1],))))
                yield f"{plain(node.parts[-1])} times {factor}", replace(node, parts=(*node.parts[:-1], last))
    for at, part in enumerate(node.parts):
        for what, changed_part in _changed(part, step, strictness, node.kind == "power" and at == 1):
            yield what, replace(node, parts=(*node.parts[:at], changed_part, *node.parts[at + 1 :]))


def _constant(value: Fraction) -> Node:
    """Return a number as a node; a quotient or negative one in parentheses."""
    top = Node("number", str(abs(value.numerator)))
    found = top if value.denominator == 1 else Node("operation", "/", (top, Node("number", str(value.denominator))))
    found = Node("negative", "-", (found,)) if value < 0 else found
    return found if found.kind == "number" else Node("enclosed", "(", (found,))
