"""The checks of mahloujifar2024.py up to Proposition 12: the guarantee, and one secret at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from typing import Any

from _mahloujifar2024_game import (
    Curve,
    Laws,
    blow_up,
    delta_of,
    events,
    least_right,
    most_right,
    one_sided,
    symmetric,
    tradeoff,
)

from tightdp.claims import Fails, brute, program, random_law
from tightdp.session.instance import Instance

rr_delta = program("randomized_response_delta")

k_ary = program("k_ary_randomized_response")

HALF = Fraction(1, 2)

BELOW = 1 - Fraction(1, 2**40)
"""A level just below another one: relatively 2^-40 smaller."""


def random_laws(seed: int, m: int, k: int, outputs: int) -> Laws:
    """A mechanism drawn at random; its own trade-off function is the f of f-DP."""
    return random_law(seed, product(range(k), repeat=m), outputs, denominator=12)


@cache
def one_record(delta: Fraction) -> tuple[Instance, list[dict[Any, Fraction]]]:
    """The engine's laws of randomized response with four outputs, one record, e^ε = 3."""
    instance = rr_delta.bind(n=1, delta=delta, exp_epsilon=3)
    return instance, [dict(instance.distribution((bit,)).law) for bit in (0, 1)]


def is_f_dp(laws: list[dict[Any, Fraction]], curve: Curve) -> bool:
    """P(T) <= 1 - f(P'(T)) for two laws in both orders and all events T."""
    outputs = sorted({out for law in laws for out in law})
    return all(
        total(ours, event) <= blow_up(curve, total(theirs, event))
        for ours, theirs in (laws, laws[::-1])
        for size in range(len(outputs) + 1)
        for event in combinations(outputs, size)
    )


def total(law: dict[Any, Fraction], event: Iterable[Any]) -> Fraction:
    """The probability of an event."""
    return sum((law.get(out, Fraction(0)) for out in event), Fraction(0))


def events_within(delta: Fraction, t: Fraction, level: Fraction) -> bool:
    """(ln t, level)-DP by the engine's δ(t), against P(T) <= 1 - f(P'(T)) for all events of one record."""
    instance, laws = one_record(delta)
    is_dp = instance.delta(exp_epsilon=t).delta <= level
    return is_f_dp(laws, one_sided(t, level)) == is_dp


def stays_in_range(t: Fraction, delta: Fraction) -> bool | Fails:
    """Whether f(x) = 1 - δ - t x has values in [0, 1] on [0, 1]; it falls, so its ends decide."""
    first, last = 1 - delta, 1 - delta - t
    why = f"f(x) = 1 - {delta} - {t} x has f(1) = {last} < 0."
    return (last >= 0 and first <= 1) or Fails(why, x=1, f=Fraction(last))


def clamped_stays_in_range(t: Fraction, delta: Fraction) -> bool:
    """max(0, f) on a grid of x: values in [0, 1], below 1 - x, falling, convex."""
    values = [1 - blow_up(one_sided(t, delta), Fraction(at, 12)) for at in range(13)]
    falls = all(low >= high for low, high in pairwise(values))
    convex = all(a + c >= 2 * b for a, b, c in zip(values, values[1:], values[2:], strict=False))
    return falls and convex and all(0 <= value <= 1 - Fraction(at, 12) for at, value in enumerate(values))


def mirror_changes_nothing(seed: int, outputs: int) -> bool:
    """One-sided against symmetric f, on a random pair of laws in both orders, at and just below its δ(t)."""
    laws = random_laws(seed, 1, 2, outputs)
    both = list(laws.values())
    for t in (Fraction(1), Fraction(3, 2), Fraction(3)):
        exact = delta_of(laws, 2, t)
        if not (is_f_dp(both, one_sided(t, exact)) and is_f_dp(both, symmetric(t, exact))):
            return False
        less = exact * BELOW
        if exact and (is_f_dp(both, one_sided(t, less)) or is_f_dp(both, symmetric(t, less))):
            return False
    return True


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


def upper_half(seed: int, m: int, k: int, outputs: int) -> bool:
    """Lemma 11, upper bound, for all events and guessers of a random mechanism and its own f."""
    laws = random_laws(seed, m, k, outputs)
    curve = tradeoff(laws, k)
    return all(p <= most_right(curve, k, q) for p, _, q in all_events(laws, k, True))


def upper_half_given_others(seed: int, k: int, outputs: int) -> bool:
    """The same for all events of the output and of the second secret, m = 2."""
    laws = random_laws(seed, 2, k, outputs)
    curve, share = tradeoff(laws, k), Fraction(1, k * k)
    atoms = list(product(range(outputs), range(k)))
    for guesses in product((*range(k), None), repeat=outputs):
        for event in events(range(len(atoms))):
            chosen = [atoms[at] for at in event]
            q = share * sum((laws[u, v][out] for out, v in chosen for u in range(k)), Fraction(0))
            named = [(guesses[out], v, out) for out, v in chosen]
            p = share * sum((laws[u, v][out] for u, v, out in named if u is not None), Fraction(0))
            if p > most_right(curve, k, q):
                return False
    return True


def reconstruction_laws(t: Fraction) -> dict[tuple[str, ...], tuple[Fraction, Fraction]]:
    """A mechanism on sets of two canaries: neighbours with |S Δ S'| = 1 differ by a factor of at most t."""
    most = 1 - 1 / Fraction(2 * t)
    return {(): (HALF, HALF), ("a",): (most, 1 - most), ("b",): (1 - most, most), ("a", "b"): (HALF, HALF)}


