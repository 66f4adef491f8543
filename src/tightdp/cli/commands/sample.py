"""The command `sample`: draws of the mechanism itself, run as Python."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import DONE, emit
from tightdp.cli.binding import add_program, bind_program, load
from tightdp.cli.words import read_bindings, read_dataset
from tightdp.session.arguments import read_count
from tightdp.session.instance import Instance

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    parser.add_argument("--input", metavar="X", required=True, help="the dataset as JSON: --input '[0,1,1]'")
    parser.add_argument("--size", metavar="K", default="1", help="how many outputs (default 1)")
    parser.add_argument("--seed", metavar="S", help="the same seed gives the same outputs")


def run(options: Namespace) -> int:
    """Draw, print, and return the exit status."""
    x = read_dataset(options.input)
    bound = bind_program(load(options.file), read_bindings(options.bindings), None, len(x))
    emit(Instance(bound).sample(x, size=read_count("--size", options.size), seed=options.seed), options)
    return DONE
