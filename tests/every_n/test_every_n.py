"""Answers for every n: the mechanisms of the literature, hidden states, refusals, and what is printed."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from small_mechanisms import remembers_or
from tightdp import (
    ALL,
    Bit,
    Int,
    LanguageError,
    QueryError,
    Tuple,
    choice,
    discrete_laplace,
    exp,
    flip,
    geometric,
    mechanism,
    observe,
    randint,
)
from tightdp.cli import main
from tightdp.every_n.alignment import align
from tightdp.every_n.states import explore
from tightdp.exact import field
from tightdp.session.files import import_file
from tightdp.session.mechanism import mechanisms_of

PROGRAMS = Path(__file__).parents[2] / "programs"
THRESHOLD = {"threshold": 2, "ratio_threshold": "1/2", "ratio_query": "1/2"}


def program(name: str, within: str = "") -> Any:
    return mechanisms_of(import_file(PROGRAMS / f"{within or name}.py"))[name]


@mechanism
def remembers_and(x, lam, wrong):
    """The same with AND, written differently."""
    sent, seen = [], 1
    for v in x:
        seen = (seen and v) ^ flip(wrong)
        sent += [seen ^ flip(lam)]
    return tuple(sent)


@mechanism(record=Tuple(Bit, Bit))
def two_groups(x, lam, mu):
    """The bits of one group of clients are noisier than those of the other."""
    return sum(bit ^ flip(mu if noisier else lam) for noisier, bit in x)


@pytest.mark.parametrize(
    ("name", "within", "parameters", "expected"),
    [
        ("randomized_response", "", {"lam": "1/5"}, 4),
        ("randomized_response_count", "", {"lam": "1/5"}, 4),
        ("k_ary_randomized_response", "", {"k": 4, "exp_epsilon": 3}, 3),
        ("bit_vector_randomized_response", "", {"d": 3, "lam": "1/5"}, 64),
        ("bit_vector_unprotected", "bit_vector_randomized_response", {"d": 2, "lam": "1/5"}, math.inf),
        ("xor_randomized_response", "", {"lam": "1/5"}, 4),
        ("xor", "", {}, math.inf),
        ("count", "", {}, math.inf),
        ("name_and_shame", "", {}, math.inf),
        ("all_or_nothing", "", {"p": "1/10"}, math.inf),
    ],
)
def test_exact_for_every_n(name: str, within: str, parameters: dict[str, Any], expected: Any) -> None:
    found = program(name, within).bind(n=ALL, **parameters).privacy()
    assert (found.status, found.lower, found.upper, found.attained) == ("exact", expected, expected, True)


@pytest.mark.parametrize("made", [remembers_or, pytest.param(remembers_and, marks=pytest.mark.slow(seconds=5))])
def test_a_state_that_is_hidden_has_ends_that_meet(made: Any) -> None:
    found = made.bind(n=ALL, lam="1/4", wrong="1/10").privacy()
    assert found.lower < found.upper <= found.lower * (1 + Fraction(1, 10**6))
    assert 6 < found.lower < Fraction(61, 10)
    assert made.bind(n=8, lam="1/4", wrong="1/10").privacy().exp_epsilon < found.lower


@pytest.mark.slow(seconds=3)
def test_above_threshold_approaches_its_bound() -> None:
    """Hand-worked for k = 3: records at the threshold make its lowest value likely; the limit is 8."""
    found = program("above_threshold").bind(n=ALL, k=3, **THRESHOLD).privacy()
    assert (found.status, found.upper, found.attained) == ("exact", 8, False)
    assert 8 - found.lower <= Fraction(8, 10**6)


def test_two_groups_of_clients() -> None:
    found = two_groups.bind(n=ALL, lam="1/5", mu="1/3").privacy()
    assert (found.lower, found.upper, found.proof) == (4, 4, "independence")


@pytest.mark.slow(seconds=5)
def test_claims() -> None:
    made = remembers_or.bind(n=ALL, lam="1/4", wrong="1/10")
    ends = made.privacy()
    assert made.verify(exp_epsilon=ends.upper).holds is True
    assert made.verify(exp_epsilon=6).holds is False
    assert made.verify(epsilon=2).holds is True
    between = (ends.lower + ends.upper) / 2
    assert made.verify(exp_epsilon=between).holds is None


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        pytest.param("sparse_vector_no_cutoff", {}, marks=pytest.mark.slow),
        pytest.param("sparse_vector_noisy_answers", {"cutoff": 1}, marks=pytest.mark.slow(seconds=4)),
    ],
)
def test_ratios_that_grow_without_end(name: str, parameters: dict[str, Any]) -> None:
    """Algorithms 6 and 3 of Lyu, Su and Li 2017; any claim is refuted, with an n where that is within reach."""
    noise = {"k": 1, "threshold": 1, "ratio_threshold": "1/2", "ratio_query": "1/2", "margin": 1}
    made = program(name, "sparse_vector").bind(n=ALL, **noise, **parameters)
    found = made.privacy()
    assert (found.status, found.upper, found.attained, found.proof) == ("exact", math.inf, False, "growth")
    claim = made.verify(exp_epsilon=20)
    assert claim.holds is False
    assert claim.found.lower > 20
    assert made.verify(exp_epsilon=10**100).holds is False


def test_all_records_change_and_few_pairs_of_states_are_left() -> None:
    found = program("xor_randomized_response").bind(n=ALL, lam="1/5", neighbours="unit-all").privacy()
    assert (found.lower, found.upper) == (4, 4)


@mechanism
def noisy_maximum(x, lam):
    """Whether there is a one, through randomized response."""
    return max(x) ^ flip(lam)


def test_the_end_hides_the_state() -> None:
    for relation in ("replace-one", "unit-all"):
        found = noisy_maximum.bind(n=ALL, lam="1/5", neighbours=relation).privacy()
        assert (found.lower, found.upper) == (4, 4)


@mechanism(record=lambda k: Int(0, k), neighbours="unit-all")
def noisy_threshold(x, k, cutoff, fresh):
    """Sparse vector with noise on all integers, ratios 1/2; with a fresh threshold after each answer above it."""
    threshold = geometric(1, "1/2")
    answers = []
    for v in x:
        if geometric(v, "1/2") >= threshold:
            answers.append(1)
            if sum(answers) == cutoff:
                break
            if fresh:
                threshold = geometric(1, "1/2")
        else:
            answers.append(0)
    return tuple(answers)


@mechanism(record=lambda k: Int(0, k), neighbours="unit-all")
def no_cutoff(x, k):
    """The same with no end of answers."""
    threshold = geometric(1, "1/2")
    return tuple(int(geometric(v, "1/2") >= threshold) for v in x)


@pytest.mark.parametrize(("cutoff", "fresh", "published"), [(1, 0, 8), (2, 0, 32), (3, 0, 128), (2, 1, 64)])
def test_alignment_proves_the_published_bounds_of_the_sparse_vector_technique(
    cutoff: int, fresh: int, published: int
) -> None:
    """Lyu, Su and Li 2017, Algorithms 1 and 2, for every n; without a cutoff, nothing is proved."""
    assert align(explore(noisy_threshold.program.bind(1, k=3, cutoff=cutoff, fresh=fresh))).ratio() == published
    assert align(explore(no_cutoff.program.bind(1, k=3))) is None


@mechanism(record=lambda k: Int(0, k))
def noisy_sum(x, k, ratio):
    """The sum with noise on all integers."""
    total = 0
    for v in x:
        total += v
    return geometric(total, ratio)


@mechanism(record=Bit)
def noisy_count_in_range(x, n, ratio):
    """A count through noise that is clamped to what is possible."""
    return geometric(sum(x), ratio, 0, n)


@mechanism(record=Bit)
def noisy_count_of_noisy_bits(x):
    """Randomized response, and noise on its sum: hand-worked, 7/5 at the tails of the output."""
    return geometric(sum(v ^ flip("1/4") for v in x), "1/2")


@mechanism(record=Tuple(Bit, Bit))
def two_noisy_counts(x, scale):
    """Two columns."""
    return discrete_laplace(sum(a for a, b in x), scale), discrete_laplace(sum(b for a, b in x), scale)


@mechanism(record=lambda k: Int(0, k))
def noisy_largest(x, k, ratio):
    """The largest record with noise, kept as a state."""
    return geometric(max(x), ratio) >= 2


@mechanism(record=Bit)
def majority(x):
    """A noisy count beside half the number of records."""
    return geometric(sum(x), "1/3") >= len(x) / 2


@mechanism(record=Bit)
def one_count_twice(x):
    """Two noisy counts, compared: hand-worked, the noise of both is shifted, 2·3."""
    first = geometric(sum(x), "1/2")
    second = geometric(sum(x), "1/3")
    return max(0, min(first, 3)), second >= first


@mechanism(record=Bit)
def response(x, eps):
    """Randomized response as it is written in papers."""
    return tuple(v if flip(exp(eps) / (1 + exp(eps))) else 1 - v for v in x)


@pytest.mark.parametrize(
    ("made", "parameters", "expected"),
    [
        (noisy_sum, {"k": 3, "ratio": "1/2"}, 8),
        (noisy_sum, {"k": 1, "ratio": "1/3"}, 3),
        (noisy_count_in_range, {"ratio": "1/3"}, 3),
        (noisy_count_of_noisy_bits, {}, Fraction(7, 5)),
        pytest.param(two_noisy_counts, {"scale": 2}, field.exp(1), marks=pytest.mark.slow),
        (noisy_largest, {"k": 2, "ratio": "1/3"}, 9),
        (majority, {}, 3),
        (one_count_twice, {}, 6),
        (response, {"eps": "1/2"}, field.exp(Fraction(1, 2))),
    ],
)
def test_noise_on_all_integers_and_numbers_with_e(made: Any, parameters: dict[str, Any], expected: Any) -> None:
    found = made.bind(n=ALL, **parameters).privacy()
    assert (found.lower, found.upper, found.proof) == (expected, expected, "alignment")
    assert made.bind(n=4, **parameters).privacy().exp_epsilon <= expected


@mechanism
def by_position(x, lam):
    """Only the record in the middle is published, through randomized response."""
    return x[len(x) // 2] ^ flip(lam)


@mechanism
def by_index(x, lam):
    """Later records have less noise."""
    sent = []
    for i, v in enumerate(x):
        sent.append(v ^ flip(lam / (i + 1)))
    return tuple(sent)


@mechanism
def by_length(x, n):
    """Less noise where there are more records."""
    return tuple(v ^ flip(Fraction(1, n + 2)) for v in x)


@mechanism
def endless(x):
    """A sum that decides, and doubles."""
    total = 0
    for v in x:
        total += v
        if total > 3 and flip("1/2"):
            total = 2 * total - 1
    return total % 2 ^ flip("1/4")


@mechanism
def conditioned(x):
    """Runs on which too much is seen are thrown away."""
    observe(sum(flip("1/2") for v in x) > 0)
    return 0


@mechanism
def twice(x):
    """A second pass adds up a sum that the first one found."""
    total = sum(v ^ flip("1/3") for v in x)
    return sum(total for _ in x)


@pytest.mark.parametrize(
    ("made", "parameters", "what"),
    [
        (by_position, {"lam": "1/3"}, "picked by its position"),
        (by_index, {"lam": "1/3"}, "the index of a record decides"),
        (by_length, {}, "n decides"),
        (endless, {}, "the values that total may have do not end"),
        (conditioned, {}, "observe"),
        (twice, {}, "again"),
    ],
)
def test_refusals_name_the_place(made: Any, parameters: dict[str, Any], what: str) -> None:
    with pytest.raises(LanguageError, match=what) as caught:
        made.bind(n=ALL, **parameters).privacy()
    assert caught.value.span is not None
    assert caught.value.hint


@mechanism(record=Int(0, 2))
def published_index(x):
    """An index that is only published."""
    for i, v in enumerate(x):
        if flip(Fraction(v + 1, 5)):
            return i
    return len(x)


@mechanism
def drawn_index(x, lam):
    """A record at a position that is drawn, through randomized response."""
    at = randint(0, len(x) - 1)
    return x[at] ^ flip(lam)


def test_positions_that_are_only_published() -> None:
    found = published_index.bind(n=ALL).privacy()
    assert (found.lower, found.upper) == (3, 3)
    assert drawn_index.bind(n=ALL, lam="1/4").privacy().lower == 3


def test_other_questions_are_refused() -> None:
    made = remembers_or.bind(n=ALL, lam="1/4", wrong="1/10")
    for ask in (
        lambda: made.privacy_loss(),
        lambda: made.accuracy(1),
        lambda: made.verify(alpha=1, beta="1/2"),
        lambda: made.show(),
    ):
        with pytest.raises(QueryError, match="every n"):
            ask()


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    place = str(PROGRAMS / "xor_randomized_response.py")
    assert main(["privacy", place, "n=all", "lam=1/5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["parameters"] == {"n": "all", "lam": "1/5"}
    shown = answer["result"]
    assert {key: shown[key] for key in ("exp_epsilon", "lower", "upper", "n", "attained", "proof")} == {
        "exp_epsilon": "4",
        "lower": "4",
        "upper": "4",
        "n": 1,
        "attained": True,
        "proof": "simulation",
    }
    assert main(["verify", place, "n=all", "lam=1/5", "--exp-epsilon", "4"]) == 0
    assert main(["verify", place, "n=all", "lam=1/5", "--exp-epsilon", "3", "--json"]) == 1
    assert '"n": 1' in capsys.readouterr().out


def test_a_parameter_may_be_changed_by_the_loop() -> None:
    @mechanism
    def fading(x, level):
        """The noise of the first record differs from that of the others."""
        sent = []
        for v in x:
            sent.append(v ^ flip(Fraction(1, level)))
            level = 3
        return sent[0] if choice([True, False]) else tuple(sent)

    assert fading.bind(n=ALL, level=5).privacy().upper == 4


def test_a_claim_that_fails_at_one_n_is_refuted_though_nothing_is_proved_for_every_n() -> None:
    @mechanism(record=Bit)
    def late(x: Any) -> Any:
        noisy = [v ^ flip("1/3") for v in x]
        place = 0
        for at in range(len(noisy)):
            if noisy[at]:
                place = at
        return place

    found = late.bind(n="all").verify(exp_epsilon="3/2")
    assert found.holds is False
    assert late.bind(n=found.found.n).privacy().exp_epsilon == found.found.lower > Fraction(3, 2)  # type: ignore[union-attr]
    with pytest.raises(LanguageError):
        late.bind(n="all").verify(exp_epsilon=1000)
