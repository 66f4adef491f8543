"""Randomness that a run draws, and the source of randomness in place does not see: then runs mean nothing."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tightdp.errors import LanguageError

_WHAT = "a run draws randomness in a way that is not known"
_HINT = "draw with the generators of random, secrets or numpy in code that is read, or with the primitives of tightdp"


def states() -> tuple[Any, ...]:
    """The states of the generators that Python and numpy have for all."""
    numpy = sys.modules.get("numpy")
    _, key, *rest = (None, None) if numpy is None else numpy.random.get_state()
    return random.getstate(), None if key is None else key.tobytes(), *rest


def refuse_changes(before: tuple[Any, ...]) -> None:
    """Raise LanguageError where one of these generators has been used since."""
    if states() != before:
        raise LanguageError(_WHAT, _HINT)


@contextmanager
def without_entropy() -> Iterator[None]:
    """Let new generators, and those of the operating system, raise LanguageError in the block, in this thread."""
    here, before = threading.get_ident(), random._urandom  # type: ignore[attr-defined]

    def urandom(size: int) -> bytes:
        if threading.get_ident() == here:
            raise LanguageError(_WHAT, _HINT)
        found: bytes = before(size)
        return found

    random._urandom = urandom  # type: ignore[attr-defined]
    try:
        yield
    finally:
        random._urandom = before  # type: ignore[attr-defined]
