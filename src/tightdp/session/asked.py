"""What queries that build on other queries, such as `explain`, need of an instance; they stand below `Instance`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tightdp.language.program import Bound
    from tightdp.results.answers import Accuracy, Distribution, Likelihood
    from tightdp.results.guessing import Efficacy
    from tightdp.results.optimum import Optimum
    from tightdp.results.privacy import Curve, Delta, Privacy, Tradeoff
    from tightdp.results.report import Structure
    from tightdp.results.result import Subject
    from tightdp.session.engine import Engine


class Asked(Protocol):
    """A bound mechanism with the queries on which other queries build; see `Instance`."""

    bound: Bound
    every_n: bool
    timeout: float | None

    @property
    def engine(self) -> Engine:
        """What compiles and searches."""

    @property
    def n(self) -> int:
        """The number of records."""

    @property
    def subject(self) -> Subject:
        """The mechanism, n and parameters, and the neighbours."""

    @property
    def limits(self) -> dict[str, Any]:
        """The diagram back end, the limits, the method and the precision, as `bind` takes them."""

    def on(self, bound: Bound, **limits: Any) -> Asked:
        """Return an instance of another bound mechanism, without limits but those given."""

    def rebind(self, n: int | str, parameters: dict[str, Any], **limits: Any) -> Asked:
        """Bind the mechanism to another n and other parameters."""

    def forget(self) -> None:
        """Drop what is compiled."""

    def privacy(self, *, delta: Any = 0) -> Privacy:
        """Return the tight e^ε at δ."""

    def delta(self, *, exp_epsilon: Any = None, epsilon: Any = None) -> Delta:
        """Return δ at e^ε."""

    def curve(self) -> Curve:
        """Return the privacy curve."""

    def tradeoff(self) -> Tradeoff:
        """Return the trade-off function."""

    def accuracy(self, alpha: Any = None, *, beta: Any = None, top: int = 5) -> Accuracy:
        """Return the tight 1 - β at an error bound, or the least error bound for a β."""

    def efficacy(self, guesses: int | None = None, pairs: Any = None) -> Efficacy:
        """Return the efficacy of one-run auditing."""

    def optimum(self, *, alpha: Any = None, measure: str | None = None) -> Optimum:
        """Return the best worst-case value over all mechanisms with the tight ε of this one."""

    def distribution(self, x: Sequence[Any]) -> Distribution:
        """Return the output law on dataset x."""

    def likelihood(self, x: Sequence[Any], x_prime: Sequence[Any]) -> Likelihood:
        """Return the likelihood ratios of x and x'."""

    def show(self) -> Structure:
        """Return the diagram on all datasets."""
