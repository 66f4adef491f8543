"""Imports go one way, from the end of `LAYERS` to its start, and the package is light to import."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tightdp

ROOT = Path(tightdp.__file__).parent
LAYERS = (
    "limits",
    "exact",
    "language",
    "cells",
    "core",
    "logic",
    "symmetry",
    "methods",
    "queries",
    "every_n",
    "one_run",
    "auditing",
    "results",
    "present",
    "session",
    "claims",
    "cli",
)
"""The packages in the order of docs/architecture.md, in which data flows."""
ANYWHERE = {"tightdp.errors", "tightdp._version"}
HEAVY = {"numpy", "sympy", "networkx", "rich", "dd", "matplotlib", "scipy"}
SHIPPED = ("programs", "proofs")
"""Folders that a wheel holds beside the packages: read by commands, imported by none."""
FILES = sorted(path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] not in SHIPPED)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(module: str) -> int:
    """The place of a module in the order: that of its package, or the last."""
    parts = module.split(".")
    return LAYERS.index(parts[1]) if len(parts) > 1 and parts[1] in LAYERS else len(LAYERS)


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every imported module and its line, in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            if node.module == "tightdp":
                yield from ((f"tightdp.{name.name}", node.lineno) for name in node.names)
            else:
                yield node.module, node.lineno


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_go_to_earlier_packages(path: Path) -> None:
    here = module_name(path)
    for imported, line in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if imported.split(".")[0] == "tightdp" and imported not in ANYWHERE:
            assert layer(imported) <= layer(here), f"{path}:{line} imports {imported}, which comes later"


def named(tree: ast.AST, known: Collection[str]) -> Iterator[str]:
    """Every module of the package that is imported, in functions and for type checkers too, or put off by its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            parts = (f"{node.module}.{name.name}" for name in node.names)
            yield from (part if part in known else str(node.module) for part in parts)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_modules_stand_in_no_circle() -> None:
    """A reader is never sent back up: late imports, those for type checkers and those put off (`lazily`) count."""
    known = {module_name(path): path for path in FILES}
    below = {here: set[str]() for here in known}
    for here, path in known.items():
        found = named(ast.parse(path.read_text(encoding="utf-8")), known)
        below[here].update(module for module in found if module in known and module != here)
    del below["tightdp"]  # the public face, which all of its modules import by standing in it
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None


def test_only_one_file_imports_dd() -> None:
    users = {
        module_name(path)
        for path in FILES
        for imported, _ in imports(ast.parse(path.read_text(encoding="utf-8")))
        if imported.split(".")[0] == "dd"
    }
    assert users == {"tightdp.logic.bdd"}


def test_the_interpreter_shares_nothing_with_the_compiler() -> None:
    """The meaning of the language is independent of what is tested against it."""
    compiler = ("tightdp.core.lowering", "tightdp.core.nodes", "tightdp.core.check", "tightdp.logic")
    pending, seen = ["tightdp.language.interp"], set()
    while pending:
        module = pending.pop()
        if module in seen:
            continue
        seen.add(module)
        path = ROOT.parent / Path(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        found = [name for name, _ in imports(ast.parse(path.read_text(encoding="utf-8"))) if name.startswith("tightdp")]
        pending += found
    assert not [module for module in seen if module.startswith(compiler)]


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT.parent)}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment)


ASKED = ["-m", "tightdp", "privacy", "randomized_response", "n=2", "lam=1/5"]


@pytest.mark.parametrize(
    ("command", "needed"),
    [(["-c", "import tightdp"], set()), (["-m", "tightdp", "--help"], set()), (ASKED, {"dd", "networkx"})],
    ids=["import", "help", "privacy"],
)
def test_start_up_is_light(command: list[str], needed: set[str]) -> None:
    done = run_python("-X", "importtime", *command)
    loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "tightdp" in loaded
    assert loaded & HEAVY <= needed


ENTERED = """
import sys
import tightdp

mechanism, entered = tightdp.load("randomized_response"), set()
str(mechanism.bind(n=2, lam="1/5").privacy())  # what is imported on the way counts no more
asked = mechanism.bind(n=8, lam="1/5")
sys.setprofile(lambda frame, event, argument: event == "call" and entered.add(frame.f_code.co_filename))
str(asked.privacy())
sys.setprofile(None)
print(*entered, sep="\\n")
"""


def test_a_question_enters_few_modules() -> None:
    """From the question to the text: the number of files of the package in which a function is called, at most.

    In a process of its own, as what other questions have imported is asked, too. The mechanism is no part of it.
    """
    found = [Path(line) for line in run_python("-c", ENTERED).stdout.splitlines()]
    own = [path for path in found if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "programs")]
    assert 60 < len(own) <= 92


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
