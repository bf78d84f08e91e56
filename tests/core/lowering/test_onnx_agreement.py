"""What ONNX's text leaves open, or tells otherwise than all do: as ONNX Runtime 1.32 has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.io.onnx.onnx_document import from_onnx
from tests.support import onnx_models as onnx

RNG = np.random.default_rng(7)


def results(
    node: Any, x: np.ndarray, held: Mapping[str, np.ndarray], opset: int = 20
) -> list[np.ndarray]:
    """What one operator gives of `x`, the other inputs being a part of the model."""
    made = onnx.graph([node], {"x": (str(x.dtype), x.shape)}, {}, held)
    for name in node.output:
        made.output.add(name=name)
    document = from_onnx(onnx.model(made, opset))
    initial = {name: held.array for name, held in document.initial.items()}
    session = Session(document.graph, initial=initial)
    return [np.asarray(y) for y in session.run(list(document.fetches), {"x:0": x})]


@pytest.mark.parametrize(("by", "out"), [(1.3, 9), (0.6, 4), (1.0, 7), (0.2, 1)])
def test_aligned_corners_are_those_of_what_comes_out(by: float, out: int) -> None:
    """PyTorch's too, of whose interpolate(scale_factor=1.3, align_corners=True) this is an axis."""
    x = RNG.normal(size=(1, 1, 7)).astype(np.float32)
    node = onnx.node(
        "Resize", "x - by", "y", mode="linear", coordinate_transformation_mode="align_corners"
    )
    (y,) = results(node, x, {"by": np.float32([1, 1, by])})
    wanted = np.interp(np.linspace(0, 6, out), np.arange(7), x[0, 0])
    np.testing.assert_allclose(y[0, 0], wanted, rtol=1e-5, atol=1e-6)


def test_places_of_the_largest_are_along_their_axis() -> None:
    x = RNG.permutation(12).reshape(4, 3).astype(np.float32)
    values, places = results(onnx.node("TopK", "x k", "v i", axis=0), x, {"k": np.array([3])})
    np.testing.assert_array_equal(values, -np.sort(-x, 0)[:3])
    np.testing.assert_array_equal(np.take_along_axis(x, places, 0), values)


def test_clipping_an_lstm_leaves_its_state() -> None:
    """The state grows beyond the bound; what goes into the gates does not."""
    x = np.ones((4, 1, 1), np.float32)
    held = {"w": np.full((1, 4, 1), 9, np.float32), "r": np.zeros((1, 4, 1), np.float32)}
    node = onnx.node("LSTM", "x w r", "rows last cell", hidden_size=1, clip=0.5)
    rows, _, cell = results(node, x, held)
    gate, new, state, wanted = 1 / (1 + np.exp(-0.5)), np.tanh(0.5), 0.0, []
    for _ in range(4):
        state = gate * state + gate * new
        wanted.append(gate * np.tanh(state))
    assert state > 0.5
    np.testing.assert_allclose(rows.reshape(-1), wanted, rtol=1e-5)
    np.testing.assert_allclose(cell.reshape(-1), [state], rtol=1e-5)
