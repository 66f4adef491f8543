"""The hook of the documentation site: pages that stand outside docs/, notebooks, mathematics, and links to the source.

The README is the first page; files that pages link to are part of the site. Notebooks become pages with their outputs.
Mathematics becomes MathML here, so that pages need no script and no network for it. Where `[project.urls]` of
pyproject.toml names a repository, pages have a link to edit them, and the source that the API shows one to its lines.
"""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Iterator
from html import escape, unescape
from itertools import cycle
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")
FIRST = ("README.md", "docs", "proofs/report.md", "programs/README.md", "benchmarks/README.md", "CHANGELOG.md")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MATHS = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
SOURCE = re.compile(
    r'(<summary>Source code in )<code>(src/[\w/.]+)</code>(</summary>.*?<span class="normal"> *(\d+)<)', re.DOTALL
)
TOKEN = re.compile(r"\\text\{[^{}]*\}(?![_^])|\\\w+ *|\\.|.", re.DOTALL)
"""What TeX consists of; text is one piece where it has no index."""
WORDS = re.compile(r"\\text\{([^{}]* [^{}]*)\}")
BREAK = re.compile(r"[-=<>+,]|\\(?:le|ge|ne|to|cdot|leftrightarrow|wedge) *|\\ ")
PRIMED = re.compile(r"<msup>(<mi>[^<]*</mi>)<m[io]>&#x02032;</m[io]></msup>")
INLINE = re.compile(r"<code>([^<]*)</code>")
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*)")
PROSE = re.compile(r"<(code|pre|math|svg|script|style)\b.*?</\1>|<[^>]*>|[^<]+", re.DOTALL)
"""What a page consists of: what stays as it is, tags, and text."""
EXPONENT = r"-?\|[^|]+\||[a-z]{2,}\([^()]*\)|-?(?:[^\W_]+(?:\.\d+|_[^\W_]+)?)(?:/\d+)?'?|∞"
POWER = re.compile(rf"(?<=[\w)\]|])\^(?:\(((?:[^()]|\([^()]*\))*)\)|({EXPONENT}))")
INDEX = re.compile(r"(?<![^\W\d])(?<![.-])([^\W\d_])_([a-zA-Zᵢⱼₖₙ₁₂0-9]{1,2}'?[₁₂ₙ]?)(?![^\W²])")
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
CELL = re.compile(r"<td([^>]*)>(.*?)</td>", re.DOTALL)
OUTPUT = re.compile(r"<p>output of (\S+) (\d+)</p>")

outputs: dict[str, list[str]] = {}
"""The outputs of the notebooks, as HTML, by page."""
sources: dict[str, Path] = {}
"""The file of the repository behind a page that does not stand in docs/."""


def repository() -> str:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    return next((url.rstrip("/") for name, url in urls.items() if name.lower() in ("repository", "source")), "")


def on_files(files: Files, config: Any) -> Files:
    """Add what is linked from a page, page by page, the README as index.md, and the notebooks as pages."""
    pending = [ROOT / name for name in FIRST if name != "docs"] + sorted((ROOT / "docs").glob("*.md")) + NOTEBOOKS
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        uri = place(path)
        sources[uri] = path
        text = path.suffix in (".md", ".ipynb")
        if files.get_file_from_path(uri) is None:
            content = rewritten(path) if text else path.read_bytes()
            files.append(File.generated(config, uri, content=content))
        if text:
            found = [file_of(path.parent / link) for link in LINK.findall(markdown_of(path))]
            pending += [target for target in found if target is not None]
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links of a page of docs/ to files outside it into links inside the site, and mark empty lines by nothing."""
    path = ROOT / "docs" / page.file.src_uri
    return (relinked(markdown, path) if path.is_file() else markdown).replace("<BLANKLINE>\n", "\n")


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Put in the outputs of a notebook, mathematics, and links to the source."""
    html = OUTPUT.sub(lambda found: outputs[found[1]][int(found[2])], html)
    html = MATHS.sub(lambda found: maths(unescape(found[2]), found[1] == "div"), html)
    html = INLINE.sub(lambda found: OPTION.sub(r'<span class="option">\1</span>', found[0]), html)
    html = PROSE.sub(lambda found: found[0] if found[0].startswith("<") else raised(found[0]), html)
    html = TABLE.sub(labelled, html)
    return SOURCE.sub(source_link, html) if repository() else html


