"""How many canaries a one-run audit needs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tightdp.errors import ParameterError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import decimal_text
from tightdp.methods.base import Reached
from tightdp.one_run.guessers import Top
from tightdp.results.guessing import (
    Canaries,
    Guessing,
    Level,
    Method,
    Point,
    Reported,
    Reports,
    Rule,
    as_rule,
    points_in_order,
    rule_name,
)
from tightdp.results.result import Subject
from tightdp.session.arguments import read_count, read_exact, read_number
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism
from tightdp.session.one_run import guessing, read_guesser


def canaries_needed(
    instance: Instance | Mechanism | Callable[[int], Instance],
    rule: Rule = "optimal",
    *,
    share: Any = "1/2",
    epsilon: Any = None,
    power: Any = "19/20",
    delta: Any = 0,
    significance: Any = "1/20",
    guesser: Any = None,
    pairs: Any = None,
    at_most: int = 4096,
    patience: int | None = 3,
) -> Canaries:
    """Return how many canaries a one-run audit needs to report at least a share of ε with probability `power`.

    `instance` is an instance, whose number of records is varied, a mechanism without parameters, or a function
    from the number of records to an instance. `rule` is the audit method: "optimal", "steinke", "fdp" or
    "order-statistics" at `delta` and `significance`, or a function of (canaries, guesses, right guesses) that gives the
    ε that it reports. `guesser` is as for `Instance.guessing`; `pairs` too, or a function from the number of records to
    pairs. With `epsilon` the audit has to report at least that ε.

    ε is the tight one, at `delta`, of the mechanism on the datasets that the pairs can pick. The sizes 1, 2, 4, ... up
    to `at_most` are tried, then bisected: the answer reaches the power and one canary fewer does not. Where the power
    falls at `patience` doublings in a row, and the ε that is reported with it does not grow, the search stops: the
    status is then "unresolved", `reason` says between which sizes the power fell, and `at_most` is the last one
    (`patience=None` never stops it). Raises QueryError where ε is infinite, so that no audit sees a share of it.
    """
    search = _Search(
        _sized(instance),
        as_rule(rule, read_exact("delta", delta, 1), read_number("significance", significance, 1)),
        None if epsilon is not None else read_number("share", share),
        None if epsilon is None else read_number("epsilon", epsilon),
        read_number("power", power, 1),
        read_exact("delta", delta, 1),
        guesser,
        pairs,
    )
    limit, high = read_count("at_most", at_most), search.first
    if limit < high:
        raise ParameterError(f"at_most is {limit}", f"give at least the {high} guesses that the guesser makes")
    if patience is not None:
        patience = read_count("patience", patience)
    low, sizes = high - 1, [high]
    while not search.reached(high) and high < limit and not search.only_falls(sizes, patience):
        low, high = high, min(2 * high, limit)
        sizes.append(high)
    found = search.reached(high)
    given_up = not found and high < limit
    while found and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if search.reached(middle) else (middle, high)
    return Canaries(
        subject=search.subject(high),
        canaries=high if found else None,
        rule=rule_name(rule),
        share=search.share,
        epsilon=search.epsilon,
        power=search.power,
        at_most=high if given_up else limit,
        status="unresolved" if given_up else "exact",
        reason=search.fall(sizes, patience) if given_up else "",
        hint="ask for less, use another guesser or rule, or give patience=None to go on" if given_up else "",
        points=points_in_order(list(search.known.values())),
    )


def _sized(instance: Any) -> Callable[[int], Instance]:
    """Return the function from a number of records to an instance."""
    if isinstance(instance, Mechanism):
        return lambda n: instance.bind(n=n)
    if not isinstance(instance, Instance):
        if not callable(instance):
            what = f"{instance!r} is no instance"
            raise ParameterError(what, "give an instance, a mechanism, or a function from n to an instance")
        return instance  # type: ignore[no-any-return]
    bound = instance.bound

    def sized(n: int) -> Instance:
        changed = bound.program.bind(n, neighbours=bound.neighbours, **bound.parameters)
        made = Instance(changed, instance.backend, timeout=instance.timeout, max_nodes=instance.max_nodes)
        made.progress = instance.progress
        return made

    return sized


class _Search:
    """What is asked, and the sizes that were looked at."""

    def __init__(
        self,
        instance: Callable[[int], Instance],
        rule: Callable[[int, int, int], Any],
        share: Fraction | None,
        epsilon: Fraction | None,
        power: Fraction,
        delta: Number,
        guesser: Any,
        pairs: Any,
    ) -> None:
        self._instance, self._rule, self._reports = instance, rule, Reports(rule)
        self.share, self.epsilon, self.power = share, epsilon, power
        self._delta, self._guesser, self._pairs = delta, read_guesser(guesser), pairs
        self.known: dict[int, Point] = {}

    @property
    def first(self) -> int:
        """The least number of canaries that allows for the guesses."""
        return max(1, self._guesser.k) if isinstance(self._guesser, Top) else 1

    def subject(self, n: int) -> Subject:
        """Return whom the answer is about, without a number of records."""
        subject = self._instance(n).subject
        fixed = tuple((name, value) for name, value in subject.parameters if name != "n")
        return Subject(subject.mechanism, fixed, subject.neighbours)

    def reached(self, n: int) -> bool:
        """Whether n canaries are enough."""
        if n not in self.known:
            pairs = self._pairs(n) if callable(self._pairs) else self._pairs
            self.known[n] = self._point(guessing(self._followed(n).engine, self._guesser, pairs, self._delta))
        return self.known[n].power >= self.power

    def _followed(self, n: int) -> Instance:
        """Return the instance of n canaries, whose progress says what is known of the number that is needed."""
        instance = self._instance(n)
        told = instance.progress
        if told is not None:
            short = max((size for size, point in self.known.items() if point.power < self.power), default=0)
            bound = Reached("canaries >", lambda: Fraction(short))
            instance.progress = lambda step: told(replace(step, phase=f"n = {n}: {step.phase}", bound=bound))
        return instance

    def only_falls(self, sizes: Sequence[int], patience: int | None) -> bool:
        """Whether the power fell at each of the last doublings, and the ε reported with it did not grow."""
        if patience is None or len(sizes) <= patience:
            return False
        points = [self.known[size] for size in sizes[-patience - 1 :]]
        return all(
            after.power < before.power and after.reported <= before.reported for before, after in pairwise(points)
        )

    def fall(self, sizes: Sequence[int], patience: int | None) -> str:
        """Return how the power fell at the last doublings."""
        first, last = self.known[sizes[-(patience or 0) - 1]], self.known[sizes[-1]]
        powers = decimal_text(first.power), decimal_text(last.power)
        return f"the power only fell, from {powers[0]} for n = {first.canaries} to {powers[1]} for n = {last.canaries}"

    def _point(self, found: Guessing) -> Point:
        power, reported = self._at_once(found) if self._is_monotone(found) else self._by_law(found)
        if self.share is not None and found.exp_epsilon == math.inf and not power:
            raise QueryError(
                f"ε of {found.subject} is infinite on the datasets of the audit, so no audit sees a share of it",
                "give epsilon=, the ε that the audit is to report, or a delta at which ε is finite",
            )
        return Point(found.canaries, power, reported, found.exp_epsilon)

    def _wanted(self, level: Level, found: Guessing) -> bool:
        if self.epsilon is not None:
            return level.epsilon >= self.epsilon
        assert self.share is not None
        return level.reaches(found.exp_epsilon, self.share)

    def _is_monotone(self, found: Guessing) -> bool:
        """Whether more right guesses always mean a larger report: one number of guesses, and a method known by name."""
        return isinstance(self._rule, Method) and len({r for r, _, _ in found.joint.entries}) == 1

    def _at_once(self, found: Guessing) -> tuple[Number, Any]:
        """Find by bisection from which number of right guesses on enough is reported."""
        n, entries = found.canaries, found.joint.entries
        tails: list[Number] = []
        tail: Number = Fraction(0)
        for _, _, p in reversed(entries):
            tail += p
            tails.append(tail)
        tails.reverse()

        def level(at: int) -> Level:
            return self._reports.level(n, *entries[at][:2])

        first = bisect_left(range(len(entries)), True, key=lambda at: self._wanted(level(at), found))
        sure = max(at for at, reached in enumerate(tails) if reached >= self.power)
        return tails[first] if first < len(tails) else Fraction(0), level(sure).epsilon

    def _by_law(self, found: Guessing) -> tuple[Number, Any]:
        """Sum over everything that can be reported."""
        reported: Reported = found.reported(self._rule)
        enough = sum((p for epsilon, p in reported.law if self._wanted(Level(epsilon), found)), Fraction(0))
        return enough, reported.reached_with(self.power)
