"""Pictures: what their axes, marks and titles say."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Sequence
from fractions import Fraction
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from expectations import mechanisms
from tightdp import Instance, QueryError
from tightdp.present.curves import seen_curve

pytestmark = pytest.mark.extra("plot")


@pytest.fixture(autouse=True)
def _no_windows() -> None:
    import matplotlib

    matplotlib.use("Agg")


def count() -> Instance:
    return mechanisms("randomized_response_count")["randomized_response_count"].bind(n=5, lam="1/5")


def marked(line: Any) -> list[tuple[float, float]]:
    return [(line.get_xdata()[place], line.get_ydata()[place]) for place in line.get_markevery()]


def test_a_curve_is_drawn_over_epsilon_with_a_logarithmic_delta() -> None:
    curve = count().curve()
    axes = curve.plot()
    (line,) = axes.get_lines()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("privacy parameter ε", "privacy parameter δ")
    assert (axes.get_yscale(), axes.get_title()) == ("log", "randomized_response_count(n=5, lam=1/5)")
    found = [pytest.approx((math.log(t), float(delta))) for t, delta in curve.points if delta]
    assert marked(line) == found
    assert min(line.get_ydata()) > 0
    assert max(line.get_xdata()) == pytest.approx(math.log(4), rel=1e-2)


def test_a_curve_over_the_likelihood_ratio_is_made_of_straight_lines() -> None:
    curve = count().curve()
    axes = curve.plot(x="exp_epsilon", log_delta=False)
    assert (axes.get_xlabel(), axes.get_yscale(), axes.get_ylim()[0]) == ("likelihood ratio e^ε", "linear", 0)
    found = [pytest.approx((float(t), float(delta))) for t, delta in curve.points]
    assert marked(axes.get_lines()[0]) == found
    with pytest.raises(QueryError):
        curve.plot(x="delta")


def exact_delta(points: Sequence[tuple[Fraction, Fraction]], t: float) -> Fraction:
    at = Fraction(t)
    for (low, above), (high, below) in itertools.pairwise(points):
        if low <= at <= high:
            return above + (below - above) * (at - low) / (high - low)
    return points[-1][1]


@pytest.mark.parametrize("x", ["epsilon", "exp_epsilon"])
@pytest.mark.parametrize("log_delta", [True, False])
def test_every_point_that_is_drawn_lies_on_the_curve(x: str, log_delta: bool) -> None:
    steep = ((F(1), F(1, 2)), (F(10**6), F(1, 10**9)), (F(10**40), F(1, 10**30)), (F(10**41), F(0)))
    lasting = ((F(1), F(1, 3)), (F(7), F(1, 4)))
    for points in (count().curve().points, steep, lasting):
        seen = seen_curve(points, x, log_delta)
        assert len(seen.line) > 100
        for at, delta in seen.line[:-1]:
            t = at if x == "exp_epsilon" else math.exp(at)
            assert delta == pytest.approx(float(exact_delta(points, t)), rel=1e-6, abs=1e-15)


@pytest.mark.slow(seconds=2)
def test_many_runs_are_a_curve_and_no_line_at_0() -> None:
    """The picture ends near where δ becomes too small to be seen, not at the ε of pure privacy."""
    loss = count().privacy_loss().compose(100)
    for log_delta, least in ((True, 1e-12), (False, 1e-3)):
        line = loss.plot(log_delta=log_delta).get_lines()[0]
        lower_half = [at for at, delta in zip(line.get_xdata(), line.get_ydata(), strict=True) if delta < least * 10]
        assert max(line.get_xdata()) < 100 < 100 * math.log(4)
        assert len(lower_half) < len(line.get_xdata()) / 4


def test_no_delta_at_all_is_a_line_at_0() -> None:
    seen = seen_curve(((F(1), F(0)),))
    assert {delta for _, delta in seen.line} == {0}
    assert seen.bottom == 0


def test_e_to_the_epsilon_beyond_floats_is_not_drawn() -> None:
    points = ((F(1), F(1, 2)), (F(10**400), F(1, 3)))
    assert seen_curve(points).end > 900
    with pytest.raises(QueryError, match="against ε"):
        seen_curve(points, "exp_epsilon")


def test_several_mechanisms_stand_in_one_picture() -> None:
    quiet = mechanisms("randomized_response_count")["randomized_response_count"].bind(n=5, lam="1/4")
    axes = count().curve().plot(beside=[quiet.curve(), quiet.privacy_loss().compose(2)])
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [name.removeprefix("randomized_response_count") for name in said[:2]] == ["(n=5, lam=1/5)", "(n=5, lam=1/4)"]
    assert said[2].startswith("2 runs of")
    assert len({line.get_color() for line in axes.get_lines()}) == 3
    assert len(count().tradeoff().plot(beside=[quiet.tradeoff()]).get_legend().get_texts()) == 2
    with pytest.raises(QueryError, match="beside"):
        count().curve().plot(beside=[quiet.tradeoff()])
    with pytest.raises(QueryError, match="beside"):
        count().accuracy(alpha=1).plot(beside=[quiet.accuracy(alpha=1)])


def lengths(axes: Any) -> list[float]:
    return [patch.get_width() for patch in axes.patches]


def test_privacy_likelihood_and_accuracy_have_pictures() -> None:
    privacy = count().privacy()
    witness = privacy.witness
    assert witness is not None
    axes = privacy.plot()
    assert lengths(axes) == [float(witness.probability), float(witness.probability_prime)]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["on x", "on x'"]
    assert len(lengths(count().privacy(top=3).plot())) == 6
    with pytest.raises(QueryError, match="curve"):
        count().privacy(delta="1/100").plot()
    likelihood = count().likelihood((0, 0, 0, 0, 1), (0, 0, 0, 0, 0))
    drawn = [float(row.probability) for row in likelihood.rows] + [
        float(row.probability_prime) for row in likelihood.rows
    ]
    assert lengths(likelihood.plot()) == drawn
    accuracy = count().accuracy(alpha=1)
    assert lengths(accuracy.plot()) == [float(row.one_minus_beta) for row in accuracy.top]
    with pytest.raises(QueryError, match="α"):
        count().accuracy(beta="1/10").plot()


def test_a_trade_off_curve_stands_in_a_square_with_the_diagonal() -> None:
    axes = count().tradeoff().plot()
    assert axes.get_aspect() == 1
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 1), (0, 1))
    assert [list(axes.get_lines()[1].get_xdata()), list(axes.get_lines()[1].get_ydata())] == [[0, 1], [1, 0]]


def test_series_of_a_sweep_are_told_apart_where_they_overlap() -> None:
    axes = count().sweep({"n": range(1, 5), "lam": ["1/5", "1/4"]}, alpha=9).plot()
    looks = {(line.get_marker(), line.get_linestyle(), line.get_markersize()) for line in axes.get_lines()}
    assert len(looks) == 2
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("number of records n", "probability 1 - β of a small error")
    assert axes.get_title() == "randomized_response_count"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["lam=1/5", "lam=1/4"]


def test_answers_far_apart_are_drawn_on_a_logarithmic_scale() -> None:
    scales = [count().sweep({"lam": lams}).plot().get_yscale() for lams in (["499/1000", "1/9"], ["1/5", "1/4"])]
    assert scales == ["log", "linear"]


def test_long_names_of_outputs_do_not_run_into_each_other() -> None:
    response = mechanisms("randomized_response")["randomized_response"]
    few, many = (response.bind(n=n, lam="1/5").distribution((0,) * n).plot() for n in (2, 7))
    assert {label.get_rotation() for label in few.get_xticklabels()} == {0}
    assert {label.get_rotation() for label in many.get_xticklabels()} == {90}
    assert len(many.patches) == 2**7
    assert len(many.get_xticks()) <= 26


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "words",
    [
        "privacy n=2 lam=1/5",
        "privacy n=2 lam=1/5 --curve",
        "privacy n=2 lam=1/5 --curve --x exp-epsilon --linear",
        "privacy n=2 lam=1/5 --runs 9 --curve --beside 'randomized_response n=2 lam=1/4'",
        "privacy n=2 lam=? --exp-epsilon 2",
        "accuracy n=2 lam=1/5 --alpha 1",
        "likelihood lam=1/5 --x [0,1] --x-prime [0,0]",
        "efficacy n=2 lam=1/5",
    ],
)
def test_the_command_line_draws_what_has_a_picture(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = shlex.split(words)
    target = tmp_path / "picture.svg"
    status, out, err = run(capsys, command, "randomized_response_count", *rest, "--plot", str(target))
    assert (status, err) == (0, f"wrote {target}\n")
    assert "randomized_response_count(n=2" in out
    assert "<svg" in target.read_text(encoding="utf-8")


def test_the_command_line_says_what_has_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "picture.svg"
    words = "privacy", "randomized_response_count", "n=2", "lam=1/5", "--zcdp", "--plot", str(target)
    status, out, err = run(capsys, *words)
    assert (status, "ρ" in out) == (2, True)
    assert "no picture" in err
    assert "--curve" in err
    assert not target.exists()


@pytest.mark.parametrize(
    "words", ["--x ratio --plot a.svg", "--beside randomized_response", "--plot a.svg --beside ''"]
)
def test_options_of_pictures_that_make_no_sense(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "privacy", "randomized_response", "n=2", "lam=1/5", *shlex.split(words))
    assert (status, out, len(err.splitlines())) == (2, "", 2)
