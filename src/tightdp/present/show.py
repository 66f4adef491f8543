"""What is seen of each type of value, registered by type: text, HTML, files, pictures. See `results/shown.py`.

Each file of `results/` has its twin in `views/`, imported when a value of that file is first shown. It registers what
people see (`view_of`), and where there are some the picture (`picture_of`) and files (`file_of`).
"""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module
from typing import Any

from tightdp.present.html import html_of
from tightdp.present.text import terminal_width, text_of
from tightdp.present.view import View

__all__ = ["as_file", "as_html", "as_text", "draw", "file_of", "picture_of", "view", "view_of"]


@singledispatch
def view_of(value: Any) -> View:
    """Return what a person sees of a value; registered by type."""
    raise TypeError(f"{type(value).__name__} has no view")


@singledispatch
def picture_of(value: Any, ax: Any, **options: Any) -> Any:
    """Draw a value on axes and return them; registered by type."""
    raise TypeError(f"{type(value).__name__} has no picture")


@singledispatch
def file_of(value: Any, form: str) -> str:
    """Return a value as the text of a file of some form; registered by type."""
    raise TypeError(f"{type(value).__name__} is not written to files")


def view(value: Any) -> View:
    """Return what a person sees of a value."""
    _import_twin(value)
    return view_of(value)


def as_text(value: Any) -> str:
    """Return a value as text, as wide as the terminal where there is one."""
    return text_of(view(value), terminal_width())


def as_html(value: Any) -> str:
    """Return a value as a fragment of HTML."""
    return html_of(view(value))


def draw(value: Any, ax: Any, **options: Any) -> Any:
    """Draw a value on Matplotlib axes (new ones where None) and return them; some pictures take options."""
    _import_twin(value)
    return picture_of(value, ax, **options)


def as_file(value: Any, form: str) -> str:
    """Return a value as the text of a file: "csv", "dot" or "svg". Raises QueryError where it is too large for that."""
    _import_twin(value)
    return file_of(value, form)


def _import_twin(value: Any) -> None:
    """Import the twin of the file that a value's type stands in."""
    import_module(f"tightdp.present.views.{type(value).__module__.rpartition('.')[2]}")
