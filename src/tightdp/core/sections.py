"""The parts of the text of a core program: where they begin, what they take, and what they publish."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import count

__all__ = ["END", "names_in", "sections"]

END = "then"
"""The header, before it is completed, of what follows all clients."""
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|[^\s,:;|{}()"]+')
_DEFINED = re.compile(r"([xdv]\w*) = ([a-z]+)")
_NAME_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\b[xdv]\d\w*')


def names_in(text: str) -> list[str]:
    """Return the names of values that a line uses; in its constants there are none."""
    found, depth = [], 0
    for word in _WORD.findall(text):
        depth += (word == "(") - (word == ")")
        if not depth and re.fullmatch(r"[xdv]\d\w*", word):
            found.append(word)
    return found


def sections(lines: Sequence[str], output: Sequence[str], kept: bool = False) -> list[str]:
    """Return the lines with the headers of their parts completed, and what each part publishes.

    A part begins at every header, and before every draw but the first of a part: so that what is no longer needed is
    forgotten before runs branch again. `output` are the names that are published, each where it has its last value;
    where they are `kept`, in the last part. Names that no other part takes are numbered part by part, so that clients
    who do the same have the same lines.
    """
    parts = list(_split(lines))
    defined = {found[1]: at for at, (_, part) in enumerate(parts) for line in part if (found := _DEFINED.match(line))}
    shown: list[list[str]] = [[] for _ in parts]
    for name in dict.fromkeys(output):
        shown[-1 if kept else defined[name]].append(name)
    needed, common = set(output) if kept else set[str](), set(output)
    written: list[tuple[list[str], list[str], list[str]]] = []
    for (header, part), told in zip(reversed(parts), reversed(shown), strict=True):
        needed |= set(told)
        for line in reversed(part):
            found = _DEFINED.match(line)
            if found:
                needed.discard(found[1])
            if not line.startswith("#"):
                needed |= set(names_in(line[found.end() :] if found else line))
        takes = sorted(needed, key=lambda name: (name[0], len(name), name))
        common |= needed
        start = [" ".join([header, *takes])] if header else []
        written.append((start, part, [" ".join(["output", *told])] if told else []))
    return [line for start, part, end in reversed(written) for line in (*start, *_renamed(part, common), *end)]


def _renamed(part: Sequence[str], common: Container[str]) -> Iterator[str]:
    """Yield the lines of a part with its own names numbered anew, past those that it has in common with others."""
    unused = {kind: map(f"{kind}{{}}".format, count(kind != "x")) for kind in "xdv"}
    own: dict[str, str] = {}

    def new(found: re.Match[str]) -> str:
        name = found[0]
        if name[0] != '"' and name not in common and name not in own:
            own[name] = next(each for each in unused[name[0]] if each not in common)
        return own.get(name, name)

    for line in part:
        yield _NAME_OR_STRING.sub(new, line)


def _split(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield headers, none for what stands before the first, and the lines of parts; inputs of a client come first."""
    header, part, inputs = "", list[str](), list[str]()
    for line in [*lines, ""]:
        kind = line.split(" ", 1)[0]
        if kind in ("client", END, ""):
            yield from _cut(header, [*inputs, *part])
            header, part, inputs = line, [], []
        else:
            (inputs if " = input " in line else part).append(line)


def _cut(header: str, lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    part: list[str] = []
    for line in lines:
        if " = draw " in line and any(" = draw " in other for other in part):
            yield header, part
            header, part = END, []
        part.append(line)
    yield header, part
