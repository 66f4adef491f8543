"""Paths of a program, the same for every n: conditions on symbolic numbers, and states from which the same follows.

Symbolic values, which are noise, sums over the records, or n, are nodes of the core program whose values are not
listed: arithmetic on them is kept as affine forms of unknown numbers, other functions of them as trees. Each unknown is
an integer because of what it stands for, a draw of noise on integers, a sum of integers, a number of records; or it is
a real number, made of real noise, and is called so. No comparison of these comes out even, with probability 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, NoReturn, TypeAlias

from tightdp.cells.masses import Masses
from tightdp.core.nodes import Const, Expr
from tightdp.errors import LanguageError
from tightdp.every_n.chain import Letter, Move
from tightdp.every_n.edges import Edge
from tightdp.exact.field import ExpNumber, Number
from tightdp.language.laws import Exponentials, TwoSided

Terms: TypeAlias = tuple[tuple[tuple[str, int], Fraction], ...]
"""Unknown numbers with their coefficients, which are not 0, in a fixed order."""
Bounds: TypeAlias = dict[Terms, tuple[Edge, Edge]]
"""The least and the greatest value of combinations of unknown numbers; of unknown integers these are integers."""
Noise: TypeAlias = TwoSided | Exponentials | Masses
"""The law of noise around 0."""
Tree: TypeAlias = Any
"""An affine form, or (operation, operands), whose operands are trees and plain values."""

REAL = "real "
"""Begins what an unknown real number is called while a program is read."""
SIZE: Terms = ((("size", 0), Fraction(1)),)
"""The number of records."""
OPEN = "\0open"
"""Stands for a symbolic value in a letter."""
INDEX, LENGTH = "\0index", "\0length"
"""What stands in an output for the index of a record, and for the number of records."""


def refusal(what: str, hint: str = "ask for one n") -> LanguageError:
    """Return the error for a program that has no answer for every n."""
    return LanguageError(f"no answer for every n: {what}", hint)


class Affine(NamedTuple):
    """A combination of unknown numbers, and a constant."""

    terms: Terms
    constant: Fraction

    def real(self) -> bool:
        """Whether there is a real number among them."""
        return any(kind.startswith(REAL) for (kind, _), _ in self.terms)

    def whole(self) -> bool:
        """Whether it is an integer whatever the unknown integers are."""
        exact = (self.constant, *(factor for _, factor in self.terms))
        return not self.real() and all(each.denominator == 1 for each in exact)


def fresh(place: int) -> Terms:
    """Return the symbol of the noise with this number on a path, centred at 0."""
    return ((("fresh", place), Fraction(1)),)


def held(place: int) -> Terms:
    """Return the symbol of the value passed from one record to the next in this place."""
    return ((("held", place), Fraction(1)),)


class Unlisted(Sequence[Any]):
    """The values of a node that stands for infinitely many: whoever asks for them gets an error."""

    def __init__(self, refuse: Callable[[], NoReturn]) -> None:
        self._refuse = refuse

    def _refused(self, *asked: object) -> NoReturn:
        self._refuse()

    __len__ = __getitem__ = __iter__ = __contains__ = _refused


@dataclass(frozen=True, eq=False)
class Symbol(Expr):
    """A number that is not known."""

    tree: Tree

    @cached_property
    def numeric(self) -> bool:
        return True

    @property
    def integral(self) -> bool:
        """Whether it is an integer for certain."""
        return isinstance(self.tree, Affine) and self.tree.whole()

    @property
    def boolean(self) -> bool:
        """It is no truth value: comparisons are decided one way, and then the other."""
        return False


def support(law: Noise) -> tuple[Edge, Edge]:
    """Return between what noise lies."""
    if isinstance(law, Masses):
        return law.ends
    if isinstance(law, TwoSided):
        return -math.inf, math.inf
    lows, highs = zip(*((low, high) for low, high, _ in law.pieces), strict=True)
    return -math.inf if None in lows else min(lows), math.inf if None in highs else max(highs)


def leaves(tree: Tree) -> Iterator[Any]:
    """Yield the affine forms and the names of lists in a tree."""
    pending = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, Affine) or not isinstance(part, tuple):
            yield part
        else:
            pending += reversed(part[1:])


def names_in(leaf: Any) -> Iterator[tuple[str, int]]:
    """Yield the names of the unknown numbers in a leaf; a list is told."""
    if isinstance(leaf, Affine):
        yield from (name for name, _ in leaf.terms)
    elif type(leaf) is int:
        yield "told", leaf


def tree_of(expr: Expr) -> Tree:
    """Return a node as a tree: numbers are affine forms, other constants plain values."""
    if isinstance(expr, Symbol):
        return expr.tree
    assert isinstance(expr, Const)
    value = expr.values[0]
    return Affine((), Fraction(value)) if isinstance(value, (int, Fraction)) else value


def plus(one: Affine, other: Affine, factor: Fraction | int = 1) -> Affine:
    """Return one + factor·other."""
    total = dict(one.terms)
    for symbol, times_ in other.terms:
        total[symbol] = total.get(symbol, Fraction(0)) + factor * times_
    terms = tuple(sorted((symbol, each) for symbol, each in total.items() if each))
    return Affine(terms, one.constant + factor * other.constant)


def times(form: Affine, factor: Fraction | int) -> Affine:
    return plus(Affine((), Fraction(0)), form, factor)


def dependent(forms: Iterable[Affine], apart: str) -> bool:
    """Whether the parts of some forms that are made of real numbers depend on each other: then they have no density.

    Numbers of the kind `apart` do not count: others may have been made of them.
    """
    found: list[tuple[tuple[str, int], Affine]] = []
    for form in forms:
        if not form.real():
            continue
        reals = tuple(each for each in form.terms if each[0][0].startswith(REAL) and each[0][0] != REAL + apart)
        rest = Affine(reals, Fraction(0))
        for symbol, known in found:
            rest = plus(rest, known, -dict(rest.terms).get(symbol, Fraction(0)))
        if not rest.terms:
            return True
        symbol, factor = rest.terms[0]
        found.append((symbol, times(rest, 1 / factor)))
    return False


class Odds(NamedTuple):
    """How likely an outcome is by one that is drawn: a factor times powers, whose exponents are not known."""

    factor: Number
    powers: tuple[tuple[Number, Terms], ...]

    def put(self, form: Callable[[Affine], Affine]) -> Odds:
        """Return the odds with other forms as the exponents."""
        factor, powers = self.factor, []
        for base, terms in self.powers:
            left, constant = form(Affine(terms, Fraction(0)))
            factor = factor * power(base, constant)
            powers += [(base, left)] if left else []
        return Odds(factor, tuple(powers))


def power(base: Number, exponent: Fraction) -> Number:
    """Return a power; the exponent of a rational number is an integer."""
    return base**exponent if isinstance(base, ExpNumber) else base ** int(exponent)


def normal(form: Affine, strictly: bool) -> tuple[Terms, Fraction | int, bool]:
    """Return terms, a number, and whether form >= 0 (or > 0) says that the terms are at least this, or below it.

    The terms have integer factors without a common divisor, the first of them positive.
    """
    scale = math.lcm(*(factor.denominator for _, factor in form.terms))
    shared = Fraction(math.gcd(*(int(factor * scale) for _, factor in form.terms)), scale)
    edge = -form.constant / shared
    least = edge if form.real() else math.floor(edge) + 1 if strictly else math.ceil(edge)
    if form.terms[0][1] > 0:  # terms·v >= least
        return tuple((symbol, factor / shared) for symbol, factor in form.terms), least, True
    below = -least if form.real() else 1 - least
    return tuple((symbol, -factor / shared) for symbol, factor in form.terms), below, False


@dataclass(frozen=True)
class Path:
    """One way through the code of a record, or what is before or after: it is taken where `bounds` hold.

    `probability` is that of its finite draws, `noises` are the laws of its other draws. It sends `letter`,
    with the symbolic values `published` in their places, and leads to the state `target`, which holds `values`.
    Of draws whose weights are not known, `odds` has those of all other outcomes.
    """

    probability: Number
    noises: tuple[Noise, ...]
    bounds: Bounds
    letter: Letter
    published: tuple[Affine, ...]
    target: int
    values: tuple[Affine, ...]
    odds: tuple[tuple[Odds, ...], ...] = ()

    def exponents(self) -> Iterator[Terms]:
        """Yield the exponents in odds."""
        return (terms for each in self.odds for odds in each for _, terms in odds.powers)

    def edges(self) -> Iterator[Edge]:
        """Yield the ends of all bounds."""
        for low, high in self.bounds.values():
            yield low
            yield high


@dataclass(frozen=True)
class Paths:
    """All paths of a program: at its start, for each record from each state, and at its end from each state.

    Where it is `faithful`, the output determines the messages of all records, one of each (or there are none), and what
    is published at the end. Where they are `backwards`, the last record comes first.
    """

    states: int
    before: tuple[Path, ...]
    steps: dict[Any, dict[int, tuple[Path, ...]]]
    after: dict[int, tuple[Path, ...]]
    moves: tuple[Move, ...]
    all_at_once: bool
    faithful: bool
    backwards: bool = False

    def each(self) -> Iterator[Path]:
        yield from self.before
        for by in (*self.steps.values(), self.after):
            for paths in by.values():
                yield from paths


Names: TypeAlias = dict[tuple[str, int], tuple[str, int]]
"""What symbols are called on a path, by what they are called where they were made."""


def renamed(form: Affine, names: Names) -> Affine:
    """Return a form with its symbols by place. Raises LanguageError where one pass looks at what another found."""
    found: dict[tuple[str, int], Fraction] = {}
    for name, factor in form.terms:
        new = name if name[0] == "size" else names.get((name[0].removeprefix(REAL), name[1]))
        if new is None:
            raise refusal("it iterates over the records again with what it found in them")
        found[new] = found.get(new, Fraction(0)) + factor
    return Affine(tuple(sorted((name, factor) for name, factor in found.items() if factor)), form.constant)


def renamed_bounds(bounds: Bounds, names: Names) -> Bounds | None:
    """Return conditions by place; None where they contradict each other."""
    result: Bounds = {}
    for terms, (low, high) in bounds.items():
        new = renamed(Affine(terms, Fraction(0)), names).terms
        if new[0][1] < 0:
            new, low, high = times(Affine(new, Fraction(0)), -1).terms, -high, -low
        joined = intersected(result, {new: (low, high)})
        if joined is None:
            return None
        result = joined
    return result


def intersected(one: Bounds, other: Bounds) -> Bounds | None:
    result = dict(one)
    for terms, (low, high) in other.items():
        least, most = result.get(terms, (-math.inf, math.inf))
        result[terms] = max(low, least), min(high, most)
        if result[terms][0] > result[terms][1]:
            return None
    return result


def with_known(path: Path, known: Mapping[tuple[str, int], Affine]) -> Path | None:
    """Return a path with forms put in for some symbols; None where it is not taken with these."""

    def put(form: Affine) -> Affine:
        total = Affine(tuple(each for each in form.terms if each[0] not in known), form.constant)
        for name, factor in form.terms:
            total = plus(total, known[name], factor) if name in known else total
        return total

    bounds: Bounds = {}
    for terms, (low, high) in path.bounds.items():
        left, constant = put(Affine(terms, Fraction(0)))
        if not left and not low <= constant <= high:
            return None
        ends = low - constant, high - constant
        if left and left[0][1] < 0:
            left, ends = times(Affine(left, Fraction(0)), -1).terms, (-ends[1], -ends[0])
        joined = intersected(bounds, {left: ends} if left else {})
        if joined is None:
            return None
        bounds = joined
    return _with_forms(replace(path, bounds=bounds), put)


def _with_forms(path: Path, put: Callable[[Affine], Affine]) -> Path:
    """Return a path with other forms in all places but its bounds."""
    published, values = (tuple(map(put, some)) for some in (path.published, path.values))
    odds = tuple(tuple(each.put(put) for each in some) for some in path.odds)
    return replace(path, published=published, values=values, odds=odds)


# states


def together(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the paths, those that differ only in their finite draws merged."""
    found: dict[Any, Path] = {}
    for path in paths:
        bounds = tuple(sorted(path.bounds.items()))
        key = path.noises, bounds, path.letter, path.published, path.target, path.values, path.odds
        known = found.get(key)
        found[key] = path if known is None else replace(path, probability=known.probability + path.probability)
    return tuple(found.values())


