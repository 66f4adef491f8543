"""Certificates: a claim, the core program, and evidence that an independent checker accepts without this package.

The evidence of a method is written down so that `proofs/checker.py` can verify it. Only certificates that it accepts
are returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

from tightdp.core.lowering import lower, lower_target
from tightdp.core.nodes import Apply, CoreProgram
from tightdp.core.passes import expand_shuffles
from tightdp.core.text import program_text
from tightdp.core.unmerged import Uncut
from tightdp.errors import LanguageError, ParameterError, QueryError
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import Exact, compare_log, decimal_text
from tightdp.language.program import Dataset
from tightdp.logic.encode import prober
from tightdp.methods.base import Control
from tightdp.queries.measures import AccuracyAt
from tightdp.queries.privacy import DeltaAt, read_order
from tightdp.results.answers import Accuracy
from tightdp.results.privacy import Delta
from tightdp.results.result import PairWitness, TripleWitness
from tightdp.session.arguments import checked_call, read_exact, read_exponential, read_number
from tightdp.session.certify_content import content_of, indented, without_evidence, written
from tightdp.session.certify_events import between, dataset_of, event_of, known_nearly, number_of, power_of, shown_at
from tightdp.session.engine import Engine
from tightdp.session.files import builtin_claims, import_file
from tightdp.session.forms import find_forms
from tightdp.session.moments import renyi_divergence
from tightdp.session.outputs import output_law
from tightdp.session.search import answer, tight_privacy
from tightdp.session.search import curve as privacy_curve
from tightdp.session.widened import refuse_inexact

WORK = 1000
"""How many times the work that a checker does unasked may be needed."""
MOST_ORDER, MOST_ROOT = 99, 16
"""The largest p and q of the orders p/q of moments that checkers take."""
GRAINS = 10**15
"""Upper ends of moments that are enclosed are written in units of 1/GRAINS."""
REFUTED = {
    "privacy": "violation",
    "moment": "larger moment",
    "concentration": "larger concentration",
    "accuracy": "inaccuracy",
}
"""Bounds that are claimed, and the claims that they are false."""


class Endless(QueryError):
    """A program has no core program with finitely many outcomes."""


@dataclass(frozen=True)
class Certificate:
    """A certificate as JSON-ready values, and what it establishes, in the words of the checker."""

    content: Mapping[str, Any]
    establishes: str
    times: int = 1
    """How many times the usual work a checker has to be allowed, as `tightdp check --work` does."""

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file."""
        return dict(self.content)

    def write(self, path: str | Path) -> None:
        """Write the file; `proofs/checker.py` and `tightdp check` read it."""
        Path(path).write_text(self.text, encoding="ascii", newline="\n")

    @cached_property
    def text(self) -> str:
        """The text of the file."""
        return indented(dict(self.content)) + "\n"


@cache
def load_checker() -> Any:
    """Import `proofs/checker.py`, which imports nothing of this package."""
    place = builtin_claims()
    if place is None or not (place / "checker.py").is_file():
        raise QueryError("the checker is not there", "install the package with its proofs, or run it from the clone")
    return import_file(place / "checker.py")


def check_file(path: str, work: int = 1) -> int:
    """Check a file with so many times the usual work, print one line, and return 0 where it is accepted, else 1."""
    return int(load_checker().main(path, work))


