"""tf.nn's cross-entropies, and tf.losses made of the ops that TensorFlow's Python makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.autodiff.gradients import gradients
from core.graph.dtypes import DType
from core.ops import api as tf
from core.ops.builder import Tensor, call, call_many
from tests.oracle.program import Program
from tests.oracle.shorthand import every_axis, ints, like
from tests.oracle.table import Case, checks

ARGUMENTS = "checks of tf.losses' own arguments in Python"
COLLECTION = "the collection of losses that TensorFlow's Python keeps"

F32 = DType.FLOAT32


def narrow(x: Any) -> Tensor:
    return tf.cast(x, F32)


def reduced(losses: Tensor, weights: Any = 1.0, how: str = "by_nonzero") -> Tensor:
    """compute_weighted_loss: in float32, and back in the losses' own type."""
    kind = losses.dtype
    values = narrow(losses)
    w = narrow(losses.builder.tensor(weights))
    weighted = values * w
    if how == "none":
        return tf.cast(weighted, kind)
    total = call("Sum", weighted, every_axis(weighted))
    if how == "sum":
        return tf.cast(total, kind)
    return tf.cast(call("DivNoNan", total, _count(values, w, how)), kind)


def _count(values: Tensor, weights: Tensor, how: str) -> Any:
    everywhere = weights * tf.ones_like(values)
    if how == "mean":
        return call("Sum", everywhere, every_axis(everywhere))
    if how == "over_batch":
        return np.float32(np.prod(values.shape.static()))
    present = narrow(call("NotEqual", everywhere, np.float32(0)))
    return call("Sum", present, every_axis(present))


def softmax(labels: Any, logits: Tensor, smoothing: float = 0.0, stop: bool = True) -> Tensor:
    target = logits.builder.tensor(labels, dtype=logits.dtype)
    if smoothing:
        classes = logits.shape.static()[-1]
        target = target * like(1 - smoothing, target) + like(smoothing / classes, target)
    target = tf.stop_gradient(target) if stop else target
    return call_many("SoftmaxCrossEntropyWithLogits", logits, target)[0]


def sparse(labels: Any, logits: Tensor) -> Tensor:
    return call_many("SparseSoftmaxCrossEntropyWithLogits", logits, labels)[0]


def squared(labels: Any, predictions: Tensor) -> Tensor:
    return call("SquaredDifference", narrow(predictions), narrow(labels))


def huber(labels: Any, predictions: Tensor, delta: float = 1.0) -> Tensor:
    error = call("Abs", narrow(predictions) - narrow(labels))
    quadratic = call("Minimum", error, delta)
    return 0.5 * (quadratic * quadratic) + delta * (error - quadratic)


def hinge(labels: Any, logits: Tensor) -> Tensor:
    signs = 2.0 * narrow(labels) - 1.0
    return call("Relu", 1.0 - signs * narrow(logits))


def logarithmic(labels: Any, predictions: Tensor) -> Tensor:
    y, p = narrow(labels), narrow(predictions)
    return -(y * call("Log", p + 1e-7)) - (1.0 - y) * call("Log", (1.0 - p) + 1e-7)


def cosine(labels: Any, predictions: Tensor) -> Tensor:
    product = narrow(tf.nn.l2_normalize(predictions, 1)) * narrow(tf.nn.l2_normalize(labels, 1))
    return 1.0 - call("Sum", product, ints(1), keep_dims=True)


def pairwise(labels: Any, predictions: Tensor) -> Tensor:
    """mean_pairwise_squared_error with weights 1."""
    apart = narrow(predictions) - narrow(labels)
    rows, size = apart.shape.static()
    squares = call("Sum", call("Square", apart), ints(1), keep_dims=True)
    present = np.full((rows, 1), size, np.float32)
    first = 2.0 * call("DivNoNan", squares, np.maximum(present - 1, 0))
    total = call("Sum", apart, ints(1), keep_dims=True)
    second = 2.0 * call("DivNoNan", call("Square", total), present * np.maximum(present - 1, 0))
    return call("Sum", first - second, ints(0, 1))


Build = Callable[[dict[str, Tensor]], tuple[Tensor, list[str]]]
W: dict[str, str] = {
    "mse reduction none weights [1,0,2]": "none",
    "mse reduction weighted_sum weights [1,0,2]": "sum",
    "mse reduction weighted_mean weights [1,0,2]": "mean",
    "mse reduction weighted_sum_over_batch_size weights [1,0,2]": "over_batch",
    "mse reduction weighted_sum_by_nonzero_weights weights [1,0,2]": "by_nonzero",
}


def _mse(how: str) -> Build:
    return lambda t: (reduced(squared(t["target"], t["logits"]), t["weights"], how), ["logits"])


