"""The question `optimum`: the best mechanism on the datasets, neighbours and outputs of a given one."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.errors import ParameterError, QueryError
from tightdp.exact.field import Number, exp
from tightdp.exact.numbers import down, up
from tightdp.language.interp import target_output
from tightdp.language.outputs import Output, order_of
from tightdp.language.program import Bound, Dataset, Program
from tightdp.language.tails import GaussianTail, Tail, has_part
from tightdp.limits.calibrated import MAX_EXPONENT
from tightdp.methods import questions
from tightdp.methods.program import Method
from tightdp.queries.designs import (
    Setting,
    check_size,
    setting_of,
    whole_outputs,
)
from tightdp.queries.geometric_noise import as_geometric_noise, as_staircase
from tightdp.queries.measures import ACCURACY, MEASURES, RIGHT, Goal
from tightdp.queries.optimum import Design, Kernel, best_kernel
from tightdp.queries.privacy import DeltaAt
from tightdp.results.optimum import BestMechanism, Optimum
from tightdp.results.privacy import Delta
from tightdp.session import search
from tightdp.session.arguments import read_exact, read_exponential, read_optional
from tightdp.session.base import InstanceBase
from tightdp.session.engine import Engine, Query
from tightdp.symmetry.sets import every_input

Laws: TypeAlias = "dict[Dataset, dict[Output, Number]]"

_DIGITS = 15
"""To how many digits an irrational e^ε is enclosed."""
_BUILTIN = ("sum", "max", "min", "tuple", "len", "any", "all")
"""Functions of Python that a target may be by name."""


@dataclass(frozen=True)
class Question:
    """The measure, the claim that mechanisms must keep (e^ε or ε, or else that of the given one) and δ."""

    goal: Goal
    exp_epsilon: Number | None
    epsilon: Fraction | None
    delta: Fraction
    target: Callable[..., Any] | str | None


def read_question(alpha: Any, measure: str | None, exp_epsilon: Any, epsilon: Any, delta: Any, target: Any) -> Question:
    """Return the question that arguments ask. Raises ParameterError naming the one that does not fit."""
    bar = read_optional("alpha", alpha)
    name = measure.replace("-", " ") if measure else RIGHT if bar is None else ACCURACY
    if name not in MEASURES:
        raise ParameterError(f"there is no measure {name!r}", f"use {', '.join(MEASURES)}")
    if (name == ACCURACY) != (bar is not None):
        hint = "give alpha, the error bound" if bar is None else "leave out alpha, or measure"
        raise ParameterError(f"the measure {name} {'needs an' if bar is None else 'takes no'} alpha", hint)
    t = exponent = None
    if exp_epsilon is not None or epsilon is not None:
        t, exponent = read_exponential(exp_epsilon, epsilon, least=1)
    if exponent is not None and max(exponent.numerator, exponent.denominator) > MAX_EXPONENT:
        raise ParameterError(f"epsilon is {exponent}, which is too long", "give one with fewer digits, or exp_epsilon")
    most = read_exact("delta", delta, 1)
    for key, value in (("alpha", bar), ("delta", most)):
        if value is not None and not isinstance(value, Fraction):
            raise ParameterError(f"{key} is {value}", "give a rational")
    assert isinstance(most, Fraction)
    assert bar is None or isinstance(bar, Fraction)
    return Question(Goal(name, bar), t, exponent, most, target)


def optimum(instance: InstanceBase, question: Question) -> Optimum:
    """Return the best worst-case value, with a mechanism that has it and a proof that none is better."""
    engine = instance.engine
    bound = instance.bound
    if bound.program.counts:
        raise QueryError("the best mechanism is a table of outputs, which has no rounds and bits", "leave them out")
    if question.target is not None:
        bound = replace(bound, program=replace(bound.program, target=_function(bound, question.target)))
        engine = InstanceBase(bound, **instance.limits).engine
    query = engine.query()
    with query.searching():
        setting = setting_of(bound, query.control)
        method, laws = _laws(engine, query, setting)
        outputs = _whole(laws, setting)
        values = [[_rational(question.goal.value(output, target)) for output in outputs] for target in setting.targets]
        own = _own(question.goal, laws, bound)
        claim = _claim(engine, question)
        ends = claim.ends
        line = setting.line if ends[0] > 1 and not question.delta else None
        found = _solved(question, setting, values, ends, line, query)
    outcome = engine.outcome(query, method)
    best = BestMechanism(
        setting.datasets,
        setting.groups,
        setting.targets,
        tuple(outputs),
        setting.pairs,
        *ends,
        found.kernel,
        found.weights,
        found.multipliers,
    )
    result = Optimum(
        subject=engine.subject,
        measure=question.goal.measure,
        alpha=question.goal.alpha,
        exp_epsilon=claim.exp_epsilon,
        epsilon=question.epsilon,
        delta=question.delta,
        lower=found.lower,
        upper=found.upper,
        own=own,
        holds=claim.holds,
        line=line is not None,
        post_processing=found.post_processing,
        staircase=found.staircase,
        variables=found.variables,
        best=best,
    )
    return (outcome if found.lower == found.upper else outcome.bounded).on(result)


def _function(bound: Bound, target: Callable[..., Any] | str) -> Any:
    """Return a target: a function, a mechanism that draws nothing, or the name of one beside the mechanism."""
    if isinstance(target, str):
        known = bound.program.function.__globals__
        if target not in known and target not in _BUILTIN:
            hint = f"name a function in the file of the mechanism, or one of {', '.join(_BUILTIN)}"
            raise ParameterError(f"there is no target {target!r}", hint)
        target = known[target] if target in known else getattr(builtins, target)
    if isinstance(program := getattr(target, "program", None), Program):
        return program.function
    if not callable(target):
        raise ParameterError(f"the target {target!r} is not a function", "give a function of the dataset, such as sum")
    return target


def _laws(engine: Engine, query: Query, setting: Setting) -> tuple[Method, Laws]:
    """Return datasets with all laws that there are. Raises LimitError where a limit comes first."""
    control, datasets = query.control, None
    try:
        method, table, datasets = questions.accuracy_set(engine.program, control)
    except QueryError:
        method, table = questions.laws(engine.program, control)
    laws: Laws = {}
    shown: set[Output] = set()
    for x, _ in control.inputs(table, datasets or every_input(engine.bound)):
        laws[x] = table.law(x)
        shown.update(laws[x])
        check_size(setting, len(shown))
    if control.stopped is not None:
        raise control.stopped
    return method, laws


def _whole(laws: Laws, setting: Setting) -> list[Output]:
    """Return the outputs that a best mechanism may need."""
    shown = dict.fromkeys(output for law in laws.values() for output in law)
    for output in shown:
        if not isinstance(output, Tail) and has_part(output, Tail, GaussianTail):
            raise QueryError(
                "an optimum over all integers is not looked for", "clamp the output to what is of interest"
            )
    return sorted(whole_outputs(shown, setting), key=order_of)


def _rational(value: Number) -> Fraction:
    if not isinstance(value, Fraction):
        raise QueryError(f"an optimum needs rational outputs and targets, and {value} is an error", "round the outputs")
    return value


def _own(goal: Goal, laws: Laws, bound: Bound) -> Number:
    """Return the value of the given mechanism on the dataset where it is worst."""

    def value(x: Dataset, law: dict[Output, Number]) -> Number:
        target = target_output(bound, x)
        return sum((mass * goal.value(output, target) for output, mass in law.items()), Fraction(0))

    values = [value(x, law) for x, law in laws.items()]
    return max(values) if goal.least else min(values)


@dataclass(frozen=True)
class _Claim:
    """What mechanisms must keep, and whether the given one does."""

    exp_epsilon: Number
    holds: bool | None

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Rationals at or just below and above e^ε."""
        t = self.exp_epsilon
        return (t, t) if isinstance(t, Fraction) else (max(Fraction(1), down(t, _DIGITS)), up(t, _DIGITS))


