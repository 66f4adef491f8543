"""Which method is asked, and asking for one by name."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import pytest

from tightdp import Bit, Instance, Int, ProgramError, QueryError, flip, geometric, mechanism, randint, shuffle
from tightdp.cli.main import main
from tightdp.methods import by_chain, questions
from tightdp.methods.base import Control
from tightdp.methods.by_chain import Chained
from tightdp.methods.choose import CANDIDATES, NAMES, program_of, read_method

ROOT = Path(__file__).parents[2]


@mechanism(record=Bit)
def response(x, lam):  # type: ignore[no-untyped-def]
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def count(x, lam):  # type: ignore[no-untyped-def]
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Int(0, 3))
def hashed(x):  # type: ignore[no-untyped-def]
    out = []
    for v in x:
        a, b = randint(1, 4), randint(0, 4)
        hashing = ((a * v + b) % 5) % 3
        out.append((a, b, hashing if flip("3/5") else (hashing + randint(1, 2)) % 3))
    return tuple(out)


def test_every_method_that_applies_gives_the_same_ratio() -> None:
    applied = set()
    for mechanism_, names in ((response, NAMES), (count, NAMES)):
        for name in names:
            try:
                found = mechanism_.bind(n=3, lam="1/5", method=name).privacy()
            except QueryError as error:
                assert error.what.startswith(f"the method {name} does not apply: ")  # noqa: PT017
                continue
            assert (found.exp_epsilon, found.stats.method) == (4, name)
            applied.add(name)
    assert applied >= {"independent clients", "aggregate", "elimination", "chain", "orbits", "exhaustive"}


def test_a_method_that_does_not_answer_says_why() -> None:
    with pytest.raises(QueryError, match=r"the method aggregate does not apply: .*order") as caught:
        response.bind(n=3, lam="1/5", method="aggregate").curve()
    assert "leave the method out" in caught.value.hint


@pytest.mark.parametrize("name", ["chains", "", 3])
def test_methods_that_do_not_exist(name: str) -> None:
    with pytest.raises(QueryError, match="there is no method"):
        response.bind(n=3, lam="1/5", method=name).privacy()


def test_names_may_be_written_with_hyphens() -> None:
    assert [read_method(name.replace(" ", "-")) for name in NAMES] == list(NAMES)
    assert {candidate.name for candidate in CANDIDATES} == set(NAMES)


def test_the_methods_are_named_where_people_look() -> None:
    described, page = Instance.__doc__ or "", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f'"{name}"' not in " ".join(described.split())] == []
    table = page.partition("## Who earns its place")[2].partition("\n## ")[0]
    assert [name for name in NAMES if name not in table] == []


def test_independent_clients_take_no_longer_with_every_client() -> None:
    """δ is that of one client, whatever n; no diagram of all clients is compiled."""
    alone = hashed.bind(n=1, method="exhaustive").delta(exp_epsilon=2).delta
    found = hashed.bind(n=60).delta(exp_epsilon=2)
    assert (found.delta, found.stats.method) == (alone, "independent clients")
    assert found.stats.nodes < 10_000
    assert hashed.bind(n=60).privacy().exp_epsilon == hashed.bind(n=1).privacy().exp_epsilon == 3


def test_a_method_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "m.py"
    file.write_text("from tightdp import *\n@mechanism(record=Bit)\ndef f(x):\n    return sum(x) + flip('1/3')\n")
    assert main(["privacy", str(file), "n=2", "--method", "exhaustive", "--exp-epsilon", "1", "--json"]) == 0
    assert '"method": "exhaustive"' in capsys.readouterr().out
    assert main(["privacy", str(file), "n=2", "--method", "independent-clients"]) == 2
    assert "the method independent clients does not apply" in capsys.readouterr().err


def test_the_law_is_the_same_by_every_method() -> None:
    for name in ("aggregate", "exhaustive", "elimination", "chain"):
        law = count.bind(n=2, lam="1/5", method=name).distribution((0, 1)).law
        assert dict(law) == {0: F(4, 25), 1: F(17, 25), 2: F(4, 25)}


@mechanism(record=Bit)
def order_as_rate(x):  # type: ignore[no-untyped-def]
    return flip(shuffle(x))


def test_a_check_on_shuffled_values_is_told_by_the_whole_program() -> None:
    with pytest.raises(ProgramError, match="is not a rational number"):
        order_as_rate.bind(n=2).privacy()


@mechanism(record=Int(0, 3))
def wandering(x):  # type: ignore[no-untyped-def]
    state = 0
    for v in x:
        state = (state * 3 + v + geometric(5, "2/3", 0, 10)) % 11
    return state > 4


def test_a_chain_with_maps_that_are_too_large_leaves_the_answer_to_the_next_method(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound, control = wandering.bind(n=3).bound, Control()
    expected = wandering.bind(n=3, method="exhaustive").privacy()
    wide, narrow = program_of(bound, method="chain"), program_of(bound)
    assert questions.tight(wide, control)[1].lower == expected.exp_epsilon
    monkeypatch.setattr(by_chain, "MOST_ENTRIES", 1_000)
    method, found = questions.tight(narrow, control)
    assert type(method) is not Chained
    assert (found.lower, found.upper) == (expected.exp_epsilon, expected.exp_epsilon)
    assert found.witness is not None
    assert expected.witness is not None
    assert (found.witness.x, found.witness.x_prime) == (expected.witness.x, expected.witness.x_prime)
    forced = program_of(bound, method="chain")
    with pytest.raises(QueryError, match="maps that are too large"):
        questions.tight(forced, control)
