"""What is seen of each type of value, registered by type: text, HTML, files, pictures. See `results/result.py`.

Each file of `results/` has its twin in `views/`, imported when a value of that file is first shown. It registers what
people see (`view_of`), and where there are some the picture (`picture_of`) and files (`file_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from importlib import import_module
from typing import Any

from tightdp.errors import QueryError
from tightdp.present import plot
from tightdp.present.text import View, html_of, line_of, terminal_width, text_of

_TWINS = {"guessing": "audit"}
"""Files of `results/` whose twin has another name."""


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
    import_twin(type(value))
    return view_of(value)


def as_text(value: Any) -> str:
    """Return a value as text, as wide as the terminal where there is one."""
    return text_of(view(value), terminal_width())


def as_line(value: Any) -> str:
    """Return a value in one line."""
    return line_of(view(value), type(value).__name__)


def as_html(value: Any) -> str:
    """Return a value as a fragment of HTML."""
    return html_of(view(value))


def draw(value: Any, ax: Any, beside: Sequence[Any] = (), **options: Any) -> Any:
    """Draw a value on Matplotlib axes (new ones where None), and others beside it; some pictures take options.

    Return the axes. Raises QueryError where the others have no line of the same kind.
    """
    for other in beside:
        if not value.line or getattr(other, "line", "") != value.line:
            what = value.line or "picture that is no line"
            raise QueryError(
                f"{type(other).__name__} cannot be drawn beside a {what}",
                "draw curves, trade-off functions, tables, or functions of an unknown, each beside others of its kind",
            )
    import_twin(type(value))
    axes = picture_of(value, ax, **options)
    for other in beside:
        import_twin(type(other))
        picture_of(other, axes, **options)
    return plot.told_apart(axes) if beside else axes


def as_file(value: Any, form: str) -> str:
    """Return a value as the text of a file: "csv", "dot" or "svg". Raises QueryError where it is too large for that."""
    import_twin(type(value))
    return file_of(value, form)


def import_twin(kind: type) -> None:
    """Import the twin of the file that a type stands in."""
    name = kind.__module__.rpartition(".")[2]
    import_module(f"tightdp.present.views.{_TWINS.get(name, name)}")
