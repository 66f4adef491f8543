"""What checks answer, and whether instances refute a near miss: a false statement close to a true one."""

from __future__ import annotations

from math import isfinite
from typing import Any

from tightdp.claims.fails import Fails
from tightdp.claims.instances import Instance, shown_instance
from tightdp.claims.model import Near, Statement
from tightdp.claims.stated import Measured, OutsideError, as_measured, judged
from tightdp.errors import ParameterError

__all__ = ["Answers", "as_failure", "refuted_near_miss", "refuting"]


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
