"""How often a run of a mechanism fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tightdp.exact.field import Number
from tightdp.results.result import Result

__all__ = ["Failure"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Failure(Result):
    """The probability that a run on dataset x ends in a Python exception, such as a failed `assert`.

    `error` says which error is the likeliest, `place` (file:line:column) where it is raised; None where no run fails.
    With `worst`, no other dataset has a larger probability. Runs that `observe` rejects before they fail do not count.
    Where it is enclosed, `probability` is the upper end, and `lower` the other one.
    """

    query: ClassVar[str] = "failure"
    x: tuple[Any, ...]
    probability: Number
    error: str | None = None
    place: str | None = None
    worst: bool = False
    lower: Number | None = None

    @property
    def upper(self) -> Number:
        """The upper end of what is known of the probability."""
        return self.probability

    def __float__(self) -> float:
        return float(self.probability)
