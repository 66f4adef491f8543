"""The command `guessing`: the exact law of the guesses and right guesses of an audit."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from tightdp.cli.answer import add_plot, answer
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.errors import UsageError
from tightdp.cli.words import read_dataset, read_json, read_pairs
from tightdp.results.result import Result
from tightdp.session.instance import Instance

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--adaptive", action="store_true", help="bits are revealed once they are decided on")
    kind.add_argument("--runs", metavar="K", help="a classic audit: K runs, each on x or x' with probability 1/2")
    parser.add_argument("--guesser", metavar="G", help="all (default), certain, or the least posterior for a guess")
    parser.add_argument("--threshold", metavar="P", help="--adaptive, --runs: the least posterior (default 1/2)")
    parser.add_argument("--order", metavar="JSON", help="--adaptive: the order of the clients, as in '[2,0,1]'")
    parser.add_argument("--pairs", metavar="Z", help="one pair of records per client as JSON")
    parser.add_argument("--delta", metavar="D", help="what is reported is compared with the tight ε at this δ")
    parser.add_argument("--x", metavar="X", help="--runs: the dataset as JSON (default: of a worst pair)")
    parser.add_argument("--x-prime", metavar="X", help="--runs: its neighbour")
    add_plot(parser)
    add_limits(parser, method=False)


_BELONGS = {
    "--adaptive": ("threshold", "order", "pairs", "delta"),
    "--runs": ("threshold", "x", "x_prime"),
    "an audit in one run": ("guesser", "pairs", "delta"),
}


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    kind = "--adaptive" if options.adaptive else "an audit in one run" if options.runs is None else "--runs"
    for name in sorted({name for names in _BELONGS.values() for name in names}):
        if getattr(options, name) is not None and name not in _BELONGS[kind]:
            others = " or ".join(other for other, names in _BELONGS.items() if name in names)
            raise UsageError(f"--{name.replace('_', '-')} does not go with {kind}", f"it belongs to {others}")
    given = {name: getattr(options, name) for name in _BELONGS[kind] if getattr(options, name) is not None}
    for name, read in (("pairs", read_pairs), ("x", read_dataset), ("x_prime", read_dataset)):
        if name in given:
            given[name] = read(given[name])
    if "order" in given:
        given["order"] = read_json(
            f"--order {given['order']!r}", given["order"], "give all clients once, as in [2,0,1]"
        )
    instance = bind(options)
    return answer(instance, options, lambda: _asked(instance, options, given))


def _asked(instance: Instance, options: Namespace, given: dict[str, Any]) -> Result:
    if options.adaptive:
        return instance.adaptive_guessing(**given)
    if options.runs is not None:
        return instance.classic_guessing(options.runs, **given)
    return instance.guessing(**given)
