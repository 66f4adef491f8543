"""Elimination along the core program gives the laws that the interpreter gives, with few rows."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from agreement import bind, datasets, meaning, module_of
from strategies import write_program
from tightdp.core.lowering import lower
from tightdp.errors import LanguageError, LimitError, ProgramError
from tightdp.language import interp
from tightdp.language.domains import Bit, Domain, Int
from tightdp.language.program import Bound
from tightdp.limits.calibrated import STEP
from tightdp.logic.encode import prober
from tightdp.methods import elimination
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.compiled import deep_recursion
from tightdp.methods.elimination import Elimination, TooMuchWork
from tightdp.methods.elimination_plan import plans


def table_of(bound: Bound, x: Any = None, **options: Any) -> EliminationTable:
    with deep_recursion():
        return EliminationTable(bound, lower(bound, x, prober()), **options)


def law_or_none(table: EliminationTable, x: Any) -> Any:
    try:
        return table.law(x)
    except ProgramError:
        return None


def assert_laws(source: str, record: Domain = Bit, n: int = 2, **parameters: Any) -> EliminationTable:
    with module_of(source) as module:
        bound = bind(module, record, n, **parameters)
        table = table_of(bound)
        for x in datasets(bound):
            law = meaning(bound, x)
            assert law_or_none(table, x) == law, x
            for output, probability in list((law or {}).items())[: 3 if x[0] else 0]:
                assert table_of(bound).probability(x, output) == probability
        return table


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(40))
def test_a_random_program_means_what_the_interpreter_says(seed: int) -> None:
    case = write_program(random.Random(10_000 + seed))
    with module_of(case.source) as module:
        bound = bind(module, case.record, case.n, neighbours=case.neighbours, **case.parameters)
        try:
            table = table_of(bound)
        except (LanguageError, LimitError, ProgramError):
            return
        xs = datasets(bound)
        laws = {x: meaning(bound, x) for x in xs}
        assert {x: law_or_none(table, x) for x in xs} == laws


EXITS = """
def f(x):
    for i in range(3):
        if flip("1/3"):
            z = randint(0, 2)
            if z + x[0] > 1:
                return (i, z)
            if flip("1/5"):
                break
        elif x[-1] and flip("1/2"):
            continue
        w = randint(0, 1)
        if w:
            return i
    else:
        return None
    return (x[0], flip("1/2"))
"""

SHUFFLED = """
def f(x):
    sent = [b if flip("3/4") else randint(0, 2) for b in x]
    return (shuffle(sent), sum(sent) % 2)
"""

USED = """
def f(x):
    sent = shuffle([b if flip("3/4") else 1 - b for b in x])
    return (sent[0], sent[1] + sent[2])
"""

OBSERVED = """
def f(x):
    a, b = geometric(x[0], "1/2", -1, 2), geometric(x[1], "1/3", -1, 2)
    observe(a != b)
    c = flip("1/7") if a > b else flip("2/3")
    observe(c or b > 0)
    return (max(a, b), c)
"""

LAWS = """
def f(x):
    i = randint(0, 2)
    p = ["1/2", "1/3", "2/5"][i]
    k = binomial(sum(x) + i, p)
    return choice((k, i, "none"), (1 + k, 2, i))
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("source", [EXITS, SHUFFLED, USED, OBSERVED, LAWS])
def test_fixed_programs(source: str) -> None:
    assert_laws(source, n=3)


@pytest.mark.parametrize("source", [EXITS, SHUFFLED, USED, OBSERVED, LAWS])
def test_work_is_estimated_beforehand_and_reported_afterwards(source: str) -> None:
    with module_of(source) as module:
        table = table_of(bind(module, Bit, 3))
        every = list(datasets(table.bound))
        estimate = table.estimate(len(every))
        assert table.work == 0
        table.fill(every)
        assert 0 < table.work <= 4 * estimate


def test_one_dataset() -> None:
    with module_of(EXITS) as module:
        bound = bind(module, Bit, 2)
        for x in datasets(bound):
            assert table_of(bound, x).law(x) == meaning(bound, x)


TREE = """
def f(x):
    total = 0
    if flip("1/2"):
        for i in range(6):
            total += randint(0, 9)
            if total > 3:
                return total
    else:
        if x[0]:
            a, b = flip("1/2"), flip("1/3")
            return (a, b)
        return flip("1/9")
    return -total
"""


@pytest.mark.slow(seconds=2)
def test_what_is_not_needed_is_not_drawn() -> None:
    with module_of(TREE) as module:
        bound = bind(module, Bit, 1)
        for x in datasets(bound):
            table = table_of(bound)
            runs = sum(1 for _ in interp.runs(bound, x))
            assert table.law(x) == meaning(bound, x)
            assert _most_rows(table, x) <= 2 * runs


def _most_rows(table: EliminationTable, x: Any) -> int:
    """The most rows that there are after a step on the way to the law of a dataset."""
    elimination, rows = Elimination(table.plan, table._lanes(table.plan, [x])), []
    for at in range(len(table.plan.steps)):
        elimination.run(at, at + 1)
        rows.append(len(elimination.lane))
    return max(rows)


