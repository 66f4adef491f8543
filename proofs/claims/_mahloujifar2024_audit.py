"""The checks of mahloujifar2024.py from Theorem 9 on: all secrets, Algorithm 3, and the exact optimum."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from random import Random

from _mahloujifar2024_game import (
    Curve,
    Game,
    Guess,
    Laws,
    best_probability,
    binomial_law,
    delta_of,
    neighbours,
    one_sided,
    random_guesser,
    recursion,
    refutes,
    right,
    right_law,
    symmetric,
    symmetric_laws,
    theorem_nine_fails,
    tradeoff,
)
from _mahloujifar2024_lemmas import BELOW, k_ary, random_laws

from tightdp.auditing import fdp, optimal
from tightdp.auditing.tradeoff import Polygon
from tightdp.claims import Fails, random_dp_law


def drawn(kind: str, seed: int, m: int, k: int, guesses: int) -> tuple[Laws, Curve, dict[int, Guess] | None]:
    """A random mechanism and an f that it satisfies; for symmetric ones their guesser.

    kind: "f-DP", any mechanism with its own f; "(ε,δ)-DP", one that is just (ln 2, 1/10)-DP; "symmetric", a
    mixture of symmetric mechanisms over the number of guesses (all at most c'), with its own δ at four e^ε.
    """
    if kind == "f-DP":
        laws = random_laws(seed, m, k, 3)
        return laws, tradeoff(laws, k), None
    if kind == "(ε,δ)-DP":
        laws = random_dp_law(seed, m, outputs=3, exp_epsilon=2, delta=Fraction(1, 10))
        return laws, one_sided(Fraction(2), Fraction(1, 10)), None
    laws, guesser = symmetric_laws(m, k, random_shares(seed, guesses))
    slopes = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4))
    curve: Curve = ()
    for t in slopes:
        curve += symmetric(t, delta_of(laws, k, t))
    return laws, curve, guesser


def theorem_nine(kind: str, seed: int, m: int, k: int, guesses: int) -> bool:
    """All sets T, for a random mechanism and a guesser with at most so many guesses."""
    laws, curve, guesser = drawn(kind, seed, m, k, guesses)
    if guesser is None:
        guesser = random_guesser(seed, m, k, guesses, range(3))
    return theorem_nine_fails(right_law(laws, guesser), curve, m, k, guesses) is None


def random_shares(seed: int, guesses: int) -> dict[int, list[Fraction]]:
    """Random probabilities of publishing c' and i right ones, over c' = 1..guesses."""
    random = Random(seed)
    weights = {size: [random.randint(0, 5) ** 2 for _ in range(size + 1)] for size in range(1, guesses + 1)}
    weights[guesses][-1] += 1
    total = sum(map(sum, weights.values()))
    return {size: [Fraction(weight, total) for weight in row] for size, row in weights.items()}


def program_is_exact(m: int, k: int, guesses: int, t: Fraction, delta: Fraction) -> bool:
    """Theorem 9 as a linear program, for every v: its dual certificate, and the mechanism that attains it."""
    for correct in range(1, guesses + 1):
        most = optimum(Game(m, k, guesses, correct), t, delta)
        dual = optimal.certificate(
            canaries=m, guesses=guesses, correct=correct, t=Fraction(t), delta=Fraction(delta), options=k
        )
        worst = optimal.worst_mechanism(
            canaries=m, guesses=guesses, correct=correct, t=Fraction(t), delta=Fraction(delta), options=k
        )
        assert worst is not None
        near = dual.check() and most <= dual.bound <= most + Fraction(1, 2**90)
        p = list(worst.law) + [Fraction(0)] * (m - guesses)
        allowed = theorem_nine_fails(p, one_sided(t, delta), m, k, guesses) is None
        laws, guesser = symmetric_laws(m, k, {guesses: worst.law})
        real = right_law(laws, guesser) == p and delta_of(laws, k, t) <= delta
        if not (near and allowed and real and sum(p[correct:]) == most):
            return False
    return True


def optimum(game: Game, t: Fraction, delta: Fraction) -> Fraction:
    """The exact largest P(at least `correct` right) of all (ln t, δ)-DP mechanisms, by the engine."""
    found = optimal.p_value(
        canaries=game.m,
        guesses=game.guesses,
        correct=game.correct,
        t=Fraction(t),
        delta=Fraction(delta),
        options=game.k,
    )
    assert found.is_exact
    return found.lower


def never_below(kind: str, seed: int, m: int, k: int, guesses: int) -> bool:
    """Algorithm 3, listing and code, against the best guesser of a random mechanism, for every c.

    For symmetric mechanisms the guesser that repeats what is published.
    """
    laws, curve, guesser = drawn(kind, seed, m, k, guesses)
    pairs = tuple((slope, offset) for slope, offset in curve if slope >= 1)
    for correct in range(1, guesses + 1):
        if guesser is None:
            level = BELOW * best_probability(laws, k, guesses, correct)
        else:
            level = BELOW * sum(right_law(laws, guesser)[correct:])
        game = Game(m, k, guesses, correct)
        if level and any(refutes(curve, game, level, code) for code in (False, True)):
            return False
        if level and any(engine_refutes(pairs, game, level, variant) for variant in ("listing", "code")):
            return False
    return True


def engine_refutes(pairs: tuple[tuple[Fraction, Fraction], ...], game: Game, level: Fraction, variant: str) -> bool:
    """Whether the engine's Algorithm 3 refutes a level."""
    return fdp.rejects(
        canaries=game.m,
        guesses=game.guesses,
        correct=game.correct,
        pairs=pairs,
        significance=level,
        options=game.k,
        variant=variant,
    )


def at_least_the_optimum(m: int, k: int, t: Fraction, delta: Fraction) -> bool:
    """The least τ that Algorithm 3 refutes against the exact optimum, for all c <= c' <= m."""
    curve, pairs = one_sided(t, delta), ((Fraction(t), Fraction(delta)),)
    for guesses in range(1, m + 1):
        for correct in range(1, guesses + 1):
            game = Game(m, k, guesses, correct)
            most = optimum(game, t, delta)
            if refutes(curve, game, most * BELOW) or engine_refutes(pairs, game, most * BELOW, "listing"):
                return False
            if most < 1 and refutes(curve, game, most) != (correct == guesses):
                return False
    return True


def chosen_number(m: int, delta: Fraction, tau: Fraction, guesses: int, correct: int, published: int) -> bool | Fails:
    """The claim M6c for the mechanism of `rejected`, with the engine's Algorithm 3."""
    pairs = ((Fraction(1), Fraction(delta)),)
    games = Game(m, 2, guesses, correct), Game(m, 2, published, published)
    if not all(engine_refutes(pairs, game, tau, "listing") for game in games):
        return True
    share = m * delta / published
    tail = sum(binomial_law(guesses, Fraction(1), 2)[correct:])
    return share > 1 or rejected(m, delta, tau, games, share, share + (1 - share) * tail)


def chosen_number_again(
    m: int, delta: Fraction, tau: Fraction, guesses: int, correct: int, published: int
) -> bool | Fails:
    """The same by listing all secrets, outputs and neighbours."""
    curve = one_sided(Fraction(1), Fraction(delta))
    games = Game(m, 2, guesses, correct), Game(m, 2, published, published)
    share = m * delta / published
    if share > 1 or not all(refutes(curve, game, tau) for game in games):
        return True
    sets = list(combinations(range(m), published))
    outputs = {u: {(chosen, tuple(u[at] for at in chosen)) for chosen in sets} for u in product((0, 1), repeat=m)}
    spent = max(len(outputs[u] - outputs[other]) for u in outputs for other in neighbours(u, 2))
    if share * Fraction(spent, len(sets)) > delta:  # the mechanism is not (0,δ)-DP
        return True
    guess: Guess = (0,) * guesses + (None,) * (m - guesses)
    blind = Fraction(sum(right(u, guess) >= correct for u in outputs), len(outputs))
    return rejected(m, delta, tau, games, share, share + (1 - share) * blind)


def rejected(
    m: int, delta: Fraction, tau: Fraction, games: tuple[Game, Game], share: Fraction, found: Fraction
) -> bool | Fails:
    """Compare the probability of rejecting a true guarantee with the level."""
    often, seldom = games
    why = (
        f"With probability {share} the mechanism publishes {seldom.guesses} of {m} secret bits (uniformly "
        f"chosen), otherwise nothing: it is (0, {delta})-DP. The guesser repeats what is published, and "
        f"otherwise guesses {often.guesses} bits blindly. Algorithm 3 at τ = {tau} returns True for "
        f"{seldom.guesses} right of {seldom.guesses} and for {often.correct} right of {often.guesses}, so "
        f"this true guarantee is rejected with probability {share} + {1 - share}·P(Bin({often.guesses}, "
        f"1/2) >= {often.correct}) = {found} > τ."
    )
    return found <= tau or Fails(why, rejected=found, level=tau)


def same_decisions(seed: int, m: int, k: int) -> bool:
    """One-sided against symmetric f at random ε, δ, τ for all c <= c' <= m."""
    random = Random(seed)
    t, delta = Fraction(random.randint(4, 16), 4), Fraction(random.randint(0, 10), 40)
    taus = [Fraction(random.randint(1, 63), 64) for _ in range(4)]
    games = [Game(m, k, guesses, correct) for guesses in range(1, m + 1) for correct in range(1, guesses + 1)]
    return all(
        refutes(one_sided(t, delta), game, tau) == refutes(symmetric(t, delta), game, tau)
        for game in games
        for tau in taus
    )


def binomial_is_the_optimum(guesses: int, k: int, t: Fraction) -> bool:
    """The engine's optimum at δ = 0, the binomial tail, and the program of randomized response."""
    law = binomial_law(guesses, t, k)
    if k**guesses <= 81:
        secret = (0,) * guesses
        found = [Fraction(0)] * (guesses + 1)
        for output, p in k_ary.bind(n=guesses, k=k, exp_epsilon=t).distribution(secret).law:
            found[right(secret, output)] += p
        if found != law:
            return False
    return all(
        optimum(Game(canaries, k, guesses, correct), t, Fraction(0)) == sum(law[correct:])
        for canaries in (guesses, guesses + 3)
        for correct in range(1, guesses + 1)
    )


def refuted_at_the_tail(guesses: int, correct: int, t: Fraction) -> bool | Fails:
    """Whether Algorithm 3 refutes the binomial tail (δ = 0, k = 2, m = c'), by the engine's least τ."""
    tail, least = tail_and_least(guesses, correct, t)
    pure = Polygon(((Fraction(t), Fraction(0)),))
    found = fdp.p_value(canaries=guesses, guesses=guesses, correct=correct, tradeoff=pure)
    inside = found.lower <= least <= found.upper + Fraction(1, 2**30)
    return least_is_the_tail(guesses, correct, t, tail, least if inside else Fraction(-1))


def refuted_at_the_tail_again(guesses: int, correct: int, t: Fraction) -> bool | Fails:
    """The same from the listing alone."""
    return least_is_the_tail(guesses, correct, t, *tail_and_least(guesses, correct, t))


def tail_and_least(guesses: int, correct: int, t: Fraction) -> tuple[Fraction, Fraction]:
    """The binomial tail, and the least τ that the listing refutes: for δ = 0, r_0 + h_0 is linear in τ."""
    tail = sum(binomial_law(guesses, Fraction(t), 2)[correct:], Fraction(0))
    m = guesses
    start = Fraction(correct, m), Fraction(guesses - correct, m)
    r, h = recursion(one_sided(t, Fraction(0)), Game(m, 2, guesses, correct), correct, *start)
    return tail, min(Fraction(1), Fraction(guesses, m) / (r[0] + h[0]))


def least_is_the_tail(guesses: int, correct: int, t: Fraction, tail: Fraction, least: Fraction) -> bool | Fails:
    """Compare the two."""
    why = (
        f"m = c' = {guesses}, c = {correct}, e^ε = {t}: no ε-DP mechanism has {correct} or more right with "
        f"probability above {tail}, but Algorithm 3 refutes no τ below {least}."
    )
    return tail == least or Fails(why, tail=tail, least_refuted=least)


def tight_when_all_right(guesses: int, correct: int, t: Fraction) -> bool:
    """Equality exactly for c = c'."""
    tail, least = tail_and_least(guesses, correct, t)
    return (tail == least) == (correct == guesses) and tail <= least


def equal_when_all_right(m: int, k: int, t: Fraction, delta: Fraction) -> bool:
    """Algorithm 3 refutes the exact optimum and nothing below, for c = c' = 1..m."""
    curve, q = one_sided(t, delta), Fraction(t) / (t + k - 1)
    for guesses in range(1, m + 1):
        game = Game(m, k, guesses, guesses)
        most = min(Fraction(1), q**guesses + m * delta * (1 - q**guesses) / guesses)
        if most != optimum(game, t, delta) or refutes(curve, game, most * BELOW) or not refutes(curve, game, most):
            return False
    return True


def code_decides_alike(seed: int, m: int, k: int) -> bool:
    """Listing against code on the f of a random mechanism and on a random (ε,δ), for all c <= c' <= m."""
    random = Random(seed)
    t, delta = Fraction(random.randint(4, 16), 4), Fraction(random.randint(0, 10), 40)
    curves = (tradeoff(random_laws(seed, 1, k, 3), k), one_sided(t, delta))
    taus = [Fraction(random.randint(1, 63), 64) for _ in range(4)]
    games = [Game(m, k, guesses, correct) for guesses in range(1, m + 1) for correct in range(1, guesses + 1)]
    return all(
        refutes(curve, game, tau) == refutes(curve, game, tau, code=True)
        for curve, game, tau in product(curves, games, taus)
    )


TAUS = [Fraction(at, 12) for at in range(1, 13)]


def sum_rises(seed: int, k: int, guesses: int) -> bool:
    """s_{i,j}(τ) for all i < j <= c <= c' on the f of a random mechanism, listing and code."""
    curve, m = tradeoff(random_laws(seed, 1, k, 3), k), guesses + 1
    for correct in range(1, guesses + 1):
        game = Game(m, k, guesses, correct)
        for start, code in product(range(1, correct + 1), (False, True)):
            runs = []
            for tau in TAUS:
                from_here = correct * tau / m, (guesses - correct) * tau / m
                r, h = recursion(curve, game, start, *from_here, code)
                runs.append([a + b for a, b in zip(r, h, strict=True)])
            if any(low >= high for before, after in pairwise(runs) for low, high in zip(before, after, strict=True)):
                return False
    return True


def unrolled_as_printed(guesses: int, correct: int, j: int, t: Fraction, tau: Fraction) -> bool | Fails:
    """The alternative form of r_{0,j} in the proof of Lemma 15, at δ = 0, k = 2, m = c'."""
    alpha, beta = correct * tau / guesses, (guesses - correct) * tau / guesses
    game = Game(guesses, 2, guesses, correct)
    r, h = recursion(one_sided(t, Fraction(0)), game, j, alpha, beta)
    d = [Fraction(i, guesses - i) for i in range(j + 1)]
    printed = alpha - d[j] * beta + sum(((d[z + 1] - d[z]) * h[z] for z in range(j)), Fraction(0))
    why = (
        f"m = c' = {guesses}, c = {correct}, e^ε = {t}, δ = 0, τ = {tau}: α = {alpha}, β = {beta}; the "
        f"recursion gives r_{{0,{j}}} = {r[0]}, the alternative form {printed}."
    )
    return r[0] == printed or Fails(why, recursion=r[0], printed=printed)


def unrolled_rightly(seed: int, k: int, guesses: int) -> bool:
    """The corrected form for all i < j <= c' on the f of a random mechanism."""
    curve = tradeoff(random_laws(seed, 1, k, 3), k)
    d = [Fraction(i, guesses - i) for i in range(guesses)]
    for j in range(1, guesses + 1):
        alpha, beta = Fraction(j, 3 * guesses), Fraction(1, 7)
        r, h = recursion(curve, Game(guesses, k, guesses, j), j, alpha, beta)
        for i in range(j):
            inner = sum(((d[z] - d[z - 1]) * h[z] for z in range(i + 1, j)), Fraction(0))
            if r[i] != alpha - d[j - 1] * beta + d[i] * h[i] + inner:
                return False
    return True
