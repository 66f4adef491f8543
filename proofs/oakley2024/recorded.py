"""The questions whose answers stand beside the programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tightdp.errors import LimitError
from tightdp.language import interp
from tightdp.language.program import Bound
from tightdp.session.files import import_file
from tightdp.session.mechanism import Mechanism, mechanisms_of


def recorded_questions(
    directory: Path, queries: Sequence[str], most: int
) -> dict[tuple[str, int], tuple[Mechanism, dict[str, Any], dict[str, Any]]]:
    """Return the questions in the EXPECTED lists of the programs of a directory, by file and number.

    Each is a mechanism, the question, and what to bind (n, parameters, neighbours). Only those of the given
    queries are kept, without those that expect an error, with at most so many datasets and finitely many runs.
    """
    found: dict[tuple[str, int], tuple[Mechanism, dict[str, Any], dict[str, Any]]] = {}
    for path in sorted(directory.glob("*.py")):
        module = import_file(path)
        mechanisms = mechanisms_of(module)
        expected = getattr(module, "EXPECTED", [])
        kept = [each for each in expected if each["query"] in queries and "error" not in each]
        questions = []
        for each in kept:
            mechanism = mechanisms[each.get("mechanism", path.stem)]
            extra = {"neighbours": each["neighbours"]} if "neighbours" in each else {}
            given = {**each["parameters"], **extra}
            bound = mechanism.bind(**given).bound
            if bound.record.size ** given["n"] <= most and _has_ends(bound):
                questions.append((mechanism, each, given))
        found |= {(path.stem, number): question for number, question in enumerate(questions)}
    return found


def _has_ends(bound: Bound) -> bool:
    """Whether the runs can be enumerated: no noise on all integers."""
    try:
        next(interp.runs(bound, (bound.record.values[0],) * bound.n))
    except LimitError:
        return False
    return True
