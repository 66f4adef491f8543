"""Pictures of a report, as SVG: bars, the privacy curve, the trade-off function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape

from tightdp.exact.field import Number
from tightdp.exact.numbers import decimal_text
from tightdp.present.curves import seen_curve

_WIDTH, _HEIGHT = 400, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 14, 12, 44
_LABEL, _BAR, _GAP = 19, 13, 8
_DECIMALS = 60
"""How much room there is beside the longest bar for its decimal."""

Points = Sequence[tuple[float, float]]


def bars(rows: Sequence[tuple[str, Number, str]], title: str, longest: Number | None = None, by: int = 1) -> str:
    """Return a bar for each (label, probability, class), with a label above each one, or `by` = 2 in pairs, each pair.

    `longest` is the full width; unless it is given, that is the largest probability.
    """
    longest = max((share for _, share, _ in rows), default=Fraction(0)) if longest is None else longest
    parts: list[str] = []
    apart = _LABEL + by * _BAR + _GAP
    for place, (label, share, style) in enumerate(rows):
        top = place // by * apart + _LABEL + place % by * _BAR
        wide = max(float(share / longest) * (_WIDTH - _DECIMALS) if longest else 0.0, 1.5)
        parts += [f'<text x="0" y="{top - 5}">{escape(label)}</text>'] if label else []
        parts.append(f'<rect class="{style}" x="0" y="{top}" width="{wide:.2f}" height="{_BAR - 2}" rx="2"/>')
        parts.append(f'<text class="soft" x="{wide + 5:.2f}" y="{top + 10}">{decimal_text(share, 4)}</text>')
    return _svg(_WIDTH, apart * -(-len(rows) // by), "".join(parts), title)


def curve(points: Sequence[tuple[Number, Number]], title: str) -> str:
    """Return δ, on a logarithmic scale, against ε, from the exact break points (e^ε, δ)."""
    seen = seen_curve(points)
    frame = _Frame(seen.end, seen.top or 1.0, seen.bottom)
    dots = "".join(frame.dot(*point) for point in sorted(seen.dots))
    axes = frame.axes("privacy parameter ε", "privacy parameter δ")
    return _svg(_WIDTH, _HEIGHT, f'{axes}<path class="one" d="{frame.path(seen.line)}"/>{dots}', title)


def tradeoff(vertices: Sequence[tuple[Number, Number]], title: str) -> str:
    """Return the trade-off function on the unit square, with the diagonal of perfect privacy."""
    side = 330
    frame = _Frame(1.0, 1.0, 0.0, side + _LEFT + _RIGHT, side + _TOP + _BOTTOM)
    diagonal = frame.path([(0.0, 1.0), (1.0, 0.0)])
    line = frame.path([(float(a), float(b)) for a, b in vertices])
    dots = "".join(frame.dot(float(a), float(b)) for a, b in vertices) if len(vertices) <= 40 else ""
    inner = f'{frame.axes("false positive rate α", "false negative rate f(α)")}<path class="guide" d="{diagonal}"/>'
    return _svg(frame.width, frame.height, f'{inner}<path class="one" d="{line}"/>{dots}', title)


class _Frame:
    """Axes from 0 to the ends given, and where a point stands in the picture; y is logarithmic where `bottom` > 0."""

    def __init__(
        self, x_end: float, y_end: float, bottom: float = 0.0, width: int = _WIDTH, height: int = _HEIGHT
    ) -> None:
        self.x_end, self.y_end, self.bottom, self.width, self.height = x_end, y_end, bottom, width, height

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = self.width - _LEFT - _RIGHT
        up = self.height - _TOP - _BOTTOM
        share = math.log(y / self.bottom) / math.log(self.y_end / self.bottom) if self.bottom else y / self.y_end
        return _LEFT + across * x / self.x_end, self.height - _BOTTOM - up * share

    def path(self, points: Points) -> str:
        return "M" + " L".join(f"{x:.2f},{y:.2f}" for x, y in (self.place(*point) for point in points))

    def dot(self, x: float, y: float) -> str:
        across, up = self.place(x, y)
        return f'<circle class="dot" cx="{across:.2f}" cy="{up:.2f}" r="3"/>'

    def axes(self, x_label: str, y_label: str) -> str:
        parts = []
        for value in _ticks(self.x_end):
            at, base = self.place(value, self.bottom)
            parts.append(f'<path class="grid" d="M{at:.2f},{_TOP} V{base:.2f}"/>')
            parts.append(f'<text class="soft" x="{at:.2f}" y="{base + 16:.2f}" text-anchor="middle">{value:g}</text>')
        for value in _powers(self.bottom, self.y_end) if self.bottom else _ticks(self.y_end):
            left, at = self.place(0, value)
            parts.append(f'<path class="grid" d="M{left:.2f},{at:.2f} H{self.width - _RIGHT}"/>')
            parts.append(f'<text class="soft" x="{left - 6:.2f}" y="{at + 4:.2f}" text-anchor="end">{value:g}</text>')
        corner, base = self.place(0, self.bottom)
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


def _powers(bottom: float, end: float) -> list[float]:
    """Return some powers of ten between two ends, or both ends where there is hardly one."""
    low, high = math.ceil(math.log10(bottom)), math.floor(math.log10(end))
    step = 1 + (high - low) // 6
    return [10.0**power for power in range(high, low - 1, -step)][::-1]


def _svg(width: int, height: int, inner: str, title: str) -> str:
    said = escape(title, quote=True)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{said}">{inner}</svg>'
