"""Instances whose answers are for many values: of one unknown, of n, or of parameters that are to be chosen."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from inspect import signature
from typing import TYPE_CHECKING, Any, NoReturn

from tightdp.errors import LanguageError, ParameterError, QueryError
from tightdp.exact.parameters import Choices, read_choices
from tightdp.language.domains import Domain
from tightdp.language.program import Bound, Program
from tightdp.language.timing import BITS, ROUNDS
from tightdp.limits import snapshot
from tightdp.queries import privacy as questions
from tightdp.queries.measures import AccuracyAt, Goal, LeastError
from tightdp.results.recorded import ForEveryN
from tightdp.session import cellwise as cells
from tightdp.session import (
    certify_every,
    certify_unknown,
    choosing,
    dominating,
    enclosing,
    proving,
    search,
    solving,
    strategies,
)
from tightdp.session.arguments import Claimed, checked_calls, read_exact, read_exponential, unknown_of
from tightdp.session.base import ALL
from tightdp.session.instance import Instance

if TYPE_CHECKING:
    from tightdp.results.answers import Verification
    from tightdp.results.choices import BestChoices, Choice
    from tightdp.results.pieces import Pieces, Solution
    from tightdp.results.privacy import EveryNVerification
    from tightdp.session.arguments import Claims
    from tightdp.session.cellwise import Cellwise
    from tightdp.session.certify import Certificate
    from tightdp.session.engine import AskedNumber, Engine
    from tightdp.session.solving import Formula

_ALIKE = ForEveryN(1, True, "the same error")
"""What is said of accuracy that is the same for every n."""


@checked_calls
class UnknownInstance(Instance):
    """A mechanism in which one parameter is unknown: answers are piecewise functions of it.

    `privacy`, `delta`, `accuracy`, `distribution`, `efficacy` and the laws of guesses are answered piecewise, `verify`
    for all values of the unknown, and `solve` with the values for which claims hold. Raises QueryError for the other
    questions.
    """

    one_engine = False

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        name = self.cellwise.name
        raise QueryError(
            f"this question has no answer with {name} unknown",
            f"give {name} a value, or ask for privacy, accuracy, distribution, efficacy, guessing, verify or solve",
        )

    explain = report = _refuse

    def _check_pure(self, delta: Any, alpha: Any) -> None:
        """Raise QueryError for what depends on the strategy of an analyst, unless that is the tight ε."""
        if self.bound.asks and alpha is not None:
            raise strategies.refusal("accuracy")
        if self.bound.asks and delta:
            raise QueryError(
                "with an unknown the best strategy is known for delta = 0 only", "give the unknown a value"
            )

    @cached_property
    def cellwise(self) -> Cellwise:
        """What runs the mechanism on every cell of the unknown."""
        name = unknown_of(self.bound.parameters)
        assert name is not None
        return cells.Cellwise(self, name)

    def _asked(self, question: AskedNumber) -> Pieces:
        """Return the answer to a question as a piecewise function of the unknown."""
        if isinstance(question, questions.TightRatio) and question.top > 1:
            raise QueryError("with an unknown no ratios are ranked", "leave out top")
        if not isinstance(question, questions.TightRatio):
            self._check_pure(True, None)
        return solving.answer(self.cellwise, question)

    def _computed(self, ask: Callable[[Engine], Any]) -> Any:
        """Return what an engine answers as a piecewise function of the unknown."""
        return solving.computed(self.cellwise, ask)

    def _certified(self, claim: dict[str, Any]) -> Certificate:
        return certify_unknown.certify_unknown(self.cellwise, **claim)

    def _verified(self, claimed: Claimed) -> Verification:
        return solving.verify(self.cellwise, *self._claims(claimed))

    def _solved(self, claimed: Claimed, goal: Goal | None) -> Solution:
        if goal is not None and self.bound.asks:
            raise strategies.refusal("accuracy")
        return solving.solve(self.cellwise, *self._claims(claimed), goal)

    def _claims(self, claimed: Claimed) -> tuple[Claims, Formula | None]:
        """Return the claims, and that about ε where it is a function of the unknown, as in epsilon="2*eps"."""
        self._check_pure(claimed.at_delta, claimed.alpha)
        epsilon, exp_epsilon, name = claimed.epsilon, claimed.exp_epsilon, self.cellwise.name
        given = epsilon if exp_epsilon is None else exp_epsilon
        if not isinstance(given, str) or name not in re.findall(r"[^\W\d]\w*", given):
            return claimed.read(), None
        if epsilon is not None and exp_epsilon is not None:
            raise ParameterError("give either exp_epsilon or epsilon", "exp_epsilon is e^ε; epsilon is ε itself")
        formula = solving.Formula(given, name, exp_epsilon is None, claimed.at_delta)
        return Claimed(exp_epsilon=1, alpha=claimed.alpha, beta=claimed.beta).read(), formula


def bound_for(
    program: Program, n: Any, neighbours: Any, parameters: dict[str, Any], strategy: Any = None
) -> tuple[type[Instance], Bound]:
    """Bind a mechanism to n records, or to one record, which stands for all, where n is `ALL`.

    Return it with the kind of instance that answers. Raises LanguageError where the records depend on n.
    """
    every = isinstance(n, str) and n == ALL
    bound = program.bind(1 if every else n, neighbours=neighbours, strategy=strategy, **parameters)
    if program.floats and (every or unknown_of(bound.parameters) is not None):
        raise QueryError("no answer in doubles for every n, or with an unknown", "give n and the parameters values")
    if BITS in program.counts and unknown_of(bound.parameters) is not None:
        raise QueryError("bits are not counted with an unknown", "give it a value, or leave out with_bits")
    if not every:
        return Instance if unknown_of(bound.parameters) is None else UnknownInstance, bound
    if not isinstance(program.record, Domain) and "n" in signature(program.record).parameters:
        hint = "make the domain the same for all n, or ask for one n"
        raise LanguageError("no answer for every n: the record domain depends on n", hint, program.source.span())
    return EveryInstance if unknown_of(bound.parameters) is None else EveryUnknownInstance, bound


def bound_to(
    program: Program,
    neighbours: Any,
    n: Any,
    parameters: dict[str, Any],
    strategy: Any = None,
    *,
    floats: bool | int | None = None,
    with_rounds: bool = False,
    with_bits: bool = False,
    **limits: Any,
) -> Instance:
    """Return the instance of a mechanism bound to n records, or to all, with the limits of its queries.

    It runs in doubles where asked, and with rounds or bits counted and published.
    """
    counts = tuple(name for name, wanted in ((ROUNDS, with_rounds), (BITS, with_bits)) if wanted)
    program = program if floats is None else replace(program, floats=floats)
    program = replace(program, counts=counts) if counts else program
    if program.counts and program.floats:
        raise QueryError("rounds and bits are not counted in doubles", "leave out floats")
    given = {name: read_choices(value) if _chooses(value) else value for name, value in parameters.items()}
    holes = {name: value for name, value in given.items() if isinstance(value, Choices)}
    first = {name: value.values[0] for name, value in holes.items()}
    kind, bound = bound_for(program, n, neighbours, {**given, **first}, strategy)
    if holes and kind is EveryInstance:
        raise QueryError(f"n = all with {', '.join(holes)} to be chosen", "give values, or ask for one n")
    if holes:
        kind, bound = ChoicesInstance, replace(bound, parameters={**bound.parameters, **holes})
    found = kind(bound, **limits)
    found.rebind = partial(bound_to, program, bound.own_neighbours, strategy=bound.strategy)
    return found


def _chooses(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("?{")


@checked_calls
class EveryUnknownInstance(UnknownInstance):
    """A mechanism in which one parameter is unknown, for all n >= 1 at once.

    `privacy` gives an upper end of e^ε as a function of the unknown, which `certify` proves, `verify` decides a claim
    about ε, and `solve` says for which values it is proved. Raises QueryError for the other questions.
    """

    every_n = True

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        name = self.cellwise.name
        hint = f"ask for privacy, verify, solve or certify, give {name} a value, or ask for one n"
        raise QueryError(f"n = all with the unknown {name}", hint)

    _computed = _refused

    def _certified(self, claim: dict[str, Any]) -> Certificate:
        return certify_unknown.certify_every_unknown(self.cellwise, **claim)

    def _at(self, n: Any, value: Any = None) -> Any:
        """Return the mechanism at one n, or with a value of the unknown."""
        given = {} if value is None else {self.cellwise.name: value}
        return self.rebind(n, {**self.bound.parameters, **given}, **self.limits)

    def _asked(self, question: AskedNumber) -> Pieces:
        if question != questions.TightRatio(top=1):
            self._refused()
        return proving.privacy(self.cellwise, lambda n: self._at(n).privacy())

    def _claims(self, claimed: Claimed) -> tuple[Claims, Formula | None]:
        if claimed.at_delta or claimed.alpha is not None or claimed.beta is not None:
            raise QueryError("for every n claims are decided for delta = 0 only, and not about accuracy", "ask one n")
        return super()._claims(claimed)

    def _verified(self, claimed: Claimed) -> Verification:
        """Return the verdict on a claim about ε: proved by an upper end, or refuted at one of the first n."""
        named = {"epsilon": claimed.epsilon, "exp_epsilon": claimed.exp_epsilon}

        def every(value: Any, at_value: Any) -> Verification:
            given = {name: at_value or text for name, text in named.items() if text is not None}
            found: Verification = self._at(ALL, value).verify(**given)
            return found

        return proving.verify(self.cellwise, *self._claims(claimed), lambda n: self._at(n).verify(**named), every)

    def _solved(self, claimed: Claimed, goal: Goal | None) -> Solution:
        if goal is not None:
            self._refused()
        named = {"epsilon": claimed.epsilon, "exp_epsilon": claimed.exp_epsilon}
        return proving.solve(self.cellwise, *self._claims(claimed), lambda n: self._at(n).solve(**named))


class EveryInstance(Instance):
    """A mechanism with its parameters fixed, for all n >= 1 at once: `privacy`, `verify` and `delta` have answers here.

    An answer has an upper end with a proof, and a lower end with an n that attains it; see `EveryN`. Raises
    LanguageError with the place where the program does not treat all records by the same code, QueryError for the other
    questions.
    """

    every_n = True
    one_engine = False

    def _asked(self, question: AskedNumber) -> Any:
        """Return the answer for every n: the tight ε at δ = 0, or what one record shows.

        Where that is all, δ is that of one record; where the error of a noisy sum has one law
        for every n, its accuracy is. Raises QueryError for other programs.
        """
        match question:
            case questions.TightRatio(top=1):
                return enclosing.enclose(self, tell=snapshot)
            case questions.TightRatio():
                raise QueryError("for every n no ratios are ranked", "leave out top, or ask for one n")
            case questions.LeastRatio() | questions.DeltaAt():
                return self._told_apart(partial(search.answer, question=question))
            case AccuracyAt() | LeastError() if question.relative:
                raise QueryError("the relative error depends on the target, which differs from n to n", "ask for one n")
            case AccuracyAt():
                found = self._on_one_record(enclosing.refuse_uneven).accuracy(question.alpha, top=question.top)
            case LeastError():
                found = self._on_one_record(enclosing.refuse_uneven).accuracy(beta=question.beta)
        return replace(found, subject=self.subject, for_every_n=_ALIKE)

    def _told_apart(self, ask: Callable[[Engine], Any]) -> Any:
        return dominating.told_apart(self, ask)

    def _on_one_record(self, refuse: Callable[[Instance], None]) -> Instance:
        """Return the mechanism on one record, if that shows what is asked for every n. Raises QueryError."""
        refuse(self)
        return Instance(self.bound, **{**self.limits, "method": None})

    def _verified(self, claimed: Claimed) -> EveryNVerification | Verification:
        if claimed.alpha is not None or claimed.beta is not None:
            if self.bound.asks:
                raise strategies.refusal("accuracy")
            if claimed.epsilon is not None or claimed.exp_epsilon is not None:
                raise QueryError("for every n one claim is decided at a time", "ask for accuracy by itself")
            found = self._on_one_record(enclosing.refuse_uneven).verify(alpha=claimed.alpha, beta=claimed.beta)
            return replace(found, subject=self.subject, for_every_n=_ALIKE)
        pure, _ = claimed.read()
        assert pure is not None
        return dominating.verify(self, *pure)

    def _certified(self, claim: dict[str, Any]) -> Certificate:
        runs, exp_epsilon, epsilon = (claim.pop(name, None) for name in ("runs", "exp_epsilon", "epsilon"))
        delta, others = claim.pop("delta", 0), [value for value in claim.values() if value is not None]
        if others or (epsilon is not None and runs is not None) or (runs is None and read_exact("delta", delta, 1)):
            raise QueryError("for every n a certificate says which e^ε is enough, and nothing else", "ask for one n")
        if runs is not None:
            return certify_every.certify_every(self, (runs, exp_epsilon, delta))
        claimed = (None, None) if exp_epsilon is epsilon is None else read_exponential(exp_epsilon, epsilon, least=1)
        return certify_every.certify_every(self, claimed=claimed)


@checked_calls
class ChoicesInstance(Instance):
    """A mechanism in which parameters are one of several values each, and at most one more is unknown.

    `solve` says which choice is best, and what each leads to. Raises QueryError for all other questions.
    """

    one_engine = False

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        names = ", ".join(name for name, value in self.bound.parameters.items() if isinstance(value, Choices))
        raise QueryError(
            f"this question has no answer while {names} is to be chosen",
            f"give {names} a value, ask for solve, or list the values: tightdp sweep FILE {names}=1,2",
        )

    explain = report = sweep = sample = _refuse

    def _solved(self, claimed: Claimed, goal: Goal | None) -> Choice | BestChoices:
        if self.bound.asks:
            raise strategies.refusal("solve")
        holes = {name: value.values for name, value in self.bound.parameters.items() if isinstance(value, Choices)}
        limits = {name: getattr(self, name) for name in ("backend", "max_nodes", "method", "precision")}
        ways = [
            (chosen, self.rebind(self.n, {**self.bound.parameters, **dict(chosen)}, **limits))
            for chosen in choosing.every_choice(holes)
        ]
        return choosing.choose(self.subject, ways, choosing.Question(claimed, goal))
