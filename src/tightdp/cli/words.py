"""The words of the command line: what reads them, and the options of every command, written as its help shows them.

A line of `OPTIONS` has the option, its metavar, its default in parentheses, and what it is, after two spaces. `[FILE]`
may be left out, `X!` may not, of `ID*` there may be several; without metavar the option is a switch. An argument
without dashes stands in `<>`. Lines with a bar exclude each other, with `|!` one of them is needed. A line that ends in
a colon begins a group of its own.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Protocol

from tightdp.cli.targets import UsageError, writable_directory, writable_file, writable_picture
from tightdp.exact.parameters import read_count


def read_floats(text: str) -> int:
    """Return how many bits random() has."""
    if text == "-":
        return 53
    if not text.isdigit() or not int(text):
        raise UsageError(f"--floats {text} is not a number of bits", "write --floats behind the file, or --floats 53")
    return int(text)


def read_axis(text: str) -> str:
    """Return what a curve is drawn against, by its name in Python."""
    if text.replace("-", "_") not in ("epsilon", "exp_epsilon"):
        raise UsageError(f"--x {text} is not an axis", "give epsilon or exp-epsilon")
    return text.replace("-", "_")


_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_QUOTED = "write an array such as [0,1,1], and quote it"


def read_bindings(bindings: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that KEY=VALUE words give."""
    values: dict[str, Any] = {}
    for binding in bindings:
        key, equals, text = binding.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"{binding!r} is not KEY=VALUE", "write n=8 lam=1/5, without spaces around =")
        if key in values:
            raise UsageError(f"{key} is given twice", "give every parameter once")
        values[key] = read_value(key, text)
    return values


def read_value(key: str, text: str) -> Any:
    """Return the value of a parameter: a JSON array, true, false, null, or the text itself."""
    if not text.strip():
        raise UsageError(f"{key} has no value", f"write {key}=VALUE")
    if text.lstrip()[0] in "[{":
        value = read_json(f"{key}={text}", text)
        if not isinstance(value, list):
            raise UsageError(f"{key}={text} is a JSON object", "give an int, a rational, a string or a JSON array")
        return value
    return _WORDS.get(text, text)


def read_dataset(text: str, option: str = "--input") -> list[Any]:
    """Return the dataset that a JSON array gives, with or without its brackets; decimals stay exact."""
    bare = text.strip() and text.lstrip()[0] not in "[{("
    hint = f"give one record per entry, as in {option} '[0,1,1]'"
    return _array(option, f"[{text}]" if bare else text, _QUOTED, hint, text)


def read_pairs(text: str) -> Any:
    """Return the pair vector that a JSON array gives, or "best"."""
    hint = "give best, or a pair per client: '[[0,1],[0,1]]'"
    return text if text == "best" else _array("--pairs", text, hint, hint)


def _array(option: str, text: str, hint: str, what: str, written: str | None = None) -> list[Any]:
    shown = f"{option} {(text if written is None else written)!r}"
    value = read_json(shown, text, hint)
    if not isinstance(value, list):
        raise UsageError(f"{shown} is not a JSON array", what)
    return value


