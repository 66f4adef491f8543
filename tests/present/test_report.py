"""The page about an instance: what is on it, and that a browser shows it whole and without complaints."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from command_line import run
from expectations import mechanisms
from tightdp import Bit, Instance, Int, flip, mechanism
from tightdp.results.report import Report
from tightdp.results.result import PairWitness

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VOID = {"meta", "rect", "path", "circle", "br", "wbr"}


def noise(rate):
    return flip(rate)


@mechanism(record=Bit)
def through_a_helper(x, rate="1/4"):
    """One <b>bit</b> & a helper."""
    return x[0] ^ noise(rate)


@mechanism(record=Int(0, 1))
def long_output(x):
    return ("a very long word " * 30, x[0] ^ flip("1/3"))


def count(n: int) -> Instance:
    return mechanisms("randomized_response_count")["randomized_response_count"].bind(n=n, lam="1/5")


class Nesting(HTMLParser):
    """Notes the elements that are closed in another order than they were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)


@pytest.mark.parametrize("instance", [count(4), through_a_helper.bind(n=1), long_output.bind(n=2)], ids=repr)
def test_a_page_is_whole_and_needs_nothing_else(instance: Instance) -> None:
    page = instance.report().html()
    nesting = Nesting()
    nesting.feed(page)
    assert nesting.wrong == []
    assert nesting.open == []
    assert not re.search(r"(https?:)?//|<script|@import|url\(", page)


def test_the_page_shows_the_answers() -> None:
    report = count(6).report(alpha=1)
    page = report.html()
    for words in ("randomized_response_count(n=6, lam=1/5)", "2048/3125", "4096/15625", "<mark>flip</mark>(lam)"):
        assert words in page
    shown = [delta for _, delta in report.curve.points if delta]  # 0 is nowhere on a logarithmic scale
    assert page.count('class="dot"') == len(shown) + len(report.tradeoff.vertices)
    assert ">0.2621</text>" in page  # 4096/15625, beside its bar
    for words in ("AC, average case:", "DDP, distributional", "DP, differential privacy:", "gaps, of elements"):
        assert words in page
    assert page.count('class="legend') == 1
    assert report.privacy.exp_epsilon == 4
    assert report.left_out == ()


def test_draws_in_helpers_are_marked_and_texts_escaped() -> None:
    report = through_a_helper.bind(n=1).report()
    page = report.html()
    assert "&lt;b&gt;bit&lt;/b&gt; &amp; a helper" in page
    assert [source.name for source in report.sources] == ["through_a_helper", "noise"]
    assert [len(source.marks) for source in report.sources] == [0, 1]
    assert dict(report.left_out) == {"accuracy": "the mechanism names no target"}


def test_a_notebook_shows_the_page_apart_from_its_own_style() -> None:
    shown = through_a_helper.bind(n=1).report()._repr_html_()
    assert shown.count("<iframe") == 1
    assert "<style>" not in shown


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "page.html"
    words = ("report", "randomized_response", "n=3", "lam=1/5")
    assert run(capsys, *words, "--output", str(target))[:2] == (0, f"wrote {target}\n")
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run(capsys, *words)[1].startswith("<!doctype html>")
    answer = json.loads(run(capsys, *words, "--json")[1])["result"]
    assert answer["privacy"]["exp_epsilon"] == "4"
    assert {"curve", "tradeoff", "efficacy", "structure", "left_out"} < set(answer)


def test_what_meets_a_limit_is_left_out() -> None:
    found = mechanisms("randomized_response")["randomized_response"].bind(n=3, lam="1/5").report()
    assert isinstance(found, Report)
    many = mechanisms("geometric_count")["geometric_count"].bind(n=40, ratio="1/2").report()
    assert many.privacy.exp_epsilon == 2
    assert many.html()


def test_what_is_not_decided_is_not_said() -> None:
    """That all laws are the same is said of an exact answer alone."""
    report = count(2).report()
    for status, witness, said in (
        ("exact", None, "have the same output law"),
        ("unresolved", None, "No pair of neighbours is known"),
        ("bounded", PairWitness((0, 0), (1, 0)), "The lower end is reached on x = (0, 0)"),
        ("exact", PairWitness((0, 0), (1, 0)), "It is attained on x = (0, 0)"),
    ):
        privacy = dataclasses.replace(report.privacy, status=status, witness=witness)
        page = dataclasses.replace(report, privacy=privacy, likelihood=None).html()
        assert said in page
        assert ("have the same output law" in page) == (said == "have the same output law")


PROBE = """<script>addEventListener("load", () => {
  const wide = document.documentElement.scrollWidth, room = innerWidth;
  const cut = [...document.querySelectorAll("svg text")].filter(text => {
    const box = text.getBoundingClientRect(), svg = text.ownerSVGElement.getBoundingClientRect();
    return box.right > svg.right + 1 || box.left < svg.left - 1;
  }).map(text => text.textContent);
  const small = [...document.querySelectorAll("p, td, pre, svg text")].filter(text => {
    const svg = text.ownerSVGElement;
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    return parseFloat(getComputedStyle(text).fontSize) * scale < 9;
  }).length;
  document.body.dataset.found = JSON.stringify({wide, room, cut, small});
});</script>"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_it_is_printed_on_a4_in_a_few_sheets(tmp_path: Path) -> None:
    source, target = tmp_path / "page.html", tmp_path / "page.pdf"
    source.write_text(count(6).report().html(), encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    subprocess.run(
        [str(BROWSER), *options, f"--print-to-pdf={target}", source.as_uri()], capture_output=True, timeout=60
    )
    sheets = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", target.read_bytes())
    assert 1 <= len(sheets) <= 4
    assert {(round(float(wide)), round(float(high))) for wide, high in sheets} == {(595, 842)}


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [400, pytest.param(1400, marks=pytest.mark.slow(seconds=3))])
def test_a_browser_shows_it_whole(width: int, tmp_path: Path) -> None:
    for place, instance in enumerate((count(6), through_a_helper.bind(n=1), long_output.bind(n=2))):
        target = tmp_path / f"{place}.html"
        target.write_text(instance.report().html().replace("</head>", f"{PROBE}</head>"), encoding="utf-8")
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
        options += ["--enable-logging=stderr", f"--window-size={width},900", "--dump-dom", target.as_uri()]
        done = subprocess.run([str(BROWSER), *options], capture_output=True, text=True, timeout=60)
        assert ":CONSOLE" not in done.stderr, done.stderr
        said = re.search(r'data-found="([^"]*)"', done.stdout)
        assert said is not None, done.stderr
        found = json.loads(said[1].replace("&quot;", '"').replace("&amp;", "&"))
        assert found["wide"] <= found["room"]
        assert found["cut"] == []
        assert found["small"] == 0
