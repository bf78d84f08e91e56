"""Updates of rows of a variable: TensorFlow's values, order, shapes and words, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.system_rules import OutOfRange, Rules
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.numerics import scatter
from tests.support.each_case import each_of
from tests.support.interpret import call_kernel

X = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
U = np.array([[10, 20], [2, 3], [4, 5]], np.float32)
KINDS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")


def i32(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def variable(b: GraphBuilder, resource: bool, start: np.ndarray) -> Tensor:
    kind = {"dtype": DType.of(start.dtype), "shape": Shape(start.shape)}
    return b.one("VarHandleOp" if resource else "VariableV2", name="v", **kind)


def prepared(
    type: str, indices: np.ndarray, updates: Any, start: np.ndarray, **attrs: Any
) -> tuple[Session, dict[str, Any]]:
    """A session in which the op can run, and its feeds; by its name on a ref or a resource."""
    b = GraphBuilder()
    resource = type.startswith("Resource")
    target = variable(b, resource, start)
    if resource and "Nd" not in type:
        attrs["dtype"] = DType.of(start.dtype)
    fed = {"i": indices, "u": np.asarray(updates, start.dtype)}
    places = [b.placeholder(n, DType.of(x.dtype)) for n, x in fed.items()]
    b.op(type, target, *places, name="it", **attrs)
    return Session(b.build(), initial={"v": start}), fed


def updated(
    type: str, indices: np.ndarray, updates: Any, start: np.ndarray = X, **attrs: Any
) -> np.ndarray:
    """What the variable holds after the op."""
    session, fed = prepared(type, indices, updates, start, **attrs)
    session.run([], fed, ["it"])
    return np.array(session.store["v"])


# Indices [0, 2, 0] with U, and [[0, 1], [2, 0]] with 0…7, computed by TensorFlow 2.21.
TENSORFLOW = {
    "Update": ([[4, 5], [3, 4], [2, 3]], [[6, 7], [2, 3], [4, 5]]),
    "Add": ([[15, 27], [3, 4], [7, 9]], [[7, 10], [5, 7], [9, 11]]),
    "Sub": ([[-13, -23], [3, 4], [3, 3]], [[-5, -6], [1, 1], [1, 1]]),
    "Mul": ([[40, 200], [3, 4], [10, 18]], [[0, 14], [6, 12], [20, 30]]),
    "Div": ([[0.025, 0.02], [3, 4], [2.5, 2]], None),
    "Min": ([[1, 2], [3, 4], [2, 3]], [[0, 1], [2, 3], [4, 5]]),
    "Max": ([[10, 20], [3, 4], [5, 6]], [[6, 7], [3, 4], [5, 6]]),
}


@each_of("prefix", ["", "Resource"])
@each_of("kind", KINDS)
def test_values_are_tensorflows(kind: str, prefix: str) -> None:
    twice, matrix = TENSORFLOW[kind]
    found = updated(f"{prefix}Scatter{kind}", i32(0, 2, 0), U)
    np.testing.assert_allclose(found, twice, rtol=1e-7)
    if matrix is not None:
        more = np.arange(8).reshape(2, 2, 2)
        found = updated(f"{prefix}Scatter{kind}", i32([0, 1], [2, 0]), more)
        np.testing.assert_array_equal(found, np.float32(matrix))


@each_of("prefix", ["", "Resource"])
@each_of(
    ("kind", "indices", "updates", "wanted"),
    [
        ("Update", [[0], [2], [0]], [[1, 1], [2, 2], [3, 3]], [[3, 3], [3, 4], [2, 2]]),
        ("Add", [[0], [2], [0]], [[1, 1], [2, 2], [3, 3]], [[5, 6], [3, 4], [7, 8]]),
        ("Sub", [[0, 1], [2, 0], [0, 1]], [9, 9, 9], [[1, -16], [3, 4], [-4, 6]]),
        ("Min", [[0], [2], [0]], [[1, 1], [2, 2], [3, 3]], [[1, 1], [3, 4], [2, 2]]),
        ("Max", [[0, 1], [2, 0], [0, 1]], [9, 9, 9], [[1, 9], [3, 4], [9, 6]]),
    ],
)
def test_parts_named_by_vectors(
    prefix: str, kind: str, indices: Any, updates: Any, wanted: Any
) -> None:
    found = updated(f"{prefix}ScatterNd{kind}", i32(*indices), updates)
    np.testing.assert_array_equal(found, np.float32(wanted))


def test_one_number_updates_whole_rows() -> None:
    assert updated("ScatterSub", i32(0, 1), 7).tolist() == [[-6, -5], [-4, -3], [5, 6]]
    assert updated("ScatterAdd", i32(1)[0], [7, 8]).tolist() == [[1, 2], [10, 12], [5, 6]]


def test_a_nan_replaces_nothing_and_stays() -> None:
    """TensorFlow 2.21's answers: neither is smaller, so the old value stays."""
    start = np.array([1, np.nan, 3], np.float32)
    updates = [np.nan, 2, 4]
    for kind, last in (("Min", 3), ("Max", 4)):
        found = updated(f"Scatter{kind}", i32(0, 1, 2), updates, start)
        np.testing.assert_array_equal(found, np.float32([1, np.nan, last]))


