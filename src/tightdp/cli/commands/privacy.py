"""The command `privacy`: the tight ε, or what else is asked of privacy."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from tightdp.cli.answer import add_plot, answer
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.errors import UsageError
from tightdp.exact.parameters import read_count
from tightdp.results.result import Result
from tightdp.session.instance import Instance

if TYPE_CHECKING:
    from tightdp.results.privacy_loss import PrivacyLoss

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    query = parser.add_mutually_exclusive_group()
    query.add_argument("--delta", metavar="D", help="the tight ε for this δ")
    query.add_argument("--epsilon", metavar="E", help="δ at this ε")
    query.add_argument("--exp-epsilon", metavar="T", help="δ at e^ε = T, as in 2 or exp(1/2)")
    query.add_argument("--curve", action="store_true", help="δ as a function of e^ε: exact break points")
    query.add_argument("--tradeoff", action="store_true", help="the trade-off function (f-DP): exact vertices")
    query.add_argument("--renyi", metavar="A", help="Rényi divergence of order A > 1, or inf")
    query.add_argument("--zcdp", action="store_true", help="the least ρ of zero-concentrated DP, enclosed")
    query.add_argument("--top", metavar="K", help="the K largest likelihood ratios")
    parser.add_argument("--runs", metavar="K", help="all this of K runs, adaptively composed")
    add_plot(parser)
    add_limits(parser)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    if options.runs is not None and (
        options.tradeoff or options.renyi is not None or options.zcdp or options.top is not None
    ):
        raise UsageError("--runs goes with ε and δ only", "ask with --delta, --epsilon, --exp-epsilon or --curve")
    instance = bind(options)
    return answer(instance, options, lambda: _query(instance, options))


def _query(instance: Instance, options: Namespace) -> Result:
    if options.runs is not None:
        return _composed(instance.privacy_loss().compose(read_count("--runs", options.runs)), options)
    if options.epsilon is not None or options.exp_epsilon is not None:
        return instance.delta(epsilon=options.epsilon, exp_epsilon=options.exp_epsilon)
    if options.delta is not None:
        return instance.privacy(delta=options.delta)
    if options.curve:
        return instance.curve()
    if options.tradeoff:
        return instance.tradeoff()
    if options.renyi is not None:
        return instance.renyi(options.renyi)
    if options.zcdp:
        return instance.zcdp()
    return instance.privacy(top=options.top or 1)


def _composed(loss: PrivacyLoss, options: Namespace) -> Result:
    if options.epsilon is not None or options.exp_epsilon is not None:
        return loss.delta(epsilon=options.epsilon, exp_epsilon=options.exp_epsilon)
    return loss.curve() if options.curve else loss.epsilon(delta=options.delta or 0)
