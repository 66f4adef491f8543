"""Checks and brute force for K13-K19 of keinan2025: sets, full knowledge, sure guesses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb

import _keinan2025_games as games
from _keinan2025_checks import count, count_in_sets, xor_in_pairs, xor_randomized_response
from _keinan2025_games import HALF, ONE, ZERO, Law, all_bits, tail

from tightdp.claims import Fails, brute

# K13


def revealed_sets(n: int, s: int) -> bool:
    """The sure guesses of count-in-sets: n·2^(1-s) in the mean, none with probability (1 - 2^(1-s))^(n/s),
    all right.
    """
    joint = count_in_sets.bind(n=n, s=s).guessing("certain").joint
    none = sum((p for r, _, p in joint.entries if r == 0), ZERO)
    wanted = Fraction(n * 2, 2**s)
    return (
        all(r == v for r, v, _ in joint.entries)
        and joint.guesses == wanted
        and none == (1 - Fraction(2, 2**s)) ** (n // s)
    )


def half_of_log2(s: int) -> Fails:
    """n = 4^s, sets of size s = (log2 n)/2: how many sets are revealed, by listing a set and adding up."""
    n = 4**s
    contents = all_bits(s)
    one_set = Fraction(sum(sum(x) in (0, s) for x in contents), 2**s)
    law = {0: ONE}
    for _ in range(n // s):
        law = {k: law.get(k, ZERO) * (1 - one_set) + law.get(k - 1, ZERO) * one_set for k in range(len(law) + 1)}
    sure = s * sum((k * p for k, p in law.items()), ZERO)
    why = (
        f"n = {n}, sets of {s}: each of the {n // s} sets is revealed with probability {one_set}, {sure} = "
        f"2·sqrt(n) guesses are sure in the mean, and none with probability {law[0]}. At n = 4^s the mean is "
        f"2·2^s and grows without bound, though s is not o(log n)."
    )
    return Fails(why, n=n, sets=n // s, revealed=one_set, sure_guesses=sure, no_sure_guess=law[0])


def nearly_revealed(c: int, s: int, mean: Fraction) -> bool:
    """Sets of size s = c·log2 n: the mean number of elements with posterior at least 15/16; small n by the engine."""
    n = 2 ** (s // c)
    near = sum(comb(s, o) for o in range(s + 1) if 16 * max(o, s - o) >= 15 * s)
    if Fraction(n * near, 2**s) != mean:
        return False
    return n > 256 or count_in_sets.bind(n=n, s=s).guessing("15/16").joint.guesses == mean


def mean_one(s: int) -> Fails:
    """Sets of size s, 2^(s-1) of them: n·q = s grows, yet no set is revealed with probability near 1/e."""
    sets = 2 ** (s - 1)
    revealed = Fraction(sum(sum(x) in (0, s) for x in all_bits(s)), 2**s)
    none = (1 - revealed) ** sets
    why = f"{sets} sets of {s}, n = {s * sets}: n·q = {s * sets * revealed}, but P(no set is revealed) = {none}."
    return Fails(why, n_q=s * sets * revealed, none=none)


# K14, K15


def full_knowledge(n: int, lam: Fraction, law: Callable[[games.Bits], Law]) -> dict[int, Fraction]:
    """The law of V for the guesser XOR(S^-i) ^ O that knows all the other bits."""
    found: dict[int, Fraction] = {}
    for s in all_bits(n):
        for o, p in law(s).items():
            right = sum((sum(s) - s[i] + o) % 2 == s[i] for i in range(n))
            found[right] = found.get(right, ZERO) + p / 2**n
    return found


def all_or_none_right(n: int, lam: Fraction) -> bool:
    """V is n with probability 1 - λ and 0 otherwise."""
    bound = xor_randomized_response.bind(n=n, lam=lam)
    found = full_knowledge(n, lam, lambda s: dict(bound.distribution(s).law))
    return {v: p for v, p in found.items() if p} == {n: 1 - lam, 0: lam}


def dominates(n: int, lam: Fraction) -> bool | Fails:
    """P(V >= v) >= P(Bin(n, p) >= v) for every v, with the engine's probabilities."""
    bound = xor_randomized_response.bind(n=n, lam=lam)
    return _dominates(n, 1 - lam, full_knowledge(n, lam, lambda s: {o: bound.probability(s, o) for o in (0, 1)}))


