"""Sweeps on several processes or a cluster: the same table, written as it comes, continued after an interruption."""

from __future__ import annotations

import json
from argparse import Namespace
from fractions import Fraction
from pathlib import Path

import pytest

from command_line import run
from tightdp import Bit, flip, mechanism
from tightdp.cli.answer import Asked, ask
from tightdp.cli.commands import sweep
from tightdp.cli.jobs import of_search
from tightdp.limits import can_fork
from tightdp.results.answers import Unknown
from tightdp.results.result import Subject

MECHANISM = """
from pathlib import Path

from tightdp import Bit, flip, mechanism


def noted(x):
    with (Path(__file__).parent / "asked").open("a") as file:
        file.write(f"{len(x)}\\n")
    yield (1 - x[0], *x[1:])


@mechanism(record=Bit, neighbours=noted)
def f(x, lam):
    return x[0] ^ flip(lam)
"""

SWEEP = ("sweep", "f.py", "n=1..4", "lam=1/5,1/3", "--csv", "f.csv")
TABLE = """\
n,lam,exp_epsilon,epsilon,status,lower,upper
1,1/5,4,1.3862943611198906,exact,4,4
1,1/3,2,0.6931471805599453,exact,2,2
2,1/5,4,1.3862943611198906,exact,4,4
2,1/3,2,0.6931471805599453,exact,2,2
3,1/5,4,1.3862943611198906,exact,4,4
3,1/3,2,0.6931471805599453,exact,2,2
4,1/5,4,1.3862943611198906,exact,4,4
4,1/3,2,0.6931471805599453,exact,2,2
"""


@pytest.fixture(autouse=True)
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the mechanism."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.py").write_text(MECHANISM, encoding="utf-8")
    return tmp_path


def asked() -> set[str]:
    """The sizes of the datasets that were looked at since the last call."""
    note = Path("asked")
    found = set(note.read_text(encoding="utf-8").split()) if note.exists() else set()
    note.unlink(missing_ok=True)
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", ["1", "2"])
def test_the_same_table(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *SWEEP, "--jobs", number)[0] == 0
    assert Path("f.csv").read_text(encoding="utf-8") == TABLE
    assert not Path("f.csv.unfinished").exists()
    printed = run(capsys, *SWEEP[:-2], "--jobs", number)[1]
    assert [line.split()[:3] for line in printed.splitlines()[3:]] == [
        line.split(",")[:3] for line in TABLE.splitlines()[1:]
    ]


