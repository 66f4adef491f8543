"""Above threshold: the index of the first noisy record that reaches a noisy threshold, with noise on all integers.

Source: Dwork and Roth 2014, Algorithm 1 (AboveThreshold), with two-sided geometric noise instead of Laplace noise;
`above_threshold` is the same with noise clamped to 0..k, as oakley2024 has it.

Parameters: k, an integer >= 1; threshold, an integer; ratio_threshold and ratio_query, rationals in [0, 1), the ratios
of the noise of the threshold and of every record. Records are the answers to n queries of sensitivity 1, integers from
0 to k; all of them may change by at most 1 between neighbours. The output is an index from 0 to n - 1, or n when no
noisy record reaches the threshold.
"""

from tightdp import Int, geometric, mechanism


@mechanism(record=lambda k: Int(0, k), neighbours="unit-all")
def above_threshold_unbounded(x, k, threshold, ratio_threshold, ratio_query):
    """The index of the first noisy record that is at least the noisy threshold, else n."""
    noisy_threshold = geometric(threshold, ratio_threshold)
    for i, v in enumerate(x):
        if geometric(v, ratio_query) >= noisy_threshold:
            return i
    return len(x)


# Dwork and Roth 2014, Theorem 3.23: the threshold may move by 1, and the noise of the answer above it by 2.
NOISE = {"threshold": 1, "ratio_threshold": "1/4", "ratio_query": "1/4"}
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 2, "k": 1, **NOISE},
        "exp_epsilon": "1168/97",
        "claimed": "64",
    },
    {
        "query": "distribution",
        "parameters": {"n": 2, "k": 1, **NOISE},
        "x": (0, 1),
        "law": [(0, "37/125"), (1, "1168/2625"), (2, "136/525")],
    },
]
