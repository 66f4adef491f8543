"""Limits on time, memory and the size of diagrams, and running a question so that it can be abandoned.

In: a question (a function without arguments) with its limits. Out: its answer, or LimitError when a limit is reached.
A limit is kept in three stages: code that calls its `Limits` now and then ends with what it knows; Python
code that does not is interrupted by a signal soon after; what cannot be interrupted, such as a long call into a C
library, runs in a child process and is abandoned there. Imports nothing but the errors.
"""

from tightdp.limits.abandon import Abandoned, Command, cores, run
from tightdp.limits.child import begin, can_fork, die_with_parent, keep, snapshot, with_room, with_text
from tightdp.limits.clock import (
    IN_A_CALL,
    Allowance,
    Limits,
    age,
    available_memory,
    default_memory,
    interrupted,
    interruption,
    pay,
    read_memory,
    requested,
    resident_memory,
    shown_memory,
    ticking,
)  # fmt: skip

__all__ = [
    "IN_A_CALL", "Abandoned", "Allowance", "Command", "Limits", "age", "available_memory", "begin", "can_fork", "cores",
    "default_memory", "die_with_parent", "interrupted", "interruption", "keep", "pay", "read_memory", "requested",
    "resident_memory", "run", "shown_memory", "snapshot", "ticking", "with_room", "with_text",
]  # fmt: skip
