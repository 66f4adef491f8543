"""A table of answers over ranges of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tightdp.results.result import Result
from tightdp.results.shown import Drawn, as_file

__all__ = ["Sweep"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Sweep(Drawn, Result):
    """One answer for every combination of the swept parameters, whose names are `swept`."""

    query: ClassVar[str] = "sweep"
    json = "rows=_rows"
    swept: tuple[str, ...]
    rows: tuple[Result, ...]

    @property
    def _rows(self) -> list[dict[str, Any]]:
        names = ("query", "parameters", "status", "result", "stats")
        return [{name: whole[name] for name in names} for whole in (row.to_dict() for row in self.rows)]

    def csv(self) -> str:
        """Return the table as CSV; numbers are exact (p/q), ε is a float.

        A number that is not known is left empty; `lower` and `upper` enclose the first one in every row.
        """
        return as_file(self, "csv")
