"""Renamings of a program's variables, and whether the diagram confirms that they change nothing.

The formula is encoded once more with the outcomes of the draws as free variables: it holds where the program, on this
dataset and with these outcomes, returns this output. A renaming exchanges records between clients, records with each
other, outcomes and outputs likewise. Where the renamed formula is the same function, and every outcome has the
probability of its image, P(y | x) is the same for the image of y and the image of x: summing over the outcomes and over
their images is the same sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

from tightdp.core.nodes import Const, CoreProgram, Draw, Expr, Input, reachable
from tightdp.exact.field import Number
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.limits.calibrated import FEW_VALUES
from tightdp.logic.bdd import Node
from tightdp.logic.encode import Encoder
from tightdp.logic.formula import InputBit, code_length
from tightdp.logic.functions import Digit, Tree
from tightdp.symmetry.graph import Automorphisms, Vertex, client, component, node, program_graph, value

Image = tuple[int, tuple[int, ...]]
"""What takes the place of a variable, and for every position of its values the position of the image."""


@dataclass(frozen=True)
class Renaming:
    """The image of every record leaf and draw (by serial number) and of every output component; others stay."""

    leaves: Mapping[int, Image] = field(default_factory=dict)
    components: Mapping[int, Image] = field(default_factory=dict)


class _ValueEncoder(Encoder):
    """An encoding in which the outcome of a draw is a free variable instead of being determined by coins."""

    def plan_draw(self, draw: Draw) -> None:
        levels = self.fresh(InputBit(draw.serial, bit) for bit in range(code_length(len(draw.values))))
        self.bits[draw.serial] = levels
        supports = [{draw.index[outcome] for outcome, _ in law or ()} for law in draw.laws]
        self.trees[draw.serial] = [_tree(levels, support) for support in supports]


def _tree(levels: Sequence[int], support: set[int], start: int = 0) -> Tree:
    """Return the tree of the outcomes of positive probability."""
    if not levels:
        return start if start in support else None
    low = _tree(levels[1:], support, 2 * start)
    high = _tree(levels[1:], support, 2 * start + 1)
    return None if low is None and high is None else Digit(levels[0], high, low)


class Verifier:
    """Decides whether a renaming leaves a program without `Shuffled` nodes unchanged.

    The checks of the program are assumed to hold, and left out. `watch` is called with the size of the diagram and may
    raise.
    """

    def __init__(
        self, program: CoreProgram, backend: str = "cudd", watch: Callable[[int], None] = lambda size: None
    ) -> None:
        self._encoder = _ValueEncoder(replace(program, checks=()), backend, watch)
        self._manager = self._encoder.manager
        self._watch = watch
        self._relation = self._encoder.relation()
        nodes = {leaf.serial: leaf for leaf in reachable([*program.inputs, *program.components, *program.evidence])}
        self._leaves = {serial: nodes[serial] for serial in self._encoder.bits}
        self._valid = self._all_valid()
        self._weights: dict[int, dict[Number, Node]] = {}

    def confirms(self, renaming: Renaming) -> bool:
        """Whether the renamed formula equals the formula, with equal weights; False unless the map is one to one."""
        if not _one_to_one(renaming.leaves) or not _one_to_one(renaming.components):
            return False
        self._watch(self._manager.size())
        functions = dict(self._substitution(renaming))
        if not self._same(self._relation, self._relation, functions):
            return False
        return all(
            self._same_weights(leaf, *renaming.leaves.get(serial, (serial, tuple(range(len(leaf.values))))), functions)
            for serial, leaf in self._leaves.items()
            if isinstance(leaf, Draw)
        )

    def _same(self, function: Node, other: Node, functions: dict[int, Node]) -> bool:
        """Whether a function equals another one after renaming, wherever all codes stand for a value."""
        manager = self._manager
        renamed = manager.substitute(other, functions) if functions else other
        return bool(manager.both(function, self._valid) == manager.both(renamed, self._valid))

    def _all_valid(self) -> Node:
        """Return the function that holds where every code stands for a value."""
        blocks = [(levels, len(self._leaves[serial].values)) for serial, levels in self._encoder.bits.items()]
        blocks += [
            (levels, len(self._encoder.program.components[number].values))
            for number, levels in self._encoder.outputs.items()
        ]
        result = self._manager.true
        for levels, size in sorted(blocks, reverse=True):
            if size < 1 << len(levels):
                codes = (self._encoder.code(levels, position) for position in range(size))
                result = self._manager.both(self._any(codes), result)
        return result

    def _any(self, functions: Iterator[Node]) -> Node:
        result = self._manager.false
        for function in functions:
            result = self._manager.either(result, function)
        return result

    def _substitution(self, renaming: Renaming) -> Iterator[tuple[int, Node]]:
        """Yield, for the levels of every image, the function that its bit becomes."""
        encoder = self._encoder
        for levels_of, images in ((encoder.bits, renaming.leaves), (encoder.outputs, renaming.components)):
            for which, (image, positions) in images.items():
                if which != image or positions != tuple(range(len(positions))):
                    yield from self._bits(levels_of.get(which, []), levels_of.get(image, []), positions)

    def _bits(
        self, levels: Sequence[int], image_levels: Sequence[int], positions: Sequence[int]
    ) -> Iterator[tuple[int, Node]]:
        known = levels or len(positions) == 1
        codes = [self._encoder.code(levels, at) for at in range(len(positions))] if known else []
        for place, level in enumerate(reversed(image_levels)):
            yield level, self._any(code for code, image in zip(codes, positions, strict=False) if image >> place & 1)

    def _same_weights(self, leaf: Expr, image: int, positions: Sequence[int], functions: dict[int, Node]) -> bool:
        """Whether every outcome of a draw has the probability of its image, whatever the selectors are."""
        other = self._leaves.get(image)
        if not isinstance(leaf, Draw) or not isinstance(other, Draw):
            return False
        if isinstance(leaf.selector, Const) and isinstance(other.selector, Const):
            ours, theirs = _masses(leaf, 0), _masses(other, 0)
            return all(mass == theirs[positions[at]] for at, mass in enumerate(ours))
        ours_by_mass, theirs_by_mass = self._weights_of(leaf), self._weights_of(other)
        return all(
            self._same(
                ours_by_mass.get(mass, self._manager.false), theirs_by_mass.get(mass, self._manager.false), functions
            )
            for mass in {**ours_by_mass, **theirs_by_mass}
        )

    def _weights_of(self, draw: Draw) -> dict[Number, Node]:
        """Return, for every probability, the function that holds where the outcome of a draw has it."""
        found = self._weights.get(draw.serial)
        if found is None:
            levels, manager = self._encoder.bits[draw.serial], self._manager
            codes = [self._encoder.code(levels, position) for position in range(len(draw.values))]
            masses = [_masses(draw, at) for at in range(len(draw.laws))]
            found = {}
            for mass in sorted({mass for entry in masses for mass in entry}):
                guards = tuple(
                    self._any(code for code, other in zip(codes, entry, strict=True) if other == mass)
                    for entry in masses
                )
                found[mass] = self._encoder.bind(draw.selector, guards)
            self._weights[draw.serial] = {mass: node for mass, node in found.items() if node != manager.false}
        return self._weights[draw.serial]


def _one_to_one(images: Mapping[int, Image]) -> bool:
    """Whether no two variables, and no two values of one, have the same image."""
    return {image for image, _ in images.values()} == images.keys() and all(
        sorted(positions) == list(range(len(positions))) for _, positions in images.values()
    )


def _masses(draw: Draw, selected: int) -> list[Number]:
    """Return the probability of every value of a draw under the law that a selector value picks."""
    masses: list[Number] = [Fraction(0)] * len(draw.values)
    for outcome, mass in draw.laws[selected] or ():
        masses[draw.index[outcome]] += mass
    return masses


Positions = tuple[int, ...]
"""For every position of a leaf's values, the position of its image."""


