"""The public interface: the `mechanism` decorator, and mechanisms, which are run, sampled and bound to an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, overload

from tightdp.errors import ParameterError
from tightdp.language.domains import Bit, Domain
from tightdp.language.primitives import PseudoRandom
from tightdp.language.program import Program, in_run
from tightdp.language.travel import owner_of
from tightdp.session.arguments import checked_calls, read_count
from tightdp.session.instance import Instance
from tightdp.session.instances import bound_to

if TYPE_CHECKING:  # a default is new in Python 3.13; type checkers know it everywhere
    from typing_extensions import ParamSpec

    P = ParamSpec("P", default=...)
else:
    from typing import ParamSpec

    P = ParamSpec("P")
Q = ParamSpec("Q")


@checked_calls
class Mechanism(Generic[P]):
    """A randomized function of a dataset, with its record domain, target and neighbour relation.

    Call it to draw one output, `sample` to draw many, `bind` to ask exact questions. Type checkers know its parameters
    from the signature of the function.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.__name__ = program.name
        self.__doc__ = program.documentation
        self.__wrapped__ = program.function

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_program, (self.program,)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.program.name

    def __call__(self, x: Sequence[Any], /, *arguments: P.args, **parameters: P.kwargs) -> Any:
        """Draw one output on dataset x. Inside another mechanism, this continues the same run.

        Raises ParameterError where x or a parameter does not fit, ProgramError where the run fails.
        """
        if in_run():
            return self.program.raw(x, *arguments, **parameters)
        names = list(self.program.parameters)
        return self.program.run(x, {**dict(zip(names, arguments, strict=False)), **parameters})

    def sample(
        self, x: Sequence[Any], size: int = 1, seed: int | None = None, *arguments: P.args, **parameters: P.kwargs
    ) -> list[Any]:
        """Draw `size` independent outputs on dataset x; the same seed gives the same outputs.

        A mechanism that asks an analyst takes its `strategy` here and where it is called, unless it has one of its own.
        Parameters are given by name. Raises ParameterError where one does not fit, ProgramError where one fails.
        """
        _refuse(self, arguments)
        source = PseudoRandom(seed)
        given: dict[str, Any] = dict(parameters)
        bound = self.program.bind(len(x), **given)
        return [bound.run(x, source) for _ in range(read_count("size", size))]

    def bind(
        self,
        n: int | str,
        neighbours: str | Callable[[Any], Iterable[Any]] | None = None,
        backend: str = "cudd",
        timeout: Any = None,
        max_nodes: int | None = None,
        max_memory: int | str | None = None,
        method: str | None = None,
        precision: Any = None,
        strategy: Callable[..., Any] | str | None = None,
        floats: bool | int | None = None,
        with_rounds: bool = False,
        with_bits: bool = False,
        *arguments: P.args,
        **parameters: P.kwargs,
    ) -> Instance:
        """Fix the number of records and the parameters, by name; `n=ALL` stands for every number of records at once.

        `neighbours` overrides the mechanism's own relation. `backend` is "cudd" or "autoref". `timeout` (seconds),
        `max_nodes` (of the diagram) and `max_memory` (bytes, or "500M", "4G"; unless given, 80 % of what is free) limit
        every query. With `timeout` or `max_memory` every query compiles anew, in a child process that can be killed.
        `method` asks for one method by name, `precision` for an enclosure (see `Instance`). `strategy` answers where
        the mechanism asks an analyst: a function of the history and the choices, or the name of one beside it; without
        it questions about privacy are about every strategy. `floats` says whether numbers are doubles as they run
        (True, or how many bits `random()` has in place of 53). `with_rounds` publishes how often loops go round beside
        the output, `with_bits` how many fair bits are drawn, for those who see the time of a run. Raises ParameterError
        naming what does not fit.
        """
        _refuse(self, arguments)
        return bound_to(
            self.program,
            neighbours,
            n,
            dict(parameters),
            strategy,
            floats=floats,
            with_rounds=with_rounds,
            with_bits=with_bits,
            backend=backend,
            timeout=timeout,
            max_nodes=max_nodes,
            max_memory=max_memory,
            method=method,
            precision=precision,
        )

    def target(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate the function that computes from a dataset the quantity which a numeric output estimates.

        It may take parameters of the mechanism too, by name. `accuracy` and `utility` use it.
        """
        self.program = replace(self.program, target=function)
        return function

    def __repr__(self) -> str:
        return f"<mechanism {self.name}>"


def _refuse(mechanism: Mechanism, arguments: tuple[Any, ...]) -> None:
    """Raise ParameterError where parameters are given without their names."""
    if arguments:
        names = ", ".join(f"{name}=..." for name in mechanism.program.parameters)
        raise ParameterError(f"parameters of {mechanism.name} are given by name", f"write {names}")


def _of_program(program: Program) -> Mechanism:
    """Return the mechanism of a program: the one that stands in its module, or a new one."""
    found = owner_of(program)
    return found if isinstance(found, Mechanism) else Mechanism(program)


@overload
def mechanism(function: Callable[Concatenate[Any, Q], Any], /) -> Mechanism[Q]: ...


@overload
def mechanism(
    *,
    record: Domain | Callable[..., Domain],
    target: Callable[..., Any] | None = None,
    neighbours: str | Callable[[Any], Iterable[Any]] = "replace-one",
    name: str = "",
    strategy: Callable[..., Any] | str | None = None,
    floats: bool | int = False,
) -> Callable[[Callable[Concatenate[Any, Q], Any]], Mechanism[Q]]: ...


def mechanism(
    function: Callable[..., Any] | None = None,
    /,
    *,
    record: Domain | Callable[..., Domain] | None = None,
    target: Callable[..., Any] | None = None,
    neighbours: str | Callable[[Any], Iterable[Any]] = "replace-one",
    name: str = "",
    strategy: Callable[..., Any] | str | None = None,
    floats: bool | int = False,
) -> Mechanism | Callable[[Callable[..., Any]], Mechanism]:
    """Make a mechanism of a Python function.

    The function's first argument is the dataset, a tuple of n records of the domain `record` (bits, unless given); the
    others are public parameters. `target` is the quantity that a numeric output estimates; `neighbours` is
    "replace-one", "unit-step", "unit-all", "add-remove", or a function from a dataset to its neighbours. `strategy`
    answers where the function calls `ask` and is run without another strategy. With `floats` numbers are doubles as
    they run. Raises LanguageError or ParameterError where these do not fit together.
    """

    def decorate(plain: Callable[..., Any]) -> Mechanism:
        domain = Bit if record is None else record
        return Mechanism(Program(plain, domain, target, neighbours, name, strategy=strategy, floats=floats))

    return decorate if function is None else decorate(function)


def mechanisms_of(module: ModuleType) -> dict[str, Mechanism]:
    """Return the mechanisms that a file defines, by name; those that it imports only if it defines none."""
    found: dict[str, Mechanism] = {}
    for name, value in vars(module).items():
        if isinstance(value, Mechanism) and value not in found.values():
            found[name] = value
    own = {name: value for name, value in found.items() if value.program.function.__module__ == module.__name__}
    return own or found
