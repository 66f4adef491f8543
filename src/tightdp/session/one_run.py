"""From a mechanism to results about auditing it: efficacies and gaps, laws of guesses, how many canaries it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.core.nodes import Inexact
from tightdp.errors import LimitError, ParameterError, QueryError
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import Exact, down, up
from tightdp.exact.weights import quotient
from tightdp.language.tails import GaussianTail
from tightdp.limits import snapshot
from tightdp.methods.compiled import deep_recursion
from tightdp.one_run.adaptive import adaptive_joint, adaptive_optimum, read_order
from tightdp.one_run.gaps import (
    RestrictedRatio,
    as_posterior,
    distributional_privacy,
    efficacies,
    restricted_least,
    restricted_ratio,
)
from tightdp.one_run.guessers import (
    Function,
    Guesser,
    JointLaw,
    Threshold,
    Top,
    as_joint_law,
    certain,
    classic_law,
    joint_law,
)
from tightdp.one_run.law import AuditLaw, Compiler, Group, best_pairs
from tightdp.one_run.pairs import PairVector, default_pairs, read_pairs
from tightdp.results.guessing import Efficacy, Guessing, Row
from tightdp.results.result import Stats
from tightdp.session.arguments import read_exact
from tightdp.session.engine import Engine, Outcome
from tightdp.session.outputs import laws_alike
from tightdp.session.search import tight_privacy

_HALF = Fraction(1, 2)
_NONE = Fraction(0)


def efficacy(engine: Engine, guesses: int | None, pairs: Any, with_adaptive: bool) -> Efficacy:
    """Return the table of efficacies and gaps for all numbers of guesses, or for one."""
    if guesses is not None and guesses > engine.bound.n:
        raise ParameterError(f"guesses is {guesses}", f"give at most n = {engine.bound.n}")
    with deep_recursion():
        audit = _Audit(engine, pairs, guesses)
        law = audit.law
        audit.tell("computing efficacies")
        values = efficacies(law)
        leak = distributional_privacy(law)
        audit.tell("comparing secret bits", "e^ε ≥", _odds(leak.confidence))
        best: Sequence[Number | None] = (None,) * law.n
        numbers = range(1, law.n + 1) if guesses is None else (guesses,)
        error = engine.program.inexact

        def found(ratio: RestrictedRatio) -> Efficacy:
            most = tight_privacy(engine).exp_epsilon if error is not None and error.cut else None
            each = [(k, values[k - 1], best[k - 1]) for k in numbers]
            rows, least, ratio = _rows(law, error, each, values[0], leak.confidence, ratio, most)
            answer = Efficacy(
                subject=engine.subject,
                rows=rows,
                pairs=audit.pairs,
                exp_epsilon=ratio.upper,
                lower=ratio.lower,
                leak=leak,
                least=() if error is None else least,
            )
            return audit.outcome(ratio).on(answer)

        if error is None:
            snapshot(found(RestrictedRatio(Fraction(1), math.inf)))
        ratio = audit.ratio()
        if not with_adaptive or ratio.reason is not None:
            return found(ratio)
        audit.tell("searching adaptive guesses", "efficacy ≥", values[-1])
        known = replace(found(ratio), status="bounded")
        snapshot(known)
        try:
            best = adaptive_optimum(law)
        except LimitError as limit:
            return replace(known, reason=limit.what, hint=limit.hint)
        return found(ratio)


def _odds(posterior: Number) -> Exact:
    return math.inf if posterior == 1 else posterior / (1 - posterior)


def _rows(
    law: AuditLaw,
    error: Inexact | None,
    efficacies: Sequence[tuple[int, Number, Number | None]],
    ac: Number,
    leak: Number,
    ratio: RestrictedRatio,
    most: Exact | None,
) -> tuple[tuple[Row, ...], tuple[Row, ...], RestrictedRatio]:
    """Return rows with the upper ends of all numbers, rows with the lower ones, and both ends of e^ε.

    `efficacies` are (guesses, E_k, the adaptive one), AC is E_1, `ratio` is that of the core program. An expected share
    of right guesses is a sum of probabilities of events that are disjoint, for the best guesses. Where laws have an
    error (docs/unbounded-noise.md), who sees the tails of the core program guesses at least as well, and worse than who
    sees the outputs only where tails occur; `most` is the upper end of e^ε where noise is cut off.
    """

    def ends(value: Number) -> tuple[Number, Number]:
        if error is None:
            return value, value
        low = max(value * (1 - error.relative) - error.lost, _HALF)
        high = value * (1 + error.relative) + (error.lost if error.cut else 0)
        return down(low), up(min(high, Fraction(1)))

    ddp = leak, leak
    exp_epsilon = max(ratio.lower, _odds(leak)), ratio.upper
    if error is not None:
        above = up(as_posterior(widest(_odds(leak), error) if most is None else most))
        ddp = max(_least_leak(law, error), ends(ac)[0]), above
        least = _odds(ddp[0])
        least = least if isinstance(least, float) else max(down(least), Fraction(1))
        if not error.cut and not error.published:
            shown = ratio.lower
            least = max(least, shown if isinstance(shown, float) else down(shown / error.factor))
        exp_epsilon = least, widest(ratio.upper, error) if most is None else most
    dp = tuple(map(as_posterior, exp_epsilon))
    rows: tuple[list[Row], list[Row]] = [], []
    for k, value, adaptive in efficacies:
        best = (None, None) if adaptive is None else ends(adaptive)
        plain = [Row(k, ends(value)[at], ends(ac)[at], ddp[at], dp[at], best[at]) for at in (0, 1)]
        for at in (0, 1):
            rows[at].append(plain[at] if error is None else replace(plain[at], other=plain[1 - at]))
    return tuple(rows[1]), tuple(rows[0]), replace(ratio, lower=exp_epsilon[0], upper=exp_epsilon[1])


def widest(ratio: Exact, error: Inexact) -> Exact:
    """Return the upper end of a likelihood ratio."""
    return math.inf if isinstance(ratio, float) or error.cut else up(ratio * error.factor)


def _least_leak(law: AuditLaw, error: Inexact) -> Fraction:
    """Return a lower end of the largest posterior of a secret bit over outputs.

    It is 1 where an offset of published noise is larger, or smaller, than all that go with the other value of a bit:
    the further out an output is, the surer that bit. Otherwise outputs of the core are taken, which have a tail of
    published noise with so little probability as is lost.
    """
    best = Fraction(1, 2)
    for group in law.distinct:
        if not error.cut and _moved(group):
            return Fraction(1)
        for stage in group.stages:
            for outcome in (outcome for outcomes in stage.outcomes.values() for outcome in outcomes):
                mass = quotient(outcome.weight, stage.total)
                for at in range(len(stage.classes)):
                    right = mass * outcome.confidence(at) * (1 - error.relative) - error.lost
                    best = max(best, down(max(right / (mass * (1 + error.relative) + error.lost), Fraction(0))))
    return best


def _moved(group: Group) -> bool:
    """Whether a bit moves the outermost offset of published noise, in a group of one stage."""
    if len(group.stages) != 1:
        return False
    (stage,) = group.stages
    furthest: dict[tuple[int, int, int, int], int] = {}
    for outcome in stage.outcomes[group.start]:
        for path, tail in _tails(group.component_values([outcome.code])):
            for at, ones in enumerate(outcome.ones):
                for bit, weight in ((0, outcome.weight - ones), (1, ones)):
                    if weight:
                        key = (path, tail.direction, at, bit)
                        furthest[key] = max(furthest.get(key, -(1 << 62)), tail.direction * tail.offset)
    return any(
        furthest.get((path, direction, at, 1 - bit), -(1 << 62)) < offset
        for (path, direction, at, bit), offset in furthest.items()
    )


def _tails(values: Sequence[object]) -> Iterator[tuple[int, GaussianTail]]:
    return ((place, value) for place, value in enumerate(values) if isinstance(value, GaussianTail))


def guessing(engine: Engine, guesser: Guesser, pairs: Any, delta: Number = _NONE) -> Guessing:
    """Return the joint law of (guesses, right guesses) of a guesser in a one-run audit, and the true ε at `delta`."""
    with deep_recursion():
        audit = _Audit(engine, pairs, None, whole_outputs=isinstance(guesser, Function))
        audit.tell("counting guesses")
        joint = joint_law(audit.law, guesser)
        audit.tell("comparing secret bits")
        ratio = audit.ratio(delta)
    return audit.guessing("one-run", _words(guesser), joint, ratio, delta)


def adaptive(
    engine: Engine, order: Sequence[int] | None, threshold: Number, pairs: Any, delta: Number = _NONE
) -> Guessing:
    """Return the same where every bit is revealed once it was decided on, in a given order."""
    sequence = read_order(engine.bound.n, order)
    with deep_recursion():
        audit = _Audit(engine, pairs, None)
        audit.tell("counting guesses")
        joint = as_joint_law(engine.bound.n, adaptive_joint(audit.law, sequence, Threshold(threshold).least))
        ratio = audit.ratio(delta)
    return audit.guessing("adaptive", _words(Threshold(threshold)), joint, ratio, delta)


def classic(engine: Engine, runs: int, x: Any, x_prime: Any, threshold: Number) -> Guessing:
    """Return the same for classic auditing: independent runs on x or x', by default a worst pair of neighbours."""
    if (x is None) != (x_prime is None):
        raise ParameterError("classic auditing needs both x and x_prime, or neither", "give two datasets")
    if x is None:
        witness = tight_privacy(engine).witness
        first = (engine.bound.record.values[0],) * engine.bound.n
        x, x_prime = (first, first) if witness is None else (witness.x, witness.x_prime)
    (law, law_prime), known, _ = laws_alike(engine, engine.bound.check_dataset(x), engine.bound.check_dataset(x_prime))
    joint = classic_law(law, law_prime, runs, Threshold(threshold).least)
    ratios: list[Exact] = [Fraction(1)]
    for ours, theirs in ((law, law_prime), (law_prime, law)):
        ratios += [p / theirs[y] if theirs.get(y) else math.inf for y, p in ours.items()]
    return Guessing(
        audit="classic",
        status="exact" if known is None else "bounded",
        guesser=_words(Threshold(threshold)),
        joint=joint,
        exp_epsilon=max(ratios) if known is None else widest(max(ratios), known),
        subject=engine.subject,
        error=_NONE if known is None else up(runs * known.total),
    )


