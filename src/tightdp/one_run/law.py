"""The whole audit: independent groups of clients, each a sequence of stages; and the pair vector that reveals most."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations_with_replacement, product
from math import comb, prod
from typing import Any, TypeAlias

from tightdp.core.nodes import Check, CoreProgram
from tightdp.core.outputs import Leaf, Shape
from tightdp.core.passes import arrangements_to_counts, expand_shuffles
from tightdp.errors import LimitError, ProgramError
from tightdp.exact.field import Number
from tightdp.exact.numbers import brief
from tightdp.exact.weights import Joint, add_into, joint_times
from tightdp.exact.whole import lcm
from tightdp.language.domains import Bit
from tightdp.language.program import Bound
from tightdp.limits.calibrated import AUDIT_STATES, AUDIT_TABLE
from tightdp.logic.encode import encode
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.aggregate import Aggregate, find_aggregate
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.choose import program_of
from tightdp.methods.leaf_laws import LeafLaws
from tightdp.methods.parts import Part, split
from tightdp.methods.program import Program
from tightdp.one_run.pairs import PairVector, audited, dataset_of, every_pair
from tightdp.one_run.stages import CountedStage, Outcome, Stage, Table, classes_of
from tightdp.one_run.summed import SummedStage
from tightdp.one_run.traced import trace
from tightdp.symmetry.sets import DiagramTable
from tightdp.symmetry.sets import Table as LawTable
from tightdp.symmetry.symmetries import exchangeable_clients

Watch = Callable[[int], None]

Step: TypeAlias = tuple[Stage, int, Outcome]
"""A stage, the state before it, and its outcome."""


@dataclass(frozen=True, eq=False)
class Group:
    """Clients that depend on each other, numbered from 0, and what the output reveals of them, stage by stage.

    `core`, `formula` (of the rest of the program where there is an `aggregate`) and `bound`, whose records are the
    secret bits, are what it was made from.
    """

    stages: tuple[Stage, ...]
    start: int
    core: CoreProgram
    formula: WeightedFormula
    aggregate: Aggregate | None
    bound: Bound
    backend: str

    @property
    def method(self) -> str:
        """The name of the method used for the group."""
        if self.formula.conditioned:
            return "exhaustive"
        return "diagram" if self.aggregate is None else "aggregate"

    @cached_property
    def program(self) -> Program:
        """The group as a program of its secret bits, for questions about its privacy."""
        return program_of(self.bound, self.backend, core=self.core)

    @cached_property
    def confidences(self) -> set[Number]:
        """Every confidence that some client can have."""
        return {
            outcome.confidence(at)
            for stage in self.stages
            for outcomes in stage.outcomes.values()
            for outcome in outcomes
            for at in range(len(stage.classes))
        }

    def component_values(self, codes: Sequence[int]) -> list[Any]:
        """Return the values of the output components for the codes of all stages."""
        code = 0
        for stage, piece in zip(self.stages, codes, strict=True):
            code = code << stage.bits | piece
        return self.formula.codes.component_values(code)

    def joint(self, weighed: Callable[[Stage, int], Iterable[tuple[Outcome, Joint]]]) -> Joint:
        """Return the sum, over all outputs, of products over their stages; `weighed` has a factor for every outcome."""
        reached: dict[int, Joint] = {self.start: {0: [1]}}
        for stage in self.stages:
            after: dict[int, Joint] = {}
            for state, before in reached.items():
                steps: dict[int, Joint] = {}
                for outcome, factor in weighed(stage, state):
                    merge(steps.setdefault(outcome.state, {}), factor)
                for state_after, step in steps.items():
                    merge(after.setdefault(state_after, {}), joint_times(before, step))
            reached = after
        result: Joint = {}
        for joint in reached.values():
            merge(result, joint)
        return result

    def numbers(self, of: Callable[[Stage, Outcome], int], weighty: bool = True) -> list[Any]:
        """Return the weights of the sums of a number that outcomes have; without weights, the numbers of outputs."""

        def counted(stage: Stage, state: int) -> Iterator[tuple[Outcome, Joint]]:
            for outcome in stage.outcomes[state]:
                yield outcome, {0: [*[0] * of(stage, outcome), outcome.weight if weighty else 1]}

        return self.joint(counted)[0]

    def ways(self) -> Iterator[list[Step]]:
        """Yield every output, as the steps that lead to it."""
        ways: list[tuple[int, list[Step]]] = [(self.start, [])]
        for stage in self.stages:
            ways = [
                (outcome.state, [*steps, (stage, state, outcome)])
                for state, steps in ways
                for outcome in stage.outcomes[state]
            ]
        return (steps for _, steps in ways)


def merge(target: Joint, other: Mapping[int, Sequence[Any]]) -> None:
    """Add the weights of `other` to `target`."""
    for r, weights in other.items():
        add_into(target.setdefault(r, []), weights)


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

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return prod(sum(placed.group.numbers(lambda stage, outcome: 0, False)) for placed in self.groups)

    def every_output(self) -> Iterator[tuple[list[Step], ...]]:
        """Yield every output as the steps that each group takes. Raises LimitError where they are too many."""
        if self.outputs > AUDIT_STATES:
            raise LimitError(
                f"there are {self.outputs:,} outputs, too many to ask a guesser about each",
                "use fewer records, or a guesser that is a threshold",
            )
        yield from product(*(placed.group.ways() for placed in self.groups))


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
        self.core = expand_shuffles(core if whole_outputs else arrangements_to_counts(core))
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
        if part.key not in self._groups:
            self._groups[part.key] = self._make(part, _Place(part.clients, pairs))
        return self._groups[part.key]

    def _make(self, part: Part, place: _Place) -> Group:
        self.watch(0)
        aggregate, formula = self._compile(part.program, place)
        bound = replace(self.bound, n=max(len(place.clients), 1), record=Bit, neighbours="replace-one")
        start = 0
        stages: tuple[Stage, ...]
        if formula.conditioned:
            try:
                stages = (_conditioned(bound, len(place.clients), formula, aggregate, self.backend),)
            except ProgramError as error:
                raise self.bound.contradiction(place.dataset(error.x or ()), "is false in every run") from None
        elif aggregate is not None:
            stages = (SummedStage(aggregate, formula),)
        elif place.clients and not part.components:
            stages = (CountedStage([(0,)], 0, {(0,): {0: 1}, (1,): {0: 1}}, 1),)
        else:
            stages, start = trace(formula, lambda: self.watch(0)), formula.diagram.root
        return Group(stages, start, part.program, formula, aggregate, bound, self.backend)

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


def _conditioned(
    bound: Bound, clients: int, formula: WeightedFormula, aggregate: Aggregate | None, backend: str
) -> Stage:
    """Return the stage of a program that `observe` conditions: every dataset has its own normalisation."""
    classes = classes_of(range(clients) if aggregate is None else aggregate.kinds)
    laws: LawTable = DiagramTable(bound, formula)
    if aggregate is not None:
        laws = AggregateTable(bound, aggregate, LeafLaws(aggregate.rest, backend, formula=formula))
    ways = prod(len(members) + 1 for members in classes)
    if ways > AUDIT_TABLE:
        raise LimitError(
            f"observe conditions an output on {clients} secret bits, which have {ways:,} values that matter, too many",
            "use fewer records",
        )
    found = {}
    for counts in product(*(range(len(members) + 1) for members in classes)):
        ones = {client for members, one in zip(classes, counts, strict=True) for client in members[:one]}
        found[counts] = laws.weights(tuple(int(client in ones) for client in range(bound.n)))
    total = lcm(*(weights.total for weights in found.values()))
    table: Table = {
        counts: {code: weight * (total // weights.total) for code, weight in weights.by_code.items()}
        for counts, weights in found.items()
    }
    return CountedStage(classes, len(formula.output_bits), table, total)


# the best pairs


def best_pairs(
    compiler: Compiler,
    value: Callable[[AuditLaw], Number],
    reached: Callable[[int, Number], None] = lambda vectors, efficacy: None,
) -> tuple[PairVector, AuditLaw]:
    """Return the first pair vector for whose law a value is largest, and the law; one of every class is tried.

    `reached` is told how many vectors were tried, and the largest value so far.
    Raises LimitError where there are too many up to symmetry.
    """
    best: tuple[Number, PairVector, AuditLaw] | None = None
    for tried, pairs in enumerate(_vectors(compiler), 1):
        compiler.watch(0)
        law = compiler.law(pairs)
        found = value(law)
        if best is None or found > best[0]:
            best = found, pairs, law
        reached(tried, best[0])
    assert best is not None
    return best[1:]


def _vectors(compiler: Compiler) -> Iterator[PairVector]:
    """Yield one pair vector of every class: clients that are exchangeable, and parts that are alike, have no order."""
    bound, pairs = compiler.bound, every_pair(compiler.bound)
    same: dict[Hashable, list[Part]] = {}
    for part in split(compiler.core)[0]:
        if part.clients:
            same.setdefault(part.key, []).append(part)
    number = 1
    choices = []
    for alike in same.values():
        classes = exchangeable_clients([alike[0].program], len(alike[0].clients))
        ways = prod(comb(len(pairs) + len(members) - 1, len(members)) for members in classes)
        number *= comb(ways + len(alike) - 1, len(alike))
        if number > AUDIT_TABLE:
            raise LimitError(
                f"there are {number:,} pair vectors or more that no symmetry tells apart, too many to try",
                f"give the pairs, or use fewer records or a smaller domain (at most {AUDIT_TABLE:,} vectors)",
            )
        of_part = [
            tuple(chain.from_iterable(chosen))  # the classes are of consecutive clients
            for chosen in product(*(combinations_with_replacement(pairs, len(members)) for members in classes))
        ]
        choices.append(list(combinations_with_replacement(of_part, len(alike))))
    for assigned in product(*choices):
        vector = [pairs[0]] * bound.n
        for alike, assignments in zip(same.values(), assigned, strict=True):
            for part, assignment in zip(alike, assignments, strict=True):
                for client, pair in zip(part.clients, assignment, strict=True):
                    vector[client] = pair
        yield tuple(vector)
