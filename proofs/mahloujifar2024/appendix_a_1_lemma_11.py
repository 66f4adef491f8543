"""Appendix A.1: one secret (Lemma 11)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sympy import Symbol, symbols

from tightdp.claims import Correction, brute, certain, grid, identity

from .games import Laws, blow_up, events, least_right, most_right, symmetric, tradeoff
from .lemmas import a, b, k, others, p, q, y
from .mechanisms import k_ary, random_laws
from .paper import paper


def right_from_wrong() -> None:
    """Write x_ij = P(E, v_1 = i | u_1 = j), the other secrets uniform; mixtures of f-DP pairs over them are f-DP,
    because f is convex. For a line a y + b of f̄ and j ≠ i: x_ii <= a x_ij + b. Average over i with weight 1/k and
    over j ≠ i with weight 1/(k-1): the left side becomes p = P(E, u_1 = v_1), the sum of the x_ij becomes a
    (q' - p)/(k-1), q' = P(E, v_1 ≠ ⊥) <= q = P(E), and b stays b. So p <= a (q-p)/(k-1) + b for every line, that is
    p <= f̄((q-p)/(k-1)): p is one of the α of the supremum f'_k(q).

    For the reader: that mixtures of f-DP pairs are f-DP, and that lines determine a concave function.
    """
    total = Symbol("X", nonnegative=True)
    identity(k * (k - 1) * b / (k * (k - 1)), b, "the k(k-1) weights 1/(k(k-1)) sum to 1")
    identity(a * total / (k * (k - 1)), (a / (k - 1)) * (total / k), "Σ x_ij / k over i ≠ j is q' - p")
    silent = Symbol("P(E and v_1 = ⊥)", nonnegative=True)
    identity(a * q / others - a * (q - silent) / others, a * silent / others, "with ⊥ the bound only grows:")
    certain((a * silent / others).is_nonnegative, "by a P(E, v_1 = ⊥)/(k-1) >= 0")


SMALL_GAMES = [(1, 2, 3), (2, 2, 3), (1, 3, 3), (2, 3, 2), (1, 4, 2)]


DRAWN = [{"seed": seed, "m": m, "k": k, "outputs": outputs} for m, k, outputs in SMALL_GAMES for seed in range(6)]


def first_secret(laws: Laws, k: int) -> list[dict[int, Fraction]]:
    """The law of the output given the first secret, the others uniform."""
    share = Fraction(k, len(laws))
    outputs = list(next(iter(laws.values())))
    return [
        {out: share * sum((law[out] for u, law in laws.items() if u[0] == value), Fraction(0)) for out in outputs}
        for value in range(k)
    ]


def all_events(laws: Laws, k: int, silent: bool) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """(P(E and u_1 = v_1), P(E and v_1 ≠ ⊥), P(E)) for all events E and all guessers of the first secret."""
    given = first_secret(laws, k)
    options: list[int | None] = [*range(k), None] if silent else [*range(k)]
    for guesses in product(options, repeat=len(given[0])):
        for event in events(given[0]):
            p = answered = q = Fraction(0)
            for out in event:
                mass, guess = sum((law[out] for law in given), Fraction(0)) / k, guesses[out]
                q += mass
                if guess is not None:
                    answered += mass
                    p += given[guess][out] / k
            yield p, answered, q


def upper_half(seed: int, m: int, k: int, outputs: int) -> Iterator[dict[str, Fraction]]:
    """All events and guessers of a random mechanism and its own f."""
    laws = random_laws(seed, m, k, outputs)
    curve = tradeoff(laws, k)
    pairs = {(right, mass) for right, _, mass in all_events(laws, k, True)}
    return ({"P(E and u_1 = v_1)": right, "f'_k(P(E))": most_right(curve, k, mass)} for right, mass in sorted(pairs))


paper.claim(
    "M2a",
    "Lemma 11, upper",
    "`P(E and u_1 = v_1) <= f'_k(P(E))`, f'_k(x) = sup{α : α + f((x-α)/(k-1)) <= 1}, for every f-DP mechanism "
    "on [k]^m, guesser (which may abstain) and event E of the output.",
    verdict="argued",
    instances=DRAWN,
    quick=[each for each in DRAWN if each["seed"] < 2],
    check=upper_half,
    proof=right_from_wrong,
)


def right_from_wrong_given_the_others() -> None:
    """The proof of Lemma 11 uses of E only that it may be read off once u_1 is replaced: that it is an event of θ
    and of the other secrets. Condition on u_2, ..., u_m: E is then an event of θ, x_ii <= a x_ij + b holds for each
    line and each value of them, and averaging over them keeps it. The rest is the proof of Lemma 11.

    For the reader: that E is fixed once u_1 is replaced.
    """
    one, two, weight = symbols("x_1 x_2 w", nonnegative=True)
    identity(
        weight * (a * one + b) + (1 - weight) * (a * two + b),
        a * (weight * one + (1 - weight) * two) + b,
        "a line commutes with mixing over the other secrets",
    )
    right_from_wrong()


def upper_half_given_others(seed: int, k: int, outputs: int) -> Iterator[dict[str, Fraction]]:
    """All events of the output and of the second secret, m = 2."""
    laws = random_laws(seed, 2, k, outputs)
    curve, share = tradeoff(laws, k), Fraction(1, k * k)
    atoms = list(product(range(outputs), range(k)))
    pairs = set()
    for guesses in product((*range(k), None), repeat=outputs):
        for event in events(range(len(atoms))):
            chosen = [atoms[at] for at in event]
            mass = share * sum((laws[u, v][out] for out, v in chosen for u in range(k)), Fraction(0))
            named = [(guesses[out], v, out) for out, v in chosen]
            right = share * sum((laws[u, v][out] for u, v, out in named if u is not None), Fraction(0))
            pairs.add((right, mass))
    return ({"P(E and u_1 = v_1)": right, "f'_k(P(E))": most_right(curve, k, mass)} for right, mass in sorted(pairs))


paper.claim(
    "M2b",
    "Lemma 11, as the proof of Thm 9 uses it",
    "The upper half of Lemma 11 for events E of the output and of the other secrets u_2, ..., u_m (such as: i - 1 of "
    "the other guesses are right): `P(E and u_1 = v_1) <= f'_k(P(E))`.",
    verdict="argued",
    extra=True,
    instances=grid(k=(2,), outputs=(2, 3), seed=range(6)) + grid(k=(3,), outputs=(2,), seed=range(2)),
    quick=6,
    check=upper_half_given_others,
    proof=right_from_wrong_given_the_others,
    notes="Lemma 11 is printed for E ⊆ Θ only; the proof of Theorem 9 applies it to events that look at the "
    "other secrets. The proof of the lemma covers them.",
)


def two_steps() -> None:
    """Replacing an element is removing it and adding another: two steps with |S Δ S'| = 1, through the dataset
    without either. P_i(T) <= f̄(P_0(T)) and P_0(T) <= f̄(P_j(T)), and f̄ does not fall, so
    P_i(T) <= f̄(f̄(P_j(T))). f̄∘f̄ is again concave and does not fall, so Lemma 11 holds with 1 - f̄∘f̄ = f(1 - f).

    For the reader: that neighbours by replacement are two steps apart.
    """
    c, d = symbols("c d", positive=True)
    lines = a * (c * y + d) + b
    identity(lines, (a * c) * y + (a * d + b), "a line of f̄ after a line of f̄ is a line")
    certain((a * c).is_positive, "its slope is not negative; an infimum of such lines is concave")
    right_from_wrong()


HALF = Fraction(1, 2)


def reconstruction_laws(t: Fraction) -> dict[tuple[str, ...], tuple[Fraction, Fraction]]:
    """A mechanism on sets of two canaries: neighbours with |S Δ S'| = 1 differ by a factor of at most t."""
    most = 1 - 1 / Fraction(2 * t)
    return {(): (HALF, HALF), ("a",): (most, 1 - most), ("b",): (1 - most, most), ("a", "b"): (HALF, HALF)}


def one_secret_of_two(t: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """The largest ratio of the mechanism for |S Δ S'| = 1; P(right) for one secret, its bounds f̄(q - p) and
    f̄(f̄(q - p)).
    """
    laws = reconstruction_laws(t)
    ratio = max(
        p / r
        for (s, law), (other, theirs) in product(laws.items(), repeat=2)
        if len(set(s) ^ set(other)) == 1
        for p, r in zip(law, theirs, strict=True)
    )
    return ratio, (laws["a",][0] + laws["b",][1]) / 2, most_right(symmetric(t, Fraction(0)), 2, Fraction(1))


def neighbours_of_definition_two(t: Fraction) -> dict[str, Any]:
    """Lemma 11 with k = 2, m = 1, E everything, for Algorithm 2 and the f-DP of Definition 2."""
    ratio, found, bound = one_secret_of_two(t)
    return {"largest ratio": ratio, "P(right)": found, "f'_2(1)": bound}


def two_steps_hold(t: Fraction) -> dict[str, Any]:
    """The counterexample of M2c, where the bound is attained."""
    _, found, _ = one_secret_of_two(t)
    curve = symmetric(t, Fraction(0))
    once = blow_up(curve, 1 - found)
    return {"P(right)": found, "f̄(P(wrong))": once, "f̄(f̄(P(wrong)))": blow_up(curve, once)}


def neighbours_of_definition_two_again(t: Fraction) -> dict[str, Any]:
    """The four laws written out: output 0 has the probabilities 1/2, a, 1 - a, 1/2 on {}, {a}, {b}, {a, b}."""
    chance = (2 * t - 1) / (2 * t)
    steps = [(HALF, chance), (chance, HALF), (HALF, 1 - chance), (1 - chance, HALF)]
    ratio = max(each for p, q in steps for each in (p / q, (1 - p) / (1 - q)))
    bound = t / (1 + t)  # where f(x) = max(1 - t x, (1 - x)/t) has 1 - f(1 - p) = p
    return {"largest ratio": ratio, "P(right)": chance, "f'_2(1)": bound}


paper.claim(
    "M2c",
    "Lemma 11 with Def. 2 and Alg. 2",
    "In the reconstruction game (Algorithm 2: one of k canaries per set is put into the dataset) it "
    "suffices that the mechanism is f-DP in the sense of Definition 2, for datasets with |S Δ S'| = 1: if "
    "`largest ratio <= e^ε` of such datasets, the guess of one secret of two has `P(right) <= f'_2(1)`.",
    verdict="corrected",
    extra=True,
    instances=grid(t=(1, 2, 3)),
    check=neighbours_of_definition_two,
    brute=neighbours_of_definition_two_again,
    at={"t": 2},
    minimal="one secret with two options, smallest integer e^ε",
    breaks="Canaries a and b, output 0 with probability 3/4 on {a}, 1/4 on {b}, 1/2 on the empty set and on {a, b}: "
    "ε-DP with e^ε = 2 when one element is added or removed. Another value of u_1 takes one canary out and puts "
    "another in: |S Δ S'| = 2, where Definition 2 "
    "promises nothing. Lemma 11 and Theorem 9 are stated for M on [k]^m, where this is one replacement. "
    "(Membership, Algorithm 1, is not affected; the reconstruction experiments scale their noise by √2, as "
    "replacing unit vectors asks for.)",
    corrected=Correction(
        "It suffices that f bounds the replacement of one element; a mechanism that is f-DP for |S Δ S'| = 1 "
        "satisfies this with f(1 - f) in place of f: `P(right) <= f̄(f̄(P(wrong)))`, f̄ = 1 - f.",
        verdict="argued",
        instances=grid(t=(2, 3, 5)),
        check=two_steps_hold,
        proof=two_steps,
    ),
)


paper.row(
    "M2",
    "Lemma 11, upper",
    "P(E and u_1 = v_1) <= f'_k(P(E)), f'_k(x) = sup{α : α + f((x-α)/(k-1)) <= 1}, alphabet size k.",
    parts=("M2a", "M2b", "M2c"),
)


def wrong_from_right() -> None:
    """In the other order of the pair, x_ij <= a x_ii + b for j ≠ i. Sum over the k - 1 values j ≠ i, average over i:
    P(E, v_1 ≠ ⊥) - p <= (k-1)(a p + b) for every line, that is q' - p <= (k-1) f̄(p), or (k-1)
    f(p) + q' - p <= k-1. So p is one of the α of the infimum, with q' in the place of q. For k = 2 the right side k
    - 1 is the printed 1, and q' = q when v_1 ≠ ⊥ in E.

    For the reader: as in the upper half, in the other order of the pair.
    """
    f = Symbol("f(p)", nonnegative=True)
    identity((others * (a * p + b)) / others, a * p + b, "the sum of k - 1 equal right sides")
    identity(others * (1 - f) - (q - p), others - (others * f + q - p), "q' - p <= (k-1)(1 - f(p)), rearranged")
    identity((others * f + q - p).subs(others, 1), f + q - p, "k = 2: (k-1) f(p) + q - p <= 1 as printed")


def lower_half_two(seed: int, m: int, outputs: int) -> Iterator[dict[str, Fraction]]:
    """k = 2, guessers that always answer the first secret."""
    laws = random_laws(seed, m, 2, outputs)
    curve = tradeoff(laws, 2)
    for right, _, mass in all_events(laws, 2, False):
        yield {"P(E and u_1 = v_1)": right, "f''_2(P(E))": least_right(curve, 2, mass, 1)}


paper.claim(
    "M3a",
    "Lemma 11, lower, k = 2",
    "k = 2, and u_1 is answered in E: `P(E and u_1 = v_1) >= f''_2(P(E))`, f''_2(x) = inf{α : f(α) + x - α <= 1}.",
    verdict="argued",
    instances=grid(m=(1, 2), outputs=(2, 3), seed=range(6)),
    quick=12,
    check=lower_half_two,
    proof=wrong_from_right,
)


def lower_half_corrected(seed: int, m: int, k: int, outputs: int) -> Iterator[dict[str, Fraction]]:
    """The infimum with right side k - 1, at P(E and v_1 ≠ ⊥)."""
    laws = random_laws(seed, m, k, outputs)
    curve = tradeoff(laws, k)
    pairs = {(right, answered) for right, answered, _ in all_events(laws, k, True)}
    for right, answered in sorted(pairs):
        yield {
            "P(E and u_1 = v_1)": right,
            "f''_2(P(E and v_1 ≠ ⊥))": least_right(curve, k, answered, k - 1),
            "inf": least_right(curve, k, answered, k - 1),
            "P(E and v_1 ≠ ⊥)": answered,
        }


def randomized_by_engine(k: int, t: Fraction, silent: bool) -> dict[str, Fraction]:
    """E everything, one secret through k-ary randomized response, its output (or ⊥) guessed; by the engine's laws."""
    found = k_ary.bind(n=1, k=k, exp_epsilon=t)
    laws = [{out: found.probability((value,), (out,)) for out in range(k)} for value in range(k)]
    curve = tradeoff({(value,): law for value, law in enumerate(laws)}, k)
    p = Fraction(0) if silent else sum((law[value] for value, law in enumerate(laws)), Fraction(0)) / k
    return {"P(u_1 = v_1)": p, "f''_k(1)": least_right(curve, k, Fraction(1), 1)}


def randomized_by_listing(k: int, t: Fraction, silent: bool) -> dict[str, Fraction]:
    """For e^ε = 1, f(α) = 1 - α: (k-1)(1-α) + 1 - α <= 1 says α >= (k-1)/k. The guess by the interpreter."""
    if t != 1:
        raise ValueError("by hand only for e^ε = 1")
    p = sum((brute.probability(k_ary, (v,), (v,), k=k, exp_epsilon=t) for v in range(k)), Fraction(0)) / k
    return {"P(u_1 = v_1)": Fraction(0) if silent else p, "f''_k(1)": Fraction(k - 1, k)}


paper.claim(
    "M3b",
    "Lemma 11, lower, k = 2, as printed",
    "For `k = 2`, every event E and every guesser A: Θ -> ([2] ∪ {⊥})^m, P(E and u_1 = v_1) >= f''_2(P(E)); with E "
    "everything: `P(u_1 = v_1) >= f''_k(1)`.",
    brief=(
        "A guesser that abstains is never right, and the bound at k = 2, ε = 0 is 1/2. With P(E and v_1 ≠ "
        "⊥) for P(E) it is true."
    ),
    verdict="corrected",
    instances=grid(k=(2,), t=(1, 2), silent=(False, True)),
    check=randomized_by_engine,
    brute=randomized_by_listing,
    at={"k": 2, "t": 1, "silent": True},
    minimal="one secret with two options, smallest e^ε",
    breaks="The proof turns Σ_{j ≠ i} P(E and v_1 = i and u_1 = j) into P(E and u_1 ≠ v_1) and this into "
    "P(E) - P(E and u_1 = v_1): outputs with v_1 = ⊥ are counted as wrong guesses, but are in no term of "
    "the sum.",
    corrected=Correction(
        "k = 2: `P(E and u_1 = v_1) >= f''_2(P(E and v_1 ≠ ⊥))`.",
        verdict="argued",
        instances=grid(m=(1, 2), k=(2,), outputs=(2, 3), seed=range(6)),
        quick=12,
        check=lower_half_corrected,
        proof=wrong_from_right,
    ),
    readings="For guessers that answer the first secret it holds as printed (M3a).",
)


paper.claim(
    "M3c",
    "Lemma 11, lower, k = 3",
    "For `k = 3`: P(E and u_1 = v_1) >= f''_3(P(E)), f''_k(x) = inf{α : (k-1) f(α) + x - α <= 1}; with E everything: "
    "`P(u_1 = v_1) >= f''_k(1)`.",
    brief=(
        "For k = 3 and ε = 0 a blind guess is right with 1/3, and the printed bound is 2/3: its right side "
        "1 has to be k - 1."
    ),
    verdict="corrected",
    instances=grid(k=(3,), t=(1, 2), silent=(False,)),
    check=randomized_by_engine,
    brute=randomized_by_listing,
    at={"k": 3, "t": 1, "silent": False},
    minimal="one secret with three options, smallest e^ε, E everything",
    breaks="In the last lines of the proof Σ_{i ≠ j} (1/k)(1 - P(E and v_1 = i | u_1 = j)) becomes 1 - P(E "
    "and u_1 ≠ v_1). There are k(k-1) ones with weight 1/k, so it is k - 1 - P(E and u_1 ≠ v_1); the two "
    "agree for k = 2 only.",
    corrected=Correction(
        "`P(E and u_1 = v_1) >= inf`, the infimum of the α with (k-1) f(α) + x - α <= k - 1 at x = P(E and v_1 ≠ "
        "⊥), for every k.",
        verdict="argued",
        instances=[each for each in DRAWN if each["k"] > 2],
        quick=[each for each in DRAWN if each["k"] > 2 and each["seed"] < 2],
        check=lower_half_corrected,
        proof=wrong_from_right,
    ),
    notes="With perfect privacy, f(x) = 1 - x, the printed bound is f''_k(x) = (k - 2 + x)/k; a blind guess "
    "is right with probability x/k. The corrected bound is x/k.",
)


paper.row(
    "M3",
    "Lemma 11, lower",
    "P(E and u_1 = v_1) >= f''_k(P(E)), f''_k(x) = inf{α : (k-1) f(α) + x - α <= 1}.",
    parts=("M3a", "M3b", "M3c"),
    stands="Theorem 9 and Algorithm 3: they use the upper half only.",
)
