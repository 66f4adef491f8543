"""Certificates for every number of clients: one part of a program for all of them, and forms that prove an e^ε.

They are about the messages that the output is computed from, so they bound e^ε from above and say nothing about what
the mechanism attains. A simulation, windows or a noisy end give forms that are kept at the cut between two clients (see
`docs/certificates.md`). Those that lead to them are added, and for every form that is taken back the kept ones that
bound it are found: by a linear program in floats, whose equations are then solved in rationals. The checker decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from tightdp.core.sections import Line, Part, root_of, written_value, written_whole
from tightdp.core.syntax import program_syntax
from tightdp.errors import LimitError, QueryError
from tightdp.every_n.chain import Chain, covers, noisy_end
from tightdp.every_n.paths import Paths
from tightdp.every_n.simulation import simulate, solution
from tightdp.every_n.states import chain_of
from tightdp.every_n.upper import readings
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, as_text
from tightdp.exact.weights import all_over_common
from tightdp.session.base import InstanceBase
from tightdp.session.certify import WORK, Certificate, load_checker, verified
from tightdp.session.certify_aligned import certify_aligned
from tightdp.session.certify_content import about, written
from tightdp.session.certify_events import dataset_of
from tightdp.session.certify_runs import together
from tightdp.session.dominating import verify
from tightdp.session.enclosing import enclose, is_above
from tightdp.session.forms import KINDS, Explored, Reasons, assembled, find_forms

_MOST_TRIED = 12


def certify_every(
    instance: InstanceBase,
    runs: tuple[Any, Any, Any] | None = None,
    claimed: tuple[Number | None, Fraction | None] = (None, None),
) -> Certificate:
    """Return a certificate that some e^ε is enough for every n. Raises QueryError where the checker knows no proof.

    With `runs`, how many, an e^ε and δ (0 for the least), it says what so many runs are together, too. Of an e^ε, or ε,
    that is claimed it says that it is enough, or, for some n, that it is not.
    """
    programs = readings(instance.bound)
    chains = [chain for chain in map(chain_of, programs) if chain is not None and chain.size]
    tried = sorted(((way, chain) for chain in chains for way in ways(chain)), key=lambda each: each[0][0])
    refused: list[object] = []
    least = claimed[0] if isinstance(claimed[0], Fraction) else None
    weaker: tuple[Certificate, Fraction] | None = None
    for (ratio, before, after), chain in tried[:_MOST_TRIED]:
        if claimed != (None, None) and is_above(ratio, *claimed):
            break
        find = partial(_by_forms, before=before, after=after)
        made = _accepted(instance, chain, find, _claim(least or ratio, runs, ratio), refused)
        if made is not None and (claimed != (None, None) or len(chains) == len(programs)):
            return made
        if made is not None:  # numbers that are not listed may prove more
            weaker = made, ratio
            break
    if claimed == (None, None):
        found = enclose(instance)
    else:
        found = verify(instance, *claimed).found
        if is_above(found.lower, *claimed):
            one = instance.rebind(found.n, dict(instance.bound.parameters), **instance.limits)
            refuted: Certificate = one.certify(exp_epsilon=claimed[0], epsilon=claimed[1])
            return refuted
    if weaker is not None and not found.upper < weaker[1]:
        return weaker[0]
    if found.reason and weaker is None:
        raise LimitError(found.reason, found.hint)
    enough = claimed == (None, None) or not is_above(found.upper, *claimed)
    made = certify_closed(instance, programs, found.upper, runs, refused, least) if enough else None
    if made is None and enough:
        made = certify_aligned(instance, programs, claimed, runs, refused)
    made = made or (weaker[0] if weaker is not None else None)
    if made is not None:
        return made
    known = f"e^ε = {as_text(found.upper)} for every n is proved by {found.proof}, which no rule expresses"
    if found.upper == math.inf:
        known = "no e^ε is known to be enough for every n"
    elif refused:
        known = f"the checker does not accept what should prove an e^ε for every n: {refused[-1]}"
    raise QueryError(f"no rule of evidence fits: {known}", "ask for one n") from None


def certify_closed(
    instance: InstanceBase,
    programs: Sequence[Paths],
    ratio: Exact,
    runs: tuple[Any, Any, Any] | None = None,
    refused: list[object] | None = None,
    least: Number | None = None,
    **claim: Any,
) -> Certificate | None:
    """Return a certificate of an e^ε for every n by forms that lead to themselves, as the last parts take them back."""
    chains = [chain_of(paths, rational=False) for paths in programs] if ratio != math.inf else []
    for chain in chains:
        if chain is not None and chain.size:
            said = _claim(ratio if least is None else least, runs, ratio) | claim
            made = _accepted(instance, chain, _closed, said, [] if refused is None else refused)
            if made is not None:
                return made
    return None


def _claim(bound: Exact, runs: tuple[Any, Any, Any] | None, ratio: Exact) -> dict[str, Any]:
    """Return what is claimed for every n, and of runs, whose number is given."""
    claim: dict[str, Any] = {"question": "privacy of messages", "bound": bound}
    return claim if runs is None else claim | {"runs": together(ratio, runs)}


def _by_forms(checker: Any, data: Any, before: Sequence[Form], after: Sequence[Form] | None) -> dict[str, Any] | None:
    return evidence(Explored(checker, data), before, after)


def _closed(checker: Any, data: Any) -> dict[str, Any] | None:
    return find_forms(checker, data, lambda: None)


def _accepted(
    instance: InstanceBase,
    chain: Chain,
    find: Callable[[Any, Any], dict[str, Any] | None],
    claim: dict[str, Any],
    refused: list[object],
) -> Certificate | None:
    """Return the certificate of a claim about a chain, where evidence is found that the checker accepts."""
    bound, checker = instance.bound, load_checker()
    numbers = [odds for matrix in chain.matrices() for row in matrix.values() for odds in row.values()]
    numbers += [odds for row in (*chain.starts, *chain.finals) for odds in row.values()]
    root = 0 if "unknown" in claim else root_of(*numbers, claim["bound"], *claim.get("runs", ()))
    said = {"question": claim.pop("question"), "n": "all", "records": dataset_of(bound, bound.record.values)}
    said |= {"neighbours": bound.neighbours, **{name: written(value, root) for name, value in claim.items()}}
    content = about(said | ({"root": root} if root else {}), program_syntax(_parts(instance, chain, root)), bound)
    try:
        checker.LEFT[0] = WORK * checker.WORK
        proof = find(checker, checker.beside("datasets").Claim(content))
        if proof is not None:
            content["evidence"] = proof
            return verified(content)
    except checker.Refused as error:
        refused.append(error)
    return None


def _parts(instance: InstanceBase, chain: Chain, root: int) -> list[Part]:
    """Return the chain as a program: the state s of the loop, from 0, and what each record makes of it and publishes.

    The messages are numbered, and so are the last outputs.
    """
    record = instance.bound.record
    names = [f"x{leaf}" for leaf in range(len(record.split(record.values[0])))]
    moves: dict[tuple[Any, ...], list[tuple[Any, Number]]] = {}
    for letter, (_, by) in enumerate(chain.steps.items()):
        for old, matrix in by.items():
            for state, entries in matrix.items():
                key = (state, *record.split(old))
                moves.setdefault(key, []).extend(((after, letter), odds) for after, odds in entries.items())
    if len(chain.starts) != 1 or not _sum_to_one([[*chain.starts[0].items()], *moves.values()]):
        known = "runs are guessed, for the index of an earlier record or a later pass, or one ends before the records"
        raise QueryError(f"no rule of evidence fits: {known}", "ask for one n")
    outcomes = dict.fromkeys(outcome for law in moves.values() for outcome, _ in law)
    ends = {state: [(at, f[state]) for at, f in enumerate(chain.finals) if state in f] for state in range(chain.size)}
    starting = set(chain.starts[0])
    shown = {state: law or [(0, Fraction(1))] for state, law in ends.items() if law or state in starting}
    ((_, start),) = _laws({None: [*chain.starts[0].items()]}, root)
    client: list[Line] = [
        *([name, "input", leaf] for leaf, name in enumerate(names)),
        ["v1", "tuple", "s", *names],
        ["d1", "draw", "v1", _laws(moves, root)],
        ["s", "case", "d1", [[[*each], each[0]] for each in outcomes]],
        ["v2", "case", "d1", [[[*each], each[1]] for each in outcomes]],
    ]
    return [
        Part(None, (), [["s", "draw", start]], ()),
        Part("all", ["s"], client, ["v2"]),
        Part(None, ["s"], [["d2", "draw", "s", _laws(shown, root)]], ["d2"]),
    ]


def _sum_to_one(laws: Iterable[list[tuple[Any, Number]]]) -> bool:
    return all(sum(odds for _, odds in law) == 1 for law in laws)


def _laws(laws: Mapping[Any, Sequence[tuple[Any, Number]]], root: int) -> list[Any]:
    """Return laws with odds over one common denominator."""
    weights, _ = all_over_common([[odds for _, odds in law] for law in laws.values()])
    return [
        [written_value(key), [[written_value(at), written_whole(w, root)] for (at, _), w in zip(law, row, strict=True)]]
        for (key, law), row in zip(laws.items(), weights, strict=True)
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


def evidence(explored: Explored, before: Sequence[Form], after: Sequence[Form] | None) -> dict[str, Any] | None:
    """Return the evidence; None where some form is not bounded by others."""
    units, states = after is None, explored.states[1]
    known = {(copy, state): (copy, at) for at, state in enumerate(states) for copy in (0, 1, 2)}
    kept = [found for form in [*before, *(after or ())] if (found := _whole(form, known))]
    early = [form for form in kept if not any(copy for copy, _ in form)]
    late = explored.ratios(len(states)) if units else [form for form in kept if form not in early]
    pending = [form for which, _, form in explored.taken_back(1, [], late, units) if which == 1]
    while pending:
        form = pending.pop()
        if _bounded(form, early) is None:
            early.append(_whole(form, {key: key for key in form}))
            pending += [each for _, _, each in explored.taken_back(1, [early[-1]], [], units)]
        if len(early) > _MOST_KEPT:
            return None
    if any(sum(form.values()) > 0 for _, _, form in explored.taken_back(0, early, [], units)):
        return None
    why: list[Reasons] = []
    for part, forms in ((0, (early, late)), (1, (early, late)), (2, ([], explored.ratios(1)))):
        why.append({kind: [] for kind in KINDS})
        for which, key, form in explored.taken_back(part, forms[0], forms[1], units):
            because = _at_start(form) if part == 0 else _bounded(form, late if which == 2 else early)
            if because is None:
                return None
            why[-1][KINDS[which]].append([*key, *because])
    halves = [[_row(form, 1), _row(form, 2)] for form in (() if units else late)]
    cut: dict[str, list[Any]] = {"before": [_row(form, 0) for form in early], "after": halves}
    return assembled(explored, units, [cut, cut], why)


def _row(form: Form, copy: int) -> list[int]:
    return [each for (of, state), value in form.items() if of == copy for each in (state, value)]


def _at_start(form: Form) -> list[int] | None:
    """Return the reason of a form in the weights of the one state at the start, which are equal under x and x'."""
    ours, theirs = form.get((1, 0), 0), form.get((2, 0), 0)
    if (0, 0) in form or ours + theirs > 0:
        return None
    return [1, 0, ours] if ours > 0 else [1, 1, -ours]


