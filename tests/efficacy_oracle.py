"""One-run auditing by brute force: every value of the secret bits, every output, straight from the definitions.

It knows the interpreter and nothing of the compiler or of the queries.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tightdp.language import interp
from tightdp.language.program import Bound

Pairs = Sequence[tuple[Any, Any]]
Guess = Sequence[int | None]


class Game:
    """The joint law of the secret bits and the output: `joint[output][bits]`."""

    def __init__(self, bound: Bound, pairs: Pairs | None = None) -> None:
        first, second = bound.record.values[:2]
        self.n = bound.n
        self.pairs = list(pairs or [(first, second)] * bound.n)
        self.laws = {}
        self.joint: dict[Any, dict[tuple[int, ...], Fraction]] = {}
        for bits in itertools.product((0, 1), repeat=self.n):
            law = interp.law(bound, tuple(pair[bit] for pair, bit in zip(self.pairs, bits, strict=True)))
            self.laws[bits] = law
            for output, mass in law.items():
                self.joint.setdefault(output, {})[bits] = mass / 2**self.n

    def posterior(self, output: Any, client: int, known: dict[int, int] | None = None) -> Fraction:
        """The probability that a bit is 1, given the output and some other bits."""
        masses = [Fraction(0), Fraction(0)]
        for bits, mass in self.joint[output].items():
            if all(bits[other] == value for other, value in (known or {}).items()):
                masses[bits[client]] += mass
        return masses[1] / sum(masses)

    def confidences(self, output: Any) -> list[Fraction]:
        """The larger posterior of every bit."""
        return [max(p, 1 - p) for p in (self.posterior(output, client) for client in range(self.n))]

    def mass(self, output: Any) -> Fraction:
        """The probability of an output."""
        return sum(self.joint[output].values(), Fraction(0))

    def efficacies(self) -> list[Fraction]:
        """E_1, ..., E_n."""
        result = [Fraction(0)] * self.n
        for output in self.joint:
            ordered = sorted(self.confidences(output), reverse=True)
            for k in range(1, self.n + 1):
                result[k - 1] += self.mass(output) * sum(ordered[:k]) / k
        return result

    def ddp(self) -> Fraction:
        """The largest posterior of any bit on any output."""
        return max(max(self.confidences(output)) for output in self.joint)

    def exp_epsilon(self) -> Fraction | float:
        """The largest likelihood ratio over datasets that differ in one bit."""
        best: Fraction | float = Fraction(1)
        for bits, law in self.laws.items():
            for at in range(self.n):
                other = self.laws[(*bits[:at], 1 - bits[at], *bits[at + 1 :])]
                for output, mass in law.items():
                    best = max(best, mass / other[output] if output in other else math.inf)
        return best

    def joint_law(self, guesser: Callable[[Any], Guess]) -> dict[tuple[int, int], Fraction]:
        """The law of (guesses, right guesses) of a function of the output."""
        law: dict[tuple[int, int], Fraction] = {}
        for output, masses in self.joint.items():
            guess = guesser(output)
            made = [client for client in range(self.n) if guess[client] is not None]
            for bits, mass in masses.items():
                key = len(made), sum(guess[client] == bits[client] for client in made)
                law[key] = law.get(key, Fraction(0)) + mass
        return law

    def likelier(self, output: Any, client: int) -> int:
        """The likelier value of a bit, 0 in a tie."""
        return int(self.posterior(output, client) > Fraction(1, 2))

    def threshold_guesser(self, least: Fraction) -> Callable[[Any], Guess]:
        """Guess every bit whose confidence is at least so much."""

        def guess(output: Any) -> Guess:
            found = self.confidences(output)
            return [self.likelier(output, c) if found[c] >= least else None for c in range(self.n)]

        return guess

    def top_guesser(self, k: int) -> Callable[[Any], Guess]:
        """Guess the k bits of largest confidence, the first clients among equals."""

        def guess(output: Any) -> Guess:
            found = self.confidences(output)
            chosen = sorted(range(self.n), key=lambda c: (-found[c], c))[:k]
            return [self.likelier(output, c) if c in chosen else None for c in range(self.n)]

        return guess

    def adaptive_law(self, order: Sequence[int], least: Fraction) -> dict[tuple[int, int], Fraction]:
        """The law of (guesses, right guesses) where every bit is revealed after it was decided on."""
        law: dict[tuple[int, int], Fraction] = {}
        for output, masses in self.joint.items():
            for bits, mass in masses.items():
                known: dict[int, int] = {}
                guesses = right = 0
                for client in order:
                    p = self.posterior(output, client, known)
                    if max(p, 1 - p) >= least:
                        guesses += 1
                        right += int(p > Fraction(1, 2)) == bits[client]
                    known[client] = bits[client]
                key = guesses, right
                law[key] = law.get(key, Fraction(0)) + mass
        return law

    def adaptive_optimum(self, k: int) -> Fraction:
        """The largest expected share of right guesses of k guesses, over all orders and abstentions."""
        return sum((self._best(output, {}, k) for output in self.joint), Fraction(0)) / k

    def _best(self, output: Any, known: dict[int, int], left: int) -> Fraction:
        """The largest expected number of further right guesses, times the probability of output and known bits."""
        free = [client for client in range(self.n) if client not in known]
        if not left or len(free) < left:
            return Fraction(0)
        options = []
        for client in free:
            masses = [
                sum(
                    (m for bits, m in self.joint[output].items() if _agrees(bits, {**known, client: b})),
                    Fraction(0),
                )
                for b in (0, 1)
            ]
            branches = [(b, {**known, client: b}) for b in (0, 1) if masses[b]]
            options.append(max(masses) + sum(self._best(output, after, left - 1) for _, after in branches))
            if len(free) > left:
                options.append(sum((self._best(output, after, left) for _, after in branches), Fraction(0)))
        return max(options)


def _agrees(bits: Sequence[int], known: dict[int, int]) -> bool:
    return all(bits[client] == value for client, value in known.items())
