"""Why a program is answered neither by methods nor by the algebra: loops, and noise that has no finite form."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import TYPE_CHECKING

from tightdp.core.unmerged import Endless, Uncut
from tightdp.errors import ProgramError, Span, TightdpError
from tightdp.exact.lazily import lazily
from tightdp.language.program import Bound

if TYPE_CHECKING:
    from tightdp.cells import laws, noise
else:  # few programs need them
    laws = lazily("tightdp.cells.laws")


def explained(uncut: Uncut, outside: noise.Outside) -> TightdpError:
    """Return why noise that only the algebra knows is not answered by it: a run that fails, or what is done with it."""
    if isinstance(outside.__cause__, ProgramError):
        return outside.__cause__
    if isinstance(uncut, Endless):
        loop = outside.reason.removeprefix("is drawn in ")
        uncut.what += f"; it is {loop}" if uncut.counts and loop != outside.reason else ""
        return uncut
    found = Uncut(uncut.kind, outside.reason)
    found.span = uncut.span
    return found


def check_loops(bound: Bound, watch: Callable[[], None]) -> None:
    """Raise Endless where a loop counts without a bound: then there is no core program."""
    loops = any("while" in line for line in bound.program.source.file_lines)
    place = laws.loop_that_counts(bound, watch) if loops else None
    if place is not None:
        error = Endless(
            "this while loop counts without a bound, and its law has no closed form here",
            "ask for ε, δ, accuracy or errors at one n, or bound the loop, as in `for _ in range(N)`",
            counts=True,
        )
        file, line, column = place.rsplit(":", 2)
        text = linecache.getline(file, int(line))
        error.span = Span(file, int(line), int(column) + 1, int(column) + 1 + len("while"), text)
        raise error
