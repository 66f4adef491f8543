"""The programs of CheckDP (Wang et al. 2020) with real Laplace noise: verdicts, and the tight ε that it does not give.

    python benchmarks/checkdp.py            run, and print the table
    python benchmarks/checkdp.py --write    put the table into benchmarks/README.md as well

Source: Wang, Ding, Kifer, Zhang: "CheckDP: An automated and integrated approach for proving differential privacy or
finding precise counterexamples", CCS 2020. Queries are -1, 0 or 1 and change by at most 1 each; of the sums one record
changes by 1. Claims are at ε = 1. Times are of the processor.
"""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from report import write_table

from tightdp import ALL, EachRecord, Int, laplace, mechanism
from tightdp.errors import TightdpError
from tightdp.exact.numbers import log
from tightdp.results import EveryN

README = Path(__file__).resolve().parent / "README.md"


def noisy_max(x: Any) -> Any:
    """The index of the largest of the noisy queries."""
    noisy = [laplace(query, 2) for query in x]
    return noisy.index(max(noisy))


def largest_value(x: Any) -> Any:
    """That query itself."""
    return max(laplace(query, 2) for query in x)


def _above(x: Any, threshold: Any, scale: Any, most: int) -> Any:
    t, told, count = laplace(0, threshold), [], 0
    for query in x:
        if (laplace(query, scale) if scale else query) >= t:
            told.append(True)
            if most:
                count += 1
                if count == most:
                    break
        else:
            told.append(False)
    return tuple(told)


def sparse_vector(x: Any) -> Any:
    """Which queries are above a noisy threshold, until one is."""
    return _above(x, 2, 4, 1)


def sparse_vector_increasing(x: Any) -> Any:
    """The same with half of the noise, where no query becomes smaller."""
    return _above(x, 2, 2, 1)


def sparse_vector_decreasing(x: Any) -> Any:
    """The same where no query becomes larger."""
    return _above(x, 2, 2, 1)


def sparse_vector_no_query_noise(x: Any) -> Any:
    """Without noise on queries."""
    return _above(x, 2, 0, 1)


def sparse_vector_no_end(x: Any) -> Any:
    """Without an end."""
    return _above(x, 2, 2, 0)


def sparse_vector_wrong_scales(x: Any) -> Any:
    """Noise of other scales."""
    return _above(x, 4, "4/3", 1)


def numeric_sparse_vector(x: Any) -> Any:
    """The query above the threshold with fresh noise."""
    t, told = laplace(0, 3), []
    for query in x:
        if laplace(query, 6) >= t:
            told.append(laplace(query, 3))
            break
        told.append(False)
    return tuple(told)


def _told(x: Any, gap: bool) -> Any:
    t, told = laplace(0, 2), []
    for query in x:
        z = laplace(query, 4)
        if z >= t:
            told.append(z - t if gap else z)
            break
        told.append(False)
    return tuple(told)


def gap_sparse_vector(x: Any) -> Any:
    """How far above the threshold it was."""
    return _told(x, True)


def value_sparse_vector(x: Any) -> Any:
    """The noisy query that was above it."""
    return _told(x, False)


def _adaptive(x: Any, gap: bool) -> Any:
    t, told = laplace(0, 2), []
    for query in x:
        z = laplace(query, 8)
        if z - t >= 16:
            told.append((2, z - t if gap else z))
            break
        z = laplace(query, 4)
        if z >= t:
            told.append((1, z - t if gap else z))
            break
        told.append(False)
    return tuple(told)


def adaptive_sparse_vector(x: Any) -> Any:
    """Much noise first, less where the query is not far above."""
    return _adaptive(x, True)


def adaptive_sparse_vector_value(x: Any) -> Any:
    """The noisy query in place of the gap."""
    return _adaptive(x, False)


def partial_sum(x: Any) -> Any:
    """A noisy sum."""
    return laplace(sum(x), 1)


def partial_sum_less_noise(x: Any) -> Any:
    """A noisy sum with half of the noise."""
    return laplace(sum(x), "1/2")


def _smart_sum(x: Any, scale: Any) -> Any:
    following, block, told = 0, 0, []
    for at, record in enumerate(x):
        if at % 2 == 1:
            following = block + record + (laplace(0, scale) if scale else 0)
            block = 0
        else:
            following = following + record + laplace(0, 1)
            block = block + record
        told.append(following)
    return tuple(told)


