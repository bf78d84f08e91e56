"""Feeding: what is converted, what is refused, in TensorFlow's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph
from gradstep.core.ops.build.builder import GraphBuilder

CASE = Path(__file__).parents[3] / "data" / "oracle" / "cases" / "session_feed_errors.json"
RECORDED = json.loads(CASE.read_text())


@pytest.fixture(scope="module")
def graph() -> Graph:
    b = GraphBuilder()
    for name, dtype, shape in [
        ("x", "float32", (2,)),
        ("u", "float32", None),
        ("pn", "float32", (None, 3)),
        ("i", "int32", (None,)),
        ("i0", "int32", ()),
        ("flag", "bool", ()),
    ]:
        p = b.placeholder(name, dtype, shape)
        b.one("Identity", p, name=f"read_{name}")
    b.one("AddV2", b.get("x"), b.get("x"), name="twice")
    b.one("AddV2", b.get("u"), 1.0, name="plus")
    ref = b.variable("v_ref", shape=(2,))
    b.one("Identity", ref, name="v_ref/read")
    b.one("AssignAdd", ref, np.ones(2, np.float32), name="AssignAdd")
    b.one("Assign", ref, np.array([5, 6], np.float32), name="Assign")
    handle = b.one("VarHandleOp", name="v_resource", dtype=DType.FLOAT32, shape=ref.shape)
    b.one("ReadVariableOp", handle, name="v_resource/Read/ReadVariableOp", dtype=DType.FLOAT32)
    five = b.constant(np.array([5, 6], np.float32))
    b.op("AssignAddVariableOp", handle, five, name="AssignAddVariableOp", dtype=DType.FLOAT32)
    b.op("AssignVariableOp", handle, five, name="AssignVariableOp", dtype=DType.FLOAT32)
    b.one("IsVariableInitialized", ref, name="is_ref")
    b.one("VarIsInitializedOp", handle, name="is_resource")
    return b.build()


def failure(graph: Graph, fetch: str, feeds: Any = None, targets: tuple[str, ...] = ()) -> Any:
    with pytest.raises(GradstepError) as caught:
        Session(graph).run([fetch] if fetch else [], feeds or {}, targets)
    return caught.value


REFUSED = {
    "unfed": ("twice", {}),
    "unfed_unknown_shape": ("read_u", {}),
    "unfed_partial_shape": ("read_pn", {}),
    "unfed_int32": ("read_i", {}),
    "wrong_shape": ("read_x", {"x:0": [1, 2, 3]}),
    "wrong_shape_partial": ("read_pn", {"pn:0": np.zeros((2, 4))}),
    "rank_mismatch": ("read_x", {"x:0": 1.0}),
    "python_int_too_big_for_int32": ("read_i0", {"i0:0": 1 << 40}),
    "int_fed_to_bool": ("read_flag", {"flag:0": 2}),
    "ragged_list": ("read_x", {"x:0": [[1.0], [1.0, 2.0]]}),
    "None_fed": ("read_x", {"x:0": None}),
    "fetch_unknown_name": ("nope:0", {}),
    "uninitialised_ref_read": ("v_ref", {}),
    "uninitialised_ref_expr": ("v_ref/read", {}),
    "uninitialised_ref_assign_add": ("AssignAdd", {}),
    "uninitialised_resource_read": ("v_resource/Read/ReadVariableOp", {}),
}


@pytest.mark.parametrize("key", REFUSED)
def test_refusals_say_what_tensorflow_says(graph: Graph, key: str) -> None:
    fetch, feeds = REFUSED[key]
    error = failure(graph, fetch, feeds)
    assert error.message == RECORDED[key]["message"].partition("\n")[0]
    assert error.kind == RECORDED[key]["raised"]
    node = RECORDED[key].get("op")
    assert node in (None, error.node)
    assert error.hint  # and a way out


def test_uninitialised_resource_assign_add(graph: Graph) -> None:
    error = failure(graph, "", targets=("AssignAddVariableOp",))
    recorded = RECORDED["uninitialised_resource_assign_add"]
    assert (error.kind, error.node) == (recorded["raised"], recorded["op"])
    assert error.message == recorded["message"].partition("\n")[0]
    assert error.hint


@pytest.mark.parametrize(
    ("key", "fetch", "feeds"),
    [
        ("float64_fed_to_float32", "twice", {"x": np.array([1.0, 2.0])}),
        ("int_fed_to_float32", "twice", {"x:0": [1, 2]}),
        ("string_key_tensor_name", "twice", {"x:0": [1, 2]}),
        ("float_list_fed_to_int32", "read_i", {"i:0": [1.7, -1.7]}),
        ("float_ndarray_fed_to_int32", "read_i", {"i:0": np.array([1.7, -1.7])}),
        ("python_float_fed_to_int32_scalar", "read_i0", {"i0:0": 1.7}),
        ("unknown_rank_accepts_any", "plus", {"u:0": [[1.0, 2.0]]}),
    ],
)
def test_what_tensorflow_accepts_and_makes_of_it(
    graph: Graph, key: str, fetch: str, feeds: dict[str, Any]
) -> None:
    (value,) = Session(graph).run([fetch], feeds)
    expected = RECORDED[key]["value"]
    assert value.dtype == expected["dtype"]
    np.testing.assert_array_equal(value, expected["data"])
    assert list(value.shape) == expected["shape"]


@pytest.mark.parametrize(
    ("kind", "assign", "read"),
    [
        ("ref", "Assign", "v_ref/read"),
        ("resource", "AssignVariableOp", "v_resource/Read/ReadVariableOp"),
    ],
)
def test_an_assignment_initialises(graph: Graph, kind: str, assign: str, read: str) -> None:
    session = Session(graph)
    assert not session.run([f"is_{kind}"])[0]
    session.run([], targets=[assign])
    expected = RECORDED[f"uninitialised_{kind}_assign_ok"]["value"]["data"]
    np.testing.assert_array_equal(session.run([read])[0], expected)
    assert session.run([f"is_{kind}"])[0]


def test_nan_and_huge_floats_are_converted_without_a_word(graph: Graph) -> None:
    (value,) = Session(graph).run(["read_x"], {"x": np.array([np.nan, 1e300])})
    assert np.isnan(value[0])
    assert np.isinf(value[1])


def test_an_unknown_feed_is_named(graph: Graph) -> None:
    error = failure(graph, "twice", {"nope:0": 1.0})
    assert error.message.startswith("Cannot interpret feed_dict key as Tensor")
    assert "'nope'" in error.message


def test_an_output_that_is_not_there_is_named(graph: Graph) -> None:
    assert "only has 1 outputs" in failure(graph, "twice:1").message
    assert "only has 0 outputs" in failure(graph, "AssignVariableOp").message


def test_an_empty_graph_cannot_run() -> None:
    error = failure(Graph(), "x")
    assert error.message == RECORDED["empty_graph_run"]["message"]


def test_numbers_are_no_text() -> None:
    b = GraphBuilder()
    b.one("Identity", b.placeholder("s", "string", (2,)), name="y")
    session = Session(b.build())
    assert session.run(["y"], {"s": ["a", b"b"]})[0].tolist() == ["a", b"b"]
    with pytest.raises(GradstepError, match="Unable to get element as bytes"):
        session.run(["y"], {"s": [1, 2]})


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("shape", [(None, 3), (2, 3)])
def test_what_reads_an_unfed_placeholder_waits_for_it_to_fail(
    fast: bool, shape: tuple[int | None, ...]
) -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=shape)
    parts = [b.one("Mean", x, np.array([0], np.int32)), b.one("Sigmoid", x), b.one("Relu", x)]
    parts += b.op("Split", np.array(1, np.int32), x, num_split=3)
    with pytest.raises(GradstepError, match="must feed a value for placeholder tensor 'x'"):
        Session(b.build(), fast=fast).run([part.ref for part in parts])
