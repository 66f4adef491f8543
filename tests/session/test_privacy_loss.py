"""Privacy losses of mechanisms: against all runs listed from the interpreter, real samples, and other accountants."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest

from answered import LEAK, RESPONSE, TOTAL, alone, one_flip
from command_line import run
from conftest import FULL
from generators.comparison import TooSlow, imported, time_limit
from generators.mechanisms import draw_mechanism
from parametrised import rounded, with_parameter
from symmetry_oracle import meaning
from tightdp import (
    Bit,
    Instance,
    Int,
    LimitError,
    ParameterError,
    QueryError,
    TightdpError,
    Values,
    choice,
    exp,
    flip,
    geometric,
    mechanism,
)
from tightdp.exact.field import Number
from tightdp.exact.field import exp as number
from tightdp.language.neighbours import relation_of
from work import counted

THRESHOLDS = (F(1), F(6, 5), F(2), F(5), F(30))


def present(x):  # type: ignore[no-untyped-def]
    return sum(b for b in x if b is not None)


@mechanism(record=Bit)
def flipped(x, lam):  # type: ignore[no-untyped-def]
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Int(0, 2), neighbours="add-remove")
def noisy_sum(x, ratio):  # type: ignore[no-untyped-def]
    return geometric(present(x), ratio, 0, 4)


@mechanism(record=Int(0, 2), neighbours="add-remove")
def noisy_sum_of_sample(x, ratio, rate):  # type: ignore[no-untyped-def]
    taken = [b if flip(rate) else None for b in x]
    return geometric(present(taken), ratio, 0, 4)


@mechanism(record=Bit, neighbours="add-remove")
def noisy_histogram(x, ratio):  # type: ignore[no-untyped-def]
    return tuple(geometric(x.count(b), ratio, 0, 2) for b in (0, 1))


@mechanism(record=Bit, neighbours="add-remove")
def noisy_histogram_of_sample(x, ratio, rate):  # type: ignore[no-untyped-def]
    taken = [b if flip(rate) else None for b in x]
    return tuple(geometric(taken.count(b), ratio, 0, 2) for b in (0, 1))


@mechanism(record=Bit, neighbours="add-remove")
def one_sided(x):  # type: ignore[no-untyped-def]
    return any(b == 1 for b in x) and flip("1/2")


def real_deltas(instance: Instance, runs: int, t: Number, direction: str = "") -> Iterator[Number]:
    """δ(t) of so many runs for every pair of neighbours, by listing all outputs of all runs."""
    bound = instance.bound
    laws = {x: meaning(bound, x) or {} for x in product(bound.record.values, repeat=bound.n)}
    for x, ours in laws.items():
        for x_prime in relation_of(bound).neighbours(x):
            if direction and (x.count(None) < x_prime.count(None)) != (direction == "remove"):
                continue
            theirs = laws[x_prime]
            total: Number = F(0)
            for outputs in product(ours, repeat=runs):
                p, q = (math.prod((law.get(y, F(0)) for y in outputs), start=F(1)) for law in (ours, theirs))
                total += max(F(0), p - t * q)
            yield total


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(40))
def test_every_composition_of_neighbours_lies_below(seed: int) -> None:
    drawn = draw_mechanism(seed)
    with imported(drawn.source) as module:
        for neighbours in ("replace-one", "add-remove"):
            try:
                instance = module.f.bind(n=min(drawn.n, 2), neighbours=neighbours)
                instance.privacy()
            except TightdpError:
                continue  # None is no record of this mechanism, or a run of it fails
            law = meaning(instance.bound, (instance.bound.record.values[-1],) * instance.n)
            if law is not None and len(law) <= 12:
                compare(instance)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "instance",
    [RESPONSE, LEAK, TOTAL, noisy_sum.bind(n=2, ratio="1/2"), one_sided.bind(n=2), alone.bind(n=1)],
    ids=lambda instance: instance.subject.mechanism,
)
def test_known_mechanisms(instance: Instance) -> None:
    compare(instance if instance.n <= 2 else Instance(instance.bound.program.bind(3, lam=F(1, 5))))


def compare(instance: Instance) -> None:
    """One run is as the instance says; of two runs no pair of neighbours lies above, and some pair not below."""
    once = instance.privacy_loss()
    for t in THRESHOLDS:
        assert once.delta(exp_epsilon=t).delta == instance.delta(exp_epsilon=t).delta
        twice = once.compose(2).delta(exp_epsilon=t)
        listed = max(real_deltas(instance, 2, t), default=F(0))
        assert twice.lower <= listed <= twice.delta
        assert twice.status == ("exact" if twice.lower == twice.delta else "bounded")
    assert once.epsilon().exp_epsilon == instance.privacy().exp_epsilon
    assert once.curve().points == instance.curve().points


def test_directions_are_kept_apart() -> None:
    """Where only a 1 can be seen, and half of the time, one direction has infinite losses and the other one has not."""
    loss = one_sided.bind(n=2).privacy_loss()
    remove, add = loss.losses.directions
    assert remove.dominating[0][0].outcomes == ((F(1, 2), 0), (F(1, 2), 1))
    assert add.dominating[0][0].outcomes == ((1, F(1, 2)), (0, F(1, 2)))
    for runs, t in product((1, 2), THRESHOLDS):
        instance = one_sided.bind(n=2)
        for direction in (remove, add):
            _, upper = type(loss.losses)((direction,)).repeated(runs).delta(t)
            assert upper == max(real_deltas(instance, runs, t, direction.name))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rate", [F(1, 10), F(1, 2), F(1)])
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(
    ("program", "of_sample"), [(noisy_sum, noisy_sum_of_sample), (noisy_histogram, noisy_histogram_of_sample)]
)
def test_poisson_samples(program: Any, of_sample: Any, rate: F, n: int) -> None:
    """A program that draws the sample itself has the same curve: the worst case is the empty dataset and one record.

    The neighbours that stand for all of a histogram need not be these two.
    """
    loss = program.bind(n=n, ratio="1/2").privacy_loss().subsample(rate)
    sampled = of_sample.bind(n=n, ratio="1/2", rate=rate)
    for t in THRESHOLDS:
        found = loss.delta(exp_epsilon=t)
        assert found.lower <= sampled.delta(exp_epsilon=t).delta <= found.delta
        assert found.status == "bounded" or found.delta == sampled.delta(exp_epsilon=t).delta
    assert loss.status == "exact"


# Randomized response with e^ε0 = r is a sum of signs: the exact curve is a binomial sum.


def response_delta(ratio: int, runs: int, t: F) -> F:
    total = F(0)
    for same in range(runs + 1):
        p, q = F(ratio**same), F(ratio ** (runs - same))
        total += math.comb(runs, same) * max(F(0), p - t * q)
    return total / (1 + ratio) ** runs


@pytest.mark.parametrize(
    ("ratio", "runs", "t"),
    [
        (2, 100, F(2**98)),  # dp_accounting, optimistic: 1e-15 and more; pessimistic: 1e-15
        (2, 100, F(2**90)),
        (2, 1000, F(2**80)),  # dp_accounting, pessimistic: below the true value by 1.8e-14
        (4, 1000, F(4**24)),
        (99, 100, F(99**71)),
        (2, 1000, F(3)),
    ],
)
def test_what_floating_point_gets_wrong(ratio: int, runs: int, t: F) -> None:
    loss = flipped.bind(n=1, lam=F(1, 1 + ratio)).privacy_loss().compose(runs)
    found = loss.delta(exp_epsilon=t)
    assert found.status == "exact"
    assert found.delta == response_delta(ratio, runs, t)


def test_the_tail_below_every_float_grid() -> None:
    """At ε = 98 ln 2 one outcome of 2^100 is left: δ = 3·2^98 / 3^100."""
    loss = flipped.bind(n=1, lam="1/3").privacy_loss().compose(100)
    assert loss.delta(exp_epsilon=2**98).delta == F(3 * 2**98, 3**100)
    assert float(loss.delta(exp_epsilon=2**98)) == pytest.approx(1.84474e-18, rel=1e-5)


def test_a_thousand_runs_take_little_work() -> None:
    loss = flipped.bind(n=3, lam="1/3").privacy_loss()
    with counted() as work:
        found = loss.compose(1000).epsilon(delta="1e-6")
    assert work.calls < 300_000
    assert loss.compose(1000).delta(exp_epsilon=found.exp_epsilon).delta == F(1, 10**6)


def test_two_mechanisms() -> None:
    one, other = (flipped.bind(n=1, lam=lam).privacy_loss() for lam in ("1/3", "1/5"))
    both = one.compose(other)
    assert both.epsilon().exp_epsilon == 8
    assert both.subject.mechanism == "flipped(n=1, lam=1/3), then flipped(n=1, lam=1/5)"
    assert one.compose(one).delta(exp_epsilon=2).delta == one.compose(2).delta(exp_epsilon=2).delta
    assert one.compose(2).compose(3).delta(exp_epsilon=9).delta == one.compose(6).delta(exp_epsilon=9).delta


@pytest.mark.slow(seconds=4)
def test_too_many_ratios_are_enclosed() -> None:
    loss = TOTAL.privacy_loss().compose(40)
    at, inverse = loss.delta(exp_epsilon=1000), loss.epsilon(delta="1e-5")
    assert at.status == inverse.status == "bounded"
    assert 0 < at.lower < at.delta < 1
    assert loss.delta(exp_epsilon=inverse.exp_epsilon).lower <= F(1, 10**5)
    points = loss.curve().points
    assert len(points) <= 600
    assert all(loss.losses.delta(t)[1] <= delta for t, delta in points[::50])


def test_mistakes_are_told() -> None:
    loss = RESPONSE.privacy_loss()
    with pytest.raises(QueryError, match="presence of one record"):
        loss.subsample("1/2")
    with pytest.raises(QueryError, match="different neighbour relations"):
        loss.compose(noisy_sum.bind(n=1, ratio="1/2").privacy_loss())
    with pytest.raises(ParameterError, match="number of runs"):
        loss.compose(0)
    with pytest.raises(ParameterError, match="compose was given nothing"):
        loss.compose()
    with pytest.raises(ParameterError, match="sampling rate"):
        noisy_sum.bind(n=1, ratio="1/2").privacy_loss().subsample(0)


def test_losses_are_values() -> None:
    loss = RESPONSE.privacy_loss().compose(3)
    assert pickle.loads(pickle.dumps(loss)) == loss == RESPONSE.privacy_loss().compose(3)
    record = loss.to_dict()
    assert json.loads(json.dumps(record)) == record
    assert record["runs"] == "3 runs"
    assert record["result"]["directions"] == [
        {
            "name": "replace-one",
            "dominating": [{"runs": 3, "outcomes": [["4/5", "1/5"], ["1/5", "4/5"]]}],
            "attained": True,
        }
    ]
    assert "3 runs of response(n=2, lam=1/5)" in str(loss)
    timed = flipped.program.bind(2, lam=F(1, 5))
    assert Instance(timed, timeout=60).privacy_loss().delta(exp_epsilon=2).delta == F(2, 5)


def test_where_not_all_pairs_are_compared() -> None:
    """Neighbours given by a function have a direction: that in which they are given."""
    loss = Instance(LEAK.bound.program.bind(1, p=F(1, 3), neighbours=one_flip)).privacy_loss().compose(2)
    assert loss.delta(exp_epsilon=5).delta == F(5, 9)


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    of = ("privacy", "randomized_response", "n=4", "lam=1/3", "--runs", "100")
    status, printed, _ = run(capsys, *of, "--exp-epsilon", str(2**98), "--json")
    assert status == 0
    assert json.loads(printed)["result"]["delta"] == str(F(3 * 2**98, 3**100))
    status, printed, _ = run(capsys, *of, "--json")
    assert json.loads(printed)["result"]["exp_epsilon"] == str(2**100)
    assert json.loads(printed)["runs"] == "100 runs"
    assert "100 runs of randomized_response" in run(capsys, *of, "--delta", "1e-6")[1]
    assert len(json.loads(run(capsys, *of, "--curve", "--json")[1])["result"]["points"]) == 51
    assert run(capsys, *of, "--epsilon", "3")[0] == 0
    for words in (("--renyi", "2"), ("--tradeoff",), ("--top", "2")):
        status, _, complaint = run(capsys, *of, *words)
        assert status == 2
        assert "--runs goes with" in complaint
    assert run(capsys, *of[:-1], "0")[0] == 2


@pytest.mark.extra("dp-accounting")
@pytest.mark.parametrize("pessimistic", [True, False])
def test_dp_accounting(pessimistic: bool) -> None:
    loss = noisy_sum.bind(n=1, ratio="1/2").privacy_loss().subsample("1/4").compose(5)
    theirs = loss.to_dp_accounting(interval=1e-3, pessimistic=pessimistic)
    for epsilon in (F(0), F(1, 2), F(2), F(4)):
        found = loss.delta(epsilon=epsilon)
        near = theirs.get_delta_for_epsilon(float(epsilon))
        slack = 1e-14  # they add floats
        assert near >= float(found.lower) - slack if pessimistic else near <= float(found.delta) + slack
        assert near == pytest.approx(float(found.delta), abs=5e-3)


@mechanism(record=Int(0, 2))
def winner(x, eps):  # type: ignore[no-untyped-def]
    return choice(range(3), weights=[exp(eps * sum(r == k for r in x) / 2) for k in range(3)])


WITH_E = [
    flipped.bind(n=1, lam="1/(1 + exp(1))"),
    noisy_sum.bind(n=2, ratio="exp(-1/2)"),
    winner.bind(n=2, eps="2/3"),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("instance", WITH_E, ids=lambda instance: instance.subject.mechanism)
def test_numbers_with_e(instance: Instance) -> None:
    compare(instance)
    once = instance.privacy_loss()
    for epsilon in (F(1, 3), F(1)):
        assert once.delta(epsilon=epsilon).delta == instance.delta(epsilon=epsilon).delta
        found = once.compose(2).delta(epsilon=epsilon)
        listed = max(real_deltas(instance, 2, number(epsilon)), default=F(0))
        assert found.lower <= listed <= found.delta


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(200 if FULL else 20))
def test_drawn_mechanisms_with_e(seed: int) -> None:
    drawn = draw_mechanism(seed)
    with imported(with_parameter(drawn.source, seed)) as module:
        try:
            with time_limit(20):
                instance = module.f.bind(n=min(drawn.n, 2), q="exp(-1/2)")
                instance.privacy()
                law = meaning(instance.bound, (instance.bound.record.values[-1],) * instance.n)
                if law is not None and len(law) <= 6:
                    compare(instance)
        except (TightdpError, TooSlow):
            return


def test_many_runs_with_e() -> None:
    """The lattice of powers of e^(1/2): exact, and the same as with a rational that agrees to sixty digits."""
    ours = flipped.bind(n=1, lam="1/(1 + exp(1/2))").privacy_loss().compose(100)
    near = rounded(F(1, 2))
    theirs = flipped.bind(n=1, lam=1 / (1 + near)).privacy_loss().compose(100)
    for t in (F(1), F(20), F(10**6)):
        found = ours.delta(exp_epsilon=t)
        assert found.status == "exact"
        assert float(found.delta) == pytest.approx(float(theirs.delta(exp_epsilon=t).delta), rel=1e-14)
    least = ours.epsilon(delta="1/1000000")
    assert least.status == "exact"
    assert float(least) == pytest.approx(float(theirs.epsilon(delta="1/1000000")), rel=1e-14)
    assert ours.epsilon(delta="exp(-20)").exp_epsilon > ours.epsilon(delta="exp(-10)").exp_epsilon
    assert ours.epsilon().exp_epsilon == number(50)


def test_losses_without_a_small_lattice_are_enclosed() -> None:
    found = winner.bind(n=4, eps=1).privacy_loss().compose(50)
    ends = found.delta(epsilon=10)
    assert ends.status == "bounded"
    assert 0 < ends.lower < ends.delta < 1
    with pytest.raises(QueryError, match="presence of one record"):
        found.subsample("1/2")
    sampled = noisy_sum.bind(n=2, ratio="exp(-1/2)").privacy_loss().subsample("1/4").compose(3)
    assert sampled.delta(epsilon=1).status == "exact"


@mechanism(record=Values(0))
def no_neighbours(x: Any) -> Any:
    return flip("1/3")


def test_without_neighbours_every_delta_is_0() -> None:
    instance = no_neighbours.bind(n=1)
    losses = instance.privacy_loss()
    for t in (F(1, 2), F(1), F(2)):
        assert losses.delta(exp_epsilon=t).delta == instance.delta(exp_epsilon=t).delta == 0
    assert losses.curve().points == ((1, 0),)
    assert losses.epsilon(delta=0).exp_epsilon == 1


@mechanism(record=Bit)
def half_told(x: Any) -> Any:
    return tuple(v and flip("1/3") for v in x)


def test_a_forced_chain_that_compares_few_pairs_says_what_helps() -> None:
    with pytest.raises(LimitError) as raised:
        half_told.bind(n=12, method="chain").privacy_loss()
    assert "leave the method out" in raised.value.hint
