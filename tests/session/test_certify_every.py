"""Certificates for every number of clients: what is accepted is true for each small number of them."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certificate_changes import changed_every
from certificate_oracle import Impossible, is_true, number
from conftest import FULL
from expectations import mechanisms
from small_mechanisms import remembers_or
from tightdp import ALL, Bit, choice, flip, mechanism
from tightdp.errors import QueryError
from tightdp.exact.field import exp
from tightdp.session.against import compare
from tightdp.session.certify import load_checker
from tightdp.session.mechanism import Mechanism

checker = load_checker()
EXAMPLE = Path(__file__).parents[2] / "proofs" / "certificates" / "xor_randomized_response_every_n.json"
NOISE = {"ratio_threshold": "1/2", "ratio_query": "1/2"}


@mechanism
def noisy_or(x: Any, lam: Any) -> Any:
    """Whether there is a one, said wrongly now and then."""
    return int(any(x)) ^ flip(lam)


PROGRAMS: list[tuple[str, dict[str, Any]]] = [
    ("xor_randomized_response", {"lam": "1/5"}),
    ("randomized_response", {"lam": "1/5"}),
    ("randomized_response_count", {"lam": "1/4"}),
    ("k_ary_randomized_response", {"k": 3, "exp_epsilon": 3}),
    ("above_threshold", {"k": 1, "threshold": 1, **NOISE}),
]


@mechanism
def remainder(x: Any, p: Any) -> Any:
    """The sum modulo three, said wrongly now and then."""
    s = 0
    for bit in x:
        s = (s + bit) % 3
    return (s + choice([0, 1, 2], weights=[1, p, p])) % 3


@mechanism
def machine(x: Any, step: Any, told: Any, p: Any, q: Any) -> Any:
    """A state that goes from one to the next, tells nothing, or something with noise, or is forgotten now and then."""
    s = 0
    out = []
    for bit in x:
        s = step[s][bit]
        if told[s] == 2:
            s = s if flip(q) else 0
        else:
            out.append(told[s] ^ flip(p))
    return tuple(out), (s > 0) ^ flip(p)


POWERS: list[tuple[Mechanism, dict[str, Any], str]] = [
    (mechanisms("xor_randomized_response")["xor_randomized_response"], {"lam": "1/(1+exp(1))"}, "exp(1)"),
    (mechanisms("xor_randomized_response")["xor_randomized_response"], {"lam": "?[0, 1/2]"}, "(1-lam)/lam"),
    (mechanisms("randomized_response_count")["randomized_response_count"], {"lam": "?[0, 1/2]"}, "(1-lam)/lam"),
    (mechanisms("randomized_response")["randomized_response"], {"lam": "?[1/10, 1/3]"}, "(1-lam)/lam"),
    (remainder, {"p": "exp(-1/2)"}, "exp(1/2)"),
    (remainder, {"p": "?[0, 1]"}, "1/p"),
]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("program", "parameters", "ratio"), POWERS)
def test_forms_that_lead_to_themselves_are_certified(program: Any, parameters: dict[str, Any], ratio: str) -> None:
    """Where odds have powers of e, or the unknown, in them."""
    made = dict(program.bind(n=ALL, **parameters).certify().content)
    (name,) = parameters
    bound = made["claim"]["bound"]
    for t in (Fraction(1), Fraction(1, 7), Fraction(9)) if "unknown" in made["claim"] else ():
        low, high = map(Fraction, made["claim"]["unknown"][1:])
        value = (low + high * t) / (1 + t)
        assert number(bound, t) == ((1 - value) / value if ratio == "(1-lam)/lam" else 1 / value)
    if "root" in made["claim"]:
        assert bound == [0, 1]
        assert ratio == ("exp(1)" if name == "lam" else "exp(1/2)")
        assert is_true(unrolled(dict(program.bind(n=ALL, **parameters).certify(runs=2, exp_epsilon=5).content), 2))
    assert all(is_true(unrolled(made, n)) for n in (1, 2, 3))


@pytest.mark.slow(seconds=2)
def test_a_number_is_enough_for_all_values_of_an_unknown_and_every_n() -> None:
    xor = POWERS[1][0]
    made = dict(xor.bind(n=ALL, lam="?[1/10, 1/2]").certify(exp_epsilon=9).content)
    assert (made["claim"]["n"], made["claim"]["bound"]) == ("all", 9)
    assert all(is_true(unrolled(made, n)) for n in (1, 2))
    for claim in ({"exp_epsilon": 8}, {"epsilon": 9}, {"delta": "1/10"}, {"alpha": 1, "beta": "1/2"}):
        with pytest.raises(QueryError, match=r"no rule of evidence|says which e"):
            xor.bind(n=ALL, lam="?[1/10, 1/2]").certify(**claim)
    with pytest.raises(QueryError, match="no e\\^ε is known to be enough"):
        mechanisms("all_or_nothing")["all_or_nothing"].bind(n=ALL, p="?[1/10, 1/2]").certify()


@pytest.mark.slow(seconds=20)
def test_drawn_programs_for_every_n() -> None:
    random_, found = random.Random(5), 0
    for _ in range(60 if FULL else 16):
        many = random_.choice([2, 3])
        step = tuple((random_.randrange(many), random_.randrange(many)) for _ in range(many))
        told = tuple(random_.choice([0, 1, 1, 2]) for _ in range(many))
        p = random_.choice(["1/(1+exp(1))", "?[1/10, 1/3]", "1/(1+exp(1/2))"])
        try:
            made = dict(machine.bind(n=ALL, step=step, told=told, p=p, q="1/2").certify().content)
        except QueryError:
            continue
        found += 1
        assert all(is_true(unrolled(made, n)) for n in (1, 2, 3)), (step, told, p)
        assert "no output of machine tells more" in compare(json.loads(json.dumps(made)), machine.program)
    assert found > 3


def unrolled(given: dict[str, Any], n: int) -> dict[str, Any]:
    """The same claim for n clients, each with a part of its own."""
    order = [[part, client] for part, of in given["program"]["order"] for client in (range(n) if of == "all" else [of])]
    program = {**given["program"], "order": order}
    return {**given, "claim": {**given["claim"], "question": "privacy", "n": n}, "program": program}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("program", "parameters"), [(remembers_or, {"lam": "1/4", "wrong": "1/10"}), (noisy_or, {"lam": "1/5"})]
)
def test_windows_are_certified(program: Mechanism, parameters: dict[str, Any]) -> None:
    instance = program.bind(n=ALL, **parameters)
    found, answer = instance.certify(), instance.privacy()
    assert answer.lower <= Fraction(found.content["claim"]["bound"]) <= answer.upper * Fraction(101, 100)
    for n in (1, 2, 3):
        assert is_true(unrolled(dict(found.content), n))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "parameters"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_every_number_of_clients_is_certified(name: str, parameters: dict[str, Any]) -> None:
    instance = mechanisms(name)[name].bind(n=ALL, **parameters)
    found = instance.certify()
    claim = found.content["claim"]
    assert (claim["question"], claim["n"]) == ("privacy of messages", "all")
    assert Fraction(claim["bound"]) == instance.privacy().upper
    for n in (1, 2, 3):
        assert is_true(unrolled(dict(found.content), n))


def test_what_no_forms_prove_is_not_certified() -> None:
    instance = mechanisms("all_or_nothing")["all_or_nothing"].bind(n=ALL, p="1/10")
    for claim in ({}, {"epsilon": 1, "delta": "1/10"}, {"epsilon": 1, "runs": 2}):
        with pytest.raises(QueryError, match=r"rule of evidence|nothing else"):
            instance.certify(**claim)
    assert is_true(dict(instance.certify(epsilon=1).content))


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "parameters"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_claims_for_every_n_are_certified_or_refuted(name: str, parameters: dict[str, Any]) -> None:
    instance = mechanisms(name)[name].bind(n=ALL, **parameters)
    tight = Fraction(instance.privacy().upper)
    for above in (tight + Fraction(1, 7), tight, exp(tight)):
        made = dict(instance.certify(exp_epsilon=above).content)
        claim = made["claim"]
        assert (claim["n"], Fraction(claim["bound"])) == ("all", above if isinstance(above, Fraction) else tight)
        assert all(is_true(unrolled(made, n)) for n in (1, 2))
    assert Fraction(instance.certify(epsilon=tight).content["claim"]["bound"]) == tight
    for claimed in ({"exp_epsilon": tight * Fraction(99, 100)}, {"epsilon": "1/2"}):
        found = instance.certify(**claimed).content
        assert found["claim"]["question"] == "violation"
        assert is_true(dict(found))


@mechanism(record=Bit)
def weighted(x: Any) -> Any:
    """A choice whose weights are powers of counts."""
    return choice((0, 1), weights=[2 ** sum(x), 2 ** (len(x) - sum(x))])


def test_a_proof_that_no_rule_expresses_is_named() -> None:
    instance = weighted.bind(n=ALL)
    for claim in ({}, {"exp_epsilon": 5}):
        with pytest.raises(QueryError, match="weights are powers of numbers"):
            instance.certify(**claim)
    assert instance.certify(exp_epsilon="3/2").content["claim"]["question"] == "violation"


def accepted(content: dict[str, Any]) -> bool:
    """Whether the checker accepts."""
    try:
        checker.check(content)
    except (checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
    return True


@pytest.mark.slow(seconds=5)
def test_changed_certificates_are_refused_or_true_for_few_clients() -> None:
    """A simulation, windows, independent clients, a noisy end, and what forms prove with T in the odds."""
    noisy = [remembers_or.bind(n=ALL, lam="1/4", wrong="1/10"), noisy_or.bind(n=ALL, lam="1/5")]
    others = [mechanisms(name)[name].bind(n=ALL, **parameters) for name, parameters in PROGRAMS[1:3]]
    bases = [json.loads(EXAMPLE.read_text(encoding="utf-8"))]
    others += [program.bind(n=ALL, **parameters) for program, parameters, _ in (POWERS[0], POWERS[3], POWERS[5])]
    bases += [dict(instance.certify().content) for instance in (*noisy, *others)]
    assert all(map(accepted, bases))
    random_, still = random.Random(3), 0
    for _ in range(1_400 if FULL else 150):
        new = changed_every(random_.choice(bases), random_)
        if not accepted(new):
            continue
        still += 1
        for n in (1, 2, 3):
            try:
                assert is_true(unrolled(new, n)), json.dumps(new)
            except Impossible:
                raise AssertionError(json.dumps(new)) from None
    assert still > 4
