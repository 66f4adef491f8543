"""The pictures of docs/gallery.md: `python benchmarks/gallery_pictures.py` draws them anew."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

from tightdp import Instance
from tightdp.session.files import builtin_program, import_file

DOCS = Path(__file__).parent.parent / "docs"


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


def main() -> None:
    """Draw and write the pictures."""
    matplotlib.rcParams["svg.hashsalt"] = "tightdp"
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
    for ax, instance in zip(axes, instances("floating_point", "shipped", "mended"), strict=True):
        laws(ax, instance, [(0,), (1,)])
    write(figure, "gallery-floating-point.svg")
    figure, ax = pyplot.subplots(figsize=(5, 3.4), layout="constrained")
    for instance in instances("subsample_reused", "meant", "shipped"):
        instance.curve().plot(ax)
    ax.lines[0].set_label("a sample for each answer")
    ax.lines[2].set_label("one sample for both answers")
    for marks in (ax.lines[1], ax.lines[3]):
        marks.set_label("_")
    ax.set_title("subsample_reused(n=2, lam=1/5, answers=2)")
    ax.legend()
    write(figure, "gallery-subsample-reused.svg")


def write(figure: Any, name: str) -> None:
    """Write a picture that is the same each time."""
    figure.savefig(DOCS / name, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    main()
