"""What cannot be written is refused before the work: before the file of the mechanism is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import run

PLOT = pytest.mark.extra("plot")

WRITING = [
    ("sweep", "f.py", "n=1..2", "--csv"),
    ("show", "f.py", "--dot"),
    ("show", "f.py", "--svg"),
    ("certify", "f.py", "--output"),
    ("certify", "audit", "--canaries", "9", "--guesses", "9", "--correct", "9", "--output"),
    ("report", "f.py", "--output"),
    ("claims", "mine.py", "--report"),
    ("figures", "mine.py", "--out"),
    *(
        pytest.param((*words, "--plot"), marks=PLOT)
        for words in (
            ("privacy", "f.py", "--curve"),
            ("sweep", "f.py", "n=1..2"),
            ("audit", "--canaries", "9", "--guesses", "9", "--correct", "9"),
        )
    ),
]


@pytest.fixture(autouse=True)
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with a file, and nothing else."""
    monkeypatch.chdir(tmp_path)
    Path("a file").touch()


@pytest.mark.parametrize("words", WRITING, ids=lambda words: f"{words[0]} {words[-1]}")
def test_places_that_cannot_be_written(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    targets = ["a file/below.svg", f"{'x' * 300}.svg"]
    if words[-1] not in ("--report", "--out"):  # directories are made
        Path("folder.svg").mkdir()
        targets += ["missing/below.svg", "folder.svg"]
    for target in targets:
        status, out, said = run(capsys, *words, target)
        assert (status, out) == (2, "")
        assert said.startswith("cannot write ")
        assert target in said
    assert sorted(path.name for path in Path().iterdir()) == sorted({"a file", *targets} & {"a file", "folder.svg"})


@PLOT
@pytest.mark.parametrize("target", ["curve", "curve.xyz", "-", "curve."])
def test_pictures_have_a_form(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, said = run(capsys, "privacy", "f.py", "--curve", "--plot", target)
    assert status == 2
    assert f"cannot write {target}: " in said
    assert "is no form of picture" in said
