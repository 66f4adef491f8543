"""A cache of noisy answers: a query that was asked before gets the answer that it got then, at no cost.

Source: Mazmudar, Humphries, Liu, Rafuse and He 2022 (Cache Me If You Can), and Kostopoulou, Tholoniat, Cidon, Geambasu
and Lécuyer 2023 (Turbo), Sec. 3: exact caches. Only queries that are new are charged.

Parameters: turns and budget, integers >= 1; ratio, a rational in [0, 1), of the noise. Records are integers from 0 to
2, neighbours differ in one record. The analyst picks the value that is counted.
"""

from tightdp import Int, ask, geometric, mechanism


def repeating(history, choices):
    """Ask for the same count every time."""
    return choices[0]


def noisy_count(x, value, ratio):
    """The number of records of a value, with noise that is clamped to the range of the counts."""
    return geometric(sum(v == value for v in x), ratio, 0, len(x))


@mechanism(record=Int(0, 2), strategy=repeating)
def exact_cache(x, turns, budget, ratio):
    """Noisy counts; those of the first values that are asked for are drawn, once each, and others refused."""
    seen, cache = [], {}
    for _ in range(turns):
        value = ask(seen, (0, 1, 2))
        if value not in cache and len(cache) < budget:
            cache[value] = noisy_count(x, value, ratio)
        seen.append(cache.get(value))
    return tuple(seen)


@mechanism(record=Int(0, 2), strategy=repeating)
def charged_once(x, turns, budget, ratio):
    """The defect: a query that was asked before is not charged, but its noise is drawn anew."""
    seen, asked = [], []
    for _ in range(turns):
        value = ask(seen, (0, 1, 2))
        if value not in asked and len(asked) == budget:
            seen.append(None)
        else:
            if value not in asked:
                asked.append(value)
            seen.append(noisy_count(x, value, ratio))
    return tuple(seen)


EXPECTED = [
    {
        "mechanism": "exact_cache",
        "parameters": {"n": 1, "turns": 2, "budget": 1, "ratio": "1/2"},
        "exp_epsilon": "2",
        "strategy": [((), 1), ((0,), 0)],
        "delta": "0",
        "strategy_at_2": [],
    },
    {
        "mechanism": "exact_cache",
        "parameters": {"n": 2, "turns": 3, "budget": 2, "ratio": "1/2"},
        "exp_epsilon": "4",
        "strategy": [((), 1), ((0,), 1), ((0, 0), 0)],
        "delta": "2/9",
        "strategy_at_2": [((), 0), ((2,), 0), ((2, 2), 1)],
    },
    {
        "mechanism": "charged_once",
        "parameters": {"n": 1, "turns": 2, "budget": 1, "ratio": "1/2"},
        "exp_epsilon": "4",
        "strategy": [((), 1), ((0,), 1)],
        "delta": "2/9",
        "strategy_at_2": [((), 0), ((1,), 0)],
    },
]
