"""Results about privacy: the tight ε, δ at an ε, the curve, the trade-off function, Rényi divergence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.numbers import Exact, as_text, decimal_text, log, log_down, log_up
from tightdp.methods.ratios import Ratio
from tightdp.present import plot
from tightdp.present.view import Grid, View
from tightdp.present.words import brief, in_full, plain, shown_number, shown_probability
from tightdp.results.result import EventWitness, PairWitness, Result, enclosure, unresolved_remark

__all__ = ["Curve", "Delta", "Privacy", "Renyi", "Tradeoff"]

_MOST_ROWS = 40


@dataclass(frozen=True, kw_only=True, repr=False)
class Privacy(Result):
    """The tight e^ε: the largest likelihood ratio, or for δ > 0 the least e^ε >= 1 with δ(e^ε) <= δ.

    `exp_epsilon` is a Fraction, or math.inf. `top` lists the largest distinct ratios when more than one was asked for.
    """

    query: ClassVar[str] = "privacy"
    exp_epsilon: Exact
    delta: Fraction = Fraction(0)
    witness: PairWitness | None = None
    top: tuple[Ratio, ...] = ()
    lower: Exact = Fraction(1)

    @property
    def upper(self) -> Exact:
        """The upper end of what is known of e^ε."""
        return self.exp_epsilon

    @property
    def epsilon(self) -> float:
        """ε = ln(exp_epsilon), correctly rounded."""
        return log(self.exp_epsilon)

    @property
    def epsilon_enclosure(self) -> tuple[float, float]:
        """Two floats, neighbours at most, between which ε lies (for what is known of e^ε when unresolved)."""
        return log_down(self.upper if self.status == "exact" else self.lower), log_up(self.upper)

    def __float__(self) -> float:
        return self.epsilon

    def _answer(self) -> dict[str, Any]:
        answer = {
            "exp_epsilon": plain(self.exp_epsilon),
            "epsilon": plain(self.epsilon),
            "delta": plain(self.delta),
            **enclosure(self.status, self.lower, self.upper),
        }
        if self.witness is not None:
            answer["witness"] = self.witness.to_dict()
        if len(self.top) > 1:
            answer["top"] = [_ranked(ratio) for ratio in self.top]
        return answer

    def view(self) -> View:
        """Return what a person sees."""
        facts = [*self._facts(), ("δ", shown_number(self.delta))]
        grid = _ranking(self.top) if len(self.top) > 1 else None
        known = (self.exp_epsilon,) if self.status == "exact" else (self.lower, self.upper)
        none = "All neighbouring datasets have the same output law." if not self.delta else ""
        said = _sentences(self, self.witness, none if self.exp_epsilon == 1 else "")
        return View(self._heading, tuple(facts), grid, (*said, *in_full(*known)))

    def _facts(self) -> list[tuple[str, str]]:
        if self.status != "exact":
            return [("e^ε at least", shown_number(self.lower)), ("e^ε at most", shown_number(self.upper))]
        return [("tight e^ε", shown_number(self.exp_epsilon)), ("tight ε", shown_log(self.exp_epsilon))]


@dataclass(frozen=True, kw_only=True, repr=False)
class Delta(Result):
    """δ(t): the largest Σ_y max(0, P(y|x) - t·P(y|x')) over neighbours, at t = e^ε.

    It is exact at rational t. At t = e^ε with rational ε it is enclosed: `exp_epsilon` and `lower` <= δ <= `delta`
    then hold the two ends of each.
    """

    query: ClassVar[str] = "privacy"
    delta: Fraction
    exp_epsilon: Fraction | tuple[Fraction, Fraction]
    epsilon: Fraction | None = None
    witness: EventWitness | None = None
    lower: Fraction = Fraction(0)

    @property
    def upper(self) -> Fraction:
        """The upper end of what is known of δ."""
        return self.delta

    def __float__(self) -> float:
        return float(self.delta)

    def _answer(self) -> dict[str, Any]:
        answer = {
            "delta": plain(self.delta),
            "exp_epsilon": plain(self.exp_epsilon),
            **enclosure(self.status, self.lower, self.upper),
        }
        if self.witness is not None:
            answer["witness"] = self.witness.to_dict()
        return answer

    def view(self) -> View:
        """Return what a person sees."""
        if self.epsilon is not None:
            where = ("ε", shown_number(self.epsilon))
        else:
            assert isinstance(self.exp_epsilon, Fraction)
            where = ("e^ε", shown_number(self.exp_epsilon))
        if self.status == "exact":
            found = [("tight δ", shown_number(self.delta))]
            long = in_full(self.delta)
        elif self.epsilon is None:
            found = [("δ at least", shown_number(self.lower)), ("δ at most", shown_number(self.upper))]
            long = in_full(self.lower, self.upper)
        else:
            found = [
                ("δ at least", decimal_text(self.lower, 17, ROUND_FLOOR)),
                ("δ at most", decimal_text(self.upper, 17, ROUND_CEILING)),
            ]
            long = ()
        none = "No two neighbouring datasets have a likelihood ratio above e^ε." if not self.delta else ""
        return View(self._heading, (where, *found), None, (*_sentences(self, self.witness, none), *long))


@dataclass(frozen=True, kw_only=True, repr=False)
class Curve(Result):
    """The privacy curve: (e^ε, δ) at e^ε = 1 and wherever the slope changes, linear between, then constant."""

    query: ClassVar[str] = "privacy"
    points: tuple[tuple[Fraction, Fraction], ...]

    def _answer(self) -> dict[str, Any]:
        return {"points": plain(self.points)}

    def view(self) -> View:
        """Return what a person sees."""
        rows = tuple((shown_number(t), shown_log(t), shown_number(delta)) for t, delta in self.points[:_MOST_ROWS])
        grid = Grid(("e^ε", "ε", "δ"), rows, len(self.points) - len(rows))
        last = "δ is linear in e^ε between the points and constant after the last."
        said = (*unresolved_remark(self, "the curve is at least this"), last)
        return View(self._heading, (), grid, (*said, *in_full(*(delta for _, delta in self.points[:_MOST_ROWS]))))

    def plot(self, ax: Any = None) -> Any:
        """Draw δ against e^ε on the axes `ax` (new ones, unless given), and return them."""
        end = max(self.points[-1][0] * Fraction(5, 4), Fraction(2))
        points = [*self.points, (end, self.points[-1][1])]
        return plot.lines(ax, points, "exp(ε)", "δ", str(self.subject))


@dataclass(frozen=True, kw_only=True, repr=False)
class Tradeoff(Result):
    """The trade-off function: vertices (false positive rate, least false negative rate) of its graph, left to right."""

    query: ClassVar[str] = "privacy"
    vertices: tuple[tuple[Fraction, Fraction], ...]

    def _answer(self) -> dict[str, Any]:
        return {"vertices": plain(self.vertices)}

    def view(self) -> View:
        """Return what a person sees."""
        rows = tuple((shown_number(fpr), shown_number(fnr)) for fpr, fnr in self.vertices[:_MOST_ROWS])
        grid = Grid(("false positive rate", "false negative rate"), rows, len(self.vertices) - len(rows))
        return View(self._heading, (), grid, unresolved_remark(self, "the trade-off function is at most this"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the trade-off function on the axes `ax` (new ones, unless given), and return them."""
        return plot.lines(ax, self.vertices, "false positive rate", "false negative rate", str(self.subject))


@dataclass(frozen=True, kw_only=True, repr=False)
class Renyi(Result):
    """Rényi DP at an integer order a: `exp_moment` = exp((a-1)·D_a), and `epsilon` = D_a, correctly rounded."""

    query: ClassVar[str] = "privacy"
    order: int
    exp_moment: Exact
    witness: PairWitness | None = None
    lower: Exact = Fraction(1)

    @property
    def upper(self) -> Exact:
        """The upper end of what is known of the moment."""
        return self.exp_moment

    @property
    def epsilon(self) -> float:
        """D_a = ln(exp_moment) / (a-1), correctly rounded."""
        return log(self.exp_moment, self.order - 1)

    def _answer(self) -> dict[str, Any]:
        return {
            "order": self.order,
            "exp_moment": plain(self.exp_moment),
            "epsilon": plain(self.epsilon),
            **enclosure(self.status, self.lower, self.upper),
        }

    def view(self) -> View:
        """Return what a person sees."""
        facts = [("order a", str(self.order))]
        ends = [("", self.upper)] if self.status == "exact" else [(" at least", self.lower), (" at most", self.upper)]
        for which, moment in ends:
            divergence = log(moment, self.order - 1)
            facts.append((f"exp((a-1)·D_a){which}", shown_number(moment)))
            facts.append((f"D_a{which}", f"≈ {divergence!r}" if math.isfinite(divergence) else "inf"))
        none = "All neighbouring datasets have the same output law." if self.exp_moment == 1 else ""
        return View(self._heading, tuple(facts), None, _sentences(self, self.witness, none))


def shown_log(value: Exact) -> str:
    """Write ln(value) and its decimal."""
    if value in (1, math.inf):
        return "0" if value == 1 else "inf"
    exact = as_text(value)
    return f"ln({exact}) ≈ {log(value)!r}" if len(exact) <= 24 else f"≈ {log(value)!r}"


def _ranked(ratio: Ratio) -> dict[str, Any]:
    return {
        "exp_epsilon": plain(ratio.exp_epsilon),
        "epsilon": plain(log(ratio.exp_epsilon)),
        "x": plain(ratio.x),
        "x_prime": plain(ratio.x_prime),
        "output": plain(ratio.output),
        "probability": plain(ratio.probability),
        "probability_prime": plain(ratio.probability_prime),
        "triples": ratio.triples,
    }


def _ranking(top: tuple[Ratio, ...]) -> Grid:
    rows = tuple(
        (
            shown_number(ratio.exp_epsilon),
            brief(ratio.x, 40),
            brief(ratio.x_prime, 40),
            brief(ratio.output, 40),
            f"{shown_probability(ratio.probability)} : {shown_probability(ratio.probability_prime)}",
            f"{ratio.triples:,}",
        )
        for ratio in top
    )
    return Grid(("e^ε", "x", "x'", "output", "probabilities", "triples"), rows)


def _sentences(result: Result, witness: PairWitness | None, none: str) -> tuple[str, ...]:
    """Say why a result is not exact, and what the witness shows; or `none` where exactly nothing is to be shown."""
    said = unresolved_remark(result, "what was compared so far gives the lower end")
    if none and result.status == "exact":
        return (none,)
    if witness is not None:
        return (*said, witness.sentence("It is attained" if result.status == "exact" else "The lower end is reached"))
    return said
