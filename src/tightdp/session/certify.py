"""Certificates: a claim, the core program, and evidence that an independent checker accepts without this package.

The evidence of a method is written down so that `proofs/checker.py` can verify it; for an audit it is a feasible point
of the dual program, which bounds right guesses for all private mechanisms. Only certificates that it accepts are
returned.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightdp.core.lowering import lower_target
from tightdp.core.nodes import Const, CoreProgram
from tightdp.core.outputs import Choice, Leaf, Shape, TupleOf
from tightdp.core.sections import Part, written_value, written_whole
from tightdp.core.syntax import plain_name, plain_value, program_syntax
from tightdp.core.text import program_text
from tightdp.errors import ParameterError, QueryError
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import Exact, compare_log
from tightdp.exact.rationals import as_value
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.logic.encode import prober
from tightdp.methods.base import Control
from tightdp.queries.accuracy import AccuracyAt
from tightdp.results.result import PairWitness, TripleWitness
from tightdp.session.accuracy import accuracy_at
from tightdp.session.arguments import read_exponential, read_number
from tightdp.session.engine import Engine
from tightdp.session.files import builtin_claims, import_file
from tightdp.session.forms import Explored, find_forms, written
from tightdp.session.search import approximate_privacy, delta_at, tight_privacy

if TYPE_CHECKING:
    from tightdp.results.audit import Audit

FORMAT = 2
WORK = 1000
"""How many times the work that a checker does unasked may be needed."""
_MOST_EVENTS = 4
_WIDTH = 110


@dataclass(frozen=True)
class Certificate:
    """A certificate as JSON-ready values, and what it establishes, in the words of the checker."""

    content: Mapping[str, Any]
    establishes: str

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file."""
        return dict(self.content)

    def write(self, path: str | Path) -> None:
        """Write the file; `proofs/checker.py` and `tightdp check` read it."""
        Path(path).write_text(as_json(self), encoding="ascii", newline="\n")


def as_json(certificate: Certificate) -> str:
    """Return the text of the file."""
    return _indented(dict(certificate.content), 0) + "\n"


