"""One run of a program: the choices that it makes, and what is decided on it of numbers that are not known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from tightdp.every_n.counters import refuse_cut_off
from tightdp.every_n.edges import finite
from tightdp.every_n.paths import (
    REAL,
    SIZE,
    Affine,
    Bounds,
    Noise,
    Odds,
    Terms,
    Tree,
    leaves,
    names_in,
    normal,
    power,
    refusal,
    support,
)
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials, Law, TwoSided
from tightdp.limits.calibrated import FEW_VALUES

_MOST_DRAWS = 200
EITHER_WAY: Law = ((0, Fraction(1)), (1, Fraction(1)))
_EITHER: Law = ((0, Fraction(1, 2)), (1, Fraction(1, 2)))
TOLD = ("told", "sum")
LATER = ("post", REAL + "post")
"""Kinds of noise that is drawn after records were gone through."""
TURN = -1
"""The token of the index of the record at hand."""
MARKED, PASSED = "marked", "passed"
"""Kinds of symbols: the index of an earlier record with a mark, and of one without."""
_INDEXES = ("index", MARKED, PASSED)
PLACED = ("told", *_INDEXES)


class Untraceable(Exception):
    """Noise is used in a way that is not followed for all integers at once."""


class Touched(Exception):
    """More is asked of something that grows with the records than what is added to it."""

    def __init__(self, token: int, asked: str = "", modulus: int = 0) -> None:
        super().__init__()
        self.token, self.asked, self.modulus = token, asked, modulus


class Met(Exception):
    """A run comes to where an earlier one was: what follows is known."""


class Meets(Protocol):
    """Where runs meet."""

    def reached(self, choices: Choices, key_of: Callable[[], Any], gate: bool = False) -> None:
        """Note where a run is. Raises Met where an earlier one was there."""
        ...


class Choices:
    """The choices of a run in order: those that are given, then the first of every law."""

    def __init__(self, past: Sequence[tuple[Law, int]] = (), meeting: Meets | None = None) -> None:
        self._past, self.meeting = past, meeting
        self.made: list[tuple[Law, int]] = []
        self.node, self.looked = 0, 0
        """Where the run was last, and how many choices it had made there."""
        self.weight: Number = Fraction(1)
        """How likely what was drawn since then is."""

    def choose(self, law: Law) -> int:
        """Return the place of the outcome."""
        at = len(self.made)
        self.made.append(self._past[at] if at < len(self._past) else (law, 0))
        if len(self.made) > _MOST_DRAWS:
            raise refusal("one run makes too many draws for one record", "bound the loops, or ask for one n")
        return self.made[-1][1]

    def next(self) -> list[tuple[Law, int]] | None:
        """Return the choices of the next run; None after the last."""
        past = list(self.made)
        while past and past[-1][1] + 1 == len(past[-1][0]):
            past.pop()
        if past:
            past[-1] = past[-1][0], past[-1][1] + 1
        return past or None


@dataclass
class Manner:
    """How a program is read: whether sums over the records are a part of the state, else they are messages.

    Noise that is divided may be known by what is left of it `modulo` a number only, where that is not 0, and nothing
    else looks at it. By what it was `divided` is noted: the least common multiple.
    """

    sums: bool
    modulo: int = 0
    divided: int = 1


class Run:
    """What happens on one run of a part of the program: before the records, at one of them, or after them.

    `kind` names the noise of this part; `open_` says whether sums over the records may be compared in it.
    """

    def __init__(
        self,
        kind: str,
        choices: Choices,
        inside: bool,
        manner: Manner,
        opened: frozenset[int] = frozenset(),
        earlier: Callable[[Tree], bool | None] = lambda tree: None,
        before: Run | None = None,
    ) -> None:
        self.kind, self.choices, self.inside, self.manner = kind, choices, inside, manner
        self._opened = opened
        """The sums that are compared while records are gone through."""
        self._earlier = earlier
        """How a comparison of what was found before came out; None for others."""
        self.probability: Number = Fraction(1)
        """How likely its draws are, once all runs are known."""
        self.noises: list[Noise] = []
        self.odds: list[tuple[Odds, ...]] = []
        self.bounds: Bounds = {}
        self.asked: list[tuple[Tree, bool]] = []
        self.rests: dict[tuple[str, int], int] = {}
        """What is left of noise."""
        self._drawn = {kind: self.noises} if kind != "pre" else {}
        """The noise that may be known by that only."""
        if before is not None:
            self._drawn[before.kind] = before.noises
        self._ways = 0

    def draw(self, law: Law) -> Any:
        """Return an outcome of a finite law."""
        if len(law) == 1:
            return law[0][0]
        outcome, probability = law[self.choices.choose(law)]
        self.choices.weight = self.choices.weight * probability
        return outcome

    def weighed(self, odds: Mapping[int, tuple[Odds, ...]]) -> int:
        """Return an outcome of a draw whose weights are not known."""
        at = list(odds)[self.choices.choose(tuple((at, Fraction(1)) for at in odds))]
        self.odds.append(odds[at])
        return at

    def noise(self, law: Noise) -> Affine:
        """Return symbolic noise."""
        kind = REAL * (isinstance(law, Exponentials) and law.real) + self.kind
        terms: Terms = (((kind, len(self.noises)), Fraction(1)),)
        low, high = support(law)
        if finite(low) or finite(high):
            self.bounds[terms] = low, high
        self.noises.append(replace(law, centre=0))
        return Affine(terms, Fraction(law.centre))

    def rest(self, name: tuple[str, int], modulus: int) -> int | None:
        """Return what is left of noise modulo a number, which is drawn; None where noise is needed as it is."""
        kind, at = name
        if kind not in self._drawn:
            return None
        manner = self.manner
        manner.divided = math.lcm(manner.divided, modulus)
        if not manner.modulo:
            return None
        if manner.modulo % modulus:
            raise Untraceable
        if name not in self.rests:
            self.rests[name] = self.draw(tuple(enumerate(rests(self._drawn[kind][at], manner.modulo))))
        return self.rests[name] % modulus

    def refuse_divided(self, seen: Iterable[Terms]) -> None:
        """Raise Untraceable where something looks at noise that is known by what is left of it only."""
        if self.rests and any(name in self.rests for terms in seen for name, _ in terms):
            raise Untraceable

    def clean(self, form: Affine) -> bool:
        """Whether comparisons of a form are followed, for all integers that it may be."""
        return not any(kind in PLACED or (kind == "sum" and not self.manner.sums) for (kind, _), _ in form.terms)

    def at_least(self, form: Affine, strictly: bool) -> bool:
        """Decide form >= 0, or > 0: as earlier comparisons on this run imply, or else both ways in turn."""
        known = self._earlier(("gt" if strictly else "ge", form))
        if known is not None:
            return known
        terms, value, upward = normal(form, strictly)
        self.check(terms)
        below = value if form.real() else value - 1
        low, high = self.bounds.get(terms, (1 if terms == SIZE else -math.inf, math.inf))
        if low >= value or high <= below:
            return (low >= value) == upward
        if form.real() and not self._spread(terms):
            raise Untraceable
        if of_size(terms):
            yes = self._of_n(("ge", Affine(terms, Fraction(-value))))
            self.bounds[terms] = (value, high) if yes else (low, below)
            return yes == upward
        self._ways += 1
        if self._ways > FEW_VALUES:
            raise Untraceable
        if self.choices.choose(EITHER_WAY):
            self.bounds[terms] = value, high
            return upward
        self.bounds[terms] = low, below
        return not upward

    def _spread(self, terms: Terms) -> bool:
        """Whether a combination with real numbers has any one value with probability 0, as densities have.

        It has where noise is in it that only this run has, or nothing but what was drawn before the records, or nothing
        but what one pass holds (which has a density; see `Freezer`).
        """
        reals = {
            (kind, at // 1000 if kind == REAL + "slot" else -1) for (kind, at), _ in terms if kind.startswith(REAL)
        }
        return any(kind == REAL + self.kind for kind, _ in reals) or len(reals) == 1

    def check(self, terms: Terms) -> None:
        """Refuse to look at what grows, or at the place of a record, while records are gone through."""
        refuse_cut_off(Affine(terms, Fraction(0)))
        for (kind, at), _ in terms:
            if kind in ("stale", *_INDEXES) and (self.inside or kind == "stale"):
                raise refusal("the index of a record decides what happens here", "publish the index only")
            if self.inside and kind in TOLD and not (kind == "sum" and at in self._opened):
                raise Touched(at)

    def answer(self, tree: Tree) -> bool:
        """Decide what is a function of something published: both ways in turn, and that is published too."""
        earlier = self._earlier(tree)
        if earlier is not None:
            return earlier
        kinds = set()
        for leaf in leaves(tree):
            if isinstance(leaf, Affine):
                self.check(leaf.terms)
                kinds |= {kind for (kind, _), _ in leaf.terms}
            elif self.inside and isinstance(leaf, int):
                raise Touched(leaf)
            else:
                kinds.add("told")
        for known, answer in self.asked:
            if known == tree:
                return answer
        return self._of_n(tree) if kinds <= {"size"} else self.either(tree)

    def has(self, tree: Tree) -> bool:
        """Whether the noise in a comparison was drawn on this run."""
        names = (name for leaf in leaves(tree) for name in names_in(leaf))
        return all(at < len(self.noises) for kind, at in names if kind in LATER)

    def decide(self, tree: Tree) -> bool:
        """Decide a comparison that the code of a record will ask for."""
        if len(tree) == 2 and self.clean(tree[1]):
            return self.at_least(tree[1], tree[0] == "gt")
        return self.answer(tree)

    def _of_n(self, tree: Tree) -> bool:
        """Decide what n says, after the records: neighbours have as many, so that the answer may be published."""
        if self.kind != "post":
            raise refusal("n decides what happens here", "ask for one n, or decide it after the records")
        return self.either(tree)

    def either(self, tree: Tree) -> bool:
        """Go both ways in turn, each with probability 1/2, and publish which."""
        answer = bool(self.choices.choose(_EITHER))
        self.choices.weight = self.choices.weight / 2
        self.asked.append((tree, answer))
        return answer


def rests(law: Noise, modulus: int) -> list[Number]:
    """Return how likely noise on all integers around 0 is to leave 0, 1, 2, ... when it is divided by a number."""
    if not isinstance(law, TwoSided):
        raise Untraceable
    once, around = law.mass(0), power(law.ratio, Fraction(modulus))
    powers = [power(law.ratio, Fraction(distance)) for distance in range(modulus + 1)]
    return [once * (powers[rest] + powers[modulus - rest]) / (1 - around) for rest in range(modulus)]


def of_size(terms: Terms) -> bool:
    """Whether n is the only unknown."""
    return all(kind == "size" for (kind, _), _ in terms)
