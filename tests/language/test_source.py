"""Reading functions, their places, and recompiling them exactly."""

from __future__ import annotations

import doctest
import functools
import importlib.util
import linecache
import types
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tightdp.errors import LanguageError
from tightdp.language.exactness import exact, exactly
from tightdp.language.primitives import flip
from tightdp.language.source import failure_span, read_function

RATE = 0.1
TABLE = {"rates": [0.25, (1, 0.5)]}
WHOLE = [1, 2]


def keep(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@keep
@keep
def decorated(x: Any, k: float = 0.5) -> Any:
    return sum(x) / 3 + k


def halve(value: Any) -> Any:
    return value / 2


def load(path: Path, text: str) -> Any:
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_text(text: str, file: str, known: bool = True) -> dict[str, Any]:
    """Run text as a notebook runs a cell."""
    if known:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "cell"}
    exec(compile(text, file, "exec"), namespace)
    return namespace


def test_lines_start_with_the_first_decorator() -> None:
    source = read_function(decorated)
    assert source.lines[0] == "@keep\n"
    assert source.lines[-1] == "    return sum(x) / 3 + k\n"
    assert source.file == __file__
    assert Path(__file__).read_text().splitlines()[source.first_line - 1] == "@keep"
    assert source.span().text.startswith("def decorated")
    assert source.span().column == 5
    assert read_function(decorated) is source


def test_columns_of_a_nested_function_are_those_of_the_file() -> None:
    extra = 2

    def nested(x: Any) -> Any:
        return x[0] + "é" * len(x) + extra

    source = read_function(nested)
    span = source.span(source.node.body[0].value.right)  # type: ignore[attr-defined]
    assert span.text[span.column - 1 : span.end_column - 1] == "extra"
    assert span.column == 38
    assert span.excerpt().splitlines()[1].index("^") == span.excerpt().splitlines()[0].index("extra")
    assert source.namespace["extra"] == 2
    assert source.namespace["RATE"] == 0.1
    assert "len" not in source.namespace


