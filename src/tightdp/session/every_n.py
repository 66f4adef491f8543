"""A mechanism for every number of records at once: the questions that have one answer for all n."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, NoReturn

from tightdp.errors import LanguageError, QueryError
from tightdp.language.domains import Domain
from tightdp.language.program import Bound, Program
from tightdp.session.arguments import checked_calls, read_count, read_exact, read_exponential, unknown_of
from tightdp.session.instance import Instance
from tightdp.session.later import Later
from tightdp.session.limited import limited
from tightdp.session.unknowns import UnknownInstance

if TYPE_CHECKING:
    from tightdp.results.answers import Accuracy, Verification
    from tightdp.results.privacy import EveryN, EveryNVerification
    from tightdp.results.result import Subject
    from tightdp.session import certify_every as _certificates
    from tightdp.session import enclosing as _answers
    from tightdp.session.certify import Certificate
else:
    _answers, _certificates = Later("tightdp.session.enclosing"), Later("tightdp.session.certify_every")

__all__ = ["ALL", "EveryInstance", "bound_for", "bound_to"]

ALL = "all"
"""In place of n: every number of records at once."""


def bound_for(program: Program, n: Any, neighbours: Any, parameters: dict[str, Any]) -> tuple[type[Instance], Bound]:
    """Bind a mechanism to n records, or to one record, which stands for all, where n is `ALL`.

    Return it with the kind of instance that answers. Raises LanguageError where the records depend on n.
    """
    if not isinstance(n, str) or n != ALL:
        bound = program.bind(n, neighbours=neighbours, **parameters)
        return Instance if unknown_of(bound.parameters) is None else UnknownInstance, bound
    if not isinstance(program.record, Domain) and "n" in signature(program.record).parameters:
        hint = "make the domain the same for all n, or ask for one n"
        raise LanguageError("no answer for every n: the record domain depends on n", hint, program.source.span())
    bound = program.bind(1, neighbours=neighbours, **parameters)
    if (name := unknown_of(bound.parameters)) is not None:
        raise QueryError(f"n = all with the unknown {name}", "give it a value, or ask for one n")
    return EveryInstance, bound


def bound_to(program: Program, neighbours: Any, n: Any, parameters: dict[str, Any], **limits: Any) -> Instance:
    """Return the instance of a mechanism bound to n records, or to all, with the limits of its queries."""
    kind, bound = bound_for(program, n, neighbours, parameters)
    found = kind(bound, **limits)
    found.rebind = partial(bound_to, program, bound.neighbours)
    return found


@checked_calls
class EveryInstance(Instance):
    """A mechanism with its parameters fixed, for all n >= 1 at once: `privacy` and `verify` have answers here.

    An answer has an upper end with a proof, and a lower end with an n that attains it; see `EveryN`. Raises
    LanguageError with the place where the program does not treat all records by the same code, QueryError for the other
    questions.
    """

    every_n = True
    one_engine = False

    @property
    def subject(self) -> Subject:
        """The mechanism, n = all and the parameters, and the neighbours, as results name them."""
        one = super().subject
        rest = tuple((name, value) for name, value in one.parameters if name != "n")
        return replace(one, parameters=(("n", ALL), *rest))

    @property
    def engine(self) -> NoReturn:
        """No engine answers for every n."""
        raise QueryError("this question has no answer for every n", "ask it for one n, or ask for privacy or verify")

    @limited()
    def privacy(  # type: ignore[override]
        self,
        *,
        delta: Any = 0,
        top: int = 1,
        privacy_set: Iterable[Any] | None = None,
        inference_set: Iterable[Any] | None = None,
    ) -> EveryN:
        """Return the least e^ε that holds for every n, or what encloses it. Only δ = 0 has an answer for every n."""
        if read_exact("delta", delta, 1) or read_count("top", top) > 1 or privacy_set or inference_set:
            raise QueryError("for every n the tight ε is known for delta = 0 only", "ask for one n")
        return _answers.enclose(self)

    @limited()
    def accuracy(
        self,
        alpha: Any = None,
        *,
        beta: Any = None,
        top: int = 5,
        relative: bool = False,
        accuracy_set: Iterable[Any] | None = None,
        inference_set: Iterable[Any] | None = None,
    ) -> Accuracy:
        """Return the tight 1 - β at an error bound α >= 0, or the least α for a `beta`, of a noisy sum.

        Its error has one law for every n, that of one record. Raises QueryError for other programs.
        """
        if accuracy_set is not None or inference_set is not None:
            raise QueryError("for every n no set of datasets can be declared", "ask for one n")
        if relative:
            raise QueryError("the relative error depends on the target, which differs from n to n", "ask for one n")
        return replace(self._on_one_record().accuracy(alpha, beta=beta, top=top), subject=self.subject)

    def _on_one_record(self) -> Instance:
        """Return the mechanism on one record, where its error has the same law for every n. Raises QueryError."""
        _answers.refuse_uneven(self)
        return self.on(self.bound, **{**self.limits, "method": None})

    @limited()
    def verify(
        self, *, epsilon: Any = None, exp_epsilon: Any = None, delta: Any = 0, alpha: Any = None, beta: Any = None
    ) -> EveryNVerification | Verification:
        """Decide a claim for every n: ε-DP for `epsilon` or `exp_epsilon`, or `alpha` with `beta` of a noisy sum.

        See `Instance.verify`.
        """
        if alpha is not None or beta is not None:
            if epsilon is not None or exp_epsilon is not None:
                raise QueryError("for every n one claim is decided at a time", "ask for accuracy by itself")
            return replace(self._on_one_record().verify(alpha=alpha, beta=beta), subject=self.subject)
        if read_exact("delta", delta, 1):
            raise QueryError("for every n claims are decided for delta = 0 only", "ask for one n")
        t, exponent = read_exponential(exp_epsilon, epsilon, least=1)
        return _answers.verify(self, t, exponent)

    @limited()
    def certify(
        self, *, epsilon: Any = None, exp_epsilon: Any = None, delta: Any = 0, alpha: Any = None, beta: Any = None
    ) -> Certificate:
        """Return a certificate of an e^ε that is enough for every n. Raises QueryError where no rule fits."""
        if (epsilon, exp_epsilon, alpha, beta) != (None,) * 4 or read_exact("delta", delta, 1):
            raise QueryError("for every n a certificate says which e^ε is enough, and nothing else", "ask for one n")
        return _certificates.certify_every(self)
