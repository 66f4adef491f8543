"""What checks answer, and whether false statements close to a true one are noticed: near misses, and mutations.

A near miss is given with the claim. A mutation changes one constant or relation of a statement that is held to be true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from tightdp.claims.formula import Measured, OutsideError, as_measured, changes, formulas, judged, names
from tightdp.claims.instances import Instance, shown_instance
from tightdp.claims.model import Claim, Fails, Near, Paper, Row, Statement
from tightdp.errors import ParameterError, TightdpError


class Answers:
    """The answers of a statement's check; what it measured is kept, so that it can be held against other statements."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._known: list[tuple[Instance, Measured]] = []

    def measured(self, instance: Instance) -> Measured | None:
        """Return what the check measures at an instance; None where it decides by itself."""
        for known, values in self._known:
            if known == instance:
                return values
        found = self._ask(instance)
        return found if isinstance(found, tuple) else None

    def failure(self, instance: Instance) -> Fails | None:
        """Return how the statement fails at an instance."""
        found = self._ask(instance)
        if not isinstance(found, tuple):
            return as_failure(found, "the check", instance)
        why = judged(self._statement.statement, found, instance)
        return None if why is None else Fails(why[0], **why[1])

    def _ask(self, instance: Instance) -> Any:
        assert self._statement.check is not None
        answer = self._statement.check(**instance)
        found = as_measured(answer)
        if found is None:
            return answer
        self._known.append((instance, found))
        return found


def as_failure(answer: Any, who: str, instance: Instance) -> Fails | None:
    """Return a verdict of a check as a failure, None for True. Raises ParameterError for anything else."""
    if isinstance(answer, Fails):
        rounded = [name for name, value in answer.numbers.items() if isinstance(value, float) and isfinite(value)]
        if rounded:
            what = f"{who} gives the float {rounded[0]} = {answer.numbers[rounded[0]]!r} at {shown_instance(instance)}"
            raise ParameterError(what, "give exact numbers: ints, Fractions")
        return answer
    if not isinstance(answer, bool):
        what = f"{who} returns {answer!r} at {shown_instance(instance)}"
        raise ParameterError(what, "return quantities, or True where the claim holds, otherwise False or Fails(...)")
    return None if answer else Fails()


def refuted_near_miss(statement: Statement, answers: Answers, quick: bool) -> str:
    """Say where the near miss of a statement is refuted; "" without one. Raises ParameterError where it is not."""
    near = statement.near
    if near is None:
        return ""
    for instance in _instances(statement, quick):
        if isinstance(near, Near):
            refuted = as_failure(near.check(**instance), "the check of the near miss", instance) is not None
        else:
            refuted = refuting(near, answers, instance)
        if refuted:
            return f"{statement.missed} (refuted at {shown_instance(instance)})"
    false = near.statement if isinstance(near, Near) else near
    raise ParameterError(f"no instance refutes the near miss: {false}", "add instances that are nearer to the edge")


def refuting(statement: str, answers: Answers, instance: Instance) -> bool:
    """Whether what was measured at an instance refutes a statement, or puts the instance outside it."""
    measured = answers.measured(instance)
    if measured is None:
        raise ParameterError("the check decides by itself", "give a near miss with a check of its own: Near(...)")
    try:
        return judged(statement, measured, instance) is not None
    except OutsideError:
        return True


def _instances(statement: Statement, quick: bool) -> list[Instance]:
    """Return the instances of this run, then all others."""
    first = list(statement.instances(quick))
    return first + [each for each in statement.instances(False) if each not in first]


# mutations


@dataclass(frozen=True)
class Change:
    """A constant or relation of a statement, and whether instances refute the changed statement."""

    paper: str
    id: str
    what: str
    noticed: bool


def noticed_share(found: Sequence[Change]) -> Fraction | None:
    """Return the share of the changes that was noticed."""
    return Fraction(sum(each.noticed for each in found), len(found)) if found else None


def mutated(papers: Iterable[Paper], ids: Iterable[str] = ()) -> Iterator[Change]:
    """Change every statement that is held to be true, corrected ones included, in every place."""
    wanted = set(ids)
    for paper in papers:
        for item in paper.items:
            if isinstance(item, Row) or (wanted and item.id not in wanted):
                continue
            for statement, name in _true(item):
                yield from _changes(paper.name, name, statement)


def _true(claim: Claim) -> Iterator[tuple[Statement, str]]:
    """Yield what a claim holds to be true."""
    if claim.verdict in ("proved", "holds-on"):
        yield claim, claim.id
    if claim.corrected is not None and claim.corrected.verdict in ("proved", "holds-on"):
        yield claim.corrected, f"{claim.id} corrected"


def _changes(paper: str, id: str, statement: Statement) -> Iterator[Change]:
    answers, stated = Answers(statement), formulas(statement.statement)
    first = next(iter(statement.instances(True)), None)
    try:
        measured = answers.measured(first) if statement.check is not None and stated and first is not None else None
        if measured is None or first is None:
            yield Change(paper, id, *_by_hand(statement, answers))
            return
    except Exception as error:
        yield Change(paper, id, f"the check fails: {type(error).__name__}: {error}", False)
        return
    for _, formula in stated:
        for what, texts in changes(formula, names(measured[0], first), Fraction(statement.loose)):
            wrong = [statement.statement.replace(f"`{formula}`", f"`{text}`", 1) for text in texts]
            noticed = any(_refutes(text, answers, each) for each in _instances(statement, True) for text in wrong)
            yield Change(paper, id, f"{formula}: {what}", noticed)


def _by_hand(statement: Statement, answers: Answers) -> tuple[str, bool]:
    """Try the near miss of a statement whose check decides by itself."""
    if not isinstance(statement.near, Near):
        return "no formula and no near miss", False
    try:
        return statement.near.statement, bool(refuted_near_miss(statement, answers, True))
    except TightdpError:
        return statement.near.statement, False


def _refutes(text: str, answers: Answers, instance: Instance) -> bool:
    try:
        return refuting(text, answers, instance)
    except (TightdpError, ArithmeticError, ValueError):
        return True
