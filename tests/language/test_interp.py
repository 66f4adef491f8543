"""The meaning of mechanisms, against answers computed by hand."""

from __future__ import annotations

import itertools
import linecache
import math
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightdp.errors import LanguageError, LimitError, ProgramError, QueryError
from tightdp.language import interp
from tightdp.language.domains import Bit, Int, Values
from tightdp.language.primitives import binomial, choice, flip, geometric, observe, randint, shuffle
from tightdp.language.program import Program
from tightdp.session.harness import symmetric_guesser
from tightdp.session.instance import Instance

F = Fraction
RATE = 0.1


def law_of(function: Any, x: tuple[Any, ...], record: Any = Bit, **parameters: Any) -> dict[Any, Fraction]:
    return interp.law(Program(function, record).bind(n=len(x), **parameters), x)


def response(x: Any, lam: Any) -> Any:
    return tuple(1 - b if flip(lam) else b for b in x)


def test_randomized_response() -> None:
    assert law_of(response, (0, 1), lam="1/5") == {
        (0, 1): F(16, 25), (1, 1): F(4, 25), (0, 0): F(4, 25), (1, 0): F(1, 25),
    }  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=4), st.fractions(0, 1, max_denominator=9))
def test_randomized_response_is_a_product(bits: list[int], lam: Fraction) -> None:
    law = law_of(response, tuple(bits), lam=lam)
    assert sum(law.values()) == 1
    for output in itertools.product((0, 1), repeat=len(bits)):
        product = math.prod(lam if a != b else 1 - lam for a, b in zip(output, bits, strict=True))
        assert law.get(output, 0) == product


def test_certain_flips_do_not_fork() -> None:
    bound = Program(response, Bit).bind(n=2, lam=0)
    assert list(interp.runs(bound, (0, 1))) == [((0, 1), 1)]
    bound = Program(response, Bit).bind(n=2, lam=1)
    assert list(interp.runs(bound, (0, 1))) == [((1, 0), 1)]


def test_runs_go_depth_first_in_canonical_order() -> None:
    def two(x: Any) -> Any:
        return (randint(1, 2), flip("1/3"))

    assert list(interp.runs(Program(two, Bit).bind(n=1), (0,))) == [
        ((1, False), F(1, 3)), ((1, True), F(1, 6)), ((2, False), F(1, 3)), ((2, True), F(1, 6)),
    ]  # fmt: skip


def test_observe_conditions() -> None:
    def sum_of_dice(x: Any) -> Any:
        first, second = randint(1, 3), randint(1, 3)
        observe(first + second >= 5)
        return first

    assert law_of(sum_of_dice, (0,)) == {2: F(1, 3), 3: F(2, 3)}


def test_observe_stops_the_run() -> None:
    def guarded(x: Any) -> Any:
        value = randint(0, 2)
        observe(value)
        return 2 / value == 1

    assert law_of(guarded, (0,)) == {False: F(1, 2), True: F(1, 2)}


def test_contradiction() -> None:
    def impossible(x: Any) -> Any:
        observe(flip("1/2") and x[0] == 1)
        return 0

    assert law_of(impossible, (1,)) == {0: 1}
    with pytest.raises(ProgramError, match="contradiction") as caught:
        law_of(impossible, (0,))
    assert caught.value.x == (0,)


def test_early_return_and_break() -> None:
    def first_hit(x: Any, p: Any) -> Any:
        for index, bit in enumerate(x):
            if bit and flip(p):
                return index
        return None

    assert law_of(first_hit, (1, 0, 1), p="1/3") == {0: F(1, 3), 2: F(2, 9), None: F(4, 9)}


def test_mixed_nested_outputs() -> None:
    def mixed(x: Any) -> Any:
        return choice([None, "a", (1, ("b", (None, 2 / 4)))], weights=[1, 2, 3])

    assert law_of(mixed, (0,)) == {None: F(1, 6), "a": F(1, 3), (1, ("b", (None, F(1, 2)))): F(1, 2)}


