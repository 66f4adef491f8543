"""δ from above over a whole box of datasets, for all changes of one record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tightdp.exact.scaled import Scaled
from tightdp.queries.enclosed.counts import Box, Letters
from tightdp.queries.enclosed.noise import NoiseBeside
from tightdp.queries.enclosed.pairs import Move, tests_of

__all__ = ["Bounds"]

_FAR = 1e6
_HALVINGS = 12

Watch = Callable[[], None]


class Bounds:
    """Bounds that ignore the records not decided yet, or keep of them the noise that all letters share."""

    def __init__(self, letters: Letters, moves: Sequence[Move]) -> None:
        self._letters, self.moves = letters, tuple(moves)
        self._last: tuple[Box, NoiseBeside] | None = None

    def delta_above(self, box: Box, move: Move, t: float, bar: float) -> float:
        """Return a number that is at least δ(t) of this change on all datasets; one above `bar` may be coarse."""

        def delta(law: Scaled) -> float:
            return tests_of(self._letters, law, move).delta_above(t)

        found = delta(box.law)
        if found <= bar or box.single or not self._letters.many or self._letters.noise.nothing:
            return found
        if self._last is None or self._last[0] is not box:
            self._last = box, self._letters.noise.beside(box.law, box.left)
        return min(found, self._last[1].delta_above(delta, bar))

    def below(self, box: Box, t: float, bar: float) -> bool:
        """Whether δ(t) is surely at most `bar` for all changes and all datasets."""
        return all(self.delta_above(box, move, t, bar) <= bar for move in self.moves)

    def forget_small(self, whole: Box, t: float, bar: float, watch: Watch) -> None:
        """Forget the changes of one record that have δ(t) <= bar on all datasets."""
        self.moves = tuple(move for move in self.moves if not self._within(whole, move, t, bar, watch))

    def ratio_above(self, box: Box, t: float, bar: float, watch: Watch) -> float:
        """Return a ratio of at least t at which δ is surely at most `bar`; infinite where none is found."""
        for move in self.moves:
            if self._within(box, move, t, bar, watch):
                continue
            low, step = t, 1e-6
            while not self._within(box, move, t * (1 + step), bar, watch):
                low, step = t * (1 + step), 4 * step
                if step > _FAR:
                    return math.inf
            high = t * (1 + step)
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                low, high = (low, middle) if self._within(box, move, middle, bar, watch) else (middle, high)
            t = high
        return t

    def _within(self, box: Box, move: Move, t: float, bar: float, watch: Watch) -> bool:
        watch()
        return self.delta_above(box, move, t, bar) <= bar