def without_dead(paths: Paths) -> Paths:
    """Leave out the values that states hold and nothing comes of."""
    live: dict[int, set[int]] = {at: set() for at in range(paths.states)}
    ways = [(at, path) for by in (*paths.steps.values(), paths.after) for at, some in by.items() for path in some]
    ends = {id(path) for some in paths.after.values() for path in some}
    changed = True
    while changed:
        changed = False
        for at, path in ways:
            seen = [*path.bounds, *path.exponents(), *(each.terms for each in path.published)]
            if id(path) not in ends:
                seen += [path.values[place].terms for place in live[path.target]]
            here = {place for terms in seen for (kind, place), _ in terms if kind == "held"}
            if not here <= live[at]:
                live[at] |= here
                changed = True
    order = {at: sorted(places) for at, places in live.items()}

    def cut(path: Path, at: int | None, last: bool = False) -> Path:
        names: Names = {} if at is None else {("held", p): ("held", n) for n, p in enumerate(order[at])}
        names |= {("fresh", j): ("fresh", j) for j in range(len(path.noises))}
        values = [] if last else [path.values[place] for place in order[path.target]]
        return _unused(_with_names(replace(path, values=tuple(values)), names))

    return replace(
        paths,
        before=tuple(cut(path, None) for path in paths.before),
        steps={r: {at: together(cut(p, at) for p in some) for at, some in by.items()} for r, by in paths.steps.items()},
        after={at: together(cut(p, at, True) for p in some) for at, some in paths.after.items()},
    )


def _unused(path: Path) -> Path:
    """Leave out the noises of a path that nothing comes of."""
    seen = [*path.bounds, *path.exponents(), *(each.terms for each in (*path.published, *path.values))]
    kept = sorted({at for terms in seen for (kind, at), _ in terms if kind == "fresh"})
    if len(kept) == len(path.noises):
        return path
    names: Names = {("fresh", at): ("fresh", new) for new, at in enumerate(kept)}
    names |= {name: name for terms in seen for name, _ in terms if name[0] == "held"}
    return replace(_with_names(path, names), noises=tuple(path.noises[at] for at in kept))


def _with_names(path: Path, names: Names) -> Path:
    """Return a path whose symbols have other names."""
    bounds = renamed_bounds(path.bounds, names)
    assert bounds is not None
    return _with_forms(replace(path, bounds=bounds), lambda form: renamed(form, names))
