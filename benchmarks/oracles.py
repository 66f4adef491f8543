"""Accountants under an oracle: is what they call an upper end above the exact answer, and a lower end below it?

    python -m pip install '.[oracles]' && python benchmarks/oracles.py --draws 10000

A draw is a random finite mechanism, a number of runs, perhaps a Poisson sample, and a question: δ at an ε, or ε at a
δ. tightdp answers exactly (or between two ends that are exact), and every accountant that can express the mechanism
(`oracle_peers.py`) is asked the same. Sides are compared in rational numbers. A violation is measured in δ: by how
much the answer is on the wrong side, where ε was asked by how much the true δ at that ε is. Of the violations of an
accountant, those of more than SLACK and the others are shrunk, each to the smallest mechanism found.
`--write` puts the tables into docs/oracles.md.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from oracle_draws import Accountant, Draw, Mechanism, Question, loss_of, random_mechanism, random_questions
from oracle_peers import accountants
from report import write_between

from tightdp.exact.numbers import log_down, log_up

PAGE = Path(__file__).parent.parent / "docs" / "oracles.md"
SLACK = Fraction(1, 10**12)
"""Violations of at most so much in δ are counted apart: sums in floating point, and tails that are cut off."""
PART = 500
"""Draws are asked in parts of so many, side by side."""
STEPS = 150
"""At most so many smaller draws are tried for one violation."""


@dataclass
class Count:
    """What came of the draws of one accountant."""

    draws: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    ratios: list[float] = field(default_factory=list)
    violations: list[tuple[Fraction, Draw, float]] = field(default_factory=list)

    def add(self, other: Count) -> None:
        """Count further draws."""
        self.draws += other.draws
        self.ratios += other.ratios
        self.violations += other.violations
        for reason, times in other.failed.items():
            self.failed[reason] = self.failed.get(reason, 0) + times


Counts = dict[tuple[str, str, bool], Count]
"""By package, name and side."""


def ends(loss: Any, question: Question) -> tuple[Any, Any]:
    """Return both ends of the answer: of δ exact numbers, of ε doubles rounded outward."""
    if question.of == "delta":
        found = loss.delta(epsilon=question.at)
        return found.lower, found.delta
    answer = loss.epsilon(delta=question.at)
    low, high = answer.lower, answer.upper
    return low if low == math.inf else log_down(low), high if high == math.inf else log_up(high)


def beyond(loss: Any, question: Question, value: float, upper: bool) -> Fraction | None:
    """Return by how much, in δ, a value is on the wrong side, 0 where it is on the right one, None if not a number."""
    if math.isnan(value):
        return None
    low, high = ends(loss, question)
    if (value >= low) if upper else (value <= high):
        return Fraction(0)
    if question.of == "delta":
        return outward(low - Fraction(value) if upper else Fraction(value) - high)
    if math.isinf(value):
        return question.at - outward(loss.losses.delta(Fraction(2**1000))[1])
    if value < 0:
        return outward(loss.delta(epsilon=0).lower - question.at) if upper else Fraction(0)
    there = loss.delta(epsilon=Fraction(value))
    gap = there.lower - question.at if upper else question.at - there.delta
    return outward(gap) if gap > 0 else Fraction(0)


def outward(gap: Any) -> Fraction:
    """Return a positive number as a fraction that is close to it: only its size is looked at."""
    return gap if isinstance(gap, Fraction) else Fraction(float(gap))


def smaller(draw: Draw) -> Iterator[Draw]:
    """Yield draws that are one simple step smaller: fewer runs, no sample, fewer outputs, smaller numbers."""
    drawn, question = draw
    for runs in dict.fromkeys((1, drawn.runs // 2, drawn.runs - 1)):
        if 1 <= runs < drawn.runs:
            yield replace(drawn, runs=runs), question
    if drawn.rate < 1:
        for rate in (Fraction(1), Fraction(1, 2)):
            if rate.denominator < drawn.rate.denominator:
                yield replace(drawn, rate=rate), question
    for numbers in _smaller_numbers(drawn):
        yield replace(drawn, numbers=numbers), question
    for digits in (1, 10, 100, 1000):
        at = Fraction(round(question.at * digits), digits)
        if at.denominator < question.at.denominator and (at or question.of == "delta"):
            yield drawn, replace(question, at=Fraction(float(at)))


def _smaller_numbers(drawn: Mechanism) -> Iterator[tuple[Any, ...]]:
    if drawn.kind != "laws":
        for at, number in enumerate(drawn.numbers):
            for less in _simpler(number, drawn.kind, at):
                yield (*drawn.numbers[:at], less, *drawn.numbers[at + 1 :])
        return
    left, right = drawn.numbers
    for at in range(len(left)):
        kept = tuple(side[:at] + side[at + 1 :] for side in (left, right))
        if len(left) > 2 and all(map(sum, kept)):
            yield kept
    for which, side in enumerate(drawn.numbers):
        for at, weight in enumerate(side):
            for less in dict.fromkeys((weight // 2, weight - 1)):
                changed = (*side[:at], less, *side[at + 1 :])
                if 0 <= less < weight and sum(changed):
                    yield (changed, right) if which == 0 else (left, changed)


def _simpler(number: int | Fraction, kind: str, at: int) -> Iterator[int | Fraction]:
    if isinstance(number, int):
        least = 2 if kind == "response" else 1
        yield from (less for less in (least, number - 1) if least <= less < number)
        return
    for most in (2, 4, 8, 16):
        close = number.limit_denominator(most)
        if close.denominator < number.denominator and (close > 1 if (kind, at) == ("leak", 0) else 0 < close < 1):
            yield close
    if number > 2:
        yield Fraction(2)


def shrunk(draw: Draw, bad: Callable[[Draw], bool]) -> Draw:
    """Return a draw that is still bad and of which no smaller one that was tried is: at most STEPS are."""
    left = STEPS
    while True:
        for less in smaller(draw):
            left -= 1
            if left < 0:
                return draw
            if bad(less):
                draw = less
                break
        else:
            return draw


def violation(accountant: Accountant, draw: Draw, loss: Any = None) -> tuple[Fraction | None, float]:
    """Return by how much an answer is on the wrong side (None: not a number), and the answer."""
    value = float(accountant.ask(*draw))
    return beyond(loss_of(draw[0]) if loss is None else loss, draw[1], value, accountant.upper), value


def smallest(accountant: Accountant, found: Sequence[tuple[Fraction, Draw, float]], least: Fraction) -> Draw:
    """Return the smallest draw found whose answer is wrong by more than that."""

    def bad(draw: Draw) -> bool:
        if not accountant.fits(*draw):
            return False
        try:
            gap, _ = violation(accountant, draw)
        except Exception:
            return False
        return gap is None or gap > least

    tried = sorted((draw for _, draw, _ in found), key=size)[:2]
    return min((shrunk(draw, bad) for draw in tried), key=size)


def size(draw: Draw) -> tuple[int, int, int]:
    """What makes one draw smaller than another: runs, outputs, digits."""
    drawn, question = draw
    return drawn.runs, len(drawn.laws[0]), len(str(drawn)) + len(str(question))


def run(asked: Sequence[Accountant], draws: int, seed: str) -> Counts:
    """Ask everybody about random draws."""
    source = random.Random(seed)
    counts = {each.key: Count() for each in asked}
    done = 0
    while done < draws:
        drawn = random_mechanism(source)
        loss = loss_of(drawn)
        for question in random_questions(source, loss):
            done += 1
            for each in asked:
                if each.fits(drawn, question):
                    _ask(each, (drawn, question), loss, counts[each.key])
    return counts


def run_part(seed: str) -> Counts:
    """Ask everybody that is installed about the draws of one part."""
    return run(accountants()[0], PART, seed)


def _ask(accountant: Accountant, draw: Draw, loss: Any, count: Count) -> None:
    count.draws += 1
    try:
        gap, value = violation(accountant, draw, loss)
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:80]
        count.failed[reason] = count.failed.get(reason, 0) + 1
        return
    low, high = ends(loss, draw[1])
    if low > 0 and math.isfinite(value) and high != math.inf:
        count.ratios.append(value / float(low if accountant.upper else high))
    if gap is None or gap > 0:
        count.violations.append((Fraction(1) if gap is None else gap, draw, value))


def header(*columns: str) -> Iterator[str]:
    """Yield the two lines that begin a table."""
    yield f"| {' | '.join(columns)} |"
    yield "| --- " * len(columns) + "|"


def summary(asked: Sequence[Accountant], counts: Counts) -> Iterator[str]:
    """Yield a line for every accountant."""
    yield from header(
        "accountant", "package", "asked", "failed", "wrong side", "by more than 1e-12",
        "largest gap in δ", "median ratio", "furthest ratio",
    )  # fmt: skip
    for each in asked:
        count = counts[each.key]
        gaps = [gap for gap, _, _ in count.violations]
        far = (max if each.upper else min)(count.ratios, default=math.nan)
        middle = statistics.median(count.ratios) if count.ratios else math.nan
        large = sum(gap > SLACK for gap in gaps)
        yield (
            f"| {each.name}, {'upper' if each.upper else 'lower'} end | {each.package} {each.version} "
            f"| {count.draws:,} | {sum(count.failed.values()):,} | {len(gaps):,} | {large:,} "
            f"| {float(max(gaps, default=0)):.2g} | {middle:.4g} | {far:.4g} |"
        )


def smallest_lines(asked: Sequence[Accountant], counts: Counts) -> Iterator[str]:
    """Yield the smallest violation found of every accountant: by more than SLACK, and by less."""
    yield from header("accountant", "smallest mechanism found", "question", "reported", "exact", "gap in δ", "call")
    for each in asked:
        for least in (SLACK, Fraction(0)):
            found = [one for one in counts[each.key].violations if (one[0] > SLACK) == bool(least)]
            if not found:
                continue
            draw = smallest(each, found, least)
            loss = loss_of(draw[0])
            gap, value = violation(each, draw, loss)
            true = float(ends(loss, draw[1])[0 if each.upper else 1])
            size = "" if gap is None else f"{float(gap):.2g}"
            who = f"{each.name}, {'upper' if each.upper else 'lower'} end, {each.package} {each.version}"
            yield f"| {who} | {draw[0]} | {draw[1]} | {value:.17g} | {true:.17g} | {size} | `{each.call}` |"


def failures(asked: Sequence[Accountant], counts: Counts) -> Iterator[str]:
    """Yield what was raised instead of an answer."""
    yield from header("accountant", "error that it raised", "times")
    for each in asked:
        for reason, times in counts[each.key].failed.items():
            yield f"| {each.name}, {'upper' if each.upper else 'lower'} end, {each.package} | `{reason}` | {times} |"


def main() -> None:
    """Ask, print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, help="processes: as many as there are cores, unless given")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE.name}")
    options = parser.parse_args()
    asked, missing = accountants()
    counts = {each.key: Count() for each in asked}
    seeds = [f"{options.seed}:{part}" for part in range(math.ceil(options.draws / PART))]
    with ProcessPoolExecutor(options.jobs) as pool:
        for part in pool.map(run_part, seeds):
            for key, count in part.items():
                counts[key].add(count)
    total = f"{PART * len(seeds):,} draws, seed {options.seed}."
    lines = [total, "", *summary(asked, counts), "", *smallest_lines(asked, counts), "", *failures(asked, counts)]
    lines += [f"\nNot asked: {name}: {reason}." for name, reason in missing]
    print(*lines, sep="\n")
    if options.write:
        write_between(PAGE, "oracles", "\n".join(lines))


if __name__ == "__main__":
    main()
