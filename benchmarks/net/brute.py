"""Recorded answers checked by brute force: every run of every dataset with the interpreter, then the definitions.

A question that has no function here, or a mechanism with too many runs, is "not verified".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import parametrised
import symmetry_oracle
from efficacy_oracle import Game
from generators.comparison import meanings
from tightdp.errors import TightdpError
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.neighbours import relation_of

from .asking import written
from .envelope import breaks, without_straight
from .sources import bound, dataset

MOST_RUNS = 5_000
FAILS = {"error": "ProgramError"}
Row = dict[str, Any]
Values = dict[str, Any]
ratio, delta_of = symmetry_oracle.ratio, symmetry_oracle.delta_of


class Unknown(Exception):
    """Brute force cannot say."""


class Fails(Exception):
    """The program fails on a dataset."""


def verify(instance: Any, rows: list[tuple[Row, Row]]) -> list[str]:
    """How each of the answers about one mechanism was checked: "brute force", "not verified: why", "wrong: how"."""
    truth = Every(rows[0][0]) if instance.every_n else Truth(instance)
    return [_verdict(truth, row, answer) for row, answer in rows]


def _verdict(truth: Truth | Every, row: Row, answer: Row) -> str:
    try:
        if isinstance(truth, Every):
            return truth.verdict(answer)
        if truth.parameter:
            return _at_values(row)
        return _judge(answer, truth.values(row["question"], dict(row["arguments"])))
    except Fails:
        return "brute force" if answer.get("values") == FAILS else "not verified: the program fails on a dataset"
    except Unknown as error:
        return f"not verified: {error}"
    except TightdpError as error:
        return f"not verified: {type(error).__name__}"


def _judge(answer: Row, meant: Values) -> str:
    if "at least" in meant:
        most = answer["values"].get("delta") if answer["status"] == "exact" else answer["ends"]["delta"][1]
        if most == written(meant["at least"]):
            return "brute force"
        if most is None or _number(most) * (1 + 1e-12) < meant["at least"]:
            return f"wrong: by brute force at least {meant}"
        return "brute force: not less"
    if answer["status"] in ("exact", "error"):
        found = answer["values"]
        wrong = {key: written(value) for key, value in meant.items() if found.get(key) != written(value)}
        return f"wrong: by brute force {wrong}" if wrong else "brute force"
    for key, (low, high) in answer["ends"].items():
        if key in meant and not _number(low) * (1 - 1e-12) <= float(meant[key]) <= _number(high) * (1 + 1e-12):
            return f"wrong: by brute force {key} is {written(meant[key])}"
    return "brute force: within"


def _at_values(row: Row) -> str:
    """Compare an answer in pieces with brute force at some values of the unknown."""
    if row["question"] not in ("privacy", "delta", "accuracy", "distribution") or "beta" in row["arguments"]:
        raise Unknown("a parameter is unknown")
    instance, arguments = bound(row), dict(row["arguments"])
    if "x" in arguments:
        raise Unknown("laws in pieces")
    pieces = getattr(instance, row["question"])(**arguments)
    for value in (Fraction(1, 4), Fraction(2, 5), Fraction(3, 4)):
        texts = {
            key: text.replace("?", str(value)) if isinstance(text, str) else text for key, text in row["bind"].items()
        }
        found = parametrised.value_at(pieces, value)
        try:
            meant = Truth(bound({**row, "bind": texts})).values(row["question"], arguments)
        except TightdpError:
            continue
        wanted = meant.get("one_minus_beta", meant.get("delta", meant.get("exp_epsilon")))
        if found is not None and written(found) != written(wanted) and abs(float(found) - float(wanted)) > 1e-9:
            return f"wrong: by brute force {wanted} at {value}, not {found}"
    return "brute force: at three values"


class Every:
    """An answer for every n: no ratio of few records is larger than its upper end."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def verdict(self, answer: Row) -> str:
        """Compare with n = 1, 2, 3."""
        values = answer.get("values") or {key: high for key, (_, high) in answer["ends"].items()}
        if "error" in values:
            return "not verified: refused"
        for n in (1, 2, 3):
            truth = Truth(bound({**self._row, "bind": {**self._row["bind"], "n": n}}))
            largest = truth.exp_epsilon()
            if "verdict" in values:
                claimed = Fraction(self._row["arguments"].get("exp_epsilon", 5))
                if values["verdict"] == "True" and largest > claimed:
                    return f"wrong: refuted with n = {n}: {largest}"
            elif largest > _number(values.get("upper", values.get("exp_epsilon"))):
                return f"wrong: e^ε is {largest} with n = {n}"
        return "brute force: n = 1, 2, 3"


def _number(text: str) -> Any:
    try:
        return Fraction(text.partition("#")[0])
    except ValueError:
        if text == "inf":
            return math.inf
        raise Unknown("a number with e^q") from None


