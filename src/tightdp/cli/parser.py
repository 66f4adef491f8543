"""What the command line accepts. Every mistake becomes a UsageError: one line of what, one of how to correct it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NoReturn

from tightdp._version import __version__
from tightdp.errors import TightdpError

__all__ = ["COMMANDS", "UsageError", "overview", "parse"]

COMMANDS = {
    "privacy": "the tight ε with its witness, δ at an ε, the privacy curve, the trade-off function",
    "accuracy": "the tight 1 - β at an error bound α, and the worst datasets",
    "efficacy": "one-run auditing: the efficacy for k guesses and its gaps",
    "distribution": "the exact output law on one dataset",
    "verify": "check claims: exit status 0 holds, 1 refuted, 3 unresolved",
    "audit": "what guesses in one run rule out: a lower bound on ε, a p-value",
    "sweep": "a table of privacy or accuracy over ranges of parameters",
    "show": "the diagram of the program: counts, Graphviz text, a picture",
    "sample": "draw outputs",
    "claims": "the claims of papers, decided again: exit status 1 when a verdict is not the recorded one",
}

_EXAMPLES = """\
FILE is a Python file that defines mechanisms; it is imported. One mechanism in it needs no NAME.
VALUE is an int, a rational (1/5), a decimal (0.2), a word, or a JSON array.

examples:
  tightdp privacy randomized_response.py n=8 lam=1/5
  tightdp verify randomized_response.py n=8 lam=1/5 --epsilon 1.4
  tightdp distribution randomized_response.py lam=1/5 --input '[0,1,1]'
  tightdp audit --canaries 1000 --guesses 100 --correct 75 --delta 1e-4

exit status: 0 done (or holds), 1 refuted, 2 bad input, 3 unresolved (a limit was reached)
`tightdp COMMAND --help` lists the options of a command.
"""

_NEGATIVE = re.compile(r"-[\d.]")


class UsageError(TightdpError):
    """The command line is not understood."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message.removesuffix(', KEY=VALUE')}", self._hint(message))

    def _hint(self, message: str) -> str:
        if message.startswith("the following arguments are required"):
            if "--" in message:
                return f"give them; see {self.prog} --help"
            return f"give the file of a mechanism; see {self.prog} --help"
        if not message.startswith("unrecognized"):
            return f"see {self.prog} --help"
        known = [option for action in self._actions for option in action.option_strings]
        unknown = re.search(r"(--[\w-]+)", message)
        close = get_close_matches(unknown[1], known, n=1, cutoff=0.75) if unknown else []
        if close:
            return f"did you mean {close[0]}?"
        return f"see {self.prog} --help; the mechanism's own parameters are written without dashes, as in lam=1/5"


