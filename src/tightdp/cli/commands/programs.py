"""The command `programs`: the mechanisms that ship with the package, which every command takes by name."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from tightdp._version import __version__
from tightdp.cli.answer import DONE
from tightdp.cli.errors import UsageError
from tightdp.present.text import print_view
from tightdp.present.view import Grid, View
from tightdp.results.result import SCHEMA
from tightdp.session.builtin import BuiltIn, builtin_program, builtin_programs, nearest_program

__all__ = ["run"]


def run(options: Namespace) -> int:
    """Print the list, or the source of one program, and return the exit status."""
    if options.name is not None:
        sys.stdout.write(_named(options.name).path.read_text(encoding="utf-8"))
        return DONE
    found = builtin_programs()
    if options.json:
        listed = [{"name": one.name, "mechanisms": list(one.mechanisms), "summary": one.summary} for one in found]
        about = {"schema": SCHEMA, "tightdp": __version__, "query": "programs"}
        json.dump({**about, "programs": listed}, sys.stdout)
        sys.stdout.write("\n")
        return DONE
    rows = tuple((one.name, one.summary) for one in found)
    said = (
        "Every command takes these names in place of a file, as in: tightdp privacy randomized_response n=8 lam=1/5",
        "tightdp programs NAME prints the source, with its parameters.",
    )
    print_view(View("programs that ship with tightdp", (), Grid(("name", "what"), rows), said), sys.stdout)
    return DONE


def _named(name: str) -> BuiltIn:
    found = builtin_program(name)
    if found is None:
        close = nearest_program(name)
        hint = f"did you mean {close}?" if close else "tightdp programs lists them"
        raise UsageError(f"there is no program {name!r} in the package", hint)
    return found
