"""The commands `audit`, `certify` (an answer, an audit, an optimum) and `check`: bounds and proofs."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tightdp.cli.answer import DONE, REFUTED, UNRESOLVED, ask_about, bind, bind_to, emit, write_text
from tightdp.cli.targets import UsageError
from tightdp.cli.words import given, read_bindings, read_json
from tightdp.errors import LimitError
from tightdp.exact.parameters import as_parameter
from tightdp.exact.rationals import as_int
from tightdp.results.audit import Audit
from tightdp.results.result import Subject
from tightdp.session.against import Differs, compare
from tightdp.session.auditing import audit
from tightdp.session.certify import Certificate, check_file
from tightdp.session.certify_alone import certify_audit, certify_optimum
from tightdp.session.instance import Instance
from tightdp.session.loading import load

_FAMILIES = ("gaussian", "laplace")
_AS_GIVEN = ("delta", "method", "significance", "epsilon", "exp_epsilon", "variant")


def run(options: Namespace) -> int:
    """Answer and print; or write a certificate, and what it establishes where it went to a file; or check one."""
    if options.command == "audit":
        found = ask_about(Subject("audit", (), "one secret"), "audit", lambda: _audited(options))
        emit(found.result, options)
        return found.exit_status
    if options.command == "check":
        if not Path(options.file).is_file():
            hint = "give a certificate that `tightdp certify --output` wrote"
            raise UsageError(f"there is no file {options.file}", hint)
        status = check_file(options.file, options.work)
        if status == 0 and options.against is not None:
            content = json.loads(Path(options.file).read_text(encoding="ascii"))
            named = content["claim"].get("mechanism", "")
            place = options.against if ":" in options.against else f"{options.against}:{named}"
            try:
                said = compare(content, load(place).program)
            except Differs as reason:
                said, status = f"refused: {reason.what}", REFUTED
            except LimitError as reason:
                said, status = reason.what, UNRESOLVED
            write_text("-", f"{said}\n")
        return status
    made = certify_audit(_audited(options)) if options.command == "certify_audit" else _certified(options)
    write_text(options.output, made.text)
    if options.output != "-":
        write_text("-", f"{options.output}: {made.establishes}\n")
        if made.times > 1:
            write_text("-", f"  check it with --work {made.times}: it takes more than the usual work\n")
    return DONE


def _audited(options: Namespace) -> Audit:
    tradeoff = _tradeoff(options)
    if options.bindings and not isinstance(tradeoff, Instance):
        raise UsageError(f"{options.bindings[0]!r} belongs to no program", "name its file: --tradeoff FILE[:NAME]")
    counts = {name: getattr(options, name) for name in ("canaries", "guesses", "correct", "options")}
    asked = {name: getattr(options, name) for name in _AS_GIVEN}
    asked |= {name: text if text is None else as_int(as_parameter(text), f"--{name}") for name, text in counts.items()}
    return audit(ideal=_curve(options.ideal, "--ideal"), tradeoff=tradeoff, **asked)


def _tradeoff(options: Namespace) -> Any:
    """Return a string, a list of pairs, or the instance of a program."""
    text = options.tradeoff
    if text is None or text.partition(":")[0].partition("@")[0] in _FAMILIES:
        return text
    return _curve(text, "--tradeoff") if text.lstrip().startswith("[") else _instance(options)


def _curve(text: str | None, option: str) -> Any:
    if text is None or not text.lstrip().startswith("["):
        return text
    return read_json(f"{option} {text!r}", text, "write pairs of e^ε and δ: '[[1, \"1/10\"], [3, 0]]'")


def _instance(options: Namespace) -> Instance:
    if ".py" not in options.tradeoff and not Path(options.tradeoff).exists():
        raise UsageError(
            f"--tradeoff {options.tradeoff!r} is not a trade-off function",
            "give gaussian:1, laplace:1, pairs '[[e^ε, δ], ...]', or the file of a program",
        )
    return bind_to(load(options.tradeoff), read_bindings(options.bindings), Namespace())


def _certified(options: Namespace) -> Certificate:
    instance = bind(options)
    names = {"renyi": "order", "input": "x"}
    claims = {names.get(name, name): value for name, value in given(options).items() if name != "output"}
    try:
        return _CERTIFIED[options.command](instance, **claims)
    except LimitError as error:
        raise LimitError(f"no certificate was made: {error.what}", error.hint) from None


_CERTIFIED: dict[str, Callable[..., Certificate]] = {
    "certify": lambda instance, **asked: instance.certify(**asked),
    "certify_optimum": lambda instance, **asked: certify_optimum(instance.optimum(**asked)),
}
