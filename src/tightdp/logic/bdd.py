"""Binary decision diagrams behind one small interface. The only file that imports `dd`.

`cudd` (C, in the wheel of `dd`) is the default and `autoref` (pure Python) the fallback. Variables are made once, in
their final order; automatic reordering is off, because the order comes from the program.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import and_, or_
from typing import Any

from tightdp.errors import BackendError, LimitError
from tightdp.limits.calibrated import TABLE_ENTRIES
from tightdp.limits.clock import holding

if sys.platform != "win32":
    import resource


Node = Any
"""A node of the manager that made it; nodes compare equal exactly when they are the same function."""

Watch = Callable[[int], None]

BACKENDS = ("cudd", "autoref")
_BETWEEN_LOOKS = 256
"""Operations between two reports of the size of a manager, at least."""
_OPERATIONS_PER_LEVEL = 2
_NODES_PER_OPERATION = 32
"""Finding out the size takes time that grows with the levels and nodes: so many make it one operation later, at most.
It is done earlier where operations make many nodes: when these took a multiple of that time."""
_MEMORY_AT_START = 64 << 20
"""What CUDD reserves at the start, in entries and bytes; both grow as needed. More takes small programs longer to clear
than to compile."""
_MEMORY_BETWEEN_LOOKS = 16 << 20
"""CUDD stops an operation that takes so many bytes, twice as many the next time: sizes are looked at then, too."""
_LEVELS_PER_STACK_BYTE = 50_000 / (8 << 20)
"""CUDD recurses once per level; 50,000 levels fit in a stack of 8 MiB with room to spare."""


@dataclass(frozen=True)
class Diagram:
    """A diagram as arrays, children before parents. Entries 0 and 1 are the constants False and True.

    `level[i]` is the position of the variable that node i tests, `low[i]` and `high[i]` are its children where that
    variable is false and true. Complemented edges are expanded, so a node stands for one function.
    """

    level: list[int]
    low: list[int]
    high: list[int]
    root: int

    def __len__(self) -> int:
        return len(self.level)


class TooDeep(LimitError):
    """A diagram has more levels than the C stack allows."""


_KEPT: list[Any] = [object()]
"""The managers of the library, and what nothing else refers to.

