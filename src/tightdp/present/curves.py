"""The privacy curve for the eye: which part of it a picture shows, and points that are close enough."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import log

_STEPS = 240
_DECADES = 12
"""At most so many powers of ten below δ(0) are drawn on a logarithmic scale, and at least three."""
_SMALL = 500.0
"""On a linear scale the picture ends where δ is so many times below δ(0)."""
_MOST_MARKS = 40
"""Of more break points than that no picture shows one."""
_LARGEST = 700.0
"""Above, e^ε is no float."""
_NEAR = 45
"""Powers of 1/2 by which points come close to where δ becomes 0."""


@dataclass(frozen=True)
class SeenCurve:
    """A line, the break points on it, the end of the x axis, and both ends of the y axis: linear where that is at 0."""

    line: tuple[tuple[float, float], ...]
    dots: frozenset[tuple[float, float]]
    end: float
    bottom: float
    top: float


def seen_curve(points: Sequence[tuple[Number, Number]], x: str = "epsilon", log_delta: bool = True) -> SeenCurve:
    """Return what is seen of a curve with exact break points (e^ε, δ), between which δ is linear in e^ε.

    On a logarithmic scale of δ a line that reaches 0 ends at the bottom of the picture.
    Raises QueryError where x is neither "epsilon" nor "exp_epsilon", or e^ε is too large to be drawn.
    """
    if x not in ("epsilon", "exp_epsilon"):
        raise QueryError(f"x is {x!r}", 'give "epsilon" or "exp_epsilon"')
    bends = [(log(t), float(delta)) for t, delta in points]
    top = bends[0][1]
    log_delta = log_delta and top > 0
    bottom = _bottom(bends) if log_delta else 0.0
    end = _end(bends, bottom if log_delta else top / _SMALL)
    if x == "exp_epsilon" and end > _LARGEST:
        raise QueryError(f"e^ε reaches e^{end:.0f}, which is too large to be drawn", "draw against ε")
    steps = [step / _STEPS for step in range(_STEPS + 1)]
    places = {at for at, _ in bends if at <= end}
    places |= {end * step for step in steps}
    if x == "exp_epsilon":
        places |= {math.log1p(math.expm1(end) * step) for step in steps}
    if log_delta and bends[-1][1] == 0 and len(bends) > 1:
        (before, _), (last, _) = bends[-2:]
        places |= {last - (last - before) * 0.5**power for power in range(1, _NEAR)} - {last}
    line = [(at, _delta(bends, at)) for at in sorted(places) if at <= end]
    dots = [bend for bend in bends if bend[0] <= end and bend[1] >= bottom]
    if len(dots) > _MOST_MARKS:
        dots = []
    if log_delta:
        line = _above(line, bottom)
    if x == "exp_epsilon":
        line, dots = ([(math.exp(at), delta) for at, delta in each] for each in (line, dots))
        end = math.exp(end)
    return SeenCurve(tuple(line), frozenset(dots), end, bottom, top)


def _above(line: Sequence[tuple[float, float]], bottom: float) -> list[tuple[float, float]]:
    """Return the part of a falling line that is not below the bottom, down to it."""
    shown = [point for point in line if point[1] >= bottom]
    after = line[len(shown) : len(shown) + 1]
    return [*shown, *((at, bottom) for at, _ in after)]


def _bottom(bends: Sequence[tuple[float, float]]) -> float:
    """Return the lower end of a logarithmic axis: below all break points, but not by more than some powers of ten."""
    top, least = bends[0][1], min(delta for _, delta in bends if delta > 0)
    return max(min(least / 10, top / 1000), top * 10.0**-_DECADES)


def _end(bends: Sequence[tuple[float, float]], least: float) -> float:
    """Return where the picture ends: a little beyond where δ falls below `least`, or beyond the last break point."""
    last = bends[-1][0]
    if bends[-1][1] > least or last == 0:
        return max(last * 1.25, last + 0.3, 1.0)
    low, high = 0.0, last
    while high - low > 1e-3 * last:
        middle = (low + high) / 2
        low, high = (middle, high) if _delta(bends, middle) > least else (low, middle)
    return min(high * 1.05, last * 1.1)


def _delta(bends: Sequence[tuple[float, float]], at: float) -> float:
    """Return δ at an ε: linear in e^ε between break points, constant after the last."""
    place = bisect_right(bends, at, key=itemgetter(0))
    if place == len(bends):
        return bends[-1][1]
    (start, above), (stop, below) = bends[place - 1], bends[place]
    share = math.exp(at - stop) * math.expm1(start - at) / math.expm1(start - stop)
    return above + (below - above) * share
