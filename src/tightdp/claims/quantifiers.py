"""Quantifiers and definitions of statements that are decided: domains, extremes, sums over the places of datasets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.claims.algebra import Range
from tightdp.errors import ParameterError
from tightdp.exact.numbers import as_text

_RANGE = re.compile(r"\s*(?:(-?[\d./]+)\s*(<=|<)\s*)?([^\W\d]\w*'?)\s*(?:(<=|<|>=|>)\s*(-?[\d./]+))?\s*$")


@dataclass(frozen=True)
class Among:
    """All values of a finite domain, or what a function of the variables before gives; `words` say what they are."""

    values: tuple[Any, ...] | Callable[..., Iterable[Any]]
    words: str = ""


@dataclass(frozen=True)
class Columns:
    """Datasets of every size n >= 1, side by side: the values of each at one place. `neighbours` differ in one
    place."""

    values: tuple[tuple[Any, ...], ...]
    neighbours: tuple[str, str] | None = None


@dataclass(frozen=True)
class Quantifier:
    """For every, or for some, values of these names."""

    names: tuple[str, ...]
    domain: Range | Among | Columns
    every: bool = True


@dataclass(frozen=True)
class Extreme:
    """That the largest (or least) value of a term over some of the variables is a value: a bound, and it is attained.

    `at` gives the place for those variables that are not finite; finite ones are searched.
    """

    term: str
    value: str
    over: tuple[str, ...]
    at: tuple[tuple[str, str], ...] = ()
    most: bool = True


@dataclass(frozen=True)
class Places:
    """A sum or product over the n places of datasets: of a function of the values at one place."""

    of_place: Callable[..., Any]
    product: bool = False


Definition: TypeAlias = "str | Places | Callable[..., Any]"


def every(text: str, among: Iterable[Any] | Callable[..., Iterable[Any]] | None = None, words: str = "") -> Quantifier:
    """Quantify: every("0 < λ < 1/2"), every("x", among=values), every("n, λ", among=pairs)."""
    if among is None:
        return _ranged(text, whole=False)
    names = tuple(name.strip() for name in text.split(","))
    values = among if callable(among) else tuple(as_tuple(each, len(names)) for each in among)
    return Quantifier(names, Among(values, words))


def some(text: str, among: Iterable[Any] | Callable[..., Iterable[Any]], words: str = "") -> Quantifier:
    """Quantify: there is one among finitely many values."""
    return replace(every(text, among, words), every=False)


def whole(text: str) -> Quantifier:
    """Quantify over whole numbers: whole("n >= 1")."""
    return _ranged(text, whole=True)


def columns(values: Mapping[str, Sequence[Any]], neighbours: tuple[str, str] | None = None) -> Quantifier:
    """Quantify over datasets of every size n >= 1, named together with the values that a place may have."""
    return Quantifier(tuple(values), Columns(tuple(map(tuple, values.values())), neighbours))


def largest(term: str, value: str, over: str, **at: str) -> Extreme:
    """Say that the largest value of a term over some variables is `value`."""
    return Extreme(term, value, tuple(each.strip() for each in over.split(",")), tuple(at.items()))


def least(term: str, value: str, over: str, **at: str) -> Extreme:
    """Say that the least value of a term over some variables is `value`."""
    return replace(largest(term, value, over, **at), most=False)


def as_tuple(value: Any, count: int) -> tuple[Any, ...]:
    return tuple(map(_exact, value if count > 1 else (value,)))


def _exact(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch(r"-?\d+(/\d+|\.\d+)?", value):
        return Fraction(value)
    return tuple(map(_exact, value)) if isinstance(value, tuple) else value


def _ranged(text: str, whole: bool) -> Quantifier:
    match = _RANGE.match(text)
    if match is None:
        raise ParameterError(f"{text!r} is no range", "write one as in 0 < λ <= 1/2 or n >= 1")
    low, first, name, second, other = match.groups()
    high = None
    closed = [first == "<=", False]
    if second in (">", ">="):
        low, closed[0] = other, second == ">="
    elif second:
        high, closed[1] = other, second == "<="
    ends = (None if low is None else Fraction(low), None if high is None else Fraction(high))
    return Quantifier((name,), Range(ends[0], ends[1], (closed[0], closed[1]), whole))


def interval(name: str, domain: Range) -> str:
    """Write a range, as in 0 < λ <= 1/2."""
    low, high = (None if end is None else as_text(end) for end in (domain.low, domain.high))
    if high is None:
        return name if low is None else f"{name} {'>=' if domain.closed[0] else '>'} {low}"
    right = f"{name} {'<=' if domain.closed[1] else '<'} {high}"
    return right if low is None else f"{low} {'<=' if domain.closed[0] else '<'} {right}"
