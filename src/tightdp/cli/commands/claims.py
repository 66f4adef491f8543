"""The command `claims`: the claims of papers, decided again; see `tightdp.claims.command`."""

from argparse import ArgumentParser, Namespace

from tightdp.claims import command
from tightdp.cli import targets
from tightdp.cli.binding import add_time_and_memory
from tightdp.cli.jobs import add_jobs, answers

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    command.add_arguments(parser)
    add_time_and_memory(parser)
    add_jobs(parser)


def run(options: Namespace) -> int:
    """Run the claims on several processes or a cluster, and return the exit status."""
    if options.report is not None:
        targets.directory(options.report)
    return command.run(options, lambda work, tasks: answers(work, tasks, options))
