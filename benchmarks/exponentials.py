"""What numbers with e^q and unknowns cost beside rationals, on the same programs.

    python benchmarks/exponentials.py            run, and print the table
    python benchmarks/exponentials.py --write    put the table into benchmarks/README.md as well

Every cell is the processor time of one question to a fresh instance, after a first one that imports everything.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from report import write_between

from tightdp import Bit, Int, Mechanism, choice, flip, geometric, mechanism

README = Path(__file__).resolve().parent / "README.md"


@mechanism(record=Bit, target=sum)
def sum_of_responses(x: Any, p: Any) -> Any:
    """The sum of randomized responses."""
    return sum(1 - b if flip(p) else b for b in x)


@mechanism(record=Bit, target=sum)
def noisy_count(x: Any, p: Any) -> Any:
    """A count with geometric noise."""
    return geometric(sum(x), p, 0, len(x))


@mechanism(record=Int(0, 2))
def exponential_mechanism(x: Any, p: Any) -> Any:
    """A candidate, with weights that are powers of the parameter."""
    return choice(range(3), weights=[p ** sum(vote == k for vote in x) for k in range(3)])


@mechanism(record=Int(0, 3))
def histogram(x: Any, p: Any) -> Any:
    """The counts of the answers of k-ary randomized responses."""
    answers = [choice(range(4)) if flip(p) else value for value in x]
    return tuple(sum(answer == k for answer in answers) for k in range(4))


@mechanism(record=Int(0, 3))
def first_above(x: Any, p: Any) -> Any:
    """The first noisy answer above a noisy threshold."""
    threshold = geometric(2, p, 0, 4)
    for at, answer in enumerate(x):
        if geometric(answer, p, 0, 4) >= threshold:
            return at
    return None


ROWS: list[tuple[Mechanism, int, tuple[str, str, str]]] = [
    (sum_of_responses, 20, ("2/5", "1/(1+exp(1/2))", "?[0,1/2]")),
    (sum_of_responses, 50, ("2/5", "1/(1+exp(1/2))", "?[0,1/2]")),
    (sum_of_responses, 200, ("2/5", "1/(1+exp(1/2))", "")),
    (noisy_count, 50, ("3/5", "exp(-1/2)", "?[0,99/100]")),
    (noisy_count, 200, ("3/5", "exp(-1/2)", "")),
    (histogram, 6, ("3/5", "exp(-1/2)", "")),
    (first_above, 5, ("3/5", "exp(-1/2)", "")),
    (exponential_mechanism, 10, ("5/3", "exp(1/2)", "?[1,4]")),
]


def seconds(program: Mechanism, n: int, value: str, question: str) -> float | None:
    """The time that a question takes; None where it is not asked."""
    if not value or (value.startswith("?") and question == "curve"):
        return None
    instance = program.bind(n=n, p=value)
    start = time.process_time()
    if question == "δ":
        instance.delta(exp_epsilon="6/5")
    else:
        getattr(instance, {"tight ε": "privacy", "curve": "curve"}[question])()
    return time.process_time() - start


def shown(time_: float | None, beside: float) -> str:
    """A time, and how often it holds another one."""
    if time_ is None:
        return "-"
    return f"{time_:.2f} s" + ("" if time_ is beside else f" ({time_ / max(beside, 0.01):.0f}x)")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    options = parser.parse_args()
    for question in ("tight ε", "δ", "curve"):
        seconds(sum_of_responses, 3, "1/(1+exp(1/2))", question)
    lines = ["| program | n | question | rational | with e^q | unknown |", "| --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    for program, n, values in ROWS:
        for question in ("tight ε", "δ", "curve"):
            times = [seconds(program, n, value, question) for value in values]
            beside = times[0] or 0.0
            cells = " | ".join(shown(each, beside) for each in times)
            lines.append(f"| {program.name.replace('_', ' ')} | {n} | {question} | {cells} |")
            print(lines[-1], flush=True)
    if options.write:
        write_between(README, "numbers", "\n".join(lines))


if __name__ == "__main__":
    main()
