# ruff: noqa: E501, PT018
"""From the core language to counts: the order of variables, the back ends, the two arithmetics, the sizes of diagrams."""

from __future__ import annotations

import itertools
import random
import time
from fractions import Fraction
from typing import Any

import pytest

from agreement import bind, datasets, module_of
from strategies import write_program
from tightdp.core.builder import Builder
from tightdp.core.lowering import lower
from tightdp.core.nodes import Case, CoreProgram, Input
from tightdp.core.outputs import Leaf
from tightdp.core.passes import expand_shuffles
from tightdp.errors import BackendError, LimitError, ProgramError
from tightdp.language import interp
from tightdp.language.domains import Bit, Domain, Int, Values
from tightdp.language.program import Bound
from tightdp.limits import Limits
from tightdp.logic.bdd import BACKENDS, Manager, make_manager
from tightdp.logic.count import output_weights
from tightdp.logic.encode import Encoder, encode, possible_values
from tightdp.logic.formula import Coin, InputBit, OutputBit, WeightedFormula, code_length, order
from tightdp.methods.compiled import compile_dataset, compile_symbolic
from tightdp.symmetry.sets import DiagramTable

ABOVE_THRESHOLD = """
def f(x, k, ratio="1/2"):
    noisy = geometric((k + 1) // 2, ratio, 0, k)
    for i, v in enumerate(x):
        if geometric(v, ratio, 0, k) >= noisy:
            return i
    return len(x)
"""
RESPONSE = "def f(x):\n    return tuple(1 - b if flip(1/5) else b for b in x)\n"
COUNT = "def f(x):\n    return sum(1 - b if flip(1/5) else b for b in x)\n"


def compiled(source: str, record: Domain, n: int, backend: str = "cudd", **parameters: Any) -> WeightedFormula:
    with module_of(source) as module:
        return compile_symbolic(bind(module, record, n, **parameters), backend)


def core(source: str, record: Domain, n: int, **parameters: Any) -> CoreProgram:
    with module_of(source) as module:
        return expand_shuffles(lower(bind(module, record, n, **parameters)))


# sizes


def test_above_threshold_is_small() -> None:
    """The diagram for one dataset has 91 nodes in oakley2024, Sec. 6.2; for all 4^6 together a few times that."""
    with module_of(ABOVE_THRESHOLD) as module:
        bound = bind(module, Int(0, 3), 6, k=3)
        rng = random.Random(1)
        some = [tuple(rng.randrange(4) for _ in range(6)) for _ in range(20)]
        assert max(compile_dataset(bound, x).nodes for x in some) <= 91
        assert compile_symbolic(bound).nodes <= 200


@pytest.mark.parametrize(("source", "record", "sizes"), [
    (RESPONSE, Bit, (4, 8, 16, 32)),
    (ABOVE_THRESHOLD, Int(0, 3), (4, 8, 16, 32)),
])  # fmt: skip
def test_diagrams_grow_linearly(source: str, record: Domain, sizes: tuple[int, ...]) -> None:
    parameters = {"k": 3} if "k" in source.split("\n")[1] + source.split("\n")[0] and "ratio" in source else {}
    nodes = [compiled(source, record, n, **parameters).nodes for n in sizes]
    steps = [
        (b - a) / (n - m) for (a, b), (m, n) in zip(itertools.pairwise(nodes), itertools.pairwise(sizes), strict=True)
    ]
    assert max(steps) <= 1.5 * min(steps)


def test_counts_grow_quadratically() -> None:
    nodes = [compiled(COUNT, Bit, n).nodes for n in (8, 16, 32)]
    assert nodes[2] / nodes[1] < 5 and nodes[1] / nodes[0] < 5


