"""Certificates of answers with an unknown: one claim for all values between two rational ends.

The unknown is written as (low + high·T) / (1 + T) with T > 0, so that weights and bounds are polynomials in T, and what
the checker needs to know of them are the signs of their coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from tightdp.errors import ParameterError, QueryError
from tightdp.every_n.states import refuse_contradicted
from tightdp.every_n.upper import unchecked
from tightdp.exact.cells import Cell
from tightdp.exact.field import ExpNumber, Number, ratio
from tightdp.exact.lines import parts_in_x
from tightdp.exact.numbers import decimal_text
from tightdp.exact.polynomials import UNKNOWN, at_place
from tightdp.exact.roots import Point
from tightdp.queries.measures import AccuracyAt
from tightdp.queries.privacy import DeltaAt, TightRatio
from tightdp.results.pieces import End, Part
from tightdp.results.result import PairWitness
from tightdp.session.arguments import read_exponential, read_number
from tightdp.session.cellwise import Cellwise
from tightdp.session.certify import REFUTED, Certificate, finished
from tightdp.session.certify_every import certify_closed
from tightdp.session.certify_runs import efficacy, together
from tightdp.session.engine import AskedNumber, Engine
from tightdp.session.proving import upper_ends
from tightdp.session.solving import answer

_ONE = UNKNOWN**0


def certify_unknown(
    ours: Cellwise,
    *,
    epsilon: Any = None,
    exp_epsilon: Any = None,
    delta: Any = 0,
    alpha: Any = None,
    beta: Any = None,
    guesses: Any = None,
    pairs: Any = None,
    runs: Any = None,
    **others: Any,
) -> Certificate:
    """Return the certificate of a claim for all values of the unknown; of the tight ε, a function of it, without one.

    With `exp_epsilon` and `delta`, or `alpha` and `beta`, it says that these numbers are enough for all values, or for
    none; with `guesses`, or `pairs`, which function the efficacy is; with `runs` the tight ε of one, and δ of so many.
    Raises QueryError where the answer is not one function on the range, and where no rule fits.
    """
    bar, pure = read_number("delta", delta, 1), (exp_epsilon, epsilon)
    if any(value is not None and value is not False for value in others.values()) or epsilon is not None:
        raise QueryError("with an unknown ε, δ at an e^ε and accuracy are certified", f"give {ours.name} a value")
    if runs is not None and (alpha, beta, guesses, pairs) == (None,) * 4:
        low, high, piece = _range(ours, TightRatio(), True)
        one = {"question": "privacy", "attained": True, "unknown": (ours.name, low, high)}
        return _made(ours, one, piece, (runs, exp_epsilon, bar))
    if (guesses, pairs) != (None, None):
        if pure != (None, None) or bar or (alpha, beta) != (None, None):
            raise ParameterError("a certificate holds one claim", "certify one after the other")
        low, high, _ = _range(ours, TightRatio(), False)
        named = (ours.name, low, high)
        return _for_all(ours, low, high, lambda engine, _: efficacy(engine, guesses, pairs, unknown=named))
    if (alpha is None) != (beta is None) or (alpha is not None and pure != (None, None)):
        raise ParameterError("an accuracy claim has alpha and beta", "give both, and nothing else")
    if alpha is not None:
        bound = read_number("alpha", alpha)
        question: AskedNumber = AccuracyAt(bound)
        claim: dict[str, Any] = {"question": "accuracy", "alpha": bound, "beta": read_number("beta", beta, 1)}
    elif pure != (None, None):
        t, _ = read_exponential(*pure, least=1)
        question = DeltaAt(t, t) if bar and t is not None else TightRatio()
        claim = {"question": "privacy", "bound": t, **({"delta": bar} if bar else {})}
    elif bar:
        raise QueryError("with an unknown δ is certified at an e^ε", "give exp_epsilon too")
    else:
        question, claim = TightRatio(), {"question": "privacy", "attained": True}
    low, high, piece = _range(ours, question, "attained" in claim)
    claim |= {"unknown": (ours.name, low, high)}
    try:
        return _made(ours, claim, piece)
    except QueryError:
        if "attained" in claim:
            raise
        refuted = claim | {"question": REFUTED[claim["question"]]}
        pieces = [each for each in answer(ours, question).pieces if each.start != each.stop]
        for each in pieces:  # it may be false for all values
            with suppress(QueryError):
                return _made(ours, refuted, each)
        if "delta" not in claim or len(pieces) == 1:
            raise
    raise QueryError("no rule of evidence fits: δ is not one function on the range", _one_by_one(ours, pieces))


def certify_every_unknown(
    ours: Cellwise,
    *,
    epsilon: Any = None,
    exp_epsilon: Any = None,
    delta: Any = 0,
    runs: Any = None,
    **others: Any,
) -> Certificate:
    """Return the certificate of an upper end of ε for every n, a function of the unknown, or of an e^ε that is enough
    for all its values; with `runs` of what so many runs are together, too. Raises QueryError where no rule fits."""
    bar = read_number("delta", delta, 1)
    given = [value for value in others.values() if value is not None and value is not False]
    if given or epsilon is not None or (bar and runs is None):
        raise QueryError("for every n with an unknown a certificate says which e^ε is enough", "ask for one n")
    claimed = read_number("exp_epsilon", exp_epsilon) if exp_epsilon is not None and runs is None else None
    low, high, piece = _range(ours, upper_ends(ours).pieces, claimed is None)
    value, place = _between(low, high), Cell(Point(Fraction(0)), None, Fraction(1), ours.unknown)
    with at_place(place):
        instance = ours.with_value(value)
        programs = unchecked(instance.bound)
        _check_whole(place, ours)
        refuse_contradicted(programs, instance.bound)
        ratio: Any = claimed if piece is None else _substituted(piece.value, value)
        several = None if runs is None else (runs, exp_epsilon, bar)
        refused: list[object] = []
        made = certify_closed(instance, programs, ratio, several, refused, unknown=(ours.name, low, high))
    if made is None:
        known = f"the checker says: {refused[-1]}" if refused else "no forms that lead to themselves are found"
        known = "no e^ε is known to be enough for every n" if ratio == math.inf else known
        raise QueryError(f"no rule of evidence fits: {known}", f"give {ours.name} a value, or ask for one n")
    return made


def _made(
    ours: Cellwise, claim: dict[str, Any], piece: Part | None, runs: tuple[Any, Any, Any] | None = None
) -> Certificate:
    """Return the certificate of a claim on its range, or of so many runs, with a witness of the answer."""

    def make(engine: Engine, value: Number) -> Certificate:
        said = dict(claim)
        if piece is not None and "attained" in claim:
            said["bound"] = _substituted(piece.value, value)
            if said["bound"] == math.inf:
                del said["attained"]
                said["question"] = "violation"
            elif runs is not None:
                said["runs"] = together(said["bound"], runs)
        witness = None if piece is None else piece.witness
        if isinstance(witness, PairWitness):
            return finished(engine, said, witness)
        return finished(engine, said, None, witness)

    _, low, high = claim["unknown"]
    return _for_all(ours, low, high, make)


def _for_all(
    ours: Cellwise, low: Fraction, high: Fraction, make: Callable[[Engine, Number], Certificate]
) -> Certificate:
    """Return what is made of the mechanism with a function of T that stands for all values between two ends."""
    value, place = _between(low, high), Cell(Point(Fraction(0)), None, Fraction(1), ours.unknown)
    with at_place(place):
        engine = ours.with_value(value).engine
        engine.program.expanded(engine.control())
        _check_whole(place, ours)
        return make(engine, value)


def _check_whole(place: Cell, ours: Cellwise) -> None:
    """Raise QueryError where the program was followed for some values of the unknown only."""
    if place.high is not None or place.low.compare(Fraction(0)):
        what = f"no rule of evidence fits: what the program does depends on {ours.name} in several ways"
        raise QueryError(what, "give a smaller range")


def _range(
    ours: Cellwise, question: AskedNumber | Sequence[Part], tight: bool
) -> tuple[Fraction, Fraction, Part | None]:
    """Return the ends of the range, and, where the tight ε is asked for, the function that it is there."""
    pieces: list[Part] = []
    if tight or ours.range.low is None:
        every = question if isinstance(question, Sequence) else answer(ours, question).pieces
        pieces = [piece for piece in every if piece.start != piece.stop]
    if ours.unknown.denominator or ours.unknown.mixed:
        raise QueryError("no rule of evidence fits: the unknown stands in an exponent", "make e^unknown the unknown")
    if len(pieces) > 1 and tight:
        raise QueryError("the tight ε is not one function on the range", _one_by_one(ours, pieces))
    low, high = (pieces[0].start.value, pieces[-1].stop.value) if pieces else (ours.range.low, ours.range.high)
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        raise QueryError("no rule of evidence fits: a range with rational ends is needed", f"give {ours.name} one")
    return low, high, pieces[0] if tight else None


def _one_by_one(ours: Cellwise, pieces: Sequence[Part]) -> str:
    """Return which ranges to ask for; an end that is not rational is rounded so that it is inside."""

    def named(end: End, inside: Fraction, rounding: str) -> str:
        return decimal_text(inside, 6, rounding) if end.value is None else str(end.value)

    ranges = [
        f"{ours.name}=?[{named(start, start.high, ROUND_CEILING)}, {named(stop, stop.low, ROUND_FLOOR)}]"
        for start, stop in ((piece.start, piece.stop) for piece in pieces)
    ]
    return f"ask for one of its pieces: {' or '.join(ranges)}"


def _between(low: Fraction, high: Fraction) -> Number:
    """Return (low + high·T) / (1 + T)."""
    scale = low.denominator * high.denominator
    above = int(low * scale) * _ONE + int(high * scale) * UNKNOWN
    return ratio(above, scale * (_ONE + UNKNOWN))


def _substituted(value: Any, unknown: Number) -> Any:
    """Return a function of the unknown where that is a function of T."""
    if not isinstance(value, ExpNumber) or not value.unknown:
        return value
    above, below = parts_in_x(value)
    return above.at(unknown) / below.at(unknown)
