"""How much is tested: little by default, everything with TIGHTDP_FULL=1 in the environment.

With TIGHTDP_FULL=part slow tests that say how many seconds they take, as in `slow(seconds=5)`, run too. Of the cases of
a test that is marked `one_in(4)`, the first of every four runs by default, and the others are slow. Tests of what an
optional extra of the package installs are skipped where it is not installed.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

MODE = os.environ.get("TIGHTDP_FULL", "")
FULL = MODE not in ("", "0", "part")

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("default", max_examples=15, deadline=None, derandomize=True)
settings.register_profile(
    "full", max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("full" if FULL else "default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the slow tests, unless they are asked for, and those that need what is not installed."""
    cases = Counter[str]()
    for item in items:
        share = item.get_closest_marker("one_in")
        if share is not None and item.get_closest_marker("slow") is None:
            name, _, _ = item.nodeid.partition("[")
            if cases[name] % share.args[0]:
                item.add_marker(pytest.mark.slow(seconds=1))
            cases[name] += 1
        slow = item.get_closest_marker("slow")
        if slow is not None and not FULL and not (MODE == "part" and "seconds" in slow.kwargs):
            item.add_marker(pytest.mark.skip(reason="slow: set TIGHTDP_FULL=1"))
        for mark in item.iter_markers("extra"):
            if not installed(mark.args[0]):
                item.add_marker(pytest.mark.skip(reason=f"the extra `{mark.args[0]}` is not installed"))


@lru_cache
def installed(extra: str) -> bool:
    """Whether all that an extra of the package asks for is there."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        for requirement in project["optional-dependencies"][extra]:
            distribution(re.split(r"[\[<>=]", requirement)[0])
    except PackageNotFoundError:
        return False
    return True
