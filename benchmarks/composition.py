"""Compositions beside dp_accounting: its pessimistic δ should lie above, its optimistic δ below.

    python -m pip install '.[dp-accounting]' && python benchmarks/composition.py

Prints how many queries there were, how many are on the wrong side, the largest error among these, and the seconds.
Where prv-accountant is installed (`pip install prv-accountant`), randomized response is composed by it as well.
"""

from __future__ import annotations

import math
import random
import time
from fractions import Fraction
from typing import Any

from dp_accounting.pld import privacy_loss_distribution as theirs

try:
    import prv_accountant
except ImportError:
    prv_accountant = None

from tightdp import Bit, Int, flip, geometric, mechanism, randint

INTERVAL = 1e-3
QUERIES = 170


@mechanism(record=Bit)
def response(x, lam):  # type: ignore[no-untyped-def]
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Int(0, 3))
def one_of_four(x, lam):  # type: ignore[no-untyped-def]
    return tuple((b + randint(1, 3)) % 4 if flip(lam) else b for b in x)


@mechanism(record=Bit)
def noisy_count(x, ratio):  # type: ignore[no-untyped-def]
    return geometric(sum(x), ratio, 0, 4)


@mechanism(record=Bit)
def rare_leak(x, p, lam):  # type: ignore[no-untyped-def]
    return x if flip(p) else tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit, neighbours="add-remove")
def sampled_count(x, ratio):  # type: ignore[no-untyped-def]
    return geometric(sum(b for b in x if b is not None), ratio, 0, 3)


def losses() -> list[Any]:
    """The privacy losses of single runs."""
    found = [response.bind(n=1, lam=lam).privacy_loss() for lam in ("1/3", "1/5", "1/100")]
    found += [one_of_four.bind(n=1, lam=lam).privacy_loss() for lam in ("1/2", "1/10")]
    found += [noisy_count.bind(n=2, ratio=ratio).privacy_loss() for ratio in ("1/2", "9/10")]
    found.append(rare_leak.bind(n=1, p="1/1000", lam="1/3").privacy_loss())
    counts = [sampled_count.bind(n=2, ratio=ratio).privacy_loss() for ratio in ("1/2", "4/5")]
    return [*found, *(count.subsample(rate) for count in counts for rate in ("1/100", "1/4"))]


def peer(loss: Any, pessimistic: bool) -> Any:
    """The same dominating pairs as dp_accounting takes them."""
    sides = []
    for direction in loss.losses.directions:
        ((pair, _),) = direction.dominating
        below = {at: math.log(q) for at, (_, q) in enumerate(pair.outcomes) if q}
        above = {at: math.log(p) for at, (p, _) in enumerate(pair.outcomes) if p}
        made = theirs.from_two_probability_mass_functions(
            below, above, pessimistic_estimate=pessimistic, value_discretization_interval=INTERVAL
        )
        sides.append(made._pmf_remove)
    return theirs.PrivacyLossDistribution(*sides)


def beside_prv() -> None:
    """Print ε at δ = 1e-6 of runs of randomized response, and what prv-accountant encloses it by."""
    if prv_accountant is None:
        print("prv-accountant is not installed")
        return
    print("| e^ε of one run | runs | ε | tightdp | prv-accountant, ends 0.02 apart | time |")
    print("| --- | --- | --- | --- | --- | --- |")
    for ratio, runs in ((ratio, runs) for ratio in (2, 4) for runs in (1, 10, 100, 1000)):
        start = time.process_time()
        once = response.bind(n=1, lam=Fraction(1, 1 + ratio)).privacy_loss()
        found = once.compose(runs).epsilon(delta="1e-6")
        middle = time.process_time()
        step = prv_accountant.PureDPMechanism(math.log(ratio))
        accountant = prv_accountant.PRVAccountant(
            [step], max_self_compositions=[runs], eps_error=0.01, delta_error=1e-9
        )
        low, _, high = accountant.compute_epsilon(delta=1e-6, num_self_compositions=[runs])
        end = time.process_time()
        side = "" if low <= found.epsilon <= high else " (on the wrong side)"
        times = f"{middle - start:.2f} s | {low:.3f} to {high:.3f}{side} | {end - middle:.2f} s"
        print(f"| {ratio} | {runs} | {found.epsilon:.6f} | {times} |")


def main() -> None:
    """Ask both, and print what is compared."""
    random.seed(1)
    beside_prv()
    queries = wrong = 0
    error, seconds = 0.0, [0.0, 0.0]
    for once in losses():
        ends = [peer(once, pessimistic) for pessimistic in (True, False)]
        for runs in (1, 2, 10, 100, 1000):
            start = time.perf_counter()
            ours = once.compose(runs)
            top = ours.epsilon().exp_epsilon
            seconds[0] += time.perf_counter() - start
            start = time.perf_counter()
            high, low = (end.self_compose(runs) if runs > 1 else end for end in ends)
            seconds[1] += time.perf_counter() - start
            span = math.log(top) if top < 10**300 else 200.0
            for _ in range(QUERIES):
                epsilon = Fraction(random.uniform(0, span)).limit_denominator(10**6)
                start = time.perf_counter()
                found = ours.delta(epsilon=epsilon)
                seconds[0] += time.perf_counter() - start
                start = time.perf_counter()
                upper, lower = (Fraction(end.get_delta_for_epsilon(float(epsilon))) for end in (high, low))
                seconds[1] += time.perf_counter() - start
                queries += 1
                beyond = max(found.lower - upper, lower - found.delta)
                wrong += beyond > 0
                error = max(error, float(beyond))
    print(f"{queries:,} queries, {wrong} on the wrong side by at most {error:.2g}")
    print(f"tightdp {seconds[0]:.1f} s, dp_accounting {seconds[1]:.1f} s")


if __name__ == "__main__":
    main()
