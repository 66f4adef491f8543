"""Compare compiled answers with the interpreter, which is the meaning, on every dataset of a small universe."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

from tightdp.errors import ProgramError
from tightdp.language import interp
from tightdp.language.domains import Domain
from tightdp.language.program import Bound, Program
from tightdp.logic.bdd import BACKENDS
from tightdp.methods.compiled import compile_dataset, compile_symbolic
from tightdp.symmetry.sets import DiagramTable

Law = dict[Any, Fraction]

PROLOGUE = """\
import math
from fractions import Fraction

from tightdp.language.domains import Bit, Bits, Int, Tuple, Values
from tightdp.language.primitives import *
from tightdp.session.mechanism import mechanism

"""

_serial = itertools.count()


@contextmanager
def module_of(source: str, prologue: str = PROLOGUE) -> Iterator[ModuleType]:
    """Import source text from a file, so that it can be read back; the file is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        name = f"generated_{next(_serial)}"
        path = Path(folder) / f"{name}.py"
        path.write_text(prologue + source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            yield module
        finally:
            del sys.modules[name]


def datasets(bound: Bound) -> list[tuple[Any, ...]]:
    """Every dataset of a bound mechanism."""
    return list(itertools.product(bound.record.values, repeat=bound.n))


def meaning(bound: Bound, x: tuple[Any, ...]) -> Law | None:
    """The law by the interpreter; None where the program fails on the dataset."""
    try:
        return interp.law(bound, x)
    except ProgramError:
        return None


@dataclass(frozen=True)
class Agreement:
    """What was seen while comparing: the laws, and on how many datasets the program fails."""

    laws: dict[tuple[Any, ...], Law | None]

    @property
    def failing(self) -> int:
        return sum(law is None for law in self.laws.values())


def assert_agreement(bound: Bound, backends: tuple[str, ...] = BACKENDS) -> Agreement:
    """Check that both ways of compiling give the meaning on every dataset, on every back end."""
    laws = {x: meaning(bound, x) for x in datasets(bound)}
    for backend in backends:
        _check_symbolic(bound, laws, backend)
        for x, law in laws.items():
            assert _fixed_law(bound, x, backend) == law, f"compile_dataset({x}) on {backend}"
    return Agreement(laws)


def _fixed_law(bound: Bound, x: tuple[Any, ...], backend: str) -> Law | None:
    try:
        formula = compile_dataset(bound, x, backend)
    except ProgramError:
        return None
    return _law(DiagramTable(bound, formula), x)


def _check_symbolic(bound: Bound, laws: dict[tuple[Any, ...], Law | None], backend: str) -> None:
    try:
        formula = compile_symbolic(bound, backend)
    except ProgramError as error:
        failure = error
    else:
        table = DiagramTable(bound, formula)
        for x, law in laws.items():
            assert _law(table, x) == law, f"compile_symbolic on {backend} differs on {x}"
        codes = {code for x, law in laws.items() if law for code in table.weights(x).by_code}
        outputs = [output for code in codes for output in table.codes.every(code)]
        assert len(set(outputs)) == len(outputs), "an output has two codes"
        return
    assert None in laws.values(), f"compile_symbolic fails on {backend}, the program does not: {failure}"
    assert failure.x is not None, f"no dataset is said to reach {failure}"
    assert laws[failure.x] is None, f"{failure.x} does not reach the failure: {failure}"


def _law(table: DiagramTable, x: tuple[Any, ...]) -> Law | None:
    try:
        return table.law(x)
    except ProgramError:
        return None


def bind(module: ModuleType, record: Domain, n: int, *, neighbours: Any = None, **parameters: Any) -> Bound:
    """Bind the function `f` of a module, whether it is decorated or not."""
    function = module.f
    program = function.program if hasattr(function, "program") else Program(function, record)
    return program.bind(n, neighbours=neighbours, **parameters)
