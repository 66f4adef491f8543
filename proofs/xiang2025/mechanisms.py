"""Mechanisms for the claims of xiang2025 that programs/ does not have."""

from __future__ import annotations

from typing import Any

from tightdp import Bit, flip, mechanism, randint


@mechanism(record=Bit)
def one_secret(x: Any, delta: Any, n: Any) -> Any:
    """Each record is given away, with its index, with probability delta, and never two together."""
    if flip(n * delta):
        at = randint(0, n - 1)
        return (at, x[at])
    return None
