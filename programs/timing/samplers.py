"""Samplers whose time, or number of random bits, tells what they drew; the same laws padded; and one that is safe.

Source: Jin, McMurtry, Rubinstein and Ohrimenko 2022 (Are We There Yet? Timing and Floating-Point Attacks on
Differential Privacy Systems): samplers that count failures; Balcer and Vadhan 2018 (Differential Privacy on Finite
Computers): noise in a fixed time; Knuth and Yao 1976: coins from as few bits as possible.

Parameters: p, the probability of a failure, a / 2^k; a and k, by which a lie has the probability a / 2^k; k for
`k_ary_by_rejection`, the odd number of values. Records are bits, or values from 0 to k - 1; neighbours differ in one
record. Asked `with_rounds`, the rounds are published too, and `with_bits` the number of fair bits.
"""

from tightdp import Bit, Int, flip, mechanism, randint


def between(v, lo, hi):
    """v, or the nearest number from lo to hi."""
    return max(lo, min(v, hi))


@mechanism(record=Bit, target=sum)
def count_by_trials(x, p):
    """The number of ones with noise z or -1 - z, where z counts failures."""
    z = 0
    while flip(p):
        z += 1
    return between(sum(x) + z if flip("1/2") else sum(x) - 1 - z, 0, len(x))


@mechanism(record=Bit, target=sum)
def count_padded(x, p):
    """The same law: of more than n failures none matters, and all n trials are made."""
    z, failing = 0, True
    for _ in range(len(x)):
        failing = flip(p) and failing
        z += failing
    return between(sum(x) + z if flip("1/2") else sum(x) - 1 - z, 0, len(x))


def lazily(a, k):
    """True with probability a / 2^k: bits of a number below 2^k are drawn until one differs from that of a."""
    for place in range(k - 1, -1, -1):
        wanted = a >> place & 1
        if flip("1/2") != wanted:
            return wanted == 1
    return False


def at_once(a, k):
    """The same law: all bits are drawn."""
    return randint(0, 2**k - 1) < a


@mechanism(record=Bit)
def answers_lazily(x, a, k):
    """Randomized response, whose lies take as few bits as possible."""
    return tuple(v ^ lazily(a, k) for v in x)


@mechanism(record=Bit)
def answers_at_once(x, a, k):
    """Randomized response, whose lies take k bits each."""
    return tuple(v ^ at_once(a, k) for v in x)


def below(number):
    """An integer below a number: one with as many bits, drawn anew as long as it is too large."""
    while True:
        found = randint(0, 2 ** (number - 1).bit_length() - 1)
        if found < number:
            return found


@mechanism(record=lambda k: Int(0, k - 1))
def k_ary_by_rejection(x, k):
    """Randomized response of k values, the true one three times as likely; how often is drawn does not tell it."""
    return tuple((v + max(0, below(k + 2) - 2)) % k for v in x)


EXPECTED = [
    {
        "mechanism": "count_by_trials",
        "parameters": {"n": 2, "p": "1/2"},
        "without": "2",
        "rounds": "inf",
        "bits": "inf",
    },
    {"mechanism": "count_padded", "parameters": {"n": 2, "p": "1/2"}, "without": "2", "rounds": "2", "bits": "2"},
    {
        "mechanism": "answers_lazily",
        "parameters": {"n": 2, "a": 3, "k": 4},
        "without": "13/3",
        "rounds": "inf",
        "bits": "inf",
    },
    {
        "mechanism": "answers_at_once",
        "parameters": {"n": 2, "a": 3, "k": 4},
        "without": "13/3",
        "rounds": "13/3",
        "bits": "13/3",
    },
    {"mechanism": "k_ary_by_rejection", "parameters": {"n": 2, "k": 3}, "without": "3", "rounds": "3", "bits": "3"},
]
