"""Laws of guesses, the law of the ε that an audit method reports, and how many canaries it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.numbers import Exact, decimal_text, log
from tightdp.one_run.guessers import JointLaw
from tightdp.present import plot
from tightdp.present.view import Grid, View
from tightdp.present.words import plain, shown_number
from tightdp.results.result import Result
from tightdp.results.rules import Level, Reports, Rule, as_rule

__all__ = ["Canaries", "Guessing", "Point", "Reported", "Rule", "points_in_order"]

_MOST_ROWS = 40


@dataclass(frozen=True, kw_only=True, repr=False)
class Guessing(Result):
    """The exact joint law of the number of guesses and of right guesses of one guesser in one kind of audit.

    `audit` is "one-run", "adaptive" or "classic"; `canaries` is the number of secret bits; `exp_epsilon` is the e^ε
    that the audit can at most report when it is right: the tight one, at `delta`, of the mechanism on the datasets that
    occur.
    """

    query: ClassVar[str] = "guessing"
    audit: str
    guesser: str
    joint: JointLaw
    exp_epsilon: Exact
    delta: Fraction = Fraction(0)

    @property
    def canaries(self) -> int:
        """The number of secret bits."""
        return self.joint.n

    def reported(self, rule: Rule) -> Reported:
        """Return the exact law of the ε that an audit method reports; see `Rule`. A method by name has 95 % confidence.

        The δ of such a method is that of this result.
        """
        reports = Reports(as_rule(rule, self.delta, Fraction(1, 20)))
        masses: dict[Exact, Fraction] = {}
        for r, v, p in self.joint.entries:
            value = reports.level(self.canaries, r, v).epsilon
            masses[value] = masses.get(value, Fraction(0)) + p
        return Reported(
            subject=self.subject,
            status=self.status,
            reason=self.reason,
            canaries=self.canaries,
            exp_epsilon=self.exp_epsilon,
            law=tuple(sorted(masses.items())),
        )

    def _answer(self) -> dict[str, Any]:
        return {
            "audit": self.audit,
            "guesser": self.guesser,
            "canaries": self.canaries,
            "law": [[r, v, plain(p)] for r, v, p in self.joint.entries],
            "expected_guesses": plain(self.joint.guesses),
            "expected_right": plain(self.joint.right),
        }

    def view(self) -> View:
        """Return what a person sees."""
        facts = [
            ("audit", f"{self.audit}, {self.canaries} secret bits"),
            ("guesser", self.guesser),
            ("expected guesses", shown_number(self.joint.guesses)),
            ("expected right guesses", shown_number(self.joint.right)),
        ]
        if self.joint.share is not None:
            facts.append(("expected share right, if any", shown_number(self.joint.share)))
        rows = tuple((str(r), str(v), shown_number(p)) for r, v, p in self.joint.entries[:_MOST_ROWS])
        grid = Grid(("guesses", "right", "probability"), rows, len(self.joint.entries) - len(rows))
        return View(self._heading, tuple(facts), grid)

    def plot(self, ax: Any = None) -> Any:
        """Draw the law on `ax` (new ones, unless given): bars by right guesses, or discs where the guesses vary too."""
        axes = plot.new_axes() if ax is None else ax
        made, right, masses = zip(*((r, v, float(p)) for r, v, p in self.joint.entries), strict=True)
        if len(set(made)) == 1:
            axes.bar(right, masses)
            axes.set_ylabel("probability")
            axes.set_xlabel(f"right guesses out of {made[0]}")
        else:
            axes.axline((0, 0), slope=1, color="lightgrey", zorder=0)
            axes.scatter(made, right, s=[400 * mass / max(masses) for mass in masses])
            axes.set_ylabel("right guesses")
            axes.set_xlabel("guesses (areas are probabilities, the line is all right)")
            axes.locator_params(axis="y", integer=True)
        axes.locator_params(axis="x", integer=True)
        axes.set_title(f"{self.subject}\n{self.guesser}")
        return axes


@dataclass(frozen=True, kw_only=True, repr=False)
class Reported(Result):
    """The exact law of the ε that an audit reports: (ε, probability), ascending; ε is as exact as the audit gave it."""

    query: ClassVar[str] = "reported"
    canaries: int
    exp_epsilon: Exact
    law: tuple[tuple[Exact, Fraction], ...]

    @property
    def expectation(self) -> Exact:
        """The expected reported ε."""
        if any(value == math.inf for value, _ in self.law):
            return math.inf
        return sum((Fraction(value) * p for value, p in self.law), Fraction(0))

    def reached_with(self, probability: Fraction) -> Exact:
        """Return the largest reported ε that is reached or exceeded with at least a probability."""
        below = Fraction(0)
        for value, p in self.law:
            below += p
            if below > 1 - probability:
                return value
        return self.law[-1][0]

    def at_least(self, epsilon: Exact) -> Fraction:
        """Return the probability of reporting at least an ε."""
        return sum((p for value, p in self.law if value >= epsilon), Fraction(0))

    def power(self, share: Exact = Fraction(1, 2)) -> Fraction:
        """Return the probability of reporting at least a share of the true ε; compared exactly with ln(exp_epsilon)."""
        return sum((p for value, p in self.law if Level(value).reaches(self.exp_epsilon, Fraction(share))), Fraction(0))

    @property
    def wrong(self) -> Fraction:
        """The probability of a wrong alarm: of reporting more than the true ε."""
        return sum((p for value, p in self.law if Level(value).exceeds(self.exp_epsilon)), Fraction(0))

    def _answer(self) -> dict[str, Any]:
        return {
            "canaries": self.canaries,
            "exp_epsilon": plain(self.exp_epsilon),
            "law": [[plain(value), plain(p)] for value, p in self.law],
            "expectation": float(self.expectation) if self.expectation != math.inf else "inf",
            "power_half": plain(self.power()),
            "wrong": plain(self.wrong),
        }

    def view(self) -> View:
        """Return what a person sees."""
        true = "inf" if self.exp_epsilon == math.inf else f"≈ {log(self.exp_epsilon)!r}"
        most, least = ("", "") if self.status == "exact" else (", at most", ", at least")
        facts = (
            ("secret bits", str(self.canaries)),
            (f"true ε on these datasets{most}", true),
            ("expected reported ε", f"≈ {decimal_text(self.expectation)}"),
            (f"P(at least half of ε){least}", shown_number(self.power())),
            (f"P(more than ε){least}", shown_number(self.wrong)),
        )
        rows = tuple((decimal_text(value), shown_number(p)) for value, p in self.law[:_MOST_ROWS])
        return View(self._heading, facts, Grid(("reported ε", "probability"), rows, len(self.law) - len(rows)))

    def plot(self, ax: Any = None) -> Any:
        """Draw the law as bars at the reported ε, with the true ε as a line, on `ax` (new ones, unless given)."""
        axes = plot.new_axes() if ax is None else ax
        finite = [(float(value), float(p)) for value, p in self.law if value != math.inf]
        true = math.inf if self.exp_epsilon == math.inf else log(self.exp_epsilon)
        for label, colour, bars in (
            ("", "tab:blue", [(value, p) for value, p in finite if value <= true]),
            (f"more than ε: probability {float(self.wrong):.2g}", "tab:red", [at for at in finite if at[0] > true]),
        ):
            if bars:
                axes.vlines(
                    [value for value, _ in bars], 0, [p for _, p in bars], color=colour, linewidth=2, label=label
                )
        if true != math.inf:
            axes.axvline(true, linestyle="--", color="black", label="true ε")
            axes.legend(loc="upper right")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("reported ε")
        axes.set_ylabel("probability")
        axes.set_title(str(self.subject))
        return axes


@dataclass(frozen=True)
class Point:
    """What an audit with so many secret bits reports, next to the true ε.

    `power` is the probability to report what is wanted, `reported` the largest ε that is reported, or exceeded, with
    the probability that is wanted.
    """

    canaries: int
    power: Fraction
    reported: Exact
    exp_epsilon: Exact


@dataclass(frozen=True, kw_only=True, repr=False)
class Canaries(Result):
    """How many secret bits it takes to report at least `share` of ε, or at least `epsilon`, with probability `power`.

    `canaries` is None where `at_most` are not enough. Otherwise so many reach the power and one fewer does not;
    the power need not grow with every single bit. `points` are the sizes that were looked at.
    """

    query: ClassVar[str] = "canaries"
    canaries: int | None
    rule: str
    share: Fraction | None
    epsilon: Fraction | None
    power: Fraction
    at_most: int
    points: tuple[Point, ...]

    def _answer(self) -> dict[str, Any]:
        return {
            "canaries": self.canaries,
            "rule": self.rule,
            **({"share": plain(self.share)} if self.epsilon is None else {"epsilon": plain(self.epsilon)}),
            "power": plain(self.power),
            "at_most": self.at_most,
            "points": [[point.canaries, plain(point.power), _as_float(point.reported)] for point in self.points],
        }

    def view(self) -> View:
        """Return what a person sees."""
        target = f"{shown_number(self.share)} of ε" if self.share is not None else shown_number(self.epsilon or 0)
        wanted = f"P(reported ε >= {target}) >= {shown_number(self.power)}"
        found = f"more than {self.at_most}" if self.canaries is None else str(self.canaries)
        rows = tuple(
            (str(point.canaries), shown_number(point.power), decimal_text(point.reported)) for point in self.points
        )
        grid = Grid(("secret bits", "power", f"ε reported with probability {shown_number(self.power)}"), rows)
        facts = (("audit", self.rule), ("wanted", wanted), ("secret bits needed", found))
        return View(self._heading, facts, grid)

    def plot(self, ax: Any = None) -> Any:
        """Draw the ε that is reported with the wanted probability against n, on `ax` (new ones, unless given).

        The true ε and what is wanted of it are lines.
        """
        axes = plot.new_axes() if ax is None else ax
        sizes = [point.canaries for point in self.points]
        label = f"reported with probability {float(self.power):g}"
        axes.plot(sizes, [float(point.reported) for point in self.points], marker="o", label=label)
        finite = [point for point in self.points if point.exp_epsilon != math.inf]
        places, true = [point.canaries for point in finite], [log(point.exp_epsilon) for point in finite]
        if finite:
            axes.plot(places, true, linestyle="--", color="black", label="true ε")
        if self.share is not None and finite:
            share = float(self.share)
            axes.plot(places, [share * value for value in true], linestyle=":", color="black", label=f"{share:g} of ε")
        if self.epsilon is not None:
            axes.axhline(float(self.epsilon), linestyle=":", color="black", label="wanted")
        if self.canaries is not None:
            axes.axvline(self.canaries, color="lightgrey", zorder=0, label=f"{self.canaries} secret bits needed")
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("secret bits n")
        axes.set_ylabel("ε")
        axes.set_title(f"{self.subject}, {self.rule}")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
        if ax is None:
            axes.figure.set_layout_engine("constrained")  # leaves room for the legend
        return axes


def _as_float(value: Exact) -> Any:
    return "inf" if value == math.inf else float(value)


def points_in_order(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return points by number of secret bits."""
    return tuple(sorted(points, key=lambda point: point.canaries))
