"""How answers with an unknown are shown: a row for each piece, a picture of the curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from tightdp.exact.expressions import pretty
from tightdp.exact.field import ExpNumber
from tightdp.exact.generators import Unknown, naming
from tightdp.exact.lines import parts_in_x
from tightdp.exact.numbers import Exact, as_text, decimal_text
from tightdp.present import plot
from tightdp.present.registry import answer_of, json_of, picture_of, record_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading
from tightdp.present.words import RELATIVE, brief, plain, shortened, shown_number
from tightdp.results.pieces import (
    AccuracyPieces,
    Best,
    Distributions,
    EfficacyPieces,
    End,
    GuessingPieces,
    Holds,
    Part,
    Pieces,
    Solution,
)
from tightdp.results.result import PairWitness, TripleWitness

_MOST_ROWS = 40
_LONGEST = 60
_POINTS = 200
_DIGITS = 30
_LABELS = {"exp_epsilon": "tight e^ε", "delta": "tight δ", "one_minus_beta": "tight 1 - β", "alpha": "least α"}


@record_of.register
def _end_record(end: End) -> dict[str, Any]:
    return {"polynomial": end.polynomial, "low": plain(end.low), "high": plain(end.high)}


def _end(end: End) -> Any:
    return _end_record(end) if end.value is None else plain(end.value)


def _witness(witness: Any) -> dict[str, Any]:
    return json_of(witness) if isinstance(witness, PairWitness) else {"x": plain(witness)}


@answer_of.register
def _pieces_answer(result: Pieces) -> dict[str, Any]:
    pieces = []
    with naming(result.unknown):
        for part in result.pieces:
            found = {"from": _end(part.start), "to": _end(part.stop), result.what: plain(part.value)}
            found |= {} if part.with_start else {"from_included": False}
            found |= {} if part.with_stop or part.stop.value == math.inf else {"to_included": False}
            if part.witness is not None:
                found["witness"] = _witness(part.witness)
            pieces.append(found)
    at = {name: plain(value) for name, value in result.at}
    at |= {"relative": True} if isinstance(result, AccuracyPieces) and result.relative else {}
    return {"unknown": result.unknown.name, **at, "pieces": pieces}


@answer_of.register
def _distributions_answer(result: Distributions) -> dict[str, Any]:
    return {"x": plain(result.x), **_pieces_answer(result)}


@view_of.register
def _pieces_view(result: Pieces) -> View:
    name, parts = result.unknown.name, result.pieces[:_MOST_ROWS]
    with naming(result.unknown):
        rows = tuple(
            (
                _shown_end(part.start, part.with_start),
                _shown_end(part.stop, part.with_stop),
                _shown(part.value),
                _seen(part.witness),
            )
            for part in parts
        )
    label = _LABELS.get(result.what, result.what)
    grid = Grid((f"{name} from", "to", label, "worst on"), rows, len(result.pieces) - len(parts), 2)
    facts = tuple((_AT[what], shown_number(value)) for what, value in result.at)
    if isinstance(result, AccuracyPieces) and result.relative:
        facts = (RELATIVE, *facts)
    return View(heading(result), facts, grid, _remarks(result))


_AT = {"exp_epsilon": "e^ε", "alpha": "α", "beta": "β", "delta": "δ"}


@answer_of.register
def _efficacy_answer(result: EfficacyPieces) -> dict[str, Any]:
    answer = _pieces_answer(result)
    with naming(result.unknown):
        for part, found in zip(result.pieces, answer["pieces"], strict=True):
            found["rows"] = [json_of(row) for row in result.rows(part)]
    return answer


@view_of.register
def _distributions_view(result: Distributions) -> View:
    return _listed(result, (("x", brief(result.x)),), ("output", "probability"), _of_law)


@view_of.register
def _guessing_view(result: GuessingPieces) -> View:
    return _listed(result, (), ("guesses, right", "probability"), _of_law)


@view_of.register
def _efficacy_view(result: EfficacyPieces) -> View:
    def rows(part: Part) -> Iterator[tuple[str, ...]]:
        for row in result.rows(part):
            numbers = [row.efficacy, row.ac, row.ddp, row.dp, *([] if row.adaptive is None else [row.adaptive])]
            yield str(row.guesses), *map(_shown, numbers)

    adaptive = any(row.adaptive is not None for part in result.pieces for row in result.rows(part))
    header = ("guesses", "efficacy", "AC", "DDP", "DP", *(("adaptive",) if adaptive else ()))
    return _listed(result, (), header, rows)


def _of_law(part: Part) -> Iterator[tuple[str, ...]]:
    return ((brief(output, 40), _shown(mass)) for output, mass in part.value)


def _listed(
    result: Pieces,
    facts: tuple[tuple[str, str], ...],
    header: tuple[str, ...],
    rows_of: Callable[[Part], Iterable[tuple[str, ...]]],
) -> View:
    """Return a table with several rows for each piece."""
    with naming(result.unknown):
        rows = [
            (_shown_end(part.start, part.with_start), _shown_end(part.stop, part.with_stop), *row)
            for part in result.pieces
            for row in rows_of(part)
        ]
    columns = (f"{result.unknown.name} from", "to", *header)
    grid = Grid(columns, tuple(rows[:_MOST_ROWS]), max(0, len(rows) - _MOST_ROWS), len(columns) - 1)
    return View(heading(result), facts, grid, _remarks(result))


def _remarks(result: Pieces) -> tuple[str, ...]:
    said = []
    values = [value for part in result.pieces for value in _numbers(part.value)]
    if any(isinstance(value, ExpNumber) and len(pretty(value)) > _LONGEST for value in values):
        said.append("What is shortened here is known exactly: --json prints it in full.")
    if any(end.value is None for part in result.pieces for end in (part.start, part.stop)):
        said.append("An end after ≈ is the root of a polynomial that --json prints.")
    return tuple(said)


def _numbers(value: Any) -> list[Any]:
    """Return the numbers of a piece: one, or several with names."""
    return [number for _, number in value] if isinstance(value, tuple) else [value]


def _shown_end(end: End, included: bool = True) -> str:
    value = f"≈ {decimal_text((end.low + end.high) / 2, 12)}" if end.value is None else shown_number(end.value)
    return value + (" (excluded)" if not included and end.value != math.inf else "")


def _shown(value: Any) -> str:
    if isinstance(value, ExpNumber) and value.unknown:
        return shortened(pretty(value), _LONGEST)
    return shown_number(value)


def _seen(witness: Any) -> str:
    if witness is None:
        return ""
    if not isinstance(witness, PairWitness):
        return f"x = {brief(witness, 40)}"
    seen = f"{brief(witness.x, 30)} and {brief(witness.x_prime, 30)}"
    if isinstance(witness, TripleWitness):
        return f"{seen}, output {brief(witness.output, 30)}"
    return seen


# pictures


@picture_of.register
def _pieces_plot(result: Pieces, ax: Any) -> Any:
    """Draw the curve, with the ends of its pieces; what is infinite is left out."""
    points = list(_curve(result))
    axes = plot.new_axes() if ax is None else ax
    for piece in points:
        axes.plot([x for x, _ in piece], [y for _, y in piece], "o-" if len(piece) == 1 else "-", color="tab:blue")
        ends = (piece[0], piece[-1])
        axes.plot([x for x, _ in ends], [y for _, y in ends], "o", markersize=4, color="black")
    axes.set_xlabel(result.unknown.name)
    axes.set_ylabel({"exp_epsilon": "e^ε", "delta": "δ", "one_minus_beta": "1 - β"}.get(result.what, result.what))
    axes.set_title(str(result.subject))
    return axes


def _curve(result: Pieces) -> Iterator[list[tuple[float, float]]]:
    for part in result.pieces:
        low, high = float(part.start), float(part.stop)
        high = max(4.0, 4 * low) if math.isinf(high) else high
        steps = 1 if low == high else _POINTS
        drawn = [
            (x, y)
            for at in range(steps + (steps > 1))
            if math.isfinite(y := _approximately(part.value, x := low + (high - low) * at / steps, result.unknown))
        ]
        if drawn:
            yield drawn


def _approximately(value: Exact, at: float, unknown: Unknown) -> float:
    """Return about the value of a function, for a picture."""
    if not isinstance(value, ExpNumber) or not value.unknown:
        return float(value)
    x = math.exp(at / unknown.denominator) if unknown.denominator else at
    with ctx.workprec(200):
        above, below = (line.ball(arb(x)) for line in parts_in_x(value))
        found = above / below
    return float(found.mid()) if found.is_finite() else math.inf


@picture_of.register
def _law_plot(result: Distributions, ax: Any) -> Any:
    """Draw every probability as a curve."""
    return _named_curves(result, ax, "probability", f"{result.subject} on {brief(result.x, 40)}")


@picture_of.register
def _guessing_plot(result: GuessingPieces, ax: Any) -> Any:
    """Draw the probability of every (guesses, right guesses) as a curve."""
    return _named_curves(result, ax, "probability", str(result.subject))


@picture_of.register
def _efficacy_plot(result: EfficacyPieces, ax: Any) -> Any:
    """Draw every number of the table as a curve."""
    return _named_curves(result, ax, "expected share of right guesses", str(result.subject))


def _named_curves(result: Pieces, ax: Any, label: str, title: str) -> Any:
    axes = plot.new_axes() if ax is None else ax
    for name in dict.fromkeys(name for part in result.pieces for name, _ in part.value):
        masses = ((part, dict(part.value).get(name, 0)) for part in result.pieces)
        parts = tuple(Part(part.start, part.stop, mass) for part, mass in masses)
        for piece in _curve(Pieces(subject=result.subject, unknown=result.unknown, what="law", pieces=parts)):
            axes.plot([x for x, _ in piece], [y for _, y in piece], label=brief(name, 30))
    axes.set_xlabel(result.unknown.name)
    axes.set_ylabel(label)
    axes.set_title(title)
    return plot.legend_below(axes)


# solving


@answer_of.register
def _solution_answer(result: Solution) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "unknown": result.unknown.name,
        "claims": list(result.claims),
        "holds": [_holds_record(each) for each in result.holds],
    }
    return answer if result.best is None else {**answer, "best": _best_record(result.best)}


@record_of.register
def _holds_record(span: Holds) -> dict[str, Any]:
    return {
        "from": _end(span.start),
        "to": _end(span.stop),
        "from_included": span.with_start,
        "to_included": span.with_stop,
        "safe_from": plain(span.safe_start),
        "safe_to": plain(span.safe_stop),
    }


@record_of.register
def _best_record(best: Best) -> dict[str, Any]:
    value = best.one_minus_beta
    enclosed = {"lower": plain(value[0]), "upper": plain(value[1])} if isinstance(value, tuple) else plain(value)
    found = {"at": _end(best.at), "one_minus_beta": enclosed, "attained": best.attained}
    return found if best.exp_epsilon is None else {**found, "exp_epsilon": plain(best.exp_epsilon)}


@view_of.register
def _solution_view(result: Solution) -> View:
    name = result.unknown.name
    rows = tuple(
        (
            _shown_end(span.start, span.with_start),
            _shown_end(span.stop, span.with_stop),
            _safe(span.safe_start),
            _safe(span.safe_stop),
        )
        for span in result.holds
    )
    facts = [("claim", claim) for claim in result.claims]
    said = []
    if not rows:
        said.append(f"No value of {name} does.")
    if any(end.value is None for span in result.holds for end in (span.start, span.stop)):
        said.append("An end after ≈ is the root of a polynomial that --json prints.")
    if result.best is not None:
        facts += _best_facts(result.best, name)
        said += [] if result.best.attained else [f"That is approached, but no allowed value of {name} attains it."]
    grid = Grid((f"{name} from", "to", "safe from", "safe to"), rows) if rows else None
    return View(heading(result), tuple(facts), grid, tuple(said))


def _best_facts(best: Best, name: str) -> list[tuple[str, str]]:
    value = best.one_minus_beta
    shown = f"≈ {decimal_text(value[0], 12)}" if isinstance(value, tuple) else shown_number(value)
    found = [(f"best {name}", _shown_end(best.at)), ("its 1 - β", shown)]
    return found if best.exp_epsilon is None else [*found, ("its tight e^ε", shown_number(best.exp_epsilon))]


def _safe(value: Fraction | None) -> str:
    """Write a rational, as a decimal where that is the same number."""
    if value is None:
        return ""
    decimal = decimal_text(value, _DIGITS)
    return decimal if Fraction(decimal) == value else as_text(value)
