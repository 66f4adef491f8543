"""The question `explain`: the draws of the worst pair, and for a claim that fails the line that is to blame."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tightdp.errors import LimitError, ParameterError, QueryError, TightdpError
from tightdp.exact.field import Number, exp
from tightdp.exact.numbers import Exact
from tightdp.language import interp
from tightdp.language.laws import Law
from tightdp.language.outputs import Output
from tightdp.language.primitives import Source
from tightdp.language.program import Bound, Dataset
from tightdp.language.tails import Interval, Tail, has_part
from tightdp.limits import IN_A_CALL, Allowance
from tightdp.limits.calibrated import FEW_DATASETS, LITTLE_WORK
from tightdp.results.privacy import EveryNVerification
from tightdp.results.report import DrawLoss, Explanation, Remedy
from tightdp.results.result import PairWitness
from tightdp.session.arguments import read_exponential
from tightdp.session.asked import Asked
from tightdp.session.edits import Edit, edits_of, rebound
from tightdp.session.smallest import Claim, fewest_records, smallest

_LISTED = 5
_TIMES = 4
"""So many times the work of the question itself may take each change that is tried."""


def claim_of(exp_epsilon: object, epsilon: object, delta: Number) -> Claim | None:
    """Return the claim, None without one."""
    if exp_epsilon is None and epsilon is None:
        if delta:
            raise ParameterError("a claim with delta needs an ε", "give exp_epsilon (1 for ε = 0) or epsilon")
        return None
    t, exponent = read_exponential(exp_epsilon, epsilon, least=1)
    return Claim(exp(exponent) if t is None else t, delta)


def explain(instance: Asked, claim: Claim | None) -> Explanation:
    """Return where the loss comes from, and where the claim fails which line is to blame. See `Instance.explain`."""
    if claim is not None and instance.every_n:
        instance = _decided(instance, claim)
    privacy = instance.privacy()
    witness: PairWitness | None = privacy.witness
    holds = None
    if claim is not None:
        asked = claim.ask(instance) if claim.delta else (privacy.exp_epsilon, witness)
        holds = not claim.fails(asked[0])
        witness = witness if holds else asked[1]
    reason = ""
    draws: tuple[DrawLoss, ...] = ()
    if witness is not None:
        try:
            draws = _draws(instance.bound, witness.x, witness.x_prime)
        except LimitError as error:
            reason = f"the draws are left out: {error.what}"
    remedies: tuple[Remedy, ...] = ()
    least = None
    if claim is not None and holds is False:
        small, (before, pair) = fewest_records(instance, claim, asked)
        least = smallest(small, claim, before)
        remedies = _remedies(instance, small, claim, before, pair)
    return Explanation(
        subject=instance.subject,
        status=privacy.status,
        stats=privacy.stats,
        reason=privacy.reason or reason,
        hint=privacy.hint,
        exp_epsilon=privacy.exp_epsilon,
        witness=witness,
        draws=draws,
        claimed=None if claim is None else claim.t,
        delta=Fraction(0) if claim is None else claim.delta,
        holds=holds,
        line=remedies[0].line if remedies else None,
        remedies=remedies[:_LISTED],
        smallest=least,
        source=tuple(line.rstrip("\r\n") for line in instance.bound.program.source.file_lines),
    )


def _decided(instance: Asked, claim: Claim) -> Asked:
    """Return the mechanism for every n where a claim holds, with the n named where it fails, else raise QueryError."""
    verdict = instance.verify(exp_epsilon=claim.t, delta=claim.delta)
    assert isinstance(verdict, EveryNVerification)
    if verdict.claims[0].holds:
        return instance
    if verdict.found.lower <= claim.t:
        raise QueryError("for every n this claim is not decided, or fails at an n that is not known", "ask for one n")
    return instance.rebind(verdict.found.n, dict(instance.bound.parameters), **instance.limits)


def _draws(bound: Bound, x: Dataset, x_prime: Dataset) -> tuple[DrawLoss, ...]:
    """Return every place that draws, in the order of the source."""
    ours, theirs = runs_with_places(bound, x), runs_with_places(bound, x_prime)
    places = sorted({place for run in (*ours, *theirs) for place, _, _ in run.draws})
    found = []
    for place in places:
        published = largest_ratio(
            (((run.outcomes(place), run.output), run.probability) for run in ours),
            (((run.outcomes(place), run.output), run.probability) for run in theirs),
        )
        fixed = largest_ratio(
            ((run.output, run.fixed(place)) for run in ours), ((run.output, run.fixed(place)) for run in theirs)
        )
        found.append(DrawLoss(place[0], _text(bound, place), published, fixed))
    return tuple(found)


def _text(bound: Bound, place: tuple[int, int, int]) -> str:
    line = bound.program.source.file_lines[place[0] - 1].encode()
    return line[place[1] : place[2]].decode().strip() or line.decode().strip()


def _remedies(
    instance: Asked, small: Asked, claim: Claim, before: Exact, pair: PairWitness | None
) -> tuple[Remedy, ...]:
    """Return the best change of each line: those after which the claim holds, then those that help most.

    `before` is what the small instance loses on a worst pair.
    """
    try:
        laws = {x: dict(small.distribution(x).law) for x in ((pair.x, pair.x_prime) if pair else ())}
        steps = _work(small, claim) + (_work(instance, claim) if instance.n != small.n else 0)
    except (TightdpError, RecursionError):
        return ()
    found: dict[int, Remedy] = {}
    with tempfile.TemporaryDirectory() as directory:
        for place, edit in enumerate(islice(edits_of(small.bound, claim.t), FEW_DATASETS)):
            if edit.late and any(remedy.holds for remedy in found.values()):
                break
            path = Path(directory) / f"changed_{place}.py"
            path.write_text(edit.text, encoding="utf-8")
            remedy = _tried(instance, small, claim, before, laws, edit, path, _TIMES * steps)
            if remedy is not None and (edit.line not in found or _rank(remedy) < _rank(found[edit.line])):
                found[edit.line] = remedy
    return tuple(sorted(found.values(), key=_rank))


def _rank(remedy: Remedy) -> tuple[bool, Exact, bool, bool, bool, Fraction, int]:
    """Claims that hold first; then changes that use a parameter which was not used, then those that meet the claim
    exactly, of them first changes of what is there, then what moves the outputs least, where added noise, a larger
    change of the text, counts twice.
    """
    moved = Fraction(1) if remedy.moved is None else remedy.moved
    weighed = 2 * moved if remedy.adds_noise else moved
    loss = 0 if remedy.holds else remedy.loss
    added = remedy.exact and remedy.adds_noise
    return not remedy.holds, loss, not remedy.restores, not remedy.exact, added, weighed, remedy.line


_Laws = Mapping[Dataset, Mapping[Output, Any]]


def _work(instance: Asked, claim: Claim) -> int:
    """Return how many steps the claim takes here, and a few that anything may take."""
    counted = instance.on(instance.bound, max_nodes=LITTLE_WORK)
    counted.engine.allowance = allowance = Allowance(sys.maxsize)
    claim.ask(counted)
    return LITTLE_WORK // IN_A_CALL + sys.maxsize - allowance.left


def _tried(
    instance: Asked, small: Asked, claim: Claim, before: Exact, laws: _Laws, edit: Edit, path: Path, steps: int
) -> Remedy | None:
    """Return a change where it helps: the claim then holds at the small instance, or its loss was larger `before`.

    Where it holds there, the loss is that of the whole instance. `laws` are those on the worst pair before the change,
    from which the total variation distances are taken. None, too, where it takes more than so many steps.
    """
    allowance = Allowance(steps)
    changed = rebound(small.bound, path)
    if changed is None:
        return None
    try:
        after = small.on(changed, max_nodes=LITTLE_WORK)
        after.engine.allowance = allowance
        loss, _ = claim.ask(after)
        if claim.fails(loss) and loss >= before:
            return None
        if not claim.fails(loss) and instance.n != small.n:
            whole = rebound(instance.bound, path)
            if whole is None:
                return None
            all_records = small.on(whole, max_nodes=LITTLE_WORK)
            all_records.engine.allowance = allowance
            loss, _ = claim.ask(all_records)
        moved = [_distance(law, dict(after.distribution(x).law)) for x, law in laws.items()]
    except (TightdpError, RecursionError):
        return None
    holds = not claim.fails(loss)
    exact = loss == (claim.delta or claim.t)
    known = [each for each in moved if each is not None]
    most = max(known, default=Fraction(0)) if len(known) == len(moved) else None
    return Remedy(edit.line, edit.before, edit.after, loss, holds, most, edit.adds_noise, edit.restores, exact)


def _distance(first: Mapping[Output, Any], second: Mapping[Output, Any]) -> Fraction | None:
    """Return the total variation distance, None of laws that are listed with tails or densities."""
    if any(has_part(y, Tail, Interval) for y in {**first, **second}):
        return None
    none = Fraction(0)
    return sum((abs(first.get(y, none) - second.get(y, none)) for y in {**first, **second}), none) / 2


Place = tuple[int, int, int]
"""Line, first column and last column of a call that draws."""
Drawn = tuple[Place, int, Number | None]
"""Where a draw was made, its outcome, and the probability of that if it is the likeliest."""


@dataclass(frozen=True)
class Run:
    """One run: its output, its probability, and its draws."""

    output: Any
    probability: Number
    draws: tuple[Drawn, ...]

    def outcomes(self, place: Place) -> tuple[int, ...]:
        """Return what was drawn at a place, in order."""
        return tuple(outcome for where, outcome, _ in self.draws if where == place)

    def fixed(self, place: Place) -> Number:
        """Return the probability of the run when the likeliest outcome is taken at a place every time."""
        mass = self.probability
        for where, _, likeliest in self.draws:
            if where == place:
                if likeliest is None:
                    return Fraction(0)
                mass /= likeliest
        return mass


def runs_with_places(bound: Bound, x: Dataset) -> list[Run]:
    """Return every run on a dataset that `observe` does not reject. Raises LimitError above `LITTLE_WORK` draws."""
    drawn = 0

    def execute(source: Source) -> tuple[Output, list[Drawn]]:
        nonlocal drawn
        if drawn > LITTLE_WORK:
            raise LimitError(f"the runs on a dataset draw more than {LITTLE_WORK:,} times", "explain it at a smaller n")
        placed = _Placed(source, bound.program.source.file)
        output = bound.execute(x, placed)
        drawn += len(placed.draws)
        return output, placed.draws

    found = interp.every_run(execute)
    return [Run(output, replay.probability(), tuple(draws)) for (output, draws), replay in found]


def largest_ratio(first: Iterable[tuple[Hashable, Number]], second: Iterable[tuple[Hashable, Number]]) -> Exact:
    """Return the largest P(event)/P'(event) or its inverse over single events, both laws normalized; at least 1."""
    ours, theirs = _law(first), _law(second)
    largest: Exact = Fraction(1)
    for one, other in ((ours, theirs), (theirs, ours)):
        for event, mass in one.items():
            beside = other.get(event, Fraction(0))
            largest = max(largest, math.inf if beside == 0 else mass / beside)
    return largest