HISTOGRAMS = [
    "def f(x):\n    h = [0, 0, 0]\n    for v in x:\n        h[v] += 1\n    return tuple(h)\n",
    "def f(x):\n    h = [0, 0, 0]\n    for v in x:\n        h[v] = h[v] + 1\n    return tuple(h)\n",
    "def f(x):\n    return tuple(sum(v == k for v in x) for k in range(3))\n",
]


def test_ways_of_writing_a_histogram_give_one_diagram() -> None:
    assert len({compiled(source, Int(0, 2), 10).nodes for source in HISTOGRAMS}) == 1


def test_the_sum_of_a_random_subsample_is_small() -> None:
    source = "def f(x):\n    return sum(b for b in x if flip(1/4))\n"
    assert compiled(source, Bit, 40).nodes < 5 * compiled(source, Bit, 20).nodes


def test_clipping_with_if_restricts_values() -> None:
    source = """
def f(x):
    v = 0
    for b in x:
        v += 2 * b - 1
        if v < -2:
            v = -2
        if v > 2:
            v = 2
    return v
"""
    assert list(core(source, Bit, 9).components[0].values) == [-2, -1, 0, 1, 2]


# the order


def levels(source: str, record: Domain, n: int, **parameters: Any) -> list[Any]:
    return list(compiled(source, record, n, **parameters).variables)


def test_a_client_stands_with_its_coins_and_output() -> None:
    assert levels(RESPONSE, Bit, 2) == [
        InputBit(0, 0), Coin(1, 5), OutputBit(0, 0), InputBit(1, 0), Coin(1, 5), OutputBit(1, 0)
    ]  # fmt: skip


def test_a_noisy_threshold_stands_above_the_clients() -> None:
    blocks = order(core(ABOVE_THRESHOLD, Int(0, 3), 6, k=3))
    first = blocks[0].leaf
    assert first is not None and not isinstance(first, Input) and first.name == "geometric"
    late = "def f(x):\n    q = [b ^ flip(1/3) for b in x]\n    t = randint(0, 1)\n    return tuple(v > t for v in q)\n"
    leaf = order(core(late, Bit, 6))[0].leaf
    assert leaf is not None and not isinstance(leaf, Input) and leaf.name == "randint"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(12))
def test_every_leaf_and_component_has_one_place(seed: int) -> None:
    case = write_program(random.Random(seed))
    with module_of(case.source) as module:
        bound = bind(module, case.record, case.n, neighbours=case.neighbours, **case.parameters)
        program = expand_shuffles(lower(bound))
    blocks = order(program)
    leaves = [block.leaf.serial for block in blocks if block.leaf is not None]
    components = [block.component for block in blocks if block.component is not None]
    assert len(set(leaves)) == len(leaves)
    assert sorted(components) == list(range(len(program.components)))
    place = {serial: at for at, serial in enumerate(leaves)}
    for block in blocks:
        selector = getattr(block.leaf, "selector", None)
        if selector is not None and selector.serial in place and block.leaf is not None:
            assert place[selector.serial] < place[block.leaf.serial]


# the back ends


@pytest.mark.parametrize("backend", BACKENDS)
def test_manager(backend: str) -> None:
    manager: Manager = make_manager(backend, 3)
    a, b, c = (manager.variable(level) for level in range(3))
    assert manager.negate(manager.true) == manager.false
    assert manager.both(a, manager.negate(a)) == manager.false
    assert manager.either(a, manager.negate(a)) == manager.true
    assert manager.differ(a, b) == manager.choose(a, manager.negate(b), b)
    assert manager.choose(a, b, c) == manager.either(manager.both(a, b), manager.both(manager.negate(a), c))
    assert manager.level(b) == 1 and manager.level(manager.negate(b)) == 1 and manager.level(manager.true) == 3
    assert manager.key(manager.both(a, b)) == manager.key(manager.both(b, a))
    assert manager.key(a) != manager.key(manager.negate(a))
    diagram = manager.extract(manager.choose(a, b, manager.negate(c)))
    assert diagram.root == len(diagram) - 1
    for node in range(2, len(diagram)):
        assert diagram.low[node] < node > diagram.high[node] != diagram.low[node]
        for child in (diagram.low[node], diagram.high[node]):
            assert diagram.level[child] > diagram.level[node]
    for values in itertools.product((False, True), repeat=3):
        node = diagram.root
        while node > 1:
            node = diagram.high[node] if values[diagram.level[node]] else diagram.low[node]
        assert node == (values[1] if values[0] else not values[2])


