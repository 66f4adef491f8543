"""How much is tested: little by default, everything with TIGHTDP_FULL=1 in the environment."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

FULL = os.environ.get("TIGHTDP_FULL", "") not in ("", "0")

settings.register_profile("default", max_examples=25, deadline=None, derandomize=True)
settings.register_profile(
    "full", max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("full" if FULL else "default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the slow tests, unless everything is asked for."""
    if FULL:
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: set TIGHTDP_FULL=1"))
