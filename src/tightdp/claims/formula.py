"""Formulas: what is printed is what is evaluated, on numbers or on symbols, and what is changed by mutation.

A formula is written as a paper has it, `E_n = e^ε/(1 + e^ε)` or `n >= λ >= 14·ln(4/δ)`: numbers, + - · * / ^, ², |x|,
⌊x⌋, ⌈x⌉, C(n,k), sqrt, ln, log2, exp, min, max, e^x, several relations = ≠ < <= > >= in a row, several formulas with
commas between them. Factors side by side are multiplied. A quantity may have any name, P(|O - c| <= α) too: the longest
known name that begins at a place is meant. `A <=> B` says that the formulas A hold exactly if the formulas B do. It is
read into a tree once; `evaluate` takes the arithmetic as a parameter,
Fractions and certified reals or SymPy, never floats.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tightdp.errors import ParameterError
from tightdp.exact.reals import Real, UndecidedError, exp, log, real, sqrt

_HOW = "write a formula as docs/claims.md says"


def _equal(a: Any, b: Any) -> bool:
    """Whether two numbers are equal; certified reals that cannot be told apart raise UndecidedError."""
    if isinstance(a, Real) or isinstance(b, Real):
        return not (a < b or a > b)
    return bool(a == b)


RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": _equal,
    "≠": lambda a, b: not _equal(a, b),
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}
STRICTER = {"<=": "<", ">=": ">"}
_IFF = "<=>"
_SQUARES = ("²", "³")
_CLOSING = {"(": ")", "|": "|", "⌊": "⌋", "⌈": "⌉"}
_FUNCTIONS = ("C", "exp", "ln", "log2", "max", "min", "sqrt")
_WORDLY = re.compile(r"[^\W²³]")


@dataclass(frozen=True)
class Node:
    """A piece of a formula.

    Its kind is number, name, ∞, e, negative, operation, power, factorial, call, enclosed, chain (of relations), all (of
    several chains), or iff (of two such).
    """

    kind: str
    text: str
    parts: tuple[Node, ...] = ()


# reading


@lru_cache(maxsize=1024)
def _tokens(text: str, names: frozenset[str]) -> list[tuple[str, str]]:
    """Cut a formula, long names first. Raises ParameterError at a word that is no name, function or sign."""
    end = r"(?![^\W²³])"  # no name or function goes on there
    known = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(name) + (end if _WORDLY.match(name[-1]) else "") for name in known) or "(?!)"
    functions = "|".join(sorted((*_FUNCTIONS, "e"), key=len, reverse=True))
    token = re.compile(
        rf"\s*(?:(?P<name>{words})|(?P<number>\d+(?:\.\d+)?)|(?P<relation><=>|<=|>=|[=≠<>])"
        rf"|(?P<sign>[-+·*/^()|⌊⌋⌈⌉,!²³])|(?P<function>(?:{functions}){end}|∞))"
    )
    found: list[tuple[str, str]] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = token.match(text, at)
        if match is None:
            what = f"{text[at:].lstrip()!r} in the formula {text} is no known name"
            raise ParameterError(what, f"known are {', '.join(known)}")
        kind = match.lastgroup or ""
        found.append((kind, match[kind]))
        at = match.end()
    return found


_PYTHON = {"=": "==", "≠": "!=", "^": "**", "·": "*", "²": ".power_2", "³": ".power_3", "!": ".factorial"}
"""Signs that Python writes otherwise; factors side by side are written with @, which binds as * does."""
_OPERATIONS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "·", ast.Div: "/", ast.MatMult: "", ast.Pow: "^"}
_COMPARED = {ast.Eq: "=", ast.NotEq: "≠", ast.LtE: "<=", ast.GtE: ">=", ast.Lt: "<", ast.Gt: ">"}


class _Reader:
    """Reads tokens into a tree: written as Python has them, Python's own parser says what belongs together."""

    def __init__(self, text: str, tokens: Sequence[tuple[str, str]]) -> None:
        self._text = text
        self._leaves: dict[str, Node] = {}
        written, ended = "", False
        opened: list[str] = []
        for kind, sign in tokens:
            leaf = kind in ("number", "name") or sign in ("∞", "e")
            closes = bool(opened) and sign == opened[-1] and (sign != "|" or ended)
            opens = sign in _CLOSING and not closes
            if ended and (leaf or kind == "function" or opens) and not written.endswith(_FUNCTIONS):
                written += "@"
            if leaf:
                written += f"_{len(self._leaves)}"
                self._leaves[f"_{len(self._leaves)}"] = Node(sign if kind == "function" else kind, sign)
            elif closes:
                opened.pop()
                written += ")"
            elif opens:
                opened.append(_CLOSING[sign])
                written += "(" if sign == "(" and written.endswith(_FUNCTIONS) else f"__{ord(sign)}("
            elif sign in _CLOSING.values() and sign != "|":
                raise self._wrong(f"{sign!r} is out of place")
            else:
                written += _PYTHON.get(sign, sign)
            ended = leaf or closes or kind == "function" or sign in ("!", *_SQUARES)
        if re.search(r",\)?$|,\)", written):
            raise self._wrong("something is missing after a comma")
        try:
            self._tree = ast.parse(written, mode="eval").body
        except SyntaxError:
            raise self._wrong("something is missing or out of place") from None

    def _wrong(self, what: str) -> ParameterError:
        return ParameterError(f"{what} in the formula {self._text}", _HOW)

    def chains(self) -> tuple[Node, ...]:
        """Return several formulas with commas between them."""
        parts = self._tree.elts if isinstance(self._tree, ast.Tuple) else [self._tree]
        return tuple(map(self._chain, parts))

    def _chain(self, tree: ast.expr) -> Node:
        if not isinstance(tree, ast.Compare):
            raise self._wrong("there is no relation")
        relations = " ".join(_COMPARED[type(each)] for each in tree.ops)
        return Node("chain", relations, tuple(map(self._node, (tree.left, *tree.comparators))))

    def term(self) -> Node:
        """Return an expression without a relation."""
        return self._node(self._tree)

    def _node(self, tree: ast.expr) -> Node:
        match tree:
            case ast.Name(id=name) if name in self._leaves:
                return self._leaves[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                sign = _OPERATIONS[type(op)]
                return Node("power" if sign == "^" else "operation", sign, (self._node(left), self._node(right)))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return Node("negative", "-", (self._node(inner),))
            case ast.Attribute(value=inner, attr="power_2" | "power_3" as name):
                return Node("power", "^", (self._node(inner), Node("number", name[-1])))
            case ast.Attribute(value=inner):
                return Node("factorial", "!", (self._node(inner),))
            case ast.Call(func=ast.Name(id=name), args=[*inside]) if name in _FUNCTIONS and inside:
                return Node("call", name, tuple(map(self._node, inside)))
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name.startswith("__"):
                return Node("enclosed", chr(int(name[2:])), (self._node(inner),))
        raise self._wrong("something is out of place")


@lru_cache(maxsize=1024)
def read(text: str, names: frozenset[str]) -> tuple[Node, ...]:
    """Read formulas with commas between them. Raises ParameterError where one cannot be read."""
    tokens = _tokens(text, names)
    ends = [at for at, (_, sign) in enumerate(tokens) if sign == _IFF]
    if not ends:
        return _Reader(text, tokens).chains()
    sides = (_Reader(text, tokens[: ends[0]]), _Reader(text, tokens[ends[0] + 1 :]))
    return (Node("iff", _IFF, tuple(Node("all", ",", side.chains()) for side in sides)),)


def read_term(text: str, names: frozenset[str]) -> Node:
    """Read an expression without a relation. Raises ParameterError where it cannot be read."""
    return _Reader(text, _tokens(text, names)).term()


# evaluating


def _quotient(top: Any, bottom: Any) -> Any:
    return Fraction(0) if isinstance(bottom, float) else top / bottom  # a float is infinite


def _power(base: Any, power: Any) -> Any:
    if isinstance(power, Fraction) and power.denominator == 1:
        return base ** int(power)
    return exp(real(power) * log(base))


def _floor(value: Any) -> Fraction:
    if not isinstance(value, Real):
        return Fraction(math.floor(value))
    low, high = value.enclosure(20)
    if math.floor(low) != math.floor(high):
        raise UndecidedError("a real is too close to a whole number to be rounded down", "compare it instead")
    return Fraction(math.floor(low))


def _known(value: Any) -> Any:
    return Fraction(int(value)) if isinstance(value, int) else value  # so that nothing divides to a float


EXACT: dict[str, Callable[..., Any]] = {
    "number": Fraction,
    "value": _known,
    "∞": lambda: math.inf,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "·": lambda a, b: a * b,
    "/": _quotient,
    "^": _power,
    "!": lambda n: Fraction(math.factorial(int(n))),
    "C": lambda n, k: Fraction(math.comb(int(n), int(k)) if k >= 0 else 0),
    "exp": exp,
    "ln": log,
    "log2": lambda x: log(x) / log(2),
    "max": max,
    "min": min,
    "sqrt": sqrt,
    "(": lambda x: x,
    "|": abs,
    "⌊": lambda x: _floor(x),
    "⌈": lambda x: -_floor(-x),
}
"""Fractions and certified reals."""


def evaluate(node: Node, values: Mapping[str, Any], arithmetic: Mapping[str, Callable[..., Any]] = EXACT) -> Any:
    """Return the value of an expression; its names have the given values."""
    if node.kind == "number":
        return arithmetic["number"](Fraction(node.text))
    if node.kind == "name":
        return arithmetic["value"](values[node.text])
    if node.kind == "∞":
        return arithmetic["∞"]()
    if node.kind == "e":
        return arithmetic["exp"](arithmetic["number"](Fraction(1)))
    if node.kind == "power" and node.parts[0].kind == "e":
        return arithmetic["exp"](evaluate(node.parts[1], values, arithmetic))
    parts = [evaluate(part, values, arithmetic) for part in node.parts]
    if node.kind == "negative":
        return -parts[0]
    return arithmetic[node.text or "·"](*parts)


def failing(formula: tuple[Node, ...], values: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """Return the first relation that does not hold, with both sides; None where all hold."""
    for chain in formula:
        if chain.kind == "iff":
            first, second = (failing(each.parts, values) is None for each in chain.parts)
            if first != second:
                return chain.text, first, second
            continue
        sides = [evaluate(part, values) for part in chain.parts]
        for relation, (left, right) in zip(chain.text.split(), pairwise(sides), strict=True):
            if not RELATIONS[relation](left, right):
                return relation, left, right
    return None


# writing


def plain(node: Node) -> str:
    """Write a piece of a formula as it may be read again."""
    parts = [plain(part) for part in node.parts]
    if node.kind == "chain":
        rest = (f" {relation} {part}" for relation, part in zip(node.text.split(), parts[1:], strict=True))
        return parts[0] + "".join(rest)
    if node.kind in ("iff", "all"):
        return f"{',' if node.kind == 'all' else f' {_IFF}'} ".join(parts)
    if node.kind == "operation" and not node.text and parts[0][-1].isdigit() and not parts[1][0].isdigit():
        return "".join(parts)
    if node.kind == "operation":
        return f" {node.text} ".join(parts) if node.text in ("+", "-") else (node.text or " ").join(parts)
    if node.kind == "power":
        return f"{parts[0]}^{parts[1]}"
    if node.kind == "enclosed":
        return f"{node.text}{parts[0]}{_CLOSING[node.text]}"
    if node.kind == "call":
        return f"{node.text}({', '.join(parts)})"
    return f"-{parts[0]}" if node.kind == "negative" else f"{parts[0]}!" if node.kind == "factorial" else node.text


# mutations


def mutants(
    formula: tuple[Node, ...], given: bool = False, step: Fraction = Fraction(1, 20)
) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """Yield the formula changed in one place, with what was changed: a constant by a small step either way, a sign,
    another strictness.

    Whole numbers in exponents move by 1, others by a twentieth of themselves; 0 by a twentieth. Where a relation has no
    number, its last side gets a factor. What is said becomes strict, what is `given` ceases to be: the other way round
    could not fail.
    """
    strictness = {strict: weak for weak, strict in STRICTER.items()} if given else STRICTER
    for at, chain in enumerate(formula):
        for what, changed in _changed(chain, step, strictness):
            yield f"{plain(chain)}: {what}", (*formula[:at], changed, *formula[at + 1 :])


def pieces(node: Node) -> Iterator[Node]:
    """Yield a piece of a formula and all its parts."""
    yield node
    for part in node.parts:
        yield from pieces(part)


def _changed(
    node: Node, step: Fraction, strictness: Mapping[str, str], whole: bool = False
) -> Iterator[tuple[str, Node]]:
    if node.kind == "number":
        value = Fraction(node.text)
        size = Fraction(1) if whole else abs(value) * step or step
        for moved in (value + size, value - size):
            yield f"{node.text} into {moved}", _constant(moved)
    if node.kind == "operation" and node.text in ("+", "-"):
        yield f"{node.text} into {'-+'['+-'.index(node.text)]}", replace(node, text="-+"["+-".index(node.text)])
    if node.kind == "negative":
        yield "- left out", node.parts[0]
    if node.kind == "chain":
        relations = node.text.split()
        for place, relation in enumerate(relations):
            if relation in strictness:
                other = strictness[relation]
                changed = " ".join((*relations[:place], other, *relations[place + 1 :]))
                yield f"{relation} into {other}", replace(node, text=changed)
        if not any(each.kind == "number" for each in pieces(node)):
            for factor in (1 + step, 1 - step):
                last = Node("operation", "·", (_constant(factor), Node("enclosed", "(", (node.parts[-1],))))
                yield f"{plain(node.parts[-1])} times {factor}", replace(node, parts=(*node.parts[:-1], last))
    for at, part in enumerate(node.parts):
        for what, changed_part in _changed(part, step, strictness, node.kind == "power" and at == 1):
            yield what, replace(node, parts=(*node.parts[:at], changed_part, *node.parts[at + 1 :]))


def _constant(value: Fraction) -> Node:
    """Return a number as a node; a quotient or negative one in parentheses."""
    top = Node("number", str(abs(value.numerator)))
    found = top if value.denominator == 1 else Node("operation", "/", (top, Node("number", str(value.denominator))))
    found = Node("negative", "-", (found,)) if value < 0 else found
    return found if found.kind == "number" else Node("enclosed", "(", (found,))