def test_of_draws_that_a_later_one_picks_from_one_is_kept() -> None:
    source = """
def f(x):
    sent = [b if flip(Fraction(1, 2 + i)) else 1 - b for i, b in enumerate(x)]
    return sent[randint(0, len(x) - 1)]
"""
    assert_laws("from fractions import Fraction\n" + source, n=3)
    with module_of("from fractions import Fraction\n" + source) as module:
        table = table_of(bind(module, Bit, 40))
        assert sum(table.law((0, 1) * 20).values()) == 1
        assert _most_rows(table, (0, 1) * 20) <= 40 * 4


def test_a_long_loop_keeps_a_small_table() -> None:
    source = """
def f(x):
    total = 0
    for _ in range(300):
        total = (total + flip("1/3")) % 2
    return total
"""
    table = assert_laws(source.replace("300", "8"), n=1)
    with module_of(source) as module:
        bound = bind(module, Bit, 1)
        table = table_of(bound)
        assert table.law((0,))[0] == (1 + Fraction(1, 3) ** 300) / 2
        assert table.work < 300 * 20 * STEP


def test_large_domains_are_numbers() -> None:
    with module_of("def f(x):\n    return sum(geometric(b, '1/2', -200, 200) for b in x)\n") as module:
        bound = bind(module, Int(0, 100), 1)
        table = table_of(bound)
        assert sum(table.law((50,)).values()) == 1
        assert table.work < 5_000 + 20 * STEP


def test_a_budget_is_kept() -> None:
    with module_of("def f(x):\n    return tuple(flip('1/2') for _ in range(30))\n") as module:
        table = table_of(bind(module, Bit, 1), budget=50_000)
        with pytest.raises(TooMuchWork):
            table.weights((0,))
        assert table.work < 100_000


def test_the_watch_is_called() -> None:
    def stop() -> None:
        raise LimitError("enough")

    with module_of("def f(x):\n    return tuple(flip('1/2') for _ in range(30))\n") as module:
        table = table_of(bind(module, Bit, 1), watch=stop)
        with pytest.raises(LimitError):
            table.weights((0,))


FAILING = """
def f(x):
    a = randint(0, 3)
    observe(a > 0)
    assert a + sum(x) < 5, "too much"
    return [1, 2, 3][a + x[0] - 1]
"""


def test_the_probability_of_failure_and_where_it_is_largest() -> None:
    with module_of(FAILING) as module:
        bound = bind(module, Bit, 2)
        table = table_of(bound)
        probabilities = {x: table.failure(x).probability for x in datasets(bound)}
        assert probabilities == {(0, 0): 0, (0, 1): 0, (1, 0): Fraction(1, 3), (1, 1): Fraction(1, 3)}
        worst = table.worst_failure(datasets(bound))
        assert (worst.x, worst.probability) == ((1, 0), Fraction(1, 3))
        assert worst.check is not None
        with pytest.raises(ProgramError) as caught:
            table.law((1, 1))
        assert caught.value.x == (1, 1)


def test_too_many_rows_for_all_datasets_are_made_for_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with module_of(FAILING) as module:
        bound = bind(module, Bit, 2)
        expected = [failure.probability for failure in table_of(bound).failures(datasets(bound))]
        monkeypatch.setattr(elimination, "LISTED_MASSES", 8)
        assert [failure.probability for failure in table_of(bound).failures(datasets(bound))] == expected
    with module_of(LAWS) as module:
        bound = bind(module, Bit, 3)
        table = table_of(bound)
        table.fill(list(datasets(bound)))
        assert all(table.law(x) == meaning(bound, x) for x in datasets(bound))


def test_marginals_and_single_probabilities_need_no_list() -> None:
    with module_of("def f(x):\n    return tuple(b ^ flip('1/3') for b in x)\n") as module:
        bound = bind(module, Bit, 60)
        table = table_of(bound)
        x = (0,) * 60
        assert table.probability(x, x) == Fraction(2, 3) ** 60
        assert table.probability(x, (2,) * 60) == 0
        assert table.marginal(x, [59]) == {(0,): Fraction(2, 3), (1,): Fraction(1, 3)}


THREE_DRAWS = """
def f(x):
    a, b, c = geometric(x[0], "1/2"), geometric(0, "1/2"), geometric(0, "1/2")
    return a - (b + c + flip("1/3"))
"""


def test_what_takes_most_room_is_computed_first() -> None:
    """In the order in which it is written, all three draws are kept: 165 to the power 3 rows."""
    with module_of(THREE_DRAWS) as module:
        table = table_of(bind(module, Bit, 1), budget=1_000_000)
        table.fill([(0,), (1,)])
        assert sum(table.law((0,)).values()) == 1
        assert table.plan.logarithm < 20


def test_more_rows_than_the_budget_are_refused_before_they_are_made() -> None:
    with module_of(THREE_DRAWS) as module:
        plan = max(plans(lower(bind(module, Bit, 1), (0,), prober())), key=lambda plan: plan.logarithm)
        elimination = Elimination(plan, [()], budget=8_000)
        with pytest.raises(TooMuchWork):
            elimination.run()
        assert elimination.work < 100_000
