"""What is measured: the commands of tightdp, and of the peers that can do the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

__all__ = ["FAMILIES", "PEERS", "TASKS", "Task", "series"]

HERE = Path(__file__).resolve().parent
PEERS = {"brute force": "brute_force.py", "ProbLog": "problog_peer.py", "Storm": "storm_peer.py"}


@dataclass(frozen=True)
class Task:
    """One question. Within a `family`, a peer that was too late is not asked the later, larger questions.

    `read` takes the number that is compared with the peers' from the JSON of tightdp. `peers` maps a peer to the
    arguments of its script.
    """

    name: str
    arguments: tuple[str, ...]
    read: Callable[[dict[str, Any]], Any]
    peers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    family: str = ""
    size: int = 0
    quick: bool = False

    @property
    def command(self) -> list[str]:
        """The command of tightdp."""
        if self.arguments[0].endswith(".py"):
            return [sys.executable, str(HERE / self.arguments[0]), *self.arguments[1:]]
        return [sys.executable, "-m", "tightdp", *self.arguments, "--json"]

    def peer(self, name: str) -> list[str]:
        """The command of a peer."""
        return [sys.executable, str(HERE / "peers" / PEERS[name]), *self.peers[name]]


def exp_epsilon(answer: dict[str, Any]) -> Any:
    """The tight e^ε."""
    return answer["result"]["exp_epsilon"]


def one_minus_beta(answer: dict[str, Any]) -> Any:
    """The tight 1 - β."""
    return answer["result"]["one_minus_beta"]


def likeliest(answer: dict[str, Any]) -> Any:
    """The largest probability of a law."""
    return max(Fraction(mass) for _, mass in answer["result"]["law"])


def first_delta(answer: dict[str, Any]) -> Any:
    """δ at ε = 0, the first point of the curve."""
    return answer["result"]["points"][0][1]


def nodes(answer: dict[str, Any]) -> Any:
    """How many nodes the diagram has."""
    return answer["result"]["nodes"]


def plain(answer: dict[str, Any]) -> Any:
    """The number that a script prints."""
    return answer["answer"]


ALL = ("brute force", "ProbLog", "Storm")
HALF = ("ratio_threshold=1/2", "ratio_query=1/2")
THRESHOLD = "programs/above_threshold.py"
RESPONSE = "programs/randomized_response.py"
COUNT = "programs/randomized_response_count.py"


def _brute(query: str, file: str, *bindings: str) -> tuple[str, ...]:
    return (query, file, *bindings)


def law(file: str, x: Sequence[int], *bindings: str, title: str, peer: str, quick: bool = False) -> Task:
    """The law of all outputs on one dataset."""
    dataset = json.dumps(list(x), separators=(",", ":"))
    own = ("law", peer, dataset)
    return Task(
        title,
        ("distribution", file, *bindings, "--input", dataset),
        likeliest,
        {"brute force": _brute("law", file, *bindings, dataset), "ProbLog": own, "Storm": own},
        quick=quick,
    )


def response_privacy(n: int, quick: bool = False) -> Task:
    """The tight ε of randomized response; ProbLog and Storm are given the set that oakley2024 proves by hand."""
    return Task(
        f"randomized response n={n}: tight ε",
        ("privacy", RESPONSE, f"n={n}", "lam=1/5"),
        exp_epsilon,
        {
            "brute force": _brute("privacy", RESPONSE, f"n={n}", "lam=1/5"),
            "ProbLog": ("privacy", "response", str(n)),
            "Storm": ("privacy", "response", str(n)),
        },
        "randomized response, tight ε",
        n,
        quick,
    )


def count_accuracy(n: int, quick: bool = False) -> Task:
    """Tight accuracy over all datasets at α = n/4; ProbLog and Storm are given the n + 1 datasets that matter."""
    alpha = str(n // 4)
    return Task(
        f"its count n={n}: tight 1 - β at α = n/4, all datasets",
        ("accuracy", COUNT, f"n={n}", "lam=1/5", "--alpha", alpha),
        one_minus_beta,
        {
            "brute force": _brute("accuracy", COUNT, f"n={n}", "lam=1/5", alpha),
            "ProbLog": ("accuracy", "count", str(n)),
            "Storm": ("accuracy", "count", str(n)),
        },
        "its count, tight accuracy",
        n,
        quick,
    )


def count_privacy(n: int, quick: bool = False) -> Task:
    """The tight ε of the count."""
    return Task(
        f"its count n={n}: tight ε",
        ("privacy", COUNT, f"n={n}", "lam=1/5"),
        exp_epsilon,
        {
            "brute force": _brute("privacy", COUNT, f"n={n}", "lam=1/5"),
            "ProbLog": ("privacy", "count", str(n)),
            "Storm": ("privacy", "count", str(n)),
        },
        "its count, tight ε",
        n,
        quick,
    )


def count_curve(n: int) -> Task:
    """The whole privacy curve of the count."""
    return Task(
        f"its count n={n}: the δ curve",
        ("privacy", COUNT, f"n={n}", "lam=1/5", "--curve"),
        first_delta,
        {"brute force": _brute("curve", COUNT, f"n={n}", "lam=1/5")},
        "its count, tight ε",
        n,
    )


def threshold_privacy(k: int, n: int, quick: bool = False) -> Task:
    """The tight ε of above-threshold; ProbLog and Storm go through all (k + 1)^n datasets."""
    bindings = (f"n={n}", f"k={k}", f"threshold={(k + 1) // 2}", *HALF)
    return Task(
        f"above-threshold k={k} n={n}: tight ε",
        ("privacy", THRESHOLD, *bindings),
        exp_epsilon,
        {
            "brute force": _brute("privacy", THRESHOLD, *bindings),
            "ProbLog": ("privacy", "threshold", str(k), str(n)),
            "Storm": ("privacy", "threshold", str(k), str(n)),
        },
        "above-threshold, tight ε",
        n,
        quick,
    )


def wide(title: str, file: str, *bindings: str) -> Task:
    """The tight ε of a mechanism with n = 8 records of 4 values: 65536 datasets."""
    return Task(
        f"{title} n=8, 4 values: tight ε",
        ("privacy", file, *bindings),
        exp_epsilon,
        {"brute force": _brute("privacy", file.partition(":")[0], *bindings, f":{file.partition(':')[2]}")},
    )


SHAME = "programs/name_and_shame.py"
SHUFFLED = "programs/shuffled_randomized_response.py"
TASKS = (
    law(
        RESPONSE,
        [i % 2 for i in range(16)],
        "lam=1/5",
        peer="response",
        quick=True,
        title="randomized response n=16: law of all outputs on one dataset",
    ),
    Task(
        "randomized response n=5000: log2 of P(y given x) for one pair",
        ("probability.py", "5000"),
        plain,
        {"ProbLog": ("probability", "response", "5000"), "Storm": ("probability", "response", "5000")},
    ),
    law(COUNT, [i % 2 for i in range(256)], "lam=1/5", peer="count", title="its count n=256: law on one dataset"),
    law(
        THRESHOLD,
        [i % 16 for i in range(15)],
        "k=15",
        "threshold=8",
        *HALF,
        peer="threshold",
        quick=True,
        title="above-threshold k=15 n=15: law on one dataset",
    ),
    threshold_privacy(3, 3, quick=True),
    threshold_privacy(3, 5),
    threshold_privacy(3, 8),
    threshold_privacy(3, 20),
    threshold_privacy(3, 50),
    threshold_privacy(7, 8),
    threshold_privacy(15, 15),
    response_privacy(6, quick=True),
    response_privacy(20),
    response_privacy(1000),
    response_privacy(5000),
    count_accuracy(8, quick=True),
    count_accuracy(64),
    count_accuracy(256),
    count_accuracy(1000),
    count_privacy(8, quick=True),
    count_privacy(100),
    count_privacy(300),
    count_curve(100),
    count_curve(300),
    Task(
        "name and shame n=100: the δ curve",
        ("privacy", SHAME, "n=100", "--curve"),
        first_delta,
        {"brute force": _brute("curve", SHAME, "n=100")},
    ),
    Task(
        "shuffled randomized response n=1000: tight ε at δ = 1e-6",
        ("privacy", SHUFFLED, "n=1000", "lam=200", "--delta", "1e-6"),
        exp_epsilon,
    ),
    wide(
        "sparse vector, cutoff 2,",
        "programs/sparse_vector.py:sparse_vector",
        "n=8",
        "k=3",
        "threshold=2",
        "cutoff=2",
        *HALF,
        "margin=1",
    ),
    wide("report noisy max", "programs/report_noisy_max.py", "n=8", "k=3", "ratio=1/2", "margin=1"),
    wide("k-ary randomized response", "programs/k_ary_randomized_response.py", "n=8", "k=4", "exp_epsilon=3"),
)

NODES = Task(
    "above-threshold k=3 n=6: nodes of the diagram for one dataset",
    ("show", THRESHOLD, "k=3", "threshold=2", *HALF, "--input", "[0,1,2,3,0,1]"),
    nodes,
)

FAMILIES: dict[str, tuple[Callable[[int], Task], tuple[int, ...]]] = {
    "randomized response, tight ε": (response_privacy, (1, 2, 4, 6, 8, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)),
    "its count, tight accuracy": (count_accuracy, (4, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1000)),
    "above-threshold k=3, tight ε": (lambda n: threshold_privacy(3, n), (1, 2, 3, 4, 5, 6, 7, 8, 12, 20, 35, 50)),
}


def series(family: str) -> list[Task]:
    """The tasks of one curve of the plot, by size."""
    make, sizes = FAMILIES[family]
    return [make(n) for n in sizes]
