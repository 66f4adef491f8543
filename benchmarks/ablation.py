"""What each method is worth: one candidate, or part of a method, left out at a time; answers and seconds compared.

    python benchmarks/ablation.py                    benchmarks/mechanisms with 8 and 24 records, and drawn programs
    python benchmarks/ablation.py --only chain       leave out candidates that have this in their name
    python benchmarks/ablation.py --sizes 8 --drawn 10

A cell is a mechanism, a number of records and a question. A candidate earns its place where some cells are lost without
it, or take more than twice as long and more than a second. Only cells whose trace has the candidate's method are asked
again: leaving out what was not used changes nothing. Measurements are kept in ablation.jsonl; it goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import answers  # noqa: E402
from net import cases, switches  # noqa: E402
from net.asking import ask  # noqa: E402
from net.children import in_child  # noqa: E402
from net.sources import corpus, module  # noqa: E402

from tightdp.methods import choose  # noqa: E402
from tightdp.methods.base import Refusal  # noqa: E402
from tightdp.methods.program import Candidate  # noqa: E402

SLOWER, NOTICED = 2.0, 1.0
QUESTIONS: tuple[cases.Asked, ...] = (("privacy", {}), ("delta", {"exp_epsilon": 2}))
Row = dict[str, Any]
Cells = dict[tuple[str, str], Row]
"""What was measured, by row and what was left out."""


def name_of(candidate: Candidate) -> str:
    """The function that decides whether it applies."""
    return f"{candidate.look.__module__.rpartition('.')[2]}.{candidate.look.__name__}"


def cells(sizes: list[int], drawn: int) -> Iterator[Row]:
    """The mechanisms of the benchmarks, and drawn programs as they are."""
    for n in sizes:
        for path in sorted((cases.ROOT / "benchmarks" / "mechanisms").glob("*.py")):
            source = f"benchmarks/mechanisms/{path.name}"
            for mechanism, value in vars(module(source)).items():
                if hasattr(value, "bind"):
                    rest: Row = {"k": 3, "lam": "1/5"} if mechanism == "integer_sum" else {}
                    yield from cases.some(source, mechanism, {"n": n, **rest}, QUESTIONS)
    for family in ("drawn-mechanism", "drawn-symmetric", "drawn-case"):
        named = [entry for name, entry in corpus().items() if name.startswith(family)]
        for entry in named[:drawn]:
            yield from cases.some(entry["name"], entry["mechanism"], {"n": entry["n"], **entry["bind"]}, QUESTIONS)


def traced(row: Row, without: str) -> Row:
    """The answer with one candidate left out, and which candidates applied to the program or to a part of it."""
    used: set[str] = set()

    def watched(candidate: Candidate) -> Candidate:
        name = name_of(candidate)

        def look(program: Any, control: Any, budget: int) -> Any:
            found = candidate.look(program, control, budget)
            if not isinstance(found, Refusal):
                used.add(name)
            return found

        return Candidate(candidate.name, look)

    switches.install(without, used.add)
    choose.CANDIDATES = tuple(watched(one) for one in choose.CANDIDATES if name_of(one) != without)
    return {**ask(row), "used": sorted(used)}


def load(store: Path) -> Cells:
    """What was measured before."""
    if not store.exists():
        return {}
    entries = map(json.loads, store.read_text(encoding="utf-8").splitlines())
    return {(entry["key"], entry["without"]): entry["found"] for entry in entries}


def measure(rows: list[Row], limit: float, only: str, store: Path) -> Cells:
    """Every cell with everything, then without each candidate that applied."""
    known = load(store)
    with store.open("a", encoding="utf-8") as file:
        for row in rows:
            key = cases.key(row)
            for without in ["", *map(name_of, choose.CANDIDATES), *switches.SWITCHES]:
                everything = known.get((key, ""), {}).get("result", {})
                if without and (not everything or only not in without or not _may_matter(without, everything)):
                    continue
                if (key, without) not in known:
                    found = in_child(partial(traced, row, without), _limit(everything) if without else limit)
                    known[key, without] = found
                    file.write(json.dumps({"key": key, "without": without, "found": found}) + "\n")
                    file.flush()
    return known


def _may_matter(without: str, everything: Row) -> bool:
    """Whether it was used."""
    return without in everything["used"]


def _limit(everything: Row) -> float:
    """Beyond this it is late without a doubt."""
    return float(max(NOTICED + 1, 3 * everything["seconds"]))


def report(known: Cells) -> None:
    """Print a table: what is lost without every candidate that was left out."""
    wins: dict[str, list[str]] = defaultdict(list)
    asked: dict[str, int] = defaultdict(int)
    for (key, without), found in known.items():
        everything = known[key, ""]
        if not without or "result" not in everything:
            continue
        asked[without] += 1
        verdict = _verdict(everything["result"], found)
        if verdict:
            row = json.loads(key)
            bind = " ".join(f"{name}={value}" for name, value in row["bind"].items())
            wins[without].append(f"{row['mechanism']} {bind}, {row['question']}: {verdict}")
    print("| left out | cells that use it | no answer | slower | such as |\n| --- | --- | --- | --- | --- |")
    for name in (*map(name_of, choose.CANDIDATES), *switches.SWITCHES):
        lost = [win for win in wins[name] if "slower" not in win]
        first = min(wins[name], key=len, default="")
        print(f"| `{name}` | {asked[name]} | {len(lost)} | {len(wins[name]) - len(lost)} | {first} |")


def _verdict(everything: Row, found: Row) -> str:
    if "result" not in found:
        return found.get("crash", f"no answer in time ({everything['seconds']} s with it)")
    without = found["result"]
    if any(everything.get(name) != without.get(name) for name in ("status", "values", "ends")):
        if everything["status"] == without["status"] == "exact":
            return f"DIFFERENT: {everything['values']} {without['values']}"
        return f"{without['status']} in place of {everything['status']}"
    if without["seconds"] > NOTICED and without["seconds"] > SLOWER * everything["seconds"]:
        return f"slower: {everything['seconds']} s, without it {without['seconds']} s"
    return ""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[8, 24])
    parser.add_argument("--drawn", type=int, default=25, help="so many programs of every generator")
    parser.add_argument("--only", default="", help="candidates that have this in their name")
    parser.add_argument("--limit", type=float, default=12, help="seconds of the processor for a cell")
    parser.add_argument("--store", type=Path, default=Path("ablation.jsonl"), help="where measurements are kept")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    options = parser.parse_args()
    if options.report:
        report(load(options.store))
        return
    answers.warm()
    rows = list(cells(options.sizes, options.drawn))
    report(measure(rows, options.limit, options.only, options.store))


if __name__ == "__main__":
    main()
