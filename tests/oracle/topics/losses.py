"""tf.nn's cross-entropies, and tf.losses made of the ops that TensorFlow's Python makes of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.program import Program
from tests.oracle.shorthand import ints
from tests.oracle.table import Case, checks
from tests.support.rounding import Rounding

MARKS = "names that Python gives to tensors; ours are the ops' own"


Build = Callable[[dict[str, Tensor]], tuple[Tensor, list[str]]]
W: dict[str, str] = {
    f"mse reduction {how} weights [1,0,2]": how
    for how in (
        "none",
        "weighted_sum",
        "weighted_mean",
        "weighted_sum_over_batch_size",
        "weighted_sum_by_nonzero_weights",
    )
}


def _mse(how: str) -> Build:
    def build(t: dict[str, Tensor]) -> tuple[Tensor, list[str]]:
        loss = tf.losses.mean_squared_error(
            t["target"], t["logits"], weights=t["weights"], reduction=how
        )
        return loss, ["logits"]

    return build


def _cosine(t: dict[str, Tensor]) -> tuple[Tensor, list[str]]:
    target, logits = tf.nn.l2_normalize(t["target"], 1), tf.nn.l2_normalize(t["logits"], 1)
    return tf.losses.cosine_distance(target, logits, axis=1), ["logits"]


LOSSES: dict[str, Build] = {
    "softmax_cross_entropy_with_logits (v1, labels gradient stopped)": lambda t: (
        tf.nn.softmax_cross_entropy_with_logits(labels=t["onehot"], logits=t["logits"]),
        ["logits", "onehot"],
    ),
    "softmax_cross_entropy_with_logits_v2 (labels get gradient)": lambda t: (
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=t["onehot"], logits=t["logits"]),
        ["logits", "onehot"],
    ),
    "sparse_softmax": lambda t: (
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t["sparse"], logits=t["logits"]),
        ["logits"],
    ),
    "sigmoid_xent": lambda t: (
        tf.nn.sigmoid_cross_entropy_with_logits(labels=t["onehot"], logits=t["logits"]),
        ["logits", "onehot"],
    ),
    "weighted_xent pos_weight=3": lambda t: (
        tf.nn.weighted_cross_entropy_with_logits(t["onehot"], t["logits"], 3.0), ["logits"]
    ),
    "losses.softmax_cross_entropy": lambda t: (
        tf.losses.softmax_cross_entropy(t["onehot"], t["logits"]), ["logits", "onehot"]
    ),
    "losses.softmax_cross_entropy smoothing .1": lambda t: (
        tf.losses.softmax_cross_entropy(t["onehot"], t["logits"], label_smoothing=0.1), ["logits"]
    ),
    "losses.softmax weights [1,0,2]": lambda t: (
        tf.losses.softmax_cross_entropy(t["onehot"], t["logits"], weights=[1.0, 0.0, 2.0]),
        ["logits"],
    ),
    "losses.sparse_softmax_cross_entropy": lambda t: (
        tf.losses.sparse_softmax_cross_entropy(t["sparse"], t["logits"]), ["logits"]
    ),
    "losses.sigmoid_cross_entropy": lambda t: (
        tf.losses.sigmoid_cross_entropy(t["onehot"], t["logits"]), ["logits"]
    ),
    "losses.mean_squared_error": lambda t: (
        tf.losses.mean_squared_error(t["target"], t["logits"]), ["logits", "target"]
    ),
    "losses.absolute_difference": lambda t: (
        tf.losses.absolute_difference(t["target"], t["logits"]), ["logits"]
    ),
    "losses.huber_loss": lambda t: (tf.losses.huber_loss(t["target"], t["logits"]), ["logits"]),
    "losses.huber_loss delta=.5": lambda t: (
        tf.losses.huber_loss(t["target"], t["logits"], delta=0.5), ["logits"]
    ),
    "losses.hinge_loss (labels 0/1)": lambda t: (
        tf.losses.hinge_loss(t["onehot"], t["logits"]), ["logits"]
    ),
    "losses.log_loss": lambda t: (tf.losses.log_loss(t["onehot"], t["probs"]), ["probs"]),
    "losses.cosine_distance": _cosine,
    "losses.mean_pairwise_squared_error": lambda t: (
        tf.losses.mean_pairwise_squared_error(t["target"], t["logits"]), ["logits"]
    ),
    "mse all-zero weights": lambda t: (
        tf.losses.mean_squared_error(t["target"], t["logits"], weights=0.0), ["logits"]
    ),
    **{entry: _mse(how) for entry, how in W.items()},
}  # fmt: skip


@checks("losses")
def each_loss(case: Case) -> None:
    start = {key: case.given("inputs", key) for key in case.at("inputs")}
    for entry, build in LOSSES.items():
        case.gradient(lambda build=build: _loss(build, start), entry, rounding=_rounding(entry))
    _numpy(case, start)
    with Program() as p:
        empty = p.builder.constant(np.zeros(0))
        case.value(p.run(call("Mean", empty, ints(0))), "reduce_mean of empty")
    _arguments(case, start)


def _arguments(case: Case, start: dict[str, np.ndarray]) -> None:
    """What tf.losses check, and where they put what they make."""
    with Program() as p:
        tensors = {key: p.like(key, value) for key, value in start.items()}
        y, x = tensors["target"], tensors["logits"]
        case.error(
            lambda: tf.losses.mean_squared_error(y, x, weights=p.builder.constant(np.ones(3))),
            "weights bad shape",
            says="weights can not be broadcast to values. values.rank=2. weights.rank=1. "
            "values.shape=(3, 4). weights.shape=(3,). Received weights=",
            why="then the tensors",
        )
        entry = "default reduction"
        case.value(inspect.signature(tf.losses.huber_loss).parameters["reduction"].default, entry)
        case.skip(MARKS, "positional args to softmax xent")
        before = len(tf.losses.get_losses())
        for build in (b for entry, b in LOSSES.items() if entry.startswith(("losses.", "mse"))):
            build(tensors)
        case.value(len(tf.losses.get_losses()) - before, "collection size")


def _rounding(entry: str) -> Rounding:
    """tf.losses reduce in float32, so that float64 results have float32's precision."""
    return Rounding(dtype=np.float32 if entry.startswith(("losses.", "mse")) else None)


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
        case.value(float(found), "numpy", key, rounding=Rounding(dtype=np.float32))


@checks("softmax_onehot_label_rows")
def one_row(case: Case) -> None:
    """Whole-number labels and logits of rank 1: one row."""
    start = case.given("inputs", "a")
    labels = np.array(case.given("inputs", "labels"), np.int32)
    with Program() as p:
        a = p.like("a", start)
        loss = tf.losses.softmax_cross_entropy(labels, a)
        case.value(p.run(loss, {a: start}), "loss")
        case.gradient(p.run(gradients(loss, a)[0], {a: start}), "dL_da")
        case.graph(f"({', '.join(map(str, loss.shape.static()))})", "losses_shape")
    case.skip(
        "TensorFlow's Python makes more ops of it: ranks and weights worked out in the graph", "ops"
    )
