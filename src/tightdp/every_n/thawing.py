"""What the cells of a state hold, made of plain data again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import Entries, Growing, Members, Range, Value
from tightdp.every_n.counters import BEYOND
from tightdp.every_n.indexes import thawed
from tightdp.every_n.learned import POISON, Extremes, Frozen, OfPass
from tightdp.every_n.paths import REAL, Affine, times


class Thawer:
    """Turns plain data into what cells hold."""

    def __init__(self, of: OfPass, when: str) -> None:
        self.of, self.m, self.when = of, of.m, when
        self.made: dict[Cell, Value] = {}
        self.agg: dict[int, dict[str, Value]] = {}
        self.extremes: dict[int, Extremes] = {}
        self.growing: set[int] = set()
        self._met: dict[int, Value] = {}
        self._slots = self._stale = 0

    def value(self, frozen: Frozen) -> Value:
        m, of = self.m, self.of
        match frozen:
            case ("missing",):
                return MISSING
            case ("poison",):
                return POISON
            case ("value", name, value):
                return bool(value) if name == "bool" else value
            case ("tuple", kind, items):
                return getattr(kind, "_make", tuple)(self.value(item) for item in items)
            case ("range", items, _):
                return Range(items)
            case ("entries", keys, items):
                return Entries(tuple(key for _, key in keys), tuple(self.value(item) for item in items))
            case ("members", values):
                return Members(tuple(each for _, each in values), tuple(m.builder.true for _ in values))
            case ("object", value):
                return value
            case ("old", kind, key):
                return replace(kind, key=key)
            case ("again", _, at):
                return self._met[at]
            case ("new", kind, at, content):
                made = self._met[at] = replace(kind, key=m.store.new_key())
                self.made[made.key] = self.value(content)
                return made
            case ("growing", place, aggregates, extremes):
                token = of.learned.token(of.number, place)
                self.agg[token] = {name: self.value(total) for name, total in aggregates}
                self.extremes[token] = {
                    name: tuple((self.value(best), self.value(at)) for best, at in kept) for name, kept in extremes
                }
                return Growing(("list", token), (), m.touched)
            case ("listed", token, rest):
                return Growing(("list", token), tuple(map(self.value, rest)), m.touched)
        return m.builder.symbol(self._form(frozen))

    def _form(self, frozen: Frozen) -> Affine:
        of, tree = self.of, Affine((), Fraction(0))
        match frozen:
            case ("sum" | "told" as kind, place):
                token = of.learned.token(of.number, place)
                self.growing.add(token)
                return Affine((((kind, token), Fraction(1)),), Fraction(0))
            case (kind, place, sign) if kind == BEYOND:
                token, (limit, parts) = of.learned.token(of.number, place), of.learned.limits.of(place)
                self.m.builder.ranges[token] = limit * parts, parts
                return Affine((((BEYOND, token), Fraction(sign, parts)),), Fraction(0))
            case ("offset", kind, token, constant):
                return Affine((((kind, token), Fraction(1)),), constant)
            case (kind, factor, offset) if kind in ("slot", REAL + "slot"):
                name = kind, of.number * 1000 + self._slots
                self._slots += 1
                return times(Affine(((name, Fraction(1)),), offset / factor), factor)
            case ("slot again", at, apart):
                return Affine((((REAL + "slot", of.number * 1000 + at), Fraction(1)),), apart)
            case ("size", Affine() as tree):
                return tree
            case ("index", constant) if self.when == "end":
                return Affine(((("size", 0), Fraction(1)),), constant - 1)
            case ("index", constant) if self.when == "left":
                return Affine(((("index", 0), Fraction(1)),), constant)
            case ("indexed", terms, constant):
                return thawed(of.number, terms, constant)
        self._stale += 1
        return Affine(((("stale", of.number * 1000 + self._stale), Fraction(1)),), Fraction(0))
