"""The proofs of mahloujifar2024.py: the argument in words is the docstring, its algebra is checked.

A trade-off function f is convex and falls, so f̄ = 1 - f is an infimum of lines a y + b with a >= 0: an
inequality that is linear in all probabilities may be shown for every such line. d_i = i/(c'-i) throughout.
"""

from __future__ import annotations

from sympy import Symbol, binomial, symbols
from sympy import summation as symbolic_sum

from tightdp.claims import certain, identity, positive

a, b, t = symbols("a b t", positive=True)
x, y, p, q, delta = symbols("x y p q delta", nonnegative=True)
others = Symbol("k_minus_1", positive=True)
m, i, k = symbols("m i k", integer=True, positive=True)
tau = Symbol("tau", positive=True)


# Proposition 3


def same_inequality() -> None:
    """Definition 1 asks P(T) <= e^ε P'(T) + δ and Definition 2 asks P(T) <= 1 - f(P'(T)), for the same pairs
    and events. With this f the right sides are equal, so each implies the other.
    """
    identity(1 - (1 - delta - t * y), t * y + delta, "1 - f(y) = t y + δ, t = e^ε")


def clamped_is_a_tradeoff_function() -> None:
    """f(y) = max(0, 1 - δ - t y) is a maximum of two lines that do not rise, so it is convex and falls; f(0)
    = 1
    - δ and f >= 0, so it stays in [0, 1]; and f(y) <= 1 - y because both lines are. 1 - f(y) = min(1, t y +
      δ), and P(T) <= 1 always, so P(T) <= 1 - f(P'(T)) says the same as P(T) <= t P'(T) + δ.
    """
    grown = Symbol("t_minus_1", nonnegative=True)
    slack = (1 - y) - (1 - delta - (1 + grown) * y)
    identity(slack, grown * y + delta, "1 - y exceeds 1 - δ - t y by (t - 1) y + δ")
    certain((grown * y + delta).is_nonnegative, "which is >= 0 for t >= 1")
    positive(1 - y, y, 0, 1, "1 - y >= 0", strict=False, closed=True)
    same_inequality()


def complement_gives_the_mirror() -> None:
    """The lines of the symmetric f are 0, 1 - δ - t y and (1 - δ - y)/t. P(T) <= 1 minus the second is the
    (ε,δ) inequality for (P, P') and T. P(T) <= 1 minus the third is the (ε,δ) inequality for (P', P) and the
    complement of T, solved for P(T). Neighbouring is symmetric and events have complements, so (ε,δ)-DP for
    all pairs gives both for all pairs; and the second line alone gives (ε,δ)-DP back.
    """
    same_inequality()
    identity(
        t * ((1 - (1 - delta - y) / t) - x),
        t * (1 - x) + delta - (1 - y),
        "t times the slack of the third line is the slack of P'(not T) <= t P(not T) + δ",
    )


# Lemma 11 and Proposition 12


def right_from_wrong() -> None:
    """Write x_ij = P(E, v_1 = i | u_1 = j), the other secrets uniform; mixtures of f-DP pairs over them are
    f-DP, because f is convex. For a line a y + b of f̄ and j ≠ i: x_ii <= a x_ij + b. Average over i with
    weight 1/k and over j ≠ i with weight 1/(k-1): the left side becomes p = P(E, u_1 = v_1), the sum of the
    x_ij becomes a (q' - p)/(k-1), q' = P(E, v_1 ≠ ⊥) <= q = P(E), and b stays b. So p <= a (q-p)/(k-1) + b
    for every line, that is p <= f̄((q-p)/(k-1)): p is one of the α of the supremum f'_k(q).
    """
    total = Symbol("X", nonnegative=True)
    identity(k * (k - 1) * b / (k * (k - 1)), b, "the k(k-1) weights 1/(k(k-1)) sum to 1")
    identity(a * total / (k * (k - 1)), (a / (k - 1)) * (total / k), "Σ x_ij / k over i ≠ j is q' - p")
    silent = Symbol("P(E and v_1 = ⊥)", nonnegative=True)
    identity(a * q / others - a * (q - silent) / others, a * silent / others, "with ⊥ the bound only grows:")
    certain((a * silent / others).is_nonnegative, "by a P(E, v_1 = ⊥)/(k-1) >= 0")


