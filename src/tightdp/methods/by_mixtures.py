"""Records whose law is a mixture of the laws of other records: no divergence is larger at these.

What a client hands on to the rest of a program has a law for every record, and the output law is linear in it. So where
that of one record is a mixture of those of others, the output laws are mixtures, whatever the other clients have, and
every divergence between neighbours is at most the largest at the records that are mixed (`exact/extremes.py`). Only
extreme records are compared: of a number that is rounded at random to one of a few levels, these levels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

from tightdp.core.coarse import handed_on
from tightdp.core.nodes import CoreProgram, Expr, Input
from tightdp.core.passes import Rebuild, graph_of
from tightdp.core.together import law_together
from tightdp.errors import QueryError
from tightdp.exact.extremes import extremes
from tightdp.language.domains import Domain, Record, Values
from tightdp.language.neighbours import relation_of
from tightdp.limits.calibrated import LITTLE_WORK, TABLE_ENTRIES
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Control, Exact, Pair, Refusal, Sought, Tight
from tightdp.methods.compiled import at_most
from tightdp.methods.program import Method, Program
from tightdp.methods.symmetry import Symmetry

_NAME = "extreme records"


class ExtremeRecords(Method):
    """A program of which only the extreme records are compared."""

    name = _NAME

    def __init__(self, program: Program, core: CoreProgram, records: list[Record]) -> None:
        self.program = program
        others = [each for each in program.candidates if each.name != _NAME]
        within = replace(program.bound, record=Values(*records))
        self.inner = Program(within, others, program.backend, given=_restricted(core, program.bound.record, records))
        self.whole = Program(program.bound, others, program.backend, given=core)

    def size(self) -> tuple[int, int]:
        return self.inner.size

    def work(self) -> int:
        return 0  # all is done by the methods that are asked about the extreme records

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        try:
            return questions.tight(self.inner, control)[1]
        except QueryError as error:
            return Refusal(error.what, error.hint)

    def comparison(self, control: Control) -> Refusal:
        return Refusal(f"{self.name}: it compares some records only")

    def telling(self, control: Control, sought: Sought | None) -> Comparison | Refusal:
        try:
            found = questions.comparison(self.inner, control, sought)[1]
        except QueryError as error:
            return Refusal(error.what, error.hint)
        return replace(found, entries=lambda: (replace(pair, size=0) for pair in found))

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        """Yield pairs of all records: the first that attains something may have none that is extreme."""
        return questions.first(self.whole, at_most(Control(control.limits), LITTLE_WORK)).in_order(control)

    def ratio_bound(self) -> Exact:
        return questions.ratio_bound(self.inner)

    def symmetry(self) -> Symmetry:
        return next((method.symmetry() for method in self.inner.looked), Symmetry(()))


def _extreme_records(core: CoreProgram, record: Domain, watch: Callable[[], None]) -> list[Record] | None:
    """Return the records that are extreme for some client; None where no other is a mixture, or laws are long."""
    kept: set[int] = set()
    mixed = False
    known: set[Hashable] = set()
    for leaves, nodes, own in handed_on(core):
        key = graph_of(leaves, nodes)
        if key in known:
            continue
        known.add(key)
        most = LITTLE_WORK // record.size
        laws = []
        entries = 0
        for components in map(record.split, record.values):
            given = {leaf.serial: components[leaf.leaf] for leaf in leaves}
            law = law_together(nodes, given, own, most, watch)
            entries += TABLE_ENTRIES if law is None else len(law)
            if law is None or entries > TABLE_ENTRIES:
                return None
            laws.append(law)
        found = extremes(laws)
        kept.update(found)
        mixed = mixed or len(found) < len({frozenset(law.items()) for law in laws})
    return [record.values[at] for at in sorted(kept)] if mixed and len(kept) < record.size else None


def _restricted(core: CoreProgram, record: Domain, records: list[Record]) -> CoreProgram:
    """Return the program on some records only, each of which is one leaf."""
    alone = len(record.leaves()) == 1
    leaves: list[Input] = []

    def substitute(rebuild: Rebuild, expr: Expr) -> Expr | None:
        if not isinstance(expr, Input):
            return None
        leaf = rebuild.builder.input(expr.client, 0, records)
        if alone:
            return leaf
        if expr.leaf == 0:
            leaves.append(leaf)
        return rebuild.builder.case(
            leaf, [rebuild.builder.const(record.split(each)[expr.leaf]) for each in leaf.values]
        )

    return Rebuild(substitute).program(core, inputs=leaves)


def look(program: Program, control: Control, budget: int) -> ExtremeRecords | Refusal:
    """Return the method where the laws of some records are mixtures of those of others."""
    bound = program.bound
    if relation_of(bound).name != "replace-one" or not 2 < bound.record.size <= TABLE_ENTRIES:
        return Refusal(f"{_NAME}: a client has two records, or not every one may become any other")
    core = program.core(control)
    if core.evidence or core.checks or core.inexact is not None or bound.asks:
        return Refusal(f"{_NAME}: runs are conditioned, or may fail, or laws are not exact")
    records = _extreme_records(core, bound.record, control)
    if records is None:
        return Refusal(f"{_NAME}: the law of no record is a mixture of those of others")
    return ExtremeRecords(program, core, records)
