"""Pictures, by Matplotlib (the extra `plot`), imported only here and only when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from tightdp.errors import TightdpError
from tightdp.exact.field import Number

__all__ = ["bars", "lines", "new_axes", "require"]


def lines(
    ax: Any, points: Sequence[tuple[Number | float, Number | float]], x_label: str, y_label: str, title: str
) -> Any:
    """Draw a polygonal line on `ax` (new axes when None) and return the axes."""
    axes = new_axes() if ax is None else ax
    axes.plot([float(x) for x, _ in points], [float(y) for _, y in points], label=title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_title(title)
    return axes


def bars(ax: Any, labels: Sequence[str], heights: Sequence[Number], y_label: str, title: str) -> Any:
    """Draw one bar per label on `ax` (new axes when None) and return the axes."""
    axes = new_axes() if ax is None else ax
    axes.bar(list(labels), [float(height) for height in heights])
    axes.set_ylabel(y_label)
    axes.set_title(title)
    return axes


def new_axes() -> Any:
    """Return new axes. Raises TightdpError where Matplotlib is not installed."""
    require()
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def require() -> None:
    """Raise TightdpError where Matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise TightdpError("plots need Matplotlib", "install it with: pip install 'tightdp[plot]'")
