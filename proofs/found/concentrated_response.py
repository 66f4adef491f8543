"""Zero-concentrated DP of k-ary randomized response: when the divergence of order 1 is enough."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Function, cosh, diff, exp, sqrt, symbols

from tightdp.claims import Real, grid, identity, program
from tightdp.claims import exp as certified_exp

from .paper import paper

response = program("k_ary_randomized_response")


def divergence_of_order_one_decides() -> None:
    """Let t = e^ε, q = 1/(t+k-1), and KL the divergence of order 1. Two neighbours give one output the probabilities tq
    and q, one output q and tq, and the others q and q. With y = a(a-1) the sum of P^a·Q^(1-a) over the outputs is
    M(y) = 1 + 2q·sqrt(t)·(h(y) - h(0)) with h(y) = cosh(ε·sqrt(y + 1/4)), and D_a = ln(M(y))/(a-1). So D_a <= ρ·a says
    M(y) <= e^(ρ·y); all orders a > 1 are all y > 0; and M'(0) = KL, so that ρ is at least KL.

    h has (4y+1)h'' + 2h' = ε²h. Differentiated j times, at y = 0: h_(j+2) + (4j+2)·h_(j+1) = ε²·h_j, h_j being the
    derivatives there, which are positive. Their ratios R_j = h_(j+1)/h_j have R_j = ε²/(4j + 2 + R_(j+1)), and tend to
    0. The gaps G_j = R_j - R_(j+1) have G_j = (4 - G_(j+1))·R_j·R_(j+1)/ε², where R_j·R_(j+1) < ε². If some G_j were
    at least 4 then G_(j+1) < 0, and G_(j+2) > 4, and so on; but G_j < R_j < 4 for large j. So every G_j is below 4, and
    with it every G_j is positive: R_1 > R_2 > ...

    If R_1 <= KL then the derivatives of M at 0 are at most 1, KL, KL², ..., and M(y) <= e^(KL·y), so that ρ = KL. If
    R_1 > KL then M(y) - e^(KL·y) vanishes at 0 with its derivative, and its second derivative KL·(R_1 - KL) is
    positive there: it is positive for small y, and ρ > KL. And R_1 <= KL says φ >= 0.

    For the reader: that h and its derivatives are positive at 0, h being a power series in y + 1/4 with positive
    coefficients; and that series are compared term by term.
    """
    e, a, y, k, j = symbols("e a y k j", positive=True)
    t, half = exp(e), sqrt(y + Fraction(1, 4))
    q = 1 / (t + k - 1)
    h, g = cosh(e * half), Function("g")(y)
    moment, about = q * (exp(a * e) + exp((1 - a) * e) + k - 2), cosh(e * (a - Fraction(1, 2))) - cosh(e / 2)
    identity(moment, (1 + 2 * q * exp(e / 2) * about).rewrite(exp), "the sum of order a; a - 1/2 = sqrt(y + 1/4)")
    identity((4 * y + 1) * diff(h, y, 2) + 2 * diff(h, y), e**2 * h, "the equation of h")
    row = (4 * y + 1) * diff(g, y, 2) + (4 * j + 2) * diff(g, y)
    identity(
        diff(row, y),
        (4 * y + 1) * diff(g, y, 3) + (4 * (j + 1) + 2) * diff(g, y, 2),
        "a derivative more, 4 more in the factor",
    )
    second, third, square = symbols("R_2 R_3 s", positive=True)
    ratios = square / (4 * j + 2 + second), square / (4 * j + 6 + third)
    identity(
        ratios[0] - ratios[1], (4 - second + third) * ratios[0] * ratios[1] / square, "a gap from the one after it"
    )
    identity(square - ratios[0] * second, (4 * j + 2) * ratios[0], "R_j·R_(j+1) is below ε² by a positive number")
    slope = (2 * q * exp(e / 2) * diff(h, y)).subs(y, 0)
    kl = e * (t - 1) * q
    identity(slope.rewrite(exp), kl, "M'(0) is KL")
    first = e * (t + 1) / (t - 1) - 2
    identity((diff(h, y, 2) / diff(h, y)).subs(y, 0).rewrite(exp), first, "R_1")
    identity((kl - first) * (t - 1) / q, phi(e, t, k), "φ is (KL - R_1)·(t-1)(t+k-1)")


def one_change_of_sign() -> None:
    """φ is a power series in ε whose coefficients are b_m/m!, with b_0 = b_1 = b_2 = 0 and
    b_m = (m-2)(c_m - k), c_m = (2^(m+1) - 4 - 2m)/(m-2), from m = 3 on. c_m rises from c_3 = 6. So for k <= 6 no
    coefficient is negative and b_4 > 0: φ > 0. For k >= 7 the coefficients are negative, or 0 where c_m = k, up to the
    last m with c_m <= k, and positive from there on. φ divided by that power of ε is a sum of terms that rise or are
    constant in ε, it is negative for small ε (as b_3 < 0) and positive for large ones: φ has one root ε_k, and is
    negative before it.

    For the reader: that such a sum rises.
    """
    e, k, m = symbols("e k m", positive=True)
    two = 2**m  # the m-th derivatives at 0: of e^(2ε) 2^m, of e^ε 1, of ε·e^ε m
    b = 2 * (two + k - 2) - (k + 2) * m
    c = (2 * two - 4 - 2 * m) / (m - 2)
    for order in (0, 1, 2):
        identity(diff(phi(e, exp(e), k), e, order).subs(e, 0), 0, f"φ begins after the power {order}")
    for order in (3, 4, 5, 6):
        identity(diff(phi(e, exp(e), k), e, order).subs(e, 0), b.subs(m, order), f"b_{order}")
    identity(b, (m - 2) * (c - k), "b_m with c_m")
    identity(
        (c.subs(m, m + 1) - c) * (m - 1) * (m - 2), 2 * two * (m - 3) + 8, "c_m rises, by a positive number if m >= 3"
    )
    identity(c.subs(m, 3), 6, "c_3")


def phi(epsilon: Any, t: Any, k: Any) -> Any:
    """2(t-1)(t+k-1) - ε((k+2)t + k - 2)."""
    return 2 * (t - 1) * (t + k - 1) - epsilon * ((k + 2) * t + k - 2)


def concentrated(k: int, epsilon: Fraction) -> dict[str, Any]:
    """The ends of the engine's enclosure of ρ, over all orders."""
    answer = response.bind(n=1, k=k, exp_epsilon=f"exp({epsilon})").zcdp()
    return {"e^ε": certified_exp(epsilon), "lower end": answer.lower, "upper end": answer.rho}


