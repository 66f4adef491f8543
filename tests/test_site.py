"""The documentation site is built without a warning, and the notebooks run from top to bottom."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import environment

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.slow(seconds=6)
@pytest.mark.extra("docs")
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site")]
    variables = {**environment(), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for page in ("index", "tutorial/index", "api/index", "gallery/index", "proofs/report/index"):
        assert (tmp_path / "site" / f"{page}.html").is_file(), page
    assert "assert_private" in (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow(seconds=8)
@pytest.mark.extra("notebooks")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [cell for cell in book.cells if cell.cell_type == "code" and cell.execution_count is None] == []


def test_there_are_three_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["auditor", "designer", "theory_author"]
