"""Numbers as functions of secret bits: multi-terminal decision diagrams, in a variable order of our choice.

P(outcome | bits) is such a function. Interchangeable clients, whatever makes them so, leave it small: a function of the
number of ones among n bits has at most n(n+1)/2 nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tightdp.errors import LimitError
from tightdp.exact.whole import Whole
from tightdp.limits.calibrated import AUDIT_STATES


class Functions:
    """Functions of variables 0, 1, ..., n-1, hash-consed; a function is represented by its number.

    `variable[f]` is the first variable that f depends on (n where f is constant), `low[f]` and `high[f]` are f where
    that variable is 0 and 1, `value[f]` is the value of a constant.
    """

    def __init__(self, variables: int) -> None:
        self.variables = variables
        self.variable: list[int] = []
        self.low: list[int] = []
        self.high: list[int] = []
        self.value: list[Whole] = []
        self._nodes: dict[tuple[int, Whole] | tuple[int, int, int], int] = {}
        self._combined: dict[tuple[int, Whole, int, Whole], int] = {}
        self._totals: dict[int, Whole] = {}

    def constant(self, value: Whole) -> int:
        """Return a constant."""
        return self._make((self.variables, value), 0, 0, value)

    def choose(self, variable: int, low: int, high: int) -> int:
        """Return the function that is `low` where a variable is 0, else `high`; both depend on later ones only."""
        return low if low == high else self._make((variable, low, high), low, high, 0)

    def _make(self, key: tuple[int, Whole] | tuple[int, int, int], low: int, high: int, value: Whole) -> int:
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = len(self.variable)
            if found > AUDIT_STATES:
                raise LimitError(
                    f"the probability of an output as a function of the secret bits has more than {AUDIT_STATES:,} "
                    "nodes",
                    "use fewer records",
                )
            self.variable.append(key[0])
            self.low.append(low)
            self.high.append(high)
            self.value.append(value)
        return found

    def split(self, f: int, variable: int) -> tuple[int, int]:
        """Return f where a variable is 0 and where it is 1; f depends on no earlier one."""
        return (self.low[f], self.high[f]) if self.variable[f] == variable else (f, f)

    def sum(self, f: int, times: Whole, g: int, others: Whole) -> int:
        """Return times·f + others·g."""
        if f > g:
            f, times, g, others = g, others, f, times
        key = (f, times, g, others)
        found = self._combined.get(key)
        if found is None:
            at = min(self.variable[f], self.variable[g])
            if at == self.variables:
                found = self.constant(times * self.value[f] + others * self.value[g])
            else:
                (f0, f1), (g0, g1) = self.split(f, at), self.split(g, at)
                found = self.choose(at, self.sum(f0, times, g0, others), self.sum(f1, times, g1, others))
            self._combined[key] = found
        return found

    def where(self, variable: int, low: int, high: int) -> int:
        """Return the function that is `low` where a variable is 0 and `high` where it is 1; both are any functions."""
        at = min(self.variable[low], self.variable[high])
        if variable < at:
            return self.choose(variable, low, high)
        (low0, low1), (high0, high1) = self.split(low, at), self.split(high, at)
        if variable == at:
            return self.choose(variable, low0, high1)
        return self.choose(at, self.where(variable, low0, high0), self.where(variable, low1, high1))

    def total(self, f: int, variable: int = 0) -> Whole:
        """Return the sum of f over all values of the variables from `variable` on; f depends on no earlier one."""
        found = self._totals.get(f)
        if found is None:
            at = self.variable[f]
            if at == self.variables:
                found = self.value[f]
            else:
                found = self.total(self.low[f], at + 1) + self.total(self.high[f], at + 1)
            self._totals[f] = found
        return found << (self.variable[f] - variable)

    def of_counts(self, classes: Sequence[int], values: dict[tuple[int, ...], Whole], kinds: int) -> int:
        """Return the function of how many variables of each class are 1; `classes[i]` is the class of variable i."""
        known: dict[tuple[int, tuple[int, ...]], int] = {}

        def at(variable: int, counts: tuple[int, ...]) -> int:
            if variable == self.variables:
                return self.constant(values.get(counts, 0))
            if (variable, counts) not in known:
                kind = classes[variable]
                more = (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])
                known[variable, counts] = self.choose(variable, at(variable + 1, counts), at(variable + 1, more))
            return known[variable, counts]

        return at(0, (0,) * kinds)
