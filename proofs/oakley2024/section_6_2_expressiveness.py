"""Section 6.2: the number of inputs."""

from __future__ import annotations

from itertools import product

from tightdp.claims import Correction, Exactly, every, grid, program

from .paper import paper

above_threshold = program("above_threshold")


def inputs_of_program(n: int, k: int) -> dict[str, int]:
    """The number of datasets, from the program's record domain."""
    record = above_threshold.bind(n=n, k=k, threshold=1, ratio_threshold="1/2", ratio_query="1/2").bound.record
    return {"inputs": record.size**n}


def inputs_listed(n: int, k: int) -> dict[str, int]:
    """All of them, counted one by one."""
    return {"inputs": sum(1 for _ in product(range(k + 1), repeat=n))}


paper.claim(
    "O13",
    "Sec. 6.2",
    "For list length `n = 6` and integers 0..k with `k = 3` there are `inputs = 6^4 = 1296` inputs.",
    brief="There are 4^6 = 4096 inputs, not 6^4 = 1296.",
    verdict="corrected",
    instances=grid(n=(6,), k=(3,)),
    check=inputs_of_program,
    brute=inputs_listed,
    at={"n": 6, "k": 3},
    minimal="the only instance of the claim",
    breaks="Base and exponent are exchanged: the number is (k+1)^n, not n^(k+1).",
    corrected=Correction(
        Exactly(
            every("n, k", among=[(6, 3)]),
            says=["inputs = (k + 1)^n = 4096"],
            where={
                "inputs": (
                    "the number of lists of n integers in 0..k",
                    lambda n, k: inputs_listed(int(n), int(k))["inputs"],
                )
            },
        ),
        verdict="decided",
    ),
    stands="The point that is made, which becomes stronger: a small diagram stands for more inputs than said.",
)
