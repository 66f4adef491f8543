"""The pair vector with the largest efficacy: all are tried, one of every class up to symmetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from math import comb, prod

from tightdp.errors import LimitError, ProgramError
from tightdp.exact.field import Number
from tightdp.language.domains import Record
from tightdp.language.program import Bound
from tightdp.logic.encode import encode
from tightdp.methods.aggregate import find_aggregate
from tightdp.methods.parts import Part, split
from tightdp.one_run.gaps import efficacies
from tightdp.one_run.law import AuditLaw, Compiler
from tightdp.one_run.pairs import PairVector, every_pair
from tightdp.symmetry.sets import DiagramTable, Table

__all__ = ["MAX_VECTORS", "best_pairs"]

MAX_VECTORS = 20_000
"""How many pair vectors are tried."""

_MAX_DATASETS = 4096
"""Up to how many datasets are compared to see whether two clients are interchangeable."""

Pair = tuple[Record, Record]


def best_pairs(
    compiler: Compiler, guesses: int, reached: Callable[[int, Number], None] = lambda vectors, efficacy: None
) -> tuple[PairVector, AuditLaw]:
    """Return the first pair vector whose efficacy with `guesses` guesses is largest, and its law.

    `reached` is told how many vectors were tried, and the largest efficacy so far.
    Raises LimitError where there are more than MAX_VECTORS up to symmetry.
    """
    best: tuple[Number, PairVector, AuditLaw] | None = None
    for tried, pairs in enumerate(_vectors(compiler), 1):
        compiler.watch(0)
        law = compiler.law(pairs)
        value = efficacies(law)[guesses - 1]
        if best is None or value > best[0]:
            best = value, pairs, law
        reached(tried, best[0])
    assert best is not None
    return best[1:]


def _vectors(compiler: Compiler) -> Iterator[PairVector]:
    """Yield one pair vector of every class."""
    bound, pairs = compiler.bound, every_pair(compiler.bound)
    parts, _ = split(compiler.core)
    same: dict[object, list[Part]] = {}
    for part in parts:
        if part.clients:
            same.setdefault(part.key, []).append(part)
    classes = {key: _interchangeable(alike[0], bound, compiler.backend) for key, alike in same.items()}
    number = 1
    for key, alike in same.items():
        ways = prod(comb(len(pairs) + len(members) - 1, len(members)) for members in classes[key])
        number *= comb(ways + len(alike) - 1, len(alike))
    if number > MAX_VECTORS:
        raise LimitError(
            f"there are {number:,} pair vectors that no symmetry tells apart, too many to try",
            f"give the pairs, or use fewer records or a smaller domain (at most {MAX_VECTORS:,} vectors)",
        )
    choices = [
        combinations_with_replacement(list(_of_part(classes[key], pairs)), len(alike)) for key, alike in same.items()
    ]
    for chosen in product(*choices):
        vector: list[Pair] = [pairs[0]] * bound.n
        for alike, assignments in zip(same.values(), chosen, strict=True):
            for part, assignment in zip(alike, assignments, strict=True):
                for client, pair in zip(part.clients, assignment, strict=True):
                    vector[client] = pair
        yield tuple(vector)


def _of_part(classes: Sequence[Sequence[int]], pairs: Sequence[Pair]) -> Iterator[tuple[Pair, ...]]:
    """Yield the ways to give pairs to the clients of one part, up to order within a class."""
    for chosen in product(*(combinations_with_replacement(pairs, len(members)) for members in classes)):
        given = {
            c: pair
            for members, mine in zip(classes, chosen, strict=True)
            for c, pair in zip(members, mine, strict=True)
        }
        yield tuple(given[client] for client in sorted(given))


def _interchangeable(part: Part, bound: Bound, backend: str) -> list[list[int]]:
    """Return classes of clients of a part whose records may be exchanged without any effect on the output law."""
    size = len(part.clients)
    try:
        aggregate = find_aggregate(part.program, bound.record, size, backend) if size > 1 else None
        if aggregate is not None:
            return [
                [c for c, other in enumerate(aggregate.kinds) if other == kind]
                for kind in dict.fromkeys(aggregate.kinds)
            ]
        if size > 1 and bound.record.size**size <= _MAX_DATASETS:
            formula = encode(part.program, backend)
            return _by_comparison(DiagramTable(replace(bound, n=size, neighbours="replace-one"), formula))
    except ProgramError:
        pass  # the program fails on some dataset; whether a pair vector picks it is seen when that is tried
    return [[client] for client in range(size)]


def _by_comparison(table: Table) -> list[list[int]]:
    classes: list[list[int]] = []
    for client in range(table.bound.n):
        mine = next((members for members in classes if _exchangeable(table, members[0], client)), None)
        if mine is None:
            classes.append([client])
        else:
            mine.append(client)
    return classes


def _exchangeable(table: Table, first: int, second: int) -> bool:
    for x in product(table.bound.record.values, repeat=table.bound.n):
        y = list(x)
        y[first], y[second] = x[second], x[first]
        ours, theirs = table.weights(x), table.weights(tuple(y))
        if ours.total * theirs.total == 0 or any(
            ours.by_code.get(code, 0) * theirs.total != theirs.by_code.get(code, 0) * ours.total
            for code in ours.by_code.keys() | theirs.by_code.keys()
        ):
            return False
    return True
