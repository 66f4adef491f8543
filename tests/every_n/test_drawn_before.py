"""Noise that is drawn before the records, and looked at after them only, for every n."""

from __future__ import annotations

import pytest

from tightdp import ALL, Bit, flip, geometric, laplace, mechanism, one_sided_geometric
from tightdp.every_n.states import explore


@mechanism(record=Bit)
def clamped(x):
    noise, total = geometric(0, "1/2"), 0
    for v in x:
        total += v
    return max(0, total + noise)


@mechanism(record=Bit)
def begins_with_noise(x):
    total = geometric(0, "1/2")
    for v in x:
        total += v
    return total if flip("1/2") else -total


@mechanism(record=Bit)
def sign(x):
    z = one_sided_geometric(0, "1/2")
    return sum(x) + (z if flip("1/2") else -z)


@mechanism(record=Bit)
def several(x):
    noise = [laplace(0, 1) for _ in range(2)]
    counts = [0, 0]
    for v in x:
        counts[v] += 1
    largest, other = (0, 1) if counts[0] + noise[0] > counts[1] + noise[1] else (1, 0)
    return largest, counts[other] + geometric(0, "1/2")


@mechanism(record=Bit)
def beside_a_multiple(x):
    total = geometric(0, "1/2") - 3 * geometric(0, "1/5")
    for v in x:
        total += 2 * v
    return total > 0


@mechanism(record=Bit)
def looked_at(x):
    z, told = geometric(0, "1/2"), []
    for v in x:
        told.append(geometric(v, "1/2") >= z)
    return tuple(told), sum(x) + z


@mechanism(record=Bit)
def known_before(x):
    z = geometric(0, "1/2")
    if z > 1:
        return 0
    return sum(x) + z


@mechanism(record=Bit)
def scaled(x):
    z, total = geometric(0, "1/2"), 0
    for v in x:
        total, z = total + v, -z
    return total + z


@pytest.mark.parametrize("program", [clamped, begins_with_noise, sign, several])
def test_noise_is_drawn_after_the_records(program):
    paths = explore(program.bind(n=1).bound, sums=True)
    assert not any(path.noises for path in paths.before)
    found = program.bind(n=ALL).privacy()
    tight = [program.bind(n=n).privacy().exp_epsilon for n in (1, 2, 3)]
    assert max(tight) <= found.upper < 60
    assert program is several or (found.status, found.upper) == ("exact", max(tight))


@pytest.mark.parametrize("program", [pytest.param(looked_at, marks=pytest.mark.slow), known_before, scaled])
def test_noise_that_is_looked_at_is_drawn_where_it_is(program):
    paths = explore(program.bind(n=1).bound, sums=True)
    assert any(path.noises for path in paths.before)
    assert program.bind(n=ALL).privacy().upper >= program.bind(n=3).privacy().exp_epsilon


def test_a_multiple_of_noise_beside_noise_is_drawn_where_it_is():
    (path,) = explore(beside_a_multiple.bind(n=1).bound, sums=True).before
    assert [factor for form in path.values for _, factor in form.terms] == [-3]