def smart_sum(x: Any) -> Any:
    """Sums as records come, in blocks of two."""
    return _smart_sum(x, 1)


def smart_sum_bare_blocks(x: Any) -> Any:
    """The same without noise at the end of blocks."""
    return _smart_sum(x, 0)


def neighbours_of(function: Any) -> Any:
    """Return the neighbour relation of a program whose queries are from -1 to 1."""
    if function is sparse_vector_increasing:
        return EachRecord(lambda query: {min(query + 1, 1)})
    if function is sparse_vector_decreasing:
        return EachRecord(lambda query: {max(query - 1, -1)})
    return "unit-step" if "sum" in function.__name__ else "unit-all"


ROWS: list[tuple[Any, int, bool]] = [
    (noisy_max, 1, True),
    (sparse_vector, 1, True),
    (sparse_vector_increasing, 1, True),
    (sparse_vector_decreasing, 1, True),
    (numeric_sparse_vector, 1, True),
    (gap_sparse_vector, 1, True),
    (adaptive_sparse_vector, 1, True),
    (partial_sum, 1, True),
    (smart_sum, 2, True),
    (largest_value, 1, False),
    (sparse_vector_no_query_noise, 1, False),
    (sparse_vector_no_end, 1, False),
    (sparse_vector_wrong_scales, 1, False),
    (value_sparse_vector, 1, False),
    (adaptive_sparse_vector_value, 1, False),
    (partial_sum_less_noise, 1, False),
    (smart_sum_bare_blocks, 2, False),
]


def row(function: Any, claim: int, private: bool, n: int) -> str:
    """One line of the first table."""
    said, name = "holds" if private else "refuted", function.__name__.replace("_", " ")
    made = mechanism(record=Int(-1, 1), neighbours=neighbours_of(function))(function)
    start = time.process_time()
    found = made.bind(n=n).privacy()
    seconds = time.process_time() - start
    infinite = found.exp_epsilon == math.inf
    epsilon = math.inf if infinite else math.log(found.exp_epsilon)
    verdict = "holds" if epsilon <= claim * (1 + 1e-12) else "refuted"
    told = "inf" if infinite else f"{epsilon:.6g}"
    return f"| {name} | {n} | {claim} | {said} | {verdict} | {told} | {found.status} | {seconds:.2f} s |"


def _down(known: EveryN) -> str:
    """The lower end with six decimals, rounded down where it is not the upper one."""
    value = log(known.lower)
    exact = math.isinf(value) or known.lower == known.upper
    return f"{value if exact else math.floor(value * 10**6) / 10**6:.6g}"


def row_for_every_n(function: Any, claim: int, private: bool) -> str:
    """One line of the second table."""
    instance = mechanism(record=Int(-1, 1), neighbours=neighbours_of(function))(function).bind(n=ALL)
    said, name = "holds" if private else "refuted", function.__name__.replace("_", " ")
    start = time.process_time()
    try:
        verified = instance.verify(epsilon=claim)
    except TightdpError as error:
        return f"| {name} | {claim} | {said} | not decided | - | - | {error.what.partition(': ')[2]} | - |"
    seconds = time.process_time() - start
    known = instance.privacy() if verified.holds else verified.found
    verdict = "holds" if verified.holds else "not decided" if verified.holds is None else "refuted"
    ends = f"{_down(known)} (n = {known.n}) | {log(known.upper):.6g} | {known.proof}"
    return f"| {name} | {claim} | {said} | {verdict} | {ends} | {seconds:.2f} s |"


def main() -> None:
    """Run the rows."""
    columns = "| program | claimed ε | CheckDP | here, for every n | ε is at least | at most | proof | time |"
    rows = ((asked[0].__name__, partial(row_for_every_n, *asked)) for asked in ROWS)
    write_table(__doc__, columns, rows, README, "checkdp-all")
    columns = "| program | n | claimed ε | CheckDP, for every n | here, for this n | tight ε | status | time |"
    rows = ((asked[0].__name__, partial(row, *asked, n)) for asked in ROWS for n in (3, 5))
    write_table(__doc__, columns, rows, README, "checkdp")


if __name__ == "__main__":
    main()
