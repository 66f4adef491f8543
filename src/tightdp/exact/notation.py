"""Ratios of polynomials in the unknown and in e^(1/root) as text, for people or SymPy, and as SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightdp.exact.polynomials import Polynomial, Unknown, has_unknown, in_words, terms_of

if TYPE_CHECKING:
    import sympy


_SHORT = 12
"""Polynomials that take so few characters are written as sums."""


@dataclass(frozen=True)
class Style:
    """How numbers are written: powers of e, powers of the unknown, and what stands between factors."""

    power_of_e: Callable[[Fraction], str]
    power: str
    times: str


FOR_SYMPY = Style(lambda exponent: f"exp({exponent})", "**", "*")
FOR_PEOPLE = Style(lambda exponent: _power_of_e(exponent), "^", "")


def _power_of_e(exponent: Fraction) -> str:
    if exponent == 1:
        return "e"
    return f"e^{exponent}" if exponent.denominator == 1 and exponent > 0 else f"e^({exponent})"


def written(
    above: Polynomial, below: Polynomial, root: int, single: tuple[Fraction, Fraction] | None, style: Style
) -> str:
    """Write a ratio of polynomials; `single` is (c, q) where it is c e^q, None elsewhere."""
    if single is not None:
        factor, exponent = single
        power = style.power_of_e(exponent)
        if abs(factor.numerator) == 1:
            whole = f"{'-' if factor < 0 else ''}{power}"
        else:
            whole = f"{factor.numerator}{style.times}{power}"
        return whole if factor.denominator == 1 else f"{whole}/{factor.denominator}"
    named = in_words()
    over, under = (_polynomial(part, root, style, named) for part in (above, below))
    if under == "1":
        return over
    with_unknown = has_unknown(above) or has_unknown(below)
    marks = " *" if with_unknown else f" {style.times}" if style.times else " e"
    return f"{over if _is_product(over) else _grouped(over, ' ')}/{_grouped(under, marks)}"


def _polynomial(polynomial: Polynomial, root: int, style: Style, unknown: Unknown) -> str:
    """Write a polynomial: as a sum, or as a product where that is shorter."""
    plain = _sum(polynomial, root, style, unknown)
    if not has_unknown(polynomial) or len(plain) <= _SHORT:
        return plain
    content, factors = polynomial.factor()
    parts, negative = [] if abs(content) == 1 else [str(abs(content))], content < 0
    for factor, power in factors:
        if len(factor) == 1:  # e^(4*eps), not e^eps^4
            factor, power = factor**power, 1
        one = _sum(factor, root, style, unknown)
        if one[0] == "-" and style is FOR_PEOPLE:  # (1 - p)^2, not (-1 + p)^2
            one, negative = _sum(-factor, root, style, unknown), negative != (power % 2 == 1)
        one = _grouped(one, " *" if power > 1 else " ")
        parts.append(one if power == 1 else f"{one}{style.power}{power}")
    product = ("-" if negative else "") + "*".join(parts)
    return product if len(product) < len(plain) else plain


def _is_product(expression: str) -> bool:
    """Whether no + or - stands outside of parentheses."""
    depth = 0
    for at, letter in enumerate(expression):
        depth += (letter == "(") - (letter == ")")
        if letter == " " and not depth and at:
            return False
    return True


def _sum(polynomial: Polynomial, root: int, style: Style, unknown: Unknown) -> str:
    """Write a polynomial in the unknown and in e^(1/root), lowest power first."""
    found = ""
    for powers, coefficient in terms_of(polynomial):
        x, power, logarithm, times, inverse = powers
        factors = [unknown.power(x, style.power)] if x else []
        factors += [style.power_of_e(Fraction(power, root))] if power else []
        factors += [unknown.exponential(Fraction(times, root), style.power)] if times else []
        factors += [unknown.exponential(Fraction(inverse, root), style.power, True)] if inverse else []
        factors += [unknown.name if logarithm == 1 else f"{unknown.name}{style.power}{logarithm}"] if logarithm else []
        between = "*" if x or logarithm or times or inverse else style.times
        term = between.join(([] if abs(coefficient) == 1 and factors else [str(abs(coefficient))]) + factors)
        found += (" - " if coefficient < 0 else " + ") + term if found else ("-" if coefficient < 0 else "") + term
    return found


def _grouped(expression: str, marks: str) -> str:
    """Put an expression in parentheses where one of some characters occurs in it."""
    return f"({expression})" if any(mark in expression for mark in marks) else expression


def sympy_of(above: Polynomial, below: Polynomial, root: int) -> sympy.Expr:
    """Return a ratio of polynomials as a SymPy expression."""
    import sympy

    named = in_words()
    symbol = sympy.Symbol(named.name)
    base = sympy.exp(symbol / named.denominator) if named.denominator else symbol

    def polynomial(part: Polynomial) -> sympy.Expr:
        return sympy.Add(
            *(
                c * base**x * symbol**log * sympy.exp(sympy.Rational(t, root) + (e * symbol + f / symbol) / root)
                for (x, t, log, e, f), c in terms_of(part)
            )
        )

    return polynomial(above) / polynomial(below)
