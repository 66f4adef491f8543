"""Queries that keep the limits of their instance, whatever they do, and take no longer than going through all runs."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from tightdp.errors import LimitError, TooLargeError
from tightdp.limits import Abandoned, Beside, Limits, Race, default_memory, run, ticking, with_text
from tightdp.session.later import Later

if TYPE_CHECKING:
    from tightdp.methods import by_runs as _runs
    from tightdp.session import known as _known
    from tightdp.session import widened as _widened
    from tightdp.session.base import InstanceBase
else:
    _known = Later("tightdp.session.known")
    _widened = Later("tightdp.session.widened")
    _runs = Later("tightdp.methods.by_runs")

__all__ = ["limited", "limited_alone"]

P = ParamSpec("P")
R = TypeVar("R")
Asked = TypeVar("Asked", bound="InstanceBase")
Query = Callable[Concatenate[Asked, P], R]

_ENCLOSED = frozenset(
    (
        *(
            "privacy",
            "privacy_loss",
            "delta",
            "curve",
            "tradeoff",
            "renyi",
            "zcdp",
            "accuracy",
            "utility",
            "verify",
            "show",
        ),
        *("distribution", "likelihood", "failure", "efficacy", "guessing", "adaptive_guessing", "classic_guessing"),
    )
)
"""Queries that have an answer for programs whose laws are not exact, too."""
_SHOWN_BY_FEW = frozenset(("privacy", "delta", "curve", "tradeoff", "renyi", "zcdp", "accuracy", "verify"))
"""Queries of which a few pairs of neighbours, or a few datasets, show something."""
_BY_RUNS = "runs"
"""The method that goes through all runs."""


def limited(query: Query[Asked, P, R]) -> Query[Asked, P, R]:
    """Make a query of an instance keep its limits.

    With a limit on time or memory it runs in a child process, so that it can be abandoned. Without one it runs here,
    keeps what it compiles for the next query, and takes at most 80 % of the memory that is free.

    Where no method was asked for and the query takes long, going through all runs starts beside it, and the first
    answer wins.
    """
    return _limited(query, _first_answer)


def limited_alone(query: Query[Asked, P, R]) -> Query[Asked, P, R]:
    """Make a query that looks into the compiled program keep its limits: going through all runs cannot answer it."""
    return _limited(query, lambda instance, question, other, limits: question())


def _limited(query: Query[Asked, P, R], ask: Callable[..., R]) -> Query[Asked, P, R]:
    @wraps(query)
    def asked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
        limits = Limits(instance.timeout, max_memory=instance.max_memory or default_memory())
        question = partial(_checked(query), instance, *arguments, **options)
        by_runs = _checked(query)
        answer = partial(ask, instance, question, lambda: by_runs(_by_runs(instance), *arguments, **options), limits)
        known = Beside(lambda: _known.partial_answers(instance, by_runs, arguments, options), limits)
        if query.__name__ in _SHOWN_BY_FEW and instance.one_engine and instance.method is None:
            answer = partial(_with_what_is_known, answer, known)
        if instance.timeout is None and instance.max_memory is None:
            with ticking(limits) as met, with_text(limits):
                try:
                    return answer()
                finally:
                    if met():
                        instance.forget()
        try:
            return run(answer, limits)
        except Abandoned as error:
            abandoned = error
        found = _known.joined(abandoned.snapshot, abandoned.partial)
        if found is None:
            raise LimitError(*abandoned.args)
        return cast(R, _known.stopped_by(found, abandoned))

    return asked


def _with_what_is_known(answer: Callable[[], R], beside: Beside) -> R:
    """Return the answer of a question; where a limit cuts it short, with what was found beside it."""
    try:
        with beside.meanwhile():
            found = answer()
    except LimitError as error:
        if beside.known is None:
            raise
        return cast(R, _known.stopped_by(beside.known, error))
    if getattr(found, "cut_short", False) and beside.known is not None:
        return cast(R, _known.joined(cast(Any, found), beside.known))
    return found


def _checked(query: Query[Asked, P, R]) -> Query[Asked, P, R]:
    """Return a query that raises QueryError where an exact answer would be one about laws that are not exact."""
    if query.__name__ in _ENCLOSED:
        return query

    def asked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
        try:
            return query(instance, *arguments, **options)
        finally:
            if instance.one_engine:
                _widened.refuse_inexact(instance.bound, query.__name__.replace("_", " "))

    return asked


def _first_answer(instance: InstanceBase, question: Callable[[], R], by_runs: Callable[[], R], limits: Limits) -> R:
    """Return the answer of a question, or that of going through all runs where this is faster or the only way."""
    if instance.method is not None or instance.precision is not None or not instance.one_engine:
        return question()
    race = Race(question, lambda: _beside(instance, by_runs), limits)
    try:
        found = race.answer()
    except (LimitError, TooLargeError, RecursionError):
        if not _only_by_runs(instance, limits):
            raise
    else:
        if race.overtaken:
            instance.forget()
        if not getattr(found, "reason", "") or not _only_by_runs(instance, limits):
            return found
    return by_runs()


def _beside(instance: InstanceBase, by_runs: Callable[[], R]) -> R:
    """Return the answer of going through all runs, whole. Raises LimitError where there is none: that wins no race."""
    if _runs.endless_runs(instance.bound):
        raise LimitError("going through all runs takes too long", "")
    found = by_runs()
    if reason := getattr(found, "reason", ""):
        raise LimitError(str(reason), "")
    return found


def _only_by_runs(instance: InstanceBase, limits: Limits) -> bool:
    """Whether it is allowed, and there is time, to go through all runs of a program that has no other exact answer."""
    if instance.engine.stopping or limits.reached() is not None or instance.max_nodes is not None:
        return False
    return bool(_runs.few_runs(instance.bound))


def _by_runs(instance: Asked) -> Asked:
    """Return the same instance, whose questions all go to the method that goes through all runs."""
    found = copy(instance)
    found.forget()
    found.method, found.timeout, found.max_memory, found.progress = _BY_RUNS, None, None, None
    return found
