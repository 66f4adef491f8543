"""Programs written by hand that break compilers, and their comparison with the interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agreement import assert_agreement, bind, module_of
from tightdp.language.domains import Bit, Domain


@dataclass(frozen=True)
class Nasty:
    """A program: its name, the text of `f`, and what it is bound to. `fails` says on how many datasets it fails."""

    name: str
    source: str
    record: Domain = Bit
    n: int = 2
    parameters: dict[str, Any] = field(default_factory=dict)
    neighbours: str = "replace-one"
    fails: int = 0

    def check(self) -> None:
        """Compare it with the interpreter on every dataset, in every way of compiling."""
        with module_of(self.source) as module:
            bound = bind(module, self.record, self.n, neighbours=self.neighbours, **self.parameters)
            assert assert_agreement(bound).failing == self.fails
