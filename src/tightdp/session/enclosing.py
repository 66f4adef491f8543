"""The tight ε for every n between two ends: what some n attains, and what a proof gives for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from tightdp.errors import LanguageError, LimitError, QueryError
from tightdp.every_n.deciding import Untraceable
from tightdp.every_n.one_record import errs_alike, is_told_apart_at_most_by_one
from tightdp.every_n.paths import Paths
from tightdp.every_n.states import explore
from tightdp.every_n.telling import ends_early
from tightdp.every_n.upper import Triple, Upper, extended, least_upper, near, readings
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, compare_log
from tightdp.language.laws import Exponentials
from tightdp.limits import Allowance
from tightdp.results.privacy import EveryN
from tightdp.results.result import PairWitness, TripleWitness
from tightdp.session import numeric
from tightdp.session.base import InstanceBase
from tightdp.session.engine import Engine
from tightdp.session.outputs import output_probability
from tightdp.session.search import tight_privacy
from tightdp.session.strategies import told

SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
_FIRST = 2
"""How many of these are asked before an upper end is looked for."""
_COMPARED = (4,)
"""At which n besides these an upper end is compared with what is attained, before it is given."""
WORK_FOR_FEW = 1_000_000
"""How much work goes into each of the first n: steps, times the records that a step is about."""
_WORK = 3_000_000
"""How much work lower ends are looked for, on all datasets and on those like the ones found."""
_RECORDS = 32
"""A step takes as long on no records as on so many more."""
_DEARER = 4
"""A step takes so many times as long on laws of noise by pieces."""
_GROWTH = 4
"""How many times more work the next n is expected to take, at least."""


_SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
"""By which share of its times what is repeated is so more often: the first that is expected to fit."""
_MOST = Fraction(3, 4)
"""Datasets like the ones that are known may take this share of the work that is left: the rest is for shorter ones."""
_ANY = object()
"""Stands for an output that has no probability."""


class _Lower(NamedTuple):
    """A lower end, the n that has it, and its witness."""

    value: Exact
    n: int
    witness: PairWitness | None


def enclose(
    instance: InstanceBase, enough: Callable[[Exact], bool] | None = None, tell: Callable[[EveryN], None] | None = None
) -> EveryN:
    """Return the ends of e^ε for every n; the upper end is proved, the lower one has a witness.

    n is raised until the lower end is `enough`, where that is given, or the upper end is not; where the ratios have no
    end, at least. What is known meanwhile is told, and is the answer where a limit is reached. Where nothing is proved
    of the program, a lower end that is enough, or infinite, is an answer.
    """
    known: EveryN | None = None
    best: _Lower | None = None
    try:
        for best, upper in _closer(instance, enough):
            known = _ends(instance, best, upper)
            if tell is not None:
                tell(known)
    except LanguageError:
        found = best and _at_few(instance, best, enough or math.isinf)
        if found is None:
            raise
        return _ends(instance, found, Upper(math.inf, "witness" if math.isinf(found.value) else "none"))
    except LimitError as error:
        if known is None:
            raise
        return replace(known, reason=error.what, hint=error.hint) if known.status != "exact" else known
    assert known is not None
    return known


def _closer(instance: InstanceBase, enough: Callable[[Exact], bool] | None) -> Iterator[tuple[_Lower, Upper | None]]:
    """Yield closer and closer ends; None for an upper one that was not looked for yet."""
    best = _tight(instance, 1, None)
    assert best is not None
    yield best, None
    programs = [] if math.isinf(best.value) else readings(instance.bound)
    small: list[tuple[int, int]] = []
    for n in SIZES[:_FIRST]:
        if not math.isinf(best.value):
            allowance = Allowance(WORK_FOR_FEW)
            best = max(best, _tight(instance, n, allowance) or best, key=lambda each: each.value)
            small.append((n, WORK_FOR_FEW - allowance.left))
    if math.isinf(best.value):
        yield best, Upper(math.inf, "witness")
        return
    yield best, None
    upper = least_upper(programs, best.value)
    if not near(best.value, upper.value) and is_told_apart_at_most_by_one(instance.bound, programs):
        one = tight_privacy(Engine(instance.bound, **{**instance.limits, "method": None}))
        upper = min(upper, Upper(one.upper, "one record"), key=lambda each: each.value)
    _refuse_unproved(instance, programs, upper)
    _refuse_crossing(best, upper)
    known = _compared(instance, upper)
    best = next((each for each, _ in known.values() if math.isinf(each.value)), best)
    by_pieces = any(isinstance(law, Exponentials) for one in programs for path in one.each() for law in path.noises)
    raising = _Raising(instance, best, upper, enough)
    work, share = (_WORK // _DEARER, _DEARER) if by_pieces else (_WORK, 1)
    few = [(n, done) for n, (_, done) in known.items()]
    all_, alike = Spent(work - sum(done for _, done in few), [*small, *few]), Spent(work // share)
    yield best, upper
    longer = [raising.longer(alike, by_pieces) for _ in range(2)]
    ways = [raising.compared(each for each, _ in known.values()), raising.larger(all_), longer[0]]
    if by_pieces:
        ways.insert(1, longer[1])
    for larger in chain.from_iterable(ways):
        _refuse_crossing(larger, upper)
        yield larger, upper


def _ends(instance: InstanceBase, best: _Lower, upper: Upper | None) -> EveryN:
    attained = None
    if upper is not None:
        attained = True if upper.value == best.value else False if upper.approached else None
    return EveryN(
        subject=instance.subject,
        status="unresolved" if upper is None else "bounded" if attained is None else "exact",
        lower=best.value,
        upper=math.inf if upper is None else upper.value,
        n=best.n,
        attained=attained,
        proof="none" if upper is None else upper.proof,
        witness=told(instance.bound, best.witness),
    )


def _compared(instance: InstanceBase, upper: Upper) -> dict[int, tuple[_Lower, int]]:
    """Return the lower ends at the first few n, and their work. Raises LanguageError where one is above the upper."""
    known: dict[int, tuple[_Lower, int]] = {}
    for n in _COMPARED:
        allowance = Allowance(WORK_FOR_FEW)
        found = _tight(instance, n, allowance)
        if found is None:
            break
        _refuse_crossing(found, upper)
        known[n] = found, WORK_FOR_FEW - allowance.left
    return known


def _refuse_unproved(instance: InstanceBase, programs: list[Paths], upper: Upper) -> None:
    """Raise LanguageError where nothing is proved, and the end of the program was not followed."""
    if upper == Upper(math.inf, "none") and programs and all(map(ends_early, programs)):
        what = "no answer for every n: what is made after the records of what was found in them is not followed"
        hint = "publish the messages as they are, or their sum, least, greatest or number, or ask for one n"
        raise LanguageError(what, hint, instance.bound.program.source.span())


def _refuse_crossing(lower: _Lower, upper: Upper) -> None:
    """Raise LanguageError where a witness contradicts an upper end: then the chain is not one of this program."""
    if lower.value > upper.value:
        raise contradiction(lower.n)


def contradiction(n: int) -> LanguageError:
    """Return the error for an upper end that is below what some n has."""
    what = f"no answer for every n: what was proved of this program contradicts its answer at n = {n}"
    return LanguageError(what, "this is a mistake of tightdp, please report it; ask for one n meanwhile")


class _Raising:
    """Raises a lower end by larger n: of all datasets, and of those like the ones that have it."""

    def __init__(
        self, instance: InstanceBase, best: _Lower, upper: Upper, enough: Callable[[Exact], bool] | None
    ) -> None:
        self._instance, self.best, self._upper, self._enough = instance, best, upper, enough
        self._tried: _Lower | None = None

    def done(self) -> bool:
        """Whether no larger end is asked for."""
        enough, best, upper = self._enough, self.best.value, self._upper
        wanted = enough(best) or not enough(upper.value) if enough else upper.proof == "growth"
        return wanted or near(best, upper.value)

    def compared(self, known: Iterable[_Lower]) -> Iterator[_Lower]:
        """Yield the ends at a few n that were asked before."""
        for found in known:
            if not self.done():
                self.best = max(self.best, found, key=lambda each: each.value)
                yield self.best

    def larger(self, spent: Spent) -> Iterator[_Lower]:
        """Yield larger ends, of all datasets with larger n."""
        for n in SIZES:
            if n <= spent.last or n < self.best.n:
                continue
            if self.done() or spent.too_little_for(n):
                return
            with spent.on(n) as allowance:
                found = _tight(self._instance, n, allowance)
            if found is None:
                return
            self.best = max(self.best, found, key=lambda each: each.value)
            yield self.best

    def longer(self, spent: Spent, carefully: bool) -> Iterator[_Lower]:
        """Yield larger ends, of datasets in which what the last ones repeat is so more often.

        Where it is done carefully, it is seen first how the work grows.
        """
        if self._tried is self.best or self.done() or self.best.witness is None:
            return
        if not self._of_pairs([_triple(self.best)], spent):
            return
        larger: _Lower | None = self.best
        while larger is not None and not self.done():
            self._tried, larger = self.best, None
            for share in _SHARES if spent.grown or not carefully else _SHARES[-1:]:
                pairs = list(extended(_triple(self.best), share))
                if not larger and pairs and not spent.too_little_for(len(pairs[0].x), 1 if carefully else _GROWTH):
                    larger = self._of_pairs(pairs, spent)
            if larger is None or larger.value <= self.best.value:
                return
            self.best = larger
            yield larger

    def _of_pairs(self, pairs: Sequence[Triple], spent: Spent) -> _Lower | None:
        """Return the largest ratio of some datasets, by algebra of any output, else of those that are given."""
        found: list[_Lower] = []
        with suppress(LanguageError, LimitError, QueryError), spent.on(len(pairs[0].x), _MOST) as allowance:
            for x, x_prime, output in pairs:
                engine = engine_of(self._instance, len(x), allowance)
                if (known := numeric.of_pair(engine, x, x_prime)) is not None:
                    found.append(_Lower(known[0], len(x), known[1]))
                    break
                if output is not _ANY:
                    ours, theirs = (output_probability(engine, each, output) for each in (x, x_prime))
                    if ours and theirs:
                        found.append(_Lower(ours / theirs, len(x), TripleWitness(x, x_prime, output, ours, theirs)))
            return max(found, key=lambda each: each.value, default=None)
        return None  # for so many records it is not known


def _triple(found: _Lower) -> Triple:
    """Return the datasets of a witness, and the output where that has a probability."""
    witness = found.witness
    assert witness is not None
    return Triple(witness.x, witness.x_prime, witness.output if isinstance(witness, TripleWitness) else _ANY)


class Spent:
    """Work that is done on larger and larger n, each of which takes several times as much as the one before."""

    def __init__(self, work: int, before: Sequence[tuple[int, int]] = ()) -> None:
        self._left = work
        self._last = list(before)[-2:]

    @contextmanager
    def on(self, n: int, share: Fraction = Fraction(1)) -> Iterator[Allowance]:
        """Allow a share of what is left for this n."""
        given = math.floor(max(0, self._left) * share)
        allowance = Allowance(given)
        try:
            yield allowance
            self._last = [*self._last[-1:], (n, given - allowance.left)]
        finally:
            self._left -= given - allowance.left

    @property
    def last(self) -> int:
        """The last n."""
        return self._last[-1][0] if self._last else 0

    @property
    def grown(self) -> bool:
        """Whether it is known how the work grows."""
        return len(self._last) > 1

    def too_little_for(self, n: int, least: int = _GROWTH) -> bool:
        """Whether a larger n is expected to take more work than is left: as many times more as the last one did."""
        if not self._last:
            return False
        (before, less), (last, spent) = self._last[0], self._last[-1]
        more = math.log(least)
        if 0 < less < spent:
            more = max(more, math.log(spent / less) * (n - last) / (last - before))
        return spent > 0 and math.log(spent) + more > math.log(max(self._left, 1))


def proved(instance: InstanceBase) -> Upper:
    """Return the upper end that is found first. Raises LanguageError where nothing can be proved of the program."""
    return next(upper for _, upper in _closer(instance, lambda _: True) if upper is not None)


def refuse_uneven(instance: InstanceBase) -> None:
    """Raise QueryError where the error of a program is not known to have one law for every n."""
    hint = "ask for one n: only the error of a sum of the records plus noise is known not to depend on n"
    if instance.bound.program.target is not sum:
        raise QueryError("accuracy for every n is known for the target `sum` only", hint)
    try:
        alike = errs_alike(explore(instance.bound, sums=True))
    except (LanguageError, Untraceable):
        alike = False
    if not alike:
        raise QueryError("accuracy has no answer for every n, as the error may depend on the records", hint)


def is_above(value: Exact, exp_epsilon: Number | None, epsilon: Fraction | None) -> bool:
    """Return whether a value of e^ε is above one that is claimed, or above e to the power of an ε that is."""
    if exp_epsilon is not None:
        return value > exp_epsilon
    assert epsilon is not None
    return compare_log(value, epsilon) > 0


def _at_few(instance: InstanceBase, known: _Lower, enough: Callable[[Exact], bool]) -> _Lower | None:
    """Return a known lower end, or that of the first of a few n, at which it is enough."""
    larger = (_tight(instance, n, Allowance(WORK_FOR_FEW)) for n in (*SIZES[:_FIRST], *_COMPARED) if n > known.n)
    return next((found for found in chain((known,), larger) if found is not None and enough(found.value)), None)


def _tight(instance: InstanceBase, n: int, allowance: Allowance | None) -> _Lower | None:
    """Return the tight ε at one n, or what is known of it after that work; None where nothing is."""
    try:
        found = tight_privacy(engine_of(instance, n, allowance))
    except (LanguageError, LimitError, QueryError):
        if allowance is None:
            raise
        return None
    return _Lower(found.lower, n, found.witness)


def engine_of(instance: InstanceBase, n: int, allowance: Allowance | None) -> Engine:
    """Return what answers at one n, within that work where some is given."""
    bound = instance.bound
    one = bound.program.bind(n, neighbours=bound.neighbours, **bound.parameters)
    engine = Engine(one, **{**instance.limits, "precision": None})
    engine.lower_only = True  # the upper end is for every n
    if allowance is not None:
        allowance.price = _RECORDS + n
        engine.allowance = allowance
    return engine
