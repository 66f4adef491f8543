"""What is seen of each type of value, registered by type.

Each file of `results/` has its twin in `views/`, imported when a value of that file is first shown. It registers what
people see (`view_of`), what is particular in the JSON of an answer (`answer_of`, or `record_of` for values that are no
answers) and the picture, where there is one (`picture_of`).
"""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module
from typing import Any

from tightdp._version import __version__
from tightdp.present.view import View
from tightdp.present.words import plain
from tightdp.results.result import Result

SCHEMA = 1
"""The version of the JSON of answers, described in docs/command-line.md: it grows when a key changes or is removed."""

__all__ = [
    "SCHEMA",
    "answer_of",
    "answer_record",
    "file_of",
    "import_twin",
    "json_of",
    "picture_of",
    "record_of",
    "view",
    "view_of",
]


@singledispatch
def view_of(value: Any) -> View:
    """Return what a person sees of a value; registered by type."""
    raise TypeError(f"{type(value).__name__} has no view")


@singledispatch
def answer_of(value: Any) -> dict[str, Any]:
    """Return the part of the JSON that is particular to a query; registered by type."""
    raise TypeError(f"{type(value).__name__} has no JSON")


@singledispatch
def record_of(value: Any) -> dict[str, Any]:
    """Return a value as JSON has it; registered by type."""
    raise TypeError(f"{type(value).__name__} has no JSON")


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
    import_twin(value)
    return view_of(value)


def json_of(value: Any) -> dict[str, Any]:
    """Return a value as JSON has it."""
    import_twin(value)
    return record_of(value)


@record_of.register
def answer_record(result: Result) -> dict[str, Any]:
    """Return what the JSON of all answers has in common, with the answer in it."""
    return {
        "schema": SCHEMA,
        "tightdp": __version__,
        "query": result.query,
        "mechanism": result.mechanism,
        "parameters": {name: plain(value) for name, value in result.subject.parameters},
        **({"runs": result.subject.runs} if result.subject.runs else {}),
        "neighbours": result.neighbours,
        "status": result.status,
        "result": answer_of(result),
        "stats": json_of(result.stats),
    }


def import_twin(value: Any) -> None:
    """Import the twin of the file that a value's type stands in."""
    import_module(f"tightdp.present.views.{type(value).__module__.rpartition('.')[2]}")
