"""The commands that ask one question about a mechanism: each asks the method of `Instance` that has its name.

A command asks with the options that were given, under their names. What has another name stands here.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable

from tightdp.cli.answer import DONE, answer, ask, bind, emit, write_text
from tightdp.cli.targets import UsageError
from tightdp.cli.words import given
from tightdp.exact.parameters import read_count
from tightdp.results.answers import Unknown
from tightdp.results.result import Result
from tightdp.session import canaries as _audits
from tightdp.session.instance import Instance


def run(options: Namespace) -> int:
    """Ask, print or write, and return the exit status."""
    if options.command in _CHECKS:
        _CHECKS[options.command](options)
    instance = bind(options)
    if options.command in _WRITTEN:
        return _WRITTEN[options.command](instance, options)
    asked = _ASKED.get(options.command, _named)
    return answer(instance, options, lambda each: asked(each, options))


def _named(instance: Instance, options: Namespace) -> Result:
    found: Result = getattr(instance, options.command)(**given(options))
    return found


def _check_privacy(options: Namespace) -> None:
    others = options.tradeoff or options.zcdp or options.renyi is not None or options.top is not None
    if options.runs is not None and others:
        raise UsageError("--runs goes with ε and δ only", "ask with --delta, --epsilon, --exp-epsilon or --curve")


def _privacy(instance: Instance, options: Namespace) -> Result:
    loss = None
    if options.runs is not None:
        loss = instance.privacy_loss().compose(read_count("--runs", options.runs))
    if options.epsilon is not None or options.exp_epsilon is not None:
        return (loss or instance).delta(epsilon=options.epsilon, exp_epsilon=options.exp_epsilon)
    if options.curve:
        return (loss or instance).curve()
    if loss is not None:
        return loss.epsilon(delta=options.delta or 0)
    if options.tradeoff:
        return instance.tradeoff()
    if options.renyi is not None:
        return instance.renyi(options.renyi)
    if options.zcdp:
        return instance.zcdp()
    return instance.privacy(delta=options.delta or 0, top=options.top or 1)


_BELONGS = {
    "--adaptive": ("threshold", "order", "pairs", "delta"),
    "--runs": ("threshold", "x", "x_prime"),
    "an audit in one run": ("guesser", "pairs", "delta"),
}


def _check_guessing(options: Namespace) -> None:
    kind = "--adaptive" if options.adaptive else "an audit in one run" if options.runs is None else "--runs"
    for name in sorted({*given(options)} - {*_BELONGS[kind], "adaptive", "runs"}):
        others = " or ".join(other for other, names in _BELONGS.items() if name in names)
        raise UsageError(f"--{name.replace('_', '-')} does not go with {kind}", f"it belongs to {others}")


def _guessing(instance: Instance, options: Namespace) -> Result:
    asked = given(options)
    if asked.pop("adaptive", False):
        return instance.adaptive_guessing(**asked)
    return instance.classic_guessing(**asked) if options.runs is not None else instance.guessing(**asked)


def _canaries(instance: Instance, options: Namespace) -> Result:
    asked = given(options) | {"at_most": read_count("--at-most", options.at_most)}
    pair = asked.pop("pair", None)
    found: Result = _audits.canaries_needed(instance, **asked, pairs=None if pair is None else lambda n: [pair] * n)
    return found


def _report(instance: Instance, options: Namespace) -> int:
    asked = ask(instance, options, lambda: instance.report(alpha=options.alpha))
    if isinstance(asked.result, Unknown) or options.json:
        emit(asked.result, options)
    else:
        write_text(options.output or "-", asked.result.html())  # type: ignore[attr-defined]
        if options.output not in (None, "-"):
            sys.stdout.write(f"wrote {options.output}\n")
    return asked.exit_status


def _show(instance: Instance, options: Namespace) -> int:
    if options.core:
        write_text("-", instance.core() + "\n")
        return DONE
    asked = ask(instance, options, lambda: instance.show(options.x))
    target = options.dot or options.svg
    if target is not None and not isinstance(asked.result, Unknown):
        picture = asked.result.svg() if options.dot is None else asked.result.dot()  # type: ignore[attr-defined]
        write_text(target, picture)
    if target != "-":
        emit(asked.result, options)
    return asked.exit_status


_CHECKS = {"privacy": _check_privacy, "guessing": _check_guessing}
"""What of the options is looked at before the program is loaded."""
_ASKED: dict[str, Callable[[Instance, Namespace], Result]] = {
    "privacy": _privacy,
    "guessing": _guessing,
    "canaries": _canaries,
}
_WRITTEN = {"report": _report, "show": _show}
