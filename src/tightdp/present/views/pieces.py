"""How answers with an unknown are shown: a row for each piece, a picture of the curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from tightdp.exact.field import ExpNumber
from tightdp.exact.lines import parts_in_x
from tightdp.exact.numbers import Exact, as_text, brief, decimal_text, shortened
from tightdp.exact.parameters import pretty
from tightdp.exact.polynomials import Unknown, naming
from tightdp.present import plot
from tightdp.present.show import picture_of, view_of
from tightdp.present.text import Grid, View
from tightdp.present.words import RELATIVE, heading, shown_number
from tightdp.results import pieces
from tightdp.results.result import PairWitness, TripleWitness

_LONGEST = 60
_POINTS = 200
_DIGITS = 30
_TWELVE = 12
_FEW, _SHORT = 16, 6
"""So many values are shown of an enclosure, to so many digits."""
_SYMBOLS = {"exp_epsilon": "e^ε", "delta": "δ", "one_minus_beta": "1 - β", "alpha": "α", "beta": "β"}
MEASURES = {
    "accuracy": "1 - β",
    "right answer": "P(right answer)",
    "absolute error": "expected absolute error",
    "squared error": "expected squared error",
}
"""What is written for the measures of a goal."""
NOT_FOUND = "No finite upper end was found; that does not prove that there is none."
_ROOT = "An end after ≈ is the root of a polynomial that --json prints."


@view_of.register
def _pieces_view(result: pieces.Pieces) -> View:
    enclosed = any(part.least is not None for part in result.pieces)
    if enclosed and result.what != "alpha":
        return _between_lines(result)
    known = "least" if result.what == "alpha" else "tight"
    label = f"{known} {_SYMBOLS[result.what]}" if result.what in _SYMBOLS else result.what
    facts = _asked_at(result)
    if isinstance(result, pieces.AccuracyPieces) and result.relative:
        facts = (RELATIVE, *facts)
    if enclosed:
        ends = (f"{label} at least", "at most", "worst on")
        return _listed(result, facts, ends, lambda part: [(*_multiples(result, part), _seen(part.witness))], 2)
    header = (label, "worst on")
    return _listed(result, facts, header, lambda part: [(shown_function(part.value), _seen(part.witness))], 2)


def _multiples(result: pieces.Pieces, part: pieces.Part) -> tuple[str, str]:
    """Write both ends of what is a multiple of the unknown, or of 1 over it."""
    (least, most), name = part.ends_at(Fraction(1)), result.unknown.name
    rounded = decimal_text(least, _TWELVE, ROUND_FLOOR), decimal_text(most, _TWELVE, ROUND_CEILING)
    over = parts_in_x(part.value)[1].degree > 0
    return tuple(f"{each}/{name}" if over else f"{each}{name}" for each in rounded)  # type: ignore[return-value]


def _asked_at(result: pieces.Pieces) -> tuple[tuple[str, str], ...]:
    return tuple((_SYMBOLS[what], shown_number(value)) for what, value in result.at)


def _between_lines(result: pieces.Pieces) -> View:
    """Return both ends at some values, of an answer that is enclosed between lines."""
    step = -(-len(result.pieces) // _FEW)
    last = result.pieces[-1]
    rows = []
    for end, part in (*((part.start, part) for part in result.pieces[::step]), (last.stop, last)):
        assert isinstance(end.value, Fraction)
        least, most = part.ends_at(end.value)
        between = decimal_text(least, _SHORT, ROUND_FLOOR), decimal_text(most, _SHORT, ROUND_CEILING)
        rows.append((shown_number(end.value), *between))
    symbol = _SYMBOLS[result.what]
    grid = Grid((result.unknown.name, f"{symbol} is at least", "and at most"), tuple(rows))
    said = f"Both ends are known for all values of the range, as lines on {len(result.pieces)} parts of it: --json."
    return View(heading(result), _asked_at(result), grid, (said,))


@view_of.register
def _every_n_view(result: pieces.EveryNPieces) -> View:
    ends = [("every n", "at most ", result.pieces)] * (result.status == "bounded")
    ends += [(f"n = {each.n}", "", each.found.pieces) for each in result.lower]
    if result.status == "exact":
        ends[-1] = (f"every n, attained at {ends[-1][0]}", *ends[-1][1:])
    with naming(result.unknown):
        rows = [
            (*shown_ends(part), whose, how + shown_function(part.value), _seen(part.witness))
            for whose, how, parts in ends
            for part in parts
        ]
    columns = (f"{result.unknown.name} from", "to", "with", "e^ε is", "worst on")
    said = _remarks(result)
    if any(part.value == math.inf for part in result.pieces) and result.status == "bounded":
        said = (*said, NOT_FOUND)
    return View(heading(result), (), Grid.of(columns, rows, tuple, 4), said)


@view_of.register
def _distributions_view(result: pieces.Distributions) -> View:
    return _listed(result, (("x", brief(result.x)),), ("output", "probability"), _of_law)


@view_of.register
def _guessing_view(result: pieces.GuessingPieces) -> View:
    return _listed(result, (), ("guesses, right", "probability"), _of_law)


@view_of.register
def _efficacy_view(result: pieces.EfficacyPieces) -> View:
    def rows(part: pieces.Part) -> Iterator[tuple[str, ...]]:
        for row in result.rows(part):
            numbers = [row.efficacy, row.ac, row.ddp, row.dp, *([] if row.adaptive is None else [row.adaptive])]
            yield str(row.guesses), *map(shown_function, numbers)

    adaptive = any(row.adaptive is not None for part in result.pieces for row in result.rows(part))
    header = ("guesses", "efficacy", "AC", "DDP", "DP", *(("adaptive",) if adaptive else ()))
    return _listed(result, (), header, rows)


def _of_law(part: pieces.Part) -> Iterator[tuple[str, ...]]:
    return ((brief(output, 40), shown_function(mass)) for output, mass in part.value)


def _listed(
    result: pieces.Pieces,
    facts: tuple[tuple[str, str], ...],
    header: tuple[str, ...],
    rows_of: Callable[[pieces.Part], Iterable[tuple[str, ...]]],
    keys: int | None = None,
) -> View:
    """Return a table with one or several rows for each piece; all columns but the last are keys, unless given."""
    with naming(result.unknown):
        rows = [(*shown_ends(part), *row) for part in result.pieces for row in rows_of(part)]
    columns = (f"{result.unknown.name} from", "to", *header)
    return View(heading(result), facts, Grid.of(columns, rows, tuple, keys or len(columns) - 1), _remarks(result))


def _remarks(result: pieces.Pieces) -> tuple[str, ...]:
    said = []
    values = [part.value for part in result.pieces]
    numbers = [number for value in values for number in (dict(value).values() if isinstance(value, tuple) else [value])]
    if any(isinstance(number, ExpNumber) and len(pretty(number)) > _LONGEST for number in numbers):
        said.append("What is shortened here is known exactly: --json prints it in full.")
    if any(end.value is None for part in result.pieces for end in (part.start, part.stop)):
        said.append(_ROOT)
    return tuple(said)


def shown_ends(part: pieces.Part | pieces.Holds) -> tuple[str, str]:
    """Write both ends of an interval of the unknown."""
    return shown_end(part.start, part.with_start), shown_end(part.stop, part.with_stop)


def shown_end(end: pieces.End, included: bool = True) -> str:
    """Write an end."""
    value = f"≈ {decimal_text((end.low + end.high) / 2, 12)}" if end.value is None else shown_number(end.value)
    return value + (" (excluded)" if not included and end.value != math.inf else "")


def shown_function(value: Any) -> str:
    """Write a function of the unknown, shortened."""
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
def _pieces_plot(result: pieces.Pieces, ax: Any) -> Any:
    x_label = f"parameter {result.unknown.name}"
    axes = plot.named_axes(ax, x_label, plot.WORDS.get(result.what, result.what), result.subject)
    colour = plot.next_colour(axes)
    below = [replace(part, value=part.least) for part in result.pieces if part.least is not None]
    for place, (_, piece) in enumerate(drawn_pieces(replace(result, pieces=(*result.pieces, *below)))):
        ends, label = [0, len(piece) - 1] * (not below), "_" if place else str(result.subject)
        axes.plot(*zip(*piece, strict=True), color=colour, marker="o", markersize=4, markevery=ends, label=label)
    return axes


def drawn_pieces(result: pieces.Pieces) -> Iterator[tuple[pieces.Part, list[tuple[float, float]]]]:
    """Yield the pieces of a curve with points on them."""
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
            yield part, drawn


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
def _named_curves(result: pieces.Distributions | pieces.GuessingPieces | pieces.EfficacyPieces, ax: Any) -> Any:
    label = "expected share of right guesses" if isinstance(result, pieces.EfficacyPieces) else "probability"
    title = (
        f"{result.subject} on {brief(result.x, 40)}"
        if isinstance(result, pieces.Distributions)
        else str(result.subject)
    )
    axes = plot.named_axes(ax, f"parameter {result.unknown.name}", label, title)
    for name in dict.fromkeys(name for part in result.pieces for name, _ in part.value):
        masses = ((part, dict(part.value).get(name, 0)) for part in result.pieces)
        parts = tuple(pieces.Part(part.start, part.stop, mass) for part, mass in masses)
        curves = pieces.Pieces(subject=result.subject, unknown=result.unknown, what="law", pieces=parts)
        for _, piece in drawn_pieces(curves):
            axes.plot([x for x, _ in piece], [y for _, y in piece], label=brief(name, 30))
    return plot.legend_below(axes)


# solving


@view_of.register
def _solution_view(result: pieces.Solution) -> View:
    name = result.unknown.name
    enclosed = (
        [("proved for every n",), (f"not refuted at n = {result.n}",)] if result.not_refuted is not None else [()]
    )
    both = zip(enclosed, (result.holds, result.not_refuted or ()), strict=False)
    rows = tuple(
        (*shown_ends(span), _safe(span.safe_start), _safe(span.safe_stop), *which)
        for which, spans in both
        for span in spans
    )
    facts = [("claim", claim) for claim in result.claims]
    said = []
    if not rows:
        said.append(f"No value of {name} satisfies the claims.")
    if result.not_refuted is not None:
        said.append(f"With n = {result.n} the claim fails for all other values; what is not proved either is open.")
    if any(
        end.value is None for span in (*result.holds, *(result.not_refuted or ())) for end in (span.start, span.stop)
    ):
        said.append(_ROOT)
    if result.best is not None:
        facts += _best_facts(result.best, name)
        said += [] if result.best.attained else [f"That is approached, but no allowed value of {name} attains it."]
    columns = (f"{name} from", "to", "safe from", "safe to", *("the claim is" for _ in enclosed[0]))
    grid = Grid(columns, rows) if rows else None
    return View(heading(result), facts, grid, said)


def _best_facts(best: pieces.Best, name: str) -> list[tuple[str, str]]:
    found = [(f"best {name}", shown_end(best.at)), (f"its {MEASURES[best.measure]}", shown_best(best.value))]
    return found if best.exp_epsilon is None else [*found, ("its tight e^ε", shown_number(best.exp_epsilon))]


def shown_best(value: Exact | tuple[Fraction, Fraction]) -> str:
    """Write the best value of a measure, which may be enclosed."""
    return f"≈ {decimal_text(value[0], 12)}" if isinstance(value, tuple) else shown_number(value)


def _safe(value: Fraction | None) -> str:
    """Write a rational, as a decimal where that is the same number."""
    if value is None:
        return ""
    decimal = decimal_text(value, _DIGITS)
    return decimal if Fraction(decimal) == value else as_text(value)
