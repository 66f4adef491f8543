"""Signs on cells: whether a relation of rational functions holds wherever conditions hold, decided symbolically.

Maxima, minima and absolute values cut the domain into cells, on each of which both sides are rational functions. On
one variable a cell is cut at all roots, which is complete. On several, a condition that is linear in a variable is
substituted away, ranges are mapped to t >= 0, and a polynomial whose coefficients are all >= 0 there is >= 0; two
variables may be put in order. A variable that is whole is treated as real, which proves more. What is not shown is not
claimed: the answer is True, False with a point, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, pairwise, product
from typing import Any

from tightdp.exact.lazily import lazily

sympy = lazily("sympy")

_POINTS = 5000
"""How many points are tried for a counterexample."""


@dataclass(frozen=True)
class Range:
    """The values of a real or whole variable: between two rationals, None for no end; `closed` says which ends
    belong."""

    low: Fraction | None = None
    high: Fraction | None = None
    closed: tuple[bool, bool] = (False, False)
    whole: bool = False


@dataclass(frozen=True)
class Condition:
    """An expression that is >= 0 where a statement speaks, > 0 if `strict`."""

    value: Any
    strict: bool = False


@dataclass(frozen=True)
class Cell:
    """Where a sign is asked: ranges of symbols, and conditions."""

    ranges: dict[Any, Range]
    conditions: tuple[Condition, ...] = ()


def holds(relation: str, left: Any, right: Any, cell: Cell) -> bool | None:
    """Return whether a relation holds everywhere on a cell; None where that is not decided."""
    shown: bool | None = True
    for inner, difference in _cases(cell, sympy.sympify(left) - sympy.sympify(right)):
        if _is_empty(inner):
            continue
        found = _everywhere(relation, difference, inner)
        if found is False:
            return False
        shown = None if found is None else shown
    return shown


def inhabited(cell: Cell) -> bool:
    """Whether one of some rational points lies in a cell; a statement about none says nothing."""
    return _counterexample(cell, lambda value: False, sympy.Integer(0))


def _everywhere(relation: str, difference: Any, cell: Cell) -> bool | None:
    if relation == "=":
        if _is_zero(difference) or (cell.conditions and all(_signed(s * difference, False, cell) for s in (1, -1))):
            return True
        return False if _counterexample(cell, lambda value: value == 0, difference) else None
    if relation == "≠":
        if difference.is_number:
            return bool(difference != 0)
        return True if any(_signed(sign * difference, True, cell) for sign in (1, -1)) else None
    strict, value = relation in ("<", ">"), difference if relation in (">", ">=") else -difference
    if _signed(value, strict, cell):
        return True
    return False if _counterexample(cell, lambda at: at > 0 or (at == 0 and not strict), value) else None


def _cases(cell: Cell, value: Any) -> Iterator[tuple[Cell, Any]]:
    """Cut a cell where a maximum or minimum has another largest part; in conditions as well."""
    wholes = [value, *(condition.value for condition in cell.conditions)]
    extremes = [each for whole in wholes for each in sympy.sympify(whole).atoms(sympy.Function) if _is_extreme(each)]
    inner = [each for each in extremes if not any(_is_extreme(f) for a in each.args for f in a.atoms(sympy.Function))]
    if not inner:
        yield cell, value
        return
    extreme = min(inner, key=str)
    sign = 1 if extreme.func.__name__ == "maximum" else -1
    for chosen in extreme.args:
        others = tuple(Condition(sign * (chosen - other)) for other in extreme.args if other != chosen)
        given = tuple(Condition(c.value.xreplace({extreme: chosen}), c.strict) for c in cell.conditions)
        yield from _cases(Cell(cell.ranges, given + others), value.xreplace({extreme: chosen}))


def _is_extreme(function: Any) -> bool:
    return function.func.__name__ in ("maximum", "minimum")


def _is_zero(value: Any) -> bool:
    """Whether an expression simplifies to exactly 0."""
    return bool(value == 0 or sympy.cancel(sympy.together(sympy.powsimp(sympy.expand(value)))) == 0)


def _counterexample(cell: Cell, right: Callable[[Any], bool], value: Any) -> bool:
    """Whether one of some rational points of the cell contradicts."""
    symbols = sorted(cell.ranges, key=str)
    for point in islice(product(*(_samples(cell.ranges[symbol]) for symbol in symbols)), _POINTS):
        at = dict(zip(symbols, point, strict=True))
        given = [condition.value.subs(at) for condition in cell.conditions]
        inside = all(
            g > 0 or (g == 0 and not c.strict) for g, c in zip(given, cell.conditions, strict=True) if g.is_real
        )
        if inside and all(g.is_real for g in given) and (found := value.subs(at)).is_real and not right(found):
            return True
    return False


def _samples(within: Range) -> list[Any]:
    low, high = within.low, within.high
    if within.whole:
        first = low if low is not None else (high - 4 if high is not None else Fraction(-2))
        last = first + 4 if high is None else min(high, first + 4)
        found = [first + at for at in range(int(last - first) + 1)]
        return [sympy.Integer(int(each)) for each in found if _belongs(each, within)]
    if low is None or high is None:
        start = low if low is not None else (high - 1 if high is not None else Fraction(0))
        sign = -1 if low is None and high is not None else 1
        found = [start + sign * step for step in map(Fraction, ("0", "1/100", "1/3", "1", "5/2", "10", "100"))]
    else:
        found = [
            low + (high - low) * step for step in map(Fraction, ("0", "1/100", "1/5", "1/2", "4/5", "99/100", "1"))
        ]
    return [sympy.Rational(each.numerator, each.denominator) for each in found if _belongs(each, within)]


def _belongs(value: Fraction, within: Range) -> bool:
    above = within.low is None or value > within.low or (value == within.low and within.closed[0])
    below = within.high is None or value < within.high or (value == within.high and within.closed[1])
    return above and below


# signs


def _signed(value: Any, strict: bool, cell: Cell) -> bool:
    """Whether an expression is shown to be > 0 (>= 0 unless strict) on a cell."""
    top, bottom = sympy.fraction(sympy.cancel(sympy.together(sympy.sympify(value))))
    used, given = set(top.free_symbols | bottom.free_symbols), []
    left = [each for each in cell.conditions if _is_polynomial(each.value)]
    while near := [each for each in left if each.value.free_symbols & used]:  # others say nothing of these variables
        given += [Condition(sympy.expand(each.value), each.strict) for each in near]
        used |= {symbol for each in near for symbol in each.value.free_symbols}
        left = [each for each in left if each not in near]
    if not _is_polynomial(top) or not _is_polynomial(bottom):
        return False
    clean = Cell({symbol: cell.ranges.get(symbol, Range()) for symbol in used}, tuple(given))
    if bottom.is_number:
        return _polynomial(top / bottom, strict, clean)
    for sign in (1, -1):
        if _polynomial(sign * bottom, True, clean):
            return _polynomial(sign * top, strict, clean)
    return False


def _is_polynomial(value: Any) -> bool:
    """Whether it is a polynomial with rational coefficients."""
    if value.is_number:
        return bool(value.is_rational)
    return bool(value.is_polynomial()) and sympy.Poly(value).domain in (sympy.ZZ, sympy.QQ)


def _polynomial(value: Any, strict: bool, cell: Cell) -> bool:
    value = sympy.expand(value)
    used = value.free_symbols | {s for c in cell.conditions for s in c.value.free_symbols}
    if not value.free_symbols and not cell.conditions:
        return bool(value > 0 if strict else value >= 0)
    if len(used) == 1:
        return _on_a_line(value, strict, used.pop(), cell)
    if value.is_number:
        return bool(value > 0 if strict else value >= 0)
    return _on_cells(value, strict, cell)


def _on_a_line(value: Any, strict: bool, symbol: Any, cell: Cell) -> bool:
    """Decide a sign on one variable: on every root of anything that occurs, and between the roots."""
    within = cell.ranges.get(symbol, Range())
    conditions = list(cell.conditions)
    if within.low is not None:
        conditions.append(Condition(symbol - _rational(within.low), not within.closed[0]))
    if within.high is not None:
        conditions.append(Condition(_rational(within.high) - symbol, not within.closed[1]))
    polynomials = [sympy.Poly(each, symbol, domain="QQ") for each in (value, *(c.value for c in conditions))]
    factors = {f for p in polynomials if not p.is_zero for f, _ in p.factor_list()[1]}
    roots = sorted(
        ((root, factor) for factor in factors for root in factor.real_roots(multiple=True, radicals=False)),
        key=lambda each: each[0],
    )
    between = _between([root for root, _ in roots])

    def right(signs: list[int]) -> bool:
        if all(s > 0 or (s == 0 and not c.strict) for s, c in zip(signs[1:], conditions, strict=True)):
            return signs[0] > 0 or (signs[0] == 0 and not strict)
        return True

    for at, point in enumerate(between):
        signs = [_sign(p.eval(point)) for p in polynomials]
        if not right(signs):
            return False
        if at < len(roots):  # at the root that follows, what has it as a root is 0, and all else keeps its sign
            factor = roots[at][1]
            there = [0 if p.is_zero or p.rem(factor).is_zero else s for p, s in zip(polynomials, signs, strict=True)]
            if not right(there):
                return False
    return True


def _sign(value: Any) -> int:
    return int(bool(value > 0)) - int(bool(value < 0))


def _between(roots: list[Any]) -> list[Any]:
    """Return a rational below all roots, one between each two, and one above."""
    if not roots:
        return [sympy.Integer(0)]
    found = [sympy.floor(roots[0]) - 1]
    for left, right in pairwise(roots):
        digits = 4
        while True:
            middle = sympy.Rational(str(sympy.N((left + right) / 2, digits)))
            if left < middle < right:
                break
            digits *= 2
        found.append(middle)
    return [*found, sympy.ceiling(roots[-1]) + 1]


def _rational(value: Fraction) -> Any:
    return sympy.Rational(value.numerator, value.denominator)


def _on_cells(value: Any, strict: bool, cell: Cell) -> bool:
    """Whether coefficients show a sign on several variables: as they stand, or with a condition substituted away.

    Without conditions that is tried, too, for both orders of two variables with one range.
    """
    if _is_empty(cell) or _by_coefficients(value, strict, cell.ranges):
        return True
    for condition in cell.conditions:
        for symbol in sorted(condition.value.free_symbols, key=str):
            found = _substituted(condition, symbol, cell.ranges)
            if found and _by_coefficients(sympy.expand(value.subs(symbol, found[0])), strict, found[1]):
                return True
    pairs = () if cell.conditions else combinations(sorted(value.free_symbols, key=str), 2)
    return any(
        all(_on_cells(value, strict, Cell(cell.ranges, (Condition(way),))) for way in (one - other, other - one))
        for one, other in pairs
        if cell.ranges[one] == cell.ranges[other]
    )


def _is_empty(cell: Cell) -> bool:
    return any(c.value.is_number and (c.value < 0 or (c.strict and c.value == 0)) for c in cell.conditions)


def _substituted(condition: Condition, symbol: Any, ranges: dict[Any, Range]) -> tuple[Any, dict[Any, Range]] | None:
    """Write a variable as what a linear condition says plus s >= 0, whatever its own range; return that and ranges."""
    polynomial = sympy.Poly(condition.value, symbol)
    if symbol not in ranges or polynomial.degree() != 1 or not polynomial.LC().is_number:
        return None
    slack = sympy.Symbol(f"{symbol}+", real=True)
    others = {each: range for each, range in ranges.items() if each != symbol}
    at_least = Range(Fraction(0), None, (not condition.strict, False))
    return (slack - polynomial.eval(0)) / polynomial.LC(), {**others, slack: at_least}


def _by_coefficients(value: Any, strict: bool, ranges: dict[Any, Range]) -> bool:
    """Whether all coefficients are >= 0 when every range is mapped to t >= 0, and no face that belongs is 0."""
    symbols = sorted(value.free_symbols, key=str)
    if not symbols:
        return bool(value > 0 if strict else value >= 0)
    polynomial = sympy.Poly(value, *symbols, domain="QQ")
    for symbol in symbols:
        range = ranges.get(symbol, Range())
        if range.low is None and range.high is None:
            return False
        polynomial = _mapped(polynomial, symbol, range)
    if any(coefficient < 0 for coefficient in polynomial.coeffs()):
        return False
    if not strict:
        return True
    ends: list[list[Callable[[Any, Any], Any]]] = []
    for symbol in symbols:
        range = ranges[symbol]
        at_low, at_high = (range.closed[0], range.closed[1]) if range.low is not None else (range.closed[1], False)
        faces: list[Callable[[Any, Any], Any]] = [lambda each, _: each]
        if at_low:
            faces.append(lambda each, s: each.subs(s, 0))
        if at_high and range.high is not None:
            degree = polynomial.degree(symbol)
            faces.append(lambda each, s, d=degree: sympy.Poly(each, s).coeff_monomial(s**d))  # type: ignore[misc]
        ends.append(faces)
    for chosen in product(*ends):
        face = polynomial.as_expr()
        for make, symbol in zip(chosen, symbols, strict=True):
            face = make(face, symbol)
        if sympy.expand(face) == 0:
            return False
    return True


def _mapped(polynomial: Any, symbol: Any, range: Range) -> Any:
    """Map a range to t >= 0: low + t, high - t, or (low + high·t)/(1 + t) with the denominator multiplied away."""
    value, gens = polynomial.as_expr(), polynomial.gens
    if range.high is None and range.low is not None:
        value = value.subs(symbol, symbol + _rational(range.low))
    elif range.low is None and range.high is not None:
        value = value.subs(symbol, _rational(range.high) - symbol)
    elif range.low is not None and range.high is not None:
        low, high, degree = _rational(range.low), _rational(range.high), polynomial.degree(symbol)
        terms = sympy.Poly(value, symbol).all_coeffs()[::-1]
        value = sum(c * (low + high * symbol) ** k * (1 + symbol) ** (degree - k) for k, c in enumerate(terms))
    return sympy.Poly(sympy.expand(value), *gens, domain="QQ")
