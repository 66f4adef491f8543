"""How the structure of a compiled mechanism is shown."""

from __future__ import annotations

from typing import Any

from tightdp.present.diagram import dot, picture, svg
from tightdp.present.registry import answer_of, file_of, view_of
from tightdp.present.view import View
from tightdp.results.diagram import Structure


@answer_of.register
def _structure_answer(result: Structure) -> dict[str, Any]:
    return dict(result.counts)


@view_of.register
def _structure_view(result: Structure) -> View:
    facts = [(name.replace("_", " "), f"{count:,}") for name, count in result.counts.items()]
    facts.append(("method", result.stats.method))
    facts += [("symmetry", words) for words in result.symmetry.words]
    for name in ("inference_set", "privacy_set", "accuracy_set"):
        size = getattr(result.symmetry, name)
        if size is not None:
            facts.append((name.replace("_", " "), f"{size:,}"))
    return View(f"{result.subject}, neighbours: {result.neighbours}", tuple(facts), picture=picture(result))


@file_of.register
def _structure_file(result: Structure, form: str) -> str:
    return dot(result) if form == "dot" else svg(result)