def read_guesser(guesser: Any) -> Guesser:
    """Return a guesser: None or "all" never abstains, "certain", a threshold on the posterior, or a function."""
    if guesser is None or guesser == "all":
        return Threshold()
    if guesser == "certain":
        return certain
    if isinstance(guesser, (Threshold, Top, Function)):
        return guesser
    if callable(guesser):
        return Function(guesser)
    try:
        return Threshold(read_exact("the guesser's threshold", guesser, 1))
    except ParameterError as error:
        hint = "give all, certain, or the least posterior for a guess, as in 3/4"
        raise ParameterError(f"{guesser!r} is no guesser", hint) from error


def _words(guesser: Guesser) -> str:
    match guesser:
        case Threshold(least) if least == _HALF:
            return "maximum likelihood, every bit"
        case Threshold(least) if least == 1:
            return "certain bits only"
        case Threshold(least):
            return f"maximum likelihood, posterior at least {least}"
        case Top(k):
            return f"maximum likelihood, the {k} largest posteriors"
    return f"the function {getattr(guesser.function, '__name__', 'given')}"


class _Audit:
    """The law of an audit with its pairs, compiled within the limits of the engine."""

    def __init__(self, engine: Engine, pairs: Any, guesses: int | None, whole_outputs: bool = False) -> None:
        self._engine, bound = engine, engine.bound
        self._watch = engine.control()
        self.tell("compiling the audit")
        best = isinstance(pairs, str) and pairs == "best"
        if best:
            self._refuse_unknown("the best pairs depend")
        chosen = None if best else self._read(pairs)
        start = time.perf_counter()
        core = engine.program.core(self._watch)
        self._compiler = Compiler(bound, core, engine.backend, self._watch, whole_outputs)
        if chosen is None:
            self.pairs, self.law = best_pairs(
                self._compiler,
                lambda law: efficacies(law)[(guesses or bound.n) - 1],
                lambda tried, best: self._reached("trying pairs", tried, "efficacy ≥", best),
            )
        else:
            self.pairs, self.law = chosen, self._compiler.law(chosen)
        self._compiled = time.perf_counter()
        self._seconds = self._compiled - start

    def _refuse_unknown(self, what: str) -> None:
        """Raise QueryError where a parameter is unknown."""
        for name, value in self._engine.bound.parameters.items():
            if isinstance(value, ExpNumber) and value.unknown:
                raise QueryError(f"{what} on {name}, which is unknown", f"do not ask for it, or give {name} a value")

    def tell(self, phase: str, side: str = "", value: Exact | None = None) -> None:
        """Report which part begins, and what is known so far."""
        self._reached(phase, 0, side, value)

    def _reached(self, phase: str, done: int, side: str, value: Exact | None) -> None:
        if value is not None:
            self._watch.bounded(side)(lambda: value)
        self._watch.tell(phase, done)

    def _read(self, pairs: Any) -> PairVector:
        bound = self._engine.bound
        return default_pairs(bound) if pairs is None else read_pairs(bound, pairs)

    def ratio(self, delta: Number = _NONE) -> RestrictedRatio:
        """Return e^ε at `delta` on the datasets that the pairs can pick; its ends where a limit is reached."""
        if delta:
            self._refuse_unknown("ε at a delta depends")
            return RestrictedRatio(*restricted_least(self.law, delta, self._engine.program.inexact, self._watch))
        try:
            return restricted_ratio(
                self.law,
                self._watch,
                lambda groups, lower: self._reached("comparing secret bits", groups, "e^ε ≥", lower),
            )
        except LimitError as error:
            return RestrictedRatio(Fraction(1), math.inf, error)

    @property
    def _error(self) -> Fraction:
        """How far the probability of an event in this audit may be from the true one."""
        known = self._engine.program.inexact
        return _NONE if known is None else up(known.total)

    def guessing(self, audit: str, guesser: str, joint: JointLaw, ratio: RestrictedRatio, delta: Number) -> Guessing:
        """Return the result with a law of guesses, and the upper end of the true e^ε."""
        known = self._engine.program.inexact
        found = Guessing(
            subject=self._engine.subject,
            audit=audit,
            guesser=guesser,
            joint=joint,
            exp_epsilon=ratio.upper if known is None else widest(ratio.upper, known),
            delta=delta,
            error=self._error,
        )
        return self.outcome(ratio).on(found)

    def outcome(self, ratio: RestrictedRatio) -> Outcome:
        """Return the common fields of a result."""
        groups = [placed for placed in self.law.groups if placed.clients]
        stats = Stats(
            variables=self._compiler.variables,
            nodes=self._compiler.nodes,
            method="independent groups" if len(groups) > 1 else groups[0].group.method,
            symmetries=tuple(_group_words(self.law)),
            compile=self._seconds,
            search=time.perf_counter() - self._compiled,
        )
        exact = ratio.lower == ratio.upper and not self._error
        if ratio.reason is None:
            return Outcome("exact" if exact else "bounded", "", stats)
        return Outcome("exact" if exact else "bounded", ratio.reason.what, stats, ratio.reason.hint)


def _group_words(law: AuditLaw) -> list[str]:
    words = []
    for group, number in law.distinct.items():
        clients = sum(len(stage.clients) for stage in group.stages)
        if number > 1:
            words.append(f"{number} independent groups of {clients} clients are alike")
    return words
