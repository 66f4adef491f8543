"""Whether the core program of a certificate says what a mechanism says: their laws on small cases, by running both.

The mechanism is run by the interpreter, which shares nothing with the compiler; the core program by the checker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cmp_to_key, partial
from itertools import chain, combinations, islice, product, repeat
from operator import mul
from random import choice, randint, randrange, sample
from typing import Any, NamedTuple

from tightdp.core.sections import written_value
from tightdp.core.syntax import plain_value
from tightdp.errors import LimitError, QueryError, TightdpError
from tightdp.exact.field import Number
from tightdp.exact.numbers import decimal_text
from tightdp.language.interp import Replay, every_run, target_of
from tightdp.language.laws import discrete_gaussian
from tightdp.language.primitives import Source
from tightdp.language.program import Bound, Dataset, Program
from tightdp.language.timing import COUNTS
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.session.certify import REFUTED, WORK, load_checker
from tightdp.session.certify_content import about, all_neighbours, parameter_of
from tightdp.session.certify_events import dataset_of, number_of, power_of

_SIZES = (1, 2, 3)
"""For every n these numbers of records are compared, as far as all datasets can be gone through."""
_REACHES = ((300, 200), (48, 40), (24, 10), (12, 5), (12, 3))
"""So many draws runs make at most, and so far noise on all integers goes: the first that fits."""
_WIDEST = Fraction(1, 30)
"""Where other runs have more than this probability, nothing is compared."""
_DRAWS = 8
"""So many draws are gone through for each row of a table."""
_SUMS = 12
"""With so many lists of weights laws on all datasets are compared."""
_BESIDE = 6
"""And each with one that is drawn, so often."""
_RATIOS = 4
"""Two laws by the ratios that they have at so many outputs."""


class Differs(QueryError):
    """The core program does not say what the mechanism says: the certificate is not to be trusted."""


def compare(content: Mapping[str, Any], program: Program) -> str:
    """Return on which datasets the laws are the same, in words. Raises Differs, or LimitError: nothing is compared.

    Outputs are compared by their probabilities on all these datasets: what a part publishes may have another name than
    what the mechanism returns. Errors, for accuracy, are compared by value, and so are the outputs of a law that is
    claimed. An unknown is given two values, of which nobody foresees the second. Where there is no end of runs, as of
    noise on all integers, or the program is cut off, laws are compared up to what the others may add: of what can be
    told from the output, as a program may publish outputs alike as one. Where the program has messages, or numbers to
    which noise is added, no test of two neighbours by the output may be better than one by these.
    """
    claim = content["claim"]
    if "program" not in content:
        raise QueryError("this certificate is about no program", "check it without --against")
    if "unknown" not in claim:
        return _compared(content, program, {}, power_of(claim))
    name, *ends = claim["unknown"]
    low, high = map(Fraction, ends)
    values = {t: (low + high * t) / (1 + t) for t in (Fraction(1), Fraction(randint(1, 1 << 40), 1 << 38))}
    *_, said = (_compared(content, program, {name: value}, t) for t, value in values.items())
    return f"for {name} = {', '.join(map(str, values.values()))} {said}"


def _compared(content: Mapping[str, Any], program: Program, values: Mapping[str, Fraction], power: Any) -> str:
    """Compare laws with these values of unknowns, and this number for T."""
    claim, checker = content["claim"], load_checker()
    named = claim["neighbours"] if isinstance(claim.get("neighbours"), str) else None
    given: dict[str, Any] = {name: parameter_of(text) for name, text in claim.get("parameters", {}).items()}
    given |= values
    counts = tuple(name for name in COUNTS if given.pop(f"with_{name}", None))
    counted, sizes = replace(program, counts=counts), _SIZES if claim["n"] == "all" else [claim["n"]]
    bounds = [counted.bind(n, neighbours=named, **given) for n in sizes]
    label = about({name: claim[name] for name in ("unknown",) if values}, {}, bounds[0])["claim"]
    if claim.get("parameters", label["parameters"]) != label["parameters"]:
        said, true = (", ".join(f"{k}={v}" for k, v in of["parameters"].items()) or "none" for of in (claim, label))
        raise Differs(f"the certificate names other parameters than {program.name} has: {said}, not {true}")
    if dataset_of(bounds[0], bounds[0].record.values) != claim["records"]:
        raise QueryError(f"{program.name} has other records than the certificate", "give the mechanism that it names")
    if "trees" in content["program"]:
        raise LimitError("nothing is compared: noise is a symbol in this program", "ask for one n")
    checker.LEFT[0] = WORK * checker.WORK
    core = _Core(checker, checker.beside("datasets").Claim(content), power)
    compared: list[tuple[Bound, _Laws]] = []
    wide: Any = Fraction(0)
    for bound in bounds:
        try:
            laws, reach = _enough(bound, "alpha" in claim)
        except LimitError as reason:
            raise LimitError(f"nothing is compared: {reason.what}", reason.hint) from None
        if not laws or (compared and len(laws) < len(bound.record.values) ** bound.n):
            break
        compared.append((bound, laws))
        part = core.data.every or core.data.variances is not None
        wide = max(
            wide, _no_test_is_better(claim, core, bound, laws, reach) if part else _alike(claim, core, bound, laws)
        )
    if not compared:
        raise LimitError(f"nothing is compared: {bounds[0].n} records have too many runs", "certify fewer")
    many = sum(len(laws) for _, laws in compared)
    every = many == sum(len(bound.record.values) ** bound.n for bound, _ in compared)
    which = f"all {many} datasets" if every else f"{many} of the datasets"
    which += f" of at most {len(compared)} records" if core.data.every else ""
    said = f"the core program has the law of {program.name}"
    if part:
        what = "messages" if core.data.every else "noisy numbers"
        said = f"no output of {program.name} tells more of neighbours than the {what} of the core program"
    near = f" up to {decimal_text(wide)}" if wide else ""
    apart = (
        [] if claim.get("source") == label["source"] else [f"the text of {program.name} is not that in the certificate"]
    )
    if claim["question"] == "law" and not all(core.names(bound, x, law) for x, law in laws):
        apart.append("which output is which is not compared, as the program publishes other values")
    if (
        not part
        and claim["question"] not in REFUTED.values()
        and any(_publishes_more(core, *each) for each in compared)
    ):
        if not any(law.wide for _, laws in compared for _, law in laws):
            raise Differs(f"{program.name} publishes more than the program")
        apart.append(f"that {program.name} publishes nothing else is not compared")
    apart += _other_neighbours(claim, counted.bind(sizes[0], **given))
    return "; ".join([f"on {which} {said}{near}, which the interpreter has run", *apart])


def _other_neighbours(claim: Mapping[str, Any], bound: Bound) -> list[str]:
    """Return a remark where a mechanism names other neighbours than a claim. Raises Differs where they are listed."""
    given, named = claim.get("neighbours"), bound.neighbours
    if not isinstance(given, list):
        other = given is not None and isinstance(named, str) and given != named
        return [f"{bound.program.name} names other neighbours: {named}"] if other else []
    try:
        true = all_neighbours(bound)
    except QueryError:
        return ["neighbours that are listed are not compared"]
    if {*map(repr, given)} != {*map(repr, true)}:
        raise Differs(f"the certificate lists other neighbours than those of {bound.program.name}")
    return []


def _alike(claim: Mapping[str, Any], core: _Core, bound: Bound, ours: _Laws) -> Any:
    """Return up to what a mechanism has the law of the program. Raises Differs where it has another one."""
    name, theirs = bound.program.name, [core.law(bound, x) for x, _ in ours]
    error, alpha = Fraction(claim.get("error", 0)), Fraction(claim["alpha"]) if "alpha" in claim else None
    alike = partial(_laws_alike, error=error, alpha=alpha)
    if not alike([law for _, law in ours], theirs):
        for (x, law), other in zip(ours, theirs, strict=True):
            if not alike([law], [other]):
                raise Differs(f"the core program has another law than {name} on {x}")
        raise Differs(f"the core program tells other datasets apart than {name}")
    return max(law.wide for _, law in ours) + error


def _publishes_more(core: _Core, bound: Bound, ours: _Laws) -> bool:
    """Return whether a mechanism that is private only if it publishes nothing else publishes more on two neighbours.

    What a program publishes alike as one is more, too, where it stands for what is further out."""
    rows = [(core.dataset(bound, x), law.least, core.law(bound, x)) for x, law in ours]
    return core.alone() and any(
        len({*law, *other}) > len({*told, *beside})
        for (x, law, told), (y, other, beside) in combinations(rows, 2)
        if core.data.meets(tuple(x), tuple(y))
    )


def _no_test_is_better(claim: Mapping[str, Any], core: _Core, bound: Bound, ours: _Laws, reach: tuple[int, int]) -> Any:
    """Return up to what no output of a mechanism tells neighbours apart better than messages, or noisy numbers; where a
    ρ is attained or exceeded, or worse. Raises Differs where one does."""
    noisy, name = core.data.variances is not None, bound.program.name
    theirs = [core.noisy(bound, x, reach) if noisy else _Law(core.law(bound, x), Fraction(0)) for x, _ in ours]
    both = "attained" in claim or claim["question"] == "larger concentration"
    rows = [(x, tuple(core.dataset(bound, x)), law, their) for (x, law), their in zip(ours, theirs, strict=True)]
    for (x, at, *laws), (other, by, *beside) in combinations(rows, 2):
        if core.data.meets(at, by) or core.data.meets(by, at):
            pairs = [*zip(laws, beside, strict=True)]
            for which, of in (("more", pairs), ("less", pairs[::-1]))[: 1 + both]:
                if not _no_better(*of):
                    raise Differs(f"{name} tells {which} of {x} and {other} than the program")
    return max(law.wide for law in (*theirs, *(law for _, law in ours)))


class _Law(NamedTuple):
    """The least probabilities of outputs, or of errors, and by how much more each may have."""

    least: dict[Any, Any]
    wide: Any


_Laws = list[tuple[Dataset, _Law]]


def _enough(bound: Bound, by_value: bool) -> tuple[_Laws, tuple[int, int]]:
    """Return the laws on some datasets, of all runs where that is not too much; on all datasets before few. And
    how many draws runs made at most, and how far noise went."""
    found, within = _Laws(), _REACHES[0]
    for reach in _REACHES:
        laws = _laws(bound, by_value, *reach)
        if laws and max(law.wide for _, law in laws) < _WIDEST:
            exact = not any(law.wide for _, law in laws)
            if len(laws) == len(bound.record.values) ** bound.n or exact:
                return laws, reach
            found, within = max((found, within), (laws, reach), key=lambda each: len(each[0]))
    return (found if len(found) > 1 else []), within  # nothing can be told from one law


def _laws(bound: Bound, by_value: bool, draws: int, reach: int) -> _Laws:
    """Return the laws on datasets, as many as can be gone through, of runs of at most so many draws.

    Noise on all integers goes so far from its centre. Raises LimitError for real noise.
    """
    found, left = _Laws(), [LISTED_ROWS * _DRAWS]
    for x in _some_datasets(bound):
        try:
            target = target_of(bound, x) if by_value else None
            found.append((x, _law(partial(bound.execute, x), draws, reach, left, target)))
        except _TooMany:
            break
        except LimitError:
            raise
        except TightdpError as failure:
            raise QueryError(f"{bound.program.name} cannot be run on {x}: {failure.what}", failure.hint) from None
    return found


def _some_datasets(bound: Bound) -> Iterable[Dataset]:
    """Return all datasets, or those of equal records first and others, with a neighbour each, that nobody foresees."""
    values, n = bound.record.values, bound.n
    many = min(len(values) ** n, LISTED_ROWS)
    found = dict.fromkeys((value,) * n for value in values)
    for _ in range(many):
        x, at = tuple(choice(values) for _ in range(n)), randrange(n or 1)
        found |= dict.fromkeys([x, (*x[:at], choice(values), *x[at + 1 :])[:n]])
    found |= dict.fromkeys(islice(product(values, repeat=n), many))
    return islice(found, LISTED_ROWS)


def _law(execute: Callable[[Source], Any], draws: int, reach: int, left: list[int], target: Any = None) -> _Law:
    """Return the law of what is returned, or of how far it is from a target, of runs of at most so many draws. What
    is left of all draws that are gone through becomes less."""
    masses = dict[Any, Any]()
    beyond: list[Number] = []

    def spend(run: Replay) -> Number:
        left[0] -= len(run.draws) + 1
        if left[0] < 0:
            raise _TooMany
        return run.probability()

    for output, run in every_run(execute, reach, lambda run: beyond.append(spend(run)), draws):
        key = output if target is None else Fraction(output - target)
        masses[key] = masses.get(key, Fraction(0)) + spend(run)
    rest = sum(beyond, Fraction(0))
    whole = sum(masses.values()) + rest
    return _Law({key: mass / whole for key, mass in masses.items()}, rest / whole)


class _TooMany(Exception):
    """More draws than are gone through."""


class _Core(NamedTuple):
    """The program of a certificate, as the checker has read it, and the number that stands for T."""

    checker: Any
    data: Any
    power: Any

    def dataset(self, bound: Bound, x: Dataset) -> list[int]:
        """Return the numbers of the records of a dataset."""
        return [self.data.numbers[self.checker.text(self.checker.value(each))] for each in dataset_of(bound, x)]

    def alone(self) -> bool:
        """Return whether the claim is about those only who publish nothing else: an error leaves no δ for that."""
        data, sign = self.data, self.checker.positive
        return data.error is not None and any(sign(-1 * data.nearer(point)[1][0]) for point in data.points)

    def ends(self, bound: Bound, x: Dataset) -> dict[tuple[tuple[str, ...], str], Any]:
        """Return the probabilities of what is published, and left behind, on a dataset."""
        law: dict[tuple[tuple[str, ...], str], Any] = {((), "()"): 1}
        records = self.dataset(bound, x)
        places = [*zip(self.data.places, self.data.clients, strict=True)]
        if self.data.every:
            places[1:2] = [(places[1][0], client) for client in range(bound.n)]
        for part, client in places:
            before, law = law, {}
            for (told, state), weight in before.items():
                found, _ = self.data.run(part, state, None if client is None else records[client])
                for shown, after, odds in ((shown, *each) for shown, row in found for each in row):
                    key = (*told, shown), after
                    law[key] = law.get(key, 0) + self.checker.times(weight, odds)
        weights = {key: number_of(self.checker, weight, self.power) for key, weight in law.items()}
        whole = sum(weights.values())
        return {key: weight / whole for key, weight in weights.items()}

    def law(self, bound: Bound, x: Dataset) -> dict[Any, Any]:
        """Return the law of what is published, or of the error that is left behind, on a dataset."""
        found = Counter[Any]()
        for (told, state), mass in self.ends(bound, x).items():
            found[Fraction(self.data.states[state][0]) if self.data.kept else told] += mass
        return dict(found)

    def names(self, bound: Bound, x: Dataset, law: _Law) -> bool:
        """Return whether the parts of outputs, one after the other, are what is published with the same probability."""
        ours, theirs = Counter[Any](), Counter[Any]()
        for output, mass in law.least.items():
            ours[repr(_flat(self.checker.value(plain_value(written_value(output)))))] += mass
        for told, mass in self.law(bound, x).items():
            theirs[repr(_flat(tuple(self.data.states[each] for each in told)))] += mass
        return +ours == +theirs

    def noisy(self, bound: Bound, x: Dataset, reach: tuple[int, int]) -> _Law:
        """Return the law of the numbers that are left on a dataset, with the noise of the claim."""
        ((_, state),) = self.ends(bound, x)
        numbers = [*zip(self.data.states[state], self.data.variances, strict=True)]

        def execute(source: Source) -> Any:
            return tuple(source.draw_integer(discrete_gaussian(c, variance)) for c, variance in numbers)

        return _law(execute, *reach, [LISTED_ROWS * _DRAWS])


def _flat(value: Any) -> tuple[Any, ...]:
    return tuple(chain.from_iterable(map(_flat, value))) if isinstance(value, tuple) else (value,)


def _no_better(ours: tuple[_Law, _Law], theirs: tuple[_Law, _Law]) -> bool:
    """Return whether by no output of ours x is told from x' better than by some of theirs (Neyman and Pearson: the best
    tests take the outputs whose ratios of probabilities are the largest), but for what the other runs may add."""
    best, rest = (
        sorted(
            ((p, q) for p, q in _of([law.least for law in pair]) if p or q),
            key=cmp_to_key(_by_ratio),
        )
        for pair in (ours, theirs)
    )
    reached, size, at, taken, spent = Fraction(0), ours[1].wide, 0, theirs[0].wide, Fraction(0)
    for p, q in best:
        reached, size = reached + p, size + q
        while at < len(rest) and spent + rest[at][1] <= size:
            taken, spent, at = taken + rest[at][0], spent + rest[at][1], at + 1
        more = rest[at] if at < len(rest) else (0, 1)
        if (reached - taken) * more[1] > (size - spent) * more[0]:
            return False
    return True


def _by_ratio(a: tuple[Any, ...], b: tuple[Any, ...]) -> int:
    ours, theirs = a[0] * b[1], b[0] * a[1]
    return -1 if ours > theirs else int(theirs > ours)


def _laws_alike(
    ours: Sequence[_Law], theirs: Sequence[dict[Any, Any]], error: Fraction, alpha: Fraction | None
) -> bool:
    """Return whether laws may be the same but for what outputs are called, unless they are of errors."""
    laws = [law.least for law in ours]
    if not error and not any(law.wide for law in ours):
        return bool(_vectors(laws, alpha is not None) == _vectors(theirs, alpha is not None))
    if alpha is not None:
        missed = [[sum(p for key, p in law.items() if abs(key) > alpha) for law in each] for each in (laws, theirs)]
        return all(-error <= b - a <= law.wide + error for a, b, law in zip(*missed, ours, strict=True))
    # of every list of weights the largest sum over an event is as near as laws; nobody foresees the weights
    pairs = [(at, by) for at in range(len(laws)) for by in sample(range(len(laws)), min(_BESIDE, len(laws)))]
    for which in [*repeat(range(len(laws)), _SUMS), *pairs]:
        mine, other = ([*_of([each[at] for at in which])] for each in (laws, theirs))
        for weights in _weights(which, mine, other):
            largest, beside = (sum(max(0, sum(map(mul, weights, p))) for p in each) for each in (mine, other))
            both = [*zip(weights, which, strict=True)]  # what is cut off of one output may be with another one
            least, most = (sum(abs(w) * error + max(0, s * w) * ours[at].wide for w, at in both) for s in (-1, 1))
            if not -least <= beside - largest <= most:
                return False
    return True


def _weights(which: Sequence[int], *rows: Sequence[Sequence[Any]]) -> Iterable[list[Any]]:
    """Return lists of weights: of two laws those at which an output is worth nothing, which depend on their ratios."""
    if len(which) == 2:
        return [[q, -p] for p, q in (choice(choice(rows)) for _ in range(_RATIOS))]
    return [[randint(-(1 << 30), 1 << 30) for _ in which]]


def _vectors(laws: Sequence[dict[Any, Any]], by_value: bool) -> Any:
    """Return the laws in a form that does not depend on what outputs are called, unless they count by value."""
    laws = [{key: mass for key, mass in law.items() if mass} for law in laws]
    return laws if by_value else Counter(_of(laws))


def _of(laws: Sequence[dict[Any, Any]]) -> Iterator[tuple[Any, ...]]:
    for key in dict.fromkeys(key for law in laws for key in law):
        yield tuple(law.get(key, 0) for law in laws)
