"""The style of the page: light or dark as the reader prefers, readable from 360 pixels on."""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --page: #fbfbf9; --ink: #1c1e21; --soft: #5d636b; --line: #d9dadd; --card: #ffffff;
  --one: #0b67b2; --two: #c8501e; --mark: #ffe9a8; --good: #1a7f4b; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #15171a; --ink: #e7e8ea; --soft: #a2a8b0; --line: #363a40;
  --card: #1d2024; --one: #6db3f2; --two: #f0915f; --mark: #5a4a12; --good: #62c98f; --bad: #f28b82; } }
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
svg .grid { stroke: var(--line); fill: none; } svg .one { stroke: var(--one); fill: none; stroke-width: 2; }
svg .dot { fill: var(--one); } svg .bar1 { fill: var(--one); } svg .bar2 { fill: var(--two); }
svg .guide { stroke: var(--soft); stroke-dasharray: 4 4; fill: none; }
.exact { color: var(--good); } .open { color: var(--bad); }
"""
