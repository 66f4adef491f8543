"""Statements that can be decided: variables with domains, conditions, and what is said of exact terms, in one object.

The sentence that a page prints is generated from this object, and `decide` covers every quantifier of it: finite
domains are enumerated in full, the columns of datasets of every size are counted, and what remains, relations of
rational functions of real or whole variables, is decided by signs on cells (`algebra.py`). Nothing else makes a claim
*decided*. `mutants` yields the statements close by, which go through the same procedure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from inspect import getdoc, signature
from itertools import product
from typing import Any, TypeAlias

from tightdp.claims.algebra import Cell, Condition, Range, holds, symbolic
from tightdp.claims.formula import EXACT, Node, evaluate, failing, mutants, pieces, plain, read, read_term
from tightdp.claims.instances import GREEK, many, shown_value
from tightdp.errors import ParameterError, TightdpError
from tightdp.exact.lazily import lazily
from tightdp.exact.numbers import as_text

sympy = lazily("sympy")

_RANGE = re.compile(r"\s*(?:(-?[\d./]+)\s*(<=|<)\s*)?([^\W\d]\w*'?)\s*(?:(<=|<|>=|>)\s*(-?[\d./]+))?\s*$")
_LISTED = 8


@dataclass(frozen=True)
class Among:
    """All values of a finite domain, or what a function of the variables before gives; `words` say what they are."""

    values: tuple[Any, ...] | Callable[..., Iterable[Any]]
    words: str = ""


@dataclass(frozen=True)
class Columns:
    """Datasets of every size n >= 1, side by side: the values of each at one place. `neighbours` differ in one place."""

    values: tuple[tuple[Any, ...], ...]
    neighbours: tuple[str, str] | None = None


@dataclass(frozen=True)
class Quantifier:
    """For every, or for some, values of these names."""

    names: tuple[str, ...]
    domain: Range | Among | Columns
    every: bool = True


@dataclass(frozen=True)
class Extreme:
    """That the largest (or least) value of a term over some of the variables is a value: a bound, and it is attained.

    `at` gives the place for those variables that are not finite; finite ones are searched.
    """

    term: str
    value: str
    over: tuple[str, ...]
    at: tuple[tuple[str, str], ...] = ()
    most: bool = True


@dataclass(frozen=True)
class Places:
    """A sum or product over the n places of datasets: of a function of the values at one place."""

    of_place: Callable[..., Any]
    product: bool = False


Definition: TypeAlias = "str | Places | Callable[..., Any]"


def every(text: str, among: Iterable[Any] | Callable[..., Iterable[Any]] | None = None, words: str = "") -> Quantifier:
    """Quantify: every("0 < λ < 1/2"), every("x", among=values), every("n, λ", among=pairs)."""
    if among is None:
        return _ranged(text, whole=False)
    names = tuple(name.strip() for name in text.split(","))
    values = among if callable(among) else tuple(_tuple(each, len(names)) for each in among)
    return Quantifier(names, Among(values, words))


def some(text: str, among: Iterable[Any] | Callable[..., Iterable[Any]], words: str = "") -> Quantifier:
    """Quantify: there is one among finitely many values."""
    return replace(every(text, among, words), every=False)


def whole(text: str) -> Quantifier:
    """Quantify over whole numbers: whole("n >= 1")."""
    return _ranged(text, whole=True)


def columns(values: Mapping[str, Sequence[Any]], neighbours: tuple[str, str] | None = None) -> Quantifier:
    """Quantify over datasets of every size n >= 1, named together with the values that a place may have."""
    return Quantifier(tuple(values), Columns(tuple(map(tuple, values.values())), neighbours))


def largest(term: str, value: str, over: str, **at: str) -> Extreme:
    """Say that the largest value of a term over some variables is `value`."""
    return Extreme(term, value, tuple(each.strip() for each in over.split(",")), tuple(at.items()))


def least(term: str, value: str, over: str, **at: str) -> Extreme:
    """Say that the least value of a term over some variables is `value`."""
    return replace(largest(term, value, over, **at), most=False)


def _tuple(value: Any, count: int) -> tuple[Any, ...]:
    return tuple(map(_exact, value if count > 1 else (value,)))


def _exact(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch(r"-?\d+(/\d+|\.\d+)?", value):
        return Fraction(value)
    return tuple(map(_exact, value)) if isinstance(value, tuple) else value


def _ranged(text: str, whole: bool) -> Quantifier:
    match = _RANGE.match(text)
    if match is None:
        raise ParameterError(f"{text!r} is no range", "write one as in 0 < λ <= 1/2 or n >= 1")
    low, first, name, second, other = match.groups()
    high = None
    closed = [first == "<=", False]
    if second in (">", ">="):
        low, closed[0] = other, second == ">="
    elif second:
        high, closed[1] = other, second == "<="
    ends = (None if low is None else Fraction(low), None if high is None else Fraction(high))
    return Quantifier((name,), Range(ends[0], ends[1], (closed[0], closed[1]), whole))


# the statement


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
    """A statement in parts that are checked: quantifiers, conditions, conclusions, and what the names in them stand for.

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
        ends = [
            f"`{_plainly(each)}`"
            if isinstance(each, tuple)
            else f"the {'largest' if each.most else 'least'} `{each.term}` over {', '.join(f'`{o}`' for o in each.over)}"
            f" is `{each.value}`"
            for each in self.says
        ]
        end = "; and ".join(ends)
        text = f"{begin}: {end}." if begin else f"{end[0].upper()}{end[1:]}."
        meant = [_meant(name, words, definition) for name, (words, definition) in self.where.items()]
        return text + (f" Here {'; '.join(meant)}." if meant else "")

    def _quantified(self, quantifier: Quantifier, first: bool) -> str:
        names, domain = quantifier.names, quantifier.domain
        begin = ("For every" if first else "every") if quantifier.every else ("There is" if first else "there is")
        shown = ", ".join(f"`{name}`" for name in names)
        if isinstance(domain, Range):
            kind = "whole " if domain.whole else ""
            return f"{begin} {kind}`{_interval(names[0], domain)}`"
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
                walk = _Walk(statement, formula)
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
                inside += read(_interval(quantifier.names[0], quantifier.domain), self.names)
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
            for mutant in mutants(condition, given=True, step=step):
                yield f"if {mutant.what}", self.changed(conditions=(*rest[0], mutant.formula, *rest[1]))
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
            yield from ((mutant.what, mutant.formula) for mutant in mutants(each, step=step))
            return
        for field in ("term", "value"):
            for what, text in _changed_terms(getattr(each, field), self.names, step):
                yield f"{what} in the {field}", replace(each, **{field: text})


