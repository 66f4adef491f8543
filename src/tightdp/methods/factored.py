"""Programs whose output falls into parts that are independent given the dataset, such as a noisy histogram.

Each part sees the clients through aggregates of its own. Two neighbours then differ in some of the parts only, and
every divergence between their output laws is that between the laws of these parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import gcd, prod
from typing import Any

from tightdp.core.nodes import Choice, CoreProgram, Draw, Input, Leaf, Shape, TupleOf, reachable
from tightdp.core.passes import Arrangement
from tightdp.language.domains import Record
from tightdp.language.neighbours import changes_one_record, record_steps
from tightdp.language.program import Bound, Dataset, Output
from tightdp.logic.count import Weights
from tightdp.logic.encode import encode
from tightdp.methods.aggregate import Aggregate, Contribution, marginal
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.local import ELSEWHERE
from tightdp.methods.ratios import Ratio
from tightdp.symmetry.orbits import Group, Orbits
from tightdp.symmetry.sets import MAX_KEPT, PrivacySet, Table

__all__ = ["FactoredTable", "find_factored_table"]

_PART_BITS = 16


class _Seen(tuple[Any, ...]):
    """A dataset, looked at for some parts of the output."""

    parts: tuple[int, ...]


class FactoredTable(Table):
    """The laws of the parts of an output; `components[j]` are the output components of part j."""

    def __init__(
        self,
        bound: Bound,
        whole: AggregateTable,
        parts: Sequence[AggregateTable],
        components: Sequence[tuple[int, ...]],
    ) -> None:
        super().__init__(bound, whole.formula)
        self._whole = whole
        self._parts = tuple(parts)
        self._components = tuple(components)
        self._subsets: dict[tuple[int, ...], int] = {}
        self._products: dict[Any, Weights] = {}
        self._held = 0
        self._numbers: dict[Any, int] = {}
        self._laws_seen: dict[Any, int] = {}

    @property
    def affordable(self) -> bool:
        """Whether the laws of all parts fit in memory and time."""
        return all(part.affordable for part in self._parts)

    def weights(self, x: Dataset) -> Weights:
        if not isinstance(x, _Seen):
            return self._whole.weights(x)
        key = (x.parts, *(self._parts[part].orbits.counts(x) for part in x.parts))
        if key not in self._products:
            by_code, total = {0: 1}, 1
            for part in x.parts:
                law, bits = self._parts[part].weights(tuple(x)), self._bits(part)
                total *= law.total
                by_code = {
                    code << bits | own: weight * share
                    for code, weight in by_code.items()
                    for own, share in law.by_code.items()
                }
            number = self._subsets.setdefault(x.parts, len(self._subsets))
            self._held += len(by_code)
            if self._held > MAX_KEPT:
                self._products, self._held = {}, len(by_code)
            self._products[key] = Weights({code << _PART_BITS | number: w for code, w in by_code.items()}, total)
        return self._products[key]

    def _bits(self, part: int) -> int:
        return len(self._parts[part].formula.output_bits)

    def output(self, code: int) -> Output:
        number, bits = code & (1 << _PART_BITS) - 1, code >> _PART_BITS
        values: list[Any] = [ELSEWHERE] * len(self.formula.values)
        for part in reversed(list(self._subsets)[number]):
            length = self._bits(part)
            own = self._parts[part].formula.component_values(bits & (1 << length) - 1)
            bits >>= length
            for component, value in zip(self._components[part], own, strict=True):
                values[component] = value
        return self.formula.shape.decode(values)

    def privacy_set(self, watch: Callable[[], None] = lambda: None) -> PrivacySet:
        """Return one pair of neighbours for every change of the counts that the parts see."""
        return PrivacySet(lambda: self._pairs(watch))

    def _pairs(self, watch: Callable[[], None]) -> Iterator[tuple[Dataset, Dataset, int]]:
        merged: dict[Any, tuple[Dataset, Dataset, int]] = {}
        for parts in sorted({self._changed(*move) for move in self._moves()}):
            coarse = self._coarse_orbits(parts)
            for change in coarse.changes_of_one(self.bound, lambda *move, parts=parts: self._changed(*move) == parts):
                watch()
                x, other = coarse.neighbours(change)
                laws = [(self._law_number(part, x), self._law_number(part, other), part) for part in parts]
                differing = [entry for entry in laws if entry[0] != entry[1]]
                key = tuple(sorted(entry[:2] for entry in differing))
                shown = tuple(part for *_, part in differing)
                first = merged.get(key) or (_seen(x, shown), _seen(other, shown), 0)
                merged[key] = *first[:2], first[2] + change.size
        yield from merged.values()

    def _moves(self) -> Iterator[tuple[int, Record, Record]]:
        """Yield every way in which a client of a group may change its record."""
        for at in range(len(self._whole.orbits.groups)):
            for old, after in record_steps(self.bound).items():
                yield from ((at, old, new) for new in after if new != old)

    def _changed(self, group: int, old: Record, new: Record) -> tuple[int, ...]:
        """Return the parts to which a client of a group contributes something else when it changes its record."""
        letters = [part.orbits.groups[group].letter_of for part in self._parts]
        return tuple(at for at, letter_of in enumerate(letters) if letter_of[old] != letter_of[new])

    def _coarse_orbits(self, parts: tuple[int, ...]) -> Orbits:
        """Return the classes of datasets that some parts tell apart."""
        groups = []
        for at, group in enumerate(self._whole.orbits.groups):
            letters: dict[Any, list[Record]] = {}
            for record in self.bound.record.values:
                seen = tuple(self._parts[part].orbits.groups[at].letter_of[record] for part in parts)
                letters.setdefault(seen, []).append(record)
            groups.append(Group(group.clients, tuple(map(tuple, letters.values()))))
        return Orbits(tuple(groups), self.bound.n)

    def _law_number(self, part: int, x: Dataset) -> int:
        """Return a number that parts share only where their laws are the same."""
        key = part, self._parts[part].orbits.counts(x)
        if key not in self._numbers:
            law = self._parts[part].weights(x)
            shared = gcd(law.total, *law.by_code.values())
            reduced = law.total // shared, tuple((code, weight // shared) for code, weight in law.by_code.items())
            self._numbers[key] = self._laws_seen.setdefault(reduced, len(self._laws_seen))
        return self._numbers[key]

    def completed(self, ratio: Ratio) -> Ratio:
        """Return a ratio of some parts as one of whole outputs: the other parts are what is likeliest."""
        x, x_prime = tuple(ratio.x), tuple(ratio.x_prime)
        shown = getattr(ratio.x, "parts", ())
        values = list(_leaves(self.formula.shape, ratio.output, len(self.formula.values)))
        p, q = ratio.probability, ratio.probability_prime
        for at, part in enumerate(self._parts):
            if at not in shown:
                law = part.weights(x)
                code = max(law.by_code, key=lambda code: (law.by_code[code], -code))
                p, q = p * law.probability(code), q * part.weights(x_prime).probability(code)
                for component, value in zip(self._components[at], part.formula.component_values(code), strict=True):
                    values[component] = value
        return Ratio(ratio.exp_epsilon, x, x_prime, self.formula.shape.decode(values), p, q, ratio.triples)


def _seen(x: Dataset, parts: tuple[int, ...]) -> _Seen:
    seen = _Seen(x)
    seen.parts = parts
    return seen


def _leaves(shape: Shape, output: Output, size: int) -> list[Any]:
    """Return the values of the components of an output of a plain shape."""
    values: list[Any] = [None] * size
    waiting = [(shape, output)]
    while waiting:
        one, part = waiting.pop()
        if isinstance(one, Leaf):
            values[one.component] = part
        elif isinstance(one, TupleOf):
            waiting.extend(zip(one.items, part, strict=True))
    return values


def find_factored_table(bound: Bound, whole: AggregateTable, backend: str) -> FactoredTable | None:
    """Return the parts of an output that are independent on every dataset, or None where there is one part only."""
    rest = whole.aggregate.rest
    if rest.evidence or not changes_one_record(bound) or not _plain(rest.shape):
        return None
    groups = _groups(rest)
    if len(groups) < 2:
        return None
    tables = [entry for table in whole.aggregate.tables for entry in table]
    columns = [[leaf.client for leaf in leaves] for _, leaves in groups]
    if not all(_independent(entry, columns) for entry in tables):
        return None
    parts = []
    for (components, leaves), chosen in zip(groups, columns, strict=True):
        shape = TupleOf(tuple(Leaf(at) for at in range(len(components))))
        program = CoreProgram(tuple(leaves), tuple(rest.components[at] for at in components), shape, (), ())
        aggregate = Aggregate(
            tuple(whole.aggregate.operators[at] for at in chosen),
            program,
            whole.aggregate.kinds,
            tuple(marginal(table, chosen) for table in whole.aggregate.tables),
        )
        parts.append(AggregateTable(bound, aggregate, encode(program, backend), ()))
    return FactoredTable(bound, whole, parts, [components for components, _ in groups])


def _plain(shape: Shape) -> bool:
    return not isinstance(shape, (Choice, Arrangement)) and all(_plain(item) for item in getattr(shape, "items", ()))


def _groups(rest: CoreProgram) -> list[tuple[tuple[int, ...], list[Input]]]:
    """Return the components that share aggregates or draws, as (components, aggregates).

    Components that see no aggregate go with the first group.
    """
    found: list[tuple[list[int], dict[int, Input], set[int]]] = []
    for number, component in enumerate(rest.components):
        below = reachable([component])
        group: tuple[list[int], dict[int, Input], set[int]] = (
            [number],
            {expr.serial: expr for expr in below if isinstance(expr, Input)},
            {expr.serial for expr in below if isinstance(expr, Draw)},
        )
        for other in [entry for entry in found if entry[1].keys() & group[1].keys() or entry[2] & group[2]]:
            found.remove(other)
            group = [*other[0], *group[0]], {**other[1], **group[1]}, other[2] | group[2]
        found.append(group)
    seeing = [(numbers, leaves) for numbers, leaves, _ in found if leaves]
    if seeing:
        seeing[0][0].extend(number for numbers, leaves, _ in found if not leaves for number in numbers)
    return [
        (tuple(sorted(numbers)), sorted(leaves.values(), key=lambda leaf: leaf.client)) for numbers, leaves in seeing
    ]


def _independent(entry: Contribution, columns: Sequence[Sequence[int]]) -> bool:
    """Whether what a contribution adds to some aggregates is independent of what it adds to the others."""
    parts = []
    for chosen in columns:
        (own,) = marginal([entry], chosen)
        parts.append({values: Fraction(weight, own.denominator) for values, weight in own.weights})
    return prod(map(len, parts)) == len(entry.weights) and all(
        Fraction(weight, entry.denominator)
        == prod(part[tuple(values[at] for at in chosen)] for part, chosen in zip(parts, columns, strict=True))
        for values, weight in entry.weights
    )
