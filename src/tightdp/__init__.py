"""Exact verification of differentially private mechanisms."""

from tightdp.errors import (
    BackendError,
    LanguageError,
    LimitError,
    ParameterError,
    ProgramError,
    QueryError,
    TightdpError,
)
from tightdp.lang.domains import Bit, Bits, Int, Tuple, Values
from tightdp.lang.primitives import binomial, choice, flip, geometric, observe, randint, shuffle
from tightdp.mechanism import Instance, Mechanism, mechanism

__version__ = "0.1.0"

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
    "binomial",
    "choice",
    "flip",
    "geometric",
    "mechanism",
    "observe",
    "randint",
    "shuffle",
]
