"""Certificates of efficacies: how much of a mechanism an audit in one run may see, with some pairs and guesses."""

from __future__ import annotations

from typing import Any

from tightdp.core.text import program_text
from tightdp.errors import QueryError
from tightdp.exact.parameters import read_count
from tightdp.session import one_run
from tightdp.session.certify import Certificate, accepted
from tightdp.session.certify_content import content_of
from tightdp.session.certify_events import dataset_of
from tightdp.session.engine import Engine
from tightdp.session.widened import refuse_inexact


def efficacy(engine: Engine, guesses: Any, pairs: Any, **unknown: Any) -> Certificate:
    """Return the certificate of the efficacy with so many guesses, of all coins where none are given.

    It may be a function of an `unknown`, which has a name and two ends.
    """
    core = engine.program.expanded(engine.control())  # which says whether something is cut off
    refuse_inexact(engine.program, "certify")
    asked = engine.bound.n if guesses is None else read_count("guesses", guesses)
    found = one_run.efficacy(engine, asked, pairs, False)
    if not found.rows:
        raise QueryError(f"the efficacy is not known: {found.reason}", found.hint or "give it more time")
    share = found.rows[0].efficacy
    text = program_text(core, None, share)
    content = content_of(engine, {"question": "efficacy", "guesses": asked, "share": share} | unknown, text)
    content["claim"]["pairs"] = [dataset_of(engine.bound, pair) for pair in found.pairs]
    content["evidence"] = {"rule": "datasets"}
    less = "give a smaller range" if unknown else "leave observe out, where there is one"
    return accepted(content, f"{less}, or ask for fewer records")
