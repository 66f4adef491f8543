"""How large programs may be: `python benchmarks/sizes.py --write` measures and writes the table of docs/how-large.md.

Every question is asked at n = 1, 2, 4, ... as long as it takes less than a few seconds of processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from report import write_between

from tightdp import Instance, LimitError
from tightdp.session.files import builtin_program, import_file

PAGE = Path(__file__).parent.parent / "docs" / "how-large.md"
LARGEST = 4096
"""The largest n that is tried."""

ROWS: list[tuple[str, str, dict[str, Any], str, Callable[[Instance], Any]]] = [
    ("randomized_response", "randomized_response", {"lam": "1/5"}, "tight ε", lambda i: i.privacy()),
    ("randomized_response_count", "randomized_response_count", {"lam": "1/5"}, "tight ε", lambda i: i.privacy()),
    ("randomized_response_count", "randomized_response_count", {"lam": "1/5"}, "δ curve", lambda i: i.curve()),
    ("randomized_response_count", "randomized_response_count", {"lam": "1/5"}, "accuracy", lambda i: i.accuracy(3)),
    ("randomized_response_count", "randomized_response_count", {"lam": "1/5"}, "efficacy", lambda i: i.efficacy()),
    ("shuffled_randomized_response", "shuffled_randomized_response", {"lam": "1/2"}, "tight ε", lambda i: i.privacy()),
    ("geometric_count", "geometric_count", {"ratio": "1/2"}, "tight ε", lambda i: i.privacy()),
    (
        "above_threshold",
        "above_threshold",
        {"k": 3, "threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"},
        "tight ε",
        lambda i: i.privacy(),
    ),
    ("report_noisy_max", "report_noisy_max", {"k": 1, "ratio": "1/2", "margin": 1}, "tight ε", lambda i: i.privacy()),
    ("exponential_mechanism", "exponential_mechanism", {"candidates": 3, "base": 2}, "tight ε", lambda i: i.privacy()),
]


def measure(file: str, name: str, parameters: dict[str, Any], ask: Callable[[Instance], Any], most: float) -> Any:
    """Return the largest n that took at most so many seconds, the seconds, and the method."""
    program = builtin_program(file)
    assert program is not None
    mechanism = getattr(import_file(program.path), name)
    best, n = (0, 0.0, ""), 1
    while n <= LARGEST:
        instance = mechanism.bind(n=n, max_memory="2G", **parameters)
        start = time.process_time()
        try:
            # The engine itself, not a process that could be abandoned: its seconds are ours.
            instance.max_memory, instance.timeout = None, None
            found = ask(instance)
        except LimitError:
            break
        seconds = time.process_time() - start
        if seconds > most or found.status != "exact":
            break
        best, n = (n, seconds, found.stats.method), 2 * n
    return best


def main() -> None:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="the most that one question may take")
    parser.add_argument("--write", action="store_true", help="write the table into docs/how-large.md")
    options = parser.parse_args()
    lines = [
        f"| program | question | largest n within {options.seconds:g} s | seconds | method |",
        "| --- | --- | --- | --- | --- |",
    ]
    for file, name, parameters, question, ask in ROWS:
        n, seconds, method = measure(file, name, parameters, ask, options.seconds)
        size = f"{n:,} or more" if n == LARGEST else f"{n:,}"
        listed = " ".join(f"{key}={value}" for key, value in parameters.items())
        lines.append(f"| `{name}` {listed} | {question} | {size} | {seconds:.2f} | {method} |")
        print(lines[-1], flush=True)
    if options.write:
        write_between(PAGE, "sizes", "\n".join(lines))


if __name__ == "__main__":
    main()
