"""Weighted Boolean formulas: what a compiled program is.

The formula holds for an assignment of input bits, coins and output bits exactly when the program, on that dataset and
with these coins, gives that output (and meets every `observe`). Coins carry exact weights; input and output bits are
fixed by a query.

Precondition of every count here: the two weights of a variable sum to 1. Then a variable that a path does not test
may be skipped. It is checked where coins are made (`Coin`), and holds for fixed bits, whose weights are 0 and 1.

The order of the variables is read off the program. A client's record, its coins and the output that they decide stand
together, in the order in which the program consumes them; a draw that is compared with many others (a noisy threshold)
stands above them all. Output components stand right below the last leaf that they depend on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tightdp.core.facts import MANY, NO_CLIENT, clients_of
from tightdp.core.nodes import CoreProgram, Draw, Expr, Input, Nary, reachable
from tightdp.core.operators import Value
from tightdp.core.outputs import ComponentCodes, Shape
from tightdp.exact.field import Number
from tightdp.exact.weights import may_be_positive, quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Domain
from tightdp.language.outputs import Output
from tightdp.language.program import Dataset
from tightdp.logic.bdd import Diagram


@dataclass(frozen=True)
class Block:
    """One place in the order: a leaf of the program, or (with `component`) an output component.

    `owner` is the client that it belongs to alone, or `NO_CLIENT`.
    """

    leaf: Input | Draw | None = None
    component: int | None = None
    owner: int = NO_CLIENT


def order(program: CoreProgram, together: bool = False) -> list[Block]:
    """Return every leaf and output component of a program, from the top of the diagram to its bottom.

    With `together`, a draw that belongs to one client stands with its record even where it is consumed much later, as
    in a second round over all clients.
    """
    nodes = reachable(program.roots)
    client = clients_of(nodes)
    ties = _ties(nodes, client)
    leaves = _leaf_order(program, nodes, _shared(nodes, ties, program), client, ties)
    if together:
        leaves = _with_their_clients(leaves, client, ties)
    rank = {leaf.serial: position for position, leaf in enumerate(leaves)}
    deepest = _deepest(nodes, rank)
    below: dict[int, list[int]] = {}
    for number, component in enumerate(program.components):
        below.setdefault(deepest[component.serial], []).append(number)

    def outputs(position: int) -> list[Block]:
        return [
            Block(component=number, owner=max(client[program.components[number].serial], NO_CLIENT))
            for number in below.get(position, ())
        ]

    blocks = outputs(-1)
    for position, leaf in enumerate(leaves):
        blocks.append(Block(leaf=leaf, owner=_owner(leaf, client, ties)))
        blocks.extend(outputs(position))
    return blocks


def _ties(nodes: Sequence[Expr], client: dict[int, int]) -> dict[int, frozenset[int]]:
    """Return, for every draw that depends on no record, the clients whose records it first meets.

    Meeting what many clients have come to together, as in an n-ary operation or a running state, ties to none.
    """
    nobody: frozenset[int] = frozenset()
    ties: dict[int, frozenset[int]] = {}
    above: dict[int, frozenset[int]] = {}  # clients, for every node without a record, from the last node to the first
    for expr in reversed(nodes):
        met = above.pop(expr.serial, nobody)
        if client[expr.serial] == NO_CLIENT:
            if isinstance(expr, Draw):
                ties[expr.serial] = met
        elif not isinstance(expr, Nary) or client[expr.serial] > NO_CLIENT:
            met = frozenset(client[child.serial] for child in expr.children) - {NO_CLIENT}
            met = nobody if MANY in met else met
        for child in expr.children if met else ():
            if client[child.serial] == NO_CLIENT:
                known = above.get(child.serial, nobody)
                above[child.serial] = met if known <= met else known | met
    return ties


def _owner(leaf: Input | Draw, client: dict[int, int], ties: dict[int, frozenset[int]]) -> int:
    if client[leaf.serial] != NO_CLIENT:
        return max(client[leaf.serial], NO_CLIENT)
    tied = ties[leaf.serial]
    return max(next(iter(tied)), NO_CLIENT) if len(tied) == 1 else NO_CLIENT


def _shared(nodes: Sequence[Expr], ties: dict[int, frozenset[int]], program: CoreProgram) -> list[Draw]:
    """Return the draws that meet the records of most clients (or, on a fixed dataset, most other draws)."""
    clients = len({leaf.client for leaf in program.inputs})
    if not clients:
        return _shared_among_draws(nodes)
    return [expr for expr in nodes if isinstance(expr, Draw) and 2 * len(ties.get(expr.serial, ())) > max(clients, 2)]


def _shared_among_draws(nodes: Sequence[Expr]) -> list[Draw]:
    met: dict[int, set[int]] = {expr.serial: set() for expr in nodes if isinstance(expr, Draw)}
    for expr in nodes:
        draws = [child.serial for child in expr.children if isinstance(child, Draw)]
        if not isinstance(expr, (Draw, Nary)):
            for draw in draws:
                met[draw].update(other for other in draws if other != draw)
    return [expr for expr in nodes if isinstance(expr, Draw) and 2 * len(met[expr.serial]) > max(len(met), 4)]


def _leaf_order(
    program: CoreProgram,
    nodes: Sequence[Expr],
    shared: Sequence[Draw],
    client: dict[int, int],
    ties: dict[int, frozenset[int]],
) -> list[Input | Draw]:
    placed: dict[int, Input | Draw] = {}
    seen: set[int] = set()
    records: dict[int, list[Input]] = {}
    for expr in nodes:
        if isinstance(expr, Input):
            records.setdefault(expr.client, []).append(expr)

    def place(root: Expr) -> None:
        """Place the leaves below a node that are not placed yet, selectors before their draws."""
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            expr, done = stack.pop()
            if expr.serial in placed or (expr.serial in seen and not done):
                continue
            seen.add(expr.serial)
            if isinstance(expr, Input) or (isinstance(expr, Draw) and done):
                placed[expr.serial] = expr
                if len(ties.get(expr.serial, ())) == 1:
                    # a draw that is looked at before the record that it meets would have to be remembered
                    (owner,) = ties[expr.serial]
                    placed.update((leaf.serial, leaf) for leaf in records.get(owner, ()) if leaf.serial not in placed)
            elif isinstance(expr, Draw):
                stack += [(expr, True), (expr.selector, False)]
            else:
                stack.extend((child, False) for child in reversed(expr.children))

    for hub in shared:
        place(hub)
    consumed = {component.serial for component in program.components if not isinstance(component, Input)}
    for expr in nodes:
        if isinstance(expr, Draw) and client[expr.serial] >= 0:
            place(expr)  # its law depends on a record: the two stand together, wherever the outcome is consumed
        if expr.serial in consumed or not isinstance(expr, (Input, Draw)):
            for child in (expr, *expr.children):
                if isinstance(child, (Input, Draw)) and (child is not expr or expr.serial in consumed):
                    place(child)
    for expr in nodes:
        if isinstance(expr, Draw):
            place(expr)
    return _with_rest(list(placed.values()), nodes, client)


def _with_their_clients(
    leaves: Sequence[Input | Draw], client: dict[int, int], ties: dict[int, frozenset[int]]
) -> list[Input | Draw]:
    """Return leaves with every draw that belongs to one client right behind that client's record."""
    last = {leaf.client: leaf.serial for leaf in leaves if isinstance(leaf, Input)}
    moved: dict[int, list[Input | Draw]] = {}
    for leaf in leaves:
        owner = _owner(leaf, client, ties)
        if isinstance(leaf, Draw) and owner in last:
            moved.setdefault(last[owner], []).append(leaf)
    behind = {leaf.serial for draws in moved.values() for leaf in draws}
    return [one for leaf in leaves if leaf.serial not in behind for one in (leaf, *moved.get(leaf.serial, ()))]


