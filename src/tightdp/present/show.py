"""The entries of this package: a value as JSON, text, HTML, CSV, or a picture. See `results/shown.py`."""

from __future__ import annotations

from typing import Any

from tightdp.present.html import html_of
from tightdp.present.registry import file_of, import_twin, json_of, picture_of, view
from tightdp.present.text import terminal_width, text_of

__all__ = ["as_file", "as_html", "as_json", "as_text", "draw"]


def as_json(value: Any) -> dict[str, Any]:
    """Return a value as JSON has it."""
    return json_of(value)


def as_text(value: Any) -> str:
    """Return a value as text, as wide as the terminal where there is one."""
    return text_of(view(value), terminal_width())


def as_html(value: Any) -> str:
    """Return a value as a fragment of HTML."""
    return html_of(view(value))


def draw(value: Any, ax: Any, **options: Any) -> Any:
    """Draw a value on Matplotlib axes (new ones where None) and return them; some pictures take options."""
    import_twin(value)
    return picture_of(value, ax, **options)


def as_file(value: Any, form: str) -> str:
    """Return a value as the text of a file: "csv", "dot" or "svg". Raises QueryError where it is too large for that."""
    import_twin(value)
    return file_of(value, form)
