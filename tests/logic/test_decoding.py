"""Codes of outputs decoded all at once: the same outputs as one by one, whatever the shape."""

from __future__ import annotations

import pytest

from expectations import mechanisms
from tightdp import Instance
from tightdp.methods.compiled import compile_symbolic
from tightdp.symmetry.sets import DiagramTable

CASES = {
    "randomized_response": {"n": 4, "lam": "1/5"},
    "report_noisy_max": {"n": 2, "k": 2, "ratio": "1/2", "margin": 1},
    "name_and_shame": {"n": 3, "k": 3},
    "count": {"n": 3},
    "randomized_response_count": {"n": 260, "lam": "1/5"},  # one component, of more than eight bits
    "sparse_vector": {
        "n": 3,
        "k": 2,
        "threshold": 1,
        "cutoff": 1,
        "ratio_threshold": "1/2",
        "ratio_query": "1/2",
        "margin": 1,
    },
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", CASES)
def test_all_at_once_and_one_by_one(name: str) -> None:
    instance = mechanisms(name)[name].bind(**CASES[name])
    assert isinstance(instance, Instance)
    table = DiagramTable(instance.bound, compile_symbolic(instance.bound))
    x = (instance.bound.record.values[0],) * instance.n
    codes = list(table.weights(x).by_code)
    one_by_one = [table.codes.first(code) for code in codes]
    together = list(table.codes.decoded(codes))
    assert together == one_by_one
    assert [[type(v) for v in o] if isinstance(o, tuple) else type(o) for o in together] == [
        [type(v) for v in o] if isinstance(o, tuple) else type(o) for o in one_by_one
    ]
    assert table.codes.decoded([]) == []
    assert table.law(x) == dict(instance.distribution(x).law)
