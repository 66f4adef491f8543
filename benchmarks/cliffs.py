"""Cliffs: tightdp against going through all runs, on many mechanisms, from one number of records to the next.

    python benchmarks/cliffs.py                      every cell, half an hour; goes on where it was interrupted
    python benchmarks/cliffs.py sparse --limit 20    mechanisms whose name has this in it
    python benchmarks/cliffs.py --report             only the report of what was measured

Both sides answer the same question, each in a process of its own: the tight likelihood ratio of every mechanism, and
other questions (`QUESTIONS`) of some. The time is that of the processor, of all processes that take part, without the
start of Python. The naive side goes through every run of every dataset with the interpreter. A cell that was too late
counts with its limit, and larger sizes of it are left out; so are naive cells that would be late if they grew as they
did before. The naive side has half of the limit: beyond, it decides nothing.

The worst ratio is (time of tightdp - 1 s) / (naive time), the steepest step the quotient of tightdp's times (at least
1 s each) at two sizes that follow one another.
"""

from __future__ import annotations

import argparse
import json
import linecache
import os
import random
import resource
import select
import signal
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import tightdp  # noqa: E402
from strategies import write_program  # noqa: E402
from tightdp.errors import TightdpError  # noqa: E402
from tightdp.language import interp  # noqa: E402
from tightdp.language.neighbours import relation_of  # noqa: E402

SIZES = (1, 2, 3, 4, 6, 8)
DRAWN = range(20)
WAYS = ("naive", "tightdp")
PARAMETERS = {"integer_sum": {"k": 3, "lam": "1/5"}}
EVERY = 6
"""Of so many mechanisms one is asked the other questions too."""
_WAITING = 8
"""So many times the limit may pass by the clock, on a machine that does other things too."""

Cells = dict[tuple[str, int, str], dict[str, Any]]
"""What was measured, by mechanism with the question, number of records and way."""
Laws = dict[tuple[Any, ...], dict[Any, Any]]


def handwritten() -> dict[str, Any]:
    """The mechanisms of the folder, by name."""
    found: dict[str, Any] = {}
    for path in sorted((HERE / "mechanisms").glob("*.py")):
        module = __import__(f"mechanisms.{path.stem}", fromlist=["_"])
        found |= {name: value for name, value in vars(module).items() if hasattr(value, "bind")}
    return found


def drawn(seed: int) -> Any:
    """A drawn mechanism."""
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


# questions, and how brute force answers them


def _pairs(instance: Any, laws: Laws) -> Iterator[tuple[dict[Any, Any], dict[Any, Any]]]:
    neighbours = relation_of(instance.bound).neighbours
    return ((law, laws[other]) for x, law in laws.items() for other in neighbours(x))


def _laws(instance: Any) -> Laws:
    bound = instance.bound
    return {x: interp.law(bound, x) for x in product(bound.record.values, repeat=bound.n)}


def _naive_ratio(instance: Any) -> Any:
    largest = Fraction(1)
    for law, other in _pairs(instance, _laws(instance)):
        for output, probability in law.items():
            if output not in other:
                return float("inf")
            largest = max(largest, probability / other[output])
    return largest


def _naive_delta(instance: Any) -> Any:
    pairs = _pairs(instance, _laws(instance))
    return max(sum(max(0, p - 2 * other.get(y, 0)) for y, p in law.items()) for law, other in pairs)


def _last(instance: Any) -> Any:
    return (instance.bound.record.values[-1],) * instance.n


def _exact(found: Any, value: Any) -> Any:
    return value if found.status == "exact" else found.status


def _ratio(instance: Any) -> Any:
    found = instance.privacy()
    return _exact(found, found.exp_epsilon)


def _delta(instance: Any) -> Any:
    found = instance.delta(exp_epsilon=2)
    return _exact(found, found.delta)


QUESTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "": (_naive_ratio, _ratio),
    " delta": (_naive_delta, _delta),
    " verify": (lambda instance: _naive_ratio(instance) <= 3, lambda instance: instance.verify(exp_epsilon=3).holds),
    " distribution": (
        lambda instance: sorted(interp.law(instance.bound, _last(instance)).values()),
        lambda instance: sorted(mass for _, mass in instance.distribution(_last(instance)).law),
    ),
}
"""What is asked, after the name of the mechanism: by brute force, and of tightdp."""


def names() -> list[str]:
    """All mechanisms by name, with what is asked of them."""
    plain = [*handwritten(), *(f"drawn{seed}" for seed in DRAWN)]
    return [*plain, *(name + question for question in QUESTIONS if question for name in plain[::EVERY])]


