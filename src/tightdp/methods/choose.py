"""The methods that there are. A new method is one file, and one line here."""

from __future__ import annotations

from difflib import get_close_matches
from functools import partial

from tightdp.core.nodes import CoreProgram
from tightdp.errors import QueryError
from tightdp.language.program import Bound
from tightdp.methods import (
    by_aggregates,
    by_cells,
    by_chain,
    by_clients,
    by_datasets,
    by_elimination,
    by_mixtures,
    by_outputs,
    by_pairs,
    by_parts,
    by_runs,
)
from tightdp.methods.program import Candidate, Program

CANDIDATES: tuple[Candidate, ...] = (
    # What has no core program: where there is one, this is seen before any work.
    Candidate("cells", by_cells.look),
    # Reductions, which ask the methods about parts: seen on the core program, before any diagram.
    *(Candidate(name, partial(by_clients.look, name)) for name in ("independent clients", "independent groups")),
    Candidate("extreme records", by_mixtures.look),
    Candidate("independent outputs", by_parts.look),
    Candidate("independent outputs", by_outputs.look),
    Candidate("aggregate", by_aggregates.look),
    # Backends. A small diagram tells more than a small elimination: a chain has all datasets in it, and symmetries.
    Candidate("chain", by_chain.look),
    Candidate("elimination", by_elimination.look),
    Candidate("exhaustive", by_datasets.look),
    Candidate("orbits", by_datasets.look_for_orbits),
    Candidate("chain", by_chain.look_without_diagram),
    # A program that is not private may show it at once, whatever its laws would take.
    Candidate("first pairs", by_pairs.look),
    # By name, or where none of these has an exact answer and runs are few.
    Candidate("runs", by_runs.look),
    # When there is no estimate any more, because it gives no more than an enclosure.
    Candidate("chain", by_chain.look_for_some_pairs),
)
"""A question goes to the one with the least estimate (`questions.py`), of those with little work to the first here."""

NAMES = tuple(dict.fromkeys(candidate.name for candidate in CANDIDATES))


def read_method(name: str | None) -> str | None:
    """Return the name of a method as it stands in the list (hyphens may stand for spaces). Raises QueryError."""
    if name is None:
        return None
    found = name.replace("-", " ") if isinstance(name, str) else name
    if found not in NAMES:
        close = get_close_matches(str(found), NAMES, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the methods are {', '.join(NAMES)}"
        raise QueryError(f"there is no method {name!r}", hint)
    return found


def program_of(
    bound: Bound, backend: str = "cudd", method: str | None = None, core: CoreProgram | None = None
) -> Program:
    """Return a bound mechanism as a program for the methods. Raises QueryError if no method has the given name."""
    return Program(bound, CANDIDATES, backend, read_method(method), core)
