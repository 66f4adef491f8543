"""Checks and brute force for K20, K21 and K23 of keinan2025: Clopper-Pearson, validity, the classic auditor."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import _keinan2025_games as games
from _keinan2025_checks import (
    ON_BITS,
    exponential_mechanism,
    k_ary_randomized_response,
    randomized_response,
)
from _keinan2025_games import HALF, ONE, ZERO, Joint, Law, Table, all_bits, tail

from tightdp.claims import Fails, brute, log, random_dp_law, sqrt

# K20


def lower_bound_is_close(r: int, v: int, beta: Fraction) -> bool | Fails:
    """Is |v/r - CPL(r, v, β)| <= sqrt(-ln β/(2r))? CPL is enclosed by bisection of P(Bin(r, q) >= v) = β."""
    low, high = ZERO, ONE
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(r, middle, v) <= beta else (low, middle)
    bound = sqrt(-log(beta) / (2 * r))
    share = Fraction(v, r)
    if max(share - low, high - share) <= bound:
        return True
    if not bound < max(share - high, low - share):
        raise ArithmeticError("the enclosure of CPL is too wide")
    near = next(
        Fraction(k, m)
        for m in range(2, 100)
        for k in range(1, m)
        if Fraction(k, m) <= low and bound < Fraction(k, m) - share
    )
    why = (
        f"P(Bin({r}, {near}) >= {v}) = {tail(r, near, v)} <= {beta}, so CPL >= {near} and |v/r - CPL| >= "
        f"{near - share}; the bound is {bound.text(4)}."
    )
    return Fails(why, cpl_is_at_least=near, tail_there=tail(r, near, v), v_over_r=share)


def lower_bound_is_close_on_both_sides(r: int, v: int, beta: Fraction) -> bool:
    """v/r - CPL <= sqrt(-ln β/(2r)), CPL - v/r <= sqrt(-ln(1-β)/(2r))."""
    low, high = ZERO, ONE
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(r, middle, v) <= beta else (low, middle)
    share = Fraction(v, r)
    return share - low <= sqrt(-log(beta) / (2 * r)) and high - share <= sqrt(-log(1 - beta) / (2 * r))


# K21


def program_is_dominated(mechanism: str, n: int, guesser: str) -> bool:
    """V given R is dominated by Bin(R, p(ε(M_Z))) for a program and a guesser of the engine."""
    if mechanism in ON_BITS:
        chosen, parameters = ON_BITS[mechanism]
    elif mechanism == "k-ary":
        chosen, parameters = k_ary_randomized_response, {"k": 3, "exp_epsilon": Fraction(2)}
    else:
        chosen, parameters = exponential_mechanism, {"candidates": 2, "base": Fraction(2)}
    found = chosen.bind(n=n, **parameters).guessing(_guesser(guesser, n))
    t = Fraction(found.exp_epsilon)
    return games.is_dominated(found.joint.to_dict(), t / (1 + t))


def _guesser(name: str, n: int) -> Any:
    if name == "first bit by the output":
        return lambda o: [sum(map(ord, str(o))) % 2, *[None] * (n - 1)]
    if name == "as many as the output says":
        return lambda o: [1 if i <= sum(map(ord, str(o))) % n else None for i in range(n)]
    return name


def random_is_dominated(seed: int, n: int, outputs: int, t: Fraction) -> bool:
    """Every deterministic guesser of a random ε-DP mechanism, given R."""
    table: Table = dict(random_dp_law(seed, n, outputs=outputs, exp_epsilon=t).items())
    return every_guesser_is_dominated(table, t / (1 + t))


def extremal_is_dominated(shape: str, n: int, t: Fraction) -> bool:
    """Every deterministic guesser of a symmetric extremal mechanism, given R."""
    return every_guesser_is_dominated(extremal(shape, n, t), t / (1 + t))


def extremal(shape: str, n: int, t: Fraction) -> Table:
    """Symmetric mechanisms with ratio exactly t: noisy parity, noisy majority step, one noisy bit with its
    index.
    """
    keep = t / (1 + t)

    def law(s: games.Bits) -> Law:
        if shape == "noisy parity":
            return {sum(s) % 2: keep, 1 - sum(s) % 2: 1 - keep}
        if shape == "all but one value":
            weight = {o: (ONE if o == s else t) for o in all_bits(n)}  # one output is less likely
            return {o: w / sum(weight.values()) for o, w in weight.items()}
        return {(i, b): (keep if b == s[i] else 1 - keep) / n for i in range(n) for b in (0, 1)}  # "one noisy bit"

    return {s: law(s) for s in all_bits(n)}


def every_guesser_is_dominated(table: Table, p: Fraction) -> bool:
    """P(V >= v | o) <= P(Bin(r, p) >= v) for every output, choice of r bits and guesses of them.

    The guesses are a function of the output, so this covers every deterministic guesser.
    """
    n = len(next(iter(table)))
    for o in games.outputs(table):
        joint = games.given(table, o)
        total = sum(joint.values(), ZERO)
        for code in range(3**n):
            row = [(code // 3**i) % 3 for i in range(n)]  # 2: no guess
            law: Joint = {}
            made = sum(guess < 2 for guess in row)
            for s, q in joint.items():
                right = sum(guess == bit for guess, bit in zip(row, s, strict=True))
                law[made, right] = law.get((made, right), ZERO) + q / total
            if not games.is_dominated(law, p):
                return False
    return True


def reported_too_much(law: Joint, p: Fraction, beta: Fraction) -> Fraction:
    """The probability that the Clopper-Pearson bound CPL(R, V, β) exceeds p: that P(Bin(R, p) >= V) < β."""
    return sum((q for (r, v), q in law.items() if r and tail(r, p, v) < beta), ZERO)


def unconditional_law(many: int) -> Joint:
    """R is 2 or `many` by a fair coin; V is 2 in the first case and 0 in the second."""
    return {(2, 2): HALF, (many, 0): HALF}


def unconditional_dominance(many: int, beta: Fraction) -> bool | Fails:
    """If V, not given R, is dominated by Bin(R, 1/2): is the bound wrong with probability at most β?"""
    law = unconditional_law(many)
    binomial = {v: (tail(2, HALF, v) + tail(many, HALF, v)) / 2 for v in range(many + 1)}
    dominated = all(
        sum((q for (_, right), q in law.items() if right >= v), ZERO) <= binomial[v] for v in range(1, many + 1)
    )
    wrong = reported_too_much(law, HALF, beta)
    if not dominated or wrong <= beta:
        return True
    why = (
        f"V = 2 of R = 2, or V = 0 of R = {many}, by a fair coin: P(V >= 1) = P(V >= 2) = 1/2, while the "
        f"binomial has {binomial[1]} and {binomial[2]}. But P(Bin(2, 1/2) >= 2) = 1/4 < β, so that CPL "
        f"exceeds p = 1/2 with probability {wrong} > β = {beta}."
    )
    return Fails(why, wrong=wrong, binomial_at_least_one=binomial[1], binomial_at_least_two=binomial[2])


def is_exactly_covered(lam: Fraction, beta: Fraction) -> bool | Fails:
    """One bit through randomized response: is P(CPL <= p) equal to 1 - β?"""
    p = 1 - lam
    wrong = reported_too_much({(1, 1): p, (1, 0): 1 - p}, p, beta)
    if 1 - wrong == 1 - beta:
        return True
    why = f"CPL(1, 1, β) = β = {beta} <= p = {p}, so that CPL <= p always: with probability {1 - wrong}, not 1 - β."
    return Fails(why, covered=1 - wrong, one_minus_beta=1 - beta)


# K23


def right_with_probability_epsilon(exp_epsilon: Fraction) -> bool | Fails:
    """Randomized response with e^ε: the engine's classic auditor that guesses where the loss is ±ε."""
    lam = 1 / (1 + exp_epsilon)
    joint = randomized_response.bind(n=1, lam=lam).classic_guessing(1, threshold=1 - lam).joint
    return _epsilon_verdict(exp_epsilon, joint.share if joint.share is not None else ZERO)


