"""The measurements as a Markdown table and as a drawing."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from measure import Outcome

__all__ = ["Row", "draw", "table", "write_between", "write_table"]


@dataclass(frozen=True)
class Row:
    """One task: what tightdp took, and what the peers took."""

    name: str
    ours: Outcome
    others: dict[str, Outcome]

    def cell(self, peer: str) -> str:
        """A peer's time, and how many times as long as tightdp it took."""
        other = self.others[peer]
        if other.seconds is None:
            return other.failure
        if self.ours.seconds is None:
            return _seconds(other.seconds)
        return f"{_seconds(other.seconds)} ({_times(other.seconds / self.ours.seconds)})"

    def own(self) -> str:
        """The time of tightdp, or why there is none."""
        return self.ours.failure if self.ours.seconds is None else _seconds(self.ours.seconds)

    def line(self) -> str:
        """The row on one line."""
        others = "; ".join(f"{peer} {self.cell(peer)}" for peer in self.others)
        return f"{self.name}: {self.own()} = {_number(self.ours.answer)}; {others}"

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON."""
        return {"task": self.name, "tightdp": asdict(self.ours), **{k: asdict(v) for k, v in self.others.items()}}


def table(rows: Sequence[Row], start: Outcome) -> str:
    """The table in Markdown."""
    peers = list(rows[0].others) if rows else []
    lines = [
        f"| task | answer | tightdp | memory | {' | '.join(peers)} |",
        f"| --- | --- | --- | --- |{' --- |' * len(peers)}",
    ]
    for row in rows:
        memory = "" if row.ours.megabytes is None else f"{row.ours.megabytes:.0f} MB"
        cells = [row.name, _number(row.ours.answer), row.own(), memory, *(row.cell(peer) for peer in peers)]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    if start.seconds is not None:
        lines.append(
            f"Starting Python, importing tightdp and compiling a program of one record takes "
            f"{_seconds(start.seconds)} and {start.megabytes:.0f} MB of this."
        )
    return "\n".join(lines)


def write_between(path: Path, mark: str, text: str) -> None:
    """Put a text between `<!-- mark -->` and `<!-- /mark -->` of a page."""
    page = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, after = page[: page.index(begin) + len(begin)], page[page.index(end) :]
    path.write_text(f"{before}\n\n{text}\n\n{after}", encoding="utf-8")


def write_table(
    description: str, columns: str, rows: Iterable[tuple[str, Callable[[], str]]], path: Path, mark: str
) -> None:
    """Run and print the rows of a table, those that the command line names; with --write they go into a page."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only rows whose name has this in it")
    parser.add_argument("--write", action="store_true", help=f"put the table into {path.name}")
    options = parser.parse_args()
    lines = [columns, "| " + " | ".join("---" for _ in range(columns.count("|") - 1)) + " |"]
    print(*lines, sep="\n", flush=True)
    for name, row in rows:
        if not options.names or any(part in name for part in options.names):
            lines.append(row())
            print(lines[-1], flush=True)
    if options.write:
        write_between(path, mark, "\n".join(lines))


def draw(curves: dict[str, dict[str, list[tuple[int, float]]]], path: Path) -> None:
    """Draw time against n, one panel per family."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "tightdp", "svg.fonttype": "none"})
    figure, panels = pyplot.subplots(1, len(curves), figsize=(4 * len(curves), 3.6), sharey=True, layout="constrained")
    style = {
        "tightdp": ("#1d4ed8", "o"),
        "brute force": ("#6b7280", "s"),
        "ProbLog": ("#b45309", "^"),
        "Storm": ("#047857", "D"),
    }
    for panel, (family, tools) in zip(panels, curves.items(), strict=True):
        for tool, points in tools.items():
            colour, marker = style[tool]
            panel.plot(*zip(*points, strict=True), label=tool, color=colour, marker=marker, markersize=4, linewidth=1.4)
        panel.set(xscale="log", yscale="log", xlabel="records n", title=family)
        panel.title.set_fontsize(10)
        panel.minorticks_off()
        panel.grid(True, which="major", color="#e5e7eb")
    panels[0].set_ylabel("seconds, start-up included")
    panels[0].legend(frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None})


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def _times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def _number(answer: Any) -> str:
    if answer is None:
        return ""
    text = str(answer)
    if len(text) <= 12 or text == "inf":
        return text
    value = Fraction(text)
    return f"≈ {float(value):.6g}"