def right_from_wrong_given_the_others() -> None:
    """The proof of Lemma 11 uses of E only that it may be read off once u_1 is replaced: that it is an event
    of θ and of the other secrets. Condition on u_2, ..., u_m: E is then an event of θ, x_ii <= a x_ij + b
    holds for each line and each value of them, and averaging over them keeps it. The rest is the proof of
    Lemma 11.
    """
    one, two, weight = symbols("x_1 x_2 w", nonnegative=True)
    identity(
        weight * (a * one + b) + (1 - weight) * (a * two + b),
        a * (weight * one + (1 - weight) * two) + b,
        "a line commutes with mixing over the other secrets",
    )
    right_from_wrong()


def two_steps() -> None:
    """Replacing an element is removing it and adding another: two steps with |S Δ S'| = 1, through the
    dataset without either. P_i(T) <= f̄(P_0(T)) and P_0(T) <= f̄(P_j(T)), and f̄ does not fall, so P_i(T) <=
    f̄(f̄(P_j(T))). f̄∘f̄ is again concave and does not fall, so Lemma 11 holds with 1 - f̄∘f̄ = f(1 - f).
    """
    c, d = symbols("c d", positive=True)
    lines = a * (c * y + d) + b
    identity(lines, (a * c) * y + (a * d + b), "a line of f̄ after a line of f̄ is a line")
    certain((a * c).is_positive, "its slope is not negative; an infimum of such lines is concave")
    right_from_wrong()


def wrong_from_right() -> None:
    """In the other order of the pair, x_ij <= a x_ii + b for j ≠ i. Sum over the k - 1 values j ≠ i, average
    over i: P(E, v_1 ≠ ⊥) - p <= (k-1)(a p + b) for every line, that is q' - p <= (k-1) f̄(p), or (k-1) f(p) +
    q' - p <= k-1. So p is one of the α of the infimum, with q' in the place of q. For k = 2 the right side k
    - 1 is the printed 1, and q' = q when v_1 ≠ ⊥ in E.
    """
    f = Symbol("f(p)", nonnegative=True)
    identity((others * (a * p + b)) / others, a * p + b, "the sum of k - 1 equal right sides")
    identity(others * (1 - f) - (q - p), others - (others * f + q - p), "q' - p <= (k-1)(1 - f(p)), rearranged")
    identity((others * f + q - p).subs(others, 1), f + q - p, "k = 2: (k-1) f(p) + q - p <= 1 as printed")


def infimum_of_rising_lines() -> None:
    """α + f((x-α)/(k-1)) <= 1 says α <= a (x-α)/(k-1) + b for every line of f̄, that is α <= (a x + (k-1)
    b)/(k-1+a). With α <= x (the argument of f is not negative) f'_k(x) is an infimum of lines in x of slopes
    a/(k-1+a) >= 0 and 1, so it does not fall and is concave. It even rises strictly: suppose f'_k is v at x
    and at z > x. Then v <= x < z, so v = f̄((z-v)/(k-1)), and v <= f̄((x-v)/(k-1)): f̄, which is concave and
    does not fall, is constant from there on. So v = f̄(1) = 1 - f(1) = 1, and x >= 1, which is not below z.
    """
    alpha = Symbol("alpha", nonnegative=True)
    bound = (a * x + others * b) / (others + a)
    identity(
        (others + a) * (bound - alpha),
        others * (a * (x - alpha) / others + b - alpha),
        "the two forms of the inequality have the same sign",
    )
    identity(bound.diff(x), a / (others + a), "its slope in x")
    certain((a / (others + a)).is_positive, "is positive for a > 0")
    identity(bound.diff(x, 2), 0, "it is a line")


def supremum_of_rising_lines() -> None:
    """(k-1) f(α) + x - α <= K says α >= ((k-1)(1-b) + x - K)/((k-1) a + 1) for every line 1 - b - a α below
    f. So the infimum of these α >= 0 is a supremum of lines in x of positive slopes and 0: it does not fall
    and is convex.
    """
    alpha, side = symbols("alpha K", nonnegative=True)
    bound = (others * (1 - b) + x - side) / (others * a + 1)
    identity(
        (others * a + 1) * (alpha - bound),
        side - (others * (1 - b - a * alpha) + x - alpha),
        "the two forms of the inequality have the same sign",
    )
    certain((1 / (others * a + 1)).is_positive, "its slope in x is positive")
    identity(bound.diff(x, 2), 0, "it is a line")


