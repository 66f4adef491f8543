"""Queries that keep the limits of their instance, whatever they do, and take no longer than going through all runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

from tightdp.errors import LimitError, ProgramError, TooLargeError
from tightdp.limits import (
    Abandoned,
    Beside,
    Limits,
    Race,
    default_memory,
    run,
    stand_back,
    ticking,
    with_room,
    with_text,
)
from tightdp.session.later import Later

if TYPE_CHECKING:
    from tightdp.language.domains import Record
    from tightdp.methods import by_runs as _runs
    from tightdp.methods import failing as _failing
    from tightdp.one_run import pairs as _pairs
    from tightdp.session import known as _known
    from tightdp.session import widened as _widened
    from tightdp.session.base import InstanceBase
else:
    _known = Later("tightdp.session.known")
    _widened = Later("tightdp.session.widened")
    _runs = Later("tightdp.methods.by_runs")
    _failing = Later("tightdp.methods.failing")
    _pairs = Later("tightdp.one_run.pairs")

__all__ = ["limited", "limited_alone"]

P = ParamSpec("P")
R = TypeVar("R")
Asked = TypeVar("Asked", bound="InstanceBase")
Query = Callable[Concatenate[Asked, P], R]
Records: TypeAlias = "Callable[[], Sequence[Record]] | None"

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
_ABOUT_ALL = _SHOWN_BY_FEW | {"privacy_loss", "utility", "show", "explain", "certify", "classic_guessing"}
"""Queries about all datasets, unless one of `_DECLARED` says otherwise: a run that fails on any is their answer."""
_ABOUT_PAIRS = {"efficacy": 1, "guessing": None, "adaptive_guessing": None}
"""Queries about all datasets of the two records of a pair, with the place of their argument `pairs`, None for none."""
_DECLARED = frozenset(("x", "privacy_set", "accuracy_set"))
_EACH = 0.1
"""Seconds to look for a failing run on each of a few datasets when a brief look has found none."""
_BY_RUNS = "runs"
"""The method that goes through all runs."""


def limited(query: Query[Asked, P, R]) -> Query[Asked, P, R]:
    """Make a query of an instance keep its limits.

    With a limit on time or memory it runs in a child process, so that it can be abandoned. Without one it runs here,
    keeps what it compiles for the next query, and takes at most 80 % of the memory that is free.

    Where no method was asked for and the query takes long, going through all runs starts beside it, and the first
    answer wins.
    """
    return _limited(query, with_runs=True)


def limited_alone(query: Query[Asked, P, R]) -> Query[Asked, P, R]:
    """Make a query that looks into the compiled program keep its limits: going through all runs cannot answer it."""
    return _limited(query, with_runs=False)


def _limited(query: Query[Asked, P, R], with_runs: bool) -> Query[Asked, P, R]:
    @wraps(query)
    def asked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
        limits = Limits(instance.timeout, max_memory=instance.max_memory or default_memory())
        question = partial(_checked(query), instance, *arguments, **options)
        by_runs = _checked(query)
        all_runs = partial(_all_runs, by_runs, instance, arguments, options) if with_runs else None
        records = _records_asked(instance, query.__name__, arguments, options)
        answer = partial(_first_answer, instance, question, all_runs, limits, records)
        known = _partial_answer(by_runs, instance, query.__name__, arguments, options)
        if known is not None:
            answer = partial(_with_what_is_known, answer, Beside(known, limits))
        if instance.timeout is None and instance.max_memory is None:
            with ticking(limits) as met, with_text(limits):
                try:
                    return with_room(answer)
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


def _partial_answer(
    query: Callable[..., object],
    instance: InstanceBase,
    name: str,
    arguments: Sequence[object],
    options: Mapping[str, object],
) -> Callable[[], object] | None:
    """Return what looks for a part of the answer of a question; None where no part of it is one."""
    if not instance.one_engine or instance.method is not None:
        return None
    if name == "efficacy":
        pairs = _pairs_asked(name, arguments, options)
        return None if pairs == "best" else lambda: _known.partial_efficacies(instance, pairs)
    return (lambda: _known.partial_answers(instance, query, arguments, options)) if name in _SHOWN_BY_FEW else None


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


def _records_asked(instance: InstanceBase, name: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> Records:
    """Return what gives the records, all of whose datasets a question is about; None where it is about others."""
    bound = instance.bound
    if name in _ABOUT_PAIRS:
        pairs = _pairs_asked(name, arguments, options)
        if pairs is None:
            return lambda: _pairs.default_pairs(bound)[0]
        if pairs != "best":
            return (lambda: _pairs.read_pairs(bound, pairs)[0]) if _all_alike(pairs) else None
    declared = any(options.get(each) is not None for each in _DECLARED)
    some = declared or (name == "show" and arguments) or name not in (*_ABOUT_ALL, *_ABOUT_PAIRS)
    return None if some else lambda: bound.record.values


def _pairs_asked(name: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return the argument `pairs` of a query."""
    at = _ABOUT_PAIRS[name]
    return arguments[at] if at is not None and len(arguments) > at else options.get("pairs")


