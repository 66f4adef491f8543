"""The command `claims`: the claims of papers, decided again; see `tightdp.claims.command`."""

from argparse import Namespace

from tightdp.claims.command import add_arguments
from tightdp.claims.command import run as run_claims
from tightdp.cli import targets
from tightdp.cli.jobs import answers

__all__ = ["add_arguments", "run"]


def run(options: Namespace) -> int:
    """Run the claims on several processes or a cluster, and return the exit status."""
    if options.report is not None:
        targets.directory(options.report)
    return run_claims(options, lambda work, tasks: answers(work, tasks, options))
