"""A loop takes the same time wherever on the stack it stands."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from tightdp.limits.room import with_room

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
    def frames() -> list[FrameType]:
        frame, found = sys._getframe(), []
        while frame.f_back is not None:
            found.append(frame := frame.f_back)
        return found

    assert "with_room" in [frame.f_code.co_name for frame in with_room(frames)] or "_ask" in [
        frame.f_code.co_name for frame in with_room(frames)
    ]
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 // 0)
