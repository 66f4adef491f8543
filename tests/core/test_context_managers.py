"""Contexts that functions with one `yield` make: the block stands in its place, whichever way it is left."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import LanguageError
from tightdp.language.domains import Int
from tightdp.methods.compiled import compile_symbolic

HEAD = """
import contextlib


@contextlib.contextmanager
def plain(log, v=1):
    log.append(("p", v)); yield v; log.append("q")


@contextlib.contextmanager
def ended(now):
    yield next(iter([])) if now else 1


@contextlib.contextmanager
def fin(log, v=2):
    log.append("f")
    try: yield v
    finally: log.append("g")


@contextlib.contextmanager
def catch(log, v=3):
    try:
        yield v
        log.append("fine")
    except (KeyError, ValueError) as e: log.append("caught" if isinstance(e, KeyError) else "V")
    else: log.append("else")
    log.append("after")


@contextlib.contextmanager
def turn(log, v=4):
    try: yield v
    except KeyError: raise ValueError("t")


@contextlib.contextmanager
def nest(log, v=5):
    with fin(log, v) as k: yield k + 1
    log.append("n")


@contextlib.contextmanager
def maybe(log, v=6):
    if v == 0: raise KeyError("before")
    if v > 1: log.append("big")
    yield v
    if v == 1: raise ValueError("later")


@contextlib.contextmanager
def twice():
    for i in range(2): yield i


def f(x):
    log = []
    try: result = g(x, log)
    except (KeyError, ValueError) as e: result = type(e).__name__
    return result, tuple(log)


def g(x, log):
    n = 0
"""
PROGRAMS = {
    "ways out": """
    for i in range(2):
        with plain(log, x[0]) as k, fin(log):
            n += k + 1
            if flip(1 / 2): continue
            if n == 2: return "early"
            break
    else: log.append("else")
""",
    "what is caught": """
    with catch(log):
        n += 1
        if flip(1 / 2): raise KeyError
        n += 10
        if x[0] == 1: return n
        if x[0] == 2: raise ValueError
""",
    "what is raised": """
    with turn(log) as k:
        with maybe(log, x[0]) as v: n += v
        if flip(1 / 2): raise KeyError
        n += k
""",
    "StopIteration": """
    ends = iter([x[0]])
    for action in (lambda: next(ends), lambda: n):
        try:
            with fin(log) as v: n += next(ends) + v
            with plain(log, action()) as v: n += v
        except StopIteration: n += 10
        except RuntimeError: n += 100
    try:
        with plain(log, 1) as v, ended(flip(1 / 2)) as w: n += v
    except StopIteration: n += 1000
    except RuntimeError: n += 2000
""",
    "one in another": """
    with nest(log, x[0]) as k:
        for v in range(2):
            with catch(log):
                if flip(1 / 2): raise ValueError
                if v == x[0]: break
                n += k
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_the_interpreter_says(name: str) -> None:
    with module_of(f"{HEAD}{PROGRAMS[name]}\n    return n\n") as module:
        assert assert_agreement(bind(module, Int(0, 2), 1), ("cudd",)).failing == 0


@pytest.mark.parametrize(
    "block",
    ["with twice() as k: return k", "c = fin(log)\n    with c: n += 1\n    with c: n += x[0]\n    return n"],
)
def test_others_are_refused(block: str) -> None:
    with module_of(f"{HEAD}    {block}\n") as module, pytest.raises(LanguageError, match=r"one yield|twice"):
        compile_symbolic(bind(module, Int(0, 2), 1))