def right_with_probability_epsilon_again(exp_epsilon: Fraction) -> bool | Fails:
    """The same by listing: guess the record with the larger probability where the ratio is e^ε."""
    lam = 1 / (1 + exp_epsilon)
    laws = [brute.law(randomized_response, (bit,), lam=lam) for bit in (0, 1)]
    right = made = ZERO
    for o in laws[0]:
        for one, other in ((0, 1), (1, 0)):
            if laws[one][o] == exp_epsilon * laws[other][o]:
                made += (laws[one][o] + laws[other][o]) / 2
                right += laws[one][o] / 2
    return _epsilon_verdict(exp_epsilon, right / made)


def _epsilon_verdict(t: Fraction, share: Fraction) -> bool | Fails:
    epsilon = log(t)
    if not (share < epsilon or share > epsilon):
        return True
    why = f"e^ε = {t}: a guess is right with probability {share}, and ε = ln {t} is {epsilon.text(4)}."
    return Fails(why, right=share)


def right_with_logistic(exp_epsilon: Fraction) -> bool:
    """The corrected value e^ε/(1 + e^ε)."""
    lam = 1 / (1 + exp_epsilon)
    joint = randomized_response.bind(n=1, lam=lam).classic_guessing(1, threshold=1 - lam).joint
    return joint.share == exp_epsilon / (1 + exp_epsilon)


def printed_direction(exp_epsilon: Fraction) -> bool | Fails:
    """Guess 1 (the record y) where L = ln P(o|x)/P(o|y) = ε: is it right with probability p(ε)?"""
    lam = 1 / (1 + exp_epsilon)
    laws = [brute.law(randomized_response, (bit,), lam=lam) for bit in (0, 1)]
    hit = [o for o in laws[0] if laws[0][o] == exp_epsilon * laws[1][o]]
    made = sum((laws[0][o] + laws[1][o] for o in hit), ZERO)
    right, wanted = sum((laws[1][o] for o in hit), ZERO) / made, exp_epsilon / (1 + exp_epsilon)
    if right == wanted:
        return True
    why = f"e^ε = {exp_epsilon}: the guess 1 where L = ε is right with probability {right}, not {wanted}."
    return Fails(why, right=right, logistic=wanted)


# K24


def constant_guesser_is_response(n: int) -> bool | Fails:
    """A mechanism without output, ε = 0, and the guesser that always says 1: equality without randomized
    response.
    """
    guess = (1,) * n
    table: Table = {s: {guess: ONE} for s in all_bits(n)}
    law = games.result_law(table, lambda o: o)
    if games.share(law) != HALF or all(laws[guess] == HALF**n for laws in table.values()):
        return True
    why = (
        f"n = {n}: the guesser that always says 1 has efficacy 1/2 = p(0), and its output is {guess} with "
        f"probability 1, not {HALF**n} as for randomized response with ε = 0."
    )
    return Fails(why, efficacy=games.share(law), probability=ONE, in_randomized_response=HALF**n)
