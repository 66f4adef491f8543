"""Appendix A.5: the classic auditor (Lemma A.18)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp.claims import Correction, brute, grid, identity

from .games import ZERO
from .paper import paper
from .programs import randomized_response
from .validity_lemmas import a, p, t


def right_by_listing(exp_epsilon: Fraction) -> dict[str, Any]:
    """The same by listing: guess the record with the larger probability where the ratio is e^ε."""
    lam = 1 / (1 + exp_epsilon)
    laws = [brute.law(randomized_response, (bit,), lam=lam) for bit in (0, 1)]
    right = made = Fraction(0)
    for o in laws[0]:
        for one, other in ((0, 1), (1, 0)):
            if laws[one][o] == exp_epsilon * laws[other][o]:
                made += (laws[one][o] + laws[other][o]) / 2
                right += laws[one][o] / 2
    return {"P(right|an answer)": right / made}


def right_with_logistic(exp_epsilon: Fraction) -> dict[str, Any]:
    """The engine's classic auditor on randomized response."""
    lam = 1 / (1 + exp_epsilon)
    joint = randomized_response.bind(n=1, lam=lam).classic_guessing(1, threshold=1 - lam).joint
    return {"P(right|an answer)": joint.share}


def sure_about_the_odds() -> None:
    """The guesser answers where P(o|x)/P(o|y) = t. There the posterior of x is
    P(o|x)/(P(o|x) + P(o|y)) = t/(1+t) = p(ε), and that of y 1/(1+t) = 1 - p(ε). For t = ∞, P(o|y) = 0 and x is
    certain. Answers come with probability (P(A|x) + P(A|y))/2 = P(A|x)·(1 + 1/t)/2 per round.

    For the reader: that answers come exactly where the loss is ε.
    """
    identity(t * a / (t * a + a), p, "the posterior of x")
    identity(a / (t * a + a), 1 - p, "the posterior of y")
    identity((a + a / t) / 2, a * (1 + 1 / t) / 2, "the probability of an answer")


paper.claim(
    "K23a",
    "Lemma A.18",
    "The classic auditor's guesser that answers only when the loss equals ε is right with probability ε, as printed in "
    "the proof: `ln(e^ε) <= P(right|an answer) <= ln(e^ε)`.",
    brief="The guess is right with probability p(ε), 2/3 for e^ε = 2, not with ε = 0.693.",
    verdict="corrected",
    instances=grid(exp_epsilon=("2", "3", "4")),
    check=right_with_logistic,
    brute=right_by_listing,
    at={"exp_epsilon": "2"},
    minimal="smallest whole e^ε",
    breaks="ε stands where p(ε) is meant, twice; from e^ε = 3 on ε exceeds 1 and is no probability.",
    corrected=Correction(
        "It is right with probability p(ε): `P(right|an answer) = e^ε/(1 + e^ε)`.",
        verdict="argued",
        instances=grid(exp_epsilon=("2", "3", "4", "10")),
        check=right_with_logistic,
        proof=sure_about_the_odds,
    ),
    stands="The lemma: with p(ε) the efficacy converges to what Lemma A.4 asks for.",
)


def printed_direction(exp_epsilon: Fraction) -> dict[str, Any]:
    """Guess 1 (the record y) where L = ln P(o|x)/P(o|y) = ε."""
    lam = 1 / (1 + exp_epsilon)
    laws = [brute.law(randomized_response, (bit,), lam=lam) for bit in (0, 1)]
    hit = [o for o in laws[0] if laws[0][o] == exp_epsilon * laws[1][o]]
    made = sum((laws[0][o] + laws[1][o] for o in hit), ZERO)
    return {"P(right|an answer)": sum((laws[1][o] for o in hit), ZERO) / made}


def printed_direction_again(exp_epsilon: Fraction) -> dict[str, Any]:
    """By Bayes' rule: output 0 has the probabilities e^ε/(1+e^ε) under x = 0 and 1/(1+e^ε) under y = 1."""
    under_x, under_y = exp_epsilon / (1 + exp_epsilon), 1 / (1 + exp_epsilon)
    return {"P(right|an answer)": under_y / (under_x + under_y)}


def other_direction(exp_epsilon: Fraction) -> dict[str, Fraction]:
    """Guess -1 (the record x) where L = ε, on randomized response, in a round with a fair choice of x or y."""
    lam = 1 / (1 + exp_epsilon)
    laws = [brute.law(randomized_response, (bit,), lam=lam) for bit in (0, 1)]
    hit = [o for o in laws[0] if laws[0][o] == exp_epsilon * laws[1][o]]
    under = [sum((law[o] for o in hit), ZERO) for law in laws]
    rounds = {(bit, o): p / 2 for bit in (0, 1) for o, p in laws[bit].items()}
    answered = sum((p for (_, o), p in rounds.items() if o in hit), ZERO)
    return {
        "P(right|an answer)": sum((p for (bit, o), p in rounds.items() if o in hit and bit == 0), ZERO) / answered,
        "P(an answer)": answered,
        "P(L=ε|x)": under[0],
        "P(L=ε|y)": under[1],
    }


paper.claim(
    "K23b",
    "Lemma A.18, the guess",
    "The classic auditor's guesser that guesses 1 (the record y) at loss L = ln P(o|x)/P(o|y) = ε is "
    "right with probability p(ε): `P(right|an answer) = e^ε/(1 + e^ε)`.",
    verdict="corrected",
    extra=True,
    instances=grid(exp_epsilon=("2",)),
    check=printed_direction,
    brute=printed_direction_again,
    at={"exp_epsilon": "2"},
    minimal="smallest whole e^ε",
    breaks="As in K5: a positive loss speaks for x, which Algorithm 2 codes as -1.",
    corrected=Correction(
        "It has to guess -1: then `P(right|an answer) = e^ε/(1 + e^ε)`; and per round it answers with probability "
        "`P(an answer) = (P(L=ε|x) + P(L=ε|y))/2`, not P(L=ε|x).",
        check=other_direction,
        instances=grid(exp_epsilon=("2", "3", "10")),
        verdict="argued",
        proof=sure_about_the_odds,
    ),
    readings="With the loss the other way round, L = ln P(o|y)/P(o|x), the printed guess 1 is right.",
)


paper.row(
    "K23",
    "Lemma A.18",
    "The classic auditor's guesser that answers only when the loss equals ε is right with probability ε.",
    parts=("K23a", "K23b"),
)
