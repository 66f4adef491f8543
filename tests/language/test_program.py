"""Mechanisms as values: what is checked when they are defined, bound and run."""

from __future__ import annotations

import pickle
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tightdp.errors import LanguageError, ParameterError, ProgramError
from tightdp.language.domains import Bit, Bits, Int, Values, with_absent
from tightdp.language.neighbours import relation_of
from tightdp.language.primitives import PseudoRandom, flip, observe, using
from tightdp.language.program import NEIGHBOURS, REQUIRED, Program, in_run


def response(x: Any, lam: Any, scale: Any = 0.5) -> Any:
    """Flip every bit with probability lam."""
    return tuple(1 - b if flip(lam) else b for b in x)


def counting(x: Any, n: int, k: int = 2) -> Any:
    return n * k + sum(x)


RESPONSE = Program(response, Bit)


def test_a_program_from_a_plain_function() -> None:
    assert RESPONSE.name == "response"
    assert RESPONSE.documentation == "Flip every bit with probability lam."
    assert dict(RESPONSE.parameters) == {"lam": REQUIRED, "scale": 0.5}
    assert RESPONSE.neighbours == "replace-one"
    assert Program(response, Bit, name="rr").name == "rr"
    assert RESPONSE.source.node.name == "response"


def test_bind_makes_parameters_exact() -> None:
    bound = RESPONSE.bind(n=3, lam="1/5")
    assert bound.parameters == {"lam": Fraction(1, 5), "scale": Fraction(1, 2)}
    assert (bound.n, bound.record, bound.neighbours) == (3, Bit, "replace-one")
    assert bound == RESPONSE.bind(np.int64(3), lam=0.2)
    assert hash(bound) == hash(RESPONSE.bind("3", lam=0.2))
    assert bound != RESPONSE.bind(n=3, lam="1/4")


def test_n_reaches_the_function() -> None:
    program = Program(counting, Bit)
    assert "n" not in program.parameters
    bound = program.bind(n=4)
    assert bound.parameters == {"k": 2}
    assert bound.arguments == {"k": 2, "n": 4}
    assert bound.run((1, 0, 0, 1)) == 10


def test_record_domains_from_parameters() -> None:
    program = Program(counting, lambda k, n: Int(0, k * n))
    assert program.bind(n=2, k="3").record == Int(0, 6)
    assert program.bind(n=2).record == Int(0, 4)


def test_a_dataset_may_be_called_n() -> None:
    def total(n: Any) -> Any:
        return sum(n)

    assert Program(total, Bit).run((1, 1)) == 2


