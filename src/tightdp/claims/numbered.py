"""The proofs of a paper, each with one number: those of its claims, and the lemmas that they call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import getdoc, isfunction
from typing import Any

from tightdp.claims.model import Claim, Paper, Proof, Statement

__all__ = ["NumberedProof", "numbered", "proofs_of"]


@dataclass(frozen=True)
class NumberedProof:
    """A proof with its number, its argument in words, and the numbers of the proofs that it calls."""

    number: int
    proof: Proof
    argument: str
    uses: tuple[int, ...]
    serves: tuple[str, ...]


def numbered(paper: Paper) -> list[NumberedProof]:
    """Return the proofs of a paper in the order in which its claims need them; a lemma stands before its users."""
    order: list[Proof] = []
    serves: dict[Proof, list[str]] = {}
    for item in paper.items:
        if isinstance(item, Claim):
            for proof in proofs_of(item):
                _place(proof, order)
                serves.setdefault(proof, []).append(item.id)
    number = {proof: at for at, proof in enumerate(order, 1)}
    return [
        NumberedProof(
            number[proof],
            proof,
            getdoc(proof) or "",
            tuple(number[each] for each in _called(proof)),
            tuple(dict.fromkeys(serves.get(proof, []))),
        )
        for proof in order
    ]


def proofs_of(claim: Claim) -> Iterator[Proof]:
    """Yield the proofs of a claim, of its contrary and of its correction."""
    statements: tuple[Statement | None, ...] = (claim, claim.corrected)
    found = [claim.disproof, *(each.proof for each in statements if each is not None)]
    yield from (proof for proof in found if proof is not None)


def _place(proof: Proof, order: list[Proof]) -> None:
    if proof not in order:
        for lemma in _called(proof):
            _place(lemma, order)
        order.append(proof)


def _called(proof: Any) -> list[Proof]:
    """Return the functions of the same package without a result, which a proof calls: its lemmas."""
    code, known = getattr(proof, "__code__", None), getattr(proof, "__globals__", {})
    if code is None:
        return []
    package = str(known.get("__package__") or "")
    named = [known.get(name) for name in code.co_names]
    return [
        each
        for each in named
        if isfunction(each)
        and each.__annotations__.get("return") in (None, "None")
        and "return" in each.__annotations__
        and str(each.__globals__.get("__package__") or "") == package
        and each.__module__.split(".")[0] == proof.__module__.split(".")[0]
    ]
