"""A batch that may be of any size: what a model of a fixed one gives, and the other sizes known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.io.onnx.onnx_document import from_onnx
from gradstep.core.ops.typing.inference import infer_declared
from tests.support import onnx_models as onnx
from tests.support.each_case import each_of

RNG = np.random.default_rng(11)


def floats(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def opened(
    nodes: Sequence[Any], sizes: Sequence[int | str], held: Mapping[str, np.ndarray]
) -> Document:
    """`y` of `x`."""
    made = onnx.graph(nodes, {"x": ("float32", sizes)}, {}, held)
    made.output.add(name="y")
    document = from_onnx(onnx.model(made))
    assert not [op.attrs["_why"] for op in document.graph if "." in op.type]
    return document


def result(document: Document, x: np.ndarray) -> np.ndarray:
    initial = {name: held.array for name, held in document.initial.items()}
    session = Session(document.graph, initial=initial)
    (y,) = session.run(list(document.fetches), {"x:0": x})
    return np.asarray(y)


def sizes_of(document: Document) -> str:
    return str(infer_declared(document.graph).types[document.fetches[0]].shape)


@each_of(
    ("sizes", "shape", "wanted", "told"),
    [
        (["N", 3, 4], [0, -1], (2, 12), "[?, 12]"),
        (["N", 4, 3], [0, 2, -1], (2, 2, 6), "[?, 2, 6]"),
        (["N", 3, 4], [-1, 12], (2, 12), "[?, 12]"),
        (["N", 3, 4], [0, 0, 2, 2], (2, 3, 2, 2), "[?, 3, 2, 2]"),
        (["N", "T", 8], [0, 0, 2, 4], (2, 5, 2, 4), "[?, ?, 2, 4]"),
        (["N", "T", 8], [0, -1, 2, 4], (2, 5, 2, 4), "[?, ?, 2, 4]"),
        (["N", 4, "H", "W"], [0, 4, -1], (2, 4, 25), "[?, 4, ?]"),
        ([2, "T", 4], [0, 0, 2, -1], (2, 5, 2, 2), "[2, ?, 2, 2]"),
        (["N", 5, 4], [-1, 0, 4], (2, 5, 4), "[?, 5, 4]"),
    ],
)
def test_a_reshape_keeps_sizes_that_may_be_any(
    sizes: list[int | str], shape: list[int], wanted: tuple[int, ...], told: str
) -> None:
    x = floats(*(2 if n == "N" else 5 if isinstance(n, str) else n for n in sizes))
    document = opened([onnx.node("Reshape", "x s", "y")], sizes, {"s": np.array(shape)})
    np.testing.assert_array_equal(result(document, x), x.reshape(wanted))
    assert sizes_of(document) == told


def test_nothing_is_left_of_sizes_that_follow_from_others() -> None:
    document = opened([onnx.node("Reshape", "x s", "y")], ["N", 3, 4], {"s": np.array([0, -1])})
    assert [op.type for op in document.graph if op.name.startswith("Reshape/")] == [
        "Const", "Reshape"
    ]  # fmt: skip


BY_SHAPE = [
    onnx.node("Shape", "x", "shape"),
    onnx.node("Gather", "shape zero", "batch"),
    onnx.node("Unsqueeze", "batch first", "rows"),
]
HELD = {"zero": np.array(0), "first": np.array([0])}
MODELS = {
    "view, as it is exported": (
        [*BY_SHAPE, onnx.node("Concat", "rows rest", "s", axis=0),
         onnx.node("Reshape", "x s", "y")],
        [2, 4, 3], {**HELD, "rest": np.array([2, -1])}),
    "split by what the last size is": (
        [onnx.node("Shape", "x", "shape"), onnx.node("Gather", "shape two", "n"),
         onnx.node("Sub", "n one", "less"), onnx.node("Concat", "one less", "s", axis=0),
         onnx.node("Split", "x s", "a b", axis=2), onnx.node("Tanh", "b", "y")],
        [2, 3, 4], {"two": np.array([2]), "one": np.array([1])}),
    "lstm": (
        [onnx.node("LSTM", "x w r b", "rows y", hidden_size=2)],
        [3, 2, 2], {"w": floats(1, 8, 2), "r": floats(1, 8, 2), "b": floats(1, 16)}),
    "lstm whose length may be any as well": (
        [onnx.node("LSTM", "x w r b", "rows y", hidden_size=2, direction="bidirectional")],
        [3, 2, 2], {"w": floats(2, 8, 2), "r": floats(2, 8, 2), "b": floats(2, 16)}),
    "gru": (
        [onnx.node("GRU", "x w r b", "y last", hidden_size=2, linear_before_reset=1)],
        [3, 2, 2], {"w": floats(1, 6, 2), "r": floats(1, 6, 2), "b": floats(1, 12)}),
    "group normalization, as it is exported": (
        [onnx.node("Reshape", "x s", "g"), onnx.node("InstanceNormalization", "g w b", "n"),
         *BY_SHAPE[:1], onnx.node("Reshape", "n shape", "y")],
        [2, 4, 3, 3], {"s": np.array([0, 2, -1]), "w": floats(2), "b": floats(2)}),
    "transposed convolution": (
        [onnx.node("ConvTranspose", "x k", "h", strides=[2, 2], pads=[1, 0, 0, 1]),
         onnx.node("Conv", "h k2", "y")],
        [2, 2, 3, 3], {"k": floats(2, 3, 3, 2), "k2": floats(1, 3, 2, 2)}),
    "means over windows": (
        [onnx.node("AveragePool", "x", "y", kernel_shape=[2, 2], pads=[1, 1, 0, 0])],
        [2, 2, 3, 3], {}),
    "larger by scales": (
        [onnx.node("Resize", "x - by", "y", mode="linear")],
        [2, 2, 3, 3], {"by": np.float32([1, 1, 2, 1.5])}),
    "larger by sizes, as it is exported": (
        [onnx.node("Shape", "x", "shape"), onnx.node("Slice", "shape begin end", "rows"),
         onnx.node("Concat", "rows rest", "s", axis=0),
         onnx.node("Resize", "x - - s", "y", mode="linear")],
        [2, 2, 3, 3], {"begin": np.array([0]), "end": np.array([2]), "rest": np.array([5, 4])}),
    "rotary embedding": (
        [onnx.node("RotaryEmbedding", "x cos sin", "y")],
        [2, 2, 3, 4], {"cos": floats(2, 3, 2), "sin": floats(2, 3, 2)}),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_batch_of_any_size_gives_what_a_fixed_one_gives(name: str) -> None:
    nodes, fixed, held = MODELS[name]
    place = 1 if nodes[0].op_type in ("LSTM", "GRU") else 0
    free = ["N" if i == place else n for i, n in enumerate(fixed)]
    if "length" in name:
        free[0] = "T"
    x = floats(*fixed)
    wanted = result(opened(nodes, fixed, held), x)
    document = opened(nodes, free, held)
    np.testing.assert_allclose(result(document, x), wanted, rtol=1e-5, atol=1e-6)
    assert np.any(wanted)
