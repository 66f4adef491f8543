"""False, empty and meaningless claims, as somebody who has read the checker would write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from certificate_bombs import by_forms, given, part, program, sealed

EXAMPLES = Path(__file__).parents[1] / "proofs" / "certificates"
ONE = [["x0", "input", 0]]


def example(name: str) -> dict[str, Any]:
    """A committed certificate."""
    found: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def client(lines: Any, *publishes: Any, at: Any = 0) -> dict[str, Any]:
    """A part of one client."""
    return part(at, [], lines, list(publishes))


def made(lines: Any, *publishes: Any, rule: str = "datasets", witness: Any = None, **claim: Any) -> dict[str, Any]:
    """A certificate for one client with one bit."""
    evidence = {"rule": rule} | ({} if witness is None else {"witness": witness})
    if rule == "forms":
        cut: dict[str, Any] = {"states": [[]], "before": [], "after": []}
        evidence |= by_forms([cut], [[[]], [[0], [1]] if publishes else [[]]], units=True)
    return given(part(None, [], [], []), client(lines, *publishes), evidence=evidence, **claim)


def wrong(lines: Any, *publishes: Any, beta: Any = 0, **more: Any) -> dict[str, Any]:
    """A certificate of accuracy for one client with one bit."""
    found = made(lines)
    found["program"]["parts"][-1]["leaves"] = list(publishes)
    found["claim"] = {"question": "accuracy", "n": 1, "records": [[0], [1]], "alpha": 0, "beta": beta} | more
    return sealed(found)


def every(*parts: dict[str, Any], **claim: Any) -> dict[str, Any]:
    """A certificate for every n."""
    found = example("xor_randomized_response_every_n")
    found["claim"] |= claim
    found["program"] = program(parts) if parts else found["program"]
    return sealed(found)


def law(*odds: Any) -> list[Any]:
    """Odds for the record 0, and for the record 1."""
    return ["d1", "draw", "x0", [[at, [[0, a], [1, b]]] for at, (a, b) in enumerate(odds)]]


E = 271828182845904523536028747135266249775724709369995
LISTED = [[[[0]], [[1]]]]
DROPS = [*ONE, ["v1", "eq", "x0", 0], [None, "observe", "v1"]]
PAIR = [[[0]], [[1]]]


def guessed(share: Any, *clients: Any, others: Any = (), **claim: Any) -> dict[str, Any]:
    """A certificate of the efficacy of one guess, where clients publish v1; of `others`, who have no part, too."""
    found = given(*(client(lines, "v1", at=at) for at, lines in enumerate(clients)))
    pairs = [[[0], [1]]] * len([*clients, *others])
    said = {"n": len(pairs), "records": [[0], [1]], "pairs": pairs, "guesses": 1, "share": share}
    return sealed({**found, "claim": {"question": "efficacy", **said} | claim})


def curve(points: list[Any], pairs: list[Any]) -> dict[str, Any]:
    """A certificate of the curve of one answer that is wrong with probability 1/3, said to be attained by pairs."""
    found = made([*ONE, law((2, 1), (1, 2))], "d1", question="curve", points=points, attained=True, witness=pairs)
    del found["claim"]["bound"]
    return sealed(found)


def turned() -> dict[str, Any]:
    """Two clients that may change places where they answer differently: a one is a fair coin, and a zero one that leans
    to the other side each time. Of (0, 1) and (0, 0) the bound is true, of (1, 0) and (0, 0) it is not."""
    leaning = [
        [[0, 0], [[0, 4], [1, 2]]],
        [[0, 1], [[0, 2], [1, 4]]],
        [[1, 0], [[0, 3], [1, 3]]],
        [[1, 1], [[0, 3], [1, 3]]],
    ]
    answers = [*ONE, ["v1", "tuple", "x0", "s1"], ["d1", "draw", "v1", leaning], ["v2", "sub", 1, "s1"]]
    answers.append(["s1", "case", "x0", [[0, "v2"], [1, "s1"]]])
    found = given(
        part(None, [], [["s1", "add", 0, 0]], []), part(0, ["s1"], answers, ["d1"]), part(None, ["s1"], [], [])
    )
    found["program"]["order"] = [[0, None], [1, 0], [1, 1], [2, None]]
    found["claim"] |= {"n": 2, "bound": "3/2"}
    return sealed(found)


T = [0, 1]
COIN = [*ONE, ["d1", "draw", [[0, 3], [1, 1]]], ["v1", "ne", "x0", "d1"]]
SOME = [*COIN, ["v2", "le", "d1", "x0"], [None, "observe", "v2"]]
SOME_BY_T = [*ONE, ["d1", "draw", [[0, T], [1, 1]]], *SOME[2:]]
MESSAGES = "privacy of messages"
NOISY = [*ONE, law((2, 1), (1, 2))]
ORDERS = (0, 1, "1/2", "3/3", "6/4", "100/99", "18/17", "101/2", 100, True, "inf", {"above": 3, "below": 2}, [3, 2])
RANGE = ["lam", 0, 1]
REFUSED: dict[str, Any] = {
    # false
    "clients-that-may-not-change-places": turned(),
    "the-ratio-is-infinite": made(ONE, "x0"),
    "forms-for-an-infinite-ratio": made(ONE, "x0", rule="forms"),
    "forms-for-a-delta": made(ONE, "x0", rule="forms", delta="1/2"),
    "two-outputs-of-an-error": wrong([*ONE, ["v1", "eq", "x0", 7]], "x0", "v1"),
    "an-error-that-is-published": {
        **wrong(ONE, "x0"),
        "program": program([client([*ONE, ["v1", "eq", "x0", 7]], "x0"), part(None, ["v1"], [], [])]),
    },
    "odds-below-zero-for-this-T": made([["d1", "draw", [[0, [-2, 1]], [1, [0, 0, 1]]]]], "d1", root=2),
    "odds-below-zero-for-some-T": made([["d1", "draw", [[0, [1, -3, 1]], [1, 5]]]], "d1", bound=9, unknown=RANGE),
    "a-bound-too-small-for-some-T": made(
        [*ONE, law((T, 1), (1, T))], "d1", bound={"above": [99, 0, 100], "below": [0, 100]}, unknown=RANGE
    ),
    "forms-with-a-bound-too-small-for-some-T": made(
        [*ONE, law((T, 1), (1, T))], "d1", rule="forms", bound={"above": [1, 0, 1], "below": [1, 1]}, unknown=RANGE
    ),
    "runs-that-lose-more": made([*ONE, law((1, 2), (2, 1))], "d1", bound=2, runs=[2, 2, "1/5"]),
    "runs-of-a-delta-that-is-left-out": made(
        [*ONE, law((1, 2), (2, 1))], "d1", bound=1, delta="1/3", runs=[2, 1, "1/3"]
    ),
    "a-curve-attained-at-one-point": curve([[1, "1/3"], [2, 0]], [PAIR]),
    "a-curve-attained-at-no-point": curve([], []),
    "a-curve-attained-below-a-point": curve([[1, "1/3"], ["3/2", "1/3"]], [PAIR, PAIR]),
    "a-curve-attained-by-equal-datasets": curve([[1, "1/3"]], [[[[0]], [[0]]]]),
    "a-curve-attained-past-its-end": curve([[1, "1/3"], [3, 0]], [PAIR, PAIR]),
    "runs-of-one-direction": made(
        [*ONE, law((1, 1), (0, 2))], "d1", bound=2, neighbours=[[[[1]], [[0]]]], runs=[1, 2, 0]
    ),
    "no-runs": made([], runs=[0, 1, 0]),
    "half-a-run": made([], runs=["1/2", 1, 0]),
    "runs-without-a-delta": made([], runs=[2, 1]),
    "runs-that-gain": made([], runs=[2, "1/2", 0]),
    "an-unknown-and-a-root": made([], unknown=RANGE, root=1),
    "an-unknown-without-a-range": made([], unknown=["lam", "1/2", "1/2"]),
    "an-unknown-with-a-line": made([], unknown=["lam\n", 0, 1]),
    "odds-of-different-sums-but-for-a-float": made([*ONE, law((T, 1), (1, E))], "d1", bound=1, root=1),
    "a-bound-that-is-just-too-small": made([*ONE, law((T, 1), (1, T))], "d1", bound=f"{E // 5}/{10**50 // 5}", root=1),
    "a-polynomial-that-is-an-infinite-bound": made(ONE, "x0", bound={"above": T, "below": 0}, root=1),
    "an-observation-that-drops-one-dataset": made(DROPS),
    "forms-with-observations": made([*ONE, law((9, 1), (0, 10)), [None, "observe", "d1"]], rule="forms"),
    "the-other-branch-is-missing": made([*ONE, ["v1", "case", "x0", [[0, 1]]]], "v1"),
    "a-law-is-missing": made([*ONE, ["d1", "draw", "x0", [[0, [[1, 1]]]]]], "d1"),
    "listed-pairs-for-forms": made(ONE, "x0", rule="forms", neighbours=LISTED),
    "an-undefined-operand": made([["v1", "div", 1, 0], ["v2", "eq", "v1", 0]], "v2"),
    "a-check-that-fails": made([*ONE, [None, "fails", "x0"]]),
    "a-condition-that-is-a-number": made([["v1", "add", 1, 1], [None, "fails", "v1"]]),
    "a-smaller-moment-of-an-order-that-is-not-whole": made(
        [*ONE, law((2, 1), (1, 2))], "d1", question="moment", order="3/2", bound="1178/1000"
    ),
    "a-moment-that-is-infinite": made(ONE, "x0", question="moment", order="3/2", bound=10**9),
    "an-order-that-drops-runs": made(
        [*ONE, law((3, 1), (1, 3)), [None, "observe", "d1"]], question="moment", order="3/2", bound="1/2"
    ),
    "a-moment-up-to-an-error": made([], question="moment", order="3/2", bound=2, error="1/100"),
    "a-moment-that-an-error-makes-small": made(
        [*ONE, law((2, 1), (1, 2))],
        "d1",
        question="larger moment",
        rule="witness",
        witness=PAIR,
        order="3/2",
        bound="117/100",
        error="1/10",
    ),
    **{f"an-order-{order}": made([], question="moment", order=order, bound=2) for order in ORDERS},
    # bounds that say nothing
    "a-bound-below-one": made([], bound="1/2"),
    "a-bound-below-one-with-no-delta": made([], bound="1/2", delta=0),
    "forms-with-a-bound-below-one-and-no-delta": made([], rule="forms", bound="1/2", delta=0),
    "a-bound-below-one-with-too-small-a-delta": made([], bound="1/2", delta="49/100"),
    "runs-with-a-bound-below-one": made([], bound="1/2", delta="1/2", runs=[2, 1, "3/4"]),
    "a-bound-of-zero": made([], rule="forms", bound=0),
    "a-bound-below-zero": made([], rule="forms", bound=-5),
    "a-bound-below-one-that-is-refuted": made(
        ONE, "x0", question="violation", bound="1/2", rule="witness", witness=PAIR
    ),
    "a-negative-delta": made(ONE, "x0", delta=-1),
    "a-delta-above-one": made(ONE, "x0", delta=2),
    "an-infinite-bound": made(ONE, "x0", bound="inf"),
    # values
    "T-as-a-value": made([["v1", "add", T, 0], ["v2", "lt", "v1", 1]], "v2", root=1),
    "T-as-a-value-in-a-polynomial": made([["v1", "min", {"above": T, "below": 1}, 1]], "v1", root=1),
    "order-of-tuples": made([["v1", "lt", [0, 1], [0, 2]]], "v1"),
    "order-of-texts": made([["v1", "max", {"text": "a"}, {"text": "b"}]], "v1"),
    "a-sum-of-texts": made([["v1", "add", {"text": "a"}, {"text": "b"}]], "v1"),
    "a-product-of-tuples": made([["v1", "mul", [0], 3]], "v1"),
    "a-format-of-strings": made([["v1", "mod", {"text": "%099999999d"}, 1]], "v1"),
    "a-text-with-more": made([["v1", "eq", {"text": "a", "also": 1}, 1]], "v1"),
    "a-text-that-is-a-number": made([["v1", "eq", {"text": 1}, 1]], "v1"),
    "one-value-of-a-table-twice": made([*ONE, ["v1", "case", "x0", [[1, 0], [True, 5], [0, 0]]]], "v1"),
    "one-outcome-twice": made([["d1", "draw", [[1, 1], [True, 1]]]], "d1"),
    "one-record-twice": made([], records=[[0], [False]]),
    # numbers
    **{
        f"a-number-{text}": made([["v1", "add", text, 0]], "v1")
        for text in (
            "1",
            "1)2",
            "(1)",
            "1/2/3",
            "2/4",
            "4/1",
            "1/1",
            "-0/5",
            "0/5",
            "+1/2",
            "1/-2",
            "01/2",
            " 1/2",
            "1/2\n",
            "\u0661/2",
            "1_0/3",
            "1e3",
            "0.5",
            "-8+16/1",
            "1//2",
            "",
            "inf",
            "nan",
        )
    },
    **{
        f"a-bound-{at}": made([], bound=bound, root=1)
        for at, bound in enumerate(
            [
                "4",
                4.0,
                True,
                None,
                [4],
                [4, 0],
                [1, 1.0],
                [1, True],
                {"above": 4},
                "1e9",
                "T",
                {"above": -4, "below": -2},
                {"above": 4, "below": 2, "also": 1},
                [[0, 1], 1],
            ]
        )
    },
    "a-polynomial-without-T": made([], bound=[1, 1]),
    "a-root-of-zero": made([], bound=T, root=0),
    "a-root-below-zero": made([], bound=T, root=-1),
    "a-root-that-is-a-truth-value": made([], bound=T, root=True),
    # names
    **{
        f"a-name-{name!a}": made([[name, "add", 1, 0]], name)
        for name in (
            "v\u0661",
            "\u0475",
            "v1\u200b",
            "v\u202e1",
            "v1\n",
            "v1 ",
            "w1",
            "",
            "V1",
            "v" * 40,
            "x-1",
            "v1;",
            1,
            ["v1"],
        )
    },
    "a-value-that-never-was": made([], "v7"),
    "a-value-that-comes-later": made([["v1", "add", "v2", 1], ["v2", "add", 1, 1]], "v1"),
    "a-value-of-itself": made([["v1", "add", "v1", 1]], "v1"),
    "a-value-that-was-forgotten": given(client(ONE), part(None, [], [], ["x0"])),
    "a-value-that-is-taken-from-nowhere": given(client(ONE), part(None, ["v7"], [], ["v7"])),
    "a-value-that-is-taken-twice": given(client(ONE), part(None, ["x0", "x0"], [], [])),
    "something-taken-at-the-start": given(part(None, ["v1"], [], ["v1"])),
    # outputs
    "a-constant-as-output": made(ONE, 5),
    "a-truth-value-as-output": made(ONE, True),
    "an-output-twice": made([["v1", "add", 1, 0]], "v1", "v1"),
    "an-output-that-is-no-list": {**made([]), "program": program([{**part(None, [], [], []), "publishes": "v1"}])},
    "an-output-line": made([*ONE, ["v1", "output", "x0"]]),
    "an-output-line-of-no-name": made([*ONE, [None, "output", "x0"]]),
    # programs
    "no-program": {**made([]), "program": {"parts": [], "order": []}},
    "no-parts": {**made([]), "program": []},
    "a-record-in-another-part": given(part(None, [], ONE, ["x0"])),
    "a-component-that-is-not-there": made([["x0", "input", 1]], "x0"),
    "a-component-from-the-end": made([["x0", "input", -1]], "x0"),
    "a-client-twice": given(client([]), client(ONE)),
    "a-client-that-is-not-there": given(client(ONE, at=1)),
    "a-client-below-zero": given(client(ONE, at=-1)),
    "a-client-that-is-a-truth-value": given(client(ONE, at=False)),
    "a-part-of-all-among-others": given(client(ONE, at="all")),
    "a-part-with-more": given({**client(ONE), "note": "exact"}),
    "no-such-operation": made([["v1", "pow", 2, 2]], "v1"),
    "too-many-operands": made([["v1", "neg", 2, 2]], "v1"),
    "a-check-with-a-name": made([["v1", "fails", 0]], "v1"),
    "an-empty-law": made([["d1", "draw", []]], "d1"),
    "odds-of-zero": made([["d1", "draw", [[0, 0]]]], "d1"),
    "odds-that-are-ratios": made([["d1", "draw", [[0, "1/2"], [1, "1/2"]]]], "d1"),
    "a-line-that-is-a-text": made(["v1 = add 1 1"], "v1"),
    # claims that are empty, or say more than is checked
    "no-records": made([], records=[]),
    "one-record": made([], records=[[0]]),
    "records-of-nothing": made([], records=[[], [1]]),
    "no-clients": given(part(None, [], [], []), n=0),
    "fewer-clients-than-none": given(part(None, [], [], []), n=-3),
    "clients-that-are-a-truth-value": made([], n=True),
    "no-neighbours": made([], neighbours=[]),
    "neighbours-that-are-null": made(ONE, "x0", neighbours=None),
    "a-neighbour-of-itself": made([], neighbours=[[[[0]], [[0]]]]),
    "no-steps": made([], neighbours="unit-step", records=[[0], [5]]),
    "nothing-to-add": made([], neighbours="add-remove"),
    # the other component, which the reader of the verdict does not expect to change, does
    **{
        f"{name}-of-two-components": made(
            [["x0", "input", 1]],
            "x0",
            question="violation",
            rule="witness",
            records=pair,
            neighbours=name,
            witness=[[r] for r in pair],
        )
        for name, pair in (
            ("unit-step", [[0, 0], [0, 5]]),
            ("unit-all", [[0, 0], [0, 5]]),
            ("add-remove", [[None, 3], [1, 5]]),
        )
    },
    "every-n-with-two-parts-of-all": every(
        part(None, [], [], []), client(ONE, at="all"), client(ONE, at="all"), part(None, [], [], [])
    ),
    "a-delta-that-is-a-ratio-above-one": made([], delta={"above": [0, 0, 1], "below": T}, root=1),
    "an-undefined-condition": made([["v1", "div", 1, 0], [None, "observe", "v1"]]),
    "a-condition-that-is-never-true": made([[None, "observe", 0]]),
    "an-error-that-is-none": wrong([["v1", "else", None, None]], "v1", beta=1),
    "two-errors": wrong([*ONE, ["v1", "eq", "x0", 0]], "x0", "v1", beta=1),
    "an-error-that-is-a-text": wrong([["v1", "else", {"text": "0"}, 0]], "v1", beta=1),
    "no-such-neighbours": made([], neighbours="none"),
    "no-such-claim": made([], question="privacies"),
    "no-such-rule": made([], rule="trust"),
    "a-witness-for-all": made([], rule="witness", witness=PAIR),
    "a-witness-that-is-not-asked-for": made([], witness=PAIR),
    "accuracy-with-a-bound": wrong([["v1", "eq", 0, 1]], "v1", bound=1),
    "accuracy-with-an-alpha-below-zero": wrong([["v1", "eq", 0, 1]], "v1", alpha="-1/1000"),
    "a-claim-with-a-remark": made([], remark="exact"),
    "a-claim-for-a-mechanism": made([], mechanism="count(n=1)"),
    "a-certificate-with-a-remark": {**made([]), "remark": "exact"},
    "another-format": {**made([]), "format": 5},
    "attained-that-is-false": made([], attained=False),
    "attained-that-is-one": made([], attained=1, witness=PAIR),
    "attained-without-a-witness": made([], attained=True),
    "attained-by-a-dataset-and-itself": made([], attained=True, bound=1, witness=[[[0]], [[0]]]),
    "accuracy-of-two-datasets": wrong([*ONE, ["v1", "eq", "x0", 0]], "v1", beta=1, attained=True)
    | {"evidence": {"rule": "datasets", "witness": PAIR}},
    # every n
    "every-n-without-a-label": every(question="privacy"),
    "every-n-and-attained": every(attained=True),
    "every-n-is-three": every(n=3),
    "every-n-below-one": every(bound="1/2"),
    "every-n-too-small": every(bound=3),
    "every-n-without-records": every(records=[]),
    "every-n-with-one-client": every(part(None, [], [], []), client(ONE), part(None, [], [], [])),
    "every-n-by-datasets": every() | {"evidence": {"rule": "datasets"}},
    # guesses where some runs are dropped (the share is 7/8), and messages
    "guesses-by-weights-that-differ": guessed("6/7", SOME),
    "guesses-of-dropped-runs": guessed("3/4", SOME),
    "guesses-where-a-record-drops-all": guessed(1, [*COIN, [None, "observe", "x0"]]),
    "guesses-where-odds-of-zero-count": guessed(
        1, [*ONE, ["d1", "draw", [[0, 1], [1, 0]]], *COIN[2:], [None, "observe", "d1"]]
    ),
    "guesses-where-odds-below-zero-are-dropped": guessed(
        1, [["v1", "draw", [[0, -1], [1, 3]]], [None, "observe", "v1"]]
    ),
    "guesses-by-a-number": guessed("3/4", [*COIN, ["v2", "add", "d1", 1], [None, "observe", "v2"]]),
    "guesses-of-the-other-client": guessed("3/4", COIN, SOME),
    "guesses-of-a-client-without-a-part": guessed("7/8", SOME, others=[1]),
    "guesses-of-another-pair": guessed("7/8", SOME, pairs=[[[1], [1]]]),
    "guesses-for-another-T": guessed("7/8", SOME_BY_T, root=1),
    "guesses-for-some-T": guessed("7/8", SOME_BY_T, unknown=RANGE),
    "messages-with-too-small-a-bound": made(NOISY, "d1", question=MESSAGES, bound="3/2"),
    "forms-of-messages-with-too-small-a-bound": made(NOISY, "d1", rule="forms", question=MESSAGES, bound="3/2"),
    "messages-that-are-attained": made(NOISY, "d1", question=MESSAGES, attained=True, witness=PAIR),
    "messages-with-a-delta": made(NOISY, "d1", question=MESSAGES, bound=1, delta="1/3"),
    "messages-of-runs-that-lose-more": made(NOISY, "d1", question=MESSAGES, runs=[2, 2, "1/5"]),
}
