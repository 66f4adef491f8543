"""What a program's symmetries are, in words and in numbers: the sizes of the sets that have to be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import combinations, islice
from typing import TYPE_CHECKING

from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.limits.calibrated import LITTLE_WORK
from tightdp.logic.count import Weights
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.chain import Block, Chain, Runs
from tightdp.symmetry.orbits import Group, Orbits
from tightdp.symmetry.sets import AccuracySet, PrivacySet, Table, count_compositions

if TYPE_CHECKING:
    from tightdp.symmetry.renaming import Action
    from tightdp.symmetry.symmetries import Symmetries

_SHOWN = 4
"""For how many outputs the symmetries that hold only given that output are spelled out."""


@dataclass(frozen=True)
class Symmetry:
    """Symmetries in words, and how many (x, y) and (x, x', y) are left when equivalent ones count once.

    A size is None where it was not computed.
    """

    words: tuple[str, ...]
    inference_set: int | None = None
    privacy_set: int | None = None
    accuracy_set: int | None = None


def clients_in_words(clients: Sequence[int]) -> str:
    """Return clients numbered from 1, in words: "clients 1..4", "clients 1, 3 and 4"."""
    numbers = [client + 1 for client in sorted(clients)]
    if numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2:
        return f"clients {numbers[0]}..{numbers[-1]}"
    if len(numbers) == 1:
        return f"client {numbers[0]}"
    shown = numbers if len(numbers) <= 8 else [*numbers[:7], numbers[-1]]
    middle = ", ".join(map(str, shown[:-1])) + (", ..." if len(numbers) > 8 else "")
    return f"clients {middle} and {shown[-1]}"


def of_groups(groups: Sequence[Group], orbits: Orbits, outputs: int | None, accuracy_set: int | None) -> Symmetry:
    """Return the symmetries of a program that sees its clients through aggregates, and has so many outputs."""
    words = []
    for group in groups:
        who = clients_in_words(group.clients)
        if len(group.clients) > 1:
            words.append(f"{who} are interchangeable")
        for letter in group.letters:
            if len(letter) > 1:
                records = ", ".join(map(str, letter))
                words.append(f"the records {records} of {who} make no difference")
    named = not relation_of(orbits.bound).custom
    if outputs is None:
        return Symmetry(tuple(words), accuracy_set=accuracy_set)
    pairs = orbits.privacy_set().size if named else None
    privacy_set = None if pairs is None else pairs * outputs
    return Symmetry(tuple(words), orbits.number * outputs, privacy_set, accuracy_set)


def of_symmetries(found: Symmetries) -> Symmetry:
    """Return the symmetries that were found on the graph of a program and confirmed by its diagram, without sizes."""
    words = []
    for blocks, outputs in found.exchanged:
        together = " together with their outputs" if outputs else ""
        if len(blocks) > 1 and len(blocks[0]) == 1:
            words.append(f"{clients_in_words([block[0] for block in blocks])} are interchangeable{together}")
        elif len(blocks) > 1:
            words.append(f"these blocks of clients are interchangeable{together}: {_blocks_in_words(blocks)}")
    renamed: dict[tuple[str, bool], list[int]] = {}
    for blocks, action in found.inside:
        changed = [number for number in blocks[0] if action.renames(number)]
        likewise = ", likewise in every block" if len(blocks) > 1 else ""
        if action.moved:
            words.append(f"{clients_in_words(sorted(action.moved))} are interchangeable{likewise}")
        elif len(changed) == 1:
            where = [block[blocks[0].index(changed[0])] for block in blocks]
            renamed.setdefault((_renaming_in_words(action, changed[0]), action.outputs), []).extend(where)
        else:
            who = clients_in_words(changed)
            words.append(_nothing_changes(f"{_renaming_in_words(action, changed[0])} {who}", action.outputs, likewise))
    for (what, outputs), clients in renamed.items():
        who = clients_in_words(sorted(set(clients)))
        words.append(_nothing_changes(f"{what} {'any one of ' if len(clients) > 1 else ''}{who}", outputs))
    return Symmetry(tuple(dict.fromkeys(words)))


def _blocks_in_words(blocks: Sequence[Sequence[int]]) -> str:
    shown = [clients_in_words(block) for block in blocks]
    return "; ".join(shown) if len(shown) <= _SHOWN else f"{'; '.join(shown[: _SHOWN - 1])}; ...; {shown[-1]}"


def _nothing_changes(what: str, outputs: bool, likewise: str = "") -> str:
    return f"{what}{' together with the output' if outputs else ''} changes nothing{likewise}"


def _renaming_in_words(action: Action, client: int) -> str:
    changes = {old: new for old, new in action.records[client].items() if old != new}
    if changes == {0: 1, 1: 0} and len(action.records[client]) == 2:
        return "flipping the records of"
    if len(changes) == 2:
        return f"exchanging the records {' and '.join(map(str, changes))} of"
    return f"renaming the records {', '.join(f'{old} to {new}' for old, new in changes.items())} of"


def sized(symmetry: Symmetry, table: Table, privacy_set: PrivacySet, datasets: AccuracySet) -> Symmetry:
    """Return symmetries with the sizes of the sets of (x, y) and (x, x', y) of positive probability."""
    inference = sum(len(table.weights(x).by_code) for x, _ in datasets)
    privacy = sum(len(table.weights(x).by_code.keys() | table.weights(y).by_code.keys()) for x, y, _ in privacy_set)
    return replace(symmetry, inference_set=inference, privacy_set=privacy)


def both(one: Symmetry, other: Symmetry) -> Symmetry:
    """Return symmetries of a chain together with those that were found on the graph, and the smaller sets."""
    always = [words for words in one.words if "given the output" not in words]
    if any("interchangeable" in words for words in other.words):
        always = [words for words in always if "interchangeable" not in words]
    if any("changes nothing" in words for words in always):
        words = [*(words for words in other.words if "changes nothing" not in words), *always]
    else:
        words = [*always, *other.words]
    return Symmetry(
        tuple(words or one.words),
        _smaller(one.inference_set, other.inference_set),
        _smaller(one.privacy_set, other.privacy_set),
        one.accuracy_set,
    )


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((size for size in (one, other) if size is not None), default=None)


def of_chain(chain: Chain, bound: Bound, formula: WeightedFormula) -> Symmetry:
    """Return the symmetries of a program that is a chain of client blocks; of many outputs no sizes."""
    words: list[str] = []
    runs = Runs(chain)
    everywhere = frozenset(node for vector in chain.tails.values() for node in vector)
    whole = [run for run in runs.of(everywhere) if len(run) > 1]
    for run in whole:
        who = clients_in_words([chain.blocks[at].client for at in run])
        moving = " together with their outputs" if chain.blocks[run[0]].bits else ""
        words.append(f"{who} are interchangeable{moving}")
    everything = [_classes(block, _below(block)) for block in chain.blocks]
    words += _relabellings(everything, bound.record.values, any(block.bits for block in chain.blocks))
    if len(chain.tails) * sum(block.size for block in chain.blocks) > LITTLE_WORK:
        return Symmetry(tuple(words))
    inference = privacy = 0
    for number, (code, below) in enumerate(chain.tails.items()):
        here = runs.of(frozenset(below))
        if not whole and number < _SHOWN:
            for run in here:
                if len(run) > 1:
                    who = clients_in_words([chain.blocks[at].client for at in run])
                    words.append(f"{who} are interchangeable given the output {_named(chain, formula, code)}")
        supports = runs.supports(frozenset(below))
        sizes = []
        moves = []
        for run in here:
            block, support = chain.blocks[run[-1]], supports[run[-1] + 1]
            classes = _classes(block, support)
            sizes.append((len(run), max(len(set(classes.values())), 1)))
            moves.append(_moves(bound, classes))
        inference += len(chain.heads) * count_compositions(sizes)
        for at, (length, letters) in enumerate(sizes):
            others = [(length - 1, letters), *sizes[:at], *sizes[at + 1 :]]
            privacy += len(chain.heads) * moves[at] * count_compositions(others)
    return Symmetry(tuple(words), inference, privacy if relation_of(bound).one_record else None)


Letters = Mapping[Record, Weights]
"""The laws of one client, by record."""


def of_independent(
    bound: Bound, kinds: Sequence[tuple[Sequence[tuple[int, ...]], bool]], letters: Sequence[Letters] | None
) -> Symmetry:
    """Return the symmetries of clients or groups that act independently.

    `kinds` are those that are alike, and whether they have an output of their own; `letters` are the laws of one client
    of each kind. Without these, sizes are not computed.
    """
    words = []
    for members, outputs in kinds:
        if len(members) > 1:
            together = " together with their outputs" if outputs else ""
            if len(members[0]) == 1:
                words.append(f"{clients_in_words([client for (client,) in members])} are interchangeable{together}")
            else:
                words.append(f"these blocks of clients are interchangeable{together}: {_blocks_in_words(members)}")
    if letters is None:
        return Symmetry(tuple(words))
    numbers: dict[Number, int] = {}
    tables = [
        {
            (record, code): numbers.setdefault(quotient(weight, law.total), len(numbers))
            for record, law in laws.items()
            for code, weight in law.by_code.items()
        }
        for laws in letters
    ]
    words += _relabellings(tables, bound.record.values, any(outputs for _, outputs in kinds))
    sizes = [(len(members), len(set(table.values()))) for (members, _), table in zip(kinds, tables, strict=True)]
    privacy = 0
    for at, ((length, number), table) in enumerate(zip(sizes, tables, strict=True)):
        privacy += _moves(bound, table) * count_compositions([(length - 1, number), *sizes[:at], *sizes[at + 1 :]])
    return Symmetry(tuple(words), count_compositions(sizes), privacy)


def _named(chain: Chain, formula: WeightedFormula, tail: int) -> str:
    """Return the output that the bits of the tail stand for, or the bits where they are only part of an output."""
    if len(formula.output_bits) == chain.tail_bits:
        return str(formula.codes.first(tail))
    return f"whose last part is number {tail}"


def _classes(block: Block, support: frozenset[int]) -> dict[tuple[Record, int], Hashable]:
    """Return, for every letter, what it does to the nodes that lead to an output; equal values are alike."""
    classes: dict[tuple[Record, int], Hashable] = {}
    for letter, arrows in block.into.items():
        effect = frozenset(
            (node, above, weight) for node, entries in arrows.items() if node in support for above, weight in entries
        )
        if effect:
            classes[letter] = effect
    return classes


def _moves(bound: Bound, classes: Mapping[tuple[Record, int], Hashable]) -> int:
    """Return the number of inequivalent ways in which one client can change its record while its output bits stay."""
    if relation_of(bound).custom:
        return 0
    by_bits: dict[int, dict[Record, Hashable]] = {}
    for (record, bits), effect in classes.items():
        by_bits.setdefault(bits, {})[record] = effect
    relation = relation_of(bound)
    return len(
        {
            (effects[old], effects.get(new))
            for effects in by_bits.values()
            for old, new in relation.steps_of_kinds(effects)
        }
    )


def _relabellings(
    tables: Sequence[Mapping[tuple[Record, int], Hashable]], records: Sequence[Record], outputs: bool
) -> list[str]:
    """Return in words which records can be exchanged together with the client's own output.

    A table says for one client what a record with an output does; equal values are alike.
    """
    if not tables:
        return []
    classes = _exchangeable(tables, records)
    if all(len(alike) == 1 for alike in classes):
        return []
    together = " and y_i together" if outputs else ""
    if tuple(records) == (0, 1):
        return [f"flipping x_i{together} changes nothing"]
    if len(classes) == 1:
        return [f"permuting the values of x_i{together} changes nothing"]
    pairs = nsmallest(_SHOWN, (pair for alike in classes for pair in islice(combinations(alike, 2), _SHOWN)))
    shown = ((records[one], records[other]) for one, other in pairs)
    return [f"exchanging {one} and {other} in x_i{together} changes nothing" for one, other in shown]


def _exchangeable(
    tables: Sequence[Mapping[tuple[Record, int], Hashable]], records: Sequence[Record]
) -> list[list[int]]:
    """Return classes of records, by number, any two of which can be exchanged, with a permutation of its outputs.

    Exchangeability is transitive.
    """
    written = [_Written(table) for table in tables]
    classes: list[list[int]] = []
    same: dict[Hashable, list[int]] = {}
    by_row: dict[Hashable, list[list[int]]] = {}
    for at, record in enumerate(records):
        does = tuple(one.does(record) for one in written)
        if does not in same:
            alike_by_row = by_row.setdefault(tuple(one.row(record) for one in written), [])
            found = (
                alike for alike in alike_by_row if all(one.same_exchanged(records[alike[0]], record) for one in written)
            )
            same[does] = next(found, [])
            if not same[does]:
                alike_by_row.append(same[does])
                classes.append(same[does])
        same[does].append(at)
    return classes


class _Written:
    """What the records of one client do, by record and by output; most of them may do nothing to an output."""

    def __init__(self, table: Mapping[tuple[Record, int], Hashable]) -> None:
        self._row: dict[Record, dict[int, Hashable]] = {}
        self._column: dict[int, dict[Record, Hashable]] = {}
        for (record, bits), effect in table.items():
            self._row.setdefault(record, {})[bits] = effect
            self._column.setdefault(bits, {})[record] = effect

    def does(self, record: Record) -> Hashable:
        return frozenset(self._row.get(record, {}).items())

    def row(self, record: Record) -> Hashable:
        """Return what a record does, whatever the output."""
        return frozenset(Counter(self._row.get(record, {}).values()).items())

    def same_exchanged(self, one: Record, other: Record) -> bool:
        """Whether exchanging two records in every column gives the same columns in some order."""
        mine, others = self._row.get(one, {}), self._row.get(other, {})
        moved = [self._column[bits] for bits in mine.keys() | others.keys() if mine.get(bits) != others.get(bits)]
        turn = {one: other, other: one}
        return Counter(frozenset(column.items()) for column in moved) == Counter(
            frozenset((turn.get(record, record), effect) for record, effect in column.items()) for column in moved
        )


def _below(block: Block) -> frozenset[int]:
    """Return the nodes below a block."""
    return frozenset(node for arrows in block.into.values() for node in arrows)
