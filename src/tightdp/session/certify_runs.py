"""Certificates of many runs, and of audits in one run.

Of many runs: what guarantees show together where runs may depend on what is known so far. Of audits: their efficacy,
how much of a mechanism they may see, with some pairs and guesses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from tightdp.core.sections import root_of
from tightdp.core.text import program_text
from tightdp.errors import ParameterError, QueryError
from tightdp.exact.field import ExpNumber, Number, ratio
from tightdp.exact.polynomials import UNKNOWN
from tightdp.exact.rationals import as_int, as_whole
from tightdp.session import certify as single
from tightdp.session import one_run
from tightdp.session.arguments import checked_call, read_count, read_exact, read_exponential, read_number
from tightdp.session.certify import WORK, Certificate, accepted, finished, load_checker, unfit
from tightdp.session.certify_concentration import concentration
from tightdp.session.certify_content import FORMAT, content_of, written
from tightdp.session.certify_events import dataset_of, number_of, power_of
from tightdp.session.engine import Engine
from tightdp.session.search import tight_privacy
from tightdp.session.widened import refuse_inexact

Guarantee = tuple[Any, Any, int]
"""e^ε, δ, and how often it is given."""


@checked_call
def certify(
    engine: Engine,
    *,
    runs: Any = None,
    exp_epsilon: Any = None,
    delta: Any = 0,
    zcdp: bool = False,
    rho: Any = None,
    guesses: Any = None,
    pairs: Any = None,
    **claim: Any,
) -> Certificate:
    """Return the certificate of one claim about one run, or with `runs` about the δ of so many at an e^ε.

    For that the file has the tight ε of one run, and what follows for all runs, whatever their order and parameters
    depend on. Without `delta` that is the least that follows from this ε alone. With `zcdp` it is that of ρ, or that ρ
    is at most `rho`; with `guesses`, or `pairs` of records, that of the efficacy of an audit in one run.
    """
    others = any(value is not None and value is not False for value in claim.values())
    audited, noise = (guesses, pairs) != (None, None), zcdp or rho is not None
    if audited or noise:
        alone = (runs, exp_epsilon) == (None, None) and not (others or (audited and noise))
        if not alone or read_number("delta", delta, 1):
            raise ParameterError("a certificate holds one claim", "certify one after the other")
        return efficacy(engine, guesses, pairs) if audited else concentration(engine, rho)
    if runs is None:
        return single.certify(engine, exp_epsilon=exp_epsilon, delta=delta, **claim)
    if others:
        raise ParameterError("of several runs δ at an e^ε is certified", "give runs with exp_epsilon, and delta")
    found = tight_privacy(engine, Fraction(0))
    if found.status != "exact" or found.exp_epsilon == math.inf or found.witness is None:
        raise QueryError("the tight ε of one run is infinite, or not known", "give it more time, or ask for one run")
    total = together(found.exp_epsilon, (runs, exp_epsilon, delta))
    one = {"question": "privacy", "bound": found.exp_epsilon, "attained": True, "runs": total}
    return finished(engine, one, found.witness)


def together(tight: Any, asked: tuple[Any, Any, Any]) -> tuple[int, Number, Number]:
    """Return what is claimed of runs with this e^ε: how many, an e^ε, and δ, the least where none is given."""
    runs, exp_epsilon, delta = asked
    if exp_epsilon is None:
        raise ParameterError("of several runs δ at an e^ε is certified", "give runs with exp_epsilon, and delta")
    bound = read_exact("exp_epsilon", exp_epsilon, least=1)
    many = as_int(as_whole(runs), "runs")
    if many < 1:
        raise ParameterError(f"runs is {many}", "give a number of at least 1")
    return many, bound, read_number("delta", delta, 1) or _least([(tight, Fraction(0), many)], bound)


def certify_composition(guarantees: Iterable[Guarantee], exp_epsilon: Any, delta: Any = None) -> Certificate:
    """Return a certificate of what runs with guarantees (e^ε, δ, how often) show together: δ at an e^ε.

    Each run may depend on the outputs so far. Without `delta` it is the least that follows from these guarantees alone.
    Raises QueryError where a given `delta` does not follow.
    """
    listed = [
        (read_exponential(t, None, least=1)[0], read_number("delta", some, 1), as_int(as_whole(runs), "runs"))
        for t, some, runs in guarantees
    ]
    bound, _ = read_exponential(exp_epsilon, None, least=1)
    most = _least(listed, bound) if delta is None else read_number("delta", delta, 1)
    root = root_of(bound, most, *(t for t, _, _ in listed), *(some for _, some, _ in listed))
    claim = {"question": "composition", "guarantees": written(tuple(listed), root), "bound": written(bound, root)}
    claim |= {"delta": written(most, root), **({"root": root} if root else {})}
    content = {"format": FORMAT, "claim": claim, "evidence": {"rule": "responses"}}
    return accepted(content, "leave delta out for the least")


def _least(guarantees: list[Any], bound: Any) -> Number:
    """Return the least δ that guarantees show together at an e^ε."""
    numbers, checker = [bound, *(number for t, some, _ in guarantees for number in (t, some))], load_checker()
    root, unknown = root_of(*numbers), any(isinstance(each, ExpNumber) and each.unknown for each in numbers)
    checker.LEFT[0], checker.ROOT[0] = WORK * checker.WORK, -1 if unknown else root
    try:
        pairs, whole = checker.beside("datasets").composed(written(tuple(guarantees), root))
        point = checker.ratio(written(bound, root), 1), (0, 1)
        above, _ = checker.beside("datasets").excess(point, pairs, whole, whole)
        parts = above, checker.times(point[0][1], whole)
    except checker.Refused as reason:
        raise unfit(reason, f"{'give a smaller range, or ' * unknown}ask for fewer runs") from None
    power = ratio(UNKNOWN, UNKNOWN**0) if unknown else power_of({"root": root} if root else {})
    above, below = (number_of(checker, part, power) for part in parts)
    found: Fraction | ExpNumber = above / below
    return found


def efficacy(engine: Engine, guesses: Any, pairs: Any, **unknown: Any) -> Certificate:
    """Return the certificate of the efficacy with so many guesses, of all coins where none are given.

    It may be a function of an `unknown`, which has a name and two ends.
    """
    core = engine.program.expanded(engine.control())  # which says whether something is cut off
    refuse_inexact(engine.program, "certify")
    asked = engine.bound.n if guesses is None else read_count("guesses", guesses)
    found = one_run.efficacy(engine, asked, pairs, False)
    if not found.rows:
        raise QueryError(f"the efficacy is not known: {found.reason}", found.hint or "give it more time")
    share = found.rows[0].efficacy
    text = program_text(core, None, share)
    content = content_of(engine, {"question": "efficacy", "guesses": asked, "share": share} | unknown, text)
    content["claim"]["pairs"] = [dataset_of(engine.bound, pair) for pair in found.pairs]
    content["evidence"] = {"rule": "datasets"}
    return accepted(content, f"{'give a smaller range, or ' * bool(unknown)}ask for fewer records")