@dataclass(frozen=True)
class Action:
    """What a symmetry does to a dataset: record r of client c becomes record `records[c][r]` of client `clients[c]`.

    `outputs` says whether the outputs change with it.
    """

    clients: tuple[int, ...]
    records: tuple[Mapping[Record, Record], ...]
    outputs: bool

    @property
    def moved(self) -> frozenset[int]:
        """The clients that are mapped to others."""
        return frozenset(at for at, image in enumerate(self.clients) if image != at)

    def renames(self, client: int) -> bool:
        """Whether some record of a client becomes another one."""
        return any(old != new for old, new in self.records[client].items())

    @property
    def keeps_records(self) -> bool:
        """Whether clients are exchanged with their records as they are."""
        return not any(map(self.renames, range(len(self.clients))))


class Detector:
    """Finds symmetries of a program without `Shuffled` nodes, for a bound mechanism.

    With `measured`, the core program of the quantity that the output estimates, only symmetries count that leave the
    output and that quantity as they are. Symmetries respect the neighbour relation if it is built in.
    """

    def __init__(
        self,
        bound: Bound,
        program: CoreProgram,
        measured: CoreProgram | None = None,
        backend: str = "cudd",
        watch: Callable[[int], None] = lambda size: None,
    ) -> None:
        self.bound = bound
        self._program = program
        self._nodes = reachable([*program.inputs, *program.components, *program.evidence])
        self._leaves = {(leaf.client, leaf.leaf): leaf for leaf in program.inputs}
        graph = program_graph(program)
        self.found = graph is not None
        if graph is None:
            return
        if measured is not None:
            for number, root in enumerate(program.components):
                graph.nodes[component(number)]["colour"] = ("component", number)
                for at in range(len(root.values)):
                    vertex = graph.nodes[value(root, at)]
                    vertex["colour"] = (vertex["colour"], "output", root.values[at])
        self._automorphisms = Automorphisms(graph, lambda: watch(0))
        self._verifier = Verifier(program, backend, watch)
        self._measured = measured
        self._target = None if measured is None else Verifier(measured, backend, watch)
        self._steps = relation_of(bound).steps if not relation_of(bound).custom and measured is None else None

    def classes(self, fixed: Sequence[int]) -> list[list[int]]:
        """Return classes of clients; no symmetry that fixes some clients and keeps records exchanges two classes."""
        colours = {client(number): ("fixed", number) for number in fixed}
        cells = self._automorphisms.cells({**self._keeping({}), **colours})
        classes: dict[int, list[int]] = {}
        for number in range(self.bound.n):
            classes.setdefault(cells[client(number)], []).append(number)
        return list(classes.values())

    def renamings(self, clients: Sequence[int]) -> Iterator[dict[tuple[int, int], Positions]]:
        """Yield candidate renamings of records, the same for all the given clients, with every client fixed."""
        fixed = {client(number): ("fixed", number) for number in range(self.bound.n)}
        for leaf, values in enumerate(self.bound.record.leaves()):
            open_ = {value(self._leaves[number, leaf], at) for number in clients for at in range(len(values))}
            colours = {vertex: colour for vertex, colour in self._keeping({}).items() if vertex not in open_}
            cells = self._automorphisms.cells({**fixed, **colours})
            kinds = [[cells[value(self._leaves[number, leaf], at)] for at in range(len(values))] for number in clients]
            for positions in _permutations(len(values)):
                if all(kind[at] == kind[image] for kind in kinds for at, image in enumerate(positions)):
                    yield {(number, leaf): positions for number in clients}

    def symmetry(
        self, images: Mapping[int, int], renamed: Mapping[tuple[int, int], Positions] | None = None
    ) -> Action | None:
        """Return a confirmed symmetry that takes some clients to their images, or None.

        `renamed` gives the images of records, by (client, leaf); all others are kept.
        """
        renamed = renamed or {}
        before = {client(number): ("to", image) for number, image in images.items()}
        after = {client(image): ("to", image) for image in images.values()}
        mapping = self._automorphisms.candidate({**self._keeping(renamed), **before}, {**self._keeping({}), **after})
        return None if mapping is None else self._confirmed(mapping)

    def _keeping(self, renamed: Mapping[tuple[int, int], Positions]) -> dict[Vertex, tuple[str, int]]:
        """Return colours under which records stay what they are, except those that are renamed."""
        return {
            value(leaf, at): ("record", renamed[key][at] if key in renamed else at)
            for key, leaf in self._leaves.items()
            for at in range(len(leaf.values))
        }

    def _confirmed(self, mapping: Mapping[Vertex, Vertex]) -> Action | None:
        renaming = self._renaming(mapping)
        if renaming is None:
            return None
        action = self._action(renaming, mapping)
        if action is None or not self._respects_neighbours(action) or not self._verifier.confirms(renaming):
            return None
        return action if self._target is None or self._target.confirms(self._of_target(renaming)) else None

    def _renaming(self, mapping: Mapping[Vertex, Vertex]) -> Renaming | None:
        by_vertex = {node(expr): expr for expr in self._nodes}
        leaves: dict[int, Image] = {}
        for expr in self._nodes:
            if isinstance(expr, (Input, Draw)):
                other = by_vertex.get(mapping[node(expr)])
                if other is None or type(other) is not type(expr):
                    return None
                positions = self._positions(mapping, expr, other)
                if positions is None:
                    return None
                leaves[expr.serial] = other.serial, positions
        components: dict[int, Image] = {}
        for number, root in enumerate(self._program.components):
            vertex = mapping[component(number)]
            image = int(str(vertex[1]))
            positions = self._positions(mapping, root, self._program.components[image])
            if positions is None:
                return None
            components[number] = image, positions
        return Renaming(leaves, components)

    @staticmethod
    def _positions(mapping: Mapping[Vertex, Vertex], expr: Expr, other: Expr) -> Positions | None:
        """Return the images of a node's values, as positions among the values of the image node."""
        places = {value(other, at): at for at in range(len(other.values))}
        images = [places.get(mapping[value(expr, at)]) for at in range(len(expr.values))]
        known = tuple(image for image in images if image is not None)
        return known if len(known) == len(images) == len(places) else None

    def _action(self, renaming: Renaming, mapping: Mapping[Vertex, Vertex]) -> Action | None:
        """Return what a renaming does to datasets; None where it splits records."""
        clients = tuple(int(str(mapping[client(number)][1])) for number in range(self.bound.n))
        records = []
        for number, image in enumerate(clients):
            mine = [leaf for leaf in self._program.inputs if leaf.client == number]
            images = []
            for leaf in mine:
                serial, positions = renaming.leaves[leaf.serial]
                other = self._leaves[image, leaf.leaf]
                if other.serial != serial:
                    return None
                images.append({old: other.values[at] for old, at in zip(leaf.values, positions, strict=True)})
            records.append(self._renamed_records(images))
        still = all(
            number == image and positions == tuple(range(len(positions)))
            for number, (image, positions) in renaming.components.items()
        )
        return Action(clients, tuple(records), not still)

    def _renamed_records(self, images: Sequence[Mapping[Record, Record]]) -> dict[Record, Record]:
        record = self.bound.record
        return {
            item: record.join([image[part] for image, part in zip(images, record.split(item), strict=True)])
            for item in record.values
        }

    def _respects_neighbours(self, action: Action) -> bool:
        """Whether neighbours are mapped to neighbours under a built-in relation."""
        steps = self._steps
        return steps is None or all(
            {records[new] for new in steps[old]} == set(steps[records[old]])
            for records in action.records
            for old in steps
        )

    def _of_target(self, renaming: Renaming) -> Renaming:
        """Return the same renaming of records for the program of the target, with the output kept."""
        assert self._measured is not None
        by_serial = {leaf.serial: leaf for leaf in self._program.inputs}
        serials = {(leaf.client, leaf.leaf): leaf.serial for leaf in self._measured.inputs}
        leaves = {}
        for leaf in self._measured.inputs:
            serial, positions = renaming.leaves[self._leaves[leaf.client, leaf.leaf].serial]
            image = by_serial[serial]
            leaves[leaf.serial] = serials[image.client, image.leaf], positions
        return Renaming(leaves)


def _permutations(size: int) -> Iterator[Positions]:
    """Yield the permutations of values to try: exchanges of two values, reversal, rotation."""
    identity = tuple(range(size))
    pairs = list(combinations(identity, 2))
    close = pairs if len(pairs) <= FEW_VALUES else [(at, at + 1) for at in identity[:-1]]
    found = []
    for one, other in close:
        swapped = list(identity)
        swapped[one], swapped[other] = other, one
        found.append(tuple(swapped))
    found += [identity[::-1], (*identity[1:], *identity[:1])]
    yield from (positions for positions in dict.fromkeys(found) if positions != identity)
