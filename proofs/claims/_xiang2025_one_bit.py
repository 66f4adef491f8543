"""The checks of the claims of xiang2025 about one bit: trade-off functions (X1 to X3) and Algorithm 2 (X10).

Those that are also brute force take nothing from the engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from _xiang2025_games import (
    ONE,
    ZERO,
    Law,
    all_bits,
    excess,
    four_outputs,
    independent_bits,
    of_pair,
    private,
    tradeoff,
    value_at,
)

from tightdp.claims import Fails, program, random_law

four_output_program = program("randomized_response_delta")


# X1, X2, X3


def random_pair(seed: int, outputs: int = 3) -> tuple[Law, Law]:
    """Two laws drawn at random; multiples of 1/6, so that both verdicts occur."""
    laws = random_law(seed, (0, 1), outputs, denominator=6)
    return laws[0], laws[1]


def pair_is_private_iff_above(seed: int, t: Fraction, delta: Fraction) -> bool:
    """(ε, δ)-DP of a pair in both orders against T >= f at all vertices of T, which is straight between."""
    p, q = random_pair(seed)
    t, f = Fraction(t), of_pair(t, delta)
    is_private = max(excess(p, q, t), excess(q, p, t)) <= delta
    return is_private == all(beta >= f(alpha) for alpha, beta in tradeoff(p, q))


def curve_of_four_outputs(n: int, t: Fraction, delta: Fraction) -> bool:
    """The engine's δ and trade-off function against f at the kinks of both, and at 0."""
    t, delta = Fraction(t), Fraction(delta)
    found = four_output_program.bind(n=n, delta=delta, exp_epsilon=t)
    vertices, f = list(found.tradeoff().vertices), of_pair(t, delta)
    kinks = {ZERO, ONE, (1 - delta) / (1 + t), 1 - delta} | {alpha for alpha, _ in vertices}
    same = all(value_at(vertices, alpha) == f(alpha) for alpha in kinks)
    return same and found.delta(exp_epsilon=t).delta == delta


def least_by_events(t: Fraction, delta: Fraction, alpha: Fraction) -> Fraction:
    """The least β of a deterministic test with error at most α on the four-output mechanism, by listing."""
    p, q = four_outputs(0, delta, t), four_outputs(1, delta, t)
    outputs = sorted(p.keys() | q.keys())
    events = ([y for y, kept in zip(outputs, chosen, strict=True) if kept] for chosen in all_bits(len(outputs)))
    return min(
        1 - sum((q.get(y, ZERO) for y in event), ZERO)
        for event in events
        if sum((p.get(y, ZERO) for y in event), ZERO) <= alpha
    )


def deterministic_equals_f(t: Fraction, delta: Fraction, alpha: Fraction) -> bool | Fails:
    """Definition 2 to the letter, without randomized tests."""
    found, f = least_by_events(t, delta, alpha), of_pair(t, delta)(alpha)
    why = (
        f"A test that rejects on an event has errors α in a finite set; with α <= {alpha} its least β is "
        f"{found}, and f({alpha}) = {f}."
    )
    return found == f or Fails(why, least=found, f=f)


def deterministic_is_above(t: Fraction, delta: Fraction, alpha: Fraction) -> bool:
    """T >= f, with equality where α is a kink of f."""
    found, f = least_by_events(t, delta, alpha), of_pair(t, delta)
    kinks = (ZERO, Fraction(1 - delta) / (1 + t), Fraction(1 - delta))
    return found >= f(alpha) and all(least_by_events(t, delta, kink) == f(kink) for kink in kinks)


def least_error_is_at_slope_one(seed: int, outputs: int) -> bool:
    """All deterministic decoders, the likelihood-ratio rule, and (a + f(a))/2 where -1 is a subgradient."""
    p, q = random_pair(seed, outputs)
    ys = sorted(p.keys() | q.keys())
    errors = [
        sum((p[y] if guess else q[y] for y, guess in zip(ys, rule, strict=True)), ZERO) / 2
        for rule in all_bits(len(ys))
    ]
    by_ratio = sum((q[y] if p[y] >= q[y] else p[y] for y in ys), ZERO) / 2
    corners = tradeoff(p, q)
    flat = [a for a, b in corners if all(y >= b - (x - a) for x, y in corners)]
    return bool(flat) and all((a + value_at(corners, a)) / 2 == min(errors) == by_ratio for a in flat)


