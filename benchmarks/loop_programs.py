"""Programs of the kinds in the repositories of Prodigy and genfer, and longer ones; `loops.py` has their values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp import flip, observe, one_sided_geometric, randint

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def geometric(x: Any) -> Any:
    """How often a coin shows heads."""
    c = 0
    while flip(HALF):
        c += 1
    return c


def geometric_shifted(x: Any) -> Any:
    """The same, and three more at the end."""
    going, c = True, 0
    while going:
        if flip(HALF):
            going, c = False, c + 3
        else:
            c += 1
    return c


def geometric_observed(x: Any) -> Any:
    """The number of tosses, given that there are two at most."""
    going, tosses = True, 0
    while going:
        going = flip(HALF)
        tosses += 1
        observe(tosses < 3)
    return tosses


def negative_binomial(x: Any) -> Any:
    """Tosses until the fourth success."""
    left, tosses = 4, 0
    while left > 0:
        if flip(THIRD):
            left -= 1
        tosses += 1
    return tosses


def failures(x: Any) -> Any:
    """Failures before the third success."""
    left, c = 3, 0
    while left > 0:
        if flip(HALF):
            left -= 1
        else:
            c += 1
    return c


def duel(x: Any) -> Any:
    """Who is left of two who shoot in turns."""
    turn = 1
    while True:
        if flip(THIRD if turn == 0 else HALF):
            return turn
        turn = 1 - turn


def die_of_coins(x: Any) -> Any:
    """A die from coins (Knuth and Yao 1976)."""
    s = 0
    while s < 7:
        s = 2 * s + (1 if flip(HALF) else 2)
        if s >= 13:
            s -= 12
    return s - 6


def die_of_coins_observed(x: Any) -> Any:
    """The same, given that no toss was followed by a third one back to the start."""
    s = tosses = 0
    while s < 7:
        s = 2 * s + (1 if flip(HALF) else 2)
        tosses += 1
        if s >= 13:
            s -= 12
        observe(tosses < 4)
    return s - 6


def three_of_coins(x: Any) -> Any:
    """One of three values from coins."""
    s = 0
    while True:
        if s == 0:
            s = 1 if flip(HALF) else 2
        elif s == 1:
            if flip(HALF):
                return 1
            s = 0
        else:
            return 2 if flip(HALF) else 3


def fast_dice_roller(x: Any) -> Any:
    """A number below 12 from coins (Lumbroso 2013)."""
    v, c = 1, 0
    while True:
        v, c = 2 * v, 2 * c + flip(HALF)
        if v >= 12:
            if c < 12:
                return c
            v, c = v - 12, c - 12


def rejection(x: Any) -> Any:
    """A geometric number, drawn until it is odd."""
    c = 0
    while c % 2 == 0:
        c = one_sided_geometric(0, HALF)
    return c


def modulo(x: Any) -> Any:
    """A geometric number, moved on until it is even."""
    v = one_sided_geometric(0, HALF)
    while v % 2 == 1:
        v += 2 if flip(HALF) else 1
    return v


def thirds(x: Any) -> Any:
    """Steps of 1, 2 or 3 from 1, as long as the place is 1 modulo 3."""
    v = 1
    while v % 3 == 1:
        v += randint(1, 3)
    return v


def by_twos_and_threes(x: Any) -> Any:
    """A sum of twos and threes, a geometric number of them."""
    z = 0
    while flip(HALF):
        z += 2 if flip(THIRD) else 3
    return z


def both_above_zero(x: Any) -> Any:
    """Two numbers, one of which falls by 1, until one is 0."""
    n = m = 3
    while n > 0 and m > 0:
        if flip(HALF):
            n -= 1
        else:
            m -= 1
    return n, m


def decrement_sometimes(x: Any) -> Any:
    """A geometric number goes down to 0, with pauses."""
    v = one_sided_geometric(0, HALF)
    while v > 0:
        if flip(HALF):
            v -= 1
    return v


def fair_walk(x: Any) -> Any:
    """A fair walk from 1 down to 0."""
    s = 1
    while s > 0:
        s += 1 if flip(HALF) else -1
    return s


def fair_walk_counted(x: Any) -> Any:
    """The steps of a fair walk from 1 down to 0."""
    s, c = 1, 0
    while s > 0:
        s += 1 if flip(HALF) else -1
        c += 1
    return c


def walk_downhill(x: Any) -> Any:
    """The steps of a walk from 1 down to 0 that goes up one time in eight."""
    s, c = 1, 0
    while s > 0:
        s += 1 if flip("1/8") else -1
        c += 1
    return c


def two_counters(x: Any) -> Any:
    """Heads and tails among a geometric number of tosses."""
    heads = tails = 0
    while flip(HALF):
        if flip(HALF):
            heads += 1
        else:
            tails += 1
    return heads, tails


def progeny(x: Any) -> Any:
    """All descendants, each with a geometric number of children, of mean 1/2."""
    alive, c = 1, 0
    while alive > 0:
        alive, c = alive - 1, c + 1
        while flip(THIRD):
            alive += 1
    return c


def sum_of_dice(x: Any) -> Any:
    """The sum of three dice."""
    n, m = 3, 0
    while n > 0:
        m += randint(1, 6)
        n -= 1
    return m


def dice_until_1000(x: Any) -> Any:
    """The sum of dice, until it is 1000 or more."""
    total = 0
    while total < 1000:
        total += randint(1, 6)
    return total


def even_dice_until_six(x: Any) -> Any:
    """How many dice until a six, given that all are even."""
    c = die = 0
    while die < 6:
        die = randint(1, 6)
        observe(die % 2 == 0)
        c += 1
    return c


def retransmissions(x: Any) -> Any:
    """Whether ten packets arrive, each sent five times at most."""
    left, failed = 10, 0
    while left > 0 and failed < 5:
        if flip("1/10"):
            failed += 1
        else:
            left, failed = left - 1, 0
    return failed == 5


def ruin(x: Any) -> Any:
    """A gambler with 100, who stops at 0 or at 500, as in a fair game."""
    s = 100
    while 0 < s < 500:
        s += 1 if flip(HALF) else -1
    return s


def coupons(x: Any) -> Any:
    """Coupons until all eight kinds are there."""
    seen, steps = [False] * 8, 0
    while not all(seen):
        seen[randint(0, 7)] = True
        steps += 1
    return steps


def coupons_left(x: Any) -> Any:
    """The same by how many kinds are missing."""
    missing, steps = 8, 0
    while missing > 0:
        if randint(1, 8) <= missing:
            missing -= 1
        steps += 1
    return steps


def mixture(x: Any) -> Any:
    """How many geometric numbers were added, given that their sum is 4."""
    number, total = randint(1, 3), 0
    for at in range(3):
        if at < number:
            while flip(HALF):
                total += 1
    observe(total == 4)
    return number


def monty_hall(x: Any) -> Any:
    """Whether switching wins, doors being drawn until they may be opened."""
    prize, player = randint(1, 3), randint(1, 3)
    door = randint(1, 3)
    while door in (prize, player):
        door = randint(1, 3)
    return 6 - player - door == prize


def runs_of_heads(x: Any) -> Any:
    """Tosses until three heads in a row."""
    tosses = run = 0
    while run < 3:
        run = run + 1 if flip(HALF) else 0
        tosses += 1
    return tosses


def flips_observed(x: Any) -> Any:
    """Rounds until two bits are 0, given that in each round one of them stayed what it was."""
    before, rounds = (0, 0), 0
    while True:
        bits = flip(HALF), flip(HALF)
        observe(bits[0] == before[0] or bits[1] == before[1])
        before, rounds = bits, rounds + 1
        if bits == (0, 0):
            return rounds
