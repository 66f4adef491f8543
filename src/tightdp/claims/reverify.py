"""`tightdp claims PATH --recheck ID [KEY=VALUE ...]`: a counterexample found again by brute force alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tightdp.claims.instances import read_argument, shown_instance, shown_value
from tightdp.claims.model import Claim, Fails, Paper
from tightdp.errors import ParameterError, TightdpError

__all__ = ["main", "recheck"]


def main(paper: Paper, words: Sequence[str]) -> int:
    """Do it for a file that is run as a program; without words for all that brute force confirms."""
    try:
        if words:
            return recheck([paper], words)
        confirmed = [_reverify(claim, {}) for claim in _refuted(paper)]
        return 0 if all(confirmed) else 1
    except TightdpError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def recheck(papers: Sequence[Paper], words: Sequence[str]) -> int:
    """Find a counterexample again: ID [KEY=VALUE ...]; return 0 where brute force confirms it, otherwise 1."""
    return 0 if _reverify(_claim(papers, words[0]), _instance(words[1:])) else 1


def _claim(papers: Sequence[Paper], id: str) -> Claim:
    for paper in papers:
        if any(item.id == id for item in paper.items):
            found = paper.find(id)
            if isinstance(found, Claim):
                return found
            raise ParameterError(f"{id} is decided in parts", f"ask for one of {', '.join(found.parts)}")
    raise ParameterError(f"there is no claim {id}", "tightdp claims lists them")


def _refuted(paper: Paper) -> list[Claim]:
    return [item for item in paper.items if isinstance(item, Claim) and item.brute is not None]


def _instance(words: Sequence[str]) -> dict[str, Any]:
    pairs = [word.partition("=") for word in words]
    if any(not equals for _, equals, _ in pairs):
        raise ParameterError("an instance is written KEY=VALUE", "as in n=2 lam=1/5")
    return {name: read_argument(value) for name, _, value in pairs}


def _reverify(claim: Claim, instance: dict[str, Any]) -> bool:
    answer = claim.reverify(instance or None)
    at = shown_instance(instance or claim.at or {})
    out = sys.stdout
    out.write(f"{claim.paper.name} {claim.id}{f' at {at}' if at else ''}\n  {claim.statement}\n")
    if answer is True:
        out.write("  brute force: it holds here\n")
        return False
    if isinstance(answer, Fails):
        for name, value in answer.numbers.items():
            out.write(f"  {name.replace('_', ' ')} = {shown_value(value)}\n")
        out.write(f"  {answer.why}\n" if answer.why else "")
    out.write("  brute force confirms that it fails here\n")
    return True
