"""Report noisy max where the analyst proposes one candidate after the other, and is told whether it leads.

Source: Dwork and Roth 2014, Sec. 3.3.1 (Report Noisy Max), with candidates fixed beforehand; here the analyst picks
the next one having seen which of the earlier ones took the lead.

Parameters: turns, an integer >= 1; ratio, a rational in [0, 1), of the noise; margin, an integer >= 0, by which the
noise may leave the range of the votes. Records are votes for a, b or c, neighbours differ in one record.
"""

from tightdp import Values, ask, geometric, mechanism


def in_turn(history, choices):
    """Propose one candidate after the other."""
    return choices[len(history) % len(choices)]


@mechanism(record=Values("a", "b", "c"), strategy=in_turn)
def online_noisy_max(x, turns, ratio, margin):
    """For every candidate that is proposed, whether its noisy number of votes is above all before."""
    leading = geometric(0, ratio, -margin, len(x) + margin)
    seen = []
    for _ in range(turns):
        candidate = ask(tuple(seen), ("a", "b", "c"))
        votes = geometric(x.count(candidate), ratio, -margin, len(x) + margin)
        seen.append(votes > leading)
        leading = max(votes, leading)
    return tuple(seen)


EXPECTED = [
    {
        "mechanism": "online_noisy_max",
        "parameters": {"n": 1, "turns": 2, "margin": 1, "ratio": "1/2"},
        "exp_epsilon": "31/10",
        "strategy": [((), "b"), ((False,), "a")],
        "delta": "11/108",
        "strategy_at_2": [((), "b"), ((False,), "a")],
    },
    {
        "mechanism": "online_noisy_max",
        "parameters": {"n": 2, "turns": 3, "margin": 1, "ratio": "1/2"},
        "exp_epsilon": "8",
        "strategy": [((), "b"), ((True,), "a"), ((True, True), "a")],
        "delta": "259/1728",
        "strategy_at_2": [
            ((), "b"),
            ((False,), "b"),
            ((False, False), "a"),
            ((False, True), "a"),
            ((True,), "a"),
            ((True, True), "a"),
        ],
    },
]
