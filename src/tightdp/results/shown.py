"""How results reach the package that words and draws them, which stands above this one.

A result is a value and knows no sentence. `present` imports results, not the other way round; the public package
`tightdp` says once, with `shown_by`, which module shows them, and that is imported when a result is first shown.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

__all__ = ["Drawn", "Presenter", "Recorded", "Shown", "presenter", "shown_by"]


class Presenter(Protocol):
    """What shows results: `tightdp.present.show`."""

    def as_json(self, value: Any) -> dict[str, Any]:
        """Return a value as JSON has it."""

    def as_text(self, value: Any) -> str:
        """Return a value as text."""

    def as_html(self, value: Any) -> str:
        """Return a value as a fragment of HTML."""

    def draw(self, value: Any, ax: Any, **options: Any) -> Any:
        """Draw a value on Matplotlib axes (new ones where None) and return them; some pictures take options."""

    def as_file(self, value: Any, form: str) -> str:
        """Return a value as the text of a file: "csv", "dot" or "svg"."""


_module = ""


def shown_by(module: str) -> None:
    """Say which module is the presenter."""
    global _module
    _module = module


def presenter() -> Presenter:
    """Return the presenter."""
    return cast(Presenter, import_module(_module))


class Recorded:
    """A value that JSON has a form for."""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as JSON has it: exact numbers as text, `--json` prints the same."""
        return presenter().as_json(self)


class Shown(Recorded):
    """A value that people see: as text, and in notebooks as HTML."""

    def __repr__(self) -> str:
        return presenter().as_text(self)

    def _repr_html_(self) -> str:
        return presenter().as_html(self)


class Drawn(Shown):
    """A value that there is a picture of."""

    def plot(self, ax: Any = None) -> Any:
        """Draw the value on the Matplotlib axes `ax` (new ones, unless given) and return them.

        Raises TightdpError where Matplotlib is not installed.
        """
        return presenter().draw(self, ax)
