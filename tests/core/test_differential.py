"""Generated programs: the compiled answers equal the interpreter's on every dataset.

The default Hypothesis profile tries a few programs; `TIGHTDP_FULL=1` loads one that tries thousands.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, assume, given, note, settings

from agreement import Agreement, assert_agreement, bind, module_of
from strategies import Case, programs, write_program
from tightdp.errors import LanguageError, LimitError
from tightdp.language.program import Bound
from tightdp.limits import Limits
from tightdp.logic.bdd import BACKENDS
from tightdp.methods.compiled import compile_symbolic

SEEDS = range(24)
QUICK = Limits(timeout=20)


def agreement(case: Case, backends: tuple[str, ...]) -> Agreement | None:
    """Compare one program; None where it is refused, or too large to compile quickly."""
    with module_of(case.source) as module:
        bound = bind(module, case.record, case.n, neighbours=case.neighbours, **case.parameters)
        try:
            _is_affordable(bound)
            return assert_agreement(bound, backends)
        except (LanguageError, LimitError):
            return None


def _is_affordable(bound: Bound) -> None:
    try:
        compile_symbolic(bound, watch=Limits(max_nodes=300_000))
    except LimitError:
        raise
    except Exception:  # compared, and raised again where it matters, below
        return


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_fixed_program_means_what_the_interpreter_says(seed: int) -> None:
    agreement(write_program(random.Random(seed)), BACKENDS)


@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(programs())
def test_a_generated_program_means_what_the_interpreter_says(case: Case) -> None:
    note(case.source)
    assume(agreement(case, BACKENDS[:1]) is not None)


def test_generated_programs_are_worth_testing() -> None:
    cases = [write_program(random.Random(seed)) for seed in range(150)]
    bodies = [case.source[case.source.index("def f(") :] for case in cases]

    def share(*texts: str) -> float:
        return sum(any(text in body for text in texts) for body in bodies) / len(bodies)

    assert share("for ", "while ") > 0.6
    assert share("observe(") > 0.2
    assert share(".append(", ".extend(", ".insert(", ".pop(") > 0.3
    assert share("    def g") > 0.1
    assert share("        return") > 0.3
    assert share("flip(") > 0.7
    outcomes = [agreement(case, BACKENDS[:1]) for case in cases[:20]]
    found = [outcome for outcome in outcomes if outcome is not None]
    assert len(found) > 0.9 * len(outcomes)
    several = [max((len(law) for law in outcome.laws.values() if law is not None), default=0) > 1 for outcome in found]
    assert sum(several) > 0.3 * len(found)
    assert sum(outcome.failing == len(outcome.laws) for outcome in found) < 0.3 * len(found)
