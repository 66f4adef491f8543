"""Proofs: their checked steps, each of which establishes exactly what it says or raises ProofError; and their numbers.

A proof is a function that takes such steps; its docstring says why they give the statement for all values.
Nothing here looks at samples: identities are simplified to 0, signs of polynomials come from all their roots,
finite cases are all visited.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from inspect import getdoc, isfunction
from typing import Any

from tightdp.claims.algebra import Cell, Range, holds
from tightdp.claims.model import Claim, Paper, Proof, Statement
from tightdp.errors import TightdpError
from tightdp.exact.lazily import lazily

sympy = lazily("sympy")


class ProofError(TightdpError):
    """A step of a proof is not established."""


@dataclass(frozen=True)
class Step:
    """A step that was established: by what means, what it shows, the formula in TeX, and in which proof."""

    kind: str
    what: str
    formula: str = ""
    proof: str = ""


_LONGEST = 240
"""A formula of a step that is longer, in TeX, is not shown."""
_steps: ContextVar[list[Step] | None] = ContextVar("steps", default=None)


_READER = "For the reader: "


def words_of(proof: Callable[[], None]) -> tuple[str, str]:
    """Return a proof's argument in words, and what of it stays with the reader. Raises ProofError without them."""
    argument, _, reader = (getdoc(proof) or "").partition(_READER)
    if not argument.strip():
        raise ProofError("a proof has no argument in words", "write it as the docstring of the function")
    if not reader.strip():
        what = f"the proof {proof.__name__} does not say what stays with the reader"
        raise ProofError(what, f'end its docstring with a paragraph that begins with "{_READER.strip()}"')
    return argument.strip(), " ".join(reader.split())


def run_proof(proof: Callable[[], None]) -> tuple[Step, ...]:
    """Run a proof and return its steps. Raises ProofError where one fails, or nothing is left to the reader's
    judgement."""
    words_of(proof)
    steps: list[Step] = []
    token = _steps.set(steps)
    try:
        proof()
    finally:
        _steps.reset(token)
    if not steps:
        raise ProofError("a proof checks no step", "use identity, positive, limit, exhaustive or certain")
    return tuple(steps)


def _established(kind: str, what: str, tex: Callable[[], str] = str) -> None:
    steps = _steps.get()
    if steps is not None:
        formula = tex()
        owner = sys._getframe(2).f_code.co_name
        steps.append(Step(kind, " ".join(what.split()), formula if len(formula) <= _LONGEST else "", owner))


def _fail(what: str, why: str) -> ProofError:
    return ProofError(f"not established: {what}: {why}", "correct the argument, or record another verdict")


def identity(left: Any, right: Any, what: str) -> None:
    """Establish that two expressions are equal: their difference simplifies to exactly 0."""
    difference = sympy.sympify(_exact(left)) - sympy.sympify(_exact(right))
    forms: tuple[Callable[[Any], Any], ...] = (
        lambda value: value,
        sympy.expand,
        lambda value: sympy.cancel(sympy.together(value)),
        sympy.simplify,
        lambda value: sympy.simplify(sympy.powsimp(sympy.expand(value), force=False)),
        lambda value: sympy.simplify(value.rewrite(sympy.exp)),
    )
    for form in forms:
        if form(difference) == 0:
            break
    else:
        raise _fail(what, f"{difference} does not simplify to 0")
    sides = dict.fromkeys((_tex(left), _tex(right)))  # where evaluating makes them the same one is shown
    _established("identity" if len(sides) > 1 else "both sides are", what, lambda: " = ".join(sides))


def positive(
    expression: Any, symbol: Any, low: Any, high: Any, what: str, *, strict: bool = True, closed: bool = False
) -> None:
    """Establish that a rational function of one symbol is > 0 (>= 0 unless `strict`) on an interval.

    Its numerator and denominator have rational coefficients. The interval (low, high) is open, unless
    `closed`; None is an infinite end. It is cut at all real roots, and the sign taken between them and at them
    (`algebra.py`).
    """
    ends = [None if end is None else Fraction(str(end)) for end in (low, high)]
    inside = Cell({symbol: Range(ends[0], ends[1], (closed, closed))})
    if holds(">" if strict else ">=", _exact(expression), 0, inside) is not True:
        raise _fail(what, f"its sign is another on a part of ({low}, {high}), or it is not defined there")
    shown = f"{'[' if closed else '('}{_end(low, '-')}, {_end(high, '')}{']' if closed else ')'}"
    _established(
        "sign between all roots",
        what,
        lambda: f"{_tex(expression)} {'>' if strict else chr(92) + 'ge'} 0 \\text{{ for }} {_tex(symbol)} \\in {shown}",
    )


