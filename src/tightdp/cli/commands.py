"""One function per command: it binds the mechanism, asks, prints, and returns the exit status."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from tightdp.cli.load import load, read_bindings, read_dataset, read_pairs
from tightdp.cli.parser import UsageError
from tightdp.errors import LimitError
from tightdp.exact.rationals import as_int, as_parameter
from tightdp.language.primitives import PseudoRandom
from tightdp.language.program import Bound
from tightdp.results.answers import Sample, Unknown, Verification
from tightdp.results.result import Result
from tightdp.session.arguments import read_count
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism

__all__ = ["COMMANDS", "ask", "bind", "bind_to", "emit", "interruptible", "privacy_query", "write_text"]

R = TypeVar("R", bound=Result)

DONE, REFUTED, UNRESOLVED = 0, 1, 3
_BETWEEN_UPDATES = 0.1
"""Seconds between two updates of the progress bar."""


def privacy(options: argparse.Namespace) -> int:
    """The tight ε, or what else is asked of privacy."""
    instance = bind(options)
    return emit(ask(instance, options, lambda: privacy_query(instance, options)), options)


def privacy_query(instance: Instance, options: argparse.Namespace) -> Result:
    """Ask what the options say."""
    if options.epsilon is not None or options.exp_epsilon is not None:
        return instance.delta(epsilon=options.epsilon, exp_epsilon=options.exp_epsilon)
    if options.delta is not None:
        return instance.privacy(delta=options.delta)
    if getattr(options, "curve", False):
        return instance.curve()
    if getattr(options, "tradeoff", False):
        return instance.tradeoff()
    if getattr(options, "renyi", None) is not None:
        return instance.renyi(options.renyi)
    return instance.privacy(top=getattr(options, "top", None) or 1)


def accuracy(options: argparse.Namespace) -> int:
    """The tight 1 - β, or the least α."""
    instance = bind(options)

    def query() -> Result:
        return instance.accuracy(options.alpha, beta=options.beta, top=options.top)

    return emit(ask(instance, options, query), options)


def efficacy(options: argparse.Namespace) -> int:
    """The efficacy of one-run auditing and its gaps."""
    pairs = options.pairs if options.pairs in (None, "best") else read_pairs(options.pairs)
    instance = bind(options)

    def query() -> Result:
        return instance.efficacy(options.guesses, pairs, adaptive=options.adaptive)

    return emit(ask(instance, options, query), options)


def distribution(options: argparse.Namespace) -> int:
    """The output law on one dataset."""
    x = read_dataset(options.input)
    instance = bind(options, len(x))
    return emit(ask(instance, options, lambda: instance.distribution(x)), options)


def verify(options: argparse.Namespace) -> int:
    """The verdict on claims; the exit status tells it too."""
    instance = bind(options)

    def query() -> Verification:
        return instance.verify(
            epsilon=options.epsilon,
            exp_epsilon=options.exp_epsilon,
            delta=options.delta,
            alpha=options.alpha,
            beta=options.beta,
        )

    result = ask(instance, options, query)
    emit(result, options)
    return {True: DONE, False: REFUTED, None: UNRESOLVED}[result.holds]


def show(options: argparse.Namespace) -> int:
    """The diagram."""
    x = None if options.input is None else read_dataset(options.input)
    instance = bind(options, None if x is None else len(x))
    result = ask(instance, options, lambda: instance.show(x))
    if options.dot is None and options.svg is None:
        return emit(result, options)
    target = options.dot or options.svg
    text = result.svg() if options.dot is None else result.dot()
    write_text(target, text)
    return DONE if target == "-" else emit(result, options)


def sample(options: argparse.Namespace) -> int:
    """Draws of the mechanism itself, run as Python."""
    x = read_dataset(options.input)
    bound = _bound(load(options.file), read_bindings(options.bindings), None, len(x))
    size = read_count("--size", options.size)
    seed = None if options.seed is None else as_int(as_parameter(options.seed), "--seed")
    dataset, source = bound.check_dataset(x), PseudoRandom(seed)
    outputs = tuple(bound.run(dataset, source) for _ in range(size))
    return emit(Sample(subject=Instance(bound).subject, x=dataset, seed=seed, outputs=outputs), options)


def sweep(options: argparse.Namespace) -> int:
    """A table over ranges."""
    from tightdp.cli.sweep import sweep

    return sweep(options)


def audit(options: argparse.Namespace) -> int:
    """What an observation of one run rules out."""
    from tightdp.cli.audit import run

    return run(options)


def claims(options: argparse.Namespace) -> int:
    """The verdicts on claims of papers; the exit status tells whether they are as recorded."""
    from tightdp.claims.command import run

    return run(options)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "privacy": privacy,
    "accuracy": accuracy,
    "efficacy": efficacy,
    "distribution": distribution,
    "verify": verify,
    "show": show,
    "sample": sample,
    "audit": audit,
    "sweep": sweep,
    "claims": claims,
}


def bind(options: argparse.Namespace, n: int | None = None) -> Instance:
    """Load the mechanism and bind what the command line says; `n` is the number of records, if known otherwise."""
    return bind_to(load(options.file), read_bindings(options.bindings), options, n)


def bind_to(mechanism: Mechanism, parameters: dict[str, Any], options: argparse.Namespace, n: int | None) -> Instance:
    """Bind a mechanism to parameters under the options' neighbours and limits."""
    bound = _bound(mechanism, parameters, options.neighbours, n)
    most = None if options.max_nodes is None else read_count("--max-nodes", options.max_nodes)
    return Instance(bound, options.backend, timeout=options.timeout, max_nodes=most)


