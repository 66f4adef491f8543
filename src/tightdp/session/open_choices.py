"""Instances in which finitely many values of some parameters are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tightdp.errors import QueryError
from tightdp.exact.lazily import lazily
from tightdp.exact.parameters import Choices
from tightdp.session.arguments import checked_calls, read_goal
from tightdp.session.instance import Instance
from tightdp.session.limited import limited

if TYPE_CHECKING:
    from tightdp.results.choices import BestChoices, Choice
    from tightdp.session import choosing
else:
    choosing = lazily("tightdp.session.choosing")


@checked_calls
class ChoicesInstance(Instance):
    """A mechanism in which parameters are one of several values each, and at most one more is unknown.

    `solve` says which choice is best, and what each leads to. Raises QueryError for all other questions.
    """

    one_engine = False

    @property
    def engine(self) -> NoReturn:
        """No engine answers for several choices."""
        self._refuse()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        names = ", ".join(name for name, value in self.bound.parameters.items() if isinstance(value, Choices))
        raise QueryError(
            f"this question has no answer while {names} is to be chosen",
            f"give {names} a value, ask for solve, or list the values: tightdp sweep FILE {names}=1,2",
        )

    explain = report = sweep = sample = _refuse

    @limited()
    def solve(  # type: ignore[override]
        self,
        *,
        epsilon: Any = None,
        exp_epsilon: Any = None,
        delta: Any = 0,
        alpha: Any = None,
        beta: Any = None,
        best: str | None = None,
        measure: str | None = None,
    ) -> Choice | BestChoices:
        """Return for every choice whether the claims hold, and with `best` which choice is best.

        `best="accuracy"` is the largest 1 - β at `alpha` (`beta` may be left out), `best="utility"` the best `measure`:
        "right answer" (the default), "absolute error" or "squared error"; on the worst dataset, among the choices for
        which the claims hold. Without claims the frontier of privacy and the measure is found. With an unknown besides,
        the best value of the unknown is found for every choice; without claims, the best choice as a function of it.
        """
        goal, bar = read_goal(best, measure, alpha, beta)
        claims = {"epsilon": epsilon, "exp_epsilon": exp_epsilon, "delta": delta, "alpha": bar, "beta": beta}
        asked = {"alpha": alpha, "best": best, "measure": measure}
        holes = {name: value.values for name, value in self.bound.parameters.items() if isinstance(value, Choices)}
        limits = {name: getattr(self, name) for name in ("backend", "max_nodes", "method", "precision")}
        ways = [
            (chosen, self.rebind(self.n, {**self.bound.parameters, **dict(chosen)}, **limits))
            for chosen in choosing.every_choice(holes)
        ]
        return choosing.choose(self.subject, ways, choosing.Question(claims, asked, goal))