def _indented(value: Any, depth: int) -> str:
    """Return JSON in which whatever is short stands on one line."""
    flat = json.dumps(value)
    if len(flat) <= _WIDTH - depth or not isinstance(value, (dict, list)):
        return flat
    entries = [_indented(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]
    if isinstance(value, dict):
        entries = [f"{json.dumps(name)}: {text}" for name, text in zip(value, entries, strict=True)]
    start, end = "{}" if isinstance(value, dict) else "[]"
    inner = ",\n".join(" " * (depth + 1) + text for text in entries)
    return f"{start}\n{inner}\n{' ' * depth}{end}"


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


def certify_claim(engine: Engine, pure: tuple[Any, Any], delta: Any, accuracy: tuple[Any, Any]) -> Certificate:
    """Return the certificate for what a user wrote: e^ε or ε, δ, and α with β, each None where it was left out."""
    bar = read_number("delta", delta, 1)
    bound, rate = (
        None if value is None else read_number(name, value, most)
        for name, value, most in zip(("alpha", "beta"), accuracy, (None, 1), strict=True)
    )
    if (bound is None) != (rate is None):
        raise ParameterError("an accuracy claim has alpha and beta", "give both")
    if bound is not None and rate is not None:
        if pure != (None, None) or bar:
            raise ParameterError("a certificate holds one claim", "certify privacy and accuracy one by one")
        return certify(engine, None, (bound, rate))
    claimed = (None, None) if pure == (None, None) else read_exponential(*pure, least=1)
    return certify(engine, (*claimed, bar), None)


PureClaim = tuple[Fraction | ExpNumber | None, Fraction | None, Fraction]
"""e^ε or else ε, and δ."""


def certify(engine: Engine, privacy: PureClaim | None, accuracy: tuple[Fraction, Fraction] | None) -> Certificate:
    """Return a certificate of the tight ε at δ, of a claim, or of its refutation. Raises QueryError where none fits."""
    if accuracy is not None:
        return _accuracy(engine, *accuracy)
    exp_epsilon, epsilon, delta = privacy or (None, None, Fraction(0))
    if delta and exp_epsilon is not None:
        return _privacy_at(engine, exp_epsilon, delta)
    found = approximate_privacy(engine, delta) if delta else tight_privacy(engine, 1)
    if found.status != "exact":
        raise QueryError(f"the tight ε is not known: {found.reason}", found.hint or "give it more time")
    tight = found.exp_epsilon
    claim: dict[str, Any] = {"question": "privacy", "bound": tight}
    if delta:
        claim["delta"] = delta
    if exp_epsilon is not None:
        claim |= {"question": "privacy" if tight <= exp_epsilon else "violation", "bound": exp_epsilon}
    elif epsilon is not None:  # the bound is a rational on the side of e^ε that makes the claim stronger
        if compare_log(tight, epsilon) > 0:
            claim |= {"question": "violation", "bound": _between(epsilon, tight)}
    elif tight == math.inf:  # every e^ε is refuted
        claim["question"] = "violation"
    elif found.witness is not None and (not delta or tight > 1):
        claim["attained"] = True
    if claim["question"] == "privacy" and "attained" not in claim:
        return _finished(engine, claim, None, None)
    return _finished(engine, claim, found.witness, None)


def _privacy_at(engine: Engine, exp_epsilon: Fraction | ExpNumber, delta: Fraction) -> Certificate:
    """Return the certificate for δ at an e^ε: it is attained where it is the tight δ there."""
    found = delta_at(engine, exp_epsilon)
    if found.status != "exact":
        raise QueryError(f"the tight δ is not known: {found.reason}", found.hint or "give it more time")
    question = "privacy" if found.delta <= delta else "violation"
    claim: dict[str, Any] = {"question": question, "bound": exp_epsilon, "delta": delta}
    if found.delta == delta:
        claim["attained"] = True
    return _finished(engine, claim, found.witness, None)


def _between(epsilon: Fraction, tight: Exact) -> Fraction:
    """Return a rational between e^epsilon and a larger number."""
    digits = 1
    while True:
        least = tight.enclosure(digits).lower if isinstance(tight, ExpNumber) else tight
        bound = Fraction(2) ** digits if least == math.inf else Fraction(least) * (1 - Fraction(1, 1 << digits))
        if bound >= 1 and compare_log(bound, epsilon) >= 0:
            return bound
        digits += 1


def _accuracy(engine: Engine, alpha: Fraction, beta: Fraction) -> Certificate:
    found = accuracy_at(engine, AccuracyAt(alpha))
    if found.status != "exact" or found.one_minus_beta is None:
        raise QueryError(f"the tight accuracy is not known: {found.reason}", found.hint or "give it more time")
    kind = "accuracy" if found.one_minus_beta >= 1 - beta else "inaccuracy"
    claim: dict[str, Any] = {"question": kind, "alpha": alpha, "beta": beta}
    if found.one_minus_beta == 1 - beta:
        claim["attained"] = True
    return _finished(engine, claim, None, found.x)


def core_lines(engine: Engine) -> tuple[str, ...]:
    """Return the lines of the core program."""
    return program_text(engine.program.expanded(engine.control())).lines


def _finished(engine: Engine, claim: dict[str, Any], pair: PairWitness | None, x: Dataset | None) -> Certificate:
    """Return the certificate of a claim with the first evidence that the checker accepts."""
    control, bound, checker = engine.control(), engine.bound, load_checker()
    core = engine.program.expanded(control)
    target = lower_target(bound, prober(engine.backend)) if "alpha" in claim else None
    text = program_text(core, target, *claim.values())
    said = {"n": bound.n, "records": [_record(engine, record) for record in bound.record.values]}
    if target is None:
        said["neighbours"] = _neighbours(engine)
    numbers = {name: _written(value, text.root) for name, value in claim.items()}
    root = {"root": text.root} if text.root else {}
    content = about(
        {"question": numbers.pop("question"), **said, **numbers, **root},
        program_syntax(text.parts, error=target is not None),
        bound,
    )
    evidence: dict[str, Any] = {}
    if "attained" not in claim and claim["question"] not in ("violation", "inaccuracy"):
        pair = x = None
    if pair is not None:
        evidence["witness"] = [_dataset(engine, pair.x), _dataset(engine, pair.x_prime)]
    elif x is not None:
        evidence["witness"] = [_dataset(engine, x)] * 2
    witnesses = [evidence]
    if isinstance(pair, TripleWitness) and "delta" not in claim:
        events = islice(_events(core, core.shape, pair.output), _MOST_EVENTS)
        named = ({str(text.components[at]): value for at, value in event.items()} for event in events)
        events_of = (_completed(checker, content, evidence["witness"], _event(text.parts, event)) for event in named)
        witnesses = [{**evidence, "event": event} for events in events_of for event in events] or witnesses
    reason: Exception | None = None
    for witness, found in product(witnesses, _evidence(content, checker, control)):
        try:
            content["evidence"] = {**found, **witness}
            return Certificate(content, checker.check(content, WORK))
        except checker.Refused as error:
            reason = error
    raise unfit(reason, "ask for fewer records") from None


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
    if claim["question"] in ("violation", "inaccuracy"):
        yield {"rule": "witness"}
        return
    if "bound" in claim and "delta" not in claim:
        try:
            checker.LEFT[0] = WORK * checker.WORK
            forms = find_forms(checker, checker.Program(content), control)
        except checker.Refused:
            forms = None
        if forms is not None:
            yield forms
    yield {"rule": "datasets"}


def _written(value: Any, root: int) -> Any:
    """Return a part of a claim as the file has it."""
    if isinstance(value, ExpNumber):
        above, below = (written_whole(part, root) for part in value.as_integer_ratio())
        return above if below == 1 else {"above": above, "below": below}
    return written_value(value) if isinstance(value, Fraction) else "inf" if value == math.inf else value


def _event(parts: Sequence[Part], event: Mapping[str, Any]) -> list[Any]:
    """Return what each part of a program publishes in an event, None where the event leaves it open."""
    return [
        [plain_value(written_value(event[name])) for name in part.publishes]
        if event.keys() >= set(part.publishes)
        else None
        for part in parts
    ]


def _completed(checker: Any, content: Mapping[str, Any], witness: Any, event: list[Any]) -> list[list[Any]]:
    """Return events in which every part publishes one thing, and which happen, of one that leaves parts open."""
    if None not in event:
        return [event]
    checker.LEFT[0] = WORK * checker.WORK
    try:
        program = checker.Program(content)
        told, x = Explored(checker, program).told, program.dataset(witness[0])
    except checker.Refused:
        return [event]
    found = [event]
    for at, each in enumerate(event):
        if each is None:
            tried = [[*some[:at], written(value), *some[at + 1 :]] for some in found for value in told[at]]
            texts = ([None if one is None else checker.text(checker.value(one)) for one in some] for some in tried)
            found = [some for some, text in zip(tried, texts, strict=True) if program.weight(x, text)]
            found = found[:_MOST_EVENTS]
    return found


def about(claim: dict[str, Any], program: dict[str, Any], bound: Bound) -> dict[str, Any]:
    """Return a certificate without its evidence: a claim about a program, and the source that it was made from."""
    text = "".join(bound.program.source.lines)
    claim["program"] = _digest(json.dumps(program, separators=(",", ":")))
    parameters = {name: plain_name(str(value)) for name, value in bound.named if name != "n"}
    claim |= {"mechanism": plain_name(bound.program.name), "parameters": parameters, "source": _digest(text)}
    return {"format": FORMAT, "claim": claim, "program": program, "source": text}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _neighbours(engine: Engine) -> str | list[Any]:
    """Return the name of the neighbour relation, or all pairs of one that is given by a function."""
    relation = relation_of(engine.bound)
    if not relation.custom:
        return relation.name
    datasets = list(islice(product(engine.bound.record.values, repeat=engine.bound.n), LISTED_ROWS + 1))
    pairs = [(x, other) for x in datasets for other in relation.neighbours(x) if other != x]
    if max(len(pairs), len(datasets)) > LISTED_ROWS:
        raise QueryError("there are too many neighbours to list them", "ask for fewer records")
    return [[_dataset(engine, x), _dataset(engine, other)] for x, other in pairs]


def _record(engine: Engine, record: Any) -> Any:
    return plain_value(written_value(tuple(engine.bound.record.split(record))))


def _dataset(engine: Engine, x: Dataset) -> list[Any]:
    return [_record(engine, record) for record in x]


def _events(core: CoreProgram, shape: Shape, output: Any) -> Iterator[dict[int, Any]]:
    """Yield the values of components with which a shape gives an output."""
    match shape:
        case Leaf():
            expr = core.components[shape.component]
            if not isinstance(expr, Const):
                yield {shape.component: as_value(output)}
            elif expr.values[0] == output:
                yield {}
        case TupleOf():
            if isinstance(output, tuple) and len(output) == len(shape.items):
                parts = [list(_events(core, item, y)) for item, y in zip(shape.items, output, strict=True)]
                for chosen in product(*parts):
                    yield {at: value for part in chosen for at, value in part.items()}
        case Choice():
            for tag, item in enumerate(shape.alternatives):
                for event in _events(core, item, output):
                    for first in _events(core, Leaf(shape.component), tag):
                        yield {**first, **event}


_ONE = 1 << 128


def certify_audit(answer: Audit) -> Certificate:
    """Return a certificate of an upper bound on the p-value of an audit by the method "optimal".

    It says that at least `correct` right guesses have at most the probability `bound` against all mechanisms with the
    `guarantee`: the one asked about (`epsilon`, `exp_epsilon`, `tradeoff`), otherwise (ε, δ)-DP for the lower
    end of ε, where the bound is at most the significance. Raises QueryError for other methods, and where nothing was
    guessed right.
    """
    point, checker = answer.answer.certificate, load_checker()
    if point is None:
        raise QueryError(
            f"no rule of evidence fits: this answer of the method {answer.method} has no point of the dual program",
            'use method="optimal" with at least one right guess; for a smooth curve at most 2,000 guesses',
        )
    content: dict[str, Any] = {
        "format": FORMAT,
        "claim": {
            "question": "audit",
            "canaries": point.canaries,
            "guesses": point.guesses,
            "correct": point.correct,
            "options": point.options,
            "guarantee": [[written_value(t), written_value(delta)] for t, delta in point.pairs],
            "bound": written_value(_above(point.bound)),
        },
        "evidence": {
            "rule": "dual",
            "constant": written_value(point.constant),
            "multipliers": [written_value(multiplier) for multiplier in point.multipliers],
        },
    }
    try:
        return Certificate(content, checker.check(content, WORK))
    except checker.Refused as reason:
        raise unfit(reason, "ask for fewer guesses") from None


def _above(bound: Fraction) -> Fraction:
    """Return a number of few digits that is a little larger: the checker rounds what it adds up."""
    return min(Fraction(math.ceil(bound * _ONE) + 1, _ONE), Fraction(1))
