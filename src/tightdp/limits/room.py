"""Room for a question on the stack of Python's frames: without it, single calls take a hundred times as long.

CPython keeps frames in pieces of 16 KB, which it takes from the system when a call needs another one, and gives back
when that call returns. So a loop that happens to stand at the end of a piece has the system make and take back pages
with every call in it. A frame that is too large for such a piece gets a larger one, of which at least half is left.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar

__all__ = ["with_room"]

T = TypeVar("T")

_SLOTS = 1 << 17
"""The size of the large frame in values of 8 bytes: a power of two, so that the piece for it is twice as large."""


def _ask(question: Callable[[], T]) -> T:
    return question()


if TYPE_CHECKING:
    with_room = _ask
else:
    with_room = FunctionType(_ask.__code__.replace(co_stacksize=_SLOTS), globals(), "with_room")
    with_room.__doc__ = "Return the answer of a question, whose calls share one large piece of the stack."
