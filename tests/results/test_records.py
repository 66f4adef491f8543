"""Every result says which keys its JSON has, and is seen by people."""

from __future__ import annotations

import dataclasses
import json
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import tightdp.results
from answered import RESPONSE
from tightdp.present.show import import_twin, view_of
from tightdp.results.recorded import Recorded, plain
from tightdp.results.result import Result

MODULES = [name for _, name, _ in pkgutil.iter_modules(tightdp.results.__path__)]


def kinds(base: type) -> Iterator[type]:
    for module in MODULES:
        import_module(f"tightdp.results.{module}")
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


ANSWERS = sorted({kind for kind in kinds(Result) if hasattr(kind, "query")}, key=lambda kind: kind.__name__)
RECORDED: list[Any] = sorted({kind for kind in kinds(Recorded) if kind.json}, key=lambda kind: kind.__name__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", RECORDED, ids=lambda kind: kind.__name__)
def test_the_keys_of_json_are_attributes(kind: Any) -> None:
    names = {field.name for field in dataclasses.fields(kind)}
    for word in kind.json.split():
        name = word.rstrip("?").rpartition("=")[2].removeprefix("*").partition(".")[0]
        assert name in names or hasattr(kind, name), word


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: kind.__name__)
def test_every_answer_is_seen_and_has_json(kind: Any) -> None:
    import_twin(kind)
    assert view_of.dispatch(kind) is not view_of.dispatch(object)
    assert kind.json or kind.__name__ == "Unknown"


def test_sizes_of_diagrams_are_seen_alone() -> None:
    size = RESPONSE.show().size
    assert "nodes" in str(size)
    assert json.loads(json.dumps(size.to_dict()))["result"] == dict(size.counts)


def test_values_without_a_form_of_their_own_are_text() -> None:
    assert plain((1, "a", None, float("inf"), 0.5, (True, 2.0), 1j)) == [1, "a", None, "inf", 0.5, [True, 2.0], "1j"]
