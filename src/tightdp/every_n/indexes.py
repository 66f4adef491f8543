"""The index of a record that is kept while later ones are gone through: which one it is, a message tells.

A value that is read after the records may depend on the indices of some of them, as that of the largest noisy answer.
Which records these are is guessed while they are gone through: the message of such a record has a **mark**. A run whose
guess turns out wrong is left out: a mark of which nothing comes, or an index that is published without one. So every
run of the program is one run here, and its output is a function of the messages and of what is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tightdp.core.lowering.values import Value, known
from tightdp.every_n.deciding import EITHER_WAY, MARKED, PASSED, TURN, Run, Touched
from tightdp.every_n.learned import Again, Explored, Frozen, Knowledge, OfPass, Unending
from tightdp.every_n.paths import SIZE, Affine, Symbol, Terms, plus, refusal, tree_of

_KEPT = ("index", MARKED, PASSED)
_COUNT, _EARLIER = "the index of the record", "the records before"
_AT_HAND = ("index", 0)


class Turns:
    """Two cells of a pass that the program does not name: how many records there were before, and the last of them.

    They are parts of the state where the code of a record asks for them.
    """

    def __init__(self, m: Any, number: int, learned: Knowledge) -> None:
        self._m, self._learned = m, learned
        self._count, self._earlier = (-2 - number, _COUNT), (-2 - number, _EARLIER)

    def begin(self) -> None:
        """Before the first record there was none."""
        both: tuple[tuple[Any, int, Value], ...] = (
            (self._count, self._learned.counted, 0),
            (self._earlier, self._learned.remembered, ()),
        )
        cells = {cell: value for cell, asked, value in both if asked}
        self._m.store.write(cells)
        for some in (self._learned.written, self._learned.live):
            some.update(dict.fromkeys(cells))
        self._learned.plain.update((cell,) for cell in cells)

    def next(self, record: Value) -> None:
        """Go on to the next record."""
        m = self._m
        if self._learned.counted:
            m.store[self._count] = known(m.builder.add(m.expr(m.store[self._count]), m.expr(1)))
        if self._learned.remembered:
            m.store[self._earlier] = (record, *m.store[self._earlier])[: self._learned.remembered]

    def counted(self, form: Affine) -> Affine:
        """Return a form with the number of records before in place of the index of the record at hand."""
        factor = dict(form.terms).get(_AT_HAND)
        if factor is None:
            return form
        if not self._learned.counted:
            raise Touched(TURN, "counted")
        rest = Affine(tuple(each for each in form.terms if each[0] != _AT_HAND), form.constant)
        return plus(rest, tree_of(self._m.expr(self._m.store[self._count])), factor)

    def earlier(self, back: int) -> Value:
        """Return the record so many places before the one at hand."""
        if self._learned.remembered < back:
            raise Touched(TURN, "earlier", back)
        kept = self._m.store[self._earlier]
        if len(kept) < back:
            raise refusal("before the first record come the last ones", "ask for the index, as in `if i > 0`")
        return kept[back - 1]


def places_back(index: Value, backwards: bool) -> int | None:
    """Return how many places before the record at hand an index is; None for another one."""
    tree = index.tree if isinstance(index, Symbol) else None
    if backwards and isinstance(tree, Affine):
        tree = plus(Affine(SIZE, Fraction(-1)), tree, -1)
    if not isinstance(tree, Affine) or tree.terms != ((_AT_HAND, Fraction(1)),) or not tree.whole():
        return None
    return -int(tree.constant) if tree.constant <= 0 else None


class Indexes:
    """What one round leaves of the indices of its own record and of earlier ones."""

    def __init__(self, of: OfPass, run: Run | None) -> None:
        self._of, self._run = of, run
        self._own: tuple[str, int] | None = None
        self._passed: dict[int, int] = {}
        self.marks: set[int] = set()
        """The numbers of the marks that come of this round."""
        self.new: int | None = None
        """The number of the mark of its record, if that has one."""

    def frozen(self, tree: Affine) -> Frozen | None:
        """Return a value with an index in it as plain data; None for one without."""
        kinds = {kind for (kind, _), _ in tree.terms}
        if not kinds & {"stale", *_KEPT}:
            return None
        if not self._of.learned.marking:
            simple = kinds == {"index"} and tree.terms[0][1] == 1
            return ("index", tree.constant) if simple else ("stale",)
        numbers = {at // 1000 for (kind, at), _ in tree.terms if kind != "index"}
        if not kinds <= set(_KEPT) or not numbers <= {self._of.number}:
            return ("stale",)
        return ("indexed", tuple(sorted((self._name(*name), factor) for name, factor in tree.terms)), tree.constant)

    def _name(self, kind: str, at: int) -> tuple[str, int]:
        """Return what an index is called in the state: marks by their order, others by that in which they are met."""
        if kind == MARKED:
            self.marks.add(at % 1000)
            return kind, at % 1000
        if kind == PASSED:
            return kind, self._passed.setdefault(at, len(self._passed))
        if self._own is None:
            assert self._run is not None
            if self._run.choices.choose(EITHER_WAY):
                self.new = len(self._of.marks)
                self.marks.add(self.new)
                self._own = MARKED, self.new
            else:
                self._own = PASSED, self._passed.setdefault(-1, len(self._passed))
        return self._own


def thawed(number: int, terms: tuple[tuple[tuple[str, int], Fraction], ...], constant: Fraction) -> Affine:
    """Return a value that depends on indices, of the pass with this number."""
    found: Terms = tuple(sorted(((kind, number * 1000 + at), factor) for (kind, at), factor in terms))
    return Affine(found, constant)


def marks_in(what: Any) -> Iterator[int]:
    """Yield the numbers of the marks in the cells of a state."""
    if isinstance(what, tuple):
        if what[:1] == ("indexed",):
            yield from (at for (kind, at), _ in what[1] if kind == MARKED)
        else:
            for part in what:
                yield from marks_in(part)


def without_mark(passes: Iterable[tuple[OfPass, Explored, int]], seen: object) -> bool:
    """Whether a record has a mark of which nothing is seen, after passes that ended in these states."""
    marks = {each.number * 1000 + k for each, explored, at in passes for k in marks_in(explored.states[at].cells)}
    return not marks <= set(_marks_seen(seen))


def _marks_seen(what: object) -> Iterator[int]:
    if isinstance(what, Affine):
        yield from (at for (kind, at), _ in what.terms if kind == MARKED)
    elif isinstance(what, tuple):
        for part in what:
            yield from _marks_seen(part)


def check_indices(form: Affine, learned: Sequence[Knowledge], inside: bool) -> None:
    """Raise Unending where the index of a record without a mark is published; Again where there are no marks yet."""
    for (kind, at), _ in form.terms:
        if kind in ("stale", MARKED, PASSED) and (inside or (kind == "stale" and learned[at // 1000].marking)):
            raise refusal("the index of an earlier record is published", "publish the index of the record at hand")
        if kind == "stale":
            learned[at // 1000].marking = True
            raise Again
        if kind == PASSED:
            raise Unending
