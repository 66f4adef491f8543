"""The verifier of the core language: run between passes, it rejects malformed programs."""

from __future__ import annotations

from tightdp.core.nodes import Apply, Case, CoreProgram, Draw, Expr, Input, Nary, Once, Shuffled, reachable
from tightdp.core.valuesets import Progression
from tightdp.exact.weights import all_sum_to_one, may_be_positive

__all__ = ["MalformedError", "verify"]


class MalformedError(AssertionError):
    """A pass of the compiler produced a malformed program: a defect of tightdp, not of the user's program."""


def verify(program: CoreProgram) -> None:
    """Check every node of a core program. Raises MalformedError."""
    numbers: set[int] = set()
    leaves = {(leaf.client, leaf.leaf): leaf for leaf in program.inputs}
    once = Once()
    for expr in reachable(program.roots):
        _require(len(expr.values) > 0, expr, "takes no value")
        _require(
            isinstance(expr.values, (range, Progression)) or len(set(expr.values)) == len(expr.values),
            expr,
            "lists a value twice",
        )
        _require(all(child.serial < expr.serial for child in once.children(expr)), expr, "is older than its operand")
        match expr:
            case Input():
                _require(leaves.get((expr.client, expr.leaf)) is expr, expr, "is an input that is not listed")
            case Draw():
                _require(expr.number not in numbers, expr, "shares its number with another draw")
                numbers.add(expr.number)
                _laws(expr)
            case Shuffled():
                _require(0 <= expr.place < len(expr.items), expr, "stands outside its arrangement")
            case Apply() | Nary():
                _require(len(expr.operands) > 0, expr, "has no operands")
            case Case():
                _require(len(expr.branches) == len(expr.selector.values), expr, "has not one branch per value")
                listed = {value for branch in expr.branches for value in branch.values}
                _require(set(expr.values) <= listed, expr, "lists a value that no branch takes")
    for root in (*program.evidence, *(check.condition for check in program.checks)):
        _require(root.boolean, root, "is a condition that is not a truth value")


def _laws(draw: Draw) -> None:
    _require(len(draw.laws) == len(draw.selector.values), draw, "has not one law per selector value")
    laws = [[mass for _, mass in law] for law in draw.laws if law is not None]
    masses = {id(mass): mass for law in laws for mass in law}  # many laws may share a few numbers
    _require(all(map(may_be_positive, masses.values())), draw, "has an outcome without positive probability")
    _require(all_sum_to_one(laws), draw, "has a law that does not sum to 1")


def _require(condition: bool, expr: Expr, what: str) -> None:
    if not condition:
        raise MalformedError(f"node {expr.serial} ({type(expr).__name__}) {what}")
