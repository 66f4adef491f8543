"""The command `figures`: figures and tables of papers, computed exactly; see `tightdp.claims.figures`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from tightdp._version import __version__
from tightdp.claims.command import located
from tightdp.claims.figures import Cell, Figure, as_csv, draw, exact_text, shown
from tightdp.claims.files import load_papers
from tightdp.errors import ParameterError
from tightdp.present import plot
from tightdp.present.text import table, terminal_width
from tightdp.results.result import SCHEMA

__all__ = ["run"]

Made = list[tuple[str, Figure, list[tuple[Cell, ...]]]]


def run(options: Namespace) -> int:
    """Compute, print and write the figures."""
    papers = load_papers(Path(located(options.path)))
    chosen = [(paper.name, each) for paper in papers for each in paper.figures]
    if options.id:
        chosen = [(paper, each) for paper, each in chosen if each.name in options.id]
    if not chosen:
        raise ParameterError(f"{options.path} has no such figure", "tightdp figures lists them")
    made: Made = []
    for paper, figure in chosen:
        made.append((paper, figure, figure.rows()))
        if not options.json:
            _print(*made[-1])
    if options.json:
        json.dump(_as_dict(made, options.path), sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    if options.out is not None:
        _write(made, Path(options.out))
    return 0


def _print(paper: str, figure: Figure, rows: list[tuple[Cell, ...]]) -> None:
    lines = table(figure.header, [[shown(cell) for cell in row] for row in rows], terminal_width())
    sys.stdout.write("\n".join([f"{paper}, {figure.name}: {figure.caption}", *lines, "", ""]))


def _as_dict(made: Made, path: str) -> dict[str, object]:
    figures = [
        {
            "paper": paper,
            "name": figure.name,
            "caption": figure.caption,
            "header": list(figure.header),
            "rows": [[exact_text(cell) for cell in row] for row in rows],
        }
        for paper, figure, rows in made
    ]
    return {
        "schema": SCHEMA,
        "tightdp": __version__,
        "query": "figures",
        "parameters": {"path": str(path)},
        "status": "exact",
        "result": {"figures": figures},
    }


def _write(made: Made, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    if not plot.installed():
        sys.stderr.write("no pictures are drawn: they need Matplotlib, the extra plot\n")
    for paper, figure, rows in made:
        stem = f"{paper}-{figure.name.lower().replace(' ', '-').replace('.', '')}"
        (directory / f"{stem}.csv").write_text(as_csv(figure, rows), encoding="utf-8")
        if figure.drawn and plot.installed():
            draw(figure, rows, directory / f"{stem}.png")
