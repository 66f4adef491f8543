"""The command `audit`: bounds from an observation. It needs no file, unless a program gives the guarantee."""

from __future__ import annotations

import argparse
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from tightdp.cli.answer import add_plot, ask_about, emit
from tightdp.cli.binding import add_time_and_memory, bind_to, load
from tightdp.cli.errors import UsageError
from tightdp.cli.words import read_bindings
from tightdp.exact.parameters import as_parameter
from tightdp.exact.rationals import as_int
from tightdp.results.audit import Audit
from tightdp.results.result import Subject
from tightdp.session.auditing import audit
from tightdp.session.instance import Instance

__all__ = ["add_arguments", "asked", "run"]

_FAMILIES = ("gaussian", "laplace")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command accepts."""
    seen = parser.add_argument_group("the observation")
    seen.add_argument("--canaries", metavar="M", required=True, help="how many secrets were drawn")
    seen.add_argument("--guesses", metavar="R", required=True, help="how many of them were guessed (fixed beforehand)")
    right = seen.add_mutually_exclusive_group(required=True)
    right.add_argument("--correct", metavar="V", help="how many guesses were right")
    right.add_argument(
        "--ideal",
        metavar="F",
        help="the mean of an ideal auditor where every secret passes a channel with this "
        "trade-off function: gaussian:MU, gaussian:MU@RATE (sub-sampled), laplace:MU, '[[e^ε, δ], ...]'",
    )
    seen.add_argument("--options", metavar="K", default="2", help="how many values a secret has (default 2: in or out)")
    asked = parser.add_argument_group("the guarantee")
    asked.add_argument("--delta", metavar="D", default="0", help="the δ of (ε, δ) (default 0)")
    point = asked.add_mutually_exclusive_group()
    point.add_argument("--epsilon", metavar="E", help="also the p-value of (E, δ)-DP")
    point.add_argument("--exp-epsilon", metavar="T", help="the same with e^ε = T")
    point.add_argument(
        "--tradeoff",
        metavar="F",
        help="the p-value of f-DP: gaussian:MU, laplace:MU, '[[e^ε, δ], ...]', or FILE[:NAME] with n and parameters; "
        "gaussian, gaussian@RATE or laplace alone: the ε at δ of the family",
    )
    parser.add_argument("bindings", metavar="KEY=VALUE", nargs="*", help="n and parameters of the program")
    how = parser.add_argument_group("the method")
    how.add_argument(
        "--method", metavar="NAME", default="optimal", help="optimal (default), steinke, fdp or order-statistics"
    )
    how.add_argument("--variant", metavar="NAME", help="fdp: listing, code; order-statistics: published, exact")
    how.add_argument("--significance", metavar="A", default="1/20", help="the level of the test (default 1/20)")
    add_time_and_memory(parser)
    add_plot(parser)


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
        ideal=_curve(options.ideal),
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
    if text.lstrip().startswith("["):
        return _pairs(text, "--tradeoff")
    return _instance(options)


def _curve(text: str | None) -> Any:
    return _pairs(text, "--ideal") if text is not None and text.lstrip().startswith("[") else text


def _pairs(text: str, option: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{option} {text!r} is not JSON: {error}", "write pairs of e^ε and δ: '[[1, \"1/10\"], [3, 0]]'"
        ) from None


def _instance(options: argparse.Namespace) -> Instance:
    if ".py" not in options.tradeoff and not Path(options.tradeoff).exists():
        raise UsageError(
            f"--tradeoff {options.tradeoff!r} is not a trade-off function",
            "give gaussian:1, laplace:1, pairs '[[e^ε, δ], ...]', or the file of a program",
        )
    settings = argparse.Namespace(neighbours=None, max_nodes=None, max_memory=None, backend="cudd", timeout=None)
    return bind_to(load(options.tradeoff), read_bindings(options.bindings), settings)
