"""A chain of client blocks without a diagram: its nodes are the rows that elimination keeps between two clients.

What of a program's draws and records matters to the clients that follow is in the rows. So they take the place of the
nodes of a diagram, which may become large although the rows are few. Outputs are told apart at the end only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tightdp.core.nodes import Input
from tightdp.exact.whole import Whole, lcm
from tightdp.language.program import Bound
from tightdp.methods.chain import Block, Chain, Letter, Vector
from tightdp.methods.elimination import Elimination, Failed, Part, TooMuchWork
from tightdp.methods.elimination_plan import Plan, Row
from tightdp.methods.elimination_table import EliminationTable

__all__ = ["MOST_ROWS", "chain_of_rows"]

MOST_ROWS = 4_000
"""So many rows are kept between two clients."""

Numbered = dict[Row, int]
_Client = tuple[int, list[int]]
"""A client, and the steps at which its record becomes known."""


def chain_of_rows(table: EliminationTable) -> Chain | None:
    """Return a program as a chain whose tails are the codes of outputs.

    None where the records of clients are mixed, where one matters beyond its own block otherwise than through rows, and
    where there are too many rows, or failing runs.
    """
    elimination = table.elimination
    clients = _clients(elimination.plan)
    if clients is None or not _separate(elimination.plan, clients):
        return None
    try:
        return _Rows(table, elimination, clients).chain()
    except (Failed, TooMuchWork):
        return None


def _clients(plan: Plan) -> list[_Client] | None:
    """Return the clients in the order of the plan; None where some client's inputs do not stand together."""
    found: list[_Client] = []
    for at, step in enumerate(plan.steps):
        leaf = plan.nodes.nodes[step.node].expr
        if step.kind == "input" and isinstance(leaf, Input):
            if found and found[-1][0] == leaf.client:
                found[-1][1].append(at)
            else:
                found.append((leaf.client, [at]))
    distinct = {client for client, _ in found}
    return found if found and len(distinct) == len(found) and plan.nodes.evidence is None else None


def _separate(plan: Plan, clients: Sequence[_Client]) -> bool:
    """Whether every step looks at no record but that of its own block."""
    nodes = plan.nodes
    records: list[frozenset[int]] = []
    for place, node in enumerate(nodes.nodes):
        below: frozenset[int] = frozenset()
        if nodes.plain[place]:
            below = below.union(*(records[operand] for operand in node.operands))
            below |= {node.expr.client} if isinstance(node.expr, Input) else set()
        records.append(below)
    starts = [stops[0] for _, stops in clients]
    bounds = zip([0, *starts], [*starts, len(plan.steps)], [None, *(client for client, _ in clients)], strict=True)
    for start, end, client in bounds:
        for step in plan.steps[start:end]:
            columns = {column for conjunction in step.guard for column, _ in conjunction}
            columns |= set(nodes.nodes[step.node].operands) if step.kind != "input" else set()
            columns |= {step.node} | ({step.active} if step.active is not None else set())
            if any(not records[column] <= {client} for column in columns):
                return False
    return not any(records[place] for place in nodes.components)


class _Rows:
    def __init__(self, table: EliminationTable, elimination: Elimination, clients: Sequence[_Client]) -> None:
        self.table, self.elimination, self.clients = table, elimination, clients
        self.bound: Bound = table.bound

    def chain(self) -> Chain:
        starts = [*(stops[0] for _, stops in self.clients), len(self.elimination.plan.steps)]
        rows = self._after(self.elimination.start()[0][0], 0, starts[0]).rows
        heads: dict[int, Vector] = {0: dict(enumerate(rows.values()))}
        blocks = []
        above = {row: at for at, row in enumerate(rows)}
        for (client, stops), end in zip(self.clients, starts[1:], strict=True):
            block, above = self._block(client, stops, end, above)
            blocks.append(block)
        return Chain(heads, tuple(blocks), self._tails(above), self.table.code_bits)

    def _after(self, part: Part, start: int, end: int) -> Part:
        waiting = {start: [part]}
        self.elimination.advance(waiting, start, end, {})
        return self.elimination.merged(waiting.get(end) or [Part({}, 1)])

    def _block(
        self, client: int, stops: Sequence[int], end: int, above: dict[Row, int]
    ) -> tuple[Block, dict[Row, int]]:
        below: Numbered = {}
        made: list[tuple[Letter, int, Part]] = []
        nodes, steps = self.elimination.plan.nodes, self.elimination.plan.steps
        for record in self.bound.record.values:
            split = self.bound.record.split(record)
            for stop in stops:
                leaf = nodes.nodes[steps[stop].node].expr
                assert isinstance(leaf, Input)
                self.elimination.learn(nodes.rank[steps[stop].node], split[leaf.leaf])
            for row, place in above.items():
                part = self._after(Part({row: 1}, 1), stops[0], end)
                made.append(((record, 0), place, part))
                for new in part.rows:
                    below.setdefault(new, len(below))
                if len(below) > MOST_ROWS:
                    raise TooMuchWork
        common = lcm(*(part.denominator for *_, part in made))
        into: dict[Letter, dict[int, list[tuple[int, Whole]]]] = {}
        for letter, place, part in made:
            arrows = into.setdefault(letter, {})
            for new, weight in part.rows.items():
                arrows.setdefault(below[new], []).append((place, weight * (common // part.denominator)))
        return Block(client, 0, (), into), below

    def _tails(self, rows: dict[Row, int]) -> dict[int, Vector]:
        tails: dict[int, Vector] = {}
        for code, row in self._codes(rows):
            tails.setdefault(code, {})[rows[row]] = 1
        return tails

    def _codes(self, rows: dict[Row, int]) -> Iterator[tuple[int, Row]]:
        plan, known = self.elimination.plan, self.elimination.known
        place = {column: at for at, column in enumerate(plan.layout)}
        codes = [component.index for component in self.table.program.components]
        for row in rows:
            code = 0
            for at, index in zip(plan.nodes.components, codes, strict=True):
                code = code * len(index) + index[row[place[at]] if at in place else known[at]]
            yield code, row
