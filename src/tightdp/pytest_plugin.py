"""The pytest plugin: fixtures `assert_private` and `assert_accurate`, and what is said of them at the end.

It imports the engine when one is asked for. Frames of the library are hidden in tracebacks of its own errors
(`--full-trace` shows them), and the claims that were asserted are summed up, on the terminal and as a page of HTML.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from tightdp.results.answers import Verification

__all__ = ["assert_accurate", "assert_private"]

_MOST_LINES = 40
"""How many claims that fail the summary lists."""
_told: list[dict[str, str]] = []
"""The claims of the test that runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options, of the ini file and of the command."""
    parser.addini("tightdp_timeout", "the limit of every question that has none, such as 30s", default=None)
    parser.addini("tightdp_explain", "look for the line to blame for a failure", type="bool", default=True)
    parser.addini("tightdp_report", "write a page with all claims there", default=None)
    parser.getgroup("tightdp").addoption("--tightdp-report", metavar="FILE", help="write a page with all claims there")


@pytest.fixture(scope="session")
def assert_private() -> Callable[..., Verification]:
    """`tightdp.testing.assert_private`: fails with a witness unless a mechanism is (ε, δ)-differentially private."""
    return _assertion("assert_private")


@pytest.fixture(scope="session")
def assert_accurate() -> Callable[..., Verification]:
    """`tightdp.testing.assert_accurate`: fails unless the error keeps its bound on every dataset."""
    return _assertion("assert_accurate")


def _assertion(name: str) -> Callable[..., Verification]:
    return cast("Callable[..., Verification]", getattr(import_module("tightdp.testing"), name))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Have the assertions of a test keep the options, and tell of every claim."""
    testing = sys.modules.get("tightdp.testing")
    if testing is not None:
        settings = testing.settings
        settings.timeout = item.config.getini("tightdp_timeout") or None
        settings.explain = item.config.getini("tightdp_explain")
        settings.told = _told.append
    yield
    if testing is not None:
        testing.settings.told = None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    """Hide the library in the traceback of an error of its own, and keep the claims with the report of the test."""
    if call.excinfo is not None and _is_ours(call.excinfo):
        with _hidden():
            outcome = yield
    else:
        outcome = yield
    if call.when == "call" and _told:
        cast("Any", outcome).get_result().tightdp = list(_told)
        _told.clear()


def _is_ours(error: pytest.ExceptionInfo[BaseException]) -> bool:
    """Whether the library says what is wrong: an error of its own, or a claim that fails."""
    errors = sys.modules.get("tightdp.errors")
    if errors is not None and isinstance(error.value, errors.TightdpError):
        return True
    raised_in = error.traceback[-1].frame.f_globals.get("__name__")
    return isinstance(error.value, AssertionError) and raised_in == "tightdp.testing"


@contextmanager
def _hidden() -> Iterator[None]:
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.partition(".")[0] == "tightdp"]
    for names in modules:
        names["__tracebackhide__"] = True
    try:
        yield
    finally:
        for names in modules:
            names.pop("__tracebackhide__", None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Sum up the claims, and write the page."""
    claims = [
        (report.nodeid, claim)
        for reports in list(terminalreporter.stats.values())
        for report in reports
        for claim in getattr(report, "tightdp", ())
    ]
    if not claims:
        return
    verdicts = Counter(claim["verdict"] for _, claim in claims)
    counted = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    terminalreporter.section(f"tightdp: {len(claims)} claims, {counted}")
    worst_first = sorted(claims, key=lambda each: ("refuted", "open", "holds").index(each[1]["verdict"]))
    failed = [each for each in worst_first if each[1]["verdict"] != "holds"]
    shown = worst_first if terminalreporter.verbosity > 0 else failed[:_MOST_LINES]
    for _, claim in shown:
        terminalreporter.line(f"{claim['verdict']:8}  {claim['call']}  tight {claim['tight'] or '?'}")
    if len(shown) < max(len(failed), 1):
        terminalreporter.line("-v lists all claims")
    config = terminalreporter.config
    target = config.getoption("--tightdp-report") or config.getini("tightdp_report")
    if target:
        path = config.rootpath / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_page(worst_first, counted), encoding="utf-8")
        terminalreporter.line(f"wrote {path}")


_STYLE = (
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }"
    " section { border-left: 4px solid #9ca3af; padding: 0 1rem; margin: 1.5rem 0; overflow-x: auto }"
    " .holds { border-color: #15803d } .refuted { border-color: #b91c1c } code { overflow-wrap: anywhere }"
    " td, th { text-align: left; padding: 0 1rem 0 0; vertical-align: top }"
)


def _page(claims: list[tuple[str, dict[str, str]]], counted: str) -> str:
    """Return a page with all claims, which needs nothing else."""
    sections = "".join(
        f'<section class="{claim["verdict"]}"><h2>{claim["verdict"]}</h2><p><code>{escape(claim["call"])}</code><br>'
        f"<small>{escape(test)}</small></p>{claim['html']}</section>"
        for test, claim in claims
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Claims about privacy and accuracy</title><style>{_STYLE}</style>"
        f"<h1>Claims about privacy and accuracy</h1><p>{len(claims)} claims: {escape(counted)}</p>{sections}</html>\n"
    )