def interrupted_after(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt a sweep after so many rows."""
    whole, done = sweep._row, []

    def row(task: sweep._Task) -> Asked:
        if len(done) == rows:
            subject = Subject("f", (("n", task.parameters["n"]), ("lam", task.parameters["lam"])), "noted")
            return Asked(Unknown(subject=subject, status="unresolved", name="privacy"), interrupted=True)
        done.append(task)
        return whole(task)

    monkeypatch.setattr(sweep, "_row", row)


def test_an_interrupted_sweep_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with monkeypatch.context() as patched:
        interrupted_after(5, patched)
        stopped = run(capsys, *SWEEP, "--jobs", "1")
    assert (stopped[0], stopped[2]) == (130, "interrupted: 5 of 8 rows are known; the same command goes on\n")
    assert Path("f.csv").read_text(encoding="utf-8").splitlines()[:6] == TABLE.splitlines()[:6]
    assert asked() == {"1", "2", "3"}
    status, _, said = run(capsys, *SWEEP, "--jobs", "1", "--timeout", "1m")  # other limits: exact rows stay
    assert status == 0
    assert "5 of 8 rows are in f.csv already" in said
    assert asked() == {"3", "4"}
    assert Path("f.csv").read_text(encoding="utf-8") == TABLE


@pytest.mark.one_in(2)
@pytest.mark.parametrize("change", ["source", "question", "finished"])
def test_another_sweep_starts_anew(
    change: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        interrupted_after(8 if change == "finished" else 5, patched)
        run(capsys, *SWEEP, "--jobs", "1")
    asked()
    if change == "source":
        Path("f.py").write_text(f"{MECHANISM}    # another one\n", encoding="utf-8")
    question = ("--delta", "1/100") if change == "question" else ()
    assert run(capsys, *SWEEP, "--jobs", "1", *question)[0] == 0
    assert asked() == {"1", "2", "3", "4"}
    assert (Path("f.csv").read_text(encoding="utf-8") == TABLE) == (change != "question")


def test_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *SWEEP, "--jobs", "0")[0] == 2
    assert "exclude each other" in run(capsys, *SWEEP, "--jobs", "2", "--dask", "tcp://127.0.0.1:1")[2]


@pytest.mark.slow(seconds=4)
@pytest.mark.extra("dask")
@pytest.mark.parametrize(("workers", "threads"), [(2, 1), (1, 8)])
def test_a_cluster(workers: int, threads: int, capsys: pytest.CaptureFixture[str]) -> None:
    import distributed

    with distributed.LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=None) as cluster:
        status, _, said = run(capsys, *SWEEP, "--dask", cluster.scheduler_address)
        assert (status, said) == (0, "")
    assert Path("f.csv").read_text(encoding="utf-8") == TABLE


def test_diagram_sizes_and_audits(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = run(capsys, "sweep", "randomized_response", "n=1..2", "lam=1/5", "--size")[1].splitlines()
    assert sizes[2].split()[:2] == ["n", "variables"]
    assert [line.split()[:2] for line in sizes[3:]] == [["1", "3"], ["2", "6"]]
    told = run(capsys, "sweep", "randomized_response", "n=1", "lam=1/5,1/3", "--guesses", "9")[2]
    assert "belongs to --efficacy" in told
    audit = ("--canaries", "100", "--guesses", "50", "--correct", "45", "--csv", "-")
    rows = run(capsys, "sweep", "randomized_response", "n=1", "lam=1/5,1/3", *audit)[1].splitlines()
    assert rows[0] == "lam,p_value,status,lower,upper"
    assert [round(float(Fraction(row.split(",")[1])), 6) for row in rows[1:]] == [0.048027, 0.000131]


STUCK = """
import os
import signal
import time

from tightdp import Bit, flip, mechanism


def stuck(x):
    if len(x) == 3:  # waits where no signal is heard, after Ctrl-C
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(60)
    yield (1 - x[0], *x[1:])


@mechanism(record=Bit, neighbours=stuck)
def f(x):
    return x[0] ^ flip("1/5")
"""


@pytest.mark.skipif(not can_fork(), reason="there are no child processes")
@pytest.mark.parametrize(
    "where",
    [
        pytest.param((), id="printed"),
        *(
            pytest.param(each, id=each[-1], marks=pytest.mark.slow(seconds=5))
            for each in (("--csv", "-"), ("--csv", "f.csv"))
        ),
    ],
)
def test_finished_rows_outlive_one_that_must_be_abandoned(
    where: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("f.py").write_text(STUCK, encoding="utf-8")
    status, printed, said = run(capsys, "sweep", "f.py", "n=1..4", "--jobs", "1", *where)
    assert status == 130
    written = Path("f.csv").read_text(encoding="utf-8") if "f.csv" in where else printed
    rows = [line.replace(",", " ").split() for line in written.splitlines()]
    assert [row[:2] for row in rows if row and row[0] in ("1", "2")] == [["1", "4"], ["2", "4"]]
    assert ("known rows are in f.csv; the same command goes on" in said) == ("f.csv" in where)
    assert ("Not decided everywhere: the query was interrupted." in printed) == (not where)


def test_processes_of_a_pool_draw_no_bars_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr("tightdp.cli.jobs.of_search", lambda: drawn.append("a bar") or of_search())
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    instance = response.bind(n=1)
    for parent, bars in ((None, ["a bar"]), (object(), [])):
        drawn.clear()
        monkeypatch.setattr("tightdp.cli.answer.parent_process", lambda parent=parent: parent)
        ask(instance, Namespace(command="privacy"), instance.privacy)
        assert drawn == bars


@mechanism(record=Bit)
def response(x):
    return x[0] ^ flip("1/5")


CLAIMS = ("claims", str(Path(__file__).parents[2] / "proofs" / "oakley2024"), "--quick", "--json")
SOME = ("--id", "O5", "--id", "O9", "--id", "O14")


def verdicts(printed: str) -> list[tuple[str, str]]:
    """The ids and verdicts of a report in JSON."""
    return [(claim["id"], claim["verdict"]) for claim in json.loads(printed)["result"]["claims"]]


@pytest.mark.slow(seconds=6)
@pytest.mark.extra("dask")
def test_claims_on_processes_and_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    import distributed

    alone = run(capsys, *CLAIMS, *SOME, "--jobs", "1")
    assert alone[0] == 0
    assert [id for id, _ in verdicts(alone[1])] == ["O5", "O9", "O14", "O14a", "O14b"]
    assert verdicts(run(capsys, *CLAIMS, *SOME, "--jobs", "2")[1]) == verdicts(alone[1])
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = run(capsys, *CLAIMS, *SOME, "--dask", cluster.scheduler_address)
    assert verdicts(there[1]) == verdicts(alone[1])
