"""The report on an instance as one page of HTML, with its style inside, section by section, for screens and paper."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from itertools import groupby

from tightdp._version import __version__
from tightdp.exact.field import Number
from tightdp.exact.numbers import as_text, brief, decimal_text
from tightdp.exact.weights import as_exact
from tightdp.present.pictures import bars, curve, tradeoff
from tightdp.present.show import view
from tightdp.present.text import html_table
from tightdp.present.words import shown_number, where_reached, witness_sentence
from tightdp.results.report import Report, SourceText
from tightdp.results.result import Result, TripleWitness

STYLE = """
:root { color-scheme: light dark; --page: #fbfbf9; --ink: #1c1e21; --soft: #5d636b; --line: #d9dadd; --card: #ffffff;
  --one: #0b67b2; --two: #c8501e; --other: #3f7f78; --mark: #ffe9a8; --good: #1a7f4b; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #15171a; --ink: #e7e8ea; --soft: #a2a8b0; --line: #363a40;
  --card: #1d2024; --one: #6db3f2; --two: #f0915f; --other: #7fc4bb; --mark: #5a4a12; --good: #62c98f;
  --bad: #f28b82; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 8px; }
p { margin: 0 0 8px; max-width: 70ch; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .9rem; }
.numbers { display: flex; flex-wrap: wrap; gap: 12px; margin: 16px 0; }
.numbers div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 16px;
  min-width: 0; }
.numbers b { display: block; font-size: 1.25rem; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px;
  grid-auto-flow: dense; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px; min-width: 0; }
section.wide { grid-column: 1 / -1; }
@media (max-width: 800px) { .cards { grid-template-columns: minmax(0, 1fr); } }
.scroll { overflow-x: auto; }
pre { margin: 0; font: 13px/1.5 ui-monospace, monospace; }
pre i { color: var(--soft); font-style: normal; user-select: none; }
mark { background: var(--mark); color: inherit; border-radius: 3px; padding: 0 1px; font-weight: 600; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; white-space: nowrap; padding: 3px 14px 3px 0;
  border-bottom: 1px solid var(--line); vertical-align: top;
  font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 500; }
@media (max-width: 600px) { pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  table { font-size: .8rem; } th, td { white-space: normal; padding-right: 8px; }
  .labelled, .labelled tbody { display: block; } .labelled tr:has(th) { display: none; }
  .labelled tr { display: block; border-top: 2px solid var(--line); margin-bottom: 8px; }
  .labelled td { display: flex; justify-content: space-between; gap: 12px; }
  .labelled td::before { content: attr(data-name); color: var(--soft); } }
