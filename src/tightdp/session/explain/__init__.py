"""Why a mechanism loses privacy: its draws (`traces.py`), changes of one line (`edits.py`), smaller instances.

In: an instance and perhaps a claim. Out: an `Explanation`. May import session.
"""

from tightdp.session.explain.explain import claim_of, explain

__all__ = ["claim_of", "explain"]
