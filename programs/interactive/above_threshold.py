"""Above threshold, where the analyst picks each query having seen the answers so far.

Source: Dwork and Roth 2014, Sec. 3.6, Algorithm 1 (AboveThreshold), which promises privacy against queries that are
chosen adaptively; the noise is the truncated geometric mechanism of Ghosh, Roughgarden and Sundararajan 2009.

Parameters: turns, an integer >= 1; ratio_threshold and ratio_query, rationals in [0, 1), the ratios of the noise of the
threshold and of every count; margin, an integer >= 0, by which the noise may leave the range of the counts. Records are
integers from 0 to 3, neighbours differ in one record. The analyst picks the least record that is counted.
"""

from tightdp import Int, ask, geometric, mechanism


def halving(history, choices):
    """Begin in the middle, and count fewer records from then on."""
    return choices[min(len(history) + 1, len(choices) - 1)]


@mechanism(record=Int(0, 3), strategy=halving)
def above_threshold(x, turns, ratio_threshold, ratio_query, margin):
    """Whether the noisy number of records at or above the level that is picked reaches a noisy 1, up to the first."""
    low, high = -margin, len(x) + margin
    threshold = geometric(1, ratio_threshold, low, high)
    seen = []
    for _ in range(turns):
        level = ask(seen, (1, 2, 3))
        count = sum(v >= level for v in x)
        seen.append(geometric(count, ratio_query, low, high) >= threshold)
        if seen[-1]:
            break
    return tuple(seen)


EXPECTED = [
    {
        "mechanism": "above_threshold",
        "parameters": {"n": 1, "turns": 2, "ratio_threshold": "1/2", "ratio_query": "1/2", "margin": 1},
        "exp_epsilon": "86/41",
        "strategy": [((), 1), ((False,), 1)],
        "delta": "1/54",
        "strategy_at_2": [((), 1), ((False,), 1)],
    },
    {
        "mechanism": "above_threshold",
        "parameters": {"n": 2, "turns": 3, "ratio_threshold": "1/2", "ratio_query": "1/2", "margin": 2},
        "exp_epsilon": "1493/521",
        "strategy": [((), 1), ((False,), 1), ((False, False), 2)],
        "delta": "2857/82944",
        "strategy_at_2": [((), 2), ((False,), 2), ((False, False), 1)],
    },
]
