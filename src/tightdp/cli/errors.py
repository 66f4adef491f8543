"""The error for a command line that is not understood."""

from tightdp.errors import TightdpError

__all__ = ["UsageError"]


class UsageError(TightdpError):
    """The command line is not understood."""
