"""What syntax outside the language is called in messages, and what to write in its place."""

from __future__ import annotations

import ast

__all__ = ["name_of_node"]

_NAMES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Import: ("an import inside a mechanism", "import at the top of the module"),
    ast.ImportFrom: ("an import inside a mechanism", "import at the top of the module"),
    ast.Global: ("global", "pass the value as an argument, and return what changes"),
    ast.Try: ("try", "test with if before, so that no exception is raised"),
    ast.TryStar: ("try", "test with if before, so that no exception is raised"),
    ast.With: ("with", "write its body without it"),
    ast.AsyncWith: ("async", "write an ordinary function"),
    ast.AsyncFor: ("async", "write an ordinary for loop"),
    ast.AsyncFunctionDef: ("async", "write an ordinary function"),
    ast.Await: ("await", "write an ordinary function"),
    ast.ClassDef: ("a class inside a mechanism", "use tuples, lists and local functions"),
    ast.Yield: ("yield", "collect the values in a list and return it"),
    ast.YieldFrom: ("yield from", "collect the values in a list and return it"),
    ast.Starred: ("a starred expression here", "write it inside a tuple, a list or a call"),
    ast.Slice: ("a slice here", "write it as the only index"),
}


def name_of_node(node: ast.AST) -> tuple[str, str]:
    """Return what a node that no handler lowers is called, and the remedy."""
    return _NAMES.get(type(node), ("this syntax", "see the list of supported Python in docs/language.md"))
