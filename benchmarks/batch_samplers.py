"""ε of Poisson, shuffled and balls-and-bins batches with geometric and Gaussian noise, for 1 to 8 batches.

`python benchmarks/batch_samplers.py` prints the table; `--plot FILE` draws it. docs/batches.md proves that these are
the answers at every n: what is asked is one record in batches of its own, and for shuffled batches the largest over
all orders of the others: these are gone through here, with geometric noise in integers, with Gaussian noise by upper
ends of windows of up to WINDOW batches.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np

from tightdp.results.privacy import Privacy
from tightdp.session.files import import_file
from tightdp.session.mechanism import mechanisms_of

PROGRAMS = mechanisms_of(import_file(Path(__file__).parent.parent / "programs" / "batches.py"))
MOST = 8
WINDOW = 4
GAUSSIAN = (1, 2, 4, 6, 8)
DELTA = Fraction(1, 1000)
NAMES = ("Poisson", "shuffled", "balls and bins")


def centred(ratio: Fraction) -> tuple[dict[int, np.ndarray], int]:
    """Return the weights of noise at -1, 0, 1, clamped to these, by its centre, and their denominator."""
    laws = {}
    for centre in (-1, 0, 1):
        low = ratio ** (centre + 1) / (1 + ratio)
        high = ratio ** (1 - centre) / (1 + ratio)
        laws[centre] = (low, 1 - low - high, high)
    scale = math.lcm(*(mass.denominator for law in laws.values() for mass in law))
    return {centre: np.array([int(mass * scale) for mass in law]) for centre, law in laws.items()}, scale


def joint(sums: Sequence[int], laws: dict[int, np.ndarray]) -> np.ndarray:
    """Return the weights of all outputs where the batches have these sums."""
    found = np.ones(1, dtype=np.int64)
    for total in sums:
        found = np.multiply.outer(found, laws[total]).ravel()
    return found


def pairs(batches: int, ratio: Fraction) -> Iterator[tuple[tuple[int, ...], np.ndarray, np.ndarray, int]]:
    """Yield the others in order, the weights of all outputs with and without the record, and their denominator."""
    laws, scale = centred(ratio)
    for others in product((-1, 0, 1), repeat=batches - 1):
        ours, theirs = (
            sum(joint((*others[:at], mine, *others[at:]), laws) for at in range(batches)) for mine in (1, 0)
        )
        yield others, ours, theirs, batches * scale**batches


def least(ours: np.ndarray, theirs: np.ndarray, scale: int, delta: Fraction) -> Fraction:
    """Return the least t >= 1 with δ(t) <= delta, both ways."""
    best = Fraction(1)
    for p, q in ((ours, theirs), (theirs, ours)):
        order = np.argsort(-(p / q), kind="stable")
        above, below = np.cumsum(p[order]), np.cumsum(q[order])
        at = int(np.argmax((above - float(delta) * scale) / below))
        best = max(best, (int(above[at]) - delta * scale) / int(below[at]))
    return best


def shuffled(batches: int, ratio: Fraction, delta: Fraction) -> tuple[Fraction, tuple[int, ...]]:
    """Return the largest least t over all orders of the others, and the others that have it.

    A record of value -1 is the mirror image of one of value 1.
    """
    return max((least(p, q, scale, delta), others) for others, p, q, scale in pairs(batches, ratio))


def row(batches: int, ratio: Fraction, delta: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return e^ε of the three."""
    poisson, bins = (
        PROGRAMS[name].bind(n=1, batches=batches, ratio=ratio).privacy(delta=delta).exp_epsilon
        for name in ("one_in_poisson", "one_in_bins")
    )
    found, others = shuffled(batches, ratio, delta)
    again = PROGRAMS["one_inserted"].bind(n=1, others=others, ratio=ratio).privacy(delta=delta).exp_epsilon
    assert again == found, "the engine and the integers agree"
    return poisson, found, bins


def windows(variance: Fraction, t: Fraction) -> dict[tuple[int, ...], Fraction]:
    """Return an upper end of δ(t) with Gaussian noise for all orders of the others in up to WINDOW batches.

    An order read backwards, or with signs changed, has the same.
    """
    found: dict[tuple[int, ...], Fraction] = {}
    for others in (each for size in range(WINDOW) for each in product((-1, 0, 1), repeat=size)):
        mirrored = tuple(-value for value in others)
        twin = min(others, others[::-1], mirrored, mirrored[::-1])
        if twin not in found:
            window = PROGRAMS["one_inserted"].bind(n=1, sigma_squared=variance, others=twin, precision="1e-3")
            found[twin] = window.delta(exp_epsilon=t).upper
        found[others] = found[twin]
    return found


def delta_above(others: tuple[int, ...], known: dict[tuple[int, ...], Fraction]) -> Fraction:
    """Return an upper end of δ for an order: of all ways to tell in which window the record is, that of the least."""
    batches, longest = len(others) + 1, max(map(len, known)) + 1
    least = [Fraction(0)]
    for end in range(1, batches + 1):
        sizes = range(1, min(longest, end) + 1)
        least.append(min(least[end - size] + size * known[others[end - size : end - 1]] for size in sizes))
    return least[-1] / batches


def gaussian_row(batches: int, variance: Fraction, delta: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return e^ε of the three with Gaussian noise, upper ends of enclosures of relative width 1e-6."""

    def found(name: str, **parameters: object) -> Privacy:
        instance = PROGRAMS[name].bind(n=1, sigma_squared=variance, precision="1e-6", **parameters)
        return instance.privacy(delta=delta)

    equal = found("one_inserted", others=(-1,) * (batches - 1))
    known = windows(variance, equal.lower)
    for others in product((-1, 0, 1), repeat=batches - 1):
        assert set(others) in ({-1}, {1}, set()) or delta_above(others, known) <= delta, "equal others are the worst"
    return found("one_in_poisson", batches=batches).upper, equal.upper, found("one_in_bins", batches=batches).upper


def main() -> None:
    """Print the tables, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    tables = {
        f"geometric noise, ratio {ratio}": {at: row(at, ratio, DELTA) for at in range(1, MOST + 1)}
        for ratio in (Fraction(1, 4), Fraction(4, 5))
    }
    tables["Gaussian noise, σ² = 1"] = {at: gaussian_row(at, Fraction(1), DELTA) for at in GAUSSIAN}
    for title, rows in tables.items():
        print(f"{title}, δ = {DELTA}: e^ε\n\n| batches | {' | '.join(NAMES)} |\n| --- | --- | --- | --- |")
        for at, values in rows.items():
            print(f"| {at} | {' | '.join(f'{float(value):.4f}' for value in values)} |")
        print()
    if options.plot:
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(1, len(tables), figsize=(12, 3.5))
        for ax, (title, rows) in zip(axes, tables.items(), strict=True):
            for at, name in enumerate(NAMES):
                ax.plot(list(rows), [math.log(values[at]) for values in rows.values()], marker="o", label=name)
            ax.set(title=title, xlabel="batches", ylabel="ε at δ = 1/1000")
            ax.legend()
        figure.tight_layout()
        figure.savefig(options.plot)


if __name__ == "__main__":
    main()
