"""Covering the quantifiers of a statement: all cases of finite domains, all columns, signs on cells for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from inspect import signature
from itertools import product
from typing import Any

from tightdp.claims.algebra import Cell, Condition, Range, holds, inhabited
from tightdp.claims.formula import EXACT, RELATIONS, Node, evaluate, failing, read_term
from tightdp.claims.instances import GREEK, shown_value
from tightdp.claims.quantifiers import Among, Columns, Places, Quantifier, as_tuple
from tightdp.errors import ParameterError
from tightdp.exact.lazily import lazily

sympy = lazily("sympy")


def symbolic(needs: list[tuple[str, Any]]) -> dict[str, Callable[..., Any]]:
    """Return the arithmetic of SymPy for `formula.evaluate`; max, min and |x| stay unevaluated.

    `needs` takes note of what has to be ≠, > or >= 0 for a quotient, power, root, logarithm or factorial to be defined.
    """

    def needed(relation: str, value: Any) -> Any:
        if not (value := sympy.sympify(value)).is_number or not RELATIONS[relation](value, 0):
            needs.append((relation, value))
        return value

    def quotient(top: Any, bottom: Any) -> Any:
        if bottom == 0:
            raise ZeroDivisionError("a statement divides by 0")
        for factor in sympy.Mul.make_args(sympy.sympify(bottom)):
            needed("≠", factor.as_base_exp()[0])
        return top / bottom

    def power(base: Any, exponent: Any) -> Any:
        exponent = sympy.sympify(exponent)
        if not (exponent.is_integer and exponent.is_nonnegative):
            needed("≠" if exponent.is_integer else ">=" if exponent.is_positive else ">", base)
        return base**exponent

    def counted(name: str) -> Callable[..., Any]:
        def count(n: Any, *rest: Any) -> Any:
            if not all(sympy.sympify(each).is_integer for each in (n, *rest)):
                raise ParameterError(f"{name} of a number that is not whole", "take a whole variable")
            return getattr(sympy, name)(needed(">=", n), *rest)

        return count

    def rational(value: Any) -> Any:
        value = Fraction(value) if isinstance(value, (int, Fraction)) else value
        return sympy.Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else value

    def extreme(name: str) -> Callable[..., Any]:
        return lambda *parts: sympy.Function(name)(*map(sympy.sympify, parts))

    return {
        "number": rational,
        "value": rational,
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "·": lambda a, b: a * b,
        "/": quotient,
        "^": power,
        "!": counted("factorial"),
        "C": counted("binomial"),
        "exp": lambda x: sympy.exp(x),
        "ln": lambda x: sympy.log(needed(">", x)),
        "log2": lambda x: sympy.log(needed(">", x)) / sympy.log(2),
        "sqrt": lambda x: sympy.sqrt(needed(">=", x)),
        "max": extreme("maximum"),
        "min": extreme("minimum"),
        "(": lambda x: x,
        "|": lambda x: extreme("maximum")(x, -x),
        "⌊": lambda x: sympy.floor(x),
        "⌈": lambda x: sympy.ceiling(x),
    }


class Walk:
    """Goes through all cases of a statement's quantifiers for one of its formulas."""

    def __init__(self, statement: Any, formula: tuple[Node, ...]) -> None:
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
        # that no value does for all of what is a symbol does not say that each of it has none
        open_still = not quantifier.every and (cell.ranges or isinstance(quantifier.domain, Columns))
        return None if undecided or open_still else quantifier.every

    def _leaf(self, values: dict[str, Any], cell: Cell, counts: tuple[Any, ...]) -> bool | None:
        needs: list[tuple[str, Any]] = []
        arithmetic = symbolic(needs) if cell.ranges else EXACT
        known = self._defined(values, counts, arithmetic)
        if not cell.ranges:
            if any(failing(condition, known) for condition in self.statement.conditions):
                return True
            self.cases += 1
            wrong = failing(self.formula, known)
            self.where = "" if wrong is None else _place(values)
            return wrong is None
        conditions = [c for each in self.statement.conditions for c in _conditions(each, known, arithmetic)]
        inner = Cell(cell.ranges, (*cell.conditions, *conditions))
        if inhabited(inner):
            self.cases, self.cells = self.cases + 1, self.cells + 1
        shown: bool | None = True
        pairs = [[evaluate(part, known, arithmetic) for part in chain.parts] for chain in self.formula]
        if any(holds(relation, value, 0, inner) is not True for relation, value in dict.fromkeys(needs)):
            return None  # something might not be defined
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
            (as_tuple(each, len(quantifier.names)) for each in _called(listed, values)) if callable(listed) else listed
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
    spelt = GREEK
    wanted = {name: spelt.get(name, name.replace("_prime", "'")) for name in signature(function).parameters}
    return function(**{name: values[variable] for name, variable in wanted.items()})


def _symbol(quantifier: Quantifier) -> Any:
    domain = quantifier.domain
    assert isinstance(domain, Range)
    assumed = {"integer": True} if domain.whole else {}
    if domain.low is not None and domain.low >= 0:
        assumed["nonnegative"] = True
    return sympy.Symbol(quantifier.names[0], real=True, **assumed)


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
