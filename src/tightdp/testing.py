"""Assertions for tests: a mechanism is as private and as accurate as its authors say.

Use them in any test runner; pytest has them as fixtures of the same names too (`tightdp.pytest_plugin`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from html import escape
from shlex import quote
from typing import Any

from tightdp.errors import LimitError, ParameterError, TightdpError
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import as_text, decimal_text
from tightdp.present.show import view
from tightdp.present.text import html_of, text_of
from tightdp.present.views.answers import shown_tight
from tightdp.results.answers import Verification
from tightdp.session.arguments import read_exact, read_exponential
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism

__all__ = ["assert_accurate", "assert_private"]


def assert_private(
    mechanism: Mechanism,
    *,
    n: int,
    epsilon: Any = None,
    exp_epsilon: Any = None,
    delta: Any = 0,
    neighbours: Any = None,
    timeout: Any = None,
    parameters: Mapping[str, Any] | None = None,
    **own: Any,
) -> Verification:
    """Raise AssertionError unless the mechanism is (ε, δ)-differentially private on datasets of n records.

    Give `epsilon`, or `exp_epsilon` = e^ε. The mechanism's own parameters are keywords; where one has the name of an
    argument of this function, it goes into `parameters`. The comparison is exact. The message has the tight ε, a
    witness, and the lines that reproduce it and that would hold. A question that `timeout` leaves open fails as well.
    Raises ParameterError where an argument does not fit. Returns the verification.
    """
    claimed = {"epsilon": epsilon, "exp_epsilon": exp_epsilon, "delta": delta or None}
    claim = {name: value for name, value in claimed.items() if value is not None}
    return _Asked(mechanism, n, _merged(parameters, own), neighbours, claim).verified(timeout, _privacy_message)


def assert_accurate(
    mechanism: Mechanism,
    *,
    n: int,
    alpha: Any,
    beta: Any = 0,
    timeout: Any = None,
    parameters: Mapping[str, Any] | None = None,
    **own: Any,
) -> Verification:
    """Raise AssertionError unless on every dataset of n records the error exceeds α with probability at most β.

    The error is the distance of the output from the mechanism's target. Everything else is as in `assert_private`.
    """
    claim = {"alpha": alpha, "beta": beta}
    return _Asked(mechanism, n, _merged(parameters, own), None, claim).verified(timeout, _accuracy_message)


_BLAMED_IN = 10
"""Seconds for the search of the line to blame."""


@dataclass(frozen=True)
class Asserted:
    """A claim that was asserted: as a call, its verdict, the tight values, and all that is shown of it, as HTML."""

    call: str
    verdict: str
    tight: str
    html: str


@dataclass
class Settings:
    """What holds for all assertions; the pytest plugin sets it from its options."""

    timeout: Any = None
    """The limit of a question that has none of its own."""
    explain: bool = True
    """Whether the line to blame is looked for."""
    told: Callable[[Asserted], None] | None = None
    """What is told of every claim."""


settings = Settings()


@dataclass(frozen=True)
class _Asked:
    """What was asserted: of which mechanism, with which parameters, and the claim itself."""

    mechanism: Mechanism
    n: int
    parameters: dict[str, Any]
    neighbours: Any
    claim: dict[str, Any]

    def verified(self, timeout: Any, message: Callable[[_Asked, Instance, Verification], str]) -> Verification:
        """Return the verification of the claim. Raises AssertionError with a message unless it holds."""
        instance = self.bind(settings.timeout if timeout is None else timeout)
        try:
            found = instance.verify(**self.claim)
        except LimitError as error:
            self._tell("open", "", f"<p>{escape(error.what)}</p>")
            raise AssertionError(_open(self, error)) from None
        tight = ", ".join(shown_tight(claim) for claim in found.claims)
        self._tell({True: "holds", False: "refuted", None: "open"}[found.holds], tight, html_of(view(found)))
        if not found:
            raise AssertionError(message(self, instance, found))
        return found

    def _tell(self, verdict: str, tight: str, html: str) -> None:
        if settings.told is not None:
            name = "assert_accurate" if "alpha" in self.claim else "assert_private"
            claim = {key: value for key, value in self.claim.items() if value != 0 or key != "beta"}
            settings.told(Asserted(self.call(name, **claim), verdict, tight, html))

    def bind(self, timeout: Any) -> Instance:
        given: object = self.mechanism
        if not isinstance(given, Mechanism):
            what = f"{given!r} is not a mechanism"
            raise ParameterError(what, "decorate the function with @mechanism(record=...)")
        for name in {*self.parameters} - {*given.program.parameters}:
            if close := get_close_matches(name, _TAKEN, n=1, cutoff=0.75):
                raise ParameterError(f"{given.name} has no parameter {name}", f"did you mean {close[0]}?")
        bound = self.mechanism.program.bind(self.n, neighbours=self.neighbours, **self.parameters)
        return Instance(bound, timeout=timeout)

    def call(self, name: str, **claim: Any) -> str:
        """Return the Python line that asserts a claim about the same."""
        given = {**self.parameters, "n": self.n}
        taken = {key: value for key, value in self.parameters.items() if key in _TAKEN}
        words = [self.mechanism.name, f"n={self.n}"]
        words += [f"{key}={_literal(value)}" for key, value in given.items() if key != "n" and key not in taken]
        words += [f"{key}={_literal(value)}" for key, value in claim.items()]
        if isinstance(self.neighbours, str):
            words.append(f"neighbours={self.neighbours!r}")
        if taken:
            listed = ", ".join(f"{key!r}: {_literal(value)}" for key, value in taken.items())
            words.append(f"parameters={{{listed}}}")
        return f"{name}({', '.join(words)})"

    def command(self) -> str:
        """Return the command that asks the same."""
        words = ["tightdp verify", f"{self.mechanism.program.source.file}:{self.mechanism.name}", f"n={self.n}"]
        words += [f"{key}={quote(_word(value))}" for key, value in self.parameters.items()]
        words += [f"--{key.replace('_', '-')} {quote(_word(value))}" for key, value in self.claim.items()]
        words += [f"--neighbours {self.neighbours}"] if isinstance(self.neighbours, str) else []
        return " ".join(words)


_TAKEN = {"n", "epsilon", "exp_epsilon", "delta", "alpha", "beta", "neighbours", "timeout", "parameters", "mechanism"}


def _merged(parameters: Mapping[str, Any] | None, own: Mapping[str, Any]) -> dict[str, Any]:
    twice = sorted({*(parameters or {})} & {*own})
    if twice:
        raise ParameterError(f"{' and '.join(twice)} is given twice", "give it as a keyword or in parameters")
    return {**own, **(parameters or {})}


def _privacy_message(asked: _Asked, instance: Instance, found: Verification) -> str:
    claim = asked.claim
    claimed = " and ".join(f"{'e^ε' if key == 'exp_epsilon' else key} = {_word(v)}" for key, v in claim.items())
    said = _start(asked, found, f"private with {claimed}")
    lines = [f"reproduce:  {asked.command()}"]
    if found.holds is False:
        lines = [_blame(asked), *lines]
        delta = {"delta": claim["delta"]} if read_exact("delta", claim.get("delta", 0), 1) else {}
        tight = instance.privacy(**delta)
        said += _event(instance, claim) if delta else []
        if isinstance(tight.exp_epsilon, Fraction) and tight.status == "exact":
            lines.append(_holds(asked, "assert_private", exp_epsilon=tight.exp_epsilon, **delta))
        else:
            least = instance.delta(**_bound(claim))
            if least.status == "exact" and least.delta < 1:
                lines.append(_holds(asked, "assert_private", **_bound(claim), delta=least.delta))
    return "\n".join([*said, "", *lines])


def _start(asked: _Asked, found: Verification, claimed: str) -> list[str]:
    said = f"{asked.mechanism.name} is not {claimed}" if found.holds is False else _open(asked)
    return [said, "", text_of(view(found), 100)]


def _holds(asked: _Asked, name: str, **claim: Any) -> str:
    return f"holds:      {asked.call(name, **claim)}"


def _bound(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ε, or e^ε, of a claim."""
    return {key: value for key, value in claim.items() if key != "delta"}


