"""Auditing as a question on an observation: what do v right guesses out of r in one run rule out?"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from tightdp.auditing import Enclosure, expected_correct
from tightdp.errors import LimitError, ParameterError, QueryError
from tightdp.limits import snapshot
from tightdp.session.arguments import checked_call
from tightdp.session.base import InstanceBase

if TYPE_CHECKING:
    from tightdp.auditing import AuditAnswer
    from tightdp.results.audit import Audit
    from tightdp.results.privacy import Tradeoff
    from tightdp.session.asked import Asked


@checked_call
def audit(
    *,
    canaries: int,
    guesses: int,
    correct: int | None = None,
    ideal: Any = None,
    delta: Any = 0,
    method: str = "optimal",
    significance: Any = Fraction(1, 20),
    epsilon: Any = None,
    exp_epsilon: Any = None,
    tradeoff: Any = None,
    options: int = 2,
    variant: str | None = None,
) -> Audit:
    """Return the lower bound on ε, and the p-value of a guarantee, that `correct` right guesses out of `guesses` give.

    Each of the `canaries` secrets was uniform on `options` values (2: in or out), the mechanism ran once on all of
    them, and the number of guesses was fixed beforehand. Without `tradeoff` the answer has `epsilon_lower`: at this
    significance the mechanism is not (ε, delta)-DP for any smaller ε; with `epsilon` or `exp_epsilon` it has the
    `p_value` of that guarantee too.

    `tradeoff` asks for the p-value of f-DP: "gaussian:1", "laplace:1/2", (exp_epsilon, delta) pairs, an `Instance`, or
    the result of its `tradeoff()`; "gaussian", "laplace" or "gaussian@1/2" (sub-sampled) alone ask for the ε at `delta`
    of the largest scale that is rejected.

    `ideal` takes the place of `correct`: a trade-off function, which the channel of every secret is assumed to attain.
    Then the observation is the mean of an ideal auditor, rounded down, as `auditing.expected_correct` encloses it
    (balanced where half of the guesses can be of either value).

    `method` is "optimal" (the exact supremum over mechanisms and guessers), "steinke" (Steinke, Nasr, Jagielski 2023),
    "fdp" (mahloujifar2024) or "order-statistics" (xiang2025; its bounds are invalid for δ > 0: see `valid`). `why` says
    what is assumed: where the output, or a secret revealed to the guesser, decides how many guesses are made, the
    bounds can be invalid. Raises ParameterError for numbers that do not fit.
    """
    from tightdp import auditing as queries
    from tightdp.results.audit import Audit
    from tightdp.results.result import Stats, Subject

    started = time.perf_counter()
    if (correct is None) == (ideal is None):
        what = f"correct and ideal are {'both' if correct is not None else 'neither'} given"
        raise ParameterError(
            what, "give correct=..., how many are right, or ideal=..., the channel of an ideal auditor"
        )
    expected = None
    if ideal is not None:
        expected = _expected(canaries, guesses, ideal, options)
        correct = math.floor(expected.lower)
    assert correct is not None
    program = _program(tradeoff)
    asked = {name: value for name, value in (("epsilon", epsilon), ("exp_epsilon", exp_epsilon)) if value is not None}
    subject = Subject("audit", tuple(asked.items()), "one secret") if program is None else program.subject

    def result(answer: AuditAnswer) -> Audit:
        return Audit(
            subject=subject,
            status="exact" if answer.is_exact else "bounded",
            stats=Stats(search=time.perf_counter() - started, method=method),
            answer=answer,
            program=program is not None,
            reason="" if answer.stopped is None else answer.stopped.what,
            hint="" if answer.stopped is None else answer.stopped.hint,
            expected=expected,
        )

    question = queries.checked(
        canaries=canaries,
        guesses=guesses,
        correct=correct,
        delta=delta,
        method=method,
        significance=significance,
        epsilon=epsilon,
        exp_epsilon=exp_epsilon,
        tradeoff=tradeoff if program is None else queries.pairs_of_vertices(program.vertices),
        options=options,
        variant=variant,
    )
    return result(queries.audit(question, lambda known: snapshot(result(known))))


def _expected(canaries: int, guesses: int, ideal: Any, options: int) -> Enclosure:
    balanced = options == 2 and guesses % 2 == 0 and guesses <= 2 * (canaries // 2)
    return expected_correct(canaries=canaries, guesses=guesses, tradeoff=ideal, options=options, balanced=balanced)


def _program(tradeoff: Any) -> Tradeoff | None:
    """Return the trade-off function of a program, None where something else was given."""
    from tightdp.results.privacy import Tradeoff

    found = cast("Asked", tradeoff).tradeoff() if isinstance(tradeoff, InstanceBase) else tradeoff
    if not isinstance(found, Tradeoff):
        return None
    if found.cut_short:
        raise LimitError(found.reason, found.hint)
    if found.status != "exact":
        raise QueryError("the trade-off function of the program is not known exactly", "raise the limits")
    return found
