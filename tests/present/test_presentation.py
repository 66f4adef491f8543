"""What people read: nothing false at any status, nothing broken at any width, the exit states, and the hints."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction as F
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answered import LEAK, RESPONSE, TOTAL, one_flip, response, stopped_after, total
from command_line import GOLDEN, SLOW, environment, run
from tightdp import Bit, Instance, ParameterError, TightdpError, audit, flip, mechanism
from tightdp.present.show import view
from tightdp.present.text import Grid, View, table, text_of, wrapped
from tightdp.session.arguments import read_seconds
from tightdp.session.files import import_file
from tightdp.session.mechanism import Mechanism, mechanisms_of


@mechanism(record=Bit)
def coin(x):  # type: ignore[no-untyped-def]
    return flip("1/2")


def stopped(n: int = 4, datasets: int = 2) -> Instance:
    """Randomized response on relations of which only a few pairs are compared."""
    return stopped_after(response.bind(n=n, lam="1/5", neighbours=one_flip), datasets)


# Sentences.


def test_an_exact_answer_says_what_attains_it() -> None:
    assert "has probability 16/25 against 4/25." in str(RESPONSE.privacy())
    assert "It is attained on" in str(RESPONSE.privacy(delta="1/10"))
    assert "It is attained on" in str(RESPONSE.delta(exp_epsilon=2))
    assert str(RESPONSE.delta(exp_epsilon=4)).endswith(
        "No two neighbouring datasets have a likelihood ratio above e^ε."
    )
    assert str(coin.bind(n=2).privacy()).endswith("All neighbouring datasets have the same output law.")
    assert str(coin.bind(n=2).renyi(2)).endswith("All neighbouring datasets have the same output law.")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "ask",
    [
        lambda instance: instance.privacy(),
        lambda instance: instance.privacy(delta="1/10"),
        lambda instance: instance.delta(exp_epsilon=2),
        lambda instance: instance.delta(epsilon=1),
        lambda instance: instance.renyi(3),
    ],
)
@pytest.mark.parametrize("datasets", [0, 1, 2])
def test_a_stopped_search_claims_no_more_than_it_knows(ask: Callable[[Instance], Any], datasets: int) -> None:
    found = ask(stopped(datasets=datasets))
    said = str(found)
    assert found.cut_short
    assert said.count("interrupted") == 1
    assert "It is attained" not in said
    assert "No two neighbouring" not in said
    assert "All neighbouring" not in said
    assert "one of ." not in said
    assert "at least" in said
    assert "at most" in said


def test_an_enclosure_by_nature_was_not_cut_short() -> None:
    found = RESPONSE.delta(epsilon="10001/10003")
    assert found.status == "bounded"
    assert not found.cut_short
    assert "The lower end is reached on" in str(found)
    witness = found.witness
    assert witness is not None
    p, q = (sum(RESPONSE.probability(x, y) for y in witness.event) for x in (witness.x, witness.x_prime))
    _low, high = found.exp_epsilon if isinstance(found.exp_epsilon, tuple) else (F(0), F(0))
    assert p - high * q >= found.lower - F(1, 10**29)


def test_the_worst_dataset_is_only_so_far() -> None:
    found = stopped_after(total.bind(n=4, lam="1/5"), 2).accuracy(1)
    assert "The worst dataset so far is" in str(found)
    assert "The worst dataset is x" in str(TOTAL.accuracy(1))


def test_an_undecided_claim_has_no_tight_value() -> None:
    said = str(stopped().verify(exp_epsilon=4))
    assert "the claim is not decided" in said
    assert "tight value is attained" not in said


def test_a_refuted_claim_says_where_it_fails() -> None:
    assert "The claim fails on x = " in str(RESPONSE.verify(exp_epsilon=1, delta="1/10"))
    assert "The claim fails on the dataset x = " in str(TOTAL.verify(alpha=1, beta=0))
    assert "fails" not in str(RESPONSE.verify(exp_epsilon=4, delta="1/10"))
    assert "The claim fails on x = " in str(stopped().verify(exp_epsilon=1, delta="1/10"))


def test_equal_rows_of_efficacy_are_one_in_text_only() -> None:
    found = total.bind(n=6, lam="1/5").efficacy()
    lines = [line for line in str(found).splitlines() if re.match(r"\d", line)]
    assert len(lines) == 1
    assert lines[0].startswith("1-6 ")
    assert [row["guesses"] for row in found.to_dict()["result"]["rows"]] == [1, 2, 3, 4, 5, 6]
    differing = total.bind(n=3, lam="1/5").efficacy(adaptive=True)
    assert [line[:2] for line in str(differing).splitlines() if re.match(r"\d", line)] == ["1 ", "2 ", "3 "]


def test_html_of_a_diagram_shows_it() -> None:
    html = RESPONSE.show()._repr_html_()
    assert "<svg " in html
    assert html.count("<svg ") == html.count("</svg>") == 1


# Widths.

CELLS = st.text(st.sampled_from("0123456789/.≈ε ab"), min_size=1, max_size=24).map(lambda text: " ".join(text.split()))


@given(st.integers(1, 6), st.integers(0, 5), st.integers(20, 90), st.integers(1, 2), st.data())
def test_tables_break_no_word_at_any_width(columns: int, rows: int, width: int, keys: int, data: Any) -> None:
    row = st.tuples(*[CELLS.filter(bool)] * columns)
    header, *cells = (data.draw(row) for _ in range(rows + 1))
    lines = table(header, cells, width, min(keys, columns))
    words = {word for each in (header, *cells) for cell in each for word in cell.split()}
    assert {word for line in lines for word in line.split()} <= words
    for each in cells:
        for cell in each:
            assert set(cell.split()) <= {word for line in lines for word in line.split()}
    longest = max(map(len, words))
    assert all(len(line) <= width or longest + max(map(len, header)) + 2 > width for line in lines)


@given(st.lists(st.text("ab1/", min_size=1, max_size=30), min_size=1, max_size=20), st.integers(20, 60))
def test_sentences_break_between_words(words: list[str], width: int) -> None:
    lines = wrapped(" ".join(words), width)
    assert " ".join(lines).split() == words
    assert all(len(line) <= width or " " not in line for line in lines)


@pytest.mark.parametrize("width", [20, 28, 40, 60, 80, 120])
@pytest.mark.parametrize(
    "result",
    [
        total.bind(n=3, lam="1/5").efficacy(adaptive=True),
        RESPONSE.privacy(top=3),
        TOTAL.accuracy(3),
        LEAK.distribution((0, 1)),
        TOTAL.verify(epsilon=2, alpha=3, beta="1/10"),
        audit(canaries=100, guesses=50, correct=40, delta="1/1000"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, int) else str(value),
)
def test_results_fit_their_width(result: Any, width: int) -> None:
    lines = text_of(view(result), width).splitlines()
    whole = set(text_of(view(result)).split())
    assert {word for line in lines for word in line.split()} <= whole
    assert all(len(line) <= width or len(line.split()) <= 2 for line in lines)


def test_a_row_is_a_list_where_no_two_columns_fit() -> None:
    view = View("heading", (), Grid(("n", "first", "second"), (("1", "123456789012345", "1234567890"),)))
    assert text_of(view, 22).splitlines()[2:] == ["n       1", "first", "  123456789012345", "second  1234567890"]


# Exit states.


@pytest.mark.slow(seconds=3)
def test_exit_states(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    mechanisms = "mechanisms.py:response", "n=3", "lam=1/5"
    assert run(capsys, "privacy", *mechanisms)[0] == 0
    assert run(capsys, "privacy", *mechanisms, "--epsilon", "1")[0] == 0
    assert run(capsys, "verify", *mechanisms, "--epsilon", "1")[0] == 1
    assert run(capsys, "privacy", *mechanisms, "--max-nodes", "0")[0] == 2
    assert run(capsys, "privacy", *mechanisms, "--max-nodes", "3")[0] == 3
    assert run(capsys, "privacy", "mechanisms.py:first", "n=30", "--delta", "1/10")[0] == 3
    assert run(capsys, "sweep", "mechanisms.py:first", "n=1..3", "--max-nodes", "12")[0] == 3


@pytest.mark.one_in(3)
@pytest.mark.parametrize("command", ["privacy", "sweep"])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_interrupted_commands_end_with_130(tmp_path: Path, command: str, options: list[str]) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    size = "n=12" if command == "privacy" else "n=11..12"
    process = subprocess.Popen(
        [sys.executable, "-m", "tightdp", command, "slow.py", size, *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stderr is not None
    for _ in range(3):
        assert process.stderr.readline() == "working\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    if options:
        assert json.loads(out)["status"] == "unresolved"
    else:
        assert out.count("interrupted") == 1
        assert "It is attained" not in out


def test_a_limit_is_told_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    asked = "privacy", "mechanisms.py:response", "n=9", "lam=1/5", "--max-nodes", "3"
    _, out, err = run(capsys, *asked)
    assert (out + err).count("more than 3 nodes") == 1
    _, out, err = run(capsys, *asked, "--json")
    assert (out + err).count("more than 3 nodes") == 1


# Sweeps.


@pytest.mark.slow(seconds=4)
def test_what_a_sweep_does_not_know_is_left_open(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(GOLDEN)
    asked = "sweep", "mechanisms.py:first", "n=2..3", "--max-nodes", "12"
    status, out, _ = run(capsys, *asked, "--csv")
    assert status == 3
    assert out.splitlines()[1:] == ["2,2,0.6931471805599453,exact,2,2", "3,,,unresolved,,"]
    assert "inf" not in run(capsys, *asked)[1]
    found = mechanisms_of(import_file(GOLDEN / "mechanisms.py"))["first"].bind(n=29).sweep({"n": [29]}, delta="1/10")
    assert found.csv().splitlines()[1:] == ["29,,,bounded,17/10,2"]
    assert "17/10 = 1.7 to 2" in str(found)


def test_a_sweep_over_efficacy(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    asked = "sweep", "mechanisms.py:total", "n=2..4", "lam=1/5", "--efficacy"
    status, out, _ = run(capsys, *asked, "--guesses", "1", "--csv")
    assert status == 0
    assert out.splitlines()[0] == "n,efficacy,ac,ddp,dp,status,lower,upper"
    for line, n in zip(out.splitlines()[1:], (2, 3, 4), strict=True):
        row = total.bind(n=n, lam="1/5").efficacy(1).rows[0]
        assert [F(value) for value in line.split(",")[1:5]] == [row.efficacy, row.ac, row.ddp, row.dp]
    assert run(capsys, "sweep", "mechanisms.py:total", "n=2..4", "lam=1/5", "--guesses", "1")[0] == 2


# Words that are not understood.


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10.0), ("1m", 60.0), ("500ms", 0.5), ("2 h", 7200.0), (5, 5.0), ("1/2", 0.5)]
)
def test_durations(text: Any, seconds: float) -> None:
    assert read_seconds("timeout", text) == seconds


@pytest.mark.parametrize("text", ["soon", "10 parsecs", "-1", "inf", "", "s", float("nan"), "1/0"])
def test_durations_that_are_none(text: Any) -> None:
    with pytest.raises(ParameterError, match="which is not a duration") as caught:
        read_seconds("timeout", text)
    assert "10s" in caught.value.hint


OPTIONAL = [each for each in signature(Mechanism.bind).parameters.values() if each.default is not Parameter.empty]
DEFAULTS = [each.default for each in OPTIONAL]


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (lambda: RESPONSE.privacy(epsilon=1), "delta(epsilon=...)"),  # type: ignore[call-arg]
        (lambda: RESPONSE.privacy(0.1), "privacy(delta=...)"),  # type: ignore[misc]
        (lambda: RESPONSE.privacy(delt=1), "did you mean delta?"),  # type: ignore[call-arg]
        (lambda: RESPONSE.delta(1), "delta(exp_epsilon=...)"),  # type: ignore[misc]
        (lambda: RESPONSE.verify(eps=1), "did you mean epsilon?"),  # type: ignore[call-arg]
        (lambda: RESPONSE.renyi(), "renyi(order)"),  # type: ignore[call-arg]
        (lambda: RESPONSE.distribution((0, 0), x=(0, 0)), "distribution(x)"),  # type: ignore[misc]
        (lambda: response.bind(lam="1/5"), "bind(n=..."),  # type: ignore[call-arg]
        (lambda: response.bind(3, *DEFAULTS, "1/5"), "write lam=..."),
        (lambda: response.bind(n=3), "give lam=..."),
        (lambda: audit(canaries=3, guesses=2), "correct=..."),  # type: ignore[call-arg]
    ],
)
def test_calls_that_do_not_fit_say_what_to_write(wrong: Callable[[], Any], hint: str) -> None:
    with pytest.raises(TightdpError) as caught:
        wrong()
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("command", "option", "meant"),
    [
        ("verify", "--eps", "--epsilon"),
        ("privacy", "--exp_epsilon", "--exp-epsilon"),
        ("privacy", "--neighbors", "--neighbours"),
        ("privacy", "--time-out", "--timeout"),
        ("accuracy", "--alhpa", "--alpha"),
        ("audit", "--canarys", "--canaries"),
        ("sweep", "--cvs", "--csv"),
    ],
)
def test_the_nearest_option_is_named(capsys: pytest.CaptureFixture[str], command: str, option: str, meant: str) -> None:
    needed = {"accuracy": ["--alpha", "1"], "audit": ["--canaries", "3", "--guesses", "1", "--correct", "1"]}
    place = [] if command == "audit" else [str(GOLDEN / "single.py"), "n=2"]
    status, out, err = run(capsys, command, *place, *needed.get(command, []), option, "1")
    assert (status, out) == (2, "")
    assert f"did you mean {meant}?" in err


def test_python_m_tightdp_and_its_version() -> None:
    for option in ("--version", "--help"):
        done = subprocess.run(
            [sys.executable, "-m", "tightdp", option], capture_output=True, text=True, env=environment(), check=True
        )
        assert done.stdout.startswith("tightdp " if option == "--version" else "usage: tightdp")


def test_a_command_imports_no_other() -> None:
    script = "import sys; from tightdp.cli.main import command_module; command_module('privacy')\n"
    script += "print([name for name in sys.modules if name.startswith('tightdp.cli.commands.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout == "['tightdp.cli.commands.question']\n"