@pytest.mark.parametrize("backend", BACKENDS)
def test_extract_constants_and_no_variables(backend: str) -> None:
    manager = make_manager(backend, 0)
    assert manager.extract(manager.true).root == 1 and manager.extract(manager.false).root == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_size_is_reported_while_functions_are_made(backend: str) -> None:
    sizes: list[int] = []
    manager = make_manager(backend, 2, sizes.append)
    end = time.monotonic() + 30
    while not sizes and time.monotonic() < end:
        manager.both(manager.variable(0), manager.choose(manager.variable(1), manager.true, manager.false))
    assert sizes[0] > 0


def test_unknown_back_end() -> None:
    with pytest.raises(BackendError, match="'bddx'"):
        make_manager("bddx", 1)


def test_levels_beyond_the_stack_are_refused() -> None:
    with pytest.raises(LimitError, match="variables"):
        make_manager("cudd", 10_000_000)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(12))
def test_back_ends_and_arithmetics_agree(seed: int) -> None:
    case = write_program(random.Random(100 + seed))
    with module_of(case.source) as module:
        bound = bind(module, case.record, case.n, neighbours=case.neighbours, **case.parameters)
        try:
            formulas = [compile_symbolic(bound, backend, Limits(max_nodes=100_000)) for backend in BACKENDS]
        except (LimitError, ProgramError):
            return
    one, other = formulas
    assert one.variables == other.variables and one.values == other.values
    assert _functions(one) == _functions(other)
    for x in datasets(bound):
        _check_counts(one, bound, x)


def _functions(formula: WeightedFormula) -> set[tuple[int, ...]]:
    """Every node of a diagram as its tree of levels, numbered in a canonical way."""
    number: dict[Any, int] = {0: 0, 1: 1}
    seen: dict[tuple[int, int, int], int] = {}
    diagram = formula.diagram
    for node in range(2, len(diagram)):
        shape = (diagram.level[node], number[diagram.low[node]], number[diagram.high[node]])
        number[node] = seen.setdefault(shape, hash(shape))
    return set(seen)


def _check_counts(formula: WeightedFormula, bound: Bound, x: tuple[Any, ...]) -> None:
    inputs = formula.evidence(x, bound.record)
    scaled = output_weights(formula, inputs)
    if not scaled.total:
        return
    law = {code: Fraction(weight, scaled.total) for code, weight in scaled.by_code.items()}
    assert sum(law.values()) == 1 and all(mass > 0 for mass in law.values())
    for code, mass in law.items():
        assert formula.codes.find(formula.codes.first(code)) == (code, 1)
        single = output_weights(formula, inputs, code)
        assert Fraction(single.by_code[code], single.total) == mass


# details


def test_a_law_is_looked_at_as_often_as_it_has_outputs() -> None:
    looks: list[None] = []
    formula = compiled(RESPONSE, Bit, 10)
    outputs = output_weights(formula, formula.evidence((0,) * 10, Bit), watch=lambda: looks.append(None)).by_code
    assert len(looks) > len(outputs) / 64 > formula.nodes / 8


def test_an_output_that_is_never_given_has_no_code() -> None:
    find = compiled(RESPONSE, Bit, 2).codes.find
    assert find((0, 2)) is find((0,)) is find(0) is None
    assert find((0, True)) == find((0, 1))
    assert find((0, 1)) is not None


