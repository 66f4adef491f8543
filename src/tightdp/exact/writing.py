"""Values as people read them: rationals as p/q, long tuples with equal entries in a row written once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import as_text

__all__ = ["brief", "listed", "shortened", "written"]

_COMPACT = 60
"""Tuples whose text is longer are written with equal entries in a row once."""


def written(value: Any, quoted: bool = False) -> str:
    """Write a parameter, a dataset or an output as Python has it, rationals as p/q, words without quotes outside."""
    if isinstance(value, (Fraction, ExpNumber)):
        return as_text(value)
    if isinstance(value, tuple):
        inner = ", ".join(written(item, quoted=True) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return value if isinstance(value, str) and not quoted else repr(value)


def brief(value: Any, longest: int = 160, quoted: bool = True) -> str:
    """Write a value; in a long tuple, equal entries in a row are written once, as in (1, 0 × 999).

    What is longer still loses entries in the middle: no entry is cut that is not too long by itself.
    """
    text = written(value, quoted)
    if not isinstance(value, tuple) or len(text) <= min(longest, _COMPACT):
        return shortened(text, longest)
    shown: list[str] = []
    for item, equal in groupby(value):
        one, times = brief(item, max(longest // 2, 20)), len(list(equal))
        shown += [f"{one} × {times}"] if times > 2 else [one] * times
    end = ",)" if len(value) == 1 else ")"
    return f"({listed(shown, longest - 1 - len(end))}{end}"


def listed(parts: Sequence[str], longest: int = 160) -> str:
    """Write parts with commas between them; where they are too long, those in the middle are left out."""
    if sum(map(len, parts)) + 2 * (len(parts) - 1) <= longest or len(parts) < 3:
        return ", ".join(parts)
    front, back, room = 1, 1, longest - len(parts[0]) - len(parts[-1]) - len(", ..., ")
    while front + back < len(parts):
        nearer = parts[front] if front <= back else parts[-back - 1]
        room -= len(nearer) + 2
        if room < 0:
            return ", ".join([*parts[:front], "...", *parts[-back:]])
        front, back = (front + 1, back) if front <= back else (front, back + 1)
    return ", ".join(parts)


def shortened(text: str, longest: int = 160) -> str:
    """Return a text, or its beginning and end where it is too long to read, cut at spaces where there are some."""
    if len(text) <= longest:
        return text
    half = (longest - 5) // 2
    first, last = text[:half], text[-half:]
    if " " in first[half // 2 :]:
        first = first.rpartition(" ")[0]
    if " " in last[: half // 2]:
        last = last.partition(" ")[2]
    return f"{first} ... {last}"
