"""A loop takes the same time wherever on the stack it stands."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from tightdp.limits.child import with_room

resource = pytest.importorskip("resource")


def called(value: int) -> int:
    return value


def faults_at(depth: int) -> int:
    """How many pages the system makes for a thousand calls that are made at some depth."""
    if depth:
        return faults_at(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for value in range(1000):
        called(value)
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="the stack is of another kind")
def test_no_depth_is_slow() -> None:
    assert with_room(lambda: max(map(faults_at, range(400)))) < 500


def test_answers_and_errors_pass() -> None:
    def callers() -> list[FrameType]:
        found, frame = [], sys._getframe().f_back
        while frame is not None:
            found.append(frame)
            frame = frame.f_back
        return found

    assert sys._getframe() in with_room(callers)
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 // 0)
