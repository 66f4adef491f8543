"""The documentation site is built without a warning, and the notebooks show what they show when they are run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    pages = {
        path.relative_to(tmp_path / "site").as_posix(): path.read_text(encoding="utf-8")
        for path in (tmp_path / "site").rglob("index.html")
    }
    for page in ("index", "tutorial/index", "api/index", "gallery/index", "proofs/report/index"):
        assert f"{page}.html" in pages, page
    for page in ("api/index.html", "api-results/index.html"):
        assert re.search(r'id="tightdp.(testing.assert_private|results.Privacy)"', pages[page])
    assert all("\\(" not in text and "output of " not in text for name, text in pages.items() if "notebooks" in name)
    for notebook in NOTEBOOKS:
        assert pages[f"notebooks/{notebook.stem}/index.html"].count("data:image/png") >= 2
    assert "<math" in pages["tutorial/index.html"]
    index = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text(encoding="utf-8"))
    for word in ("install", "pandas", "parallel", "glossary"):
        assert any(word in entry["title"].lower() for entry in index["docs"]), word
    outside = [
        url
        for text in pages.values()
        for url in re.findall(r'<(?:script|link|img)[^>]* (?:src|href)="(https?://[^"]*)"', text)
    ]
    assert outside == [], "the site needs no network"


def said(cell: Any) -> list[str]:
    """What a cell prints and shows, but for pictures, which are drawn a little differently elsewhere."""
    outputs = [output for output in cell.get("outputs", ()) if "image/png" not in output.get("data", {})]
    return ["".join(output.get("text", output.get("data", {}).get("text/plain", ""))) for output in outputs]


@pytest.mark.slow(seconds=6)
@pytest.mark.extra("notebooks")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    book = nbformat.read(path, as_version=4)
    shipped = [said(cell) for cell in book.cells]
    NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [cell for cell in book.cells if cell.cell_type == "code" and cell.execution_count is None] == []
    if "TIGHTDP_UPDATE_GOLDEN" in os.environ:
        for place, cell in enumerate(book.cells):
            cell.id = f"cell-{place}"
            cell.metadata.pop("execution", None)
        nbformat.write(book, path)
    else:
        assert [said(cell) for cell in book.cells] == shipped
    pictures = [
        output for cell in book.cells for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})
    ]
    assert len(pictures) >= 2


def test_there_are_three_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["auditor", "designer", "theory_author"]