def _changed_terms(text: str, names: frozenset[str], step: Fraction) -> Iterator[tuple[str, str]]:
    """Yield changes of an expression."""
    whole_chain = (Node("chain", "=", (read_term(text, names), Node("number", "0"))),)
    for mutant in mutants(whole_chain, step=step):
        changed = mutant.formula[0].parts
        if changed[1] == Node("number", "0"):
            yield f"{text}: {mutant.what.split(': ', 1)[1]}", plain(changed[0])


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
        changes = [replace(domain, **{key: None}), replace(domain, **{key: wider})]
        if not domain.whole and not domain.closed[side]:
            changes.append(replace(domain, closed=(side == 0 or domain.closed[0], side == 1 or domain.closed[1])))
        for new in changes:
            if new.low is None and new.high is None and domain.whole:
                continue
            yield f"{_interval(name, domain)} into {_interval(name, new)}", replace(quantifier, domain=new)


def _names_in(formula: tuple[Node, ...]) -> set[str]:
    """Return the names that occur in a formula."""
    return {each.text for chain in formula for each in pieces(chain) if each.kind == "name"}


# covering the quantifiers


class _Walk:
    """Goes through all cases of a statement's quantifiers for one of its formulas."""

    def __init__(self, statement: Exactly, formula: tuple[Node, ...]) -> None:
        self.statement, self.quantifiers, self.formula = statement, statement.quantifiers, formula
        self.cases = self.cells = 0
        self.where = ""

    def truth(self, at: int, values: dict[str, Any], cell: Cell, counts: tuple[Any, ...]) -> bool | None:
        """Whether the formula holds, with the quantifiers from `at` on; None where that is not decided."""
        if at == len(self.quantifiers):
            return self._leaf(values, cell, counts)
        quantifier = self.quantifiers[at]
        if isinstance(quantifier.domain, Range):
            if not quantifier.every:
                return None
            inner = Cell({**cell.ranges, _symbol(quantifier): quantifier.domain}, cell.conditions)
            return self.truth(at + 1, {**values, quantifier.names[0]: _symbol(quantifier)}, inner, counts)
        undecided = False
        for inside, inner, counted in _values(quantifier, values, cell, counts):
            found = self.truth(at + 1, inside, inner, counted)
            if found is not None and found != quantifier.every:
                return found
            undecided = undecided or found is None
        return None if undecided else quantifier.every

    def _leaf(self, values: dict[str, Any], cell: Cell, counts: tuple[Any, ...]) -> bool | None:
        divisors: list[Any] = []
        arithmetic = symbolic(divisors) if cell.ranges else EXACT
        known = self._defined(values, counts, arithmetic)
        if not cell.ranges:
            if any(failing(condition, known) for condition in self.statement.conditions):
                return True
            self.cases += 1
            wrong = failing(self.formula, known)
            self.where = "" if wrong is None else _place(values)
            return wrong is None
        self.cases, self.cells = self.cases + 1, self.cells + 1
        conditions = [c for each in self.statement.conditions for c in _conditions(each, known, arithmetic)]
        inner = Cell(cell.ranges, (*cell.conditions, *conditions))
        shown: bool | None = True
        pairs = [[evaluate(part, known, arithmetic) for part in chain.parts] for chain in self.formula]
        bases = {factor.as_base_exp()[0] for each in divisors for factor in sympy.Mul.make_args(each)}
        if any(holds("≠", base, 0, inner) is not True for base in bases):
            return None  # something might be divided by 0
        for chain, sides in zip(self.formula, pairs, strict=True):
            for relation, left, right in zip(chain.text.split(), sides, sides[1:], strict=False):
                found = holds(relation, left, right, inner)
                if found is not True:
                    self.where = _place(values)
                if found is False:
                    return False
                shown = None if found is None else shown
        return shown

    def _defined(self, values: dict[str, Any], counts: tuple[Any, ...], arithmetic: Any) -> dict[str, Any]:
        known = dict(values)
        if counts:
            known["n"] = sum(count for _, count in counts)
        for name, (_, definition) in self.statement.where.items():
            if isinstance(definition, str):
                found = evaluate(read_term(definition, self.statement.names), known, arithmetic)
            elif isinstance(definition, Places):
                found = _over_places(definition, counts, known, arithmetic, self.statement.names)
            else:
                found = _called(definition, known)
            known[name] = arithmetic["value"](found)
        return known


