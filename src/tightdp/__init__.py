"""Exact verification of differentially private mechanisms."""

from tightdp._version import __version__
from tightdp.errors import (
    BackendError,
    LanguageError,
    LimitError,
    ParameterError,
    ProgramError,
    QueryError,
    TightdpError,
)
from tightdp.instance import Instance
from tightdp.lang.domains import Bit, Bits, Int, Tuple, Values
from tightdp.lang.primitives import binomial, choice, flip, geometric, observe, randint, shuffle
from tightdp.mechanism import Mechanism, mechanism

__all__ = [
    "BackendError",
    "Bit",
    "Bits",
    "Instance",
    "Int",
    "LanguageError",
    "LimitError",
    "Mechanism",
    "ParameterError",
    "ProgramError",
    "QueryError",
    "TightdpError",
    "Tuple",
    "Values",
    "__version__",
    "binomial",
    "choice",
    "flip",
    "geometric",
    "mechanism",
    "observe",
    "randint",
    "shuffle",
]
