"""The command `audit`: bounds from an observation. It needs no file, unless a program gives the guarantee."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tightdp.cli.answer import ask_about, emit
from tightdp.cli.binding import bind_to, load
from tightdp.cli.errors import UsageError
from tightdp.cli.words import read_bindings, read_json
from tightdp.exact.parameters import as_parameter
from tightdp.exact.rationals import as_int
from tightdp.results.audit import Audit
from tightdp.results.result import Subject
from tightdp.session.auditing import audit
from tightdp.session.instance import Instance

__all__ = ["asked", "run"]

_FAMILIES = ("gaussian", "laplace")


def run(options: argparse.Namespace) -> int:
    """Answer, print, and return the exit status."""
    found = ask_about(Subject("audit", (), "one secret"), "audit", lambda: asked(options))
    emit(found.result, options)
    return found.exit_status


def asked(options: argparse.Namespace) -> Audit:
    """Return the answer."""
    tradeoff = _tradeoff(options)
    if options.bindings and not isinstance(tradeoff, Instance):
        raise UsageError(f"{options.bindings[0]!r} belongs to no program", "name its file: --tradeoff FILE[:NAME]")
    return audit(
        canaries=_count(options.canaries, "--canaries"),
        guesses=_count(options.guesses, "--guesses"),
        correct=None if options.correct is None else _count(options.correct, "--correct"),
        ideal=_curve(options.ideal, "--ideal"),
        options=_count(options.options, "--options"),
        delta=options.delta,
        method=options.method,
        significance=options.significance,
        epsilon=options.epsilon,
        exp_epsilon=options.exp_epsilon,
        tradeoff=tradeoff,
        variant=options.variant,
    )


def _count(text: str, name: str) -> int:
    return as_int(as_parameter(text), name)


def _tradeoff(options: argparse.Namespace) -> Any:
    """Return a string, a list of pairs, or the instance of a program."""
    text = options.tradeoff
    if text is None or text.partition(":")[0].partition("@")[0] in _FAMILIES:
        return text
    return _curve(text, "--tradeoff") if text.lstrip().startswith("[") else _instance(options)


def _curve(text: str | None, option: str) -> Any:
    if text is None or not text.lstrip().startswith("["):
        return text
    return read_json(f"{option} {text!r}", text, "write pairs of e^ε and δ: '[[1, \"1/10\"], [3, 0]]'")


def _instance(options: argparse.Namespace) -> Instance:
    if ".py" not in options.tradeoff and not Path(options.tradeoff).exists():
        raise UsageError(
            f"--tradeoff {options.tradeoff!r} is not a trade-off function",
            "give gaussian:1, laplace:1, pairs '[[e^ε, δ], ...]', or the file of a program",
        )
    return bind_to(load(options.tradeoff), read_bindings(options.bindings), argparse.Namespace())
