"""Published real numbers that are compared with integers, by way of other noise too: beside sums over a fine grid."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from agreement import bind, module_of
from tightdp.language.domains import Bit
from tightdp.session.instance import Instance

STEP = 1 / 12
REAL = {"laplace({c}, 1)": 7, "laplace({c}, 2)": 14, "exponential({c}, 1)": 8, "({c} + uniform(0, 2))": 2}
WHOLE = ('geometric({c}, "1/2")', 'one_sided_geometric({c}, "1/3")')
FORMS = ("u", "v", "a", "u + a", "2 * a", "u - a", "v + a", "1", "v - u", "-a", "u + v")
PUBLISHED = ("u", "u - v", "u + v", "u + a", "2 * u")


def drawn(seed: int) -> Iterator[tuple[list[str], list[str], list[str], str]]:
    """Yield draws u, v and a, their centres, what is compared, and what is published beside that."""
    chance = random.Random(seed)
    while True:
        draws = [chance.choice([*REAL]), chance.choice([*REAL]), chance.choice(WHOLE)]
        centres = ["x[0]", *(chance.choice(["0", "x[0]", "-x[0]"]) for _ in range(2))]
        pairs = [chance.sample(FORMS, 2) for _ in range(chance.choice([1, 1, 2]))]
        if all("a" in one + other and {"u", "v"} & {*one, *other} for one, other in pairs):
            yield draws, centres, [" > ".join(pair) for pair in pairs], chance.choice(PUBLISHED)


def on_grid(draw: str, offset: float) -> tuple[np.ndarray, np.ndarray]:
    """Return where a draw may be, and how likely that is, about."""
    if draw in WHOLE:
        ratio = 1 / 2 if draw == WHOLE[0] else 1 / 3
        z = np.arange(-13 if ratio == 1 / 2 else 0, 14.0)
        return z, ((1 - ratio) / (1 + ratio) if z[0] else 1 - ratio) * ratio ** abs(z)
    reach = round(REAL[draw] / STEP)
    z = (np.arange(-reach if "laplace" in draw else 0, reach) + offset) * STEP
    scale = 2 if draw == "laplace({c}, 2)" else 1
    density = np.full(z.shape, 1 / 2) if "uniform" in draw else np.exp(-abs(z) / scale) / scale
    return z, density * STEP / (2 if "laplace" in draw else 1)


def law(draws: list[str], centres: list[str], compared: list[str], published: str, bit: int) -> dict[int, float]:
    """Return how likely the comparisons are together with each interval of two steps."""
    weight, places = np.ones((1, 1, 1)), {}
    for at, (name, draw, centre) in enumerate(zip("uva", draws, centres, strict=True)):
        z, w = on_grid(draw, 0.31 * (at + 1))
        shape = [-1 if at == axis else 1 for axis in range(3)]
        places[name] = (z + eval(centre, {"x": (bit,)})).reshape(shape)
        weight = weight * w.reshape(shape)
    code = np.floor(np.broadcast_to(eval(published, {}, places), weight.shape) / (2 * STEP) + 1e-9).astype(int)
    for each in compared:
        code = 2 * code + np.broadcast_to(eval(each, {}, places), weight.shape)
    keys, inverse = np.unique(code.ravel(), return_inverse=True)
    return dict(zip(keys.tolist(), np.bincount(inverse.ravel(), weight.ravel()), strict=True))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(12))
def test_a_delta_is_that_of_a_fine_grid(seed: int) -> None:
    draws, centres, compared, published = next(drawn(seed))
    lines = [f"    {n} = {d.format(c=c)}" for n, d, c in zip("uva", draws, centres, strict=True)]
    source = "\n".join(["def f(x):", *lines, f"    return {published}, {', '.join(compared)}", ""])
    p, q = (law(draws, centres, compared, published, bit) for bit in (0, 1))
    with module_of(source) as module:
        found = Instance(bind(module, Bit, 1)).delta(exp_epsilon=Fraction(5, 4))
        tight = Instance(bind(module, Bit, 1)).privacy()
    most = max(sum(max(0, a.get(k, 0) - 1.25 * b.get(k, 0)) for k in {*a, *b}) for a, b in ((p, q), (q, p)))
    assert float(found.delta) == pytest.approx(most, abs=0.015)
    assert float(found.delta - found.lower) < 1e-8
    likely = [a[k] / b[k] for a, b in ((p, q), (q, p)) for k in a if a[k] > 1e-3 and b.get(k, 0) > 1e-3]
    assert max(likely) <= float(tight.upper) * 1.15
    assert tight.lower <= tight.upper
