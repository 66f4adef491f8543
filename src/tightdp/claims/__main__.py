"""`python -m tightdp.claims`: the same as `tightdp claims`."""

import sys
from argparse import ArgumentParser

from tightdp.claims.command import add_arguments, run
from tightdp.errors import TightdpError

if __name__ == "__main__":
    parser = ArgumentParser(prog="tightdp claims", description="Decide the claims of papers again.")
    add_arguments(parser)
    try:
        sys.exit(run(parser.parse_args()))
    except TightdpError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
