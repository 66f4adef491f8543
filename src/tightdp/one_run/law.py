"""The whole audit: independent groups of clients, each a sequence of stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from tightdp.core.nodes import Check, CoreProgram
from tightdp.core.outputs import Leaf, Shape
from tightdp.core.passes import arrangements_to_counts, expand_shuffles
from tightdp.errors import LimitError, ProgramError
from tightdp.exact.whole import lcm
from tightdp.exact.writing import brief
from tightdp.language.domains import Bit
from tightdp.language.program import Bound
from tightdp.logic.encode import encode
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.aggregate import Aggregate, find_aggregate
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.leaf_laws import ByDiagram
from tightdp.methods.parts import Part, split
from tightdp.one_run.counted import CountedStage
from tightdp.one_run.pairs import PairVector, audited, dataset_of
from tightdp.one_run.stage import Stage, Table
from tightdp.one_run.summed import MAX_COUNTS, SummedStage
from tightdp.one_run.traced import MAX_ASSIGNMENTS, trace
from tightdp.symmetry.sets import DiagramTable
from tightdp.symmetry.sets import Table as LawTable

__all__ = ["AuditLaw", "Compiler", "Group", "Placed"]

Watch = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Group:
    """Clients that depend on each other, numbered from 0, and what the output reveals of them, stage by stage.

    `program`, `formula` (of the rest of the program where there is an `aggregate`) and `bound`, whose records are the
    secret bits, are what it was made from.
    """

    stages: tuple[Stage, ...]
    start: int
    program: CoreProgram
    formula: WeightedFormula
    aggregate: Aggregate | None
    bound: Bound

    @property
    def method(self) -> str:
        """The name of the method used for the group."""
        if self.formula.conditioned:
            return "exhaustive"
        return "diagram" if self.aggregate is None else "aggregate"

    def component_values(self, codes: Sequence[int]) -> list[Any]:
        """Return the values of the output components for the codes of all stages."""
        code = 0
        for stage, piece in zip(self.stages, codes, strict=True):
            code = code << stage.bits | piece
        return self.formula.codes.component_values(code)


@dataclass(frozen=True)
class Placed:
    """A group at its place: its client j is client `clients[j]` of the mechanism, its components likewise."""

    group: Group
    clients: tuple[int, ...]
    components: tuple[int, ...]


@dataclass(frozen=True)
class AuditLaw:
    """The joint law of the output and n uniform secret bits, as independent groups."""

    n: int
    groups: tuple[Placed, ...]
    shape: Shape
    components: int

    @property
    def distinct(self) -> dict[Group, int]:
        """The distinct groups that have clients, and how often each occurs."""
        found: dict[Group, int] = {}
        for placed in self.groups:
            if placed.clients:
                found[placed.group] = found.get(placed.group, 0) + 1
        return found

    def output(self, codes: Sequence[Sequence[int]]) -> Any:
        """Return the output for the codes of all stages of all groups."""
        values: list[Any] = [None] * self.components
        for placed, pieces in zip(self.groups, codes, strict=True):
            for at, value in zip(placed.components, placed.group.component_values(pieces), strict=False):
                values[at] = value
        return self.shape.decode(values)


class Compiler:
    """Turns a mechanism and pair vectors into laws; parts with the same graph are compiled once."""

    def __init__(
        self,
        bound: Bound,
        core: CoreProgram,
        backend: str,
        watch: Watch = lambda nodes: None,
        whole_outputs: bool = False,
    ) -> None:
        self.bound, self.backend, self.watch = bound, backend, watch
        if whole_outputs:
            self.core = expand_shuffles(core)
        else:
            self.core = expand_shuffles(arrangements_to_counts(core))
        self._groups: dict[Any, Group] = {}
        self.variables = self.nodes = 0

    def law(self, pairs: PairVector) -> AuditLaw:
        """Return the law of an audit with a pair vector. Raises ProgramError or LimitError."""
        program = audited(self.core, self.bound, pairs)
        parts, checks = split(program)
        self._discharge(checks, program, pairs)
        groups = tuple(Placed(self._group(part, pairs), part.clients, part.components) for part in parts)
        return AuditLaw(self.bound.n, groups, program.shape, len(program.components))

    def _discharge(self, checks: Sequence[Check], program: CoreProgram, pairs: PairVector) -> None:
        """Show that the checks that concern several parts cannot fail; raise ProgramError where one can."""
        if checks:
            only = replace(program, components=program.components[:1], shape=Leaf(0), evidence=(), checks=tuple(checks))
            self._encode(only, _Place(tuple(range(self.bound.n)), pairs))

    def _group(self, part: Part, pairs: PairVector) -> Group:
        found = self._groups.get(part.key)
        if found is None:
            found = self._groups[part.key] = self._make(part, _Place(part.clients, pairs))
        return found

    def _make(self, part: Part, place: _Place) -> Group:
        self.watch(0)
        aggregate, formula = self._compile(part.program, place)
        bound = replace(self.bound, n=max(len(place.clients), 1), record=Bit, neighbours="replace-one")
        start = 0
        stages: tuple[Stage, ...]
        if formula.conditioned:
            try:
                stages = (_conditioned(bound, len(place.clients), formula, aggregate),)
            except ProgramError as error:
                raise self.bound.contradiction(place.dataset(error.x or ()), "is false in every run") from None
        elif aggregate is not None:
            stages = (SummedStage(aggregate, formula),)
        elif place.clients and not part.components:
            stages = (CountedStage([(0,)], 0, {(0,): {0: 1}, (1,): {0: 1}}, 1),)
        else:
            stages, start = trace(formula, lambda: self.watch(0)), formula.diagram.root
        return Group(stages, start, part.program, formula, aggregate, bound)

    def _compile(self, program: CoreProgram, place: _Place) -> tuple[Aggregate | None, WeightedFormula]:
        """Return the formula of a part, or of what is above its aggregates where it can be cut there."""
        if len(place.clients) > 1:
            try:
                aggregate = find_aggregate(program, Bit, len(place.clients), self.backend)
                if aggregate is not None:
                    return aggregate, self._encode(aggregate.rest, place)
            except ProgramError:
                pass  # compiling the whole part shows on which dataset it fails
        return None, self._encode(program, place)

    def _encode(self, program: CoreProgram, place: _Place) -> WeightedFormula:
        try:
            formula = encode(program, self.backend, self.watch)
        except ProgramError as error:
            x = None if error.x is None else place.dataset(tuple(leaves[0] for leaves in error.x))
            where = "" if x is None else f" on the dataset {brief(x)}"
            raise ProgramError(f"a run{where} fails with {error.what}", error.hint, error.span, x) from None
        self.variables += len(formula.variables)
        self.nodes += formula.nodes
        return formula


@dataclass(frozen=True)
class _Place:
    """The places of a part's clients in the mechanism, and the records that their bits choose."""

    clients: tuple[int, ...]
    pairs: PairVector

    def dataset(self, bits: Sequence[Any]) -> tuple[Any, ...]:
        """Return a dataset in which the clients of the part have these bits."""
        chosen = dict(zip(self.clients, bits, strict=False))
        return dataset_of(self.pairs, [chosen.get(client, 0) for client in range(len(self.pairs))])


