"""Copies of objects, exceptions that a condition picks, and `format`."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import LanguageError
from tightdp.language.domains import Int
from tightdp.methods.compiled import compile_symbolic

HEAD = """
import copy
import functools


class Box:
    def __init__(self, v): self.v, self.log = v, []
    def add(self, k): self.v += k


class Own(Box):
    def __getstate__(self): return {"v": 7}


class Coded(Exception):
    def __init__(self, code): super().__init__(code); self.code = code
    def __matmul__(self, other): return self.code - other


def made_outside(): return 1


HELD = Box(1)


@functools.lru_cache(maxsize=None)
def ways(n, k):
    return 1 if k in (0, n) else ways(n - 1, k - 1) + ways(n - 1, k)


@functools.cache
def coin(k): return randint(0, k)


@functools.cache
def row(k): return [k]


@functools.cache
def of_box(box): return box.v


"""
PROGRAMS = {
    "an exception that was made before": """
    err = ValueError("bad", x[0])
    try:
        if flip(1 / 2): raise err
    except ValueError as e:
        e.seen = 1
        return str(e), e is err, err.seen, repr(err)
    return err.args
""",
    "exceptions from elsewhere": """
    def made(v): return ValueError(v) if v else KeyError("z")
    kinds = {0: ValueError, 1: TypeError, 2: KeyError}
    told, last = [], None
    for v in range(2):
        try: raise made(v) if flip(1 / 2) else kinds[x[0]]("m")
        except (ValueError, LookupError) as e: last = e
        except TypeError as e: told.append(e)
    try: raise last
    except TypeError: return "none"
    except LookupError as e: return str(e), len(told)
    except ValueError as e: return e.args, tuple(str(each) for each in told)
""",
    "an attribute that a handler changes": """
    try: raise Coded(x[0])
    except Coded as e:
        e.code += 1
        return e.code, e.args
""",
    "names and @": """
    def g(v): return v
    return g.__name__, made_outside.__name__, Coded(2) @ x[0]
""",
    "results that are kept": """
    return ways(4, randint(0, 2)), ways(3 + x[0], 2), ways(20, 3)
""",
    "copy": """
    b = Box(x[0])
    c = copy.copy(b)
    c.add(randint(0, 1)); c.log.append(1)
    return b.v, c.v, len(b.log), c is b, isinstance(c, Box)
""",
    "on some runs": """
    b = Box(x[0])
    c = copy.copy(b) if flip(1 / 2) else b
    c.v = 5
    return b.v, c.v
""",
    "one of two": """
    a, b = Box(x[0]), Box(2)
    c = copy.copy(a if flip(1 / 2) else b)
    c.add(1)
    return a.v, b.v, c.v
""",
    "best so far": """
    best, state = None, Box(0)
    for i in range(3):
        state.v = randint(0, 1) + x[0]
        if best is None or state.v > best.v: best = copy.copy(state)
    return best.v
""",
    "raise": """
    n = 0
    for v in (x[0], 1):
        try:
            if flip(1 / 2): raise KeyError if v else ValueError
            n += 1
        except KeyError: n += 10
        except ValueError: n += 100
        finally: n += 1000
    return n
""",
    "raise one of three": """
    def g(v):
        raise ValueError(v) if v == 0 else KeyError("b") if flip(1 / 2) else TypeError("t", v)
    try: g(x[0])
    except (ValueError, TypeError) as e: return type(e).__name__, e.args
    except KeyError: return "key"
""",
    "format": 'return format(x[0], "d"), format(x[0] + 10, "x"), format("a", ">3"), format(x[0] == 1), format(None)',
    "no format": """
    try: return format(x[0], ">>3q")
    except ValueError:
        try: return format([1], "d")
        except TypeError: return "none"
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_the_interpreter_says(name: str) -> None:
    with module_of(f"{HEAD}def f(x):\n    {PROGRAMS[name].strip()}\n") as module:
        assert assert_agreement(bind(module, Int(0, 2), 1), ("cudd",)).failing == 0


def assert_refused(body: str, match: str, head: str = HEAD) -> None:
    """A program is not in the language, for a reason."""
    with module_of(f"{head}def f(x):\n{body}") as module, pytest.raises(LanguageError, match=match):
        compile_symbolic(bind(module, Int(0, 2), 1))


@pytest.mark.parametrize("made", ["Own(x[0])", "HELD"])
def test_other_copies_are_refused(made: str) -> None:
    assert_refused(f"    return copy.copy({made}).v\n", "a copy of this")


@pytest.mark.parametrize("result", ["coin(1)", "row(1)[0]", "of_box(Box(1))"])
def test_results_kept_of_what_may_be_another_are_refused(result: str) -> None:
    assert_refused(f"    return {result} + x[0]\n", "kept for the next run")


_OF_INTEGERS = [
    "a & 1", "~a", "1 << a", "len(range(a))", "[1] * a", "'ab' * a", "[1, 2, 3][a]", "math.comb(3, a)", "chr(a + 65)",
    "a.bit_length()", "a.numerator", "round(1.25, a)", "fractions.Fraction(a, 2)", "random.randint(0, a)", "f'{a:d}'",
    "random.getrandbits(a)", "np.arange(3)[a]", "next(itertools.islice([1, 2, 3], a), 0)",
]  # fmt: skip


@pytest.mark.parametrize("value", ["x[0] / 1 if flip(1 / 2) else x[0]", "1.0 if flip(1 / 2) else 1"])
@pytest.mark.parametrize("done", _OF_INTEGERS)
def test_inside_try_an_integer_and_a_quotient_are_not_mixed(done: str, value: str) -> None:
    tried = f"    try: return ({done}) == 1\n    except TypeError: return 2\n"
    head = f"import fractions, itertools, math, random\nimport numpy as np\n{HEAD}"
    assert_refused(f"    a = {value}\n{tried}", "an integer or a quotient", head)


@pytest.mark.parametrize("asked", ["kind(1), kind(True)", "kind(x[0]), kind(x[0] / 2)", "kind(x[0] == 1), kind(1)"])
def test_kept_results_of_equal_numbers_of_several_types_are_refused(asked: str) -> None:
    head = f"{HEAD}@functools.cache\ndef kind(v): return isinstance(v, bool)\n"
    assert_refused(f"    return {asked}\n", "equal numbers of several types", head)