def has_inner_point(h: Fraction) -> bool | Fails:
    """f(x) = h(1-x): is -1 a subgradient at some a in (0, 1)?"""
    corners = tradeoff({"y": ONE}, {"y": h, "z": 1 - h})
    h, slope = Fraction(h), value_at(corners, ONE) - value_at(corners, ZERO)
    why = (
        f"P = δ_y, Q(y) = {h}, Q(z) = {1 - h} has f(x) = {h}·(1 - x), of slope {slope} on (0, 1). -1 is a "
        f"subgradient at a = 0 only, where (a + f(a))/2 = {h / 2} is indeed the least error."
    )
    return slope == -1 or Fails(why, slope=slope, least_error=h / 2)


# X10


def algorithm_two(vertices: Sequence[tuple[Fraction, Fraction]], delta: Fraction) -> Fraction | float:
    """e^ε of Algorithm 2 for a piecewise linear f, exactly: the lines have to hold at the vertices."""
    if delta < 1 - value_at(list(vertices), ZERO):
        return math.inf
    return max([ONE, *((1 - delta - y) / x for x, y in vertices if x)])


PROGRAMS = {
    "randomized_response": {"lam": "1/5"},
    "randomized_response_delta": {"delta": "1/10", "exp_epsilon": 3},
    "all_or_nothing": {"p": "1/4"},
    "count": {},
    "name_and_shame": {},
    "randomized_response_count": {"lam": "1/4"},
    "xor": {},
}


def agrees_with_engine(program_name: str, n: int, delta: Fraction) -> bool:
    """Algorithm 2 on the engine's trade-off function against the engine's tight e^ε at δ."""
    found = program(program_name).bind(n=n, **PROGRAMS[program_name])  # type: ignore[arg-type]
    return bool(algorithm_two(found.tradeoff().vertices, delta) == found.epsilon(delta=delta).exp_epsilon)


def least_for_one_sided(h: Fraction, delta: Fraction) -> bool | Fails:
    """f(x) = h(1-x): Algorithm 2 against the least e^ε that every f-DP mechanism has."""
    h, delta = Fraction(h), Fraction(delta)
    found = algorithm_two([(ZERO, h), (ONE, ZERO)], delta)
    # both orders: T >= f and T >= f^-1, that is, T >= max(h(1-x), 1 - x/h), whose kink is on the diagonal
    kink = h / (1 + h)
    least = algorithm_two([(ZERO, ONE), (kink, kink), (ONE, ZERO)], delta)
    shown = "∞" if found == math.inf else str(found)
    why = (
        f"f(x) = {h}·(1 - x) has f(0) = {h}, so for δ = {delta} Algorithm 2 returns e^ε = {shown}. A "
        "mechanism that is f-DP in both orders has T >= max(f, f^-1), the trade-off function of randomized "
        f"response with e^ε = {1 / h}: every one of them has e^ε <= {least} at this δ."
    )
    return found == least or Fails(why, algorithm=shown, least=least)


def rejection_transfers(t: Fraction, delta: Fraction) -> bool | Fails:
    """f = f_{ln t,0}; is there a mechanism that is not f-DP but (ε, δ)-DP for the ε that Algorithm 2 gives at
    δ?
    """
    t, delta, corner = Fraction(t), Fraction(delta), 1 / (1 + Fraction(t))
    reported = algorithm_two([(ZERO, ONE), (corner, corner), (ONE, ZERO)], delta)
    assert isinstance(reported, Fraction)
    table = private(independent_bits(1, delta, reported), delta, reported)
    vertices = tradeoff(table[0,], table[1,])
    is_f = all(y >= of_pair(t, ZERO)(x) for x, y in vertices)
    why = (
        f"f belongs to randomized response with e^ε = {t}; at δ = {delta} Algorithm 2 gives e^ε = "
        f"{reported}. The four-output mechanism with e^ε = {reported} and this δ has T(0) = {1 - delta} < "
        f"f(0) = 1: an audit may rightly reject f-DP of it, and would report e^ε > {reported}, yet it is "
        f"(ln {reported}, {delta})-DP."
    )
    return is_f or Fails(why, reported=reported, at_zero=value_at(vertices, ZERO))


def line_pair_returns_itself(t: Fraction, delta: Fraction) -> bool:
    """Algorithm 2 on f_{ε,δ} gives ε back."""
    t, delta, corner = Fraction(t), Fraction(delta), (1 - delta) / (1 + Fraction(t))
    vertices = [(ZERO, 1 - delta), (corner, corner), (1 - delta, ZERO), (ONE, ZERO)]
    return algorithm_two(vertices, delta) == t
