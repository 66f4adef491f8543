"""How a loop ends, from its chain: a law of the counters for each end, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, gcd
from typing import Any, NamedTuple

from flint import fmpq

from tightdp.cells.draws import Path, Rate
from tightdp.cells.generating import Generating
from tightdp.cells.linear import COUNTER, REAL, Rows
from tightdp.cells.loops import Chain, Ended, Rest, State
from tightdp.cells.noise import Outside
from tightdp.cells.pictures import Form, Shape
from tightdp.cells.series import Moves, closed_forms, visits
from tightdp.cells.sums import exact_number, rational_number
from tightdp.exact.absorbing import reaching
from tightdp.exact.field import Number, exp
from tightdp.language.laws import Exponentials


@dataclass(frozen=True)
class Outcome:
    """One way in which a loop ends: a weight, draws with conditions on them, and what is held then.

    Numbers are forms of the draws. Weights of outcomes may be negative; those of equal outcomes add to a probability.
    """

    weight: Number
    way: str
    laws: tuple[Exponentials, ...]
    rows: Rows
    residues: tuple[tuple[int, tuple[int, int]], ...]
    shape: Shape
    numbers: tuple[Any, ...]
    hidden: bool = False
    """Whether the last draw stands for a counter of which only the residue of `residues` is known."""


def outcomes(chain: Chain) -> list[Outcome]:
    """Return how a loop ends that was followed. Raises Outside where no closed form is found."""
    solving = _Solving(chain)
    return list(solving.by_factorials() if solving.rated else solving.by_recurrence())


class _Solving:
    """The chain of a loop with its states numbered, and the direction in which its counters grow together."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.index = {state: at for at, state in enumerate(chain.ends)}
        self.ends = [(state, end) for state, ends in chain.ends.items() for end in ends]
        self.rated = any(end.path.rates for _, end in self.ends)
        self.rounds = chain.rounds()
        read = chain.read
        self.steps = {id(end): chain.step(end, read) for _, end in self.rounds}
        alone = tuple(int(at in read) for at in range(len(chain.counters)))
        drawn = [alone for step in self.steps.values() if step.draws]  # then no other counter is read
        self.unit = _direction([*(step.counts for step in self.steps.values()), *drawn])
        self._check_ends()

    def _grown(self, end: Ended) -> int:
        """Return by how many units the counters grow in a round, or from where on they are begun anew."""
        return next((a // b for a, b in zip(self.steps[id(end)].counts, self.unit, strict=False) if b), 0)

    def _check_ends(self) -> None:
        """Raise Outside where a state leads to no end."""
        closed = {
            state for state, ends in self.chain.ends.items() if any(end.way != "round" for end in ends) or not ends
        }
        steps = {
            state: [self.chain.state(end) for end in ends if end.way == "round"]
            for state, ends in self.chain.ends.items()
        }
        if len(reaching(closed, steps)) < len(self.index):
            raise Outside("is drawn in a loop that can run for ever")

    def by_recurrence(self) -> Iterator[Outcome]:
        """Yield the outcomes of a loop whose rounds have the same law wherever counters stand."""
        size, chain = len(self.index), self.chain
        masses = {id(end): chain.mass(end.path) for _, end in self.ends}
        numbers = (*masses.values(), *(number for _, end in self.ends for number in end.path.numbers()))
        rational = all(isinstance(number, Fraction) for number in numbers)
        one: Any = fmpq(1) if rational else Fraction(1)
        apart = (at for state, at in self.index.items() if not any(isinstance(each, Rest) for each in state[1]))
        moves, spread = Moves(size, one, frozenset(apart)), []
        for state, end in self.rounds:
            step, grown = self.steps[id(end)], self._grown(end)
            mass: Any = exact_number(one, masses[id(end)])
            ways = self.index[state], self.index[chain.state(end)]
            if step.anew:
                moves.add_anew(*ways, mass, grown)
            elif step.draws:
                spread.append(mass)
                moves.add_spread(*ways, *_spread(end.path, step.draws, grown, mass))
            else:
                moves.add(*ways, mass, grown)
        each = visits(moves, moves.begun(spread.__getitem__))
        terms: list[list[Any]] = []

        def visited(k: int) -> list[Any]:
            while len(terms) <= k:
                terms.append(next(each))
            return terms[k]

        for alike in self._alike():
            end = alike[0][1]
            drawn = bool(end.path.laws or end.path.rows)
            shares = [(self.index[state], end.path.weight if drawn else masses[id(end)]) for state, end in alike]
            weights = [(s, exact_number(one, share)) for s, share in shares]

            def term(k: int, weights: list[tuple[int, Any]] = weights) -> Any:
                line = visited(k)
                return sum((line[s] * weight for s, weight in weights), 0 * weights[0][1])

            if moves.still:
                yield self._outcome(end, rational_number(term(0)), 0, ())
                continue
            forms = closed_forms(term, moves.order)
            for at, form in enumerate(forms):
                for k, first in enumerate(form.first):
                    if first:
                        yield self._outcome(end, first, at + len(forms) * k, ())
                for coefficient, base, times in form.tail:
                    law = Exponentials(0, Fraction(1), ((Fraction(0), None, base),), real=False)
                    begun = at + len(forms) * form.start
                    yield self._outcome(end, coefficient, begun, (law,) * (times + 1), len(forms))

    def by_factorials(self) -> Iterator[Outcome]:
        """Yield the outcomes of a loop that goes on with probability γ/(K + c) in its round K: an exponential series.

        It is at K with probability (c - 1)!·γ^K/(K + c - 1)!, and sums over every other K are hyperbolic functions.
        """
        rate, weight = self._going_on()
        scale = Fraction(1)
        unit = self.unit[rate.counter - COUNTER - self.chain.first]
        gamma, start = rate.above / unit * weight, rate.below // unit
        for m in range(1, start):
            scale = scale * m / gamma
        for _, end in self.ends:
            if end.way == "round":
                continue
            now: Number = end.path.weight * scale
            later: Number = Fraction(0)
            for shown in end.path.rates:
                if shown[:-1] != rate[:-1] or later:
                    raise Outside("is drawn in a loop with several coins that its counter decides")
                later = now / weight if shown.shown else -now / weight
                now = 0 * now if shown.shown else now
            for residue in (0, 1):
                mass = now * _half(gamma, start - 1, residue) + later * _half(gamma, start, residue)
                point = Exponentials(0, Fraction(1), ((Fraction(residue), Fraction(residue), Fraction(1)),), real=False)
                yield self._outcome(end, mass, 0, (point,), residue=residue)

    def _going_on(self) -> tuple[Rate, Fraction]:
        """Return the coin that a loop with one state goes on by, and the probability that it does else."""
        if len(self.rounds) == len(self.index) == 1:
            path = self.rounds[0][1].path
            one = len(path.rates) == 1 and path.rates[0].shown and not path.laws
            if one and self._grown(self.rounds[0][1]) == 1 and isinstance(path.weight, Fraction):
                at = path.rates[0].counter - COUNTER - self.chain.first
                if 0 <= at < len(self.unit) and self.unit[at] and path.rates[0].below % self.unit[at] == 0:
                    return path.rates[0], path.weight
        raise Outside("is drawn in a loop with a coin that its counter decides in another way than p / k")

    def _alike(self) -> Iterable[list[tuple[State, Ended]]]:
        """Return the ends of the loop by what is held then; those that draw stand alone."""
        found: dict[Any, list[tuple[State, Ended]]] = {}
        for state, end in self.ends:
            if end.way != "round":
                drawn = end.path.laws or end.path.rows
                key = end.way, end.shape, end.numbers, id(end) if drawn else None
                found.setdefault(key, []).append((state, end))
        return found.values()

    def _outcome(
        self,
        end: Ended,
        weight: Number,
        counted: int,
        more: Sequence[Exponentials],
        period: int = 1,
        residue: int | None = None,
    ) -> Outcome:
        path = end.path
        laws = (*(path.laws[v] for v in sorted(path.laws)), *more)
        names = {v: -1 - at for at, v in enumerate(sorted(path.laws))}
        new = tuple(-1 - at for at in range(len(path.laws), len(laws)))
        first, drawn = COUNTER + self.chain.first, dict.fromkeys(new, period)
        held = tuple(_moved(number, first, self.unit, counted, drawn) for number in end.numbers)
        rows = frozenset((tuple((names[v], c) for v, c in normal), bound) for normal, bound in path.rows)
        residues = tuple((names[v], each) for v, each in path.residues.items())
        if residue is not None:
            residues = (*residues, (new[-1], (residue, 2)))
        return Outcome(weight, end.way, laws, rows, residues, end.shape, held, residue is not None)


def _spread(path: Path, draws: Sequence[tuple[int, int]], grown: int, mass: Any) -> tuple[Callable[[int], Any], int]:
    """Return how likely it is that a counter grows by d, and a degree of that as a rational series.

    It grows by a number and multiples of draws, which meet no conditions. Raises Outside where that is not so.
    """
    outside = Outside("is drawn in a loop, and goes on to the next round")
    ordered = sorted(path.laws)
    asked = {v for normal, _ in path.rows for v, _ in normal} | path.residues.keys()
    if path.rates or any(ordered[-1 - v] in asked for v, _ in draws):
        raise outside
    terms, degree = [0 * mass] * grown + [mass], grown
    factors = []
    for v, times in draws:
        power: Any
        (low, high, power), *more = path.laws[ordered[-1 - v]].pieces
        if more or low is None or low < 0 or path.laws[ordered[-1 - v]].real:
            raise outside
        width = None if high is None else int(high - low) + 1
        law = power if isinstance(power, Generating) else _Powers(exact_number(mass, power), width)
        factors.append((int(low) * times, times, law))
        degree += times * (int(low) + law.order)
    known: list[list[Any]] = [[]]

    def term(d: int) -> Any:
        if d >= len(known[0]):
            known[0] = _product(terms, factors, 2 * d + 1)
        return known[0][d] if d < len(known[0]) else 0 * mass

    return term, degree


class _Powers(NamedTuple):
    """The powers of a base, so many of them."""

    base: Any
    width: int | None

    @property
    def order(self) -> int:
        return self.width or 1

    @property
    def total(self) -> Any:
        return 1 / (1 - self.base) if self.width is None else sum(map(self.term, range(self.width)), 0 * self.base)

    def term(self, k: int) -> Any:
        return 0 * self.base if self.width is not None and k >= self.width else self.base**k


def _product(terms: Sequence[Any], factors: Sequence[tuple[int, int, Any]], many: int) -> list[Any]:
    """Return so many terms of a series times Σ q(k) w^(first + times·k), with q as the terms of a law, Σ q = 1."""
    found = [*terms, *[0 * terms[-1]] * many][:many]
    for first, times, law in factors:
        share = 1 / law.total
        each = [share * law.term(k) for k in range((many - 1 - first) // times + 1)]
        before, found = found, [0 * found[0]] * many
        for d in range(first, many):
            for k in range((d - first) // times + 1):
                found[d] += before[d - first - times * k] * each[k]
    return found


def _half(gamma: Fraction, first: int, residue: int) -> Number:
    """Return Σ γ^m/m! over m = first + residue, first + residue + 2, ..."""
    even = (first + residue) % 2 == 0
    total = (exp(gamma) + exp(-gamma)) / 2 if even else (exp(gamma) - exp(-gamma)) / 2
    for m in range((first + residue) % 2, first + residue, 2):
        total = total - gamma**m / factorial(m)
    return total


def _direction(steps: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the one direction in which counters grow together, by the smallest step."""
    moved = sorted({step for step in steps if any(step)}, key=sum)
    if not moved:
        return ()
    least = moved[0]
    common = gcd(*(gcd(*step) for step in moved))
    unit = tuple(each // gcd(*least) for each in least)
    unit = tuple(each * gcd(common, gcd(*least)) for each in unit) if common else unit
    for step in moved:
        at = next(at for at, each in enumerate(unit) if each)
        times = Fraction(step[at], unit[at])
        if times.denominator > 1 or tuple(each * times for each in unit) != step:
            raise Outside("is drawn in a loop with several counters")
    return unit


def _moved(number: Any, first: int, unit: tuple[int, ...], counted: int, new: Mapping[int, int]) -> Any:
    """Return a number at the end with counters written by the draws of an outcome."""
    if not isinstance(number, Form):
        return number
    coefficients: dict[int, Any] = {}
    constant = number.constant
    for v, c in number.coefficients:
        if not first <= v < REAL:
            coefficients[v] = coefficients.get(v, 0) + c
            continue
        times = c * (unit[v - first] if unit else 0)
        constant += times * counted
        for w, period in new.items():
            coefficients[w] = coefficients.get(w, 0) + times * period
    return Form(tuple(sorted((v, c) for v, c in coefficients.items() if c)), constant)
