"""Proofs that several sections use."""

from __future__ import annotations

from sympy import Symbol, symbols

from tightdp.claims import certain, identity

a, b, t = symbols("a b t", positive=True)


x, y, p, q, delta = symbols("x y p q delta", nonnegative=True)


others = Symbol("k_minus_1", positive=True)


m, i, k = symbols("m i k", integer=True, positive=True)


def _weights() -> None:
    """Steps that the proofs about Algorithm 3 share.

    For the reader: where these weights enter Algorithm 3.
    """
    c, guesses = symbols("c c'", positive=True)
    upper, lower, weight = symbols("alpha_next beta_next p_i", nonnegative=True)
    d = i / (guesses - i)
    identity(
        (upper + i * weight / m) - d * (lower + (guesses - i) * weight / m),
        upper - d * lower,
        "α_i - d_i β_i = α_{i+1} - d_i β_{i+1}: the term of p_i cancels",
    )
    h, r, new = symbols("h_next r_next h_i")
    identity((r + d * (new - h)) - d * new, r - d * h, "r_i - d_i h_i = r_{i+1} - d_i h_{i+1}: line 6")
    identity(
        d.subs(i, i + 1) - d,
        guesses / ((guesses - i - 1) * (guesses - i)),
        "d_{i+1} - d_i > 0 for i + 1 < c'",
    )
    identity(
        c - (d.subs(i, c - 1)) * (guesses - c),
        guesses / (guesses - c + 1),
        "c - d_{c-1} (c'-c) = c'/(c'-c+1) > 0",
    )


def grows_with_tau() -> None:
    """Let r, h start at index j <= c with r_j = c τ/m, h_j = (c'-c) τ/m. g_{j-1} = r_j - d_{j-1} h_j = τ
    c'(c-j+1)/(m (c'-j+1)) rises strictly with τ. Induction downwards: h_i = (k-1) f̄⁻¹(r_{i+1}) does not fall with
    τ because r_{i+1} rises; r_i = g_i + d_i h_i rises strictly because g_i does; and so does
    g_{i-1} = g_i + (d_i - d_{i-1}) h_i. So s = r + h rises strictly. A maximum with h_{i+1}, which does not fall
    with τ, changes nothing in this.

    For the reader: the induction downwards.
    """
    _weights()
    c, j, guesses = symbols("c j c'", positive=True)
    start = c - (j - 1) / (guesses - j + 1) * (guesses - c)
    identity(start, guesses * (c - j + 1) / (guesses - j + 1), "c - d_{j-1} (c'-c) = c'(c-j+1)/(c'-j+1)")
    gap, room = symbols("c-j c'-j", nonnegative=True)
    certain((guesses * (gap + 1) / (room + 1)).is_positive, "which is positive for j <= c <= c'")
