"""Operators as older operator sets have them: by attributes, or with another meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.io.onnx.onnx_document import from_onnx
from gradstep.core.ops.typing.inference import infer_declared
from tests.support import onnx_models as onnx
from tests.support.each_case import each_of

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10 - 1


def results(
    type: str, opset: int, inputs: Mapping[str, np.ndarray], count: int = 1, **attributes: Any
) -> list[np.ndarray]:
    """What an operator gives of `x`, the other inputs being a part of the model."""
    outputs = " ".join(f"y{i}" for i in range(count))
    x = next(iter(inputs.values()))
    made = onnx.graph(
        [onnx.node(type, " ".join(inputs), outputs, **attributes)],
        {"x": (str(x.dtype), x.shape)},
        {},
        {name: array for name, array in inputs.items() if name != "x"},
    )
    for name in outputs.split():
        made.output.add(name=name)
    document = from_onnx(onnx.model(made, opset))
    assert not [op.attrs["_why"] for op in document.graph if "." in op.type]
    initial = {name: held.array for name, held in document.initial.items()}
    session = Session(document.graph, initial=initial)
    return [np.asarray(y) for y in session.run(list(document.fetches), {"x:0": x})]


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def softmax(x: np.ndarray, axes: Any) -> np.ndarray:
    powers = np.exp(x - x.max(axes, keepdims=True))
    found: np.ndarray = powers / powers.sum(axes, keepdims=True)
    return found


CASES = {
    "softmax of all axes from one on": ("Softmax", 11, {}, {}, softmax(X, (1, 2))),
    "softmax of one axis": ("Softmax", 13, {}, {"axis": 1}, softmax(X, 1)),
    "log softmax of the last two": (
        "LogSoftmax", 7, {}, {"axis": 1}, np.log(softmax(X, (1, 2)))),
    "squeeze by attribute": ("Squeeze", 11, {"x": X[:, :1]}, {"axes": [1]}, X[:, 0]),
    "squeeze by input": ("Squeeze", 13, {"x": X[:, :1], "a": ints(1)}, {}, X[:, 0]),
    "squeeze of whatever is one": ("Squeeze", 7, {"x": X[:, :1]}, {}, X[:, 0]),
    "unsqueeze by attribute": ("Unsqueeze", 7, {}, {"axes": [0, 4]}, X[None, ..., None]),
    "unsqueeze by input": ("Unsqueeze", 13, {"a": ints(-1)}, {}, X[..., None]),
    "sum by attribute": ("ReduceSum", 11, {}, {"axes": [1], "keepdims": 0}, X.sum(1)),
    "sum by input": ("ReduceSum", 13, {"a": ints(1)}, {"keepdims": 0}, X.sum(1)),
    "sum over nothing": ("ReduceSum", 13, {}, {"noop_with_empty_axes": 1}, X),
    "maximum by attribute": ("ReduceMax", 12, {}, {"axes": [-1], "keepdims": 0}, X.max(-1)),
    "slice by attributes": (
        "Slice", 9, {}, {"starts": [0, 1], "ends": [9, 3], "axes": [1, 2]}, X[:, :, 1:3]),
    "slice by inputs, backwards": (
        "Slice", 10, {"s": ints(-1), "e": ints(-99), "a": ints(2), "p": ints(-2)}, {},
        X[:, :, ::-2]),
    "pad by attribute": (
        "Pad", 10, {}, {"pads": [0, 0, 1, 0, 0, 2], "value": 5.0},
        np.pad(X, ((0, 0), (0, 0), (1, 2)), constant_values=5)),
    "pad that cuts off": ("Pad", 11, {"p": ints(0, -1, 0, 0, 0, -1)}, {}, X[:, 1:, :-1]),
    "clip by attributes": ("Clip", 6, {}, {"min": -0.5, "max": 0.5}, X.clip(-0.5, 0.5)),
    "clip by inputs": ("Clip", 11, {"lo": np.float32(-0.5)}, {}, X.clip(-0.5)),
    "resize by scales alone": (
        "Resize", 10, {"s": np.float32([1, 1, 2])}, {}, X.repeat(2, axis=2)),
    "upsample by attribute": (
        "Upsample", 7, {}, {"scales": [1.0, 1.0, 2.0]}, X.repeat(2, axis=2)),
    "dropout that drops nothing": ("Dropout", 7, {}, {"ratio": 0.9}, X),
    "scatter": (
        "Scatter", 9, {"i": np.zeros((1, 3, 4), np.int64), "u": np.ones((1, 3, 4), np.float32)},
        {"axis": 0}, np.concatenate([np.ones((1, 3, 4), np.float32), X[1:]])),
    "split by attribute": ("Split", 11, {}, {"axis": 2, "split": [4]}, X),
    "product along an axis": (
        "Mul", 6, {"b": np.float32([1, 2, 3])}, {"axis": 1, "broadcast": 1},
        X * np.float32([1, 2, 3])[:, None]),
    "a slope for each channel": (
        "PRelu", 6, {"s": np.float32([1, 2, 3])}, {},
        np.where(X < 0, X * np.float32([1, 2, 3])[:, None], X)),
    "gemm without a sum": (
        "Gemm", 11, {"x": X[0], "b": X[1]}, {"transB": 1}, X[0] @ X[1].T),
    "batch norm of three axes": (
        "BatchNormalization", 7,
        {"s": np.float32([1, 2, 3]), "o": np.float32([0, 1, 2]), "m": np.float32([0.1, 0, 0]),
         "v": np.float32([1, 4, 9])}, {"epsilon": 0.0},
        (X - np.float32([0.1, 0, 0])[:, None]) / np.float32([1, 2, 3])[:, None]
        * np.float32([1, 2, 3])[:, None] + np.float32([0, 1, 2])[:, None]),
}  # fmt: skip


@each_of("name", CASES)
def test_older_operators(name: str) -> None:
    type, opset, inputs, attributes, wanted = CASES[name]
    (found,) = results(type, opset, {"x": X, **inputs}, **attributes)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_top_k_by_attribute() -> None:
    values, places = results("TopK", 7, {"x": X}, 2, k=2, axis=2)
    np.testing.assert_array_equal(values, X[:, :, :1:-1])
    np.testing.assert_array_equal(places, np.broadcast_to([3, 2], (2, 3, 2)))


@each_of(
    ("type", "attributes", "said"),
    [
        ("Relu", {"nobody": 1}, "its attribute nobody = 1"),
        ("Softmax", {"axis": 7}, "axis 7 of 3"),
        ("Resize", {"mode": "linear"}, "neither scales nor sizes"),
        ("Conv", {}, "its inputs or attributes"),
        ("Reshape", {}, "its inputs or attributes"),
        ("Cast", {"to": 22}, "element type number 22, which there is not here"),
        ("Scan", {"num_scan_inputs": 1}, "its inputs or attributes"),
    ],
)
def test_what_cannot_be_lowered_is_said(type: str, attributes: dict[str, Any], said: str) -> None:
    document = from_onnx(onnx.one_node(type, {"x": X}, **attributes))
    (unknown,) = [op for op in document.graph if "." in op.type]
    assert said in str(unknown.attrs["_why"])
    assert said in document.note


def test_what_is_asked_for_besides_is_not_left_out_unseen() -> None:
    """An output, or an input, that a lowering does not know."""
    made = onnx.graph([onnx.node("Relu", "x", "y z")], {"x": ("float32", [2])}, {})
    document = from_onnx(onnx.model(made))
    assert "its output number 2" in document.note
    made = onnx.graph([onnx.node("Relu", "x x", "y")], {"x": ("float32", [2])}, {})
    assert "it has 2 inputs, of which 1 are known" in from_onnx(onnx.model(made)).note


def test_what_a_model_computes_of_sizes_is_known() -> None:
    """Scales of an image, as exporters write them: quotients, which have to be known."""
    nodes = [
        onnx.node("Constant", "", "wanted", value=np.float32([6, 9])),
        onnx.node("Constant", "", "one", value=np.float32([1, 1])),
        onnx.node("Shape", "x", "s"),
        onnx.node("Slice", "s two four", "now"),
        onnx.node("Cast", "now", "own", to=1),
        onnx.node("Div", "wanted own", "grown"),
        onnx.node("Concat", "one grown", "scales", axis=0),
        onnx.node("Resize", "x - scales", "y"),
    ]
    held = {"two": ints(2), "four": ints(4)}
    made = onnx.graph(nodes, {"x": ("float32", [1, 2, 3, 3])}, {}, held)
    made.output.add(name="y")
    document = from_onnx(onnx.model(made))
    (y,) = document.fetches
    assert str(infer_declared(document.graph).types[y]) == "float32[1, 2, 6, 9]"
