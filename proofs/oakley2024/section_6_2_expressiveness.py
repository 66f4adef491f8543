"""Section 6.2: the number of inputs."""

from __future__ import annotations

from itertools import product

from tightdp.claims import Correction, Fails, certain, grid, program

from .paper import paper

above_threshold = program("above_threshold")


def printed_inputs(n: int, k: int) -> bool | Fails:
    """The number of datasets, from the program's record domain."""
    record = above_threshold.bind(n=n, k=k, threshold=1, ratio_threshold="1/2", ratio_query="1/2").bound.record
    return inputs_compared(record.size**n)


def printed_inputs_again(n: int, k: int) -> bool | Fails:
    """The same by listing them."""
    return inputs_compared(sum(1 for _ in product(range(k + 1), repeat=n)))


def inputs_compared(exact: int) -> bool | Fails:
    """What the paper prints, and what there is."""
    why = f"Six records with four values each: 4^6 = {exact} inputs. 6^4 = 1296 would be four records with six values."
    return exact == 1296 or Fails(why, inputs=exact, printed=1296)


def inputs_listed() -> None:
    """All lists are written down and counted."""
    certain(sum(1 for _ in product(range(4), repeat=6)) == 4096 == 4**6, "lists of length 6 over 0..3")
    certain(sum(1 for _ in product(range(6), repeat=4)) == 1296 == 6**4, "lists of length 4 over six values")


def inputs_by_listing(n: int, k: int) -> dict[str, int]:
    """All of them are listed."""
    return {"inputs": sum(1 for _ in product(range(k + 1), repeat=n))}


paper.claim(
    "O13",
    "Sec. 6.2",
    "There are 6^4 = 1296 inputs for list length 6 and integers 0..3.",
    brief="There are 4^6 = 4096 inputs, not 6^4 = 1296.",
    verdict="corrected",
    instances=grid(n=(6,), k=(3,)),
    check=printed_inputs,
    brute=printed_inputs_again,
    at={"n": 6, "k": 3},
    minimal="the only instance of the claim",
    breaks="Base and exponent are exchanged: the number is (k+1)^n, not n^(k+1).",
    corrected=Correction(
        "There are `inputs = 4^6 = 4096` inputs.",
        check=inputs_by_listing,
        instances=grid(n=(6,), k=(3,)),
        near=("4096", "1296"),
        verdict="proved",
        proof=inputs_listed,
    ),
    stands="The point that is made, which becomes stronger: a small diagram stands for more inputs than said.",
)
