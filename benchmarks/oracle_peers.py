"""The accountants that `oracles.py` asks, each by its public interface; what is rounded is rounded for their benefit.

Where an interface takes a probability, it is a double already. Where it takes e^ε or the scale of noise in logarithms,
the double is on the side of a mechanism that is less private for an upper end, more private for a lower end.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from oracle_draws import Accountant, Law, Mechanism, Question

from tightdp.exact.numbers import log_down, log_up

INTERVAL = 1e-2
ERRORS = {"eps_error": 0.05, "delta_error": 1e-6}
Found = list[Accountant]


def accountants() -> tuple[Found, list[tuple[str, str]]]:
    """Return all accountants that are installed, and why the others are not asked."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    found: Found = []
    missing = []
    for package, make in PACKAGES.items():
        try:
            found += make(version(package))
        except (PackageNotFoundError, ImportError) as error:
            missing.append((package, f"{type(error).__name__}: {error}"))
    return found, missing


def always(drawn: Mechanism, question: Question) -> bool:
    """Whether the laws are known exactly."""
    return drawn.kind != "gaussian"


def of_kind(kind: str, *, sampled: bool = False, of: str = "") -> Callable[[Mechanism, Question], bool]:
    """Return whether a draw is of that kind, sampled only where that is allowed."""
    return lambda drawn, question: (
        drawn.kind == kind and (sampled or drawn.rate == 1) and question.of in (of or ("delta", "epsilon"))
    )


def noise(ratio: Fraction, upper: bool) -> float:
    """Return the parameter a with ratio = e^-a, as a double, larger for an upper end."""
    return log_up(1 / ratio) if upper else max(log_down(1 / ratio), 1e-300)


