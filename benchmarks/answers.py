"""A recorded table of answers, compared after every change: the same values, no wider ends, no slower.

    python benchmarks/answers.py                     compare everything with benchmarks/answers.jsonl
    python benchmarks/answers.py --part 1/4 --jobs 2 a quarter of it, in two processes
    python benchmarks/answers.py --only geometric    rows that have this in their key
    python benchmarks/answers.py record              ask everything again, check it by brute force, write the table

One row is a mechanism with its parameters, a question with its arguments, the answer and the seconds of the processor
that it took. `verified` says how the answer was checked when it was recorded: "brute force" is the interpreter on every
dataset; rows that brute force contradicts are not recorded, those that are too large for it are "not verified".
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from net import brute, cases, comparing  # noqa: E402
from net.asking import ask  # noqa: E402
from net.children import in_child, processor  # noqa: E402
from net.sources import bound  # noqa: E402

TABLE = HERE / "answers.jsonl"
MOST = 1.5
"""Rows that take longer are not recorded."""
Row = dict[str, Any]


def recorded(table: Path) -> list[Row]:
    """The rows of a table."""
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]


def warm() -> None:
    """Import what answers, so that the processes of the rows need not."""
    warnings.simplefilter("ignore")
    for name in ("programs/randomized_response_count.py", "programs/geometric_count.py"):
        for question, arguments in cases.ALL + cases.WITH_TARGET:
            bind: Row = {"n": 2, "lam": "1/5"} if "response" in name else {"n": 2, "ratio": "1/2"}
            if question != "explain":
                ask(cases.row(name, Path(name).stem, bind, question, arguments))


def spread(rows: list[Row], part: str, only: str) -> list[Row]:
    """The rows of one part."""
    index, parts = map(int, part.split("/"))
    return [row for row in rows[index - 1 :: parts] if only in cases.key(row)]


def answers(rows: list[Row], jobs: int) -> Iterator[tuple[Row, Row]]:
    """Every row with what the library says now."""

    def one(row: Row) -> tuple[Row, Row]:
        return row, in_child(partial(ask, row), 6 + 5 * row["seconds"] if "seconds" in row else MOST + 1)

    with ThreadPool(jobs) as pool:
        yield from pool.imap(one, rows)


def compare(rows: list[Row], jobs: int) -> int:
    """Print what differs; return how many rows are wrong."""
    kinds: Counter[str] = Counter()
    before = after = 0.0
    for row, found in answers(rows, jobs):
        before += row["seconds"]
        after += found.get("result", {}).get("seconds", 0)
        for verdict in comparing.verdicts(row, found):
            kinds[verdict.kind] += 1
            print(f"{verdict.kind}: {_short(row)}\n    {verdict.detail}", flush=True)
    print(f"{len(rows)} rows, {after:.0f} s of the processor ({before:.0f} when recorded):", dict(kinds) or "all equal")
    return sum(kinds[kind] for kind in comparing.WRONG)


def _short(row: Row) -> str:
    bind = " ".join(f"{key}={value}" for key, value in row["bind"].items())
    arguments = " ".join(f"{key}={value}" for key, value in row["arguments"].items())
    return f"{row['source']}:{row['mechanism']} {bind} | {row['question']} {arguments}"


def record(part: str, only: str, jobs: int, table: Path) -> None:
    """Write the table; print the rows that brute force contradicts."""
    by_subject: dict[str, list[tuple[Row, Row]]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    rows = list({cases.key(row): row for row in cases.every_row()}.values())
    for row, found in answers(spread(rows, part, only), jobs):
        if "result" not in found:
            left_out["crash" if "crash" in found else "late"] += 1
            print("crash" if "crash" in found else "late", _short(row), found.get("crash", ""), flush=True)
        elif found["result"]["seconds"] > MOST:
            left_out["slow"] += 1
        elif found["result"]["status"] == "error" and not _kept(row, found["result"]["values"]["error"]):
            left_out[found["result"]["values"]["error"]] += 1
        else:
            subject = json.dumps([row["source"], row["mechanism"], row["bind"]], sort_keys=True)
            by_subject[subject].append((row, found))
    with table.open("w", encoding="utf-8") as file:
        for subject in by_subject.values():
            for entry in _verified(subject, left_out):
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            file.flush()
    print("left out:", dict(left_out))


def _kept(row: Row, error: str) -> bool:
    """Whether a refusal is an answer: that the program fails, or that it has no answer for every n."""
    return error in ("ProgramError", "LanguageError") or (error == "QueryError" and row["bind"].get("n") == "all")


def _verified(subject: list[tuple[Row, Row]], left_out: Counter[str]) -> Iterator[Row]:
    rows = [row for row, _ in subject]
    verdicts = in_child(lambda: brute.verify(bound(rows[0]), [(row, found["result"]) for row, found in subject]), 10)
    for place, (row, found) in enumerate(subject):
        verdict = verdicts["result"][place] if "result" in verdicts else f"not verified: {verdicts}"
        if verdict.startswith("wrong"):
            left_out["wrong"] += 1
            print(f"WRONG {_short(row)}\n    {verdict}\n    {json.dumps(found['result'])[:400]}", flush=True)
            continue
        answer = found["result"]
        seconds = answer.pop("seconds")
        yield {**row, "answer": answer, "seconds": seconds, "verified": verdict}


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("what", nargs="?", default="compare", choices=("compare", "record", "draw"))
    parser.add_argument("--part", default="1/1", help="k/m: every m-th row, beginning with the k-th")
    parser.add_argument("--only", default="", help="rows whose key has this in it")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", type=Path, default=TABLE, help="another table than that of the repository")
    options = parser.parse_args()
    if options.what == "draw":
        from net import draw

        draw.write()
        return 0
    warm()
    start = processor()
    if options.what == "record":
        record(options.part, options.only, options.jobs, options.table)
        print(f"{processor() - start:.0f} s of the processor")
        return 0
    return 1 if compare(spread(recorded(options.table), options.part, options.only), options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
