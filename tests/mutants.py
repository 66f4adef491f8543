"""Mutants of programs: one mistake of a known kind in a known line, after which the tight ε is larger than before.

Kinds: noise left out, noise of the wrong scale, a wrong comparison, a draw that is made once and used again.
"""

from __future__ import annotations

import ast
import copy
import difflib
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tightdp import TightdpError
from tightdp.session.files import import_file

PROGRAMS = Path(__file__).parent.parent / "programs"

SUBJECTS: list[tuple[str, str, dict[str, Any]]] = [
    ("randomized_response", "randomized_response", {"n": 2, "lam": "1/5"}),
    ("randomized_response_count", "randomized_response_count", {"n": 3, "lam": "1/4"}),
    ("geometric_count", "geometric_count", {"n": 3, "ratio": "1/2"}),
    (
        "above_threshold",
        "above_threshold",
        {"n": 2, "k": 2, "threshold": 1, "ratio_threshold": "1/2", "ratio_query": "1/2"},
    ),
    ("report_noisy_max", "report_noisy_max", {"n": 2, "k": 1, "ratio": "1/2", "margin": 1}),
    (
        "sparse_vector",
        "sparse_vector",
        {"n": 2, "k": 1, "threshold": 1, "cutoff": 1, "ratio_threshold": "1/2", "ratio_query": "1/2", "margin": 1},
    ),
    (
        "sparse_vector",
        "sparse_vector_fresh_threshold",
        {"n": 2, "k": 1, "threshold": 1, "cutoff": 2, "ratio_threshold": "1/2", "ratio_query": "1/2", "margin": 1},
    ),
    ("bit_vector_randomized_response", "bit_vector_randomized_response", {"n": 1, "d": 2, "lam": "1/4"}),
    ("xor_randomized_response", "xor_randomized_response", {"n": 2, "lam": "1/5"}),
    ("gallery/coordinates_left_over", "meant", {"n": 2}),
    ("gallery/mean_divisor", "mended", {"n": 2}),
    ("gallery/daily_budget", "mended", {"n": 2}),
    ("gallery/bit_vector_last_bit", "mended", {"n": 1, "d": 2}),
]

WRONG = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
OFF_BY_ONE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


@dataclass(frozen=True)
class Mutant:
    """A changed file, the lines that changed, and the tight e^ε that it had before."""

    name: str
    mechanism: str
    parameters: dict[str, Any]
    kind: str
    text: str
    lines: frozenset[int]
    claimed: Fraction


def mutants(seed: int, count: int) -> Iterator[Mutant]:
    """So many mutants that break the tight e^ε of the original, drawn by the seed; the same one at most twice."""
    generator = random.Random(seed)
    texts: dict[str, int] = {}
    made = 0
    for _ in range(60 * count):
        mutant = _mutant(generator, made)
        if mutant is None or texts.get(mutant.text, 0) >= 2:
            continue
        texts[mutant.text] = texts.get(mutant.text, 0) + 1
        yield mutant
        made += 1
        if made == count:
            return
    raise AssertionError("too few mutants")


def _mutant(generator: random.Random, number: int) -> Mutant | None:
    file, name, parameters = generator.choice(SUBJECTS)
    source = (PROGRAMS / f"{file}.py").read_text(encoding="utf-8")
    parameters = {**parameters, **_other_strength(generator, parameters)}
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    called = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
    choices = [
        change
        for function in functions.values()
        if function.name == name or (function.name in called and not function.decorator_list)
        for change in _changes(function)
    ]
    kinds = sorted({kind for kind, _, _ in choices})
    if not kinds:
        return None
    wanted = generator.choice(kinds)
    kind, old, new = generator.choice([change for change in choices if change[0] == wanted])
    before = ast.unparse(tree)
    if kind == "reused":
        shared = ast.Assign([ast.Name("shared", ast.Store())], new)
        new = [shared, _Replace(new, ast.Name("shared", ast.Load())).visit(copy.copy(old))]
    after = ast.unparse(ast.fix_missing_locations(_Replace(old, new).visit(tree)))
    claimed, loss = _tight(before, name, parameters), _tight(after, name, parameters)
    if claimed is None or loss is None or not isinstance(claimed, Fraction) or claimed <= 1 or loss <= claimed:
        return None
    return Mutant(f"mutant_{number}", name, parameters, kind, f"{after}\n", _changed(before, after), claimed)


def _other_strength(generator: random.Random, parameters: dict[str, Any]) -> dict[str, Any]:
    """Other rational parameters, so that mutants of one kind differ."""
    return {
        key: generator.choice(["1/2", "1/3", "2/5", "1/4"])
        if key.startswith("ratio")
        else generator.choice(["1/5", "1/4", "1/3", "2/7"])
        for key in parameters
        if key.startswith(("ratio", "lam"))
    }


def _changes(function: ast.FunctionDef) -> Iterator[tuple[str, ast.AST, Any]]:
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.IfExp) and _draws(node.test):
                yield "left out", node, node.orelse
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor) and _draws(node.right):
                yield "left out", node, node.left
            if isinstance(node, ast.Call) and _called(node) == "geometric":
                yield "left out", node, node.args[0]
                yield "scale", node.args[1], ast.BinOp(node.args[1], ast.Pow(), ast.Constant(2))
            if isinstance(node, ast.Call) and _called(node) == "flip":
                yield "scale", node.args[0], ast.BinOp(node.args[0], ast.Div(), ast.Constant(2))
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in WRONG:
                for table in (WRONG, OFF_BY_ONE):
                    yield "comparison", node, ast.Compare(node.left, [table[type(node.ops[0])]()], node.comparators)
            if isinstance(node, ast.Call) and _called(node) == "flip" and _fixed(node, function):
                yield "reused", statement, node


def _fixed(call: ast.Call, function: ast.FunctionDef) -> bool:
    """Whether a draw takes nothing but parameters, so that it can be made before everything else."""
    names = {argument.arg for argument in function.args.args}
    return all(node.id in names for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Name))


def _draws(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) and _called(inner) == "flip" for inner in ast.walk(node))


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _tight(text: str, name: str, parameters: dict[str, Any]) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "subject.py"
        path.write_text(text, encoding="utf-8")
        try:
            return getattr(import_file(path), name).bind(**parameters).privacy().exp_epsilon
        except TightdpError:
            return None


def _changed(before: str, after: str) -> frozenset[int]:
    """The lines of the changed text that differ from those before."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    changed = [range(j1, max(j2, j1 + 1)) for tag, _, _, j1, j2 in matcher.get_opcodes() if tag != "equal"]
    return frozenset(line + 1 for lines in changed for line in lines)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: Any) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self._new if node is self._old else self.generic_visit(node)