def dp_accounting(version: str) -> Found:
    """Privacy loss distributions on a grid, and Rényi divergences."""
    pld = import_module("dp_accounting.pld.privacy_loss_distribution")
    common = import_module("dp_accounting.pld.common")
    events = import_module("dp_accounting")
    rdp = import_module("dp_accounting.rdp")
    replaced = events.NeighboringRelation.REPLACE_ONE

    def answering(build: Callable[[Mechanism], Sequence[Any]]) -> Callable[[Mechanism, Question], float]:
        """Compose what is built, once for all questions, and return the largest answer."""

        @lru_cache(maxsize=1)
        def composed(drawn: Mechanism) -> list[Any]:
            return [made.self_compose(drawn.runs) if drawn.runs > 1 else made for made in build(drawn)]

        def ask(drawn: Mechanism, question: Question) -> float:
            at = float(question.at)
            if question.of == "delta":
                return max(made.get_delta_for_epsilon(at) for made in composed(drawn))
            return max(made.get_epsilon_for_delta(at) for made in composed(drawn))

        return ask

    def log(law: Law) -> dict[int, float]:
        return {at: math.log(p) for at, p in enumerate(law) if p}

    def laws(drawn: Mechanism, **end: Any) -> list[Any]:
        return [pld.from_two_probability_mass_functions(log(q), log(p), **end) for p, q in drawn.directions]

    def response(drawn: Mechanism, **end: Any) -> list[Any]:
        return [pld.from_randomized_response(float(drawn.numbers[1]), drawn.numbers[0], **end)]

    def geometric(drawn: Mechanism, **end: Any) -> list[Any]:
        a = noise(drawn.numbers[0], end.get("pessimistic_estimate", True))
        made = pld.from_discrete_laplace_mechanism(a, drawn.numbers[1], sampling_prob=float(drawn.rate), **end)
        return [made]

    def leak(drawn: Mechanism, **end: Any) -> list[Any]:
        ratio, delta = drawn.numbers
        return [pld.from_privacy_parameters(common.DifferentialPrivacyParameters(log_up(ratio), float(delta)), **end)]

    @lru_cache(maxsize=1)
    def composed_renyi(drawn: Mechanism) -> Any:
        accountant = rdp.RdpAccountant(neighboring_relation=replaced)
        buckets, share = drawn.numbers
        return accountant.compose(events.RandomizedResponseDpEvent(float(share), buckets), drawn.runs)

    def renyi(drawn: Mechanism, question: Question) -> float:
        accountant = composed_renyi(drawn)
        if question.of == "delta":
            return accountant.get_delta(float(question.at))
        return accountant.get_epsilon(float(question.at))

    def gaussian(drawn: Mechanism, question: Question) -> float:
        accountant = rdp.RdpAccountant()
        event = events.PoissonSampledDpEvent(float(drawn.rate), events.GaussianDpEvent(float(drawn.numbers[0])))
        accountant.compose(event, drawn.runs)
        return accountant.get_epsilon(float(question.at))

    package = ("dp-accounting", version)
    found = [
        Accountant(
            "RdpAccountant, Gaussian",
            *package,
            True,
            of_kind("gaussian", sampled=True, of="epsilon"),
            gaussian,
            "RdpAccountant().compose(PoissonSampledDpEvent(rate, GaussianDpEvent(σ)), runs)",
        ),
        Accountant(
            "RdpAccountant, randomized response",
            *package,
            True,
            of_kind("response"),
            renyi,
            "RdpAccountant(REPLACE_ONE).compose(RandomizedResponseDpEvent(p, k), runs)",
        ),
    ]
    plans: list[tuple[str, Any, Any, dict[str, Any], str]] = [
        ("PLD from (ε, δ)", of_kind("leak"), leak, {}, "from_privacy_parameters((ε, δ)"),
        (
            "PLD of geometric noise, connected dots",
            of_kind("geometric", sampled=True),
            geometric,
            {"use_connect_dots": True},
            "from_discrete_laplace_mechanism(a, s, sampling_prob=rate",
        ),
    ]
    for upper in (True, False):
        end = {"pessimistic_estimate": upper}
        plans += [
            ("PLD of two laws", always, laws, end, "from_two_probability_mass_functions(log Q, log P"),
            ("PLD of randomized response", of_kind("response"), response, end, "from_randomized_response(p, k"),
            (
                "PLD of geometric noise",
                of_kind("geometric", sampled=True),
                geometric,
                end | {"use_connect_dots": False},
                "from_discrete_laplace_mechanism(a, s, sampling_prob=rate",
            ),
        ]
    for name, fits, build, end, call in plans:
        end = end | {"value_discretization_interval": INTERVAL}
        shown = f"{call}, {', '.join(f'{key}={value}' for key, value in end.items())}).self_compose(runs)"
        ask = answering(partial(build, **end))
        found.append(Accountant(name, *package, end.get("pessimistic_estimate", True), fits, ask, shown))
    return found


