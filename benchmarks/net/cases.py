"""The rows of the table: which mechanism is asked what, with how many records."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import expectations

from .sources import ROOT, corpus, module

Row = dict[str, Any]
Asked = tuple[str, Row]

WITH_TARGET: tuple[Asked, ...] = (
    ("accuracy", {"alpha": 0}),
    ("accuracy", {"alpha": 1}),
    ("accuracy", {"alpha": "3/2"}),
    ("accuracy", {"beta": "1/10"}),
    ("accuracy", {"beta": 0}),
    ("utility", {}),
    ("verify", {"alpha": 1, "beta": "1/4"}),
)
ALL: tuple[Asked, ...] = (
    ("privacy", {}),
    ("delta", {"exp_epsilon": 2}),
    ("distribution", {"x": -1}),
    ("privacy", {"delta": "1/10"}),
    ("curve", {}),
    ("delta", {"exp_epsilon": "9/8"}),
    ("likelihood", {"x": 0, "x_prime": -1}),
    ("verify", {"exp_epsilon": 3}),
    ("tradeoff", {}),
    ("renyi", {"order": 2}),
    ("privacy", {"top": 3}),
    ("failure", {}),
    ("efficacy", {}),
    ("probability", {"x": -1, "seed": 1}),
    ("delta", {"epsilon": 1}),
    ("renyi", {"order": "3/2"}),
    ("zcdp", {}),
    ("privacy_loss", {"runs": 8, "delta": "1/1000"}),
    ("privacy_loss", {"runs": 3, "exp_epsilon": 2}),
    ("guessing", {}),
    ("guessing", {"guesser": "2/3"}),
    ("adaptive_guessing", {"threshold": "2/3"}),
    ("efficacy", {"adaptive": True}),
    ("classic_guessing", {"runs": 2}),
    ("delta", {"exp_epsilon": "1/2"}),
    ("privacy", {"delta": "1/1000"}),
    ("verify", {"epsilon": 1, "delta": "1/10"}),
    ("certify", {}),
    ("explain", {}),
    ("privacy_loss", {"runs": 2, "rate": "1/2", "exp_epsilon": "3/2"}),
)
FEW = ALL[:6]
"""What is asked at other sizes, and of other parameters."""


def every_row() -> Iterator[Row]:
    """All rows, in the order of the table."""
    yield from of_programs()
    yield from of_the_gallery()
    yield from of_mechanisms()
    yield from of_the_corpus()
    yield from of_special_numbers()


def row(source: str, mechanism: str, bind: Row, question: str, arguments: Row) -> Row:
    """One row."""
    return {"source": source, "mechanism": mechanism, "bind": bind, "question": question, "arguments": arguments}


def key(one: Row) -> str:
    """What tells one row from all others."""
    named = {name: one[name] for name in ("source", "mechanism", "bind", "question", "arguments")}
    return json.dumps(named, sort_keys=True)


def has_target(source: str, mechanism: str) -> bool:
    """Whether accuracy may be asked."""
    return getattr(module(source), mechanism).program.target is not None


def questions(source: str, mechanism: str, bind: Row, asked: tuple[Asked, ...]) -> Iterator[Row]:
    """A row for every question; those about a target where there is one."""
    more = WITH_TARGET[: max(1, len(asked) - 9)] if has_target(source, mechanism) else ()
    for question, arguments in (*asked, *more):
        yield row(source, mechanism, bind, question, arguments)


def some(source: str, mechanism: str, bind: Row, asked: tuple[Asked, ...]) -> Iterator[Row]:
    """A row for each of these questions."""
    return (row(source, mechanism, bind, question, arguments) for question, arguments in asked)


class Turns:
    """Some questions of all by turns, so that many mechanisms are asked few each."""

    def __init__(self, questions: tuple[Asked, ...]) -> None:
        self._all = {True: itertools.cycle((*questions, *WITH_TARGET)), False: itertools.cycle(questions)}

    def take(self, source: str, mechanism: str, count: int) -> tuple[Asked, ...]:
        """The next ones that a mechanism can be asked."""
        return tuple(itertools.islice(self._all[has_target(source, mechanism)], count))


def of_programs() -> Iterator[Row]:
    """Everything about every program: all questions at one size, few at others."""
    for name in expectations.names():
        source = f"programs/{name}.py"
        for mechanism in expectations.mechanisms(name):
            bound = _bindings(name, mechanism)
            largest = max(bound, key=lambda bind: (bind["n"], json.dumps(bind, sort_keys=True)))
            for bind in bound:
                yield from questions(source, mechanism, bind, ALL if bind is largest else FEW[:2])
            for n in (largest["n"] + 2, 2 * largest["n"] + 4):
                yield from questions(source, mechanism, {**largest, "n": n}, FEW[:3])
            for relation in ("add-remove", "unit-all"):
                yield from questions(source, mechanism, {**largest, "neighbours": relation}, FEW[:2])
            every = {**largest, "n": "all"}
            yield row(source, mechanism, every, "privacy", {})
            yield row(source, mechanism, every, "verify", {"exp_epsilon": 5})


def _bindings(name: str, mechanism: str) -> list[Row]:
    found: dict[str, Row] = {}
    for other, expected in expectations.expectations():
        if (other, expected["mechanism"]) == (name, mechanism):
            bind = dict(expected["parameters"])
            if "neighbours" in expected and isinstance(expected["neighbours"], str):
                bind["neighbours"] = expected["neighbours"]
            found[json.dumps(bind, sort_keys=True)] = json.loads(json.dumps(bind))
    return list(found.values())


def of_the_gallery() -> Iterator[Row]:
    """The mechanisms with known faults, and mended."""
    for path in sorted((ROOT / "programs" / "gallery").glob("*.py")):
        source = f"programs/gallery/{path.name}"
        for mechanism in ("shipped", "mended"):
            yield from questions(source, mechanism, dict(module(source).PARAMETERS), FEW[:4])


def of_mechanisms() -> Iterator[Row]:
    """The mechanisms of the benchmarks with 3 and 7 records."""
    turns = Turns(ALL[3:27])
    for path in sorted((ROOT / "benchmarks" / "mechanisms").glob("*.py")):
        source = f"benchmarks/mechanisms/{path.name}"
        for mechanism, value in vars(module(source)).items():
            if hasattr(value, "bind"):
                rest: Row = {"k": 3, "lam": "1/5"} if mechanism == "integer_sum" else {}
                yield from some(source, mechanism, {"n": 3, **rest}, (*FEW[:2], *turns.take(source, mechanism, 5)))
                yield from some(source, mechanism, {"n": 7, **rest}, FEW[:2])
                yield from some(source, mechanism, {"n": 24, **rest}, FEW[:1])
                yield row(source, mechanism, {"n": "all", **rest}, "privacy", {})


def of_the_corpus() -> Iterator[Row]:
    """Drawn programs: by turns all the questions."""
    turns = Turns(ALL[1:27])
    for name, entry in corpus().items():
        mechanism, bind = entry["mechanism"], {"n": entry["n"], **entry["bind"]}
        if entry["n"] == "all":
            yield row(name, mechanism, bind, "privacy", {})
            yield from some(name, mechanism, {"n": 2}, FEW[:2])
        elif "questions" in entry:
            yield from some(name, mechanism, bind, tuple((asked, arguments) for asked, arguments in entry["questions"]))
        else:
            yield from some(name, mechanism, bind, (FEW[0], *turns.take(name, mechanism, 3)))


def of_special_numbers() -> Iterator[Row]:
    """Unknown parameters, numbers with e^q, many records with and without a precision."""
    response, count = "programs/randomized_response.py", "programs/randomized_response_count.py"
    shuffled, noisy = "programs/shuffled_randomized_response.py", "programs/geometric_count.py"
    unknowns: tuple[tuple[str, str, Row], ...] = (
        (response, "randomized_response", {"n": 2, "lam": "?"}),
        (response, "randomized_response", {"n": 2, "lam": "1/(1+exp(?))"}),
        (count, "randomized_response_count", {"n": 3, "lam": "?"}),
        (noisy, "geometric_count", {"n": 3, "ratio": "?"}),
        (shuffled, "shuffled_randomized_response", {"n": 3, "lam": "?"}),
        ("programs/xor_randomized_response.py", "xor_randomized_response", {"n": 3, "lam": "?"}),
        ("programs/k_ary_randomized_response.py", "k_ary_randomized_response", {"n": 2, "k": 3, "exp_epsilon": "?"}),
        ("programs/exponential_mechanism.py", "exponential_mechanism", {"n": 2, "candidates": 3, "base": "?"}),
        ("programs/name_and_shame.py", "name_and_shame", {"n": 2}),
    )
    for source, mechanism, bind in unknowns:
        yield from questions(source, mechanism, bind, (*FEW[:4], ("efficacy", {}), ("guessing", {})))
        yield row(source, mechanism, bind, "solve", {"exp_epsilon": 3})
        yield row(source, mechanism, bind, "solve", {"exp_epsilon": 2, "delta": "1/10"})
    powers: tuple[tuple[str, str, Row], ...] = (
        (response, "randomized_response", {"n": 3, "lam": "1/(1+exp(1))"}),
        (count, "randomized_response_count", {"n": 4, "lam": "1/(1+exp(1/2))"}),
        (noisy, "geometric_count", {"n": 3, "ratio": "exp(-1)"}),
        ("programs/exponential_mechanism.py", "exponential_mechanism", {"n": 3, "candidates": 3, "base": "exp(1/2)"}),
    )
    for source, mechanism, bind in powers:
        yield from questions(source, mechanism, bind, ALL)
    yield from _of_many_records(response, count, shuffled, noisy)
    yield from _of_batches()


def _of_many_records(response: str, count: str, shuffled: str, noisy: str) -> Iterator[Row]:
    asked = (*FEW[:2], ("privacy", {"delta": "1/1000000"}), ("probability", {"x": -1, "seed": 1}))
    for n in (50, 300, 1000):
        yield from questions(response, "randomized_response", {"n": n, "lam": "1/5"}, asked)
        yield from questions(count, "randomized_response_count", {"n": n, "lam": "1/5"}, asked)
        yield from questions(shuffled, "shuffled_randomized_response", {"n": n, "lam": n // 3}, asked)
        yield from questions(noisy, "geometric_count", {"n": n, "ratio": "1/2"}, asked)
    for n, precision in ((300, "1/1000"), (10_000, "1/1000000000"), (100_000, "1/1000000")):
        rest = {"n": n, "precision": precision}
        yield from questions(count, "randomized_response_count", {"lam": "1/5", **rest}, asked[:3])
        yield from questions(shuffled, "shuffled_randomized_response", {"lam": n // 3, **rest}, asked[:3])
    summed = "benchmarks/mechanisms/integer_sum.py"
    yield from questions(summed, "integer_sum", {"n": 1000, "k": 3, "lam": "1/5", "precision": "1/1000000"}, asked[:3])


def _of_batches() -> Iterator[Row]:
    """Gaussian noise."""
    for mechanism in ("poisson_batches", "shuffled_batches", "bins_batches"):
        for batches in (1, 2):
            bind = {"n": 2, "batches": batches, "sigma_squared": 2}
            yield from questions(
                "programs/batches.py", mechanism, bind, (*ALL[:5], ALL[6], ALL[9], ALL[12], ALL[17], ALL[18])
            )
