"""Results that are in none of the papers, with their arguments and checks: a file for each subject."""

from .paper import paper

__all__ = ["paper"]

paper.sections(__name__, "concentrated_response", "figures")
