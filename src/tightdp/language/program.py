"""A mechanism as a value: its function, record domain, target and neighbours, then its parameters bound."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any, TypeAlias

from tightdp.errors import LanguageError, LimitError, ParameterError, ProgramError, Span
from tightdp.exact.numbers import brief
from tightdp.exact.parameters import Range, as_parameter
from tightdp.exact.rationals import Parameter, as_int
from tightdp.language.analyst import Answering, conversing
from tightdp.language.classes import COPIES, import_before, reaches
from tightdp.language.domains import Domain, Record, fit_to_neighbours
from tightdp.language.doubles import BITS, as_bits, as_double
from tightdp.language.exactness import MEETING, exact, strictly
from tightdp.language.floating import floating
from tightdp.language.outputs import Output, as_output
from tightdp.language.primitives import Rejected, Source, ask, current_source, using
from tightdp.language.source import AnyFunction, FunctionSource, failure_span, read_function
from tightdp.language.timing import publishing
from tightdp.language.travel import reduced

Dataset: TypeAlias = tuple[Record, ...]
Neighbours: TypeAlias = "str | Callable[[Dataset], Iterable[Dataset]]"

NEIGHBOURS = ("replace-one", "unit-step", "unit-all", "add-remove")
"""The neighbour relations that have a name."""

REQUIRED: Any = inspect.Parameter.empty
"""Stands for the default of a parameter that has none."""

_MOST_REJECTIONS = 100_000
_RESERVED = ("self", "neighbours", "strategy")


def in_run() -> bool:
    """Whether this is called, directly or not, by a mechanism that is being run."""
    return COPIES.get() is not None


@dataclass(frozen=True, eq=False)
class Program:
    """A mechanism: a Python function of a dataset and public parameters, and what goes with it.

    `record` is the domain of one record, or a function that gives it from parameters (and n) by name.
    `target` is the quantity that a numeric output estimates: a function of the dataset, and of parameters by
    name. Raises LanguageError or ParameterError when these do not fit together.
    """

    function: AnyFunction
    record: Domain | Callable[..., Domain]
    target: AnyFunction | None = None
    neighbours: Neighbours = "replace-one"
    name: str = ""
    documentation: str = ""
    strategy: Answering | str | None = None
    """Who answers `ask` where the mechanism is run, unless another strategy is given."""
    floats: int = 0
    """How many bits `random()` has where numbers are doubles; 0 where they mean what is written."""
    counts: tuple[str, ...] = ()
    """What of a run is counted and published beside what the function returns: `rounds` of loops, `bits` drawn."""
    source: FunctionSource = field(init=False, repr=False)
    parameters: Mapping[str, Any] = field(init=False, repr=False)
    """The parameters after the dataset, in order, with their defaults (REQUIRED for none)."""

    def __post_init__(self) -> None:
        self._set("source", read_function(self.function))
        import_before(self.source.node)
        self._set("name", self.name or self.function.__name__)
        self._set("documentation", self.documentation or inspect.getdoc(self.function) or "")
        self._set("parameters", self._read_parameters())
        self._set("floats", as_bits(self.floats))
        _check_neighbours(self.neighbours)
        if self.target is not None and not callable(self.target):
            raise ParameterError(f"the target {self.target!r} is not a function", "give a function such as sum")
        self._check_record()

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self)

    @cached_property
    def executed(self) -> AnyFunction:
        """The function that runs, which publishes the counts that are asked for."""
        return publishing(self.function, self.counts) if self.counts else self.function

    @cached_property
    def asks(self) -> bool:
        """Whether it may ask an analyst: it, or a function that it names, names `ask`."""
        return reaches(self.function, ask)

    def bind(
        self, n: Any, neighbours: Neighbours | None = None, strategy: Answering | str | None = None, **parameters: Any
    ) -> Bound:
        """The mechanism on datasets of n records with its parameters fixed, and the strategy of the analyst if given.

        Raises ParameterError naming the offender: n, a parameter, the neighbours, the domain, the strategy.
        """
        strategy = self.read_strategy(strategy)
        size = _dataset_size(n)
        bound = self._bind_parameters(parameters)
        relation = self.neighbours if neighbours is None else neighbours
        _check_neighbours(relation)
        record = fit_to_neighbours(self._resolve_record({**bound, "n": size}), relation)
        return Bound(self, size, bound, record, relation, strategy)

    def run(self, x: Sequence[Any], parameters: Mapping[str, Any] | None = None, rng: Source | None = None) -> Output:
        """One output on dataset x, drawn from `rng`; see `Bound.run`."""
        return self.bind(_length(x), **(parameters or {})).run(x, rng)

    def raw(self, x: Any, /, *arguments: Any, **parameters: Any) -> Any:
        """The function's own result under the source of randomness in place, as inside another mechanism."""
        signature = self._signature
        if self.takes_n() and "n" not in parameters:
            parameters["n"] = len(x)
        given = signature.bind(x, *arguments, **parameters)
        given.apply_defaults()
        first = next(iter(signature.parameters))
        values = {name: v if name == first else as_parameter(v) for name, v in given.arguments.items()}
        given.arguments.update(values)
        return exact(self.function)(*given.args, **given.kwargs)

    def takes_n(self) -> bool:
        """Whether the function has a parameter n, which is given the number of records."""
        return "n" in list(self._signature.parameters)[1:]

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def read_strategy(self, strategy: Answering | str | None) -> Answering | None:
        """Return a strategy, or the function of this name beside the mechanism."""
        if strategy is None:
            return None
        if not self.asks:
            raise ParameterError(
                f"{self.name} asks no analyst", "leave out the strategy, or call ask(history, choices)"
            )
        found = self.function.__globals__.get(strategy) if isinstance(strategy, str) else strategy
        if not callable(found):
            hint = "give a function of what the analyst has seen and of the choices, or the name of one beside it"
            raise ParameterError(f"the strategy {strategy!r} is not a function", hint)
        return found

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def _read_parameters(self) -> dict[str, Any]:
        listed = list(self._signature.parameters.values())
        span = self.source.span()
        if not listed or listed[0].kind not in (listed[0].POSITIONAL_ONLY, listed[0].POSITIONAL_OR_KEYWORD):
            raise LanguageError(f"{self.name} takes no dataset", "make the dataset its first argument", span)
        for parameter in listed[1:]:
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise LanguageError(f"{self.name} has the parameter {parameter}", "name every parameter", span)
            if parameter.name in _RESERVED:
                raise LanguageError(f"a parameter cannot be called {parameter.name}", "rename it", span)
        return {
            parameter.name: self.source.default(parameter.name, parameter.default)
            for parameter in listed[1:]
            if parameter.name != "n"
        }

    def _check_record(self) -> None:
        if isinstance(self.record, Domain):
            return
        record: object = self.record
        if not callable(record):
            hint = "give Bit, Int(lo, hi), Values(...), Bits(d), Tuple(...), or a function of parameters"
            if isinstance(record, tuple) and all(isinstance(part, Domain) for part in record):
                hint = f"for records of {len(record)} parts write Tuple({', '.join(map(repr, record))})"
            raise ParameterError(f"the record domain {record!r} of {self.name} is not a domain", hint)
        known = {*self.parameters, "n"}
        for name, parameter in inspect.signature(record).parameters.items():
            if name not in known and parameter.default is REQUIRED:
                what = f"the record domain of {self.name} depends on {name}, which is not a parameter"
                raise ParameterError(what, _suggestion(name, known))

    def _resolve_record(self, values: Mapping[str, Any]) -> Domain:
        if isinstance(self.record, Domain):
            return self.record
        wanted = inspect.signature(self.record).parameters
        for name in wanted:
            if isinstance(values.get(name), Range):
                what = f"the record domain of {self.name} depends on the unknown {name}"
                raise ParameterError(what, f"give {name} a value")
        try:
            domain = self.record(**{name: values[name] for name in wanted if name in values})
        except (ParameterError, LimitError):
            raise
        except Exception as error:
            what = f"the record domain of {self.name} cannot be computed: {type(error).__name__}: {error}"
            raise ParameterError(what, "check the function given as record=") from error
        if not isinstance(domain, Domain):
            raise ParameterError(f"the record domain of {self.name} is {domain!r}", "return a domain from record=")
        return domain

    def _bind_parameters(self, given: Mapping[str, Any]) -> dict[str, Parameter]:
        for name in given:
            if name not in self.parameters:
                raise ParameterError(f"{self.name} has no parameter {name}", _suggestion(name, {*self.parameters}))
        values = {**self.parameters, **given}
        missing = [name for name in self.parameters if values[name] is REQUIRED]
        if missing:
            what = f"{self.name} is missing the parameter{'s' * (len(missing) > 1)} {', '.join(missing)}"
            raise ParameterError(what, f"give {', '.join(f'{name}=...' for name in missing)}")
        return {name: _read_parameter(name, value) for name, value in values.items()}


