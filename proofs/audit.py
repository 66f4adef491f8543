"""The rule for what an audit may see: `checker.py` beside it asks it about claims of this kind."""

import math
from itertools import repeat

from checker import cost, items, need, rational, spend, within


def establish(certificate, claim, evidence):
    """Establish that P(at least v of r guesses are right) <= bound against all mechanisms with a guarantee.

    m secrets are uniform on k options each; an attacker guesses r of them. The guarantee is (ln t, delta)-DP, for some
    t >= 1, where one secret is replaced. Secrets and options may be permuted at random, so let p[i] be the probability
    of i right guesses, all outcomes with i equally likely. The guarantee then says that the sum over i of
    max(0, i p[i] - t (r-i+1)/(k-1) p[i-1]) is at most m delta. Let c, z[t] >= y[i,t] >= 0 be numbers that satisfy
        (1 if i >= v else 0)  <=  c + i sum_t y[i,t] - (r-i)/(k-1) sum_t t y[i+1,t]      for i = 0..r.
    Times p[i] and added up: P(at least v) <= c + m sum_t delta z[t]. The evidence has c and z; y is the least that will
    do, from i = r on, and taken from the first t: in units of 2^-256, and rounded so that this is harder.
    """
    m, v, r, k = [within(claim[at], 1, 1 << 2_000, at) for at in ("canaries", "correct", "guesses", "options")]
    need(v <= r <= m and k > 1, "there are other numbers of secrets, guesses, right ones and options")
    z, one = [rational(each, 0) for each in items(evidence["multipliers"])], 1 << 256
    c = math.floor(rational(evidence["constant"], 0) * one)
    pairs = [(rational(t, 1), rational(delta, 0, 1)) for t, delta in map(items, items(claim["guarantee"]), repeat(2))]
    need(0 < len(pairs) == len(z), "there is one multiplier for each pair of the guarantee")
    bound, after = rational(claim["bound"], 0, 1), 0
    units = [(t.numerator, t.denominator, math.floor(most * one), cost(t.numerator)) for (t, _), most in zip(pairs, z)]
    for i in range(r, -1, -1):  # after is sum_t t y[i+1,t]
        wanted = max(0, (i >= v) * one - c + -(-(r - i) * after // (k - 1)))
        left, after = -(-wanted // max(i, 1)), 0
        for above, below, most, steps in units:
            spend(12 + 4 * steps)
            left, after = left - min(left, most), after - (-above * min(left, most) // below)
        need(left == 0 and (i > 0 or wanted == 0), "the multipliers do not fit")
    total = c + m * sum(math.ceil(delta * most * one) for (_, delta), most in zip(pairs, z))
    need(total <= bound * one, "the multipliers show less")
    return ", which is always so" * (bound == 1)
