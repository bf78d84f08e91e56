"""Builds the documents in assets/examples. Run `python -m tests.examples.build` to write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.autodiff.request import NATIVE_OP_TYPE, GradientRequest, Override, OverrideKind
from core.graph.dtypes import DType, Shape
from core.graph.model import Constant, Edge, TensorRef
from core.io import store
from core.io.document import CodeItem, CodeKind, Document, Optimizer, View
from core.ops.builder import GraphBuilder, Tensor

FOLDER = Path(__file__).parents[2] / "assets" / "examples"

Positions = dict[str, tuple[float, float]]
NETWORK: Positions = {
    "data": (0, 0), "c": (0, 184), "k": (0, 360), "labels": (0, 472),
    "d": (216, 80), "e": (424, 280), "a": (632, 192), "loss": (840, 192),
}  # fmt: skip


def tutorial() -> Document:
    return _network(
        "The tutorial network",
        "d = data + c, e = c + k, a = d * e, then softmax cross-entropy and Adam. Press F10 to "
        "step through the forward pass, the gradients and the update, and Shift+F10 to step back. "
        "Note that c reaches the loss on two ways, through d and through e: its gradient is the "
        "sum of both.",
        lambda g, c, k, d: g.one("AddV2", c, k, name="e"),
    )


def override_add() -> Document:
    document = _network(
        "An override that is not the gradient",
        "The tutorial network, with e = c + k as a Python function whose gradient is replaced as a "
        "well-known article proposes. The article says that the result is the same. Open the "
        "gradient table: the numbers support the native gradient. What arrives at e is dL/de, "
        "which already holds the factor d; the override multiplies by d once more. Switch the "
        "override off to compare.",
        _python_add,
    )
    forward = CodeItem("custom_add", CodeKind.PYFUNC, "def forward(c, k, d):\n    return c + k\n")
    backward = CodeItem(
        "CustomAdd",
        CodeKind.GRADIENT,
        "def backprop(op, grad):\n"
        "    c, k, d = op.inputs\n"
        "    e = c + k\n"
        "    return ((e + d) * grad, d * grad, e * grad)\n",
    )
    override = Override("CustomAdd", "e", OverrideKind.OP)
    request = GradientRequest(document.request.of, document.request.wrt, overrides=(override,))
    return document.with_(request=request, code={c.name: c for c in (forward, backward)})


def _python_add(g: GraphBuilder, c: Tensor, k: Tensor, d: Tensor) -> Tensor:
    floats = DType.FLOAT32
    attrs: dict[str, Any] = {
        "token": "custom_add",
        "Tin": (floats, floats, floats),
        "Tout": (floats,),
        "shapes": (Shape.of(2),),
        NATIVE_OP_TYPE: "AddV2",
    }
    return g.one("PyFunc", c, k, d, name="e", **attrs)


def _network(
    title: str, note: str, add: Callable[[GraphBuilder, Tensor, Tensor, Tensor], Tensor]
) -> Document:
    g = GraphBuilder()
    data, labels = g.placeholder("data", shape=2), g.placeholder("labels", shape=2)
    c, k = g.variable("c", shape=2), g.variable("k", shape=2)
    d = g.one("AddV2", data, c, name="d")
    e = add(g, c, k, d)
    a = g.one("Mul", d, e, name="a")
    g.op("SoftmaxCrossEntropyWithLogits", a, labels, name="loss")
    return Document(
        graph=g.build(),
        request=GradientRequest.to("loss", "c", "k"),
        initial=_floats(c=[0.06, -0.04], k=[0.05, 0.13]),
        feeds=_floats(**{"data:0": [1, 2], "labels:0": [0, 1]}),
        optimizer=Optimizer(
            "Adam", {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 0.1}
        ),
        fetches=(TensorRef("loss"),),
        title=title,
        note=note,
        view=View(NETWORK),
    )


def gather() -> Document:
    g = GraphBuilder()
    params = g.placeholder("params", shape=5)
    indices = g.placeholder("indices", "int32", shape=3)
    axis = g.constant(0, "int32", name="axis")
    g.one("GatherV2", params, indices, axis, name="b")
    return Document(
        graph=g.build(),
        request=GradientRequest.to("b", "params"),
        feeds={**_floats(**{"params:0": [1, 2, 3, 4, 5]}), "indices:0": _ints([0, 1, 6])},
        fetches=(TensorRef("b"),),
        title="Gather out of range",
        note="The third index is 6, and params has 5 elements. TensorFlow on the CPU stops with an "
        "error, on the GPU it gives 0, CuPy wraps around, JAX and XLA clamp. Compare devices to "
        "see them side by side.",
        view=View({"params": (0, 0), "indices": (0, 112), "axis": (0, 224), "b": (216, 112)}),
    )


def stop_gradient() -> Document:
    g = GraphBuilder()
    x, target = g.placeholder("x", shape=2), g.placeholder("target", shape=2)
    w1, w2 = g.variable("w1", shape=2), g.variable("w2", shape=2)
    h = g.one("Mul", x, w1, name="h")
    r = g.one("Relu", h, name="r")
    y = g.one("Mul", r, w2, name="y")
    error = g.one("Sub", y, target, name="error")
    square = g.one("Square", error, name="square")
    _total(g, square, "loss")
    request = GradientRequest.to("loss", "w1", "w2")
    return Document(
        graph=g.build(),
        request=GradientRequest(request.of, request.wrt, stopped_edges=frozenset({Edge("y", 0)})),
        initial=_floats(w1=[0.5, -0.25], w2=[1.5, 2]),
        feeds=_floats(**{"x:0": [1, 2], "target:0": [1, 1]}),
        optimizer=Optimizer("GradientDescent", {"learning_rate": 0.1}),
        fetches=(TensorRef("loss"),),
        title="A stopped edge",
        note="Nothing flows back over the wire from r to y, so w1 has no gradient at all (None, "
        "which is not zero) and keeps its value; w2 learns as before. Select the wire and press S "
        "to open it again: then w1[1] gets a gradient of zero, because Relu is off there.",
        view=View(
            {
                "x": (0, 0),
                "w1": (0, 112),
                "w2": (216, 192),
                "target": (632, 192),
                "h": (216, 56),
                "r": (424, 56),
                "y": (632, 80),
                "error": (840, 112),
                "square": (1048, 112),
                "axes": (1048, 216),
                "loss": (1256, 136),
            }
        ),
    )


def floor_identity() -> Document:
    g = GraphBuilder()
    x, target = g.variable("x", shape=3), g.placeholder("target", shape=3)
    levels = g.constant(4.0, name="levels")
    scaled = g.one("Mul", x, levels, name="scaled")
    rounded = g.one("Floor", scaled, name="rounded")
    y = g.one("RealDiv", rounded, levels, name="y")
    error = g.one("Sub", y, target, name="error")
    square = g.one("Square", error, name="square")
    _total(g, square, "loss")
    request = GradientRequest.to("loss", "x")
    override = Override("Identity", "Floor", OverrideKind.TYPE)
    return Document(
        graph=g.build(),
        request=GradientRequest(request.of, request.wrt, overrides=(override,)),
        initial=_floats(x=[0.3, 1.7, -0.6]),
        feeds=_floats(**{"target:0": [0.5, 1, -0.5]}),
        optimizer=Optimizer("GradientDescent", {"learning_rate": 0.1}),
        fetches=(TensorRef("loss"),),
        title="Floor, with the gradient of Identity",
        note="Floor is flat almost everywhere, so its gradient is None and nothing could be "
        "learned through it. The override by type lends it the gradient of Identity (the "
        "straight-through estimator): x learns, although the gradient check rightly says that "
        "this is not the derivative.",
        view=View(
            {
                "x": (0, 0),
                "levels": (0, 136),
                "target": (632, 176),
                "scaled": (216, 48),
                "rounded": (424, 48),
                "y": (632, 72),
                "error": (840, 104),
                "square": (1048, 104),
                "axes": (1048, 208),
                "loss": (1256, 128),
            }
        ),
    )


def nan_gradient() -> Document:
    g = GraphBuilder()
    p = g.variable("p", shape=3)
    zero = g.constant(np.zeros(3, np.float32), name="zero")
    logp = g.one("Log", p, name="logp")
    positive = g.one("Greater", p, zero, name="positive")
    safe = g.one("Select", positive, logp, zero, name="safe")
    term = g.one("Mul", p, safe, name="term")
    _total(g, term, "loss")
    return Document(
        graph=g.build(),
        request=GradientRequest.to("loss", "p"),
        initial=_floats(p=[0, 0.25, 0.75]),
        fetches=(TensorRef("loss"),),
        title="A gradient that is not a number",
        note="The value is finite: Select takes the zero instead of log(0). The gradient is NaN "
        "all the same, because Select passes 0 back to Log, whose derivative at 0 is infinite, and "
        "0 times infinity is not a number. Ask why (right-click p). The cure is to change what "
        "Log sees: select before it, not behind it.",
        view=View(
            {
                "p": (0, 96),
                "zero": (0, 208),
                "logp": (216, 0),
                "positive": (216, 152),
                "safe": (424, 96),
                "term": (632, 96),
                "axes": (632, 208),
                "loss": (840, 120),
            }
        ),
    )


def _total(g: GraphBuilder, x: Tensor, name: str) -> Tensor:
    axes = g.constant(0, "int32", name="axes")
    return g.one("Sum", x, axes, name=name)


def _floats(**values: Any) -> Mapping[str, Constant]:
    return {name: Constant(np.array(v, np.float32)) for name, v in values.items()}


def _ints(value: Any) -> Constant:
    return Constant(np.array(value, np.int32))


EXAMPLES: Mapping[str, Callable[[], Document]] = {
    builder.__name__: builder
    for builder in (tutorial, override_add, gather, stop_gradient, floor_identity, nan_gradient)
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, builder in EXAMPLES.items():
        store.save(FOLDER / f"{name}.gradstep", builder())


if __name__ == "__main__":
    main()
