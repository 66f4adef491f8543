"""How much memory a process has, and how much is free: from /proc on Linux, from `ps` and `vm_stat` on macOS."""

from __future__ import annotations

import os
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from tightdp.errors import ParameterError

__all__ = ["available_memory", "default_memory", "read_memory", "resident_memory", "shown_memory"]

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_SHARE = Fraction(4, 5)
"""How much of the free memory a question may take where no limit is given."""
_CGROUP = Path("/sys/fs/cgroup")
_SYSTEM: str = sys.platform


def read_memory(value: Any) -> int | None:
    """Return a number of bytes, given as such or as "500M" or "4G" (powers of 1024); None for the default.

    Raises ParameterError where it is neither, or not positive.
    """
    if value is None:
        return None
    found = _SIZE.fullmatch(str(value).strip()) if isinstance(value, (str, int)) else None
    size = 0 if found is None or isinstance(value, bool) else int(Fraction(found[1]) * _UNITS[found[2].upper()])
    if size <= 0:
        raise ParameterError(f"max_memory is {value!r}", "give a size such as 500M or 4G, or a number of bytes")
    return size


def shown_memory(size: int) -> str:
    """Return a number of bytes as people write it, such as 1.5 GB."""
    for unit in ("T", "G", "M", "K"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.1f}".removesuffix(".0") + f" {unit}B"
    return f"{size} bytes"


def default_memory() -> int | None:
    """Return 80 % of the memory that is free now; None where that cannot be told."""
    free = available_memory()
    return None if free is None else int(_SHARE * free)


def available_memory() -> int | None:
    """Return how many bytes can be taken without swapping, within the limits of the container; None if unknown."""
    try:
        if _SYSTEM == "linux":
            return _available_on_linux()
        if _SYSTEM == "darwin":
            return _available_on_macos()
    except (OSError, ValueError):
        pass
    return None


def resident_memory(pid: int | None = None) -> int | None:
    """Return how many bytes of a process (this one, unless given) are in memory; None if unknown."""
    process = os.getpid() if pid is None else pid
    try:
        if _SYSTEM == "linux":
            with open(f"/proc/{process}/statm", "rb") as file:  # noqa: PTH123 (it is read many times a second)
                return int(file.read().split()[1]) * _PAGE
        if _SYSTEM == "darwin":
            return 1024 * int(_output("ps", "-o", "rss=", "-p", str(process)))
    except (OSError, ValueError, IndexError):
        pass
    return None


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def _available_on_linux() -> int | None:
    found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
    left = [] if found is None else [1024 * int(found[1])]
    for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        folder = _CGROUP if limit == "memory.max" else _CGROUP / "memory"
        try:
            left.append(int((folder / limit).read_text()) - int((folder / used).read_text()))
        except (OSError, ValueError):  # another version of cgroups, or no limit ("max")
            continue
    return max(min(left), 0) if left else None


def _available_on_macos() -> int:
    text = _output("vm_stat")
    page = re.search(r"page size of (\d+) bytes", text)
    pages = re.findall(r"^Pages (?:free|inactive|speculative|purgeable):\s+(\d+)\.", text, re.MULTILINE)
    return (4096 if page is None else int(page[1])) * sum(map(int, pages))


def _output(*command: str) -> str:
    import subprocess  # late: it takes time to import, and only macOS needs it

    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout
    except subprocess.SubprocessError as error:
        raise OSError(str(error)) from None
