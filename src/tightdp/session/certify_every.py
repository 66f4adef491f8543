"""Certificates for every number of clients: one part of a program for all of them, and the matrix of a simulation.

They are about the messages that the output is computed from, so they bound e^ε from above and say nothing about what
the mechanism attains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from tightdp.core.sections import Line, Part, written_value
from tightdp.errors import QueryError
from tightdp.every_n.chain import Chain
from tightdp.every_n.states import chain_of
from tightdp.every_n.upper import readings
from tightdp.exact.numbers import as_text
from tightdp.session.base import InstanceBase
from tightdp.session.certify import FORMAT, WORK, Certificate, load_checker
from tightdp.session.enclosing import enclose
from tightdp.session.every_forms import evidence, ways

__all__ = ["certify_every"]

_MOST_TRIED = 12


def certify_every(instance: InstanceBase) -> Certificate:
    """Return a certificate that some e^ε is enough for every n. Raises QueryError where the checker knows no proof."""
    bound, checker = instance.bound, load_checker()
    chains = [chain for paths in readings(bound) for chain in [chain_of(paths)] if chain is not None]
    tried = sorted(((way, chain) for chain in chains for way in ways(chain)), key=lambda each: each[0][0])
    reason: object = None
    for (ratio, before, after), chain in tried[:_MOST_TRIED]:
        content: dict[str, Any] = {
            "certificate": FORMAT,
            "claim": {
                "kind": "privacy of messages",
                "n": "all",
                "records": [written_value(tuple(bound.record.split(record))) for record in bound.record.values],
                "neighbours": bound.neighbours,
                "bound": written_value(ratio),
            },
            "program": [part.to_dict() for part in _parts(instance, chain)],
        }
        try:
            checker.LEFT[0] = WORK * checker.WORK
            proof = evidence(checker.Program(content), before, after)
            if proof is not None:
                content["evidence"] = proof
                return Certificate(content, checker.check(content, WORK))
        except checker.Refused as error:
            reason = error
    found = enclose(instance)
    known = f"e^ε = {as_text(found.upper)} for every n is proved by {found.proof}, which no rule expresses"
    if found.upper == math.inf:
        known = "no e^ε is known to be enough for every n"
    elif reason is not None:
        known = f"the checker does not accept what should prove an e^ε for every n: {reason}"
    raise QueryError(f"no rule of evidence fits: {known}", "ask for one n") from None


def _parts(instance: InstanceBase, chain: Chain) -> list[Part]:
    """Return the chain as a program: the state s of the loop, from 0, and what each record makes of it and publishes.

    The messages are numbered, and so are the last outputs.
    """
    record = instance.bound.record
    names = [f"x{leaf}" for leaf in range(len(record.split(record.values[0])))]
    moves: dict[tuple[Any, ...], list[tuple[Any, Fraction]]] = {}
    for letter, (_, by) in enumerate(chain.steps.items()):
        for old, matrix in by.items():
            for state, entries in matrix.items():
                key = (state, *record.split(old))
                moves.setdefault(key, []).extend(((after, letter), odds) for after, odds in entries.items())
    if len(chain.starts) != 1 or not _whole([[*chain.starts[0].items()], *moves.values()]):
        raise QueryError("no rule of evidence fits: some run ends before the records are looked at", "ask for one n")
    outcomes = dict.fromkeys(outcome for law in moves.values() for outcome, _ in law)
    ends = {state: [(at, f[state]) for at, f in enumerate(chain.finals) if state in f] for state in range(chain.size)}
    starting = set(chain.starts[0])
    shown = {state: law or [(0, Fraction(1))] for state, law in ends.items() if law or state in starting}
    ((_, start),) = _laws({None: [*chain.starts[0].items()]})
    client: list[Line] = [
        *([name, "input", leaf] for leaf, name in enumerate(names)),
        ["v1", "tuple", "s", *names],
        ["d1", "draw", "v1", _laws(moves)],
        ["s", "case", "d1", [[[*each], each[0]] for each in outcomes]],
        ["v2", "case", "d1", [[[*each], each[1]] for each in outcomes]],
    ]
    return [
        Part(None, (), [["s", "draw", start]], ()),
        Part("all", ["s"], client, ["v2"]),
        Part(None, ["s"], [["d2", "draw", "s", _laws(shown)]], ["d2"]),
    ]


def _whole(laws: Iterable[list[tuple[Any, Fraction]]]) -> bool:
    return all(sum(odds for _, odds in law) == 1 for law in laws)


def _laws(laws: Mapping[Any, list[tuple[Any, Fraction]]]) -> list[Any]:
    """Return laws with odds over one common denominator."""
    common = math.lcm(*(odds.denominator for law in laws.values() for _, odds in law))
    return [
        [written_value(key), [[written_value(outcome), int(odds * common)] for outcome, odds in law]]
        for key, law in laws.items()
    ]
