"""Work counted in calls of functions, as every machine makes the same ones, however busy it is."""

import cProfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Work:
    """The calls that have been made since the work began, in this process."""

    profile: cProfile.Profile = field(default_factory=cProfile.Profile)

    @property
    def calls(self) -> int:
        return sum(entry.callcount for entry in self.profile.getstats())


@contextmanager
def counted() -> Iterator[Work]:
    """The work of the block."""
    work = Work()
    work.profile.enable()
    try:
        yield work
    finally:
        work.profile.disable()
