"""Mechanisms and instances about which the tests of answers ask, and how to stop a search half-way."""

from __future__ import annotations

from tightdp import Bit, Instance, Int, choice, flip, mechanism
from tightdp.methods.base import Step


@mechanism(record=Bit)
def response(x, lam):  # type: ignore[no-untyped-def]
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit, target=sum)
def total(x, lam):  # type: ignore[no-untyped-def]
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def leak(x, p):  # type: ignore[no-untyped-def]
    return x if flip(p) else None


@mechanism(record=Int(0, 2))
def shame(x):  # type: ignore[no-untyped-def]
    return choice(x)


@mechanism(record=Bit, neighbours=lambda x: ())
def alone(x):  # type: ignore[no-untyped-def]
    return x


@mechanism(record=Bit, target=sum)
def words(x):  # type: ignore[no-untyped-def]
    return "<b>" if flip("1/2") else "&"


RESPONSE = response.bind(n=2, lam="1/5")
LEAK = leak.bind(n=2, p="1/3")
TOTAL = total.bind(n=8, lam="1/5")


def stopped_after(instance: Instance, datasets: int) -> Instance:
    """The instance, which stops its queries after so many datasets."""

    def tell(step: Step) -> None:
        instance.engine.stopping = step.done >= datasets

    instance.engine.progress = tell
    return instance


def one_flip(x: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A relation without a name that tightdp knows: everything is gone through."""
    return [(*x[:at], 1 - bit, *x[at + 1 :]) for at, bit in enumerate(x)]
