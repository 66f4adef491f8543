"""Above threshold as in the published artifact of oakley2024: strictly above, and records move by at most 1.

Source: the artifact of oakley2024 (Sec. 6.2). It differs from Algorithm 5 of the paper (`above_threshold`) in
the comparison, which is strict, and in the neighbours, which change one record by at most 1.

Parameters: k, an integer >= 1; threshold, an integer; ratio_threshold and ratio_query, rationals in [0, 1).
Records are integers from 0 to k. The output is an index from 0 to n - 1, or n when no noisy record is above.
"""

from tightdp import Int, geometric, mechanism


@mechanism(record=lambda k: Int(0, k), neighbours="unit-step")
def above_threshold_artifact(x, k, threshold, ratio_threshold, ratio_query):
    """The index of the first noisy record that is above the noisy threshold, else n."""
    noisy_threshold = geometric(threshold, ratio_threshold, 0, k)
    for i, v in enumerate(x):
        if geometric(v, ratio_query, 0, k) > noisy_threshold:
            return i
    return len(x)


EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "exp_epsilon": "2",
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "exp_epsilon": "2",
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "exp_epsilon": "2",
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "neighbours": "replace-one",
        "exp_epsilon": "95/16",
    },
    {
        "query": "distribution",
        "parameters": {"n": 2, "k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "x": (0, 3),
        "law": [(0, "1/9"), (1, "91/216"), (2, "101/216")],
    },
]
