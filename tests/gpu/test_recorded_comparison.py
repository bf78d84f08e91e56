"""Comparison with a recorded run: a port with one error in it, and the node that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.foreign_origin import foreign_origin
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from gradstep.core.protocol.messages import ComparedNode, Comparison
from gradstep.gpu.devices import Devices
from tests.traces.trace_archive import traces

Port = Callable[[Document], Document]


def compared(name: str, port: Port = lambda document: document) -> Comparison:
    document = port(read(traces() / f"{name}.gstrace"))
    return Devices().compare(derive(document), "cpu", "recorded")


def rows(found: Comparison) -> Mapping[str, ComparedNode]:
    return {node.name: node for node in found.nodes}


# -- changes that a port makes by mistake ----------------------------------------------------------


def attribute(op: str, **attrs: Any) -> Port:
    return lambda d: _with(d, replace(d.graph[op], attrs={**d.graph[op].attrs, **attrs}))


def constant(op: str, change: Callable[[np.ndarray], Any]) -> Port:
    def port(document: Document) -> Document:
        held = document.graph[op].attrs["value"].array
        news = np.asarray(change(held.copy()), held.dtype)
        return attribute(op, value=Constant(news))(document)

    return port


def constant_of(scope: str, was: Any, change: Callable[[np.ndarray], Any]) -> Port:
    """Of the constants in a scope the first that holds this."""

    def port(document: Document) -> Document:
        name = next(
            op.name for op in document.graph
            if op.name.startswith(f"{scope}/") and op.type == "Const"
            and _equal(op.attrs["value"].array, was)
        )  # fmt: skip
        return constant(name, change)(document)

    return port


def _equal(array: np.ndarray, was: Any) -> bool:
    return array.shape == np.shape(was) and np.allclose(array, was)


def weight(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Port:
    def port(document: Document) -> Document:
        kept = document.initial[name].array
        news = Constant(change(kept).astype(kept.dtype))
        return document.with_(initial={**document.initial, name: news})

    return port


def fed(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Port:
    def port(document: Document) -> Document:
        kept = document.feeds[name].array
        return document.with_(feeds={**document.feeds, name: Constant(change(kept))})

    return port


def multiplied(op: str, by: np.ndarray) -> Port:
    """What an Identity passes on, times a mask."""

    def port(document: Document) -> Document:
        mask = Operation(f"{op}_mask", "Const",
                         attrs={"value": Constant(by), "dtype": DType.FLOAT32})  # fmt: skip
        own = document.graph[op]
        times = replace(own, type="Mul", inputs=(*own.inputs, TensorRef(mask.name)))
        return _with(_with(document, mask), times)

    return port


def _with(document: Document, op: Operation) -> Document:
    made = {**document.graph.operations, op.name: op}
    return document.with_(graph=Graph(made))


BN = "norm/batch_norm"
ATTENTION = "scaled_dot_product_attention"
PORTS: Mapping[str, tuple[str, Port, str]] = {
    "epsilon": ("partly", attribute(f"{BN}/FusedBatchNormV3", epsilon=1e-2), BN),
    "momentum": ("partly", constant_of(BN, 0.1, lambda x: 0.9), BN),
    "padding": ("unet", attribute("a/conv2d/Conv2D",
                                  explicit_paddings=(0, 0, 0, 0, 2, 0, 2, 0)), "a/conv2d"),
    "layout": ("unet", constant("a/conv2d/Const", lambda x: [3, 2, 1, 0]), "a/conv2d"),
    "gelu": ("gpt", constant_of("mlp/1/gelu", 0.044715, lambda x: 0.0), "mlp/1/gelu"),
    "mask": ("llama", constant_of(ATTENTION, np.where(np.tri(6) > 0, 0, -np.inf).astype("f4"),
                                  lambda x: x.T), ATTENTION),
    "transposed": ("gpt", attribute("proj/linear/MatMul", transpose_b=False), "proj/linear"),
    "labels": ("mlp", fed("target:0", lambda y: (y + 1) % 4), "loss/cross_entropy_loss"),
    "dtype": ("mlp", weight("2/weight", lambda w: w.astype(np.float16)), "2/linear"),
    "dropout": ("hf_bert", multiplied(
        "model/embeddings/dropout/clone/Identity",
        np.float32([0, 1, 1, 2, 0, 1, 2, 1])), "model/embeddings/dropout/clone"),
    "axis": ("gpt", constant_of("ln1/layer_norm", [2], lambda x: [1]), "ln1/layer_norm"),
    "scale": ("llama", constant_of(ATTENTION, 1 / np.sqrt(2), lambda x: 1.0), ATTENTION),
}  # fmt: skip


@pytest.mark.parametrize("mistake", PORTS)
def test_the_first_divergence_is_the_mistake(mistake: str) -> None:
    name, port, scope = PORTS[mistake]
    found = compared(name, port)
    assert found.first_divergence is not None
    assert found.first_divergence.startswith(f"{scope}/")
    assert f"First divergence: {found.first_divergence} " in found.text
    made = rows(found)[found.first_divergence]
    assert made.creates
    assert made.created is not None
    assert made.created > 1e-4
    before = found.nodes[: [*rows(found)].index(made.name)]
    assert not [node.name for node in before if node.differs]


def test_what_comes_after_the_mistake_has_inherited_it() -> None:
    found = compared("mlp", weight("0/weight", lambda w: w * 1.5))
    first, *after = [node for node in found.nodes if node.differs]
    assert first.name.startswith("0/linear/")
    assert after
    assert all(node.inherited for node in after if node.created is not None)
    assert not [node.name for node in after if node.phase == "forward" and node.creates]


def test_nothing_differs_where_nothing_is_changed() -> None:
    found = compared("partly")
    assert found.first_divergence is None
    assert not [node.name for node in found.nodes if node.differs]
    assert {node.phase for node in found.nodes} == {"forward", "backward"}
    assert found.measured
    assert found.source == "as torch 2.13.0+cpu computed it"


def test_a_gradient_whose_true_value_is_zero_is_no_difference() -> None:
    """That of a bias before batch normalization: all of it is rounding."""
    found = compared("partly")
    [bias] = [node for node in found.nodes if node.right.text == "the gradient of before/bias"]
    assert bias.metrics["rel_l2"] > 1e-4
    assert bias.verdict == "close"


def test_a_hook_is_where_the_gradient_differs_first() -> None:
    found = compared("hook")
    first = rows(found)[str(found.first_divergence)]
    assert first.right.text == "the gradient of l/bias"
    assert "a hook changes it" in first.rule
    assert first.created == pytest.approx(0.5)
    assert "a hook changes it" in found.text


def test_a_gradient_that_ends_is_said_where_it_ends() -> None:
    found = compared("custom_op")
    ended = [node for node in found.nodes if node.left.text == "the gradient is None"]
    assert {node.name for node in ended} == {"l/weight", "l/bias", "l/linear/BiasAdd"}
    assert all(node.differs for node in ended)
    assert [node.name for node in ended if node.creates] == ["l/linear/BiasAdd"]
    assert found.first_divergence == "l/linear/BiasAdd"
    assert "Neither rounding nor a known rule" not in found.text
    assert "there is no gradient of that here" in found.text


def test_a_backward_of_its_own_is_said() -> None:
    assert "has a backward of its own" in compared("own_functions").text


def test_rows_lead_to_foreign_operations() -> None:
    document = read(traces() / "mlp.gstrace")
    found = compared("mlp")
    forward = [node for node in found.nodes if node.phase == "forward"]
    assert [node.right.text for node in forward] == [
        "aten.linear.default", "aten.relu.default", "aten.linear.default",
        "aten.cross_entropy_loss.default",
    ]  # fmt: skip
    assert all(foreign_origin(document.graph[node.name]) for node in forward)


def test_a_graph_that_nobody_recorded_says_so() -> None:
    with pytest.raises(GradstepError, match="nothing was recorded of this graph"):
        Devices().compare(derive(Document()), "cpu", "recorded")


def test_gradients_of_something_else_are_not_compared() -> None:
    def another(document: Document) -> Document:
        of = TensorRef("2/linear/BiasAdd")
        return document.with_(request=replace(document.request, of=(of,)))

    assert {node.phase for node in compared("mlp", another).nodes} == {"forward"}
