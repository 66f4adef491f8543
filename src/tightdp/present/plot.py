"""Pictures, by Matplotlib (the extra `plot`), imported only here and only when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tightdp.errors import MissingExtra
from tightdp.exact.field import Number

_MOST_LABELS = 25
"""How many labels there is room for below bars, where they are turned."""
_ROOM = 70
"""How many characters there is room for below bars."""


def lines(
    ax: Any, points: Sequence[tuple[Number | float, Number | float]], x_label: str, y_label: str, title: str
) -> Any:
    """Draw a polygonal line on `ax` (new axes when None) and return the axes."""
    axes = named_axes(ax, x_label, y_label, title)
    axes.plot([float(x) for x, _ in points], [float(y) for _, y in points], label=title)
    return axes


def bars(ax: Any, labels: Sequence[str], heights: Sequence[Number], y_label: str, title: str) -> Any:
    """Draw one bar per label on `ax` (new axes when None), of many labels some, and return the axes."""
    axes = named_axes(ax, "", y_label, title)
    axes.bar(range(len(labels)), [float(height) for height in heights])
    shown = range(0, len(labels), 1 + len(labels) // _MOST_LABELS)
    turned = sum(len(labels[place]) + 2 for place in shown) > _ROOM
    axes.set_xticks(list(shown), [labels[place] for place in shown], rotation=90 if turned else 0)
    return axes


def named_axes(ax: Any, x_label: str, y_label: str, title: Any) -> Any:
    """Return `ax` (new axes when None) with what stands beside and above them."""
    axes = new_axes() if ax is None else ax
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_title(str(title))
    return axes


def legend_below(axes: Any) -> Any:
    """Put the legend below the axes, where it hides nothing, and return the axes."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)
    return axes


def new_axes() -> Any:
    """Return new axes, which make room for what stands around them.

    Raises MissingExtra where Matplotlib is not installed.
    """
    _require()
    from matplotlib import pyplot

    axes = pyplot.subplots(layout="constrained")[1]
    axes.title.set_wrap(True)
    return axes


def formats() -> set[str]:
    """Return the endings of files that Matplotlib writes. Raises MissingExtra where it is not installed."""
    _require()
    return set(import_module("matplotlib.backend_bases").FigureCanvasBase.get_supported_filetypes())


def installed() -> bool:
    """Whether Matplotlib is there."""
    return find_spec("matplotlib") is not None


def _require() -> None:
    if not installed():
        raise MissingExtra("plots need Matplotlib", "plot")
