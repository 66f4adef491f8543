"""Whether the core program of a certificate says what a mechanism says: their laws on small cases, by running both.

The mechanism is run by the interpreter, which shares nothing with the compiler; the core program by the checker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice, product
from operator import mul
from random import Random
from typing import Any, NamedTuple

from tightdp.errors import LimitError, QueryError, TightdpError
from tightdp.exact.field import Number
from tightdp.exact.numbers import decimal_text
from tightdp.language.interp import Replay, every_run, target_of
from tightdp.language.program import Bound, Dataset, Program
from tightdp.language.timing import COUNTS
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.session.certify import WORK, load_checker
from tightdp.session.certify_content import about
from tightdp.session.certify_events import dataset_of, number_of, power_of

_NOT_COMPARED = {
    "variances": "the program has the numbers to which noise is added, not the noise",
    "all": "for every n the program has messages from which the output is computed",
}
"""Why a program has not the law of the mechanism, by what its claim has."""
_REACHES = ((300, 200), (48, 40), (24, 10), (12, 5), (12, 3))
"""So many draws runs make at most, and so far noise on all integers goes: the first that fits."""
_WIDEST = Fraction(1, 30)
"""Where other runs have more than this probability, nothing is compared."""
_DRAWS = 8
"""So many draws are gone through for each row of a table."""
_SUMS = 24
"""With so many lists of weights laws on several datasets are compared."""


def compare(content: Mapping[str, Any], program: Program) -> str:
    """Return on which datasets the laws are the same, in words. Raises QueryError where one is not.

    Outputs are compared by their probabilities on all these datasets: what a part publishes may have another name than
    what the mechanism returns. Errors, for accuracy, are compared by value. An unknown is given three values. Where
    there is no end of runs, as of noise on all integers, or the program is cut off, laws are compared up to what the
    others may add: of what can be told from the output, as a program may publish outputs alike as one.
    """
    claim = content["claim"]
    if "program" not in content:
        raise QueryError("this certificate is about no program", "check it without --against")
    if "unknown" not in claim:
        return _compared(content, program, {}, power_of(claim))
    name, *ends = claim["unknown"]
    low, high = map(Fraction, ends)
    values = {t: (low + high * t) / (1 + t) for t in map(Fraction, ("1", "3", "1/3"))}
    *_, said = (_compared(content, program, {name: value}, t) for t, value in values.items())
    return f"for {name} = {', '.join(map(str, values.values()))} {said}"


def _compared(content: Mapping[str, Any], program: Program, values: Mapping[str, Fraction], power: Any) -> str:
    """Compare laws with these values of unknowns, and this number for T."""
    claim, checker = content["claim"], load_checker()
    named = claim["neighbours"] if isinstance(claim.get("neighbours"), str) else None
    given = {**claim.get("parameters", {}), **values}
    counts = tuple(name for name in COUNTS if given.pop(f"with_{name}", None))
    bound = replace(program, counts=counts).bind(1 if claim["n"] == "all" else claim["n"], neighbours=named, **given)
    label = about({name: claim[name] for name in ("unknown",) if values}, {}, bound)["claim"]
    if claim.get("parameters", label["parameters"]) != label["parameters"]:
        said, true = (", ".join(f"{k}={v}" for k, v in of["parameters"].items()) or "none" for of in (claim, label))
        raise QueryError(
            f"the certificate names other parameters than {program.name} has: {said}, not {true}", "do not trust it"
        )
    for field, why in _NOT_COMPARED.items():
        if field in claim or field == claim["n"]:
            return f"nothing is compared: {why}"
    records = dataset_of(bound, bound.record.values)
    if records != claim["records"]:
        raise QueryError(f"{program.name} has other records than the certificate", "give the mechanism that it names")
    checker.LEFT[0] = WORK * checker.WORK
    core = checker.beside("datasets").Claim(content)
    by_value = "alpha" in claim
    try:
        ours = _enough(bound, by_value)
    except LimitError as reason:
        return f"nothing is compared: {reason.what}"
    if not ours:
        return f"nothing is compared: {bound.n} records have too many runs; certify fewer to compare them"
    numbers = {repr(checker.value(record)): at for at, record in enumerate(records)}
    theirs = []
    for x, _ in ours:
        dataset = [numbers[repr(checker.value(each))] for each in dataset_of(bound, x)]
        theirs.append(_core_law(core, dataset, power, checker))
    error = Fraction(claim.get("error", 0))
    alpha = Fraction(claim["alpha"]) if by_value else None
    alike = partial(_alike, error=error, alpha=alpha, seed=claim["program"])
    if not alike([law for _, law in ours], theirs):
        for (x, law), other in zip(ours, theirs, strict=True):
            if not alike([law], [other]):
                raise QueryError(f"the core program has another law than {program.name} on {x}", "do not trust it")
        raise QueryError(f"the core program tells other datasets apart than {program.name}", "do not trust it")
    every = len(ours) == len(records) ** bound.n
    which = f"all {len(ours)} datasets" if every else f"{len(ours)} of the datasets"
    apart = (
        [] if claim.get("source") == label["source"] else [f"the text of {program.name} is not that in the certificate"]
    )
    apart += ["neighbours that are listed are not compared"] if isinstance(claim.get("neighbours"), list) else []
    wide = max(law.wide for _, law in ours) + error
    near = f" up to {decimal_text(wide)}" if wide else ""
    said = f"on {which} the core program has the law of {program.name}{near}, which the interpreter has run"
    return "; ".join([said, *apart])


class _Law(NamedTuple):
    """The least probabilities of outputs, or of errors, and by how much more each may have."""

    least: dict[Any, Any]
    wide: Any


def _enough(bound: Bound, by_value: bool) -> list[tuple[Dataset, _Law]]:
    """Return the laws on the first datasets, of all runs where that is not too much; on all datasets before few."""
    found = list[tuple[Dataset, _Law]]()
    for draws, reach in _REACHES:
        laws = _laws(bound, by_value, draws, reach)
        if laws and max(law.wide for _, law in laws) < _WIDEST:
            exact = not any(law.wide for _, law in laws)
            if len(laws) == len(bound.record.values) ** bound.n or exact:
                return laws
            found = max(found, laws, key=len)
    return found if len(found) > 1 else []  # nothing can be told from one law


def _laws(bound: Bound, by_value: bool, draws: int, reach: int) -> list[tuple[Dataset, _Law]]:
    """Return the laws on the first datasets, as many as can be gone through, of runs of at most so many draws.

    Noise on all integers goes so far from its centre. Raises LimitError for real noise.
    """
    found, left = list[tuple[Dataset, _Law]](), LISTED_ROWS * _DRAWS
    beyond: list[Number] = []

    def spend(run: Replay) -> Number:
        nonlocal left
        left -= len(run.draws) + 1
        if left < 0:
            raise _TooMany
        return run.probability()

    for x in islice(product(bound.record.values, repeat=bound.n), LISTED_ROWS):
        masses = dict[Any, Any]()
        beyond.clear()
        try:
            runs = every_run(partial(bound.execute, x), reach, lambda run: beyond.append(spend(run)), draws)
            for output, run in runs:
                key = Fraction(output - target_of(bound, x)) if by_value else output
                masses[key] = masses.get(key, Fraction(0)) + spend(run)
        except _TooMany:
            break
        except LimitError:
            raise
        except TightdpError as failure:
            raise QueryError(f"{bound.program.name} cannot be run on {x}: {failure.what}", failure.hint) from None
        rest = sum(beyond, Fraction(0))
        whole = sum(masses.values()) + rest
        found.append((x, _Law({key: mass / whole for key, mass in masses.items()}, rest / whole)))
    return found


class _TooMany(Exception):
    """More draws than are gone through."""


def _core_law(core: Any, x: list[int], power: Any, checker: Any) -> dict[Any, Any]:
    """Return the law of what the core program publishes, or leaves behind, on a dataset."""
    law: dict[tuple[tuple[str, ...], str], Any] = {((), "()"): 1}
    for part, client in zip(core.places, core.clients, strict=True):
        before, law = law, {}
        for (told, state), weight in before.items():
            found, _ = core.run(part, state, None if client is None else x[client])
            for shown, after, odds in ((shown, *each) for shown, row in found for each in row):
                key = (*told, shown), after
                law[key] = law.get(key, 0) + checker.times(weight, odds)
    found = {key: number_of(checker, weight, power) for key, weight in law.items()}
    whole = sum(found.values())
    if core.kept:
        return {Fraction(core.states[state][0]): mass / whole for (_, state), mass in found.items()}
    return {told: mass / whole for (told, _), mass in found.items()}


def _alike(
    ours: Sequence[_Law], theirs: Sequence[dict[Any, Any]], error: Fraction, alpha: Fraction | None, seed: str
) -> bool:
    """Return whether laws may be the same but for what outputs are called, unless they are of errors."""
    laws = [law.least for law in ours]
    if not error and not any(law.wide for law in ours):
        return bool(_vectors(laws, alpha is not None) == _vectors(theirs, alpha is not None))
    if alpha is not None:
        missed = [[sum(p for key, p in law.items() if abs(key) > alpha) for law in each] for each in (laws, theirs)]
        return all(-error <= b - a <= law.wide + error for a, b, law in zip(*missed, ours, strict=True))
    # of every list of weights the largest sum over an event is as near as laws; nobody foresees the weights
    random = Random(seed)
    for at in range(_SUMS):
        pair = random.sample(range(len(laws)), min(2, len(laws))) if at % 2 else range(len(laws))
        weights = [random.randint(-(1 << 30), 1 << 30) * (each in pair) for each in range(len(laws))]
        mine, other = (sum(max(0, sum(map(mul, weights, p))) for p in _of(each)) for each in (laws, theirs))
        least, most = (
            sum(max(0, s * w) * (law.wide + error) for w, law in zip(weights, ours, strict=True)) for s in (-1, 1)
        )
        if not -least <= other - mine <= most:
            return False
    return True


def _vectors(laws: Sequence[dict[Any, Any]], by_value: bool) -> Any:
    """Return the laws in a form that does not depend on what outputs are called, unless they count by value."""
    laws = [{key: mass for key, mass in law.items() if mass} for law in laws]
    return laws if by_value else Counter(_of(laws))


def _of(laws: Sequence[dict[Any, Any]]) -> Iterator[tuple[Any, ...]]:
    for key in dict.fromkeys(key for law in laws for key in law):
        yield tuple(law.get(key, 0) for law in laws)
