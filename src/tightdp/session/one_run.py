"""From a mechanism to results about auditing it: efficacies and gaps, laws of guesses, how many canaries it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.errors import LimitError, ParameterError, QueryError
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import Exact, up
from tightdp.language.outputs import Output
from tightdp.language.program import Dataset
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
from tightdp.one_run.law import AuditLaw, Compiler, best_pairs
from tightdp.one_run.pairs import PairVector, default_pairs, read_pairs
from tightdp.results.guessing import Efficacy, Guessing, Row
from tightdp.results.result import Stats
from tightdp.session.arguments import read_exact
from tightdp.session.engine import Engine, Outcome, Query
from tightdp.session.search import tight_privacy
from tightdp.session.widened_audits import enclosed_rows, widest

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
            least: tuple[Row, ...] = ()
            if error is None:
                ratio = replace(ratio, lower=max(ratio.lower, _odds(leak.confidence)))
                dp = as_posterior(ratio.upper)
                rows = tuple(Row(k, values[k - 1], values[0], leak.confidence, dp, best[k - 1]) for k in numbers)
            else:
                most = tight_privacy(engine).exp_epsilon if error.cut else None
                each = [(k, values[k - 1], best[k - 1]) for k in numbers]
                rows, least, ratio = enclosed_rows(law, error, each, values[0], ratio, most)
            answer = Efficacy(
                subject=engine.subject,
                rows=rows,
                pairs=audit.pairs,
                exp_epsilon=ratio.upper,
                lower=ratio.lower,
                leak=leak,
                least=least,
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


def _law(engine: Engine, query: Query, x: Dataset) -> dict[Output, Number]:
    """Return the output law on a dataset."""
    found = engine.listing(x, query)
    return (engine.table_of(x, query) if found is None else found).law(x)


def classic(engine: Engine, runs: int, x: Any, x_prime: Any, threshold: Number) -> Guessing:
    """Return the same for classic auditing: independent runs on x or x', by default a worst pair of neighbours."""
    if (x is None) != (x_prime is None):
        raise ParameterError("classic auditing needs both x and x_prime, or neither", "give two datasets")
    if x is None:
        witness = tight_privacy(engine).witness
        first = (engine.bound.record.values[0],) * engine.bound.n
        x, x_prime = (first, first) if witness is None else (witness.x, witness.x_prime)
    query = engine.query()
    datasets = engine.bound.check_dataset(x), engine.bound.check_dataset(x_prime)
    law, law_prime = (_law(engine, query, dataset) for dataset in datasets)
    joint = classic_law(law, law_prime, runs, Threshold(threshold).least)
    known = engine.program.inexact
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
