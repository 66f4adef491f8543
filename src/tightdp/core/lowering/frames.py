"""Where runs are: the frames and loops that they are in, where they go from there, and what they raise."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from tightdp import errors
from tightdp.core.lowering.store import Cell
from tightdp.core.lowering.values import Generator, Value
from tightdp.core.nodes import Expr
from tightdp.errors import LanguageError, Span
from tightdp.language.source import FunctionSource


class Failure(Exception):
    """The runs at hand would raise an exception in Python."""

    def __init__(
        self,
        message: str,
        hint: str = "make sure that no run gets here",
        kind: type[BaseException] | None = None,
        held: Value = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.kind = kind or _class_named(message.partition(":")[0])
        """The class of the exception, None where Python raises none."""
        self.held = held
        """The exception as an object, where a handler reads what it holds."""
        self.span: Span | None = None
        self.frames: list[Frame] | None = None
        """Where runs were as it was raised first."""


def _class_named(name: str) -> type[BaseException] | None:
    found = getattr(builtins, name, None) or getattr(errors, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


@dataclass(frozen=True)
class Thrown:
    """An exception that runs have raised, and the object that it is, where that is read."""

    kind: type[BaseException]
    failure: Failure = field(compare=False)
    held: Value = None


@dataclass
class Guard:
    """A `try` or `with` block at work: where runs that raise are collected, with what they wrote since a level.

    `depth` is how many frames there are around it, and `reads` says whether a handler reads what exceptions hold.
    """

    level: int
    depth: int
    reads: bool = False
    raised: list[End] = field(default_factory=list)


class Dead(Exception):
    """No run is left at this point."""


@dataclass(frozen=True)
class End:
    """Runs that go from one place to another: their path condition, what they wrote, and a value they bring."""

    alive: Expr
    changes: dict[Cell, Value]
    value: Value = None


@dataclass
class Loop:
    """A loop that is being unrolled: where runs that break or continue are collected, each with its level."""

    breaks: list[End]
    outside: int
    continues: list[End]
    inside: int


@dataclass
class Frame:
    """The function that is being lowered: where its names live, and how runs leave it or its loops."""

    key: int
    enclosing: tuple[int, ...]
    locals: frozenset[str]
    source: FunctionSource
    function: ast.AST | None = None
    comprehension: bool = False
    level: int = 0
    returns: list[End] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    yielded: Callable[[Value], None] | None = None  # what is done with what a generator gives
    late: frozenset[ast.Return] = frozenset()  # in the round of a loop: what is executed once that is over


def of_library(frame: Frame | Generator) -> bool:
    """Whether a function is one of a library, or stands for one."""
    top, _, rest = str(frame.source.namespace.get("__name__")).partition(".")
    return bool(rest) if top == "tightdp" else top in sys.stdlib_module_names - {"__main__"}


def as_caught(failure: Failure, span: Span, stack: list[Frame], guards: list[Guard]) -> Failure:
    """Return what is raised at a place as it is caught: StopIteration of a generator is a RuntimeError."""
    failure.span = span
    if failure.kind is None or not issubclass(failure.kind, StopIteration):
        return failure
    before = failure.frames = stack[:] if failure.frames is None else failure.frames
    inside = stack[guards[-1].depth if guards else 0 :]
    left = [frame for frame in inside if frame.yielded is not None and any(frame is each for each in before)]
    if any(map(of_library, left)):
        hint = "let the function that the library calls raise no StopIteration"
        what = "a StopIteration that ends an iterator of the library is not in the language"
        raise LanguageError(what, hint, span=span)
    if not left:
        return failure
    found = Failure("RuntimeError: generator raised StopIteration", "return from the generator instead")
    found.span = span
    return found
