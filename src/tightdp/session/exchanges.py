"""Which exchanges of two clients map the lines of a core program onto themselves: found, not proved."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

__all__ = ["Exchange", "find_exchanges"]

Exchange = tuple[int, int, dict[str, str]]
"""Two clients, and the renaming of all other values."""

_MOST_STEPS = 2_000_000
"""How many lines times pairs of clients are looked at."""


def find_exchanges(program: Any, unordered: Set[str], refused: type[Exception]) -> list[Exchange]:
    """Return exchanges of a client with the next one, in a program as the checker has read it.

    The draws that stand in the part of one client go to those of the other, in their order; all else follows from what
    lines are made of.
    """
    if len(program.steps) * len(program.order) > _MOST_STEPS:
        return []
    search = _Search(program, unordered)
    tried = (search.renaming(at) for at in range(1, len(program.order)))
    found = []
    for names in tried:
        if names is not None:
            try:
                program.exchange(*names)
            except (LookupError, TypeError, refused):
                continue
            found.append(names)
    return found


class _Search:
    """The lines of one program by what they are made of."""

    def __init__(self, program: Any, unordered: Set[str]) -> None:
        self.program = program
        self.unordered = unordered
        self.nodes: dict[str, Any] = {}
        for kind, name, detail, found in program.steps:
            if kind == "take":
                self.nodes[name][2].append(found[1:])
            elif name is not None:
                self.nodes[name] = (kind, detail, list(found))
        self.parts: dict[int, list[str]] = {at: [] for at in range(len(program.cuts))}
        at = 0
        for number, step in enumerate(program.steps):
            while at + 1 < len(program.cuts) - 1 and number >= program.cuts[at + 1]:
                at += 1
            if step[1] is not None and step[0] != "take":
                self.parts[at].append(step[1])
        self.known: dict[Any, list[str]] = {}
        self.place: dict[str, int] = {}
        for name, node in self.nodes.items():
            same = self.known.setdefault(self.key(node, {}), [])
            self.place[name] = len(same)
            same.append(name)

    def key(self, node: Any, image: dict[str, str]) -> Any:
        """Return what a line is made of, with names replaced."""
        kind, detail, found = node
        parts = [repr(_renamed(part, image)) for part in found]
        return (
            kind,
            repr(detail),
            tuple(sorted(parts) if isinstance(detail, str) and detail in self.unordered else parts),
        )

    def renaming(self, at: int) -> Exchange | None:
        """Return the renaming that exchanges the clients of two parts that follow each other, or None."""
        program, image = self.program, dict[str, str]()
        mine, other = self.parts[at], self.parts[at + 1]
        swapped = dict[str, str]()
        for ours, theirs in zip(self.free(mine), self.free(other), strict=False):
            if self.nodes[ours][1] != self.nodes[theirs][1]:
                return None
            swapped |= {ours: theirs, theirs: ours}
        clients = program.order[at - 1], program.order[at]
        inputs = {node[1]: name for name, node in self.nodes.items() if node[0] == "input"}
        for name in sorted(self.nodes, key=program.full.__getitem__):
            node = self.nodes[name]
            if node[0] == "input":
                client, leaf = node[1]
                client = {clients[0]: clients[1], clients[1]: clients[0]}.get(client, client)
                if (client, leaf) not in inputs:
                    return None
                image[name] = inputs[client, leaf]
            elif name in swapped:
                image[name] = swapped[name]
            else:
                same = self.known.get(self.key(node, image), [])
                if len(same) <= self.place[name]:
                    return None
                image[name] = same[self.place[name]]
        return *clients, {name: to for name, to in image.items() if name != to}

    def free(self, names: list[str]) -> list[str]:
        """Return the draws among some names whose law depends on nothing."""
        nodes = self.nodes
        return [name for name in names if nodes[name][0] == "draw" and not isinstance(nodes[name][2][0], str)]


def _renamed(part: Any, image: dict[str, str]) -> Any:
    if isinstance(part, tuple) and part and part[0] != "=":
        return tuple(_renamed(item, image) for item in part)
    return image.get(part, part) if isinstance(part, str) else part
