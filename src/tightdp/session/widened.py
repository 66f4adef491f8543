"""Likelihood ratios, curves and trade-off functions of programs with Gaussian noise, from those of core programs.

The laws of such a core program are not quite those of the mechanism: `Inexact` says by how much they differ, and how
far the true answer may be from that about the core program follows; see docs/unbounded-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tightdp.core.nodes import Inexact
from tightdp.errors import QueryError
from tightdp.every_n import upper as every_n
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, down, up
from tightdp.methods import questions
from tightdp.methods.base import Comparison
from tightdp.methods.program import Program
from tightdp.queries import gaussian, laws
from tightdp.results.privacy import Curve, Privacy, Tradeoff
from tightdp.results.result import Status, TripleWitness
from tightdp.session.engine import Engine, neighbours


def refuse_inexact(program: Program, what: str) -> None:
    """Raise QueryError where the laws of a program that was compiled are not exact."""
    if program.inexact is not None and program.inexact.merged:
        hint = "round what is published, or ask with fewer bits of random(): --floats 10"
        raise QueryError(f"{what} is not known: too many numbers are published in doubles", hint)
    if program.inexact is not None:
        hint = "ask for what can be enclosed, such as the distribution or verify"
        if program.inexact.cut:
            raise QueryError(f"{what} is not known where noise, or a loop, is cut off", hint)
        raise QueryError(
            f"{what} is not known for programs with Gaussian noise", f"{hint}, or use discrete Laplace noise"
        )


def around_ratio(engine: Engine, found: Privacy) -> Privacy:
    """Return the tight e^ε at δ = 0 with ends that enclose the true one where the laws of the program are not exact."""
    error = engine.program.inexact
    if error is None or (error.merged and found.lower == math.inf):
        return found
    if error.merged:  # ratios of a function of the output: the true ones are as large at least
        status: Status = found.status if found.cut_short else "bounded"
        return replace(found, status=status, exp_epsilon=math.inf, top=())
    if found.cut_short and error.cut:
        return replace(found, exp_epsilon=math.inf, lower=Fraction(1), witness=None, top=())
    if found.cut_short:
        lower = down(found.lower / error.factor) if found.lower < math.inf else Fraction(1)
        return replace(found, exp_epsilon=math.inf, lower=max(lower, Fraction(1)), top=())
    return _around_cut(engine, error, found) if error.cut else _around_scaled(engine, error, found)


def _around_cut(engine: Engine, error: Inexact, found: Privacy) -> Privacy:
    """Every probability may be off by some mass: the ratios of all outputs are enclosed."""
    known = laws.ratios(_pairs(engine), error)
    upper = known.upper
    if upper == math.inf and not engine.lower_only:
        upper = _of_finer(engine)
        if not every_n.near(known.lower, upper):
            upper = min(upper, every_n.upper_for_every_n(engine.bound, known.lower))
    lower, upper = max(down(known.lower), Fraction(1)), upper if isinstance(upper, float) else up(upper)
    return replace(found, status="bounded", exp_epsilon=upper, lower=lower, witness=neighbours(known.pair), top=())


def _of_finer(engine: Engine) -> Exact:
    """Return an upper end from a program that tells more: a function of an output has no larger ratios than that."""
    finer = engine.program.finer(engine.control())
    return math.inf if finer is None else questions.tight(finer, engine.control())[1].upper


def _around_scaled(engine: Engine, error: Inexact, found: Privacy) -> Privacy:
    """All ratios are within the factor; where noise is published, its tails have a limit of their own."""
    lower: Exact = found.lower / error.factor
    upper: Exact = found.exp_epsilon * error.factor
    witness = found.witness
    if error.published:
        lower, pair = gaussian.pure(_pairs(engine), error.relative, error.lost)
        witness = neighbours(pair)
        upper = max(upper, lower)
    if lower == math.inf or (found.exp_epsilon == math.inf and not error.published):
        return replace(found, exp_epsilon=math.inf, lower=math.inf, witness=witness, top=())
    if isinstance(witness, TripleWitness):
        masses = down(witness.probability), down(witness.probability_prime)
        witness = replace(witness, probability=masses[0], probability_prime=masses[1])
    lower, upper = max(down(lower), Fraction(1)), up(upper) if upper < math.inf else upper
    return replace(found, status="bounded", exp_epsilon=upper, lower=lower, witness=witness, top=())


def _pairs(engine: Engine) -> Comparison:
    return questions.comparison(engine.program, engine.control())[1]


def around_curve(engine: Engine, found: Curve) -> Curve:
    """Return a curve with one below it; where it is below its own error it is cut off: it stays as high as there."""
    error = engine.program.inexact
    if error is None:
        return found
    refuse_merged(engine, "privacy")
    upper: list[tuple[Number, Number]] = []
    lower: list[tuple[Number, Number]] = []
    for t, delta in found.points:
        slack = (1 + t) * error.total
        upper.append((t, up(min(delta + slack, Fraction(1)))))
        lower.append((t, down(max(delta - slack, Fraction(0)))))
        if delta <= slack:
            break
    if found.cut_short:
        return replace(found, points=tuple(lower))
    points = [(t, min(delta for _, delta in upper[: at + 1])) for at, (t, _) in enumerate(upper)]
    return replace(found, status="bounded", points=tuple(points), lower=tuple(lower))


def around_tradeoff(engine: Engine, found: Tradeoff) -> Tradeoff:
    """Return a trade-off function with one above it: both error rates of every test are within `total`."""
    error = engine.program.inexact
    if error is None:
        return found
    refuse_merged(engine, "privacy")
    lower, upper = (_moved(found.vertices, shift * error.total) for shift in (-2, 2))
    if found.cut_short:
        return replace(found, vertices=upper)
    return replace(found, status="bounded", vertices=lower, upper=upper)


def refuse_merged(engine: Engine, query: str) -> None:
    """Raise QueryError where laws are those of a function of the output."""
    if engine.program.inexact is not None and engine.program.inexact.merged:
        refuse_inexact(engine.program, f"the answer to {query}")


def _moved(vertices: Sequence[tuple[Number, Number]], shift: Fraction) -> tuple[tuple[Number, Number], ...]:
    """Return a convex decreasing polygon moved by `shift` both ways, cut to the unit square."""
    moved = [(fpr + shift, fnr + shift) for fpr, fnr in vertices]
    if shift > 0:
        inside = [(min(fpr, Fraction(1)), min(fnr, Fraction(1))) for fpr, fnr in moved]
        start = (Fraction(0), Fraction(1))
        return tuple((up(fpr), up(fnr)) for fpr, fnr in dict.fromkeys([start, *inside]))
    cut: list[tuple[Number, Number]] = []
    for at, (fpr, fnr) in enumerate(moved):
        if fpr < 0:
            continue
        if not cut and at:
            cut.append((Fraction(0), _crossing(moved[at - 1], (fpr, fnr), 0)))
        if fnr < 0:
            cut.append((_crossing(moved[at - 1], (fpr, fnr), 1), Fraction(0)))
            break
        cut.append((fpr, fnr))
    cut.append((Fraction(1), Fraction(0)))
    return tuple((down(fpr), down(fnr)) for fpr, fnr in dict.fromkeys(cut))


def _crossing(left: tuple[Number, Number], right: tuple[Number, Number], axis: int) -> Number:
    """Return where the segment between two points meets an axis, by the other coordinate."""
    share = left[axis] / (left[axis] - right[axis])
    return left[1 - axis] + share * (right[1 - axis] - left[1 - axis])
