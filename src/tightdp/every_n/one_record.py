"""What one record shows of all: programs of which an answer for one record is that for every number of records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, count
from typing import Any

from tightdp.errors import TightdpError
from tightdp.every_n.deciding import Untraceable
from tightdp.every_n.paths import OPEN, REAL, Affine, Path, Paths, Terms, held, plus
from tightdp.every_n.states import chain_of, explore, tells_messages_of_one
from tightdp.exact.field import Number
from tightdp.language.program import Bound
from tightdp.limits.calibrated import PROOF_RUNS


def is_told_apart_at_most_by_one(bound: Bound, found: Sequence[Paths]) -> bool:
    """Whether neighbours of any number of records are at most as easy to tell apart as those of one record.

    What the others tell is independent of the record that changes; given that, they move the sums that are published by
    the same on both sides. So a jointly convex divergence, such as δ, is at most that of one record. The program must
    tell as much of one record as its paths do, of which these are `found`.
    """
    for paths in found:
        if paths.all_at_once or not _whatever_state(paths) or not all(map(_alone, _of_records(paths))):
            continue
        if paths.faithful and _moved_alike(paths.before, [path for some in paths.after.values() for path in some]):
            return True
        both_ways = {(new, old) for old, new in paths.moves} <= set(paths.moves)
        if both_ways and chain_of(paths) is not None and tells_messages_of_one(paths, bound):
            return True
    return False


def _whatever_state(paths: Paths) -> bool:
    """Whether records do the same in every state, and leave it as it is: then it is drawn before them, and that is all.

    What others tell is independent of it.
    """
    stay = all(path.target == at for by in paths.steps.values() for at, some in by.items() for path in some)
    return stay and all(
        [replace(path, target=0) for path in some] == list(by.get(0, ()))
        for by in paths.steps.values()
        for some in by.values()
    )


def _of_records(paths: Paths) -> Sequence[Path]:
    return [path for by in paths.steps.values() for path in by.get(0, ())]


def _alone(path: Path) -> bool:
    """Whether what a record tells depends on itself alone, and it adds constants to the values that are held."""
    own = _own([*path.bounds, *(each.terms for each in path.published)])
    return own and all(value.terms == held(at) for at, value in enumerate(path.values))


def _moved_alike(before: Sequence[Path], after: Sequence[Path]) -> bool:
    """Whether what other records add, and n, move what is published by the same on all paths that look alike.

    Paths that are moved apart may hide each other for one record only: so do a noisy sum and a noisy difference.
    """
    moves: dict[Any, set[Any]] = {}
    for path in before:
        moves.setdefault(None, set()).add(tuple(map(_moved, path.values)))
    for path in after:
        moves.setdefault((path.letter,), set()).add(tuple(map(_moved, path.published)))
        if not _own([*path.bounds, *path.exponents()]):
            return False
    return all(len(each) == 1 for each in moves.values())


def _moved(form: Affine) -> Terms:
    return tuple(each for each in form.terms if not _own([(each,)]))


def _own(forms: Iterable[Terms]) -> bool:
    """Whether nothing but noise of a path itself is in some forms."""
    return all(kind.removeprefix(REAL) == "fresh" for form in forms for (kind, _), _ in form)


def takes_records_in_any_order(bound: Bound) -> bool:
    """Whether a program that draws noise is known to come to the same whatever the order of its records.

    Noise is on all integers from an end on, or on the reals. A program of many runs is not known to.
    """
    runs = count()

    def watch() -> None:
        if next(runs) > PROOF_RUNS // 10:  # about a second
            raise Untraceable

    try:
        paths = explore(bound, sums=True, watch=watch)
    except (TightdpError, Untraceable):
        return False
    every = [path for by in paths.steps.values() for each in by.values() for path in each]
    noisy = any(path.noises for path in (*paths.before, *chain.from_iterable(paths.after.values())))
    if not noisy or len(every) * len(paths.steps) > PROOF_RUNS:
        return False
    return all(map(_holds, every)) and _commute(paths)


def _holds(path: Path) -> bool:
    """Whether a record makes values that are held of those that were, and does nothing else."""
    silent = path.letter == path.published == () and not (path.bounds or path.noises)
    return silent and all(kind == "held" for value in path.values for (kind, _), _ in value.terms)


def _commute(paths: Paths) -> bool:
    """Whether two records lead to the same states, and values that are held, in either order, from every state."""

    def led_to(state: int, first: Any, second: Any) -> dict[Any, Number]:
        found: dict[Any, Number] = {}
        for one in paths.steps[first].get(state, ()):
            for two in paths.steps[second].get(one.target, ()):
                key = two.target, tuple(_put(value, one.values) for value in two.values)
                found[key] = found.get(key, 0) + one.probability * two.probability
        return found

    for state in range(paths.states):
        if any(sum(path.probability for path in by.get(state, ())) != 1 for by in paths.steps.values()):
            return False  # some runs end before, or are not followed
        if any(led_to(state, one, two) != led_to(state, two, one) for one, two in combinations(paths.steps, 2)):
            return False
    return True


def _put(form: Affine, values: Sequence[Affine]) -> Affine:
    """Return a combination of values that are held, with these in their places."""
    total = Affine((), form.constant)
    for (_, place), factor in form.terms:
        total = plus(total, values[place], factor)
    return total


def errs_alike(paths: Paths) -> bool:
    """Whether a program returns the sum of its records plus something that does not depend on them.

    `paths` are those of the program with its sums left open. The state must be one sum, which starts at 0 and to which
    every record adds itself; the output must be this sum plus noise on every path to the end.
    """
    if paths.states != 1 or not all(_becomes(path, Affine((), Fraction(0))) for path in paths.before):
        return False
    for record, by in paths.steps.items():
        if not isinstance(record, int):
            return False
        if not all(_becomes(path, Affine(held(0), Fraction(record))) for path in by[0]):
            return False
    return all(_is_noisy_sum(path) for path in paths.after[0])


def _becomes(path: Path, value: Affine) -> bool:
    return path.values == (value,) and not path.bounds and path.letter == ()


def _is_noisy_sum(path: Path) -> bool:
    if path.bounds or path.odds or path.letter != OPEN:
        return False
    terms: Terms = path.published[0].terms
    others = [kind for (kind, _), _ in terms if kind != "fresh"]
    return others == ["held"] and set(held(0)) <= set(terms)
