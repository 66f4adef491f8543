"""The modules that answer queries on an instance, each imported at the first query that needs it.

They take time to load, and defining and running mechanisms needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightdp.exact.lazily import lazily

if TYPE_CHECKING:
    from tightdp.session import accuracy as accuracy
    from tightdp.session import certify as certify
    from tightdp.session import certify_runs as certify_runs
    from tightdp.session import moments as moments
    from tightdp.session import one_run as one_run
    from tightdp.session import optimum as optimum
    from tightdp.session import outputs as outputs
    from tightdp.session import search as search
    from tightdp.session import strategies as strategies
else:
    accuracy, certify = lazily("tightdp.session.accuracy"), lazily("tightdp.session.certify")
    certify_runs, moments = lazily("tightdp.session.certify_runs"), lazily("tightdp.session.moments")
    one_run, optimum = lazily("tightdp.session.one_run"), lazily("tightdp.session.optimum")
    outputs, search = lazily("tightdp.session.outputs"), lazily("tightdp.session.search")
    strategies = lazily("tightdp.session.strategies")
