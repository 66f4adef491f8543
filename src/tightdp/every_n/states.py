"""The chain of a program: its states are closed under all records and draws by running the code of one record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.errors import LanguageError, ProgramError, QueryError, TightdpError
from tightdp.every_n.chain import Chain, Letter, Matrix, Vector
from tightdp.every_n.uniform import UNSET, Uniform, read_uniform
from tightdp.language.interp import every_run
from tightdp.language.neighbours import relation_of
from tightdp.language.primitives import Source, using
from tightdp.language.program import Bound, as_output
from tightdp.language.source import failure_span

__all__ = ["chain_of"]

_MOST_STATES = 300
_DONE = ("stopped",)
State: TypeAlias = tuple[Any, ...]
"""How the loop goes on ("next", "break", "stopped"), and the values of the variables, frozen."""


def chain_of(bound: Bound) -> Chain:
    """Return the chain of a mechanism, the same for every n.

    Raises LanguageError with the place where records are not treated alike, where the values of a variable do not end,
    and where the neighbour relation or `observe` leaves no answer for every n.
    """
    relation = relation_of(bound)
    if relation.custom:
        raise LanguageError(
            "no answer for every n: the neighbours are a function of one dataset",
            "use a relation that has a name, such as 'replace-one', or ask for one n",
        )
    moves = tuple(
        (old, new) for old, others in relation.steps.items() for new in others if relation.every_record or old != new
    )
    return _Explored(read_uniform(bound)).chain(bound.record.values, moves, relation.every_record)


class _Explored:
    def __init__(self, uniform: Uniform) -> None:
        self.uniform = uniform
        self.index: dict[State, int] = {}
        self.pending: list[State] = []
        self.silent = False
        """Whether some record sends no message though the loop goes on."""
        self.unset = uniform.block.__globals__[UNSET]

    def chain(self, records: tuple[Any, ...], moves: tuple[Any, ...], all_at_once: bool) -> Chain:
        """Close the states under all records and draws."""
        start: Vector = {}
        for (state, _), probability in self._law(self.uniform.before, ()).items():
            if state != _DONE:
                at = self._number(state)
                start[at] = start.get(at, Fraction(0)) + probability
        steps: dict[Letter, dict[Any, Matrix]] = {}
        while self.pending:
            state = self.pending.pop()
            here = self.index[state]
            for record in records:
                for (following, letter), probability in self._following(state, record).items():
                    entries = steps.setdefault(letter, {}).setdefault(record, {}).setdefault(here, {})
                    at = self._number(following)
                    self.silent |= following[0] == "next" and letter == ()
                    entries[at] = entries.get(at, Fraction(0)) + probability
        finals: dict[Any, Vector] = {}
        last = {at for by in steps.values() for matrix in by.values() for entries in matrix.values() for at in entries}
        for state, at in self.index.items():
            if at not in last:  # before the first record only
                continue
            for output, probability in self._final(state).items():
                finals.setdefault(output, {})[at] = probability
        return Chain(
            len(self.index),
            (start,) if start else (),
            steps,
            tuple(finals.values()),
            moves,
            all_at_once,
            self._faithful(steps),
        )

    def _faithful(self, steps: Iterable[Letter]) -> bool:
        """Whether the output tells the messages: every record sends one, and nothing is returned before the end."""
        told = self.uniform.told
        if not told:
            return told is not None and all(letter == () for letter in steps)
        return not self.silent and all(letter == () or (len(letter) == 1 and letter[0][0] == told) for letter in steps)

    def _number(self, state: State) -> int:
        if state not in self.index:
            self.index[state] = len(self.index)
            self.pending.append(state)
            if len(self.index) > _MOST_STATES:
                raise self._endless()
        return self.index[state]

    def _following(self, state: State, record: Any) -> dict[tuple[State, Letter], Fraction]:
        if state[0] != "next":
            return {(state, ()): Fraction(1)}
        return self._law(self.uniform.block, (record, *self._thawed(state)))

    def _final(self, state: State) -> dict[Any, Fraction]:
        if state == _DONE:
            return {_DONE: Fraction(1)}
        end = self.uniform.after if state[0] == "next" else self.uniform.broken
        law: dict[Any, Fraction] = {}
        for output, probability in self._runs(lambda: as_output(_settled(end(*self._thawed(state))))):
            law[output] = law.get(output, Fraction(0)) + probability
        return law

    def _law(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[tuple[State, Letter], Fraction]:
        law: dict[tuple[State, Letter], Fraction] = {}

        def run() -> tuple[State, Letter]:
            self.uniform.emitted.clear()
            kind, found = function(*map(_copied, arguments))
            sent = tuple((name, as_output(_settled(value))) for name, value in self.uniform.emitted)
            if kind == "stop":
                return _DONE, ("returned", sent, as_output(_settled(found)))
            values = [found.get(name, self.unset) for name in self.uniform.state]
            self._refuse_sharing(values)
            return (kind, *map(self._frozen, self.uniform.state, values)), sent

        for outcome, probability in self._runs(run):
            law[outcome] = law.get(outcome, Fraction(0)) + probability
        return law

    def _refuse_sharing(self, values: list[Any]) -> None:
        """Two variables must not hold the same list: what one adds, the other would miss."""
        held: set[int] = set()
        for name, value in zip(self.uniform.state, values, strict=True):
            inside = set(_mutable(value))
            if inside & held:
                what = f"no answer for every n: {name} and another variable hold the same list, set or dictionary"
                raise LanguageError(what, "copy it", self._place(name))
            held |= inside

    def _runs(self, run: Callable[[], Any]) -> Iterator[tuple[Any, Fraction]]:
        def execute(source: Source) -> Any:
            try:
                with using(source):
                    return run()
            except TightdpError:
                raise
            except Exception as error:
                what = f"for some n a run fails with {type(error).__name__}: {error}"
                raise ProgramError(
                    what, "ask for one n to see a dataset", failure_span(source_, error.__traceback__)
                ) from error

        source_ = self.uniform.source
        for outcome, probability in every_run(execute):
            if not isinstance(probability, Fraction):
                what = f"for every n probabilities must be rational, and {probability} is not"
                raise QueryError(what, "give the weights as rationals that are a little larger or smaller, or one n")
            yield outcome, probability

    def _thawed(self, state: State) -> list[Any]:
        return [self.unset if value is None else _thaw(value) for value in state[1:]]

    def _frozen(self, name: str, value: Any) -> Any:
        if value is self.unset:
            return None
        try:
            return _freeze(value)
        except TypeError:
            what = f"no answer for every n: {name} holds a {type(value).__name__} from one record to the next"
            raise LanguageError(
                what, "keep numbers, words, tuples, lists, sets or dictionaries", self._place(name)
            ) from None

    def _endless(self) -> LanguageError:
        states = [state for state in self.index if state[0] == "next"]
        kinds = {name: len({state[1 + at] for state in states}) for at, name in enumerate(self.uniform.state)}
        name = max(kinds, key=lambda each: kinds[each])
        what = f"no answer for every n: the values that {name} may have do not end ({kinds[name]} so far)"
        hint = "keep what goes from one record to the next in few values; what is only added up at the end may grow"
        return LanguageError(what, hint, self._place(name))

    def _place(self, name: str) -> Any:
        return self.uniform.source.span(self.uniform.places.get(name))


def _freeze(value: Any) -> tuple[str, Any]:
    if isinstance(value, tuple):
        return "tuple", tuple(map(_freeze, value))
    if isinstance(value, list):
        return "list", tuple(map(_freeze, value))
    if isinstance(value, dict):
        return "dict", tuple((_freeze(key), _freeze(item)) for key, item in value.items())
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(map(_freeze, value))
    if value is None or isinstance(value, (int, str, Fraction)):
        return "value", value
    raise TypeError


def _thaw(frozen: tuple[str, Any]) -> Any:
    kind, value = frozen
    if kind == "value":
        return value
    if kind == "dict":
        return {_thaw(key): _thaw(item) for key, item in value}
    return {"tuple": tuple, "list": list, "set": set}[kind](map(_thaw, value))


def _mutable(value: Any) -> Iterator[int]:
    """Yield what tells apart the lists, sets and dictionaries in a value."""
    if isinstance(value, (list, set, dict)):
        yield id(value)
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _mutable(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _mutable(each)


def _copied(value: Any) -> Any:
    return _thaw(_freeze(value)) if isinstance(value, (tuple, list, dict, set)) else value


def _settled(value: Any) -> Any:
    """Return what is visible as an output; lists and sets count as what they hold."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_settled, value))
    return value
