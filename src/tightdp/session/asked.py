"""The queries that an engine answers about a mechanism with n and its parameters fixed; others build on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.rationals import as_value
from tightdp.language.outputs import Output
from tightdp.queries import privacy as questions
from tightdp.queries.measures import LeastError
from tightdp.session import accuracy as accuracies
from tightdp.session import certify, certify_aligned, certify_runs, moments, one_run, outputs, search, strategies
from tightdp.session import optimum as optima
from tightdp.session.arguments import (
    Claimed,
    checked_calls,
    read_accuracy,
    read_count,
    read_exact,
    read_number,
    refuse_alone,
)
from tightdp.session.base import InstanceBase
from tightdp.session.limited import limited

if TYPE_CHECKING:
    from tightdp.results.answers import (
        Accuracy,
        Distribution,
        Failure,
        Likelihood,
        Sample,
        Utility,
        Verification,
    )
    from tightdp.results.guessing import Efficacy, Guessing
    from tightdp.results.optimum import Optimum
    from tightdp.results.privacy import Curve, Delta, Privacy, Renyi, Tradeoff, Zcdp
    from tightdp.results.privacy_loss import PrivacyLoss
    from tightdp.results.report import Structure
    from tightdp.session.certify import Certificate
    from tightdp.session.engine import AskedNumber, Engine

    R = TypeVar("R")


@checked_calls
class Asked(InstanceBase):
    """A bound mechanism with the queries that its engine answers; `Instance` has those that build on them."""

    rebind: Callable[..., Asked]
    """Binds the mechanism to another n and other parameters; given by `bind`."""
    on: Callable[..., Asked]
    """Returns an instance of another bound mechanism, without limits but those given."""

    def _asked(self, question: AskedNumber) -> Any:
        """Return the answer to a question that has several ways to one: every kind of number takes it as it is.

        Such questions are listed in `AskedNumber`, and `between` (`results/privacy.py`) makes the result of both ends.
        """
        found = search.answer(self.engine, question)
        return strategies.with_strategy(self.bound, found) if self.bound.asks else found

    def _computed(self, ask: Callable[[Engine], R]) -> R:
        """Return what an engine answers: on every cell of an unknown, with the number that `_kind_of` (`solving`)
        names. A question that asks the engine itself is refused there, and for every n."""
        return ask(self.engine)

    def _told_apart(self, ask: Callable[[Engine], R]) -> R:
        """Return what an engine answers to how well neighbours are told apart."""
        return ask(self.engine)

    # privacy

    @limited("all", shown_by_few=True, enclosed=True, adaptive=True)
    def privacy(
        self,
        *,
        delta: Any = 0,
        top: int = 1,
        privacy_set: Iterable[Any] | None = None,
        inference_set: Iterable[Any] | None = None,
    ) -> Privacy:
        """Return the tight e^ε and a witness; for δ > 0 the least e^ε >= 1 with which (ε, δ)-DP holds.

        e^ε is the largest P(y|x)/P(y|x') over neighbours and outputs, a Fraction >= 1 or math.inf; 0/0 does not count.
        `top` asks for that many largest distinct ratios (δ = 0 only).

        `privacy_set` declares by hand the triples (x, x', y) that are compared, `inference_set` the (x, y) whose
        probabilities are computed (oakley2024, Definition 4; δ = 0 only). Raises QueryError naming a neighbouring
        triple whose ratio no declared triple has, or a pair (x, y) that is needed.
        """
        question = questions.read_privacy(delta, top)
        if privacy_set is not None:
            return search.declared_privacy(self.engine, question, privacy_set, inference_set)
        refuse_alone("privacy_set", inference_set)
        return cast("Privacy", self._asked(question))

    def epsilon(self, *, delta: Any = 0) -> Privacy:
        """Return the tight ε at δ, as `privacy(delta=delta)`; `float()` of the result is ε."""
        return self.privacy(delta=delta)

    @limited("all", shown_by_few=True, enclosed=True, adaptive=True)
    def delta(self, *, exp_epsilon: Any = None, epsilon: Any = None) -> Delta:
        """Return δ at e^ε, exactly: at an `exp_epsilon` >= 0, or at a rational `epsilon` >= 0.

        δ is the largest Σ_y max(0, P(y|x) - e^ε·P(y|x')) over neighbours. At an `epsilon` with a numerator or
        denominator beyond 10,000 it is enclosed: the status is "bounded", or "exact" where the curve is constant.
        """
        return cast("Delta", self._asked(questions.DeltaAt.read(exp_epsilon, epsilon)))

    @limited("all", shown_by_few=True, enclosed=True, adaptive=True)
    def curve(self) -> Curve:
        """Return the whole privacy curve δ(e^ε) for e^ε >= 1, as a finite list of exact break points.

        Between two of them δ is linear in e^ε.
        """
        return self._told_apart(search.curve)

    @limited("all", shown_by_few=True, enclosed=True, adaptive=True)
    def tradeoff(self) -> Tradeoff:
        """Return the trade-off function (f-DP): the exact vertices of the convex hull over all pairs of neighbours.

        It is the least type II error of a test between neighbours, at every level (Dong, Roth and Su 2019).
        """
        return self._told_apart(search.tradeoff)

    @limited("all", shown_by_few=True, enclosed=True, adaptive=True)
    def renyi(self, order: Any) -> Renyi:
        """Return exp((a-1)·D_a), the largest Σ_y P(y|x)^a P(y|x')^(1-a) over neighbours, for a rational order a > 1.

        It is exact for an integer order and enclosed for others. At the order "inf" D is the ε of pure DP.
        """
        number = questions.read_order(order)
        return self._told_apart(lambda engine: moments.renyi_divergence(engine, number))

    @limited("all", shown_by_few=True, enclosed=True)
    def zcdp(self) -> Zcdp:
        """Return the least ρ such that the mechanism is ρ-zCDP: D_a <= ρ·a for all orders a > 1; an enclosure.

        Source: Bun and Steinke 2016, Definition 1.1.
        """
        return self._told_apart(moments.concentrated)

    @limited("all", enclosed=True)
    def privacy_loss(self) -> PrivacyLoss:
        """Return the exact privacy loss, to be composed with itself or others, subsampled, and evaluated for δ and ε.

        It holds a dominating pair of laws, one for each direction of add-remove neighbours.
        """
        return self._told_apart(moments.privacy_loss)

    # accuracy

    @limited("all", shown_by_few=True, enclosed=True)
    def accuracy(
        self,
        alpha: Any = None,
        *,
        beta: Any = None,
        top: int = 5,
        relative: bool = False,
        accuracy_set: Iterable[Any] | None = None,
        inference_set: Iterable[Any] | None = None,
    ) -> Accuracy:
        """Return the tight 1 - β at an error bound α >= 0, with the worst datasets; or the least α for a `beta`.

        1 - β is the least P(|M(x) - V(x)| <= α) over all datasets x, for the mechanism's target V; with `relative` the
        error is |M(x) - V(x)| / max(1, |V(x)|). `top` is how many classes of datasets of equal accuracy are ranked.

        `accuracy_set` declares by hand the datasets on which accuracy at `alpha` is measured, `inference_set` the
        (x, y) whose probabilities are computed (oakley2024, Definition 5). Raises QueryError naming a dataset whose
        accuracy no declared dataset has, or a pair (x, y) that is needed.
        """
        question = read_accuracy(alpha, beta, top, relative)
        if accuracy_set is None:
            refuse_alone("accuracy_set", inference_set)
            return cast("Accuracy", self._asked(question))
        if isinstance(question, LeastError):
            raise QueryError("an accuracy set belongs to one alpha", "leave out accuracy_set, or give alpha")
        return accuracies.declared_accuracy(self.engine, question, accuracy_set, inference_set)

    @limited("all", enclosed=True)
    def utility(self) -> Utility:
        """Return expected errors and the probability of the right answer, each on the dataset where it is worst.

        Targets and outputs may be numbers, tuples of numbers, or anything that == compares. All datasets are
        enumerated. Raises QueryError where there is no target.
        """
        return accuracies.utility(self.engine)

    @limited("all")
    def optimum(
        self,
        *,
        exp_epsilon: Any = None,
        epsilon: Any = None,
        delta: Any = 0,
        alpha: Any = None,
        measure: str | None = None,
        target: Callable[..., Any] | str | None = None,
    ) -> Optimum:
        """Return the best worst-case value over all (ε, δ)-DP mechanisms with these datasets, neighbours and outputs.

        With `alpha` that is the largest 1 - β with |output - target| <= alpha, else by `measure`: "right answer" (the
        default), "absolute error" or "squared error". Without an ε mechanisms keep the tight one of this mechanism. A
        `target` replaces its own: a function, or the name of one beside it. The best mechanism and the multipliers that
        prove it are in `best`. An irrational e^ε is enclosed. Raises QueryError where there are too many datasets.
        """
        question = optima.read_question(alpha, measure, exp_epsilon, epsilon, delta, target)
        return optima.optimum(self, question)

    # auditing

    @limited("audited", shown_by_few=True, enclosed=True)
    def efficacy(self, guesses: int | None = None, pairs: Any = None, *, adaptive: bool = False) -> Efficacy:
        """Return the efficacy of one-run auditing and its gaps, for k = 1, ..., n guesses or for one number of them.

        Source: keinan2025, Sec. 5.

        `pairs` lists for every client the two records that its secret bit picks from (default: the first two of the
        domain that the neighbour relation lets differ); "best" tries all and takes the one with the largest efficacy at
        `guesses`, or without abstention.
        `adaptive` adds the optimum over guessers that see every bit once they have guessed or passed it over (small n).
        """
        number = None if guesses is None else read_count("guesses", guesses)
        return self._computed(lambda engine: one_run.efficacy(engine, number, pairs, adaptive))

    @limited("audited", enclosed=True)
    def guessing(self, guesser: Any = None, *, pairs: Any = None, delta: Any = 0) -> Guessing:
        """Return the exact joint law of the numbers of guesses and of right guesses in a one-run audit.

        `guesser` is "all" (maximum likelihood, the default), "certain", the least posterior at which a bit is guessed,
        a `Top(k)`, or a function of the output that returns 0, 1 or None (no guess) for every client. Ties between
        0 and 1 go to 0, that is the first record of the pair. What an audit reports (`reported` of the result) is
        compared with the tight ε at `delta` on the datasets that the pairs can pick.
        """
        bar, chosen = read_exact("delta", delta, 1), one_run.read_guesser(guesser)
        return self._computed(lambda one: one_run.guessing(one, chosen, pairs, bar))

    @limited("audited", enclosed=True)
    def adaptive_guessing(
        self, threshold: Any = "1/2", *, order: Sequence[int] | None = None, pairs: Any = None, delta: Any = 0
    ) -> Guessing:
        """Return the law of guesses in adaptive auditing: bits are decided on in `order`, each then revealed.

        A bit is guessed where its larger posterior, given the output and the bits before it, is at least `threshold`, a
        number from 1/2 to 1.
        """
        bar, limit = read_exact("delta", delta, 1), read_exact("threshold", threshold, 1)
        return self._computed(lambda one: one_run.adaptive(one, order, limit, pairs, bar))

    @limited("all", enclosed=True)
    def classic_guessing(self, runs: int, *, x: Any = None, x_prime: Any = None, threshold: Any = "1/2") -> Guessing:
        """Return the law of guesses in classic auditing: `runs` independent runs, on x or x' with probability 1/2 each.

        The default is a worst pair of neighbours. A run is guessed where the larger posterior is at least `threshold`.
        """
        limit, number = read_exact("threshold", threshold, 1), read_count("runs", runs)
        return self._computed(lambda one: one_run.classic(one, number, x, x_prime, limit))

    # outputs

    def sample(self, x: Sequence[Any], *, size: int = 1, seed: int | None = None) -> Sample:
        """Draw `size` >= 1 independent outputs on dataset x by running the function; the same seed gives the same ones.

        Raises ParameterError where x is no dataset of the instance, ProgramError where a run fails.
        """
        return outputs.sample(self, x, size, seed)

    @limited(enclosed=True)
    def distribution(self, x: Sequence[Any]) -> Distribution:
        """Return the exact law of the output on dataset x: every output and its probability, rational or with e^q.

        Raises ParameterError where x is no dataset of the instance, and QueryError where the outputs are too many.
        """
        dataset = tuple(x) if self.every_n else self.bound.check_dataset(x)
        return self._computed(lambda engine: outputs.output_law(engine, dataset))

    @limited(enclosed=True)
    def likelihood(self, x: Sequence[Any], x_prime: Sequence[Any]) -> Likelihood:
        """Return every output with its exact probabilities on datasets x and x' and their ratio, largest first.

        The two need not be neighbours. Raises ParameterError where one is no dataset of the instance.
        """
        return outputs.likelihood(self.engine, self.bound.check_dataset(x), self.bound.check_dataset(x_prime))

    @limited(enclosed=True)
    def failure(self, x: Sequence[Any] | None = None) -> Failure:
        """Return the exact probability that a run on dataset x fails (an `assert`, an index, a division by zero).

        Without x, of the dataset on which it is largest. Raises QueryError where there are too many datasets.
        """
        return outputs.failure(self.engine, None if x is None else self.bound.check_dataset(x))

    @limited(enclosed=True)
    def probability(self, x: Sequence[Any], y: Output) -> Number:
        """Return P(y | x), without computing the other probabilities; n may be in the thousands.

        It is 0 for an output that is never given. Raises ParameterError where x is no dataset of the instance.
        """
        return outputs.output_probability(self.engine, self.bound.check_dataset(x), as_value(y))

    @limited("all", by_runs=False, enclosed=True, adaptive=True)
    def show(self, x: Sequence[Any] | None = None) -> Structure:
        """Return the diagram on all datasets, with the symmetries, or on dataset x: counts, `dot()`, `svg()`."""
        return search.structure(self.engine, None if x is None else self.bound.check_dataset(x))

    # verification

    @limited("all", shown_by_few=True, enclosed=True, adaptive=True)
    def verify(
        self, *, epsilon: Any = None, exp_epsilon: Any = None, delta: Any = 0, alpha: Any = None, beta: Any = None
    ) -> Verification:
        """Decide claims exactly: (ε, δ)-DP for `epsilon` or `exp_epsilon`; accuracy `alpha` with failure rate `beta`.

        A claim about `epsilon` is decided too: the tight e^ε is compared with e^epsilon to as many digits as it takes.
        The result is true as a bool when all claims hold. With an unknown they are decided for all its values, of which
        ε may be a function (`epsilon="2*eps"`). For every n one is: about ε, or the accuracy of a noisy sum.
        """
        return self._verified(Claimed(epsilon, exp_epsilon, delta, alpha, beta))

    def _verified(self, claimed: Claimed) -> Verification:
        pure, accuracy = claimed.read()
        if accuracy is not None and self.bound.asks:
            raise strategies.refusal("accuracy")
        return search.verify(self.engine, pure, accuracy)

    @limited("all", enclosed=True, by_runs=False, adaptive=True)
    def certify(self, /, **claim: Any) -> Certificate:
        """Return a certificate of the tight ε at `delta`, or of a claim as in `verify`: that it holds, or is refuted.

        With `order` it is that of the tight `exp_moment` of `renyi`, or of a bound on it; with `curve`, of δ at all
        break points; with a dataset `x`, of the law of what is published; with `zcdp`, of ρ of Gaussian noise, or of a
        bound `rho`; with `guesses`, or `pairs`, of the `efficacy` of an audit in one run. An independent checker
        accepts it (`docs/certificates.md`). With an unknown it holds between two ends of it; for every n it is that of
        an e^ε that is enough, and with `runs` and `exp_epsilon` of a δ; for an analyst whose strategy is open that of
        ε alone. Raises QueryError where no rule of evidence fits.
        """
        asked = {name for name, value in claim.items() if value not in (None, False)} - {"epsilon", "exp_epsilon"}
        if self.bound.asks and (asked - {"delta"} or read_number("delta", claim.get("delta", 0), 1)):
            raise strategies.refusal("such a certificate")
        return self._certified(claim)

    def _certified(self, claim: dict[str, Any]) -> Certificate:
        try:
            return certify_runs.certify(self.engine, **claim)
        except certify.Endless as reason:
            return certify_aligned.instead(self, claim, reason)

    @limited(by_runs=False, adaptive=True)
    def core(self) -> str:
        """Return the core program, one line per value, to read beside the Python function (`docs/certificates.md`)."""
        return "\n".join(certify.core_lines(self.engine))