LOSSES: dict[str, Build] = {
    "softmax_cross_entropy_with_logits (v1, labels gradient stopped)": lambda t: (
        softmax(t["onehot"], t["logits"]), ["logits", "onehot"]
    ),
    "softmax_cross_entropy_with_logits_v2 (labels get gradient)": lambda t: (
        softmax(t["onehot"], t["logits"], stop=False), ["logits", "onehot"]
    ),
    "sparse_softmax": lambda t: (sparse(t["sparse"], t["logits"]), ["logits"]),
    "sigmoid_xent": lambda t: (
        tf.nn.sigmoid_cross_entropy_with_logits(labels=t["onehot"], logits=t["logits"]),
        ["logits", "onehot"],
    ),
    "weighted_xent pos_weight=3": lambda t: (
        tf.nn.weighted_cross_entropy_with_logits(t["onehot"], t["logits"], 3.0), ["logits"]
    ),
    "losses.softmax_cross_entropy": lambda t: (
        reduced(softmax(t["onehot"], t["logits"])), ["logits", "onehot"]
    ),
    "losses.softmax_cross_entropy smoothing .1": lambda t: (
        reduced(softmax(t["onehot"], t["logits"], 0.1)), ["logits"]
    ),
    "losses.softmax weights [1,0,2]": lambda t: (
        reduced(softmax(t["onehot"], t["logits"]), np.array([1, 0, 2], np.float32)), ["logits"]
    ),
    "losses.sparse_softmax_cross_entropy": lambda t: (
        reduced(sparse(t["sparse"], t["logits"])), ["logits"]
    ),
    "losses.sigmoid_cross_entropy": lambda t: (
        reduced(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=t["onehot"], logits=t["logits"])
        ), ["logits"]
    ),
    "losses.mean_squared_error": lambda t: (
        reduced(squared(t["target"], t["logits"])), ["logits", "target"]
    ),
    "losses.absolute_difference": lambda t: (
        reduced(call("Abs", narrow(t["logits"]) - narrow(t["target"]))), ["logits"]
    ),
    "losses.huber_loss": lambda t: (reduced(huber(t["target"], t["logits"])), ["logits"]),
    "losses.huber_loss delta=.5": lambda t: (
        reduced(huber(t["target"], t["logits"], 0.5)), ["logits"]
    ),
    "losses.hinge_loss (labels 0/1)": lambda t: (
        reduced(hinge(t["onehot"], t["logits"])), ["logits"]
    ),
    "losses.log_loss": lambda t: (reduced(logarithmic(t["onehot"], t["probs"])), ["probs"]),
    "losses.cosine_distance": lambda t: (reduced(cosine(t["target"], t["logits"])), ["logits"]),
    "losses.mean_pairwise_squared_error": lambda t: (
        pairwise(t["target"], t["logits"]), ["logits"]
    ),
    "mse all-zero weights": lambda t: (
        reduced(squared(t["target"], t["logits"]), np.float32(0)), ["logits"]
    ),
    **{entry: _mse(how) for entry, how in W.items()},
}  # fmt: skip


@checks("losses")
def each_loss(case: Case) -> None:
    start = {key: case.given("inputs", key) for key in case.at("inputs")}
    for entry, build in LOSSES.items():
        case.gradient(lambda build=build: _loss(build, start), entry, within=_within(entry))
    _numpy(case, start)
    with Program() as p:
        empty = p.builder.constant(np.zeros(0))
        case.value(p.run(call("Mean", empty, ints(0))), "reduce_mean of empty")
    case.skip_each(ARGUMENTS, "positional args to softmax xent", "weights bad shape")
    case.skip(ARGUMENTS, "default reduction")
    case.skip(COLLECTION, "collection size")


def _within(entry: str) -> float | None:
    """tf.losses reduce in float32, so that float64 results have float32's precision."""
    return 2e-6 if entry.startswith(("losses.", "mse")) else None


def _loss(build: Build, start: dict[str, np.ndarray]) -> dict[str, Any]:
    with Program() as p:
        tensors = {key: p.like(key, value) for key, value in start.items()}
        loss, wrt = build(tensors)
        grads = gradients(loss, [tensors[key] for key in wrt])
        found = p.run({"value": loss, "grads": grads}, start)
    return {**found, "dtype": str(loss.dtype.value)}


def _numpy(case: Case, start: dict[str, np.ndarray]) -> None:
    """The recorded NumPy formulas against our exact ones."""
    v2 = _loss(LOSSES["softmax_cross_entropy_with_logits_v2 (labels get gradient)"], start)
    case.value(v2["value"], "numpy", "softmax ce rows")
    case.gradient(v2["grads"][0], "numpy", "grad = softmax - y")
    case.gradient(v2["grads"][1], "numpy", "grad labels v2 = -log softmax")
    for key, entry in (
        ("weighted [1,0,2] = sum(w*ce)/count(w!=0)", "losses.softmax weights [1,0,2]"),
        ("mse weighted default", "mse reduction weighted_sum_by_nonzero_weights weights [1,0,2]"),
        ("weighted_mean", "mse reduction weighted_mean weights [1,0,2]"),
    ):
        found = _loss(LOSSES[entry], start)["value"]
        case.value(float(found), "numpy", key, within=2e-6)


@checks("softmax_onehot_label_rows")
def one_row(case: Case) -> None:
    """Whole-number labels and logits of rank 1: one row."""
    start = case.given("inputs", "a")
    labels = np.array(case.given("inputs", "labels"), np.int32)
    with Program() as p:
        a = p.like("a", start)
        rows = call("Reshape", tf.stop_gradient(narrow(p.builder.constant(labels))), ints(1, -1))
        each = call_many("SoftmaxCrossEntropyWithLogits", call("Reshape", a, ints(1, -1)), rows)[0]
        loss = reduced(call("Reshape", each, np.array([], np.int32)))
        case.value(p.run(loss, {a: start}), "loss")
        case.gradient(p.run(gradients(loss, a)[0], {a: start}), "dL_da")
        case.graph(f"({', '.join(map(str, loss.shape.static()))})", "losses_shape")
    case.skip(
        "TensorFlow's Python makes more ops of it: ranks and weights worked out in the graph", "ops"
    )
