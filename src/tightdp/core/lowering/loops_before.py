"""How loops end that began in the same way before, in this lowering of a mechanism or in an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tightdp.core.lowering.cut_off import MOST_ROUNDS
from tightdp.core.lowering.loop_chain import LoopChain, TooManyStates, counted_up
from tightdp.core.lowering.loop_names import names_in
from tightdp.core.lowering.loop_runs import NotAChain, Outcome, Outer, Run, Values
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import Value, is_scalar
from tightdp.core.nodes import Expr
from tightdp.exact.field import Number


class Borrowed(Exception):
    """With loops that were known before, how many rounds were played so far is not known, and it matters."""


@dataclass(frozen=True)
class Ended:
    """How a loop ended that began with plain values, and how many rounds were played to know it."""

    entry: Values
    failures: Sequence[Failure]
    law: dict[Outcome, Number] | TooManyStates
    rounds: int


def ended_before(m: Machine, name: tuple[object, ...]) -> Ended | None:
    """Return how a loop of this name ended, in this lowering or an earlier one."""
    if name not in m.ended and name in m.loops:
        m.ended[name] = m.loops[name]
        m.builder.rounds += m.loops[name].rounds
        m.borrowed = True
    return m.ended.get(name)


def name_of(m: Machine, chain: LoopChain, entry: Values, run: Run) -> tuple[object, ...] | None:
    """Return what says how a loop ends, wherever its counters begin; None where it may look at more than plain values.

    `run` knows the values from before the loop that are given, and what was read of them is in it then.
    """
    (_, begun), counted = chain.apart((0, entry))
    own = [cell[1] for cell in chain.cells if isinstance(cell, tuple) and cell[0] == m.frame.key]
    frames = m.frame.key, *m.frame.enclosing
    read = [m.store.get((key, name)) for key in frames for name in names_in(chain.rounds.node) if name not in own]
    if m.floats or m.guards or chain.rounds.items is not None or len(own) < len(chain.cells):
        return None
    try:
        held = [*(run.value(each) if isinstance(each, Expr) else each for each in read), *begun]
    except (Outer, NotAChain):
        return None
    if not all(map(is_plain, held)):
        return None
    shown = tuple("" if value is MISSING else repr(value) for value in held)
    plan = m.builder.cut is None, frozenset(m.left_early)
    return (
        plan,
        chain.bits,
        chain.rounds.node,
        chain.rounds.cut,
        chain.rounds.growth,
        m.frame.late,
        len(chain.pieces),
        tuple(own),
        tuple(counted),
        shown,
    )


def is_alone(chain: LoopChain, run: Run) -> bool:
    """Whether the rounds of a loop looked at nothing but its own state, and what its name says."""
    return all(run.read.keys() >= read.keys() for rows in chain.known.values() for read, _ in rows)


def is_told(chain: LoopChain, law: dict[Outcome, Number], run: Run) -> bool:
    """Whether a law says all of how a loop ends: its rounds looked at nothing else, and it brings plain values."""
    plain = all(
        is_plain(v) for kind, held, value in law for v in (*held, value if kind not in ("fail", "late") else None)
    )
    return plain and is_alone(chain, run)


def as_before(chain: LoopChain, entry: Values, before: Ended) -> dict[Outcome, Number]:
    """Return the law of a loop that began like this before, but for its counters. Raises TooManyStates if it did."""
    if isinstance(before.law, TooManyStates):
        raise before.law
    moved = {place: entry[place] - before.entry[place] for place in chain.apart((0, entry))[1]}
    first = len(chain.failures)
    chain.failures.extend(before.failures)
    return {
        (kind, counted_up(held, moved) if held else held, value + first if kind == "fail" else value): mass
        for (kind, held, value), mass in before.law.items()
    }


def note(m: Machine, name: tuple[object, ...], ended: Ended) -> None:
    """Keep how a loop ended; for later lowerings where it was followed as closely as any."""
    m.ended[name] = ended
    if m.builder.rounds <= MOST_ROUNDS:
        m.loops[name] = ended


def is_plain(value: Value) -> bool:
    """Whether a value is known: a scalar, nothing at all, or a tuple of such."""
    if isinstance(value, tuple):
        return all(map(is_plain, value))
    return value is MISSING or value is None or (is_scalar(value) and not isinstance(value, Expr))
