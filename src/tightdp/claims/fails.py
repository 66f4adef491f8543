"""What a check returns where a claim does not hold."""

from __future__ import annotations

from typing import Any

__all__ = ["Fails"]


class Fails:
    """What a check returns where a claim does not hold: why, in words and numbers, and the exact numbers.

    The numbers (ints, Fractions, words, tuples of those) are what the brute force has to find again.
    """

    def __init__(self, why: str = "", **numbers: Any) -> None:
        self.why = why
        self.numbers = numbers

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"Fails({self.why!r}, {self.numbers})"