# Theorem 9


def counted_twice() -> None:
    """For secret j let E_j be: j is answered, and the number of right guesses elsewhere is i - 1 for some i
    in T. It is an event of θ and of the other secrets, so Lemma 11 (M2b) gives P(E_j, j right) <= a P(E_j, j
    wrong)/(k-1) + b for every line of f̄. Average over j. An outcome with i right guesses is counted on the
    left once for each of them: Σ_{i in T} i p_i / m. An outcome with g <= c' guesses of which i - 1 are right
    is counted on the right once for each wrong one, g - (i - 1) <= c' - i + 1 times; f̄ does not fall, so
    counting c' - i + 1 times is at least as large. For exactly c' guesses it is the exact count.
    """
    j, g = symbols("j g", integer=True, positive=True)
    identity(symbolic_sum(1, (j, 1, i)), i, "i right guesses, each counted once")
    identity(symbolic_sum(1, (j, i, g)), g - (i - 1), "g - (i - 1) wrong guesses, each counted once")
    fewer = Symbol("c'-g", integer=True, nonnegative=True)
    identity((g + fewer - i + 1) - (g - i + 1), fewer, "c' - i + 1 is larger by c' - g")
    certain((a * fewer).is_nonnegative, "so the right side only grows when fewer guesses are made")
    one, two = symbols("x_1 x_2", nonnegative=True)
    identity(((a * one + b) + (a * two + b)) / 2, a * (one + two) / 2 + b, "a line commutes with averaging over j")


# Algorithm 3


def _weights() -> None:
    """Steps that the proofs about Algorithm 3 share."""
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


def invariant() -> None:
    """Let τ' = P(at least c right), α_i = Σ_{z>=i} z p_z/m, β_i = Σ_{z>=i} (c'-z) p_z/m. Theorem 9 with T =
    {i+1, ..., c'} says α_{i+1} <= f̄(β_i/(k-1)), so β_i >= (k-1) f̄⁻¹(α_{i+1}), f̄⁻¹(r) the least y with
    f̄(y) >= r.

    Suppose τ' > τ and 1 <= c <= c'. Let G_i = α_i - d_i β_i and g_i = r_i - d_i h_i for i < c. Start: α_c >=
    c τ'/m and β_c <= (c'-c) τ'/m, so G_{c-1} = α_c - d_{c-1} β_c >= τ' c'/(m (c'-c+1)) > τ c'/(m (c'-c+1)) =
    g_{c-1}; and α_c > r_c. Step: β_i >= (k-1) f̄⁻¹(α_{i+1}) >= (k-1) f̄⁻¹(r_{i+1}) = h_i; so α_i = G_i + d_i
    β_i > g_i + d_i h_i = r_i; and G_{i-1} = G_i + (d_i - d_{i-1}) β_i > g_i + (d_i - d_{i-1}) h_i = g_{i-1}.
    End: α_0 + β_0 > r_0 + h_0. But α_0 + β_0 = c'/m, so Algorithm 3 returns False. (c = 0: it returns True
    for τ >= 1 only.)

    Only h_i <= β_i for i < c is used: h_c, which is an upper bound of β_c, enters with a negative sign.
    """
    _weights()
    z, guesses, c, weight = symbols("z c' c p_z", nonnegative=True)
    identity(z * weight / m + (guesses - z) * weight / m, guesses * weight / m, "α_0 + β_0 = c' Σ p_z / m = c'/m")
    identity(z * weight - c * weight, (z - c) * weight, "α_c - c τ'/m = Σ_{z>=c} (z-c) p_z/m >= 0")
    identity(
        (guesses - c) * weight - (guesses - z) * weight,
        (z - c) * weight,
        "(c'-c) τ'/m - β_c is the same sum",
    )


