"""Noisy counts of ranges that the analyst narrows down, as in a search for where the records are.

Source: Dwork, McSherry, Nissim and Smith 2006, Sec. 2.2: noise calibrated to each query, whichever is asked next.
Ranges that are disjoint see each record once: McSherry 2009, Theorem 4 (parallel composition), about ranges that are
fixed beforehand.

Parameters: turns, an integer >= 1; ratio, a rational in [0, 1), of the noise, which is clamped to the range of the
counts. Records are integers from 0 to 3, of neighbours one has a record more. The analyst picks a range.
"""

from tightdp import Int, ask, geometric, mechanism


def lower_half(history, choices):
    """Narrow down to the lower half."""
    return choices[0]


def noisy(x, first, last, ratio):
    """The noisy number of records in a range."""
    return geometric(sum(v is not None and first <= v <= last for v in x), ratio, 0, len(x))


@mechanism(record=Int(0, 3), neighbours="add-remove", strategy=lower_half)
def adaptive_count(x, turns, ratio):
    """Counts of any of four ranges, one after the other."""
    seen = ()
    for _ in range(turns):
        first, last = ask(seen, ((0, 1), (2, 3), (0, 0), (1, 2)))
        seen = (*seen, noisy(x, first, last, ratio))
    return seen


@mechanism(record=Int(0, 3), neighbours="add-remove", strategy=lower_half)
def narrowing_count(x, ratio):
    """The count of the range 0..1, then that of a half of one of the two ranges."""
    half = noisy(x, 0, 1, ratio)
    value = ask((half,), (0, 1, 2, 3))
    return half, noisy(x, value, value, ratio)


@mechanism(record=Int(0, 3), neighbours="add-remove", strategy=lower_half)
def disjoint_count(x, ratio):
    """The count of one value, then that of another one: never of the same."""
    value = ask((), (0, 1, 2, 3))
    one = noisy(x, value, value, ratio)
    other = ask((one,), [v for v in (0, 1, 2, 3) if v != value])
    return one, noisy(x, other, other, ratio)


EXPECTED = [
    {
        "mechanism": "adaptive_count",
        "parameters": {"n": 1, "turns": 2, "ratio": "1/2"},
        "exp_epsilon": "4",
        "strategy": [((), (0, 1)), ((1,), (0, 1))],
        "delta": "2/9",
        "strategy_at_2": [((), (0, 1)), ((1,), (0, 1))],
    },
    {
        "mechanism": "narrowing_count",
        "parameters": {"n": 2, "ratio": "1/2"},
        "exp_epsilon": "4",
        "strategy": [((2,), 0)],
        "delta": "2/9",
        "strategy_at_2": [((2,), 0)],
    },
    {
        "mechanism": "disjoint_count",
        "parameters": {"n": 2, "ratio": "1/2"},
        "exp_epsilon": "2",
        "strategy": [((), 1), ((0,), 0)],
        "delta": "0",
        "strategy_at_2": [],
    },
]
