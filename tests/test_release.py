"""What a release says of itself in several places is the same in all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tightdp import __version__

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/tightdp/tightdp"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_one() -> None:
    assert f"\nversion: {__version__}\n" in text("CITATION.cff")
    assert f"version = {{{__version__}}}" in text("docs/citation.md")
    released = re.findall(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)
    assert released[0] == "Unreleased"
    assert released[1:2] in ([], [__version__])


def test_the_address_is_one() -> None:
    urls = tomllib.loads(text("pyproject.toml"))["project"]["urls"]
    assert urls["Repository"] == REPOSITORY
    assert all(url.startswith(REPOSITORY) for url in urls.values())
    assert f"\nrepository-code: {REPOSITORY}\n" in text("CITATION.cff")
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py"), ROOT / "pyproject.toml"]:
        for found in re.findall(r"https?://[\w./-]*tightdp[\w./-]*", path.read_text(encoding="utf-8")):
            assert found.startswith(REPOSITORY), path


def test_every_file_behind_an_address_is_there() -> None:
    for url in tomllib.loads(text("pyproject.toml"))["project"]["urls"].values():
        _, _, place = url.partition("/main/")
        assert (ROOT / place).exists(), url


def test_workflows_call_the_check() -> None:
    for name in ("ci", "release"):
        assert "\n      - run: .ci/run\n" in text(f".github/workflows/{name}.yml")
