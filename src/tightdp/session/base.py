"""What an instance is before any question is asked of it: a bound mechanism, its limits, and what compiles it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from tightdp.errors import QueryError
from tightdp.exact.parameters import Range
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.limits import read_memory
from tightdp.session import engine as engines
from tightdp.session.arguments import read_count, read_seconds, read_width

if TYPE_CHECKING:
    from tightdp.methods.base import Progress
    from tightdp.results.result import Subject

ALL = "all"
"""In place of n: every number of records at once."""
_LIMITS = ("backend", "timeout", "max_nodes", "max_memory", "method", "precision")
_TRAVELS = ("bound", "rebind", *_LIMITS)


class InstanceBase:
    """A bound mechanism with its limits; it is compiled when something is asked, and kept."""

    every_n = False
    """Whether it stands for all n at once."""

    one_engine = True
    """Whether one engine answers: not for all n at once, nor with an unknown."""

    rebind: Callable[..., Any]
    """See `Asked`."""

    def __init__(
        self,
        bound: Bound,
        backend: str = "cudd",
        *,
        timeout: Any = None,
        max_nodes: int | None = None,
        max_memory: int | str | None = None,
        method: str | None = None,
        precision: Any = None,
    ) -> None:
        for name, value in bound.parameters.items():
            if self.one_engine and isinstance(value, Range):
                hint = f"give it a value; MECHANISM.bind(..., {name}='?') answers for all values"
                raise QueryError(f"{name} is unknown here", hint)
        self.bound = bound
        self.backend = backend
        self.timeout = read_seconds("timeout", timeout)
        self.max_nodes = None if max_nodes is None else read_count("max_nodes", max_nodes)
        self.max_memory = read_memory(max_memory)
        self.method = method
        self.precision = read_width(precision)
        self._progress: Progress | None = None

    @cached_property
    def engine(self) -> engines.Engine:
        """The engine, which compiles and searches. Raises QueryError where none answers."""
        if not self.one_engine:
            self._refuse()
        found = engines.Engine(self.bound, **self.limits)
        found.progress = self._progress
        return found

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Raise QueryError for a question that only an engine answers."""
        raise QueryError("this question has no answer for every n", "ask it for one n, or ask for privacy or verify")

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to another process, which compiles again."""
        return {name: value for name, value in vars(self).items() if name in _TRAVELS} | {"_progress": None}

    @property
    def limits(self) -> dict[str, Any]:
        """The diagram back end, the limits, the method and the precision, as `bind` takes them."""
        return {name: getattr(self, name) for name in _LIMITS}

    @property
    def progress(self) -> Progress | None:
        """The callback that is given every step of a search, None for none."""
        return self._progress

    @progress.setter
    def progress(self, told: Progress | None) -> None:
        self._progress = told
        if "engine" in self.__dict__:
            self.engine.progress = told

    def forget(self) -> None:
        """Drop what is compiled, and free its memory; the next query compiles again."""
        self.__dict__.pop("engine", None)

    @property
    def n(self) -> int:
        """The number of records."""
        return self.bound.n

    @property
    def parameters(self) -> dict[str, Any]:
        """n and the parameters, exact."""
        return dict(self.subject.parameters)

    @property
    def neighbours(self) -> str:
        """The name of the neighbour relation."""
        return self.subject.neighbours

    @property
    def subject(self) -> Subject:
        """The mechanism, n and parameters, and the neighbours, as results name them."""
        from tightdp.results.result import Subject  # not the engine's, which takes time to import

        named = self.bound.named
        if self.every_n:
            named = ("n", ALL), *(each for each in named if each[0] != "n")
        return Subject(self.bound.program.name, named, relation_of(self.bound).name)

    def __repr__(self) -> str:
        return f"<instance {self.subject}, neighbours {self.neighbours}>"