def _conditioned(bound: Bound, clients: int, formula: WeightedFormula, aggregate: Aggregate | None) -> Stage:
    """Return the stage of a program that `observe` conditions: every dataset has its own normalisation."""
    if aggregate is None:
        classes: list[tuple[int, ...]] = [(client,) for client in range(clients)]
        laws: LawTable = DiagramTable(bound, formula)
    else:
        kinds = dict.fromkeys(aggregate.kinds)
        classes = [tuple(c for c, other in enumerate(aggregate.kinds) if other == kind) for kind in kinds]
        laws = AggregateTable(bound, aggregate, ByDiagram(formula))
    ways = prod(len(members) + 1 for members in classes)
    if ways > (MAX_ASSIGNMENTS if aggregate is None else MAX_COUNTS):
        raise LimitError(
            f"observe conditions an output on {clients} secret bits, which have {ways:,} values that matter, too many",
            "use fewer records",
        )
    found = {}
    for counts in product(*(range(len(members) + 1) for members in classes)):
        x = [0] * bound.n
        for members, ones in zip(classes, counts, strict=True):
            for client in members[:ones]:
                x[client] = 1
        found[counts] = laws.weights(tuple(x))
    total = lcm(*(weights.total for weights in found.values()))
    table: Table = {
        counts: {code: weight * (total // weights.total) for code, weight in weights.by_code.items()}
        for counts, weights in found.items()
    }
    return CountedStage(classes, len(formula.output_bits), table, total)
