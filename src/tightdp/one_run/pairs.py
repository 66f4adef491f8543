"""Pair vectors: for every client the two records that its secret bit chooses between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

from tightdp.core.nodes import CoreProgram, Expr, Input, verify
from tightdp.core.passes import Rebuild
from tightdp.errors import ParameterError, QueryError
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset

PairVector: TypeAlias = tuple[tuple[Record, Record], ...]
"""(a_1, b_1), ..., (a_n, b_n): record i is a_i where secret bit i is 0, and b_i where it is 1."""


def default_pairs(bound: Bound) -> PairVector:
    """Return, for every client, the first two records of the domain that the neighbour relation lets differ.

    Raises QueryError where there are none.
    """
    return (every_pair(bound)[0],) * bound.n


def every_pair(bound: Bound) -> tuple[tuple[Record, Record], ...]:
    """Return all pairs of records that the neighbour relation lets differ, in the order of the domain.

    Exchanging the two changes nothing. A relation given as a function is about datasets, not records: then all pairs of
    distinct records are returned. Raises QueryError where there is no pair.
    """
    pairs = tuple(combinations(bound.record.values, 2))
    if isinstance(bound.neighbours, str):
        steps = relation_of(bound).steps
        pairs = tuple((a, b) for a, b in pairs if b in steps[a])
    if not pairs:
        why = "has one record" if bound.record.size < 2 else f"has no two records that differ under {bound.neighbours}"
        raise QueryError(
            f"the record domain {bound.record!r} {why}, so there is nothing to guess",
            "audit a mechanism whose records can differ",
        )
    return pairs


def read_pairs(bound: Bound, pairs: Sequence[Any]) -> PairVector:
    """Return a pair vector as given, checked: one pair of different records of the domain per client."""
    if isinstance(pairs, str) or not isinstance(pairs, Sequence) or len(pairs) != bound.n:
        raise ParameterError(
            f"the pairs {pairs!r} are not a list of {bound.n} pairs",
            'give one pair of records per client, as in [(0, 1), (0, 1)], or "best"',
        )
    return tuple(_read_pair(bound, client, pair) for client, pair in enumerate(pairs))


def _read_pair(bound: Bound, client: int, pair: Any) -> tuple[Record, Record]:
    given = f"the pair of client {client + 1} is {pair!r}"
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise ParameterError(f"{given}, which is not a pair of records", "give (a, b)")
    a, b = (bound.record.canonical(record) for record in pair)
    if a == b:
        raise ParameterError(f"{given}: two equal records", "give two records that differ")
    return a, b


def dataset_of(pairs: PairVector, bits: Sequence[int]) -> Dataset:
    """Return the dataset that secret bits choose."""
    return tuple(pair[bit] for pair, bit in zip(pairs, bits, strict=True))


def audited(program: CoreProgram, bound: Bound, pairs: PairVector) -> CoreProgram:
    """Return the mechanism restricted to the datasets of a pair vector, as a program of n bits.

    Its output law for bits S is that of `program` on the dataset that S chooses. No node may be `Shuffled`.
    """
    leaves = [tuple(bound.record.split(record) for record in pair) for pair in pairs]

    def substitute(rebuild: Rebuild, expr: Expr) -> Expr | None:
        if not isinstance(expr, Input):
            return None
        low, high = (split[expr.leaf] for split in leaves[expr.client])
        builder = rebuild.builder
        if low == high and type(low) is type(high):
            return builder.const(low)
        bit = builder.input(expr.client, 0, (0, 1))
        if (low, high) == (0, 1) and not isinstance(low, bool) and not isinstance(high, bool):
            return bit
        return builder.case(bit, (builder.const(low), builder.const(high)))

    rebuild = Rebuild(substitute)
    rebuild.copy(program.roots)
    checks = (replace(check, condition=rebuild.image(check.condition)) for check in program.checks)
    restricted = CoreProgram(
        tuple(rebuild.builder.input(client, 0, (0, 1)) for client in range(bound.n)),
        tuple(map(rebuild.image, program.components)),
        program.shape,
        tuple(map(rebuild.image, program.evidence)),
        tuple(check for check in checks if check.condition is not rebuild.builder.false),
    )
    verify(restricted)
    return restricted
