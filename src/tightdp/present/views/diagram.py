"""How the structure of a compiled mechanism is shown."""

from __future__ import annotations

from tightdp.present.diagram import dot, picture, svg
from tightdp.present.show import file_of, view_of
from tightdp.present.view import View
from tightdp.results.diagram import DiagramSize, Structure

_SETS = ("inference_set", "privacy_set", "accuracy_set")


@view_of.register
def _structure_view(result: Structure) -> View:
    seen = _size_view(result.size)
    facts = [*seen.facts, ("method", result.stats.method), *(("symmetry", words) for words in result.symmetry.words)]
    sizes = {name: getattr(result.symmetry, name) for name in _SETS}
    facts += [(name.replace("_", " "), f"{size:,}") for name, size in sizes.items() if size is not None]
    return View(seen.heading, facts, picture=picture(result))


@view_of.register
def _size_view(result: DiagramSize) -> View:
    facts = [(name.replace("_", " "), f"{count:,}") for name, count in result.counts]
    return View(f"{result.subject}, neighbours: {result.neighbours}", facts)


@file_of.register
def _structure_file(result: Structure, form: str) -> str:
    return dot(result) if form == "dot" else svg(result)
