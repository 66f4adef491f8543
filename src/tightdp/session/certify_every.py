"""Certificates for every number of clients: one part of a program for all of them, and the matrix of a simulation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.core.writing import write_value
from tightdp.errors import QueryError
from tightdp.every_n.chain import Chain
from tightdp.every_n.states import chain_of
from tightdp.every_n.upper import readings
from tightdp.exact.numbers import as_text
from tightdp.session.base import InstanceBase
from tightdp.session.certify import FORMAT, Certificate, load_checker
from tightdp.session.enclosing import enclose
from tightdp.session.every_forms import evidence, ways

__all__ = ["certify_every"]

_MOST_TRIED = 12
_MOST_CLIENTS = 2
"""Up to how many clients a pair that attains the bound is looked for."""


def certify_every(instance: InstanceBase) -> Certificate:
    """Return a certificate that some e^ε is enough for every n. Raises QueryError where the checker knows no proof."""
    bound, checker = instance.bound, load_checker()
    chains = [chain for paths in readings(bound) for chain in [chain_of(paths)] if chain is not None]
    tried = sorted(((way, chain) for chain in chains for way in ways(chain)), key=lambda each: each[0][0])
    reason: object = None
    for (ratio, before, after), chain in tried[:_MOST_TRIED]:
        content: dict[str, Any] = {
            "certificate": FORMAT,
            "mechanism": str(instance.subject),
            "claim": {"kind": "privacy", "bound": as_text(ratio)},
            "clients": "all",
            "records": [write_value(tuple(bound.record.split(record))) for record in bound.record.values],
            "neighbours": bound.neighbours,
            "program": list(_lines(instance, chain)),
        }
        try:
            program = checker.Program(content)
            proof = evidence(program, before, after)
            if proof is not None:
                content["evidence"] = proof
                _attain(content, program)
                return Certificate(content, checker.check(content))
        except checker.Refused as error:
            reason = error
    found = enclose(instance)
    known = f"e^ε = {as_text(found.upper)} for every n is proved by {found.proof}, which no rule expresses"
    if found.upper == math.inf:
        known = "no e^ε is known to be enough for every n"
    elif reason is not None:
        known = f"the checker does not accept what should prove an e^ε for every n: {reason}"
    raise QueryError(f"no rule of evidence fits: {known}", "ask for one n") from None


def _lines(instance: InstanceBase, chain: Chain) -> Iterator[str]:
    """Yield the chain as the lines of a program: the state s, and what each record makes of it and publishes."""
    record = instance.bound.record
    widths = range(len(record.split(record.values[0])))
    names = [f"x{leaf}" for leaf in widths]
    moves: dict[tuple[Any, ...], list[tuple[Any, Fraction]]] = {}
    for letter, (_, by) in enumerate(chain.steps.items()):
        for old, matrix in by.items():
            for state, entries in matrix.items():
                key = (state, *record.split(old))
                moves.setdefault(key, []).extend(((after, letter), odds) for after, odds in entries.items())
    if len(chain.starts) != 1 or not _whole([[*chain.starts[0].items()], *moves.values()]):
        raise QueryError("no rule of evidence fits: some run ends before the records are looked at", "ask for one n")
    yield "# s is the state of the loop, from 0; the messages are numbered, and so are the last outputs"
    yield f"s = draw {{ {_law([*chain.starts[0].items()])} }}"
    yield 'client "all" s'
    yield from (f"{name} = input {leaf}" for name, leaf in zip(names, widths, strict=True))
    yield f"v1 = tuple s {' '.join(names)}"
    yield f"d1 = draw v1 {{ {_laws(moves.items())} }}"
    outcomes = dict.fromkeys(outcome for law in moves.values() for outcome, _ in law)
    yield f"s = case d1 {{ {' | '.join(f'{write_value(each)}: {each[0]}' for each in outcomes)} }}"
    yield f"v2 = case d1 {{ {' | '.join(f'{write_value(each)}: {each[1]}' for each in outcomes)} }}"
    yield "output v2"
    yield "then s"
    ends = {state: [(at, f[state]) for at, f in enumerate(chain.finals) if state in f] for state in range(chain.size)}
    starting = set(chain.starts[0])
    shown = {state: law or [(0, Fraction(1))] for state, law in ends.items() if law or state in starting}
    yield f"d2 = draw s {{ {_laws(((state,), law) for state, law in shown.items())} }}"
    yield "output d2"


def _whole(laws: Iterable[list[tuple[Any, Fraction]]]) -> bool:
    return all(sum(odds for _, odds in law) == 1 for law in laws)


def _laws(laws: Iterable[tuple[tuple[Any, ...], list[tuple[Any, Fraction]]]]) -> str:
    listed = [(key if len(key) > 1 else key[0], law) for key, law in laws]
    common = math.lcm(*(odds.denominator for _, law in listed for _, odds in law))
    return " ; ".join(_law(law, common, f"{write_value(key)}: ") for key, law in listed)


def _law(law: list[tuple[Any, Fraction]], common: int = 0, before: str = "") -> str:
    common = common or math.lcm(*(odds.denominator for _, odds in law))
    return " | ".join(f"{before}{write_value(outcome)} {odds * common}" for outcome, odds in law)


def _attain(content: dict[str, Any], program: Any) -> None:
    """Add a pair of small datasets that attains the bound, where there is one."""
    for n in range(1, _MOST_CLIENTS + 1):
        for x in product(program.records, repeat=n):
            for at, (old, new) in product(range(n), program.met):
                y = (*x[:at], new, *x[at + 1 :])
                if x[at] == old and x != y:
                    (left,) = program.walk(program.along(x, y))
                    if program.over(left)[1]:
                        content["claim"]["tight"] = True
                        content["evidence"]["witness"] = [write_value(x), write_value(y)]
                        return