def maximum_never_decides() -> None:
    """Write κ(r) = (k-1) f̄⁻¹(r), which does not fall, and let 1 <= c <= c', τ < 1. If κ(r_c) > h_c, both set
    h_{c-1} = κ(r_c), and r_{c-1} >= r_c; from then on, by induction, r does not fall and h_i = κ(r_{i+1}) >=
    κ(r_{i+2}) = h_{i+1} without the maximum. Both run alike. If κ(r_c) <= h_c, the code sets h_{c-1} = h_c,
    r_{c-1} = r_c, and stays there; the listing sets h_{c-1} <= h_c, so r_{c-1} <= r_c, and by the same
    induction never rises. Both then have r_0 + h_0 <= r_c + h_c = τ c'/m < c'/m and refute nothing.
    """
    guesses, c, step = symbols("c' c h_i_minus_h_next", positive=True)
    identity(tau * c / m + tau * (guesses - c) / m, tau * guesses / m, "r_c + h_c = τ c'/m")
    r, h, d = symbols("r h d", nonnegative=True)
    identity((r + d * ((h + step) - h)) - r, d * step, "r_i - r_{i+1} has the sign of h_i - h_{i+1}")
    certain((d * step).is_nonnegative, "for d_i >= 0")


def grows_with_tau() -> None:
    """Let r, h start at index j <= c with r_j = c τ/m, h_j = (c'-c) τ/m. g_{j-1} = r_j - d_{j-1} h_j = τ
    c'(c-j+1)/(m (c'-j+1)) rises strictly with τ. Induction downwards: h_i = (k-1) f̄⁻¹(r_{i+1}) does not fall
    with τ because r_{i+1} rises; r_i = g_i + d_i h_i rises strictly because g_i does; and so does g_{i-1} =
    g_i + (d_i - d_{i-1}) h_i. So s = r + h rises strictly. A maximum with h_{i+1}, which does not fall with
    τ, changes nothing in this.
    """
    _weights()
    c, j, guesses = symbols("c j c'", positive=True)
    start = c - (j - 1) / (guesses - j + 1) * (guesses - c)
    identity(start, guesses * (c - j + 1) / (guesses - j + 1), "c - d_{j-1} (c'-c) = c'(c-j+1)/(c'-j+1)")
    gap, room = symbols("c-j c'-j", nonnegative=True)
    certain((guesses * (gap + 1) / (room + 1)).is_positive, "which is positive for j <= c <= c'")


def unrolled() -> None:
    """r_i - d_i h_i = r_{i+1} - d_i h_{i+1} = (r_{i+1} - d_{i+1} h_{i+1}) + (d_{i+1} - d_i) h_{i+1}. Adding
    up from i to j - 1 gives r_i = α - d_{j-1} β + d_i h_i + Σ_{z=i+1}^{j-1} (d_z - d_{z-1}) h_z, with all
    weights of h_i, ..., h_{j-1} not negative.
    """
    _weights()
    r, h = symbols("r_next h_next")
    d, further = symbols("d_i d_next")
    identity(r - d * h, (r - further * h) + (further - d) * h, "one step of the sum")


def one_line_is_enough() -> None:
    """Let ρ = (t+δ)/(t+1). The mirror line of the symmetric f changes f̄⁻¹(r) only for r > ρ. Let κ(r) =
    (k-1) (r-δ)/t be the one-sided one, τ < 1. At ρ: κ(ρ) = (k-1)(1-δ)/(t+1), so ρ + κ(ρ) >= 1. If r_c > ρ,
    then h_c = τ c'/m - r_c < 1 - ρ <= κ(r_c). So if κ(r_c) <= h_c, then r_c <= ρ, r never rises (M7d), both
    functions agree all along and neither refutes. If κ(r_c) > h_c, r and h rise. When the one-sided run does
    not refute, then r_1 + κ(r_1) = r_0 + h_0 < c'/m <= 1, so all r_i <= r_1 < ρ and the symmetric run is the
    same. When it refutes, the symmetric run, whose f̄⁻¹ is larger, refutes too (M6a: r and h grow with f̄⁻¹).
    """
    rho = (t + delta) / (t + 1)
    identity((rho - delta) / t, (1 - delta) / (t + 1), "(ρ - δ)/t = (1-δ)/(t+1)")
    identity(1 - delta - t * (1 - rho), (1 - delta) / (t + 1), "the mirror line has the same inverse at ρ")
    identity(rho + (1 - delta) / (t + 1), 1, "ρ + (1-δ)/(t+1) = 1")
    grown = Symbol("t_minus_1", nonnegative=True)
    identity((1 + grown) - 1 / (1 + grown), grown * (grown + 2) / (grown + 1), "the mirror is the steeper: t - 1/t")
    certain((grown * (grown + 2) / (grown + 1)).is_nonnegative, "is >= 0, so below ρ it is the smaller")


