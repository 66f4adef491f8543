"""A guard: while it is on, no function of the engine may be called."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from tightdp.errors import TightdpError

__all__ = ["SharedCodeError", "without_engine"]

_PACKAGE = Path(__file__).parent.parent
_ROOMS = ("auditing", "core", "logic", "methods", "one_run", "queries", "symmetry")
_SESSION = ("auditing", "engine", "instance", "monitor", "one_run", "search", "verification")
_ENGINE = (
    *(f"{_PACKAGE / room}{os.sep}" for room in _ROOMS),
    *(str(_PACKAGE / "session" / f"{name}.py") for name in _SESSION),
)
"""What compiles, searches and answers: not the language with its interpreter, not exact numbers."""


class SharedCodeError(TightdpError):
    """A brute force called the engine that it is meant to check."""


@contextmanager
def without_engine() -> Iterator[None]:
    """Raise SharedCodeError where code of the compiler, the diagrams or the queries is called meanwhile."""
    known: dict[str, bool] = {}

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        file = frame.f_code.co_filename
        engine = known.get(file)
        if engine is None:
            engine = known[file] = file.startswith(_ENGINE)
        if engine and frame.f_code.co_name != "<module>" and not _importing(frame):
            sys.setprofile(before)
            name = f"{Path(file).stem}.{frame.f_code.co_name}"
            raise SharedCodeError(
                f"the brute force calls {name} of the engine",
                "use Fractions, itertools and tightdp.claims.brute only",
            )

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


def _importing(frame: FrameType) -> bool:
    """Whether a module is being imported, which runs decorators and class bodies, not the engine."""
    above: FrameType | None = frame
    while above is not None:
        if above.f_code.co_name == "<module>" and above.f_code.co_filename.startswith(_ENGINE):
            return True
        above = above.f_back
    return False
