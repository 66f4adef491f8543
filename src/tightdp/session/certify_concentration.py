"""Certificates of ρ: the numbers to which a program adds discrete Gaussian noise, and how far neighbours move them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from tightdp.core.nodes import Apply, CoreProgram, Draw, Expr, Input, Nary, Shuffled, children, reachable
from tightdp.core.outputs import Leaf, TupleOf
from tightdp.core.passes import Rebuild
from tightdp.errors import QueryError
from tightdp.exact import theta
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.results.result import PairWitness
from tightdp.session.arguments import read_number
from tightdp.session.certify import WORK, Certificate, finished, load_checker, unfit
from tightdp.session.certify_content import without_evidence
from tightdp.session.certify_events import dataset_of
from tightdp.session.engine import Engine
from tightdp.symmetry.sets import every_neighbouring_pair

_UNFIT = (
    "no rule of evidence fits: ρ is certified where an output is computed from numbers with discrete Gaussian noise"
)


@dataclass(frozen=True)
class _Noise:
    """The program that gives the numbers to which noise is added, the variances, and whether the sums are published."""

    centres: CoreProgram
    variances: tuple[Fraction, ...]
    published: bool


def concentration(engine: Engine, rho: Any) -> Certificate:
    """Return the certificate of the ρ of the noisy numbers, or that ρ is at most `rho`, or more.

    What is computed from the noisy numbers has their ρ at most, and may have less: then a claim is not refuted. Raises
    QueryError where another noise is drawn, or where the records are seen in another way.
    """
    noise = _noise_of(engine)
    claim: dict[str, Any] = {"question": "concentration", "variances": noise.variances, "bound": Fraction(0)}
    largest, pair = _largest(engine, claim, noise.centres)
    claim["bound"] = largest if rho is None else read_number("rho", rho)
    if largest > claim["bound"]:
        claim["question"] = "larger concentration"
    elif largest == claim["bound"] > 0 and noise.published and pair is not None:
        claim["attained"] = True
    if claim["question"] == "concentration" and "attained" not in claim:
        return finished(engine, claim, None, core=noise.centres)
    if not noise.published:
        raise QueryError(f"of ρ no more is known here than that it is at most {largest}", "ask for it with zcdp")
    return finished(engine, claim, pair, core=noise.centres)


def _largest(engine: Engine, claim: dict[str, Any], core: CoreProgram) -> tuple[Fraction, PairWitness | None]:
    """Return the largest sum of squared distances over twice the variances, as the checker finds it, and who has it.

    That is None where it is not among the first neighbours.
    """
    checker, (content, _) = load_checker(), without_evidence(engine, claim, core)
    checker.LEFT[0] = WORK * checker.WORK
    try:
        program = checker.Program(content)
        met = [[(None, None)] if client is None else program.met for client in program.clients]
        ways = [program.along(*pair) for pair in program.listed] or [zip(program.places, met, strict=True)]
        largest = max(Fraction(program.distance(pairs)) for way in ways for pairs, *_ in program.walk(way))
        for x, other, _ in islice(every_neighbouring_pair(engine.bound), LISTED_ROWS):
            pair = (program.dataset(dataset_of(engine.bound, each)) for each in (x, other))
            if any(program.distance(pairs) == largest for pairs, *_ in program.walk(program.along(*pair))):
                return largest, PairWitness(x, other)
        return largest, None
    except checker.Refused as error:
        raise unfit(error, "ask for fewer records") from None


def _noise_of(engine: Engine) -> _Noise:
    core = engine.program.core(engine.control())
    nodes = reachable(core.components)
    variances = core.inexact.variances if core.inexact is not None else ()
    random = any(isinstance(node, Shuffled) or (isinstance(node, Draw) and node.active is not None) for node in nodes)
    users: dict[int, list[Expr]] = {}
    for node in nodes:
        for child in children(node):
            users.setdefault(child.serial, []).append(node)
    found = {}
    for draw in nodes:
        variance = _variance(draw, variances)
        if variance is not None and len(above := users.get(draw.serial, [])) == 1 and _is_sum(above[0], draw):
            found[above[0].serial] = above[0], draw, variance
    seen = any(isinstance(node, Input) for node in _down_to(core.components, found))
    if not found or seen or random or core.evidence:
        raise QueryError(_UNFIT, "ask for ε at a δ instead")
    noises = {draw.serial for _, draw, _ in found.values()}
    below = Rebuild(lambda rebuild, expr: rebuild.builder.const(0) if expr.serial in noises else None)
    centres = below.copy([node for node, _, _ in found.values()])
    shape = TupleOf(tuple(map(Leaf, range(len(centres)))))
    published = all(
        len(above := users.get(serial, [])) == 1
        and isinstance(above[0], Apply)
        and above[0].operator == "name_tail"
        and any(above[0] is component for component in core.components)
        for serial in found
    )
    whole = CoreProgram(core.inputs, centres, shape, (), ())
    return _Noise(whole, tuple(variance for _, _, variance in found.values()), published)


def _variance(node: Expr, variances: tuple[Fraction, ...]) -> Fraction | None:
    """Return the variance of a node that is a draw of Gaussian noise, of which its probabilities tell."""
    if not isinstance(node, Draw) or len(node.laws) != 1 or node.laws[0] is None:
        return None
    law = {z: mass for z, mass in node.laws[0] if isinstance(z, int)}
    beside = law.get(max(law, key=law.__getitem__) + 1) if law else None
    return next((variance for variance in variances if theta.mass(variance, 1) == beside), None)


def _is_sum(node: Expr, draw: Expr) -> bool:
    """Whether a node adds a draw, once, to what is not random."""
    plain = isinstance(node, Nary) and node.operator == "sum"
    plain = plain or (isinstance(node, Apply) and node.operator in ("add", "sub"))
    others = [operand for operand in children(node) if operand is not draw]
    return plain and len(others) == len(children(node)) - 1 and not any(isinstance(e, Draw) for e in reachable(others))


def _down_to(roots: tuple[Expr, ...], ends: dict[int, Any]) -> Iterator[Expr]:
    """Yield what roots are computed from, down to some nodes."""
    stack, seen = list(roots), set(ends)
    while stack:
        node = stack.pop()
        if node.serial not in seen:
            seen.add(node.serial)
            yield node
            stack += children(node)
