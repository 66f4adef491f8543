"""What shells complete, asked as argcomplete is asked, and in bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import environment
from thinned import thinned
from tightdp.cli.completion import _NAMES, programs, whole_parser
from tightdp.cli.main import CERTIFIED, COMMANDS, declare_all
from tightdp.methods.choose import NAMES, read_method

FILE = """
import tightdp as td

raise SystemExit("files are not imported")


@td.mechanism(record=td.Bit)
def one(x, lam, *, turns=1):
    return x


@td.mechanism
def other(x, n, ratio):
    return x


same = one


def helper(x, no):
    return x


made = td.mechanism(record=td.Bit)(helper)
short = td.mechanism(lambda x, top: max(x))
typed: td.Mechanism = td.mechanism(helper)
none = td.flip(helper)
"""


def test_the_parser_for_completion_knows_all_commands_and_names() -> None:
    parser = whole_parser(COMMANDS, CERTIFIED, declare_all)
    assert programs("gallery/fl") == ["gallery/floating_point"]
    listed = parser.format_help()
    assert [command for command in COMMANDS if command not in listed] == []


def test_the_words_of_options_stand_in_their_help() -> None:
    parser = whole_parser(COMMANDS, CERTIFIED, declare_all)
    commands = next(action.choices for action in parser._actions if action.choices)
    for dest, words in _NAMES.items():
        texts = {each.help or "" for command in commands.values() for each in command._actions if each.dest == dest}
        assert texts
        if not isinstance(words, str):
            assert [word for word in words for text in texts if word not in text] == []


def completions(typed: str, folder: Path) -> list[str]:
    """Ask by the variables that the function of a shell sets."""
    answer = folder / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_COMP_WORDBREAKS": " \t\n\"'><=;|&(:",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": typed,
        "COMP_POINT": str(len(typed)),
        "COMP_TYPE": "9",
    }
    command = [sys.executable, "-m", "tightdp"]
    done = subprocess.run(
        command, env={**environment(), **asked}, cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return answer.read_text(encoding="utf-8").split()


@pytest.mark.one_in(3)
@pytest.mark.extra("completion")
@pytest.mark.parametrize(
    ("typed", "words"),
    thinned(
        [
            ("privacy two.py:", ["one", "other", "same", "made", "short", "typed"]),
            ("privacy two.py:ot", ["other"]),
            ("privacy gallery/threshold_tail:m", ["meant", "mended"]),
            ("privacy two.py:one ", ["n=", "lam=", "turns="]),
            ("privacy two.py:same n=3 ", ["lam=", "turns="]),
            ("solve two.py:other r", ["ratio="]),
            ("verify two.py ", ["n=", "lam=", "turns=", "ratio=", "no=", "top="]),
            ("privacy two.py:made ", ["n=", "no="]),
            ("privacy two.py:short n=2 ", ["top="]),
            ("privacy two.py:one --delta 0 ", ["n=", "lam=", "turns="]),
            ("privacy --delta 0 two.py:one n=3 --timeout 10s l", ["lam="]),
            ("privacy two.py:one --delta 0 n=3 --neighbours unit", ["unit-step", "unit-all"]),
            ("privacy two.py:one --with-rounds n=3 --x ep", ["epsilon"]),
            ("privacy two.py:one n=3 --strategy h", ["helper"]),
            ("optimum two.py:one --target ", ["helper", "sum", "max", "min", "tuple"]),
            ("solve two.py:one --best ", ["accuracy", "utility"]),
            ("optimum two.py:one --measure s", ["squared-error"]),
            ("guessing two.py:one --guesser ", ["all", "certain"]),
            ("certify au", ["audit"]),
            ("certify opt", ["optimum"]),
            ("certify optimum two.py:same n=3 ", ["lam=", "turns="]),
            ("certify audit --method fdp --variant l", ["listing"]),
            ("certify audit --method s", ["steinke"]),
            ("certify audit --corr", ["--correct"]),
            ("certif", ["certify"]),
            ("privacy randomized_response ", ["n=", "lam="]),
            ("privacy two.py:one lam=", []),
            ("privacy two.py:helper ", []),
            ("privacy missing.py:one n", []),
            ("privacy two.py --neighbours unit", ["unit-step", "unit-all"]),
            ("privacy two.py --backend ", ["cudd", "autoref"]),
            ("audit --method f", ["fdp"]),
            ("schema effi", ["efficacy"]),
        ],
        2,
    ),
)
def test_words_are_completed_and_no_file_imported(typed: str, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(FILE, encoding="utf-8")
    assert completions(f"tightdp {typed}", tmp_path) == words


@pytest.mark.extra("completion")
def test_every_method_is_completed_as_it_is_read(tmp_path: Path) -> None:
    assert [read_method(word) for word in completions("tightdp privacy xor --method ", tmp_path)] == list(NAMES)


@pytest.mark.one_in(3)
@pytest.mark.extra("completion")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("tightdp pri", "privacy"),
        ("tightdp privacy --cu", "--curve"),
        ("tightdp privacy gallery/fl", "gallery/floating_point"),
        ("tightdp privacy randomized_response la", "lam="),
    ],
)
def test_a_shell_completes(typed: str, word: str, tmp_path: Path) -> None:
    """The function that bash calls at Tab, in bash."""
    command = tmp_path / "tightdp"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tightdp "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    asked = f"""
        eval "$("{sys.executable}" -c 'from argcomplete import shellcode; print(shellcode(["tightdp"]))')"
        COMP_TYPE=9 COMP_KEY=9 COMP_LINE='{typed}' COMP_POINT={len(typed)} COMP_WORDS=({typed})
        COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
        _python_argcomplete tightdp "${{COMP_WORDS[COMP_CWORD]}}" ""
        echo "${{COMPREPLY[*]}}"
    """
    variables = {**environment(), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", asked], env=variables, capture_output=True, text=True, timeout=60)
    assert word in done.stdout.split(), done.stderr