def prv_accountant(version: str) -> Found:
    """Both ends of prv-accountant: of its own mechanisms, and of any two laws as random variables of ours."""
    import numpy as np

    prv = import_module("prv_accountant")

    class OfLaws(prv.PrivacyRandomVariable):  # type: ignore[misc,name-defined]
        """The privacy loss of two laws, where it is finite."""

        def __init__(self, p: Law, q: Law) -> None:
            finite = sorted((math.log(a / b), float(a), float(b)) for a, b in zip(p, q, strict=True) if a and b)
            self.losses, self.p, self.q = (np.array(each) for each in zip(*finite, strict=True))
            self.mass = float(self.p.sum())
            self.infinite = float(sum(a for a, b in zip(p, q, strict=True) if not b))
            self.below = np.concatenate([[0.0], np.cumsum(self.p / self.mass)])

        def cdf(self, t: Any) -> Any:
            return self.below[np.searchsorted(self.losses, t, side="right")]

        def rdp(self, alpha: float) -> float:
            return float(np.log(np.sum(self.p / self.mass * np.exp((alpha - 1) * self.losses))) / (alpha - 1))

        @property
        def pm_inf(self) -> float:
            return self.infinite

    def answering(build: Callable[[Mechanism], Sequence[Any]], upper: bool) -> Callable[[Mechanism, Question], float]:
        """Make the accountants once for all questions, and return the largest answer."""

        @lru_cache(maxsize=1)
        def made(drawn: Mechanism) -> list[Any]:
            runs = [drawn.runs]
            return [prv.PRVAccountant([each], max_self_compositions=runs, **ERRORS) for each in build(drawn)]

        def ask(drawn: Mechanism, question: Question) -> float:
            found = []
            for each in made(drawn):
                answer = each.compute_delta if question.of == "delta" else each.compute_epsilon
                low, _, high = answer(float(question.at), [drawn.runs])
                found.append(high if upper else low)
            return max(found)

        return ask

    def laws(drawn: Mechanism, upper: bool) -> list[Any]:
        return [OfLaws(p, q) for p, q in drawn.directions]

    def pure(drawn: Mechanism, upper: bool) -> list[Any]:
        ratio = (2 - drawn.numbers[1]) / drawn.numbers[1]
        return [prv.PureDPMechanism(log_up(ratio) if upper else log_down(ratio))]

    def leak(drawn: Mechanism, upper: bool) -> list[Any]:
        ratio, delta = drawn.numbers
        return [prv.ApproximateDPMechanism(log_up(ratio) if upper else log_down(ratio), float(delta))]

    def gaussian(drawn: Mechanism, upper: bool) -> list[Any]:
        sampled = prv.PoissonSubsampledGaussianMechanism
        return [sampled(sampling_probability=float(drawn.rate), noise_multiplier=float(drawn.numbers[0]))]

    def bits(drawn: Mechanism, question: Question) -> bool:
        return drawn.kind == "response" and drawn.numbers[0] == 2

    def _few(drawn: Mechanism, question: Question) -> bool:
        return drawn.runs <= 4 and drawn.kind != "gaussian"

    def leaks(drawn: Mechanism, question: Question) -> bool:
        return drawn.kind == "leak" and _few(drawn, question)

    def overlapping(drawn: Mechanism, question: Question) -> bool:
        return _few(drawn, question) and any(p and q for p, q in zip(*drawn.laws, strict=True))

    package = ("prv-accountant", version)
    plans = (
        ("PRVAccountant, Gaussian", of_kind("gaussian", sampled=True), gaussian, "PoissonSubsampledGaussianMechanism"),
        ("PRVAccountant, pure DP", bits, pure, "PureDPMechanism(ε)"),
        ("PRVAccountant, approximate DP", leaks, leak, "ApproximateDPMechanism(ε, δ)"),
        ("PRVAccountant, own random variable", overlapping, laws, "the loss of P and Q"),
    )
    errors = ", ".join(f"{key}={value}" for key, value in ERRORS.items())
    found = []
    for name, fits, build, variable in plans:
        for upper in (True, False)[: 1 if build is gaussian else 2]:
            call = f"PRVAccountant([{variable}], max_self_compositions=[runs], {errors})"
            ask = answering(partial(build, upper=upper), upper)
            found.append(Accountant(name, *package, upper, fits, ask, call))
    return found


def autodp(version: str) -> Found:
    """Rényi divergences and their conversion, composition and sampling."""
    zoo = import_module("autodp.mechanism_zoo")
    transformers = import_module("autodp.transformer_zoo")

    def runs(drawn: Mechanism, once: Any) -> Any:
        return transformers.Composition()([once], [drawn.runs]) if drawn.runs > 1 else once

    def response(drawn: Mechanism, question: Question) -> float:
        made = runs(drawn, zoo.RandresponseMechanism(p=float(1 - drawn.numbers[1] / 2)))
        return float(made.get_approxDP(float(question.at)))

    @lru_cache(maxsize=1)
    def sampled(drawn: Mechanism) -> Any:
        ratio, sensitivity = drawn.numbers
        once = zoo.PureDP_Mechanism(log_up(1 / ratio**sensitivity))
        return runs(drawn, transformers.AmplificationBySampling()(once, float(drawn.rate)) if drawn.rate < 1 else once)

    def pure(drawn: Mechanism, question: Question) -> float:
        return float(sampled(drawn).get_approxDP(float(question.at)))

    def bits(drawn: Mechanism, question: Question) -> bool:
        return drawn.kind == "response" and drawn.numbers[0] == 2 and question.of == "epsilon"

    def few(drawn: Mechanism, question: Question) -> bool:
        slow = drawn.runs > 8 or question.at > Fraction(1, 100)
        return drawn.kind == "geometric" and question.of == "epsilon" and not slow

    package = ("autodp", version)
    return [
        Accountant(
            "randomized response",
            *package,
            True,
            bits,
            response,
            "Composition()([RandresponseMechanism(p)], [runs]).get_approxDP(δ)",
        ),
        Accountant(
            "pure DP, sampled",
            *package,
            True,
            few,
            pure,
            "Composition()([AmplificationBySampling()(PureDP_Mechanism(ε), rate)], [runs]).get_approxDP(δ)",
        ),
    ]


