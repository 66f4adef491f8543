"""What the names of a function hold, taken apart: a shape, and the rational and noisy numbers in it.

Lists, dictionaries and sets are known by identity, so that two names of one list stay that. So is what a run sees of
collections and objects of the enclosing module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from tightdp.cells.linear import COUNTER, REAL
from tightdp.cells.noise import Noisy, Outside
from tightdp.exact.arrays import np
from tightdp.exact.field import ExpNumber
from tightdp.language.classes import COPIES, Module, readable, state_of
from tightdp.language.exactness import exactly
from tightdp.language.rounds import MISSING, Loop, Missing
from tightdp.language.source import held_by, is_ours
from tightdp.limits.calibrated import FEW_VALUES

Shape: TypeAlias = Any
Place: TypeAlias = tuple[Any, ...]
"""A name, and the indices that lead from it to a number."""

_PLAIN = (bool, str, bytes, float, ExpNumber, range, type(None), type(Ellipsis))
_CALLED = (FunctionType, BuiltinFunctionType, MethodType)
_WHOLE = (*_CALLED, ModuleType, Module, type, Missing)


@dataclass(frozen=True)
class Form:
    """A linear form of variables, without the run that it belongs to."""

    coefficients: tuple[tuple[int, int | Fraction], ...]
    constant: int | Fraction

    def counters(self) -> Iterator[int]:
        yield from (v - COUNTER for v, _ in self.coefficients if COUNTER <= v < REAL)


def as_form(number: Any) -> Form:
    """Return a number as a linear form."""
    return number if isinstance(number, Form) else Form((), number)


@dataclass(frozen=True)
class _Alike:
    """A function that sees no variables of other functions: it does what others of its code do."""

    codes: tuple[Any, ...]
    names: int
    value: Any = field(compare=False)


def _alone(value: FunctionType) -> FunctionType | None:
    """Return a function, as it is written, if it sees nothing but the names of its module."""
    own: FunctionType = vars(value).get("__wrapped__", value)
    inner = [held for cell in value.__closure__ or () for held in held_by(cell)]
    told = [given for each in (own, value) for given in (each.__defaults__, each.__kwdefaults__)]
    if own.__closure__ or any(told) or vars(own) or len(vars(value)) > 1 or any(each is not own for each in inner):
        return None
    return own


def _is_object(kind: type) -> bool:
    """Whether objects of a class are what they hold, and nothing else."""
    made: Any = kind.__new__
    return made is object.__new__ and readable(kind)


class Picture(NamedTuple):
    """A shape with its numbers, each rational or a form, and where they are."""

    shape: Shape
    places: tuple[Place, ...]
    numbers: tuple[Any, ...]


def picture(values: Mapping[Any, Any], known: Sequence[Any] = (), deep: bool = False) -> Picture:
    """Return the picture of names. Containers are told apart by their place in `known`, or in which they are met.

    A `deep` one, of which no names are restored, tells of a function what the variables around it hold.
    """
    drawing = _Drawing(known, deep)
    shape = tuple((name, drawing.of(value, (name,))) for name, value in values.items())
    held = tuple(drawing.of(value, (at,)) for at, value in enumerate(known))
    return Picture((shape, held), tuple(drawing.places), tuple(drawing.numbers))


def living(loop: Loop) -> Mapping[str, Any]:
    """Return what a round may read: its names, and those of the functions around."""
    own = loop.values()
    return {name: value if name in loop.live or name not in own else MISSING for name, value in seen(loop).items()}


def seen(loop: Loop) -> Mapping[str, Any]:
    """Return all names that there are, in the same order whichever have a value: those of a round, and around it."""
    around = {name: value for name, value in loop.frame.f_locals.items() if not name.startswith("__tightdp")}
    return loop.values() | around


def containers(values: Mapping[Any, Any], known: Sequence[Any], deep: bool = False) -> list[Any]:
    """Return what is known, and the containers that names lead to, in the order in which they are met."""
    drawing = _Drawing(known, deep)
    for name, value in values.items():
        drawing.of(value, (name,))
    return drawing.met


class Met(BaseException):
    """What belongs to the state of a loop is known now: things outside that rounds meet, what is left of draws."""


class Outer(list[Any]):
    """The collections and objects of the enclosing module that rounds of loops that are not gone through have met."""

    def containers(self, values: Mapping[Any, Any]) -> list[Any]:
        """Return the containers that belong to a state with these names."""
        for thing in self:
            exactly(thing)
        return containers(values, [copy for _, copy in (COPIES.get() or {}).values()])

    def end(self, values: Mapping[Any, Any], known: Sequence[Any]) -> Picture:
        """Return with which names a round ends. Raises Met where it has met something for the first time."""
        every = set(map(id, known))
        new = [thing for thing, copy in (COPIES.get() or {}).values() if id(copy) not in every]
        if len(self) > FEW_VALUES or any(thing is each for thing in new for each in self):
            raise Outside("is drawn in a loop that changes what stands outside")
        self += new
        if new:
            raise Met
        return picture(values, known)


class _Drawing:
    def __init__(self, known: Sequence[Any], deep: bool = False) -> None:
        self._deep = deep
        self._index = {id(each): at for at, each in enumerate(known)}
        self.met = list(known)
        self._drawn: set[int] = set()
        self.places: list[Place] = []
        self.numbers: list[Any] = []

    def of(self, value: Any, place: Place) -> Shape:
        if isinstance(value, Noisy):
            return self._number(Form(tuple(sorted(value.coefficients.items())), value.constant), place)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, place)
        if isinstance(value, Fraction):
            return self._number(value, place, "fraction")
        if isinstance(value, _PLAIN):
            return "plain", type(value).__name__, value
        if isinstance(value, tuple) and type(value) is tuple:
            return "tuple", tuple(self.of(item, (*place, at)) for at, item in enumerate(value))
        if type(value) in (list, dict, set, CellType) or id(value) in self._index or _is_object(type(value)):
            return self._container(value, place)
        if self._deep and isinstance(value, _CALLED) and not is_ours(value):
            return self._called(value, place)
        if isinstance(value, FunctionType) and (own := _alone(value)):
            return "whole", _Alike((value.__code__, own.__code__), id(own.__globals__), value)
        if isinstance(value, FunctionType) and "<locals>" in value.__qualname__ and value.__closure__:
            return self._container(value, place)
        if isinstance(value, _WHOLE) or getattr(value, "program", None) is not None:
            return "whole", value
        raise Outside(f"is drawn in a loop that goes on with a {type(value).__name__}")

    def _called(self, value: Any, place: Place) -> Shape:
        if isinstance(value, FunctionType):
            if vars(value).keys() - {"__wrapped__"}:
                raise Outside("is drawn in a loop that goes on with a function that holds values")
            given = (value.__defaults__, *(value.__kwdefaults__ or {}).items())
            held = [self.of(each, (*place, at)) for at, each in enumerate((*(value.__closure__ or ()), *given))]
            return "function", value.__code__, id(value.__globals__), tuple(held)
        return "method", value.__name__, "" if value.__self__ is None else self.of(value.__self__, place)

    def _number(self, number: Any, place: Place, kind: str = "number") -> Shape:
        self.places.append(place)
        self.numbers.append(number)
        return kind

    def _container(self, value: Any, place: Place) -> Shape:
        if id(value) not in self._index:
            self._index[id(value)] = len(self.met)
            self.met.append(value)
        at = self._index[id(value)]
        if at in self._drawn:
            return "again", at
        self._drawn.add(at)
        if type(value) is list:
            return "list", at, tuple(self.of(item, (*place, k)) for k, item in enumerate(value))
        if isinstance(value, FunctionType):
            return "closure", at, self._called(value, place)
        if isinstance(value, CellType):
            return "cell", at, tuple(self.of(held, (*place, "")) for held in held_by(value))
        if isinstance(value, dict):
            return "dict", at, tuple((self._key(key), self.of(item, (*place, key))) for key, item in value.items())
        if type(value) is set:
            return "set", at, frozenset(map(self._key, value))
        if hasattr(value, "flat"):  # an array of numpy
            return "array", at, tuple(self.of(item, (*place, k)) for k, item in enumerate(value.ravel().tolist()))
        state = tuple((name, self.of(item, (*place, name))) for name, item in state_of(value).items())
        return "object", at, type(value), state

    @staticmethod
    def _key(key: Any) -> Any:
        if isinstance(key, Noisy):
            raise Outside("is drawn in a loop that keeps it as a key")
        return type(key).__name__, key


def restored(
    shape: Shape, numbers: Sequence[Any], number: Callable[[Any], Any], known: Sequence[Any]
) -> dict[Any, Any]:
    """Return what names are to hold; the containers in `known` are filled anew."""
    building = _Building(iter(numbers), number, known)
    names, held = shape
    found = {name: building.of(each) for name, each in names}
    for each in held:
        building.of(each)
    return found


class _Building:
    def __init__(self, numbers: Iterator[Any], number: Callable[[Any], Any], known: Sequence[Any]) -> None:
        self._numbers, self._number = numbers, number
        self._made: dict[int, Any] = dict(enumerate(known))

    def of(self, shape: Shape) -> Any:
        match shape:
            case "number" | "fraction":
                return self._number(next(self._numbers))
            case "plain", _, value:
                return value
            case "whole", value:
                return value.value if isinstance(value, _Alike) else value
            case "tuple", items:
                return tuple(map(self.of, items))
            case "again", at:
                return self._made[at]
            case "list", at, items:
                made = self._made.setdefault(at, [])
                made[:] = map(self.of, items)
                return made
            case "dict", at, pairs:
                made = self._made.setdefault(at, {})
                new = {key: self.of(item) for (_, key), item in pairs}
                made.clear()
                made.update(new)
                return made
            case "set", at, keys:
                made = self._made.setdefault(at, set())
                made.clear()
                made.update(key for _, key in keys)
                return made
            case "array", at, items:
                made = self._made[at]
                made[...] = np.array([self.of(item) for item in items], made.dtype).reshape(made.shape)
                return made
            case "closure", at, (_, code, _, held):
                made = self._made.get(at)
                if made is None or made.__code__ is not code:
                    raise Outside("is drawn in a loop that defines functions")
                for each in held:
                    self.of(each)
                return made
            case "cell", at, held:
                made = self._made[at]
                for each in held:
                    made.cell_contents = self.of(each)
                return made
            case "object", at, kind, pairs:
                made = self._made.setdefault(at, object.__new__(kind)) if _is_object(kind) else self._made[at]
                for name in state_of(made).keys() - dict(pairs).keys():
                    object.__delattr__(made, name)
                for name, item in pairs:
                    object.__setattr__(made, name, self.of(item))
                return made
        raise AssertionError(shape)


__all__ = ["MISSING", "Form", "Met", "Outer", "Picture", "Place", "Shape", "picture", "restored", "seen"]
