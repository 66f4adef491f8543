"""The text of a core program: its values and lines as certificates have them and as people read them, and its parts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any, TypeAlias, TypeVar

from flint import fmpz_poly

from tightdp.core.nodes import Apply, Const, Expr, Nary
from tightdp.core.operators import Far
from tightdp.errors import QueryError
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import as_text
from tightdp.exact.polynomials import in_powers_of_e, lifted
from tightdp.exact.whole import ExpInteger, Whole

Written: TypeAlias = Any
"""A value, a weight or a name as JSON has it."""
Line: TypeAlias = Sequence[Written]
"""A name (None where a line defines nothing), a kind, and operands: names, constants as JSON has them, and tables."""


def written_value(value: object) -> Written:
    """Return a value as JSON has it: p/q as a string, strings and numbers with e^q as texts, tuples as lists."""
    if isinstance(value, Far):
        return written_value(value.in_order())
    if isinstance(value, tuple):
        return [written_value(each) for each in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    return {"text": as_text(value) if isinstance(value, ExpNumber) else str(value)}


def shown_value(written: Written) -> str:
    """Return a value, or the name of one, as people read it: strings in quotes, tuples in parentheses."""
    if isinstance(written, list):
        return f"({', '.join(map(shown_value, written))}{',' * (len(written) == 1)})"
    return json.dumps(written["text"]) if isinstance(written, dict) else str(written)


def written_whole(value: Whole, root: int) -> Written:
    """Return a weight as JSON has it: whole, or the coefficients of a polynomial in T = e^(1/root), or in X."""
    if not isinstance(value, ExpInteger):
        return int(value)
    in_x = in_powers_of_e(value.polynomial) if value.unknown else None
    polynomial = lifted(value.polynomial, root // value.root) if in_x is None else in_x.pop(0, fmpz_poly([]))
    if in_x:
        raise QueryError("no rule of evidence fits: e^q stands beside the unknown", "give the parameters other values")
    found = [int(each) for each in polynomial.coeffs()]
    return found if len(found) > 1 else (found or [0])[0]


def shown_line(line: Line) -> str:
    """Return a line of a core program as people read it."""
    name, kind, *rest = line
    if kind == "draw":
        laws = [_law(rest[0])] if len(rest) == 1 else [_law(law, f"{shown_value(value)}: ") for value, law in rest[1]]
        rest = [*rest[:-1], f"{{ {' ; '.join(laws)} }}"]
    elif kind == "case":
        table = " | ".join(f"{shown_value(value)}: {shown_value(branch)}" for value, branch in rest[1])
        rest = [rest[0], f"{{ {table} }}"]
    words = [*([] if name is None else [name, "="]), kind, *map(shown_value, rest)]
    return " ".join(words)


def _law(law: Sequence[Line], before: str = "") -> str:
    return " | ".join(f"{before}{shown_value(outcome)} {_whole(weight)}" for outcome, weight in law)


def _whole(written: Written) -> str:
    parts = []
    for power, factor in reversed(list(enumerate(written if isinstance(written, list) else [written]))):
        shown = "" if not power else "T" if power == 1 else f"T^{power}"
        if factor:
            parts.append(f"{factor:+d}{shown}" if abs(factor) != 1 or not power else f"{'-+'[factor > 0]}{shown}")
    return "".join(parts).removeprefix("+") or "0"


def root_of(*values: object) -> int:
    """Return the least d such that all values are ratios of polynomials in e^(1/d); 0 where all are rational."""
    roots = [value.root for value in values if isinstance(value, (ExpNumber, ExpInteger))]
    return math.lcm(*roots) if roots else 0


_NAME = re.compile(r"[dsvx][0-9_]*")


@dataclass(frozen=True)
class Part:
    """What one client does, or what looks at no record (None); it takes some values and forgets all others."""

    client: int | str | None
    takes: Sequence[str]
    lines: Sequence[Line]
    publishes: Sequence[str]

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
    found: list[str] = []
    _renamed(line, lambda name: found.append(name) or name)  # type: ignore[func-returns-value]
    return set(found)


def sections(parts: Sequence[tuple[int | None, list[Line]]], output: Sequence[str], kept: bool = False) -> list[Part]:
    """Return the parts of a program, with what each takes and publishes.

    Before every draw but the first of a part a new part begins, so that what is no longer needed is forgotten before
    runs branch again, and lines stand where what they need is there. `output` are the names that are published, each
    where it has its last value; where they are `kept`, in the last part. Names that no other part takes are numbered
    part by part, so that clients who do the same have the same lines.
    """
    cut = _early(parts)
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


def _early(parts: Sequence[tuple[int | None, list[Line]]]) -> list[tuple[int | None, list[Line]]]:
    """Return the pieces of parts, with each line at the end of the first piece of its part where it can be, but draws.

    There what it needs may be forgotten, and what it gives published, before the next draw. Lines after all clients may
    go before draws of the last one, but not to its first piece, as other clients may do the same.
    """
    cut: list[tuple[int | None, list[Line]]] = []
    known: dict[str | None, int] = {}  # in which piece a name has got its value, and been asked for the last time
    asked: dict[str | None, int] = {}
    least = 0
    for client, lines in parts:
        pieces = [*_cut(client, lines)]
        least = len(cut) if client is not None or not cut else least + 1
        cut += [(of, []) for of, _ in pieces]
        for at, (_, piece) in enumerate(pieces, len(cut) - len(pieces)):
            for line in piece:
                needed = _names_in(line)
                place = max(least, asked.get(line[0], 0), *(known.get(name, 0) for name in (line[0], *needed)))
                place = at if line[1] == "draw" else place
                cut[place][1].append(line)
                known[line[0]] = place
                asked |= {name: max(place, asked.get(name, 0)) for name in needed}
    return cut


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


def difference(output: Expr, goal: Expr) -> tuple[Sequence[Expr], Sequence[Expr], list[Expr]]:
    """Return the nodes needed of an output and of its target, and new nodes, the last of which is the difference.

    Of two sums that is one sum, so that a pass over the terms remembers one number. New nodes list no values.
    """
    numbers = count(1 + max(output.serial, goal.serial))
    if not isinstance(output, Nary) or not isinstance(goal, Nary) or {output.operator, goal.operator} != {"sum"}:
        return (output,), (goal,), [Apply(next(numbers), (), "sub", (output, goal))]
    less: list[Expr] = [
        Const(next(numbers), (-term.values[0],))
        if isinstance(term, Const)
        else Apply(next(numbers), (), "neg", (term,))
        for term in goal.operands
    ]
    joined = Nary(next(numbers), (), "sum", (*output.operands, *less))
    return output.operands, goal.operands, [*less, joined]
