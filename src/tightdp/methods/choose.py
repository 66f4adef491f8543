"""The methods in the order in which they are tried, with the reason for the order beside each.

A question goes from the top to the bottom: the first method that applies to the program and answers the question
does. A new method is one file, and one line here.
"""

from __future__ import annotations

from difflib import get_close_matches

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
    by_outputs,
    by_parts,
    by_runs,
)
from tightdp.methods.program import Candidate, Program

__all__ = ["CANDIDATES", "NAMES", "program_of", "read_method"]

CANDIDATES: tuple[Candidate, ...] = (
    # What has no core program: where there is one, this is seen before any work.
    Candidate("cells", by_cells.look),
    # Found on the core program, before any diagram; only one client, or one group, of every kind remains.
    Candidate("independent clients", by_clients.look),
    Candidate("independent groups", by_clients.look_for_groups),
    # The ratio of an output is a product over its parts, where these share no draw: their joint law is not needed.
    Candidate("independent outputs", by_parts.look_at_few),
    # Cut at aggregates, laws depend on counts of records only. Parts of an output that neighbours leave alone are not
    # even compared.
    Candidate("independent outputs", by_outputs.look),
    # Where the aggregates have many values together, what is left of each round when it is over may be far less.
    Candidate("elimination", by_elimination.look_before_aggregates),
    # Where the counts are many, a chain with few forms finds the tight ratio sooner; it gives up early.
    Candidate("chain", by_chain.look_before_aggregates),
    Candidate("aggregate", by_aggregates.look),
    # A small diagram is built quickly, and a chain shows the symmetries.
    Candidate("chain", by_chain.look_at_small),
    # More contents of what the parts see are still fewer than outputs.
    Candidate("independent outputs", by_parts.look),
    # No diagram: where it takes little work, at most that of enumerating all runs. Nothing is shared by
    # datasets that do not begin alike, so many datasets are left to the diagram.
    Candidate("elimination", by_elimination.look),
    # Few states between clients are found without a diagram, which has every value of every draw in it.
    Candidate("chain", by_chain.look_without_diagram),
    # The whole diagram: the tight ratio is found without enumerating datasets.
    Candidate("chain", by_chain.look_at_large),
    # The same on the rows of elimination, where the diagram is large and the rows are few.
    Candidate("chain", by_chain.look_at_rows),
    # More work than that is still less than a diagram of any size.
    Candidate("elimination", by_elimination.look_thoroughly),
    Candidate("chain", by_chain.look),
    # One dataset of every orbit, never more than all of them; few datasets are not worth the search for orbits.
    Candidate("orbits", by_datasets.look_for_orbits),
    Candidate("exhaustive", by_datasets.look),
    # By name, or where none of these has an exact answer and runs are few.
    Candidate("runs", by_runs.look),
    # Last, because it gives no more than an enclosure.
    Candidate("chain", by_chain.look_for_some_pairs),
)

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
