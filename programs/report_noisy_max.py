"""Report noisy max: the index of the largest of n noisy answers, the first one where several are largest.

Source: Dwork and Roth 2014, Sec. 3.3.1 (Report Noisy Max), with two-sided geometric noise on all integers instead
of Laplace noise. With a margin the noise is clamped, which is a trap: it breaks the guarantee.

Parameters: k, an integer >= 1; ratio, a rational in [0, 1), the ratio of the noise; margin, an integer >= 0, for noise
that is clamped to -margin..k + margin, or None for noise on all integers. Records are the answers to n queries of
sensitivity 1, integers from 0 to k; all of them may change by at most 1 between neighbours. The output is an index from
0 to n - 1.
"""

from tightdp import Int, geometric, mechanism


@mechanism(record=lambda k: Int(0, k), neighbours="unit-all")
def report_noisy_max(x, k, ratio, margin=None):
    """The index of the largest noisy answer, the first one of several."""
    if margin is None:
        noisy = [geometric(v, ratio) for v in x]
    else:
        noisy = [geometric(v, ratio, -margin, k + margin) for v in x]
    best = 0
    for i in range(1, len(noisy)):
        if noisy[i] > noisy[best]:
            best = i
    return best


# The published guarantee is e^eps = 1/ratio^2, with noise on all integers. Clamping to the range of the answers
# (margin 0) loses it: the last index wins only if no earlier answer is clamped to k, and e^eps = 1/ratio^n.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 2, "k": 1, "ratio": "1/4"},
        "exp_epsilon": "88/13",
        "claimed": "16",
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "k": 1, "ratio": "1/4"},
        "exp_epsilon": "1508/113",
        "claimed": "16",
    },
    {
        "query": "distribution",
        "parameters": {"n": 2, "k": 1, "ratio": "1/4"},
        "x": (0, 1),
        "law": [(0, "37/125"), (1, "88/125")],
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "k": 1, "ratio": "1/2", "margin": 0},
        "exp_epsilon": "4",
        "claimed": "4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "k": 2, "ratio": "1/2", "margin": 0},
        "exp_epsilon": "8",
        "claimed": "4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 4, "k": 1, "ratio": "1/2", "margin": 0},
        "exp_epsilon": "16",
        "claimed": "4",
        "witness": {"x": (0, 0, 0, 1), "x_prime": (1, 1, 1, 0), "output": 3},
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "k": 2, "ratio": "1/2", "margin": 1},
        "exp_epsilon": "100/23",
        "claimed": "4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "k": 2, "ratio": "1/2", "margin": 2},
        "exp_epsilon": "844/221",
        "claimed": "4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 4, "k": 1, "ratio": "1/2", "margin": 1},
        "exp_epsilon": "193/37",
        "claimed": "4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "k": 2, "ratio": "1/2", "margin": 0},
        "neighbours": "unit-step",
        "exp_epsilon": "2",
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "k": 2, "ratio": "1/2", "margin": 2},
        "neighbours": "unit-step",
        "exp_epsilon": "857/442",
        "claimed": "4",
    },
    {
        "query": "delta",
        "parameters": {"n": 3, "k": 2, "ratio": "1/2", "margin": 0},
        "exp_epsilon": "2",
        "delta": "2/9",
    },
    {
        "query": "distribution",
        "parameters": {"n": 2, "k": 1, "ratio": "1/2", "margin": 0},
        "x": (0, 1),
        "law": [(0, "5/9"), (1, "4/9")],
    },
]