def answered(name: str, n: int, way: str) -> dict[str, Any]:
    """Measure one cell in this process."""
    plain, space, question = name.partition(" ")
    if plain.startswith("drawn"):
        made, least, parameters = drawn(int(plain.removeprefix("drawn")))
        if n < least:
            return {"skipped": "the program reads more records"}
    else:
        made, parameters = handwritten()[plain], PARAMETERS.get(plain, {})
    instance = made.bind(n=n, **parameters)
    ask = QUESTIONS[space + question][WAYS.index(way)]
    start = _processor()
    try:
        answer = str(ask(instance))
    except TightdpError as error:
        answer = type(error).__name__
    return {"seconds": _processor() - start, "answer": answer if len(answer) < 200 else f"hash {hash(answer)}"}


def _processor() -> float:
    mine = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in mine)


def measured(name: str, n: int, way: str, limit: float) -> dict[str, Any]:
    """Measure one cell in a process of its own, for so many seconds of the processor."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        start = int(_processor()) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (start + int(limit), start + int(limit)))
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 (it is open to the end)
        os.write(writing, json.dumps(answered(name, n, way)).encode())
        os._exit(0)
    os.close(writing)
    text, end = b"", time.monotonic() + _WAITING * limit
    while select.select([reading], [], [], max(end - time.monotonic(), 0))[0] and (more := os.read(reading, 1 << 16)):
        text += more
    os.close(reading)
    os.killpg(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if text:
        result: dict[str, Any] = json.loads(text)
        return result
    return {"failed": f"exit {code}"} if code > 0 else {"late": True, "seconds": limit}


def measure(part: str, most: float, store: Path) -> None:
    """Measure what is not measured yet; larger sizes of what was late are left out."""
    known = load(store)
    with store.open("a", encoding="utf-8") as file:
        for name in names():
            for way, limit in zip(WAYS, ((most - 1) / 2, most), strict=True) if part in name else ():
                before: list[float] = []
                for n in SIZES:
                    if (name, n, way) not in known:
                        late = way == "naive" and len(before) > 1 and before[-1] ** 2 > limit * max(before[-2], 0.01)
                        result = {"late": True, "seconds": limit} if late else measured(name, n, way, limit)
                        known[name, n, way] = result
                        file.write(json.dumps({"name": name, "n": n, "way": way, **result}) + "\n")
                        file.flush()
                    if "late" in known[name, n, way]:
                        break
                    before += [known[name, n, way]["seconds"]] if "seconds" in known[name, n, way] else []


def load(store: Path) -> Cells:
    """What was measured before."""
    if not store.exists():
        return {}
    entries = map(json.loads, store.read_text(encoding="utf-8").splitlines())
    return {(entry["name"], entry["n"], entry["way"]): entry for entry in entries}


def rows(known: Cells) -> Iterator[tuple[str, int, dict[str, Any], dict[str, Any]]]:
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
        print(f"{name:34} n={n}  naive {left['seconds']:8.2f}  tightdp {right['seconds']:8.2f}  {marks}")
        answers = {one["answer"] for one in (left, right) if "answer" in one}
        if len(answers) > 1:
            print(f"    the answers differ: {answers}")
    for (name, n, left, right), (same, m, later, after) in pairwise(found):
        if name == same:
            step = max(after["seconds"], 1) / max(right["seconds"], 1)
            naive_step = max(later["seconds"], 0.01) / max(left["seconds"], 0.01)
            if "late" not in later:
                steps.append((step, name, n, m, naive_step))
    for ratio, name, n in sorted(ratios, reverse=True)[:8]:
        print(f"ratio {ratio:8.2f}  {name} n={n}")
    for step, name, n, m, naive_step in sorted(steps, reverse=True)[:8]:
        print(f"step  {step:8.2f}  {name} n={n} to {m} (naive {naive_step:.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", default="", help="a part of the names of mechanisms")
    parser.add_argument("--limit", type=float, default=20, help="seconds of the processor for a cell")
    parser.add_argument("--store", type=Path, default=Path("cliffs.jsonl"), help="where measurements are kept")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    if not arguments.report:
        warnings.simplefilter("ignore")
        for question in QUESTIONS:
            answered(f"randomized_response{question}", 2, "tightdp")  # imports everything
        measure(arguments.part, arguments.limit, arguments.store)
    report(arguments.store)


if __name__ == "__main__":
    main()
