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
_ROW_HEIGHT = 0.35
"""How many inches a bar is apart from the next."""
_ROOM = 70
"""How many characters there is room for below bars."""


ON_X, ON_X_PRIME = "#0072B2", "#D55E00"
"""The colours of what belongs to a dataset and to its neighbour."""
WORDS = {
    "epsilon": "privacy parameter ε",
    "exp_epsilon": "likelihood ratio e^ε",
    "delta": "privacy parameter δ",
    "one_minus_beta": "probability 1 - β of a small error",
    "alpha": "error bound α",
    "beta": "failure probability β",
    "efficacy": "efficacy: share of right guesses",
    "n": "number of records n",
}
"""What stands beside axes, by the names of numbers and parameters."""


def lines(
    ax: Any, points: Sequence[tuple[Number | float, Number | float]], x_label: str, y_label: str, title: str
) -> Any:
    """Draw a polygonal line on `ax` (new axes when None) and return the axes."""
    axes = named_axes(ax, x_label, y_label, title)
    axes.plot([float(x) for x, _ in points], [float(y) for _, y in points], label=title)
    return axes


def next_colour(axes: Any) -> str:
    """Return the colour for one more answer on axes that show others already."""
    return f"C{len({line.get_color() for line in axes.get_lines()} - {'black', 'grey'})}"


def told_apart(axes: Any) -> Any:
    """Name the lines of several answers in a legend, in place of a title, and return the axes."""
    axes.set_title("")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=1, frameon=False)
    return axes


def bars(ax: Any, labels: Sequence[str], heights: Sequence[Number], y_label: str, title: str) -> Any:
    """Draw one bar per label on `ax` (new axes when None), of many labels some, and return the axes."""
    axes = named_axes(ax, "output y", y_label, title)
    axes.bar(range(len(labels)), [float(height) for height in heights])
    shown = range(0, len(labels), 1 + len(labels) // _MOST_LABELS)
    turned = sum(len(labels[place]) + 2 for place in shown) > _ROOM
    axes.set_xticks(list(shown), [labels[place] for place in shown], rotation=90 if turned else 0)
    return axes


def rows_of_bars(
    ax: Any, rows: Sequence[tuple[str, Sequence[tuple[Number, str]]]], names: Sequence[str], x_label: str, title: str
) -> Any:
    """Draw for each row its label and its bars, (length, what stands beside it), from above, and return the axes.

    Every row has as many bars as there are `names`, which are those of the colours: none where that is one.
    """
    axes = named_axes(ax, x_label, "", title)
    if ax is None:
        axes.get_figure().set_figheight(1.6 + _ROW_HEIGHT * len(rows) * len(names))
    colours, thick = (ON_X, ON_X_PRIME), 0.8 / len(names)
    for at, (name, colour) in enumerate(zip(names, colours, strict=False)):
        places = [row + (at - (len(names) - 1) / 2) * thick for row in range(len(rows))]
        lengths = [float(shown[at][0]) for _, shown in rows]
        drawn = axes.barh(places, lengths, height=thick * 0.92, color=colour, label=name)
        axes.bar_label(drawn, [shown[at][1] for _, shown in rows], padding=3, fontsize="small")
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.set_xlim(left=0)
    return legend_below(axes) if len(names) > 1 else axes


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
