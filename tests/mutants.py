"""Mutants of programs: one mistake of a known kind in a known line, after which the tight ε is larger than before.

Kinds: noise left out, noise of the wrong scale, a wrong comparison, a draw that is made once and used again.
"""

from __future__ import annotations

import ast
import copy
import difflib
import math
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tightdp import TightdpError
from tightdp.session.files import import_file

PROGRAMS = Path(__file__).parent.parent / "programs"

Subject = tuple[str, str, dict[str, Any]]
"""A file, a mechanism in it, and n and parameters at which it is small."""

SUBJECTS: list[Subject] = [
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
    ("gallery/bit_vector_length", "mended", {"n": 1, "lam": "1/4"}),
    ("gallery/subsample_reused", "meant", {"n": 2, "lam": "1/5", "answers": 2}),
    ("gallery/floating_point", "meant", {"n": 1, "ratio": "1/2"}),
    ("gallery/replace_one_sum", "meant", {"n": 2}),
    ("gallery/permute_and_flip", "shipped", {"n": 3}),
    ("shuffled_randomized_response", "shuffled_randomized_response", {"n": 2, "lam": "1/2"}),
    ("gallery/threshold_tail", "meant", {"n": 2, "ratio": "1/2", "threshold": 3}),
    ("gallery/threshold_truncated", "meant", {"n": 2, "ratio": "1/2", "threshold": 2}),
    ("gallery/threshold_truncated", "mended", {"n": 2, "ratio": "1/2", "threshold": "5/2"}),
]

WRONG = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
_AT = Fraction(4)
"""The e^ε at which δ is compared."""

OFF_BY_ONE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


@dataclass(frozen=True)
class Mutant:
    """A changed file, the lines that changed, and the claim that was tight before: e^ε, or δ where that is infinite."""

    name: str
    mechanism: str
    parameters: dict[str, Any]
    kind: str
    text: str
    lines: frozenset[int]
    claim: dict[str, Fraction]


def mutants(seed: int, count: int) -> Iterator[Mutant]:
    """So many mutants that break what was tight before, drawn by the seed: changes under three strengths at most."""
    generator = random.Random(seed)
    changes = [(subject, place) for subject in SUBJECTS for place in range(len(_choices(*_parsed(subject))))]
    drawn = changes * 3
    generator.shuffle(drawn)
    seen: set[str] = set()
    made = 0
    for subject, place in drawn:
        mutant = _mutant(generator, made, subject, place)
        if mutant is None or f"{mutant.text}{mutant.parameters}" in seen:
            continue
        seen.add(f"{mutant.text}{mutant.parameters}")
        yield mutant
        made += 1
        if made == count:
            return
    raise AssertionError(f"too few mutants: {made}")


def _parsed(subject: Subject) -> tuple[ast.Module, str]:
    return ast.parse((PROGRAMS / f"{subject[0]}.py").read_text(encoding="utf-8")), subject[1]


def _choices(tree: ast.Module, name: str) -> list[tuple[str, ast.AST, Any]]:
    """The changes of a mechanism and of the helpers that it calls."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    called = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
    return [
        change
        for function in functions.values()
        if function.name == name or (function.name in called and not function.decorator_list)
        for change in _changes(function)
    ]


def _mutant(generator: random.Random, number: int, subject: Subject, place: int) -> Mutant | None:
    tree, name = _parsed(subject)
    parameters = {**subject[2], **_other_strength(generator, subject[2])}
    kind, old, new = _choices(tree, name)[place]
    before = ast.unparse(tree)
    if kind == "reused":
        shared = ast.Assign([ast.Name("shared", ast.Store())], new)
        new = [shared, _Replace(new, ast.Name("shared", ast.Load())).visit(copy.copy(old))]
    after = ast.unparse(ast.fix_missing_locations(_Replace(old, new).visit(tree)))
    claimed, loss = _tight(before, name, parameters), _tight(after, name, parameters)
    claim: dict[str, Fraction] = {"exp_epsilon": claimed}
    if claimed == math.inf:
        claimed, loss = (_tight(text, name, parameters, _AT) for text in (before, after))
        claim = {"exp_epsilon": _AT, "delta": claimed}
    if not isinstance(claimed, Fraction) or claimed == 1 or loss is None or loss <= claimed:
        return None
    return Mutant(f"mutant_{number}", name, parameters, kind, f"{after}\n", _changed(before, after), claim)


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


_FILES = tempfile.TemporaryDirectory()
"""Where the files stay: the source of a helper is read when it is called."""


@cache
def _loaded(text: str) -> ModuleType:
    path = Path(tempfile.mkdtemp(dir=_FILES.name)) / "subject.py"
    path.write_text(text, encoding="utf-8")
    return import_file(path)


def _tight(text: str, name: str, parameters: dict[str, Any], t: Fraction | None = None) -> Any:
    """The tight e^ε, or δ at t."""
    try:
        instance = getattr(_loaded(text), name).bind(**parameters)
        return instance.privacy().exp_epsilon if t is None else instance.delta(exp_epsilon=t).delta
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
