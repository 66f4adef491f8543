"""Cliffs: tightdp against going through all runs, on many mechanisms, from one number of records to the next.

    python benchmarks/cliffs.py                      every cell, an hour or two; goes on where it was interrupted
    python benchmarks/cliffs.py sparse --limit 20    mechanisms whose name has this in it
    python benchmarks/cliffs.py --report             only the report of what was measured

Both sides find the tight likelihood ratio, each in a process of its own; the time is that of the processor, without
the start of Python. The naive side goes through every run of every dataset with the interpreter. A cell that was too
late counts with its limit. The worst ratio is (time of tightdp - 1 s) / (naive time), the steepest step the quotient
of tightdp's times (at least 1 s each) at two sizes that follow one another.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SIZES = (1, 2, 3, 4, 6, 8)
DRAWN = range(20)
WAYS = ("naive", "tightdp")

Cells = dict[tuple[str, int, str], dict[str, Any]]
"""What was measured, by mechanism, number of records and way."""


def handwritten() -> dict[str, Any]:
    """The mechanisms of the folder, by name."""
    sys.path.insert(0, str(HERE))
    found: dict[str, Any] = {}
    for path in sorted((HERE / "mechanisms").glob("*.py")):
        module = __import__(f"mechanisms.{path.stem}", fromlist=["_"])
        found |= {name: value for name, value in vars(module).items() if hasattr(value, "bind")}
    return found


def drawn(seed: int) -> Any:
    """A drawn mechanism."""
    import linecache

    sys.path.insert(0, str(HERE.parent / "tests"))
    import tightdp
    from strategies import write_program

    case = next(
        made
        for more in range(100)
        if (made := write_program(random.Random(1000 * seed + more))).neighbours == "replace-one"
    )
    name = f"<drawn {seed}>"
    linecache.cache[name] = (len(case.source), None, case.source.splitlines(keepends=True), name)
    module = types.ModuleType(f"drawn_{seed}")
    vars(module).update({key: getattr(tightdp, key) for key in tightdp.__all__})
    exec(compile(case.source, name, "exec"), vars(module))
    return tightdp.mechanism(record=case.record)(module.f), case.n, case.parameters


def cell(name: str, n: int, way: str) -> dict[str, Any]:
    """Measure one cell in this process."""
    if name.startswith("drawn"):
        made, least, parameters = drawn(int(name.removeprefix("drawn")))
        if n < least:
            return {"skipped": "the program reads more records"}
    else:
        made, parameters = handwritten()[name], {}
    instance = made.bind(n=n, **parameters)
    start = _processor()
    answer = naive(instance) if way == "naive" else ours(instance)
    return {"seconds": _processor() - start, "answer": answer}


def _processor() -> float:
    mine = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in mine)


def naive(instance: Any) -> str:
    """The tight ratio by going through all runs."""
    from tightdp.errors import TightdpError
    from tightdp.language import interp
    from tightdp.language.neighbours import relation_of

    bound = instance.engine.bound
    neighbours = relation_of(bound).neighbours
    try:
        laws = {x: interp.law(bound, x) for x in product(bound.record.values, repeat=bound.n)}
    except TightdpError as error:
        return type(error).__name__
    largest = Fraction(1)
    for x, law in laws.items():
        for other in neighbours(x):
            for output, probability in law.items():
                if output not in laws[other]:
                    return "infinite"
                largest = max(largest, probability / laws[other][output])
    return str(largest)


def ours(instance: Any) -> str:
    """The tight ratio by tightdp."""
    from tightdp.errors import TightdpError

    try:
        found = instance.privacy()
    except TightdpError as error:
        return type(error).__name__
    if found.status != "exact":
        return found.status
    ratio = found.exp_epsilon
    return "infinite" if ratio == float("inf") else str(ratio)


def measured(name: str, n: int, way: str, limit: float) -> dict[str, Any]:
    """Measure one cell in a process of its own, for at most some seconds."""
    command = [sys.executable, "-W", "ignore", str(HERE / "cliffs.py"), "--cell", name, str(n), way]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"late": True, "seconds": time.monotonic() - start}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def names() -> list[str]:
    """All mechanisms, by name."""
    return [*handwritten(), *(f"drawn{seed}" for seed in DRAWN)]


def measure(part: str, limit: float, store: Path) -> None:
    """Measure what is not measured yet; larger sizes of what was late are left out."""
    known = load(store)
    with store.open("a", encoding="utf-8") as file:
        for name in names():
            if part not in name:
                continue
            for way in WAYS:
                for n in SIZES:
                    if (name, n, way) in known:
                        late = "late" in known[name, n, way]
                    else:
                        result = measured(name, n, way, limit)
                        late = "late" in result
                        known[name, n, way] = result
                        file.write(json.dumps({"name": name, "n": n, "way": way, **result}) + "\n")
                        file.flush()
                    if late:
                        break


def load(store: Path) -> Cells:
    """What was measured before."""
    if not store.exists():
        return {}
    entries = map(json.loads, store.read_text(encoding="utf-8").splitlines())
    return {(entry["name"], entry["n"], entry["way"]): entry for entry in entries}


def rows(
    known: dict[tuple[str, int, str], dict[str, Any]],
) -> Iterator[tuple[str, int, dict[str, Any], dict[str, Any]]]:
    """Every cell that was measured both ways, or by tightdp where the naive way was late before."""
    for name in names():
        before: dict[str, Any] = {}
        for n in SIZES:
            left, right = known.get((name, n, "naive"), before), known.get((name, n, "tightdp"))
            before = left if "late" in left else {}
            if right is not None and "seconds" in right and "seconds" in left:
                yield name, n, left, right


def report(store: Path) -> None:
    """Print the cells, the worst ratio, the steepest step, and every answer that differs."""
    found = list(rows(load(store)))
    ratios, steps = [], []
    for name, n, left, right in found:
        ratio = max(right["seconds"] - 1, 0) / max(left["seconds"], 0.001)
        if "late" not in left:
            ratios.append((ratio, name, n))
        marks = " ".join("late" if "late" in one else one.get("answer", "")[:24] for one in (left, right))
        print(f"{name:28} n={n}  naive {left['seconds']:8.2f}  tightdp {right['seconds']:8.2f}  {marks}")
        answers = {one["answer"] for one in (left, right) if "answer" in one}
        if len(answers) > 1:
            print(f"    the answers differ: {answers}")
    for (name, n, left, right), (same, m, later, after) in pairwise(found):
        if name == same:
            step = max(after["seconds"], 1) / max(right["seconds"], 1)
            naive_step = max(later["seconds"], 0.01) / max(left["seconds"], 0.01)
            steps.append((step, name, n, m, naive_step))
    for ratio, name, n in sorted(ratios, reverse=True)[:8]:
        print(f"ratio {ratio:8.2f}  {name} n={n}")
    for step, name, n, m, naive_step in sorted(steps, reverse=True)[:8]:
        print(f"step  {step:8.2f}  {name} n={n} to {m} (naive {naive_step:.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", default="", help="a part of the names of mechanisms")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a cell")
    parser.add_argument("--store", type=Path, default=Path("cliffs.jsonl"), help="where measurements are kept")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        name, n, way = arguments.cell
        print(json.dumps(cell(name, int(n), way)))
        return
    if not arguments.report:
        measure(arguments.part, arguments.limit, arguments.store)
    report(arguments.store)


if __name__ == "__main__":
    main()
