"""The command `canaries`: how many canaries an audit in one run needs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import add_plot, answer
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.words import read_json
from tightdp.session.arguments import read_count
from tightdp.session.canaries import canaries_needed

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    goal = parser.add_mutually_exclusive_group()
    goal.add_argument("--share", metavar="S", default="1/2", help="the share of ε to be reported (default 1/2)")
    goal.add_argument("--epsilon", metavar="E", help="the ε to be reported, in place of a share")
    parser.add_argument("--power", metavar="P", default="19/20", help="with this probability (default 19/20)")
    parser.add_argument("--rule", metavar="NAME", default="optimal", help="the method of the audit (default optimal)")
    parser.add_argument("--guesser", metavar="G", help="all (default), certain, or the least posterior for a guess")
    parser.add_argument("--pair", metavar="JSON", help="the two records of every client, as in '[0,1]'")
    parser.add_argument("--delta", metavar="D", default="0", help="the δ (default 0)")
    parser.add_argument("--significance", metavar="A", default="1/20", help="the level of the audit (default 1/20)")
    parser.add_argument(
        "--at-most", metavar="N", default="4096", help="the most canaries that are tried (default 4096)"
    )
    add_plot(parser)
    add_limits(parser, method=False)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    instance = bind(options, 1)
    pair = (
        None if options.pair is None else read_json(f"--pair {options.pair!r}", options.pair, "give two records: [0,1]")
    )
    pairs = None if pair is None else lambda n: [pair] * n
    names = ("share", "epsilon", "power", "delta", "significance", "guesser")
    given = {name: getattr(options, name) for name in names}
    most = read_count("--at-most", options.at_most)
    return answer(
        instance, options, lambda: canaries_needed(instance, options.rule, pairs=pairs, at_most=most, **given)
    )
