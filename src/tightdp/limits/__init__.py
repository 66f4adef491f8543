"""Limits on time, memory and the size of diagrams, and running a question so that it can be abandoned.

In: a question (a function without arguments) with its limits. Out: its answer, or LimitError when a limit is reached.
A limit is kept in three stages: code that calls its `Limits` now and then ends with what it knows; Python
code that does not is interrupted by a signal soon after; what cannot be interrupted, such as a long call into a C
library, runs in a child process and is abandoned there. Imports nothing but the errors.
"""

from tightdp.limits.abandon import Abandoned, Command, run
from tightdp.limits.child import begin, can_fork, die_with_parent, keep, snapshot, with_text
from tightdp.limits.clock import Allowance, Limits, age, interrupted, interruption, requested, ticking
from tightdp.limits.many import at_once, cores
from tightdp.limits.memory import available_memory, default_memory, read_memory, resident_memory, shown_memory
from tightdp.limits.room import with_room

__all__ = [
    "Abandoned",
    "Allowance",
    "Command",
    "Limits",
    "age",
    "at_once",
    "available_memory",
    "begin",
    "can_fork",
    "cores",
    "default_memory",
    "die_with_parent",
    "interrupted",
    "interruption",
    "keep",
    "read_memory",
    "requested",
    "resident_memory",
    "run",
    "shown_memory",
    "snapshot",
    "ticking",
    "with_room",
    "with_text",
]
