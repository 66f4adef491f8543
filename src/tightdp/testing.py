"""Assertions for tests: a mechanism is as private and as accurate as its authors say.

Use them in any test runner; pytest has them as fixtures of the same names too (`tightdp.pytest_plugin`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from html import escape
from inspect import signature
from shlex import quote
from typing import Any, TypeVar

from tightdp.errors import LimitError, ParameterError, TightdpError
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import as_text, decimal_text
from tightdp.language.travel import owner_of
from tightdp.present.show import view
from tightdp.present.text import html_of, text_of
from tightdp.present.views.answers import shown_tight
from tightdp.results.answers import Verification
from tightdp.results.privacy import EveryNVerification
from tightdp.results.recorded import plain
from tightdp.session.arguments import checked_call, unknown_of
from tightdp.session.base import ALL
from tightdp.session.instance import Instance
from tightdp.session.instances import bound_to
from tightdp.session.mechanism import Mechanism

__all__ = ["assert_accurate", "assert_private"]
T = TypeVar("T")


@checked_call
def assert_private(
    mechanism: Mechanism,
    *,
    n: int | str,
    epsilon: Any = None,
    exp_epsilon: Any = None,
    delta: Any = None,
    parameters: Mapping[str, Any] | None = None,
    **own: Any,
) -> Verification:
    """Raise AssertionError unless the mechanism is (ε, δ)-differentially private on datasets of n records.

    Give `epsilon`, or `exp_epsilon` = e^ε. The mechanism's parameters are keywords, and so are all arguments of
    `Mechanism.bind`, such as `neighbours`, `floats` and `timeout`; a parameter that has the name of one of these, or of
    an argument of this function, goes into `parameters`. With `n="all"` the claim is about every n, and with an unknown
    (`lam="?"`, `lam="?[1/10,1/2]"`) about all its values. The comparison is exact. The message has the tight ε, a
    witness, and the lines that reproduce it and that would hold. A question that a limit leaves open fails as well.
    Raises ParameterError where an argument does not fit. Returns the verification.
    """
    claim = {"epsilon": epsilon, "exp_epsilon": exp_epsilon, "delta": delta}
    return _Asked(mechanism, n, claim, own, parameters or {}).verified()


@checked_call
def assert_accurate(
    mechanism: Mechanism,
    *,
    n: int | str,
    alpha: Any,
    beta: Any = 0,
    parameters: Mapping[str, Any] | None = None,
    **own: Any,
) -> Verification:
    """Raise AssertionError unless on every dataset of n records the error exceeds α with probability at most β.

    The error is the distance of the output from the mechanism's target. Everything else is as in `assert_private`.
    """
    return _Asked(mechanism, n, {"alpha": alpha, "beta": beta}, own, parameters or {}).verified()


_BLAMED_IN = 10
"""Seconds for each question why a claim fails."""
_OPTIONS = {*signature(Mechanism.bind).parameters} - {"self", "n", "arguments", "parameters"}
_TAKEN = _OPTIONS | {*signature(assert_private).parameters, "alpha", "beta"}


@dataclass
class Settings:
    """What holds for all assertions; the pytest plugin sets it from its options."""

    timeout: Any = None
    """The limit of a question that has none of its own."""
    explain: bool = True
    """Whether the line to blame is looked for."""
    told: Callable[[dict[str, str]], None] | None = None
    """What is told of every claim: the `call`, its `verdict`, the `tight` values, and all that is shown, as `html`."""


settings = Settings()


class _Asked:
    """What was asserted: of which mechanism, bound how, and the claim itself."""

    def __init__(self, mechanism: object, n: Any, claim: dict[str, Any], own: dict[str, Any], more: Mapping[str, Any]):
        if not isinstance(mechanism, Mechanism):
            what = f"{mechanism!r} is not a mechanism"
            raise ParameterError(what, "decorate the function with @mechanism(record=...)")
        self.program, self.n = mechanism.program, n
        self.claim = {name: value for name, value in claim.items() if value is not None}
        self.options = {name: own.pop(name) for name in sorted(_OPTIONS & {*own})}
        if twice := sorted({*own} & {*more}):
            raise ParameterError(f"{' and '.join(twice)} is given twice", "give it as a keyword or in parameters")
        for name in {*own} - {*self.program.parameters}:
            if close := get_close_matches(name, _TAKEN, n=1, cutoff=0.75):
                raise ParameterError(f"{self.program.name} has no parameter {name}", f"did you mean {close[0]}?")
        self.parameters = {**own, **more}
        self.accuracy = "alpha" in claim

    def verified(self) -> Verification:
        """Return the verification of the claim. Raises AssertionError with a message unless it holds."""
        how = {"neighbours": None, "timeout": settings.timeout, **self.options}
        instance = bound_to(self.program, n=self.n, parameters=self.parameters, **how)
        try:
            found = instance.verify(**self.claim)
        except LimitError as error:
            self._tell("open", "", f"<p>{escape(error.what)}</p>")
            raise AssertionError(f"{self._left_open()}: {error.what}\n\nreproduce:  {self._command()}") from None
        tight = ", ".join(map(shown_tight, found.claims))
        self._tell({True: "holds", False: "refuted", None: "open"}[found.holds], tight, html_of(view(found)))
        if not found:
            raise AssertionError("\n".join(self._message(instance, found)))
        return found

    def _tell(self, verdict: str, tight: str, html: str) -> None:
        if settings.told is not None:
            settings.told({"call": self._call(self.claim), "verdict": verdict, "tight": tight, "html": html})

    def _left_open(self) -> str:
        return f"the claim about {self.program.name} was not decided within its limits"

    def _message(self, instance: Instance, found: Verification) -> Iterator[str]:
        """Say what was found; where the claim fails also why, and what holds instead."""
        claimed = " and ".join(f"{_SHOWN.get(key, key)} = {_word(value)}" for key, value in self.claim.items())
        kind = "accurate" if self.accuracy else "private"
        yield self._left_open() if found.holds is None else f"{self.program.name} is not {kind} with {claimed}"
        yield from ("", text_of(view(found), 100))
        case = self._refuting(instance, found) if found.holds is False else None
        if case is not None and "delta" in self.claim:
            yield from _known(lambda: self._event(case))
        yield ""
        if case is not None:
            yield from self._blamed(case)
        yield f"reproduce:  {self._command()}"
        if case is not None:
            yield from (f"holds:      {each}" for each in _known(lambda: self._holding(instance, found)))

    def _refuting(self, instance: Instance, found: Verification) -> Instance:
        """Return the mechanism with that number of records, and that value of an unknown, which refutes the claim."""
        given = found.parameters
        n = found.found.n if isinstance(found, EveryNVerification) else given.get("n", self.n)
        values = {name: given.get(name, value) for name, value in instance.bound.parameters.items()}
        return instance if n == ALL else instance.rebind(n, values, **{**instance.limits, "timeout": _BLAMED_IN})

    def _event(self, case: Instance) -> list[str]:
        """Say what δ is at the claimed ε, and which event shows it."""
        found = case.delta(**_without(self.claim, "delta"))
        low = as_text(found.lower) if len(as_text(found.lower)) <= 40 else decimal_text(found.lower)
        said = f"At the claimed ε, δ is at least {low}, not {_word(self.claim['delta'])}."
        return [said, *view(found).sentences]

    def _blamed(self, case: Instance) -> list[str]:
        """Name the line to blame where it is found in a few seconds, else what is known of it: the place that draws
        most, or where the mechanism stands."""
        source = self.program.source
        if self.accuracy:
            return [f"to blame:   {source.span().place}"]
        line = source.node.lineno
        said = "no line was found in a few seconds" if settings.explain else "it was not looked for"
        for found in _known(lambda: [case.explain(**self.claim)]) if settings.explain else ():
            if found.remedies:
                best = found.remedies[0]
                enough = "the claim holds" if best.holds else "no change that was tried is enough; nearest comes"
                line, said = best.line, f"line {best.line}: {enough} with {best.after} in place of {best.before}"
            elif found.draws:
                line = found.draws[0].line
                said = f"line {line} draws; no change was found that is enough"
            else:
                said = "the mechanism draws nothing that the worst pair of datasets depends on"
        text = source.file_lines[line - 1].strip() if line <= len(source.file_lines) else ""
        return [f"to blame:   {source.file}:{line}: {text}", f"            {said}"]

    def _holding(self, instance: Instance, found: Verification) -> list[str]:
        """Return the assertions that hold: for some values of an unknown, or with the tight value."""
        unknown, tight = unknown_of(instance.bound.parameters), found.claims[0].tight
        if unknown is not None:
            ends = [(each.safe_start, each.safe_stop) for each in instance.solve(**self.claim).holds]
            ranges = [f"?[{as_text(a)},{as_text(b)}]" for a, b in ends if a is not None and b is not None and a < b]
            return [self._call(self.claim, **{unknown: each}) for each in ranges]
        if self.accuracy:
            return [] if tight is None else [self._call({**self.claim, "beta": tight})]
        bound = _without(self.claim, "delta")
        rate = _without(self.claim, *bound)
        every = isinstance(found, EveryNVerification)
        least = found.found if isinstance(found, EveryNVerification) else instance.privacy(**rate)
        if least.status == "exact" and isinstance(least.exp_epsilon, (Fraction, ExpNumber)):
            return [self._call({"exp_epsilon": least.exp_epsilon, **rate})]
        lost = None if every else instance.delta(**bound)
        exact = lost is not None and lost.status == "exact" and lost.delta < 1
        return [self._call({**bound, "delta": lost.delta})] if lost is not None and exact else []

    def _call(self, claim: Mapping[str, Any], **changed: Any) -> str:
        """Return the Python line that asserts a claim about the same, with some parameters changed."""
        given = {key: _literal(value) for key, value in {**self.parameters, **changed}.items()}
        taken = ", ".join(f"{key!r}: {given[key]}" for key in given if key in _TAKEN)
        words = [self.program.name, f"n={self.n!r}", *(f"{key}={given[key]}" for key in given if key not in _TAKEN)]
        words += [f"{key}={_literal(value)}" for key, value in {**claim, **self.options}.items()]
        words += [f"parameters={{{taken}}}"] if taken else []
        return f"{'assert_accurate' if self.accuracy else 'assert_private'}({', '.join(words)})"

    def _command(self) -> str:
        """Return the command that asks the same; where no command can, the call."""
        given = {**self.claim, **self.options}
        options = {key: value for key, value in given.items() if value is not None and value is not False}
        if owner_of(self.program) is None or any(map(callable, options.values())):
            return self._call(self.claim)
        words = ["tightdp verify", quote(f"{self.program.source.file}:{self.program.name}"), f"n={self.n}"]
        words += [f"{key}={quote(_word(value))}" for key, value in self.parameters.items()]
        for key, value in options.items():
            words += [f"--{key.replace('_', '-')}", *(() if value is True else (quote(_word(value)),))]
        return " ".join(words)


_SHOWN = {"exp_epsilon": "e^ε", "alpha": "α", "beta": "β"}


def _without(claim: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in claim.items() if key not in names}


def _known(ask: Callable[[], list[T]]) -> list[T]:
    """Return what a further question finds, nothing where it has no answer: the claim was decided without it."""
    try:
        return ask()
    except TightdpError:
        return []


def _literal(value: Any) -> str:
    """Write a value as Python reads it back: rationals as text, functions by their names."""
    if isinstance(value, (Fraction, ExpNumber)):
        return str(value) if value.denominator == 1 and isinstance(value, Fraction) else repr(str(value))
    return getattr(value, "__name__", repr(value)) if callable(value) else repr(value)


def _word(value: Any) -> str:
    """Write a value as the command line reads it."""
    if isinstance(value, (tuple, list)):
        return json.dumps(plain(value), separators=(",", ":"))
    return as_text(value) if isinstance(value, Fraction) else str(value).replace(" ", "")