def _all_alike(pairs: Any) -> bool:
    return isinstance(pairs, Sequence) and all(pair == pairs[0] for pair in pairs)


def _first_answer(
    instance: InstanceBase,
    question: Callable[[], R],
    all_runs: Callable[[], R] | None,
    limits: Limits,
    records: Records,
) -> R:
    """Return the answer of a question, or that of going through all runs where this is faster or the only way.

    Raises ProgramError where a run fails; for a question about all datasets it names the same one whichever way met it.
    """
    if not instance.one_engine:
        return question()
    if instance.method is not None or instance.precision is not None:
        all_runs = None
    try:
        found = _first_found(instance, question, all_runs, limits, records)
    except ProgramError as error:
        raise _failing_run(instance, records) or error from None
    if isinstance(found, ProgramError):
        raise found
    return found


def _failing_run(instance: InstanceBase, records: Records, each: float | None = None) -> ProgramError | None:
    """Return the error of a failing run that is found on datasets of these records."""
    return None if records is None else _failing.failing_run(instance.bound, instance.backend, records(), each)


def _first_found(
    instance: InstanceBase,
    question: Callable[[], R],
    all_runs: Callable[[], R] | None,
    limits: Limits,
    records: Records,
) -> R | ProgramError:
    """Return the same, or the error of a run that was found to fail while the question was asked."""
    if all_runs is None and records is None:
        return question()
    race: Race[R | ProgramError] = Race(question, lambda: _beside(instance, all_runs, records), limits)
    try:
        found = race.answer()
    except (LimitError, TooLargeError, RecursionError):
        if all_runs is None or not _only_by_runs(instance, limits):
            raise
    else:
        if race.overtaken:
            instance.forget()
        if all_runs is None or not getattr(found, "reason", "") or not _only_by_runs(instance, limits):
            return found
    return all_runs()


def _beside(instance: InstanceBase, all_runs: Callable[[], R] | None, records: Records) -> R | ProgramError:
    """Return the error of a failing run, or the answer of going through all runs, whole.

    Raises LimitError where there is neither: that wins no race.
    """
    bound, backend = instance.bound, instance.backend
    error = _failing_run(instance, records)
    endless = True
    if error is None:
        stand_back()
        endless = all_runs is None or _runs.endless_runs(bound)
        error = _failing_run(instance, records, _EACH)
    if error is not None:
        return error
    if all_runs is None or endless:
        raise LimitError("going through all runs takes too long", "")
    try:
        found = all_runs()
    except ProgramError as failed:
        error = _failing.told(bound, backend, failed)
        if error is None:
            raise LimitError("the compiler sees no run that fails", "") from None
        return error
    if reason := getattr(found, "reason", ""):
        raise LimitError(str(reason), "")
    return found


def _only_by_runs(instance: InstanceBase, limits: Limits) -> bool:
    """Whether it is allowed, and there is time, to go through all runs of a program that has no other exact answer."""
    if instance.engine.stopping or limits.reached() is not None or instance.max_nodes is not None:
        return False
    return bool(_runs.few_runs(instance.bound))


def _all_runs(query: Query[Asked, P, R], instance: Asked, arguments: Any, options: Any) -> R:
    """Return the answer of going through all runs."""
    found = copy(instance)
    found.forget()
    found.method, found.timeout, found.max_memory, found.progress = _BY_RUNS, None, None, None
    return query(found, *arguments, **options)
