"""Formulas in a statement: what is printed is what is evaluated, on the numbers that a check measured.

Formulas stand between backticks in the statement. One that follows "for", "if", "where" or "with" is a condition: every
instance has to satisfy it.

A formula is written as a paper has it, `E_n = e^ε/(1 + e^ε)` or `n >= λ >= 14·ln(4/δ)`: numbers, + - · * / ^, ², |x|,
⌊x⌋, ⌈x⌉, C(n,k), sqrt, ln, log2, exp, min, max, e^x, several relations = ≠ < <= > >= in a row, several formulas with
commas between them. Factors side by side are multiplied. A quantity may have any name, P(|O - c| <= α) too: the longest
known name that begins at a place is meant. Values are Fractions and certified reals, never floats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

from tightdp.claims.instances import GREEK, Instance, shown_value
from tightdp.errors import ParameterError
from tightdp.exact.reals import Real, exp, log, real, sqrt

Measured: TypeAlias = tuple[dict[str, Any], ...]
"""The named quantities that a check found at an instance; several of them where the claim speaks of each."""

_STATED = re.compile(r"(?P<condition>\b(?:[Ff]or|[Ii]f|[Ww]here|[Ww]ith)\s+(?:all\s+|every\s+)?)?`(?P<formula>[^`]+)`")
_HOW = "write a formula as docs/claims.md says"

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "≠": lambda a, b: a != b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}
_POWERS = {"²": 2, "³": 3}
_TURNED = {"=": "≠", "≠": "=", "<=": ">", ">=": "<", "<": ">=", ">": "<="}
_WORDLY = re.compile(r"[^\W²³]")
_CLOSING = {"(": ")", "|": "|", "⌊": "⌋", "⌈": "⌉"}


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "C": lambda n, k: Fraction(math.comb(int(n), int(k)) if k >= 0 else 0),
    "exp": exp,
    "ln": log,
    "log2": lambda x: log(x) / log(2),
    "max": max,
    "min": min,
    "sqrt": sqrt,
}


@dataclass(frozen=True)
class Token:
    """A piece of a formula with its place in the text; kind: number, name, function, relation or sign."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the text goes on."""
        return self.start + len(self.text)


@lru_cache(maxsize=1024)
def _cut(text: str, names: frozenset[str]) -> list[Token]:
    """Cut a formula, long names first. Raises ParameterError at a word that is no name, function or sign."""
    end = r"(?![^\W²³])"  # no name or function goes on there
    known = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(name) + (end if _WORDLY.match(name[-1]) else "") for name in known) or "(?!)"
    functions = "|".join(sorted((*_FUNCTIONS, "e"), key=len, reverse=True))
    token = re.compile(
        rf"\s*(?:(?P<name>{words})|(?P<number>\d+(?:\.\d+)?)|(?P<relation><=|>=|[=≠<>])"
        rf"|(?P<sign>[-+·*/^()|⌊⌋⌈⌉,!²³])|(?P<function>(?:{functions}){end}|∞))"
    )
    found: list[Token] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = token.match(text, at)
        if match is None:
            what = f"{text[at:].lstrip()!r} in the formula {text} is no known name"
            raise ParameterError(what, f"known are {', '.join(known)}")
        kind = match.lastgroup or ""
        found.append(Token(kind, match[kind], match.start(kind)))
        at = match.end()
    return found


class Formula:
    """A formula with the values of its names."""

    def __init__(self, text: str, values: Mapping[str, Any]) -> None:
        self.text, self._values = text, values
        self._tokens = _cut(text, frozenset(values))
        self._at = 0

    def failing(self) -> tuple[str, Any, Any] | None:
        """Return the first relation that does not hold, with both sides; None where all hold."""
        self._at = 0
        while True:
            if (found := self._chain()) is not None:
                return found
            if self._next() != ",":
                break
            self._at += 1
        if self._at < len(self._tokens):
            raise ParameterError(f"{self.text} breaks off at {self._next()!r}", _HOW)
        return None

    def _chain(self) -> tuple[str, Any, Any] | None:
        """Evaluate one formula up to a comma or the end."""
        sides = [self._sum()]
        relations = []
        while self._next() in RELATIONS:
            relations.append(self._take())
            sides.append(self._sum())
        if not relations:
            raise ParameterError(f"{self.text} has no relation", "write an equation or an inequality")
        for relation, (left, right) in zip(relations, pairwise(sides), strict=True):
            if not RELATIONS[relation](left, right):
                return relation, left, right
        return None

    def _next(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1].text

    def _sum(self) -> Any:
        total = self._product()
        while (sign := self._next()) in ("+", "-") and sign:
            self._take()
            other = self._product()
            total = total + other if sign == "+" else total - other
        return total

    def _product(self) -> Any:
        total = self._factor()
        while True:
            sign = self._next()
            if sign == "/":
                self._take()
                bottom = self._factor()
                total = Fraction(0) if isinstance(bottom, float) else total / bottom  # a float is infinite
            elif sign in ("·", "*") and sign:
                self._take()
                total = total * self._factor()
            elif self._begins_factor():
                total = total * self._factor()
            else:
                return total

    def _begins_factor(self) -> bool:
        """Whether a factor follows without a sign. A bar there closes an absolute value."""
        if self._at == len(self._tokens):
            return False
        token = self._tokens[self._at]
        return token.kind in ("number", "name", "function") or token.text in ("(", "⌊", "⌈")

    def _factor(self) -> Any:
        if self._next() == "-":
            self._take()
            return -self._factor()
        natural = self._next() == "e" and self._tokens[self._at].kind == "function"
        base = self._atom()
        while True:
            sign = self._next()
            if sign in _POWERS:
                base = base ** _POWERS[self._take()]
            elif sign == "!":
                self._take()
                base = Fraction(math.factorial(int(base)))
            elif sign == "^":
                self._take()
                power = self._factor()
                base = exp(power) if natural else _power(base, power)
            else:
                return base

    def _atom(self) -> Any:
        if self._at == len(self._tokens):
            raise ParameterError(f"{self.text} breaks off", _HOW)
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "number":
            return Fraction(token.text)
        if token.kind == "name":
            value = self._values[token.text]
            return Fraction(int(value)) if isinstance(value, int) else value  # so that nothing divides to a float
        if token.text == "∞":
            return math.inf
        if token.text == "e":
            return exp(1) if self._next() != "^" else None
        if token.kind == "function":
            return _FUNCTIONS[token.text](*self._arguments())
        if token.text in _CLOSING:
            inside = self._sum()
            self._expect(_CLOSING[token.text])
            return _ENCLOSED[token.text](inside)
        raise ParameterError(f"{token.text!r} is out of place in {self.text}", _HOW)

    def _arguments(self) -> list[Any]:
        self._expect("(")
        found = [self._sum()]
        while self._next() == ",":
            self._take()
            found.append(self._sum())
        self._expect(")")
        return found

    def _expect(self, text: str) -> None:
        if self._next() != text:
            raise ParameterError(f"{text} is missing in {self.text}", _HOW)
        self._take()


