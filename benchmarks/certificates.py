"""How long it takes to solve, to write a certificate, and to check it: `python benchmarks/certificates.py`.

Times are seconds of one processor, each in the state in which a user meets it: the checker reads the file anew.
"""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path
from typing import Any

from tightdp.session.certify import as_json, load_checker

PROGRAMS = Path(__file__).parents[1] / "programs"
HALVES = {"ratio_threshold": "1/2", "ratio_query": "1/2"}
TASKS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("randomized_response", {"n": 1000, "lam": "1/5"}, {}),
    ("randomized_response_count", {"n": 300, "lam": "1/5"}, {}),
    ("above_threshold", {"n": 50, "k": 3, "threshold": 2, **HALVES}, {}),
    ("sparse_vector", {"n": 8, "k": 3, "cutoff": 1, "threshold": 2, "margin": 1, **HALVES}, {}),
    ("report_noisy_max", {"n": 4, "k": 1, "ratio": "1/2", "margin": 1}, {}),
    ("randomized_response_count", {"n": 40, "lam": "1/(1+exp(1/2))"}, {}),
    (
        "above_threshold",
        {"n": 8, "k": 2, "threshold": 1, "ratio_threshold": "exp(-1/2)", "ratio_query": "exp(-1/4)"},
        {},
    ),
    ("randomized_response_count", {"n": 40, "lam": "1/5"}, {"delta": "1/100"}),
    ("randomized_response_count", {"n": 40, "lam": "1/5"}, {"alpha": 12, "beta": "1/20"}),
]


def row(name: str, parameters: dict[str, Any], claim: dict[str, Any]) -> str:
    """Measure one task; return a line of the table."""
    checker = load_checker()
    start = time.process_time()
    instance = mechanism(name).bind(**parameters)
    if "alpha" in claim:
        instance.verify(**claim)
    else:
        instance.privacy(**claim)
    solved = time.process_time()
    found = instance.certify(**claim)
    written = time.process_time()
    text = as_json(found)
    begin = time.process_time()
    checker.check(json.loads(text))
    checked = time.process_time() - begin
    rule = found.content["evidence"]["rule"]
    shown = ", ".join(f"{key}={value}" for key, value in {**parameters, **claim}.items())
    share = checked / (solved - start)
    return (
        f"| `{name}` {shown} | {rule} | {solved - start:.2f} | {written - solved:.2f} | {checked:.2f} "
        f"| {share:.1f} | {len(text) / 1000:,.0f} |"
    )


def mechanism(name: str) -> Any:
    """Import a mechanism of `programs/`."""
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def main() -> None:
    """Print the table."""
    print("| program | rule | solve, s | certify, s | check, s | check / solve | file, kB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for task in TASKS:
        print(row(*task), flush=True)


if __name__ == "__main__":
    main()
