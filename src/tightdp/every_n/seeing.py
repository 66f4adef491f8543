"""The machine that follows one run for every n: it can go back, and knows what is seen of a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tightdp.core.lowering import Lowering
from tightdp.core.lowering.values import Growing, Reference, Value, is_scalar, known
from tightdp.errors import LanguageError
from tightdp.every_n.counters import refuse_cut_off
from tightdp.every_n.deciding import Run
from tightdp.every_n.following import FollowingBuilder
from tightdp.every_n.indexes import check_indices
from tightdp.every_n.learned import CheckedStore, Explored, OfPass, Sent
from tightdp.every_n.paths import INDEX, LENGTH, OPEN, SIZE, Affine, Symbol, Tree
from tightdp.language.outputs import as_output


class Follower(Lowering):
    """The machine on which passes are explored."""

    builder: FollowingBuilder
    store: CheckedStore
    sums: bool
    passes: Sequence[tuple[OfPass, Explored, int]]
    inside: OfPass | None
    evaluated: list[list[tuple[ast.AST, Value]]]
    """Of the statements and expressions at hand: which of their parts were evaluated, with their values."""
    residues: dict[int, tuple[int, int]]
    """What is known of sums: modulo what, and what is left."""

    @property
    def run(self) -> Run:  # type: ignore[override]
        """The part of the run that is being followed."""
        return self.builder.run

    def mark(self) -> tuple[Any, ...]:
        """Return what is needed to go back to this point."""
        level = self.store.open()
        frames = [(frame, len(frame.loops), len(frame.returns)) for frame in self.stack]
        lists = [(each, len(each)) for each in (self.results, self.position)]
        rest = dict(self.spent), self.departures(), self.builder.run, self.store.newest
        return level, self.alive, frames, lists, *rest

    def restore(self, mark: tuple[Any, ...]) -> None:
        """Go back to a point."""
        level, self.alive, frames, lists, self.spent, departures, self.builder.run, newest = mark
        self.store.undo(level)
        self.store.forget_keys(newest)
        self.stack[:] = [frame for frame, *_ in frames]
        for frame, loops, returns in frames:
            del frame.loops[loops:], frame.returns[returns:]
        for each, length in lists:
            del each[length:]
        self.forget_departures(departures)
        self.inside = None

    def plain(self, record: object) -> Value:
        return self._plain(record)

    def touched(self, growing: Growing, asked: str) -> Value:
        """Refuse what is asked of a list that grows; while the records are gone through, it is learned."""
        raise NotImplementedError

    def visible_answers(self, run: Run) -> Iterator[Sent]:
        """Yield the questions that a run was asked beside its comparisons, with the answers."""
        for tree, answer in run.asked:
            published: list[Affine] = []
            yield Sent((self._visible_tree(tree, published, run), answer), tuple(published))

    def visible(self, value: Value, published: list[Affine], run: Run) -> Any:
        """Return the visible part of a value; the symbolic values in it are added to `published`."""
        value = known(value)
        if isinstance(value, Symbol):
            return self._visible_tree(value.tree, published, run)
        if isinstance(value, tuple):
            return tuple(self.visible(item, published, run) for item in value)
        if isinstance(value, Growing):
            if self.inside is not None:
                return self.touched(value, "items")
            tail = tuple(self.visible(item, published, run) for item in value.tail)
            return ("\0tree", value.tree, tail) if tail else ("\0tree", value.tree)
        if not is_scalar(value):
            name = "list" if isinstance(value, Reference) else type(value).__name__.lower()
            raise LanguageError(f"an output cannot be a {name}", "return tuple(...) of it", self.source.span())
        return as_output(value)

    def _visible_tree(self, tree: Tree, published: list[Affine], run: Run) -> Any:
        if not isinstance(tree, Affine):
            if not isinstance(tree, tuple) or (len(tree) == 2 and isinstance(tree[1], int)):
                return ("\0tree", tree) if isinstance(tree, tuple) else tree
            return ("\0tree", tree[0], *(self._visible_tree(part, published, run) for part in tree[1:]))
        refuse_cut_off(tree)
        if not tree.terms:
            return as_output(tree.constant)
        if tree.terms == SIZE and not tree.constant:
            return LENGTH
        if tree == Affine(((("index", 0), Fraction(1)),), Fraction(0)):
            return INDEX
        told = tuple(each for each in tree.terms if not run.clean(Affine((each,), Fraction(0))))
        check_indices(tree, [each.learned for each, *_ in self.passes], self.inside is not None)
        if self.inside is not None:
            run.check(tuple(each for each in told if each[0][0] != "index"))
        rest = tuple(each for each in tree.terms if each not in told)
        if not told:
            low, high = run.bounds.get(rest, (0, 1))
            if low == high:
                return as_output(tree.constant + Fraction(low))
            if all(kind == "size" for (kind, _), _ in rest):
                return ("\0tree", tree)
            published.append(tree)
            return OPEN
        if rest:
            published.append(Affine(rest, Fraction(0)))
            return ("\0tree", Affine(told, tree.constant), OPEN)
        return ("\0tree", tree)
