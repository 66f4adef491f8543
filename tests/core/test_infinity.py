"""An infinite number as the first best value: it is compared, and replaced; what is computed with it is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import LanguageError, ProgramError
from tightdp.language.domains import Int
from tightdp.methods.compiled import compile_symbolic
from tightdp.symmetry.sets import DiagramTable

HEAD = """
import heapq
import math
import numpy as np

HIGH = float("inf")
LOW = -math.inf


"""
PROGRAMS = {
    "place": """
    best, at = float("-inf"), None
    for i, v in enumerate((x[0], 1, randint(0, 2))):
        if v > best: best, at = v, i
    return at, best
""",
    "some": """
    best = HIGH
    for v in (x[0], randint(0, 2)):
        if flip(1 / 3): best = min(v, best)
    return None if best == float("inf") else best
""",
    "extrema": "return max([LOW, x[0], randint(0, 2)]), min(x[0], HIGH), max(HIGH, 3) == HIGH, min(LOW, x[0]) == LOW",
    "compared": """
    best = LOW
    if flip(1 / 2): best = x[0] / 2
    return best > 1 / 4, best >= LOW, best < 5, best == LOW, best != LOW, -best < 0, abs(best) > 2, bool(best)
""",
    "items": "return HIGH in (1, LOW, math.inf), (HIGH, 1) == (math.inf, x[0]), [1, LOW] < [1, x[0]], 1e400 > x[0]",
    "asked": """
    best = HIGH if flip(1 / 2) else x[0]
    return math.isinf(best), math.isfinite(best), math.isnan(best), isinstance(best, float), best is None
""",
    "list": """
    found = [-np.inf] * 3
    found[randint(0, 2)] = x[0]
    return tuple(v for v in found if v > LOW), found.index(max(found)), max(range(3), key=lambda i: found[i])
""",
    "distances": """
    d = {i: HIGH for i in range(3)}
    d[0] = 0
    for u, w, c in ((0, 1, 1 + x[0]), (1, 2, 1), (0, 2, randint(0, 4))):
        if d[u] < HIGH and d[w] > d[u] + c: d[w] = min(d[w], d[u] + c)
    return d[1], d[2]
""",
    "loop": """
    best, k = LOW, 0
    while best < 1 + x[0] and k < 4:
        k += 1
        if flip(1 / 2): best = max(best, randint(0, 2))
    return k, best if best > LOW else None
""",
    "sorted": "s = sorted([x[0], HIGH, randint(0, 2), LOW])\n    return tuple(s[1:3]), s[0] == LOW, s[3] == HIGH",
    "heap": """
    q = []
    for item in ((HIGH, 1), (x[0], 2), (randint(0, 2), 3)): heapq.heappush(q, item)
    return heapq.heappop(q), heapq.heappop(q)[1]
""",
    "of-numpy": """
    a, best = np.array([x[0], 1, 0]), LOW
    for v in a:
        if v > best: best = v
    return int(best)
""",
    "raises": """
    b = HIGH if flip(1 / 2) else 1
    try:
        return (int(b), b < "a") if x[0] else math.floor(b)
    except OverflowError:
        return "overflow"
    except TypeError:
        return "type"
""",
    "none-or": """
    try:
        return max(LOW, None if flip(1 / 2) else x[0])
    except TypeError:
        return "type"
""",
    "kept": """
    best = LOW
    for v in x:
        if v < 7: best = v
    return best
""",
}
REFUSED = {
    "sum": "return HIGH + x[0] > 3",
    "quotient": "try: return x[0] / HIGH\n    except TypeError: return 1",
    "function": "try: return math.fmod(HIGH, 2)\n    except ValueError: return 1",
    "array": "try: return np.array([HIGH, x[0]]).min()\n    except TypeError: return 1",
    "array-compared": "try: return (np.array(x) < HIGH).sum()\n    except TypeError: return 1",
    "draw": "try: return randint(0, HIGH)\n    except ValueError: return 1",
    "key": "try: return {HIGH: 1}[x[0]]\n    except KeyError: return 1",
    "identity": "return HIGH is math.inf",
    "output": "return HIGH",
}


ENDLESS = """
    best = LOW
    while best < 1:
        if flip(1 / 2): best = randint(0, 2)
    return best, x[0]
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_infinite_numbers_are_those_of_python(name: str) -> None:
    with module_of(f"{HEAD}def f(x):\n    {PROGRAMS[name].strip()}\n") as module:
        assert assert_agreement(bind(module, Int(0, 2), 1), ("cudd",)).failing == 0


def test_a_loop_without_a_bound_begins_with_infinity() -> None:
    with module_of(f"{HEAD}def f(x):{ENDLESS}") as module:
        bound = bind(module, Int(0, 1), 1)
        table = DiagramTable(bound, compile_symbolic(bound, "cudd"))
        assert dict(table.law((1,))) == {(1, 1): Fraction(1, 2), (2, 1): Fraction(1, 2)}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_computed_with_infinity_is_refused(name: str) -> None:
    with module_of(f"{HEAD}def f(x):\n    {REFUSED[name]}\n") as module, pytest.raises(LanguageError):
        compile_symbolic(bind(module, Int(0, 2), 1))


def test_a_run_that_returns_infinity_fails() -> None:
    source = f"{HEAD}def f(x):\n    return x[0] if flip(1 / 2) else HIGH\n"
    with module_of(source) as module, pytest.raises(ProgramError, match="infinite"):
        compile_symbolic(bind(module, Int(0, 2), 1))
