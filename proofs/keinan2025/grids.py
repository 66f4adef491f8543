"""Parameters that several sections share."""

from __future__ import annotations

from .programs import ON_BITS

LAMS = ("1/3", "1/4", "1/10")


NAMES = tuple(ON_BITS)
