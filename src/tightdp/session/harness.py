"""The validity check of audit rules: how often does a rule report more than the true ε?

It tries small mechanisms, each of which hides its records in another way, with a finite ε at the δ that they are made
for: on others no rule can report too much. The worst mechanism of one audit is made here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from tightdp.auditing.worst_case import Worst, largest_of_any_number, largest_probability
from tightdp.errors import LimitError, ParameterError, QueryError
from tightdp.exact.field import Number
from tightdp.language.domains import Bit, Int
from tightdp.language.primitives import choice, flip, geometric, randint
from tightdp.limits import can_fork, cores
from tightdp.one_run.guessers import Top
from tightdp.results.audit import Audit, Observation, Trial, Validity, WorstGame
from tightdp.results.guessing import Guessing, Level, Reports, Rule, as_rule, rule_name
from tightdp.session.arguments import read_count, read_number
from tightdp.session.instance import Instance
from tightdp.session.mechanism import mechanism
from tightdp.session.one_run import adaptive, guessing, read_guesser
from tightdp.session.processes import in_order

GAMES = ((5, 5), (10, 10), (20, 10), (50, 50), (200, 40))
"""(canaries, guesses) whose worst case is looked at by default."""

_DIGITS = (3, 6, 12, 24)
"""How close to a reported e^ε, from below, the e^ε of a witness is put: so many decimals, more where needed."""


@dataclass(frozen=True)
class Adaptive:
    """The guesser who sees every bit once it is decided on, and guesses where the posterior is at least `threshold`.

    `threshold` is a number from 1/2 to 1, `order` lists all clients (None: in the order of the dataset).
    """

    threshold: Any = "1/2"
    order: Sequence[int] | None = None


def validity(
    rule: Rule,
    *,
    delta: Any = 0,
    significance: Any = "1/20",
    programs: Iterable[Instance | tuple[Instance, Any]] | None = None,
    guessers: Iterable[Any] | None = None,
    games: Iterable[tuple[Any, ...]] | None = None,
    jobs: int | None = None,
) -> Validity:
    """Return how often an audit rule reports more than the true ε, exactly, on programs and in the worst case.

    `rule` is a method of `tightdp.audit` ("optimal", "steinke", "fdp", "order-statistics", taken at `delta` and
    `significance`), or a function of (canaries, guesses, right guesses) that gives the ε that it reports.

    `programs` are instances, whose secret bits choose between the first two records that neighbours may exchange, or
    (instance, pairs) as for `Instance.guessing`; the true ε is the tight one at `delta` of the mechanism on the
    datasets that these bits pick, which is at most that of the whole mechanism. The default is a few small mechanisms.
    `guessers` are as for `Instance.guessing`, or `Adaptive`; by default all bits, thresholds, the likelier half,
    certain bits only, and adaptive ones.

    `games` are (canaries, guesses) or (canaries, guesses, exp_epsilon), the number of guesses being fixed before the
    run, or None where it may depend on the output: for every ε, or for the one given, the worst mechanism of all with
    (ε, delta)-DP is found. A rule that reports more for more right guesses is decided in closed form, other rules
    between bounds.

    `jobs` of these run at once, in processes of their own (default: one per core).

    The answer has a witness, and says what was tried. It never says "proved". Raises LimitError where a program is too
    large, ParameterError where an argument does not fit or the rule gives no number.
    """
    share, level = read_number("delta", delta, 1), read_number("significance", significance, 1)
    reports = Reports(as_rule(rule, share, level))
    chosen = default_programs(share) if programs is None else tuple(programs)
    number = cores() if jobs is None else read_count("jobs", jobs)
    tried: list[Callable[[], Trial | WorstGame]] = [
        partial(_trial, reports, *found, share) for found in _tries(chosen, guessers)
    ]
    wanted = GAMES if games is None else games
    played: list[Callable[[], Trial | WorstGame]] = [partial(_game, reports, game, share, level) for game in wanted]
    asked = [*tried, *played]
    found = in_order(lambda at: asked[at](), range(len(asked)), number if can_fork() else 1)
    trials = tuple(answer for answer in found if isinstance(answer, Trial))
    worst = tuple(answer for answer in found if isinstance(answer, WorstGame))
    return Validity(rule_name(rule), share, level, trials, worst)


# programs


def _tries(
    programs: Iterable[Instance | tuple[Instance, Any]], guessers: Iterable[Any] | None
) -> Iterator[tuple[Instance, Any, Any]]:
    """Yield the instances with their pairs and guessers."""
    listed = None if guessers is None else tuple(guessers)
    for program in programs:
        instance, pairs = _read_program(program)
        for guesser in _default_guessers(instance.n) if listed is None else listed:
            yield instance, pairs, guesser


def _guessing(instance: Instance, pairs: Any, guesser: Any, delta: Fraction) -> Guessing:
    """Return the joint law of guesses."""
    if isinstance(guesser, Adaptive):
        limit = read_number("threshold", guesser.threshold, 1)
        found = adaptive(instance.engine, guesser.order, limit, pairs, delta)
    else:
        found = guessing(instance.engine, read_guesser(guesser), pairs, delta)
    if found.status != "exact":
        raise LimitError(f"ε of {instance.subject} is not known exactly: {found.reason}", "use fewer records")
    return found


def _read_program(program: Any) -> tuple[Instance, Any]:
    if isinstance(program, Instance):
        return program, None
    if isinstance(program, tuple) and len(program) == 2 and isinstance(program[0], Instance):
        return program
    raise ParameterError(f"the program is {program!r}", "give an instance, or (instance, pairs)")


def _default_guessers(n: int) -> tuple[Any, ...]:
    return ("all", "3/4", "certain", Top(-(-n // 2)), Adaptive("1/2"), Adaptive("3/4"))


def _trial(reports: Reports, instance: Instance, pairs: Any, guesser: Any, delta: Fraction) -> Trial:
    """Return how often the rule reports more than the true ε."""
    found = _guessing(instance, pairs, guesser, delta)
    probability: Number = Fraction(0)
    observations = []
    for r, v, p in found.joint.entries:
        if reports.level(found.canaries, r, v).exceeds(found.exp_epsilon):
            probability += p
            observations.append((r, v))
    named = found.guesser if found.audit == "one-run" else f"{found.audit}, {found.guesser}"
    varies = len({r for r, _, _ in found.joint.entries}) > 1
    return Trial(found.subject, named, found.exp_epsilon, probability, tuple(observations), varies)


# games


def _game(reports: Reports, game: Sequence[Any], delta: Fraction, significance: Fraction) -> WorstGame:
    """Return the worst case of a game for one ε or for all of them."""
    if isinstance(game, str) or len(game) not in (2, 3):
        raise ParameterError(f"the game is {game!r}", "give (canaries, guesses), or (canaries, guesses, exp_epsilon)")
    canaries = read_count("canaries", game[0])
    guesses = None if game[1] is None else read_count("guesses", game[1])
    if guesses is not None and guesses > canaries:
        raise ParameterError(f"guesses is {guesses}", f"give at most canaries = {canaries}")
    scan = _Scan(reports, canaries, guesses, delta)
    if len(game) == 3:
        t = read_number("exp_epsilon", game[2], least=1)
        return scan.result(t, scan.at(t), None)
    return scan.over_every_epsilon(significance)


class _Scan:
    """The worst case of one game, as a function of ε.

    The set of observations on which more than ε is reported changes only where ε passes a reported one, and in between
    the worst probability grows with ε: it is largest just below a reported ε.
    """

    def __init__(self, reports: Reports, canaries: int, guesses: int | None, delta: Fraction) -> None:
        self._canaries, self._guesses, self._delta = canaries, guesses, delta
        numbers = range(1, canaries + 1) if guesses is None else (guesses,)
        self._levels = {(r, v): reports.level(canaries, r, v) for r in numbers for v in range(r + 1)}

    def at(self, t: Fraction, evidence: bool = True) -> Worst:
        """Return the worst case at one e^ε."""
        return self._largest(self._exceeding(lambda level: level.exceeds(t)), t, evidence)

    def over_every_epsilon(self, significance: Fraction) -> WorstGame:
        """Return the worst case over all e^ε >= 1, closely enough to compare it with the significance level."""
        one = Fraction(1)
        best = one, self.at(one, evidence=False)
        ends = sorted({level.ends() for level in self._levels.values() if level.exceeds(one)})
        bounds = [self._just_below(*end) for end in ends]
        upper = max([best[1].upper, *bounds])
        for digits in _DIGITS:
            for (low, _), bound in zip(ends, bounds, strict=True):
                if bound > best[1].lower:
                    t = _below(low, digits)
                    found = self.at(t, evidence=False)
                    best = max(best, (t, found), key=lambda pair: pair[1].lower)
            if best[1].lower > significance or upper <= significance:
                break
        return self.result(best[0], self.at(best[0]), upper)

    def result(self, t: Fraction, found: Worst, upper: Fraction | None) -> WorstGame:
        """Return the answer, with the witness at t."""
        observations = tuple(self._exceeding(lambda level: level.exceeds(t)))
        bound = found.upper if upper is None else max(upper, found.lower)
        return WorstGame(self._canaries, self._guesses, t, found.lower, bound, observations, found.parts)

    def _just_below(self, low: Any, high: Any) -> Fraction:
        """Return an upper bound on the worst case for all e^ε from the next lower reported one up to a reported one."""
        if high == math.inf:
            return Fraction(1)
        return self._largest(self._exceeding(lambda level: level.ends()[1] >= low), high, False).upper

    def _exceeding(self, chosen: Callable[[Level], bool]) -> list[Observation]:
        return [seen for seen, level in self._levels.items() if chosen(level)]

    def _largest(self, observations: Sequence[Observation], t: Fraction, evidence: bool) -> Worst:
        """Return the largest probability of some observations."""
        if self._guesses is not None:
            numbers = [v for _, v in observations]
            return largest_probability(self._canaries, self._guesses, numbers, t, self._delta, evidence)
        seen = set(observations)
        upper = largest_of_any_number(self._canaries, _firsts(observations), t, self._delta)
        last = _firsts([(r, v) for r, v in observations if all((r, w) in seen for w in range(v, r + 1))])
        lower = largest_of_any_number(self._canaries, last, t, self._delta)
        return Worst(lower.lower, upper.upper, lower.parts)


def _firsts(observations: Iterable[Observation]) -> dict[int, int]:
    """Return the least number right by number of guesses."""
    firsts: dict[int, int] = {}
    for r, v in observations:
        firsts[r] = min(v, firsts.get(r, v))
    return firsts


def _below(end: Any, digits: int) -> Fraction:
    """Return a rational below a reported e^ε, close to it, and at least 1; a large one where that is infinite."""
    unit = 10**digits
    if end == math.inf:
        return Fraction(unit)
    return max(Fraction(1), Fraction(math.ceil(end * unit) - 1, unit))


@mechanism(record=Bit)
def randomized_response(x: Any, lam: Any) -> Any:
    """Every bit, flipped with probability lam."""
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def randomized_response_delta(x: Any, leak: Any, lam: Any) -> Any:
    """Every bit is given away with probability `leak`, else flipped with probability lam."""
    return tuple(2 + b if flip(leak) else (1 - b if flip(lam) else b) for b in x)


@mechanism(record=Bit)
def all_or_nothing(x: Any, p: Any) -> Any:
    """All records with probability p, else nothing."""
    return x if flip(p) else None


@mechanism(record=Bit)
def all_or_noise(x: Any, p: Any, lam: Any) -> Any:
    """All records with probability p, else randomized response; nothing says which."""
    noisy = tuple(1 - b if flip(lam) else b for b in x)
    return x if flip(p) else noisy


@mechanism(record=Bit)
def name_or_nothing(x: Any, p: Any) -> Any:
    """One record, uniformly chosen, with its place, with probability p, else nothing."""
    place = choice(tuple(range(len(x))))
    return (place, x[place]) if flip(p) else None


@mechanism(record=Bit)
def noisy_count(x: Any, ratio: Any) -> Any:
    """The number of ones with two-sided geometric noise, clamped."""
    return geometric(sum(x), ratio, 0, len(x))


@mechanism(record=Bit)
def noisy_differences(x: Any, lam: Any) -> Any:
    """Whether neighbouring records differ, each with probability lam the opposite: one record unlocks the others."""
    return tuple((a ^ b) ^ flip(lam) for a, b in zip(x, x[1:] + x[:1], strict=True))


def default_programs(delta: Fraction) -> tuple[Instance, ...]:
    """Return the instances that a rule is tried on by default; the larger δ, the more they give away."""
    pure = (
        randomized_response.bind(n=6, lam="1/4"),
        randomized_response.bind(n=8, lam="1/10"),
        randomized_response.bind(n=8, lam="1/2"),
        noisy_count.bind(n=6, ratio="1/2"),
        noisy_differences.bind(n=4, lam="1/4"),
    )
    if not delta:
        return pure
    each = min(Fraction(1), 6 * delta)
    return (
        *pure,
        all_or_nothing.bind(n=5, p=delta),
        all_or_nothing.bind(n=8, p=delta),
        all_or_noise.bind(n=5, p=delta, lam="1/4"),
        randomized_response_delta.bind(n=6, leak=delta, lam="1/4"),
        name_or_nothing.bind(n=6, p=each),
    )


@mechanism(record=lambda options: Int(0, options - 1))
def symmetric_guesser(x, guesses, weights, options=2):  # type: ignore[no-untyped-def]
    """Publish a guess for so many of the secrets, None for the others; i are right with probability weights[i].

    Given their number, the guesses and the right ones among them are uniformly placed, and the wrong ones uniform. The
    worst mechanism of a one-run audit may be taken of this form.
    """
    right = choice(range(guesses + 1), weights)
    left = guesses
    output = []
    for j in range(len(x)):
        if flip(left / (len(x) - j)):
            if flip(right / left):
                output.append(x[j])
                right -= 1
            else:
                output.append((x[j] + randint(1, options - 1)) % options)
            left -= 1
        else:
            output.append(None)
    return tuple(output)


def worst_case(answer: Audit) -> Instance:
    """Return the mechanism behind the p-value, or else behind the bound, of the optimal method as an instance.

    Its δ is within the guarantee, and it makes at least `correct` right guesses as often as the optimum says (for a
    trade-off function, nearly). Raises QueryError for the other methods, and where its probabilities are too long.
    """
    worst = answer.worst
    if worst is None:
        raise QueryError(
            f"there is no worst mechanism for this answer of the method {answer.method}",
            'use method="optimal", a positive number of right guesses, and numbers of moderate length',
        )
    return symmetric_guesser.bind(n=worst.canaries, guesses=worst.guesses, weights=worst.weights, options=worst.options)
