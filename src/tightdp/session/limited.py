"""Queries that keep the limits of their instance, whatever they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from tightdp.errors import LimitError
from tightdp.limits import Abandoned, Limits, default_memory, run, ticking, with_text

if TYPE_CHECKING:
    from tightdp.session.base import InstanceBase

__all__ = ["limited"]

P = ParamSpec("P")
R = TypeVar("R")
Asked = TypeVar("Asked", bound="InstanceBase")


def limited(query: Callable[Concatenate[Asked, P], R]) -> Callable[Concatenate[Asked, P], R]:
    """Make a query of an instance keep its limits.

    With a limit on time or memory it runs in a child process, so that it can be abandoned. Without one it runs here,
    keeps what it compiles for the next query, and takes at most 80 % of the memory that is free.
    """

    @wraps(query)
    def asked(instance: Asked, /, *arguments: P.args, **options: P.kwargs) -> R:
        limits = Limits(instance.timeout, max_memory=instance.max_memory or default_memory())
        if instance.timeout is None and instance.max_memory is None:
            with ticking(limits) as met, with_text(limits):
                try:
                    return query(instance, *arguments, **options)
                finally:
                    if met():
                        instance.forget()
        try:
            return run(lambda: query(instance, *arguments, **options), limits)
        except Abandoned as error:
            abandoned = error
        if abandoned.snapshot is None:
            raise LimitError(*abandoned.args)
        return cast(R, replace(abandoned.snapshot, reason=abandoned.what, hint=abandoned.hint))

    return asked
