"""Imports inside a mechanism, of Python's library and of those that are known."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import LanguageError
from tightdp.language.domains import Int
from tightdp.methods.compiled import compile_symbolic

PROGRAMS = {
    "modules": """
    import math as mm, os.path
    from random import randint as draw
    return mm.floor(x[0] / 2) + draw(0, 1)
""",
    "fractions": """
    from fractions import Fraction as F
    from random import choice
    return F(x[0], 3) + choice([0, F(1, 2)])
""",
    "on some runs": """
    if flip(1 / 2):
        import math
    try:
        return math.comb(3, x[0])
    except NameError:
        return "not bound"
""",
    "local functions": """
    import math
    def g(v):
        from random import randint
        return math.comb(4, v) + randint(0, 1)
    return g(x[0]) + g(1)
""",
    "loop": """
    k = 0
    while k < 3:
        import random
        if random.randint(0, 1): k += 1
        else: break
    return k + x[0]
""",
    "numpy": """
    import numpy as np
    return int(np.maximum(np.array([x[0], 1]) + randint(0, 1), 1).sum())
""",
    "not there": """
    try:
        from math import nothing
    except ImportError:
        return x[0]
""",
    "one name for two": """
    m = 5
    if x[0]:
        import math as m
    return m if m == 5 else m.comb(3, 1)
""",
}
ENDLESS = """
    while True:
        import random
        if random.randint(0, 1): return x[0]
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_the_interpreter_says(name: str) -> None:
    with module_of(f"def f(x):{PROGRAMS[name]}") as module:
        assert assert_agreement(bind(module, Int(0, 2), 1), ("cudd",)).failing == 0


def test_a_loop_without_a_bound_imports() -> None:
    with module_of(f"def f(x):{ENDLESS}") as module:
        compile_symbolic(bind(module, Int(0, 2), 1))


def test_other_modules_are_imported_at_the_top() -> None:
    source = "def f(x):\n    import agreement\n    return 0\n"
    with module_of(source) as module, pytest.raises(LanguageError, match="import it at the top"):
        compile_symbolic(bind(module, Int(0, 2), 1))
