"""Programs that see their clients only through sums (or other n-ary operations) of one contribution per client.

Such a program factors: the law of the aggregate given the records, and the law of the output given the aggregate.
Clients with the same contribution law for every record are interchangeable, and so are records with the same law.
Both are found by comparing exact contribution laws, so nothing is assumed and nothing is named: two groups of
clients, weights, or one client that is treated differently come out as classes of their own.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tightdp.core.builder import Builder
from tightdp.core.facts import NO_CLIENT, clients_of
from tightdp.core.nodes import Check, CoreProgram, Draw, Expr, Input, Nary, Shuffled, reachable
from tightdp.core.operators import Value
from tightdp.core.outputs import Leaf, TupleOf
from tightdp.core.passes import Rebuild, graph_of
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient, steepest
from tightdp.exact.whole import Whole, gcd, lcm
from tightdp.language.domains import Domain
from tightdp.limits.calibrated import LITTLE_WORK
from tightdp.methods.leaf_laws import leaf_laws
from tightdp.methods.shared_values import by_shared_values


@dataclass(frozen=True)
class Contribution:
    """The law of what one client adds to every aggregate: (values, weight) in canonical order over a denominator."""

    weights: tuple[tuple[tuple[Any, ...], Whole], ...]
    denominator: Whole

    @property
    def law(self) -> dict[int, Number]:
        """The probability of each value added, where there is a single aggregate."""
        return {value: quotient(weight, self.denominator) for (value,), weight in self.weights}


def largest_ratio(ours: Contribution, theirs: Contribution) -> Exact:
    """Return the largest likelihood ratio, at least 1, between two contributions."""
    up, down, _ = steepest(dict(ours.weights), dict(theirs.weights))
    return max(Fraction(1), quotient(up * theirs.denominator, down * ours.denominator)) if down else math.inf


def largest_of(pairs: Iterable[tuple[Contribution, Contribution]]) -> Exact:
    """Return the largest ratio of these contributions, at least 1."""
    found: Exact = Fraction(1)
    for ours, theirs in pairs:
        found = max(found, largest_ratio(ours, theirs))
        if found == math.inf:
            break
    return found


@dataclass(frozen=True)
class Cut:
    """A program cut at its aggregates.

    `rest` is the program above: aggregate number j is its input of "client" j. `parts[c]` is the program that gives the
    contribution of client c to every aggregate, as a function of that client's record alone; equal graphs share one
    program.
    """

    operators: tuple[str, ...]
    rest: CoreProgram
    parts: tuple[CoreProgram, ...]


@dataclass(frozen=True)
class Aggregate:
    """A cut program with its contribution laws.

    `kinds[c]` is the class of client c, `tables[k][i]` the contribution of a client of class k with the i-th record.
    """

    operators: tuple[str, ...]
    rest: CoreProgram
    kinds: tuple[int, ...]
    tables: tuple[tuple[Contribution, ...], ...]


def find_aggregate(program: CoreProgram, record: Domain, clients: int, backend: str) -> Aggregate | None:
    """Return a program cut at its aggregates with exact contribution laws, or None where it cannot be cut this way."""
    if record.size > LITTLE_WORK:
        return None
    cut = find_cut(program, clients)
    if cut is None:
        split = by_shared_values(program)
        cut = None if split is None else find_cut(split, clients)
    if cut is None:
        return None
    tables: dict[tuple[Contribution, ...], int] = {}
    known: dict[CoreProgram, int] = {}
    for part in cut.parts:
        if part not in known:
            table = contributions(part, record, backend)
            known[part] = tables.setdefault(table, len(tables))
    return Aggregate(cut.operators, cut.rest, tuple(known[part] for part in cut.parts), tuple(tables))


# finding the cut


def find_cut(program: CoreProgram, clients: int) -> Cut | None:
    """Return a program cut at n-ary operations over operands that each concern one client, or None.

    Every path from a record to an output, a condition or an obligation must pass one of these operations, each client's
    draws must be its own, and obligations inside a contribution must concern one client.
    """
    owned = _with_owned_draws(program)
    if owned is None:
        return None
    client, cut = owned
    local = [check for check in program.checks if client[check.condition.serial] >= 0]
    others = [check for check in program.checks if client[check.condition.serial] < 0]
    operators = tuple(node.operator for node in cut)
    members = [_Members([[] for _ in cut]) for _ in range(clients)]
    for at, node in enumerate(cut):
        for operand in node.operands:
            if client[operand.serial] >= 0:
                members[client[operand.serial]].operands[at].append(operand)
    for check in local:
        members[client[check.condition.serial]].checks.append(check)
    for leaf in program.inputs:
        members[leaf.client].leaves.append(leaf)
    graphs = [member.graph for member in members]
    known = {graph: _part(operators, member) for graph, member in dict(zip(graphs, members, strict=True)).items()}
    return Cut(operators, _rest(program, cut, client, others), tuple(known[graph] for graph in graphs))


def _with_owned_draws(program: CoreProgram) -> tuple[dict[int, int], list[Nary]] | None:
    """Return the only client of every node, and the cut, where a draw belongs to the client in whose operands it is.

    What such a draw adds elsewhere, to a number of clients that take part, say, is a contribution of that client, too.
    Where it is in the operands of another client as well, these depend on both, and are none of one client any more.
    None where the records, or draws, of several clients meet elsewhere than in n-ary operations.
    """
    nodes, owner = reachable([*program.roots, *program.inputs]), dict[int, int]()
    while True:
        client = clients_of(nodes, owner)
        conditions = [check.condition for check in program.checks if client[check.condition.serial] < 0]
        cut = _cut_nodes([*program.components, *program.evidence, *conditions], client)
        if cut is None:
            return None
        before = len(owner)
        for operand in {operand.serial: operand for node in cut for operand in node.operands}.values():
            for expr in reachable([operand]) if client[operand.serial] >= 0 else ():
                if isinstance(expr, Shuffled):
                    return None
                if isinstance(expr, Draw):
                    owner.setdefault(expr.serial, client[operand.serial])
        if len(owner) == before:
            return client, cut


def _cut_nodes(roots: Sequence[Expr], client: dict[int, int]) -> list[Nary] | None:
    """Return the n-ary operations at which the records of several clients first meet, seen from the outputs.

    Also those that combine such an operation with further operands, one or more of every client: `sum(a) - sum(b)` is
    one sum, with the negation of another one in it.
    """
    every = {one for one in client.values() if one >= 0}
    cut: dict[int, Nary] = {}
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        expr = stack.pop()
        if expr.serial in seen or client[expr.serial] == NO_CLIENT:
            continue
        seen.add(expr.serial)
        if client[expr.serial] >= 0:
            return None
        met = [operand for operand in expr.children if client[operand.serial] < NO_CLIENT]
        if isinstance(expr, Nary) and (not met or every <= {client[operand.serial] for operand in expr.operands}):
            cut[expr.serial] = expr
            stack.extend(met)
        else:
            stack.extend(expr.children)
    return [cut[serial] for serial in sorted(cut)]


@dataclass(frozen=True)
class _Members:
    """What belongs to one client: its operands of each aggregate, its checks, and the leaves of its record."""

    operands: list[list[Expr]]
    checks: list[Check] = field(default_factory=list)
    leaves: list[Input] = field(default_factory=list)

    @property
    def graph(self) -> Hashable:
        """A key that is equal for clients that contribute in the same way."""
        return graph_of(self.leaves, *self.operands, [check.condition for check in self.checks])


def _part(operators: Sequence[str], members: _Members) -> CoreProgram:
    """Return the contribution of one client to every aggregate as a program of its record."""
    rebuild = Rebuild(
        lambda made, expr: made.builder.input(0, expr.leaf, expr.values) if isinstance(expr, Input) else None
    )
    components = []
    for operator, mine in zip(operators, members.operands, strict=True):
        operands = rebuild.copy(mine)
        components.append(rebuild.nary(operator, operands) if operands else rebuild.builder.const(None))
    shape = TupleOf(tuple(map(Leaf, range(len(components)))))
    return rebuild.program(CoreProgram(tuple(members.leaves), (), shape, (), tuple(members.checks)), components)


def _rest(program: CoreProgram, cut: Sequence[Nary], client: dict[int, int], checks: Sequence[Check]) -> CoreProgram:
    """Return the program above the aggregates, which are its inputs."""
    number = {node.serial: at for at, node in enumerate(cut)}
    leaves: list[Input] = []  # in the order of their numbers, as aggregates are met in that of their making

    def substitute(made: Rebuild, expr: Expr) -> Expr | None:
        if expr.serial in number:
            assert isinstance(expr, Nary)
            inner = [operand for operand in expr.operands if client[operand.serial] >= 0]
            values = _aggregate_values(expr.operator, inner)
            leaf = made.builder.input(number[expr.serial], 0, values)
            leaves.append(leaf)
            others = made.copy([operand for operand in expr.operands if client[operand.serial] < 0])
            return made.nary(expr.operator, [leaf, *others])
        if client.get(expr.serial, NO_CLIENT) >= 0:
            # What belongs to one client stands below the cut: it is not part of the rest.
            made.lost.add(expr.serial)
            return made.builder.true
        return None

    return Rebuild(substitute).program(replace(program, inputs=(), checks=tuple(checks)), inputs=leaves)


def _aggregate_values(operator: str, operands: Sequence[Expr]) -> Sequence[Value]:
    """Return the values that an aggregate of these operands may take."""
    scratch = Builder()
    leaves = [scratch.input(at, 0, operand.values) for at, operand in enumerate(operands)]
    return Rebuild(lambda made, expr: None).nary(operator, leaves).values if len(leaves) > 1 else operands[0].values


# contribution laws


def contributions(part: CoreProgram, record: Domain, backend: str) -> tuple[Contribution, ...]:
    """Return the contribution law of a client for every record. Raises ProgramError where a run can fail."""
    laws, _ = leaf_laws(part, backend)
    table = []
    every = [[leaves[leaf.leaf] for leaf in part.inputs] for leaves in map(record.split, record.values)]
    for weights, denominator in laws.every(every):
        decoded = sorted(((laws.codes.first(code), weight) for code, weight in weights.items()), key=_canonical)
        table.append(Contribution(tuple(decoded), denominator))
    return tuple(_reduced(table))


def marginal(table: Sequence[Contribution], chosen: Sequence[int]) -> tuple[Contribution, ...]:
    """Return the marginal laws of a table's contributions on some of the aggregates."""
    result = []
    for entry in table:
        total: dict[tuple[Any, ...], Whole] = {}
        for values, weight in entry.weights:
            part = tuple(values[at] for at in chosen)
            total[part] = total.get(part, 0) + weight
        result.append(Contribution(tuple(sorted(total.items(), key=_canonical)), entry.denominator))
    return tuple(_reduced(result))


def _canonical(entry: tuple[tuple[Value, ...], Whole]) -> list[tuple[str, Value]]:
    return [(type(value).__name__ if value is None else "", value if value is not None else 0) for value in entry[0]]


def _reduced(table: Sequence[Contribution]) -> list[Contribution]:
    """Return the table over one denominator, in lowest terms, so that equal laws are equal values."""
    common = lcm(*(entry.denominator for entry in table))
    scaled = [[(values, weight * (common // entry.denominator)) for values, weight in entry.weights] for entry in table]
    shared = gcd(common, *(weight for entry in scaled for _, weight in entry))
    return [
        Contribution(tuple((values, weight // shared) for values, weight in entry), common // shared)
        for entry in scaled
    ]
