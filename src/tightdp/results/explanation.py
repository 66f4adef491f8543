"""Where the privacy loss of an instance comes from: its draws, and the changes of single lines that would fix it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.results.record import Recorded
from tightdp.results.result import EventWitness, PairWitness, Result

__all__ = ["DrawLoss", "Explanation", "Remedy", "Smallest"]


@dataclass(frozen=True)
class DrawLoss(Recorded):
    """One place where the source draws, on one pair of neighbours.

    `published` is e^ε of the pair when the outcomes drawn there are published besides the output, `fixed` when the most
    likely outcome is taken there every time.
    """

    json = "line text published fixed"
    line: int
    text: str
    published: Exact
    fixed: Exact


@dataclass(frozen=True)
class Remedy(Recorded):
    """A change of one line after which the claim holds (`holds`), or comes nearest to it.

    `loss` is e^ε after the change, or δ at the claimed e^ε where the claim has a δ; `moved` is the larger total
    variation distance by which the change moves the output laws of the worst pair. `adds_noise` and `restores`
    say whether the change adds a draw and uses a parameter that was not used, `exact` that the claim is met exactly.
    """

    json = "line before after loss holds moved"
    line: int
    before: str
    after: str
    loss: Exact
    holds: bool
    moved: Fraction
    adds_noise: bool = False
    restores: bool = False
    exact: bool = False


@dataclass(frozen=True)
class Smallest(Recorded):
    """The smallest n, domain and parameters found at which the claim still fails, with the smallest event."""

    json = "parameters=_parameters records loss witness"
    parameters: tuple[tuple[str, Any], ...]
    records: tuple[Any, ...]
    loss: Exact
    witness: EventWitness

    @property
    def _parameters(self) -> dict[str, Any]:
        return dict(self.parameters)


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation(Result):
    """Why an instance loses as much privacy as it does.

    Without a claim there are only the worst pair and its draws. `line` is the line to blame for a claim that fails: the
    one of the remedy that makes it hold and moves the output laws least. `source` has all lines of the file.
    """

    query: ClassVar[str] = "explain"
    json = "exp_epsilon witness? draws *_verdict smallest?"
    exp_epsilon: Exact
    witness: PairWitness | None
    draws: tuple[DrawLoss, ...]
    claimed: Number | None = None
    delta: Number = Fraction(0)
    holds: bool | None = None
    line: int | None = None
    remedies: tuple[Remedy, ...] = ()
    smallest: Smallest | None = None
    source: tuple[str, ...] = ()

    @property
    def _verdict(self) -> dict[str, Any]:
        names = ("claimed", "delta", "holds", "line", "remedies")
        return {} if self.claimed is None else {name: getattr(self, name) for name in names}
