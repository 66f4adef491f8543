"""The core program as certificates have it: a typed tree in JSON, in which equal parts stand once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tightdp.core.sections import Line, Part, Written, is_name

_PLAIN = re.compile(r"[ !#-\[\]-~]*")
"""The texts that a certificate has as they are; others are lists of codes, so that no text has to be unescaped."""


def plain_value(written: Written) -> Written:
    """Return a value of the core text as certificates have it: truth values are 1 and 0, odd texts lists of codes."""
    if isinstance(written, list):
        return [plain_value(each) for each in written]
    if isinstance(written, dict) and not _PLAIN.fullmatch(written["text"]):
        return {"codes": [ord(each) for each in written["text"]]}
    return int(written) if isinstance(written, bool) else written


def plain_name(name: str) -> str:
    """Return a name of which other characters than plain ones are left out."""
    return "".join(each if _PLAIN.fullmatch(each) else "?" for each in name)[:200]


def program_syntax(parts: Sequence[Part], error: bool = False) -> dict[str, Written]:
    """Return the parts of a program, each once, and their order: for each place the part, and its client or None.

    A part takes and leaves values by position, and has names of its own, so that clients who do the same have one. An
    `error` that is measured is no output: the last part leaves it behind.
    """
    numbers: dict[str, int] = {}
    written: list[dict[str, Written]] = []
    order = []
    ends: Sequence[Sequence[str]] = [*(part.takes for part in parts[1:]), parts[-1].publishes if error else ()]
    for part, leaves in zip(parts, ends, strict=True):
        found = _Names(part).written(part, leaves)
        if error:
            found["publishes"] = []
        key = json.dumps(found)
        if key not in numbers:
            numbers[key] = len(written)
            written.append(found)
        order.append([numbers[key], part.client])
    return {"parts": written, "order": order}


class _Names:
    """Gives each value of a part a name of its own, by the order of lines."""

    def __init__(self, part: Part) -> None:
        self._counts = dict.fromkeys("sdvx", 0)
        self._now: dict[str, str] = {}
        self._takes = [self._new(name, "s") for name in part.takes]

    def _new(self, name: str, letter: str) -> str:
        self._counts[letter] += 1
        self._now[name] = f"{letter}{self._counts[letter]}"
        return self._now[name]

    def written(self, part: Part, leaves: Sequence[str]) -> dict[str, Written]:
        lines = [self._line(line) for line in part.lines]
        return {
            "reads": part.client is not None,
            "takes": self._takes,
            "lines": lines,
            "publishes": [self._now[name] for name in part.publishes],
            "leaves": [self._now[name] for name in leaves],
        }

    def _operand(self, operand: Written) -> Written:
        return self._now[operand] if is_name(operand) else {"value": plain_value(operand)}

    def _line(self, line: Line) -> list[Written]:
        name, kind, *rest = line
        match kind:
            case "input":
                after = rest
            case "draw":
                law = [[plain_value(outcome), odds] for outcome, odds in (rest[-1] if len(rest) == 1 else ())]
                after = [law]
                if len(rest) > 1:
                    kind = "draw by"
                    laws = [[plain_value(v), [[plain_value(o), odds] for o, odds in law]] for v, law in rest[1]]
                    after = [self._operand(rest[0]), laws]
            case "case":
                after = [self._operand(rest[0]), [[plain_value(v), self._operand(branch)] for v, branch in rest[1]]]
            case "fails" | "observe":
                return [kind, self._operand(rest[0])]
            case _:
                after = [kind, *map(self._operand, rest)]
                kind = "apply"
        return [kind, self._new(name, name[0] if name[0] in "dvx" else "v"), *after]
