"""How a report is shown: in a notebook and as a file as a page, in a terminal as its main facts."""

from __future__ import annotations

from html import escape

from tightdp.errors import QueryError
from tightdp.present.report.page import page
from tightdp.present.show import file_of, view, view_of
from tightdp.present.view import View
from tightdp.results.report import Report


@view_of.register
def _report_view(result: Report) -> View:
    seen = view(result.privacy)
    left = tuple(f"Left out: {name}, as {reason}." for name, reason in result.left_out)
    framed = f'<iframe style="width:100%;height:85vh;border:0" srcdoc="{escape(page(result), quote=True)}"></iframe>'
    return View(seen.heading, seen.facts, None, (*seen.sentences, *left), framed)


@file_of.register
def _report_file(result: Report, form: str) -> str:
    if form != "html":
        raise QueryError(f"a report is no {form}", "write it as html")
    return page(result)