def sign_of_phi(k: int, root: Fraction) -> Iterator[dict[str, Any]]:
    """φ at the number that the table has, and 1/1000 further on."""
    values: list[Real] = [phi(at, certified_exp(at), k) for at in (root, root + Fraction(1, 1000))]
    yield {"φ(e)": values[0], "φ(e + 1/1000)": values[1]}


ROOTS = {7: "0.436", 8: "0.780", 9: "1.062", 10: "1.301", 12: "1.689", 16: "2.251", 32: "3.436", 100: "5.101"}
"""ε_k to three decimals, rounded down."""
PHI = "2(e^ε - 1)(e^ε + k - 1)", "ε·((k + 2)e^ε + k - 2)"
KL = "ε·(e^ε - 1)/(e^ε + k - 1)"

paper.row(
    "F1",
    "k-ary randomized response",
    "k-ary randomized response sends the own one of k values with probability e^ε/(e^ε + k - 1), and each other one "
    "with 1/(e^ε + k - 1). Its ρ, the least number for which the Rényi divergence of neighbours is D_a <= ρ·a for all "
    "orders a > 1 (zero-concentrated DP), is the divergence of order 1, KL, for k <= 6 at every ε, and larger than KL "
    "for k >= 7 exactly while ε is below a number ε_k.",
    parts=("F1a", "F1b", "F1c", "F1d"),
)

paper.claim(
    "F1a",
    "k-ary randomized response, ρ = KL",
    f"If `{PHI[0]} >= {PHI[1]}` then ρ is KL, which is ε(e^ε - 1)/(e^ε + k - 1): KL is in the enclosure of ρ over all "
    f"orders, `lower end <= {KL} <= upper end`.",
    verdict="argued",
    instances=[*grid(k=(2, 3, 6), epsilon=("1/10", "1", "3")), {"k": 7, "epsilon": "437/1000"}],
    quick=4,
    check=concentrated,
    proof=divergence_of_order_one_decides,
)

paper.claim(
    "F1b",
    "k-ary randomized response, ρ > KL",
    f"If `{PHI[0]} < {PHI[1]}` then ρ is larger than KL: `lower end > {KL}`.",
    verdict="argued",
    instances=[{"k": k, "epsilon": e} for k, e in ((7, "1/10"), (7, "436/1000"), (8, "1/2"), (20, "1"))],
    quick=2,
    check=concentrated,
    proof=divergence_of_order_one_decides,
    notes="For ε -> 0 the ratio ρ/KL tends to the largest (k/s²)·ln(1 + (2·cosh(s) - 2)/k) over s > 0, whose expansion "
    "1 + (1/12 - 1/(2k))s² + ... says why it is k = 6 that divides the two cases.",
)

paper.claim(
    "F1c",
    "k-ary randomized response, up to which ε",
    "Let φ(ε) = 2(e^ε - 1)(e^ε + k - 1) - ε((k + 2)e^ε + k - 2). For k <= 6 it is positive for every ε > 0. For k >= 7 "
    "it is negative exactly for 0 < ε < ε_k, with "
    + ", ".join(f"ε_{k} = {root}..." for k, root in ROOTS.items())
    + "; in each of these cases `φ(e) < 0 < φ(e + 1/1000)`, e the number that is printed.",
    verdict="argued",
    instances=[{"k": k, "root": root} for k, root in ROOTS.items()],
    check=sign_of_phi,
    proof=one_change_of_sign,
)

paper.claim(
    "F1d",
    "k-ary randomized response, k = 7 and ε = 1/10",
    f"For `k = 7, ε = 1/10`: `0.00149691847 < lower end <= upper end < 0.00149691849`, the ends of an enclosure of ρ; "
    f"KL is less, `0.0014802 < {KL} < 0.0014803`.",
    verdict="holds on",
    extra=True,
    instances=[{"k": 7, "epsilon": "1/10"}],
    check=concentrated,
    notes="ρ is attained near the order 16.86. So a bound that looks at small orders only, such as KL or the order 2, "
    "is too small by one per cent here.",
)
