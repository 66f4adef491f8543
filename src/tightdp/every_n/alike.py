"""Whether the error of a noisy sum has one law, whatever the records and however many they are."""

from __future__ import annotations

from fractions import Fraction

from tightdp.every_n.states import OPEN, Path, Paths
from tightdp.every_n.symbols import Affine, Terms, held

__all__ = ["errs_alike"]


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
    if path.bounds or path.letter != OPEN:
        return False
    terms: Terms = path.published[0].terms
    others = [kind for (kind, _), _ in terms if kind != "fresh"]
    return others == ["held"] and set(held(0)) <= set(terms)
