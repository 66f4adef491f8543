"""What differs between a recorded row and what the library says now."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

WRONG = ("crash", "late", "different", "no longer exact", "outside", "wider", "witness")
"""The kinds of difference that must not be; "slower" and "better" are reported besides."""
SLOWER, NOTICED, NEAR = 1.5, 1.0, 1e-9
Row = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """One difference."""

    kind: str
    detail: str


def verdicts(row: Row, found: Row) -> Iterator[Verdict]:
    """Everything that differs; nothing where the answers are the same."""
    if "result" not in found:
        yield Verdict("crash" if "crash" in found else "late", found.get("crash", f"{row['seconds']} s when recorded"))
        return
    before, after = row["answer"], found["result"]
    yield from _answers(before, after)
    if after.get("witness", "").startswith("wrong"):
        yield Verdict("witness", f"the ratio of the witness is not that of the answer; {after['witness']}")
    seconds = after["seconds"]
    if seconds > NOTICED and seconds > SLOWER * row["seconds"]:
        yield Verdict("slower", f"{row['seconds']} s, now {seconds} s")


def _answers(before: Row, after: Row) -> Iterator[Verdict]:
    if before["status"] == after["status"] in ("exact", "error"):
        if before["values"] != after["values"]:
            yield Verdict("different", f"{before['values']}\n    now {after['values']}")
    elif before["status"] == "exact":
        yield Verdict("no longer exact", f"{before['values']}\n    now {after}")
    elif before["status"] == "error":
        yield Verdict("better", f"{before['values']}\n    now {after}")
    elif after["status"] == "error":
        yield Verdict("different", f"{before}\n    now {after}")
    elif after["status"] == "exact":
        yield from _inside(before["ends"], after["values"])
    else:
        yield from _ends(before["ends"], after["ends"])


def _inside(ends: Row, values: Row) -> Iterator[Verdict]:
    yield Verdict("better", f"exact now: {values}")
    for key, (low, high) in ends.items():
        value = values.get(key)
        if value is not None and not _number(low) * (1 - NEAR) <= _number(value) <= _number(high) * (1 + NEAR):
            yield Verdict("outside", f"{key} was in [{low}, {high}], now {value}")


def _ends(before: Row, after: Row) -> Iterator[Verdict]:
    for key, (low, high) in before.items():
        if key not in after:
            yield Verdict("different", f"no ends for {key}")
            continue
        least, most, down, up = map(_number, (low, high, *after[key]))
        if down > most * (1 + NEAR) or up < least * (1 - NEAR):
            yield Verdict("outside", f"{key} was in [{low}, {high}], now {after[key]}")
        elif up - down > (most - least) * 1.01 + NEAR * abs(most):
            yield Verdict("wider", f"{key} was in [{low}, {high}], now {after[key]}")


def _number(text: str) -> float:
    """A recorded number, rounded; one that is not rational is taken to be anything."""
    head = text.partition("#")[0]
    try:
        top, _, bottom = head.partition("/")
        return float(top) / float(bottom or 1)
    except ValueError:
        return math.nan
