"""Results: immutable values with exact numbers, the witness, the cost and the status. They know no sentences.

In: what the queries found. Out: what users get, and its JSON (`recorded.py`); `result.py` says what all have in common,
and who shows them. May import what stands below: `auditing`, `one_run`, `queries`, `methods`, `logic`, `exact`.

Users import the classes from here, as in `from tightdp.results import Curve`; each is imported when it is first used.
"""

# ruff: noqa: F403, F405 (each is imported from the file that defines it)

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tightdp.results.answers import *
    from tightdp.results.audit import *
    from tightdp.results.guessing import *
    from tightdp.results.optimum import *
    from tightdp.results.pieces import *
    from tightdp.results.privacy import *
    from tightdp.results.privacy_loss import *
    from tightdp.results.report import *
    from tightdp.results.result import *

__all__ = [
    "Accuracy",
    "AccuracyPieces",
    "AtN",
    "Audit",
    "Best",
    "BestMechanism",
    "Canaries",
    "CheckedWitness",
    "Claim",
    "Curve",
    "Delta",
    "DensityWitness",
    "Distribution",
    "Distributions",
    "Drawn",
    "Efficacy",
    "EfficacyPieces",
    "End",
    "EventWitness",
    "EveryN",
    "EveryNPieces",
    "EveryNVerification",
    "Explanation",
    "Failure",
    "Guessing",
    "GuessingPieces",
    "Holds",
    "Likelihood",
    "LimitWitness",
    "Optimum",
    "PairWitness",
    "Part",
    "Pieces",
    "Privacy",
    "PrivacyLoss",
    "Renyi",
    "Report",
    "Reported",
    "Result",
    "Sample",
    "Solution",
    "Stats",
    "Structure",
    "Subject",
    "Sweep",
    "Tradeoff",
    "TripleWitness",
    "Unknown",
    "Utility",
    "Validity",
    "Verification",
    "Zcdp",
]

_FILES = ("result", "answers", "privacy", "privacy_loss", "pieces", "guessing", "audit", "optimum", "report")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for file in _FILES:
            module = import_module(f"{__name__}.{file}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
