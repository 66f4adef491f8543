"""How the time grows with what has to be read: sums, long programs, filters, one probability of a shuffled output.

    python benchmarks/growth.py                 every row at every size, each in a process of its own
    python benchmarks/growth.py filter --plot   rows whose name has this in it; --plot writes docs/growth.svg

The time is that of the processor in user mode, with the start of Python; a row ends where a size takes longer than
the limit.
"""

from __future__ import annotations

import argparse
import json
import linecache
import math
import resource
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tightdp
from tightdp import Bit, Int, Mechanism, flip, mechanism, randint, shuffle

HERE = Path(__file__).resolve().parent
PLOT = HERE.parent / "docs" / "growth.svg"


@mechanism(record=Bit)
def sum_of_flips(x: Any) -> Any:
    return sum(b if flip("3/4") else 1 - b for b in x)


@mechanism(record=Bit)
def wide_noise(x: Any, k: int = 1) -> Any:
    return randint(0, k) + x[0]


@mechanism(record=Bit)
def random_filter(x: Any) -> Any:
    return len([b for b in x if flip("3/4") == b])


@mechanism(record=Bit)
def filtered_sum(x: Any) -> Any:
    kept = [b if flip("3/4") else 1 - b for b in x if flip("1/2")]
    return sum(kept), len(kept)


@mechanism(record=Int(0, 2))
def shuffled(x: Any) -> Any:
    return shuffle([b if flip("1/2") else randint(0, 2) for b in x])


@mechanism(record=Bit)
def parity(x: Any, rounds: int = 1) -> Any:
    total = x[0]
    for _ in range(rounds):
        total = (total + flip("1/100")) % 2
    return total


def written(lines: list[str]) -> Mechanism:
    """A mechanism with these lines."""
    source = "\n".join(["def long_program(x):", *(f"    {line}" for line in lines)]) + "\n"
    name = f"<{len(lines)} lines>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module = types.ModuleType("long_program")
    vars(module).update({key: getattr(tightdp, key) for key in tightdp.__all__})
    exec(compile(source, name, "exec"), vars(module))
    return mechanism(record=Bit)(module.long_program)


def straight(size: int) -> Mechanism:
    """Straight code of so many lines."""
    return written(["a = x[0]", *(f"a = (a + {k % 3}) % 5" for k in range(size - 2)), "return flip((a + 1) / 7)"])


def branches(size: int) -> Mechanism:
    """So many blocks of `if flip`."""
    return written(["a = x[0]", *(f"if flip('1/{k % 5 + 2}'):\n        a = 1 - a" for k in range(size)), "return a"])


def one_probability(n: int) -> object:
    """One probability of a shuffled output."""
    x = tuple(at % 3 for at in range(n))
    return shuffled.bind(n=n).probability(x, x)


ROWS: dict[str, tuple[Callable[[int], object], tuple[int, ...]]] = {
    "sum of n flips": (lambda n: sum_of_flips.bind(n=n).privacy(), (125, 250, 500, 1000, 2000)),
    "randint(0, k) + x[0]": (lambda k: wide_noise.bind(n=1, k=k).privacy(), (500, 1000, 2000, 4000, 8000)),
    "filter, counted": (lambda n: random_filter.bind(n=n).privacy(), (25, 50, 100, 200, 400)),
    "filter, summed and counted": (lambda n: filtered_sum.bind(n=n).privacy(), (25, 50, 100)),
    "probability, shuffled": (one_probability, (15, 30, 60, 120)),
    "lines of straight code": (lambda n: straight(n).bind(n=1).privacy(), (375, 750, 1500, 3000, 6000)),
    "if flip blocks": (lambda n: branches(n).bind(n=1).privacy(), (190, 375, 750, 1500, 3000)),
    "rounds of parity": (lambda n: parity.bind(n=1, rounds=n).privacy(), (3750, 7500, 15000, 30000)),
}


def measured(row: str, size: int, limit: int) -> float | None:
    """Return the seconds of one size, None where it takes longer than the limit."""
    command = [sys.executable, "-W", "ignore", str(HERE / "growth.py"), "--cell", row, str(size)]

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))

    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=bound)
    return float(json.loads(done.stdout)) if done.returncode == 0 else None


def draw(found: dict[str, list[tuple[int, float]]]) -> None:
    """Draw time against size."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 4.5))
    for row, points in found.items():
        axes.plot([size for size, _ in points], [seconds for _, seconds in points], marker="o", label=row)
    axes.set(xscale="log", yscale="log", xlabel="size", ylabel="seconds (user time, with the start of Python)")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", default="", help="a part of the names of rows")
    parser.add_argument("--limit", type=int, default=100, help="seconds for a size")
    parser.add_argument("--plot", action="store_true", help="write the plot")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        row, size = arguments.cell
        ROWS[row][0](int(size))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_utime + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
        return
    found: dict[str, list[tuple[int, float]]] = {}
    for row, (_, sizes) in ROWS.items():
        if arguments.part in row:
            for size in sizes:
                seconds = measured(row, size, arguments.limit)
                print(f"{row:28} {size:6} {'late' if seconds is None else f'{seconds:7.2f} s'}", flush=True)
                if seconds is None:
                    break
                found.setdefault(row, []).append((size, seconds))
            points = found.get(row, [])
            if len(points) > 1:
                (low, first), (high, last) = points[0], points[-1]
                slope = math.log(max(last, 0.01) / max(first, 0.01)) / math.log(high / low)
                print(f"{'':28} time grows as the size to the power of {slope:.2f}")
    if arguments.plot:
        draw(found)


if __name__ == "__main__":
    main()
