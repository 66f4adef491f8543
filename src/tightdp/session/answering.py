"""The modules that answer queries on an instance, each imported at the first query that needs it.

They take time to load, and defining and running mechanisms needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tightdp.session import (
        accuracy,
        certify,
        certify_runs,
        explain,
        moments,
        one_run,
        optimum,
        outputs,
        report,
        search,
        strategies,
        sweep,
        verification,
    )

__all__ = [
    "accuracy",
    "certify",
    "certify_runs",
    "explain",
    "moments",
    "one_run",
    "optimum",
    "outputs",
    "report",
    "search",
    "strategies",
    "sweep",
    "verification",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"tightdp.session.{name}")
