"""Certificates without a program: of optima, a mechanism as a table and multipliers that bound all others; of audits.

An audit has a feasible point of the dual program, which bounds right guesses for all private mechanisms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from typing import Any

from tightdp.core.sections import Written, written_value
from tightdp.core.syntax import plain_value
from tightdp.errors import QueryError
from tightdp.results.audit import Audit
from tightdp.results.optimum import BestMechanism, Optimum
from tightdp.session.certify import Certificate, accepted, load_checker
from tightdp.session.certify_content import FORMAT


def certify_optimum(answer: Optimum) -> Certificate:
    """Return a certificate of both ends of an optimum, of its table and its multipliers.

    The targets of all datasets, up to the order of clients that makes no difference to them, stand in the claim: that
    they are those that are meant is to be trusted. Raises QueryError where the checker finds it too long.
    """
    best = answer.best
    claim: dict[str, Any] = {
        "question": "optimum",
        "measure": answer.measure,
        "n": len(best.datasets[0]),
        "records": [_record(record) for record in dict.fromkeys(chain.from_iterable(best.datasets))],
        "neighbours": answer.neighbours
        if answer.neighbours in load_checker().beside("program").NEAR
        else _listed(best),
        "groups": [list(group) for group in best.groups],
        "outputs": _all(best.outputs),
        "targets": [
            [_dataset(x), plain_value(written_value(y))] for x, y in zip(best.datasets, best.targets, strict=True)
        ],
        "keeps": written_value(best.lower_exp_epsilon),
        "allows": written_value(best.upper_exp_epsilon),
        "least": written_value(answer.lower),
        "most": written_value(answer.upper),
    }
    named = {"alpha": answer.alpha, "delta": answer.delta or None}
    claim |= {name: written_value(value) for name, value in named.items() if value is not None}
    evidence = {
        "rule": "table",
        "table": list(map(_all, best.table)),
        "weights": _all(best.weights),
        "multipliers": list(map(_all, best.multipliers)),
    }
    return accepted({"format": FORMAT, "claim": claim, "evidence": evidence}, "ask for fewer records")


def _all(values: Iterable[object]) -> list[Written]:
    return [plain_value(written_value(value)) for value in values]


def _record(record: object) -> list[Written]:
    return _all(record if isinstance(record, tuple) else (record,))


def _dataset(x: Iterable[object]) -> list[list[Written]]:
    return list(map(_record, x))


def _listed(best: BestMechanism) -> list[Any]:
    """Return all pairs of neighbours, for a relation that is given by a function."""
    return [[_dataset(best.datasets[x]), _dataset(best.datasets[other])] for x, other in best.neighbours]


_ONE = 1 << 128


def certify_audit(answer: Audit) -> Certificate:
    """Return a certificate of an upper bound on the p-value of an audit by the method "optimal".

    It says that at least `correct` right guesses have at most the probability `bound` against all mechanisms with the
    `guarantee`: the one asked about (`epsilon`, `exp_epsilon`, `tradeoff`), otherwise (ε, δ)-DP for the lower
    end of ε, where the bound is at most the significance. Raises QueryError for other methods, and where nothing was
    guessed right.
    """
    point = answer.answer.certificate
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
    return accepted(content, "ask for fewer guesses")


def _above(bound: Fraction) -> Fraction:
    """Return a number of few digits that is a little larger: the checker rounds what it adds up."""
    return min(Fraction(math.ceil(bound * _ONE) + 1, _ONE), Fraction(1))
