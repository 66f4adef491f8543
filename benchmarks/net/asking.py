"""Asks one row of tightdp, and writes the answer as plain data: a status, and named values or pairs of ends."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from tightdp.errors import TightdpError
from tightdp.language import interp
from tightdp.results.result import TripleWitness

from .children import processor
from .sources import bound, dataset

Answer = dict[str, Any]
MOST_RUNS = 1500
"""A witness is checked with so many runs of the interpreter at most."""
LONGEST = 120
"""Longer values are recorded by their rounded value and a hash."""


def ask(row: dict[str, Any]) -> Answer:
    """The answer to a row, with its seconds of the processor. Errors of tightdp are answers, too."""
    start = processor()
    try:
        instance = bound(row)
        answer = QUESTIONS[row["question"]](instance, **row["arguments"])
    except TightdpError as error:
        return {"status": "error", "values": {"error": type(error).__name__}, "seconds": _since(start)}
    answer["seconds"] = _since(start)
    witness = answer.pop("witness", None)
    if isinstance(witness, TripleWitness) and answer["status"] == "exact":
        answer["witness"] = _checked(instance, witness, answer["values"]["exp_epsilon"])
    return answer


def _since(start: float) -> float:
    return round(processor() - start, 3)


def _checked(instance: Any, witness: TripleWitness, value: str) -> str:
    """Whether the output has the ratio that is claimed on the two datasets, by the interpreter."""
    masses = []
    for x in (witness.x, witness.x_prime):
        total = mass = Fraction(0)
        try:
            for count, (output, probability) in enumerate(interp.runs(instance.bound, x)):
                total += probability
                mass += probability if output == witness.output else 0
                if count > MOST_RUNS:
                    return "not checked"
        except TightdpError:
            return "not checked"
        masses.append(mass / total)
    found = masses[0] / masses[1] if masses[1] else math.inf
    return "valid" if written(found) == value else f"wrong: {written(found)}"


# Numbers as text.


def written(value: Any) -> str:
    """An exact value as text, the same whichever way it was found; long ones by a rounded value and a hash."""
    text = _text(value)
    if len(text) <= LONGEST:
        return text
    rounded = f"{float(value):.12e}" if isinstance(value, (int, Fraction)) else ""
    return f"{rounded}#{hashlib.sha256(text.encode()).hexdigest()[:20]}"


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, float) and not math.isinf(value):
        return f"{value:.9e}"
    if isinstance(value, (int, Fraction)) and max(abs(value.numerator), value.denominator).bit_length() > 3000:
        return f"{value.numerator:x}/{value.denominator:x}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(_text(one) for one in value)})"
    return str(value)


def rounded(value: Any) -> str:
    """An end of an enclosure as text."""
    if isinstance(value, (int, Fraction)) and len(_text(value)) > 40:
        return f"{float(value):.17e}"
    return _text(value) if isinstance(value, (int, Fraction)) or value == math.inf else f"{float(value):.17e}"


def exactly(status: str, ends: dict[str, tuple[Any, Any]] | None = None, **values: Any) -> Answer:
    """An answer: the values where it is exact, else the ends of what is known."""
    if status == "exact":
        return {"status": status, "values": {key: written(value) for key, value in values.items()}}
    known = {key: [rounded(low), rounded(high)] for key, (low, high) in (ends or {}).items()}
    return {"status": status, "ends": known}


# Questions.


def _with_witness(answer: Answer, found: Any) -> Answer:
    return {**answer, "witness": found.witness, "method": found.stats.method}


def _privacy(instance: Any, **arguments: Any) -> Answer:
    found = instance.privacy(**arguments)
    if hasattr(found, "pieces"):
        return _pieces(found)
    if instance.every_n:
        values = {"n": found.n, "attained": found.attained, "lower": found.lower, "upper": found.upper}
        return exactly(found.status, {"exp_epsilon": (found.lower, found.upper)}, **values)
    values = {"exp_epsilon": found.exp_epsilon}
    if "top" in arguments:
        values["top"] = tuple(row.exp_epsilon for row in found.top)
    ends = {"exp_epsilon": (found.lower, found.exp_epsilon)}
    return _with_witness(exactly(found.status, ends, **values), found)


def _delta(instance: Any, **arguments: Any) -> Answer:
    found = instance.delta(**arguments)
    if hasattr(found, "pieces"):
        return _pieces(found)
    return _with_witness(exactly(found.status, {"delta": (found.lower, found.delta)}, delta=found.delta), found)


def _curve(instance: Any) -> Answer:
    found = instance.curve()
    ends = {"at one": (found.lower[0][1], found.points[0][1])} if found.lower else {}
    return {**exactly(found.status, ends, points=found.points), "method": found.stats.method}


def _tradeoff(instance: Any) -> Answer:
    found = instance.tradeoff()
    return {**exactly(found.status, {}, vertices=found.vertices), "method": found.stats.method}


def _renyi(instance: Any, order: Any) -> Answer:
    found = instance.renyi(order)
    ends = {"moment": (found.lower, found.exp_moment)}
    return _with_witness(exactly(found.status, ends, moment=found.exp_moment), found)


def _zcdp(instance: Any) -> Answer:
    found = instance.zcdp()
    return _with_witness(exactly(found.status, {"rho": (found.lower, found.rho)}, rho=found.rho), found)


def _accuracy(instance: Any, alpha: Any = None, beta: Any = None) -> Answer:
    found = instance.accuracy(alpha, beta=beta)
    if hasattr(found, "pieces"):
        return _pieces(found)
    if beta is not None:
        return exactly(found.status, {"alpha": (found.lower, found.upper)}, alpha=found.alpha)
    ranked = tuple((row.one_minus_beta, row.inputs) for row in found.top)
    ends = {"one_minus_beta": (found.lower, found.upper)}
    return exactly(found.status, ends, one_minus_beta=found.one_minus_beta, top=ranked)


def _utility(instance: Any) -> Answer:
    found = instance.utility()
    ends = {
        row.measure: (min(row.value, row.better), max(row.value, row.better))
        for row in found.measures
        if row.better is not None
    }
    return exactly(found.status, ends, **{row.measure: row.value for row in found.measures})


def _failure(instance: Any) -> Answer:
    found = instance.failure()
    return exactly(found.status, {"probability": (found.lower, found.probability)}, probability=found.probability)


def _efficacy(instance: Any, **arguments: Any) -> Answer:
    found = instance.efficacy(**arguments)
    if hasattr(found, "pieces"):
        return _pieces(found)
    rows = tuple((row.guesses, row.ac, row.ddp, row.dp, row.adaptive) for row in found.rows)
    efficacy = tuple(row.efficacy for row in found.rows)
    return exactly(found.status, {}, efficacy=efficacy, rows=rows, exp_epsilon=found.exp_epsilon)


def _guessing(ask_it: Callable[..., Any]) -> Answer:
    found = ask_it()
    if hasattr(found, "pieces"):
        return _pieces(found)
    joint = {(guesses, right): p for guesses, right, p in found.joint.entries}
    return exactly(found.status, {}, joint=tuple((key, joint[key]) for key in sorted(joint) if joint[key]))


def _distribution(instance: Any, x: Any) -> Answer:
    found = instance.distribution(dataset(instance, x))
    if hasattr(found, "pieces"):
        return _pieces(found)
    ends = {
        str(place): (low, high)
        for place, ((_, low), (_, high)) in enumerate(zip(found.law[:5], found.upper[:5], strict=False))
    }
    law = tuple(sorted((entry for entry in found.law if entry[1]), key=lambda entry: written(entry[0])))
    return {**exactly(found.status, ends, law=law), "method": found.stats.method}


def _likelihood(instance: Any, x: Any, x_prime: Any) -> Answer:
    found = instance.likelihood(dataset(instance, x), dataset(instance, x_prime))
    rows = sorted((written(row.output), row.probability, row.probability_prime) for row in found.rows)
    ends = {"largest": (found.rows[0].ratio, found.rows[0].ratio_above)} if found.status == "bounded" else {}
    return exactly(found.status, ends, rows=rows)


def _probability(instance: Any, x: Any, seed: int) -> Answer:
    at = dataset(instance, x)
    return exactly("exact", probability=instance.probability(at, instance.sample(at, seed=seed).outputs[0]))


def _verify(instance: Any, **arguments: Any) -> Answer:
    found = instance.verify(**arguments)
    return exactly("exact" if found.holds is not None else "unresolved", verdict=found.holds)


def _composed(instance: Any, runs: int, **arguments: Any) -> Answer:
    loss = instance.privacy_loss()
    if "rate" in arguments:
        loss = loss.subsample(arguments.pop("rate"))
    loss = loss.compose(runs)
    if "delta" in arguments:
        found = loss.epsilon(**arguments)
        return exactly(found.status, {"exp_epsilon": (found.lower, found.exp_epsilon)}, exp_epsilon=found.exp_epsilon)
    found = loss.delta(**arguments)
    return exactly(found.status, {"delta": (found.lower, found.delta)}, delta=found.delta)


def _solve(instance: Any, **claims: Any) -> Answer:
    found = instance.solve(**claims)
    holds = tuple((_end(one.start), _end(one.stop)) for one in found.holds)
    best = found.best and (_end(found.best.at), found.best.one_minus_beta, found.best.attained)
    return exactly(found.status, {}, holds=holds, best=best)


def _pieces(found: Any) -> Answer:
    parts = tuple((_end(part.start), _end(part.stop), part.value) for part in found.pieces)
    return exactly(found.status, {}, pieces=parts)


def _end(end: Any) -> str:
    return f"root of {end.polynomial} near {float(end):.9g}" if end.value is None else _text(end.value)


def _certified(instance: Any, **arguments: Any) -> Answer:
    instance.certify(**arguments)
    return exactly("exact", accepted=True)


def _explained(instance: Any) -> Answer:
    found = instance.explain()
    return exactly(found.status, {}, exp_epsilon=getattr(found, "exp_epsilon", None))


QUESTIONS: dict[str, Callable[..., Answer]] = {
    "privacy": _privacy,
    "delta": _delta,
    "curve": _curve,
    "tradeoff": _tradeoff,
    "renyi": _renyi,
    "zcdp": _zcdp,
    "accuracy": _accuracy,
    "utility": _utility,
    "failure": _failure,
    "efficacy": _efficacy,
    "guessing": lambda instance, **rest: _guessing(lambda: instance.guessing(**rest)),
    "adaptive_guessing": lambda instance, **rest: _guessing(lambda: instance.adaptive_guessing(**rest)),
    "classic_guessing": lambda instance, **rest: _guessing(lambda: instance.classic_guessing(**rest)),
    "distribution": _distribution,
    "likelihood": _likelihood,
    "probability": _probability,
    "verify": _verify,
    "privacy_loss": _composed,
    "solve": _solve,
    "certify": _certified,
    "explain": _explained,
}


def names(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The questions of some rows."""
    return sorted({row["question"] for row in rows})
