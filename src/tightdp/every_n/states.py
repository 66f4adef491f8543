"""The states of a program, closed under all records and draws by running the code of one record, and its chain.

Noise on all integers, and sums where they are followed, stay symbolic: a state says which places hold such values, and
a path from one state to the next for which of these integers it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any, TypeAlias

from tightdp.errors import LanguageError, ProgramError, TightdpError
from tightdp.every_n.chain import Chain, Letter, Matrix, Move, Vector
from tightdp.every_n.forms import Affine, Bounds, Form, Trace, Untraceable, held
from tightdp.every_n.uniform import INDEX, UNSET, Uniform, read_uniform
from tightdp.exact.field import Number
from tightdp.language.interp import every_run
from tightdp.language.neighbours import relation_of
from tightdp.language.primitives import Source, using
from tightdp.language.program import Bound, as_output
from tightdp.language.source import failure_span

__all__ = ["OPEN", "Path", "Paths", "chain_of", "explore", "faithful"]

_MOST_STATES = 300
_DONE = ("stopped",)
_RETURNED = "returned"
OPEN = "\0open"
"""Stands for a symbolic value in a letter."""
State: TypeAlias = tuple[Any, ...]
"""How the loop goes on ("next", "break", "stopped"), and the values of the variables, frozen."""


@dataclass(frozen=True)
class Path:
    """One way through the code of a record, or what is before or after: it is taken where `bounds` hold.

    `probability` is that of its finite draws, `noises` are the ratios of its noise on all integers. It sends `letter`,
    with the symbolic values `published` in their places, and leads to the state `target`, which holds `values`.
    """

    probability: Number
    noises: tuple[Number, ...]
    bounds: Bounds
    letter: Letter
    published: tuple[Affine, ...]
    target: int
    values: tuple[Affine, ...]


@dataclass(frozen=True)
class Paths:
    """All paths of a program: at its start, for each record from each state, and at its end from each state."""

    states: int
    before: tuple[Path, ...]
    steps: dict[Any, dict[int, tuple[Path, ...]]]
    after: dict[int, tuple[Path, ...]]
    moves: tuple[Move, ...]
    all_at_once: bool
    going: frozenset[int]
    """The states in which the loop goes on."""
    told: str | None
    """The messages that the output determines; see `Uniform`."""

    def each(self) -> Iterator[Path]:
        """Yield every path."""
        yield from self.before
        for by in (*self.steps.values(), self.after):
            for paths in by.values():
                yield from paths


def explore(bound: Bound, sums: bool = False) -> Paths:
    """Return the paths of a mechanism, the same for every n; with `sums`, sums over the records stay symbolic.

    Raises LanguageError with the place where records are not treated alike, where a variable takes unboundedly many
    values, or where the neighbour relation or `observe` leaves no answer for every n; or Untraceable.
    """
    relation = relation_of(bound)
    if relation.custom:
        raise LanguageError(
            "no answer for every n: the neighbours are a function of one dataset",
            "use a built-in relation, such as 'replace-one', or ask for one n",
        )
    moves = tuple(
        (old, new) for old, others in relation.steps.items() for new in others if relation.every_record or old != new
    )
    return _Explored(read_uniform(bound, sums)).paths(bound.record.values, moves, relation.every_record)


def chain_of(paths: Paths) -> Chain | None:
    """Return the chain of a program whose values and probabilities are all finite and rational, else None."""
    for path in paths.each():
        if path.noises or path.values or path.bounds or path.published or not isinstance(path.probability, Fraction):
            return None
    start: Vector = {}
    for path in paths.before:
        _add(start, path.target, path)
    steps: dict[Letter, dict[Any, Matrix]] = {}
    for record, by in paths.steps.items():
        for here, ways in by.items():
            for path in ways:
                _add(steps.setdefault(path.letter, {}).setdefault(record, {}).setdefault(here, {}), path.target, path)
    finals: dict[Any, Vector] = {}
    for here, ways in paths.after.items():
        for path in ways:
            _add(finals.setdefault(path.letter, {}), here, path)
    starts = (start,) if start else ()
    return Chain(paths.states, starts, steps, tuple(finals.values()), paths.moves, paths.all_at_once, faithful(paths))


def faithful(paths: Paths) -> bool:
    """Whether the output determines the messages of all records, in order, and what left the loop."""
    if paths.told is None:
        return False
    every = [path for by in paths.steps.values() for ways in by.values() for path in ways]
    left = {path.letter for path in every if path.letter[:1] == (_RETURNED,)}
    ends = {path.letter for ways in paths.after.values() for path in ways if path.letter != _DONE}
    sent = [path for path in every if path.letter not in left]
    alone = (path.letter == () or (len(path.letter) == 1 and path.letter[0][0] == paths.told) for path in sent)
    silent = bool(paths.told) and any(path.letter == () and path.target in paths.going for path in sent)
    return all(alone) and not silent and not any(_may_agree(seen[-1], end) for _, _, seen in left for end in ends)


def _may_agree(returned: object, end: object) -> bool:
    """Whether what leaves the loop and what the end of the program returns may be the same."""
    if returned is None or end is None or OPEN in (returned, end):
        return True
    if isinstance(returned, tuple) and isinstance(end, tuple):
        return len(returned) == len(end) and all(map(_may_agree, returned, end))
    return returned == end or (returned == INDEX and isinstance(end, (int, Fraction)) and end >= 0)


def _add(vector: Vector, at: int, path: Path) -> None:
    assert isinstance(path.probability, Fraction)
    vector[at] = vector.get(at, Fraction(0)) + path.probability


class _Explored:
    def __init__(self, uniform: Uniform) -> None:
        self.uniform = uniform
        self.index: dict[State, int] = {}
        self.pending: list[State] = []
        self.unset = uniform.block.__globals__[UNSET]

    def paths(self, records: tuple[Any, ...], moves: tuple[Move, ...], all_at_once: bool) -> Paths:
        """Close the states under all records and draws."""
        before = [path for path in self._all(self.uniform.before, ()) if path.letter[:1] != (_RETURNED,)]
        steps: dict[Any, dict[int, tuple[Path, ...]]] = {record: {} for record in records}
        while self.pending:
            state = self.pending.pop()
            for record in records:
                steps[record][self.index[state]] = tuple(self._following(state, record))
        last = {path.target for by in steps.values() for paths in by.values() for path in paths}
        after = {at: tuple(self._final(state)) for state, at in self.index.items() if at in last}
        going = frozenset(at for state, at in self.index.items() if state[0] == "next")
        told = self.uniform.told
        return Paths(len(self.index), tuple(before), steps, after, moves, all_at_once, going, told)

    def _number(self, state: State) -> int:
        if state not in self.index:
            self.index[state] = len(self.index)
            self.pending.append(state)
            if len(self.index) > _MOST_STATES:
                raise self._endless()
        return self.index[state]

    def _following(self, state: State, record: Any) -> list[Path]:
        if state[0] != "next":
            return [self._staying(state, ())]
        return self._all(self.uniform.block, (record, *self._thawed(state)))

    def _staying(self, state: State, letter: Letter) -> Path:
        values = tuple(Affine(held(place), Fraction(0)) for place in range(_places(state)))
        return Path(Fraction(1), (), {}, letter, (), self.index[state], values)

    def _final(self, state: State) -> list[Path]:
        if state == _DONE:
            return [self._staying(state, _DONE)]
        end = self.uniform.after if state[0] == "next" else self.uniform.broken
        found = []
        for value, trace, probability in self._runs(lambda: end(*self._thawed(state))):
            letter, published = self._visible(value, trace)
            found.append(Path(probability, tuple(trace.noises), trace.bounds, letter, published, 0, ()))
        return _together(found)

    def _all(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Path]:
        """Return the paths of the code that is before the loop, or in it."""

        def run() -> tuple[Any, Any, list[tuple[str, Any]]]:
            self.uniform.emitted.clear()
            kind, found = function(*map(_copied, arguments))
            return kind, found, list(self.uniform.emitted)

        paths = []
        state: State
        values: tuple[Affine, ...]
        for (kind, found, emitted), trace, probability in self._runs(run):
            if kind == "stop":
                letter, published = self._visible((*(value for _, value in emitted), found), trace)
                state, values = _DONE, ()
                letter = (_RETURNED, tuple(name for name, _ in emitted), letter)
            else:
                sent, published = self._visible(tuple(value for _, value in emitted), trace)
                letter = tuple(zip((name for name, _ in emitted), sent, strict=True))
                state, values = self._state(kind, found)
            target = self._number(state)
            paths.append(Path(probability, tuple(trace.noises), trace.bounds, letter, published, target, values))
        return _together(paths)

    def _state(self, kind: str, found: dict[str, Any]) -> tuple[State, tuple[Affine, ...]]:
        """Return the state of the variables, and the symbolic values that it holds."""
        listed = [found.get(name, self.unset) for name in self.uniform.state]
        self._refuse_sharing(listed)
        values: list[Affine] = []
        frozen = []
        for name, value in zip(self.uniform.state, listed, strict=True):
            grows = name in self.uniform.sums and isinstance(value, (int, Fraction))
            frozen.append(self._frozen(name, Form((), Fraction(value)) if grows else value, values))
        return (kind, *frozen), tuple(values)

    def _visible(self, value: Any, trace: Trace) -> tuple[Letter, tuple[Affine, ...]]:
        """Return the visible part of a value, and the symbolic values in it."""
        published: list[Affine] = []
        return as_output(_settled(value, published, trace.bounds)), tuple(published)

    def _refuse_sharing(self, values: list[Any]) -> None:
        """Raise LanguageError where two variables hold the same list: what one adds, the other would miss."""
        held: set[int] = set()
        for name, value in zip(self.uniform.state, values, strict=True):
            inside = set(_mutable(value))
            if inside & held:
                what = f"no answer for every n: {name} and another variable hold the same list, set or dictionary"
                raise LanguageError(what, "copy it", self._place(name))
            held |= inside

    def _runs(self, run: Callable[[], Any]) -> Iterator[tuple[Any, Trace, Number]]:
        def execute(source: Source) -> tuple[Any, Trace]:
            trace = Trace(source)
            try:
                with using(trace):
                    return run(), trace
            except (TightdpError, Untraceable):
                raise
            except Exception as error:
                if trace.noises:
                    raise Untraceable(f"{type(error).__name__}: {error}") from error
                what = f"for some n a run fails with {type(error).__name__}: {error}"
                raise ProgramError(
                    what, "ask for one n to see a dataset", failure_span(source_, error.__traceback__)
                ) from error

        source_ = self.uniform.source
        for (outcome, trace), probability in every_run(execute):
            yield outcome, trace, probability

    def _thawed(self, state: State) -> list[Any]:
        places = count()
        return [self.unset if value is None else _thaw(value, places) for value in state[1:]]

    def _frozen(self, name: str, value: Any, values: list[Affine]) -> Any:
        if value is self.unset:
            return None
        try:
            return _freeze(value, values)
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


def _together(paths: Iterable[Path]) -> list[Path]:
    """Return the paths, those that differ only in their finite draws merged."""
    found: dict[Any, Path] = {}
    for path in paths:
        key = path.noises, tuple(sorted(path.bounds.items())), path.letter, path.published, path.target, path.values
        known = found.get(key)
        found[key] = path if known is None else replace(path, probability=known.probability + path.probability)
    return list(found.values())


def _places(state: State) -> int:
    """Return how many symbolic values a state holds."""
    places = count()
    for value in state[1:]:
        if value is not None:
            _thaw(value, places)
    return next(places)


def _freeze(value: Any, values: list[Affine]) -> tuple[str, Any]:
    if isinstance(value, Form):
        values.append(value.affine)
        return "open", None
    if isinstance(value, tuple):
        return "tuple", tuple(_freeze(each, values) for each in value)
    if isinstance(value, list):
        return "list", tuple(_freeze(each, values) for each in value)
    if isinstance(value, dict):
        return "dict", tuple((_freeze(key, values), _freeze(item, values)) for key, item in value.items())
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(_freeze(each, values) for each in value)
    if value is None or isinstance(value, (int, str, Fraction)):
        return "value", value
    raise TypeError


def _thaw(frozen: tuple[str, Any], places: Iterator[int]) -> Any:
    kind, value = frozen
    if kind == "open":
        return Form(held(next(places)), Fraction(0))
    if kind == "value":
        return value
    if kind == "dict":
        return {_thaw(key, places): _thaw(item, places) for key, item in value}
    return {"tuple": tuple, "list": list, "set": set}[kind](_thaw(each, places) for each in value)


def _mutable(value: Any) -> Iterator[int]:
    """Yield the identities of the lists, sets and dictionaries in a value."""
    if isinstance(value, (list, set, dict)):
        yield id(value)
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _mutable(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _mutable(each)


def _copied(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(map(_copied, value))
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return set(value) if isinstance(value, set) else value


def _settled(value: Any, published: list[Affine], bounds: Bounds) -> Any:
    """Return a value as an output, with lists as tuples and `OPEN` for symbolic integers."""
    if isinstance(value, Form):
        terms, constant = value.affine
        low, high = bounds.get(terms, (0, 1))
        if not terms or low == high:
            known = constant + (Fraction(low) if terms else 0)
            return as_output(known)
        published.append(value.affine)
        return OPEN
    if isinstance(value, (list, tuple)):
        return tuple(_settled(each, published, bounds) for each in value)
    return value
