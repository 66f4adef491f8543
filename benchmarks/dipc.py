"""The schemes of DiPC (Barthe et al. 2020) with continuous noise: decided for all ε, and the tight e^ε as a function.

    python benchmarks/dipc.py            run, and print the table
    python benchmarks/dipc.py --write    put the table into benchmarks/README.md as well

Source: Barthe, Chadha, Jagannath, Sistla, Viswanathan: "Deciding differential privacy for programs with finite inputs
and outputs", LICS 2020. Answers of queries are -1, 0 or 1, neighbours differ by at most 1 in each, or in one for
histograms; numbers are published as the nearest of -1, 0, 1. Every row asks whether a scheme is ε-DP for all ε > 0;
where it is not at this n, tightdp gives a value of ε and the datasets. Beside it stands the tight e^ε as a function of
ε, which the decision does not give, and whether the claim holds for all ε and every n, or some n at which it fails.
Times are of the processor; those of DiPC are stored with its tool, in seconds of Mathematica, for as many queries. Of
svt7 it decides claims with a δ.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from report import write_table

from tightdp import ALL, Int, exp, exponential, flip, laplace, mechanism
from tightdp.errors import TightdpError
from tightdp.results import EveryNVerification

README = Path(__file__).resolve().parent / "README.md"


def _near(value: Any) -> int:
    """Return the nearest of -1, 0 and 1."""
    return -1 if 2 * value < -1 else 0 if 2 * value < 1 else 1


def _above(x: Any, threshold: Any, scale: Any, most: int, again: bool = False, value: bool = False) -> Any:
    t, told, count = laplace(0, threshold), [], 0
    for query in x:
        z = laplace(query, scale) if scale else query
        if z >= t:
            told.append(_near(z) if value else True)
            count += 1
            if count == most:
                break
            t = laplace(0, threshold) if again else t
        else:
            told.append(False)
    return tuple(told)


def svt1(x: Any, eps: Any) -> Any:
    """Sparse vector (Lyu, Su, Li 2017, Algorithm 1)."""
    return _above(x, 2 / eps, 4 / eps, 1)


def svt2(x: Any, eps: Any) -> Any:
    """Two answers, the threshold drawn again (Dwork and Roth 2014)."""
    return _above(x, 4 / eps, 8 / eps, 2, again=True)


def svt3(x: Any, eps: Any) -> Any:
    """The noisy answer itself."""
    return _above(x, 2 / eps, 2 / eps, 1, value=True)


def svt4(x: Any, eps: Any) -> Any:
    """Noise of other scales."""
    return _above(x, 4 / eps, 4 / (3 * eps), 1)


def svt5(x: Any, eps: Any) -> Any:
    """No noise on answers, no end."""
    return _above(x, 2 / eps, 0, 0)


def svt6(x: Any, eps: Any) -> Any:
    """Noise on answers, no end."""
    return _above(x, 2 / eps, 2 / eps, 0)


def svt7(x: Any, eps: Any) -> Any:
    """No end, the threshold drawn again."""
    return _above(x, 2 / eps, 4 / eps, 0, again=True)


def nmax5(x: Any, eps: Any) -> Any:
    """Report noisy max: the index, Laplace noise."""
    noisy = [laplace(query, 2 / eps) for query in x]
    return noisy.index(max(noisy))


def nmax6(x: Any, eps: Any) -> Any:
    """The index, exponential noise."""
    noisy = [exponential(query, 2 / eps) for query in x]
    return noisy.index(max(noisy))


def nmax7(x: Any, eps: Any) -> Any:
    """The value, Laplace noise."""
    return _near(max(laplace(query, 2 / eps) for query in x))


def nmax8(x: Any, eps: Any) -> Any:
    """The value, exponential noise."""
    return _near(max(exponential(query, 2 / eps) for query in x))


def nmax9(x: Any, eps: Any) -> Any:
    """A histogram with noise of scale 1/ε."""
    return tuple(_near(laplace(count, 1 / eps)) for count in x)


def nmax10(x: Any, eps: Any) -> Any:
    """A histogram with noise of scale ε."""
    return tuple(_near(laplace(count, eps)) for count in x)


def rr(x: Any, eps: Any) -> Any:
    """Randomized response that lies with probability (1 - ε)/2, for ε below 1."""
    return tuple(1 - bit if flip((1 - eps) / 2) else bit for bit in x)


def rr_correct(x: Any, eps: Any) -> Any:
    """Randomized response that lies with probability 1/(1 + e^ε)."""
    return tuple(1 - bit if flip(1 / (1 + exp(eps))) else bit for bit in x)


@dataclass(frozen=True)
class Scheme:
    """A scheme, the verdict of DiPC, which refutes some at more queries only, and its stored times by n."""

    function: Callable[..., Any]
    private: bool | None
    stored: tuple[tuple[int, str], ...] = ()


ROWS = [
    Scheme(svt1, True, ((3, "99"),)),
    Scheme(svt2, True),
    Scheme(svt3, False, ((3, "75 to 177"),)),
    Scheme(svt4, False),
    Scheme(svt5, False),
    Scheme(svt6, False),
    Scheme(svt7, None),
    Scheme(nmax5, True, ((3, "147 to 176"),)),
    Scheme(nmax6, True, ((3, "147 to 176"),)),
    Scheme(nmax7, False, ((3, "147 to 176"),)),
    Scheme(nmax8, False, ((3, "147 to 176"),)),
    Scheme(nmax9, True),
    Scheme(nmax10, False),
    Scheme(rr, False),
    Scheme(rr_correct, True),
]


def timed(question: Callable[[], Any]) -> tuple[Any, float]:
    """The answer, or the error, and the seconds it took."""
    start = time.process_time()
    try:
        return question(), time.process_time() - start
    except TightdpError as error:
        return error, time.process_time() - start


def for_every_n(found: Any) -> str:
    """The verdict for every n."""
    if isinstance(found, TightdpError) or found.holds is None:
        return "not decided"
    if found.holds:
        return "holds"
    n = found.found.n if isinstance(found, EveryNVerification) else dict(found.subject.parameters)["n"]
    return f"refuted at n = {n}, ε = {Fraction(found.parameters['eps'])}"


def row(scheme: Scheme, n: int) -> str:
    """One line of the table."""
    from tightdp.exact.parameters import pretty
    from tightdp.exact.polynomials import naming

    function = scheme.function
    one = function in (nmax9, nmax10, rr, rr_correct)
    record = Int(0, 1) if function in (rr, rr_correct) else Int(-1, 1)
    made = mechanism(record=record, neighbours="unit-step" if one else "unit-all")(function)
    instance = made.bind(n=n, eps="?[0,1]" if function is rr else "?")
    pieces, seconds = timed(instance.privacy)
    found, more = timed(lambda: instance.verify(epsilon="eps"))
    if isinstance(found, TightdpError):
        verdict = f"not decided: {found.what[:80]}"
    elif found.holds:
        verdict = "holds"
    else:
        verdict = f"refuted at ε = {Fraction(found.parameters['eps'])}"
    tight = "-"
    if not isinstance(pieces, TightdpError):
        with naming(pieces.unknown):
            values = [pretty(part.value) if not isinstance(part.value, float) else "inf" for part in pieces.pieces]
        tight = (
            f"`{values[0]}`"
            if len(values) == 1 and len(values[0]) <= 60
            else f"{len(values)} piece{'s' * (len(values) > 1)}"
        )
    name, every = function.__name__, "-"
    if n == 3:
        proof, took = timed(lambda: made.bind(n=ALL, eps="?[0,1]" if function is rr else "?").verify(epsilon="eps"))
        if isinstance(proof, TightdpError):
            proof, took = timed(lambda: made.bind(n=ALL, eps="1/2").verify(epsilon="1/2"))
        every = f"{for_every_n(proof)}, {took:.2f} s"
    known = "-" if scheme.private is None else "holds" if scheme.private else "refuted"
    stored = dict(scheme.stored).get(n, "-")
    return f"| {name} | {n} | {known} | {verdict} | {tight} | {seconds:.2f} s | {more:.2f} s | {every} | {stored} |"


def main() -> None:
    """Run the rows."""
    columns = "| scheme | n | DiPC | here, for this n | tight e^ε | time | time of the claim | for every n | DiPC, s |"
    rows = ((scheme.function.__name__, partial(row, scheme, n)) for scheme in ROWS for n in (3, 5))
    write_table(__doc__, columns, rows, README, "dipc")


if __name__ == "__main__":
    main()
