"""Instances in which finitely many values of some parameters are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tightdp.errors import QueryError
from tightdp.exact.lazily import lazily
from tightdp.exact.parameters import Choices
from tightdp.queries.measures import Goal
from tightdp.session import answering
from tightdp.session.arguments import Claimed, checked_calls
from tightdp.session.instance import Instance

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

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        names = ", ".join(name for name, value in self.bound.parameters.items() if isinstance(value, Choices))
        raise QueryError(
            f"this question has no answer while {names} is to be chosen",
            f"give {names} a value, ask for solve, or list the values: tightdp sweep FILE {names}=1,2",
        )

    explain = report = sweep = sample = _refuse

    def _solved(self, claimed: Claimed, goal: Goal | None) -> Choice | BestChoices:
        if self.bound.asks:
            raise answering.strategies.refusal("solve")
        holes = {name: value.values for name, value in self.bound.parameters.items() if isinstance(value, Choices)}
        limits = {name: getattr(self, name) for name in ("backend", "max_nodes", "method", "precision")}
        ways = [
            (chosen, self.rebind(self.n, {**self.bound.parameters, **dict(chosen)}, **limits))
            for chosen in choosing.every_choice(holes)
        ]
        return choosing.choose(self.subject, ways, choosing.Question(claimed, goal))
