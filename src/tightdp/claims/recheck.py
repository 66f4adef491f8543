"""A counterexample found again by brute force alone: the instance as it is typed, and what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightdp.claims.fails import Fails
from tightdp.claims.instances import read_argument, shown_value
from tightdp.errors import ParameterError

__all__ = ["instance_of", "written"]


def instance_of(words: Sequence[str]) -> dict[str, Any]:
    """Return the instance that KEY=VALUE ... name."""
    pairs = [word.partition("=") for word in words]
    if any(not equals for _, equals, _ in pairs):
        raise ParameterError("an instance is written KEY=VALUE", "as in n=2 lam=1/5")
    return {name: read_argument(value) for name, _, value in pairs}


def written(title: str, statement: str, answer: bool | Fails) -> str:
    """Write what brute force answers about a statement."""
    lines = [title, f"  {statement}"]
    if answer is True:
        return "\n".join([*lines, "  brute force: it holds here", ""])
    if isinstance(answer, Fails):
        lines += [f"  {name.replace('_', ' ')} = {shown_value(value)}" for name, value in answer.numbers.items()]
        lines += [f"  {answer.why}"] if answer.why else []
    return "\n".join([*lines, "  brute force confirms that it fails here", ""])
