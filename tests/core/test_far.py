"""Numbers beyond all others, and what noise on all integers meets: nothing is believed before it was looked at."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agreement import bind, module_of
from tightdp.core.operators import Far, operation
from tightdp.errors import LanguageError
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.domains import Int
from tightdp.language.tails import Tail
from tightdp.results.privacy import Privacy
from tightdp.session.instance import Instance

LOW, HIGH = Far(((1, 1),)), Far(((2, 1),))


def _privacy(body: str, n: int = 1) -> Privacy:
    source = "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    with module_of(source) as module:
        return Instance(bind(module, Int(0, 1), n)).privacy()


def test_they_are_ordered_as_vectors() -> None:
    assert sorted([HIGH, 7, -LOW, LOW + 1, LOW, -HIGH, HIGH - LOW]) == [-HIGH, -LOW, 7, LOW, LOW + 1, HIGH - LOW, HIGH]
    assert 2 * LOW - LOW == LOW
    assert LOW - LOW == 0
    assert (LOW + HIGH - HIGH, hash(LOW + HIGH - HIGH)) == (LOW, hash(LOW))
    assert LOW > 10**30 > exp(Fraction(1)) > -LOW
    assert abs(Fraction(1, 2) - LOW) == LOW - Fraction(1, 2)
    assert max(exp(Fraction(1)) * LOW, 3) > LOW * Fraction(5, 2)
    assert LOW / 2 < LOW
    assert 0 * LOW == 0


def test_roundings_keep_integers_apart_from_what_is_added() -> None:
    for name, rest in (("floor", 0), ("ceil", 1), ("round", 0), ("int", 0)):
        assert operation(name)(LOW + Fraction(1, 3)) == LOW + rest
    assert operation("int")(Fraction(1, 3) - LOW) == 1 - LOW


@pytest.mark.parametrize("name", ["floordiv", "mod", "pow", "bitand", "rshift", "div", "gcd"])
def test_other_operations_are_those_of_a_very_large_integer(name: str) -> None:
    large = HIGH.stand_in()
    assert isinstance(large, int)
    found, wanted = operation(name)(HIGH + 5, 3), operation(name)(large + 5, 3)
    assert (found.stand_in() if isinstance(found, Far) else found) == wanted


CONDITIONS = {
    "z = geometric(0, 1/2)\nobserve(z == 4)\nreturn flip((1 + x[0]) / 3)": 2,
    "z = geometric(0, 1/2)\nobserve(z == 1)\nreturn flip((1 + x[0]) / 3)": 2,
    "z = geometric(0, 1/2)\nobserve(abs(z) == 4)\nreturn flip((1 + x[0]) / 3)": 2,
    "z = geometric(0, 1/2) + geometric(0, 1/2)\nobserve(z == 4)\nreturn flip((1 + x[0]) / 3)": 2,
    "z = geometric(0, 1/2)\nif z != 4:\n    observe(False)\nreturn flip((1 + x[0]) / 3)": 2,
    "z = geometric(x[0], 1/2)\nobserve(2 <= z <= 3)\nreturn z": 1,
    "z = 0\nwhile z != 7:\n    z = geometric(0, 1/2)\nreturn flip((1 + x[0]) / 3)": 2,
    "s = 0\nwhile s < 2:\n    s = max(-1, min(2, s + geometric(x[0], 1/2)))\nreturn (s, flip((1 + x[0]) / 3))": 2,
    "s = 0\nwhile 0 <= s < 2:\n    s = s + geometric(0, 1/2) + x[0]\nreturn flip((1 + x[0]) / 3)": 2,
}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(body, marks=pytest.mark.slow(seconds=8) if "max(-1" in body or "s < 2" in body else ())
        for body in CONDITIONS
    ],
)
def test_rare_conditions_are_no_contradictions(body: str) -> None:
    found = _privacy(body)
    assert (found.status, found.exp_epsilon) == ("exact", CONDITIONS[body])


def test_a_rare_condition_on_gaussian_noise_is_no_contradiction() -> None:
    assert _privacy("z = discrete_gaussian(0, 1)\nobserve(z == 4)\nreturn 1").exp_epsilon < 1 + Fraction(1, 10**12)


def test_a_loop_that_ends_is_not_said_to_run_for_ever() -> None:
    assert _privacy("c = 0\nwhile c % 2 == 0:\n    c = geometric(0, 1/2)\nreturn c > 1").exp_epsilon == 1


@pytest.mark.parametrize("published", ["2*z + 1", "(z, z)", "z / 2", "-z", "(3 - z, z / 4, 2*z)", "(z - 1) * 3"])
def test_what_says_as_much_as_a_noisy_value_has_its_epsilon(published: str) -> None:
    source = f"def f(x):\n    z = geometric(sum(x), 1/3)\n    return {published}\n"
    with module_of(source) as module:
        bound = bind(module, Int(0, 1), 2)
        found = Instance(bound).privacy()
        assert (found.status, found.exp_epsilon) == ("exact", 3)
        masses, beyond = interp.law_within(bound, (1, 1), 12)
        law = dict(Instance(bound).distribution((1, 1)).law)
        for output, mass in law.items():
            inside = sum((inner for value, inner in masses.items() if _stands_for(output, value)), Fraction(0))
            assert inside <= mass * (sum(masses.values()) + beyond) <= inside + beyond
        assert all(any(_stands_for(output, value) for output in law) for value in masses)


def _stands_for(output: object, value: object) -> bool:
    if isinstance(output, tuple) and isinstance(value, tuple):
        return all(map(_stands_for, output, value))
    if isinstance(output, Tail) and isinstance(value, (int, Fraction)):
        place = (value - output.first) * output.direction / Fraction(output.step)
        return place >= 0 and place.denominator == 1
    return output == value


def test_accuracy_and_errors_of_multiples_count_the_tails() -> None:
    with module_of(
        "@mechanism(record=Bit, target=sum)\ndef f(x):\n    return geometric(2 * sum(x), 1/3) / 2\n"
    ) as module:
        instance = module.f.bind(n=1)
        # |z - 2v| <= 5 of two-sided noise with the ratio 1/3
        assert instance.accuracy(alpha="5/2").one_minus_beta == 1 - 2 * Fraction(1, 3) ** 6 / (1 + Fraction(1, 3))
        assert instance.accuracy(beta="1/100").alpha == Fraction(5, 2) - 1 + Fraction(1, 2)


ENCLOSED = {
    "return sum(geometric(v, 1/2) for v in x)": 2,
    "z = geometric(x[0], 1/2)\nreturn tuple(sorted([z, 1]))": 1,
    "z = geometric(0, 1/2)\nreturn round(z + Fraction(1, 2)) - z": 1,
    "z = geometric(0, 1/2)\nreturn math.floor(z / 2) == z / 2": 1,
    "z = geometric(x[0], 1/2)\nreturn z ** 2": 1,
    "z = geometric(x[0], 1/2)\nw = geometric(0, 1/2)\nreturn (z - w, None if z > w else z, 'x' if w > 1 else w)": 1,
}


@pytest.mark.parametrize(
    "body", [pytest.param(each, marks=pytest.mark.slow) if "w > 1" in each else each for each in ENCLOSED]
)
def test_other_uses_are_exact_or_enclosed(body: str) -> None:
    n = ENCLOSED[body]
    source = "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    with module_of(source) as module:
        bound = bind(module, Int(0, 1), n)
        found = Instance(bound).distribution((1,) * n)
        masses, beyond = interp.law_within(bound, (1,) * n, 12)
        if found.status == "exact":
            assert all(mass <= found.probability(y) <= mass + beyond for y, mass in masses.items())
            return
        lower, upper = dict(found.law), dict(found.upper)
        for output, mass in masses.items():
            assert lower[output] <= (mass + beyond) / sum(masses.values())
            assert mass <= upper[output] * (sum(masses.values()) + beyond)


@pytest.mark.parametrize("what", ["2 ** z", "1 << z", "math.comb(z, 2)", "math.factorial(z)", "exp(z)"])
def test_what_has_no_bound_is_refused(what: str) -> None:
    with pytest.raises(LanguageError, match="noise on all integers is an operand"):
        _privacy(f"z = abs(geometric(x[0], 1/2))\nreturn {what} > 5")


def test_roundings_of_an_unknown_are_refused_with_their_place() -> None:
    source = "@mechanism(record=Bit)\ndef f(x, lam):\n    return flip(lam) if math.floor(lam * 4) else x[0]\n"
    with module_of(source) as module, pytest.raises(LanguageError, match="floor does not take") as caught:
        module.f.bind(n=1, lam="?").privacy()
    assert caught.value.span is not None
    assert "compare it" in str(caught.value)


@pytest.mark.slow(seconds=6)
def test_what_is_proved_for_every_n_bounds_one() -> None:
    body = """
    t = geometric(1, 1/2)
    out = []
    for v in x:
        z = geometric(v, 1/4)
        if z >= t:
            out.append((z - t) * (z - t))
            break
        out.append(None)
    return tuple(out)
"""
    with module_of(f'@mechanism(record=Bit, neighbours="unit-all")\ndef f(x):{body}') as module:
        found = module.f.bind(n=1).privacy()
        assert found.status == "bounded"
        assert 1 < found.lower < found.exp_epsilon <= 32


KINDS = {
    "z = geometric(x[0], 1/2)\nif not isinstance(z, int):\n    return 5\nreturn min(max(z, 0), 1)": 2,
    "z = geometric(x[0], 1/2)\nif type(z) is int:\n    return z\nreturn 5": 2,
    "z = geometric(x[0], 1/2) / 2\nif isinstance(z, float) and not isinstance(z, str):\n    return z > 0\nreturn 5": 2,
    "z = laplace(x[0], 1)\nif isinstance(z, float):\n    return z > 0\nreturn 5": exp(Fraction(1)),
    "z = laplace(x[0], 1)\nif type(z) is float:\n    return z\nreturn 5.0": exp(Fraction(1)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("body", KINDS)
def test_what_kind_of_number_it_is(body: str) -> None:
    assert _privacy(body).exp_epsilon == KINDS[body]


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(LanguageError):
        _privacy("return isinstance(geometric(x[0], 1/2) * Fraction(2, 2), int)")
