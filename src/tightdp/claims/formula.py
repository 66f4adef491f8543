"""Formulas in a statement: what is printed is what is evaluated.

A formula is written as a paper has it, `E_n = e^ε/(1 + e^ε)` or `n >= λ >= 14·ln(4/δ)`: numbers, + - · * / ^, ², |x|,
⌊x⌋, ⌈x⌉, C(n,k), sqrt, ln, log2, exp, min, max, e^x, several relations = ≠ < <= > >= in a row, several formulas with
commas between them. Factors side by side are multiplied. A quantity may have any name, P(|O - c| <= α) too: the longest
known name that begins at a place is meant. Values are Fractions and certified reals, never floats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tightdp.errors import ParameterError
from tightdp.exact.reals import exp, log, real, sqrt

__all__ = ["Formula", "Token", "changes", "tokens"]

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
_SIGNS = ("<=", ">=", *"=≠<>+-·*/^()|⌊⌋⌈⌉,!²³")
_NUMBER = re.compile(r"\d+(\.\d+)?")
_CLOSING = {"(": ")", "|": "|", "⌊": "⌋", "⌈": "⌉"}


def _binomial(n: Any, k: Any) -> Fraction:
    return Fraction(math.comb(int(n), int(k))) if k >= 0 else Fraction(0)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "C": _binomial,
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


def tokens(text: str, names: Mapping[str, Any]) -> list[Token]:
    """Cut a formula. Raises ParameterError at a word that is no name, function or sign."""
    return _cut(text, frozenset(names))


@lru_cache(maxsize=1024)
def _cut(text: str, names: frozenset[str]) -> list[Token]:
    known = sorted(names, key=len, reverse=True)
    found: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found.append(_token(text, at, known))
        at = found[-1].end
    return found


def _token(text: str, at: int, known: list[str]) -> Token:
    for name in known:
        if text.startswith(name, at) and not (_is_letter(name[-1]) and _is_letter(text[at + len(name) :][:1])):
            return Token("name", name, at)
    if number := _NUMBER.match(text, at):
        return Token("number", number[0], at)
    for sign in _SIGNS:
        if text.startswith(sign, at):
            return Token("relation" if sign in RELATIONS else "sign", sign, at)
    for name in (*_FUNCTIONS, "e", "∞"):
        if text.startswith(name, at) and not _is_letter(text[at + len(name) :][:1]):
            return Token("function", name, at)
    raise ParameterError(f"{text[at:]!r} in the formula {text} is no known name", f"known are {', '.join(known)}")


def _is_letter(character: str) -> bool:
    return character.isalpha() or character.isdecimal() or character == "_"


class Formula:
    """A formula with the values of its names."""

    def __init__(self, text: str, values: Mapping[str, Any]) -> None:
        self.text, self._values = text, values
        self._tokens = tokens(text, values)
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
            raise ParameterError(
                f"{self.text} breaks off at {self._next()!r}", "write a formula as docs/claims.md says"
            )
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
                total = _divided(total, self._factor())
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
            raise ParameterError(f"{self.text} breaks off", "write a formula as docs/claims.md says")
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "number":
            return Fraction(token.text)
        if token.kind == "name":
            return _plain(self._values[token.text])
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
        raise ParameterError(f"{token.text!r} is out of place in {self.text}", "write a formula as docs/claims.md says")

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
            raise ParameterError(f"{text} is missing in {self.text}", "write a formula as docs/claims.md says")
        self._take()


def _plain(value: Any) -> Any:
    """Return a whole number as a Fraction, so that nothing divides to a float."""
    return Fraction(int(value)) if isinstance(value, int) else value


def _divided(top: Any, bottom: Any) -> Any:
    if isinstance(bottom, float):
        return Fraction(0)
    return top / bottom


def _power(base: Any, power: Any) -> Any:
    if isinstance(power, Fraction) and power.denominator == 1:
        return base ** int(power)
    return exp(real(power) * log(base))


def _floor(value: Any) -> Fraction:
    return Fraction(math.floor(value))


_ENCLOSED: dict[str, Callable[[Any], Any]] = {
    "(": lambda x: x,
    "|": abs,
    "⌊": _floor,
    "⌈": lambda x: -_floor(-x),
}


def changes(text: str, names: Mapping[str, Any], factor: Fraction = Fraction(2)) -> Iterator[tuple[str, list[str]]]:
    """Yield, for every constant and relation of a formula, what is changed and the changed texts.

    A relation is turned round. A constant is multiplied and divided by a factor; both are given together, as one of
    them only weakens an inequality.
    """
    found = tokens(text, names)
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
