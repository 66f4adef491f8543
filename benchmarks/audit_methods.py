"""Draw docs/audit-methods.svg: the ε that each audit method reports, in the idealised setting of the papers.

    python benchmarks/audit_methods.py            a few minutes; --quick leaves out the large numbers of canaries

Each of m canaries is seen alone through Gaussian noise: N(0, 1) without it, N(mu, 1) with it, mu = 1. The guesser
decides on the r canaries whose scores are farthest from mu / 2; the number of right guesses is the expected one,
rounded down. Of some r fixed in advance each method gets the one that suits it best. The true ε is that of the noise.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

from tightdp import audit
from tightdp.auditing import Gaussian
from tightdp.auditing.curves import rejected_exp_epsilon

DELTA = Fraction(1, 10**5)
MU = 1
CANARIES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
SHARES = (1, 3, 10, 30, 100)
LARGEST = 2000
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "audit-methods.svg"
METHODS = {
    "optimal, f-DP": ("optimal", "gaussian", "C0", "-"),
    "fdp": ("fdp", "gaussian", "C1", "-"),
    "optimal, (ε, δ)": ("optimal", None, "C0", "--"),
    "steinke, (ε, δ)": ("steinke", None, "C2", "--"),
    "order-statistics (false)": ("order-statistics", "gaussian", "C3", ":"),
}
_NORMAL = NormalDist()


def expected_right(canaries: int, guesses: int) -> int:
    """The expected number of right guesses on the canaries farthest from mu / 2, rounded down."""
    low, high = 0.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        right, wrong = _NORMAL.cdf(MU / 2 - middle), _NORMAL.cdf(-MU / 2 - middle)
        low, high = (middle, high) if right + wrong > guesses / canaries else (low, middle)
    return int(guesses * right / (right + wrong))


def reported(method: str, tradeoff: str | None, canaries: int) -> float:
    """The largest ε that a method reports over the numbers of guesses."""
    found = [0.0]
    for guesses in {canaries // share for share in SHARES}:
        if 5 <= guesses <= LARGEST:
            answer = audit(
                canaries=canaries,
                guesses=guesses,
                correct=expected_right(canaries, guesses),
                delta=DELTA,
                method=method,
                tradeoff=tradeoff,
            )
            found.append(answer.epsilon_lower or 0.0)
    return max(found)


def draw(curves: dict[str, list[float]], true: float, canaries: tuple[int, ...]) -> None:
    """Write the picture."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "tightdp", "font.size": 10})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    axes.axhline(true, color="black", linewidth=1, label="true ε")
    for name, values in curves.items():
        _, _, color, style = METHODS[name]
        axes.plot(canaries, values, color=color, linestyle=style, marker="o", markersize=3, label=name)
    axes.set_xscale("log")
    axes.set_ylim(0, None)
    axes.set_xlabel("canaries m")
    axes.set_ylabel("reported ε at δ = 1e-5")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=9)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})


def main() -> None:
    """Compute, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 3,000 canaries, and no picture")
    quick = parser.parse_args().quick
    canaries = CANARIES[:4] if quick else CANARIES
    curve = Gaussian(Fraction(MU))
    true = answer_of(curve)
    curves = {}
    for name, (method, tradeoff, _, _) in METHODS.items():
        curves[name] = [reported(method, tradeoff, m) for m in canaries]
        print(f"{name:26}", *(f"{value:8.3f}" for value in curves[name]), flush=True)
    print(f"{'true':26} {true:8.3f}")
    if not quick:
        draw(curves, true, canaries)


def answer_of(curve: Gaussian) -> float:
    """The true ε at δ, rounded down."""
    from tightdp.exact.numbers import log_down

    return log_down(rejected_exp_epsilon(curve, DELTA))


if __name__ == "__main__":
    main()
