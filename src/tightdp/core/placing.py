"""In which part of the text of a core program a node stands: before the clients, in that of one, or after all."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TypeVar

__all__ = ["find_parts", "last_clients"]

K = TypeVar("K")


def last_clients(below: Mapping[K, Sequence[K]], clients: Mapping[K, int]) -> dict[K, int]:
    """Return the last client that each node depends on, -1 for none.

    `below` has, for every node, those that it is made of, which come before it; `clients` those of the inputs.
    """
    found: dict[K, int] = {}
    for key, parts in below.items():
        found[key] = max((found[part] for part in parts), default=clients.get(key, -1))
    return found


def find_parts(
    below: Mapping[K, Sequence[K]], clients: Mapping[K, int], joined: Container[K], published: Iterable[K]
) -> tuple[dict[K, int], set[K], int]:
    """Return the part of every node, the nodes that stand before all clients, and the number of the part after all.

    A node stands after all clients where it takes nothing but complete joins, or what stands there. What depends on no
    client has the part -1; it stands before the clients where several parts use it, else where it is used.
    """
    last = max(clients.values(), default=-1)
    end = last + 1
    several: dict[K, frozenset[int]] = {}
    found: dict[K, int] = {}
    for key, parts in below.items():
        own = frozenset({clients[key]} if key in clients else ())
        several[key] = own.union(*(several[part] for part in parts))
        found[key] = max((found[part] for part in parts), default=clients.get(key, -1))
        needed = [part for part in parts if found[part] >= 0]
        complete = all(found[part] == end or (part in joined and found[part] == last) for part in needed)
        if needed and complete and key not in joined and len(several[key]) > 1:
            found[key] = end
    users: dict[K, set[int]] = {key: {end} for key in published}
    for key in reversed(list(below)):
        mine = users.get(key, set()) if found[key] < 0 else {found[key]}
        for part in below[key]:
            users.setdefault(part, set()).update(mine)
    return found, {key for key, part in found.items() if part < 0 and len(users.get(key, ())) > 1}, end
