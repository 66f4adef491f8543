"""Mutation: constants and relations of every claim are changed one at a time, and the run has to notice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from tightdp.claims.formula import changes
from tightdp.claims.instances import Instance
from tightdp.claims.model import Claim, Near, Paper, Row, Statement
from tightdp.claims.near import Answers, refuted_near_miss, refuting
from tightdp.claims.stated import formulas, names
from tightdp.errors import TightdpError

__all__ = ["Change", "mutated", "noticed_share"]


@dataclass(frozen=True)
class Change:
    """A constant or relation of a statement, and whether instances refute the changed statement."""

    paper: str
    id: str
    what: str
    noticed: bool


def noticed_share(found: Iterable[Change]) -> Fraction | None:
    """Return the share of the changes that was noticed."""
    listed = list(found)
    return Fraction(sum(each.noticed for each in listed), len(listed)) if listed else None


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
    answers = Answers(statement)
    try:
        if not _has_formula(statement, answers):
            yield Change(paper, id, *_by_hand(statement, answers))
            return
    except Exception as error:
        yield Change(paper, id, f"the check fails: {type(error).__name__}: {error}", False)
        return
    first = next(iter(statement.instances(True)))
    measured = answers.measured(first)
    assert measured is not None
    known = names(measured[0], first)
    for _, formula in formulas(statement.statement):
        for what, texts in changes(formula, known, Fraction(statement.loose)):
            wrong = [statement.statement.replace(f"`{formula}`", f"`{text}`", 1) for text in texts]
            yield Change(paper, id, f"{formula}: {what}", _is_noticed(statement, answers, wrong))


def _has_formula(statement: Statement, answers: Answers) -> bool:
    """Whether the statement is decided by its formulas."""
    if statement.check is None or not formulas(statement.statement):
        return False
    return answers.measured(next(iter(statement.instances(True)))) is not None


def _by_hand(statement: Statement, answers: Answers) -> tuple[str, bool]:
    """Try the near miss of a statement whose check decides by itself."""
    if not isinstance(statement.near, Near):
        return "no formula and no near miss", False
    try:
        return statement.near.statement, bool(refuted_near_miss(statement, answers, True))
    except TightdpError:
        return statement.near.statement, False


def _is_noticed(statement: Statement, answers: Answers, wrong: list[str]) -> bool:
    """Whether some instance refutes one of the changed statements; the quick instances first."""
    quick = statement.instances(True)
    rest = [each for each in statement.instances(False) if each not in quick]
    return any(_refutes(text, answers, instance) for instance in (*quick, *rest) for text in wrong)


def _refutes(text: str, answers: Answers, instance: Instance) -> bool:
    try:
        return refuting(text, answers, instance)
    except (TightdpError, ArithmeticError, ValueError):
        return True
