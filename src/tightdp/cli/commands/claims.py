"""What ships with the package: `claims` of papers, decided again, their `figures`, computed exactly, and `programs`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from difflib import get_close_matches
from pathlib import Path

from tightdp._version import __version__
from tightdp.claims.command import located
from tightdp.claims.command import run as run_claims
from tightdp.claims.figures import Cell, Figure, as_csv, draw, exact_text, shown
from tightdp.claims.run import load_papers
from tightdp.cli.answer import DONE
from tightdp.cli.jobs import answers
from tightdp.cli.targets import UsageError, writable_directory
from tightdp.errors import ParameterError
from tightdp.present import plot
from tightdp.present.text import Grid, View, print_view, table, terminal_width
from tightdp.results.recorded import SCHEMA
from tightdp.session.files import BuiltIn, builtin_program, builtin_programs, builtin_schemas, nearest_program

Made = list[tuple[str, Figure, list[tuple[Cell, ...]]]]


def run(options: Namespace) -> int:
    """Run the claims on several processes or a cluster, or compute the figures, or list the programs that ship."""
    if options.command == "figures":
        return _figures(options)
    if options.command == "programs":
        return _programs(options)
    if options.command == "schema":
        return _schema(options.name)
    if options.report is not None:
        writable_directory(options.report)
    return run_claims(options, lambda work, tasks: answers(work, tasks, options))


def _figures(options: Namespace) -> int:
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


def _schema(name: str | None) -> int:
    """Print the schema of one command, or the names of all."""
    known = builtin_schemas()
    if name is None:
        sys.stdout.write("".join(f"{each}\n" for each in known))
        return DONE
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
        raise UsageError(f"there is no schema {name}", hint)
    sys.stdout.write(known[name].read_text(encoding="utf-8"))
    return DONE


def _write(made: Made, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    if not plot.installed():
        sys.stderr.write("no pictures are drawn: they need Matplotlib, the extra plot\n")
    for paper, figure, rows in made:
        stem = f"{paper}-{figure.name.lower().replace(' ', '-').replace('.', '')}"
        (directory / f"{stem}.csv").write_text(as_csv(figure, rows), encoding="utf-8")
        if figure.drawn and plot.installed():
            draw(figure, rows, directory / f"{stem}.png")


def _programs(options: Namespace) -> int:
    if options.name is not None:
        sys.stdout.write(_named(options.name).path.read_text(encoding="utf-8"))
        return DONE
    found = builtin_programs()
    if options.json:
        listed = [{"name": one.name, "mechanisms": list(one.mechanisms), "summary": one.summary} for one in found]
        about = {"schema": SCHEMA, "tightdp": __version__, "query": "programs"}
        json.dump({**about, "programs": listed}, sys.stdout)
        sys.stdout.write("\n")
        return DONE
    rows = tuple((one.name, one.summary) for one in found)
    said = (
        "Every command takes these names in place of a file, as in: tightdp privacy randomized_response n=8 lam=1/5",
        "tightdp programs NAME prints the source, with its parameters.",
    )
    print_view(View("programs that ship with tightdp", (), Grid(("name", "what"), rows), said), sys.stdout)
    return DONE


def _named(name: str) -> BuiltIn:
    found = builtin_program(name)
    if found is None:
        close = nearest_program(name)
        hint = f"did you mean {close}?" if close else "tightdp programs lists them"
        raise UsageError(f"there is no program {name!r} in the package", hint)
    return found
