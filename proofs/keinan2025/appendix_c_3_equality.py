"""Appendix C.3.1: when efficacy reaches p(ε) (Lemma C.7, Proposition C.8)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from sympy import Symbol, diff, symbols

from tightdp.claims import Correction, certain, exhaustive, grid, identity, random_dp_law, seeds

from .games import (
    HALF,
    ONE,
    ZERO,
    Table,
    all_bits,
    bit_pairs,
    efficacies,
    every_guesser,
    outputs,
    posteriors,
    ratio_as_posterior,
    result_law,
    share,
    table_of,
)
from .paper import paper
from .programs import ON_BITS
from .validity_lemmas import a, b, p, t, x, y


def equality_is_response(mechanism: str, n: int) -> dict[str, Fraction]:
    """A program: E_n against p(ε), and the likelier bits, ties by fair coins."""
    chosen, parameters = ON_BITS[mechanism]
    return _both(table_of(chosen, bit_pairs(n), **parameters))


def _from_response(table: Table, keep: Fraction) -> Fraction:
    """How far the law of the likelier bits is at most from randomized response that keeps a bit with a probability."""
    farthest = ZERO
    likely: dict[Any, list[Fraction]] = {}
    for o in outputs(table):
        ones = posteriors(table, o)[1]
        likely[o] = [ONE if one > HALF else HALF if one == HALF else ZERO for one in ones]
    for s, law in table.items():
        for guess in all_bits(len(s)):
            mass = ZERO
            for o, chance in law.items():
                if chance:
                    mass += chance * prod(one if bit else 1 - one for bit, one in zip(guess, likely[o], strict=True))
            wrong = sum(bit != other for bit, other in zip(s, guess, strict=True))
            farthest = max(farthest, abs(mass - keep ** (len(s) - wrong) * (1 - keep) ** wrong))
    return farthest


def processing_gives_at_most_that() -> None:
    """If f∘M_Z is local randomized response, the guesser f is right on every bit with probability p(ε(M)), so
    E_n >= p(ε(M)); by Theorem 5.1 E_n <= p(ε(M_Z)) <= p(ε(M)). (A randomized f is no better than the best of the
    deterministic ones that it mixes.)

    For the reader: Theorem 5.1 (K6), and that a randomized guesser is a mixture.
    """
    identity(t * a / (t * a + a), p, "randomized response is right with p")
    w, top = symbols("w top", nonnegative=True)
    identity(top - (w * (top - x) + (1 - w) * (top - y)), w * x + (1 - w) * y, "a mean is at most the largest")


def _both(table: Table) -> dict[str, Fraction]:
    top = ratio_as_posterior(table)
    return {"E_n": efficacies(table)[-1], "p(ε)": top, "distance": _from_response(table, top)}


def _kept(s: tuple[int, ...], o: tuple[int, ...], keep: Fraction) -> Fraction:
    """The probability that randomized response sends o for s."""
    wrong = sum(bit != other for bit, other in zip(s, o, strict=True))
    return keep ** (len(s) - wrong) * (1 - keep) ** wrong


paper.claim(
    "K24a",
    "Prop. C.8, 'if'",
    "Efficacy equals p(ε(M)) if some post-processing of M_Z is local randomized response with ε(M). On the instances "
    "both directions are compared: `E_n = p(ε)` if and only if `distance = 0`, the distance being the largest "
    "difference between the law of the likelier bits, ties decided by fair coins, and that of randomized response.",
    verdict="argued",
    instances=grid(mechanism=tuple(ON_BITS), n=(1, 2, 3)),
    quick=11,
    check=equality_is_response,
    proof=processing_gives_at_most_that,
)


def equality_at_random(seed: int, n: int, exp_epsilon: Fraction) -> dict[str, Fraction]:
    """The same for a random ε-DP mechanism; seed 0 is randomized response."""
    if seed == 0:
        keep = exp_epsilon / (1 + exp_epsilon)
        return _both({s: {o: _kept(s, o, keep) for o in all_bits(n)} for s in all_bits(n)})
    return _both(random_dp_law(seed, n, outputs=2 if n > 1 else 3, exp_epsilon=exp_epsilon))


def equality_forces_randomized_response() -> None:
    """Let T be the guesses of a maximum-likelihood guesser with E_n = p(ε(M)), ties decided by fair coins, and
    X_i = 1 if T_i = S_i. For every order of the bits the probability of X_i = 1 given T and all S_j, j < i, is at
    most p (as in K21; T is computed from the output), and its mean over everything is the probability that guess i
    is right, whose mean over i is p. A mean of numbers that are at most p is p only if all are p:
    P(X_i = 1|T, S_j for j < i) = p always. So X is independent of T, with independent Bernoulli(p) entries.

    For p > 1/2: S is uniform, and S is T with the flips 1 - X, so that the law of T, noised by independent flips,
    is uniform; with the characters χ of {0,1}^n, E χ(S) = (2p-1)^|χ|·E χ(T) = 0 for χ != 1, hence E χ(T) = 0 and T
    is uniform. Then (T, X) uniform and independent makes (S, X) so as well: given S = s, T is s with independent
    flips of probability 1-p. That is local randomized response. For p = 1/2, ε = 0, f may toss n fair coins.

    For the reader: that characters determine a law on {0,1}^n, and the independence of X and T.
    """
    w = Symbol("w", positive=True)
    identity(p - (w * (p - x) + (1 - w) * p), w * x, "one value below p with weight w > 0 makes the mean less")
    certain(diff(2 * p - 1, t).simplify().is_positive, "2p - 1 = (t-1)/(t+1) rises ...")
    identity((2 * p - 1).subs(t, 1), 0, "... and is 0 only for ε = 0, so the factor (2p-1)^|χ| is not 0 for ε > 0")
    identity(1 * p + (-1) * (1 - p), 2 * p - 1, "the mean of a flip's sign")
    exhaustive(product((0, 1), repeat=2), lambda s, flip: (s ^ flip) ^ flip == s, "flipping twice gives it back")


paper.claim(
    "K24b",
    "Prop. C.8, 'only if'",
    "Efficacy equals p(ε(M)) only if some post-processing of M_Z, which may be randomized, is local "
    "randomized response with ε(M). On the instances both directions are compared: `E_n = p(ε)` if and only if "
    "`distance = 0`, the distance being that of K24a.",
    verdict="argued",
    instances=[{**each, **rest} for rest in grid(n=(1, 2), exp_epsilon=("1", "2", "5")) for each in seeds(10)],
    quick=20,
    check=equality_at_random,
    proof=equality_forces_randomized_response,
    notes="The instances of K24a and K24b test both directions on programs and on random mechanisms. "
    "The printed proof goes through Lemma C.7, which needs ε > 0 (K24c); the argument here does not "
    "use it.",
)


def constant_guesser_is_response(n: int) -> dict[str, Any]:
    """A mechanism without output, ε = 0, and the guesser that always says 1."""
    guess = (1,) * n
    table: Table = {s: {guess: ONE} for s in all_bits(n)}
    apart = max(abs(laws[guess] - HALF**n) for laws in table.values())
    return {"efficacy": share(result_law(table, lambda o: o)), "p(ε)": HALF, "distance": apart}


def lemma_needs_positive_epsilon() -> None:
    """Let guess i be 1 with probability a given S_i = 1 and -1 with probability b given S_i = -1. ε-DP says
    a <= t(1-b) and b <= t(1-a), whose sum is a + b <= 2p; a mean success of p needs equality in both, and then
    a = b = p if t > 1, because the difference of the two equalities is (a - b)(1 - t) = 0. For t = 1 both say
    a + b = 1, which leaves a free.

    For the reader: that equality in a sum of two inequalities is equality in both.
    """
    identity((t * (1 - b) - a) + (t * (1 - a) - b), (1 + t) * (2 * p - a - b), "the two slacks add up")
    identity((a - t * (1 - b)) - (b - t * (1 - a)), (a - b) - t * (a - b), "the difference of the equalities")
    identity((a - t * (1 - b)).subs(t, 1), a + b - 1, "for ε = 0 there is one condition only")
    identity((p - t * (1 - p)), 0, "a = b = p satisfies both")


def lemma_for_positive_epsilon() -> None:
    """If G∘M_Z is local randomized response its efficacy is p. Conversely let the efficacy be p(ε(M)), ε > 0: every
    guess has mean success p given the other bits, since it is at most p for each of their values. Let it be 1 with
    probability a given S_i = 1 and -1 with probability b given S_i = -1. ε-DP says a <= t(1-b) and b <= t(1-a),
    whose sum is a + b <= 2p; equality in the mean needs equality in both, and then a = b = p, because the
    difference of the two equalities is (a - b)(1 - t) = 0. So each guess is right with probability p given all
    bits; that the errors are independent follows as in K24b.

    For the reader: that the mean success is p given the other bits for each of their values, and K24b.
    """
    lemma_needs_positive_epsilon()
    equality_forces_randomized_response()


def constant_guesser_is_response_again(n: int) -> dict[str, Any]:
    """Each of n fair bits equals 1 with probability 1/2; randomized response with ε = 0 sends n ones with 2^-n, not
    1."""
    ones = Fraction(sum(sum(s) for s in product((0, 1), repeat=n)), n * 2**n)
    return {"efficacy": ones, "p(ε)": Fraction(1, 2), "distance": 1 - Fraction(1, 2**n)}


def every_guesser_of_response(n: int, exp_epsilon: Fraction) -> Iterator[dict[str, Any]]:
    """Randomized response and every deterministic guesser of all bits."""
    keep = exp_epsilon / (1 + exp_epsilon)
    table: Table = {s: {o: _kept(s, o, keep) for o in all_bits(n)} for s in all_bits(n)}
    for guesser in every_guesser(table, (0, 1)):
        made: Table = {s: {} for s in table}
        for s, law in table.items():
            for o, q in law.items():
                guess = tuple(guesser(o))
                made[s][guess] = made[s].get(guess, ZERO) + q
        apart = max(abs(made[s].get(o, ZERO) - _kept(s, o, keep)) for s in table for o in all_bits(n))
        yield {"efficacy": share(result_law(table, guesser)), "p(ε)": keep, "distance": apart}


paper.claim(
    "K24c",
    "Lemma C.7",
    "For every guesser G, the efficacy with G is p(ε(M)) if and only if G∘M_Z is local randomized response: "
    "`efficacy = p(ε)` if and only if `distance = 0`, the distance being the largest difference between the law of its "
    "guesses and that of randomized response.",
    verdict="corrected",
    instances=grid(n=(1, 2)),
    check=constant_guesser_is_response,
    brute=constant_guesser_is_response_again,
    at={"n": 1},
    minimal="smallest n",
    breaks="A mechanism without output, and the guesser that always says 1. For ε = 0 a mean success probability of "
    "1/2 does not force both error probabilities to be "
    "1/2: the two inequalities of ε-DP are then one and the same.",
    corrected=Correction(
        "It holds if `e^ε > 1`: `efficacy = p(ε)` if and only if `distance = 0`.",
        check=every_guesser_of_response,
        instances=grid(n=(1, 2), exp_epsilon=("3/2", "2", "3")),
        verdict="argued",
        proof=lemma_for_positive_epsilon,
    ),
    stands="Proposition C.8, for a randomized f: for ε = 0 it may toss coins. With f deterministic, as "
    "the words 'some f' could be read, 'only if' fails for ε = 0 by the same example and holds for ε > "
    "0.",
)


paper.row(
    "K24",
    "Prop. C.8",
    "Efficacy equals p(ε(M)) if and only if some post-processing of M_Z is local randomized response.",
    parts=("K24a", "K24b"),
)
