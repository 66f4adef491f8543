"""One query of a command: asked under a progress bar, printed, and turned into an exit status."""

from __future__ import annotations

import json
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING

from tightdp.cli.words import UsageError
from tightdp.errors import LimitError
from tightdp.exact.numbers import decimal_text
from tightdp.limits import Command, begin, interrupted, interruption, snapshot
from tightdp.present.show import view
from tightdp.present.text import print_view
from tightdp.results.answers import Sweep, Unknown, Verification
from tightdp.results.result import Drawn, Result, Subject
from tightdp.session.instance import Instance
from tightdp.session.later import Later

if TYPE_CHECKING:
    from tightdp.cli import bars
    from tightdp.methods.control import Step
    from tightdp.session import known as _known
else:
    bars = Later("tightdp.cli.bars")
    _known = Later("tightdp.session.known")

DONE, REFUTED, UNRESOLVED, INTERRUPTED = 0, 1, 3, 130
_SHOWN_AFTER = 1.0
"""Seconds until the progress bar appears."""
_BETWEEN_UPDATES = 0.1
"""Seconds between two updates of the progress bar."""


@dataclass(frozen=True)
class Asked:
    """What a query found, and whether the user interrupted it."""

    result: Result
    interrupted: bool = False

    @property
    def exit_status(self) -> int:
        """The exit status of a command whose answer this is."""
        open_ = INTERRUPTED if self.interrupted else UNRESOLVED
        if isinstance(self.result, Verification):
            return {True: DONE, False: REFUTED, None: open_}[self.result.holds]
        return open_ if self.result.cut_short else DONE


def answer(instance: Instance, options: Namespace, query: Callable[[], Result]) -> int:
    """Ask, print what is known, and return the exit status."""
    asked = ask(instance, options, query)
    emit(asked.result, options)
    return asked.exit_status


def ask(instance: Instance, options: Namespace, query: Callable[[], Result], name: str = "") -> Asked:
    """Ask under a progress bar; `name` is what the query is called, the command's name unless given."""

    def asked() -> Result:
        with _progress(instance):
            return query()

    return ask_about(instance.subject, name or options.command, asked)


def ask_about(subject: Subject, name: str, query: Callable[[], Result]) -> Asked:
    """Ask about any subject; where a limit is reached before anything is known, the result is `Unknown`."""
    snapshot(Unknown(subject=subject, status="unresolved", name=name))  # printed where it must be abandoned
    begin()
    try:
        return Asked(query(), interrupted())
    except LimitError as error:
        unknown = Unknown(subject=subject, status="unresolved", reason=error.what, hint=error.hint, name=name)
        return Asked(unknown, interrupted())
    except KeyboardInterrupt:
        reason = interruption().what
        return Asked(Unknown(subject=subject, status="unresolved", reason=reason, name=name), interrupted=True)


def stopped(command: Command, error: LimitError, options: Namespace) -> int | None:
    """Print what is known of a query that had to be ended, and return the exit status; None where nothing is."""
    found = command.snapshot
    if found is not None:
        found = _known.stopped_by(found, error)
    if command.kept:
        if grows(options):
            sys.stderr.write(f"{error.what}: known rows are in {options.csv}; the same command goes on\n")
            return UNRESOLVED
        found = _known.with_rows(*command.kept, last=found)
    if found is None:
        return None
    asked = Asked(found)
    emit(asked.result, options)
    return asked.exit_status


def grows(options: Namespace) -> bool:
    """Whether rows are written to a file as they come; a picture needs all of them first."""
    return options.csv not in (None, "-") and options.plot is None


def emit(result: Result, options: Namespace) -> None:
    """Print a result as text, JSON or CSV, and draw it where `--plot` asks for that.

    JSON has no room for what cut an answer short: that goes to stderr.
    """
    if isinstance(result, Sweep) and options.csv is not None:
        write_text(options.csv, result.csv())
    elif options.json:
        sys.stdout.write(f"{json.dumps(result.to_dict())}\n")
        if result.cut_short and result.reason:
            sys.stdout.flush()
            sys.stderr.write(f"{LimitError(result.reason, result.hint)}\n")
    else:
        print_view(view(result), sys.stdout)
    draw(result, options)


def draw(result: Result, options: Namespace) -> None:
    """Write the picture of a result, where `--plot` asks for it. Raises UsageError where there is none."""
    target = getattr(options, "plot", None)
    if target is None or isinstance(result, Unknown):
        return
    if not isinstance(result, Drawn):
        hint = "ask for one that is drawn: --curve, --tradeoff, an unknown (lam=?), or tightdp sweep"
        raise UsageError("this answer has no picture", hint)
    figure = result.plot().get_figure()
    try:
        figure.savefig(target)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"cannot write {target}: {said}", "give a path such as curve.png") from None
    sys.stderr.write(f"wrote {target}\n")


def write_text(target: str, text: str) -> None:
    """Write a text to a file, or to stdout for "-"."""
    if target == "-":
        sys.stdout.write(text)
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}", "give a path that can be written") from None


@contextmanager
def _progress(instance: Instance) -> Iterator[None]:
    if not sys.stderr.isatty() or parent_process() is not None:
        yield
        return
    last = 0.0

    def tell(step: Step) -> None:
        nonlocal last
        if time.monotonic() - last > _BETWEEN_UPDATES:
            last = time.monotonic()
            bar.update(task, completed=step.done, total=step.total or None, description=step.phase, found=_so_far(step))

    bar = bars.of_search()
    task = bar.add_task("compiling", total=None, found="")
    instance.progress = tell
    late = threading.Timer(_SHOWN_AFTER, bar.start)
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()
        late.join()
        bar.stop()
        instance.progress = None


def _so_far(step: Step) -> str:
    """Write the bound that is known so far, rounded."""
    value = None if step.bound is None else step.bound.value()
    if step.bound is None or value is None:
        return ""
    return f"{step.bound.side} {value:.6g}" if isinstance(value, float) else f"{step.bound.side} {decimal_text(value)}"
