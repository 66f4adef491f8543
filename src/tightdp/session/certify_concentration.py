"""Certificates of ρ: the numbers to which a program adds discrete Gaussian noise, and how far neighbours move them."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

from tightdp.core.nodes import CoreProgram
from tightdp.errors import QueryError
from tightdp.exact.field import exp
from tightdp.exact.numbers import compare_log
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.methods.noisy_numbers import find_noisy_numbers
from tightdp.results.result import PairWitness
from tightdp.session.arguments import read_number
from tightdp.session.certify import WORK, Certificate, finished, load_checker, settled, unfit
from tightdp.session.certify_content import without_evidence
from tightdp.session.certify_events import dataset_of
from tightdp.session.engine import Engine
from tightdp.session.moments import renyi_divergence
from tightdp.symmetry.sets import every_neighbouring_pair

_UNFIT = (
    "no rule of evidence fits: ρ is certified where an output is computed from numbers with discrete Gaussian noise"
)

_ORDERS = tuple(map(Fraction, ("9/8", "5/4", "3/2", "2")))
"""Orders at which a ρ of what is computed from noisy numbers is refuted."""


def concentration(engine: Engine, rho: Any) -> Certificate:
    """Return the certificate of the ρ of the noisy numbers, or that ρ is at most `rho`, or more.

    What is computed from the noisy numbers has their ρ at most, and may have less: then a claim is refuted by a moment
    of some order a above e^(a (a-1) ρ). Raises QueryError where none is, where another noise is drawn, or where the
    records are seen in another way.
    """
    bound = None if rho is None else read_number("rho", rho)
    noise = find_noisy_numbers(engine.program.core(engine.control()))
    if noise is None:
        raise QueryError(_UNFIT, "ask for ε at a δ instead")
    claim: dict[str, Any] = {"question": "concentration", "variances": noise.variances, "bound": Fraction(0)}
    largest, pair = _largest(engine, claim, noise.centres)
    claim["bound"] = largest if bound is None else bound
    claim["question"] = settled("concentration", "ρ", claim["bound"], largest, largest)
    if largest == claim["bound"] > 0 and noise.published and pair is not None:
        claim["attained"] = True
    if claim["question"] == "concentration" or noise.published:
        return finished(engine, claim, pair, core=noise.centres)
    for order in _ORDERS:
        exceeded = renyi_divergence(engine, order)
        most = order * (order - 1) * claim["bound"]
        if compare_log(exceeded.lower, most) > 0:
            claim = {"question": "larger moment", "order": order, "bound": exp(most)}
            return finished(engine, claim, exceeded.witness)
    raise QueryError(f"no more is certified of ρ than the {largest} of the noisy numbers", f"give rho={largest}")


def _largest(engine: Engine, claim: dict[str, Any], core: CoreProgram) -> tuple[Fraction, PairWitness | None]:
    """Return the largest sum of squared distances over twice the variances, as the checker finds it, and who has it.

    That is None where it is not among the first neighbours.
    """
    checker, (content, _) = load_checker(), without_evidence(engine, claim, core)
    checker.LEFT[0] = WORK * checker.WORK
    try:
        program = checker.beside("datasets").Claim(content)
        met = [[(None, None)] if client is None else program.met for client in program.clients]
        ways = [program.along(*pair) for pair in program.listed] or [met]
        distance = partial(checker.beside("datasets").distance, program.variances)
        largest = max(Fraction(distance(pairs)) for way in ways for pairs, *_ in program.walk(way))
        for x, other, _ in islice(every_neighbouring_pair(engine.bound), LISTED_ROWS):
            pair = (program.dataset(dataset_of(engine.bound, each)) for each in (x, other))
            if any(distance(pairs) == largest for pairs, *_ in program.walk(program.along(*pair))):
                return largest, PairWitness(x, other)
        return largest, None
    except checker.Refused as error:
        raise unfit(error, "ask for fewer records") from None
