"""Sizes beyond exact rationals: user CPU seconds, memory, and the width of what is found, one process per question.

    python benchmarks/large.py

Beside it, brute force of one pair of neighbours in doubles with scipy: what a careful person would write for a single
pair, without a bound on its error, and without the other million pairs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHUFFLED = "programs/shuffled_randomized_response.py"
COUNT = "programs/randomized_response_count.py"
SUM = "benchmarks/mechanisms/integer_sum.py"
QUESTIONS = (
    ("privacy", SHUFFLED, "n=100000", "lam=40000", "--delta", "1e-6"),
    ("privacy", SHUFFLED, "n=100000", "lam=200000/(1+exp(4))", "--delta", "1e-6"),
    ("privacy", SHUFFLED, "n=1000000", "lam=400000", "--delta", "1e-6"),
    ("privacy", SHUFFLED, "n=1000000", "lam=2000000/(1+exp(4))", "--delta", "1e-6"),
    ("privacy", COUNT, "n=1000000", "lam=1/5", "--delta", "1e-6"),
    ("privacy", COUNT, "n=1000000", "lam=1/5"),
    ("accuracy", COUNT, "n=1000000", "lam=1/5", "--alpha", "200500"),
    ("accuracy", COUNT, "n=1000000", "lam=1/5", "--beta", "1/20"),
    ("privacy", SUM, "n=10000", "k=10", "lam=1/5", "--delta", "1e-6"),
    ("privacy", SUM, "n=10000", "k=10", "lam=1/5", "--exp-epsilon", "5/4"),
    ("accuracy", SUM, "n=10000", "k=10", "lam=1/5", "--alpha", "10400"),
    ("accuracy", SUM, "n=10000", "k=10", "lam=1/5", "--beta", "1/20"),
)
PAIR = """
import numpy as np
from scipy.stats import binom
n, lam, bar = 1_000_000, 0.2, 1e-6
y = np.arange(n + 1)
others = binom.pmf(np.arange(n), n - 1, lam)
p = np.convolve(others, [lam, 1 - lam]); q = np.convolve(others, [1 - lam, lam])
low, high = 1.0, 4.0
for _ in range(60):
    t = (low + high) / 2
    low, high = (t, high) if np.maximum(0, p - t * q).sum() > bar else (low, t)
print(high)
"""


def measured(command: list[str]) -> tuple[str, float, float]:
    """Return what a command prints, its user CPU seconds, and its largest resident size in megabytes."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    return printed, usage.ru_utime, usage.ru_maxrss / 1024


def ends(answer: dict[str, str], name: str) -> tuple[Fraction, Fraction]:
    """Return both ends of a number."""
    return Fraction(answer.get("lower", answer[name])), Fraction(answer.get("upper", answer[name]))


def main() -> None:
    """Print a table."""
    print("| question | lower end | relative width | user CPU | memory |\n| --- | --- | --- | --- | --- |")
    for question in QUESTIONS:
        printed, seconds, memory = measured([sys.executable, "-m", "tightdp", *question, "--json"])
        found = json.loads(printed)["result"]
        name = next(key for key in ("one_minus_beta", "alpha", "exp_epsilon") if key in found)
        name = "alpha" if "--beta" in question else "delta" if "--exp-epsilon" in question else name
        low, high = ends(found, name)
        words = f"`{' '.join(question)}`".replace("programs/", "").replace("benchmarks/mechanisms/", "")
        print(f"| {words} | {float(low):.10g} | {float((high - low) / low):.1e} | {seconds:.1f} s | {memory:.0f} MB |")
    printed, seconds, memory = measured([sys.executable, "-c", PAIR])
    print(f"| one pair, n=1000000, scipy, no bound | {float(printed):.10g} | - | {seconds:.1f} s | {memory:.0f} MB |")


if __name__ == "__main__":
    main()
