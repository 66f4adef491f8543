"""What is seen of the values of a run that is followed for every n."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tightdp.core.lowering.values import Growing, Reference, Value, is_scalar, known
from tightdp.errors import LanguageError
from tightdp.every_n.counters import refuse_cut_off
from tightdp.every_n.following import Run
from tightdp.every_n.indexes import check_indices
from tightdp.every_n.learned import Explored, Sent
from tightdp.every_n.passes import Follower, Pass
from tightdp.every_n.paths import SIZE, Affine, Symbol, Tree
from tightdp.every_n.runs import INDEX, LENGTH, OPEN
from tightdp.language.outputs import as_output


class Seeing(Follower):
    """A machine that knows what is seen of a value after its passes."""

    passes: list[tuple[Pass, Explored, int]]

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
