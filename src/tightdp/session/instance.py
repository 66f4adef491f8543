"""A mechanism with n and its parameters fixed, on which all exact queries are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tightdp.errors import QueryError
from tightdp.language.program import Bound
from tightdp.queries.measures import Goal
from tightdp.session import explain as explains
from tightdp.session import report as reports
from tightdp.session import sweep as sweeps
from tightdp.session.arguments import Claimed, checked_calls, read_exact, read_goal
from tightdp.session.asked import Asked
from tightdp.session.limited import limited

if TYPE_CHECKING:
    from tightdp.results.answers import Sweep
    from tightdp.results.pieces import Solution
    from tightdp.results.report import Explanation, Report


@checked_calls
class Instance(Asked):
    """A mechanism on datasets of n records with its parameters fixed: exact queries are asked of it.

    It is compiled at the first query and kept. Every query raises LanguageError or ProgramError where the mechanism is
    at fault, ParameterError or QueryError where the query does not fit it, and LimitError where a limit was reached
    before anything was known; where something is known, the result has the status "unresolved".

    The method is chosen by looking at the program. `method` asks for one by name ("exhaustive", "orbits", "chain",
    "aggregate", "elimination", "independent clients", "independent groups", "extreme records", "independent
    outputs", "cells", "first pairs", "runs"): then a query raises QueryError where that method does not apply, and says
    why. `precision` says how wide, relatively, an enclosure may be: then answers are enclosed where that is quicker,
    and at 1e-9 anyway where laws are too long.
    """

    rebind: Callable[..., Instance]
    """Binds the mechanism to another n and other parameters; given by `bind`."""

    def on(self, bound: Bound, **limits: Any) -> Instance:
        """Return an instance of another bound mechanism, without limits but those given."""
        return Instance(bound, **limits)

    @limited("all")
    def explain(self, *, exp_epsilon: Any = None, epsilon: Any = None, delta: Any = 0) -> Explanation:
        """Return where the loss of the worst pair comes from; for a claim that fails, the line that is to blame.

        Every place that draws is listed with e^ε of the pair when its outcomes are published besides the output, and
        when they are fixed. For a claim e^ε = `exp_epsilon` (or ε) at `delta` that fails, changes of single
        expressions are tried: the line to blame is the one where a change makes the claim hold and moves the outputs
        least; the smallest n, parameters and records at which the claim fails are looked for too.
        """
        claim = explains.claim_of(exp_epsilon, epsilon, read_exact("delta", delta, 1))
        return explains.explain(self, claim)

    def report(self, *, alpha: Any = 1) -> Report:
        """Return all answers about this instance, as a page: shown in a notebook, `html()` for a file.

        Accuracy is measured at the error bound `alpha` where the mechanism has a target. Every query keeps the limits
        of the instance; one that does not apply or takes too long is left out, and the page says so.
        """
        return reports.report(self, read_exact("alpha", alpha))

    def sweep(
        self,
        over: Mapping[str, Iterable[Any]],
        *,
        delta: Any = None,
        epsilon: Any = None,
        exp_epsilon: Any = None,
        alpha: Any = None,
        beta: Any = None,
        efficacy: bool = False,
        guesses: int | None = None,
        pairs: Any = None,
        optimum: bool = False,
        measure: str | None = None,
        jobs: int | None = 1,
    ) -> Sweep:
        """Return a table over ranges, as in `sweep({"n": range(2, 9), "lam": ["1/10", "1/5"]})`: a row per combination.

        Names that are not in `over` keep the values of this instance. A row is the tight ε (at `delta`), δ at an
        `epsilon` or `exp_epsilon`, accuracy at `alpha` or `beta`, `efficacy` (with `guesses` and `pairs`), or
        `optimum`: the best of all mechanisms with the tight ε of the row, at `alpha` or by `measure`. Limits are those
        of one row. `jobs` rows are worked on at once, each by a process of its own; None is one for every core.
        """
        asked = delta, epsilon, exp_epsilon, alpha, beta, efficacy, guesses, pairs, optimum, measure
        return sweeps.sweep(self, over, sweeps.Question(*asked), jobs)

    @limited(by_runs=False, enclosed=True, adaptive=True)
    def solve(
        self,
        *,
        epsilon: Any = None,
        exp_epsilon: Any = None,
        delta: Any = 0,
        alpha: Any = None,
        beta: Any = None,
        best: str | None = None,
        measure: str | None = None,
    ) -> Solution:
        """Return the exact set of values of an unknown parameter for which all claims hold, as intervals.

        With `best="accuracy"` also the value among them at which 1 - β at `alpha` is largest (`beta` may be left out);
        with `best="utility"` that at which the `measure` is best: "right answer" (the default), "absolute error" or
        "squared error", on the worst dataset.

        Where parameters are one of several values each, the answer is a `Choice`: for every choice whether the claims
        hold, and with `best` which one is best among those for which they do; without claims, the frontier of privacy
        and the measure. With an unknown besides, the best value of the unknown is found for every choice; without
        claims, the best choice as a function of it. Raises QueryError where nothing is open, ParameterError where an
        argument is missing or does not fit.
        """
        goal, bar = read_goal(best, measure, alpha, beta)
        found: Solution = self._solved(Claimed(epsilon, exp_epsilon, delta, bar, beta), goal)
        return found

    def _solved(self, claimed: Claimed, goal: Goal | None) -> Any:
        raise QueryError("no parameter is unknown", 'write "?" for the one to solve for, as in lam="?" or lam=?')
