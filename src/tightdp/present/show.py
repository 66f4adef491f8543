"""The entries of this package: a value as JSON, text, HTML, CSV, or a picture. See `results/shown.py`."""

from __future__ import annotations

from typing import Any

from tightdp.present.html import html_of
from tightdp.present.registry import import_twin, json_of, picture_of, view
from tightdp.present.text import terminal_width, text_of

__all__ = ["as_csv", "as_dot", "as_html", "as_json", "as_svg", "as_text", "draw"]


def as_json(value: Any) -> dict[str, Any]:
    """Return a value as JSON has it."""
    return json_of(value)


def as_text(value: Any) -> str:
    """Return a value as text, as wide as the terminal where there is one."""
    return text_of(view(value), terminal_width())


def as_html(value: Any) -> str:
    """Return a value as a fragment of HTML."""
    return html_of(view(value))


def draw(value: Any, ax: Any) -> Any:
    """Draw a value on Matplotlib axes (new ones where None) and return them."""
    import_twin(value)
    return picture_of(value, ax)


def as_csv(value: Any) -> str:
    """Return a sweep as CSV."""
    from tightdp.present.views.sweep import csv_of

    return csv_of(value)


def as_dot(value: Any) -> str:
    """Return a diagram as Graphviz text."""
    from tightdp.present.diagram import dot

    return dot(value)


def as_svg(value: Any) -> str:
    """Return a diagram as SVG. Raises QueryError where it is too large."""
    from tightdp.present.diagram import svg

    return svg(value)