@pytest.mark.parametrize("n", [0, -1, 1.5, "a", True, None, (1,), float("nan")])
def test_wrong_n(n: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        RESPONSE.bind(n=n, lam="1/5")
    assert repr(n) in caught.value.what


def test_unknown_and_missing_parameters() -> None:
    with pytest.raises(ParameterError, match=r"no parameter lamb\n  did you mean lam\?"):
        RESPONSE.bind(n=2, lamb=1)
    with pytest.raises(ParameterError, match=r"missing the parameter lam\n  give lam="):
        RESPONSE.bind(n=2)
    with pytest.raises(ParameterError, match=r"the parameter lam: \{\} cannot be hashed"):
        RESPONSE.bind(n=2, lam={})


def test_wrong_records() -> None:
    with pytest.raises(ParameterError, match=r"depends on m, which is not a parameter"):
        Program(counting, lambda m: Int(0, m))
    with pytest.raises(ParameterError, match="not a domain"):
        Program(counting, (0, 1))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="not a domain") as caught:
        Program(counting, (Int(0, 1), Int(0, 2)))  # type: ignore[arg-type]
    assert "Tuple(Int(0, 1), Int(0, 2))" in caught.value.hint
    with pytest.raises(ParameterError, match="is 5"):
        Program(counting, lambda k: 5).bind(n=1)  # type: ignore[arg-type, return-value]
    with pytest.raises(ParameterError, match="cannot be computed: ZeroDivisionError"):
        Program(counting, lambda k: Int(0, k // 0)).bind(n=1)
    with pytest.raises(ParameterError, match="is empty"):
        Program(counting, lambda k: Int(0, k)).bind(n=1, k=-1)


def test_neighbours() -> None:
    assert RESPONSE.bind(n=2, lam=0, neighbours="add-remove").record == with_absent(Bit)
    assert RESPONSE.bind(n=2, lam=0, neighbours="unit-all").record == Bit
    assert RESPONSE.bind(n=2, lam=0, neighbours=lambda x: [x]).record == Bit
    assert Program(response, Values(None, 1), neighbours="add-remove").bind(n=1, lam=0).record == Values(None, 1)
    with pytest.raises(ParameterError) as caught:
        RESPONSE.bind(n=2, lam=0, neighbours="replace_one")
    assert "did you mean replace-one?" in caught.value.hint
    assert all(name in caught.value.hint for name in NEIGHBOURS)
    with pytest.raises(ParameterError, match="'nothing'"):
        Program(response, Bit, neighbours="nothing")


@pytest.mark.parametrize("relation", ["unit-step", "unit-all"])
@pytest.mark.parametrize("record", [Bits(2), Values("a", "b"), Values(1, None), Values(0.5)])
def test_unit_neighbours_need_integers(relation: str, record: Any) -> None:
    with pytest.raises(ParameterError, match="need integer records"):
        Program(response, record).bind(n=2, lam=0, neighbours=relation)


def no_dataset() -> Any:
    return 0


def only_keywords(*, x: Any) -> Any:
    return x


def starred(x: Any, *rest: Any) -> Any:
    return rest


def reserved(x: Any, neighbours: Any) -> Any:
    return neighbours


@pytest.mark.parametrize("wrong", [no_dataset, only_keywords, starred, reserved, sum, lambda x: 0])
def test_signatures_that_cannot_be_mechanisms(wrong: Any) -> None:
    with pytest.raises(LanguageError):
        Program(wrong, Bit)


def test_target_is_a_function() -> None:
    with pytest.raises(ParameterError, match="target 3"):
        Program(response, Bit, target=3)  # type: ignore[arg-type]


def test_check_dataset() -> None:
    bound = Program(response, Bits(2)).bind(n=2, lam=0)
    assert bound.check_dataset([[0, True], np.array([1, 0])]) == ((0, 1), (1, 0))
    with pytest.raises(ParameterError, match=r"record 1 of the dataset is \(0, 2\)"):
        bound.check_dataset(((0, 0), (0, 2)))
    with pytest.raises(ParameterError, match="has 1 record"):
        bound.check_dataset(((0, 0),))
    for wrong in ("01", 5, None, {0: 1, 1: 1}, {0, 1}):
        with pytest.raises(ParameterError, match="not a dataset"):
            bound.check_dataset(wrong)


def test_run_is_reproducible_and_exact() -> None:
    outputs = [RESPONSE.run((0, 1), {"lam": "1/5"}, PseudoRandom(seed)) for seed in range(300)]
    assert outputs == [RESPONSE.run((0, 1), {"lam": "1/5"}, PseudoRandom(seed)) for seed in range(300)]
    assert 0.55 < Counter(outputs)[(0, 1)] / 300 < 0.73
    with using(PseudoRandom(5)):
        first = RESPONSE.run((0,) * 9, {"lam": "1/2"})
    assert first == RESPONSE.run((0,) * 9, {"lam": "1/2"}, PseudoRandom(5))


def rejecting(x: Any) -> Any:
    first, second = flip(0.5), flip(0.5)
    observe(first or second)
    return first + second


def never(x: Any) -> Any:
    observe(sum(x) > 9)
    return 0


def test_run_repeats_rejected_runs() -> None:
    source = PseudoRandom(1)
    counts = Counter(Program(rejecting, Bit).run((0,), rng=source) for _ in range(600))
    assert set(counts) == {1, 2}
    assert abs(counts[1] / 600 - 2 / 3) < 0.07
    with pytest.raises(ProgramError, match="contradiction") as caught:
        Program(never, Bit).run((0,))
    assert caught.value.x == (0,)


def notices(x: Any) -> Any:
    return in_run()


def test_in_run() -> None:
    assert Program(notices, Bit).run((0,)) is True
    assert not in_run()


def test_failures_leave_the_state_clean() -> None:
    with pytest.raises(ProgramError) as caught:
        Program(rejecting, Bit).bind(n=1).execute((0,), object())  # type: ignore[arg-type]
    assert "AttributeError" in caught.value.what
    assert not in_run()


def test_errors_can_be_sent_between_processes() -> None:
    with pytest.raises(ProgramError) as caught:
        Program(never, Bit).run((0,))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.x, again.span) == (str(caught.value), (0,), caught.value.span)


@pytest.mark.parametrize("relation", [lambda x, y: [], lambda: [], lambda x, *, k: []])
def test_a_relation_takes_one_dataset(relation: Any) -> None:
    with pytest.raises(ParameterError, match="neighbours of one dataset"):
        Program(response, Bit, neighbours=relation)
    with pytest.raises(ParameterError, match="neighbours of one dataset"):
        RESPONSE.bind(n=1, lam=0, neighbours=relation)


@pytest.mark.parametrize("relation", [lambda x: 5, lambda x: [x[7]], lambda x: (1 / 0 for _ in x)])
def test_a_relation_that_fails_says_so(relation: Any) -> None:
    bound = RESPONSE.bind(n=1, lam=0, neighbours=relation)
    with pytest.raises(ParameterError, match=r"neighbour relation <lambda> fails on \(0,\)"):
        list(relation_of(bound).neighbours((0,)))