A manager must outlive its nodes, else CUDD complains and keeps its memory. The garbage collector does not see to that
where it meets both in one cycle, such as that of an exception whose frames hold them.
"""
_UNUSED = sys.getrefcount(_KEPT[0])
_DROPPING = threading.Lock()


def _drop_unused() -> None:
    """Let go of the managers to which no node refers."""
    with holding():
        if not _DROPPING.acquire(blocking=False):
            return  # the garbage collector, or another thread, came in between
        try:
            for at in range(len(_KEPT) - 1, 0, -1):
                if sys.getrefcount(_KEPT[at]) == _UNUSED:
                    del _KEPT[at]
        finally:
            _DROPPING.release()


class Manager:
    """A manager of the `dd` library. While functions are made, `watch` is told the size now and then, and may raise."""

    def __init__(self, library: Any, levels: int, watch: Watch, **options: int) -> None:
        _drop_unused()
        self._bdd = library.BDD(**options)
        _KEPT.append(self._bdd)
        self._bdd.configure(reordering=False)
        self.true, self.false = self._bdd.true, self._bdd.false
        self._levels = levels
        self._variables: list[Node] = []
        self._watch = watch
        self._until_look = self._between = _BETWEEN_LOOKS
        self._nodes = 0
        self._declare(levels)

    def __del__(self) -> None:
        self.__dict__.clear()
        _drop_unused()

    def _look(self) -> None:
        """Report the size after so many operations: by count, as what is too large must not depend on the machine."""
        self._until_look -= 1
        if self._until_look < 0:
            size = self.size()
            most = _BETWEEN_LOOKS + _OPERATIONS_PER_LEVEL * self._levels + size // _NODES_PER_OPERATION
            made, self._nodes = max(size - self._nodes, 1), size
            affordable = self._between * (self._levels + size // 4) // made
            self._between = self._until_look = min(most, max(_BETWEEN_LOOKS, min(2 * self._between, affordable)))
            self._watch(size)

    def _declare(self, levels: int) -> None:
        names = [f"v{level}" for level in range(levels)]
        self._bdd.declare(*names)
        self._variables = [self._bdd.var(name) for name in names]

    def variable(self, level: int) -> Node:
        return self._variables[level]

    def choose(self, condition: Node, yes: Node, no: Node) -> Node:
        return self._made(self._bdd.ite, condition, yes, no)

    def both(self, left: Node, right: Node) -> Node:
        return self._made(and_, left, right)

    def either(self, left: Node, right: Node) -> Node:
        return self._made(or_, left, right)

    def differ(self, left: Node, right: Node) -> Node:
        return self._made(self._bdd.apply, "xor", left, right)

    def negate(self, node: Node) -> Node:
        return ~node

    def substitute(self, node: Node, functions: dict[int, Node]) -> Node:
        images = {f"v{level}": function for level, function in functions.items()}
        return self._made(self._bdd.let, images, node)

    def _made(self, operation: Callable[..., Node], *operands: object) -> Node:
        """Return the function that an operation of the library makes."""
        self._look()
        try:
            return operation(*operands)
        except (ValueError, RuntimeError) as error:
            return self._again(error, partial(operation, *operands))

    def _again(self, error: Exception, operation: Callable[[], Node]) -> Node:
        """Retry an operation that failed, where the reason can be removed."""
        raise error

    def level(self, node: Node) -> int:
        return self._levels if node == self.true or node == self.false else int(node.level)

    def key(self, node: Node) -> int:
        return int(node)

    def size(self) -> int:
        return len(self._bdd)

    def count(self, node: Node) -> int:
        return len(node)

    def extract(self, node: Node) -> Diagram:
        level, low, high = [self._levels, self._levels], [0, 1], [0, 1]
        index = {int(self.false): 0, int(self.true): 1}
        stack: list[tuple[Node, tuple[Node, Node] | None]] = [(node, None)]
        while stack:
            top, below = stack.pop()
            if int(top) in index:
                continue
            if below is None:
                below = (~top.low, ~top.high) if top.negated else (top.low, top.high)
                stack.append((top, below))
                stack.extend((child, None) for child in below if int(child) not in index)
            else:
                index[int(top)] = len(level)
                level.append(top.level)
                low.append(index[int(below[0])])
                high.append(index[int(below[1])])
        return Diagram(level, low, high, index[int(node)])


class _CuddManager(Manager):
    """CUDD; its recursion uses the C stack, so the number of levels is bounded by that."""

    def __init__(self, levels: int, watch: Watch) -> None:
        allowed = int(_LEVELS_PER_STACK_BYTE * _stack_bytes())
        if levels > allowed:
            raise TooDeep(
                f"the formula has {levels:,} variables, more than the {allowed:,} that the C stack allows",
                "use fewer records, a larger stack (ulimit -s), or the autoref back end",
            )
        with holding():  # an import that is broken off cannot be begun again
            from dd import cudd

        super().__init__(cudd, levels, watch, memory_estimate=_MEMORY_AT_START, initial_cache_size=TABLE_ENTRIES)
        self._allowed = _MEMORY_BETWEEN_LOOKS + int(self._statistics()["mem"])
        self._bdd.configure(max_memory=self._allowed)

    def size(self) -> int:
        # Not len(), which goes through every node.
        return int(self._statistics()["n_nodes"])

    def _statistics(self) -> dict[str, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: dict[str, float] = self._bdd.statistics()
            return found

    def _again(self, error: Exception, operation: Callable[[], Node]) -> Node:
        """Retry an operation that took more memory than was allowed, with more, unless a limit is reached."""
        while (found := self._statistics())["mem"] >= self._allowed:
            self._watch(int(max(found["n_nodes"], found["peak_live_nodes"])))
            self._allowed *= 2
            self._bdd.configure(max_memory=self._allowed)
            try:
                return operation()
            except (ValueError, RuntimeError) as further:
                error = further.with_traceback(None)  # the frames hold nodes
        raise error

    def _declare(self, levels: int) -> None:
        # The last variable first: CUDD then makes room for all of them at once.
        order = [levels - 1, *range(levels - 1)] if levels else []
        for level in order:
            self._bdd.add_var(f"v{level}", level)
        self._variables = [self._bdd.var(f"v{level}") for level in range(levels)]


class _AutorefManager(Manager):
    """The pure-Python back end; it recurses in Python, so the recursion limit follows the number of levels."""

    def __init__(self, levels: int, watch: Watch) -> None:
        with holding():
            from dd import autoref

        super().__init__(autoref, levels, watch)
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 20 * levels + 10_000))


def _stack_bytes() -> int:
    """Return the size of the C stack in bytes, at most 64 MiB."""
    most = 64 << 20
    if sys.platform == "win32":
        return 1 << 20
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    return most if soft == resource.RLIM_INFINITY else min(soft, most)


def make_manager(backend: str, levels: int, watch: Watch = lambda size: None) -> Manager:
    """Return a fresh manager with this many variables. Raises BackendError for a back end that is not there."""
    if backend not in BACKENDS:
        raise BackendError(f"there is no back end {backend!r}", f"use one of {', '.join(BACKENDS)}")
    try:
        return _CuddManager(levels, watch) if backend == "cudd" else _AutorefManager(levels, watch)
    except ImportError as error:
        raise BackendError(
            f"the back end {backend!r} cannot be imported: {error}", "use --backend autoref, or install a wheel of dd"
        ) from error
