"""Answers about programs with Gaussian noise: those about their core programs, widened to enclose the true ones.

The laws of such a core program are not quite those of the mechanism: `Inexact` says by how much they differ. Every
answer about them is exact, and how far the true one may be from it follows; see docs/unbounded-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from tightdp.core.nodes import Inexact
from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.lazily import lazily
from tightdp.exact.numbers import Exact, down, up
from tightdp.exact.weights import as_exact
from tightdp.language.tails import is_beyond
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Pair
from tightdp.methods.program import Program
from tightdp.queries import gaussian, laws
from tightdp.queries.accuracy import AccuracyClass
from tightdp.results.answers import Accuracy, Distribution
from tightdp.results.privacy import Curve, Privacy, Tradeoff
from tightdp.results.result import PairWitness, Result, Status, TripleWitness
from tightdp.session.engine import Engine

if TYPE_CHECKING:
    from tightdp.every_n import upper as every_n
else:  # proofs take scipy, which most questions do without
    every_n = lazily("tightdp.every_n.upper")

P = ParamSpec("P")
R = TypeVar("R", bound=Result)


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


def widened(query: Callable[Concatenate[Engine, P], R], /) -> Callable[Concatenate[Engine, P], R]:
    """Make a query widen its answer where the laws of the program are not exact."""

    @wraps(query)
    def asked(engine: Engine, /, *arguments: P.args, **options: P.kwargs) -> R:
        found = query(engine, *arguments, **options)
        error = engine.program.inexact
        if error is None:
            return found
        widening = _Widening(engine, error, query, arguments)
        return widening.of_part(found) if found.cut_short else widening.of(found)

    return asked


def _witness(pair: Pair | None) -> PairWitness | None:
    return None if pair is None else PairWitness(pair.x, pair.x_prime)


class _Widening:
    """One answer to be widened, with the query that gave it."""

    def __init__(
        self, engine: Engine, error: Inexact, again: Callable[..., Result], arguments: tuple[Any, ...]
    ) -> None:
        self._engine, self._error, self._query, self._arguments = engine, error, again, arguments

    def of(self, found: R) -> R:
        """Return the same answer with ends that enclose the true one."""
        if self._error.merged:
            return self._of_function(found)
        match found:
            case Privacy():
                return self._pure(found)  # type: ignore[return-value]
            case Curve():
                return self._curve(found)  # type: ignore[return-value]
            case Tradeoff():
                return self._tradeoff(found)  # type: ignore[return-value]
            case Accuracy():
                return self._accuracy(found)  # type: ignore[return-value]
            case Distribution():
                return self._distribution(found)  # type: ignore[return-value]
        refuse_inexact(self._engine.program, f"the answer to {found.query}")
        return found

    def of_part(self, found: R) -> R:
        """Return an answer that a limit cut short with ends that are wide enough, without asking again."""
        match found:
            case Privacy():
                if self._error.cut:
                    return replace(found, exp_epsilon=math.inf, lower=Fraction(1), witness=None, top=())
                lower = (
                    max(down(found.lower / self._error.factor), Fraction(1)) if found.lower < math.inf else Fraction(1)
                )
                return replace(found, exp_epsilon=math.inf, lower=lower, top=())
            case Accuracy() if found.one_minus_beta is not None:
                return replace(self._accuracy(found), status=found.status)  # type: ignore[return-value]
        return found

    def _of_function(self, found: R) -> R:
        """Return an answer about a function of the output: the true ratios and differences are as large at least."""
        match found:
            case Privacy() if found.lower == math.inf:
                return found
            case Privacy():
                return replace(found, status="bounded", exp_epsilon=math.inf, top=())
            case Distribution():
                return found
        refuse_inexact(self._engine.program, f"the answer to {found.query}")
        return found

    def _slack(self, t: Number) -> Number:
        """How much P(E) - t·P'(E) may differ, for any event E."""
        return (1 + t) * self._error.total

    def _pairs(self) -> Comparison:
        return questions.comparison(self._engine.program, self._engine.control())[1]

    def _pure(self, found: Privacy) -> Privacy:
        """All ratios are within the factor; where noise is published, its tails have a limit of their own."""
        lower: Exact = found.lower / self._error.factor
        upper: Exact = found.exp_epsilon * self._error.factor
        witness = found.witness
        if self._error.cut:
            if (close := self._pure_of_core(found)) is not None:
                return close
            known = laws.ratios(self._pairs(), self._error)
            upper = known.upper
            if upper == math.inf and not self._engine.lower_only:
                upper = every_n.upper_for_every_n(self._engine.bound, known.lower)
            least, most = max(down(known.lower), Fraction(1)), upper if isinstance(upper, float) else up(upper)
            return replace(found, status="bounded", exp_epsilon=most, lower=least, witness=_witness(known.pair), top=())
        if self._error.published:
            lower, pair = gaussian.pure(self._pairs(), self._error.relative, self._error.lost)
            witness = _witness(pair)
            upper = max(upper, lower)
        if lower == math.inf or (found.exp_epsilon == math.inf and not self._error.published):
            return replace(found, exp_epsilon=math.inf, lower=math.inf, witness=witness, top=())
        if isinstance(witness, TripleWitness):
            masses = down(witness.probability), down(witness.probability_prime)
            witness = replace(witness, probability=masses[0], probability_prime=masses[1])
        lower, upper = max(down(lower), Fraction(1)), up(upper) if upper < math.inf else upper
        return replace(found, status="bounded", exp_epsilon=upper, lower=lower, witness=witness, top=())

    def _pure_of_core(self, found: Privacy) -> Privacy | None:
        """The core program's own ratio is near enough where no output is missing, and none is rare."""
        t, witness, bound = found.exp_epsilon, found.witness, self._engine.bound
        if self._error.published or isinstance(t, float) or witness is None or bound.neighbours != "replace-one":
            return None
        if t != found.lower:
            return None
        table = questions.laws(self._engine.program, self._engine.control())[1]
        ends = gaussian.near_core(t, Pair(witness.x, witness.x_prime, 0, table), bound.n, self._error)
        if ends is None:
            return None
        least, pair = max(down(ends[0]), Fraction(1)), PairWitness(witness.x, witness.x_prime)
        return replace(found, status="bounded", exp_epsilon=up(ends[1]), lower=least, witness=pair, top=())

    def _again(self, **changed: Number) -> Any:
        """Ask the same question with another bar."""
        return self._query(self._engine, replace(self._arguments[0], **changed))

    def _least_error(self, found: Accuracy) -> Accuracy:
        """1 - β is within `total`: the least α is asked for at a larger and at a smaller β."""
        total = self._error.total
        if found.beta <= total:
            raise QueryError("this beta is below the error of Gaussian probabilities", "give a larger beta")
        lower: Exact = Fraction(0)
        if found.beta + total < 1:
            lower = self._again(beta=found.beta + total).lower
        above = self._again(beta=found.beta - total)
        if above.cut_short:
            stopped: Accuracy = replace(above, beta=found.beta, lower=lower)
            return stopped
        status: Status = "exact" if lower == above.upper else "bounded"
        return replace(found, status=status, alpha=above.upper, lower=lower, upper=above.upper)

    def _curve(self, found: Curve) -> Curve:
        """Where the curve is below its own error it is cut off: it stays as high as there."""
        upper: list[tuple[Number, Number]] = []
        lower: list[tuple[Number, Number]] = []
        for t, delta in found.points:
            slack = self._slack(t)
            upper.append((t, up(min(delta + slack, Fraction(1)))))
            lower.append((t, down(max(delta - slack, Fraction(0)))))
            if delta <= slack:
                break
        points = [(t, min(delta for _, delta in upper[: at + 1])) for at, (t, _) in enumerate(upper)]
        return replace(found, status="bounded", points=tuple(points), lower=tuple(lower))

    def _tradeoff(self, found: Tradeoff) -> Tradeoff:
        """Both error rates of every test are within `total`."""
        shift = 2 * self._error.total
        return replace(
            found,
            status="bounded",
            vertices=_moved(found.vertices, -shift),
            upper=_moved(found.vertices, shift),
        )

    def _accuracy(self, found: Accuracy) -> Accuracy:
        if found.one_minus_beta is None:
            return self._least_error(found)
        total = self._error.total
        lower = down(max(as_exact(found.lower) - total, Fraction(0)))
        upper = up(min(as_exact(found.upper) + total, Fraction(1)))
        top = tuple(AccuracyClass(row.x, down(row.one_minus_beta), row.inputs) for row in found.top)
        return replace(found, status="bounded", one_minus_beta=lower, beta=1 - lower, lower=lower, upper=upper, top=top)

    def _distribution(self, found: Distribution) -> Distribution:
        law = [(output, self._error.ends(mass)) for output, mass in found.law if not is_beyond(output)]
        lower = tuple((output, down(low)) for output, (low, _) in law)
        upper = tuple((output, up(min(high, Fraction(1)))) for output, (_, high) in law)
        return replace(found, status="bounded", law=lower, upper=upper)


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
