"""What a certificate has before its evidence: the claim, the program, and the source that it was made from."""

from __future__ import annotations

import ast
import hashlib
import json
import math
from contextlib import suppress
from fractions import Fraction
from itertools import islice, product
from typing import Any

from tightdp.core.nodes import CoreProgram
from tightdp.core.sections import written_value, written_whole
from tightdp.core.syntax import plain_name, program_syntax
from tightdp.core.text import ProgramText, program_text
from tightdp.errors import QueryError
from tightdp.exact.field import ExpNumber
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.session.certify_events import dataset_of
from tightdp.session.engine import Engine

FORMAT = 2
_WIDTH = 110


def written(value: Any, root: int) -> Any:
    """Return a part of a claim as the file has it."""
    if isinstance(value, tuple):
        return [written(each, root) for each in value]
    if isinstance(value, ExpNumber):
        above, below = (written_whole(part, root) for part in value.as_integer_ratio())
        return above if below == 1 else {"above": above, "below": below}
    return written_value(value) if isinstance(value, Fraction) else "inf" if value == math.inf else value


def without_evidence(
    engine: Engine, claim: dict[str, Any], core: CoreProgram, target: CoreProgram | None = None
) -> tuple[dict[str, Any], ProgramText]:
    """Return the certificate of a claim without its evidence, and the text of its program."""
    text = program_text(core, target, *claim.values(), *claim.get("runs", ()), left="variances" in claim)
    return content_of(engine, claim, text), text


def content_of(engine: Engine, claim: dict[str, Any], text: ProgramText) -> dict[str, Any]:
    """Return the certificate of a claim about a program without its evidence."""
    said = {"n": engine.bound.n, "records": dataset_of(engine.bound, engine.bound.record.values)}
    if "bound" in claim or "points" in claim:
        said["neighbours"] = _neighbours(engine)
    numbers = {name: written(value, text.root) for name, value in claim.items()}
    root = {"root": text.root} if text.root and "unknown" not in claim else {}
    program = program_syntax(text.parts, error="alpha" in claim or "variances" in claim)
    return about({"question": numbers.pop("question"), **said, **numbers, **root}, program, engine.bound)


def about(claim: dict[str, Any], program: dict[str, Any], bound: Bound) -> dict[str, Any]:
    """Return a certificate without its evidence: a claim about a program, and the source that it was made from."""
    text = "".join(bound.program.source.lines)
    claim["program"] = _digest(json.dumps(program, separators=(",", ":")))
    parameters = {name: plain_name(str(value)) for name, value in bound.named if name != "n"}
    if "unknown" in claim:
        name, *ends = claim["unknown"]
        parameters[name] = f"?[{', '.join(map(str, ends))}]"
    claim |= {"mechanism": plain_name(bound.program.name), "parameters": parameters, "source": _digest(text)}
    return {"format": FORMAT, "claim": claim, "program": program, "source": text}


def parameter_of(text: str) -> Any:
    """Return a tuple, or a list, that a certificate names as a parameter; others are read where they are bound."""
    if text.startswith(("(", "[")):
        with suppress(ValueError, TypeError, ArithmeticError, SyntaxError, RecursionError):
            return ast.literal_eval(_Fractions().visit(ast.parse(text, mode="eval")))
    return text


class _Fractions(ast.NodeTransformer):
    """Makes a constant of every fraction, as it stands in the text of a tuple."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not isinstance(node.func, ast.Name) or node.func.id != "Fraction":
            return node
        number: Any = Fraction(*map(ast.literal_eval, node.args))
        return ast.Constant(number)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _neighbours(engine: Engine) -> str | list[Any]:
    """Return the name of the neighbour relation, or all pairs of one that is given by a function."""
    relation = relation_of(engine.bound)
    return all_neighbours(engine.bound) if relation.custom else relation.name


def all_neighbours(bound: Bound) -> list[Any]:
    """Return all pairs of neighbours. Raises QueryError where they are too many."""
    datasets = list(islice(product(bound.record.values, repeat=bound.n), LISTED_ROWS + 1))
    pairs = [(x, other) for x in datasets for other in relation_of(bound).neighbours(x) if other != x]
    if max(len(pairs), len(datasets)) > LISTED_ROWS:
        raise QueryError("there are too many neighbours to list them", "ask for fewer records")
    return [[dataset_of(bound, x), dataset_of(bound, other)] for x, other in pairs]


def indented(value: Any, depth: int = 0) -> str:
    """Return JSON in which whatever is short stands on one line."""
    flat = json.dumps(value)
    if len(flat) <= _WIDTH - depth or not isinstance(value, (dict, list)):
        return flat
    entries = [indented(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]
    if isinstance(value, dict):
        entries = [f"{json.dumps(name)}: {text}" for name, text in zip(value, entries, strict=True)]
    start, end = "{}" if isinstance(value, dict) else "[]"
    lines = [""]
    for text in entries:  # short ones share lines
        if lines[-1] and len(lines[-1]) + len(text) > _WIDTH - depth:
            lines.append("")
        lines[-1] += f"{', ' * (lines[-1] != '')}{text}"
    inner = ",\n".join(" " * (depth + 1) + line for line in lines)
    return f"{start}\n{inner}\n{' ' * depth}{end}"
