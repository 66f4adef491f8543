"""What the cells of a state hold, as plain data: lists go by the order in which they are met."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.core.lowering.frames import Thrown
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import (
    Collection,
    Entries,
    Every,
    Growing,
    Host,
    Members,
    Range,
    Reference,
    Table,
    Value,
    known,
)
from tightdp.every_n.counters import BEYOND, MANY, Farther, Many, cut_off, positive
from tightdp.every_n.deciding import PLACED, TURN, Run, Touched, Untraceable
from tightdp.every_n.indexes import Indexes
from tightdp.every_n.learned import POISON, Extreme, Frozen, OfPass, Place, Sent
from tightdp.every_n.paths import REAL, Affine, Symbol, dependent, leaves, normal, plus, refusal, times
from tightdp.exact.field import ExpNumber
from tightdp.limits.calibrated import FEW_VALUES


class Freezer:
    """Turns what cells hold into plain data: new lists go by the order in which they are met."""

    def __init__(self, of: OfPass, run: Run | None, start: bool) -> None:
        self.of, self.m, self.run, self.start = of, of.m, run, start
        self.slots: list[Affine] = []
        self.indexes = Indexes(of, run)
        self.sums: dict[int, Affine] = {}
        self.added: dict[int, Any] = {}
        self._met: dict[int, int] = {}
        self._noted: set[int] = set()

    # tokens: what each place has in addition to what it began the round with

    def note(self, place: Place, value: Value) -> None:
        """Look for what grows."""
        value = known(value)
        of = self.of
        if self._is_growing(place, value):
            token = of.learned.token(of.number, place)
            if isinstance(value, Growing) and value.tree == ("list", token):
                self.added[token] = value.tail
            elif self.start:
                self.added[token] = ()
                self._begin(token, value)
            else:
                raise Touched(token)
        elif isinstance(value, Reference):
            self._note_content(place, value)
        elif isinstance(value, Table) and self._new(value.key):
            self.note((*place, "list"), self.m.store[value.key])
        elif isinstance(value, Entries):
            for key, item in zip(value.keys, value.values, strict=True):
                self.note((*place, key), item)
        elif isinstance(value, tuple):
            for at, item in enumerate(value):
                self.note((*place, at), item)
        elif self._is_number(place, value):
            self._note_number(place, value)

    def _begin(self, token: int, items: Value) -> None:
        published: list[Affine] = []
        self.of.initial[token] = self.m.visible(items, published, self.m.run)
        if published:
            raise Touched(token)

    def _alone(self, place: Place, value: Value) -> bool:
        """Whether a list from before the records is held by one name only, and not written meanwhile."""
        of = self.of
        own = self.start and isinstance(value, Reference) and len(place) == 1 and isinstance(place[0], tuple)
        return own and value.key not in of.learned.written and len(self.m.store.holders(value.key)) == 1

    def _note_content(self, place: Place, value: Reference) -> None:
        if self._alone(place, value) or self._new(value.key):
            self.note((*place, "list"), self.m.store[value.key])

    def _new(self, key: int) -> bool:
        new = key > self.of.born and key not in self._noted
        self._noted.add(key)
        return new

    def _note_number(self, place: Place, value: Value) -> None:
        token = (of := self.of).learned.token(of.number, place)
        if not self.start and token not in of.growing and not isinstance(value, Symbol):
            self.added[token] = Affine((), Fraction(value))  # an entry that is new
            return
        if self.start:
            added = Affine((), Fraction(value)) if not isinstance(value, Symbol) else value.tree
            self._check_whole(place, token, added)
            self.added[token] = self.of.initial[token] = added
            return
        own = Affine((((self._kind(place), token), Fraction(1)),), Fraction(0))
        rest = plus(value.tree, own, -1) if isinstance(value, Symbol) and isinstance(value.tree, Affine) else None
        if (
            rest is None
            or any(kind in ("sum", "stale", *PLACED) for (kind, _), _ in rest.terms)
            or dict(value.tree.terms).get(own.terms[0][0]) != 1
        ):
            raise Touched(self._read_in(value, token))
        self._check_whole(place, token, rest)
        self.added[token] = rest

    def _read_in(self, value: Value, token: int) -> int:
        """Return what is read, not only added to, in a value that no longer is what a number was and what was added.

        That is another number of the pass where one is in an operation here, else the number itself.
        """
        forms = [leaf for leaf in leaves(value.tree) if isinstance(leaf, Affine)] if isinstance(value, Symbol) else []
        found = (at for form in forms for (kind, at), _ in form.terms if kind in ("told", "sum"))
        return next((at for at in found if at != token and at // 1000 == self.of.number), token)

    def _check_whole(self, place: Place, token: int, form: Affine) -> None:
        if not isinstance(form, Affine):
            raise Touched(token)
        if self.m.sums and place not in self.of.learned.told and not form.whole():
            raise Touched(token, "" if form.real() else "not whole")

    def _kind(self, place: Place) -> str:
        return "sum" if self.m.sums and place not in self.of.learned.told else "told"

    def _is_growing(self, place: Place, value: Value) -> bool:
        return (
            place[0] != "value"
            and place not in self.of.learned.plain
            and (isinstance(value, Growing) or (type(value) is tuple and (place[-1] == "list" or len(place) == 1)))
        )

    def _is_number(self, place: Place, value: Value) -> bool:
        if place in self.of.learned.plain or place[0] in ("value", "rest"):
            return False
        if isinstance(value, Symbol):
            token = self.of.learned.tokens
            return not self.start and place in token
        return (
            isinstance(value, (int, Fraction))
            and not isinstance(value, bool)
            and (self.start or place in self.of.learned.tokens)
        )

    # values

    def frozen(self, place: Place, value: Value) -> Frozen:
        """Return a value as plain data."""
        value = known(value)
        of = self.of
        if value is MISSING:
            return ("missing",)
        if value is POISON:
            return ("poison",)
        if self._is_growing(place, value):
            self._measure(place, value)
            return ("growing", place, self._aggregates(place, value), self._extremes(place, value))
        if isinstance(value, Growing):
            return self._of_list(value)
        if self._is_number(place, value):
            token = of.learned.token(of.number, place)
            if self._kind(place) == "sum":
                self.sums[token] = self._sum(token)
                return ("sum", place)
            return ("told", place)
        if isinstance(value, Symbol) or value is None or isinstance(value, (bool, str, int, Fraction, ExpNumber)):
            return self._scalar(place, value)
        return self._container(place, value)

    def _scalar(self, place: Place, value: Value) -> Frozen:
        if isinstance(value, Symbol):
            return self._beyond(place, value.tree) if cut_off(value.tree) else self._symbol(value)
        if isinstance(value, (int, Fraction)) and not isinstance(value, bool) and self._is_beyond(place, value):
            return self._beyond(place, Affine((), Fraction(value)))
        return ("value", type(value).__name__, value)

    def _is_beyond(self, place: Place, value: int | Fraction) -> bool:
        """Whether a number is cut off."""
        if place in self.of.learned.limits.known:
            known = self.of.learned.limits.known[place]
            return known is not None and abs(Fraction(value)) > known[0]
        met = self.of.met.setdefault(place, set())
        met.add(value)
        if len(met) > MANY and place[0] != "rest":
            raise Many(place)
        return False

    def _beyond(self, place: Place, form: Affine) -> Frozen:
        """Return a number beyond its limit as plain data. Raises Farther where it may be on this side of it."""
        limits, ranges = self.of.learned.limits.known, self.m.builder.ranges
        known = limits.get(place)
        if place[0] == "rest" or not isinstance(form, Affine) or (known is None and place in limits):
            raise Farther(cut_off(form)[0])
        parts = math.lcm(*(each.denominator for each in (form.constant, *(f for _, f in form.terms))))
        if known is None or known[1] % parts:
            raise Many(place, parts)
        sign = 1 if positive(form, ranges) else -1
        if positive(plus(times(form, sign), Affine((), Fraction(known[0])), -1), ranges):
            return (BEYOND, place, sign)
        raise Farther(cut_off(form)[0])

    def _sum(self, token: int) -> Affine:
        added = self.added[token]
        assert isinstance(added, Affine)
        new = token not in self.of.growing
        return added if new else plus(added, Affine(((("sum", token), Fraction(1)),), Fraction(0)))

    def _container(self, place: Place, value: Value) -> Frozen:
        if isinstance(value, tuple):
            return ("tuple", type(value), tuple(self.frozen((*place, at), item) for at, item in enumerate(value)))
        if isinstance(value, Range):
            return ("range", tuple(value.items), len(value.items))
        if isinstance(value, Entries):
            items = tuple(self.frozen((*place, key), v) for key, v in zip(value.keys, value.values, strict=True))
            return ("entries", tuple((type(key).__name__, key) for key in value.keys), items)
        if isinstance(value, Members):
            there = dict(zip(value.values, value.present, strict=True))
            true = self.m.builder.true
            return ("members", tuple((type(each).__name__, each) for each, present in there.items() if present is true))
        if isinstance(value, (Reference, Table, Collection)):
            kind = replace(value, key=0)
            if value.key <= self.of.born and not self._alone(place, value):
                return ("old", kind, value.key)
            if value.key in self._met:
                return ("again", kind, self._met[value.key])
            self._met[value.key] = len(self._met)
            return ("new", kind, self._met[value.key], self.frozen((*place, "list"), self.m.store[value.key]))
        if isinstance(value, (Host, Every, Thrown)):
            return ("object", value)
        name = type(value).__name__.lower()
        raise refusal(f"a {name} goes from one record to the next", "keep numbers, words, tuples, lists, dictionaries")

    def _aggregates(self, place: Place, value: Value) -> tuple[tuple[str, Any], ...]:
        of, names = self.of, sorted(self.of.learned.tracked.get(place, ()))
        token = of.learned.token(of.number, place)
        items = value.tail if isinstance(value, Growing) else value
        found = []
        for name in names:
            parts = [1 if name == "len" else known(item) for item in items]
            if not all(isinstance(one, (int, Fraction)) for one in parts):
                raise refusal("what is added up is not known", "keep the sum in a variable of its own")
            total = 0 if self.start else of.aggregate(token, name)
            for one in parts:
                total = known(self.m.builder.add(self.m.expr(total), self.m.expr(one)))
            found.append((name, self._scalar((*place, name), total)))
        return tuple(found)

    def _extremes(self, place: Place, value: Value) -> tuple[tuple[Extreme, Frozen], ...]:
        """Return the first items of a list in order, as many as are asked for; or the first, and its place."""
        of, builder = self.of, self.m.builder
        before = of.extremes.get(of.learned.token(of.number, place), {})
        items = value.tail if isinstance(value, Growing) else value
        found = []
        for name, rank in sorted(of.learned.extremes.get(place, ())):
            kept = list(before.get((name, rank), ()))
            if rank < 0 and len(items) != (0 if self.start else 1) and not (of.departed and not items):
                raise refusal("the place of an item is asked for in a list that has not one of every record")
            for item in map(known, items):
                if not isinstance(item, (int, Fraction, Symbol)):
                    raise refusal("the order of a list of other things than numbers is asked for")
                ahead = (builder.compared(name, self.m.expr(item), self.m.expr(other)) for other, _ in kept)
                at = next((at for at, first in enumerate(ahead) if first), len(kept))
                kept.insert(at, (item, of.index if rank < 0 else None))
                del kept[max(rank, 0) + 1 :]
            inside = (("rest", *place, name, rank, at) for at in range(len(kept)))
            parts = (tuple(self.frozen(where, part) for part in pair) for where, pair in zip(inside, kept, strict=True))
            found.append(((name, rank), tuple(parts)))
        return tuple(found)

    def _measure(self, place: Place, value: Value) -> None:
        """Follow the length and the sum of a list, where they are looked at after the records."""
        of = self.of
        for name in sorted(of.learned.measured.get(place, ())):
            token = of.learned.token(of.number, (*place, name))
            total = Affine((), Fraction(0)) if self.start else Affine(((("sum", token), Fraction(1)),), Fraction(0))
            for item in value.tail if isinstance(value, Growing) else value:
                item = 1 if name == "len" else known(item)
                if isinstance(item, (int, Fraction)):
                    total = plus(total, Affine((), Fraction(item)))
                elif isinstance(item, Symbol) and isinstance(item.tree, Affine):
                    total = plus(total, item.tree)
                else:
                    raise Untraceable
            if not total.whole():
                raise Untraceable
            self.sums[token] = total

    def _of_list(self, value: Growing) -> Frozen:
        """Return a tuple that another place adds to, as it is after this round."""
        kind, token = value.tree if isinstance(value.tree, tuple) and len(value.tree) == 2 else ("", 0)
        if kind != "list" or token not in self.added:
            raise refusal("what was made of the messages of all records goes from one record to the next")
        added = self.added[token]
        if len(value.tail) < len(added) or any(a is not b and a != b for a, b in zip(value.tail, added, strict=False)):
            raise Touched(token)
        rest = value.tail[len(added) :]
        return ("listed", token, tuple(self.frozen(("rest", at), item) for at, item in enumerate(rest)))

    def _symbol(self, value: Symbol) -> Frozen:
        tree = value.tree
        if not isinstance(tree, Affine):
            raise Untraceable
        for (kind, token), factor in tree.terms:
            if kind in ("told", "sum") and not self.start:
                own = self.added.get(token)
                if token // 1000 != self.of.number or own is None or own.terms or factor != 1:
                    raise Touched(token)
                rest = plus(plus(tree, Affine((((kind, token), Fraction(1)),), Fraction(0)), -1), own, -1)
                if rest.terms:
                    raise Touched(token)
                return ("offset", kind, token, rest.constant)
        indexed = self.indexes.frozen(tree)
        if indexed is not None:
            return indexed
        kinds = {kind for (kind, _), _ in tree.terms}
        if "size" in kinds:
            if len(kinds) > 1:
                raise Untraceable
            return ("size", tree)
        return self._slot(tree)

    def _slot(self, tree: Affine) -> Frozen:
        """Return a noisy value as a factor times a symbolic integer, and an offset below that factor."""
        low, high = self.run.bounds.get(tree.terms, (0, 1)) if self.run else (0, 1)
        if low == high:
            value = tree.constant + Fraction(low)
            return ("value", "int" if value.denominator == 1 else "Fraction", value)
        if tree.whole() or tree.real():
            for at, other in enumerate(self.slots) if tree.real() else ():
                if other.terms == tree.terms:
                    return ("slot again", at, tree.constant - other.constant)
            self.slots.append(tree)
            if dependent(self.slots, "" if self.start else "pre"):
                raise Untraceable
            return (REAL * tree.real() + "slot", Fraction(1), Fraction(0))
        terms, *_ = normal(Affine(tree.terms, Fraction(0)), False)
        factor = tree.terms[0][1] / terms[0][1]
        times_, offset = divmod(tree.constant, factor)
        self.slots.append(Affine(terms, Fraction(times_)))
        return ("slot", factor, offset)

    def residues(self) -> Iterator[tuple[int, int, int]]:
        """Yield what is known of the sums that are divided: modulo what, and what is left."""
        learned = self.of.learned
        turn = () if () not in learned.residues else ((TURN, Affine((), Fraction(0 if self.start else 1))),)
        for token, total in (*turn, *self.sums.items()):
            place = learned.place(token)
            modulus = learned.residues.get(place)
            if not modulus:
                continue
            new = self.start or (token in self.added and token not in self.of.growing)
            before = 0 if new else self.m.residues[token][1]
            others = [factor % modulus for name, factor in total.terms if name != ("sum", token)]
            if modulus > FEW_VALUES or any(others):
                raise Touched(token, modulus=-1)
            yield token, modulus, int(total.constant + before) % modulus

    def sent(self) -> tuple[tuple[int, Sent], ...]:
        """Return what is added to the tokens whose sum is not followed, item by item."""
        if self.start:
            return ()
        for token in self.of.growing - self.added.keys():
            if self._kind(self.of.learned.place(token)) == "told":
                raise Touched(token)  # what it had would be added to what comes in its place
        found: list[tuple[int, Sent]] = []
        seen: set[int] = set()
        for token, added in sorted(self.added.items()):
            if token in self.sums:
                continue
            nothing = isinstance(added, Affine) and not added.terms and not added.constant
            items = () if nothing else (added,) if isinstance(added, Affine) else added
            for item in items:
                value = self.m.builder.symbol(item) if isinstance(item, Affine) else self._message(item, None, seen)
                assert self.run is not None
                published: list[Affine] = []
                what = self.m.visible(value, published, self.run)
                found.append((token, Sent(what, tuple(published))))
        return tuple(found)

    def _message(self, value: Value, holder: Cell | None, seen: set[int]) -> Value:
        """Return a message with the lists in it as they are: those of this round that nothing else can change later."""
        if isinstance(value, tuple):
            return tuple(self._message(item, holder, seen) for item in value)
        if not isinstance(value, Reference):
            return value
        dead = set(self.of.learned.written) - set(self.of.learned.live)
        others = set(self.m.store.holders(value.key)) - dead - {holder}
        if value.key <= self.of.born or value.key in seen or others:
            raise refusal("a list among the messages of the records has another name as well", "append tuple(...)")
        seen.add(value.key)
        return ("\0list", *self._message(self.m.store[value.key], value.key, seen))
