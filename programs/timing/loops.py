"""Loops whose time tells of the records, and the same loops padded.

Source: Haeberlen, Pierce and Narayan 2011 (Differential Privacy Under Fire), Sec. 3: the time of a query is a covert
channel, and every record gets the same time; Ratliff and Vadhan 2024 (A Framework for Differential Privacy Against
Timing Attacks): delays.

Parameters: lam, the probability of a lie; steps, the rounds that a record of 1 takes, and p, the probability of one
round more. Records are bits, neighbours differ in one of them. Asked `with_rounds`, the rounds are published too.
"""

from tightdp import Bit, flip, mechanism


@mechanism(record=Bit)
def any_record(x, lam):
    """Whether some record is 1, or a lie; the search stops at the first one."""
    found = False
    for v in x:
        if v:
            found = True
            break
    return found ^ flip(lam)


@mechanism(record=Bit)
def any_record_padded(x, lam):
    """The same, but the search goes on to the end."""
    found = False
    for v in x:
        if v:
            found = True
    return found ^ flip(lam)


@mechanism(record=Bit)
def long_records(x, lam, steps):
    """Whether most records are 1, or a lie; a record of 1 takes long."""
    ones = 0
    for v in x:
        if v:
            for _ in range(steps):
                pass
            ones += 1
    return (2 * ones > len(x)) ^ flip(lam)


@mechanism(record=Bit)
def long_records_padded(x, lam, steps):
    """The same, but every record takes long."""
    ones = 0
    for v in x:
        for _ in range(steps):
            pass
        ones += v
    return (2 * ones > len(x)) ^ flip(lam)


@mechanism(record=Bit)
def delayed(x, lam, p):
    """Whether most records are 1, or a lie; every record of 1 takes a round, and then come as many as coins say."""
    ones = left = sum(x)
    while left > 0 or flip(p):
        left = max(0, left - 1)
    return (2 * ones > len(x)) ^ flip(lam)


EXPECTED = [
    {"mechanism": "any_record", "parameters": {"n": 3, "lam": "1/4"}, "without": "3", "rounds": "inf", "bits": "3"},
    {
        "mechanism": "any_record_padded",
        "parameters": {"n": 3, "lam": "1/4"},
        "without": "3",
        "rounds": "3",
        "bits": "3",
    },
    {
        "mechanism": "long_records",
        "parameters": {"n": 3, "lam": "1/4", "steps": 5},
        "without": "3",
        "rounds": "inf",
        "bits": "3",
    },
    {
        "mechanism": "long_records_padded",
        "parameters": {"n": 3, "lam": "1/4", "steps": 5},
        "without": "3",
        "rounds": "3",
        "bits": "3",
    },
    {
        "mechanism": "delayed",
        "parameters": {"n": 2, "lam": "1/4", "p": "7/8"},
        "without": "3",
        "rounds": "inf",
        "bits": "3",
    },
]
