# ruff: noqa: E501, PT018
"""What is outside the language is refused at its place; what fails on a run is reported with a dataset that reaches it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from agreement import bind, datasets, meaning, module_of
from tightdp.errors import LanguageError, ProgramError, Span
from tightdp.language.domains import Bit, Domain, Int, Tuple, Values
from tightdp.logic.bdd import BACKENDS
from tightdp.methods.compiled import compile_dataset, compile_symbolic

MIXED = "f'{True if x[0] else 1}{x[1] or flip(1/2)}'" if sys.version_info < (3, 12) else "{True if x[0] else 1}"
"""A string of mixed parts: from Python 3.12 on its parts have places of their own."""

# (name, source, what stands under the caret, a word of the message)
UNSUPPORTED = [
    ("output-list-of-one-return", "def f(x):\n    if x[0]:\n        return 1\n    return (2, list(x))", "(2, list(x))", "list"),
    ("prefix", "import secrets\n\n\ndef f(x):\n    return secrets.token_hex(3)", "secrets.token_hex(3)", "secrets.token_hex"),
    ("unknown-builtin", "def f(x):\n    return id(x[0])", "id(x[0])", "id is"),
    ("unknown-method", "def f(x):\n    a = [1]\n    a.swap()\n    return 0", "a.swap()", ".swap()"),
    ("ordered", "import collections as c\n\n\ndef f(x):\n    return len(c.OrderedDict())", "c.OrderedDict()", "OrderedDict"),
    ("next-of-an-iterator", "def f(x):\n    return next(zip(x, {1: 2}))", "next(zip(x, {1: 2}))", "what zip gives"),
    ("class-of-the-library", "def f(x):\n    return isinstance(map(abs, x), map)", "isinstance(map(abs, x), map)", "the class of this"),
    ("string-of-mixed", "def f(x):\n    return f'{True if x[0] else 1}{x[1] or flip(1/2)}'", MIXED, "string"),
    ("class-of-mixed", "def f(x):\n    t = 1 if flip(1/2) else True\n    return isinstance(t, bool)", "isinstance(t, bool)", "isinstance"),
    ("type-of-mixed", "def f(x):\n    t = x[0]\n    if flip(1/2):\n        t = bool(t)\n    return type(t) is bool", "type(t)", "the type"),
    ("order-of-a-set", "def f(x):\n    return tuple({1, x[0]})", "tuple({1, x[0]})", "order of a set"),
    ("views-compared", "def f(x):\n    return {1: 0}.keys() == {x[0]}", "{1: 0}.keys() == {x[0]}", "comparison of views"),
    ("names-depend", "def f(x):\n    def g(a=0, b=0):\n        return a\n    return g(**({'a': 1} if x[0] else {'b': 1}))", "g(**({'a': 1} if x[0] else {'b': 1}))", "names"),
    ("no-number", "def f(x):\n    return flip('1e-5000')", "flip('1e-5000')", "1e-5000"),
    ("try", "def f(x):\n    try:\n        return 1\n    except* ValueError:\n        x[0]", "try:", "try"),
    ("with", "def f(x):\n    with x:\n        return 1", "with x:", "with"),
    ("del", "def f(x):\n    del x.a\n    return 0", "x.a", "del of this is not"),
    ("import", "def f(x):\n    import tightdp\n    return 0", "import tightdp", "import"),
    ("global", "k = 0\n\n\ndef f(x):\n    global k\n    k = 1\n    return k", "global k", "global"),
    ("class", "def f(x):\n    class A:\n        pass\n    return 0", "class A:", "class"),
    ("async", "def f(x):\n    async def g():\n        return 1\n    return 0", "async def g():", "async"),
    ("augmented-slice", "def f(x):\n    a = [1, 2]\n    a[0:1] += x\n    return 0", "a[0:1] += x", "assign"),
    ("attribute", "def f(x):\n    return x[0].real", "x[0].real", "attribute"),
    ("attribute-target", "def f(x):\n    x.a = 1\n    return 0", "x.a", "an attribute of a tuple"),
    ("pop-of-a-set", "def f(x):\n    s = {1, x[0]}\n    return s.pop()", "s.pop()", ".pop() of a set"),
    ("unknown-name", "def f(x):\n    return y", "y", "'y'"),
    ("float-function", "def f(x):\n    return math.sqrt(x[0])", "math.sqrt(x[0])", "sqrt"),
    ("complex", "def f(x):\n    return 1j", "1j", "complex"),
    ("bytes", 'def f(x):\n    return b"a"', 'b"a"', "bytes"),
    ("generator-twice", "def f(x):\n    g = (b for b in x)\n    return sum(g) + sum(g)", "sum(g)", "twice"),
    ("matrix-product", "def f(x):\n    return x @ x", "x @ x", "operator"),
    ("short-floats", "import numpy as np\n\n\ndef f(x):\n    return np.array(x, dtype=np.float32)", "np.array(x, dtype=np.float32)", "float32"),
    ("cast-to-short-floats", "import numpy as np\n\n\ndef f(x):\n    return np.array(x).astype('float16')", "np.array(x).astype('float16')", "float16"),
    ("is-between-numbers", "def f(x):\n    return x[0] is x[1]", "x[0] is x[1]", "is"),
    ("is-true-of-a-number", "def f(x):\n    return (x[0] == 1 or 1) is True", "(x[0] == 1 or 1) is True", "is"),
    ("iterator-used-twice", "def f(x):\n    z = zip(x, x)\n    a = list(z)\n    return len(a) + len(list(z))", "list(z)", "twice"),
    ("list-of-the-module", "LIST = [1]\n\n\ndef f(x):\n    LIST.append(2)\n    return 0", "LIST.append(2)", "module"),
    ("arguments-depend-on-the-run", "def f(x):\n    def g(*a):\n        return len(a)\n    return g(*[1] * x[0])", "g(*[1] * x[0])", "arguments"),
    ("output-list", "def f(x):\n    return [1]", "[1]", "list"),
    ("output-function", "def f(x):\n    return lambda: 1", "lambda: 1", "function"),
    ("output-zip", "def f(x):\n    return (1, zip(x, x))", "(1, zip(x, x))", "zip"),
    ("while-forever", "def f(x):\n    while True:\n        pass", "while True:", "bound"),
    ("while-counting-forever", "def f(x):\n    k = 0\n    while True:\n        k += 1", "while True:", "bound"),
    ("while-a-record-says", "def f(x):\n    while x[0] == 0:\n        pass\n    return 1", "while x[0] == 0:", "bound"),
    ("cycle", "def f(x):\n    k = x[0]\n    while k != 5:\n        k = (k + 2) % 4\n    return k", "while k != 5:", "bound"),
    ("cycle-on-one-dataset", "def f(x):\n    k = x[0]\n    while k:\n        k = k * 2 % 6\n    return k", "while k:", "bound"),
    ("recursion-forever", "def f(x):\n    def g(k):\n        return 1 if flip(1/2) else g(k)\n    return g(0)", "g(k)", "nest"),
    ("list-grows-forever", "def f(x):\n    a = [1]\n    for v in a:\n        if flip(1/2):\n            a.append(v)\n    return 0", "for v in a:", "grows"),
    ("too-many-values", "def f(x):\n    v = randint(0, 5000)\n    w = randint(0, 5000)\n    return v * w", "v * w", "combinations"),
]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "source", "under", "word"), UNSUPPORTED, ids=[row[0] for row in UNSUPPORTED])
def test_unsupported_python_is_refused_at_its_place(name: str, source: str, under: str, word: str) -> None:
    with module_of(source + "\n") as module:
        bound = bind(module, Bit if name != "cycle-on-one-dataset" else Int(0, 3), 2)
        with pytest.raises(LanguageError) as caught:
            compile_symbolic(bound)
        error, file = caught.value, module.__file__
    assert isinstance(error.span, Span)
    assert error.span.file == file
    assert error.span.text[error.span.column - 1 : error.span.end_column - 1] == under
    assert word in error.what
    assert error.hint
    lines = str(error).split("\n")
    assert lines[0] == f"{file}:{error.span.line}:{error.span.column}: {error.what}"
    assert lines[1].strip() == error.span.text.strip()
    assert lines[2].strip() == "^" * len(under)
    assert lines[2].index("^") - 4 == lines[1][4:].index(under) or lines[1].count(under) > 1
    assert lines[3].strip() == error.hint


# (source, record, n, the exception that Python raises, what stands under the caret)
FAILING: list[tuple[str, Domain, int, str, str]] = [
    ("def f(x):\n    assert x[0] < 2 or flip(1/2), 'small'\n    return 0", Int(0, 3), 2, "AssertionError: small", "assert x[0] < 2 or flip(1/2), 'small'"),
    ("def f(x):\n    if sum(x) == 5:\n        raise ValueError('five')\n    return 0", Int(0, 3), 2, "ValueError", "raise ValueError('five')"),
    ("def f(x):\n    return 1 // (x[0] - 2)", Int(0, 3), 1, "ZeroDivisionError", "1 // (x[0] - 2)"),
    ("def f(x):\n    return 1 % x[0] if flip(1/3) else 1", Int(0, 3), 1, "ZeroDivisionError", "1 % x[0]"),
    ("def f(x):\n    return x[0] / x[1]", Bit, 2, "ZeroDivisionError", "x[0] / x[1]"),
    ("def f(x):\n    return 0 ** (x[0] - 1)", Bit, 1, "ZeroDivisionError", "0 ** (x[0] - 1)"),
    ("def f(x):\n    return (1, 2)[x[0]]", Int(-3, 1), 1, "IndexError", "(1, 2)[x[0]]"),
    ("def f(x):\n    a = [1]\n    a[randint(0, x[0])] = 2\n    return 0", Bit, 2, "IndexError", "a[randint(0, x[0])] = 2"),
    ("def f(x):\n    return x.append(3)", Bit, 1, "AttributeError: tuple has no .append()", "x.append(3)"),
    ("def f(x):\n    a = [1] * x[0]\n    return a.pop()", Bit, 1, "IndexError", "a.pop()"),
    ("def f(x):\n    return [0, 1].index(x[0])", Int(0, 2), 1, "ValueError", "[0, 1].index(x[0])"),
    ("D = {0: 1}\n\n\ndef f(x):\n    return D[x[0]]", Bit, 1, "KeyError", "D[x[0]]"),
    ("def f(x):\n    return flip(x[0] / 2)", Int(0, 3), 1, "ParameterError", "flip(x[0] / 2)"),
    ("def f(x):\n    return flip(1 - x[0])", Int(0, 3), 1, "ParameterError", "flip(1 - x[0])"),
    ("def f(x):\n    return randint(1, x[0])", Bit, 1, "ParameterError", "randint(1, x[0])"),
    ("def f(x):\n    return choice([1, 2], x)", Int(-1, 1), 2, "ParameterError", "choice([1, 2], x)"),
    ("def f(x):\n    return choice([b for b in x if b])", Bit, 2, "ParameterError", "choice([b for b in x if b])"),
    ("def f(x):\n    return geometric(0, x[0], 0, 1)", Bit, 1, "ParameterError", "geometric(0, x[0], 0, 1)"),
    ("def f(x):\n    return binomial(x[0], 1/2)", Int(-1, 1), 1, "ParameterError", "binomial(x[0], 1/2)"),
    ("def f(x):\n    return x[0] + 1", Values(1, None), 1, "TypeError", "x[0] + 1"),
    ("def f(x):\n    return x[0] < 1", Values(1, "a"), 1, "TypeError", "x[0] < 1"),
    ("def f(x):\n    return x[0][0]", Values((1,), 2), 1, "TypeError", "x[0][0]"),
    ("def f(x):\n    return len(x[0])", Values((1,), 2), 1, "TypeError", "len(x[0])"),
    ("def f(x):\n    return x[0]()", Bit, 1, "TypeError", "x[0]()"),
    ("def f(x):\n    x[0] = 1\n    return 0", Bit, 1, "TypeError", "x[0] = 1"),
    ("def f(x):\n    a, b = x[0]\n    return a", Values((1,), (1, 2)), 1, "ValueError", "a, b = x[0]"),
    ("def f(x):\n    if x[0]:\n        y = 1\n    return y", Bit, 1, "UnboundLocalError", "y"),
    ("def f(x):\n    def g(a):\n        return a\n    return g() if x[0] else 0", Bit, 1, "TypeError", "g()"),
    ("def f(x):\n    a = [1]\n    if x[0]:\n        a.append(1, 2)\n    return 0", Bit, 1, "TypeError: .append() does not take 2 arguments", "a.append(1, 2)"),
    ("def f(x):\n    s = {1}\n    s.update(a=x[0])\n    return 0", Bit, 1, "TypeError: .update() has no argument 'a'", "s.update(a=x[0])"),
    ("def f(x):\n    return abs(x[0], 2)", Bit, 1, "TypeError: abs() does not take 2 arguments", "abs(x[0], 2)"),
    ("def f(x):\n    return max(b for b in x if b)", Bit, 2, "ValueError", "max(b for b in x if b)"),
    ("def g(v):\n    return 1 // v\n\n\ndef f(x):\n    return g(x[0])", Bit, 1, "ZeroDivisionError", "1 // v"),
    ("def f(x):\n    return sum(a // b for a, b in x)", Tuple(Bit, Values(1, 0)), 2, "ZeroDivisionError", "a // b"),
]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("source", "record", "n", "exception", "under"), FAILING)
@pytest.mark.parametrize("backend", BACKENDS)
def test_failure_is_reported_with_a_dataset_that_reaches_it(
    source: str, record: Domain, n: int, exception: str, under: str, backend: str
) -> None:
    with module_of(source + "\n") as module:
        bound = bind(module, record, n)
        with pytest.raises(ProgramError) as caught:
            compile_symbolic(bound, backend)
        error = caught.value
        assert error.x is not None and meaning(bound, error.x) is None
        assert exception in error.what and str(error.x) in error.what
        assert error.hint
        assert error.span is not None
        assert error.span.text[error.span.column - 1 : error.span.end_column - 1] == under
        for x in datasets(bound):
            _fixed_dataset_agrees(bound, x, backend)


def _fixed_dataset_agrees(bound: Any, x: tuple[Any, ...], backend: str) -> None:
    if meaning(bound, x) is not None:
        compile_dataset(bound, x, backend)
        return
    with pytest.raises(ProgramError) as caught:
        compile_dataset(bound, x, backend)
    assert caught.value.x == x


UNREACHABLE = [
    "def f(x):\n    assert sum(x) <= 2\n    return 0",
    "def f(x):\n    if x[0] > 1:\n        raise ValueError\n    return 0",
    "def f(x):\n    return 1 // x[0] if x[0] else 0",
    "def f(x):\n    a = randint(0, 3)\n    return [1, 2][a] if a < 2 else flip(a) if a < 2 else 0",
    "def f(x):\n    v = None if x[0] else 1\n    return 0 if v is None else v + 1",
    "def f(x):\n    a = [b for b in x if b]\n    return a[0] if a else None",
    "def f(x):\n    a = [b for b in x if b]\n    return max(a) if len(a) > 0 else 0",
    "def f(x):\n    s = sum(b ^ flip(1/3) for b in x)\n    return flip(s / 2)",
    "def f(x):\n    for b in x:\n        if b:\n            break\n    else:\n        return 0\n    return 1 // b",
    "def f(x):\n    a, b = randint(0, 2), randint(0, 2)\n    if a * b == 4 and a + b != 4:\n        return 1 // 0\n    return a",
    "def f(x):\n    observe(x[0] or x[1] or flip(1/3))\n    a = x[0] or x[1] or 1\n    return 1 // a",
]


@pytest.mark.parametrize("source", UNREACHABLE)
def test_unreachable_failures_are_not_reported(source: str) -> None:
    with module_of(source + "\n") as module:
        bound = bind(module, Bit, 2)
        compile_symbolic(bound)
        for x in datasets(bound):
            assert meaning(bound, x) is not None
            compile_dataset(bound, x)


def test_contradiction_of_observe_names_the_dataset() -> None:
    from tightdp.symmetry.sets import DiagramTable

    with module_of(
        "def f(x):\n    a = flip(1/3)\n    observe(a or x[0])\n    observe(not a)\n    return a\n"
    ) as module:
        bound = bind(module, Bit, 1)
        table = DiagramTable(bound, compile_symbolic(bound))
        assert table.law((1,)) == {False: 1}
        with pytest.raises(ProgramError, match=r"\(0,\)") as caught:
            table.law((0,))
        assert caught.value.x == (0,)


def test_contradiction_in_a_part_names_the_whole_dataset() -> None:
    with module_of(
        "@mechanism(record=Bit)\n"
        "def f(x):\n    observe(x[2] == 0 or flip(1/2) == x[1] - 1)\n    return (x[0] ^ flip(1/3), flip(1/4))\n"
    ) as module:
        instance = module.f.bind(n=3)
        for ask in (instance.privacy, lambda: instance.delta(exp_epsilon=2), lambda: instance.privacy(delta="1/10")):
            with pytest.raises(ProgramError, match="contradiction") as caught:
                ask()
            assert caught.value.x is not None and len(caught.value.x) == 3 and caught.value.x[2] == 1


def test_contradiction_on_every_dataset() -> None:
    with module_of("def f(x):\n    observe(False)\n    return 1\n") as module:
        bound = bind(module, Bit, 1)
        with pytest.raises(ProgramError) as caught:
            compile_symbolic(bound)
        assert "observe" in caught.value.what and caught.value.hint and caught.value.x == (0,)


def test_output_that_is_no_value_only_on_some_runs() -> None:
    source = "def f(x):\n    return [1] if x[0] and flip(1/3) else 2\n"
    with module_of(source) as module, pytest.raises(LanguageError, match="list"):
        compile_symbolic(bind(module, Bit, 1))


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("x.mean()", "sum(...) / len(...)"),
        ("normal(1)", "from tightdp import discrete_gaussian"),
        ("elsewhere(1)", "import it at the top"),
    ],
)
def test_what_to_write_instead_is_said(said: str, instead: str) -> None:
    with module_of(f"def f(x):\n    return {said}\n") as module, pytest.raises(LanguageError) as caught:
        compile_symbolic(bind(module, Bit, 2))
    assert instead in caught.value.hint


def test_popping_from_an_empty_list_is_named() -> None:
    with module_of("def f(x):\n    a = []\n    return a.pop()\n") as module, pytest.raises(ProgramError) as caught:
        compile_symbolic(bind(module, Bit, 2))
    assert "IndexError: pop from an empty list" in caught.value.what