.records { display: flex; flex-wrap: wrap; gap: 3px; margin: 2px 0 10px; font: 13px/1.3 ui-monospace, monospace; }
.records span { border: 1px solid var(--line); border-radius: 4px; padding: 2px 6px; overflow-wrap: anywhere; }
.records .changed { background: var(--mark); border-color: currentColor; font-weight: 700; }
svg { display: block; width: 100%; height: auto; max-width: 520px; font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); }
svg .soft { fill: var(--soft); font-size: 12px; } svg .axis { stroke: var(--soft); fill: none; }
svg .grid { stroke: var(--line); fill: none; } svg .one { stroke: var(--other); fill: none; stroke-width: 2; }
svg .dot { fill: var(--other); } svg .bar1 { fill: var(--one); } svg .bar2 { fill: var(--two); }
svg .bar3 { fill: var(--other); }
svg .guide { stroke: var(--soft); stroke-dasharray: 4 4; fill: none; }
.exact { color: var(--good); } .open { color: var(--bad); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 0 0 16px; padding: 0; list-style: none; }
.legend i { display: inline-block; width: 14px; height: 12px; margin-right: 6px; border-radius: 2px; }
@page { size: A4; margin: 14mm; }
@media print {
  :root { color-scheme: light; --page: #ffffff; --ink: #1c1e21; --soft: #5d636b; --line: #d9dadd; --card: #ffffff;
    --one: #0b67b2; --two: #c8501e; --other: #3f7f78; --mark: #ffe9a8; --good: #1a7f4b; --bad: #b3261e; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10pt; } main { max-width: none; padding: 0; }
  .cards { gap: 10px; grid-template-columns: repeat(2, minmax(0, 1fr)); }
  section { break-inside: avoid; padding: 10px 12px; }
  .numbers, .legend { margin: 8px 0; }
  .scroll { overflow: visible; } pre { font-size: 8.5pt; white-space: pre-wrap; overflow-wrap: anywhere; }
  table { font-size: 8.5pt; } th, td { white-space: normal; overflow-wrap: break-word; padding-right: 8px; }
}
"""

_COLOURS = {
    "--one": "on the dataset x",
    "--two": "on its neighbour x'",
    "--other": "over all pairs, or of one dataset",
    "--mark": "random draws, and the record that differs",
}
"""What the colours mean on the whole page."""
_LEGEND = (
    '<ul class="legend soft">'
    + "".join(f'<li><i style="background: var({name})"></i>{escape(said)}</li>' for name, said in _COLOURS.items())
    + "</ul>"
)
_AUDIT_WORDS = (
    "An auditor flips a fair coin for each client between two records, runs the mechanism once, and guesses k of the "
    "coins. Efficacy: the expected share of right guesses. AC, average case: the expected confidence in a guess. DDP, "
    "distributional differential privacy: the largest confidence that an output gives. DP, differential privacy: the "
    "largest confidence when all other records are known, e^ε/(1 + e^ε). What lies between them are the gaps, of "
    "elements, outputs and interference."
)


_MOST_CELLS = 60
_MOST_ROWS = 12
_LONGEST_LABEL = 46
_MOST_COLUMNS = 3
"""How many columns of a table a narrow screen has room for."""


def page(report: Report) -> str:
    """Return the report as one page of HTML."""
    title = f"{report.subject}"
    sections = "".join(part for part in _sections(report) if part)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(title).replace('_', '_<wbr>')}</h1>"
        f'<p class="soft">neighbours: {escape(report.neighbours)} · tightdp {__version__}</p>'
        f"<p>{escape(report.documentation.partition(chr(10))[0])}</p>"
        f'{_numbers(report)}{_LEGEND}<div class="cards">{sections}</div></main></body></html>\n'
    )


def _sections(report: Report) -> Iterator[str]:
    yield _section("Source", _sources(report.sources), wide=True)
    yield _section("The worst pair", _witness(report))
    yield _outputs(report)
    if report.curve is not None:
        said = "The δ that is needed at each ε, on a logarithmic scale; between the dots it is linear in e^ε."
        yield _section("Privacy curve", curve(report.curve.points, "δ against ε") + _soft(said) + _open(report.curve))
    if report.tradeoff is not None:
        said = "The best test between neighbours; the dashed line is perfect privacy."
        drawn = tradeoff(report.tradeoff.vertices, "trade-off function")
        yield _section("Trade-off function", drawn + _soft(said) + _open(report.tradeoff))
    yield _accuracy(report)
    if report.efficacy is not None:
        said = _soft(_AUDIT_WORDS) + _view_of(report.efficacy)
        yield _section("Auditing in one run", said, wide=True)
    yield _section("Method and cost", _cost(report))
    yield _section("What is exact", _exactness(report))


def _numbers(report: Report) -> str:
    known = report.privacy
    if known.status == "exact":
        found = [
            ("tight e^ε", "∞" if known.exp_epsilon == math.inf else shown_number(known.exp_epsilon)),
            ("tight ε", {0: "0", math.inf: "∞"}.get(known.epsilon, f"≈ {known.epsilon:.6g}")),
        ]
    else:
        found = [("e^ε at least", shown_number(known.lower)), ("e^ε at most", shown_number(known.upper))]
    if report.curve is not None and report.curve.status == "exact":
        found.append(("δ at ε = 0", shown_number(report.curve.points[0][1])))
        if known.exp_epsilon == math.inf:
            found.append(("least δ at any ε", shown_number(report.curve.points[-1][1])))
    if report.accuracy is not None and report.accuracy.one_minus_beta is not None:
        found.append((f"within {as_text(report.accuracy.alpha)}, at worst", shown_number(report.accuracy.lower)))
    cells = "".join(f'<div><span class="soft">{escape(name)}</span><b>{escape(said)}</b></div>' for name, said in found)
    return f'<div class="numbers">{cells}</div>'


def _sources(sources: Sequence[SourceText]) -> str:
    listing = "\n\n".join("\n".join(_lines(source)) for source in sources)
    return f'<div class="scroll"><pre>{listing}</pre></div>{_soft("Random draws are marked.")}'


def _lines(source: SourceText) -> Iterator[str]:
    for number, line in enumerate(source.lines, source.first_line):
        at, parts = 0, []
        for _, start, end in (mark for mark in source.marks if mark[0] == number):
            parts += [escape(line[at : start - 1]), f"<mark>{escape(line[start - 1 : end - 1])}</mark>"]
            at = end - 1
        yield f"<i>{number:4}  </i>{''.join(parts)}{escape(line[at:])}"


def _witness(report: Report) -> str:
    witness = report.privacy.witness
    if not isinstance(witness, TripleWitness):
        said = "All neighbouring datasets have the same output law: there is nothing to tell apart."
        if witness is not None:
            said = witness_sentence(witness, where_reached(report.privacy))
        elif report.privacy.status != "exact":
            said = "No pair of neighbours is known to be the worst."
        return f"<p>{escape(said)}</p>"
    changed = [a != b for a, b in zip(witness.x, witness.x_prime, strict=True)]
    p, q = witness.probability, witness.probability_prime
    rows = [(f"on x: {_short(p)}", p, "bar1"), (f"on x': {_short(q)}", q, "bar2")]
    where = [str(place + 1) for place, differs in enumerate(changed) if differs]
    records = f"Record {where[0]} differs." if len(where) == 1 else f"Records {', '.join(where[:20])} differ."
    ratio = "only x can give it" if q == 0 else f"a ratio of {shown_number(as_exact(p) / q)}"
    return (
        f'<p class="soft">dataset x</p>{_records(witness.x, changed)}'
        f'<p class="soft">its neighbour x\'</p>{_records(witness.x_prime, changed)}'
        f"<p>{escape(records)} The output {escape(brief(witness.output))} has the probabilities below: "
        f"{escape(ratio)}.</p>{bars(rows, 'the two probabilities of the output')}"
    )


def _records(dataset: Sequence[object], changed: Sequence[bool]) -> str:
    """Return the records as cells, equal ones in a row as one cell where there are many."""
    cells = []
    for (record, differs), run in groupby(zip(dataset, changed, strict=True)):
        times = len(list(run))
        style = ' class="changed"' if differs else ""
        text = escape(brief(record, 40))
        if times > 1 and len(dataset) > _MOST_CELLS:
            cells.append(f"<span{style}>{text} × {times}</span>")
        else:
            cells += [f"<span{style}>{text}</span>"] * times
    return f'<div class="records">{"".join(cells[:200])}</div>'


def _outputs(report: Report) -> str:
    if report.likelihood is None or not report.likelihood.rows:
        return ""
    listed = report.likelihood.rows[:_MOST_ROWS]
    rows = []
    for row in listed:
        output = brief(row.output, _LONGEST_LABEL)
        rows.append((f"{output}: {_short(row.probability)} : {_short(row.probability_prime)}", row.probability, "bar1"))
        rows.append(("", row.probability_prime, "bar2"))
    more = len(report.likelihood.rows) - len(listed)
    said = "Probabilities on x and on x', largest ratio first."
    said += f" {more:,} more outputs are left out." if more else ""
    return _section("All outputs of this pair", bars(rows, "probabilities by output", by=2) + _soft(said))


def _accuracy(report: Report) -> str:
    found = report.accuracy
    if found is None or not found.top:
        return ""
    rows = []
    for row in found.top:
        alike = f" and {row.inputs - 1:,} more" if row.inputs > 1 else ""
        rows.append((f"{brief(row.x, 30)}{alike}: {_short(row.one_minus_beta)}", row.one_minus_beta, "bar3"))
    said = f"The probability of an error of at most {as_text(found.alpha)}, by dataset, worst first."
    return _section("Accuracy by dataset", bars(rows, "accuracy by dataset", Fraction(1)) + _soft(said) + _open(found))


def _cost(report: Report) -> str:
    stats = report.stats
    seconds = stats.compile + stats.count + stats.search
    rows = [
        ("method", stats.method),
        ("nodes of the diagram", f"{stats.nodes:,}"),
        ("output laws counted", f"{stats.queries:,}"),
        ("triples compared", f"{stats.privacy_set:,}"),
        ("seconds", f"{seconds:.3f}"),
    ]
    words = report.structure.symmetry.words if report.structure is not None else stats.symmetries
    rows += [("symmetry", said) for said in words] or [("symmetry", "none was found")]
    return _scrolled(rows)


def _exactness(report: Report) -> str:
    parts = {
        "tight ε": report.privacy,
        "outputs of the worst pair": report.likelihood,
        "privacy curve": report.curve,
        "trade-off function": report.tradeoff,
        "accuracy": report.accuracy,
        "efficacy": report.efficacy,
    }
    rows = [(name, found.status) for name, found in parts.items() if found is not None]
    said = _scrolled(rows, ("answer", "status"))
    note = "Exact answers are rational numbers; decimals and pictures are rounded. "
    note += f"They hold for n = {report.parameters['n']} and these parameters, not for others."
    left = "".join(f"<p>{escape(name)}: left out, {escape(reason)}.</p>" for name, reason in report.left_out)
    return f"{said}<p></p>{left}{_soft(note)}"


def _open(result: Result) -> str:
    """Say that a result is not exact; nothing where it is."""
    if result.status == "exact":
        return ""
    return f'<p class="open">{escape(result.status)}{escape(f": {result.reason}" if result.reason else "")}</p>'


def _view_of(result: Result) -> str:
    seen = view(result)
    grid = _scrolled(seen.grid.rows, seen.grid.header) if seen.grid is not None else ""
    facts = "".join(f"<p>{escape(name)}: {escape(said)}</p>" for name, said in seen.facts)
    return facts + grid + "".join(f"<p>{escape(sentence)}</p>" for sentence in seen.sentences)


def _scrolled(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    return f'<div class="scroll">{html_table(rows, header, labelled=len(header) > _MOST_COLUMNS)}</div>'


def _section(title: str, inner: str, wide: bool = False) -> str:
    return f"<section{' class=wide' if wide else ''}><h2>{escape(title)}</h2>{inner}</section>"


def _soft(text: str) -> str:
    return f'<p class="soft">{escape(text)}</p>'


def _short(value: Number) -> str:
    text = as_text(value)
    return text if len(text) <= 18 else f"≈ {decimal_text(value)}"
