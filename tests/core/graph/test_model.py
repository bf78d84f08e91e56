"""Graph: names, order, cycles, ancestors; constants and shapes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, SharedAttrs, TensorRef


def chain() -> Graph:
    a, b = TensorRef("a"), TensorRef("b")
    return Graph.of(
        [
            Operation("c", "Mul", (a, b)),  # made before what it reads, as a GraphDef may list it
            Operation("a", "Placeholder"),
            Operation("b", "Neg", (a,)),
            Operation("lonely", "NoOp", control_inputs=("b",)),
        ]
    )


def test_order_puts_inputs_first_and_is_otherwise_that_of_creation() -> None:
    assert chain().order == ("a", "b", "c", "lonely")


def test_control_inputs_count_as_ancestors() -> None:
    assert chain().ancestors(["lonely"]) == {"lonely", "b", "a"}


def test_consumers_name_every_wire() -> None:
    assert chain().consumers["a"] == (Edge("c", 0), Edge("b", 0))


def test_a_wire_that_is_not_there_carries_nothing() -> None:
    """A file may name one, such as among the stops of a request."""
    graph = Graph.of([Operation("a", "Const"), Operation("b", "Neg", (TensorRef("a"),))])
    assert graph.source(Edge("b", 0)) == TensorRef("a")
    assert graph.source(Edge("b", 1)) is None


def test_a_cycle_is_named_operation_by_operation() -> None:
    looped = Graph.of(
        [Operation("a", "Neg", (TensorRef("b"),)), Operation("b", "Neg", (TensorRef("a"),))]
    )
    with pytest.raises(GradstepError, match=r"cycle: (a ← b ← a|b ← a ← b)") as caught:
        _ = looped.order
    assert caught.value.node in ("a", "b")


def test_a_missing_name_comes_with_near_misses() -> None:
    with pytest.raises(GradstepError) as caught:
        chain()["lonly"]
    assert "lonely" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "ref"),
    [("a", TensorRef("a")), ("a:1", TensorRef("a", 1)), ("s/a:0", TensorRef("s/a"))],
)
def test_tensor_names_are_parsed(text: str, ref: TensorRef) -> None:
    assert TensorRef.parse(text) == ref


@pytest.mark.parametrize("text", [":0", "a:", "a:x", "a:-1"])
def test_bad_tensor_names_are_refused(text: str) -> None:
    with pytest.raises(GradstepError, match="does not name a tensor"):
        TensorRef.parse(text)


def test_constants_are_copies_that_nobody_can_write_to() -> None:
    source = np.array([1.0, np.nan])
    constant = Constant(source)
    source[0] = 7
    assert constant == Constant([1.0, np.nan])
    with pytest.raises(ValueError, match="read-only"):
        constant.array[0] = 2


def test_constants_differ_in_sign_of_zero_and_in_dtype() -> None:
    assert Constant(0.0) != Constant(-0.0)
    assert Constant(np.float32(1)) != Constant(np.float64(1))


def test_shapes_merge_what_they_know() -> None:
    assert Shape.of(None, 3).merge(Shape.of(2, None)) == Shape.of(2, 3)
    with pytest.raises(ValueError, match="differ"):
        Shape.of(2).merge(Shape.of(3))


def test_shapes_are_written_as_tensorflow_users_write_them() -> None:
    assert str(Shape.of(None, 784)) == "[?, 784]"
    assert str(Shape(None)) == "<unknown>"


def test_dtypes_know_which_can_be_differentiated() -> None:
    assert DType.FLOAT16.is_differentiable
    assert not DType.INT32.is_differentiable
    assert DType.of(np.int64) is DType.INT64
    with pytest.raises(TypeError, match="datetime"):
        DType.of("datetime64[s]")


def test_a_long_cycle_is_not_named_in_full() -> None:
    count = 5000
    ops = [Operation(f"n{i}", "Neg", (TensorRef(f"n{(i + 1) % count}"),)) for i in range(count)]
    with pytest.raises(GradstepError, match="cycle: n0 ← n1 ← n2 ← n3 ← … ") as caught:
        Graph.of(ops).order  # noqa: B018
    assert len(caught.value.message) < 100


@given(st.text(max_size=12) | st.from_regex(r"[a-z/]*[:<]?[0-9]{0,9}", fullmatch=True))
def test_a_name_is_refused_or_means_what_it_says_when_it_is_written(text: str) -> None:
    for kind in (TensorRef, Edge):
        with suppress(GradstepError):
            found = kind.parse(text)
            assert kind.parse(str(found)) == found


@pytest.mark.parametrize("kind", [TensorRef, Edge])
def test_a_number_of_thousands_of_digits_names_nothing(kind: Any) -> None:
    mark = ":" if kind is TensorRef else "<"
    with pytest.raises(GradstepError, match="does not name") as caught:
        kind.parse(f"a{mark}{'9' * 5000}")
    assert len(caught.value.message) < 120


def test_a_wire_is_no_tensor() -> None:
    wire, tensor = Edge("x", 1), TensorRef("x", 1)
    assert wire == Edge.parse("x<1") == eval(repr(wire))
    assert wire != tensor
    assert len({wire, tensor, Edge("x", 1)}) == 2


def test_attributes_are_one_mapping_where_they_are_the_same_in_every_bit() -> None:
    shared = SharedAttrs()
    first = shared.one({"T": DType.FLOAT32, "shape": Shape((2,)), "n": 1})
    assert shared.one({"T": DType.FLOAT32, "shape": Shape((2,)), "n": 1}) is first
    assert shared.one({"T": DType.FLOAT32, "shape": Shape((2,)), "n": True}) is not first
    assert shared.one({"n": 1, "T": DType.FLOAT32, "shape": Shape((2,))}) is not first
    assert shared.one({"x": 0.0}) is not shared.one({"x": -0.0})
    assert shared.one({"x": 0.5}) is shared.one({"x": 0.5})
    assert Operation("a", "Op", attrs=first).attrs is first
    with pytest.raises(TypeError):
        first["n"] = 2  # type: ignore[index]
