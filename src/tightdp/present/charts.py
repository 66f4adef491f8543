"""Pictures of the report as SVG: bars, the δ curve, the trade-off function. Colours come from the page's style."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape

from tightdp.exact.field import Number

_WIDTH, _HEIGHT = 400, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 12, 44
_ROW, _PAIR = 40, 44

Points = Sequence[tuple[float, float]]


def bars(rows: Sequence[tuple[str, Number, str]], title: str, longest: Number | None = None, by: int = 1) -> str:
    """Return a bar for each (label, probability, class), with a label above each one, or `by` = 2 in pairs, each pair.

    `longest` is the full width; unless it is given, that is the largest probability.
    """
    longest = max((share for _, share, _ in rows), default=Fraction(0)) if longest is None else longest
    parts: list[str] = []
    apart, high = (_ROW, 12) if by == 1 else (_PAIR, 8)
    for place, (label, share, style) in enumerate(rows):
        top = place // by * apart + 19 + place % by * 9
        wide = max(float(share / longest) * (_WIDTH - 2) if longest else 0.0, 1.5)
        parts += [f'<text x="0" y="{top - 5}">{escape(label)}</text>'] if label else []
        parts.append(f'<rect class="{style}" x="0" y="{top}" width="{wide:.2f}" height="{high}" rx="2"/>')
    return _svg(_WIDTH, apart * -(-len(rows) // by), "".join(parts), title)


def curve(points: Sequence[tuple[Number, Number]], title: str) -> str:
    """Return δ against ε, from the exact break points (e^ε, δ), between which δ is linear in e^ε."""
    last = math.log(points[-1][0])
    end = max(last * 1.15, last + 0.3, 1.0)
    most = max(max(float(delta) for _, delta in points), 1e-12)
    frame = _Frame(end, most)
    fine = sorted({*(step * end / 160 for step in range(161)), *(math.log(t) for t, _ in points)})
    line = frame.path([(at, _between(points, math.exp(at))) for at in fine])
    shown = points if len(points) <= 40 else ()
    dots = "".join(frame.dot(math.log(t), float(delta)) for t, delta in shown)
    return _svg(_WIDTH, _HEIGHT, f'{frame.axes("ε", "δ")}<path class="one" d="{line}"/>{dots}', title)


def tradeoff(vertices: Sequence[tuple[Number, Number]], title: str) -> str:
    """Return the trade-off function on the unit square, with the diagonal of perfect privacy."""
    side = 330
    frame = _Frame(1.0, 1.0, side + _LEFT + _RIGHT, side + _TOP + _BOTTOM)
    diagonal = frame.path([(0.0, 1.0), (1.0, 0.0)])
    line = frame.path([(float(a), float(b)) for a, b in vertices])
    dots = "".join(frame.dot(float(a), float(b)) for a, b in vertices) if len(vertices) <= 40 else ""
    inner = f'{frame.axes("false positive rate", "false negative rate")}<path class="guide" d="{diagonal}"/>'
    return _svg(frame.width, frame.height, f'{inner}<path class="one" d="{line}"/>{dots}', title)


class _Frame:
    """Axes from 0 to the ends given, and where a point stands in the picture."""

    def __init__(self, x_end: float, y_end: float, width: int = _WIDTH, height: int = _HEIGHT) -> None:
        self.x_end, self.y_end, self.width, self.height = x_end, y_end, width, height

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = self.width - _LEFT - _RIGHT
        up = self.height - _TOP - _BOTTOM
        return _LEFT + across * x / self.x_end, self.height - _BOTTOM - up * y / self.y_end

    def path(self, points: Points) -> str:
        return "M" + " L".join(f"{x:.2f},{y:.2f}" for x, y in (self.place(*point) for point in points))

    def dot(self, x: float, y: float) -> str:
        across, up = self.place(x, y)
        return f'<circle class="dot" cx="{across:.2f}" cy="{up:.2f}" r="3"/>'

    def axes(self, x_label: str, y_label: str) -> str:
        parts = []
        for value in _ticks(self.x_end):
            at, base = self.place(value, 0)
            parts.append(f'<path class="grid" d="M{at:.2f},{_TOP} V{base:.2f}"/>')
            parts.append(f'<text class="soft" x="{at:.2f}" y="{base + 16:.2f}" text-anchor="middle">{value:g}</text>')
        for value in _ticks(self.y_end):
            left, at = self.place(0, value)
            parts.append(f'<path class="grid" d="M{left:.2f},{at:.2f} H{self.width - _RIGHT}"/>')
            parts.append(f'<text class="soft" x="{left - 6:.2f}" y="{at + 4:.2f}" text-anchor="end">{value:g}</text>')
        corner, base = self.place(0, 0)
        parts.append(f'<path class="axis" d="M{corner:.2f},{_TOP} V{base:.2f} H{self.width - _RIGHT}"/>')
        middle = (corner + self.width - _RIGHT) / 2
        parts.append(f'<text x="{middle:.2f}" y="{self.height - 8}" text-anchor="middle">{escape(x_label)}</text>')
        up = (base + _TOP) / 2
        turned = f'transform="rotate(-90 13 {up:.2f})"'
        parts.append(f'<text x="13" y="{up:.2f}" text-anchor="middle" {turned}>{escape(y_label)}</text>')
        return "".join(parts)


def _ticks(end: float) -> list[float]:
    """Return some five round numbers from 0 to at most the end."""
    rough = end / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * 0.999)
    return [round(index * step, 12) for index in range(int(end / step + 1e-9) + 1)]


def _between(points: Sequence[tuple[Number, Number]], t: float) -> float:
    """Return δ at e^ε = t for the eye: linear between break points, constant after the last."""
    for (t0, d0), (t1, d1) in itertools.pairwise(points):
        if t <= float(t1):
            share = (t - float(t0)) / float(t1 - t0)
            return float(d0) + min(max(share, 0.0), 1.0) * float(d1 - d0)
    return float(points[-1][1])


def _svg(width: int, height: int, inner: str, title: str) -> str:
    said = escape(title, quote=True)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{said}">{inner}</svg>'