def dominates_again(n: int, lam: Fraction) -> bool | Fails:
    """The same by the interpreter."""
    law = full_knowledge(n, lam, lambda s: brute.law(xor_randomized_response, s, lam=lam))
    return _dominates(n, 1 - lam, law)


def _dominates(n: int, p: Fraction, law: dict[int, Fraction]) -> bool | Fails:
    for least in range(1, n + 1):
        ours, theirs = sum((q for v, q in law.items() if v >= least), ZERO), tail(n, p, least)
        if ours < theirs:
            why = f"n = {n}, p = {p}: P(V >= {least}) = {ours}, but P(Bin({n}, {p}) >= {least}) = {theirs}."
            return Fails(why, ours=ours, binomial=theirs)
    return True


# K16-K19


def pairs_hide_and_reveal(n: int) -> bool:
    """XOR in pairs: every E_k is 1/2; adaptively n/2 guesses are made, all right."""
    bound = xor_in_pairs.bind(n=n)
    hidden = all(row.efficacy == HALF for row in bound.efficacy().rows)
    return hidden and bound.adaptive_guessing(1).joint.entries == ((n // 2, n // 2, ONE),)


def all_guessed_adaptively(n: int) -> bool:
    """XOR in pairs: the best adaptive guesser that guesses every bit is right on 3/4 of them."""
    return xor_in_pairs.bind(n=n).efficacy(n, adaptive=True).rows[0].adaptive == Fraction(3, 4)


def sure_guesses(n: int, s: int) -> Fraction:
    """The expected number of sure guesses in a set of s elements, n = s, by the engine."""
    return count_in_sets.bind(n=n, s=s).guessing("certain").joint.guesses


def printed_sure_guesses(n: int) -> bool | Fails:
    """Count: is the expected number of sure guesses 2^-(n-1)?"""
    return _sure_verdict(n, sure_guesses(n, n))


def printed_sure_guesses_again(n: int) -> bool | Fails:
    """The same by listing."""
    return _sure_verdict(n, listed_sure_guesses(n))


def listed_sure_guesses(n: int) -> Fraction:
    """The expected number of bits that the count gives away, by listing datasets."""
    table = games.table_of(count, games.bit_pairs(n))
    return sum((total * sum(c == 1 for c in each) for total, each in games.confidences(table)), ZERO)


def _sure_verdict(n: int, found: Fraction) -> bool | Fails:
    printed = Fraction(1, 2 ** (n - 1))
    if found == printed:
        return True
    why = (
        f"With probability {printed} the count is 0 or {n}; then all {n} bits are sure, so that the expected "
        f"number of guesses is {found}, not {printed}."
    )
    return Fails(why, printed=printed, expected_guesses=found)


def sure_guesses_fall_strictly(n: int) -> bool | Fails:
    """Is the expected number for n + 1 elements smaller than for n?"""
    return _falls(n, sure_guesses(n, n), sure_guesses(n + 1, n + 1))


def sure_guesses_fall_strictly_again(n: int) -> bool | Fails:
    """The same by listing."""
    return _falls(n, listed_sure_guesses(n), listed_sure_guesses(n + 1))


def _falls(n: int, here: Fraction, after: Fraction) -> bool | Fails:
    return after < here or Fails(f"It is {here} for n = {n} and {after} for n = {n + 1}.", here=here, after=after)


def adaptive_sure_guesses(n: int) -> bool:
    """Count, adaptively: 2 - 2^-(n-1) sure guesses in the mean, all right."""
    joint = count.bind(n=n).adaptive_guessing(1).joint
    return joint.guesses == 2 - Fraction(1, 2 ** (n - 1)) == joint.right


def rounds_to(printed: Fraction, value: Fraction) -> bool:
    """Whether a value is a printed number with three decimals."""
    return abs(value - printed) <= Fraction(1, 2000)


def about_two_thousandths(s: int) -> bool | Fails:
    """Is the expected number of sure guesses in a set of size s about 0.002?"""
    return _about(s, sure_guesses(s, s))


def about_two_thousandths_again(s: int) -> bool | Fails:
    """The same by listing the 2^s contents of a set."""
    revealed = sum(sum(x) in (0, s) for x in all_bits(s))
    return _about(s, Fraction(s * revealed, 2**s))


def _about(s: int, value: Fraction) -> bool | Fails:
    why = f"A set of {s} is revealed with probability 2^-{s - 1}, then with all its {s} elements: {value}."
    return rounds_to(Fraction(2, 1000), value) or Fails(why, printed=Fraction(2, 1000), expected_guesses=value)