def _whole(form: Form, known: Mapping[tuple[int, Any], tuple[int, Any]]) -> Form:
    """Return a multiple in whole numbers, of the states that are reached, by their numbers."""
    found = {known[key]: Fraction(value) for key, value in form.items() if key in known and value}
    common = math.lcm(*(value.denominator for value in found.values()))
    shared = math.gcd(*(int(value * common) for value in found.values())) or 1
    return {key: int(value * common) // shared for key, value in found.items()}


def _bounded(form: Form, lists: Sequence[Form]) -> list[int] | None:
    """Return a factor, and numbers of kept forms with theirs, so that the form is below their sum; None for none."""
    for at, strong in enumerate(lists):
        factor = max((Fraction(v, strong.get(key, 0)) if strong.get(key, 0) > 0 else Fraction(-1)
                      for key, v in form.items() if v > 0), default=Fraction(0))  # fmt: skip
        if factor >= 0 and _enough(form, lists, {at: factor}):
            return _numbers({at: factor})
    found = solution(form, dict(enumerate(lists)))
    return _numbers(found) if found is not None and _enough(form, lists, found) else None


def _enough(form: Form, lists: Sequence[Form], used: dict[int, Fraction]) -> bool:
    keys = {*form, *(key for at in used for key in lists[at])}
    total = {key: sum((f * lists[at].get(key, 0) for at, f in used.items()), Fraction(0)) for key in keys}
    return all(factor >= 0 for factor in used.values()) and all(form.get(key, 0) <= total[key] for key in keys)


def _numbers(used: dict[int, Fraction]) -> list[int]:
    times = math.lcm(*(factor.denominator for factor in used.values()))
    return [times, *(each for at, factor in used.items() if factor for each in (at, int(factor * times)))]
