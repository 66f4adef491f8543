"""Mechanisms and instances travel to other processes: by name, or by value where nothing else finds them."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from answered import RESPONSE, TOTAL, response
from command_line import environment
from tightdp import Instance, Mechanism, ParameterError, flip, mechanism
from tightdp.results.result import Result
from tightdp.session.files import builtin_programs


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def ask(instance: Instance) -> Result:
    return instance.privacy()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("limits", [{}, {"timeout": "10s", "precision": "1/1000"}, {"neighbours": "unit-all"}])
@pytest.mark.parametrize("values", [{"n": 2, "lam": "1/5"}, {"n": 2, "lam": "?"}])
def test_an_instance_is_the_same_afterwards(limits: dict[str, Any], values: dict[str, Any]) -> None:
    instance = response.bind(**values, **limits)
    ask(instance)  # what is compiled stays behind
    other = again(instance)
    assert (type(other), other.subject, other.limits) == (type(instance), instance.subject, instance.limits)
    assert ask(other) == ask(instance)
    assert len(pickle.dumps(instance)) < 2000


def test_an_instance_for_every_n_travels() -> None:
    instance = response.bind(n="all", lam="1/3")
    assert ask(again(instance)) == ask(instance)


def test_a_mechanism_of_a_module_is_itself() -> None:
    assert again(response) is response
    assert copy.deepcopy(response) is response
    assert again(RESPONSE).bound.program is response.program
    assert again(RESPONSE).sweep({"n": [1, 2]}) == RESPONSE.sweep({"n": [1, 2]})


def test_instances_go_to_process_pools() -> None:
    instances = [response.bind(n=n, lam="1/5") for n in (1, 2)]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(ask, instances)) == list(map(ask, instances))


SCRIPT = """
import pickle, sys
from tightdp import Bit, Int, flip, mechanism

FLIPPED = 0.25

def helper(b, lam):
    return 1 - b if flip(lam) else b

@mechanism(record=lambda top: Int(0, top), neighbours=lambda x: [(*x[:-1], 0)])
def first(x, top, lam=FLIPPED):
    return sum(helper(v % 2, lam) for v in x) >= 1

def made(lam):
    @mechanism(record=Bit)
    def inner(x, lam=lam):
        return helper(x[0], lam), first(x, 1)
    return inner

instances = [first.bind(n=2, top=2), made(0.2).bind(n=1)]
print(*(instance.privacy().exp_epsilon for instance in instances))
with open("sent", "wb") as file:
    pickle.dump(instances, file)
"""
RECEIVER = """
import pathlib, pickle, sys
print(*(instance.privacy().exp_epsilon for instance in pickle.loads(pathlib.Path("sent").read_bytes())))
assert "script" not in sys.modules
"""


@pytest.mark.slow(seconds=2)
@pytest.mark.extra("dask")
def test_what_no_module_has_travels_by_value(tmp_path: Path) -> None:
    """As from a notebook or script to a Dask worker, even where the file is gone."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    printed = []
    for words in (["script.py"], ["-c", RECEIVER]):
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
        (tmp_path / "script.py").unlink(missing_ok=True)
    assert printed[0] == printed[1] == "13/7 12\n"


def test_what_cannot_travel_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tightdp.language.travel.find_spec", lambda name: None)
    with pytest.raises(pickle.PicklingError, match="install cloudpickle"):
        pickle.dumps(made(0.25).bind(n=1))


@pytest.mark.parametrize("jobs", [2, None])
def test_a_sweep_on_several_processes(jobs: int | None) -> None:
    over = {"n": [1, 2, 3], "lam": ["1/5", "1/3"]}
    assert TOTAL.sweep(over, jobs=jobs) == TOTAL.sweep(over)
    with pytest.raises(ParameterError, match="jobs is 0"):
        TOTAL.sweep(over, jobs=0)


def test_a_program_of_the_package_travels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(builtin_programs()[0].path.parent))
    module = __import__("randomized_response")
    assert again(module.randomized_response) is module.randomized_response


def made(p: float) -> Mechanism:
    @mechanism
    def local(x: Any, lam: Any = p) -> Any:
        return x[0] ^ flip(lam)

    return local


def test_a_default_of_a_factory_is_its_value() -> None:
    assert made(0.25).bind(n=1).privacy().exp_epsilon == 3
