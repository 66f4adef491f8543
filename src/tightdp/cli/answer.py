"""One query of a command: bound to the mechanism of FILE[:NAME], asked under a progress bar, printed.

Its answer is turned into an exit status.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tightdp.cli.targets import UsageError
from tightdp.cli.words import declare, read_bindings
from tightdp.errors import LimitError
from tightdp.exact.lazily import lazily
from tightdp.exact.numbers import decimal_text
from tightdp.limits import Command, begin, interrupted, interruption, snapshot
from tightdp.present.show import view
from tightdp.present.text import print_view
from tightdp.results.answers import Sweep, Unknown, Verification
from tightdp.results.result import Drawn, Result, Subject
from tightdp.session import known, of
from tightdp.session.arguments import read_count
from tightdp.session.instance import Instance
from tightdp.session.instances import bound_to
from tightdp.session.loading import load
from tightdp.session.mechanism import Mechanism

if TYPE_CHECKING:
    from tightdp.methods.base import Step

jobs = lazily("tightdp.cli.jobs")

_HOW = ("strategy", "floats", "with_rounds", "with_bits")
_LIMITS = ("backend", "timeout", "max_nodes", "max_memory", "method", "precision")


def bind(options: Namespace) -> Instance:
    """Load the mechanism and bind what the command line says; n is that of a dataset where one is given."""
    return bind_to(named(options), read_bindings(options.bindings), options)


def named(options: Namespace) -> Mechanism:
    """Return the mechanism of a file, or of code that knows nothing of tightdp, as the options say how it is called."""
    if getattr(options, "record", None) is None:
        return load(options.file)
    name, _, kind = (options.source or "").partition("=")
    source = {name: of.at(kind)} if kind else name or None
    fixed = {key: of.as_argument(value) for key, value in read_bindings(options.of).items()}
    caught = [of.at(text if "." in text else f"builtins.{text}") for text in options.catch]
    given = {"record": options.record, "dataset": options.dataset, "source": source, "arguments": fixed}
    return of.of(options.file, catch=caught, **given)


def bind_to(mechanism: Mechanism, parameters: dict[str, Any], options: Namespace) -> Instance:
    """Bind a mechanism to parameters under the options' neighbours and limits. Raises UsageError where n is missing."""
    limits = {name: value for name, value in vars(options).items() if name in _LIMITS}
    if limits.get("max_nodes") is not None:
        limits["max_nodes"] = read_count("--max-nodes", limits["max_nodes"])
    named = {"n": _size(options), **parameters}
    size = named.pop("n")
    if size is None:
        raise UsageError("n, the number of records, is missing", "give it, as in n=8")
    if isinstance(size, str) and re.search(r"\.\.|,", size):
        raise UsageError(f"n={size} is a range", f"tightdp sweep asks over ranges: tightdp sweep FILE n={size} ...")
    options_alone = {*vars(options)} - {"file", "bindings", "command", *mechanism.program.parameters}
    for name in named:
        if name in ("neighbours", "strategy", "self") or name in options_alone:
            hint = "leave it out" if name == "self" else f"use the option --{name.replace('_', '-')}"
            raise UsageError(f"{name} is not a parameter of {mechanism.name}", hint)
    how = {name: value for name, value in vars(options).items() if name in _HOW}
    return bound_to(mechanism.program, getattr(options, "neighbours", None), size, named, **how, **limits)


def _size(options: Namespace) -> int | None:
    """Return the number of records that the options tell: that of a dataset, or 1, from where `canaries` goes up."""
    if getattr(options, "x", None) is not None:
        return len(options.x)
    return 1 if getattr(options, "command", "") == "canaries" else None


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


def answer(instance: Instance, options: Namespace, query: Callable[[Instance], Result]) -> int:
    """Ask, also about what is drawn beside it, print what is known, and return the first exit status that is not 0."""
    others = _beside(options)
    found = [ask(each, options, lambda each=each: query(each)) for each in (instance, *others)]  # type: ignore[misc]
    for place, asked in enumerate(found):
        sys.stdout.write("\n" if place and not options.json else "")
        tell(asked.result, options)
    draw(found[0].result, options, [asked.result for asked in found[1:]])
    return next((asked.exit_status for asked in found if asked.exit_status != DONE), DONE)


