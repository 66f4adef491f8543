"""The command line: parse, call, print. `main.py` runs a command of `commands/`, `answer.py` one of its queries.

In: words. Out: text on stdout, an exit status. May import everything.
"""

from tightdp.cli.main import main

__all__ = ["main"]
