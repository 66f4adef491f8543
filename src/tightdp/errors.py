"""Every error that tightdp raises on purpose: one root, one class per stage.

The message of an error has one line that names the offender (`what`) and one that says how to correct it
(`hint`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Span:
    """A piece of one line of the user's source.

    `line`, `column` and `end_column` count from 1, in characters; `end_column` is the first column after
    the piece.
    """

    file: str
    line: int
    column: int
    end_column: int
    text: str

    @property
    def place(self) -> str:
        """`file:line:column`, the form that editors and terminals make clickable."""
        return f"{self.file}:{self.line}:{self.column}"

    def excerpt(self) -> str:
        """The source line with a caret under the piece, two lines."""
        text = self.text.rstrip("\n")
        stripped = text.lstrip()
        before = max(self.column - 1 - (len(text) - len(stripped)), 0)
        width = max(min(self.end_column, len(text) + 1) - self.column, 1)
        return f"    {stripped}\n    {' ' * before}{'^' * width}"


class TightdpError(Exception):
    """The root of all errors of this package."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, hint)
        self.what = what
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__)  # whatever the constructor of the class takes

    def __str__(self) -> str:
        return "\n".join(line for line in (self.what, self._indented_hint()) if line)

    def to_dict(self) -> dict[str, Any]:
        """Return the error as `--json` prints it: its class, what was wrong, what to do, and where that is known."""
        kinds = [each.__name__ for each in type(self).__mro__ if each.__base__ in (TightdpError, _LocatedError)]
        kind = next((each for each in kinds if each != "_LocatedError"), "TightdpError")  # classes within are our own
        found: dict[str, Any] = {"kind": kind, "what": self.what, "hint": self.hint}
        span, dataset = getattr(self, "span", None), getattr(self, "x", None)
        if span is not None:
            names = ("file", "line", "column", "end_column", "text")
            found["place"] = {name: getattr(span, name) for name in names}
        return found if dataset is None else {**found, "dataset": str(dataset)}

    def _indented_hint(self) -> str:
        return f"  {self.hint}" if self.hint else ""


def _again(kind: type[TightdpError], arguments: tuple[Any, ...], held: dict[str, Any]) -> TightdpError:
    """Return an error as it was before it was pickled."""
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(held)
    return error


class _LocatedError(TightdpError):
    """An error that points at the user's source when it knows the place."""

    span: Span | None

    def __str__(self) -> str:
        if self.span is None:
            return super().__str__()
        parts = (f"{self.span.place}: {self.what}", self.span.excerpt(), self._indented_hint())
        return "\n".join(part for part in parts if part)


class LanguageError(_LocatedError):
    """The source of a mechanism is outside the language, or cannot be read."""

    def __init__(self, what: str, hint: str = "", span: Span | None = None) -> None:
        super().__init__(what, hint)
        self.span = span

    def documented(self) -> LanguageError:
        """Return an error of a class of our own as one of this class, which users know; any other as it is."""
        return self if type(self).__module__ == __name__ else LanguageError(self.what, self.hint, self.span)


class TooLargeError(LanguageError):
    """The values of a mechanism are too many to compile it; its runs may still be few."""


class ParameterError(TightdpError, ValueError):
    """A number, parameter, probability, record or domain is not what is expected.

    It is a ValueError, as generators of Python and of numpy raise for the same arguments.
    """


class ProgramError(_LocatedError):
    """A run of the mechanism fails: an assertion, an index, a division by zero, an impossible observation.

    `x` is a dataset that reaches the failure, None when it is not known.
    """

    def __init__(self, what: str, hint: str = "", span: Span | None = None, x: tuple[Any, ...] | None = None) -> None:
        super().__init__(what, hint)
        self.span = span
        self.x = x


class QueryError(TightdpError):
    """The query does not fit the mechanism: no target, an output that is not a number, a domain too large."""


class LimitError(TightdpError):
    """A limit on time, memory or depth was reached before the answer was known."""


class MissingExtra(TightdpError):
    """What an optional extra of the package installs is not there."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(what, f"in a clone of the repository, python -m pip install '.[{extra}]' installs it")


class BackendError(TightdpError):
    """The library of decision diagrams is missing or failed."""