def read_json(where: str, text: str, hint: str = _QUOTED) -> Any:
    """Return what JSON says; decimals stay exact."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {error}", hint) from None


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number")


_PROGRAM = """
<file> FILE[:NAME]  a Python file, and which of its mechanisms
<bindings> KEY=VALUE*  n and the parameters of the mechanism
"""
_TIME = """
--timeout S  give up after S seconds (also 10s, 2m, 1h)
--max-memory SIZE  give up beyond, as in 4G (default: 80%% of what is free)
"""
_JOBS = """
--jobs N  work on N rows at once (default: one per core)
--dask ADDRESS  work on the rows on a Dask cluster, as in tcp://host:8786
"""
_METHOD = "--method NAME  ask one method only, such as exhaustive or chain"
_STRATEGY = "--strategy NAME  who answers ask: a function in FILE (default: any analyst)"
_FLOATS = "--floats [BITS]  numbers are doubles as they run, and random() is k / 2^BITS (53 unless given)"
_LIMITS = f"""
neighbours and limits:
--neighbours NAME  replace-one, unit-step, unit-all or add-remove
{_STRATEGY}
{_FLOATS}
--with-rounds  how often loops go round is published too: what an observer of the time sees
--with-bits  the number of fair bits that are drawn is published too
{_TIME}
--max-nodes N  give up when the diagram has more nodes
{_METHOD}
--precision W  an enclosure of relative width W is enough, such as 1e-9
--backend NAME (cudd)  the library of diagrams: cudd or autoref
"""
_SHIPPED = """
code that knows nothing of tightdp:
--record DOMAIN  FILE is module:function or module:Class.method, of which records are these: Bit, 'Int(0, 3)', ...
--of KEY=VALUE*  what every run makes the class with, or an argument of the function that is fixed
--dataset TEXT (x)  how it is called with the dataset x: x (default), 'x[0]', 'list(x)', 'values=np.array(x)'
--catch CLASS*  publish the name of this exception where it is raised
--source NAME  the argument that takes a generator, of numpy; NAME=random.Random for another
"""
_AUDITED = _LIMITS.replace(_METHOD, "") + _SHIPPED
_PLOT = "--plot FILE  also draw the answer, as in curve.svg or curve.png"
_BESIDE = f"""
pictures:
{_PLOT}
--beside TEXT*  draw this mechanism in the same picture: --beside 'FILE[:NAME] n=8 lam=1/4', with its own --record
"""
_CURVES = f"""{_BESIDE}
--x AXIS (epsilon)  what a curve is drawn against: epsilon (default) or exp-epsilon
| --log-delta  draw δ on a logarithmic scale (default)
| --linear  draw δ on a linear scale
"""
_CLAIMS = """
| --epsilon E  claim: (E, δ)-differentially private
| --exp-epsilon T  the same with e^ε = T
--delta D (0)  the δ of that claim (default 0)
--alpha A  claim: the error is at most A ...
--beta B  ... except with probability B
"""
_OUTPUT = "--output FILE (-)  where to write it (default: to stdout)"
_INPUT = "--input X!  the dataset as JSON: --input '[0,1,1]'"
_AUDIT = """
the observation:
--canaries M!  how many secrets were drawn
--guesses R!  how many of them were guessed (fixed beforehand)
|! --correct V  how many guesses were right
|! --ideal F  the mean of an ideal auditor where every secret passes a channel with this trade-off function: \
gaussian:MU, gaussian:MU@RATE (sub-sampled), laplace:MU, '[[e^ε, δ], ...]'
--options K (2)  how many values a secret has (default 2: in or out)

the guarantee:
--delta D (0)  the δ of (ε, δ) (default 0)
| --epsilon E  also the p-value of (E, δ)-DP
| --exp-epsilon T  the same with e^ε = T
| --tradeoff F  the p-value of f-DP: gaussian:MU, laplace:MU, '[[e^ε, δ], ...]', or FILE[:NAME] with n and parameters; \
gaussian, gaussian@RATE or laplace alone: the ε at δ of the family
<bindings> KEY=VALUE*  n and parameters of the program