@pytest.mark.parametrize("size", range(1, 20))
def test_code_length(size: int) -> None:
    assert 2 ** code_length(size) >= size > 2 ** (code_length(size) - 1) or size == 1


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1), Fraction(3, 2)])
def test_a_coin_is_uncertain(probability: Fraction) -> None:
    with pytest.raises(ValueError, match="strictly between"):
        Coin(probability.numerator, probability.denominator)


def test_limits_stop_an_encoding() -> None:
    source = "def f(x):\n    s = [b for b in x if flip(1/3)]\n    return tuple(s)\n"
    with module_of(source) as module:
        bound = bind(module, Bit, 14)
        with pytest.raises(LimitError, match="nodes"):
            compile_symbolic(bound, watch=Limits(max_nodes=1000))
        with pytest.raises(LimitError, match="took more than"):
            compile_symbolic(bound, watch=Limits(timeout=0))


def test_a_fixed_dataset_has_no_input_bits() -> None:
    with module_of(RESPONSE) as module:
        formula = compile_dataset(bind(module, Bit, 3), (0, 1, 1))
    assert not formula.inputs and not any(isinstance(variable, InputBit) for variable in formula.variables)


@pytest.mark.parametrize("operator", ["max", "min"])
def test_extrema_of_leaves_whose_values_overlap(operator: str) -> None:
    builder = Builder()
    leaves = [builder.input(client, 0, (0, 1, 2, 3)) for client in range(3)]
    program = CoreProgram(tuple(leaves), (builder.extremum(operator, leaves),), Leaf(0), (), ())
    formula = encode(program)
    for x in itertools.product(range(4), repeat=3):
        inputs = formula.evidence(x, Int(0, 3))
        assert {formula.codes.first(code) for code in output_weights(formula, inputs).by_code} == {
            (max if operator == "max" else min)(x)
        }


def test_input_values_are_kept_in_ascending_order() -> None:
    leaf = Builder().input(0, 0, Values(2, -1, 5).values)
    assert leaf.values == (-1, 2, 5)


def test_possible_values() -> None:
    builder = Builder()
    leaf = builder.input(0, 0, (0, 1, 2, 3))
    square = builder.total("mul", leaf, leaf)
    low = builder.total("lt", leaf, builder.const(2))
    high = builder.total("gt", leaf, builder.const(2))
    assert possible_values(low, [leaf, square]) == [
        (True, True, False, False),
        (True, True, *[False] * (len(square.values) - 2)),
    ]
    assert not any(possible_values(builder.conjunction([low, high]), [leaf])[0])


def test_an_index_given_by_the_tested_record_is_resolved() -> None:
    builder = Builder()
    leaf, other = builder.input(0, 0, (0, 1, 2)), builder.input(1, 0, (0, 1, 2))
    picked = builder.case(leaf, [other, builder.const(5), builder.const(6)])
    raised = builder.add(picked, builder.const(1))
    result = builder.case(builder.equals(leaf, 0), [builder.const(0), raised])
    assert isinstance(result, Case) and result.branches[1] is builder.add(other, builder.const(1))


def test_a_second_order_of_the_variables_is_tried() -> None:
    """A second round over all clients: their coins stand with their records, not behind the first round."""
    source = """
def f(x):
    total = 0
    for b in x:
        total += b ^ flip(1 / 3)
    if total > len(x) // 2:
        return None
    for i, b in enumerate(x):
        if b and flip(1 / 4):
            return i
    return -1
"""
    with module_of(source) as module:
        assert compile_symbolic(bind(module, Bit, 16)).nodes <= 4000
        small = bind(module, Bit, 4)
        orders = [
            Encoder(expand_shuffles(lower(small)), "cudd", lambda size: None, together).run()
            for together in (False, True)
        ]
        assert orders[0].owners != orders[1].owners
        for x in datasets(small):
            assert [DiagramTable(small, formula).law(x) for formula in orders] == [interp.law(small, x)] * 2
