"""Reading the numeric arguments of queries; every error names the argument."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import wraps
from inspect import Parameter, Signature, isfunction, signature
from typing import Any, ParamSpec, TypeAlias, TypeVar

from tightdp.errors import ParameterError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.parameters import Range, read_count, read_exact, read_exponential, read_number, read_optional
from tightdp.exact.rationals import as_fraction
from tightdp.queries.measures import ACCURACY, MEASURES, RIGHT, AccuracyAt, Goal, LeastError

__all__ = [
    "AccuracyClaim",
    "Claimed",
    "Claims",
    "PrivacyClaim",
    "checked_call",
    "checked_calls",
    "read_accuracy",
    "read_count",
    "read_exact",
    "read_exponential",
    "read_goal",
    "read_number",
    "read_optional",
    "read_seconds",
    "read_width",
    "refuse_alone",
    "unknown_of",
]

T = TypeVar("T")
P = ParamSpec("P")

PrivacyClaim: TypeAlias = "tuple[Number | None, Fraction | None, Number]"
"""e^ε or else ε, and δ."""
AccuracyClaim: TypeAlias = "tuple[Number, Number]"
"""α and β."""
Claims: TypeAlias = "tuple[PrivacyClaim | None, AccuracyClaim | None]"

_UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "min": Fraction(60), "h": Fraction(3600)}
_LEAST_WIDTH = Fraction(1, 10**11)
_DURATION = re.compile(r"\s*([\d./]+)\s*([a-z]+)\s*")


def read_seconds(name: str, value: Any) -> float | None:
    """Return a number of seconds, None for no limit; a text may have a unit, as 500ms, 10s, 2m or 1h."""
    if value is None:
        return None
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    amount, unit = (found[1], found[2]) if found is not None else (value, "s")
    try:
        seconds = as_fraction(amount)
    except ParameterError:
        seconds = Fraction(-1)
    if seconds < 0 or unit not in _UNITS:
        raise ParameterError(f"{name} is {value!r}, which is not a duration", "give seconds, or 500ms, 10s, 2m, 1h")
    return float(seconds * _UNITS[unit])


def read_width(value: Any) -> Fraction | None:
    """Return the relative width that an enclosure may have, None where none was asked for."""
    if value is None:
        return None
    width = read_number("precision", value, 1)
    if width < _LEAST_WIDTH:
        raise ParameterError(f"precision is {value!r}", "give the relative width of an enclosure, at least 1e-11")
    return width


def checked_calls(cls: type[T]) -> type[T]:
    """Make the public methods of a class raise ParameterError where their arguments do not fit; see `checked_call`."""
    for name, value in list(vars(cls).items()):
        if isfunction(value) and not name.startswith("_"):
            setattr(cls, name, checked_call(value))
    return cls


def checked_call(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that raises ParameterError, with a remedy, where Python would raise a bare TypeError.

    Where another method of the object takes an argument that this one does not, the error names it.
    """
    shape = signature(function)

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            shape.bind(*arguments, **named)
        except TypeError:
            raise _misfit(function.__name__, shape, arguments, named) from None
        return function(*arguments, **named)

    return call


def _takers(shape: Signature, arguments: tuple[Any, ...], key: str) -> list[str]:
    """Return the public methods of the object that a method was called on which take an argument of this name."""
    kinds = type(arguments[0]).__mro__[::-1] if arguments and "self" in shape.parameters else ()
    methods = {name: each for kind in kinds for name, each in vars(kind).items() if isfunction(each)}
    return [name for name, each in methods.items() if name[0] != "_" and key in signature(each).parameters]