def overview() -> str:
    """Return the text of `tightdp --help`."""
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name.ljust(width)}  {what}" for name, what in COMMANDS.items())
    return (
        "usage: tightdp COMMAND FILE[:NAME] [KEY=VALUE ...] [options]\n\n"
        "Exact privacy and accuracy of mechanisms that are Python functions.\n\n"
        f"commands:\n{commands}\n\n{_EXAMPLES}"
    )


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments, with `command`. Raises UsageError; --help and --version print and exit."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(overview())
        raise SystemExit(0)
    if arguments[0] == "--version":
        sys.stdout.write(f"tightdp {__version__}\n")
        raise SystemExit(0)
    command, rest = arguments[0], list(arguments[1:])
    if command not in COMMANDS:
        close = get_close_matches(command, COMMANDS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the commands are {', '.join(COMMANDS)}"
        raise UsageError(f"tightdp: there is no command {command!r}", hint)
    parser = _parser(command)
    options = parser.parse_intermixed_args(_attached(parser, rest))
    options.command = command
    return options


def _attached(parser: argparse.ArgumentParser, arguments: list[str]) -> list[str]:
    """Attach values that look like negative numbers to their options; argparse takes -1/2 for an option."""
    takes_value = {option for action in parser._actions if action.nargs is None for option in action.option_strings}
    result: list[str] = []
    for argument in arguments:
        if _NEGATIVE.match(argument) and result and result[-1] in takes_value:
            result[-1] += f"={argument}"
        else:
            result.append(argument)
    return result


def _parser(command: str) -> _Parser:
    if command == "claims":
        return _claims_parser()
    if command == "audit":
        return _audit_parser()
    parser = _Parser(
        prog=f"tightdp {command}",
        description=COMMANDS[command].capitalize() + ".",
        usage=f"tightdp {command} FILE[:NAME] [KEY=VALUE ...] [options]",
        allow_abbrev=False,
        epilog=_EXTRA.get(command),
    )
    parser.add_argument("file", metavar="FILE[:NAME]", help="a Python file, and which of its mechanisms")
    parser.add_argument("bindings", metavar="KEY=VALUE", nargs="*", help="n and the parameters of the mechanism")
    _ADD[command](parser)
    limits = parser.add_argument_group("limits and output")
    if command != "sample":
        limits.add_argument("--neighbours", metavar="NAME", help="replace-one, unit-step, unit-all or add-remove")
        limits.add_argument("--timeout", metavar="S", help="give up after this many seconds")
        limits.add_argument("--max-nodes", metavar="N", help="give up when the diagram has more nodes")
        limits.add_argument(
            "--backend", metavar="NAME", default="cudd", help="the library of diagrams: cudd or autoref"
        )
    limits.add_argument("--json", action="store_true", help="print one JSON object, all numbers exact")
    return parser


def _claims_parser() -> _Parser:
    from tightdp.claims.command import add_arguments

    parser = _Parser(
        prog="tightdp claims",
        description=COMMANDS["claims"].capitalize() + ".",
        usage="tightdp claims [PATH] [options]",
        allow_abbrev=False,
    )
    add_arguments(parser)
    return parser


def _audit_parser() -> _Parser:
    from tightdp.cli.audit import add_arguments

    parser = _Parser(
        prog="tightdp audit",
        description=COMMANDS["audit"].capitalize() + ".",
        usage="tightdp audit --canaries M --guesses R --correct V [options]",
        allow_abbrev=False,
    )
    add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


_EXTRA = {
    "sweep": "A range is n=2..20; several values are lam=1/10,1/5. With --alpha or --beta it asks accuracy, otherwise "
    "privacy.",
}


def _add_privacy(parser: argparse.ArgumentParser) -> None:
    query = parser.add_mutually_exclusive_group()
    query.add_argument("--delta", metavar="D", help="the tight ε for this δ")
    query.add_argument("--epsilon", metavar="E", help="δ at this ε (an enclosure)")
    query.add_argument("--exp-epsilon", metavar="T", help="δ at e^ε = T (exact)")
    query.add_argument("--curve", action="store_true", help="δ as a function of e^ε: exact break points")
    query.add_argument("--tradeoff", action="store_true", help="the trade-off function (f-DP): exact vertices")
    query.add_argument("--renyi", metavar="A", help="Rényi divergence of integer order A >= 2")
    query.add_argument("--top", metavar="K", help="the K largest likelihood ratios")


def _add_accuracy(parser: argparse.ArgumentParser) -> None:
    query = parser.add_mutually_exclusive_group(required=True)
    query.add_argument("--alpha", metavar="A", help="the error bound: the tight 1 - β")
    query.add_argument("--beta", metavar="B", help="the failure probability: the least α")
    parser.add_argument("--top", metavar="K", default="5", help="rank the K worst classes of datasets (default 5)")


def _add_efficacy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--guesses", metavar="K", help="the efficacy with K guesses only (default: all K up to n)")
    parser.add_argument(
        "--pairs", metavar="Z", help="one pair of records per client as JSON, or best (default: the domain's first two)"
    )
    parser.add_argument(
        "--adaptive", action="store_true", help="also the optimum when bits are revealed once decided on (small n)"
    )


def _add_distribution(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", metavar="X", required=True, help="the dataset as JSON: --input '[0,1,1]'")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    claim = parser.add_mutually_exclusive_group()
    claim.add_argument("--epsilon", metavar="E", help="claim: (E, δ)-differentially private")
    claim.add_argument("--exp-epsilon", metavar="T", help="the same with e^ε = T")
    parser.add_argument("--delta", metavar="D", default="0", help="the δ of that claim (default 0)")
    parser.add_argument("--alpha", metavar="A", help="claim: the error is at most A ...")
    parser.add_argument("--beta", metavar="B", help="... except with probability B")


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    query = parser.add_mutually_exclusive_group()
    query.add_argument("--delta", metavar="D", help="the tight ε for this δ")
    query.add_argument("--epsilon", metavar="E", help="δ at this ε")
    query.add_argument("--exp-epsilon", metavar="T", help="δ at e^ε = T")
    query.add_argument("--alpha", metavar="A", help="the tight 1 - β at this error bound")
    query.add_argument("--beta", metavar="B", help="the least α for this failure probability")
    parser.add_argument("--csv", metavar="FILE", nargs="?", const="-", help="write CSV (to stdout without FILE)")
    parser.add_argument("--plot", metavar="FILE", help="draw the answers against the first range")


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", metavar="X", help="the diagram for one dataset, as JSON")
    picture = parser.add_mutually_exclusive_group()
    picture.add_argument("--dot", metavar="FILE", nargs="?", const="-", help="Graphviz text (to stdout without FILE)")
    picture.add_argument("--svg", metavar="FILE", nargs="?", const="-", help="a picture (to stdout without FILE)")


def _add_sample(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", metavar="X", required=True, help="the dataset as JSON: --input '[0,1,1]'")
    parser.add_argument("--size", metavar="K", default="1", help="how many outputs (default 1)")
    parser.add_argument("--seed", metavar="S", help="the same seed gives the same outputs")


_ADD = {
    "privacy": _add_privacy,
    "accuracy": _add_accuracy,
    "efficacy": _add_efficacy,
    "distribution": _add_distribution,
    "verify": _add_verify,
    "sweep": _add_sweep,
    "show": _add_show,
    "sample": _add_sample,
}
