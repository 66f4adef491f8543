"""Automata that read a stream of answers, keep noisy values, and publish something at every step.

Source: the examples of DiPAut (Chadha, Sistla and Viswanathan, LICS 2021; with several thresholds CCS 2023), written
anew with two-sided geometric noise in place of Laplace noise: sparse vector, numeric sparse vector, range queries with
two noisy thresholds, and what makes an automaton leak: a published answer that was compared (numeric_leaking), a
threshold that is forgotten in a cycle (leaking_cycle), and a cycle that publishes answers (disclosing_cycle).

Parameters: ratio, that of all noise. Records are the answers to queries, 0 or 1, all of which may change by at most 1.
"""

from tightdp import Int, geometric, mechanism

ANSWERS = {"record": Int(0, 1), "neighbours": "unit-all"}


@mechanism(**ANSWERS)
def svt(x, ratio="1/2"):
    """Goes on until a noisy answer is at least the noisy threshold."""
    threshold = geometric(1, ratio)
    said = []
    for v in x:
        if geometric(v, ratio) >= threshold:
            said.append("above")
            break
        said.append("below")
    return tuple(said)


@mechanism(**ANSWERS)
def svt_twice(x, ratio="1/2"):
    """The same twice, the second time with a new threshold."""
    threshold = geometric(1, ratio)
    said = []
    found = 0
    for v in x:
        if geometric(v, ratio) >= threshold:
            said.append("above")
            found += 1
            if found == 2:
                break
            threshold = geometric(1, ratio)
        else:
            said.append("below")
    return tuple(said)


@mechanism(**ANSWERS)
def numeric_sparse(x, ratio="1/2"):
    """The answer above the threshold is published with fresh noise."""
    threshold = geometric(1, ratio)
    said = []
    for v in x:
        if geometric(v, ratio) >= threshold:
            said.append(geometric(v, ratio))
            break
        said.append(None)
    return tuple(said)


@mechanism(**ANSWERS)
def numeric_leaking(x, ratio="1/2"):
    """The same, with the noise that was compared."""
    threshold = geometric(1, ratio)
    said = []
    for v in x:
        noisy = geometric(v, ratio)
        if noisy >= threshold:
            said.append(noisy)
            break
        said.append(None)
    return tuple(said)


@mechanism(**ANSWERS)
def range_query(x, ratio="1/2"):
    """Goes on while noisy answers lie between two noisy thresholds, and says where the first other one lies."""
    low, high = geometric(0, ratio), geometric(1, ratio)
    said = []
    for v in x:
        noisy = geometric(v, ratio)
        if noisy < low:
            said.append("below")
            break
        if noisy > high:
            said.append("above")
            break
        said.append("within")
    return tuple(said)


@mechanism(**ANSWERS)
def numeric_range(x, ratio="1/2"):
    """The first answer outside is published with fresh noise."""
    low, high = geometric(0, ratio), geometric(1, ratio)
    said = []
    for v in x:
        noisy = geometric(v, ratio)
        if noisy < low or noisy > high:
            said.append(geometric(v, ratio))
            break
        said.append("within")
    return tuple(said)


@mechanism(**ANSWERS)
def leaking_cycle(x, ratio="1/2"):
    """Every noisy answer is the threshold of the next one."""
    threshold = geometric(0, ratio)
    said = []
    for v in x:
        noisy = geometric(v, ratio)
        said.append(noisy >= threshold)
        threshold = noisy
    return tuple(said)


@mechanism(**ANSWERS)
def disclosing_cycle(x, ratio="1/2"):
    """Every answer is published with noise."""
    return tuple(geometric(v, ratio) for v in x)
