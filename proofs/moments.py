"""The rules for moments, and for distances of what noise is added to: `checker.py` beside it asks it about them.

That an accepted file is true is a theorem (proofs/coq/Moments.v, Orders.v, Concentration.v).
"""

from fractions import Fraction
from functools import reduce

from checker import cost, need, positive, spend, times


def over(claim, point, pairs, ours, theirs):
    """Return what a claim bounds, less its bound, times some number; and whether it may be attained."""
    if claim.variances is not None:
        return distance(claim.variances, pairs) - Fraction(*point[0]), True
    if claim.error is None and claim.order.denominator == 1:
        return moment(pairs, ours, theirs, claim.order.numerator, point[0]), True
    return rooted(pairs, ours, theirs, claim.order, point[0], claim.error or Fraction(0), claim.least), False


def distance(variances, pairs):
    """Return the sum of (c - c')^2 / (2 variance) for the numbers c and c' that all runs leave, on x and on x'."""
    ((ours, theirs, _),) = pairs
    good = len(ours) == len(theirs) == 1 and len(ours[0]) == len(theirs[0]) == len(variances)
    need(good and {*map(type, ours[0] + theirs[0])} <= {int}, "runs do not leave the same number for each variance")
    found = Fraction(0)
    for a, b, v in zip(ours[0], theirs[0], variances):
        bits = sum([each.bit_length() for each in (a, a, b, b, *v.as_integer_ratio(), *found.as_integer_ratio())])
        spend(30 + (bits // 64) ** 2 // 100)
        found += Fraction((a - b) ** 2) / (2 * v)
    return found


def moment(pairs, ours, theirs, order, bound):
    """Return the sum of P^order / P'^(order-1), less a bound, times some number; 1 where it is infinite."""
    above, below, (up, down) = 0, 1, bound
    for v, w, count in [(ours, theirs, -1 * up), *[(v, w, times(down, count)) for v, w, count in pairs]]:
        if w == 0 and positive(v):
            return 1
        less, more = reduce(times, [w or 1] * (order - 1)), times(count, reduce(times, [v] * order))
        above, below = times(above, less) + times(more, below), times(below, less)
        if type(above) is type(below) is int:
            spend((cost(above) + cost(below)) ** 2 // 4)
            above, below = Fraction(above, below).as_integer_ratio()
    return above


def rooted(pairs, ours, theirs, order, bound, error, least):
    """Return the sum of P^(p/q) / P'^(p/q-1), less a bound, times some number, with terms rounded up to a multiple of
    2^-64; or the least sum of all laws that differ by an error, with terms that are rounded down."""
    (p, q), (lost, of), total = order.as_integer_ratio(), error.as_integer_ratio(), 0
    whole = all(type(each) is int for pair in [*pairs, (ours, theirs)] for each in pair)
    need(whole, "moments of orders that are not whole, or up to an error, are for odds without powers of e")
    for v, w, count in pairs:
        v, w = (max(0, of * v - lost * ours), of * w + lost * theirs) if least else (v, w)
        need(w > 0 or least or v == 0, "the moment is infinite")
        spend(100 + 50 * q + (q + 2 * p * max(map(int.bit_length, (v, w, of * ours, of * theirs))) // 64) ** 2 // 25)
        above, below = v**p * (of * theirs) ** (p - q) << 64 * q, w ** (p - q) * (of * ours) ** p
        goal = above // below if w else 0
        root = 2 << goal.bit_length() // q  # Newton's method from above gives the whole part of the root
        while root and (nearer := ((q - 1) * root + goal // root ** (q - 1)) // q) < root:
            root = nearer
        total += count * (root + (not least and root**q * below < above))
    return times(bound[1], total) + -1 * times(bound[0], 1 << 64)
