"""Core programs of certificates have the laws of the mechanisms that they name, and of no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from expectations import bind
from forgeries import EXAMPLES, example
from tightdp.cli.main import main
from tightdp.errors import QueryError
from tightdp.session.against import compare
from tightdp.session.instance import Instance

PROGRAMS = Path(__file__).parents[2] / "programs"


def test_all_datasets_are_compared() -> None:
    for name, expected in [("randomized_response_count_n3", "all 8"), ("above_threshold_n3", "all 27")]:
        mechanism = name.removesuffix("_n3")
        program = bind(
            mechanism, {"mechanism": mechanism, "parameters": example(name)["claim"]["parameters"] | {"n": 3}}
        )
        assert compare(example(name), program.program).startswith(f"on {expected} datasets")


def test_errors_are_compared_by_value() -> None:
    parameters = {"n": 2, "lam": "1/5"}
    count = bind("randomized_response_count", {"mechanism": "randomized_response_count", "parameters": parameters})
    content = dict(Instance(count).certify(alpha=1, beta="1/5").content)
    assert compare(content, count.program).startswith("on all 4 datasets")
    content["program"]["parts"][1]["lines"][2][2] = [[0, 3], [1, 1]]
    with pytest.raises(QueryError, match="has another law"):
        compare(content, count.program)


def test_another_mechanism_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    answer = str(EXAMPLES / "randomized_response_count_n3.json")
    assert main(["check", answer, "--against", str(PROGRAMS / "randomized_response_count.py")]) == 0
    assert "on all 8 datasets" in capsys.readouterr().out
    assert (
        main(["check", answer, "--against", f"{PROGRAMS / 'xor_randomized_response.py'}:xor_randomized_response"]) != 0
    )
    assert "has another law" in capsys.readouterr().err


def test_nothing_is_compared_for_every_n() -> None:
    xor = bind(
        "xor_randomized_response", {"mechanism": "xor_randomized_response", "parameters": {"n": 2, "lam": "1/5"}}
    )
    assert "nothing is compared" in compare(example("xor_randomized_response_every_n"), xor.program)


def test_the_label_names_the_parameters_that_are_bound() -> None:
    content = example("randomized_response_count_n3")
    given = {"mechanism": "randomized_response_count", "parameters": {"n": 3, "lam": "1/5"}}
    program = bind("randomized_response_count", given).program
    assert compare(content, program).endswith("which the interpreter has run")
    content["claim"]["parameters"] = {"lam": "2/10"}
    with pytest.raises(
        QueryError, match="names other parameters than randomized_response_count has: lam=2/10, not lam=1/5"
    ):
        compare(content, program)
    content["claim"] |= {"parameters": {"lam": "1/5"}, "source": "0" * 64}
    assert compare(content, program).endswith("the text of randomized_response_count is not that in the certificate")
