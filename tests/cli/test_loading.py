"""Ctrl-C while the command is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

INTERRUPTED_AT = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.argv = [{script!r}]
sys.meta_path.insert(0, Interrupting())
import tightdp.cli.main
"""


def interrupted(module: str, script: str) -> subprocess.CompletedProcess[str]:
    program = INTERRUPTED_AT.format(module=module, script=script)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("module", ["tightdp._version", "tightdp.session.instance", "tightdp.cli.main"])
def test_the_command_says_one_line(module: str) -> None:
    found = interrupted(module, "/usr/bin/tightdp")
    assert (found.returncode, found.stderr) == (130, "interrupted before anything was known\n")


def test_other_programs_have_their_traceback() -> None:
    found = interrupted("tightdp.session.instance", "mine.py")
    assert "Traceback" in found.stderr
    assert "KeyboardInterrupt" in found.stderr
