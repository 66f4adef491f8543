"""An integer and a quotient that is equal to it are one value: what tells them apart is refused where both met."""

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import LanguageError
from tightdp.language.domains import Int
from tightdp.methods.compiled import compile_symbolic

HEAD = "def f(x):\n    n = x[0]\n    "

MET = [
    "n / 2 if flip('1/2') else n",
    "n / 2 if n > 1 else 0",
    "(n / 2 if flip('1/2') else n) + 1",
    "shuffle([n / 2, n])[0]",
    "choice([1 / 2, n / 2, n])",
]


@pytest.mark.parametrize("made", MET)
@pytest.mark.parametrize("asked", ["isinstance({}, int)", "isinstance({}, float)", "type({}) is int"])
def test_where_both_met_which_it_was_is_refused(made: str, asked: str) -> None:
    source = HEAD + f"return {asked.format(made)}\n"
    with module_of(source) as module, pytest.raises(LanguageError, match=r"an integer or a quotient|not known here"):
        compile_symbolic(bind(module, Int(0, 2), 1))


@pytest.mark.parametrize(
    "told",
    [
        *(f"isinstance({made}, (int, float))" for made in MET),
        "isinstance(n / 2, int)",
        "isinstance(max(n / 2, n - 1), int)",
        "isinstance(choice([0, 1 / 2, n]), int)",
        "isinstance(n / 2 if n else None, int)",
        "isinstance(max(n, 1), int)",
    ],
)
def test_anything_else_is_that_of_python(told: str) -> None:
    with module_of(HEAD + f"return {told}\n") as module:
        assert assert_agreement(bind(module, Int(0, 2), 1), ("cudd",)).failing == 0
