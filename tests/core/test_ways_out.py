"""What is done on every way out of a `try` or a `with`: at its end, by `return`, `break`, `continue`, by exceptions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp.language.domains import Bit
from tightdp.session.instance import Instance

CONTEXT = """
import contextlib


class Noted:
    def __init__(self, log, stops): self.log, self.stops = log, stops
    def __enter__(self): self.log.append("in")
    def __exit__(self, kind, value, trace):
        self.log.append("out" if kind is None else "raised")
        return self.stops


class Again(Noted):
    def __exit__(self, kind, value, trace):
        self.log.append("again")
        if kind is not None: raise


class Told(Exception):
    def __init__(self, log, v=0):
        super().__init__(f"told {v}")
        log.append(v)
        self.v = v


def note(log, v):
    log.append(v)
    return v


"""
PROGRAMS = {
    "return in finally": """
def f(x):
    r = []
    def g():
        try:
            pass
        finally:
            r.append("f")
            return 1
    return g(), tuple(r), flip(1/2)
""",
    "break and continue": """
def f(x):
    r = []
    for i in range(3):
        try:
            if i == x[0]: continue
            if flip(1/2): break
            r.append(i)
        finally:
            r.append("f")
    else: r.append("else")
    return tuple(r)
""",
    "in handlers": """
def f(x):
    r = []
    for i in range(3):
        try:
            1 // (i - x[0])
        except ZeroDivisionError:
            if flip(1/2): break
            continue
        else:
            if flip(1/3): continue
        finally:
            r.append("f" + str(i))
        r.append("end")
    return tuple(r)
""",
    "finally goes elsewhere": """
def f(x):
    r = []
    def g():
        for i in range(2):
            try:
                if flip(1/2): return "ret"
                raise KeyError
            finally:
                r.append("f")
                if x[0]: break
                if i == 0: continue
        return "out"
    try: v = g()
    except KeyError: v = "K"
    return v, tuple(r)
""",
    "with": """
def f(x):
    l = []
    for i in range(3):
        with Noted(l, True), Noted(l, False):
            if i == 0 and x[0]: continue
            if flip(1/2): break
            if flip(1/2): raise KeyError
            l.append(i)
        l.append("after")
    return tuple(l)
""",
    "a loop inside of with": """
def f(x):
    l = []
    with Noted(l, False):
        for b in x:
            if flip(1/2): break
            if b: continue
            l.append(b)
    return tuple(l)
""",
    "finally inside of finally": """
def f(x):
    r = []
    try:
        try:
            for i in range(2):
                try:
                    if flip(1/2): raise ValueError
                    if x[0]: break
                finally:
                    r.append(i)
                    try:
                        raise KeyError
                    except KeyError:
                        r.append("k")
        finally:
            r.append("o")
    except ValueError:
        r.append("V")
    return tuple(r)
""",
    "while": """
def f(x):
    s = 0
    while s < 3:
        try:
            s += 1
            if flip(1/2):
                s += x[0]
                continue
            for j in range(2):
                if j: break
            else:
                s = 9
        finally:
            s += 1
    return s
""",
    "twice": """
def f(x):
    r = []
    def g(i):
        for k in range(3):
            try:
                try:
                    if k == i: return "r"
                    if k == 1: break
                finally:
                    r.append("a")
                    if flip(1/2): continue
            finally:
                r.append("b")
        return "e"
    return g(x[0] + 1), tuple(r)
""",
    "what is returned": """
def f(x):
    def g():
        try:
            return randint(0, 1)
        finally:
            return_me = 5
    def h():
        a = 1
        try:
            return a
        finally:
            a = 2
    return g(), h()
""",
    "raised in finally": """
def f(x):
    r = []
    try:
        try:
            raise KeyError
        finally:
            r.append(1)
            raise ValueError
    except ValueError: r.append("V")
    except KeyError: r.append("K")
    return tuple(r), flip(1/2)
""",
    "raised on some runs": """
def f(x):
    r = []
    try:
        try:
            r.append(0)
        finally:
            if flip(1/2): raise ValueError
            r.append(1)
    except ValueError: r.append("V")
    return tuple(r)
""",
    "suppressed": """
def f(x):
    r = []
    with contextlib.suppress(ZeroDivisionError):
        r.append(1 // (x[0] * randint(0, 1)))
    for i in range(3):
        with contextlib.suppress(KeyError, IndexError):
            if i == 1 and x[-1]: break
            r.append([5][i])
            continue
        r.append("s")
    try:
        with contextlib.suppress(KeyError): raise ValueError
    except ValueError: r.append("V")
    with contextlib.suppress(Exception): return "early", {}["k"]
    return tuple(r)
""",
    "what is raised is made first": """
def f(x):
    r = []
    for i in range(4):
        try:
            if i == 0: raise KeyError(note(r, randint(0, 1)))
            if i == 1: raise ValueError(f"{1 // x[0]}")
            if i == 2: raise ValueError from KeyError(note(r, "cause"))
            raise IndexError(*[note(r, 7), {}[x[0]]])
        except (KeyError, ValueError, ZeroDivisionError) as error:
            r.append(isinstance(error, KeyError) + 2 * isinstance(error, ValueError))
    return tuple(r)
""",
    "exceptions that do something": """
def f(x):
    r = []
    for i in range(3):
        try:
            if i: raise Told(r, v=x[0] + i)
            raise Told
        except Told: r.append("T")
        except TypeError: r.append("TypeError")
    return tuple(r), flip(1/2)
""",
    "the name of an exception": """
def f(x):
    r = []
    e = 1
    def kept():
        try: return e
        except NameError: return "none"
    for i in range(3):
        try:
            if i == x[0]: raise KeyError
        except KeyError as e:
            if flip(1/2): break
            if flip(1/2): continue
            e = 5
        r.append(kept())
    try:
        try: raise KeyError
        except KeyError as e: raise ValueError
    except ValueError: r.append(kept())
    return tuple(r), kept()
""",
    "raised again": """
def f(x):
    r = []
    def again(): raise
    for i in range(3):
        try:
            try:
                try:
                    if i == 0: raise KeyError
                    if i == 1 and flip(1/2): raise ValueError
                    if x[0]: continue
                finally:
                    r.append(i)
                    if flip(1/3): again()
            except KeyError:
                with Again(r, True): again()
        except (KeyError, ValueError): r.append("same")
        except RuntimeError: r.append("none")
    return tuple(r)
""",
    "deleted by a function": """
def f(x):
    b = 1
    def g():
        del b
    def h(b):
        del b
        return 2
    try: g()
    except UnboundLocalError: b += 1
    return b + h(x[0]), flip(1/2)
""",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_way_out_is_that_of_plain_python(name: str) -> None:
    with module_of(CONTEXT + PROGRAMS[name]) as module:
        assert assert_agreement(bind(module, Bit, 2)).failing == 0


def test_a_loop_that_is_followed_from_state_to_state_is_left_that_way() -> None:
    source = """
def f(x):
    n = 0
    while True:
        try:
            if flip("1/2"): break
            if x[0] and flip("1/2"): continue
        finally:
            n = min(n + 1, 3)
    return n
"""
    with module_of(source) as module:
        law = dict(Instance(bind(module, Bit, 1)).distribution((1,)).law)
    assert law == {1: Fraction(1, 2), 2: Fraction(1, 4), 3: Fraction(1, 4)}