# Tightness


def _binomial_ratio() -> None:
    """The neighbouring ratio of Bin(c', q), q = t/(t+k-1)."""
    guesses, j = symbols("guesses j", integer=True, positive=True)

    def weight(at: object) -> object:
        return binomial(guesses, at) * t**at * others ** (guesses - at)

    identity(
        j * weight(j) / weight(j - 1),
        t * (guesses - j + 1) / others,
        "j b_j = t (c'-j+1) b_{j-1} / (k-1) for Bin(c', t/(t+k-1))",
    )


def binomial_is_best() -> None:
    """Theorem 9 with T = {i}, δ = 0 and the line t y: i p_i <= t (c'-i+1) p_{i-1}/(k-1); for the binomial law
    b equality holds. So p_i b_{i-1} <= p_{i-1} b_i, and by multiplication p_i b_j <= p_j b_i for i > j (all b
    > 0; once p_{i-1} = 0, p_i = 0). Sum over i >= v > j: P (1 - B) <= (1 - P) B for the tails at v, that is P
    <= B. k-ary randomized response, e^ε = t, with its output as the guess on any c' secrets, has exactly the
    binomial law.
    """
    _binomial_ratio()
    ours, theirs = symbols("P B", nonnegative=True)
    identity((1 - ours) * theirs - ours * (1 - theirs), theirs - ours, "the sum over i >= v > j says B - P >= 0")
    identity(t / (t + others) / (1 - t / (t + others)), t / others, "odds t : (k-1) of one right answer")


def tight_without_slack() -> None:
    """For the binomial law, which randomized response has, α_{i+1} = t β_i/(k-1) for every i: Theorem 9 is an
    equality for all tails, and with a start at the true α_c, β_c the recursion returns the true α_i, β_i.
    (The mirror line of a symmetric f changes nothing: f̄ is at most the line, and the mechanism shows that it
    is at least α_{i+1} at β_i.) Algorithm 3 starts at c τ/m and (c'-c) τ/m instead, τ the tail. For c = c'
    these are α_c and β_c = 0: at τ the sum r_0 + h_0 is exactly c'/m, it rises strictly with τ (M8), so τ is
    the least refuted. For c < c' the start is too low by Σ_{z>c} (z-c) p_z/m > 0, hence G_{c-1} > g_{c-1}
    (M6a) and r_0 + h_0 < c'/m at τ; r_0 + h_0 is continuous in τ, so the least refuted one is larger.
    """
    _binomial_ratio()
    z, c, weight = symbols("z c p_z", positive=True)
    identity(z * weight / m - c * weight / m, (z - c) * weight / m, "what the start leaves out of α_c")
    grows_with_tau()


def tight_with_delta() -> None:
    """Let c = c', w = mδ/c <= 1, and let the mechanism publish c secrets, all right, with probability w, and
    otherwise answer c of them by k-ary randomized response. Replacing a secret changes the first part for w
    c/m = δ of the probability, the second part by a factor of at most t: it is (ε,δ)-DP. All right happens
    with probability w + (1-w) q^c = q^c + mδ(1-q^c)/c. For i < c: β_i is (1-w) times that of the binomial
    law, so α_{i+1} = t β_i/(k-1) + w c/m = t β_i/(k-1) + δ: Theorem 9 is an equality for all tails, and α_c =
    c τ/m, β_c = 0 is where Algorithm 3 starts. So r_0 + h_0 = c'/m at this τ, and it is the least refuted
    (M8); no mechanism does better (M6a). For w > 1 the mechanism that publishes c secrets with probability 1
    is (0,δ)-DP, and no τ < 1 is refuted.
    """
    _binomial_ratio()
    c, tail = symbols("c tail", positive=True)
    w = m * delta / c
    identity(w * c / m, delta, "w c/m = δ")
    identity(w + (1 - w) * tail, tail + m * delta * (1 - tail) / c, "the probability that all are right")
    grows_with_tau()