def _misfit(name: str, shape: Signature, arguments: tuple[Any, ...], named: dict[str, Any]) -> ParameterError:
    """Return the error that says which argument does not fit."""
    known = {key: each for key, each in shape.parameters.items() if key != "self"}
    open_ended = any(each.kind is Parameter.VAR_KEYWORD for each in known.values())
    by_name = any(each.kind is Parameter.VAR_POSITIONAL for each in known.values())
    known = {key: each for key, each in known.items() if each.kind is not Parameter.VAR_POSITIONAL}
    usage = f"it is {name}({', '.join(_written(each, by_name) for each in known.values())})"
    for key in named:
        if key not in known and not open_ended:
            others = [f"{other}({key}=...)" for other in _takers(shape, arguments, key)]
            close = get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"ask {' or '.join(others)}" if others else usage
            return ParameterError(f"{name} takes no {key}", hint)
    places = [key for key, each in known.items() if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
    given = len(arguments) - ("self" in shape.parameters)
    if given > len(places):
        options = [f"{key}=..." for key, each in known.items() if each.kind is Parameter.KEYWORD_ONLY]
        hint = f"write the name, as in {name}({options[0]})" if options else usage
        allowed = f"at most {len(places)} argument{'s' if len(places) > 1 else ''}" if places else "no argument"
        return ParameterError(f"{name} takes {allowed} without a name, and was given {given}", hint)
    needed = [key for key, each in known.items() if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    missing = [key for key in needed if key not in named and key not in places[:given]]
    if missing:
        return ParameterError(f"{name} needs {' and '.join(missing)}", usage)
    return ParameterError(f"{name} was given an argument twice", usage)


def _written(parameter: Parameter, by_name: bool) -> str:
    """Write a parameter as a caller would."""
    if parameter.kind is Parameter.VAR_KEYWORD:
        return "..."
    if parameter.default is not parameter.empty:
        return f"{parameter.name}={parameter.default!r}"
    by_name = by_name or parameter.kind is Parameter.KEYWORD_ONLY
    return f"{parameter.name}=..." if by_name else parameter.name


@dataclass(frozen=True)
class Claimed:
    """What is claimed, as it was written: ε, or e^ε, at a δ; an error bound α with a failure rate β."""

    epsilon: Any = None
    exp_epsilon: Any = None
    delta: Any = 0
    alpha: Any = None
    beta: Any = None

    @property
    def at_delta(self) -> Number:
        """The δ."""
        return read_exact("delta", self.delta, 1)

    def read(self) -> Claims:
        """Return the claim about privacy and that about accuracy, None for those that are not made."""
        bar = self.at_delta
        bound, rate = read_optional("alpha", self.alpha), read_optional("beta", self.beta, 1)
        if (bound is None) != (rate is None):
            given, missing = ("beta", "alpha") if bound is None else ("alpha", "beta")
            raise ParameterError(f"an accuracy claim with {given} needs {missing}", f"give {missing} too")
        pure = None
        if self.epsilon is not None or self.exp_epsilon is not None:
            pure = (*read_exponential(self.exp_epsilon, self.epsilon, least=1), bar)
        elif bar:
            raise ParameterError("a privacy claim with delta needs an ε", "give exp_epsilon (1 for ε = 0) or epsilon")
        accuracy = None if bound is None or rate is None else (bound, rate)
        if pure is None and accuracy is None:
            raise ParameterError("there is no claim to verify", "give epsilon or exp_epsilon, or alpha with beta")
        return pure, accuracy


def read_accuracy(alpha: Any, beta: Any, top: Any = 1, relative: Any = False) -> AccuracyAt | LeastError:
    """Return the question for the tight 1 - β at `alpha`, or for the least α at `beta`; one of them is given."""
    bound, rate, ranks = read_optional("alpha", alpha), read_optional("beta", beta, 1), read_count("top", top)
    if not isinstance(relative, bool):
        raise ParameterError(f"relative is {relative!r}", "give True or False")
    if bound is not None and rate is None:
        return AccuracyAt(bound, ranks, relative=relative)
    if rate is not None and bound is None:
        return LeastError(rate, relative=relative)
    raise ParameterError("accuracy needs either alpha or beta", "give one: the error bound or the failure rate")


def refuse_alone(needed: str, inference_set: Any) -> None:
    """Raise QueryError for an inference set that was declared without the set that it belongs to."""
    if inference_set is not None:
        raise QueryError(f"an inference set was declared without {needed}", f"declare {needed} too, or neither")


def unknown_of(parameters: dict[str, Any]) -> str | None:
    """Return the name of the parameter that is unknown. Raises ParameterError where there are several."""
    names = [name for name, value in parameters.items() if _has_range(value)]
    if len(names) > 1:
        raise ParameterError(
            f"{len(names)} parameters are unknown: {', '.join(names)}",
            "give all but one of them a value",
        )
    if names and not isinstance(parameters[names[0]], Range):
        raise ParameterError(f"the unknown is inside of the tuple {names[0]}", "make it a parameter of its own")
    return names[0] if names else None


def _has_range(value: Any) -> bool:
    return isinstance(value, Range) or (isinstance(value, tuple) and any(map(_has_range, value)))


def read_goal(best: str | None, measure: str | None, alpha: Any, beta: Any) -> tuple[Goal | None, Any]:
    """Return what is to be best, None for nothing, and the α that belongs to a claim of accuracy."""
    if best is None:
        if measure is not None:
            raise ParameterError("measure belongs to the best utility", 'give best="utility" too')
        return None, alpha
    bar = read_optional("alpha", alpha)
    if best == "accuracy":
        if bar is None:
            raise ParameterError("the best accuracy is asked for without an alpha", "give alpha too")
        if measure is not None:
            raise ParameterError("the best accuracy takes no measure", 'ask for best="utility"')
        return Goal(ACCURACY, bar), None if beta is None else alpha
    if best != "utility":
        raise ParameterError(f"best={best!r} is not known", 'give best="accuracy" or best="utility"')
    name = measure.replace("-", " ") if measure else RIGHT
    if name not in MEASURES or name == ACCURACY:
        raise ParameterError(f"there is no measure {name!r}", f"use {', '.join(MEASURES[1:])}")
    return Goal(name), alpha
