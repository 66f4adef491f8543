"""Every question about a drawn mechanism, compared with brute force over the interpreter's laws.

By hand, for longer: `python -m tests.questions --seed 0 --count 2000 --minutes 10`.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

import symmetry_oracle
from efficacy_oracle import Game
from generators.comparison import TooSlow, imported, meanings, time_limit
from generators.mechanisms import draw_mechanism
from generators.reducer import reduced
from generators.writer import Drawn
from tightdp import Instance, LanguageError
from tightdp.logic.bdd import BACKENDS

MOST_RUNS = 3_000
SECONDS = 20.0
LARGE, REFUSED, SLOW, FAILS, AGREES = "large", "refused", "slow", "fails", "agrees"


def ask_everything(drawn: Drawn, seconds: float = SECONDS) -> str:
    """Check the answers; say how it went. Raises AssertionError where an answer is not that of brute force."""
    with imported(drawn.source) as module:
        instance = Instance(module.f.bind(n=drawn.n).bound, BACKENDS[drawn.seed % len(BACKENDS)])
        try:
            with time_limit(3 * seconds):
                laws = meanings(instance.bound, MOST_RUNS)
            if laws is None:
                return LARGE
            with time_limit(seconds):
                return ask(instance, laws)
        except LanguageError:
            return REFUSED
        except TooSlow:
            return SLOW


def ask(instance: Instance, laws: dict[Any, Any]) -> str:
    """Privacy, δ, curve, trade-off, Rényi, accuracy and efficacy of an instance with these laws."""
    outputs = [y for law in laws.values() if law is not None for y in law]
    numeric = instance.bound.program.target is not None and all(isinstance(y, (int, Fraction)) for y in outputs)
    how = symmetry_oracle.check(instance, numeric)
    if how == "error":
        return FAILS
    if instance.n <= 3 and instance.bound.record.size > 1:
        check_efficacy(instance)
    return AGREES


def check_efficacy(instance: Instance) -> None:
    """Efficacy and gaps, guesses above thresholds and the adaptive ones, for drawn pairs of records."""
    bound = instance.bound
    rng = random.Random(bound.n)
    pairs = [tuple(rng.sample(bound.record.values, 2)) for _ in range(bound.n)]
    game = Game(bound, pairs)
    found = instance.efficacy(pairs=pairs)
    assert [row.efficacy for row in found.rows] == game.efficacies()
    assert found.leak.confidence == game.ddp()
    assert found.exp_epsilon == found.lower == game.exp_epsilon()
    for least in (Fraction(1, 2), Fraction(2, 3), Fraction(1)):
        joint = instance.guessing(least, pairs=pairs).joint
        assert joint.to_dict() == game.joint_law(game.threshold_guesser(least))
    order = rng.sample(range(bound.n), bound.n)
    joint = instance.adaptive_guessing(Fraction(2, 3), order=order, pairs=pairs).joint
    assert joint.to_dict() == game.adaptive_law(order, Fraction(2, 3))


def fault(drawn: Drawn, seconds: float = SECONDS) -> str:
    """The first line of what is wrong, "slow", or nothing."""
    try:
        return SLOW if ask_everything(drawn, seconds) == SLOW else ""
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {place.name}: {place.line}"


def smaller(drawn: Drawn, wrong: str, seconds: float = 30) -> str:
    """A smaller mechanism with the same fault."""
    return reduced(drawn.source, lambda text: fault(Drawn(text, drawn.n), 3) == wrong, seconds)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.questions", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--stop", type=int, default=5)
    options = parser.parse_args()
    start = time.monotonic()
    kinds: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        drawn = draw_mechanism(seed)
        try:
            kinds[ask_everything(drawn)] += 1
        except Exception as error:
            kinds["wrong"] += 1
            what = fault(drawn)
            print(f"--- mechanism {seed} (n={drawn.n}): {what}\n{error}\n{smaller(drawn, what)}", flush=True)
        if time.monotonic() - start > 60 * options.minutes or kinds["wrong"] >= options.stop:
            break
    print(f"{sum(kinds.values())} mechanisms in {time.monotonic() - start:.0f} s:", dict(kinds.most_common()))
    return 1 if kinds["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
