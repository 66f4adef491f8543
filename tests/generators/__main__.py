"""Draws programs, compares each with the interpreter, and prints every disagreement, reduced.

    python -m tests.generators --seed 0 --count 1000 --minutes 5

Exit status 1 where something disagrees, crashes or is slow.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from generators.comparison import REFUSED, SLOW, judge, keeps
from generators.reducer import reduced
from generators.statements import STYLES
from generators.writer import draw


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.generators", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="the number of the first program")
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--minutes", type=float, default=5, help="stop after so much time")
    parser.add_argument("--bits", type=float, default=8, help="how many bits of randomness a run draws at most")
    parser.add_argument("--statements", type=int, default=14)
    parser.add_argument("--style", choices=STYLES, default="", help="programs of one kind only")
    parser.add_argument("--stop", type=int, default=5, help="stop after so many disagreements")
    parser.add_argument("--show", action="store_true", help="print the programs and compare nothing")
    options = parser.parse_args()
    sys.unraisablehook = lambda _: None  # managers of diagrams complain of operations that were cut short
    end = time.monotonic() + 60 * options.minutes
    kinds: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    wrong = 0
    start = time.monotonic()
    for seed in range(options.seed, options.seed + options.count):
        drawn = draw(seed, options.bits, options.statements, options.style)
        if options.show:
            print(drawn.source)
            continue
        verdict = judge(drawn.source, drawn.n)
        kinds[verdict.kind] += 1
        if verdict.kind == REFUSED:
            refusals[verdict.detail] += 1
        if verdict.wrong:
            wrong += 1
            print(
                f"--- program {seed} (n={drawn.n}) {verdict.kind}: {verdict.detail}  [{time.monotonic() - start:.0f} s]"
            )
            print(drawn.source if verdict.kind == SLOW else reduced(drawn.source, keeps(verdict.kind, drawn.n), 30))
            sys.stdout.flush()
        if time.monotonic() > end or wrong >= options.stop:
            break
    print(f"{sum(kinds.values())} programs in {time.monotonic() - start:.0f} s:", dict(kinds.most_common()))
    for what, times in refusals.most_common(12):
        print(f"  {times:5} refused: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
