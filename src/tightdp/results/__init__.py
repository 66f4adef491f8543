"""Results: immutable values with exact numbers, the witness, the cost and the status. They know no sentences.

In: what the queries found. Out: what users get, and its JSON (`recorded.py`); `result.py` says what all have in common,
and who shows them. May import what stands below: `auditing`, `one_run`, `queries`, `methods`, `logic`, `exact`.

Users import the classes from here, as in `from tightdp.results import Curve`; each is imported when it is first used.
"""

# ruff: noqa: F403 (each is imported from the file that defines it)

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

_CLASSES = {
    "answers": "Accuracy Claim Distribution Failure Likelihood Sample Sweep Unknown Utility Verification",
    "audit": "Audit Validity",
    "guessing": "Canaries Efficacy Guessing Reported",
    "optimum": "BestMechanism Optimum",
    "pieces": (
        "AccuracyPieces AtN Best Distributions EfficacyPieces End EveryNPieces GuessingPieces Holds Part "
        "Pieces Solution"
    ),
    "privacy": "Curve Delta EveryN EveryNVerification Privacy Renyi Tradeoff Zcdp",
    "privacy_loss": "PrivacyLoss",
    "report": "Explanation Report Structure",
    "result": (
        "CheckedWitness DensityWitness Drawn EventWitness LimitWitness PairWitness Result Stats Subject TripleWitness"
    ),
}
"""The classes that users import from here, by the file that defines them."""

_FILES = {name: file for file, names in _CLASSES.items() for name in names.split()}
__all__ = sorted(_FILES)


def __getattr__(name: str) -> Any:
    if name in _FILES:
        return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
