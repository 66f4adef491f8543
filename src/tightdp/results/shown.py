"""How results reach the package that words and draws them, which stands above this one.

A result is a value and knows no sentence. `present` imports results, not the other way round; the public package
`tightdp` says once, with `shown_by`, which module shows them, and that is imported when a result is first shown.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tightdp.results.record import Recorded

__all__ = ["Drawn", "Shown", "as_file", "presenter", "shown_by"]

_module = ""


def shown_by(module: str) -> None:
    """Say which module is the presenter."""
    global _module
    _module = module


def presenter() -> Any:
    """Return the presenter, `tightdp.present.show`."""
    return import_module(_module)


def as_file(value: object, form: str) -> str:
    """Return a value as the text of a file: "csv", "dot", "svg" or "html"."""
    return str(presenter().as_file(value, form))


class Shown(Recorded):
    """A value that people see: as text, and in notebooks as HTML."""

    def __repr__(self) -> str:
        return str(presenter().as_text(self))

    def _repr_html_(self) -> str:
        return str(presenter().as_html(self))


class Drawn(Shown):
    """A value that there is a picture of."""

    def plot(self, ax: Any = None) -> Any:
        """Draw the value on the Matplotlib axes `ax` (new ones, unless given) and return them.

        Raises TightdpError where Matplotlib is not installed.
        """
        return presenter().draw(self, ax)
