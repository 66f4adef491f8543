"""How long it takes to solve, to write a certificate, and to check it, for every kind of claim.

    python benchmarks/certificates.py            print the table
    python benchmarks/certificates.py --write    put it into benchmarks/README.md as well

Times are seconds of one processor, each in the state in which a user meets it: the checkers read the file anew. The
proved one is measured where it is built (`make -C proofs/coq`).
"""

from __future__ import annotations

import importlib.util
import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from report import write_table

import tightdp
from tightdp.session.certify import WORK, load_checker

README = Path(__file__).with_name("README.md")
PROGRAMS = Path(__file__).parents[1] / "programs"
PROVED = Path(__file__).parents[1] / "proofs" / "coq" / "check"
HALVES = {"ratio_threshold": "1/2", "ratio_query": "1/2"}
VECTOR = {"n": 8, "k": 3, "threshold": 2, "margin": 1, **HALVES}
COUNT = "randomized_response_count"
TASKS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("randomized_response", {"n": 1000, "lam": "1/5"}, {}),
    (COUNT, {"n": 300, "lam": "1/5"}, {}),
    ("above_threshold", {"n": 50, "k": 3, "threshold": 2, **HALVES}, {}),
    ("sparse_vector", {"cutoff": 1, **VECTOR}, {}),
    ("sparse_vector", {"cutoff": 2, **VECTOR}, {}),
    ("report_noisy_max", {"n": 4, "k": 1, "ratio": "1/2", "margin": 1}, {}),
    (COUNT, {"n": 40, "lam": "1/(1+exp(1/2))"}, {}),
    (
        "above_threshold",
        {"n": 8, "k": 2, "threshold": 1, "ratio_threshold": "exp(-1/2)", "ratio_query": "exp(-1/4)"},
        {},
    ),
    ("above_threshold", {"n": 20, "k": 2, "threshold": 1, **HALVES}, {"epsilon": 3}),
    ("above_threshold", {"n": 20, "k": 2, "threshold": 1, **HALVES}, {"epsilon": 1}),
    (COUNT, {"n": 40, "lam": "1/5"}, {"delta": "1/100"}),
    (COUNT, {"n": 100, "lam": "1/5"}, {"delta": "1/100"}),
    (COUNT, {"n": 200, "lam": "1/5"}, {"delta": "1/100"}),
    (COUNT, {"n": 40, "lam": "1/5"}, {"epsilon": "1/2", "delta": "1/100"}),
    (COUNT, {"n": 40, "lam": "1/5"}, {"alpha": 12, "beta": "1/20"}),
    (COUNT, {"n": 100, "lam": "1/5"}, {"alpha": 30, "beta": "1/20"}),
    (COUNT, {"n": 200, "lam": "1/5"}, {"alpha": 40, "beta": "1/2"}),
    (COUNT, {"n": 100, "lam": "1/5"}, {"alpha": 25, "beta": "1/20"}),
    (COUNT, {"n": 200, "lam": "1/5"}, {"curve": True}),
    ("xor_randomized_response", {"n": "all", "lam": "1/5"}, {}),
    ("above_threshold", {"n": "all", "k": 2, "threshold": 1, **HALVES}, {}),
    ("audit", {"canaries": 1000, "guesses": 100, "correct": 75, "delta": "1/10000"}, {}),
]


def row(name: str, parameters: dict[str, Any], claim: dict[str, Any]) -> str:
    """Measure one task; return a line of the table."""
    checker = load_checker()
    solve, certify = ways(name, parameters, claim)
    start = time.process_time()
    solve()
    solved = time.process_time()
    found = certify()
    written = time.process_time()
    text = found.text
    begin = time.process_time()
    checker.check(json.loads(text), WORK)
    checked = time.process_time() - begin
    proved = proved_checker(text)
    rule, kind = found.content["evidence"]["rule"], found.content["claim"]["question"]
    shown = ", ".join(f"{key}={value}" for key, value in {**parameters, **claim}.items())
    shares = [f"{each / (solved - start):.1f}" if each is not None else "-" for each in (checked, proved)]
    return (
        f"| `{name}` {shown} | {kind} | {rule} | {solved - start:.2f} | {written - solved:.2f} | {checked:.2f} "
        f"| {shares[0]} | {'-' if proved is None else f'{proved:.2f}'} | {shares[1]} | {len(text) / 1000:,.0f} |"
    )


def proved_checker(text: str) -> float | None:
    """Return how long the checker that is extracted from the proofs takes, None where it is not built."""
    if not PROVED.exists():
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([PROVED, file.name, str(WORK)], capture_output=True, check=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def ways(name: str, parameters: dict[str, Any], claim: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return what solves a task, and what certifies it."""
    if name == "audit":
        return lambda: tightdp.audit(**parameters), lambda: tightdp.certify_audit(tightdp.audit(**parameters))
    instance = mechanism(name).bind(**parameters)
    if "curve" in claim:
        return instance.curve, lambda: instance.certify(**claim)
    solve = instance.verify if {"alpha", "epsilon"} & claim.keys() else instance.privacy
    return lambda: solve(**claim), lambda: instance.certify(**claim)


def mechanism(name: str) -> Any:
    """Import a mechanism of `programs/`."""
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def main() -> None:
    """Print the table, and write it where that is asked for."""
    mechanism("randomized_response").bind(n=2, lam="1/5").privacy()  # what is imported once is no part of a task
    columns = (
        "| program | claim | rule | solve, s | certify, s | check, s | check / solve "
        "| proved check, s | proved / solve | file, kB |"
    )
    write_table(__doc__, columns, ((task[0], partial(row, *task)) for task in TASKS), README, "certificates")


if __name__ == "__main__":
    main()
