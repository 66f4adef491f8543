"""Appendix E.2: dominance of sums (Lemma E.4), and the guessers of E.3.2."""

from __future__ import annotations

from fractions import Fraction

from sympy import symbols

from tightdp.claims import Correction, Fails, grid, identity

from .games import ZERO, Joint, bit_pairs, given, outputs, table_of, tail
from .paper import paper
from .programs import randomized_response_count
from .validity_lemmas import adaptive_guesses_are_dominated


def dependent_sum(p: Fraction) -> bool | Fails:
    """X1, X2 independent Bernoulli(p), Y1 as X1 and Y2 of the same law but wrong when Y1 is right where it can."""
    both = max(ZERO, 2 * p - 1)
    if p**2 <= both:
        return True
    why = f"P(X1 + X2 >= 2) = {p**2}, P(Y1 + Y2 >= 2) = {both}, though X1 and X2 given X1 have the laws of Y1 and Y2."
    return Fails(why, ours=p**2, theirs=both)


def sum_of_independent() -> None:
    """Let Y1, Y2 be independent, and write the tails as P(X1 + X2 > s) = E g(X1),
    g(u) = P(X2 > s - u|X1 = u) <= P(Y2 > s - u) =: h(u). h rises with u, so E h(X1) <= E h(Y1) by dominance, and E
    h(Y1) = P(Y1 + Y2 > s) because Y1 and Y2 are independent. For a rising step function h = Σ c_j·1(u > u_j),
    c_j >= 0, dominance is used once for each step.
    """
    c, low, more = symbols("c low more", nonnegative=True)
    identity(c * (low + more) - c * low, c * more, "a step c·1(u > u_j) has the larger mean under Y1")


paper.claim(
    "K22e",
    "Lemma E.4",
    "For all X1, X2, Y1, Y2: if X1 is dominated by Y1 and X2 given X1 = x by Y2 for every x, then X1 + "
    "X2 is dominated by Y1 + Y2.",
    verdict="corrected",
    extra=True,
    instances=grid(p=("1/2",)),
    check=dependent_sum,
    brute=dependent_sum,
    at={"p": "1/2"},
    minimal="two fair coins X1, X2; Y2 = 1 - Y1",
    breaks="Nothing is said of Y1 and Y2 together.",
    corrected=Correction("It holds if Y1 and Y2 are independent.", verdict="proved", proof=sum_of_independent),
    stands="Its use with independent binomial and Bernoulli variables.",
)


def threshold_guesser_is_dominated(n: int, threshold: Fraction) -> bool | Fails:
    """RR count, λ = 1/3, adaptive maximum likelihood: guess where the posterior reaches the threshold, in order."""
    found = randomized_response_count.bind(n=n, lam=Fraction(1, 3)).adaptive_guessing(threshold)
    return _threshold_verdict(found.joint.to_dict())


def threshold_guesser_is_dominated_again(n: int, threshold: Fraction) -> bool | Fails:
    """The same by listing: posteriors given the output and the bits before."""
    table = table_of(randomized_response_count, bit_pairs(n), lam=Fraction(1, 3))
    law: Joint = {}
    for o in outputs(table):
        joint = given(table, o)
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


paper.claim(
    "K22f",
    "Prop. E.5 for the guessers of E.3.2",
    "For the adaptive maximum-likelihood guesser with a threshold on the posterior and randomized response "
    "count (ε-DP with e^ε = 2), V is dominated by Bin(R, p(ε)), not given R.",
    verdict="corrected",
    extra=True,
    instances=grid(n=(1, 2, 3), threshold=("1/2", "11/20", "3/5")),
    check=threshold_guesser_is_dominated,
    brute=threshold_guesser_is_dominated_again,
    at={"n": 3, "threshold": "11/20"},
    minimal="smallest n, then threshold",
    breaks="As in K22a: what a revealed bit says decides whether the later bits reach the threshold. So it "
    "does not take a guesser that is made to cheat.",
    corrected=Correction(
        "V is dominated by Bin(n, p(ε)), n the number of elements.",
        verdict="proved",
        proof=adaptive_guesses_are_dominated,
    ),
)


paper.row(
    "K22",
    "Prop. E.5",
    "Adaptive one-run auditing is valid: for an ε-DP mechanism the number right is stochastically dominated "
    "by Bin(r, p(ε)).",
    parts=("K22a", "K22b", "K22c", "K22d", "K22e", "K22f"),
    readings="""
    - Guessers that may abstain depending on what was revealed, as Definition E.3 and the guessers of E.3.2 do:
      false.
    - The number of guesses fixed in advance, or chosen from the output alone: true, proved with the corrected
      statement.
    """,
)
