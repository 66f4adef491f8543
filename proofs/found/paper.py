"""Results that came up beside the papers."""

from __future__ import annotations

from tightdp.claims import Paper

paper = Paper(
    "found",
    title="Results beyond the papers",
    words={"half": "b/2", "root": "e"},
    stands="""
    What is stated here is in none of the five papers. The least ρ of zero-concentrated DP of k-ary randomized response
    is its Kullback-Leibler divergence for up to six values, at every ε, and above it for seven values and more exactly
    while ε is small (F1). The sharp one-run bound for (ε,δ)-DP, which xiang2025 led to (X4a there), has a
    note of its own, `proofs/one_run_bound.md`, with the range in which the published formula is valid.
    """,
    unsettled={
        "k-ary randomized response where the Kullback-Leibler divergence is not enough (F1b)": (
            "the best order a solves an equation with exponentials; its ρ is enclosed for any k and ε, and has no "
            "closed form here."
        ),
    },
)
