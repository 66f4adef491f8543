"""Programs that publish one sum over records that they treat alike: what every record adds to it, and to the error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightdp.core.lowering.records_alike import RecordsAlike, lower_alike
from tightdp.core.nodes import Apply, Const, Draw, Expr, Input, Nary, reachable
from tightdp.exact.extremes import extremes
from tightdp.exact.field import Number
from tightdp.exact.rationals import as_fraction
from tightdp.exact.weights import quotient
from tightdp.language.domains import Record
from tightdp.language.laws import OnIntegers
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import WIDEST_LETTER
from tightdp.methods.aggregate import contributions
from tightdp.queries.enclosed.counts import Letters, Noise
from tightdp.queries.measures import AccuracyAt

Law = dict[int, Number]
Added = list[tuple[tuple[int, ...], Number]]
"""What one record may add to the sums, with the probabilities."""
Affine = tuple[dict[int, Fraction], Fraction]
"""A linear function of the sums, by number, and of draws, by -1 - their serial number; and a constant."""


@dataclass(frozen=True)
class _Lettered:
    """n records: those of `records[i]` add something with the law `letters[i]`."""

    n: int
    letters: tuple[Law, ...]
    records: tuple[tuple[Record, ...], ...]
    noises: tuple[Noise, ...]
    """Besides the records, integer multiples of independent draws add to the sum."""

    def summands(self, least: float, step: int = 1) -> Letters:
        """Return the laws of sums, whose ends are cut off where they hold less than `least`."""
        return Letters(self.letters, least, step, self.noises)

    def dataset(self, counts: Sequence[int]) -> Dataset:
        """Return a dataset with these counts of letters."""
        return tuple(records[0] for records, times in zip(self.records, counts, strict=True) for _ in range(times))


@dataclass(frozen=True)
class PublishedSum(_Lettered):
    """The sum is published, or something that determines it; `moves` are the changes of one record, by letters."""

    moves: dict[tuple[int, int], tuple[Record, Record]]

    def neighbours(self, others: Sequence[int], move: tuple[int, int]) -> tuple[Dataset, Dataset]:
        """Return neighbours whose other records have these counts of letters."""
        before, after = self.moves[move]
        return (before, *self.dataset(others)), (after, *self.dataset(others))


@dataclass(frozen=True)
class ErrorSum(_Lettered):
    """The error of the output is (sum - centre) / scale; the target is a constant and what every record adds to it."""

    centre: Fraction
    scale: Fraction
    constant: Fraction
    targets: tuple[Fraction, ...]
    """What a record adds to the target, by letter."""

    @property
    def step(self) -> int:
        """The greatest common divisor of the differences of two values that the same record may add."""
        noise = (times * (value - min(law)) for times, law in self.noises if isinstance(law, dict) for value in law)
        endless = (times for times, law in self.noises if isinstance(law, OnIntegers))
        return math.gcd(*(value - min(law) for law in self.letters for value in law), *noise, *endless) or 1

    def window(self, question: AccuracyAt, low: Sequence[int], left: int) -> tuple[int, int]:
        """Return the least and the largest sum that is near the target of all datasets with `left` records undecided.

        `low` says how many records have each letter that are decided.
        """
        target = self.constant + sum((times * each for times, each in zip(low, self.targets, strict=True)), Fraction(0))
        least, most = target + left * min(self.targets), target + left * max(self.targets)
        nearest = max(least, min(most, Fraction(0)))  # where the error bound is smallest
        start, end = (as_fraction(each - nearest) * self.scale for each in question.within(nearest))
        return math.ceil(self.centre + start), math.floor(self.centre + end)


def published_sum(bound: Bound, watch: Callable[[], None]) -> PublishedSum | None:
    """Return what is published, where it is one sum over records that are treated alike; None elsewhere."""
    relation = relation_of(bound)
    cut = _cut(bound, False, watch)
    if cut is None or not relation.one_record:
        return None
    by = _read_off(cut)
    if by is None:
        return None
    weighed = _weighed(cut, _added(bound, cut), by)
    if weighed is None:
        return None
    letters, records = _letters(bound, weighed[0])
    if relation.name == "replace-one":  # no divergence is larger at a mixture
        kept = extremes(letters)
        letters, records = tuple(letters[at] for at in kept), tuple(records[at] for at in kept)
    if not _narrow(letters):
        return None
    place = {record: at for at, alike in enumerate(records) for record in alike}
    moves: dict[tuple[int, int], tuple[Record, Record]] = {}
    for old, others in relation.steps.items():
        for new in others if old in place else ():
            if new in place and place[old] != place[new]:
                moves.setdefault((place[old], place[new]), (old, new))
    return PublishedSum(bound.n, letters, records, weighed[1], moves)


def error_sum(bound: Bound, relative: bool, watch: Callable[[], None]) -> ErrorSum | None:
    """Return the error, where output and target are linear in sums over records that are treated alike.

    Records with the same letter add the same to the target where this matters, as the error is `relative` to it.
    """
    if bound.program.target is None:
        return None
    cut = _cut(bound, True, watch)
    if cut is None or len(cut.rest.components) != 2 or cut.rest.shape.several:
        return None
    output, target = map(_affine, cut.rest.components)
    if output is None or target is None:
        return None
    by, _ = _weighted([(output, Fraction(1)), (target, Fraction(-1))])
    added = _added(bound, cut)
    weighed = _weighed(cut, added, by)
    if weighed is None:
        return None
    laws, noises, whole = weighed
    shares = [_certain(cut, target[0], law) for law in added]
    letters, records = _letters(bound, laws, shares if relative else None)
    if not _narrow(letters):
        return None
    targets = tuple(shares[bound.record.values.index(alike[0])] for alike in records)
    return ErrorSum(bound.n, letters, records, noises, (target[1] - output[1]) * whole, whole, target[1], targets)


def _certain(cut: RecordsAlike, by: dict[int, Fraction], law: Added) -> Fraction:
    """Return what a record adds to a linear function of the sums that no draw changes."""
    factors = [by.get(leaf.client, Fraction(0)) for leaf in cut.rest.inputs]
    return sum((factor * value for factor, value in zip(factors, law[0][0], strict=True)), Fraction(0))


def _cut(bound: Bound, target: bool, watch: Callable[[], None]) -> RecordsAlike | None:
    if bound.record.size > WIDEST_LETTER // 16 or relation_of(bound).custom:
        return None
    return lower_alike(bound, target, watch)


def _weighed(
    cut: RecordsAlike, records: Sequence[Added], by: dict[int, Fraction]
) -> tuple[list[Law], tuple[Noise, ...], Fraction] | None:
    """Return what every record, and every draw, adds to a linear function of the sums, and how many units make 1.

    None where the law of a draw is not one of integers.
    """
    factors = [by.get(leaf.client, Fraction(0)) for leaf in cut.rest.inputs]
    draws = [(factor, _drawn(cut, key)) for key, factor in by.items() if key < 0 and factor]
    scale = math.lcm(*(factor.denominator for factor in [*factors, *(factor for factor, _ in draws)]))
    laws: list[Law] = []
    for law in records:
        added: Law = {}
        for values, mass in law:
            value = int(sum(f * v for f, v in zip(factors, values, strict=True)) * scale)
            added[value] = added.get(value, Fraction(0)) + mass
        laws.append(added)
    times = [int(factor * scale) for factor, _ in draws]
    shared = math.gcd(*(value for law in laws for value in law), *times) or 1
    noises: list[Noise] = []
    for number, (_, noise) in zip(times, draws, strict=True):
        if noise is None:
            return None
        noises.append((number // shared, noise))
    return (
        [{value // shared: mass for value, mass in law.items()} for law in laws],
        tuple(noises),
        Fraction(scale, shared),
    )


def _drawn(cut: RecordsAlike, key: int) -> Law | OnIntegers | None:
    """Return the law of a draw, None where it is not one of integers that is the same on all runs."""
    serial = -1 - key
    if serial in cut.noises:
        return cut.noises[serial]
    draw = next(expr for expr in reachable(cut.rest.components) if expr.serial == serial)
    assert isinstance(draw, Draw)
    law = draw.laws[0]
    if law is None or not all(isinstance(value, int) for value, _ in law):
        return None
    return {int(value): mass for value, mass in law}


def _added(bound: Bound, cut: RecordsAlike) -> list[Added]:
    return [
        [(tuple(map(int, values)), quotient(weight, law.denominator)) for values, weight in law.weights]
        for law in contributions(cut.part, bound.record, "cudd")
    ]


def _letters(
    bound: Bound, laws: Sequence[Law], shares: Sequence[Fraction] | None = None
) -> tuple[tuple[Law, ...], tuple[tuple[Record, ...], ...]]:
    """Return the distinct laws, and the records that have each; with `shares`, records with the same share."""
    letters: dict[tuple[object, tuple[tuple[int, Number], ...]], list[Record]] = {}
    for at, (record, law) in enumerate(zip(bound.record.values, laws, strict=True)):
        letters.setdefault((shares and shares[at], tuple(sorted(law.items()))), []).append(record)
    return tuple(dict(law) for _, law in letters), tuple(map(tuple, letters.values()))


def _narrow(letters: Sequence[Law]) -> bool:
    return all(max(law) - min(law) <= WIDEST_LETTER for law in letters)


def _read_off(cut: RecordsAlike) -> dict[int, Fraction] | None:
    """Return the linear function of the sums that is equivalent to the output, None if there is none."""
    found = [
        affine[0] for affine in map(_affine, cut.rest.components) if affine is not None and any(affine[0].values())
    ]
    noisy = any(key < 0 for by in found for key in by)
    alone = (len(cut.rest.inputs) == 1 and not noisy) or len(cut.rest.components) == 1
    return found[0] if found and alone else None


def _affine(expr: Expr) -> Affine | None:
    """Return a node as a linear function of the inputs, by client, or None where it is not recognized as one."""
    match expr:
        case Input():
            return {expr.client: Fraction(1)}, Fraction(0)
        case Draw() if len(expr.selector.values) == 1 and expr.active is None:
            return {-1 - expr.serial: Fraction(1)}, Fraction(0)
        case Const(values=(int() | Fraction() as value,)):
            return {}, Fraction(value)
        case Apply() | Nary():
            parts = [_affine(operand) for operand in expr.operands]
            known = [part for part in parts if part is not None]
            return None if len(known) < len(parts) else _combined(expr.operator, known)
    return None


def _combined(operator: str, parts: Sequence[Affine]) -> Affine | None:
    match operator, parts:
        case ("add" | "sum", _):
            return _weighted([(part, Fraction(1)) for part in parts])
        case ("sub", (left, right)):
            return _weighted([(left, Fraction(1)), (right, Fraction(-1))])
        case ("neg", (part,)):
            return _weighted([(part, Fraction(-1))])
        case ("pos" | "fraction", (part,)):
            return part
        case ("mul", ((by, factor), part)) if not by:
            return _weighted([(part, factor)])
        case ("mul", (part, (by, factor))) if not by:
            return _weighted([(part, factor)])
        case ("div", (part, (by, divisor))) if not by and divisor:
            return _weighted([(part, 1 / divisor)])
    return None


def _weighted(parts: Sequence[tuple[Affine, Fraction]]) -> Affine:
    total: dict[int, Fraction] = {}
    for (by, _), factor in parts:
        for client, share in by.items():
            total[client] = total.get(client, Fraction(0)) + factor * share
    return total, sum((constant * factor for (_, constant), factor in parts), Fraction(0))
