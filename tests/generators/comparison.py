"""Whether compiler, interpreter and CPython agree on a program, on every dataset, within a time limit."""

from __future__ import annotations

import itertools
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from types import FrameType, ModuleType
from typing import Any

from agreement import module_of
from generators.plain import namespace, plain_law
from tightdp.core.lowering import lower
from tightdp.errors import LanguageError, LimitError, ProgramError
from tightdp.language import interp
from tightdp.language.program import Bound
from tightdp.limits import Limits
from tightdp.logic.encode import prober
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.compiled import compile_dataset, compile_symbolic, deep_recursion
from tightdp.methods.elimination_plan import TooWide
from tightdp.symmetry.sets import DiagramTable

Law = dict[Any, Fraction]
Laws = dict[tuple[Any, ...], Law | None]
"""The law on every dataset; None where the program fails."""

LIBRARY = """\
import math
from fractions import Fraction
from functools import reduce
from itertools import accumulate, combinations, pairwise, permutations, product
"""
PROLOGUE = f"""\
{LIBRARY}
from tightdp import (
    Bit, Bits, Int, Tuple, Values, binomial, choice, flip, geometric, mechanism, observe, randint, shuffle,
)

"""

MOST_RUNS = 2_000
"""How many runs all datasets of a program may have together; with more it is left out."""

SECONDS = 10.0
"""How long compiling and reading the laws of one program may take before it is reported as slow."""

BACKEND = "autoref"
"""The diagrams of these programs are small, and this back end starts fastest."""

AGREES, FAILS, REFUSED, LARGE, SLOW, CRASHES, DIFFERS = (
    "agrees", "fails", "refused", "large", "slow", "crashes", "differs",
)  # fmt: skip
WRONG = (DIFFERS, CRASHES, SLOW)


@dataclass(frozen=True)
class Verdict:
    """What came out of a comparison: one of the words above, and the details of it."""

    kind: str
    detail: str = ""
    outputs: int = 0
    """The largest number of outputs of a dataset."""
    seconds: float = 0.0
    """What the compiled answers took."""
    meant: float = 0.0
    """What the interpreter took."""

    @property
    def wrong(self) -> bool:
        return self.kind in WRONG


class TooSlow(BaseException):
    """The time limit came; not an Exception, so that nothing below catches it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow in the main thread after so many seconds of processor time, however busy the machine is."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before, blocked = signal.signal(signal.SIGPROF, stop), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)  # again where a destructor swallowed the first one
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)  # it may have come where Ctrl-C has to wait


@contextmanager
def imported(source: str) -> Iterator[ModuleType]:
    """A module with this text, from a file, so that its source can be read back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # reduced programs write things like 0[1]
        with module_of(source, PROLOGUE) as module:
            yield module


def meanings(bound: Bound, most: int = MOST_RUNS) -> Laws | None:
    """The interpreter's law on every dataset; None where that takes too many runs."""
    laws: Laws = {}
    left = most
    for x in itertools.product(bound.record.values, repeat=bound.n):
        masses: Law = {}
        try:
            for output, mass in interp.runs(bound, x):
                left -= 1
                if left < 0:
                    return None
                masses[output] = masses.get(output, Fraction(0)) + mass
        except (LanguageError, LimitError):
            raise
        except ProgramError:
            laws[x] = None
            continue
        total = sum(masses.values())
        laws[x] = {output: mass / total for output, mass in masses.items()} if masses else None
    return laws


def keeps(kind: str, n: int) -> Callable[[str], bool]:
    """Whether a text is a program with the same verdict, for the reducer: what cannot be imported or bound is not."""

    def same(source: str) -> bool:
        try:
            return judge(source, n, seconds=2).kind == kind
        except Exception:
            return False

    return same


def judge(source: str, n: int, seconds: float = SECONDS, most: int = MOST_RUNS) -> Verdict:
    """Compare the compiled laws of the mechanism `f` with the interpreter's, and these with CPython's own."""
    try:
        with time_limit(6 * seconds), imported(source) as module:
            bound = module.f.bind(n=n).bound
            start = time.process_time()
            laws = meanings(bound, most)
            meant = time.process_time() - start
            if laws is None:
                return Verdict(LARGE)
            function = namespace(LIBRARY + source)["f"]
            misunderstood = _first_difference("by CPython", laws, lambda x: plain_law(function, x, most))
            if misunderstood:
                return Verdict(DIFFERS, misunderstood)
            return _compared(bound, laws, seconds, meant)
    except TooSlow:
        return Verdict(LARGE, "the interpreter took too long")


def _compared(bound: Bound, laws: Laws, seconds: float, meant: float) -> Verdict:
    start = time.process_time()
    try:
        with time_limit(seconds):
            difference = _difference(bound, laws)
    except LanguageError as error:
        return Verdict(REFUSED, error.what)
    except LimitError as error:
        return Verdict(LARGE, error.what)
    except TooSlow:
        return Verdict(SLOW, f"over {seconds:g} s, the interpreter took {meant:.3f} s")
    except Exception as error:
        return Verdict(CRASHES, f"{type(error).__name__}: {error}")
    used = time.process_time() - start
    if difference:
        return Verdict(DIFFERS, difference)
    outputs = max((len(law) for law in laws.values() if law is not None), default=0)
    return Verdict(AGREES if outputs else FAILS, "", outputs, used, meant)


def _difference(bound: Bound, laws: Laws) -> str:
    """What is different between the compiled laws and the given ones, in each way; empty where nothing is."""
    return _with_all_datasets(bound, laws) or _with_one_dataset(bound, laws) or _by_elimination(bound, laws)


def _with_all_datasets(bound: Bound, laws: Laws) -> str:
    try:
        table = DiagramTable(bound, compile_symbolic(bound, BACKEND, Limits()))
    except (LanguageError, LimitError):
        raise
    except ProgramError as error:
        if error.x is None or laws[error.x] is not None:
            return f"for all datasets: a failure on {error.x}, where there is none: {error.what}"
        return ""
    return _first_difference("for all datasets", laws, table.law)


def _with_one_dataset(bound: Bound, laws: Laws) -> str:
    law = lambda x: DiagramTable(bound, compile_dataset(bound, x, BACKEND)).law(x)  # noqa: E731
    return _first_difference("for one dataset", laws, law)


def _by_elimination(bound: Bound, laws: Laws) -> str:
    with deep_recursion():
        try:
            table, together = (EliminationTable(bound, lower(bound, None, prober(BACKEND))) for _ in range(2))
            safe = [x for x, law in laws.items() if law is not None]
            if safe:
                together.fill(safe)
        except (TooWide, ProgramError):  # what fails is looked at above, with the dataset
            return ""
        wrong = _first_difference("by elimination", laws, table.law)
        return wrong or _first_difference("by elimination of all at once", {x: laws[x] for x in safe}, together.law)


def _first_difference(way: str, laws: Laws, law: Callable[[tuple[Any, ...]], Law]) -> str:
    for x, meant in laws.items():
        try:
            found: Law | None = law(x)
        except (LanguageError, LimitError):
            raise
        except ProgramError:
            found = None
        except TooWide:
            return ""
        if found != meant:
            return f"{way}: on {x} {_shown(found)}, not {_shown(meant)}"
    return ""


def _shown(law: Law | None) -> str:
    if law is None:
        return "a failure"
    return "{" + ", ".join(f"{output!r}: {mass}" for output, mass in sorted(law.items(), key=repr)) + "}"
