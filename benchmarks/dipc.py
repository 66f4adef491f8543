"""Questions "for all ε" that DiPC decides (Barthe et al. 2020), answered with ε as an unknown.

    python benchmarks/dipc.py            run, and print the table
    python benchmarks/dipc.py --write    put the table into benchmarks/README.md as well

Source: Barthe, Chadha, Jagannath, Sistla, Viswanathan: "Deciding differential privacy for programs with finite inputs
and outputs", LICS 2020. Programs have finitely many inputs (answers of queries in {-1, 0, 1}, neighbours differ by at
most 1 in each) and finitely many outputs, and discrete Laplace noise on all integers whose scale depends on ε. Every
row asks whether a program is c·ε-DP for all ε > 0; where it is not, tightdp gives a value of ε and the datasets. Beside
it stands the tight e^ε as a function of ε, which the decision does not give. Times are of the processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from report import write_table

from tightdp import Bit, Int, Mechanism, choice, exp, flip, geometric, mechanism
from tightdp.errors import TightdpError

README = Path(__file__).resolve().parent / "README.md"
ANSWERS = Int(-1, 1)


@mechanism(record=Bit)
def randomized_response(x: Any, eps: Any) -> Any:
    """Every bit is kept with probability e^ε/(1 + e^ε)."""
    return tuple(b if flip(exp(eps) / (1 + exp(eps))) else 1 - b for b in x)


@mechanism(record=ANSWERS, neighbours="unit-all")
def sparse_vector(x: Any, eps: Any) -> Any:
    """Which noisy answers reach the noisy threshold 0, until one does (Lyu, Su, Li 2017, Algorithm 1)."""
    threshold = geometric(0, exp(-eps / 2))
    for at in range(len(x)):
        if geometric(x[at], exp(-eps / 4)) >= threshold:
            return at
    return None


@mechanism(record=ANSWERS, neighbours="unit-all")
def sparse_vector_less_noise(x: Any, eps: Any) -> Any:
    """The same with as much noise on answers as on the threshold (their Algorithm 4)."""
    threshold = geometric(0, exp(-eps / 2))
    for at in range(len(x)):
        if geometric(x[at], exp(-eps / 2)) >= threshold:
            return at
    return None


@mechanism(record=ANSWERS, neighbours="unit-all")
def sparse_vector_no_answer_noise(x: Any, eps: Any) -> Any:
    """No noise on answers, no end (their Algorithm 5)."""
    threshold = geometric(0, exp(-eps / 2))
    return tuple(answer >= threshold for answer in x)


@mechanism(record=ANSWERS, neighbours="unit-all")
def sparse_vector_no_end(x: Any, eps: Any) -> Any:
    """Noise on answers, no end (their Algorithm 6)."""
    threshold = geometric(0, exp(-eps / 2))
    return tuple(geometric(answer, exp(-eps / 2)) >= threshold for answer in x)


@mechanism(record=ANSWERS, neighbours="unit-all")
def noisy_max(x: Any, eps: Any) -> Any:
    """The index of the largest noisy answer, the first one of several."""
    noisy = [geometric(answer, exp(-eps / 2)) for answer in x]
    best, at = noisy[0], 0
    for i in range(1, len(noisy)):
        if noisy[i] > best:
            best, at = noisy[i], i
    return at


@mechanism(record=ANSWERS, neighbours="unit-all")
def noisy_max_value(x: Any, eps: Any) -> Any:
    """The largest noisy answer itself, cut to -1..1."""
    return min(1, max(-1, max(geometric(answer, exp(-eps / 2)) for answer in x)))


@mechanism(record=Int(0, 2))
def histogram(x: Any, eps: Any) -> Any:
    """Every count with noise, cut to 0..n."""
    return tuple(geometric(sum(r == k for r in x), exp(-eps / 2), 0, len(x)) for k in range(3))


@mechanism(record=ANSWERS, neighbours="unit-all")
def exponential(x: Any, eps: Any) -> Any:
    """An index, by the exponential mechanism on the answers."""
    return choice(range(len(x)), weights=[exp(eps * answer / 2) for answer in x])


@mechanism(record=Bit)
def vertex_cover(x: Any, eps: Any) -> Any:
    """The order in which the private vertex cover takes three vertices; records are the edges 01, 02, 12.

    Gupta, Ligett, McSherry, Roth, Talwar 2010, with the weight e^(ε/4) of a degree in place of their 4/ε.
    """
    edges, left, order = [(0, 1), (0, 2), (1, 2)], [0, 1, 2], []
    for _ in range(2):
        degrees = [sum(x[i] for i in range(3) if v in edges[i] and not set(edges[i]) & set(order)) for v in left]
        at = choice(range(len(left)), weights=[exp(eps * degree / 4) for degree in degrees])
        order.append(left.pop(at))
    return tuple(order)


@mechanism(record=ANSWERS, neighbours="unit-all")
def min_max(x: Any, eps: Any) -> Any:
    """Whether a noisy last answer lies between the noisy least and largest of the others, or on which side."""
    low, high = (geometric(end, exp(-eps / 3)) for end in (min(x[:-1]), max(x[:-1])))
    last = geometric(x[-1], exp(-eps / 3))
    return 0 if low <= last <= high else -1 if last < low else 1


ROWS: list[tuple[Mechanism, int, str]] = [
    (randomized_response, 4, "eps"),
    (randomized_response, 4, "eps/2"),
    (sparse_vector, 1, "eps"),
    (sparse_vector, 2, "eps"),
    (sparse_vector, 3, "eps"),
    (sparse_vector_less_noise, 2, "eps"),
    (sparse_vector_less_noise, 2, "3*eps/2"),
    (sparse_vector_no_answer_noise, 2, "eps"),
    (sparse_vector_no_end, 2, "eps"),
    (sparse_vector_no_end, 2, "3*eps/2"),
    (noisy_max, 2, "eps"),
    (noisy_max, 3, "eps"),
    (noisy_max, 3, "eps/2"),
    (noisy_max_value, 3, "eps"),
    (histogram, 3, "eps"),
    (exponential, 3, "eps"),
    (exponential, 3, "eps/2"),
    (vertex_cover, 3, "eps"),
    (vertex_cover, 3, "eps/2"),
    (min_max, 3, "eps"),
]


def timed(question: Callable[[], Any]) -> tuple[Any, float]:
    """The answer, or the error, and the seconds it took."""
    start = time.process_time()
    try:
        return question(), time.process_time() - start
    except TightdpError as error:
        return error, time.process_time() - start


def row(mechanism: Mechanism, n: int, claim: str) -> str:
    """One line of the table."""
    from tightdp.exact.parameters import pretty
    from tightdp.exact.polynomials import naming

    instance = mechanism.bind(n=n, eps="?")
    found, seconds = timed(lambda: instance.verify(epsilon=claim))
    if isinstance(found, TightdpError):
        verdict = f"not decided: {found.what[:80]}"
    elif found.holds:
        verdict = "holds"
    else:
        verdict = f"refuted at ε = {Fraction(found.parameters['eps'])}"
    pieces, more = timed(instance.privacy)
    tight = "-"
    if not isinstance(pieces, TightdpError):
        with naming(pieces.unknown):
            values = [pretty(part.value) if not isinstance(part.value, float) else "inf" for part in pieces.pieces]
        tight = (
            f"`{values[0]}`"
            if len(values) == 1 and len(values[0]) <= 60
            else f"{len(values)} piece{'s' * (len(values) > 1)}"
        )
    label = claim.replace("eps", "ε").replace("*", "")
    name = mechanism.name.replace("_", " ")
    return f"| {name} | {n} | {label} | {verdict} | {seconds:.2f} s | {tight} | {more:.2f} s |"


def main() -> None:
    """Run the rows."""
    columns = "| program | n | is ...-DP for all ε | answer | time | tight e^ε | time |"
    rows = ((asked[0].name, partial(row, *asked)) for asked in ROWS)
    write_table(__doc__, columns, rows, README, "dipc")


if __name__ == "__main__":
    main()
