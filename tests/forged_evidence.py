"""Evidence that somebody who has read the checker would forge, as changes of committed certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any


def forget(given: dict[str, Any]) -> None:
    """Claim nothing about what is attained."""
    given["claim"].pop("attained", None)
    given["evidence"].pop("witness", None)
    given["evidence"].pop("event", None)


def smaller(given: dict[str, Any]) -> None:
    """Claim less than the tight ratio."""
    given["claim"]["bound"] = 3
    forget(given)


def reasons(given: dict[str, Any]) -> Iterator[list[Any]]:
    """All reasons: two records, what is published, a form; a factor; forms with multipliers."""
    for step in given["evidence"]["steps"]:
        for rows in step["why"].values():
            yield from rows


def false_form(given: dict[str, Any]) -> None:
    """Bound all forms of u by one that is nowhere negative and never proved."""
    smaller(given)
    for cut in given["evidence"]["cuts"]:
        cut["before"] = [[0, 1]]
    for step in given["evidence"]["steps"]:
        every = product(range(2), range(2), range(len(step["outputs"])), range(4))
        step["why"]["across"] = [[*key, 1, 0, 10**9] for key in every]


def false_form_after(given: dict[str, Any]) -> None:
    """Bound all by a form in v and w that the cut before is not asked for, because units stand there."""
    smaller(given)
    for cut in given["evidence"]["cuts"]:
        cut["after"] = [[[0, 1], [0, 1]]]
    for step in given["evidence"]["steps"]:
        every = product(range(2), range(2), range(len(step["outputs"])), range(4))
        step["why"]["after"] = step["why"]["across"] = [[*key, 1, 0, 10**9] for key in every]


def negative_multiplier(given: dict[str, Any]) -> None:
    """Turn kept forms round."""
    smaller(given)
    for row in reasons(given):
        row[6::2] = [-abs(factor) for factor in row[6::2]]


def negative_times(given: dict[str, Any]) -> None:
    """Turn the form that is to be bounded round."""
    smaller(given)
    for row in reasons(given):
        row[4] = -row[4]


def negative_index(given: dict[str, Any]) -> None:
    """Take forms from the end of a list."""
    for row in reasons(given):
        row[5] = -1


def floats(given: dict[str, Any]) -> None:
    """Multiply so that rounding hides what is left."""
    for row in reasons(given):
        row[4], row[6] = row[4] * 1e-300, row[6] * 1e300


def no_reasons(given: dict[str, Any]) -> None:
    """Give no reason at all."""
    for row in reasons(given):
        row[:4] = 9, 9, 9, row[3]
    for step in given["evidence"]["steps"]:
        step["why"] = {"before": [], "across": [], "after": []}


def reasons_of_others(given: dict[str, Any]) -> None:
    """Give the reasons for one form to another."""
    smaller(given)
    for row in reasons(given):
        row[3] += 1


def fewer_states(given: dict[str, Any]) -> None:
    """Leave out a state, which is where the claim fails."""
    smaller(given)
    given["evidence"]["cuts"][1]["states"].pop()


def fewer_outputs(given: dict[str, Any]) -> None:
    """Leave out what is published where the claim fails."""
    smaller(given)
    for step in given["evidence"]["steps"]:
        step["outputs"] = step["outputs"][:1]


def another_step(given: dict[str, Any]) -> None:
    """Take the steps of other parts."""
    smaller(given)
    given["evidence"]["order"] = [given["evidence"]["order"][0]] * len(given["evidence"]["order"])


def to_the_end_at_once(given: dict[str, Any]) -> None:
    """Say that the first part leads to the end."""
    smaller(given)
    given["evidence"]["steps"][0]["after"] = len(given["evidence"]["cuts"]) + 1


def another_program(given: dict[str, Any]) -> None:
    """Keep the hash of the program, and change the program."""
    given["program"]["parts"][1]["lines"][0][1] = "x2"


def another_source(given: dict[str, Any]) -> None:
    """Keep the hash of the source, and change the source."""
    given["source"] += "# exact"


def refuted(given: dict[str, Any], witness: Any, **claim: Any) -> None:
    """Claim that a pair shows something."""
    forget(given)
    given["claim"] |= {"question": "violation", **claim}
    given["evidence"] = {"rule": "witness", "witness": witness}


def filtered_delta(given: dict[str, Any]) -> None:
    """Look at some outputs only where all count."""
    published = given["evidence"]["event"]
    refuted(given, [[[0], [0], [0]], [[1], [0], [0]]], bound=1, delta="2/3")
    given["evidence"]["event"] = published


def no_neighbours(given: dict[str, Any]) -> None:
    """Refute with two datasets that are no neighbours."""
    refuted(given, [[[0], [0], [0]], [[1], [1], [0]]], bound=5)


def other_records(given: dict[str, Any]) -> None:
    """Refute with a record that is not in the domain."""
    given["claim"]["records"] = [[0], [2]]


def too_many_records(given: dict[str, Any]) -> None:
    """Refute with a dataset that is too long."""
    given["evidence"]["witness"] = [[*x, [0]] for x in given["evidence"]["witness"]]


def fewer_rows(given: dict[str, Any]) -> None:
    """Leave an output out of a law."""
    del given["claim"]["law"][0]


def a_row_twice(given: dict[str, Any]) -> None:
    """Let an output stand for another one."""
    given["claim"]["law"][0] = given["claim"]["law"][-1]


def an_output_left_open(given: dict[str, Any]) -> None:
    """Say of all outputs together that they are certain."""
    given["claim"]["law"] = [[[None] * 5, 1]]


def other_probabilities(given: dict[str, Any]) -> None:
    """Exchange the probabilities of two outputs."""
    first, second, *_ = given["claim"]["law"]
    first[1], second[1] = second[1], first[1]


def another_dataset(given: dict[str, Any]) -> None:
    """Say of another dataset what is true of one."""
    given["claim"]["dataset"] = [[0], [0], [1]]


def a_lower_point(given: dict[str, Any]) -> None:
    """Lower the curve at one point."""
    given["claim"]["points"][1][1] = "63/175"


def a_point_below_1(given: dict[str, Any]) -> None:
    """Begin the curve where it does not."""
    given["claim"]["points"][0] = ["1/2", 1]


def a_bound_of_0(given: dict[str, Any]) -> None:
    """Refute what nobody claims."""
    given["claim"]["bound"] = 0


def no_points(given: dict[str, Any]) -> None:
    """Claim nothing."""
    given["claim"]["points"] = []


def smaller_moment(given: dict[str, Any]) -> None:
    """Claim a smaller moment than the tight one."""
    given["claim"]["bound"] = "102/44"
    forget(given)


def a_higher_order(given: dict[str, Any]) -> None:
    """Claim the tight moment of another order."""
    given["claim"]["order"] = 3
    forget(given)


def a_moment_that_is_reached(given: dict[str, Any]) -> None:
    """Say that the moment is attained above it."""
    given["claim"]["bound"] = 3


def a_larger_share(given: dict[str, Any]) -> None:
    """Claim that more guesses are right."""
    given["claim"]["share"] = "7/10"


def equal_pairs(given: dict[str, Any]) -> None:
    """Let the coin of one client decide nothing, and guess it too."""
    given["claim"]["pairs"][0] = [[0], [0]]
    given["claim"]["guesses"] = 3


def no_guesses(given: dict[str, Any]) -> None:
    """Guess nothing."""
    given["claim"]["guesses"] = 0


def a_pair_too_few(given: dict[str, Any]) -> None:
    """Give one client no pair."""
    del given["claim"]["pairs"][2]


FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    function.__name__: (name, function)
    for name, function in [
        ("randomized_response_count_n3", smaller),
        ("above_threshold_n3", reasons_of_others),
        ("randomized_response_count_n3", fewer_states),
        ("randomized_response_count_n3", fewer_outputs),
        ("randomized_response_count_n3", another_step),
        ("randomized_response_count_n3", to_the_end_at_once),
        ("randomized_response_count_n3", another_program),
        ("randomized_response_count_n3", another_source),
        ("above_threshold_n3", smaller),
        ("randomized_response_count_n3", false_form),
        ("randomized_response_count_n3", false_form_after),
        ("above_threshold_n3", negative_multiplier),
        ("above_threshold_n3", negative_times),
        ("above_threshold_n3", negative_index),
        ("above_threshold_n3", floats),
        ("above_threshold_n3", no_reasons),
        ("sparse_vector_n3", no_reasons),
        ("randomized_response_count_n3", filtered_delta),
        ("randomized_response_count_n3", no_neighbours),
        ("randomized_response_count_n3", other_records),
        ("randomized_response_count_n3", too_many_records),
        ("randomized_response_count_n3_law", fewer_rows),
        ("randomized_response_count_n3_law", a_row_twice),
        ("randomized_response_count_n3_law", an_output_left_open),
        ("randomized_response_count_n3_law", other_probabilities),
        ("randomized_response_count_n3_law", another_dataset),
        ("randomized_response_count_n3_curve", a_lower_point),
        ("randomized_response_count_n3_curve", a_point_below_1),
        ("randomized_response_count_n3_curve", no_points),
        ("randomized_response_count_n3_epsilon_1_refuted", a_bound_of_0),
        ("randomized_response_count_n3_moment", a_bound_of_0),
        ("randomized_response_count_n3_moment", smaller_moment),
        ("randomized_response_count_n3_moment", a_higher_order),
        ("randomized_response_count_n3_moment", a_moment_that_is_reached),
        ("randomized_response_count_n3_efficacy", a_larger_share),
        ("randomized_response_count_n3_efficacy", no_guesses),
        ("randomized_response_count_n3_efficacy", equal_pairs),
        ("randomized_response_count_n3_efficacy", a_pair_too_few),
    ]
}
