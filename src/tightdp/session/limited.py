"""Queries that always keep the limits of their instance, and enumerate all runs where nothing else is exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, cast

from tightdp.errors import LanguageError, LimitError, ProgramError, QueryError, TooLargeError
from tightdp.limits import Abandoned, Limits, default_memory, interrupted, run, ticking, with_room, with_text
from tightdp.methods import by_runs as _runs
from tightdp.methods import failing as _failing
from tightdp.one_run import pairs as _pairs
from tightdp.results.result import kept
from tightdp.session import known as _known
from tightdp.session import strategies as _strategies
from tightdp.session import widened as _widened

if TYPE_CHECKING:
    from tightdp.language.domains import Record
    from tightdp.results.result import Result
    from tightdp.session.base import InstanceBase

P = ParamSpec("P")
R = TypeVar("R")
Asked = TypeVar("Asked", bound="InstanceBase")
Query = Callable[Concatenate[Asked, P], R]
Records: TypeAlias = "Callable[[], Sequence[Record]] | None"

About: TypeAlias = Literal["all", "audited", "given"]
"""Which datasets a query is about: all, unless an argument declares some; those of the two records of each client of an
audit (its argument `pairs`); or those that it is given."""
_DECLARED = ("x", "privacy_set", "accuracy_set")
_BY_RUNS = "runs"
"""The method that enumerates all runs."""
_KEPT_SHARE, _KEPT_MOST = 0.3, 3.0
"""The share of a limit on time, and at most so many seconds, kept for what a few pairs show of a question cut short."""


def limited(
    about: About = "given",
    *,
    shown_by_few: bool = False,
    enclosed: bool = False,
    by_runs: bool = True,
    adaptive: bool = False,
) -> Callable[[Query[Asked, P, R]], Query[Asked, P, R]]:
    """Make a query of an instance keep its limits. What it is about says what else may be done for it.

    With a limit on time or memory it runs in a child process, so that it can be abandoned. Without one it runs here,
    keeps what it compiles for the next query, and takes at most 80 % of the memory that is free.

    A run that fails on any dataset that the query is about is its answer. Where no method has an exact answer, and none
    was asked for by name, all runs are enumerated if they are few, unless that cannot answer it (`by_runs`). With
    `shown_by_few`, a few pairs of neighbours, or a few datasets, show something, which is said where a limit is
    met. Unless it can be `enclosed`, it is refused for programs whose laws are not exact; and unless it is `adaptive`,
    for those that ask an analyst whose strategy is open.
    """

    def made(query: Query[Asked, P, R]) -> Query[Asked, P, R]:
        name, names = query.__name__.replace("_", " "), list(signature(query).parameters)[1:]

        def checked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
            try:
                found = query(instance, *arguments, **options)
            finally:
                if not enclosed and instance.one_engine:  # the answer would be one about other laws
                    _widened.refuse_inexact(instance.engine.program, name)
            return kept(found, instance.precision)

        @wraps(query)
        def asked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
            if instance.bound.asks and not adaptive:
                raise _strategies.refusal(name)
            try:
                return answered(instance, *arguments, **options)
            except ProgramError as error:
                called = getattr(instance.bound.program.function, "__tightdp_hint__", error.hint)
                if " fails with " in error.what and called not in error.hint:
                    error.hint += f"; {called}"
                raise
            except LanguageError as error:
                raise error.documented() from None

        def answered(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
            named = {**dict(zip(names, arguments, strict=False)), **options}
            question = partial(checked, instance, *arguments, **options)
            all_runs = partial(_all_runs, checked, instance, arguments, options) if by_runs else None
            whole = instance.method or instance.max_nodes or instance.timeout == 0 or not instance.one_engine

            def few(steps: int | None = None) -> Result | None:
                if about == "audited":
                    return None if steps else _known.partial_efficacies(instance, named.get("pairs"))
                return _known.partial_answers(instance, checked, arguments, options, steps)

            shown = None if whole or not shown_by_few else few
            answer = partial(_answer, instance, question, all_runs, shown, _records(instance, about, named))
            if shown is None:
                limits = _limits(instance)
                return _within(instance, partial(answer, limits), limits)
            return _with_what_is_known(instance, answer, shown)

        return asked

    return made


def _limits(instance: InstanceBase, kept: float = 0.0) -> Limits:
    return Limits(instance.timeout, max_memory=instance.max_memory or default_memory(), early=kept)


def _within(instance: InstanceBase, answer: Callable[[], R], limits: Limits) -> R:
    """Return the answer of a question within limits, or what is known of it where it had to be abandoned."""
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
        if error.snapshot is None:
            raise LimitError(*error.args) from None
        return cast(R, _known.stopped_by(error.snapshot, error))


def _with_what_is_known(instance: InstanceBase, answer: Callable[[Limits], R], few: Callable[[], Result | None]) -> R:
    """Return the answer of a question; where a limit cuts it short, with what a few pairs of neighbours show."""
    kept = 0.0 if instance.timeout is None else min(_KEPT_MOST, _KEPT_SHARE * instance.timeout)
    limits = _limits(instance, kept)
    found: R | None = None
    try:
        found = _within(instance, partial(answer, limits), limits)
        if not getattr(found, "cut_short", False) or _stopped(instance):
            return found
        error = LimitError(found.reason, found.hint)  # type: ignore[attr-defined]
    except LimitError as met:
        if _stopped(instance):
            raise
        error = met
    try:
        known = run(few, Limits(kept or None, max_memory=limits.max_memory), apart=True)
    except Abandoned as late:
        known = late.snapshot
    except LimitError:
        known = None
    if known is None and found is None:
        raise error
    joined = _known.joined(cast(Any, found), known)
    return cast(R, joined if found is not None else _known.stopped_by(cast(Any, joined), error))


def _stopped(instance: InstanceBase) -> bool:
    """Whether the user wants no more."""
    return interrupted() or instance.engine.stopping


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


def _answer(
    instance: InstanceBase,
    question: Callable[[], R],
    all_runs: Callable[[], R] | None,
    few: Callable[[int], Result | None] | None,
    records: Records,
    limits: Limits,
) -> R:
    """Return the answer of a question, or that of enumerating all runs where this is the only exact way.

    Where it takes long to lower the program and a `few` pairs of neighbours decide the question, LimitError is raised,
    after which these are asked. Raises ProgramError where a run fails; for a question about all datasets it names the
    same one whichever way met it.
    """
    if not instance.one_engine:
        return question()
    if instance.method is not None or instance.precision is not None:
        all_runs = None
    program = instance.engine.program
    decided = False

    def decided_by_few(steps: int) -> bool:
        nonlocal decided
        decided = few is not None and getattr(few(steps), "status", "") == "exact"
        return decided

    program.decided_by_few = decided_by_few
    program.few_runs = lambda runs: all_runs is not None and _runs.few_runs(instance.bound, runs)
    if records is not None and (failed := _failing.failing_run(instance.bound, instance.backend, records(), True)):
        raise failed
    try:
        found = question()
    except (ProgramError, QueryError) as error:
        failed = None if records is None else _failing.failing_run(instance.bound, instance.backend, records())
        raise failed or error from None
    except (LimitError, TooLargeError, RecursionError):
        if decided or all_runs is None or not _only_by_runs(instance, limits):
            raise
    else:
        if all_runs is None or not getattr(found, "reason", "") or not _only_by_runs(instance, limits):
            return found
    return all_runs()


def _only_by_runs(instance: InstanceBase, limits: Limits) -> bool:
    """Whether it is allowed, and little work, to enumerate all runs of a program that has no other exact answer."""
    if instance.engine.stopping or limits.reached() is not None or instance.max_nodes is not None:
        return False
    return bool(_runs.few_runs(instance.bound))


def _all_runs(query: Query[Asked, P, R], instance: Asked, arguments: Any, options: Any) -> R:
    """Return the answer from enumerating all runs."""
    found = copy(instance)
    found.forget()
    found.method, found.timeout, found.max_memory, found.progress = _BY_RUNS, None, None, None
    return query(found, *arguments, **options)
