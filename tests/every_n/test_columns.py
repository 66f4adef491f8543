"""Answers for every n where the columns of records are gone through, as `zip(*x)` gives them."""

# ruff: noqa: B905 (what is read here)

from __future__ import annotations

import pytest

from tightdp import ALL, Bit, Int, LanguageError, Tuple, Values, flip, geometric, mechanism
from tightdp.every_n.upper import readings


@mechanism(record=Tuple(Bit, Int(0, 2)))
def unpacked(x):
    a, b = zip(*x)
    return geometric(sum(a), "1/2"), geometric(max(b), "1/2")


@mechanism(record=Tuple(Bit, Bit))
def sums(x):
    s, t = map(sum, zip(*x))
    return geometric(s, "1/2"), geometric(s + t, "1/2")


@mechanism(record=Tuple(Bit, Bit, Bit))
def each(x):
    return tuple(geometric(sum(column), "1/3") for column in zip(*x))


@mechanism(record=Values((0, 1), (1, 0), (2, 2)))
def by_number(x):
    columns = list(zip(*x, strict=True))
    return min(geometric(sum(v for v in columns[1] if flip("1/3")), "1/2"), 2)


@mechanism(record=Tuple(Bit, Bit))
def above(x):
    threshold = geometric(1, "1/2")
    for j, column in enumerate(zip(*x)):
        if geometric(column.count(1), "1/2") >= threshold:
            return j
    return None


@mechanism(record=Tuple(Bit, Bit))
def all_but_the_first(x):
    a, b = zip(*x)
    return geometric(sum(a[1:]), "1/2"), geometric(len(b), "1/2")


@pytest.mark.parametrize("program", [unpacked, sums, each, by_number, above, all_but_the_first])
def test_columns_have_the_upper_end_of_what_some_n_has(program):
    found = program.bind(n=ALL).privacy()
    tight = [program.bind(n=n).privacy().exp_epsilon for n in (1, 2, 3)]
    assert max(tight) <= found.upper < 1000
    if program is not above:
        assert (found.status, found.upper) == ("exact", max(tight))


@mechanism(record=Values((0, 1), (1,)))
def uneven(x):
    return geometric(sum(next(zip(*x))), "1/2")


@mechanism(record=Tuple(Bit, Bit))
def none_for_one_record(x):
    rest = x[1:]
    a, _ = zip(*rest)
    return geometric(sum(a), "1/2")


@pytest.mark.parametrize("program", [uneven, none_for_one_record])
def test_there_are_no_columns_where_rows_differ_or_there_may_be_none(program):
    with pytest.raises(LanguageError, match="not followed here"):
        readings(program.bind(n=2).bound)
