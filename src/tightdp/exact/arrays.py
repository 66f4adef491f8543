"""numpy, which is loaded when something of it is first used, and the arrays of it that signatures name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tightdp.exact.lazily import lazily

__all__ = ["Doubles", "Flags", "Integers", "Objects", "np"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Integers = NDArray[np.int64]
    Objects = NDArray[Any]
else:
    np = lazily("numpy")
    Doubles = Flags = Integers = Objects = Any