def _beside(options: Namespace) -> list[Instance]:
    """Return the mechanisms that `--beside` names, bound. Raises UsageError where no picture is drawn."""
    given = getattr(options, "beside", ())
    if given and options.plot is None:
        raise UsageError("--beside says what else is drawn, and nothing is", "give --plot FILE too")
    found = []
    for text in given:
        parser = _Beside(prog="--beside", add_help=False, allow_abbrev=False)
        declare(parser, "")
        words = parser.parse_intermixed_args(shlex.split(text))
        found.append(bind_to(named(words), read_bindings(words.bindings), options))
    return found


class _Beside(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        what = "--beside names no mechanism" if "are required: FILE" in message else f"--beside: {message}"
        raise UsageError(what, "write --beside 'FILE[:NAME] n=8 lam=1/4'")


def ask(instance: Instance, options: Namespace, query: Callable[[], Result], name: str = "") -> Asked:
    """Ask under a progress bar; `name` is what the query is called, the command's name unless given."""

    def asked() -> Result:
        with _progress(instance):
            return query()

    return ask_about(instance.subject, name or options.command, asked)


def ask_about(subject: Subject, name: str, query: Callable[[], Result]) -> Asked:
    """Ask about any subject; where a limit is reached before anything is known, the result is `Unknown`."""
    unknown = Unknown(subject=subject, status="unresolved", name=name)
    snapshot(unknown)  # printed where it must be abandoned
    begin()
    try:
        return Asked(query(), interrupted())
    except LimitError as error:
        return Asked(replace(unknown, reason=error.what, hint=error.hint), interrupted())
    except KeyboardInterrupt:
        return Asked(replace(unknown, reason=interruption().what), interrupted=True)


def stopped(command: Command, error: LimitError, options: Namespace) -> int | None:
    """Print what is known of a query that had to be ended, and return the exit status; None where nothing is."""
    found = command.snapshot if "json" in options else None  # a certificate is not made of what is known of an answer
    if found is not None:
        found = known.stopped_by(found, error)
    if command.kept:
        if grows(options):
            sys.stderr.write(f"{error.what}: known rows are in {options.csv}; the same command goes on\n")
            return UNRESOLVED
        found = known.with_rows(*command.kept, last=found)
    if found is None:
        return None
    asked = Asked(found)
    emit(asked.result, options)
    return asked.exit_status


def grows(options: Namespace) -> bool:
    """Whether rows are written to a file as they come; a picture needs all of them first."""
    return options.csv not in (None, "-") and options.plot is None


def emit(result: Result, options: Namespace) -> None:
    """Print a result as text, JSON or CSV, and draw it where `--plot` asks for that."""
    tell(result, options)
    draw(result, options)


def tell(result: Result, options: Namespace) -> None:
    """Print a result as text, JSON or CSV. JSON has no room for what cut an answer short: that goes to stderr."""
    if isinstance(result, Sweep) and options.csv is not None:
        write_text(options.csv, result.csv())
    elif options.json:
        sys.stdout.write(f"{json.dumps(result.to_dict())}\n")
    else:
        print_view(view(result), sys.stdout)


def draw(result: Result, options: Namespace, beside: Sequence[Result] = ()) -> None:
    """Write the picture of results, where `--plot` asks for it. Raises UsageError where there is none."""
    target = getattr(options, "plot", None)
    if target is None or isinstance(result, Unknown):
        return
    if not isinstance(result, Drawn):
        hint = "ask for one that is drawn: --curve, --tradeoff, an unknown (lam=?), or tightdp sweep"
        raise UsageError("this answer has no picture", hint)
    scales: dict[str, Any] = {}
    if result.line == "privacy curve":
        scales = {"x": options.axis, "log_delta": not options.linear}
    figure = result.plot(beside=[each for each in beside if not isinstance(each, Unknown)], **scales).get_figure()
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

    bar = jobs.of_search()
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