def test_notebook_cells_and_doctests() -> None:
    cell = run_text("import math\ndef f(x):\n    return x / 4\n", "<ipython-input-1-abc>")
    assert read_function(cell["f"]).span().place == "<ipython-input-1-abc>:2:5"
    assert exact(cell["f"])(1) == Fraction(1, 4)
    text = """
    >>> from tightdp.language.exactness import exact
    >>> from tightdp.language.source import read_function
    >>> def third(x):
    ...     return x / 3
    >>> read_function(third).span().line, exact(third)(1)
    (1, Fraction(1, 3))
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "doctest", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_text_that_python_cannot_find() -> None:
    lost = run_text("def f(x):\n    return x\n", "<lost>", known=False)["f"]
    with pytest.raises(LanguageError, match="source of f"):
        read_function(lost)
    with pytest.raises(LanguageError, match="source of f"):
        exact(lost)


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    module = load(tmp_path / "changing.py", "def f(x):\n    return x\n")
    (tmp_path / "changing.py").write_text("VALUE = 1\n\n\ndef f(x):\n    return 2\n")
    with pytest.raises(LanguageError, match="not at line 1"):
        read_function(module.f)


class Holder:
    def method(self, x: Any) -> Any:
        return x


async def coroutine(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    "wrong",
    [lambda x: x, sum, Holder, Holder().method, Holder.method, coroutine, 3, functools.partial(halve, 1)],
)
def test_what_cannot_be_a_mechanism(wrong: Any) -> None:
    with pytest.raises(LanguageError):
        read_function(wrong)


def test_division_powers_and_literals() -> None:
    def arithmetic(a: int, b: int) -> Any:
        quotient = a / b
        quotient /= 2
        cells = [a, b]
        cells[0] /= b
        cells[1] **= -1
        power = 2**-2
        power **= 2
        return quotient, cells, power, 0.1 + 0.2, a // b, 7 % b, 2**3

    assert exact(arithmetic)(1, 3) == (
        Fraction(1, 6), [Fraction(1, 3), Fraction(1, 3)], Fraction(1, 16), Fraction(3, 10), 0, 1, 8,
    )  # fmt: skip
    assert all(type(value) is int for value in exact(arithmetic)(1, 3)[4:])
    assert isinstance(arithmetic(1, 3)[0], float)


def test_an_index_is_evaluated_once() -> None:
    asked = []

    def index() -> int:
        asked.append(1)
        return 0

    def step(values: list[Any]) -> list[Any]:
        values[index()] /= 3
        return values

    assert exact(step)([1]) == [Fraction(1, 3)]
    assert asked == [1]


def test_errors_of_arithmetic() -> None:
    def divide(a: Any, b: Any) -> Any:
        return a / b

    def power(a: Any, b: Any) -> Any:
        return a**b

    for call in (lambda: exact(divide)(1, 0), lambda: exact(power)(0, -1)):
        with pytest.raises(ZeroDivisionError):
            call()
    with pytest.raises(ValueError, match="not rational"):
        exact(power)(2, 0.5)
    with pytest.raises(TypeError):
        exact(divide)((1,), 2)
    assert exact(power)(Fraction(1, 2), -2) == 4


def test_names_outside_are_read_exactly_and_late() -> None:
    rate = 0.2

    def use() -> Any:
        return rate + RATE, TABLE["rates"], WHOLE

    assert exact(use)() == (Fraction(3, 10), [Fraction(1, 4), (1, Fraction(1, 2))], WHOLE)
    assert exact(use)()[2] is WHOLE
    rate = 0.7
    assert exact(use)()[0] == Fraction(4, 5)
    assert exact(use) is exact(use)


def test_helpers_are_exact_wherever_they_are() -> None:
    def third(value: Any) -> Any:
        return value / 3 if value else third(1)

    def use(value: Any, by: Any = third) -> Any:
        def fifth(inner: Any) -> Any:
            return inner / 5

        return halve(value), third(0), fifth(value), (lambda v: v / 7)(value), by(value)

    parts = [Fraction(1, d) for d in (2, 3, 5, 7, 3)]
    assert list(exact(use)(1)) == parts


def test_modules_are_read_exactly(tmp_path: Path) -> None:
    tools = load(tmp_path / "tools.py", "RATE = 0.3\ndef halve(v):\n    return v / 2\n")

    def use() -> Any:
        return tools.halve(tools.RATE)

    assert exact(use)() == Fraction(3, 20)


def test_two_lambdas_on_one_line() -> None:
    first, second = (lambda x: x / 2), (lambda x: lambda y: y / x)
    assert exact(first)(1) == Fraction(1, 2)
    assert exact(second)(3)(1) == Fraction(1, 3)
    assert exact(second(5))(1) == Fraction(1, 5)


def test_defaults_and_asserts_survive() -> None:
    def use(a: Any, b: float = 0.5, *rest: Any, c: Any = (0.25,), **named: Any) -> Any:
        assert a != 3, "three"
        return a, b, rest, c, named

    assert exact(use)(1) == (1, Fraction(1, 2), (), (Fraction(1, 4),), {})
    assert exact(use)(1, 2, 3, c=4, d=5) == (1, 2, (3,), 4, {"d": 5})
    with pytest.raises(AssertionError, match="three"):
        exact(use)(3)
    assert exact(use).__name__ == "use"


def test_a_wrapper_does_not_inherit_what_is_remembered() -> None:
    exact(halve)

    @functools.wraps(halve)
    def wrapper(value: Any) -> Any:
        return halve(value) / 2

    assert exact(wrapper)(1) == Fraction(1, 4)


def test_builtins_and_primitives_stay() -> None:
    assert exact(sum) is sum
    assert exact(flip) is flip
    assert exactly((1, "a")) == (1, "a")
    assert isinstance(exactly(types), object)
    assert exactly(float("inf")) == float("inf")
    assert exactly({0.5}) == {Fraction(1, 2)}


def test_nonlocal_is_refused() -> None:
    count = 0

    def counting() -> int:
        nonlocal count
        count += 1
        return count

    with pytest.raises(LanguageError, match="cannot be compiled on its own"):
        exact(counting)


def test_tracebacks_point_at_the_file() -> None:
    def fails(a: int) -> Any:
        b = a
        return (b +
                a / (a - b))  # fmt: skip

    with pytest.raises(ZeroDivisionError) as caught:
        exact(fails)(1)
    span = failure_span(read_function(fails), caught.value.__traceback__)
    assert span is not None
    assert span.text[span.column - 1 : span.end_column - 1] == "a / (a - b)"
    assert failure_span(read_function(fails), None) is None