def _with_rest(placed: list[Input | Draw], nodes: Sequence[Expr], client: dict[int, int]) -> list[Input | Draw]:
    """Return leaves with those inputs that are only output, as they are, behind what else belongs to their client."""
    known = {leaf.serial for leaf in placed}
    rest: dict[int, list[Input | Draw]] = {}
    for expr in nodes:
        if isinstance(expr, Input) and expr.serial not in known:
            rest.setdefault(expr.client, []).append(expr)
    result: list[Input | Draw] = []
    for leaf in reversed(placed):
        result += reversed(rest.pop(client[leaf.serial], []))
        result.append(leaf)
    return [*reversed(result), *(leaf for leaves in rest.values() for leaf in leaves)]


def _deepest(nodes: Sequence[Expr], rank: dict[int, int]) -> dict[int, int]:
    """Return, for every node, the place of the last leaf that it depends on (-1: none)."""
    deepest: dict[int, int] = {}
    for expr in nodes:
        below = max((deepest[child.serial] for child in expr.children), default=-1)
        deepest[expr.serial] = max(below, rank.get(expr.serial, -1))
    return deepest


@dataclass(frozen=True)
class Coin:
    """A coin: true with probability numerator/denominator, strictly between 0 and 1."""

    numerator: Whole
    denominator: Whole

    def __post_init__(self) -> None:
        if not (may_be_positive(self.numerator) and may_be_positive(self.denominator - self.numerator)):
            raise ValueError(f"a coin needs a probability strictly between 0 and 1, not {self.probability}")

    @property
    def probability(self) -> Number:
        """The weight of True; the weight of False is one minus that."""
        return quotient(self.numerator, self.denominator)


@dataclass(frozen=True)
class InputBit:
    """Bit number `bit` (from the most significant) of the code of a leaf of a record."""

    leaf: int
    bit: int


@dataclass(frozen=True)
class OutputBit:
    """Bit number `bit` (from the most significant) of the code of an output component."""

    component: int
    bit: int


Variable = Coin | InputBit | OutputBit


