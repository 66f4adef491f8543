"""Parts of the methods that can be switched off one by one, beyond the candidates of the list.

A switch replaces a function where it is used by one that says "does not apply". `used` hears whenever the replaced
function has said something else.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

Used = Callable[[str], None]


def _nothing(*arguments: Any, **named: Any) -> None:
    """It does not apply."""


SWITCHES: dict[str, tuple[tuple[str, str, Any], ...]] = {
    "chain_certain": (("methods.chain_search", "certainly", lambda *rest: None),),
    "chain_screen": (("methods.chain_search", "screened", _nothing),),
    "shared_values": (("methods.aggregate", "by_shared_values", _nothing),),
    "screening": (
        ("methods.by_aggregates", "largest_changes", _nothing),
        ("methods.by_aggregates", "telling_changes", _nothing),
    ),
    "states": (("methods.aggregated", "find_states", _nothing),),
    "output_parts": (("methods.by_outputs", "_pieces", _nothing),),
    "one_output": (("session.engine", "table_without_diagram", _nothing),),
    "noisy_parts.many_outputs": (("session.engine", "many_outputs", lambda *rest: False),),
    "listing": (("session.engine", "check_listable", _nothing),),
    "first": (("methods.questions", "first_ratio", lambda method, control, ratio, found: found),),
    "failing": (("methods.failing", "failing_run", _nothing),),
}
"""By name: where it is used (module or class of the package), the function, and what stands for it."""


def install(without: str, used: Used) -> None:
    """Switch one off, and listen to the others."""
    for name, places in SWITCHES.items():
        for where, function, instead in places:
            place = owner(where)
            setattr(place, function, instead if name == without else _heard(getattr(place, function), name, used))


def owner(where: str) -> Any:
    """The module or class of the package in which a function is used."""
    path, _, last = where.rpartition(".")
    if last[0].isupper():
        return getattr(import_module(f"tightdp.{path}"), last)
    return import_module(f"tightdp.{where}")


def _heard(original: Any, name: str, used: Used) -> Any:
    if isinstance(original, type):
        return original

    def heard(*arguments: Any, **named: Any) -> Any:
        found = original(*arguments, **named)
        if found is not None and found is not False and (not isinstance(found, tuple) or found[0] is not False):
            used(name)
        return found

    return heard