def test_integers_are_divided_towards_zero() -> None:
    start = i32(6, 7, -7)
    assert updated("ScatterDiv", i32(0, 1, 2, 0), [2, 2, 2, 2], start).tolist() == [1, 3, -3]


@pytest.mark.parametrize(
    ("type", "start", "updates"),
    [
        ("ScatterDiv", i32(6, 7), [2, 0]),
        ("ResourceScatterDiv", i32(6, 7), [2, 0]),
        ("ResourceScatterDiv", np.float32([6, 7]), [2, 0]),
    ],
)
def test_division_by_zero_is_refused(type: str, start: np.ndarray, updates: list[int]) -> None:
    with pytest.raises(GradstepError, match="updates must not contain 0"):
        updated(type, i32(0, 1), updates, start)


def test_a_ref_variable_of_floats_can_be_divided_by_zero() -> None:
    found = updated("ScatterDiv", i32(0), [0], np.float32([6, 7]))
    np.testing.assert_array_equal(found, np.float32([np.inf, 7]))


@pytest.mark.parametrize(
    ("type", "indices", "updates", "message"),
    [
        ("ScatterAdd", i32(0, 3, 1), U, "indices[1] = 3 is not in [0, 3)"),
        ("ResourceScatterUpdate", i32([0, -1, 1]), U[None], "indices[0,1] = -1 is not in [0, 3)"),
        (
            "ScatterMul",
            i32(0, 1),
            [7, 8],
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
            "got updates.shape [2], indices.shape [2], params.shape [3,2]",
        ),
        (
            "ScatterNdAdd",
            i32([0], [3]),
            [[9, 9], [1, 1]],
            "indices[1] = [3] does not index into shape [3,2]",
        ),
        (
            "ResourceScatterNdUpdate",
            i32([0], [1]),
            [9, 9],
            "Dimensions [1,2) of input[shape=[3,2]] must match dimensions [1,1) of "
            "updates[shape=[2]]",
        ),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    type: str, indices: np.ndarray, updates: Any, message: str
) -> None:
    session, fed = prepared(type, indices, updates, X)
    with pytest.raises(GradstepError) as caught:
        session.run([], fed, ["it"])
    assert caught.value.message == message
    if caught.value.index is not None:
        assert "the variable stays as it was, while TensorFlow on the CPU" in caught.value.hint
    np.testing.assert_array_equal(session.store["v"], X)


def test_a_scalar_variable_has_no_rows() -> None:
    with pytest.raises(GradstepError, match=r"params must be at least 1-D, got shape \[\]"):
        updated("ScatterAdd", i32(0), [1], np.float32(3))


def test_ignored_vectors_are_dropped() -> None:
    found = updated("ScatterNdAdd", i32([0], [3]), [[9, 9], [1, 1]], bad_indices_policy="IGNORE")
    assert found.tolist() == [[10, 11], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("policy", "negative", "wanted"),
    [
        (OutOfRange.ZERO, False, [11, 2, 3]),
        (OutOfRange.WRAP, False, [31, 2, 23]),
        (OutOfRange.CLAMP, False, [31, 2, 23]),
        (OutOfRange.ZERO, True, [11, 2, 23]),
    ],
)
def test_other_systems_do_as_they_do(
    policy: OutOfRange, negative: bool, wanted: list[float]
) -> None:
    definition = lookup("ScatterAdd")
    rules = Rules(name="other", source="test", scatter=policy, negative_ok=negative)
    start = np.float32([1, 2, 3])
    indices = i32(0, 3, -1) if policy is not OutOfRange.CLAMP else i32(0, -7, 9)
    inputs = [start, indices, np.float32([10, 20, 20])]
    (found,) = call_kernel(definition, Operation("it", "ScatterAdd"), inputs, rules=rules)
    assert found.tolist() == wanted


def test_no_row_of_an_empty_variable_is_reached() -> None:
    rules = Rules(name="other", source="test", scatter=OutOfRange.WRAP)
    inputs = [np.zeros((0, 2), np.float32), i32(0), np.ones((1, 2), np.float32)]
    operation = Operation("it", "ScatterAdd")
    (found,) = call_kernel(lookup("ScatterAdd"), operation, inputs, rules=rules)
    assert found.shape == (0, 2)


def test_rows_come_in_turn() -> None:
    rows = np.array([5, 3, 5, 5, 3, 9])
    groups = [g.tolist() for g in scatter.in_turn(rows)]
    assert [sorted(g) for g in groups] == [[0, 1, 5], [2, 4], [3]]
    assert list(scatter.in_turn(np.zeros(0, np.int64))) == []


def test_sums_are_those_of_one_row_after_the_other() -> None:
    """float32 sums depend on the order, and the order is TensorFlow's."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 5, 500).astype(np.int32)
    updates = rng.normal(size=(500, 3)).astype(np.float32)
    start = rng.normal(size=(5, 3)).astype(np.float32)
    wanted = start.copy()
    for row, update in zip(rows, updates, strict=True):
        wanted[row] += update
    found = updated("ScatterAdd", rows, updates, start)
    np.testing.assert_array_equal(found, wanted)


def test_the_output_is_the_variables_buffer() -> None:
    b = GraphBuilder()
    v = variable(b, False, X)
    first = b.one("ScatterAdd", v, i32(0), np.ones((1, 2), np.float32))
    second = b.one("ScatterAdd", first, i32(0), np.ones((1, 2), np.float32), name="second")
    session = Session(b.build(), initial={"v": X})
    assert session.run([second.ref, first.ref])[1][0].tolist() == [3, 4]


def test_a_variable_without_a_value_cannot_be_updated_in_parts() -> None:
    b = GraphBuilder()
    b.op("ScatterAdd", variable(b, False, X), i32(0), np.ones((1, 2), np.float32), name="it")
    with pytest.raises(GradstepError, match="Attempting to use uninitialized value v"):
        Session(b.build()).run([], targets=["it"])


def test_gradients_end_at_scatters_as_tensorflow_declares() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(1, 2))
    v = variable(b, False, X)
    for kind in ("Add", "Sub", "Mul", "Div"):
        assert gradients(b.one(f"Scatter{kind}", v, i32(0), x), x) == [None]
    with pytest.raises(GradstepError, match="No gradient defined"):
        gradients(b.one("ScatterUpdate", v, i32(0), x), x)
