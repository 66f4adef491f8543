"""Queries that always keep the limits of their instance, and take no longer than enumerating all runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, cast

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
from tightdp.results.result import kept
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

__all__ = ["limited"]

P = ParamSpec("P")
R = TypeVar("R")
Asked = TypeVar("Asked", bound="InstanceBase")
Query = Callable[Concatenate[Asked, P], R]
Records: TypeAlias = "Callable[[], Sequence[Record]] | None"

About: TypeAlias = Literal["all", "audited", "given"]
"""Which datasets a query is about: all, unless an argument declares some; those of the two records of each client of an
audit (its argument `pairs`); or those that it is given."""
_DECLARED = ("x", "privacy_set", "accuracy_set")
_EACH = 20_000
"""Records and draws in the runs that are tried on each of a few datasets when a brief look has found no failing run."""
_BY_RUNS = "runs"
"""The method that enumerates all runs."""


def limited(
    about: About = "given", *, shown_by_few: bool = False, enclosed: bool = False, by_runs: bool = True
) -> Callable[[Query[Asked, P, R]], Query[Asked, P, R]]:
    """Make a query of an instance keep its limits. What it is about says what may be done beside it.

    With a limit on time or memory it runs in a child process, so that it can be abandoned. Without one it runs here,
    keeps what it compiles for the next query, and takes at most 80 % of the memory that is free.

    Where no method was asked for and the query takes long, all runs are enumerated beside it, unless that cannot answer
    it (`by_runs`), and the first answer wins. A run that fails on any dataset that the query is about is its answer.
    With `shown_by_few`, a few pairs of neighbours, or a few datasets, show something, which is said where a limit is
    met. Unless it can be `enclosed`, it is refused for programs whose laws are not exact.
    """
    return lambda query: _limited(query, about, shown_by_few, enclosed, by_runs)


def _limited(
    query: Query[Asked, P, R], about: About, shown_by_few: bool, enclosed: bool, by_runs: bool
) -> Query[Asked, P, R]:
    checked = _as_close_as_asked(query if enclosed else _refusing_inexact_laws(query))
    arguments_of = partial(_arguments, list(signature(query).parameters)[1:])

    @wraps(query)
    def asked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
        limits = Limits(instance.timeout, max_memory=instance.max_memory or default_memory())
        named = arguments_of(arguments, options)
        question = partial(checked, instance, *arguments, **options)
        all_runs = partial(_all_runs, checked, instance, arguments, options) if by_runs else None
        answer = partial(_first_answer, instance, question, all_runs, limits, _records(instance, about, named))
        if shown_by_few and instance.one_engine and instance.method is None:

            def few() -> None:
                if about == "audited":
                    _known.partial_efficacies(instance, named.get("pairs"))
                else:
                    _known.partial_answers(instance, checked, arguments, options)

            answer = partial(_with_what_is_known, answer, Beside(few, limits))
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


def _as_close_as_asked(query: Query[Asked, P, R]) -> Query[Asked, P, R]:
    """Return a query that raises QueryError where its ends are further apart than the precision that was asked for."""

    def asked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
        return kept(query(instance, *arguments, **options), instance.precision)

    return asked


def _refusing_inexact_laws(query: Query[Asked, P, R]) -> Query[Asked, P, R]:
    """Return a query that raises QueryError where an exact answer would be one about laws that are not exact."""

    def asked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
        try:
            return query(instance, *arguments, **options)
        finally:
            if instance.one_engine:
                _widened.refuse_inexact(instance.bound, query.__name__.replace("_", " "))

    return asked


def _arguments(names: Sequence[str], arguments: Sequence[object], options: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a query by name."""
    return {**dict(zip(names, arguments, strict=False)), **options}


def _records(instance: InstanceBase, about: About, named: Mapping[str, Any]) -> Records:
    """Return what gives the records, all of whose datasets a question is about; None where it is about others."""
    bound, pairs = instance.bound, named.get("pairs")
    if about == "audited" and pairs != "best":
        if pairs is None:
            return lambda: _pairs.default_pairs(bound)[0]
        return (lambda: _pairs.read_pairs(bound, pairs)[0]) if _all_alike(pairs) else None
    if about == "given" or any(named.get(each) is not None for each in _DECLARED):
        return None
    return lambda: bound.record.values


def _all_alike(pairs: Any) -> bool:
    return isinstance(pairs, Sequence) and all(pair == pairs[0] for pair in pairs)


def _first_answer(
    instance: InstanceBase,
    question: Callable[[], R],
    all_runs: Callable[[], R] | None,
    limits: Limits,
    records: Records,
) -> R:
    """Return the answer of a question, or that of enumerating all runs where this is faster or the only way.

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


def _failing_run(instance: InstanceBase, records: Records, each: int | None = None) -> ProgramError | None:
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
    """Return the error of a failing run, or the complete answer from enumerating all runs.

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
        raise LimitError("enumerating all runs takes too long", "")
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
    """Whether it is allowed, and there is time, to enumerate all runs of a program that has no other exact answer."""
    if instance.engine.stopping or limits.reached() is not None or instance.max_nodes is not None:
        return False
    return bool(_runs.few_runs(instance.bound))


def _all_runs(query: Query[Asked, P, R], instance: Asked, arguments: Any, options: Any) -> R:
    """Return the answer from enumerating all runs."""
    found = copy(instance)
    found.forget()
    found.method, found.timeout, found.max_memory, found.progress = _BY_RUNS, None, None, None
    return query(found, *arguments, **options)