@checked_call
def certify(
    engine: Engine,
    *,
    epsilon: Any = None,
    exp_epsilon: Any = None,
    delta: Any = 0,
    alpha: Any = None,
    beta: Any = None,
    order: Any = None,
    exp_moment: Any = None,
    curve: bool = False,
    x: Any = None,
) -> Certificate:
    """Return the certificate of one claim, as a user wrote it; of the tight ε where there is none."""
    pure, accuracy, moment = (exp_epsilon, epsilon), (alpha, beta), (order, exp_moment)
    bar = read_number("delta", delta, 1)
    asked = [pure != (None, None) or bar > 0, accuracy != (None, None), moment != (None, None), curve, x is not None]
    if sum(asked) > 1:
        raise ParameterError("a certificate holds one claim", "certify one after the other")
    try:
        engine.program.expanded(engine.control())  # which says whether something is cut off
    except Uncut as error:
        if not bar and not any(asked[1:]) and (core := _told_apart(engine)) is not None:
            claimed = (None, None) if pure == (None, None) else read_exponential(*pure, least=1)
            return _of_published(engine, core, *claimed)
        what = f"no rule of evidence fits: {error.kind} has no core program with finitely many outcomes here"
        raise Endless(what, "ask privacy, delta or verify, which answer without one") from None
    if accuracy != (None, None) or x is not None:
        refuse_inexact(engine.program, "certify")
    if x is not None:
        return _law(engine, engine.bound.check_dataset(x))
    if curve:
        found = privacy_curve(engine)
        pairs = shown_at(engine, found.points) if _exactly(engine, found, "curve") else []
        claim: dict[str, Any] = {"question": "curve", "points": found.points} | ({"attained": True} if pairs else {})
        return finished(engine, claim, pairs)
    if moment != (None, None):
        return _moment(engine, *moment)
    if accuracy != (None, None):
        if None in accuracy:
            raise ParameterError("an accuracy claim has alpha and beta", "give both")
        return _accuracy(engine, read_number("alpha", alpha), read_number("beta", beta, 1))
    exp_epsilon, power = (None, None) if pure == (None, None) else read_exponential(*pure, least=0 if bar else 1)
    if bar and exp_epsilon is not None:
        return _privacy_at(engine, exp_epsilon, bar)
    return _privacy(engine, exp_epsilon, power, bar)


def _exactly(engine: Engine, found: Any, what: str) -> bool:
    """Return whether laws are exact. Raises QueryError where they are and an answer about them is not."""
    exact = engine.program.inexact is None
    if exact and found.status != "exact":
        raise QueryError(f"the {what} is not known: {found.reason}", found.hint or "give it more time")
    return exact


def settled(question: str, what: str, claimed: Exact, low: Exact, high: Exact) -> str:
    """Return what to claim of a bound on a number between two ends. Raises QueryError where that is not known."""
    if low <= claimed < high:
        raise _undecided(what, low, high)
    return question if high <= claimed else REFUTED[question]


def _privacy(
    engine: Engine, exp_epsilon: Fraction | ExpNumber | None, epsilon: Fraction | None, delta: Fraction
) -> Certificate:
    """Return a certificate of the tight ε at δ, of a claim, or of its refutation. Raises QueryError where none fits."""
    found = tight_privacy(engine, delta)
    exact = _exactly(engine, found, "tight ε")
    tight, claim = found.exp_epsilon, {"question": "privacy", "bound": found.exp_epsilon}
    least = tight if exact else found.lower
    if delta:
        claim["delta"] = delta
    if exp_epsilon is not None:
        claim |= {"question": settled("privacy", "e^ε", exp_epsilon, least, tight), "bound": exp_epsilon}
    elif epsilon is not None:  # the bound is a rational on the side of e^ε that makes the claim stronger
        if compare_log(least, epsilon) > 0:
            claim |= {"question": "violation", "bound": between(epsilon, least)}
        elif compare_log(tight, epsilon) > 0:
            raise _undecided("e^ε", least, tight)
    elif tight == math.inf:  # every e^ε is refuted
        if least < tight:
            raise _undecided("e^ε", least, tight)
        claim["question"] = "violation"
    elif exact and found.witness is not None and (not delta or tight > 1):
        claim["attained"] = True
    elif not exact and least == tight:  # a closed form; what the program without far runs shows is more
        claim["bound"] = _above(tight)
    return finished(engine, claim, found.witness)


def _told_apart(engine: Engine) -> CoreProgram | None:
    """Return the core program in which no more is told of published noise than the rest is drawn from; or None."""
    try:
        core = lower(engine.bound, None, prober(engine.backend), engine.control(), told=True)
    except LanguageError:
        return None
    return expand_shuffles(core) if core.inexact is None else None


def _of_published(
    engine: Engine, core: CoreProgram, exp_epsilon: Fraction | ExpNumber | None, epsilon: Fraction | None
) -> Certificate:
    """Return a certificate of ε where noise on the reals is published, by what is told of it. Raises QueryError."""
    found = tight_privacy(engine, Fraction(0))
    tight = found.exp_epsilon
    if found.status != "exact" or tight == math.inf:
        raise QueryError("no rule of evidence fits: e^ε has no upper end that is known", "ask privacy")
    if tight > exp_epsilon if exp_epsilon is not None else epsilon is not None and compare_log(tight, epsilon) > 0:
        what = "no rule of evidence fits: of noise on the reals that is published upper ends are certified"
        raise QueryError(what, "verify says what refutes the claim")
    claim = {"question": "privacy of messages", "bound": tight if exp_epsilon is None else exp_epsilon}
    return finished(engine, claim, None, core=core)


