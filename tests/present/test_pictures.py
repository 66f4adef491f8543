"""Pictures: what their axes, marks and titles say."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import run
from expectations import mechanisms
from tightdp import Instance, QueryError

pytestmark = pytest.mark.extra("plot")


@pytest.fixture(autouse=True)
def _no_windows() -> None:
    import matplotlib

    matplotlib.use("Agg")


def count() -> Instance:
    return mechanisms("randomized_response_count")["randomized_response_count"].bind(n=5, lam="1/5")


def test_a_curve_marks_its_break_points() -> None:
    curve = count().curve()
    axes = curve.plot()
    marked = axes.get_lines()[1]
    assert list(marked.get_xdata()) == [float(t) for t, _ in curve.points]
    assert (axes.get_xlabel(), axes.get_yscale(), axes.get_ylim()[0]) == ("e^ε", "linear", 0)
    assert axes.get_title() == "randomized_response_count(n=5, lam=1/5)"


def test_a_curve_over_epsilon_with_a_logarithmic_delta() -> None:
    axes = count().curve().plot(x="epsilon", log_delta=True)
    line, marked = axes.get_lines()
    assert (axes.get_xlabel(), axes.get_yscale()) == ("ε", "log")
    assert min(line.get_ydata()) > 0
    assert len(marked.get_xdata()) == len(count().curve().points) - 1  # the last one has δ = 0
    with pytest.raises(QueryError):
        count().curve().plot(x="delta")


def test_a_trade_off_curve_stands_in_a_square_with_the_diagonal() -> None:
    axes = count().tradeoff().plot()
    assert axes.get_aspect() == 1
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 1), (0, 1))
    assert [list(axes.get_lines()[1].get_xdata()), list(axes.get_lines()[1].get_ydata())] == [[0, 1], [1, 0]]


def test_series_of_a_sweep_are_told_apart_where_they_overlap() -> None:
    axes = count().sweep({"n": range(1, 5), "lam": ["1/5", "1/4"]}, alpha=9).plot()
    looks = {(line.get_marker(), line.get_linestyle(), line.get_markersize()) for line in axes.get_lines()}
    assert len(looks) == 2
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("n", "one_minus_beta")
    assert axes.get_title() == "randomized_response_count"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["lam=1/5", "lam=1/4"]


def test_answers_far_apart_are_drawn_on_a_logarithmic_scale() -> None:
    scales = [count().sweep({"lam": lams}).plot().get_yscale() for lams in (["1/1000", "1/3"], ["1/5", "1/4"])]
    assert scales == ["log", "linear"]


def test_long_names_of_outputs_do_not_run_into_each_other() -> None:
    response = mechanisms("randomized_response")["randomized_response"]
    few, many = (response.bind(n=n, lam="1/5").distribution((0,) * n).plot() for n in (2, 7))
    assert {label.get_rotation() for label in few.get_xticklabels()} == {0}
    assert {label.get_rotation() for label in many.get_xticklabels()} == {90}
    assert len(many.patches) == 2**7
    assert len(many.get_xticks()) <= 26


@pytest.mark.parametrize(
    "words", ["privacy n=2 lam=1/5 --curve", "privacy n=2 lam=? --exp-epsilon 2", "efficacy n=2 lam=1/5"]
)
def test_the_command_line_draws_what_has_a_picture(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = words.split()
    target = tmp_path / "picture.svg"
    status, out, err = run(capsys, command, "randomized_response_count", *rest, "--plot", str(target))
    assert (status, err) == (0, f"wrote {target}\n")
    assert out.startswith("randomized_response_count(n=2")
    assert "<svg" in target.read_text(encoding="utf-8")


def test_the_command_line_says_what_has_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "picture.svg"
    words = "privacy", "randomized_response_count", "n=2", "lam=1/5", "--plot", str(target)
    status, out, err = run(capsys, *words)
    assert (status, "tight e^ε  4" in out) == (2, True)
    assert "no picture" in err
    assert "--curve" in err
    assert not target.exists()
