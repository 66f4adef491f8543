"""Files stay short, packages say what they are for, and what is excused from a rule is listed until it is put right.

Every list of exceptions shrinks: an entry that is no longer needed fails, so that it is taken out.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tightdp"
FOLDERS = ("src", "tests", "proofs", "benchmarks", "programs")
LONGEST = 400

LONG: set[str] = set()
"""Files of more than 400 lines."""

SILENT: set[str] = set()
"""Packages that do not say what goes in, what comes out and what they may import."""

BETWEEN = ("core", "logic", "symmetry", "methods", "queries")
"""Packages whose signatures name types."""

UNTYPED = {"core": 19, "logic": 1, "symmetry": 1, "methods": 2, "queries": 1}
"""How many functions of those have `Any` in a signature, by package."""

INSIDE = {
    "cli": 1,
    "exact": 3,
    "limits": 3,
    "logic": 2,
    "present": 1,
    "results": 2,
    "session": 5,
}
"""How many imports stand inside functions, by package: for a light start, or against a circle."""

NUMBERS = {"exact": 35, "logic": 10, "methods": 21, "queries": 21, "results": 2, "symmetry": 5}
"""How many numbers have a name at the top of a module, by package; those that decide how much work is done stand in
`limits/calibrated.py`, the others say how many digits or bits there are, or are not derived from those yet."""


def excused(found: set[str], exceptions: set[str], what: str) -> None:
    """The exceptions are exactly what breaks the rule."""
    assert found - exceptions == set(), what
    assert exceptions - found == set(), "these keep the rule by now: take them out of the list"


def packages() -> Iterator[Path]:
    yield from sorted(path for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)


def test_files_are_short() -> None:
    long = {
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST
    }
    excused(long, LONG, f"files of more than {LONGEST} lines: split them by subject")


def test_packages_say_what_goes_in_and_out() -> None:
    silent = set()
    for path in packages():
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if not all(any(form in said for form in forms) for forms in (("In:",), ("Out:",), ("May import", "Imports "))):
            silent.add(str(path.parent.relative_to(PACKAGE)))
    excused(silent, SILENT, "say in the docstring of the package: `In: ... Out: ... May import ...`")


def signatures_with_any(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            hints = [argument.annotation for argument in every if argument is not None] + [node.returns]
            parts = [part for hint in hints if hint is not None for part in ast.walk(hint)]
            if any(isinstance(part, ast.Name) and part.id == "Any" for part in parts):
                yield node.name


def not_more(found: Counter[str], recorded: dict[str, int], what: str) -> None:
    """The numbers are those recorded, which only become smaller."""
    assert {name: count for name, count in found.items() if count > recorded.get(name, 0)} == {}, what
    assert {name for name, count in recorded.items() if found[name] < count} == set(), "fewer now: lower the numbers"


def test_signatures_between_the_program_and_the_answer_name_types() -> None:
    found: Counter[str] = Counter()
    for package in BETWEEN:
        for path in (PACKAGE / package).rglob("*.py"):
            found[package] += len(list(signatures_with_any(ast.parse(path.read_text(encoding="utf-8")))))
    not_more(found, UNTYPED, "more functions with `Any` in the signature than are recorded: name the type")


def imports_inside(tree: ast.Module) -> int:
    """How many import statements stand inside functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return len({n for f in functions for n in ast.walk(f) if isinstance(n, (ast.Import, ast.ImportFrom))})


def test_imports_inside_functions_become_fewer() -> None:
    found: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).parts
        found[parts[0] if len(parts) > 1 else "."] += imports_inside(ast.parse(path.read_text(encoding="utf-8")))
    not_more(found, INSIDE, "more imports inside functions than are recorded: import at the top of the file")


def is_number(node: ast.expr | None) -> bool:
    """Whether an expression is made of numbers alone."""
    parts = [] if node is None else list(ast.walk(node))
    plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    numbers = [part.value for part in parts if isinstance(part, ast.Constant)]
    return bool(numbers) and all(isinstance(part, plain) for part in parts) and not any(map(_is_text, numbers))


def _is_text(value: object) -> bool:
    return isinstance(value, (str, bytes, bool)) or value is None


def named_numbers(path: Path) -> int:
    """How many numbers a module names."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return sum(isinstance(node, (ast.Assign, ast.AnnAssign)) and is_number(node.value) for node in body)


def test_numbers_that_decide_stand_in_one_file_and_become_fewer() -> None:
    found: Counter[str] = Counter()
    calibrated = PACKAGE / "limits" / "calibrated.py"
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).parts
        if parts[0] in NUMBERS:
            found[parts[0]] += named_numbers(path)
    assert named_numbers(calibrated) <= 60
    not_more(found, NUMBERS, "more named numbers than are recorded: derive them from those in limits/calibrated.py")


def test_folders_of_tests_have_the_names_of_packages() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders - {path.name for path in PACKAGE.iterdir()} == set()


def test_names_of_test_files_are_unique() -> None:
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []


def test_no_test_imports_another_one() -> None:
    importing = [
        path.name
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("test_")
    ]
    assert importing == []


def test_no_test_measures_seconds() -> None:
    """How long a question takes is measured in `benchmarks`: a machine may be busy, and then a test would fail."""
    for path in (ROOT / "tests").glob("*/test_*.py"):
        text = path.read_text(encoding="utf-8")
        assert "process_time()" not in text, path.name
        assert "perf_counter()" not in text, path.name
