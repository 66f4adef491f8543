"""Certificates of alignments: the paths of a program as trees, and which leaves are compared, with shares and shifts.

`proofs/alignment.py` says what a tree is, and what is asked of shares; it takes nothing but the prices as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from tightdp.core.sections import root_of, written_value, written_whole
from tightdp.errors import QueryError, TightdpError
from tightdp.every_n.alignment import Alignment, Plan, align
from tightdp.every_n.edges import Edge, finite
from tightdp.every_n.mixing import has_mixtures, primitive
from tightdp.every_n.options import BEGIN, END, Cell
from tightdp.every_n.paths import Affine, Bounds, Noise, Path, Paths, Terms, power
from tightdp.every_n.shifts import is_real
from tightdp.every_n.upper import readings
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import all_over_common
from tightdp.language.laws import TwoSided
from tightdp.session.arguments import read_exponential
from tightdp.session.base import InstanceBase
from tightdp.session.certify import Certificate, load_checker, verified
from tightdp.session.certify_content import about, written
from tightdp.session.certify_events import dataset_of
from tightdp.session.certify_runs import together
from tightdp.session.enclosing import is_above

_Ways = Sequence[tuple[int, Path]]
_Leaf = tuple[int, Bounds, tuple[bool, ...]]
"""The number of a path, what is known on it, and which of the numbers before it are real."""
_Tree = tuple[int, list[_Leaf]]
"""The number of a tree, and its leaves."""


class _Unfit(Exception):
    """No tree, or no plan, of a kind that the rule has."""


def certify_aligned(
    instance: InstanceBase,
    programs: Sequence[Paths],
    claimed: tuple[Number | None, Fraction | None],
    runs: tuple[Any, Any, Any] | None,
    refused: list[object],
) -> Certificate | None:
    """Return a certificate that some e^ε is enough for every n, by an alignment; None where there is none that fits.

    With `runs` it says what so many runs are together, too.
    """
    for farther in (False, True):
        found = [each for paths in programs if (each := align(paths, farther=farther)) is not None]
        for each in sorted(found, key=lambda each: each.ratio()):
            if claimed != (None, None) and is_above(each.ratio(), *claimed):
                break
            try:
                return verified(_content(instance, each, claimed[0], runs))
            except (_Unfit, load_checker().Refused) as reason:
                refused.append(reason)
    return None


def instead(instance: InstanceBase, claim: dict[str, Any], reason: QueryError) -> Certificate:
    """Return a certificate for every n, of a claim about ε that has none for one n for a reason. Raises that else."""
    pure = claim.get("exp_epsilon"), claim.get("epsilon")
    if sum(value not in (None, False, 0) for value in claim.values()) == sum(value is not None for value in pure):
        claimed = (None, None) if pure == (None, None) else read_exponential(*pure, least=1)
        with suppress(TightdpError):
            made = certify_aligned(instance, readings(instance.bound), claimed, None, [])
            if made is not None:
                return made
    raise reason


def _content(
    instance: InstanceBase, found: Alignment, claimed: Number | None, runs: tuple[Any, Any, Any] | None
) -> dict[str, Any]:
    """Return the content of a certificate, which may be refused."""
    if has_mixtures(found.search.paths):
        raise _Unfit("there is noise of other kinds")
    bound, made = instance.bound, _Trees(found)
    neighbours: Any = bound.neighbours
    if not isinstance(neighbours, str):
        moves = [move for move in made.moves if move[0] != move[1]]
        neighbours = [dataset_of(bound, tuple(move)) for move in moves]
    ratio: Exact = max(found.ratio(), Fraction(1)) if claimed is None else claimed
    several = together(ratio, runs) if runs else ()
    root = root_of(*made.numbers(), *found.prices.values(), ratio, *several)
    claim: dict[str, Any] = {"question": "privacy of messages", "n": "all"}
    claim |= {"records": dataset_of(bound, tuple(made.records)), "neighbours": neighbours}
    claim |= {"bound": written(ratio, root)} | ({"root": root} if root else {})
    claim |= {"runs": written(several, root)} if runs else {}
    return about(claim, made.program(root), bound) | {"evidence": {"rule": "alignment", **made.evidence(root)}}


class _Trees:
    """The trees of the paths of an alignment, each once."""

    def __init__(self, found: Alignment) -> None:
        self._found, self._paths = found, found.search.paths
        self._kinds = [found.search.kinds.get(state) for state in range(self._paths.states)]
        self.records, self.moves, states = list(self._paths.steps), found.search.moves, range(self._paths.states)
        self._told: dict[Any, int] = {}
        self._trees: dict[Any, int] = {}
        self._before = self._tree(self._paths.before, -1)
        self._steps = [{x: self._tree(by.get(at, ()), at) for x, by in self._paths.steps.items()} for at in states]
        self._after = [self._tree(self._paths.after.get(at, ()), at, last=True) for at in states]
        self._parts: dict[Noise, int] = {}
        for path in self._paths.each():
            self._parts |= dict.fromkeys(path.noises, 1)
        for _, _, plan, ways, _ in self._compared():
            for (_, path), some in zip(ways, plan, strict=True):
                for law, d in (
                    (law, d) for option, _ in some for law, d in zip(path.noises, option.shift, strict=True)
                ):
                    self._parts[law] = math.lcm(self._parts[law], Fraction(d).denominator)

    def numbers(self) -> Iterator[Number]:
        """Yield the numbers of the program that may have powers of e."""
        yield from (path.probability for path in self._paths.each())
        yield from (_base(law, parts) for law, parts in self._parts.items())

    def _tree(self, paths: Sequence[Path], state: int, last: bool = False) -> _Tree:
        kinds = () if state < 0 else self._kinds[state]
        if kinds is None or any(path.odds for path in paths):
            raise _Unfit("a state holds numbers of several kinds, or weights are powers of numbers")
        leaves: list[_Leaf] = []
        node, weight = self._node(list(enumerate(paths)), 0, {}, kinds, last, leaves)
        if weight not in (None, 1):  # odds are written as shares of their sum
            raise _Unfit("its runs are not all known")
        return self._trees.setdefault(node, len(self._trees)), leaves

    def _node(
        self, ways: _Ways, drawn: int, known: Bounds, kinds: tuple[bool, ...], last: bool, leaves: list[_Leaf]
    ) -> tuple[Any, Number | None]:
        """Return a tree of paths where some conditions are known, and which probability each of its leaves has."""
        if not ways:
            return None, None
        split = _sides(ways, drawn, known, kinds)
        if split is not None:
            terms, edge, *both = split
            nodes = [self._node(some, drawn, {**known, terms: side}, kinds, last, leaves) for side, some in both]
            weights = [weight for _, weight in nodes if weight is not None]
            if any(weight != weights[0] for weight in weights):
                raise _Unfit("draws depend on noise that is drawn later")
            form = _form(Affine(terms, -edge), len(kinds), drawn)
            return ("test", form, *(node for node, _ in nodes)), weights[0] if weights else None
        following: dict[Any, list[tuple[int, Path]]] = {}
        for number, path in ways:
            law = path.noises[drawn] if len(path.noises) > drawn else number
            following.setdefault(law, []).append((number, path))
        found: list[tuple[Any, Number | None]] = []
        for law, some in following.items():
            if isinstance(law, int):
                path = some[0][1]
                leaves.append((law, known, kinds))
                found.append((self._end(path, len(kinds), drawn, last), path.probability))
            else:
                node, weight = self._node(some, drawn + 1, known, kinds, last, leaves)
                found.append((("noise", law, node), weight))
        if len(found) == 1:
            return found[0]
        odds = [weight for _, weight in found if weight is not None]
        if len(odds) == len(found) and sum(odds, Fraction(0)) <= 1:
            return ("draw", tuple((weight, node) for node, weight in found)), sum(odds, Fraction(0))
        if len(odds) < len(found) or any(weight != odds[0] for weight in odds):
            raise _Unfit("it is not known what is drawn, and what is guessed")
        return ("guess", tuple(node for node, _ in found)), odds[0]

    def _end(self, path: Path, held: int, drawn: int, last: bool) -> Any:
        told = self._told.setdefault(path.letter, len(self._told))
        numbers = tuple(_form(each, held, drawn) for each in path.published)
        values = tuple(_form(each, held, drawn) for each in path.values)
        return ("ends", told, numbers) if last else ("ends", told, numbers, path.target, values)

    def _written(self, node: Any, root: int) -> Any:
        if node is None:
            return None
        kind, *rest = node
        if kind == "draw":
            ((weights,), _) = all_over_common([[weight for weight, _ in rest[0]]])
            pairs = zip(weights, rest[0], strict=True)
            return [kind, [[written_whole(weight, root), self._written(tree, root)] for weight, (_, tree) in pairs]]
        if kind == "guess":
            return [kind, [self._written(each, root) for each in rest[0]]]
        if kind == "noise":
            law, parts = rest[0], self._parts[rest[0]]
            real, one_sided = (
                not isinstance(law, TwoSided) and law.real,
                not isinstance(law, TwoSided) and len(law.pieces) == 1,
            )
            made = [int(real), written(_base(law, parts), root), written_value(Fraction(1, parts)), int(one_sided)]
            return [kind, made, self._written(rest[1], root)]
        if kind == "test":
            return [kind, written(rest[0], root), *(self._written(each, root) for each in rest[1:])]
        return [kind, *(written(each, root) for each in rest)]

    def program(self, root: int) -> dict[str, Any]:
        """Return the program as certificates have it."""
        return {
            "states": [[int(real) for real in kinds or ()] for kinds in self._kinds],
            "trees": [self._written(node, root) for node in self._trees],
            "before": self._before[0],
            "steps": [[by[x][0] for x in self.records] for by in self._steps],
            "after": [tree for tree, _ in self._after],
        }

    def _compared(self) -> Iterator[tuple[_Tree, _Tree, Plan, _Ways, Any]]:
        """Yield trees that are compared, with a plan, and what that is about; and our paths, or pieces of them."""
        paths, starts = self._paths, iter(self._found.starts)
        search = self._found.search

        def both(cell: Cell, ours: Sequence[Path], theirs: Sequence[Path], plan: Plan) -> tuple[Plan, _Ways]:
            return plan, search.cuts.get((cell, id(ours), id(theirs))) or list(enumerate(ours))

        if paths.all_at_once:
            yield self._before, self._before, *both(BEGIN, paths.before, paths.before, next(starts)), ("start",)
        for old, new in () if paths.all_at_once else paths.moves:
            for state, ours in paths.steps[old].items():
                cell = Cell(state, state, ((Fraction(0), Fraction(0)),) * len(self._kinds[state] or ()))
                some = both(cell, ours, paths.steps[new].get(state, ()), next(starts))
                yield self._steps[state][old], self._steps[state][new], *some, ("start", state, old, new)
        for cell, plans in self._found.plans.items():
            *chosen, last = [plans[at] for at in search.orders[cell]]
            for (old, new), plan in zip(self.moves, chosen, strict=True):
                some = both(cell, paths.steps[old].get(cell.ours, ()), paths.steps[new].get(cell.theirs, ()), plan)
                yield self._steps[cell.ours][old], self._steps[cell.theirs][new], *some, (cell, old, new)
            some = both(cell, paths.after.get(cell.ours, ()), paths.after.get(cell.theirs, ()), last)
            yield self._after[cell.ours], self._after[cell.theirs], *some, (cell,)

    def evidence(self, root: int) -> dict[str, Any]:
        """Return the cells, with prices, and the plans."""
        cells = {cell: at for at, cell in enumerate(self._found.plans)}
        plans: list[Any] = []
        about: dict[Any, int] = {}
        for (_, ours), (_, theirs), plan, ways, key in self._compared():

            def shares(at: int, plan: Plan = plan, theirs: list[_Leaf] = theirs) -> list[Any]:
                found = []
                for option, share in plan[at]:
                    to = {part.theirs: None if part.target == END else cells[part.target] for part in option.parts}
                    parts = [[leaf, to[path]] for leaf, (path, *_) in enumerate(theirs) if path in to]
                    found.append([written(share, root), written(tuple(map(Fraction, option.shift)), root), parts])
                return found

            def pieces(some: _Ways, known: Bounds, kinds: tuple[bool, ...], shares: Any = shares) -> Any:
                if len(some) == 1:
                    return shares(some[0][0])
                noises = some[0][1].noises
                terms, edge, *both = _sides(some, len(noises), known, kinds)
                nodes = [pieces(inside, {**known, terms: side}, kinds) if inside else [] for side, inside in both]
                form = _form(Affine(terms, -edge), len(kinds), len(noises))
                return ["test", written(form, root), *nodes]

            made = []
            for path, known, kinds in ours:
                some = [(at, piece) for at, (number, piece) in enumerate(ways) if number == path]
                made.append(pieces(some, known, kinds))
            if made not in plans:
                plans.append(made)
            about[key] = plans.index(made)
        at = {x: number for number, x in enumerate(self.records)}
        moves = sorted(self.moves, key=lambda move: (at[move[0]], at[move[1]]))
        starts = [about["start",]] if self._paths.all_at_once else []
        first = (
            sorted((at[old], at[new], old, new) for old, new in self._paths.moves if old != new) if not starts else []
        )
        starts += [about["start", state, old, new] for state in range(self._paths.states) for *_, old, new in first]
        rows = []
        for cell in cells:
            gaps = None if cell.gaps is None else [[_end(each) for each in gap] for gap in cell.gaps]
            price = written(self._found.prices[cell], root)
            rows.append([cell.theirs, cell.ours, gaps, price, [about[cell, *move] for move in moves], about[cell,]])
        return {"plans": plans, "cells": rows, "starts": starts}


def _sides(ways: _Ways, drawn: int, known: Bounds, kinds: tuple[bool, ...]) -> Any:
    """Return a test that not all paths pass alike, and of both sides what is known there, and which paths are there.

    It is known what noise it asks for. The clearest comes first. None where there is none.
    """
    best: tuple[int, Terms, Fraction] | None = None
    for _, path in ways:
        for terms, (low, high) in path.bounds.items():
            if all(kind != "fresh" or at < drawn for (kind, at), _ in terms):
                least, most = known.get(terms, (-math.inf, math.inf))
                over = high if any(_is_real(symbol, kinds, path) for symbol, _ in terms) else high + 1
                for edge in ([low] if low > least else []) + ([over] if high < most else []):
                    unclear = sum(terms not in other.bounds for _, other in ways)
                    if best is None or unclear < best[0]:
                        best = unclear, terms, Fraction(edge)
    if best is None:
        return None
    _, terms, edge = best
    real = any(_is_real(symbol, kinds, ways[0][1]) for symbol, _ in terms)
    low, high = known.get(terms, (-math.inf, math.inf))
    found: list[Any] = []
    for least, most in ((edge, high), (low, edge if real else edge - 1)):
        inside = []
        for number, path in ways:
            first, last = path.bounds.get(terms, (-math.inf, math.inf))
            first, last = max(first, least), min(last, most)
            if first < last or (first == last and not real):
                inside.append((number, path))
        found.append(((least, most), inside))
    return terms, edge, *found


def _is_real(symbol: tuple[str, int], kinds: tuple[bool, ...], path: Path) -> bool:
    kind, at = symbol
    if kind == "fresh":
        return is_real(path.noises[at])
    return kind == "held" and kinds[at]


def _form(form: Affine, held: int, drawn: int) -> tuple[Fraction, ...]:
    """Return a constant, and factors of n, of what a state holds, and of noise."""
    found = [form.constant] + [Fraction(0)] * (1 + held + drawn)
    for (kind, at), factor in form.terms:
        found[1 if kind == "size" else 2 + at + (held if kind == "fresh" else 0)] = factor
    return tuple(found)


def _base(law: Noise, parts: int) -> Number:
    """Return by what the weight of noise falls, a part of a unit farther out."""
    plain = primitive(law)
    if isinstance(plain, TwoSided):
        return 1 / plain.ratio
    (start, end, base), *others = plain.pieces
    falls = start == 0 and end is None and all(each == (None, Fraction(0), 1 / base) for each in others)
    if not falls or len(others) > 1 or (others and not plain.real):
        raise _Unfit("there is noise of other kinds")
    return 1 / base if parts == 1 else power(1 / base, Fraction(1, parts))


def _end(edge: Edge) -> Any:
    return written_value(Fraction(edge)) if finite(edge) else None
