"""Kernels that are post-processings of geometric noise, where datasets stand in a line, as counts do.

Truncated geometric noise G with the ratio r = e^-ε on 0..m gives i with the mass (1 - r)/(1 + r)·r^|i - k|, and the
ends all that is beyond them (Ghosh, Roughgarden and Sundararajan 2009). Its inverse has three diagonals, so that
K = G·T has the one solution with the rows, up to a positive factor, K_0 - r·K_1, (1 + r²)·K_i - r·(K_(i-1) + K_(i+1)),
K_m - r·K_(m-1): K is a post-processing of G if and only if these are at least 0. Where errors grow with the distance
from the count, some optimum is one (Gupte and Sundararajan, Universally optimal privacy mechanisms for minimax agents,
PODS 2010, Theorem 2 and Lemma 1). Where neighbours differ by more, staircase noise may be as good.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq

from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.linear_program import (
    Control,
    LinearProgram,
    Row,
    approximations,
    exact_primal,
    no_limit,
)
from tightdp.queries.optimum import Design, Kernel, Solution, least_gain

_MOST_UNKNOWNS = 500
"""Of so many entries of a post-processing it is asked whether staircase noise is as good."""


def as_geometric_noise(
    design: Design, line: Sequence[int], found: Solution, control: Control = no_limit
) -> tuple[Kernel, Kernel | None]:
    """Return the best kernel and what geometric noise is followed by in it; another as good, if that is possible.

    `line` are the datasets in their order; δ is 0 and e^ε above 1. The table is None where there is none.
    """
    table = post_processing(tuple(found.kernel[x] for x in line), 1 / design.exp_epsilon)
    if table is not None:
        return found.kernel, table
    rows = dict(zip(line, geometric_kernel(len(line), 1 / design.exp_epsilon), strict=True))
    other = best_post_processing(design, tuple(rows[x] for x in range(len(line))), found.lower, control)
    return (found.kernel, None) if other is None else other


def geometric_kernel(size: int, ratio: Fraction) -> Kernel:
    """Return truncated geometric noise on 0..size-1, whose masses fall by a ratio in (0, 1]."""

    def mass(i: int, k: int) -> Fraction:
        if size == 1:
            return Fraction(1)
        away = ratio ** abs(i - k) / (1 + ratio)
        return away if k in (0, size - 1) else (1 - ratio) * away

    return tuple(tuple(mass(i, k) for k in range(size)) for i in range(size))


def post_processing(kernel: Kernel, ratio: Fraction) -> Kernel | None:
    """Return the stochastic matrix T with kernel = geometric noise · T, None where there is none; 0 < ratio < 1."""
    last = len(kernel) - 1
    table = []
    for i, row in enumerate(kernel):
        if i in (0, last):
            beside = kernel[1 if i == 0 else last - 1]
            found = [(p - ratio * q) / (1 - ratio) for p, q in zip(row, beside, strict=True)]
        else:
            around = zip(row, kernel[i - 1], kernel[i + 1], strict=True)
            found = [((1 + ratio**2) * p - ratio * (a + b)) / (1 - ratio) ** 2 for p, a, b in around]
        if min(found) < 0:
            return None
        table.append(tuple(found))
    return tuple(table)


def as_staircase(
    design: Design, targets: Sequence[Fraction | int], found: Solution, control: Control = no_limit
) -> tuple[Kernel, tuple[int, int]] | None:
    """Return a best kernel that is staircase noise around whole targets, processed further, with its two widths.

    None where neighbours differ by less than 2, where there are too many values, or none is as good. A step is as wide
    as neighbours differ at most; its upper part has the first width, and its lower one the second (Geng and Viswanath,
    The optimal noise-adding mechanism in differential privacy, IEEE Transactions on Information Theory 2016).
    """
    if any(Fraction(target).denominator > 1 for target in targets):
        return None
    low, high = int(min(targets)), int(max(targets))
    width = max((abs(int(targets[x] - targets[other])) for x, other in design.pairs), default=0)
    if width < 2 or (high - low + 2 * width) * design.outputs > _MOST_UNKNOWNS:
        return None
    for upper in range(1, width + 1):
        rows = staircase_kernel(high - low, (upper, width - upper), 1 / design.exp_epsilon)
        noise = tuple(rows[int(target) - low] for target in targets)
        other = best_post_processing(design, noise, found.lower, control)
        if other is not None:
            return other[0], (upper, width - upper)
    return None


def staircase_kernel(last: int, widths: tuple[int, int], ratio: Fraction) -> Kernel:
    """Return staircase noise around 0..last >= 1 on all integers; outputs with the same ratios are taken together.

    A mass depends on the distance: it falls by the ratio in (0, 1) behind the first width, and then once a step. From
    `last` on, and from 0 down, outputs that are a step apart have the same ratios: these come first.
    """
    width = sum(widths)

    def mass(away: int) -> Fraction:
        steps, rest = divmod(abs(away), width)
        return ratio ** (steps + (rest >= widths[0]))

    whole = 2 * sum(map(mass, range(width))) / (1 - ratio) - 1
    tails = (*range(1 - width, 1), *range(last, last + width))
    return tuple(
        (
            *(mass(z - i) / whole / (1 - ratio) for z in tails),
            *(mass(z - i) / whole for z in range(1, last)),
        )
        for i in range(last + 1)
    )


def best_post_processing(
    design: Design, noise: Kernel, wanted: Fraction, control: Control = no_limit
) -> tuple[Kernel, Kernel] | None:
    """Return a kernel that gains at least `wanted` as a post-processing of noise, the law of which on every dataset
    is given, and its table; None where none was found.
    """
    program = _program(noise, design.gain)
    for near in approximations(program, control):
        found = exact_primal(program, near, control)
        if found is None:
            continue
        values = [as_fraction(found.get(column, fmpq(0))) for column in range(program.columns - 1)]
        table = tuple(tuple(values[k : k + design.outputs]) for k in range(0, len(values), design.outputs))
        kernel = _product(noise, table)
        if min(values) >= 0 and all(sum(row) == 1 for row in table) and least_gain(design, kernel) >= wanted:
            return kernel, table
    return None


def _program(noise: Kernel, gains: Sequence[Sequence[Fraction]]) -> LinearProgram:
    """Return the program whose unknowns are the entries of a stochastic matrix, and the least gain."""
    outputs, value = len(gains[0]), len(noise[0]) * len(gains[0])
    program = LinearProgram(value + 1, {value: fmpq(1)})
    for k in range(len(noise[0])):
        program.rows.append(Row({k * outputs + y: fmpq(1) for y in range(outputs)}, fmpq(1), tight=True))
    for masses, row in zip(noise, gains, strict=True):
        terms = {
            j * outputs + y: -as_fmpq(mass * gain)
            for j, mass in enumerate(masses)
            for y, gain in enumerate(row)
            if gain
        }
        program.rows.append(Row({value: fmpq(1), **terms}, fmpq(0)))
    return program


def _product(one: Kernel, other: Kernel) -> Kernel:
    columns = list(zip(*other, strict=True))
    return tuple(
        tuple(sum((p * q for p, q in zip(row, column, strict=True) if q), Fraction(0)) for column in columns)
        for row in one
    )
