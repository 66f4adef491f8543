"""Cases of which a few run by default, and all with TIGHTDP_FULL=part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["thinned"]


def thinned(cases: Iterable[Any], every: int) -> list[Any]:
    """Return the cases; of each `every` neighbours all but the first are marked as slow."""
    slow = pytest.mark.slow(seconds=1)
    return [
        case if not at % every else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=slow)
        for at, case in enumerate(cases)
    ]
