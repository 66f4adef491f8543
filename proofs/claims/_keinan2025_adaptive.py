"""Checks and brute force for K22 of keinan2025: adaptive guessers that may stop, and the best ones."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

import _keinan2025_games as games
from _keinan2025_audit import extremal
from _keinan2025_checks import randomized_response_count
from _keinan2025_games import HALF, ONE, ZERO, Joint, Table, all_bits, tail

from tightdp.claims import Fails, random_dp_law

# K22


def ahead_or_go_on(n: int) -> Joint:
    """ε = 0, adaptive: guess bits one by one (all guesses are fair coins) until the first right one, then
    abstain.
    """
    law: Joint = {(r, 1): HALF**r for r in range(1, n + 1)}
    law[n, 0] = HALF**n
    return law


def stopping_is_dominated(n: int) -> bool | Fails:
    """Is V dominated by Bin(R, 1/2), given R and also not given R, for the guesser that stops when right?"""
    return _stopping_verdict(n, ahead_or_go_on(n))


def stopping_is_dominated_again(n: int) -> bool | Fails:
    """The same by listing the secret bits; the mechanism outputs nothing and every guess is 1."""
    law: Joint = {}
    for s in all_bits(n):
        made = next((i + 1 for i in range(n) if s[i] == 1), n)
        key = made, sum(s[:made])
        law[key] = law.get(key, ZERO) + HALF**n
    return _stopping_verdict(n, law)


def threshold_guesser_is_dominated(n: int, threshold: Fraction) -> bool | Fails:
    """RR count, λ = 1/3, adaptive maximum likelihood: guess where the posterior reaches the threshold, in order."""
    found = randomized_response_count.bind(n=n, lam=Fraction(1, 3)).adaptive_guessing(threshold)
    return _threshold_verdict(found.joint.to_dict())


def threshold_guesser_is_dominated_again(n: int, threshold: Fraction) -> bool | Fails:
    """The same by listing: posteriors given the output and the bits before."""
    table = games.table_of(randomized_response_count, games.bit_pairs(n), lam=Fraction(1, 3))
    law: Joint = {}
    for o in games.outputs(table):
        joint = games.given(table, o)
        for s, q in joint.items():
            made = right = 0
            for i in range(n):
                masses = [sum(p for x, p in joint.items() if x[: i + 1] == (*s[:i], bit)) for bit in (0, 1)]
                guess = int(masses[1] > masses[0])
                if masses[guess] >= threshold * (masses[0] + masses[1]):
                    made, right = made + 1, right + (guess == s[i])
            law[made, right] = law.get((made, right), ZERO) + q
    return _threshold_verdict(law)


def _threshold_verdict(law: Joint) -> bool | Fails:
    p, most = Fraction(2, 3), max(made for made, _ in law)
    for least in range(1, most + 1):
        ours = sum((q for (_, v), q in law.items() if v >= least), ZERO)
        theirs = sum((q * tail(r, p, least) for (r, _), q in law.items()), ZERO)
        if ours > theirs:
            why = f"e^ε = 2, p(ε) = 2/3: P(V >= {least}) = {ours}, but P(Bin(R, 2/3) >= {least}) = {theirs}."
            return Fails(why, ours=ours, binomial=theirs)
    return True


def _stopping_verdict(n: int, law: Joint) -> bool | Fails:
    if games.is_dominated(law, HALF):
        return True
    ours = sum((q for (_, v), q in law.items() if v >= 1), ZERO)
    theirs = sum((q * tail(r, HALF, 1) for (r, _), q in law.items()), ZERO)
    accuracy = games.share(law)
    why = (
        f"A mechanism without output, ε = 0, n = {n}. Guess the first bit; if that was right abstain from "
        f"now on, else guess the next. P(V >= 1) = {ours}, but Bin(R, 1/2) has {theirs}; given R = 1, V = 1 "
        f"for sure. The efficacy E[V/R] is {accuracy}, above p(0) = 1/2."
    )
    return Fails(why, ours=ours, binomial=theirs, efficacy=accuracy)


def stopping_error(n: int, beta: Fraction) -> Fraction:
    """ε = 0: the probability that a guesser which stops once P(Bin(r, 1/2) >= v) < β gets there in n guesses."""
    alive, found = {0: ONE}, ZERO
    for r in range(1, n + 1):
        after: dict[int, Fraction] = {}
        for v, q in alive.items():
            for right in (v, v + 1):
                after[right] = after.get(right, ZERO) + q / 2
        alive = {}
        for v, q in after.items():
            if tail(r, HALF, v) < beta:
                found += q
            else:
                alive[v] = q
    return found


def stopping_is_valid(n: int, beta: Fraction) -> bool | Fails:
    """Is the reported ε above 0 with probability at most β, for the guesser that stops when it is?"""
    return _valid_verdict(n, beta, stopping_error(n, beta))


def stopping_is_valid_again(n: int, beta: Fraction) -> bool | Fails:
    """The same by listing all vectors of bits."""
    wrong = 0
    for s in all_bits(n):
        wrong += any(tail(r, HALF, sum(s[:r])) < beta for r in range(1, n + 1))
    return _valid_verdict(n, beta, Fraction(wrong, 2**n))


def _valid_verdict(n: int, beta: Fraction, wrong: Fraction) -> bool | Fails:
    if wrong <= beta:
        return True
    why = (
        f"A mechanism without output, ε = 0, n = {n}: guess bit after bit and abstain once P(Bin(r, 1/2) >= "
        f"v) < β = {beta}, which is when the reported ε exceeds 0. That happens with probability {wrong} > "
        "β."
    )
    return Fails(why, wrong=wrong)


def adaptive_optimum_is_dominated(seed: int, n: int, outputs: int, t: Fraction) -> bool:
    """The best adaptive guesser with at most r guesses, any order and abstentions, for a random ε-DP
    mechanism.
    """
    table: Table = dict(random_dp_law(seed, n, outputs=outputs, exp_epsilon=t).items())
    return optimum_is_dominated(table, t / (1 + t))


def adaptive_extremal_is_dominated(shape: str, n: int, t: Fraction) -> bool:
    """The same for the symmetric extremal mechanisms."""
    return optimum_is_dominated(extremal(shape, n, t), t / (1 + t))


def optimum_is_dominated(table: Table, p: Fraction) -> bool:
    """P(at least v right with at most r guesses) <= P(Bin(r, p) >= v) for the best adaptive guesser."""
    n = len(next(iter(table)))
    return all(best_chance(table, r, v) <= tail(r, p, v) for r in range(1, n + 1) for v in range(1, r + 1))


def best_chance(table: Table, r: int, v: int) -> Fraction:
    """The largest probability of v right guesses with at most r, over adaptive guessers, by dynamic
    programming.
    """
    return sum((_chance(games.given(table, o), r, v) for o in games.outputs(table)), ZERO)


def _chance(joint: dict[games.Bits, Fraction], r: int, v: int) -> Fraction:
    n = len(next(iter(joint)))

    @cache
    def best(known: tuple[int | None, ...], left: int, needed: int) -> Fraction:
        """The mass won from here; the mass of what is known is not divided out."""
        if needed > left:
            return ZERO
        fits = [q for s, q in joint.items() if all(k is None or k == b for k, b in zip(known, s, strict=True))]
        if needed <= 0:
            return sum(fits, ZERO)
        found = ZERO
        for i in (i for i in range(n) if known[i] is None):
            zero, one = ((*known[:i], b, *known[i + 1 :]) for b in (0, 1))
            for gain in ((0, 0), (1, 0), (0, 1)):  # abstain, guess 0, guess 1
                spent = left - (gain != (0, 0))
                if spent >= 0:
                    found = max(found, best(zero, spent, needed - gain[0]) + best(one, spent, needed - gain[1]))
        return found

    return best((None,) * n, r, v)


def dependent_sum(p: Fraction) -> bool | Fails:
    """X1, X2 independent Bernoulli(p), Y1 as X1 and Y2 of the same law but wrong when Y1 is right where it
    can.
    """
    both = max(ZERO, 2 * p - 1)
    if p**2 <= both:
        return True
    why = f"P(X1 + X2 >= 2) = {p**2}, P(Y1 + Y2 >= 2) = {both}, though X1 and X2 given X1 have the laws of Y1 and Y2."
    return Fails(why, ours=p**2, theirs=both)


def stopping_error_at_five_percent(n: int) -> Fraction:
    """The same at β = 1/20, faster: for every r only the least v with P(Bin(r, 1/2) >= v) < 1/20 is kept."""
    alive, found = {0: 1}, ZERO
    for r in range(1, n + 1):
        after: dict[int, int] = {}
        for v, ways in alive.items():
            for right in (v, v + 1):
                after[right] = after.get(right, 0) + ways
        above, least = 0, r + 1
        while 20 * (above + comb(r, least - 1)) < 2**r:
            least -= 1
            above += comb(r, least)
        found += Fraction(sum(ways for v, ways in after.items() if v >= least), 2**r)
        alive = {v: ways for v, ways in after.items() if v < least}
    return found
