"""A privacy filter, which refuses what would exceed a budget, and an odometer, which tells what was spent.

Source: Rogers, Roth, Ullman and Vadhan 2016, Definitions 3.2 and 3.3: the analyst picks the ε of the next answer having
seen the answers before. A filter looks before it answers; an analyst who stops when the odometer reads the budget looks
afterwards, and may be given more.

Parameters: budget and turns, integers >= 1. Records are bits, neighbours differ in one record. The analyst picks the
price of the next answer, 1 or 2: a bit that is told with odds of 2^price, at a price of ε = price·ln 2.
"""

from tightdp import Bit, ask, flip, mechanism


def cheap(history, choices):
    """Take the cheapest answer each time."""
    return choices[0]


def answered(bit, price):
    """Randomized response with odds of 2^price."""
    return bit ^ flip(1 / (1 + 2**price))


@mechanism(record=Bit, strategy=cheap)
def privacy_filter(x, budget, turns):
    """Answers about the first record; None for those that the budget does not allow."""
    seen, spent = (), 0
    for _ in range(turns):
        price = ask(seen, (1, 2))
        if spent + price > budget:
            seen = (*seen, None)
        else:
            spent += price
            seen = (*seen, answered(x[0], price))
    return seen


@mechanism(record=Bit, strategy=cheap)
def stopped_by_odometer(x, budget, turns):
    """Answers about the first record, each with what was spent, until that is the budget or more."""
    seen, spent = (), 0
    for _ in range(turns):
        if spent >= budget:
            break
        price = ask(seen, (1, 2))
        spent += price
        seen = (*seen, (answered(x[0], price), spent))
    return seen


EXPECTED = [
    {
        "mechanism": "privacy_filter",
        "parameters": {"n": 1, "budget": 2, "turns": 2},
        "exp_epsilon": "4",
        "strategy": [((), 2), ((0,), 1)],
        "delta": "2/5",
        "strategy_at_2": [((), 2), ((0,), 1)],
    },
    {
        "mechanism": "privacy_filter",
        "parameters": {"n": 1, "budget": 3, "turns": 3},
        "exp_epsilon": "8",
        "strategy": [((), 2), ((0,), 2), ((0, None), 1)],
        "delta": "2/5",
        "strategy_at_2": [((), 1), ((0,), 2), ((0, 0), 1)],
    },
    {
        "mechanism": "stopped_by_odometer",
        "parameters": {"n": 1, "budget": 2, "turns": 2},
        "exp_epsilon": "8",
        "strategy": [((), 1), (((0, 1),), 2)],
        "delta": "2/5",
        "strategy_at_2": [((), 1), (((0, 1),), 2)],
    },
    {
        "mechanism": "stopped_by_odometer",
        "parameters": {"n": 1, "budget": 3, "turns": 3},
        "exp_epsilon": "16",
        "strategy": [((), 1), (((0, 1),), 1), (((0, 1), (0, 2)), 2)],
        "delta": "14/25",
        "strategy_at_2": [((), 2), (((0, 2),), 2)],
    },
]
