"""What checks measure, and mutation: which false statements close by are noticed, label by label.

A statement that is decided goes through its procedure again with each change; one that is checked on instances is held
against what was measured there. A change that survives is listed with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightdp.claims.exactly import Exactly
from tightdp.claims.formula import failing, mutants, read
from tightdp.claims.instances import Instance
from tightdp.claims.model import VERDICTS, Claim, Paper, Row, Statement, Verdict
from tightdp.claims.sentences import Measured, as_measured, formulas, judged, names
from tightdp.errors import ParameterError, TightdpError
from tightdp.exact.reals import Real, UndecidedError

_TRUE: tuple[Verdict, ...] = ("decided", "argued", "holds on")


class Answers:
    """What a statement's check measured; it is kept, so that it can be held against other statements."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._known: list[tuple[Instance, Measured]] = []

    def measured(self, instance: Instance) -> Measured:
        """Return what the check measures at an instance."""
        for known, values in self._known:
            if known == instance:
                return values
        if self._statement.check is None:
            raise ParameterError("it has instances and no check", "give the check that measures at an instance")
        found = as_measured(self._statement.check(**instance), instance)
        self._known.append((instance, found))
        return found

    def failure(self, instance: Instance) -> tuple[str, dict[str, Any]] | None:
        """Return how the statement fails at an instance, with the numbers."""
        return judged(self._statement.text, self._statement.given, self.measured(instance), instance)


@dataclass(frozen=True)
class Change:
    """A statement changed in one place: whether the change is noticed, and if not why."""

    paper: str
    id: str
    label: Verdict
    what: str
    killed: bool
    reason: str = ""


def scores(found: Sequence[Change]) -> dict[Verdict, tuple[int, int, Fraction]]:
    """Return, by label, how many changes there are, how many of them are noticed, and their share."""
    killed = {label: [each.killed for each in found if each.label == label] for label in VERDICTS}
    return {label: (len(own), sum(own), Fraction(sum(own), len(own))) for label, own in killed.items() if own}


def mutated(papers: Iterable[Paper], ids: Iterable[str] = ()) -> Iterator[Change]:
    """Change every statement that is held to be true, corrected ones included, in every place."""
    wanted = set(ids)
    for paper in papers:
        for item in paper.items:
            if isinstance(item, Row) or (wanted and item.id not in wanted):
                continue
            for statement, name in _true(item):
                made = _of_exact(statement.exact) if statement.exact else changes(statement, Answers(statement))
                for what, killed, reason in made:
                    yield Change(paper.name, name, statement.verdict, what, killed, reason)


def _true(claim: Claim) -> Iterator[tuple[Statement, str]]:
    """Yield what a claim holds to be true."""
    if claim.verdict in _TRUE:
        yield claim, claim.id
    if claim.corrected is not None and claim.corrected.verdict in _TRUE:
        yield claim.corrected, f"{claim.id} corrected"


def _of_exact(statement: Exactly) -> Iterator[tuple[str, bool, str]]:
    for what, changed in statement.mutants():
        try:
            killed = changed.decide().holds is not True
        except (TightdpError, ArithmeticError, ValueError, TypeError):
            killed = True  # it cannot be evaluated everywhere: nothing is decided
        yield what, killed, "" if killed else f"decided as well: {_why(what)}"


def _why(what: str) -> str:
    """Say how a change of a statement may be true as well."""
    kinds = (
        (r"without ", "the condition is not needed"),
        (r"if ", "it holds under the other condition, too"),
        (r"[^:]*[<>][^:]* into [^:]*[<>]", "it holds on the wider range, too"),
        (r".*[<>]= into [<>]$", "the sides are never equal"),
    )
    return next(
        (why for pattern, why in reversed(kinds) if re.match(pattern, what)),
        "it follows, or the statement is not sharp in this place",
    )


def changes(statement: Statement, answers: Answers) -> Iterator[tuple[str, bool, str]]:
    """Change the formulas of a sentence: what is changed, whether a quick instance refutes it, and if not why."""
    instances = statement.instances(quick=True) or statement.instances(quick=False)
    try:
        measured = [(each, values) for each in instances for values in answers.measured(each)]
    except Exception as error:
        yield f"the check fails: {type(error).__name__}: {error}", False, "nothing is measured"
        return
    known = [names(values, instance) for instance, values in measured]
    for condition, text in formulas(statement.text):
        if condition:
            yield f"without {text}", False, "all instances lie inside of the condition"
            continue
        for what, formula in mutants(read(text, frozenset(known[0]))):
            killed = any(_refutes(formula, values) for values in known)
            yield what, killed, "" if killed else "no instance tells it from the statement"


def says_something(statement: Statement, answers: Answers) -> bool:
    """Whether the formulas would fail if some measured quantity were another: a little larger or smaller, or by far."""
    instances = statement.instances(quick=True) or statement.instances(quick=False)
    said = [text for condition, text in formulas(statement.text) if not condition]
    for instance in instances:
        for values in answers.measured(instance):
            known = names(values, instance)
            stated = [read(text, frozenset(known)) for text in said]
            for name, value in values.items():
                for other in _others(value):
                    if any(_refutes(formula, {**known, name: other}) for formula in stated):
                        return True
    return False


def _others(value: Any) -> Iterator[Any]:
    """Yield numbers beside a number, and far from it."""
    if isinstance(value, (int, Fraction, Real)) and not isinstance(value, bool):
        yield from (value + 1, value - 1)
        yield from (value * factor for factor in (Fraction(21, 20), Fraction(10) ** 300, Fraction(1, 10**300)))


def _refutes(formula: Any, values: dict[str, Any]) -> bool:
    try:
        return failing(formula, values) is not None
    except UndecidedError:
        return False
    except (TightdpError, ArithmeticError, ValueError):
        return True
