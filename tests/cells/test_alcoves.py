"""Drawn programs with real and integer noise, beside their runs on simplices of draws: laws, ε, δ, accuracy, errors."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from alcoves import Runs, Unmet
from generators.real_programs import RealProgram, real_program
from tightdp.errors import TightdpError
from tightdp.session.files import import_file
from tightdp.session.instance import Instance
from tightdp.session.mechanism import mechanisms_of

_REACH = {1: 24, 2: 14, 3: 6}
_REFUSED = "real noise is published, and compared with noise on the integers"
"""Such a density has infinitely many steps."""
TOUCHING = 855
"""P - t·Q touches 0 there inside a stretch, for t = 5/4 or 2."""
_LEAST = 1e-6
"""Ratios of probabilities are compared that are not smaller."""


def check(seed: int, folder: Path) -> str:
    """Compare all answers about a program with its runs; return what it publishes, or why it is refused."""
    program = real_program(seed)
    place = folder / f"drawn_{seed}.py"
    place.write_text(program.source(), encoding="utf-8")
    instance = mechanisms_of(import_file(place))["drawn"].bind(n=1)
    runs = Runs(program, _REACH[len(program.draws)])
    try:
        tight = instance.privacy()
    except TightdpError as error:
        if error.what != _REFUSED and not ("contradiction" in error.what and _unmet(runs)):
            raise
        return error.what
    (_check_published if program.forms else _check_told)(instance, program, runs, tight)
    return "numbers" if program.forms else "told"


def _unmet(runs: Runs) -> bool:
    return any(set(runs.law(x)) == {Unmet} for x in (0, 1))


def _normal(law: dict[Any, float], beyond: float) -> tuple[dict[Any, float], float]:
    """Condition a law on what is observed; and by how much probabilities may be larger."""
    met = 1 - law.pop(Unmet, 0.0)
    return {y: p / met for y, p in law.items()}, beyond / met


def _check_told(instance: Instance, program: RealProgram, runs: Runs, tight: Any) -> None:
    source = program.source()
    laws, known = {}, {}
    for x in (0, 1):
        laws[x], beyond = _normal(runs.law(x), runs.beyond(x))
        known[x] = {y: float(p) for y, p in dict(instance.distribution((x,)).law).items()}
        for y in known[x].keys() | laws[x].keys():
            assert laws[x].get(y, 0) - beyond - 1e-9 <= known[x].get(y, 0) <= laws[x].get(y, 0) + beyond + 1e-9, (
                source,
                y,
            )
    ratios = [
        known[x][y] / known[1 - x].get(y, 0) if known[1 - x].get(y, 0) else math.inf for x in known for y in known[x]
    ]
    assert tight.status == "exact", source
    assert float(tight.exp_epsilon) == pytest.approx(max([1.0, *ratios]), rel=1e-9), source
    for t in (Fraction(2), Fraction(5, 4)):
        delta = _excess_of(known, float(t))
        found = instance.delta(exp_epsilon=t)
        assert (found.status, float(found.delta)) == ("exact", pytest.approx(delta, abs=1e-9)), source
        if delta > 0:
            least = float(instance.privacy(delta=found.delta).exp_epsilon)
            assert least <= float(t) * (1 + 1e-6), source
            assert _excess_of(known, least) == pytest.approx(delta, abs=1e-6), source
    if program.numeric:
        near = min(sum(p for y, p in known[x].items() if abs(y - x) <= 1) for x in known)
        assert float(instance.accuracy(1).one_minus_beta) == pytest.approx(near, abs=1e-9), source
        error = max(sum(p * abs(y - x) for y, p in known[x].items()) for x in known)
        assert float(instance.utility().value("expected absolute error")) == pytest.approx(error, abs=1e-9), source


def _check_published(instance: Instance, program: RealProgram, runs: Runs, tight: Any) -> None:
    source = program.source()
    real = any(program.draws[at].real for form, _ in program.forms for at, c in enumerate(form) if c)
    fine, reach = 8, 8
    line = range(-reach * fine, reach * fine) if real else ()
    edges = range(-2 * reach, 2 * reach) if real else ()
    places = [Fraction(2 * k + 1, 2 * fine) for k in line]
    beside = [Fraction(k, 2) + s * Fraction(1, 1 << 20) for k in edges for s in (1, -1)]
    met = {x: 1 - runs.law(x).get(Unmet, 0.0) if "observe" in source else 1.0 for x in (0, 1)}

    def at(v: Fraction) -> dict[int, dict[Any, float]]:
        found: dict[int, dict[Any, float]] = {0: {}, 1: {}}
        for x in found:
            for form in program.forms:
                for rest, p in runs.densities(x, form, v).items():
                    found[x][rest] = found[x].get(rest, 0.0) + p / met[x]
        return found

    seen = [at(v) for v in places]
    close = seen + [at(v) for v in beside]
    atoms = _atoms(runs, met)
    pairs = [(each[x], each[1 - x]) for each in [*close, atoms] for x in (0, 1)]
    value = float(tight.exp_epsilon)
    largest = 1.0
    cut_off = max(runs.beyond(x) for x in (0, 1))
    for ours, theirs in pairs:
        for rest, p in ours.items():
            q = theirs.get(rest, 0.0)
            assert value == math.inf or p <= value * (1 + 1e-4) * q + cut_off, (source, p, q, value)
            if p > (_LEAST if real else 1e-4):
                largest = max(largest, p / q if q > 1e-12 else math.inf)
    assert value <= largest * (1 + 5e-3 + cut_off) or value > 1e3, (source, largest, value)
    for t in (2.0, 1.25):
        shares = [
            sum(_excess(each[x], each[1 - x], t) for each in seen) / fine + _excess(atoms[x], atoms[1 - x], t)
            for x in (0, 1)
        ]
        found = instance.delta(exp_epsilon=Fraction(t))
        beyond = max(runs.beyond(x) for x in (0, 1)) + max(1 - _mass(seen, atoms, x, fine) for x in (0, 1))
        assert abs(float(found.delta) - max(shares)) <= 4e-3 + beyond, (source, t, float(found.delta), shares, beyond)
        assert beyond < 0.3, (source, beyond)
        if found.status != "exact":
            assert 0 <= found.delta - found.lower < 1e-9, source


def _atoms(runs: Runs, met: dict[int, float]) -> dict[int, dict[Any, float]]:
    """The masses of outputs that are integers or None; of real ones, the ends of clamping."""
    found: dict[int, dict[Any, float]] = {0: {}, 1: {}}
    for x in found:
        for output, p in runs.law(x).items():
            first = output[0] if isinstance(output, tuple) else output
            whole = first is None or isinstance(first, int)
            if first is not Unmet and whole:
                found[x][output] = found[x].get(output, 0.0) + p / met[x]
    return found


def _excess_of(known: Any, t: float) -> float:
    return max(_excess(known[x], known[1 - x], t) for x in known)


def _excess(ours: dict[Any, float], theirs: dict[Any, float], t: float) -> float:
    return sum(max(0.0, p - t * theirs.get(rest, 0.0)) for rest, p in ours.items())


def _mass(seen: list[Any], atoms: Any, x: int, fine: int) -> float:
    return sum(sum(each[x].values()) for each in seen) / fine + sum(atoms[x].values())


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(each, marks=pytest.mark.slow(seconds=3)) for each in (3, 4, 5, TOUCHING))]
)
def test_answers_about_drawn_programs_are_those_of_their_runs(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 1000))
def test_answers_about_a_thousand_programs_are_those_of_their_runs(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)
