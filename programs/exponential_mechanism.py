"""Exponential mechanism: a candidate is elected with probability proportional to base^(its number of votes).

Source: McSherry and Talwar 2007; Dwork and Roth 2014, Sec. 3.4 (e^eps <= base^2, with base = e^(eps/2)).

Parameters: candidates, an integer >= 2; base, a rational >= 1. Records are votes, integers from 0 to
candidates - 1, neighbours differ in one record. The output is a candidate.
"""

from tightdp import Int, choice, mechanism


@mechanism(record=lambda candidates: Int(0, candidates - 1))
def exponential_mechanism(x, candidates, base):
    """A candidate, with probability proportional to base to the power of its number of votes."""
    votes = [sum(v == c for v in x) for c in range(candidates)]
    return choice(range(candidates), weights=[base**v for v in votes])


EXPECTED = [
    {
        "query": "privacy",
        "parameters": {"n": 1, "candidates": 2, "base": 2},
        "exp_epsilon": "2",
        "claimed": "4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 4, "candidates": 2, "base": 2},
        "exp_epsilon": "17/5",
        "claimed": "4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 3, "candidates": 3, "base": 2},
        "exp_epsilon": "20/7",
        "claimed": "4",
    },
    {
        "query": "privacy",
        "parameters": {"n": 2, "candidates": 4, "base": "3/2"},
        "exp_epsilon": "63/40",
        "claimed": "9/4",
    },
    # A vote that comes or goes changes one count only: the guarantee is base.
    {
        "query": "privacy",
        "parameters": {"n": 3, "candidates": 3, "base": 2},
        "neighbours": "add-remove",
        "exp_epsilon": "12/7",
        "claimed": "2",
    },
    {
        "query": "delta",
        "parameters": {"n": 3, "candidates": 3, "base": 2},
        "exp_epsilon": "3/2",
        "delta": "1/7",
    },
    {
        "query": "distribution",
        "parameters": {"n": 3, "candidates": 3, "base": 2},
        "x": (1, 1, 2),
        "law": [(0, "1/7"), (1, "4/7"), (2, "2/7")],
    },
]