def opendp(version: str) -> Found:
    """Measurements and combinators: the sum of ε, and by way of concentrated DP."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")

    def measurement(drawn: Mechanism) -> Any:
        if drawn.kind == "response":
            buckets, share = drawn.numbers
            truth = 1 - share + share / buckets
            near = float(truth) if Fraction(float(truth)) >= truth else math.nextafter(float(truth), 1)
            return dp.m.make_randomized_response(list(range(buckets)), near), 1
        ratio, sensitivity = drawn.numbers
        space = dp.atom_domain(T="i32"), dp.absolute_distance(T="i32")
        return dp.m.make_geometric(*space, scale=math.nextafter(1 / log_up(1 / ratio), 0)), sensitivity

    def pure(drawn: Mechanism, question: Question) -> float:
        once, distance = measurement(drawn)
        return float(dp.c.make_composition([once] * drawn.runs).map(distance))

    def concentrated(drawn: Mechanism, question: Question) -> float:
        once, distance = measurement(drawn)
        total = dp.c.make_composition([dp.c.make_pureDP_to_zCDP(once)] * drawn.runs)
        profile = dp.c.make_zCDP_to_approxDP(total).map(distance)
        return float(
            profile.epsilon(float(question.at)) if question.of == "epsilon" else profile.delta(float(question.at))
        )

    def fits(drawn: Mechanism, question: Question) -> bool:
        return drawn.kind in ("response", "geometric") and drawn.rate == 1

    def asks_epsilon(drawn: Mechanism, question: Question) -> bool:
        return fits(drawn, question) and question.of == "epsilon"

    package = ("opendp", version)
    return [
        Accountant(
            "make_composition of pure DP",
            *package,
            True,
            asks_epsilon,
            pure,
            "make_composition([measurement] * runs).map(d_in)",
        ),
        Accountant(
            "by way of zCDP",
            *package,
            True,
            fits,
            concentrated,
            "make_zCDP_to_approxDP(make_composition([make_pureDP_to_zCDP(measurement)] * runs)).map(d_in)",
        ),
    ]


def opacus(version: str) -> Found:
    """The accountants of DP-SGD, for a Poisson sample and Gaussian noise."""
    module = import_module("opacus.accountants")

    def asked(name: str) -> Callable[[Mechanism, Question], float]:
        def ask(drawn: Mechanism, question: Question) -> float:
            accountant = getattr(module, name)()
            accountant.history = [(float(drawn.numbers[0]), float(drawn.rate), drawn.runs)]
            return float(accountant.get_epsilon(delta=float(question.at)))

        return ask

    fits = of_kind("gaussian", sampled=True, of="epsilon")
    return [
        Accountant(
            name, "opacus", version, True, fits, asked(name), f"{name}() with history [(σ, rate, runs)], get_epsilon(δ)"
        )
        for name in ("RDPAccountant", "PRVAccountant", "GaussianAccountant")
    ]


PACKAGES: dict[str, Callable[[str], Found]] = {
    "dp-accounting": dp_accounting,
    "prv-accountant": prv_accountant,
    "autodp": autodp,
    "opendp": opendp,
    "opacus": opacus,
}
