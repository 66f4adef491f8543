"""What Ctrl-C does while the command is loaded: a line and an exit status, no traceback."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from types import TracebackType

_INTERRUPTED = 130


def _is_the_command() -> bool:
    script = sys.argv[0].replace("\\", "/").rpartition("/")[2] if sys.argv else ""
    as_module = script == "-m" and any(
        option.startswith("-") and option.endswith("m") and name == "tightdp"
        for option, name in pairwise(sys.orig_argv)
    )
    return as_module or script in ("tightdp", "tightdp.exe")


def _told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("interrupted before anything was known\n")
        sys.stderr.flush()
        os._exit(_INTERRUPTED)
    sys.__excepthook__(kind, error, trace)


if _is_the_command():
    sys.excepthook = _told
