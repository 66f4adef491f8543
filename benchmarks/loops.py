"""Programs of the kinds in the repositories of Prodigy and genfer that end with probability 1, and their values.

    python benchmarks/loops.py            run, and print the table
    python benchmarks/loops.py --write    put the table into docs/unbounded-noise.md as well

Prodigy (Klinkenberg et al., github.com/LKlinke/Prodigy) and genfer (Zaiser, Murawski, Ong, github.com/fzaiser/genfer)
know programs by generating functions. These are written anew after the kinds of programs there, some that are longer,
and some from other papers; the values are computed here by formulas, without tightdp. Each row asks for the probability
of one output. Times are of the processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import comb, factorial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import loop_papers as papers
import loop_programs as programs
from report import write_table

from tightdp import Bit, mechanism
from tightdp.errors import TightdpError

PAGE = Path(__file__).resolve().parent.parent / "docs" / "unbounded-noise.md"
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def of_steps(steps: int, law: dict[int, Fraction], least: int, output: int) -> Fraction:
    """The probability that a sum, drawn until it is `least` or more, ends at an output."""
    reached = [Fraction(1), *[Fraction(0)] * (least + steps)]
    for at in range(1, least + steps + 1):
        reached[at] = sum((p * reached[at - z] for z, p in law.items() if 0 <= at - z < least), Fraction(0))
    return reached[output]


def three_heads(k: int) -> Fraction:
    """The probability of k tosses until three heads: by words without three heads."""
    words = [1, 2, 4]
    while len(words) < k:
        words.append(sum(words[-3:]))
    return Fraction(words[k - 4], 2**k)


def of_coupons(k: int) -> Fraction:
    """The probability that the last of eight kinds comes with coupon k: by inclusion and exclusion."""
    by = [sum(Fraction((-1) ** j * comb(8, j) * (8 - j) ** each, 8**each) for j in range(9)) for each in (k - 1, k)]
    return by[1] - by[0]


def stayed(k: int) -> Fraction:
    """By all ways: a round from (a, b) leads to each pair with one bit the same, given that k rounds were seen."""
    pairs = [(a, b) for a in (0, 1) for b in (0, 1)]
    flow, ended = {(0, 0): Fraction(1)}, []
    for _ in range(200):
        after = {q: sum((m for p, m in flow.items() if p[0] == q[0] or p[1] == q[1]), Fraction(0)) / 4 for q in pairs}
        ended.append(after.pop((0, 0)))
        flow = after
    return (ended[k - 1] / sum(ended)).limit_denominator(10**6)


def thrown_back(k: int) -> Fraction:
    """The probability that a fair walk from 1, which 0 throws back to 1, is at 3 after k steps for the first time."""
    flow = {1: Fraction(1)}
    for _ in range(k):
        flow.pop(3, None)
        moves = [
            (to, mass, 1 if at == 0 else 2)
            for at, mass in flow.items()
            for to in ({1} if at == 0 else {at - 1, at + 1})
        ]
        flow = {at: sum((mass / ways for to, mass, ways in moves if to == at), Fraction(0)) for at in range(4)}
    return flow[3]


def caught(k: int) -> Fraction:
    """The probability that the hare makes up for a start of 3 in round k: by how far it is behind."""
    flow = {3: Fraction(1)}
    for each in range(k):
        jumps = [(0, HALF), *((jump, Fraction(1, 10)) for jump in range(1, 6))]
        moves = [(behind + 1 - jump, mass * p) for behind, mass in flow.items() for jump, p in jumps]
        done = sum((mass for behind, mass in moves if behind <= 0), Fraction(0))
        flow = {at: sum((mass for behind, mass in moves if behind == at), Fraction(0)) for at in range(1, 5 + each)}
    return done


ROWS: list[tuple[Callable[[Any], Any], str, Any, Fraction]] = [
    (programs.geometric, "Prodigy", 3, Fraction(1, 16)),
    (programs.geometric_shifted, "Prodigy", 5, Fraction(1, 8)),
    (programs.geometric_observed, "Prodigy", 1, Fraction(2, 3)),
    (programs.negative_binomial, "Prodigy", 7, comb(6, 3) * Fraction(1, 3) ** 4 * Fraction(2, 3) ** 3),
    (programs.failures, "Prodigy", 2, Fraction(comb(4, 2), 2**5)),
    (programs.duel, "Prodigy", 1, HALF / (1 - HALF * Fraction(2, 3))),
    (programs.die_of_coins, "Prodigy", 4, Fraction(1, 6)),
    (programs.die_of_coins_observed, "longer", 4, Fraction(1, 6)),
    (programs.three_of_coins, "Prodigy", 1, THIRD),
    (programs.fast_dice_roller, "Prodigy", 5, Fraction(1, 12)),
    (programs.rejection, "Prodigy", 3, Fraction(3, 16)),
    (programs.modulo, "Prodigy", 2, Fraction(1, 8) + Fraction(1, 4) * HALF),
    (programs.thirds, "Prodigy", 5, Fraction(1, 9)),
    (programs.by_twos_and_threes, "longer", 6, HALF * (Fraction(1, 6) ** 3 + THIRD**2)),
    (programs.both_above_zero, "Prodigy", (0, 1), Fraction(comb(4, 2), 2**5)),
    (programs.decrement_sometimes, "Prodigy", 0, Fraction(1)),
    (programs.fair_walk, "Prodigy", 0, Fraction(1)),
    (programs.fair_walk_counted, "Prodigy", 3, Fraction(1, 8)),
    (programs.walk_downhill, "Prodigy", 5, 2 * Fraction(1, 8) ** 2 * Fraction(7, 8) ** 3),
    (programs.two_counters, "Prodigy", (2, 1), comb(3, 1) * Fraction(1, 4) ** 3 * HALF),
    (programs.progeny, "Prodigy", 3, 2 * Fraction(1, 3) ** 2 * Fraction(2, 3) ** 3),
    (programs.sum_of_dice, "Prodigy", 10, Fraction(27, 216)),
    (programs.dice_until_1000, "longer", 1000, of_steps(6, dict.fromkeys(range(1, 7), Fraction(1, 6)), 1000, 1000)),
    (programs.even_dice_until_six, "Prodigy", 2, Fraction(2, 9)),
    (programs.retransmissions, "Prodigy", True, 1 - (1 - Fraction(1, 10) ** 5) ** 10),
    (programs.ruin, "longer", 500, Fraction(1, 5)),
    (programs.coupons, "longer", 12, of_coupons(12)),
    (programs.coupons_left, "longer", 8, Fraction(factorial(8), 8**8)),
    (programs.mixture, "genfer", 2, Fraction(5, 64) / (Fraction(1, 32) + Fraction(5, 64) + Fraction(15, 128))),
    (programs.monty_hall, "Prodigy", True, Fraction(2, 3)),
    (programs.runs_of_heads, "longer", 7, three_heads(7)),
    (programs.flips_observed, "Prodigy", 2, stayed(2)),
    (papers.von_neumann, "papers", (True, 2), Fraction(5, 9) * Fraction(2, 9)),
    (papers.reflected, "papers", 8, thrown_back(8)),
    (papers.pascal, "papers", 5, 6 * Fraction(1, 9) * Fraction(2, 3) ** 5),
    (papers.five_of_coins, "papers", (2, 4), Fraction(1, 16)),
    (papers.race, "papers", 5, caught(5)),
    (papers.alias, "papers", (1, 3), THIRD * Fraction(1, 6) ** 2),
    (papers.fibonacci, "papers", 9, Fraction(21, 2**9)),
    (papers.polya, "papers", 5, Fraction(1, 5 * 6)),
    (papers.russian_roulette, "papers", 4, Fraction(5, 6) ** 2 * (1 - Fraction(5, 6) ** 2)),
    (papers.branching, "papers", 7, Fraction(comb(6, 3), 4) * THIRD**3 * Fraction(2, 3) ** 4),
]
"""Programs with where they are from, an output, and its probability."""


def answer(function: Callable[[Any], Any], output: Any) -> tuple[str, Any, Any]:
    """Return the status, and both ends of the probability of an output."""
    instance = mechanism(record=Bit)(function).bind(n=1)
    try:
        found = instance.probability((0,), output)
    except TightdpError:
        both = instance.distribution((0,))
        low = dict(both.law).get(output, Fraction(0))
        return both.status, low, dict(both.law if both.upper is None else both.upper).get(output, low)
    return "exact", found, found


def row(function: Callable[[Any], Any], source: str, output: Any, value: Fraction) -> str:
    """One line of the table."""
    start = time.process_time()
    name = function.__name__.replace("_", " ")
    known = str(value) if len(str(value)) < 20 else f"≈ {float(value):.9f}"
    try:
        status, low, high = answer(function, output)
    except TightdpError as refused:
        said = refused.what.rpartition(", and ")[2].rpartition("; ")[2]
        return f"| {name} | {source} | {output} | {known} | refused: {said} | {time.process_time() - start:.1f} s |"
    assert low <= value <= high, name
    width = "exact" if status == "exact" else f"within {float(high - low):.1g}"
    return f"| {name} | {source} | {output} | {known} | {width} | {time.process_time() - start:.1f} s |"


def main() -> None:
    """Run the rows."""
    columns = "| program | kind | output | probability | tightdp | time |"
    write_table(__doc__, columns, ((asked[0].__name__, partial(row, *asked)) for asked in ROWS), PAGE, "loops")


if __name__ == "__main__":
    main()