def test_outputs_are_the_same_when_python_says_so() -> None:
    def same(x: Any) -> Any:
        return choice([True, 1, 2 / 2, 0, False])

    law = law_of(same, (0,))
    assert law == {1: F(3, 5), 0: F(2, 5)}
    assert [repr(output) for output in law] == ["True", "0"]

    def whole(x: Any) -> Any:
        return (4 / 2,)

    assert repr(list(law_of(whole, (0,)))) == "[(2,)]"


def test_probabilities_that_depend_on_the_run() -> None:
    def chained(x: Any) -> Any:
        level = randint(1, 3)
        return flip(level / 4)

    assert law_of(chained, (0,)) == {False: F(1, 2), True: F(1, 2)}

    def clamped(x: Any) -> Any:
        return geometric(binomial(x[0], 0.5), 0.5, 0, 1)

    # centre 0 or 1, each with probability 1/2: P(0 | 0) = 2/3, P(0 | 1) = 1/3
    assert law_of(clamped, (1,)) == {0: F(1, 2), 1: F(1, 2)}
    assert law_of(clamped, (0,)) == {0: F(2, 3), 1: F(1, 3)}


def share(value: Any, total: Any) -> Any:
    return value / total


def test_helpers_literals_and_module_constants_are_exact() -> None:
    def uses(x: Any) -> Any:
        return flip(share(sum(x), len(x))), flip(0.1 + 0.2), flip(RATE + 0.2)

    law = law_of(uses, (1, 0, 0))
    assert law[(True, True, True)] == F(1, 3) * F(3, 10) * F(3, 10)
    assert sum(law.values()) == 1


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_shuffle_is_uniform(length: int) -> None:
    def mix(x: Any) -> Any:
        return shuffle(range(len(x)))

    law = law_of(mix, (0,) * length)
    assert law == dict.fromkeys(itertools.permutations(range(length)), F(1, math.factorial(length)))


def test_values_as_records() -> None:
    def vote(x: Any) -> Any:
        return x[0] if x[0] is not None else choice("ab")

    assert law_of(vote, (None,), Values("a", "b", None)) == {"a": F(1, 2), "b": F(1, 2)}
    assert law_of(vote, ["a"], Values("a", "b", None)) == {"a": 1}  # type: ignore[arg-type]


