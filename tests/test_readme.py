"""Every example of README.md and docs/ is run, and prints what stands there.

Blocks of a document are run in order, in one empty directory beside `programs`:

- `python` that begins with a comment such as `# name.py` is written to that file;
- `python` with `>>>` is a doctest; other `python` is executed; `pycon` is a doctest that needs the extra `oracles`;
- `console` has commands after `$`, each followed by what it prints (errors too);
- `sh` has commands that are run for their exit status; those that install something or run the tests are left out.

TIGHTDP_UPDATE_GOLDEN=1 writes anew what the commands print: read the difference then.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tightdp.results
import tightdp.testing
from tightdp.cli import main
from tightdp.cli.main import COMMANDS
from tightdp.language import primitives

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w-]+\.py)\n")
UPDATE = "TIGHTDP_UPDATE_GOLDEN" in os.environ
INSTALL, TEST = "python -m pip install", "python -m pytest"


@dataclass(frozen=True)
class Block:
    """A fenced block, and the line it begins on."""

    language: str
    text: str
    line: int


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a document."""
    text = path.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)


def run(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit status of a tightdp command, and what it prints."""
    words = shlex.split(command)
    assert words[0] == "tightdp", f"only tightdp can be run here, not {command}"
    try:
        status = main(words[1:])
    except SystemExit as end:
        status = int(end.code or 0)
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def run_console(block: Block, capsys: pytest.CaptureFixture[str]) -> str:
    """The block with what its commands print now."""
    assert block.text.startswith("$ "), block.text
    commands = re.findall(r"^\$ (.*)$", block.text, re.MULTILINE)
    return "".join(f"$ {command}\n{run(command, capsys)[1]}" for command in commands)


def run_python(block: Block, path: Path) -> None:
    """Write a file, check a doctest, or execute."""
    named = NAMED.match(block.text)
    if named is not None:
        Path(named[1]).write_text(block.text, encoding="utf-8")
        compile(block.text, named[1], "exec")
        return
    if ">>> " in block.text:
        test = doctest.DocTestParser().get_doctest(block.text, {}, path.name, str(path), block.line)
        problems: list[str] = []
        doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
            test, out=problems.append
        )
        assert not problems, "".join(problems)
        return
    exec(compile(block.text, f"{path.name}:{block.line}", "exec"), {"__name__": "example"})


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with the programs in it; modules that are imported from it are forgotten afterwards."""
    (tmp_path / "programs").symlink_to(ROOT / "programs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


LONG = {
    "certificates.md": 6,
    "tutorial-audit.md": 4,
    "api.md": 5,
    "api-results.md": 9,
    "every-n.md": 13,
    "gallery.md": 5,
    "numbers.md": 5,
    "unbounded-noise.md": 5,
    "validity.md": 12,
}
"""How many seconds the examples of the longest pages take."""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.name, marks=pytest.mark.slow(seconds=LONG[path.name]) if path.name in LONG else ())
        for path in DOCUMENTS
    ],
)
def test_examples(path: Path, workshop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in list(blocks(path)):
        match block.language:
            case "python":
                run_python(block, path)
            case "console":
                printed = run_console(block, capsys)
                if UPDATE:
                    text = path.read_text(encoding="utf-8").replace(block.text, printed)
                    path.write_text(text, encoding="utf-8")
                assert printed == block.text or UPDATE, f"line {block.line} of {path.name}"
            case "sh":
                for command in re.split(r"\s&&\s|\n", block.text.strip()):
                    if not command.startswith((INSTALL, TEST)):
                        assert run(command, capsys)[0] == 0, command
            case _:
                assert "$ " not in block.text, f"line {block.line} of {path.name}: mark commands as console"


@pytest.mark.extra("oracles")
@pytest.mark.parametrize("name", ["opendp.md", "composition.md"])
def test_examples_beside_other_libraries(name: str, workshop: Path) -> None:
    path = ROOT / "docs" / name
    found = [block for block in blocks(path) if block.language == "pycon" or NAMED.match(block.text)]
    assert any(block.language == "pycon" for block in found)
    for block in found:
        run_python(block, path)


def test_the_first_two_commands() -> None:
    """The README starts with the main job and the tests; the check of a fresh checkout begins with the latter."""
    first, second = (block.text.strip() for block in blocks(DOCUMENTS[0]) if block.language == "sh")
    assert first.startswith(f"{INSTALL} . && tightdp privacy programs/")
    assert second == f"{INSTALL} '.[test]' && {TEST}"
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert " && ".join(line for line in lines if line.startswith((INSTALL, TEST)))[: len(second) + 4] == f"{second} && "


def test_commands_and_primitives_are_described() -> None:
    commands, language = (
        (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("command-line.md", "language.md")
    )
    assert [command for command in COMMANDS if f"| `tightdp {command}" not in commands.replace(", `", " | `")] == []
    drawn = {function.__name__ for function in primitives.PRIMITIVES} | {"choice", "shuffle", "observe"}
    assert [name for name in sorted(drawn) if f"| `{name}(" not in language] == []


def test_every_public_name_is_in_the_reference() -> None:
    """Under the name that users import, each with an example."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("api*.md")))
    listed = re.findall(r"^::: (tightdp[\w.]*)$", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    public = {f"tightdp.{name}" for name in tightdp.__all__ if name != "__version__"}
    public |= {f"tightdp.results.{name}" for name in tightdp.results.__all__}
    public |= {f"tightdp.testing.{name}" for name in tightdp.testing.__all__}
    assert public == set(listed)
    parts = re.split(r"^::: tightdp[\w.]*$", text, flags=re.MULTILINE)[1:]
    silent = [name for name, part in zip(listed, parts, strict=True) if ">>> " not in part.partition("\n## ")[0]]
    assert silent == []


def test_the_front_page_is_short() -> None:
    prose = re.sub(r"\]\([^)]*\)", "]", FENCE.sub("", DOCUMENTS[0].read_text(encoding="utf-8")))
    assert 300 <= len(re.findall(r"\w[\w'-]*", prose)) <= 500


def test_extras_are_installed_from_a_clone() -> None:
    """As long as no package index has tightdp, nothing says that it comes from one; a page names all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed, extras = (
        (ROOT / "docs" / "installation.md").read_text(encoding="utf-8"),
        set(project["optional-dependencies"]),
    )
    assert [name for name in sorted(extras) if f"`{name}`" not in listed] == []
    folders = (ROOT / name for name in ("src", "docs", "programs", "benchmarks", "notebooks"))
    texts = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".md", ".ipynb")]
    for path in [*texts, DOCUMENTS[0]]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"install '?tightdp", text), path
        assert set(re.findall(r'MissingExtra\(".*", "(.*)"\)', text)) <= extras, path


def test_links_lead_somewhere() -> None:
    for path in [*DOCUMENTS, ROOT / "programs" / "README.md", ROOT / "benchmarks" / "README.md"]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{target} in {path.name}"


PLACE = re.compile(r"`([a-zA-Z_.][\w./*-]*(?:/[\w.*-]*|\.py))`")
WRITTEN = re.compile(r"# ([\w-]+\.py)\n")
ABOVE = (ROOT, ROOT / "src" / "tightdp", ROOT / "src" / "tightdp" / "core" / "lowering")


@pytest.mark.parametrize("path", DOCUMENTS, ids=[path.name for path in DOCUMENTS])
def test_files_that_are_named_exist(path: Path) -> None:
    """In backquotes: a path with a slash, or a Python file; names in capitals stand for any name."""
    text = path.read_text(encoding="utf-8")
    examples = set(WRITTEN.findall(text))
    places = [place for place in PLACE.findall(text) if not re.search(r"[A-Z]{3}", place) and place not in examples]
    assert [place for place in places if not any(any(above.glob(place)) for above in ABOVE)] == []