the method:
--method NAME (optimal)  optimal (default), steinke, fdp or order-statistics
--variant NAME  fdp: listing, code; order-statistics: published, exact
--significance A (1/20)  the level of the test (default 1/20)
"""

_BEST = """
| --epsilon E  mechanisms that are (E, δ)-differentially private (default: the tight ε of this one)
| --exp-epsilon T  the same with e^ε = T
--delta D (0)  their δ (default 0)
--alpha A  the largest 1 - β at this error bound
--measure NAME  right-answer (default), absolute-error or squared-error
--target NAME  what is estimated: a function in FILE, or sum, max, min, tuple (default: the mechanism's own)
"""

_OWN = {
    "privacy": """
| --delta D  the tight ε for this δ
| --epsilon E  δ at this ε
| --exp-epsilon T  δ at e^ε = T, as in 2 or exp(1/2)
| --curve  δ as a function of e^ε: exact break points
| --tradeoff  the trade-off function (f-DP): exact vertices
| --renyi A  Rényi divergence of order A > 1, or inf
| --zcdp  the least ρ of zero-concentrated DP, enclosed
| --top K  the K largest likelihood ratios
--runs K  all this of K runs, adaptively composed
""",
    "accuracy": """
|! --alpha A  the error bound: the tight 1 - β
|! --beta B  the failure probability: the least α
--top K (5)  rank the K worst classes of datasets (default 5)
--relative  the error is |output - target| / max(1, |target|)
""",
    "utility": "",
    "optimum": _BEST,
    "efficacy": """
--guesses K  the efficacy with K guesses only (default: all K up to n)
--pairs Z  a pair of records per client as JSON, or best (default: the first that neighbours may differ in)
--adaptive  also the optimum when bits are revealed once decided on (small n)
""",
    "distribution": _INPUT,
    "likelihood": """
--x X!  the dataset as JSON: --x '[0,1,1]'
--x-prime X!  the dataset that it is compared with
""",
    "failure": "--input X  the dataset as JSON; default: the one on which runs fail most",
    "verify": _CLAIMS,
    "solve": f"""{_CLAIMS}
--best NAME  also what is best: accuracy (the largest 1 - β at A) or utility
--measure NAME  --best utility: right-answer (default), absolute-error or squared-error
""",
    "certify": f"""{_CLAIMS}
--curve  δ at every break point of the privacy curve
--renyi A  the largest exp((A-1)·D_A) of an order A = 2, 3, ... or p/q
--exp-moment M  --renyi: that it is at most M
--zcdp  ρ of zero-concentrated DP, where all noise is discrete Gaussian
--rho R  that ρ is at most R
--input X  the law of what is published on a dataset, as JSON: --input '[0,1,1]'
--runs K  --exp-epsilon: the δ there of K runs, each chosen by what is known so far
--guesses K  the efficacy of an audit in one run with K guesses
--pairs Z  --guesses: a pair of records per client as JSON, or best
{_OUTPUT}""",
    "certify_optimum": f"{_BEST}\n{_OUTPUT}",
    "guessing": """
| --adaptive  bits are revealed once they are decided on
| --runs K  a classic audit: K runs, each on x or x' with probability 1/2
--guesser G  all (default), certain, or the least posterior for a guess
--threshold P  --adaptive, --runs: the least posterior (default 1/2)
--order JSON  --adaptive: the order of the clients, as in '[2,0,1]'
--pairs Z  one pair of records per client as JSON, or best
--delta D  what is reported is compared with the tight ε at this δ
--x X  --runs: the dataset as JSON (default: of a worst pair)
--x-prime X  --runs: its neighbour
""",
    "canaries": """
| --share S (1/2)  the share of ε to be reported (default 1/2)
| --epsilon E  the ε to be reported, in place of a share
--power P (19/20)  with this probability (default 19/20)
--rule NAME (optimal)  the method of the audit (default optimal)
--guesser G  all (default), certain, or the least posterior for a guess
--pair JSON  the two records of every client, as in '[0,1]'
--delta D (0)  the δ (default 0)
--significance A (1/20)  the level of the audit (default 1/20)
--at-most N (4096)  the most canaries that are tried (default 4096)
""",
    "sweep": """
| --delta D  the tight ε for this δ (without an option: the tight ε)
| --epsilon E  δ at this ε
| --exp-epsilon T  δ at e^ε = T
| --alpha A  the tight 1 - β at this error bound
| --beta B  the least α for this failure probability
| --efficacy  the efficacy of one-run auditing and what bounds it
| --size  how many variables and nodes the diagram has
| --canaries M  audit: the p-value of the mechanism's trade-off function
--correct V  with --canaries: how many of --guesses are right
--optimum  alone or with --alpha: the best of all mechanisms with the ε of the row, beside it; --plot draws the frontier
--measure NAME  with --optimum: right-answer (default), absolute-error or squared-error
--guesses K  with --efficacy: the number of guesses (default n); with --canaries: how many were made
--pairs Z  with --efficacy: as for the command efficacy
--csv [FILE]  write CSV (to stdout without FILE)
""",
    "explain": """
| --exp-epsilon T  the claim to explain: e^ε = T
| --epsilon E  the same with ε
--delta D (0)  the δ of that claim (default 0)
""",
    "report": """
--output FILE  write the page there (- or nothing: to stdout)
--alpha A (1)  the error bound of the accuracy (default 1)
""",
    "show": """
--input X  the diagram for one dataset, as JSON
| --dot [FILE]  Graphviz text (to stdout without FILE)
| --svg [FILE]  a picture (to stdout without FILE)
| --core  the core program, one line per value
""",
    "sample": f"""
{_INPUT}
--size K (1)  how many outputs (default 1)
--seed S  the same seed gives the same outputs
""",
}
"""What is particular to the questions about a program."""

_DRAWN = {"likelihood", "distribution", "solve"}
_AFTER = {name: (_PLOT if name in _DRAWN else "") + _LIMITS + _SHIPPED for name in _OWN} | {
    "privacy": _CURVES + _LIMITS + _SHIPPED,
    "accuracy": _BESIDE + _LIMITS + _SHIPPED,
    "efficacy": _PLOT + _AUDITED,
    "guessing": _PLOT + _AUDITED,
    "canaries": _PLOT + _AUDITED,
    "sweep": f"{_PLOT}\n{_JOBS}\n{_LIMITS}\n{_SHIPPED}",
    "sample": f"{_STRATEGY}\n{_FLOATS}\n{_SHIPPED}",
}
OPTIONS = {name: f"{_PROGRAM}\n{own}\n{_AFTER[name]}" for name, own in _OWN.items()} | {
    "audit": f"{_AUDIT}\noptions:\n{_TIME}\n{_PLOT}",
    "certify_audit": f"{_AUDIT}\noptions:\n{_TIME}\n{_PLOT}\n{_OUTPUT}",
    "check": """
<file> ANSWER.json  a certificate that `tightdp certify` wrote
--work N (1)  allow N times the usual work (default: 1)
--against FILE[:NAME]  run the mechanism of this file on small cases, and compare it with the core program
""",
    "schema": "<name> [NAME]  print the schema of this command",
    "programs": "<name> [NAME]  print the source of this one",
    "claims": _TIME + _JOBS,
    "figures": """
<path> [PATH] (proofs)  a package or a directory of claims (default proofs, or those that ship with tightdp)
--id NAME*  only this one, as in 'Table 3'
--out DIR  write a CSV file for each, and a picture where one can be drawn
""",
}
"""All options by command; those of `claims` stand in `claims/command.py` besides."""


class _Adder(Protocol):
    def add_argument(self, *names: str, **settings: Any) -> Any:
        """Declare an option."""

    def add_mutually_exclusive_group(self, *, required: bool = False) -> Any:
        """Begin options that exclude each other."""


NAMED = _PROGRAM + _SHIPPED
"""What names a mechanism, and how it is called where it is code that knows nothing of tightdp."""


def declare(parser: ArgumentParser, command: str) -> None:
    """Declare the options of a command; without a name, what names a mechanism."""
    section: _Adder = parser
    either: _Adder | None = None
    for line in (OPTIONS[command] if command else NAMED).splitlines():
        if line.endswith(":"):
            section = parser if line == "options:" else parser.add_argument_group(line[:-1])
        elif line:
            bar, _, rest = line.partition(" ") if line.startswith("|") else ("", "", line)
            if not bar:
                either = None
            elif either is None:
                either = section.add_mutually_exclusive_group(required=bar == "|!")
            words, _, what = rest.partition("  ")
            name, *shape = words.split(" ")
            (either or (parser if name.startswith("<") else section)).add_argument(
                name.strip("<>"), **_settings(name, *shape), help=what
            )


def _settings(name: str, metavar: str = "", default: str = "") -> dict[str, Any]:
    """Return what argparse is told of an option."""
    if not metavar:
        return {"action": "store_true"}
    option = name.startswith("-")
    found: dict[str, Any] = {"metavar": metavar.strip("*!") if metavar[0] != "[" else metavar.strip("[]")}
    if metavar.endswith("*"):
        found |= {"action": "append", "default": []} if option else {"nargs": "*"}
    if metavar.endswith("!"):
        found["required"] = True
    if metavar.startswith("["):
        found |= {"nargs": "?", **({"const": "-"} if option else {})}
    if default:
        found["default"] = default.strip("()")
    if name == "--x" and metavar == "AXIS":
        return found | {"type": read_axis, "dest": "axis"}
    if name in _READ:
        found["type"] = _READ[name]
    return found | ({"dest": "x"} if name == "--input" else {})


_READ: dict[str, Any] = {
    **{name: partial(read_dataset, option=name) for name in ("--input", "--x", "--x-prime")},
    **dict.fromkeys(("--output", "--csv", "--dot", "--svg"), writable_file),
    "--floats": read_floats,
    "--order": lambda text: read_json(f"--order {text!r}", text, "give all clients once, as in [2,0,1]"),
    "--out": writable_directory,
    "--pair": lambda text: read_json(f"--pair {text!r}", text, "give two records: [0,1]"),
    "--pairs": read_pairs,
    "--plot": writable_picture,
    "--size": partial(read_count, "--size"),
    "--work": int,
}
"""What reads the text of an option, where that is not left to what the option is for."""


def given(options: Namespace) -> dict[str, Any]:
    """Return the options that belong to the command's question and were given, or have a default."""
    names = [line.lstrip("|! ").split(" ")[0] for line in _OWN[options.command].splitlines() if line]
    found = {"x" if name == "--input" else name.strip("-").replace("-", "_") for name in names}
    return {name: value for name, value in vars(options).items() if name in found and value not in (None, False)}