def on_page_context(context: Any, page: Any, **_: Any) -> Any:
    """Say where a page can be edited."""
    path = sources.get(page.file.src_uri)
    page.edit_url = f"{repository()}/edit/main/{path.relative_to(ROOT).as_posix()}" if path and repository() else None
    return context


def maths(latex: str, display: bool) -> str:
    """Return MathML; a formula may be broken after its relations and operators, and words are words."""
    pieces = (escape(words) if words else mathml(formula.lstrip(), display) for words, formula in broken(latex.strip()))
    return f'<div class="formula">{"".join(pieces)}</div>' if display else "".join(pieces)


def mathml(latex: str, display: bool) -> str:
    """Return MathML in which a prime is as large as what it stands at: in fonts it stands high already."""
    found = PRIMED.sub(r"<mrow>\1<mi>&#x02032;</mi></mrow>", convert(latex, display="block" if display else "inline"))
    return found.replace('display="block"', 'displaystyle="true"')


def broken(latex: str) -> Iterator[tuple[str, str]]:
    """Yield the words and the formulas that a formula in a line consists of, in order."""
    depth, kept = 0, ""
    for token in TOKEN.findall(latex):
        depth += (token.strip() in ("{", r"\left")) - (token.strip() in ("}", r"\right"))
        words = None if depth else WORDS.fullmatch(token)
        if words is None:
            kept += token
        ends = kept.strip() not in ("", "-") and not depth and BREAK.fullmatch(token)
        if kept.strip() and (words is not None or ends):
            yield "", kept
            kept = ""
        if words is not None:
            yield words[1], ""
    if kept.strip():
        yield "", kept


def raised(text: str) -> str:
    """Return text in which powers are raised and indices lowered."""
    text = POWER.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", text)
    return INDEX.sub(r"\1<sub>\2</sub>", text)


def labelled(found: re.Match[str]) -> str:
    """Return a table of three columns or more whose cells know their heads, for narrow screens."""
    heads = [escape(unescape(re.sub("<[^>]*>", "", head))) for head in re.findall(r"<th[^>]*>(.*?)</th>", found[0])]
    if len(heads) < 3:
        return found[0]
    places = cycle(heads)
    cells = CELL.sub(lambda cell: f'<td{cell[1]} data-head="{next(places)}"><div>{cell[2]}</div></td>', found[0])
    return cells.replace("<table>", '<table data-wide="">')


def source_link(found: re.Match[str]) -> str:
    before, path, after, line = found.groups()
    return f'{before}<a href="{repository()}/blob/main/{path}#L{line}"><code>{path}</code></a>{after}'


def rewritten(path: Path) -> str:
    return relinked(markdown_of(path), path)


def markdown_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return "\n\n".join(cells(json.loads(text), place(path))) if path.suffix == ".ipynb" else text


def cells(book: dict[str, Any], uri: str) -> Iterator[str]:
    """Yield the cells of a notebook as Markdown, with a paragraph in place of each output."""
    kept = outputs[uri] = []
    for cell in book["cells"]:
        source = "".join(cell["source"])
        yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        for output in cell.get("outputs", ()):
            kept.append(f'<div class="notebook-output">{shown(output)}</div>')
            yield f"output of {uri} {len(kept) - 1}"


def shown(output: dict[str, Any]) -> str:
    """Return an output as HTML: a picture or HTML where there is one, else the text."""
    data = output.get("data", {})
    if "text/html" in data:
        return "".join(data["text/html"])
    if "image/png" in data:
        coded = "".join(data["image/png"]).strip()
        return f'<img alt="the picture that the cell draws" src="data:image/png;base64,{coded}">'
    return f"<pre>{escape(''.join(output.get('text', data.get('text/plain', ''))))}</pre>"


def relinked(text: str, path: Path) -> str:
    def link(found: re.Match[str]) -> str:
        target = file_of(path.parent / found[1])
        return posixpath.relpath(place(target), posixpath.dirname(place(path)) or ".") if target else found[1]

    return LINK.sub(link, text)


def file_of(target: Path) -> Path | None:
    """The file of the repository that a link leads to; of a directory its README."""
    target = target.resolve()
    if target.is_dir():
        target = target / "README.md"
    return target if target.is_file() and target.is_relative_to(ROOT) else None


def place(path: Path) -> str:
    """Where a file of the repository stands in the site."""
    relative = path.relative_to(ROOT).as_posix()
    if relative == "README.md":
        return "index.md"
    return relative.removeprefix("docs/").replace(".ipynb", ".md")
