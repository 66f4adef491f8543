"""Kinds of outputs: for each dataset the functions of their independent coordinates, cut where conditions change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import floor, inf
from types import ModuleType
from typing import Any, TypeAlias

from flint import fmpq

from tightdp.cells import joint, lines, mixed, moving, poles, suprema
from tightdp.cells.generating import Coefficients
from tightdp.cells.joint import Region, Way
from tightdp.cells.laws import CellLaws
from tightdp.cells.linear import REAL, Label, Rows, connected
from tightdp.cells.lines import Stretch, on_stretch, stretches
from tightdp.cells.noise import Outside
from tightdp.cells.patterns import Counted, Pattern, holding, on_pattern, patterns
from tightdp.cells.recurrent import Recurrent, masses_from
from tightdp.cells.simplices import Function, Held, Simplex, divided, frame_of, on_simplex, seen_from, within
from tightdp.cells.summing import renamed
from tightdp.cells.sums import Base, Exact, Piece, Pieces, Terms, added, expanded, variables
from tightdp.cells.suprema import Supremum
from tightdp.language.program import Dataset

_FAR = 500
"""Conditions on a line with recurrences are at most so far from each other."""
_FEW_REGIONS = 200
"""Integrals over so many regions may be exact."""

Seen: TypeAlias = frozenset[tuple[Rows, frozenset[Any]]]
"""A function as it is seen from a frame: conditions, and the terms where they hold."""
On: TypeAlias = "int | Simplex"
"""How many lengths of a region are bounded, or the region."""


class Numbers:
    """Numbers of functions, the same for equal ones of "counts", or on stretches and places of equal length."""

    def __init__(self, watch: Callable[[], None]) -> None:
        self.functions: list[Any] = []
        self.cut: dict[tuple[Seen, Seen], list[tuple[Simplex, list[Function]]]] = {}
        self.regions: dict[tuple[Seen, Seen], list[tuple[int, int, Simplex]]] = {}
        self._watch = watch
        self._known: dict[tuple[frozenset[Any], Any], int] = {}

    def of(self, function: Counted | Function | mixed.Mixed | Coefficients, on: Any) -> int:
        self._watch()
        name = frozenset(function.items()), on
        if name not in self._known:
            self._known[name] = len(self.functions)
            self.functions.append(function)
        return self._known[name]


class Integers:
    """Functions of some integer coordinates of a label, by dataset; on a pattern each is known by a number."""

    by: ModuleType = suprema

    def __init__(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], numbers: Numbers, unit: Base) -> None:
        self.coordinates = group
        every = {row for pieces in whole.values() for rows, _ in pieces for row in rows}
        self._patterns = patterns(every, len(group))
        held = [holding(every, pattern) for pattern in self._patterns]
        self._nothing = numbers.of({}, "counts")
        self._functions = {
            x: [
                numbers.of(on_pattern(pieces, *each, unit), "counts") for each in zip(self._patterns, held, strict=True)
            ]
            for x, pieces in whole.items()
        }

    def compared(self, x: Dataset, x_prime: Dataset) -> list[tuple[int, int, Pattern]]:
        """Return the functions of two datasets pattern by pattern; none where the first has none."""
        ours = self._functions.get(x, [])
        theirs = self._functions.get(x_prime, [self._nothing] * len(ours))
        return list(zip(ours, theirs, self._patterns, strict=True)) if ours else []


class Real:
    """Functions of a real coordinate of a label, by dataset; on a stretch each is known by a number.

    The line is cut for each pair of datasets where conditions of the two change.
    """

    by: ModuleType = lines

    def __init__(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], numbers: Numbers, unit: Base) -> None:
        self.coordinates, self._whole, self._numbers, self._unit = group, whole, numbers, unit
        self._known: dict[tuple[Dataset, Stretch], int] = {}

    def compared(self, x: Dataset, x_prime: Dataset) -> list[tuple[int, int, Stretch]]:
        """Return the functions of two datasets stretch by stretch; none where the first has none."""
        if x not in self._whole:
            return []
        both = self._whole[x], self._whole.get(x_prime, [])
        cut = stretches({row for pieces in both for rows, _ in pieces for row in rows})
        return [(self._on(x, each), self._on(x_prime, each), each) for each in cut]

    def _on(self, x: Dataset, stretch: Stretch) -> int:
        if (x, stretch) not in self._known:
            function = on_stretch(self._whole.get(x, []), stretch, self._unit)
            self._known[x, stretch] = self._numbers.of(function, stretch.length)
        return self._known[x, stretch]


class _Far:
    """Functions of several coordinates, the first ones integers, by dataset, and what their ratios approach far out."""

    def __init__(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], numbers: Numbers, unit: Base) -> None:
        self.coordinates, self._whole, self._numbers, self._unit = group, whole, numbers, unit
        self._integers = sum(v < REAL for v in group)
        self._known: dict[tuple[Dataset, Way], joint.Growth | None] = {}

    def outwards(self, x: Dataset, x_prime: Dataset) -> Iterator[Supremum]:
        """Yield what ratios of two datasets approach far out."""
        for way in joint.ways(len(self.coordinates)):
            found = joint.limit(self._grown(x, way), self._grown(x_prime, way), way)
            if found is not None:
                yield found

    def _grown(self, x: Dataset, way: Way) -> joint.Growth | None:
        if (x, way) not in self._known:
            self._known[x, way] = joint.grown_out(self._whole.get(x, []), way, self._unit, self._integers)
        return self._known[x, way]


class Reals(_Far):
    """Functions of several real coordinates of a label, by dataset; on a region each is known by a number.

    Space is cut for each pair of datasets where conditions of the two change. Pairs whose functions are the same but
    for a frame have regions in common.
    """

    by: ModuleType = joint

    def __init__(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], numbers: Numbers, unit: Base) -> None:
        super().__init__(group, whole, numbers, unit)
        self._frames: dict[tuple[Dataset, Dataset], tuple[Simplex, Any]] = {}

    def compared(self, x: Dataset, x_prime: Dataset) -> list[tuple[int, int, Region]]:
        """Return the functions of two datasets region by region; none where the first has none."""
        if x not in self._whole:
            return []
        frame, name = self.seen(x, x_prime)
        return [(p, q, Region(within(simplex, frame))) for p, q, simplex in self._numbered(name)]

    def counted(self, x: Dataset, x_prime: Dataset) -> dict[tuple[int, int, On], fmpq]:
        """Return the volumes of all regions, by the functions of two datasets and how many lengths are bounded.

        Where they are many, functions are those of the frame, and regions are told apart by their simplices.
        """
        found: dict[tuple[int, int, On], fmpq] = {}
        name = self.seen(x, x_prime)[1] if x in self._whole else None
        cut = [] if name is None else self._cut(name)
        if len(cut) > _FEW_REGIONS:
            named = {id(f): f for _, functions in cut for f in functions}
            numbers = {name: self._numbers.of(f, "frame") for name, f in named.items()}
            return {(numbers[id(p)], numbers[id(q)], simplex): fmpq(1) for simplex, (p, q) in cut}
        for p, q, simplex in self._numbered(name) if name is not None else ():
            found[p, q, simplex.bounded] = found.get((p, q, simplex.bounded), fmpq(0)) + simplex.volume
        return found

    def seen(self, x: Dataset, x_prime: Dataset) -> tuple[Simplex, tuple[Seen, Seen]]:
        """Return a frame, and both functions seen from there: those of other pairs may be equal."""
        if (x, x_prime) not in self._frames:
            both, count = (self._whole.get(x, []), self._whole.get(x_prime, [])), len(self.coordinates)
            frame = frame_of(([row for rows, _ in pieces for row in rows] for pieces in both), count)
            ours, theirs = (self._seen_from(pieces, frame) for pieces in both)
            self._frames[x, x_prime] = frame, (ours, theirs)
        return self._frames[x, x_prime]

    def _seen_from(self, pieces: list[Piece], frame: Simplex) -> Seen:
        functions = (on_simplex(joint.function_of(terms, len(self.coordinates)), frame) for _, terms in pieces)
        conditions = (frozenset(seen_from(row, frame) for row in rows) for rows, _ in pieces)
        return frozenset((rows, frozenset(f.items())) for rows, f in zip(conditions, functions, strict=True))

    def _cut(self, both: tuple[Seen, Seen]) -> list[tuple[Simplex, list[Function]]]:
        """Return the simplices that space is cut into, and both functions there, of places in the frame."""
        if both not in self._numbers.cut:
            pieces, sums = [list(each) for each in both], [dict[Held, Function]() for _ in both]
            found = []
            for simplex, held in divided([[rows for rows, _ in each] for each in pieces], len(self.coordinates)):
                for each, known, ours in zip(pieces, sums, held, strict=True):
                    if ours not in known:
                        known[ours] = {}
                        for at in ours:
                            added(known[ours], dict(each[at][1]))
                found.append((simplex, [known[ours] for known, ours in zip(sums, held, strict=True)]))
            self._numbers.cut[both] = found
        return self._numbers.cut[both]

    def _numbered(self, both: tuple[Seen, Seen]) -> list[tuple[int, int, Simplex]]:
        """Return the numbers of two functions on the simplices that space is cut into."""
        if both not in self._numbers.regions:
            found = []
            for simplex, functions in self._cut(both):
                p, q = (self._numbers.of(on_simplex(each, simplex), simplex.bounded) for each in functions)
                found.append((p, q, simplex))
            self._numbers.regions[both] = found
        return self._numbers.regions[both]


class Both(_Far):
    """Functions of integers and real numbers, by dataset; on a place each is known by a number."""

    by: ModuleType = mixed

    def __init__(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], numbers: Numbers, unit: Base) -> None:
        super().__init__(group, whole, numbers, unit)
        every = (row for pieces in whole.values() for rows, _ in pieces for row in rows)
        if any(normal[0][0] < self._integers <= normal[-1][0] for normal, _ in every):
            raise Outside("is published, and compared with noise on the integers")
        self._compared: dict[tuple[Dataset, Dataset], list[tuple[int, int, mixed.Place]]] = {}

    def compared(self, x: Dataset, x_prime: Dataset) -> list[tuple[int, int, mixed.Place]]:
        """Return the functions of two datasets place by place; none where the first has none."""
        if x not in self._whole or (x, x_prime) in self._compared:
            return self._compared.get((x, x_prime), [])
        both = self._whole[x], self._whole.get(x_prime, [])
        rows = {row for pieces in both for rows, _ in pieces for row in rows}
        cut = mixed.places(rows, self._integers, len(self.coordinates) - self._integers)

        def on(pieces: Pieces, place: mixed.Place) -> int:
            return self._numbers.of(mixed.on_place(pieces, place, rows, self._integers, self._unit), place.length)

        self._compared[x, x_prime] = [(on(both[0], place), on(both[1], place), place) for place in cut]
        return self._compared[x, x_prime]

    def outwards(self, x: Dataset, x_prime: Dataset) -> Iterator[Supremum]:
        """Yield what ratios of two datasets approach far out, and those to nothing."""
        for p, q, on in self.compared(x, x_prime):
            ours, theirs = self._numbers.functions[p], self._numbers.functions[q]
            if ours and not theirs and (found := mixed.supremum(ours, theirs, on, 0, lambda: None)):
                yield found
        yield from super().outwards(x, x_prime)

    def decided(self, x: Dataset, x_prime: Dataset) -> bool:
        """Whether the largest ratio of two datasets is told at every place."""
        functions = self._numbers.functions
        return all(mixed.decided(functions[p], functions[q], on) for p, q, on in self.compared(x, x_prime))


class Recurrences:
    """Masses on a line with linear recurrences, by dataset; on a ray each is known by a number."""

    by: ModuleType = poles
    coordinates = (0,)

    def __init__(self, found: dict[Dataset, list[Any]], numbers: Numbers) -> None:
        plain = (each for every in found.values() for each in every if not isinstance(each, Recurrent))
        rows = {row for each in plain for rows, _ in each.pieces for row in rows}
        starts = [each.ray.start for every in found.values() for each in every if isinstance(each, Recurrent)]
        cuts = [*starts, *(floor(bound / c) for ((_, c),), bound in rows)]
        low, far = min(cuts), max(cuts) - min(cuts) + 2
        if far > _FAR:
            raise Outside("is published with conditions that are far from each other")
        self._rays = [Pattern((low,), ((1,),)), Pattern((low - 1,), ((-1,),))]
        self._functions = {
            x: [
                numbers.of(masses_from(every, ray.start[0], ray.steps[0][0], far).coefficients, "ray")
                for ray in self._rays
            ]
            for x, every in found.items()
        }
        self._nothing = numbers.of({}, "ray")

    def compared(self, x: Dataset, x_prime: Dataset) -> list[tuple[int, int, Pattern]]:
        """Return the functions of two datasets ray by ray; none where the first has none."""
        ours = self._functions.get(x, [])
        theirs = self._functions.get(x_prime, [self._nothing] * len(ours))
        return list(zip(ours, theirs, self._rays, strict=True)) if ours else []


Part: TypeAlias = Recurrences | Integers | Real | Reals | Both
Place: TypeAlias = Pattern | Stretch | Region | mixed.Place


class Kind:
    """All that is known of one label: for each dataset a weight, and the functions of independent coordinates."""

    def __init__(self, laws: CellLaws, label: Label, apart: bool, numbers: Numbers) -> None:
        self.label, self._one, self._unit = label, laws.one, laws.unit
        self._found = {x: law[label] for x, law in laws.laws.items() if label in law}
        self.weights: dict[Dataset, Exact] = dict.fromkeys(self._found, laws.one)
        self.parts: list[Part] = []
        self._bounds: dict[tuple[Dataset, Dataset], Any] = {}
        if any(isinstance(each, Recurrent) for found in self._found.values() for each in found):
            self.parts.append(Recurrences(self._found, numbers))
            self._same = {x: x for x in self._found}
            return
        single = apart and all(len(each) == 1 for each in self._found.values())
        groups = self._groups() if single else [label.variables]
        if single:
            weights = {x: each[0].weight for x, each in self._found.items()}
            self.weights = {x: weight for x, weight in weights.items() if weight}
        every = [self._whole(group, single) for group in groups]
        first: dict[Any, Dataset] = {}
        self._same = {x: first.setdefault(self._name(x, every), x) for x in self._found}
        for group, whole in zip(groups, every, strict=True):
            self.parts.append(self._part(group, {x: whole[x] for x in first.values()}, numbers))

    def _groups(self) -> list[tuple[int, ...]]:
        """Return the coordinates that are independent of each other under all datasets."""
        factors = (pieces for contributions in self._found.values() for pieces in contributions[0].factors)
        return [
            tuple(sorted(each)) for each in connected([*({v} for v in self.label.variables), *map(variables, factors)])
        ]

    def _name(self, x: Dataset, every: Sequence[dict[Dataset, list[Piece]]]) -> Any:
        """Return what is the same for datasets with the same law."""
        laws = (frozenset((rows, frozenset(terms.items())) for rows, terms in whole[x]) for whole in every)
        return self.weights.get(x), *laws

    def like(self, x: Dataset) -> Dataset:
        """Return the first dataset with the same law, by which the parts know it."""
        return self._same.get(x, x)

    def bound(self, x: Dataset, x_prime: Dataset) -> Any:
        """Return a number that the ratio of two datasets never exceeds, infinity where comparing takes no longer."""
        far = any(isinstance(part, Reals | Both) for part in self.parts)
        return self.proved(x, x_prime) if far else inf

    def proved(self, x: Dataset, x_prime: Dataset) -> Any:
        """Return a number that the ratio of two datasets is proved not to exceed: infinity where none is found."""
        if self.label.dimension and not self.label.real:
            return inf
        if (x, x_prime) not in self._bounds:
            both = (self._found.get(key, []) for key in (x, x_prime))
            ours, theirs = ([*{id(each.parted or each): each.runs for each in known}.values()] for known in both)
            self._bounds[x, x_prime] = moving.upper_end(ours, theirs)
        return self._bounds[x, x_prime]

    def _whole(self, group: tuple[int, ...], single: bool) -> dict[Dataset, list[Piece]]:
        names = {v: at for at, v in enumerate(group)}
        whole: dict[Dataset, list[Piece]] = {}
        for x, contributions in self._found.items():
            total: dict[Rows, Terms] = {}
            for contribution in contributions:
                used = [p for p in contribution.factors if not single or variables(p) & set(group)]
                for rows, terms in renamed(expanded(used, self._one if single else contribution.weight), names):
                    added(total.setdefault(rows, {}), terms)
            whole[x] = [(rows, terms) for rows, terms in total.items() if terms]
        return whole

    def _part(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], numbers: Numbers) -> Part:
        kind: type[Integers | Real | Reals | Both] = (
            Integers if not group or group[-1] < REAL else Real if len(group) == 1 else Reals
        )
        if group and group[0] < REAL <= group[-1]:
            kind = Both
        return kind(group, whole, numbers, self._unit)