def _blame(asked: _Asked) -> str:
    """Name the line to blame where it is found in a few seconds, else what is known of it: the place that draws most,
    or where the mechanism stands."""
    source = asked.mechanism.program.source

    def blamed(line: int, said: str) -> str:
        text = source.file_lines[line - 1].strip() if line <= len(source.file_lines) else ""
        return f"to blame:   {source.file}:{line}: {text}\n            {said}"

    try:
        found = asked.bind(_BLAMED_IN).explain(**asked.claim) if settings.explain else None
    except TightdpError:
        found = None
    if found is None:
        why = "it was not looked for" if not settings.explain else "no line was found in a few seconds"
        return blamed(source.node.lineno, why)
    if found.remedies:
        best = found.remedies[0]
        change = f"with {best.after} in place of {best.before}"
        if best.holds:
            return blamed(best.line, f"line {best.line}: the claim holds {change}")
        return blamed(best.line, f"line {best.line}: no change that was tried is enough; nearest comes {change}")
    if found.draws:
        return blamed(found.draws[0].line, f"line {found.draws[0].line} draws; no change was found that is enough")
    return blamed(source.node.lineno, "the mechanism draws nothing that the worst pair of datasets depends on")


def _event(instance: Instance, claim: Mapping[str, Any]) -> list[str]:
    """Say what δ is at the claimed ε, and which event shows it."""
    t, exponent = read_exponential(claim.get("exp_epsilon"), claim.get("epsilon"), least=0)
    found = instance.delta(exp_epsilon=t) if t is not None else instance.delta(epsilon=exponent)
    low = as_text(found.lower) if len(as_text(found.lower)) <= 40 else decimal_text(found.lower)
    said = f"At the claimed ε, δ is at least {low}, not {as_text(read_exact('delta', claim['delta'], 1))}."
    return [said, *view(found).sentences]


def _accuracy_message(asked: _Asked, instance: Instance, found: Verification) -> str:
    alpha = asked.claim["alpha"]
    said = _start(asked, found, f"accurate with α = {_word(alpha)}, β = {_word(asked.claim['beta'])}")
    said += ["", f"to blame:   {asked.mechanism.program.source.span().place}", f"reproduce:  {asked.command()}"]
    tight = found.claims[0].tight
    if found.holds is False and isinstance(tight, Fraction):
        said.append(_holds(asked, "assert_accurate", alpha=alpha, beta=tight))
    return "\n".join(said)


def _open(asked: _Asked, error: LimitError | None = None) -> str:
    why = "" if error is None else f": {error.what}\n\nreproduce:  {asked.command()}"
    return f"the claim about {asked.mechanism.name} was not decided within its limits{why}"


def _literal(value: Any) -> str:
    """Write a value as Python reads it back: rationals as text."""
    if isinstance(value, (Fraction, ExpNumber)):
        return str(value) if value.denominator == 1 and isinstance(value, Fraction) else repr(str(value))
    return repr(value)


def _word(value: Any) -> str:
    """Write a value as the command line reads it."""
    return as_text(value) if isinstance(value, Fraction) else str(value).replace(" ", "")
