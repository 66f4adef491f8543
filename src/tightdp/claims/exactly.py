"""Statements that can be decided: variables with domains, conditions, and what is said of exact terms, in one object.

The sentence that a page prints is generated from this object, and `decide` covers every quantifier of it: finite
domains are enumerated in full, the columns of datasets of every size are counted, and what remains, relations of
rational functions of real or whole variables, is decided by signs on cells (`algebra.py`). Nothing else makes a claim
*decided*. `mutants` yields the statements close by, which go through the same procedure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from inspect import getdoc
from typing import Any

from tightdp.claims.algebra import Cell, Range
from tightdp.claims.covering import Walk
from tightdp.claims.formula import Node, mutants, pieces, plain, read, read_term
from tightdp.claims.instances import many, shown_value
from tightdp.claims.quantifiers import Columns, Definition, Extreme, Quantifier, interval
from tightdp.errors import ParameterError

_LISTED = 8


@dataclass(frozen=True)
class Decision:
    """Whether a statement holds (None: not decided), in how many cases, and where it fails."""

    holds: bool | None
    cases: int = 0
    cells: int = 0
    where: str = ""

    @property
    def how(self) -> str:
        """What covered the quantifiers."""
        listed = f"{many(self.cases, 'case')} listed" if self.cases > 1 else "a single case"
        on = (
            f"; in {self.cells:,} of them relations of functions, by identities and signs on cells"
            if self.cells
            else ""
        )
        return (
            "relations of functions, by identities and signs on cells" if self.cells == self.cases == 1 else listed + on
        )


class Exactly:
    """A statement in parts that are checked: quantifiers, conditions, conclusions, and what the names in them stand
    for.

    `says` are formulas, or extremes; `where` names each quantity with words and its definition: a formula, a function
    of the variables, or `Places`. `after` is what the sentence begins with, without a claim of its own.
    """

    def __init__(
        self,
        *quantifiers: Quantifier,
        says: Sequence[str | Extreme],
        given: Sequence[str] = (),
        where: Mapping[str, tuple[str, Definition] | str] | None = None,
    ) -> None:
        self.quantifiers, self.given = tuple(quantifiers), tuple(given)
        self.where = {name: (("", each) if isinstance(each, str) else each) for name, each in (where or {}).items()}
        names = [name for each in quantifiers for name in each.names]
        self.names = frozenset([*names, *self.where, *(["n"] if self._sized else [])])
        self._read = {text: read(text, self.names) for text in (*given, *(t for t in says if isinstance(t, str)))}
        if any(chain.kind == "iff" for formula in self._read.values() for chain in formula):
            raise ParameterError("an equivalence is not decided as a whole", "say both directions, with conditions")
        self.says: tuple[tuple[Node, ...] | Extreme, ...] = tuple(
            each if isinstance(each, Extreme) else self._read[each] for each in says
        )
        self.conditions: tuple[tuple[Node, ...], ...] = tuple(self._read[each] for each in given)

    @property
    def _sized(self) -> bool:
        return any(isinstance(each.domain, Columns) for each in self.quantifiers)

    def changed(self, **parts: Any) -> Exactly:
        """Return the statement with some parts replaced."""
        new = object.__new__(Exactly)
        new.__dict__ = {**self.__dict__, **parts}
        return new

    # what is printed

    @property
    def sentence(self) -> str:
        """The statement in words, made of what is checked; formulas stand between backticks."""
        said = [self._quantified(each, at == 0) for at, each in enumerate(self.quantifiers)]
        conditions = ", ".join(f"`{_plainly(each)}`" for each in self.conditions)
        begin = ", ".join(said) + (f", if {conditions}" if conditions else "")
        end = "; and ".join(map(_said, self.says))
        text = f"{begin}: {end}." if begin else f"{end[0].upper()}{end[1:]}."
        meant = [_meant(name, words, definition) for name, (words, definition) in self.where.items()]
        return text + (f" Here {'; '.join(meant)}." if meant else "")

    def _quantified(self, quantifier: Quantifier, first: bool) -> str:
        names, domain = quantifier.names, quantifier.domain
        begin = ("For every" if first else "every") if quantifier.every else ("There is" if first else "there is")
        shown = ", ".join(f"`{name}`" for name in names)
        if isinstance(domain, Range):
            kind = "whole " if domain.whole else ""
            return f"{begin} {kind}`{interval(names[0], domain)}`"
        if isinstance(domain, Columns):
            sets = " · ".join("{" + ",".join(map(shown_value, values)) + "}" for values in dict.fromkeys(domain.values))
            near = (
                f", {' and '.join(f'`{x}`' for x in domain.neighbours)} different in one place"
                if domain.neighbours
                else ""
            )
            return f"{begin} `n >= 1` and {shown} in {sets}^n{near}"
        if domain.words or callable(domain.values):
            return f"{begin} {shown} {domain.words}".rstrip()
        values = [each[0] if len(names) == 1 else each for each in domain.values]
        if cube := _cube(values):
            return f"{begin} {shown} in {cube}"
        left = f"({', '.join(names)})" if len(names) > 1 else names[0]
        if len(values) == 1:
            pairs = ", ".join(f"`{n} = {shown_value(v)}`" for n, v in zip(names, domain.values[0], strict=True))
            return f"{'For' if first else 'for'} {pairs}"
        listed = ", ".join(map(shown_value, values[:_LISTED])) + (", ..." if len(values) > _LISTED else "")
        return f"{begin} `{left}` of {listed}"

    # deciding

    def decide(self) -> Decision:
        """Decide the statement by covering every quantifier. What it does not cover is not decided."""
        cases = cells = 0
        for each in self.says:
            questions = [(self, each)] if isinstance(each, tuple) else self._extreme(each)
            for statement, formula in questions:
                walk = Walk(statement, formula)
                found = walk.truth(0, {}, Cell({}), ())
                cases, cells = cases + walk.cases, cells + walk.cells
                if not walk.cases:
                    return Decision(None, where="no case satisfies the conditions")
                if found is not True:
                    return Decision(found, cases, cells, walk.where)
        return Decision(True, cases, cells)

    def _extreme(self, each: Extreme) -> list[tuple[Exactly, tuple[Node, ...]]]:
        """A bound for every value, and its attainment for some: at a given place, which has to lie in the domain."""
        sides = (read_term(each.term, self.names), read_term(each.value, self.names))
        bound = (Node("chain", "<=" if each.most else ">=", sides),)
        at = dict(each.at)
        left: list[Quantifier] = []
        inside: list[Node] = [Node("chain", "=", sides)]
        for quantifier in self.quantifiers:
            if set(quantifier.names) & at.keys():
                assert isinstance(quantifier.domain, Range)
                inside += read(interval(quantifier.names[0], quantifier.domain), self.names)
                continue
            over = bool(set(quantifier.names) & set(each.over))
            if over and isinstance(quantifier.domain, Range):
                raise ParameterError(f"{quantifier.names[0]} is not finite", "say where the extreme is attained: at")
            left.append(replace(quantifier, every=not over))
        kept = tuple(condition for condition in self.conditions if not _names_in(condition) & at.keys())
        inside += [chain for condition in self.conditions if condition not in kept for chain in condition]
        placed = {name: ("", text) for name, text in at.items()}
        attained = self.changed(quantifiers=tuple(left), conditions=kept, where={**placed, **self.where})
        return [(self, bound), (attained, tuple(inside))]

    # mutations

    def mutants(self, step: Fraction = Fraction(1, 20)) -> Iterator[tuple[str, Exactly]]:
        """Yield the statements that differ in one constant, sign, exponent, strictness, condition, range or order."""
        for at, each in enumerate(self.says):
            for what, new in self._of_conclusion(each, step):
                yield what, self.changed(says=(*self.says[:at], new, *self.says[at + 1 :]))
        for at, condition in enumerate(self.conditions):
            rest = (self.conditions[:at], self.conditions[at + 1 :])
            yield f"without {_plainly(condition)}", self.changed(conditions=rest[0] + rest[1])
            for what, new in mutants(condition, given=True, step=step):
                yield f"if {what}", self.changed(conditions=(*rest[0], new, *rest[1]))
        for name, (words, definition) in self.where.items():
            if isinstance(definition, str):
                for what, text in _changed_terms(definition, self.names, step):
                    yield f"{name} = {what}", self.changed(where={**self.where, name: (words, text)})
        for at, quantifier in enumerate(self.quantifiers):
            for what, changed in _changed_quantifiers(quantifier, step):
                yield what, self.changed(quantifiers=(*self.quantifiers[:at], changed, *self.quantifiers[at + 1 :]))
            after = self.quantifiers[at + 1 : at + 2]
            if after and after[0].every != quantifier.every:
                swapped = (*self.quantifiers[:at], after[0], quantifier, *self.quantifiers[at + 2 :])
                yield f"{quantifier.names[0]} and {after[0].names[0]} swapped", self.changed(quantifiers=swapped)

    def _of_conclusion(self, each: Any, step: Fraction) -> Iterator[tuple[str, Any]]:
        if isinstance(each, tuple):
            yield from mutants(each, step=step)
            return
        for field in ("term", "value"):
            for what, text in _changed_terms(getattr(each, field), self.names, step):
                yield f"{what} in the {field}", replace(each, **{field: text})


def _changed_terms(text: str, names: frozenset[str], step: Fraction) -> Iterator[tuple[str, str]]:
    """Yield changes of an expression."""
    whole_chain = (Node("chain", "=", (read_term(text, names), Node("number", "0"))),)
    for what, formula in mutants(whole_chain, step=step):
        changed = formula[0].parts
        if changed[1] == Node("number", "0"):
            yield f"{text}: {what.split(': ', 1)[1]}", plain(changed[0])


def _changed_quantifiers(quantifier: Quantifier, step: Fraction) -> Iterator[tuple[str, Quantifier]]:
    """Yield a range with an end moved outwards, closed or taken away; neighbours forgotten; some turned into every."""
    domain = quantifier.domain
    if not quantifier.every:
        yield f"every {quantifier.names[0]}", replace(quantifier, every=True)
    if isinstance(domain, Columns) and domain.neighbours:
        yield "not only neighbours", replace(quantifier, domain=replace(domain, neighbours=None))
    if not isinstance(domain, Range):
        return
    name = quantifier.names[0]
    for side, key in enumerate(("low", "high")):
        end = getattr(domain, key)
        if end is None:
            continue
        size = Fraction(1) if domain.whole else abs(end) * step or step
        wider = end - size if side == 0 else end + size
        ends: tuple[Any, ...] = (None, wider)
        changes = [replace(domain, low=each) if side == 0 else replace(domain, high=each) for each in ends]
        if not domain.whole and not domain.closed[side]:
            changes.append(replace(domain, closed=(side == 0 or domain.closed[0], side == 1 or domain.closed[1])))
        for new in changes:
            if new.low is None and new.high is None and domain.whole:
                continue
            yield f"{interval(name, domain)} into {interval(name, new)}", replace(quantifier, domain=new)


def _cube(values: Sequence[Any]) -> str:
    """Write what a list of tuples is, where it is all of some values in some number of places."""
    rows = [each for each in values if isinstance(each, tuple)]
    inside = sorted({entry for row in rows for entry in row})
    power = len(rows[0]) if rows else 0
    whole = len(rows) == len(values) == len(set(rows)) == len(inside) ** power and {*map(len, rows)} == {power}
    return f"{{{','.join(map(shown_value, inside))}}}^{power}" if whole and power > 1 else ""


def _names_in(formula: tuple[Node, ...]) -> set[str]:
    """Return the names that occur in a formula."""
    return {each.text for chain in formula for each in pieces(chain) if each.kind == "name"}


def _plainly(formula: tuple[Node, ...]) -> str:
    return ", ".join(plain(chain) for chain in formula)


def _said(each: Any) -> str:
    if isinstance(each, tuple):
        return f"`{_plainly(each)}`"
    over = ", ".join(f"`{name}`" for name in each.over)
    return f"the {'largest' if each.most else 'least'} `{each.term}` over {over} is `{each.value}`"


def _meant(name: str, words: str, definition: Any) -> str:
    if isinstance(definition, str):
        return f"`{name} = {definition}`" + (f", {words}" if words else "")
    if not words:
        words = " ".join((getdoc(definition) or "").split()).rstrip(".")
    if not words:
        raise ParameterError(f"{name} has no words", "say what it stands for")
    return f"`{name}` is {words}"
