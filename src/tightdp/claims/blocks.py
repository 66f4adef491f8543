"""The little that a report page is made of, and how it becomes Markdown or HTML.

The texts are Markdown with `code`, **bold**, [links](#x), paragraphs and lists of one level; both writers
know just that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from tightdp.present.view import table as html_table

__all__ = [
    "Block",
    "bullets",
    "code",
    "details",
    "heading",
    "paragraph",
    "render_html",
    "render_markdown",
    "table",
    "unwrapped",
]


@dataclass(frozen=True)
class Heading:
    """A heading with an anchor."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Text:
    """Paragraphs and lists, in Markdown."""

    text: str


@dataclass(frozen=True)
class Code:
    """A line for the shell."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of short texts."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Details:
    """Text that unfolds."""

    summary: str
    inside: Text


Block: TypeAlias = Heading | Text | Code | Table | Details


def heading(level: int, text: str, anchor: str = "") -> Heading:
    """Return a heading."""
    return Heading(level, text, anchor)


def paragraph(text: str) -> Text:
    """Return paragraphs."""
    return Text(text)


def bullets(items: Iterable[str]) -> Text:
    """Return a list."""
    return Text("\n".join(f"- {item}" for item in items))


def code(text: str) -> Code:
    """Return a line for the shell."""
    return Code(text)


def details(summary: str, inside: Text) -> Details:
    """Return text that unfolds below a line."""
    return Details(summary, inside)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table."""
    return Table(tuple(header), tuple(tuple(row) for row in rows))


def render_markdown(blocks: list[Block]) -> str:
    """Return Markdown."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text, anchor):
            mark = f'<a id="{anchor}"></a>\n\n' if anchor else ""
            return f"{mark}{'#' * level} {text}"
        case Text(text):
            return unwrapped(text)
        case Code(text):
            return f"```\n{text}\n```"
        case Table(header, rows):
            lines = [header, ("---",) * len(header), *rows]
            return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)
        case Details(summary, inside):
            return f"<details><summary>{escape(summary)}</summary>\n\n{unwrapped(inside.text)}\n\n</details>"


def unwrapped(text: str) -> str:
    """Return Markdown with a line for each paragraph and list item, however its source was wrapped.

    A list stands in a paragraph of its own: a line of other text that begins with a minus sign is no item.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        listed = line.startswith("- ") and bool(lines) and lines[-1].startswith("- ")
        if lines and lines[-1] and line.strip() and not listed:
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line.rstrip())
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def render_html(title: str, blocks: list[Block]) -> str:
    """Return a page."""
    body = "\n".join(map(_html, blocks))
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _html(block: Block) -> str:
    match block:
        case Heading(level, text, anchor):
            at = f' id="{escape(anchor)}"' if anchor else ""
            return f"<h{level}{at}>{_inline(text)}</h{level}>"
        case Text(text):
            return "\n".join(_paragraph(part) for part in re.split(r"\n\s*\n", text) if part.strip())
        case Code(text):
            return f"<pre>{escape(text)}</pre>"
        case Table(header, rows):
            return html_table(rows, header, _inline, _verdict)
        case Details(summary, inside):
            return f"<details><summary>{escape(summary)}</summary>{_html(inside)}</details>"


def _verdict(cell: str) -> str:
    """Return the verdict that a cell is about, or nothing."""
    found = re.match(r"\*\*([a-z-]+)\*\*", cell)
    return "" if found is None else found[1]


def _paragraph(text: str) -> str:
    """Return a paragraph, with the list in it if there is one."""
    lines = unwrapped(text).split("\n")
    start = next((at for at, line in enumerate(lines) if line.startswith("- ")), len(lines))
    before = "\n".join(lines[:start]).strip()
    items = [line.removeprefix("- ") for line in lines[start:]]
    listed = f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>" if items else ""
    return (f"<p>{_inline(before)}</p>" if before else "") + listed


def _inline(text: str) -> str:
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(f"<code>{escape(part[1:-1])}</code>" if part.startswith("`") else _marked(part) for part in parts)


def _marked(text: str) -> str:
    safe = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text), flags=re.DOTALL)
    return re.sub(r"\[([^\]]+)\]\((?:[\w/.-]+\.md)?(#[\w.-]+)\)", r'<a href="\2">\1</a>', safe)


_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#1f2937}
h1,h2,h3,h4{line-height:1.25}h2{margin-top:3rem;border-bottom:1px solid #d1d5db}h4{margin:2rem 0 .3rem}
p{margin:.5rem 0}table{border-collapse:collapse;margin:.8rem 0;font-size:.92rem}
th,td{border:1px solid #d1d5db;padding:.3rem .6rem;text-align:left;vertical-align:top}th{background:#f3f4f6}
pre{background:#f3f4f6;padding:.5rem .8rem;overflow-x:auto}code{background:#f3f4f6;padding:0 .2rem}
summary{cursor:pointer;color:#4b5563}
td.proved{background:#d1fae5}td.holds-on{background:#ecfccb}td.refuted{background:#fee2e2}
td.corrected{background:#ffedd5}td.open{background:#e5e7eb}
@media (prefers-color-scheme: dark){body{background:#111827;color:#e5e7eb}th,pre,code{background:#1f2937}
th,td{border-color:#374151}summary{color:#9ca3af}td.proved{background:#064e3b}td.holds-on{background:#365314}
td.refuted{background:#7f1d1d}td.corrected{background:#7c2d12}td.open{background:#374151}a{color:#93c5fd}}
"""
