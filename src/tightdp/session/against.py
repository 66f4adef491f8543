"""Whether the core program of a certificate says what a mechanism says: their laws on small cases, by running both.

The mechanism is run by the interpreter, which shares nothing with the compiler; the core program by the checker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from typing import Any

from tightdp.errors import QueryError, TightdpError
from tightdp.language.interp import runs, target_of
from tightdp.language.program import Bound, Dataset, Program
from tightdp.language.timing import COUNTS
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.session.certify import WORK, load_checker
from tightdp.session.certify_content import about
from tightdp.session.certify_events import dataset_of, number_of, power_of

_NOT_COMPARED = {
    "variances": "the program has the numbers to which noise is added, not the noise",
    "error": "the program is cut off where the mechanism goes on",
    "all": "for every n the program has messages from which the output is computed",
}
"""Why a program has not the law of the mechanism, by what its claim has."""


def compare(content: Mapping[str, Any], program: Program) -> str:
    """Return on which datasets the laws are the same, in words. Raises QueryError where one is not.

    Outputs are compared by their probabilities on all these datasets: what a part publishes may have another name than
    what the mechanism returns. Errors, for accuracy, are compared by value. An unknown is given three values.
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
    ours: list[tuple[Dataset, dict[Any, Any]]] = []
    left = LISTED_ROWS
    for x in islice(product(bound.record.values, repeat=bound.n), LISTED_ROWS):
        found, made = _law(bound, x, left, "alpha" in claim)
        if found is None:
            break
        left -= made
        ours.append((x, found))
    if not ours:
        return f"nothing is compared: {bound.n} records have too many runs; certify fewer to compare them"
    numbers = {repr(checker.value(record)): at for at, record in enumerate(records)}
    theirs = []
    for x, _ in ours:
        dataset = [numbers[repr(checker.value(each))] for each in dataset_of(bound, x)]
        theirs.append(_core_law(core, dataset, power, checker))
    if _vectors([law for _, law in ours], "alpha" in claim) != _vectors(theirs, "alpha" in claim):
        for (x, law), other in zip(ours, theirs, strict=True):
            if _vectors([law], "alpha" in claim) != _vectors([other], "alpha" in claim):
                raise QueryError(f"the core program has another law than {program.name} on {x}", "do not trust it")
        raise QueryError(f"the core program tells other datasets apart than {program.name}", "do not trust it")
    every = len(ours) == len(records) ** bound.n
    which = f"all {len(ours)} datasets" if every else f"{len(ours)} of the datasets"
    apart = (
        [] if claim.get("source") == label["source"] else [f"the text of {program.name} is not that in the certificate"]
    )
    apart += ["neighbours that are listed are not compared"] if isinstance(claim.get("neighbours"), list) else []
    said = f"on {which} the core program has the law of {program.name}, which the interpreter has run"
    return "; ".join([said, *apart])


def _law(bound: Bound, x: Dataset, left: int, error: bool) -> tuple[dict[Any, Any] | None, int]:
    """Return the law of outputs, or of errors, and how many runs that took; None for more than are left."""
    found: dict[Any, Any] = {}
    made = 0
    try:
        for output, mass in runs(bound, x):
            made += 1
            if made > left:
                return None, made
            key = Fraction(output - target_of(bound, x)) if error else output
            found[key] = found.get(key, Fraction(0)) + mass
    except TightdpError as failure:
        raise QueryError(f"{bound.program.name} cannot be run on {x}: {failure.what}", failure.hint) from None
    whole = sum(found.values())
    return {key: mass / whole for key, mass in found.items()}, made


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


def _vectors(laws: list[dict[Any, Any]], by_value: bool) -> Any:
    """Return the laws in a form that does not depend on what outputs are called, unless they count by value."""
    laws = [{key: mass for key, mass in law.items() if mass} for law in laws]
    if by_value:
        return laws
    return Counter(_of(laws))


def _of(laws: list[dict[Any, Any]]) -> Iterator[tuple[Any, ...]]:
    for key in dict.fromkeys(key for law in laws for key in law):
        yield tuple(law.get(key, 0) for law in laws)
