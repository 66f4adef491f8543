"""Rows are taken in pairs, and one more row pushes another one out.

Source: github.com/opendp/opendp, issue 2950.
Affected: a transformation of OpenDP that reads a table in pairs of rows, as of that issue.
State: see the issue; no correction was known when this was written. `mended` has the noise that two rows need.

Sold as: e^ε = 4 under add-remove, as noise of ratio 1/4 has where one row more is one row more.

Why: A table of odd length is cut to even length, so that its rows make pairs. A row that is added to an even table, in
front, moves all others back by one: it comes in, and the last one goes out. Added to an odd table it comes in together
with the one that had been cut off. So two rows of what is read differ where one row of the table does: the stability is
2, and 1 was proved, of a table without its end. What a step drops at the end belongs to its stability.

Parameters: ratio of the noise. Records are bits, or missing; published are the numbers of zeros and of ones.
"""

from tightdp import Bit, geometric, mechanism


def rows(x, paired):
    """The rows of a table, without the last one where pairs are read and their number is odd."""
    present = [row for row in x if row is not None]
    return present[: len(present) - len(present) % 2] if paired else present


def published(found, ratio, n):
    return tuple(geometric(found.count(value), ratio, -1, n + 1) for value in (0, 1))


@mechanism(record=Bit, neighbours="add-remove")
def meant(x, ratio="1/4"):
    """Noisy numbers of zeros and of ones among all rows."""
    return published(rows(x, False), ratio, len(x))


@mechanism(record=Bit, neighbours="add-remove")
def shipped(x, ratio="1/4"):
    """The same among the rows that have a partner."""
    return published(rows(x, True), ratio, len(x))


@mechanism(record=Bit, neighbours="add-remove")
def mended(x, ratio="1/2"):
    """With noise for two rows."""
    return published(rows(x, True), ratio, len(x))


CLAIM = {"exp_epsilon": "4"}
PARAMETERS = {"n": 3}
EXPECTED = {"shipped": {"exp_epsilon": "16"}, "mended": {"exp_epsilon": "4"}}
