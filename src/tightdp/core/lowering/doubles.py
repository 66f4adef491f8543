"""Doubles, where numbers are asked to be those of the machine: `random()`, and what is computed from it.

A draw of `random()` is one of 2^bits equally likely k. Of k as much is drawn as the program asks for: at first nothing,
and where it compares what it computes from k, in which part of a partition k lies, such that the comparison comes out
the same on each part. A later question divides the parts further, by a draw that depends on the part.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tightdp.core.doubles import BOOLEAN, FOLLOWED, SAFE, Double, Piece, Raised, Tape, Undecided, base_of
from tightdp.core.lowering.arrays import fail_where
from tightdp.core.lowering.functions import call
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import builtin, in_doubles, operates
from tightdp.core.lowering.scalars import by_values, name_in_doubles, operate, over_all, together, truth
from tightdp.core.lowering.sequences import plain
from tightdp.core.lowering.values import Host, Value, is_scalar, known, name_of
from tightdp.core.nodes import Const, Expr
from tightdp.language.generators import double
from tightdp.language.primitives import exp, uniform

_INSTEAD = "compare each draw with numbers first, or draw with the primitives of tightdp"


@dataclass
class Uniform:
    """One draw of `random()`: in which part of all k it is, so far, by the first k of the part."""

    bits: int
    cell: Expr
    starts: list[int]

    def last(self, start: int) -> int:
        """Return the last k of the part that begins with one."""
        after = bisect_right(self.starts, start)
        return (self.starts[after] if after < len(self.starts) else 1 << self.bits) - 1

    def divide(self, m: Machine, starts: Iterable[int]) -> None:
        """Draw in which of finer parts k is."""
        finer = sorted({*self.starts, *starts})
        if len(finer) == len(self.starts):
            return
        laws = []
        for value in self.cell.values:
            end = self.last(value) + 1
            inside = [start for start in finer if value <= start < end]
            ends = pairwise([*inside, end])
            laws.append(tuple((start, Fraction(after - start, end - value)) for start, after in ends))
        selector = m.builder.true if isinstance(self.cell, Const) else self.cell
        self.cell, self.starts = m.builder.draw("random", selector, laws), finer


@builtin(double)
def drawn(m: Machine) -> Value:
    """Return a fresh draw of `random()`: a real number where numbers mean what is written."""
    if not m.floats:
        return call(m, Host(uniform), (0, 1), {})
    m.uniforms.append(Uniform(m.floats, m.builder.const(0), [0]))
    return Double(len(m.uniforms) - 1)


@in_doubles(float)
def _float(m: Machine, value: Value = 0.0, /) -> Value:
    return m.each(value, lambda one: operate(m, "float", one))


_EXACT = (math.floor, math.ceil, math.trunc, math.prod, math.fsum, math.comb, math.perm, math.gcd, math.lcm)
"""Functions of `math` that are the same on integers, or take sequences."""


def _of_math(function: Callable[..., object]) -> Callable[..., Value]:
    def handler(m: Machine, *values: Value) -> Value:
        return over_shapes(m, values, lambda *plain: operate(m, f"math {function.__name__}", *plain))

    return handler


def over_shapes(m: Machine, values: Sequence[Value], action: Callable[..., Value]) -> Value:
    """Apply an action to scalars, for every shape that they may have; scalars of numpy as those of Python."""

    return over_all(m, values, lambda *each: action(*(plain(m, one) for one in each)), Machine.each)


for _function in vars(math).values():
    if callable(_function) and getattr(_function, "__module__", "") == "math" and _function not in _EXACT:
        in_doubles(_function)(_of_math(_function))
in_doubles(exp)(lambda m, value: over_shapes(m, (value,), lambda one: operate(m, "rounded exp", one)))


@operates(Double)
def operated(m: Machine, name: str, *operands: Value) -> Value:
    """Apply an operation to numbers that are computed from a draw."""
    if name in ("settle", "plain"):
        return settled(m, operands[0]) if name == "settle" else operands[0]
    draws = {operand.draw for operand in operands if isinstance(operand, Double)}
    if len(draws) > 1:
        raise m.unsupported("a number made of two draws of random() is not in the language with floats", _INSTEAD)
    for operand in operands:
        if not is_scalar(operand) and not isinstance(operand, Double):
            raise Failure(f"TypeError: {name} does not take float and {name_of(operand)}", "convert the operands")
    name = name_in_doubles(name, (0.0,))
    if base_of(name) not in FOLLOWED:
        return operate(m, name, *(known(m.expr(operand)) for operand in operands))
    tree = Double(draws.pop(), name, operands)
    base = base_of(name)
    if base not in SAFE:
        _fail_where_it_raises(m, tree)
    if base == "int":  # what is computed from integers, a loop say, goes on with few values
        with suppress(Undecided):
            return known(divided(m, tree))
    return known(resolved(m, tree)) if base in BOOLEAN else tree


def _fail_where_it_raises(m: Machine, tree: Double) -> None:
    """Let the runs fail on which a number cannot be computed, though its operands can."""
    said = resolved(m, Double(tree.draw, "raises", (tree,)))
    for text in said.values:
        if text:
            fail_where(m, m.builder.equals(said, text), Failure(text, "guard the operation"))


def settled(m: Machine, tree: Double) -> Expr:
    """Return a number as a node, where it has few values."""
    return m.expr(resolved(m, tree))


def resolved(m: Machine, tree: Double) -> Expr:
    """Return the node of a number. Raises LanguageError where it has too many values, or is not decided."""
    try:
        return divided(m, tree)
    except Undecided:
        what = "this number in doubles has too many values, or halving does not decide what is asked of it"
        raise m.unsupported(what, "compare it, round it, or ask with fewer bits of random(): --floats 10") from None


def divided(m: Machine, tree: Double) -> Expr:
    """Return the node of a number: of its values, as they are in the parts of the draw in which they are the same."""
    uniform, tape = uniform_of(m, tree)
    found: dict[tuple[Value, ...], list[Piece]] = {}
    for start, *given in possible(m, tree):
        pieces = tape.pieces(start, uniform.last(start), given, m.watch)
        found.setdefault(tuple(given), []).extend(pieces)
    uniform.divide(m, {first for pieces in found.values() for first, _, _ in pieces})
    if any(isinstance(piece[2], Raised) for pieces in found.values() for piece in pieces):
        _fail_where_it_raises(m, tree)
    nodes = {given: _of_parts(m, uniform, sorted(pieces)) for given, pieces in found.items()}
    return by_values(m, tape.nodes, nodes)


def uniform_of(m: Machine, tree: Double) -> tuple[Uniform, Tape]:
    """Return the draw that a number is computed from, and how."""
    uniform = m.uniforms[tree.draw]
    return uniform, Tape(tree, uniform.bits)


def possible(m: Machine, tree: Double) -> Sequence[tuple[Value, ...]]:
    """Return in which parts its draw can be, together with the values of the nodes that a number depends on."""
    uniform, tape = uniform_of(m, tree)
    return together(m, (uniform.cell, *tape.nodes))


def _of_parts(m: Machine, uniform: Uniform, pieces: Sequence[Piece]) -> Expr:
    """Return the node of a value for every part of a draw; parts that do not occur have that of others."""
    certain = [piece for piece in pieces if not isinstance(piece[2], Raised)]
    if not certain:
        return m.builder.false
    values, at = [], 0
    for start in uniform.cell.values:
        while at + 1 < len(certain) and certain[at + 1][0] <= start:
            at += 1
        values.append(certain[at][2])
    changes = [here for here in range(1, len(values)) if values[here] != values[here - 1]]
    if len(changes) == 1 and all(isinstance(value, bool) for value in values):
        above = truth(m, operate(m, "ge", uniform.cell, uniform.cell.values[changes[0]]))
        return above if values[-1] else m.builder.negation(above)
    return m.builder.case(uniform.cell, [m.builder.const(value) for value in values])
