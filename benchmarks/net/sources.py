"""Where the mechanisms of the recorded rows come from: files of the repository, or text in `corpus.jsonl`."""

from __future__ import annotations

import importlib.util
import json
import linecache
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

import tightdp
from tightdp.exact.rationals import as_value

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT / "benchmarks" / "corpus.jsonl"

TEXT_OF_DOMAINS = {
    key: getattr(tightdp, key) for key in ("Bit", "Bits", "Int", "Tuple", "Values") if hasattr(tightdp, key)
}


@cache
def corpus() -> dict[str, dict[str, Any]]:
    """The texts that were drawn or written for the table, by name."""
    if not CORPUS.exists():
        return {}
    return {entry["name"]: entry for entry in map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())}


@cache
def module(source: str) -> types.ModuleType:
    """The module of a file of the repository, or of a text of the corpus."""
    return _from_text(source) if source in corpus() else _from_file(source)


def _from_file(source: str) -> types.ModuleType:
    name = f"recorded_{source.replace('/', '_').removesuffix('.py')}"
    spec = importlib.util.spec_from_file_location(name, ROOT / source)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


def _from_text(source: str) -> types.ModuleType:
    text = corpus()[source]["source"]
    name = f"<{source}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    found = types.ModuleType(source.replace("-", "_"))
    sys.modules[found.__name__] = found
    exec(compile(text, name, "exec"), vars(found))
    return found


def bound(row: dict[str, Any]) -> Any:
    """The instance that a row asks."""
    mechanism = getattr(module(row["source"]), row["mechanism"])
    return mechanism.bind(**{key: _listed(value) for key, value in row["bind"].items()})


def _listed(value: Any) -> Any:
    return tuple(_listed(one) for one in value) if isinstance(value, list) else value


def dataset(instance: Any, places: Any) -> tuple[Any, ...]:
    """The dataset whose records stand at these places of the domain; one place stands for all records."""
    values = [as_value(value) for value in instance.bound.record.values]
    if isinstance(places, int):
        places = [places] * instance.n
    return tuple(values[place] for place in places)