class Truth:
    """The answers of brute force about one mechanism, as named values like those of `asking`."""

    def __init__(self, instance: Any) -> None:
        self.instance = instance
        self.bound = instance.bound
        self._given_up: bool | None = None
        self.parameter = type(instance).__name__ == "UnknownInstance"

    def values(self, question: str, arguments: Row) -> Values:
        """What the answer should say. Raises Unknown."""
        about = getattr(self, f"about_{question}", None)
        if about is None:
            raise Unknown(f"no brute force for {question}")
        found: Values = about(**arguments)
        return found

    @cached_property
    def laws(self) -> dict[Any, Any]:
        """All laws; None where the program fails."""
        if self.bound.record.size**self.bound.n > 3000:
            raise Unknown("too many datasets")
        if self._given_up is None:
            found = meanings(self.bound, MOST_RUNS)
            self._given_up = found is None
            if found is not None:
                return found
        raise Unknown("too many runs")

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """The laws of all ordered neighbours. Raises Unknown where the program fails on some dataset."""
        self.all_laws()
        neighbours = relation_of(self.bound).neighbours
        return ((law, self.laws[other]) for x, law in self.laws.items() for other in neighbours(x))

    def all_laws(self) -> dict[Any, Any]:
        """The same, where no dataset fails."""
        if any(law is None for law in self.laws.values()):
            raise Fails
        return self.laws

    def one_law(self, places: Any) -> dict[Any, Any]:
        """The law of one dataset."""
        law: dict[Any, Any] = {}
        for count, (output, mass) in enumerate(interp.runs(self.bound, dataset(self.instance, places))):
            law[output] = law.get(output, Fraction(0)) + mass
            if count > MOST_RUNS:
                raise Unknown("too many runs")
        if not law:
            raise Fails  # no run satisfies `observe`
        total = sum(law.values(), Fraction(0))
        return {output: mass / total for output, mass in law.items()}

    # privacy

    def exp_epsilon(self) -> Any:
        """The largest ratio."""
        return max(self._ratios(), default=Fraction(1))

    def _ratios(self) -> set[Any]:
        return {ratio(p, other.get(y, Fraction(0))) for law, other in self.pairs() for y, p in law.items()}

    def about_privacy(self, delta: Any = 0, top: int = 1) -> Values:
        """The tight e^ε."""
        if delta:
            return {"exp_epsilon": self._least(Fraction(delta))}
        ratios = sorted(self._ratios(), reverse=True)
        found: Values = {"exp_epsilon": max([Fraction(1), *ratios[:1]])}
        return {**found, "top": tuple(ratios[:top])} if top > 1 else found

    def delta(self, t: Any) -> Any:
        """δ at t."""
        return max((delta_of(law, other, t) for law, other in self.pairs()), default=Fraction(0))

    def about_delta(self, exp_epsilon: Any = None, epsilon: Any = None) -> Values:
        """δ at an e^ε."""
        t = Fraction(exp_epsilon) if epsilon is None else exp(Fraction(epsilon))
        return {"delta": self.delta(t)}

    @cached_property
    def curve(self) -> list[tuple[Any, Any]]:
        """The break points of the curve."""
        pairs = list(self.pairs())
        last = max([Fraction(1), *(one for one in self._ratios() if one != math.inf)])
        points = [last]
        if last > 1:
            points = breaks(pairs, Fraction(1), last)
        kept = [(t, self.delta(t)) for t in sorted(set(points))]
        return without_straight(kept)

    def about_curve(self) -> Values:
        """The curve."""
        return {"points": tuple(self.curve)}

    def _least(self, bar: Fraction) -> Any:
        points = self.curve
        if points[0][1] <= bar:
            return Fraction(1)
        for (a, high), (b, low) in pairwise(points):
            if low <= bar:
                return a + (high - bar) / (high - low) * (b - a)
        return math.inf

    def about_tradeoff(self) -> Values:
        """The trade-off function."""
        lines = [(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))]
        for law, other in self.pairs():
            lines += list(symmetry_oracle.tests(law, other))
        return {"vertices": tuple(symmetry_oracle.lower_hull(lines))}

    def about_renyi(self, order: Any) -> Values:
        """The moment at an integer order."""
        if not isinstance(order, int):
            raise Unknown("an irrational moment")
        return {"moment": max((symmetry_oracle.moment(law, other, order) for law, other in self.pairs()), default=1)}

    def about_verify(
        self, epsilon: Any = None, exp_epsilon: Any = None, delta: Any = 0, alpha: Any = None, beta: Any = None
    ) -> Values:
        """The verdict on a claim."""
        if alpha is not None:
            return {"verdict": self.about_accuracy(alpha=alpha)["one_minus_beta"] >= 1 - Fraction(beta)}
        t = Fraction(exp_epsilon) if epsilon is None else exp(Fraction(epsilon))
        return {"verdict": self.delta(t) <= Fraction(delta) if delta else self.exp_epsilon() <= t}

    def about_privacy_loss(self, runs: int, exp_epsilon: Any = None, delta: Any = None, rate: Any = None) -> Values:
        """δ of some runs of the same pair: a lower end of what the composition has."""
        if delta is not None or rate is not None:
            raise Unknown("a composition that is inverted, or of a subsample")
        pairs = list(self.pairs())
        if len(pairs) * max((len(law) for law, _ in pairs), default=0) ** runs > 30_000:
            raise Unknown("too many composed outputs")
        t = Fraction(exp_epsilon)
        return {"at least": max((delta_of(_power(p, runs), _power(q, runs), t) for p, q in pairs), default=Fraction(0))}

    # accuracy

    @cached_property
    def errors(self) -> dict[Any, dict[Any, Any]]:
        """The law of the error on every dataset."""
        found: dict[Any, dict[Any, Any]] = {}
        for x, law in self.all_laws().items():
            target = interp.target_value(self.bound, x)
            masses = found.setdefault(x, {})
            for y, p in law.items():
                if not isinstance(y, (int, Fraction)):
                    raise Unknown("an output is no number")
                masses[abs(y - target)] = masses.get(abs(y - target), Fraction(0)) + p
        return found

    def about_accuracy(self, alpha: Any = None, beta: Any = None) -> Values:
        """1 - β with its classes, or the least α."""
        if beta is not None:
            return {"alpha": max(symmetry_oracle.least_error(law, Fraction(beta)) for law in self.errors.values())}
        sizes: dict[Any, int] = {}
        for law in self.errors.values():
            value = sum((p for error, p in law.items() if error <= Fraction(alpha)), Fraction(0))
            sizes[value] = sizes.get(value, 0) + 1
        return {"one_minus_beta": min(sizes), "top": tuple(sorted(sizes.items())[:5])}

    def about_utility(self) -> Values:
        """The expected errors, and how likely the right answer is."""
        right, target = Fraction(1), self.bound.program.target
        for x, law in self.all_laws().items():
            wanted = target(x, **interp.named_parameters(target, self.bound))
            right = min(right, law.get(wanted, Fraction(0)))
        found: Values = {"right answer": right}
        try:
            for name, power in (("absolute", 1), ("squared", 2)):
                worst = [sum((p * e**power for e, p in law.items()), Fraction(0)) for law in self.errors.values()]
                found[f"expected {name} error"] = max(worst)
        except (Unknown, TightdpError):
            pass
        return found

    # outputs

    def about_distribution(self, x: Any) -> Values:
        """The law on a dataset."""
        return {"law": tuple(sorted(self.one_law(x).items(), key=lambda entry: written(entry[0])))}

    def about_likelihood(self, x: Any, x_prime: Any) -> Values:
        """All outputs with their probabilities."""
        ours, theirs = self.one_law(x), self.one_law(x_prime)
        outputs = sorted(ours.keys() | theirs.keys(), key=written)
        return {"rows": [(written(y), ours.get(y, Fraction(0)), theirs.get(y, Fraction(0))) for y in outputs]}

    def about_probability(self, x: Any, seed: int) -> Values:
        """The probability of a sampled output."""
        output = self.instance.sample(dataset(self.instance, x), seed=seed).outputs[0]
        return {"probability": self.one_law(x)[output]}

    def about_failure(self) -> Values:
        """The largest probability of a run that fails."""
        self.all_laws()
        return {"probability": Fraction(0)}

    # audits

    @cached_property
    def game(self) -> Game:
        """The one-run audit."""
        if self.bound.n > 4 or self.bound.record.size < 2:
            raise Unknown("too many bits")
        self.all_laws()
        return Game(self.bound, self.instance.efficacy().pairs)

    def about_efficacy(self, adaptive: bool = False) -> Values:
        """The efficacies for every number of guesses, and the tight ratio of the audited pairs."""
        return {"efficacy": tuple(self.game.efficacies()), "exp_epsilon": self.game.exp_epsilon()}

    def about_guessing(self, guesser: Any = "1/2") -> Values:
        """The law of guesses above a threshold."""
        return self._joint(self.game.joint_law(self.game.threshold_guesser(Fraction(guesser))))

    def about_adaptive_guessing(self, threshold: Any) -> Values:
        """The same where bits are revealed."""
        return self._joint(self.game.adaptive_law(range(self.bound.n), Fraction(threshold)))

    def _joint(self, law: dict[Any, Any]) -> Values:
        return {"joint": tuple((key, law[key]) for key in sorted(law) if law[key])}


def _power(law: dict[Any, Any], runs: int) -> dict[Any, Any]:
    """The law of independent runs."""
    return {
        tuple(y for y, _ in one): math.prod((p for _, p in one), start=Fraction(1))
        for one in product(law.items(), repeat=runs)
    }
