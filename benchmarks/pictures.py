"""The pictures of the README and of docs/: `python benchmarks/pictures.py [NAME ...]` draws them anew.

A page says in backquotes which command draws a picture of it, as in `tightdp ... --plot first.svg`; the files that the
command names stand in the page. Those of docs/gallery.md, which show two versions each, are drawn here.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

from tightdp import Instance
from tightdp.cli import main as tightdp
from tightdp.session.files import builtin_program, import_file

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
COMMAND = re.compile(r"`(tightdp [^`\n]*--plot ([\w-]+\.svg)[^`\n]*)`")
FILE = re.compile(r"^```python\n(# ([\w-]+\.py)\n.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[Path, str, str]]:
    """Yield the page, the command and the name of every picture that a page says how to draw."""
    for page in (ROOT / "README.md", *sorted(DOCS.glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        for command, name in COMMAND.findall(text):
            if f"({name})" in text.replace("(docs/", "("):
                yield page, command, name


def draw(page: Path, command: str, name: str) -> None:
    """Run a command among the files that its page writes, and keep the picture."""
    with TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            for text, file in FILE.findall(page.read_text(encoding="utf-8")):
                Path(file).write_text(text, encoding="utf-8")
            if tightdp(shlex.split(command)[1:]) != 0:
                raise SystemExit(f"{page.name}: {command} did not end with exit status 0")
            shutil.move(name, DOCS / name)
        finally:
            os.chdir(before)


def instances(name: str, *versions: str) -> list[Instance]:
    """Return versions of a file of the gallery."""
    program = builtin_program(f"gallery/{name}")
    assert program is not None
    file = import_file(program.path)
    return [getattr(file, version).bind(**file.PARAMETERS) for version in versions]


def laws(axes: Any, instance: Instance, datasets: Sequence[tuple[Any, ...]]) -> None:
    """Draw the output laws on two datasets beside each other."""
    for place, x in enumerate(datasets):
        law = instance.distribution(x).law
        outputs = [float(output) + (place - 0.5) * 0.4 for output, _ in law]
        axes.bar(outputs, [float(mass) for _, mass in law], width=0.4, label=f"x = {x}")
    axes.set_xlabel("output")
    axes.set_ylabel("probability")
    axes.set_yscale("log")
    axes.set_title(str(instance.subject))
    axes.legend()


def gallery() -> None:
    """Draw what an exact answer shows of two defects."""
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
    for ax, instance in zip(axes, instances("floating_point", "shipped", "mended"), strict=True):
        laws(ax, instance, [(0,), (1,)])
    write(figure, "gallery-floating-point.svg")
    figure, ax = pyplot.subplots(figsize=(5, 3.4), layout="constrained")
    meant, shipped = instances("subsample_reused", "meant", "shipped")
    meant.curve().plot(ax, beside=[shipped.curve()], log_delta=False)
    for line, label in zip(ax.lines, ("a sample for each answer", "one sample for both answers"), strict=True):
        line.set_label(label)
    ax.set_title("subsample_reused(n=2, lam=1/5, answers=2)")
    ax.legend()
    write(figure, "gallery-subsample-reused.svg")


def write(figure: Any, name: str) -> None:
    """Write a picture of the gallery."""
    figure.savefig(DOCS / name)
    pyplot.close(figure)


def main(names: Sequence[str]) -> None:
    """Draw and write the pictures, or those that are named; each is the same whenever it is drawn."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    matplotlib.rcParams["svg.hashsalt"] = "tightdp"
    for page, command, name in commands():
        if not names or name in names:
            draw(page, command, name)
    if not names:
        gallery()


if __name__ == "__main__":
    main(sys.argv[1:])
