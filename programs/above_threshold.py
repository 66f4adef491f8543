"""Truncated geometric above threshold: the index of the first noisy record that reaches a noisy threshold.

Source: oakley2024, Algorithm 5 (Appendix A) and Sec. 6.2; Dwork and Roth 2014, Algorithm 1 (AboveThreshold);
the noise is the truncated geometric mechanism of Ghosh, Roughgarden and Sundararajan 2009.

Parameters: k, an integer >= 1; threshold, an integer; ratio_threshold and ratio_query, rationals in [0, 1),
the ratios of the noise of the threshold and of every record. Records are integers from 0 to k, neighbours
differ in one record, by any amount. The output is an index from 0 to n - 1, or n when no noisy record reaches
the threshold.
"""

from tightdp import Int, geometric, mechanism


@mechanism(record=lambda k: Int(0, k))
def above_threshold(x, k, threshold, ratio_threshold, ratio_query):
    """The index of the first noisy record that is at least the noisy threshold, else n."""
    noisy_threshold = geometric(threshold, ratio_threshold, 0, k)
    for i, v in enumerate(x):
        if geometric(v, ratio_query, 0, k) >= noisy_threshold:
            return i
    return len(x)


# Given the noisy threshold the records are independent, which gives the law as a sum over its k + 1 values.
EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "exp_epsilon": "50/13",
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "exp_epsilon": "23/4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "exp_epsilon": "347/52",
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "k": 2, "threshold": 1, "ratio_threshold": "1/3", "ratio_query": "1/2"},
        "exp_epsilon": "7/2",
    },
    {
        "query": "delta",
        "parameters": {"n": 2, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "exp_epsilon": "2",
        "delta": "1/3",
    },
    {
        "query": "distribution",
        "parameters": {"n": 2, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "x": (0, 3),
        "law": [(0, "11/36"), (1, "29/54"), (2, "17/108")],
    },
]
