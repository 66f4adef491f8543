"""The command `claims`: the claims of papers, decided again; see `tightdp.claims.command`."""

from tightdp.claims.command import add_arguments, run

__all__ = ["add_arguments", "run"]