@dataclass(frozen=True)
class Bound:
    """A mechanism with everything but the dataset fixed.

    `parameters` are exact and leave out n; `record` has None when the neighbours are "add-remove".
    """

    program: Program
    n: int
    parameters: dict[str, Parameter]
    record: Domain
    neighbours: Neighbours
    strategy: Answering | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _bind_again, (self.program, self.n, self.own_neighbours, self.strategy, self.parameters)

    @property
    def own_neighbours(self) -> Neighbours | None:
        """The neighbour relation where it is not that of the program."""
        return None if self.neighbours is self.program.neighbours else self.neighbours

    def __hash__(self) -> int:
        return hash((self.program, self.n, tuple(self.parameters.items()), self.record, self.neighbours))

    @property
    def asks(self) -> bool:
        """Whether an analyst may be asked whose strategy is open: then all that is shown is a part of the output.

        An output is a pair of what the function returns and, for every question, what was shown, the choices, and which
        of them was taken: each with the same probability, which ratios do not see.
        """
        return self.strategy is None and self.program.asks

    @property
    def arguments(self) -> dict[str, Parameter]:
        """What the function is called with besides the dataset: the parameters, and n if it takes n."""
        return {**self.parameters, "n": self.n} if self.program.takes_n() else dict(self.parameters)

    @property
    def named(self) -> tuple[tuple[str, Any], ...]:
        """What answers say that the mechanism is bound to."""
        floats = {"floats": self.program.floats} if self.program.floats else {}
        counts = {f"with_{name}": True for name in self.program.counts}
        return tuple({"n": self.n, **self.parameters, **floats, **counts}.items())

    def check_dataset(self, x: Sequence[Any]) -> Dataset:
        """The dataset as a tuple of records of the domain. Raises ParameterError naming a wrong record."""
        if _length(x) != self.n:
            length = f"{len(x)} record{'s' * (len(x) != 1)}"
            raise ParameterError(f"the dataset {brief(x)} has {length}", f"give n = {self.n} records")
        return tuple(self._check_record(index, record) for index, record in enumerate(x))

    def run(self, x: Sequence[Any], rng: Source | None = None) -> Output:
        """One output on dataset x, drawn from `rng` (default: the source of randomness in place).

        Runs that `observe` rejects are repeated; ProgramError after 100000 of them. Raises ParameterError where an
        analyst is asked who has no strategy.
        """
        if self.asks:
            if self.program.strategy is None:
                what = f"{self.program.name} asks an analyst, and a run needs the analyst's strategy"
                raise ParameterError(what, "give strategy=f, a function f(history, choices) that returns a choice")
            return replace(self, strategy=self.program.read_strategy(self.program.strategy)).run(x, rng)
        dataset = self.check_dataset(x)
        for name, value in self.parameters.items():
            if isinstance(value, Range):
                raise ParameterError(f"{name} is unknown, and a run needs its value", f"give it, as in {name}=1/5")
        source = current_source() if rng is None else rng
        for _ in range(_MOST_REJECTIONS):
            try:
                return self.execute(dataset, source)
            except Rejected:
                continue
        raise self.contradiction(dataset, f"was false in all of {_MOST_REJECTIONS} runs")

    def execute(self, x: Dataset, source: Source) -> Output:
        """The output of one run on a checked dataset. Raises Rejected, or ProgramError if the run fails."""
        token, bits = COPIES.set({}), BITS.set(self.program.floats)
        unnamed = self.program.counts or self.program.floats or self.asks  # of these the names do not tell
        meeting = MEETING.set(hasattr(source, "met") and not unnamed)
        try:
            with using(source), strictly(), conversing(self.strategy and exact(self.strategy)) as talk:
                if self.program.floats:
                    given = {name: as_double(value) for name, value in self.arguments.items()}
                    result = floating(self.program.function)(as_double(x), **given)
                else:
                    result = exact(self.program.executed)(x, **self.arguments)
            return self._checked_output((result, tuple(talk.asked)) if self.asks else result, x, source)
        except (Rejected, LanguageError, LimitError, ProgramError):
            raise
        except Exception as error:
            raise self._failure(error, x) from error
        finally:
            MEETING.reset(meeting)
            BITS.reset(bits)
            COPIES.reset(token)

    def contradiction(self, x: Dataset, how: str) -> ProgramError:
        """The error for an observation that never holds."""
        what = f"a contradiction: on the dataset {x} the condition of observe {how}"
        return ProgramError(what, "observe an event that can happen on every dataset", self._only_observe(), x)

    def _only_observe(self) -> Span:
        """The place of the observation where there is one, else of the function's name."""
        source = self.program.source
        calls = [part for part in ast.walk(source.node) if isinstance(part, ast.Call)]
        observed = [part for part in calls if ast.unparse(part.func).rpartition(".")[2] == "observe"]
        return source.span(observed[0]) if len(observed) == 1 else self._header()

    def _check_record(self, index: int, record: Any) -> Record:
        try:
            return self.record.canonical(record)
        except ParameterError as error:
            what = f"record {index} of the dataset is {record!r}, which is outside the domain {self.record!r}"
            raise ParameterError(what, error.hint) from None

    def _checked_output(self, result: Any, x: Dataset, source: Source) -> Output:
        try:
            return as_output(result, real=getattr(source, "drew_real", False))
        except TypeError as error:
            hint = "return None, bools, ints, rationals, strings, or tuples of those"
            raise ProgramError(f"{self.program.name} returned {error}", hint, self._header(), x) from None

    def _failure(self, error: Exception, x: Dataset) -> ProgramError:
        message = error.what if isinstance(error, ParameterError) else str(error)
        what = f"on the dataset {x} the run fails with {type(error).__name__}{': ' if message else ''}{message}"
        span = failure_span(self.program.source, error.__traceback__)
        hint = "make the program succeed on every dataset of its domain, or restrict the domain"
        return ProgramError(what, hint, span or self._header(), x)

    def _header(self) -> Span:
        return self.program.source.span()


