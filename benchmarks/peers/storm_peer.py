"""The same questions to the model checker Storm (stormpy), with exact rationals, as Markov chains.

Every dataset is an initial state of one chain, and one reachability property per output gives its probability on all
datasets at once; oakley2024 (Table 2) runs Storm once per dataset and output. For randomized response and its count
only the n + 1 datasets 1...10...0 are gone through: the set that oakley2024 (Sec. 5) proves sufficient by hand. The
noise of above-threshold is summed up by hand into the probability of a hit.

    python benchmarks/peers/storm_peer.py law response|count|threshold DATASET
    python benchmarks/peers/storm_peer.py privacy response|count N, or privacy threshold K N
    python benchmarks/peers/storm_peer.py accuracy count N, or probability response N
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import stormpy

from tightdp.language.laws import geometric

HALF = "1/2"
Law = tuple[Fraction, ...]


class Chain:
    """A Markov chain in the language of PRISM, with all its initial states."""

    def __init__(
        self, variables: dict[str, int], commands: Sequence[str], initial: str, events: Iterable[str] = ()
    ) -> None:
        declared = [f"{name}: [0..{most}];" for name, most in variables.items()]
        lines = ["dtmc", "module m", *declared, *commands, "endmodule", f"init {initial} endinit"]
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "chain.pm"
            path.write_text("\n".join(lines))
            self.program = stormpy.parse_prism_program(str(path))
        asked = "; ".join(f"P=? [F {event}]" for event in events)
        self.properties = stormpy.parse_properties(asked, self.program) if asked else []
        options = stormpy.BuilderOptions(self.properties)
        options.set_build_state_valuations(True)
        self.model = stormpy.build_model[stormpy.Rational](self.program, options=options)

    def laws(self, names: Sequence[str]) -> dict[tuple[int, ...], Law]:
        """The probability of reaching every event, by the values of some variables in the initial state."""
        results = [stormpy.model_checking(self.model, question) for question in self.properties]
        valuations = self.model.state_valuations
        known = {variable.name: variable for variable in valuations.get_all_variables()}
        return {
            tuple(int(valuations.get_value(state, known[name])) for name in names): tuple(
                Fraction(str(result.get_value(state))) for result in results
            )
            for state in self.model.initial_states
        }

    def visits(self, name: str, value: int) -> list[Fraction]:
        """How often the chain visits, on average, each state in which a variable has a value."""
        found = stormpy.analysis.compute_expected_number_of_visits(self.model)
        valuations = self.model.state_valuations
        variable = next(one for one in valuations.get_all_variables() if one.name == name)
        return [
            Fraction(str(found.get_value(state)))
            for state in range(self.model.nr_states)
            if int(valuations.get_value(state, variable)) == value
        ]


def step(guard: str, *options: tuple[Fraction, str]) -> str:
    """A command: with these probabilities, these updates."""
    return f"[] {guard} -> " + " + ".join(f"{mass}: {update}" for mass, update in options if mass) + ";"


def response(n: int, y: Sequence[int]) -> Chain:
    """Whether the bits sent are y, for datasets 1...10...0 (c ones); i = n + 1 when they are not."""
    commands = []
    for i, bit in enumerate(y):
        for one, guard in ((1, f"c>{i}"), (0, f"c<={i}")):
            same = Fraction(4, 5) if one == bit else Fraction(1, 5)
            commands.append(step(f"i={i} & {guard}", (same, f"(i'={i + 1})"), (1 - same, f"(i'={n + 1})")))
    return Chain({"i": n + 1, "c": n}, [*commands, f"[] i>={n} -> true;"], "i=0", [f"i={n}"])


def totals(n: int) -> list[str]:
    """The events that the count is 0, 1, ..., n."""
    return [f"(i={n} & s={total})" for total in range(n + 1)]


def count(n: int, events: Iterable[str] = (), ones: int | None = None) -> Chain:
    """The number s of bits that are sent as 1, for datasets 1...10...0 (c ones), or only for the one with `ones`."""
    one, other = Fraction(4, 5), Fraction(1, 5)
    commands = [
        step(f"i<{n} & i<c", (one, "(i'=i+1) & (s'=s+1)"), (other, "(i'=i+1)")),
        step(f"i<{n} & i>=c", (other, "(i'=i+1) & (s'=s+1)"), (one, "(i'=i+1)")),
        f"[] i={n} -> (i'={n + 1}) & (s'=0);",
        f"[] i={n + 1} -> true;",
    ]
    start = "i=0 & s=0" + ("" if ones is None else f" & c={ones}")
    return Chain({"i": n + 1, "s": n, "c": n}, commands, start, events)


def threshold(k: int, n: int, x: Sequence[int] | None = None) -> Chain:
    """Above-threshold: the noisy threshold t (k + 1 before it is drawn), client i, the output y (n + 1 before)."""
    fresh = k + 1
    law = geometric((k + 1) // 2, HALF, 0, k)
    commands = [step(f"t={fresh}", *((mass, f"(t'={t})") for t, mass in law))]
    for i in range(n):
        further = f"(i'={i + 1})" if i + 1 < n else f"(y'={n})"
        for v in range(k + 1) if x is None else [x[i]]:
            noise = geometric(v, HALF, 0, k)
            for t in range(k + 1):
                hit = sum((mass for z, mass in noise if z >= t), Fraction(0))
                guard = f"t={t} & i={i} & y={n + 1}" + (f" & x{i}={v}" if x is None else "")
                commands.append(step(guard, (hit, f"(y'={i})"), (1 - hit, further)))
    records = {f"x{i}": k for i in range(n)} if x is None else {}
    return Chain(
        {**records, "t": k + 1, "i": n, "y": n + 1},
        [*commands, f"[] y<={n} -> true;"],
        f"t={fresh} & i=0 & y={n + 1}",
        [f"y={i}" for i in range(n + 1)],
    )


def every_output(x: Sequence[int]) -> Fraction:
    """The largest probability of a tuple of bits sent, for one dataset: how often the chain visits its state."""
    n = len(x)
    commands = []
    for i, bit in enumerate(x):
        one = Fraction(4, 5) if bit else Fraction(1, 5)
        commands.append(step(f"i={i}", (one, f"(i'={i + 1}) & (b{i}'=1)"), (1 - one, f"(i'={i + 1})")))
    forget = " & ".join(f"(b{i}'=0)" for i in range(n))
    commands += [f"[] i={n} -> (i'={n + 1}) & {forget};", f"[] i={n + 1} -> true;"]
    start = " & ".join(["i=0", *(f"b{i}=0" for i in range(n))])
    chain = Chain({"i": n + 1, **{f"b{i}": 1 for i in range(n)}}, commands, start)
    return max(chain.visits("i", n))


def largest_ratio(pairs: Iterable[tuple[Law, Law]]) -> Fraction | float:
    """The largest likelihood ratio over pairs of neighbours, in both directions."""
    best: Fraction | float = Fraction(0)
    for one, other in pairs:
        for left, right in ((one, other), (other, one)):
            for ours, theirs in zip(left, right, strict=True):
                if ours:
                    best = max(best, ours / theirs if theirs else math.inf)
    return best


def privacy(mechanism: str, *sizes: int) -> Fraction | float:
    """The tight e^ε."""
    if mechanism == "threshold":
        k, n = sizes
        names = [f"x{i}" for i in range(n)]
        laws = threshold(k, n).laws(names)
        return largest_ratio(
            (law, laws[(*x[:i], v, *x[i + 1 :])]) for x, law in laws.items() for i in range(n) for v in range(x[i])
        )
    n = sizes[0]
    chain = response(n, (0,) * n) if mechanism == "response" else count(n, totals(n))
    laws = chain.laws(["c"])
    return largest_ratio((laws[(c,)], laws[(c + 1,)]) for c in range(n))


def accuracy(n: int) -> Fraction:
    """The tight 1 - β at α = n/4."""
    near = f"(i={n} & s-c<={n // 4} & c-s<={n // 4})"
    return min(law[0] for law in count(n, [near]).laws(["c"]).values())


def law(mechanism: str, x: Sequence[int]) -> Fraction:
    """The largest probability of the law on one dataset."""
    n = len(x)
    if mechanism == "response":
        return every_output(x)
    if mechanism == "threshold":
        (found,) = threshold(15, n, x).laws(["i"]).values()
        return max(found)
    return max(count(n, ones=sum(x)).visits("i", n))


def probability(n: int) -> int:
    """The size of P(y|x) for one pair, as a power of 2."""
    commands = []
    for i in range(n):
        same = Fraction(4, 5) if i % 2 == int(i % 3 == 0) else Fraction(1, 5)
        commands.append(step(f"i={i}", (same, f"(i'={i + 1})"), (1 - same, f"(i'={n + 1})")))
    chain = Chain({"i": n + 1}, [*commands, f"[] i>={n} -> true;"], "i=0", [f"i={n}"])
    ((mass,),) = chain.laws(["i"]).values()
    return mass.numerator.bit_length() - mass.denominator.bit_length()


def main(query: str, mechanism: str, *rest: str) -> None:
    """Print the answer as JSON."""
    if query == "law":
        answer: Any = law(mechanism, json.loads(rest[0]))
    elif query == "privacy":
        answer = privacy(mechanism, *map(int, rest))
    else:
        answer = accuracy(int(rest[0])) if query == "accuracy" else probability(int(rest[0]))
    print(json.dumps({"answer": str(answer)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
