"""Certificates for every number of clients: one part of a program for all of them, and forms that prove an e^ε.

They are about the messages that the output is computed from, so they bound e^ε from above and say nothing about what
the mechanism attains. A simulation, windows or a noisy end give forms that are kept at the cut between two clients (see
`docs/certificates.md`). Those that lead to them are added, and for every form that is taken back the kept ones that
bound it are found: by a linear program in floats, whose equations are then solved in rationals. The checker decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tightdp.core.sections import Line, Part, written_value
from tightdp.errors import QueryError
from tightdp.every_n.chain import Chain, covers, noisy_end
from tightdp.every_n.simulation import simulate, solution
from tightdp.every_n.states import chain_of
from tightdp.every_n.upper import readings
from tightdp.exact.numbers import as_text
from tightdp.session.base import InstanceBase
from tightdp.session.certify import FORMAT, WORK, Certificate, load_checker
from tightdp.session.enclosing import enclose

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
    if len(chain.starts) != 1 or not _sum_to_one([[*chain.starts[0].items()], *moves.values()]):
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


def _sum_to_one(laws: Iterable[list[tuple[Any, Fraction]]]) -> bool:
    return all(sum(odds for _, odds in law) == 1 for law in laws)


def _laws(laws: Mapping[Any, list[tuple[Any, Fraction]]]) -> list[Any]:
    """Return laws with odds over one common denominator."""
    common = math.lcm(*(odds.denominator for law in laws.values() for _, odds in law))
    return [
        [written_value(key), [[written_value(outcome), int(odds * common)] for outcome, odds in law]]
        for key, law in laws.items()
    ]


Form = dict[tuple[int, Any], Any]
"""Factors by copy (0: weights while x and x' are alike; 1, 2: those under x and x' later) and state."""
Way = tuple[Fraction, list[Form], list[Form] | None]
"""e^ε, forms before the difference, and after it; None where all states stand for themselves there."""

_MOST_KEPT = 60
_MOST_WINDOWS = 8


def ways(chain: Chain) -> Iterator[Way]:
    """Yield upper ends of e^ε for every n with the forms that should prove them."""
    forward, backward = simulate(chain), None if chain.all_at_once else simulate(chain.reversed())
    states = [(i,) for i in range(chain.size)]
    if forward is not None and forward.ratio() != math.inf:
        matrix = forward.matrix
        lost = [{(1, (j,)): 1} | {(2, (i,)): -by[j] for i, by in matrix.items() if j in by} for (j,) in states]
        yield Fraction(forward.ratio()), [], lost
    if backward is not None and backward.ratio() != math.inf:
        ratio = Fraction(backward.ratio())
        rows = [{(0, (i,)): value for i, value in backward.matrix.get(j, {}).items()} for (j,) in states]
        yield ratio, [{**row, (0, s): row.get((0, s), 0) - ratio} for row, s in zip(rows, states, strict=True)], None
    if chain.all_at_once:
        return
    end = noisy_end(chain)
    if end != math.inf:
        last = {j for by in chain.steps.values() for matrix in by.values() for each in matrix.values() for j in each}
        least = min(min(final.values()) for final in chain.finals)
        most = max(max(final[j] for j in last) / min(final[j] for j in last) for final in chain.finals)
        assert least > 0
        whole = {(copy, (j,)): value for j in last for copy, value in ((1, Fraction(1)), (2, -Fraction(end) / most))}
        yield Fraction(end), [], [whole, *({(1, s): 1} for s in states if s[0] not in last)]
    for at, (value, columns) in enumerate(covers(chain)):
        if value != math.inf:
            pair = (1, Fraction(1)), (2, -Fraction(value))
            yield (
                Fraction(value),
                [],
                [{(copy, (j,)): f * v for j, v in each.items() for copy, f in pair} for each in columns],
            )
        if at == _MOST_WINDOWS:
            return


def evidence(program: Any, before: Sequence[Form], after: Sequence[Form] | None) -> dict[str, Any] | None:
    """Return the evidence; None where some form is not bounded by others."""
    pair, states = ((1, program.down), (2, -program.up)), range(len(program.states[1]))
    units = [{(copy, state): value for copy, value in pair} for state in states] if after is None else []
    known = {(copy, state): (copy, at) for at, state in enumerate(program.states[1].values()) for copy in (0, 1, 2)}
    kept = [found for form in [*before, *(after or ())] if (found := _whole(form, known))]
    early = [form for form in kept if not any(copy for copy, _ in form)]
    late = [*(form for form in kept if form not in early), *units]
    pending = [form for form in program.taken_back(1, late) if not any(copy for copy, _ in form)]
    while pending:
        form = pending.pop()
        if _bounded(form, early) is None:
            early.append(_whole(form, {key: key for key in form}))
            pending += program.taken_back(1, [early[-1]])
        if len(early) > _MOST_KEPT:
            return None
    if any(sum(form.values()) > 0 for form in program.taken_back(0, early)):
        return None
    lists = [*early, *late]
    end = {(copy, state): value for state in range(len(program.states[-1])) for copy, value in pair}
    why: list[list[list[int]]] = [[]]
    for part, forms in ((1, lists), (2, [end])):
        reasons = [
            _bounded(form, lists, bool(units))
            for form in program.taken_back(part, forms)
            if not (units and any(copy for copy, _ in form))
        ]
        why.append([each for each in reasons if each is not None])
        if len(why[-1]) < len(reasons):
            return None
    place = {key: at for at, key in enumerate((copy, state) for copy in (0, 1, 2) for state in states)}
    listed = lists[: len(lists) - len(units)]
    rows = [[each for key, value in form.items() for each in (place[key], value)] for form in listed]
    return {"rule": "forms", "units": bool(units), "cuts": [rows], "why": why}


def _whole(form: Form, known: Mapping[tuple[int, Any], tuple[int, Any]]) -> Form:
    """Return a multiple in whole numbers, of the states that are reached, by their numbers."""
    found = {known[key]: Fraction(value) for key, value in form.items() if key in known and value}
    common = math.lcm(*(value.denominator for value in found.values()))
    shared = math.gcd(*(int(value * common) for value in found.values())) or 1
    return {key: int(value * common) // shared for key, value in found.items()}


def _bounded(form: Form, lists: Sequence[Form], units: bool = False) -> list[int] | None:
    """Return a factor, and numbers of kept forms with theirs, so that the form is below their sum; None for none."""
    later = any(copy for copy, _ in form)
    same = [at for at, each in enumerate(lists) if any(copy for copy, _ in each) == later]
    for at in same:
        factor = max((Fraction(v, lists[at].get(key, 0)) if lists[at].get(key, 0) > 0 else Fraction(-1)
                      for key, v in form.items() if v > 0), default=Fraction(0))  # fmt: skip
        if factor >= 0 and _enough(form, lists, {at: factor}):
            return _numbers({at: factor})
    found = solution(form, {at: lists[at] for at in same})
    return _numbers(found) if found is not None and _enough(form, lists, found) else None


def _enough(form: Form, lists: Sequence[Form], used: dict[int, Fraction]) -> bool:
    keys = {*form, *(key for at in used for key in lists[at])}
    total = {key: sum((f * lists[at].get(key, 0) for at, f in used.items()), Fraction(0)) for key in keys}
    return all(factor >= 0 for factor in used.values()) and all(form.get(key, 0) <= total[key] for key in keys)


def _numbers(used: dict[int, Fraction]) -> list[int]:
    times = math.lcm(*(factor.denominator for factor in used.values()))
    return [times, *(each for at, factor in used.items() if factor for each in (at, int(factor * times)))]
