"""Tables 1 to 3 and Fig. 2 to 4 of oakley2024, beside what is printed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tightdp.claims.figures import Cell

from .laws import rr, rr_count
from .paper import paper
from .section_6_1_markov_chains import PRINTED_CHAINS, PRINTED_SIZES, chain, nodes_of_shared_roots
from .section_6_2_expressiveness import above_threshold

FIFTH = Fraction(1, 5)


@paper.figure("Table 1", "P(RR(x) = (0,0)) at λ = 1/5", ("x", "printed", "printed at λ = 1/5", "here"))
def _() -> Iterator[tuple[Cell, ...]]:
    printed = (((0, 0), "(1-λ)²", (1 - FIFTH) ** 2), ((1, 0), "λ(1-λ)", FIFTH * (1 - FIFTH)), ((1, 1), "λ²", FIFTH**2))
    instance = rr.bind(n=2, lam=FIFTH)
    for x, formula, value in printed:
        yield str(x), formula, value, instance.probability(x, (0, 0))


@paper.figure(
    "Table 2",
    "sizes: the diagram on a fixed input with a root for every output bit, by truth tables up to n = 10, and this "
    "toolkit's one diagram with the output bits as variables; states and transitions of the chain, explored "
    "up to n = 6",
    (
        "n",
        "diagram printed",
        "one root per bit",
        "toolkit",
        "states printed",
        "states",
        "transitions printed",
        "transitions",
    ),
)
def _() -> Iterator[tuple[Cell, ...]]:
    sizes, chains = dict(PRINTED_SIZES), {n: moves for n, *moves in PRINTED_CHAINS}
    for n in sorted({*sizes, *chains}):
        shared = nodes_of_shared_roots(n)["nodes"] if n <= 10 else None
        whole = rr.bind(n=n, lam=FIFTH).show((0,) * n).counts["expanded"]
        states, transitions = chain(n) if n <= 6 else (None, None)
        printed = chains.get(n, [None, None])
        yield n, sizes.get(n), shared, whole, printed[0], states, printed[1], transitions


@paper.figure("Table 3", "RR count, n = 8, λ = 1/5, α = 3: the inputs of lowest 1 - β", ("input", "printed", "here"))
def _() -> Iterator[tuple[Cell, ...]]:
    printed = {"00000000": "0.9437184", "11111111": "0.9437184", "01111111": "0.9723904", "00000001": "0.9723904"}
    instance = rr_count.bind(n=8, lam=FIFTH)
    for word, value in printed.items():
        x = tuple(map(int, word))
        near = (p for y, p in instance.distribution(x).law if abs(y - sum(x)) <= 3)
        yield word, Fraction(value), sum(near, Fraction(0))


@paper.figure(
    "Fig. 4",
    "RR with n = 8: the tight e^ε; RR count: the tight 1 - β at α = 3 (the figure does not say its α)",
    ("λ", "e^ε", "1 - β"),
    drawn=("1 - β",),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for lam in (Fraction(k, 20) for k in range(1, 10)):
        ratio = rr.bind(n=8, lam=lam).privacy().exp_epsilon
        yield lam, Fraction(ratio), rr_count.bind(n=8, lam=lam).accuracy(3).one_minus_beta


@paper.figure(
    "Fig. 2",
    "truncated geometric above threshold, integers 0..k, threshold in the middle: nodes of the diagram on a fixed "
    "input (of the toolkit; the text names 91 at k = 3, n = 6)",
    ("k", "n", "printed", "toolkit"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    half = Fraction(1, 2)
    for k in (1, 3, 7, 15):
        for n in (1, 2, 4, 6, 8, 10):
            numbers = {"k": k, "threshold": (k + 1) // 2, "ratio_threshold": half, "ratio_query": half}
            nodes = above_threshold.bind(n=n, **numbers).show((k,) * n).counts["expanded"]
            yield k, n, 91 if (k, n) == (3, 6) else None, nodes


@paper.figure(
    "Fig. 3",
    "RR count, λ = 1/5, α = n/4: nodes of the diagram on a fixed input (of the toolkit), and the tight 1 - β over all "
    "inputs; the running times of Fig. 3(b) are those of a machine",
    ("n", "toolkit", "1 - β"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for n in (2, 4, 8, 16, 32):
        instance = rr_count.bind(n=n, lam=FIFTH)
        yield n, instance.show((0,) * n).counts["expanded"], instance.accuracy(Fraction(n, 4)).one_minus_beta
