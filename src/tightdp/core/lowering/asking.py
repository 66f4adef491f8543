"""Questions to an analyst: the answer is drawn and published with what was shown, or given by a strategy.

Each choice is drawn with the same probability, whatever the records. So the ratio of the probabilities of what is
published is the one that every strategy with these answers sees; see `queries/strategies.py` for what is not a ratio.
"""

from __future__ import annotations

from tightdp.core.lowering.dictionaries import sorted_output
from tightdp.core.lowering.draws import draw_from
from tightdp.core.lowering.functions import call
from tightdp.core.lowering.iteration import collected
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.positions import item_at
from tightdp.core.lowering.registry import builtin
from tightdp.core.lowering.scalars import adopt, truth
from tightdp.core.lowering.sequences import equal
from tightdp.core.lowering.values import (
    Array,
    Collection,
    Element,
    Range,
    Reference,
    Table,
    Union,
    Value,
    alternatives,
    is_scalar,
)
from tightdp.errors import LanguageError
from tightdp.language import laws, primitives
from tightdp.language.analyst import Answering, Strategy
from tightdp.limits.calibrated import CALL_DEPTH


@builtin(primitives.ask)
def _ask(m: Machine, history: Value, choices: Value) -> Value:
    if m.analyst is None:
        raise m.unsupported("ask is called by another name", "call it as ask(history, choices)")
    seen = _shown(m, history)
    return m.each(collected(m, choices), lambda items: _answered(m, seen, items))


def _answered(m: Machine, history: Value, items: tuple[Value, ...]) -> Value:
    if not items:
        raise Failure("ParameterError: ask was given no choices", "give at least one choice")
    asked = m.analyst
    if not isinstance(asked, Reference):
        assert asked is not None
        return _by_strategy(m, asked, history, items)
    answer = draw_from(m, "ask", lambda: laws.uniform(0, len(items) - 1), ())
    one = (history, _offered(m, items), answer)
    before = alternatives(m.store[asked.key], m.builder.true)
    if any(len(entries) >= CALL_DEPTH for _, entries in before):
        raise m.unsupported(f"a run asks more than {CALL_DEPTH} questions", "bound the loop, or ask fewer questions")
    longer = tuple((guard, (*entries, one)) for guard, entries in before)
    m.store[asked.key] = Union(longer) if len(longer) > 1 else longer[0][1]
    return item_at(m, items, answer)


def _by_strategy(m: Machine, strategy: Answering, history: Value, items: tuple[Value, ...]) -> Value:
    """Return what a strategy answers; runs on which that is none of the choices fail."""
    if isinstance(strategy, Strategy):
        answer: Value = items[0]
        for seen, said in strategy.table.items():
            answer = m.merge(truth(m, equal(m, history, adopt(m, seen))), adopt(m, said), answer)
    else:
        answer = call(m, adopt(m, strategy), (history, items), {})
    among = m.builder.disjunction([truth(m, equal(m, answer, item)) for item in items])
    failure = Failure("ParameterError: the strategy answers none of the choices", "return one of the choices")
    m.oblige(m.builder.negation(among), failure)
    return answer


def _shown(m: Machine, value: Value) -> Value:
    """Return what the analyst is shown, as it is now: lists as tuples, dictionaries and sets as in outputs."""
    if isinstance(value, (Reference, Range)):
        return m.each(collected(m, value), lambda items: _shown(m, items))
    if isinstance(value, tuple):
        return tuple(_shown(m, item) for item in value)
    if isinstance(value, Union):
        return m.each(value, lambda each: _shown(m, each))
    if isinstance(value, (Array, Element, Table, Collection)):
        return sorted_output(m, value)
    if not is_scalar(value):
        raise m.unsupported("this cannot be shown to an analyst", "pass the outputs so far: numbers, strings, tuples")
    return value


def _offered(m: Machine, items: tuple[Value, ...]) -> Value:
    """Return the choices as the analyst sees them; their number where they are no outputs."""
    try:
        return tuple(_shown(m, item) for item in items)
    except LanguageError:
        return len(items)
