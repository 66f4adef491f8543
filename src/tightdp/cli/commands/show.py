"""The command `show`: the diagram, its counts and its pictures."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli import targets
from tightdp.cli.answer import DONE, ask, emit, write_text
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.words import read_dataset
from tightdp.results.diagram import Structure

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    parser.add_argument("--input", metavar="X", help="the diagram for one dataset, as JSON")
    picture = parser.add_mutually_exclusive_group()
    for name, what in (("--dot", "Graphviz text"), ("--svg", "a picture")):
        text = f"{what} (to stdout without FILE)"
        picture.add_argument(name, metavar="FILE", nargs="?", const="-", type=targets.file, help=text)
    picture.add_argument("--core", action="store_true", help="the core program, one line per value")
    add_limits(parser)


def run(options: Namespace) -> int:
    """Answer, print or write, and return the exit status."""
    x = None if options.input is None else read_dataset(options.input)
    instance = bind(options, None if x is None else len(x))
    if options.core:
        write_text("-", instance.core() + "\n")
        return DONE
    asked = ask(instance, options, lambda: instance.show(x))
    target = options.dot or options.svg
    if target is not None and isinstance(asked.result, Structure):
        write_text(target, asked.result.svg() if options.dot is None else asked.result.dot())
    if target != "-":
        emit(asked.result, options)
    return asked.exit_status
