"""Randomized response of three other packages, the installed files as they are."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tightdp
from tightdp import Int

pytestmark = pytest.mark.extra("ldp")

PLACES: dict[str, tuple[dict[str, Any], str]] = {
    "pure_ldp.frequency_oracles.direct_encoding:DEClient.privatise": ({"epsilon": 1, "d": 3}, "x[0] + 1"),
    "pure_ldp.frequency_oracles.unary_encoding:UEClient.privatise": ({"epsilon": 1, "d": 3}, "x[0] + 1"),
    "multi_freq_ldpy.pure_frequency_oracles.GRR:GRR_Client": ({"epsilon": 1, "k": 3}, "x[0]"),
    "multi_freq_ldpy.pure_frequency_oracles.UE:UE_Client": ({"epsilon": 1, "k": 3}, "x[0]"),
    "ldp_toolbox.protocols.frequency.grr:GeneralizedRandomizedResponse.obfuscate": ({"epsilon": 1, "k": 3}, "x[0]"),
}


@pytest.mark.parametrize("place", PLACES)
def test_it_spends_what_it_promises(place: str) -> None:
    """A k-ary response with parameter 1 has the tight ε 1, up to the rounding of its probabilities."""
    arguments, dataset = PLACES[place]
    mechanism = tightdp.of(place, record=Int(0, 2), dataset=dataset, arguments=arguments, floats=True)
    found = mechanism.bind(n=1).privacy()
    assert found.status == "exact"
    assert math.isclose(float(found.epsilon), 1, abs_tol=1e-14)