def _above(number: Exact) -> Fraction:
    """Return an upper end of a number that is known up to an error."""
    most = number.enclosure(30).upper if isinstance(number, ExpNumber) else number
    return Fraction(math.ceil(most * GRAINS) + 1, GRAINS)


def _undecided(what: str, low: Exact, high: Exact) -> QueryError:
    what = f"what is certified shows of {what} no more than that it is from {decimal_text(low)} to {decimal_text(high)}"
    return QueryError(what, "ask about a number outside of these, or with delta")


def _privacy_at(engine: Engine, exp_epsilon: Fraction | ExpNumber, delta: Fraction) -> Certificate:
    """Return the certificate for δ at an e^ε: it is attained where it is the tight δ there."""
    found: Delta = answer(engine, DeltaAt(exp_epsilon, exp_epsilon))
    exact = _exactly(engine, found, "tight δ")
    question = settled("privacy", "δ", delta, found.lower, found.delta)
    attained = {"attained": True} if exact and found.delta == delta else {}
    return finished(engine, {"question": question, "bound": exp_epsilon, "delta": delta} | attained, found.witness)


def _accuracy(engine: Engine, alpha: Fraction, beta: Fraction) -> Certificate:
    found: Accuracy = answer(engine, AccuracyAt(alpha))
    _exactly(engine, found, "tight accuracy")
    assert found.one_minus_beta is not None
    tight = 1 - found.one_minus_beta
    claim = {"question": settled("accuracy", "β", beta, tight, tight), "alpha": alpha, "beta": beta}
    claim |= {"attained": True} if tight == beta else {}
    core = engine.program.expanded(engine.control())
    last = core.components[0]
    if isinstance(last, Apply) and last.operator == "merge_tail":  # all that is further out has to be wrong
        core = replace(core, components=last.operands[:1])
        finished(engine, {**claim, "question": "accuracy", "beta": tight, "attained": True}, None, found.x, core)
    return finished(engine, claim, None, found.x, core)


def _moment(engine: Engine, order: Any, bound: Any) -> Certificate:
    """Return the certificate of the tight moment of an order, or of a bound on it."""
    if order is None:
        raise ParameterError("exp_moment bounds the moment of an order", "give the order too")
    asked = read_order(order)
    if isinstance(asked, float) or asked.numerator > MOST_ORDER or asked.denominator > MOST_ROOT:
        least = f"for orders p/q with p up to {MOST_ORDER} and q up to {MOST_ROOT}"
        raise QueryError(f"no rule of evidence fits: moments are certified {least}", "give such an order")
    found = renyi_divergence(engine, asked)
    if asked.denominator == 1 or found.reason:
        _exactly(engine, found, "tight moment")
    claimed = found.exp_moment if bound is None else read_exact("exp_moment", bound)
    if claimed == math.inf:
        raise QueryError("no rule of evidence fits: the moment is infinite", "certify the tight ε: it is infinite, too")
    if bound is None and found.status != "exact":
        claimed = _above(claimed)
    question = settled("moment", "the moment", claimed, found.lower, found.exp_moment)
    claim: dict[str, Any] = {"question": question, "order": asked, "bound": claimed}
    if question == "moment":
        refuse_inexact(engine.program, "certify")
    if found.status == "exact" and found.exp_moment == claimed and found.witness is not None:
        claim["attained"] = True
    return finished(engine, claim, found.witness)


def _law(engine: Engine, x: Dataset) -> Certificate:
    """Return the certificate of the law of what is published on a dataset; outputs are the ways to publish them."""
    found = output_law(engine, x)
    if found.status != "exact" or found.upper:
        raise QueryError(f"the law is not known: {found.reason}", found.hint or "give it more time")
    core = engine.program.expanded(engine.control())
    text, checker = program_text(core, None, *(p for _, p in found.law)), load_checker()
    content = content_of(engine, {"question": "law"}, text)
    content["claim"] |= {"dataset": dataset_of(engine.bound, x), "law": []}
    content["evidence"] = {"rule": "datasets"}
    try:
        checker.LEFT[0] = WORK * checker.WORK
        program = checker.beside("datasets").Claim(content)
        at = program.dataset(content["claim"]["dataset"])
        power = power_of(content["claim"])
        whole = number_of(checker, program.weight(at), power)
        for output, p in found.law:
            event = event_of(core, text, output)
            if event is None or number_of(checker, program.weight(at, program.event(event)), power) != p * whole:
                raise QueryError("no rule of evidence fits: outputs share what is published", "certify the tight ε")
            content["claim"]["law"].append([event, written(p, text.root)])
        return verified(content)
    except checker.Refused as error:
        raise unfit(error, "ask for fewer records") from None