def limit(expression: Any, symbol: Any, point: Any, value: Any, what: str) -> None:
    """Establish that the limit of an expression, found symbolically, is exactly a value (oo for no bound)."""
    found = sympy.limit(sympy.sympify(_exact(expression)), symbol, point)
    wanted = sympy.sympify(_exact(value))
    if found != wanted and (wanted.is_infinite or sympy.simplify(found - wanted) != 0):
        raise _fail(what, f"the limit is {found}")
    _established("limit", what, lambda: f"{_tex(expression)} \\to {_tex(wanted)}, {_tex(symbol)} \\to {_tex(point)}")


def exhaustive(cases: Iterable[Any], predicate: Callable[..., Any], what: str) -> None:
    """Establish that a predicate holds in finitely many cases; they must be all cases of the statement."""
    visited = 0
    for case in cases:
        visited += 1
        if not (predicate(*case) if isinstance(case, tuple) else predicate(case)):
            raise _fail(what, f"it fails in the case {case}")
    if not visited:
        raise _fail(what, "there is no case")
    _established(f"all {visited:,} cases" if visited > 1 else "the only case", what)


def certain(condition: Any, what: str) -> None:
    """Establish a comparison of exact numbers or certified reals."""
    if condition is not True and str(condition) != "True":
        raise _fail(what, f"it is {condition}")
    _established("exact comparison", what)


def _tex(value: Any) -> str:
    return str(sympy.latex(sympy.sympify(_exact(value))))


def _end(value: Any, sign: str) -> str:
    return f"{sign}\\infty" if value is None else str(value)


def _exact(value: Any) -> Any:
    """Return a Fraction as SymPy has it."""
    if isinstance(value, float):
        raise ProofError(f"{value!r} is a float", "prove with exact numbers")
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    return value


# numbers of proofs


@dataclass(frozen=True)
class NumberedProof:
    """A proof with its number, its words, its steps, and the numbers of the proofs that it calls."""

    number: int
    proof: Proof
    argument: str
    reader: str
    uses: tuple[int, ...]
    serves: tuple[str, ...]


def numbered(paper: Paper) -> list[NumberedProof]:
    """Return the proofs of a paper in the order in which its claims need them; a lemma stands before its users."""
    order: list[Proof] = []
    serves: dict[Proof, list[str]] = {}
    for item in paper.items:
        if isinstance(item, Claim):
            for proof in proofs_of(item):
                _place(proof, order)
                serves.setdefault(proof, []).append(item.id)
    number = {proof: at for at, proof in enumerate(order, 1)}
    return [
        NumberedProof(
            number[proof],
            proof,
            *words_of(proof),
            tuple(number[each] for each in _called(proof)),
            tuple(dict.fromkeys(serves.get(proof, []))),
        )
        for proof in order
    ]


def proofs_of(claim: Claim) -> Iterator[Proof]:
    """Yield the proofs of a claim, of its contrary and of its correction."""
    statements: tuple[Statement | None, ...] = (claim, claim.corrected)
    found = [claim.disproof, *(each.proof for each in statements if each is not None)]
    yield from (proof for proof in found if proof is not None)


def _place(proof: Proof, order: list[Proof]) -> None:
    if proof not in order:
        for lemma in _called(proof):
            _place(lemma, order)
        order.append(proof)


def _called(proof: Any) -> list[Proof]:
    """Return the functions of the same package without a result, which a proof calls: its lemmas."""
    code, known = getattr(proof, "__code__", None), getattr(proof, "__globals__", {})
    if code is None:
        return []
    package = str(known.get("__package__") or "")
    named = [known.get(name) for name in code.co_names]
    return [
        each
        for each in named
        if isfunction(each)
        and each.__annotations__.get("return") in (None, "None")
        and "return" in each.__annotations__
        and str(each.__globals__.get("__package__") or "") == package
        and each.__module__.split(".")[0] == proof.__module__.split(".")[0]
    ]
