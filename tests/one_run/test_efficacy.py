"""Efficacy of one-run auditing: the papers' closed forms, and brute force on programs that nobody named."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction as F
from math import comb
from pathlib import Path
from typing import Any

import pytest

from agreement import bind, datasets, meaning, module_of
from efficacy_oracle import Game
from efficacy_programs import CASES, checked, conditioned, running, ternary, weights
from expectations import mechanisms
from strategies import Case, write_program
from thinned import thinned
from tightdp import (
    Instance,
    Int,
    LanguageError,
    LimitError,
    ParameterError,
    ProgramError,
    QueryError,
    Values,
    choice,
    flip,
    mechanism,
    observe,
)
from tightdp.cli.main import main
from tightdp.results.guessing import Efficacy

PROGRAMS = "programs"


def instance(name: str, **parameters: Any) -> Instance:
    """An instance of a mechanism of programs/."""
    return mechanisms(name)[name].bind(**parameters)


def values(found: Efficacy) -> list[F]:
    """E_1, ..., E_n."""
    return [row.efficacy for row in found.rows]


# brute force


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("program", "n", "pairs"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_agrees_with_brute_force(program: Any, n: int, pairs: Any) -> None:
    found = program.bind(n=n).efficacy(pairs=pairs)
    game = Game(program.bind(n=n).bound, pairs)
    assert values(found) == game.efficacies()
    assert {row.ddp for row in found.rows} == {game.ddp()}
    assert found.exp_epsilon == game.exp_epsilon()
    assert found.status == "exact"
    for row in found.rows:
        assert values(found)[-1] <= row.efficacy <= row.ac <= row.ddp <= row.dp
        assert row.efficacy + row.element_gap + row.output_gap + row.interference_gap == row.dp
        assert min(row.element_gap, row.output_gap, row.interference_gap) >= 0
    leak = found.leak
    one = game.posterior(leak.output, leak.client)
    assert (one if leak.bit else 1 - one) == leak.confidence == game.ddp()


def test_best_pairs_are_best() -> None:
    found = ternary.bind(n=2).efficacy(guesses=1, pairs="best")
    domain = ("a", "b", 3)
    every = [(a, b) for at, a in enumerate(domain) for b in domain[at + 1 :]]
    best = max(Game(ternary.bind(n=2).bound, [p, q]).efficacies()[0] for p in every for q in every)
    assert found.rows[0].efficacy == best
    assert Game(ternary.bind(n=2).bound, found.pairs).efficacies()[0] == best


@mechanism(record=Values(0, 1, 2))
def uneven(x: Any) -> Any:
    """The first client is heard better than the others, which are interchangeable though no sum is taken."""
    heard = x[0] if flip("1/2") else choice(x[1:])
    return heard if flip("3/4") else None


def test_best_pairs_without_an_aggregate() -> None:
    found = uneven.bind(n=3).efficacy(guesses=2, pairs="best")
    every = [(0, 1), (0, 2), (1, 2)]
    best = max(Game(uneven.bind(n=3).bound, [p, q, r]).efficacies()[1] for p in every for q in every for r in every)
    assert found.rows[0].efficacy == best


# what the papers say


@pytest.mark.parametrize("n", [1, 2, 5])
def test_local_randomized_response(n: int) -> None:
    found = instance("randomized_response", n=n, lam="1/5").efficacy()
    assert values(found) == [F(4, 5)] * n
    assert (found.rows[0].ac, found.rows[0].ddp, found.rows[0].dp) == (F(4, 5),) * 3


def test_xor() -> None:
    assert values(instance("xor", n=1).efficacy()) == [1]
    for n in (2, 3, 6):
        found = instance("xor", n=n).efficacy()
        assert values(found) == [F(1, 2)] * n
        assert found.rows[0].interference_gap == F(1, 2)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_all_or_nothing(n: int) -> None:
    found = instance("all_or_nothing", n=n, p="1/3").efficacy()
    assert values(found) == [F(1, 2) + F(1, 6)] * n
    assert found.rows[0].output_gap == F(1, 3)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_name_and_shame(n: int) -> None:
    assert values(instance("name_and_shame", n=n).efficacy()) == [F(1, 2) + F(1, 2 * n)] * n
    pairs = [(2 * i, 2 * i + 1) for i in range(n)]
    distinct = instance("name_and_shame", n=n, k=2 * n).efficacy(pairs=pairs)
    assert values(distinct) == [F(1, 2) + F(1, 2 * k) for k in range(1, n + 1)]


def count_efficacy(n: int) -> F:
    """1/2 + E|O - n/2| / n for O ~ Bin(n, 1/2) (keinan2025, Prop. D.2)."""
    return F(1, 2) + sum((comb(n, o) * abs(F(o) - F(n, 2)) for o in range(n + 1)), F(0)) / 2**n / n


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_count(n: int) -> None:
    assert values(instance("count", n=n).efficacy()) == [count_efficacy(n)] * n


def test_count_in_sets() -> None:
    found = instance("count_in_sets", n=12, s=4).efficacy()
    assert values(found)[-1] == count_efficacy(4)
    assert values(found) == sorted(values(found), reverse=True)


# large instances, reduced by symmetry


def test_large_count() -> None:
    found = instance("count", n=200).efficacy()
    assert values(found) == [count_efficacy(200)] * 200
    assert found.exp_epsilon == math.inf


def test_large_count_in_sets() -> None:
    found = instance("count_in_sets", n=200, s=10).efficacy()
    assert found.rows[-1].efficacy == count_efficacy(10)
    # some set shows the largest of its counts: AC is the expectation of the largest of 20 independent ones
    below = [F(sum(comb(10, o) for o in range(11) if max(o, 10 - o) <= m), 1024) ** 20 for m in range(4, 11)]
    assert found.rows[0].ac == sum((F(m, 10) * (below[m - 4] - below[m - 5]) for m in range(5, 11)), F(0))


def test_large_randomized_response() -> None:
    found = instance("randomized_response", n=1000, lam="1/5").efficacy()
    assert set(values(found)) == {F(4, 5)}
    assert found.exp_epsilon == 4


@pytest.mark.slow(seconds=3)
def test_large_name_and_shame() -> None:
    found = instance("name_and_shame", n=100).efficacy()
    assert set(values(found)) == {F(1, 2) + F(1, 200)}
    pairs = [(2 * i, 2 * i + 1) for i in range(100)]
    distinct = instance("name_and_shame", n=100, k=200).efficacy(pairs=pairs)
    assert values(distinct) == [F(1, 2) + F(1, 2 * k) for k in range(1, 101)]
    assert distinct.exp_epsilon == math.inf


def test_large_all_or_nothing() -> None:
    assert set(values(instance("all_or_nothing", n=100, p="1/3").efficacy())) == {F(2, 3)}


# bad input


@pytest.mark.parametrize(
    "pairs",
    ["worst", [(0, 1)], [(0, 1), (1, 1)], [(0, 1), (0, 2)], [(0, 1), 3], [(0, 1), (0, 1, 0)], 7],
)
def test_bad_pairs_are_refused(pairs: Any) -> None:
    with pytest.raises(ParameterError):
        instance("count", n=2).efficacy(pairs=pairs)


def test_bad_pairs_are_named_by_their_client(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ParameterError, match="the pair of client 2 is"):
        instance("count", n=2).efficacy(pairs=[(0, 1), (1, 1)])
    program = str(Path(__file__).parent.parent.parent / "programs" / "count.py")
    assert main(["efficacy", program, "n=2", "--pairs", "worst"]) == 2
    assert "give best, or a pair per client: '[[0,1],[0,1]]'" in capsys.readouterr().err


@pytest.mark.parametrize("guesses", [0, 3, -1, "1/2"])
def test_bad_numbers_of_guesses_are_refused(guesses: Any) -> None:
    with pytest.raises(ParameterError):
        instance("count", n=2).efficacy(guesses=guesses)


@mechanism(record=Values(1))
def one_record(x: Any) -> Any:
    """A domain of one record."""
    return sum(x)


def test_one_record_leaves_nothing_to_guess() -> None:
    with pytest.raises(QueryError, match="nothing to guess"):
        one_record.bind(n=2).efficacy()


def test_failures_name_the_dataset() -> None:
    with pytest.raises(ProgramError, match="all ones") as caught:
        checked.bind(n=3).efficacy()
    assert caught.value.x == (1, 1, 1)


@mechanism(record=Values("a", "b", "c"))
def fails_on_c(x: Any) -> Any:
    """Fails on records that the pairs never pick."""
    assert "c" not in (x[0], x[1])
    return (x[0] == "a", x[1] == "a")


def test_only_the_datasets_that_pairs_pick_matter() -> None:
    assert values(fails_on_c.bind(n=2).efficacy()) == [1, 1]
    with pytest.raises(ProgramError) as caught:
        fails_on_c.bind(n=2).efficacy(pairs=[("a", "b"), ("a", "c")])
    assert caught.value.x is not None
    assert caught.value.x[1] == "c"


@mechanism(record=Values(0, 1))
def contradictory(x: Any) -> Any:
    """No run is accepted on one dataset."""
    observe(x[0] == 0 or x[1] == 0)
    return flip("1/2")


def test_contradictions_name_the_dataset() -> None:
    with pytest.raises(ProgramError, match="contradiction") as caught:
        contradictory.bind(n=2).efficacy()
    assert caught.value.x == (1, 1)


def test_too_much_is_refused_with_its_size() -> None:
    found = conditioned_large().efficacy()
    assert (found.status, found.rows, found.exp_epsilon) == ("unresolved", (), math.inf)
    assert "too many" in found.reason


def conditioned_large() -> Instance:
    @mechanism(record=Values(0, 1))
    def parity_condition(x: Any) -> Any:
        parity = 0
        for b in x:
            parity ^= b
        observe(parity == 0 or flip("1/2"))
        return x

    return parity_condition.bind(n=16)


# what users see


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(next(iter(mechanisms("count_in_sets").values())).program.source.file)
    assert main(["efficacy", file, "n=4", "s=2", "--json", "--guesses", "3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["query"] == "efficacy"
    assert answer["result"]["pairs"] == [[0, 1]] * 4
    (row,) = answer["result"]["rows"]
    assert row == {
        "guesses": 3,
        "efficacy": "19/24",
        "ac": "7/8",
        "ddp": "1",
        "dp": "1",
        "element_gap": "1/12",
        "output_gap": "1/8",
        "interference_gap": "0",
    }
    assert main(["efficacy", file, "n=4", "s=2", "--pairs", "[[1,0],[0,1],[0,1],[0,1]]", "--adaptive"]) == 0
    shown = capsys.readouterr().out
    assert "interference gap" in shown
    assert "adaptive" in shown
    assert main(["efficacy", file, "n=4", "s=2", "--pairs", "[[0,0]]"]) == 2
    assert main(["efficacy", file, "n=4", "s=2", "--pairs", "best"]) == 0


def test_results_are_values() -> None:
    found = weights.bind(n=3).efficacy(adaptive=True)
    assert found == weights.bind(n=3).efficacy(adaptive=True)
    assert "interference gap" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.row(2).guesses == 2
    with pytest.raises(QueryError, match="no row for 4 guesses"):
        found.row(4)
    assert [row["guesses"] for row in found.to_dict()["result"]["rows"]] == [1, 2, 3]
    with pytest.raises(AttributeError):
        found.pairs = ()  # type: ignore[misc]


@pytest.mark.extra("plot")
def test_plots_draw_on_the_axes_given() -> None:
    from matplotlib import pyplot

    axes = pyplot.figure().subplots()
    assert running.bind(n=3).efficacy().plot(axes) is axes
    assert conditioned.bind(n=3).efficacy(adaptive=True).plot(axes) is axes


# generated programs


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", thinned(range(12), 3))
def test_a_generated_program_agrees_with_brute_force(seed: int) -> None:
    assert_audits_agree(write_program(random.Random(seed)))


def assert_audits_agree(case: Case) -> bool:
    """Compare everything with brute force; false where the program is refused or large."""
    with module_of(case.source) as module:
        bound = bind(module, case.record, case.n, neighbours=case.neighbours, **case.parameters)
        found = Instance(bound, timeout=20)
        rng = random.Random(case.n)
        pairs = [tuple(rng.sample(bound.record.values, 2)) for _ in range(case.n)]
        try:
            efficacy = found.efficacy(pairs=pairs)
        except (LanguageError, LimitError):
            return False
        except ProgramError:
            assert any(meaning(bound, x) is None for x in datasets(bound))
            return True
        game = Game(bound, pairs)
        assert values(efficacy) == game.efficacies()
        assert efficacy.leak.confidence == game.ddp()
        assert efficacy.exp_epsilon == efficacy.lower == game.exp_epsilon()
        for least in (F(1, 2), F(2, 3), F(1)):
            law = found.guessing(least, pairs=pairs).joint
            assert law.to_dict() == game.joint_law(game.threshold_guesser(least))
        order = rng.sample(range(case.n), case.n)
        adaptive = found.adaptive_guessing(F(2, 3), order=order, pairs=pairs).joint
        assert adaptive.to_dict() == game.adaptive_law(order, F(2, 3))
        return True


def test_pairs_are_neighbours_in_the_relation() -> None:
    """By default, and where the best pairs are searched, the two records of a client may differ under the relation."""

    @mechanism(record=Values(0, 1, 2), neighbours="add-remove")
    def noisy(x: Any) -> Any:
        return tuple(choice((0, 1, 2, None), weights=[5 if v == b else 1 for v in (0, 1, 2, None)]) for b in x)

    def differ(pair: tuple[Any, Any]) -> bool:
        return (pair[0] is None) != (pair[1] is None)

    found = noisy.bind(n=2).efficacy()
    assert all(map(differ, found.pairs))
    assert all(map(differ, noisy.bind(n=2).efficacy(pairs="best").pairs))
    assert found.rows[0].dp <= F(5, 6)
    stepped = noisy.bind(n=2, neighbours="replace-one").efficacy()
    assert stepped.pairs == ((0, 1), (0, 1))

    @mechanism(record=lambda k: Values(*range(0, 3 * k, 3)), neighbours="unit-step")
    def apart(x: Any, k: Any) -> Any:
        return x

    with pytest.raises(QueryError, match="no two records that differ under unit-step"):
        apart.bind(n=1, k=3).efficacy()


def test_efficacies_are_known_where_the_adaptive_search_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(law: object) -> None:
        raise LimitError("the query took more than 5 s", "allow more with --timeout")

    asked = instance("randomized_response", n=2, lam="1/4")
    whole = asked.efficacy()
    monkeypatch.setattr("tightdp.session.one_run.adaptive_optimum", cut)
    found = asked.efficacy(adaptive=True)
    assert found.rows == whole.rows
    assert (found.status, found.cut_short, found.hint) == ("bounded", True, "allow more with --timeout")
    assert "the adaptive efficacies are not known" in str(found)


def test_default_pairs_are_the_first_two_records_that_neighbours_may_exchange() -> None:
    instance = mechanism(record=Int(0, 2), neighbours="add-remove")(_of_present).bind(n=2)
    assert instance.efficacy().pairs == ((0, None), (0, None))


def _of_present(x: Any) -> Any:
    return sum(v or 0 for v in x) + flip("1/3")