class Facade:
    """What matters of a mechanism here: an attribute `program`."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("not called raw")


inner = Facade(Program(response, Bit))


def sized(x: Any, n: int, scale: Any = 0.5) -> Any:
    return n * scale


def test_mechanisms_compose() -> None:
    size = Facade(Program(sized, Bit))

    def outer(x: Any, lam: Any) -> Any:
        noisy = inner(x, lam=lam)
        return sum(noisy), size(x), size(x, scale="1/3"), inner((0,), "0")

    assert law_of(outer, (0, 0), lam="1/2") == {
        (k, 1, F(2, 3), (0,)): p for k, p in [(0, F(1, 4)), (1, F(1, 2)), (2, F(1, 4))]
    }


def fails(x: Any, how: str) -> Any:
    value = randint(0, 1)
    if how == "assert":
        assert value + x[0] < 2, "too large"
        return value
    if how == "index":
        return (1, 2)[value + x[0]]
    if how == "division":
        return 1 // (2 - value - x[0])
    if how == "probability":
        return flip((value + x[0] + 1) / 2)
    if how == "type":
        return value + "a" if value + x[0] == 2 else 0
    return [value] if how == "list" else complex(value + 1)


@pytest.mark.parametrize(
    ("how", "named", "piece"),
    [
        ("assert", "AssertionError: too large", "value + x[0] < 2"),
        ("index", "IndexError: tuple index out of range", "(1, 2)[value"),
        ("division", "ZeroDivisionError: ", "1 // (2"),
        ("probability", "3/2, which is outside [0, 1]", "flip((value"),
        ("type", "TypeError: ", 'value + "a"'),
    ],
)
def test_failures_name_the_exception_the_place_and_the_dataset(how: str, named: str, piece: str) -> None:
    with pytest.raises(ProgramError) as caught:
        law_of(fails, (1,), how=how)
    error = caught.value
    assert named in error.what
    assert "(1,)" in error.what
    assert error.x == (1,)
    assert error.span is not None
    assert error.span.file == __file__
    text = error.span.text[error.span.column - 1 :]
    assert text.startswith(piece) or text.startswith(f"assert {piece}")  # Python 3.12.1 marks the whole statement
    assert f"{__file__}:{error.span.line}:{error.span.column}: " in str(error)
    assert "^" in str(error)


@pytest.mark.parametrize(("how", "named"), [("list", "the list [0]"), ("complex", "the complex (1+0j)")])
def test_what_cannot_be_an_output(how: str, named: str) -> None:
    with pytest.raises(ProgramError) as caught:
        law_of(fails, (0,), how=how)
    assert named in caught.value.what


def test_unreachable_failures_do_not_matter() -> None:
    assert sum(law_of(fails, (0,), how="index").values()) == 1

    def zero(x: Any) -> Any:
        return 1 // 0 if flip(0) else 5

    assert law_of(zero, (0,)) == {5: 1}


def test_hidden_randomness_is_noticed() -> None:
    def hidden(x: Any) -> Any:
        return tuple(flip(F(1, 2 + time.perf_counter_ns() % 10**6)) for _ in range(3))

    with pytest.raises(ProgramError, match="two runs"):
        law_of(hidden, (0,))


def test_endless_draws_are_stopped() -> None:
    def endless(x: Any) -> Any:
        count = 0
        while not flip("1/2") or count >= 0:
            count += 1
        return count

    with pytest.raises(LimitError, match="more than 10000 draws"):
        law_of(endless, (0,))


@pytest.mark.parametrize("known", [[], ["import sys\n", "print(sys.path)\n"]], ids=["nothing", "the text of python -c"])
def test_a_helper_without_source_is_refused(known: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(linecache.cache, "<string>", (1, None, known, "<string>"))
    namespace: dict[str, Any] = {"__name__": "nowhere"}
    exec("def half(v):\n    return v / 2\n", namespace)
    half = namespace["half"]

    def uses(x: Any) -> Any:
        return flip(half(1))

    with pytest.raises(LanguageError, match="source of half"):
        law_of(uses, (0,))


def noisy_mean(x: Any, k: int) -> Any:
    return sum(x)


def scaled(x: Any, k: int, n: int) -> Any:
    return sum(x) / (k * n)


@pytest.mark.parametrize(
    ("target", "value"),
    [
        (sum, 3),
        (scaled, F(3, 4)),
        (lambda x: sum(x) / len(x), F(3, 2)),
        (lambda x, k=7: k * x[0], 2),
        (lambda x: x[0] > 5, 0),
    ],
)
def test_targets(target: Any, value: Any) -> None:
    found = interp.target_value(Program(noisy_mean, Int(0, 3), target=target).bind(n=2, k=2), (1, 2))
    assert found == value
    assert type(found) is type(value)


def test_wrong_targets() -> None:
    def ask(target: Any) -> Any:
        return interp.target_value(Program(noisy_mean, Bit, target=target).bind(n=1, k=2), (0,))

    with pytest.raises(QueryError, match="no target"):
        ask(None)
    with pytest.raises(ProgramError, match="ZeroDivisionError"):
        ask(lambda x: 1 / x[0])
    with pytest.raises(ProgramError, match="not a rational number"):
        ask(lambda x: "a")


def test_mechanisms_of_this_package_are_run_exactly_too() -> None:
    bound = symmetric_guesser.bind(n=3, guesses=2, weights=(1, 2, 4)).bound
    x = (0, 0, 1)
    assert interp.law(bound, x) == dict(Instance(bound, method="exhaustive").distribution(x).law)
