"""Answers with an unknown: piecewise functions of it, the values for which claims hold, the best of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from tightdp.errors import LanguageError, ParameterError, ProgramError, QueryError
from tightdp.exact.cells import Cell, InExponents
from tightdp.exact.field import Number, exp
from tightdp.exact.lines import Line, parts_in_x
from tightdp.exact.numbers import as_text
from tightdp.exact.parameters import parse
from tightdp.exact.pieces import Span, common_spans, joined_spans, signs_between, spans_where
from tightdp.exact.polynomials import Unknown, at_place
from tightdp.exact.roots import between
from tightdp.exact.weights import as_exact
from tightdp.language.tails import Interval, parts_of
from tightdp.queries.measures import AccuracyAt, Goal, LeastError
from tightdp.queries.privacy import DeltaAt, LeastRatio, TightRatio
from tightdp.results.answers import Accuracy, Claim, Distribution, Verification
from tightdp.results.guessing import Efficacy, Guessing
from tightdp.results.pieces import (
    AccuracyPieces,
    Distributions,
    EfficacyPieces,
    GuessingPieces,
    Holds,
    Part,
    Pieces,
    Solution,
)
from tightdp.results.privacy import Privacy
from tightdp.results.result import Result, Stats, TripleWitness
from tightdp.session import knots, search
from tightdp.session.arguments import Claims
from tightdp.session.asking import Answered, Computed, Largest, LeastErrors
from tightdp.session.base import InstanceBase
from tightdp.session.cellwise import Cellwise, Question, Stretch, limit_of
from tightdp.session.ends import best_of, end_of, inside, part_of, safe
from tightdp.session.engine import AskedNumber, Engine
from tightdp.session.strategies import told

T = TypeVar("T")


def answer(ours: Cellwise, question: AskedNumber) -> Pieces:
    """Return the answer to a question as a piecewise function."""
    kind: type[Pieces] = Pieces
    more: dict[str, Any] = {}
    match question:
        case TightRatio():
            what = "exp_epsilon"
        case LeastRatio():
            what, more = "exp_epsilon", {"at": (("delta", question.delta),)}
        case DeltaAt():
            question = question.exactly
            what, more = "delta", {"at": (("exp_epsilon", question.low),)}
        case AccuracyAt():
            kind, what = AccuracyPieces, "one_minus_beta"
            more = {"at": (("alpha", question.alpha),), "relative": question.relative}
        case LeastError():
            kind, what = AccuracyPieces, "alpha"
            more = {"at": (("beta", question.beta),), "relative": question.relative}
    if (parts := knots.enclosed(ours, question)) is not None:
        found = kind(subject=ours.instance.subject, unknown=Unknown(ours.name), what=what, pieces=parts, **more)
        return replace(found, stats=ours.stats, status="bounded")
    if isinstance(question, LeastError):
        return computed(ours, LeastErrors(question, ours))
    return _made(ours, _parts(ours, Largest(question)), kind, what, **more)


def asked(ours: Cellwise, question: Question) -> Pieces:
    """Return e^ε, as a question has it, as a piecewise function."""
    return _settled(ours, lambda: _made(ours, _parts(ours, question), Pieces, "exp_epsilon"))


def computed(ours: Cellwise, ask: Callable[[Engine], Result]) -> Pieces:
    """Return what an engine computes on every cell as a piecewise function: laws, efficacies, the least error bound."""
    kinds: list[tuple[type[Pieces], str, dict[str, Any]]] = []

    def answered(instance: InstanceBase) -> Answered:
        found = ask(instance.engine)
        kind, what, value, more = _kind_of(found)
        kinds.append((kind, what, more))
        return value, found.x if isinstance(found, Accuracy) else None, found

    parts = _parts(ours, Computed(answered))
    kind, what, more = kinds[-1]
    return _made(ours, parts, kind, what, **more)


def _kind_of(found: Result) -> tuple[type[Pieces], str, Any, dict[str, Any]]:
    """Return the kind of piecewise functions that a result is a value of, its name, the value, and what it is about."""
    match found:
        case Accuracy():
            return AccuracyPieces, "alpha", found.alpha, {"at": (("beta", found.beta),), "relative": found.relative}
        case Efficacy(rows=rows):
            names = ("efficacy", "ac", "ddp", "dp", *(("adaptive",) if rows[0].adaptive is not None else ()))
            value = tuple(((row.guesses, name), getattr(row, name)) for row in rows for name in names)
            return EfficacyPieces, "rows", value, {}
        case Guessing(joint=joint):
            return GuessingPieces, "law", _nonzero(((r, v), p) for r, v, p in joint.entries), {}
        case Distribution(law=law, x=x):
            if any(isinstance(part, Interval) for output, _ in law for part in parts_of(output)):
                raise QueryError("densities with an unknown in them are not listed", "give the parameter a value")
            return Distributions, "law", _nonzero(law), {"x": x}
    raise AssertionError(f"{found.query} is not computed with an unknown")


def _nonzero(law: Iterable[tuple[Any, Number]]) -> tuple[tuple[Any, Number], ...]:
    return tuple((output, mass) for output, mass in law if mass)


def _made(ours: Cellwise, parts: tuple[Part, ...], kind: type[Pieces], what: str, **more: Any) -> Pieces:
    about = ours.instance.subject, ours.unknown, ours.stats
    return kind(subject=about[0], unknown=about[1], stats=about[2], what=what, pieces=parts, **more)


def _parts(ours: Cellwise, question: Question) -> tuple[Part, ...]:
    bound = ours.instance.bound
    return tuple(part_of(ours, each, each.value, told(bound, each.witness)) for each in ours.ask(question))


@dataclass(frozen=True)
class Formula:
    """A claim about ε (`logarithmic`) or e^ε, at a δ, as an expression with the unknown."""

    text: str
    name: str
    logarithmic: bool
    delta: Number = Fraction(0)

    @property
    def label(self) -> str:
        """What it is about."""
        return ("epsilon" if self.logarithmic else "exp_epsilon") + _at(self.delta)

    def exp_epsilon(self, value: Number) -> Number:
        """Return e^ε at a value of the unknown, or with a number that stands for it."""
        found = parse(self.text, {self.name: value})
        return exp(found) if self.logarithmic else found

    def delta_at(self, instance: InstanceBase) -> DeltaAt:
        """Return the question for δ at e^ε for an instance in which the unknown has a value."""
        t = self.exp_epsilon(as_exact(instance.bound.parameters[self.name]))
        return DeltaAt(t, t)


def _at(delta: Number) -> str:
    return f" at delta = {as_text(delta)}" if delta else ""


@dataclass(frozen=True)
class _Bar:
    """A claim: a function of the unknown is at most, or at least, a number or another function of it."""

    label: str
    claimed: str
    question: Question
    bar: Number
    at_least: bool = False

    def margin(self, stretch: Stretch) -> Line | None:
        """Return a polynomial that is at least 0 where the claim holds; None where it never does."""
        if stretch.value == math.inf:
            return None
        above, below = parts_in_x(stretch.value - self.bar if self.at_least else self.bar - stretch.value)
        low, high = stretch.low, stretch.high
        positive = low.sign_of(below) if low is high else below.sign_after(between(low, high))
        return above if positive > 0 else -above

    def holds_at(self, stretch: Stretch) -> bool:
        """Whether the claim holds at a single point."""
        if stretch.low.value is None:
            margin = self.margin(stretch)
            return margin is not None and (margin.degree < 0 or stretch.low.sign_of(margin) >= 0)
        value, bar = (limit_of(each, stretch.low.value) for each in (stretch.value, self.bar))
        return bool(value >= bar if self.at_least else value <= bar)


def _bars(ours: Cellwise, claims: Claims, formula: Formula | None) -> list[_Bar]:
    privacy, accuracy = claims
    found = []
    if formula is not None:
        with at_place(Cell(*ours.ends, between(*ours.ends), ours.unknown)):
            bar = formula.exp_epsilon(ours.symbol)
        delta = formula.delta
        of_unknown = Largest(DeltaAt(bar, bar), formula.delta_at) if delta else Largest(TightRatio())
        found.append(_Bar(formula.label, formula.text, of_unknown, delta or bar))
    elif privacy is not None:
        t, exponent, delta = privacy
        label, claimed = ("epsilon", exponent) if exponent is not None else ("exp_epsilon", t)
        number = exp(exponent) if exponent is not None else t
        assert number is not None
        assert claimed is not None
        asked = Largest(DeltaAt(number, number) if delta else TightRatio())
        found.append(_Bar(label + _at(delta), as_text(claimed), asked, delta or number))
    if accuracy is not None:
        alpha, beta = accuracy
        label = f"beta at alpha = {as_text(alpha)}"
        found.append(_Bar(label, as_text(beta), Largest(AccuracyAt(alpha)), 1 - beta, at_least=True))
    return found


class _Again(Exception):
    """X stands for something else than it did when claims were written with it."""


def _settled(ours: Cellwise, compute: Callable[[], T]) -> T:
    """Return what is computed once it is known what X stands for: all of it with the same X."""
    while True:
        try:
            return compute()
        except InExponents as error:
            ours.unknown = Unknown(ours.name, error.denominator)
        except _Again:
            continue


def _asked(ours: Cellwise, question: Question) -> list[Stretch]:
    """Return an answer in pieces. Raises _Again where X changes meanwhile, and has the answer when asked again."""
    before = ours.unknown
    if (question, before) in ours.answered:
        found, ours.stats = ours.answered[question, before]
        return found
    found = ours.ask(question)
    if ours.unknown != before:
        ours.answered[question, ours.unknown] = found, ours.stats
        raise _Again
    return found


def solve(
    ours: Cellwise,
    claims: Claims,
    formula: Formula | None,
    goal: Goal | None = None,
    question: Question | None = None,
) -> Solution:
    """Return where all claims hold; with a goal, where its measure is best there.

    A question whose answer is never less may be asked in place of that for the tight ε.
    """
    return _settled(ours, lambda: _solved(ours, claims, formula, goal, question))


def _solved(
    ours: Cellwise, claims: Claims, formula: Formula | None, goal: Goal | None, question: Question | None
) -> Solution:
    bars = _bars(ours, claims, formula)
    spans: list[Span] | None = None
    stats: list[Stats] = []
    for bar in bars:
        held = _held(bar, _asked(ours, question or bar.question))
        stats.append(ours.stats)
        spans = held if spans is None else common_spans(spans, held)
    assert spans is not None
    holds = tuple(
        Holds(end_of(ours, span.low), end_of(ours, span.high), *safe(ours, span), span.with_low, span.with_high)
        for span in spans
    )
    best = None if goal is None else best_of(ours, spans, goal)
    said = tuple(f"{bar.label} <= {bar.claimed}" for bar in bars)
    cost = sum(stats[1:], stats[0])
    return Solution(
        subject=ours.instance.subject, unknown=ours.unknown, claims=said, holds=holds, best=best, stats=cost
    )


def _held(bar: _Bar, stretches: Sequence[Stretch]) -> list[Span]:
    """Return where a claim holds."""
    found: list[Span] = []
    for stretch in stretches:
        low, high = stretch.low, stretch.high
        if low is high:
            found += [Span(low, low, True, True)] if bar.holds_at(stretch) else []
            continue
        margin = bar.margin(stretch)
        if margin is None:
            continue
        first = stretch.with_low and (margin.degree < 0 or low.sign_of(margin) >= 0)
        last = high is not None and stretch.with_high and (margin.degree < 0 or high.sign_of(margin) >= 0)
        found += [Span(low, low, True, True)] if first else []
        found += spans_where(margin, low, high)
        found += [Span(high, high, True, True)] if last and high is not None else []
    return joined_spans(found)


def verify(ours: Cellwise, claims: Claims, formula: Formula | None) -> Verification:
    """Return the verdicts for all values of the unknown; where one fails, those at a value at which it fails.

    Where there is no answer for all values, some are tried: a claim that fails at one of them is refuted.
    """
    try:
        return _settled(ours, lambda: _verified(ours, claims, formula))
    except (LanguageError, ParameterError, QueryError):
        refuted = next(_refuted(ours, claims, formula), None)
        if refuted is None:
            raise
        return refuted


def _refuted(ours: Cellwise, claims: Claims, formula: Formula | None) -> Iterator[Verification]:
    """Yield the verdicts at those of some values of the unknown at which a claim fails."""
    low, high = ours.range.low, ours.range.high
    values: list[Number] = [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(1, 8), Fraction(8)]
    if low is not None and high is not None:
        values = [low + (high - low) * share / 8 for share in (*values[:3], 4, 6)]
    for value in values:
        with suppress(LanguageError, ParameterError, ProgramError, QueryError):
            found = _verified_at(ours, claims, formula, value)
            if any(claim.holds is False for claim in found.claims):
                yield found


def _verified_at(
    ours: Cellwise, claims: Claims, formula: Formula | None, value: Number, known: Stretch | None = None
) -> Verification:
    """Return the verdicts at a value of the unknown, where the tight e^ε may be known as a function of it."""
    privacy, accuracy = claims
    if formula is not None:
        privacy = formula.exp_epsilon(value), None, formula.delta
    engine = ours.with_value(value).engine
    found = None if known is None or known.value == math.inf else _tight_at(ours, engine, known, value)
    return search.verify(engine, privacy, accuracy, found)


def _tight_at(ours: Cellwise, engine: Engine, stretch: Stretch, value: Number) -> Privacy | None:
    """Return what a function of the unknown is at a value; None where it has no output as a witness."""
    witness, x = stretch.witness, ours.as_x(value)
    if not isinstance(witness, TripleWitness):
        return None
    p, q = (limit_of(each, x) for each in (witness.probability, witness.probability_prime))
    witness = replace(witness, probability=p, probability_prime=q)
    found = limit_of(stretch.value, x)
    return Privacy(subject=engine.subject, stats=ours.stats, exp_epsilon=found, lower=found, witness=witness)


def _verified(ours: Cellwise, claims: Claims, formula: Formula | None) -> Verification:
    bars = _bars(ours, claims, formula)
    stats: list[Stats] = []
    for bar in bars:
        failing = _failing(ours, bar, _asked(ours, bar.question))
        if failing is not None:
            value, stretch = failing
            if value is not None:
                tight = bar.question == Largest(TightRatio())
                return _verified_at(ours, claims, formula, value, stretch if tight else None)
            refuted = Claim(
                f"{bar.label} where {_named(ours, stretch)}",
                bar.claimed,
                None,
                False,
                told(ours.instance.bound, stretch.witness),
            )
            return Verification(subject=ours.instance.subject, claims=(refuted,), stats=ours.stats)
        stats.append(ours.stats)
    decided = tuple(Claim(bar.label, bar.claimed, None, True) for bar in bars)
    return Verification(subject=ours.instance.subject, claims=decided, stats=sum(stats[1:], stats[0]))


def proved(ours: Cellwise, claims: Claims, formula: Formula | None, question: Question) -> Claim:
    """Return the claim about ε: it holds if what a question gives is never more; else that is not known."""

    def settled() -> Claim:
        bar = _bars(ours, claims, formula)[0]
        holds = _failing(ours, bar, _asked(ours, question)) is None
        return Claim(bar.label, bar.claimed, None, holds or None)

    return _settled(ours, settled)


def _named(ours: Cellwise, stretch: Stretch) -> str:
    """Write the point of a stretch that has no closed form."""
    end = end_of(ours, stretch.low)
    return f"{end.polynomial} = 0, {ours.name} = {float(end):.6g}"


def _failing(ours: Cellwise, bar: _Bar, stretches: Sequence[Stretch]) -> tuple[Number | None, Stretch] | None:
    """Return a value of the unknown at which a claim fails, None where it has no closed form, and its stretch."""
    for stretch in stretches:
        if stretch.low is stretch.high:
            if not bar.holds_at(stretch):
                return ours.value_at(stretch.low), stretch
            continue
        margin = bar.margin(stretch)
        signs = [(stretch.low, stretch.high, -1)]
        if margin is not None:
            signs = signs_between(margin, stretch.low, stretch.high) if margin.degree >= 0 else []
        for start, stop, sign in signs:
            if sign < 0:
                return inside(ours, start, stop), stretch
    return None
