"""From words on the command line to Python: parameters, datasets, pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tightdp.cli.errors import UsageError

__all__ = ["read_bindings", "read_dataset", "read_json", "read_pairs", "read_value"]

_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_QUOTED = "write an array such as [0,1,1], and quote it"


def read_bindings(bindings: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that KEY=VALUE words give."""
    values: dict[str, Any] = {}
    for binding in bindings:
        key, equals, text = binding.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"{binding!r} is not KEY=VALUE", "write n=8 lam=1/5, without spaces around =")
        if key in values:
            raise UsageError(f"{key} is given twice", "give every parameter once")
        values[key] = read_value(key, text)
    return values


def read_value(key: str, text: str) -> Any:
    """Return the value of a parameter: a JSON array, true, false, null, or the text itself."""
    if not text.strip():
        raise UsageError(f"{key} has no value", f"write {key}=VALUE")
    if text.lstrip()[0] in "[{":
        value = read_json(f"{key}={text}", text)
        if not isinstance(value, list):
            raise UsageError(f"{key}={text} is a JSON object", "give an int, a rational, a string or a JSON array")
        return value
    return _WORDS.get(text, text)


def read_dataset(text: str, option: str = "--input") -> list[Any]:
    """Return the dataset that a JSON array gives, with or without its brackets; decimals stay exact."""
    bare = text.strip() and text.lstrip()[0] not in "[{("
    hint = f"give one record per entry, as in {option} '[0,1,1]'"
    return _array(option, f"[{text}]" if bare else text, _QUOTED, hint, text)


def read_pairs(text: str) -> Any:
    """Return the pair vector that a JSON array gives, or "best"."""
    hint = "give best, or a pair per client: '[[0,1],[0,1]]'"
    return text if text == "best" else _array("--pairs", text, hint, hint)


def _array(option: str, text: str, hint: str, what: str, written: str | None = None) -> list[Any]:
    """Return what a JSON array has; the hints are for text that is no JSON, and for other JSON."""
    shown = f"{option} {(text if written is None else written)!r}"
    value = read_json(shown, text, hint)
    if not isinstance(value, list):
        raise UsageError(f"{shown} is not a JSON array", what)
    return value


def read_json(where: str, text: str, hint: str = _QUOTED) -> Any:
    """Return what JSON says; decimals stay exact."""
    try:
        return json.loads(text, parse_float=_decimal_text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {error}", hint) from None


def _decimal_text(text: str) -> Any:
    from decimal import Decimal

    return Decimal(text)


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number")