def _bound(mechanism: Mechanism, given: dict[str, Any], neighbours: str | None, n: int | None) -> Bound:
    parameters = {name: value for name, value in given.items() if name != "n"}
    size = given.get("n", n)
    if size is None:
        raise UsageError("n, the number of records, is missing", "give it, as in n=8")
    for name in ("neighbours", "self"):
        if name in parameters:
            hint = "use the option --neighbours" if name == "neighbours" else "leave it out"
            raise UsageError(f"{name} is not a parameter of {mechanism.name}", hint)
    return mechanism.program.bind(size, neighbours=neighbours, **parameters)


def ask(instance: Instance, options: argparse.Namespace, query: Callable[[], R]) -> R:
    """Ask; where a limit is reached before anything is known, print an unresolved answer before the error goes on."""
    try:
        with interruptible(instance):
            return query()
    except LimitError as error:
        name = options.command
        emit(Unknown(subject=instance.subject, status="unresolved", reason=error.what, name=name), options)
        raise


def emit(result: Result, options: argparse.Namespace) -> int:
    """Print a result as asked, and return the exit status that its status means."""
    if options.json:
        json.dump(result.to_dict(), sys.stdout)
        sys.stdout.write("\n")
    else:
        from tightdp.present.table import print_view

        print_view(result.view(), sys.stdout)
    return UNRESOLVED if result.status == "unresolved" else DONE


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
def interruptible(instance: Instance) -> Iterator[None]:
    """Let Ctrl-C end the query with what it knows (a second one ends it at once), and show progress on a terminal."""

    def stop(number: int, frame: FrameType | None) -> None:
        instance.engine.stopping = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not in the main thread
        before = None
    try:
        with _progress(instance):
            yield
    except KeyboardInterrupt:
        raise LimitError("the query was interrupted", "let it run, or ask for less") from None
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _progress(instance: Instance) -> Iterator[None]:
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    last = 0.0

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > _BETWEEN_UPDATES:
            last = time.monotonic()
            bar.update(task, completed=done, total=total or None)

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("searching", total=None)
        instance.engine.progress = tell
        yield
    instance.engine.progress = None
