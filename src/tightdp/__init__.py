"""Exact verification of differentially private mechanisms."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tightdp import _loading  # noqa: F401 (first of all: it says what Ctrl-C does while the others are loaded)
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
from tightdp.language import primitives
from tightdp.language.domains import Bit, Bits, Int, Tuple, Values
from tightdp.language.neighbours import EachRecord
from tightdp.language.primitives import *  # noqa: F403 (the random primitives, all of them)
from tightdp.results.result import shown_by
from tightdp.session.base import ALL
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism, mechanism

if TYPE_CHECKING:
    from tightdp.one_run.guessers import Threshold, Top
    from tightdp.session.auditing import audit
    from tightdp.session.canaries import canaries_needed
    from tightdp.session.certify import Certificate
    from tightdp.session.certify_alone import certify_audit, certify_optimum
    from tightdp.session.certify_runs import certify_composition
    from tightdp.session.harness import Adaptive, validity, worst_case
    from tightdp.session.loading import load
    from tightdp.session.of import of

__all__ = [
    "ALL",
    "Adaptive",
    "BackendError",
    "Bit",
    "Bits",
    "Certificate",
    "EachRecord",
    "Instance",
    "Int",
    "LanguageError",
    "LimitError",
    "Mechanism",
    "ParameterError",
    "ProgramError",
    "QueryError",
    "Threshold",
    "TightdpError",
    "Top",
    "Tuple",
    "Values",
    "__version__",
    "audit",
    "canaries_needed",
    "certify_audit",
    "certify_composition",
    "certify_optimum",
    "load",
    "mechanism",
    "of",
    "validity",
    "worst_case",
]
__all__ += primitives.__all__

shown_by("tightdp.present.show")

_LATER = {
    "Adaptive": "tightdp.session.harness",
    "Certificate": "tightdp.session.certify",
    "Threshold": "tightdp.one_run.guessers",
    "Top": "tightdp.one_run.guessers",
    "audit": "tightdp.session.auditing",
    "canaries_needed": "tightdp.session.canaries",
    "certify_audit": "tightdp.session.certify_alone",
    "certify_composition": "tightdp.session.certify_runs",
    "certify_optimum": "tightdp.session.certify_alone",
    "load": "tightdp.session.loading",
    "of": "tightdp.session.of",
    "validity": "tightdp.session.harness",
    "worst_case": "tightdp.session.harness",
}
"""Names that are imported when they are first used, and from where."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=import_module(__name__))
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
