"""The pytest plugin: fixtures `assert_private` and `assert_accurate`. It imports the engine when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from tightdp.results.answers import Verification

__all__ = ["assert_accurate", "assert_private"]


@pytest.fixture(scope="session")
def assert_private() -> Callable[..., Verification]:
    """`tightdp.testing.assert_private`: fails with a witness unless a mechanism is (ε, δ)-differentially private."""
    return _assertion("assert_private")


@pytest.fixture(scope="session")
def assert_accurate() -> Callable[..., Verification]:
    """`tightdp.testing.assert_accurate`: fails unless the error keeps its bound on every dataset."""
    return _assertion("assert_accurate")


def _assertion(name: str) -> Callable[..., Verification]:
    return cast("Callable[..., Verification]", getattr(import_module("tightdp.testing"), name))
