"""The hook of the documentation site: the README as its first page, and files outside docs/ that pages link to."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")
FIRST = ("README.md", "docs", "proofs/report.md", "programs/README.md", "benchmarks/README.md", "CHANGELOG.md")


def on_files(files: Files, config: Any) -> Files:
    """Add what is linked from a page, page by page, and the README as index.md."""
    pending = [ROOT / name for name in FIRST if name != "docs"] + sorted((ROOT / "docs").glob("*.md"))
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        uri = place(path)
        if files.get_file_from_path(uri) is None:
            text = path.suffix == ".md"
            content = rewritten(path) if text else path.read_bytes()
            files.append(File.generated(config, uri, content=content))
        if path.suffix == ".md":
            pending += [target for target in map(path.parent.__truediv__, links(path)) if file_of(target)]
            pending = [file_of(target) or target for target in pending]
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links of a page of docs/ to files outside it into links inside the site."""
    path = ROOT / "docs" / page.file.src_uri
    return relinked(markdown, path) if path.is_file() else markdown


def rewritten(path: Path) -> str:
    return relinked(path.read_text(encoding="utf-8"), path)


def relinked(text: str, path: Path) -> str:
    def link(found: re.Match[str]) -> str:
        target = file_of(path.parent / found[1])
        return posixpath.relpath(place(target), posixpath.dirname(place(path)) or ".") if target else found[1]

    return LINK.sub(link, text)


def links(path: Path) -> list[str]:
    return LINK.findall(path.read_text(encoding="utf-8"))


def file_of(target: Path) -> Path | None:
    """The file of the repository that a link leads to; of a directory its README."""
    target = target.resolve()
    if target.is_dir():
        target = target / "README.md"
    return target if target.is_file() and target.is_relative_to(ROOT) else None


def place(path: Path) -> str:
    """Where a file of the repository stands in the site."""
    relative = path.relative_to(ROOT).as_posix()
    return "index.md" if relative == "README.md" else relative.removeprefix("docs/")
