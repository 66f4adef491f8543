"""The parts of the text of a core program: where they begin, what they take, and what they publish."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from tightdp.core.writing import Line, Written, shown_line

__all__ = ["Part", "is_name", "sections"]

_NAME = re.compile(r"[dsvx][0-9_]*")


@dataclass(frozen=True)
class Part:
    """What one client does, or what looks at no record (None); it takes some values and forgets all others."""

    client: int | str | None
    takes: Sequence[str]
    lines: Sequence[Line]
    publishes: Sequence[str]

    def to_dict(self) -> dict[str, Written]:
        """Return the part as a certificate has it."""
        listed = {"takes": [*self.takes], "lines": [*self.lines], "publishes": [*self.publishes]}
        return {"client": self.client, **listed}

    def shown(self) -> Iterator[str]:
        """Yield the lines as people read them."""
        yield " ".join(["then" if self.client is None else f"client {self.client}", *self.takes])
        yield from map(shown_line, self.lines)
        if self.publishes:
            yield " ".join(["output", *self.publishes])


def is_name(operand: Written) -> bool:
    """Whether an operand is the name of a value, and no constant."""
    return isinstance(operand, str) and _NAME.fullmatch(operand) is not None


def _names_in(line: Line) -> set[str]:
    """Return the names of values that a line uses."""
    found: list[str] = []
    _renamed(line, lambda name: found.append(name) or name)  # type: ignore[func-returns-value]
    return set(found)


def sections(parts: Sequence[tuple[int | None, list[Line]]], output: Sequence[str], kept: bool = False) -> list[Part]:
    """Return the parts of a program, with what each takes and publishes.

    Before every draw but the first of a part a new part begins, so that what is no longer needed is forgotten before
    runs branch again. `output` are the names that are published, each where it has its last value; where they are
    `kept`, in the last part. Names that no other part takes are numbered part by part, so that clients who do the same
    have the same lines.
    """
    cut = [piece for client, lines in parts for piece in _cut(client, lines)]
    defined = {line[0]: at for at, (_, lines) in enumerate(cut) for line in lines}
    shown: list[list[str]] = [[] for _ in cut]
    for name in dict.fromkeys(output):
        shown[-1 if kept else defined[name]].append(name)
    needed, common = set(output) if kept else set[str](), set(output)
    takes: list[list[str]] = []
    for (_, lines), told in zip(reversed(cut), reversed(shown), strict=True):
        needed |= set(told)
        for line in reversed(lines):
            needed.discard(line[0])
            needed |= _names_in(line)
        takes.append(sorted(needed, key=lambda name: (name[0], len(name), name)))
        common |= needed
    return [
        Part(client, taken, _numbered(lines, common), told)
        for (client, lines), taken, told in zip(cut, reversed(takes), shown, strict=True)
    ]


def _numbered(lines: Sequence[Line], common: Container[str]) -> list[Line]:
    """Return the lines of a part with its own names numbered anew, past those that it has in common with others."""
    unused = {kind: map(f"{kind}{{}}".format, count(kind != "x")) for kind in "xdv"}
    own: dict[str, str] = {}

    def new(name: str) -> str:
        if name not in common and name not in own:
            own[name] = next(each for each in unused[name[0]] if each not in common)
        return own.get(name, name)

    return [[name and new(name), *rest] for name, *rest in (_renamed(line, new) for line in lines)]


def _renamed(line: Line, new: Callable[[str], str]) -> Line:
    """Return a line with other names for what it uses."""

    def of(operand: Written) -> Written:
        return new(operand) if is_name(operand) else operand

    name, kind, *rest = line
    if kind == "case":
        selector, table = rest
        return [name, kind, of(selector), [[value, of(branch)] for value, branch in table]]
    return [name, kind, *map(of, rest)]


def _cut(client: int | None, lines: Sequence[Line]) -> Iterator[tuple[int | None, list[Line]]]:
    """Yield parts of one draw; inputs of a client come first."""
    part: list[Line] = []
    for line in sorted(lines, key=lambda line: line[1] != "input"):
        if line[1] == "draw" and any(kind == "draw" for _, kind, *_ in part):
            yield client, part
            client, part = None, []
        part.append(line)
    yield client, part