def _values(
    quantifier: Quantifier, values: dict[str, Any], cell: Cell, counts: tuple[Any, ...]
) -> Iterator[tuple[dict[str, Any], Cell, tuple[Any, ...]]]:
    domain = quantifier.domain
    if isinstance(domain, Among):
        listed = domain.values
        found = (
            (_tuple(each, len(quantifier.names)) for each in _called(listed, values)) if callable(listed) else listed
        )
        for each in found:
            yield {**values, **dict(zip(quantifier.names, each, strict=True))}, cell, counts
        return
    assert isinstance(domain, Columns)
    places = [dict(zip(quantifier.names, column, strict=True)) for column in product(*domain.values)]
    near = domain.neighbours
    alike = [place for place in places if near is None or place[near[0]] == place[near[1]]]
    counted = tuple((place, sympy.Symbol(f"N{at}", integer=True, nonnegative=True)) for at, place in enumerate(alike))
    ranges = {**cell.ranges, **{count: Range(Fraction(0), None, (True, False), whole=True) for _, count in counted}}
    if near is None:
        at_least_one = Condition(sum(count for _, count in counted) - 1)
        yield values, Cell(ranges, (*cell.conditions, at_least_one)), counted
        return
    for place in places:
        if place not in alike:
            yield values, Cell(ranges, cell.conditions), (*counted, (place, sympy.Integer(1)))


def _over_places(
    definition: Places, counts: tuple[Any, ...], known: Mapping[str, Any], arithmetic: Any, names: frozenset[str]
) -> Any:
    total = sympy.Integer(1 if definition.product else 0)
    for place, count in counts:
        value = _called(definition.of_place, {**known, **place})
        if isinstance(value, str):
            value = evaluate(read_term(value, names), {**known, **place}, arithmetic)
        value = arithmetic["value"](value)
        total = total * value**count if definition.product else total + value * count
    return total


def _called(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call a function with those variables that it names; lam is λ, x_prime is x'."""
    spelt = {**{name: letter for name, letter in GREEK.items()}}
    wanted = {name: spelt.get(name, name.replace("_prime", "'")) for name in signature(function).parameters}
    return function(**{name: values[variable] for name, variable in wanted.items()})


def _symbol(quantifier: Quantifier) -> Any:
    domain = quantifier.domain
    assert isinstance(domain, Range)
    return sympy.Symbol(quantifier.names[0], real=True, **({"integer": True} if domain.whole else {}))


def _conditions(condition: tuple[Node, ...], known: Mapping[str, Any], arithmetic: Any) -> Iterator[Condition]:
    for chain in condition:
        sides = [sympy.sympify(evaluate(part, known, arithmetic)) for part in chain.parts]
        for relation, left, right in zip(chain.text.split(), sides, sides[1:], strict=False):
            if relation in ("<", "<=", "="):
                yield Condition(right - left, relation == "<")
            if relation in (">", ">=", "="):
                yield Condition(left - right, relation == ">")
            if relation == "≠":
                raise ParameterError("a condition ≠ on functions", "split the statement: < and >")


def _place(values: Mapping[str, Any]) -> str:
    shown = {n: v for n, v in values.items() if not hasattr(v, "free_symbols")}
    return ", ".join(f"{name} = {shown_value(value)}" for name, value in shown.items())


def _plainly(formula: tuple[Node, ...]) -> str:
    return ", ".join(plain(chain) for chain in formula)


def _interval(name: str, domain: Range) -> str:
    """Write a range, as in 0 < λ <= 1/2."""
    low, high = (None if end is None else as_text(end) for end in (domain.low, domain.high))
    if high is None:
        return name if low is None else f"{name} {'>=' if domain.closed[0] else '>'} {low}"
    right = f"{name} {'<=' if domain.closed[1] else '<'} {high}"
    return right if low is None else f"{low} {'<=' if domain.closed[0] else '<'} {right}"


def _meant(name: str, words: str, definition: Any) -> str:
    if isinstance(definition, str):
        return f"`{name} = {definition}`" + (f", {words}" if words else "")
    if not words:
        words = " ".join((getdoc(definition) or "").split()).rstrip(".")
    if not words:
        raise ParameterError(f"{name} has no words", "say what it stands for")
    return f"`{name}` is {words}"


class NotDecidedError(TightdpError):
    """A statement is not decided, or false."""