def code_length(size: int) -> int:
    """Return how many bits the code of one of `size` values has."""
    return (size - 1).bit_length()


@dataclass(frozen=True)
class WeightedFormula:
    """A compiled program: the diagram of its formula, its variables by level, and how codes are read.

    `owners` says, by level, which client a variable belongs to alone (`order.NO_CLIENT`: none).

    `inputs` are the symbolic leaves of the records (none where the dataset was fixed), `values[j]` the values of
    output component j, `shape` how an output is put together from them. `conditioned` says whether `observe` may
    reject runs. `nodes` counts the nodes of the diagram in its library, constants included.
    """

    diagram: Diagram
    variables: tuple[Variable, ...]
    owners: tuple[int, ...]
    inputs: tuple[Input, ...]
    values: tuple[Sequence[Value], ...]
    shape: Shape
    conditioned: bool
    nodes: int

    def evidence(self, x: Dataset, record: Domain) -> dict[int, bool]:
        """Return the value of every input bit, by level, for a dataset of records of a domain."""
        components = [record.split(item) for item in x]
        return self.evidence_of([components[leaf.client][leaf.leaf] for leaf in self.inputs])

    def evidence_of(self, values: Sequence[Value]) -> dict[int, bool]:
        """Return the value of every input bit, by level, for values of the input leaves."""
        codes = [leaf.index[value] for leaf, value in zip(self.inputs, values, strict=True)]
        lengths = [code_length(len(leaf.values)) for leaf in self.inputs]
        return {
            level: bool(codes[variable.leaf] >> (lengths[variable.leaf] - 1 - variable.bit) & 1)
            for level, variable in enumerate(self.variables)
            if isinstance(variable, InputBit)
        }

    @cached_property
    def output_bits(self) -> tuple[tuple[int, int], ...]:
        """(component, bit) of every output bit, from the top of the diagram to its bottom."""
        return tuple((v.component, v.bit) for v in self.variables if isinstance(v, OutputBit))

    @cached_property
    def codes(self) -> BitCodes:
        """What the output bits stand for, as one number, top level first."""
        return BitCodes(self.values, self.shape, self.output_bits)

    @cached_property
    def output_shifts(self) -> dict[int, int]:
        """How far to shift the output code for its bit at a level."""
        levels = [level for level, variable in enumerate(self.variables) if isinstance(variable, OutputBit)]
        return {level: len(levels) - 1 - at for at, level in enumerate(levels)}


class BitCodes(ComponentCodes):
    """Codes of output bits: (component, bit) of each, the most significant first."""

    def __init__(self, values: Sequence[Sequence[Value]], shape: Shape, output_bits: Sequence[tuple[int, int]]) -> None:
        super().__init__(values, shape)
        self._bits = output_bits

    @property
    def bits(self) -> int:
        return len(self._bits)

    def code(self, places: Sequence[int]) -> int:
        lengths = list(map(code_length, map(len, self.values)))
        result = 0
        for component, bit in self._bits:
            result = result << 1 | places[component] >> (lengths[component] - 1 - bit) & 1
        return result

    def component_values(self, code: int) -> list[Value]:
        return [values[_gathered(code, at)] for values, at in zip(self.values, self._positions, strict=True)]

    def decoded(self, codes: Sequence[int]) -> Sequence[Output]:
        """Return an output for each of some codes, component by component for all of them at once."""
        size = (self.bits + 7) // 8 or 1
        whole = b"".join([code.to_bytes(size, "little") for code in codes])
        # Many codes have few different bytes: a component is read once for every combination of the bytes it is in.
        bytes_at = [whole[at::size] for at in range(size)]
        columns: list[Sequence[object]] = []
        for values, positions in zip(self.values, self._positions, strict=True):
            places = sorted({shift // 8 for shift in positions})
            if len(places) == 1:
                keys: Sequence[Any] = bytes_at[places[0]]
                value_of = {key: values[_gathered(key << 8 * places[0], positions)] for key in set(keys)}
            else:
                keys = list(zip(*(bytes_at[place] for place in places), strict=True)) if places else [()] * len(codes)
                value_of = {key: values[_gathered(_code(key, places), positions)] for key in set(keys)}
            columns.append([*map(value_of.__getitem__, keys)])
        return self.shape.decode_rows(columns, len(codes))

    @cached_property
    def _positions(self) -> list[list[int]]:
        """For every component, how far to shift the code for each of its bits, most significant first."""
        positions: list[list[int]] = [[] for _ in self.values]
        for place, (component, _) in enumerate(self._bits):
            positions[component].append(self.bits - 1 - place)
        return positions


def _code(key: Sequence[int], places: Sequence[int]) -> int:
    """Return a code of which the bytes at some places are given."""
    return sum(byte << 8 * place for byte, place in zip(key, places, strict=True))


def _gathered(code: int, positions: Sequence[int]) -> int:
    """Return the bits at these positions of a code as one number."""
    index = 0
    for shift in positions:
        index = index << 1 | code >> shift & 1
    return index