def one_secret_of_two(t: Fraction) -> tuple[bool, Fraction, Fraction]:
    """Whether the mechanism is ε-DP for |S Δ S'| = 1; P(right) for one secret, its bounds f̄(q - p) and
    f̄(f̄(q - p)).
    """
    laws = reconstruction_laws(t)
    private = all(
        p <= t * r
        for (s, law), (other, theirs) in product(laws.items(), repeat=2)
        if len(set(s) ^ set(other)) == 1
        for p, r in zip(law, theirs, strict=True)
    )
    return private, (laws["a",][0] + laws["b",][1]) / 2, most_right(symmetric(t, Fraction(0)), 2, Fraction(1))


def neighbours_of_definition_two(t: Fraction) -> bool | Fails:
    """Lemma 11 with k = 2, m = 1, E everything, for Algorithm 2 and the f-DP of Definition 2."""
    private, found, bound = one_secret_of_two(t)
    why = (
        f"Canaries a and b, output 0 with probability {found} on {{a}}, {1 - found} on {{b}}, 1/2 on the "
        f"empty set and on {{a, b}}: ε-DP with e^ε = {t} when one element is added or removed. The secret "
        "is which of a and b is in the dataset; guessing it from the output is right with probability "
        f"{found} > f'_2(1) = {bound}."
    )
    return not private or found <= bound or Fails(why, right=found, bound=bound)


def two_steps_hold(t: Fraction) -> bool:
    """With f(1 - f) the bound holds here, with equality."""
    private, found, _ = one_secret_of_two(t)
    curve = symmetric(t, Fraction(0))
    return private and found == blow_up(curve, blow_up(curve, 1 - found))


def lower_half_two(seed: int, m: int, outputs: int) -> bool:
    """Lemma 11, lower bound, k = 2, guessers that always answer the first secret."""
    laws = random_laws(seed, m, 2, outputs)
    curve = tradeoff(laws, 2)
    return all(p >= least_right(curve, 2, q, 1) for p, _, q in all_events(laws, 2, False))


def lower_half_corrected(seed: int, m: int, k: int, outputs: int) -> bool:
    """The corrected lower bound: right side k - 1, and P(E and v_1 ≠ ⊥) in place of P(E)."""
    laws = random_laws(seed, m, k, outputs)
    curve = tradeoff(laws, k)
    return all(p >= least_right(curve, k, answered, k - 1) for p, answered, _ in all_events(laws, k, True))


def randomized(k: int, t: Fraction, laws: list[dict[int, Fraction]], silent: bool) -> bool | Fails:
    """Lemma 11, lower, E everything, for one secret through k-ary randomized response, its output (or ⊥)
    guessed.
    """
    curve = tradeoff({(value,): law for value, law in enumerate(laws)}, k)
    p = Fraction(0) if silent else sum((law[value] for value, law in enumerate(laws)), Fraction(0)) / k
    bound = least_right(curve, k, Fraction(1), 1)
    who = "The guesser always abstains" if silent else "The guess is the output"
    why = (
        f"One secret of {k} options through randomized response with e^ε = {t}. {who}: with E everything, "
        f"P(u_1 = v_1) = {p} < f''_{k}(1) = {bound}."
    )
    return p >= bound or Fails(why, right=p, bound=bound)


def randomized_by_engine(k: int, t: Fraction, silent: bool) -> bool | Fails:
    """With the laws that the engine finds."""
    found = k_ary.bind(n=1, k=k, exp_epsilon=t)
    laws = [{out: found.probability((value,), (out,)) for out in range(k)} for value in range(k)]
    return randomized(k, t, laws, silent)


def randomized_by_listing(k: int, t: Fraction, silent: bool) -> bool | Fails:
    """With the laws that the interpreter finds."""
    laws = [
        {out: brute.probability(k_ary, (value,), (out,), k=k, exp_epsilon=t) for out in range(k)} for value in range(k)
    ]
    return randomized(k, t, laws, silent)


STEPS = [Fraction(at, 24) for at in range(25)]


def is_the_supremum(curve: Curve, k: int, x: Fraction) -> bool:
    """Whether most_right is a largest α with α + f((x-α)/(k-1)) <= 1, straight from the definition."""
    alpha, step = most_right(curve, k, x), Fraction(1, 10**6)
    allowed = [a <= blow_up(curve, (x - a) / (k - 1)) for a in (alpha, alpha + step)]
    return allowed[0] and (alpha + step > x or not allowed[1])


def rises_and_is_concave(seed: int, k: int, outputs: int) -> bool:
    """f'_k of the f of a random mechanism, on a grid of x."""
    curve = tradeoff(random_laws(seed, 1, k, outputs), k)
    values = [most_right(curve, k, x) for x in STEPS]
    rises = all(low < high for low, high in pairwise(values))
    concave = all(a + c <= 2 * b for a, b, c in zip(values, values[1:], values[2:], strict=False))
    return rises and concave and all(is_the_supremum(curve, k, x) for x in STEPS)


def rises_and_is_convex(seed: int, k: int, outputs: int) -> bool:
    """f''_k as printed and corrected, on a grid of x."""
    curve = tradeoff(random_laws(seed, 1, k, outputs), k)
    for side in {1, k - 1}:
        values = [least_right(curve, k, x, side) for x in STEPS]
        if any(low > high for low, high in pairwise(values)):
            return False
        if any(a + c < 2 * b for a, b, c in zip(values, values[1:], values[2:], strict=False)):
            return False
    return True
