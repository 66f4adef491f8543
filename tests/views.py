"""Every view of the laws of a mechanism under every method, against brute force over given laws.

By hand, for longer: `python -m tests.views --seed 0 --count 300`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from generators.comparison import imported, meanings, time_limit
from generators.shaped_programs import Shaped, Tailed, draw_renamed, draw_shaped, draw_tailed
from tightdp import Instance, LimitError, QueryError
from tightdp.language.neighbours import relation_of
from tightdp.methods.choose import CANDIDATES
from tightdp.results.result import EventWitness

METHODS = (None, *dict.fromkeys(candidate.name for candidate in CANDIDATES))
STRANGE = (0, (), (0, 1), (1, (0, 1)), "stop", (5,), 7, ((), 0))
Laws = dict[Any, dict[Any, Fraction]]
View = Callable[[Instance, Laws], None]


def shaped(seed: int, method: str | None, draw: Callable[[int], Shaped] = draw_shaped) -> bool:
    """Compare all views of a drawn program under a method; whether the method answers any question."""
    drawn = draw(seed)
    with imported(drawn.source) as module, time_limit(60):
        laws = meanings(module.f.bind(n=drawn.n).bound, 20_000)
        assert laws is not None
        instance = module.f.bind(n=drawn.n, method=method)
        return sum([_applies(view, instance, laws, method) for view in VIEWS]) > 0  # all of them are asked


def renamed(seed: int, method: str | None) -> bool:
    """The same of clients and parts that share nothing."""
    return shaped(seed, method, draw_renamed)


def _applies(view: View, instance: Instance, laws: Laws, method: str | None) -> bool:
    try:
        view(instance, laws)
    except QueryError as error:
        if method is not None and ("does not apply" in error.what or "does not answer" in error.what):
            return False
        raise
    return True


def _pairs(instance: Instance, laws: Laws) -> list[tuple[Any, Any]]:
    return [(x, other) for x in laws for other in relation_of(instance.bound).neighbours(x)]


def _ratio(laws: Laws, x: Any, other: Any, y: Any) -> Any:
    return laws[x][y] / laws[other][y] if laws[other].get(y) else float("inf")


def _check_outputs(instance: Instance, laws: Laws) -> None:
    outputs = dict.fromkeys(y for law in laws.values() for y in law)
    for x, law in laws.items():
        known = instance.distribution(x)
        assert dict(known.law) == law, x
        for y in (*outputs, *STRANGE):
            assert instance.probability(x, y) == known.probability(y) == law.get(y, 0), (x, y)


def _check_likelihood(instance: Instance, laws: Laws) -> None:
    x, other = _pairs(instance, laws)[-1]
    for row in instance.likelihood(x, other).rows:
        assert (row.probability, row.probability_prime) == (laws[x].get(row.output, 0), laws[other].get(row.output, 0))


def _check_ratios(instance: Instance, laws: Laws) -> None:
    tally = Counter(_ratio(laws, x, other, y) for x, other in _pairs(instance, laws) for y in laws[x])
    found = instance.privacy()
    assert found.exp_epsilon == max(tally)
    for most in (3, 5):
        ranked = instance.privacy(top=most)
        assert [row.exp_epsilon for row in ranked.top] == sorted(tally, reverse=True)[:most]
    for row in (*found.top, *ranked.top):
        assert (row.probability, row.probability_prime) == tuple(
            laws[x].get(row.output, 0) for x in (row.x, row.x_prime)
        )
        assert row.triples in (None, tally[row.exp_epsilon]), row
    if found.witness is not None:
        for x, p in ((found.witness.x, "probability"), (found.witness.x_prime, "probability_prime")):
            assert getattr(found.witness, p) == laws[x].get(found.witness.output, 0)


def _check_delta(instance: Instance, laws: Laws) -> None:
    pairs = _pairs(instance, laws)
    points = instance.curve().points
    for t in (Fraction(1), Fraction(3, 2), Fraction(5)):
        found, truth = instance.delta(exp_epsilon=t), max(_delta(laws[x], laws[other], t) for x, other in pairs)
        assert found.delta == _on_curve(points, t) == truth
        if isinstance(found.witness, EventWitness) and "*" not in str(found.witness.event):
            x, other = found.witness.x, found.witness.x_prime
            p, q = (sum(laws[each].get(y, 0) for y in found.witness.event) for each in (x, other))
            assert p - t * q == found.delta, found.witness


def _on_curve(points: Sequence[tuple[Any, Any]], t: Fraction) -> Any:
    """Linear between break points, constant after the last."""
    for (start, first), (stop, last) in pairwise(points):
        if start <= t <= stop:
            return first + (last - first) * (t - start) / (stop - start)
    return points[-1][1]


def _check_declared(instance: Instance, laws: Laws) -> None:
    pairs = _pairs(instance, laws)
    triples = [(x, other, y) for x, other in pairs for y in {**laws[x], **laws[other]}]
    declared = instance.privacy(privacy_set=triples)
    assert declared.exp_epsilon == max(_ratio(laws, x, other, y) for x, other in pairs for y in laws[x])


def _check_errors(instance: Instance, laws: Laws) -> None:
    measures = {found.measure: found for found in instance.utility().measures}
    target = instance.bound.program.target
    assert target is not None
    assert measures["right answer"].value == min(law.get(target(x), 0) for x, law in laws.items())
    centres = {x: target(x) for x in laws}
    if all(isinstance(each, int) for each in (*centres.values(), *(y for law in laws.values() for y in law))):
        near = [sum(p for y, p in law.items() if abs(y - centres[x]) <= 1) for x, law in laws.items()]
        assert instance.accuracy(alpha=1).one_minus_beta == min(near)


VIEWS: tuple[View, ...] = (
    _check_outputs,
    _check_likelihood,
    _check_ratios,
    _check_delta,
    _check_declared,
    _check_errors,
)
"""Each is asked by itself, so that a method which refuses one question is still compared in the others."""


def _delta(ours: dict[Any, Fraction], theirs: dict[Any, Fraction], t: Fraction) -> Fraction:
    return sum((max(p - t * theirs.get(y, 0), Fraction(0)) for y, p in ours.items()), Fraction(0))


def tailed(seed: int, method: str | None) -> bool:
    """Compare probabilities of outputs far out, and declared sets with them, where noise is on all integers."""
    drawn = draw_tailed(seed)
    with imported(drawn.source) as module, imported(drawn.centres) as plain, time_limit(60):
        centres = meanings(plain.f.bind(n=drawn.n).bound)
        assert centres is not None
        instance = module.f.bind(n=drawn.n, method=method)
        try:
            for x, law in centres.items():
                known = instance.distribution(x)
                for y in product((-9, 0, Fraction(1, 2), 4), repeat=len(drawn.ratios)):
                    output = y if len(y) > 1 else y[0]
                    truth = _truth(drawn, law or {}, y)
                    assert instance.probability(x, output) == known.probability(output) == truth, (x, output)
        except (QueryError, LimitError) as error:
            if method is not None and ("does not apply" in error.what or method == "runs"):
                return False
            raise
    return True


def _truth(drawn: Tailed, law: dict[Any, Fraction], y: tuple[int | Fraction, ...]) -> Fraction:
    total = Fraction(0)
    for centre, mass in law.items():
        for ratio, times, at, value in zip(
            drawn.ratios, drawn.times, centre if len(y) > 1 else (centre,), y, strict=True
        ):
            away = Fraction(value) / Fraction(times) - at
            r = Fraction(ratio or 0)
            mass *= (1 - r) / (1 + r) * r ** abs(away) if away.denominator == 1 else 0
        total += mass
    return total


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    for seed in range(options.seed, options.seed + options.count):
        for name, compare in (("shaped", shaped), ("renamed", renamed), ("tailed", tailed)):
            for method in METHODS:
                try:
                    compare(seed, method)
                except BaseException as error:
                    print(name, seed, method, type(error).__name__, str(error)[:300], flush=True)
                    if isinstance(error, KeyboardInterrupt):
                        raise


if __name__ == "__main__":
    main()
