"""Observations as tests ask about them."""

from __future__ import annotations

from typing import Any

from tightdp import auditing
from tightdp.auditing import AuditAnswer, checked


def audit(told: Any = None, **asked: Any) -> AuditAnswer:
    """Return the answer about an observation, with the arguments of `tightdp.audit`."""
    return auditing.audit(checked(**asked), told)