def _law(masses: Iterable[tuple[Hashable, Number]]) -> dict[Hashable, Number]:
    law: dict[Hashable, Number] = {}
    for event, mass in masses:
        if mass:
            law[event] = law.get(event, Fraction(0)) + mass
    total: Number = Fraction(0)
    for mass in law.values():
        total = total + mass
    return {event: mass / total for event, mass in law.items()}


class _Placed:
    """What draws from a source, and notes where the user's file calls it."""

    tells_equal_apart = True

    def __init__(self, source: Source, file: str) -> None:
        self._file, self.draws = file, list[Drawn]()
        self.draw_integer, self.draw_number = source.draw_integer, source.draw_number
        self.observe, self._source = source.observe, source

    def draw(self, law: Law) -> int:
        outcome = self._source.draw(law)
        if len(law) > 1:
            likeliest, mass = max(law, key=itemgetter(1))
            self.draws.append((_place(self._file), outcome, mass if outcome == likeliest else None))
        return outcome

    def draw_bits(self, bits: int) -> int:
        raise LimitError("random() in doubles has too many outcomes", "explain it with flip or randint")


def _place(file: str) -> Place:
    """Return where the user's file calls the primitive that draws now."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == file:
            line, _, start, end = _positions(frame.f_code)[frame.f_lasti // 2]
            return line or frame.f_lineno, start or 0, end or 0
        frame = frame.f_back
    return 0, 0, 0


@lru_cache(32)
def _positions(code: CodeType) -> list[tuple[int | None, ...]]:
    return list(code.co_positions())
