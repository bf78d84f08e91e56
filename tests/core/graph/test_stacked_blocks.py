"""Which closed scopes one box shows: equal ones in a row, and what counts as equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.graph.block_kinds import BlockKinds
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.edits import rename
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.graph.stacked_blocks import (
    each_by_itself,
    equal_siblings,
    stack_blocks,
    stacks_in,
)
from gradstep.core.io.open_document import read
from tests.support.block_documents import decoder
from tests.support.each_case import each_of
from tests.traces.trace_archive import traces

FLOATS = {"dtype": DType.FLOAT32}
FOUR = tuple(f"net/h_{i}" for i in range(1, 5))


def blocks(*scopes: str) -> Graph:
    """Each multiplies what it reads by a weight, and scales and reshapes that."""
    ops = [Operation("x", "Placeholder", attrs={**FLOATS, "shape": Shape.of(2, 2)})]
    for scope in scopes:
        ops += block(scope, TensorRef(ops[-1].name))
    return Graph.of(ops)


def block(scope: str, read: TensorRef) -> list[Operation]:
    weight = Operation(
        f"{scope}/w",
        "VariableV2",
        attrs={**FLOATS, "shape": Shape.of(2, 2), "shared_name": f"{scope}/w"},
    )
    table = Operation(f"{scope}/table", "Const", attrs={"value": Constant(np.random.rand(2, 2))})
    axis = Operation(f"{scope}/axis", "Const", attrs={"value": Constant(np.array([0], np.int32))})
    scale = Operation(f"{scope}/scale", "Const", attrs={"value": Constant(np.float32(0.5))})
    product = Operation(
        f"{scope}/p", "MatMul", (read, weight.output()), attrs={"transpose_b": False}
    )
    total = Operation(f"{scope}/sum", "Sum", (product.output(), axis.output()))
    scaled = Operation(f"{scope}/y", "Mul", (total.output(), scale.output()))
    return [weight, table, axis, scale, product, total, scaled]


def with_operation(graph: Graph, name: str, **changed: object) -> Graph:
    return Graph({**graph.operations, name: replace(graph[name], **changed)})  # type: ignore[arg-type]


def stacked(graph: Graph, *closed: str) -> set[tuple[str, ...]]:
    return {*stacks_in(stack_blocks(frozenset(closed), BlockKinds(graph))).values()}


def test_equal_blocks_in_a_row_are_one_stack() -> None:
    graph = blocks(*FOUR)
    assert stacked(graph, *FOUR) == {FOUR}
    found = stack_blocks(frozenset(FOUR), BlockKinds(graph))
    assert found == dict.fromkeys(FOUR, FOUR[0])
    assert [*found] == [*FOUR], "in their order"


def test_numbers_count_as_numbers() -> None:
    """h/10 comes after h/9, whatever was made first."""
    many = [f"h/{i}" for i in range(12)]
    made = sorted(many)
    assert stacked(blocks(*made), *made) == {tuple(many)}


def test_an_open_block_parts_the_stack() -> None:
    many = [f"h/{i}" for i in range(12)]
    graph = blocks(*many)
    closed = [scope for scope in many if scope != "h/5"]
    assert stacked(graph, *closed) == {tuple(many[:5]), tuple(many[6:])}
    assert stacked(graph, *(scope for scope in many if scope != "h/2")) == {tuple(many[3:])}


@each_of(
    "scopes",
    [
        ("h/0", "h/1"),
        ("h/0", "h/1", "h/3", "h/4"),
        ("a", "b", "c"),
        ("g/0", "h/1", "h/2"),
        ("h/1", "h/01", "h/2"),
        ("h_1", "g_2", "h_3"),
    ],
)
def test_these_are_no_row(scopes: tuple[str, ...]) -> None:
    assert stacked(blocks(*scopes), *scopes) == set()


def test_what_lies_in_a_closed_scope_is_not_seen() -> None:
    graph = blocks(*FOUR)
    assert stacked(graph, *FOUR, "net") == set()
    assert stack_blocks(frozenset((*FOUR, "net")), BlockKinds(graph)) == each_by_itself(
        (*FOUR, "net")
    )


OTHERS = {
    "a type": ("p", {"type": "BatchMatMul"}),
    "an attribute": ("p", {"attrs": {"transpose_b": True}}),
    "a shape": ("w", {"attrs": {**FLOATS, "shape": Shape.of(2, 3)}}),
    "an axis": ("axis", {"attrs": {"value": Constant(np.array([1], np.int32))}}),
    "one number": ("scale", {"attrs": {"value": Constant(np.float32(0.25))}}),
    "a wire": ("y", {"inputs": (TensorRef("net/h_2/sum"), TensorRef("net/h_2/sum"))}),
    "a wire from inside": ("y", {"inputs": (TensorRef("x"), TensorRef("net/h_2/scale"))}),
    "an open input": ("p", {"inputs": (None, TensorRef("net/h_2/w"))}),
    "what it waits for": ("y", {"control_inputs": ("net/h_2/axis",)}),
}


@each_of("what", OTHERS)
def test_one_difference_is_enough(what: str) -> None:
    name, changed = OTHERS[what]
    graph = with_operation(blocks(*FOUR), f"net/h_2/{name}", **changed)
    assert stacked(graph, *FOUR) == set()
    assert stacked(graph, *FOUR, "net/h_5") == set()
    assert equal_siblings("net/h_1", BlockKinds(graph)) == ()


SAME = {
    "what is read from outside": ("p", {"inputs": (TensorRef("x"), TensorRef("net/h_2/w"))}),
    "the numbers of a weight": ("table", {"attrs": {"value": Constant(np.zeros((2, 2)))}}),
    "a line of source": ("sum", {"attrs": {"_source": "net.py:7", "_foreign_scope": "net/h_2/s"}}),
    "a device": ("sum", {"device": "/gpu:0"}),
}


@pytest.mark.parametrize("what", SAME)
def test_what_may_differ(what: str) -> None:
    name, changed = SAME[what]
    graph = with_operation(blocks(*FOUR), f"net/h_2/{name}", **changed)
    assert stacked(graph, *FOUR) == {FOUR}


def test_masks_that_were_drawn_may_differ_and_paddings_may_not() -> None:
    graph = blocks(*FOUR)
    for number, scope in enumerate(FOUR):
        mask = Constant(np.arange(4).reshape(2, 2) == number)
        graph = with_operation(graph, f"{scope}/table", attrs={"value": mask})
    assert stacked(graph, *FOUR) == {FOUR}
    for number, scope in enumerate(FOUR):
        paddings = Constant(np.array([[number, 0], [0, 0]], np.int32))
        graph = with_operation(graph, f"{scope}/table", attrs={"value": paddings})
    assert stacked(graph, *FOUR) == set()


def test_another_name_or_operation_inside() -> None:
    graph = blocks(*FOUR)
    assert stacked(rename(graph, "net/h_2/y", "net/h_2/z"), *FOUR) == set()
    more = Graph({**graph.operations, "net/h_2/n": Operation("net/h_2/n", "NoOp")})
    assert stacked(more, *FOUR) == set()


def test_the_parts_of_foreign_operations_are_no_blocks() -> None:
    """add_1, add_2 and add_3 are names of operations, which have nothing to do with each other."""
    graph = Graph.of(op.with_attrs(_foreign_scope=op.scope) for op in blocks(*FOUR))
    assert stacked(graph, *FOUR) == set()


def test_equal_siblings_whether_they_are_closed_or_not() -> None:
    graph = blocks(*FOUR, "net/h_9", "net/other")
    kinds = BlockKinds(graph)
    for scope in FOUR:
        assert equal_siblings(scope, kinds) == FOUR
    for scope in ("net/h_9", "net/other", "net", "gone/h_1", ""):
        assert equal_siblings(scope, kinds) == ()


def test_what_an_edit_did_not_touch_is_not_looked_at_again() -> None:
    graph = blocks(*FOUR)
    kinds = BlockKinds(graph)
    first = kinds.of(FOUR)
    assert first[0] is first[3] is not None
    other = with_operation(graph, "x", attrs={**FLOATS, "shape": Shape.of(3, 2)})
    kept = BlockKinds(other, kinds)
    assert kept.is_same
    touched = BlockKinds(with_operation(other, "net/h_3/p", type="Add"), kept)
    assert not touched.is_same
    after = touched.of(FOUR)
    assert [a is b for a, b in zip(first, after, strict=True)] == [True, True, False, True]
    back = BlockKinds(other, touched).of(FOUR)
    assert len({*map(id, back)}) == 1, "the very same object again"


def test_a_scope_that_went_and_came_again() -> None:
    graph = blocks(*FOUR)
    kinds = BlockKinds(graph)
    kinds.of(FOUR)
    without = Graph.of(op for op in graph if not op.name.startswith("net/h_4/"))
    less = BlockKinds(without, kinds)
    assert {*stacks_in(stack_blocks(frozenset(FOUR), less)).values()} == {FOUR[:3]}
    again = BlockKinds(graph, less)
    assert {*stacks_in(stack_blocks(frozenset(FOUR), again)).values()} == {FOUR}


def test_a_decoder_of_twelve() -> None:
    document = decoder(12)
    every = tuple(f"h/{i}" for i in range(12))
    assert stacked(document.graph, *document.view.collapsed) == {every}


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("hf_gpt2", "model/transformer/h"),
        ("vit", "encoder/layers"),
        ("hf_llama", "model/model/layers"),
        ("transformer_encoder", "layers"),
    ],
)
def test_layers_of_a_traced_model_are_equal(name: str, scope: str) -> None:
    """These have two each, which are no stack; nor is anything else in them."""
    document = read(traces() / f"{name}.gstrace")
    kinds = BlockKinds(document.graph)
    first, second = kinds.of([f"{scope}/0", f"{scope}/1"])
    assert first is second
    assert first is not None
    assert stacked(document.graph, *document.view.collapsed) == set()


@pytest.mark.slow
def test_twelve_layers_of_a_traced_model_are_one_stack() -> None:
    document = read(traces() / "twelve_layers.gstrace")
    layers = tuple(f"layers/{number}" for number in range(12))
    assert layers in stacked(document.graph, *document.view.collapsed - {"layers"})