def _claim(engine: Engine, question: Question) -> _Claim:
    t = question.exp_epsilon if question.epsilon is None else exp(question.epsilon)
    if t is None:
        return _own_claim(engine, question)
    if question.delta:
        delta: Delta = search.answer(engine, DeltaAt(t, t))
        return _Claim(t, True if delta.delta <= question.delta else False if delta.lower > question.delta else None)
    tight = search.tight_privacy(engine)
    return _Claim(t, True if tight.exp_epsilon <= t else False if tight.lower > t else None)


def _own_claim(engine: Engine, question: Question) -> _Claim:
    """Return the claim with the tight ε of the given mechanism."""
    tight = search.tight_privacy(engine, question.delta)
    if isinstance(tight.exp_epsilon, float):
        what = "it is private" if tight.status == "exact" else "it is known to be private"
        raise QueryError(f"there is no ε for which {what} with this δ", "give epsilon or exp_epsilon")
    return _Claim(tight.exp_epsilon, holds=True)


@dataclass(frozen=True)
class _Found:
    """Both ends of the optimum, the mechanism with its proof, and what geometric noise is followed by in it."""

    lower: Fraction
    upper: Fraction
    kernel: Kernel
    weights: tuple[Fraction, ...]
    multipliers: tuple[tuple[int, int, int, Fraction], ...]
    post_processing: Kernel | None
    staircase: tuple[int, int] | None
    variables: int


def _solved(
    question: Question,
    setting: Setting,
    values: list[list[Fraction]],
    ends: tuple[Fraction, Fraction],
    line: tuple[int, ...] | None,
    query: Query,
) -> _Found:
    """Solve the program: at the lower end of e^ε for the mechanism, and at the upper one for the proof.

    With a `line` of datasets the mechanism is geometric noise that is processed further, where that is as good.
    """
    most = max(map(max, values)) if question.goal.least else Fraction(0)
    gain = tuple(tuple(most - value if question.goal.least else value for value in row) for row in values)
    low, high = (Design(gain, setting.pairs, t, question.delta) for t in ends)
    found = best_kernel(low, query.control)
    above = found if low == high else best_kernel(high, query.control)
    kernel, post = found.kernel, None
    steps = None
    if line is not None:
        kernel, post = as_geometric_noise(low, line, found, query.control)
    elif (
        low.exp_epsilon > 1
        and not question.delta
        and all(isinstance(each, (int, Fraction)) for each in setting.targets)
    ):
        other = as_staircase(low, setting.targets, found, query.control)
        kernel, steps = other or (kernel, None)
    multipliers = tuple((*place, value) for place, value in sorted(above.dual.multipliers.items()))
    lower, upper = found.lower, above.upper
    if question.goal.least:
        lower, upper = most - upper, most - lower
    return _Found(lower, upper, kernel, above.dual.weights, multipliers, post, steps, found.variables)
