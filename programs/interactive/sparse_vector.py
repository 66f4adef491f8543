"""The sparse vector technique against an analyst who picks each query having seen the answers so far.

Source: Lyu, Su and Li 2017, Algorithm 1, and Algorithm 6, which has no cutoff and is not private; Dwork, Naor,
Reingold, Rothblum and Vadhan 2009. The noise is the truncated geometric mechanism.

Parameters: turns and cutoff, integers >= 1; ratio_threshold and ratio_query, rationals in [0, 1); margin, an integer
>= 0, by which the noise may leave the range of the counts. Records are the letters a, b and c, neighbours differ in one
record. The analyst picks the letter that is counted.
"""

from tightdp import Values, ask, geometric, mechanism


def in_turn(history, choices):
    """Go through the letters."""
    return choices[len(history) % len(choices)]


@mechanism(record=Values("a", "b", "c"), strategy=in_turn)
def sparse_vector(x, turns, cutoff, ratio_threshold, ratio_query, margin):
    """Whether each noisy count reaches a noisy 1; it stops after so many that do."""
    low, high = -margin, len(x) + margin
    threshold = geometric(1, ratio_threshold, low, high)
    seen, found = (), 0
    for _ in range(turns):
        if found == cutoff:
            break
        letter = ask(seen, ("a", "b", "c"))
        above = geometric(sum(v == letter for v in x), ratio_query, low, high) >= threshold
        found += above
        seen = (*seen, above)
    return seen


@mechanism(record=Values("a", "b", "c"), strategy=in_turn)
def sparse_vector_no_noise_on_answers(x, turns, ratio_threshold, margin):
    """The same without noise on the counts and without a cutoff: only the threshold is noisy."""
    threshold = geometric(1, ratio_threshold, -margin, len(x) + margin)
    seen = ()
    for _ in range(turns):
        letter = ask(seen, ("a", "b", "c"))
        seen = (*seen, sum(v == letter for v in x) >= threshold)
    return seen


EXPECTED = [
    {
        "mechanism": "sparse_vector",
        "parameters": {"n": 1, "turns": 2, "cutoff": 1, "ratio_threshold": "1/2", "ratio_query": "1/2", "margin": 1},
        "exp_epsilon": "31/10",
        "strategy": [((), "b"), ((False,), "a")],
        "delta": "11/108",
        "strategy_at_2": [((), "b"), ((False,), "a")],
    },
    {
        "mechanism": "sparse_vector",
        "parameters": {"n": 2, "turns": 3, "cutoff": 2, "ratio_threshold": "1/2", "ratio_query": "1/2", "margin": 2},
        "exp_epsilon": "2872/521",
        "strategy": [((), "b"), ((False,), "b"), ((False, False), "a")],
        "delta": "541/4608",
        "strategy_at_2": [((), "a"), ((True,), "b"), ((True, False), "b")],
    },
    {
        "mechanism": "sparse_vector_no_noise_on_answers",
        "parameters": {"n": 1, "turns": 2, "ratio_threshold": "1/2", "margin": 1},
        "exp_epsilon": "inf",
        "strategy": [((), "b"), ((False,), "a")],
        "delta": "1/3",
        "strategy_at_2": [((), "a"), ((True,), "b")],
    },
]