def _power(base: Any, power: Any) -> Any:
    if isinstance(power, Fraction) and power.denominator == 1:
        return base ** int(power)
    return exp(real(power) * log(base))


_ENCLOSED: dict[str, Callable[[Any], Any]] = {
    "(": lambda x: x,
    "|": abs,
    "⌊": lambda x: Fraction(math.floor(x)),
    "⌈": lambda x: -Fraction(math.floor(-x)),
}


def changes(text: str, names: Mapping[str, Any], factor: Fraction = Fraction(2)) -> Iterator[tuple[str, list[str]]]:
    """Yield, for every constant and relation of a formula, what is changed and the changed texts.

    A relation is turned round. A constant is multiplied and divided by a factor; both are given together, as one of
    them only weakens an inequality.
    """
    found = _cut(text, frozenset(names))
    for token in found:
        before, after = text[: token.start], text[token.end :]
        if token.kind == "relation":
            yield f"{token.text} into {_TURNED[token.text]}", [f"{before}{_TURNED[token.text]}{after}"]
        elif token.text in _POWERS:
            yield f"{token.text} into ^1 or ^4", [f"{before}^{power}{after}" for power in (1, 4)]
        elif token.kind == "number":
            value = Fraction(token.text)
            others = [value * factor, value / factor] if value else [Fraction(1), Fraction(-1)]
            shown = [str(other) if other >= 0 and other.denominator == 1 else f"({other})" for other in others]
            yield f"{token.text} into {' or '.join(shown)}", [f"{before}{each}{after}" for each in shown]


# statements


class OutsideError(ParameterError):
    """An instance does not satisfy a condition of the statement."""


def formulas(statement: str) -> list[tuple[bool, str]]:
    """Return the formulas of a statement, each with whether it is a condition."""
    return [(bool(found["condition"]), found["formula"]) for found in _STATED.finditer(statement)]


def as_measured(answer: Any) -> Measured | None:
    """Return the quantities that a check returned, None where it returned a verdict."""
    if isinstance(answer, Mapping):
        return (dict(answer),)
    if isinstance(answer, Iterable) and not isinstance(answer, str):
        return tuple(dict(each) for each in answer)
    return None


def names(values: Mapping[str, Any], instance: Instance) -> dict[str, Any]:
    """Return what formulas may name: the quantities, and what the instance gives (lam as λ, too)."""
    given = {name: value for name, value in instance.items() if isinstance(value, (int, Fraction))}
    greek = {letter: given[name] for name, letter in GREEK.items() if name in given}
    return {**given, **greek, **values}


def judged(statement: str, measured: Measured, instance: Instance) -> tuple[str, dict[str, Any]] | None:
    """Return why the statement does not hold, with the exact numbers; None where it does.

    Raises OutsideError where a condition does not hold, ParameterError where a statement has no formula.
    """
    found = formulas(statement)
    if all(condition for condition, _ in found):
        raise ParameterError("the check returns quantities, and the statement has no formula", "write `E = 1/2` in it")
    if not measured:
        raise ParameterError("the check measures nothing here", "return the quantities that the formulas name")
    for values in measured:
        known = names(values, instance)
        for condition, formula in found:
            failing = Formula(formula, known).failing()
            if failing is None:
                continue
            relation, left, right = failing
            sides = f"{_shown(left)} {relation} {_shown(right)} does not hold"
            if condition:
                raise OutsideError(f"the instance lies outside the claim: {formula}: {sides}", "take the instance away")
            exact = {name: side for name, side in (("left", left), ("right", right)) if isinstance(side, Fraction)}
            return f"{formula}: {sides}.", exact
    return None


def _shown(value: Any) -> str:
    return value.text(6) if isinstance(value, Real) else shown_value(value)