def core_lines(engine: Engine) -> tuple[str, ...]:
    """Return the lines of the core program."""
    return program_text(engine.program.expanded(engine.control())).lines


def finished(
    engine: Engine,
    claim: dict[str, Any],
    pair: PairWitness | list[PairWitness] | None,
    x: Dataset | None = None,
    core: CoreProgram | None = None,
) -> Certificate:
    """Return the certificate of a claim, about a program, with the first evidence that the checker accepts."""
    control, checker = engine.control(), load_checker()
    core = core or engine.program.expanded(control)
    if engine.program.inexact is not None:
        claim = known_nearly(engine, core, claim)
    target = lower_target(engine.bound, prober(engine.backend)) if "alpha" in claim else None
    content, text = without_evidence(engine, claim, core, target)
    evidence: dict[str, Any] = {}
    if "attained" not in claim and claim["question"] not in REFUTED.values():
        pair = x = None
    pairs = pair if isinstance(pair, list) else [] if pair is None else [pair]
    named = [[dataset_of(engine.bound, each.x), dataset_of(engine.bound, each.x_prime)] for each in pairs]
    if pairs:
        evidence["witness"] = named if isinstance(pair, list) else named[0]
    elif x is not None:
        evidence["witness"] = [dataset_of(engine.bound, x)] * 2
    witnesses = [evidence]
    if isinstance(pair, TripleWitness) and "delta" not in claim:
        event = event_of(core, text, pair.output)
        witnesses = [{**evidence, "event": event}, evidence] if event else witnesses
    reason: Exception | None = None
    for witness, found in product(witnesses, _evidence(content, checker, control)):
        try:
            content["evidence"] = {**found, **witness}
            return verified(content)
        except checker.Refused as error:
            reason = error
    if claim["question"] == "privacy of messages":
        reason = checker.Refused("what is told of the noise says more than the numbers")
    hints = {
        "unknown": "give a smaller range; solve says where a claim holds",
        "runs": "leave delta out for the least",
        "error": "claim a little more",
        "order": "give a whole order, or fewer records",
        "alpha": "ask for fewer records, and of noise on all integers for a smaller alpha",
    }
    raise unfit(reason, next((hints[name] for name in hints if name in claim), "ask for fewer records")) from None


def verified(content: dict[str, Any]) -> Certificate:
    """Return a certificate that the checker accepts, with the work that this takes. Raises Refused for others."""
    checker = load_checker()
    made = Certificate(content, checker.check(content, WORK), WORK - checker.LEFT[0] // checker.WORK)
    times = -(-len(made.text) // checker.MOST_BYTES)
    return made if times <= made.times else replace(made, times=times)


def accepted(content: dict[str, Any], hint: str) -> Certificate:
    """Return a certificate that the checker accepts. Raises QueryError, with a hint, for others."""
    try:
        return verified(content)
    except load_checker().Refused as reason:
        raise unfit(reason, hint) from None


def unfit(reason: Exception | None, hint: str) -> QueryError:
    """Return why nothing is certified: the budget, where the checker could not end within it."""
    checker = load_checker()
    if checker.LEFT[0] < 0:
        budget = f"{WORK:,} times the work that a checker does unasked, {checker.WORK:,} steps"
        return QueryError(f"checking the evidence takes more than {budget}", hint)
    return QueryError(f"no rule of evidence fits: {reason or 'no witness'}", hint)


def _evidence(content: Mapping[str, Any], checker: Any, control: Control) -> Iterator[dict[str, Any]]:
    """Yield what may establish a claim, without its witness."""
    claim = content["claim"]
    if claim["question"] in REFUTED.values():
        yield {"rule": "witness"}
        return
    if claim["question"] in ("privacy", "privacy of messages") and "delta" not in claim:
        try:
            checker.LEFT[0] = WORK * checker.WORK
            forms = find_forms(checker, checker.beside("datasets").Claim(content), control)
        except checker.Refused:
            forms = None
        if forms is not None:
            yield forms
    yield {"rule": "datasets"}
