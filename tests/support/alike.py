"""The network of tests/traces/record_alike.py as ONNX, right or with one mistake of a port."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.onnx_models import graph, model, node

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "data" / "alignment"
FILES = {
    "torch": FOLDER / "torch.gstrace",
    "jax": FOLDER / "jax.gstrace",
    "tensorflow": FOLDER / "tensorflow",
}
MISTAKES = ("epsilon", "variance", "gelu", "padding", "transposed", "bias", "flatten", "statistics")


def numbers() -> dict[str, np.ndarray]:
    """Weights in PyTorch's layouts, and what is fed."""
    path = ROOT / "tests" / "traces" / "record_alike.py"
    spec = importlib.util.spec_from_file_location("record_alike", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, np.ndarray] = module.numbers()
    return found


def onnx_model(mistake: str = "") -> bytes:
    """epsilon: of the layer normalization. variance: of it, by n - 1. gelu: by tanh. padding: at
    the end alone. transposed: the square weight of the hidden layer. bias: the hidden layer has
    none. flatten: channels last by a Reshape in place of a Transpose. statistics: epsilon of
    the batch normalization."""
    n = {key: value for key, value in numbers().items() if key not in ("x", "labels")}
    n |= {"w1": n["w1"].T.copy(), "w2": n["w2"].T.copy(), "last": np.array([-1])}
    n |= {"epsilon": np.array(1e-3 if mistake == "epsilon" else 1e-5, np.float32)}
    n |= {"rows": np.array([2, 4, 4, 6]), "inside": np.array([1, 2])}
    if mistake == "transposed":
        n["w1"] = n["w1"].T.copy()
    pads = [0, 0, 1, 1] if mistake == "padding" else [1, 1, 1, 1]
    small = 1e-2 if mistake == "statistics" else 1e-3
    over = {"variance": np.array(5.0, np.float32)}.get(mistake, np.array(6.0, np.float32))
    n["count"] = over
    last = node("Reshape", "g rows", "t", "last") if mistake == "flatten" else node(
        "Transpose", "g", "t", "last", perm=[0, 2, 3, 1]
    )  # fmt: skip
    hidden = [node("MatMul", "y w1", "m", "hidden"), node("Add", "m b1", "h", "hidden_bias")]
    nodes = [
        node("Conv", "x kernel bias", "c", "conv", strides=[2, 2], pads=pads),
        node("BatchNormalization", "c scale shift mean variance", "b", "bn", epsilon=small),
        node("Gelu", "b", "g", "gelu", approximate="tanh" if mistake == "gelu" else "none"),
        last,
        node("ReduceMean", "t last", "tm", "norm/mean", keepdims=1),
        node("Sub", "t tm", "tc", "norm/centre"),
        node("Mul", "tc tc", "tq", "norm/squares"),
        node("ReduceSum", "tq last", "ts", "norm/sum", keepdims=1),
        node("Div", "ts count", "tv", "norm/variance"),
        node("Add", "tv epsilon", "te", "norm/add"),
        node("Sqrt", "te", "td", "norm/sqrt"),
        node("Div", "tc td", "tn", "norm/div"),
        node("Mul", "tn gain", "tg", "norm/gain"),
        node("Add", "tg offset", "y", "norm/offset"),
        *(hidden[:1] if mistake == "bias" else hidden),
        node("Tanh", "m" if mistake == "bias" else "h", "a", "tanh"),
        node("ReduceMean", "a inside", "p", "pool", keepdims=0),
        node("MatMul", "p w2", "o", "out"),
        node("Add", "o b2", "logits", "out_bias"),
        node("LogSoftmax", "logits", "l", "log_softmax"),
    ]
    inputs = {"x": ("float32", ["batch", 3, 8, 8])}
    return model(graph(nodes, inputs, {"l": ("float32", ["batch", 5])}, n))
