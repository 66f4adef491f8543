"""Outputs of many parts with noise of their own: enclosures hold the exact answer, on grids of any width."""

from __future__ import annotations

import random
from fractions import Fraction as F
from itertools import islice

import pytest

from conftest import FULL
from tightdp import Bit, Values, choice, discrete_gaussian, flip, geometric, mechanism, observe, randint
from tightdp.methods.noisy_parts import find_noisy_parts
from tightdp.queries.enclosed import mixtures
from tightdp.queries.enclosed.mixtures import chain_of
from tightdp.session.instance import Instance

T_VALUES = (F(1), F(3, 2), F(4), F(20))


@mechanism(record=Bit)
def drawn(x, rows, ratio, reach):
    """One of the rows of a record, with noise on every entry."""
    row = choice(rows[x[0]])
    return tuple(geometric(c, ratio, -reach, reach) for c in row)


@mechanism(record=Values(-1, 1), neighbours="add-remove")
def in_a_bin(x, batches, sigma_squared):
    mine, place = 0 if x[0] is None else x[0], randint(0, batches - 1)
    return tuple(discrete_gaussian(mine if t == place else 0, sigma_squared) for t in range(batches))


@mechanism(record=Bit)
def beside_a_sign(x, spread):
    """A part without noise, one whose noise depends on a draw, and runs that are not accepted."""
    z = randint(0, 2)
    observe(z + x[0] > 0)
    return z == 2, geometric(x[0] * z, "1/2", -3, 3), geometric(z if flip("1/3") else x[1], "1/3", -spread, spread)


@pytest.fixture(autouse=True)
def _as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the draws of a client apart: small programs would draw once what large ones draw one by one."""
    monkeypatch.setattr("tightdp.core.lowering.draw_once_per_client", lambda program, watch: program)


def instance_of(seed: int) -> Instance:
    draw = random.Random(seed)
    size, reach = draw.choice([2, 3]), draw.choice([1, 2])
    rows = tuple(
        tuple(tuple(draw.randint(-2, 2) for _ in range(size)) for _ in range(draw.choice([1, 2, 3]))) for _ in range(2)
    )
    return drawn.bind(n=1, rows=rows, ratio=draw.choice(["1/2", "1/4", "4/5"]), reach=reach)


def check(instance: Instance, width: float, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare every pair of neighbours with the exact laws."""
    monkeypatch.setattr(mixtures, "_FEW", few)
    parts = find_noisy_parts(instance.engine.program, instance.engine.control())
    assert parts is not None
    for x, x_prime, ours, theirs in parts.pairs(instance.engine.control()):
        p, q = (dict(instance.distribution(each).law) for each in (x, x_prime))
        chain = chain_of(ours, theirs, parts.kernels, 1e-30)
        monkeypatch.setattr(mixtures, "_WIDTH", width)
        for ends in islice(mixtures.enclosed(chain, 0.0, 0.0, lambda: None), 2):
            for t in T_VALUES:
                exact = sum(max(F(0), mass - t * q.get(output, F(0))) for output, mass in p.items())
                mine, other = ends.lower.event(float(t))
                assert mine - t * other <= exact <= F(ends.upper.delta_above(float(t)))
            if few > 1000:
                assert F(ends.upper.delta_above(1.0)) - (F(ends.lower.event(1.0)[0]) - ends.lower.event(1.0)[1]) < 1e-12


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(60 if FULL else 20))
def test_drawn_mixtures(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for width, few in ((0.25, 1), (2.0, 1), (0.25, 10**6)):
        check(instance_of(seed), width, few, monkeypatch)


@pytest.mark.parametrize("few", [1, 10**6])
def test_other_parts(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(beside_a_sign.bind(n=2, spread=2), 0.25, few, monkeypatch)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(20))
def test_answers_are_those_of_laws(seed: int) -> None:
    instance = instance_of(seed)
    close = drawn.bind(n=1, **instance.bound.parameters, precision="1e-9")
    for delta in (F(1, 1000), F(1, 20)):
        exact, found = instance.privacy(delta=delta).exp_epsilon, close.privacy(delta=delta)
        assert found.lower <= exact <= found.upper <= found.lower * (1 + F(1, 10**9))
    for t in T_VALUES:
        exact, at = instance.delta(exp_epsilon=t).delta, close.delta(exp_epsilon=t)
        assert at.lower <= exact <= at.upper


@pytest.mark.slow(seconds=15)
def test_gaussian_parts_are_those_of_whole_laws() -> None:
    """Two parts are few enough for all outputs to be listed."""
    listed = in_a_bin.bind(n=1, batches=2, sigma_squared=1).privacy(delta="1e-3")
    close = in_a_bin.bind(n=1, batches=2, sigma_squared=1, precision="1e-9").privacy(delta="1e-3")
    assert listed.stats.method != close.stats.method
    assert close.lower <= listed.lower <= listed.upper <= close.upper <= close.lower * (1 + F(1, 10**9))


@pytest.mark.slow(seconds=7)
def test_a_grid_closes_in() -> None:
    """Of five parts there are too many prefixes to keep."""
    found = in_a_bin.bind(n=1, batches=5, sigma_squared=1).privacy(delta="1e-3")
    assert found.status == "bounded"
    assert found.upper <= found.lower * (1 + F(1, 10**9))
    assert found.witness is not None