def _bind_again(
    program: Program,
    n: int,
    neighbours: Neighbours | None,
    strategy: Answering | None,
    parameters: dict[str, Parameter],
) -> Bound:
    return program.bind(n, neighbours, strategy, **parameters)


def _read_parameter(name: str, value: Any) -> Parameter:
    try:
        return as_parameter(value)
    except ParameterError as error:
        raise ParameterError(f"the parameter {name}: {error.what}", error.hint) from None


def _dataset_size(n: Any) -> int:
    size = n if isinstance(n, bool) else as_parameter(n)
    if isinstance(size, Range):
        raise ParameterError("n cannot be an unknown", "give one n, several to a sweep, or n=all for every n")
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        shown = size if isinstance(size, int) else repr(n)
        raise ParameterError(f"n is {shown}, which is not a number of records", "give an int of at least 1")
    return as_int(size, "n")


def _length(x: Any) -> int:
    if isinstance(x, (str, bytes, Mapping)) or not hasattr(x, "__len__") or not hasattr(x, "__getitem__"):
        raise ParameterError(f"{brief(x)} is not a dataset", "give a tuple or list of records")
    return len(x)


def _check_neighbours(relation: Neighbours) -> None:
    if not callable(relation) and relation not in NEIGHBOURS:
        raise ParameterError(f"{relation!r} is not a neighbour relation", _suggestion(str(relation), {*NEIGHBOURS}))
    if callable(relation):
        try:
            inspect.signature(relation).bind(())
        except TypeError as error:
            name = getattr(relation, "__name__", "custom")
            what = f"the neighbour relation {name} cannot be asked for the neighbours of one dataset: {error}"
            raise ParameterError(what, "give a function of one dataset that returns its neighbours") from None
        except ValueError:
            pass  # a builtin without a signature


def _suggestion(name: str, known: set[str]) -> str:
    close = get_close_matches(name, sorted(known), n=1)
    listed = ", ".join(sorted(known)) or "none"
    return f"did you mean {close[0]}? (there are: {listed})" if close else f"there are: {listed}"
