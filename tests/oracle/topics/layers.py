"""Convolutions, pooling, activations and dense layers, tied weights, a frozen feature network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.autodiff.gradients import gradients
from core.ops import api as tf
from core.ops.builder import Tensor, call
from tests.oracle.program import Program
from tests.oracle.shorthand import ints
from tests.oracle.table import DOCUMENTATION, Case, checks

LAYERS = "tf.layers in Python; Gradstep has the ops that a layer is made of"
RUNNING = "what TensorFlow says when it runs"
CONTRIB = "TensorFlow 1's contrib package"


def conv(x: Any, kernel: Any, stride: int, padding: str) -> Tensor:
    return call("Conv2D", x, kernel, strides=(1, stride, stride, 1), padding=padding)


def pool(op_type: str, x: Any) -> Tensor:
    return call(op_type, x, ksize=(1, 3, 3, 1), strides=(1, 2, 2, 1), padding="SAME")


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": lambda x: call("Relu", x),
    "sigmoid": lambda x: call("Sigmoid", x),
    "tanh": lambda x: call("Tanh", x),
    "elu": lambda x: call("Elu", x),
    "selu": lambda x: call("Selu", x),
    "softplus": lambda x: call("Softplus", x),
    "softsign": lambda x: call("Softsign", x),
    "relu6": lambda x: call("Relu6", x),
    "leaky_relu": lambda x: call("LeakyRelu", x),
    "softmax": lambda x: call("Softmax", x),
}


@checks("layers_dense_conv_dropout")
def blocks(case: Case) -> None:
    image, kernel = case.given("inputs", "x"), case.given("inputs", "k")
    with Program() as p:
        x, k = p.like("x", image), p.like("k", kernel)
        feeds = {x: image, k: kernel}
        for stride in (1, 2):
            for padding in ("SAME", "VALID"):
                entry = f"conv2d stride {stride} {padding}"
                case.value(lambda s=stride, q=padding: _shaped(p, conv(x, k, s, q), feeds), entry)
        entry = "conv2d grads (sum of squares, stride 2 SAME)"
        case.gradient(
            lambda: p.run(gradients(_squares(conv(x, k, 2, "SAME")), [x, k]), feeds), entry
        )
        case.value(lambda: p.run(pool("MaxPool", x), feeds), "max_pool 3x3 s2 SAME")
        entry = "avg_pool 3x3 s2 SAME (padding not counted)"
        case.value(lambda: p.run(pool("AvgPool", x), feeds), entry)
        points = p.builder.constant(np.array([-2, -1, 0, 1, 2], np.float32))
        for name, build in ACTIVATIONS.items():
            case.value(lambda build=build: p.run(build(points)), "activations", name)
    _padding(case)
    _transposed(case, kernel)
    _shapes(case)
    _dropout(case)
    case.skip(DOCUMENTATION, "SAME padding rule")
    case.skip(CONTRIB, "tf.contrib")
    for entry in ("dense unknown last dim", "default initializers"):
        case.skip(LAYERS, entry)


def _shaped(p: Program, y: Tensor, feeds: dict[Any, Any]) -> dict[str, Any]:
    return {"shape": list(y.shape.static()), "value": p.run(y, feeds)}


def _squares(y: Tensor) -> Tensor:
    return call("Sum", call("Square", y), ints(0, 1, 2, 3))


def _padding(case: Case) -> None:
    entry = "SAME even input stride 2 k3 (pads only at end)"
    image = case.given(entry, "x")
    with Program() as p:
        x = p.builder.constant(image)
        ones = np.ones((3, 3, 1, 1), np.float32)
        case.value(lambda: p.run(conv(x, ones, 2, "SAME")), entry, "y (ones kernel)")


def _transposed(case: Case, kernel: np.ndarray) -> None:
    """conv2d_transpose is the gradient of conv2d with respect to its input."""
    with Program() as p:
        k = p.builder.constant(kernel)
        ones = p.builder.constant(np.ones((1, 2, 2, 3), np.float32))
        case.value(
            lambda: p.run(
                call(
                    "Conv2DBackpropInput",
                    ints(1, 4, 4, 2),
                    k,
                    ones,
                    strides=(1, 2, 2, 1),
                    padding="SAME",
                )
            ),
            "conv2d_transpose",
        )


def _shapes(case: Case) -> None:
    with Program() as p:
        x = p.builder.constant(np.ones((2, 4), np.float32))
        weights = p.variable("d/kernel", np.full((4, 3), 0.5, np.float32))
        bias = p.variable("d/bias", np.zeros(3, np.float32))
        y = call("BiasAdd", call("MatMul", x, weights.read), bias.read)
        case.value(p.run(y), "dense", "value")
        for key in ("vars", "bias_init"):
            case.skip(LAYERS, "dense", key)
        deep = p.builder.constant(np.ones((2, 5, 4), np.float32))
        flat = call("MatMul", call("Reshape", deep, ints(-1, 4)), weights.read)
        back = call("Reshape", flat, ints(2, 5, 3))
        case.graph(str(back.shape.static()), "dense rank 3 input")
        image = p.placeholder("image", shape=(None, 2, 2, 3))
        rows = call("Reshape", image, ints(-1, 12))
        case.graph("(?, 12)" if list(rows.shape) == [None, 12] else str(rows.shape), "flatten")
        counted = p.builder.constant(np.arange(6, dtype=np.int32))
        case.value(p.run(call("Reshape", counted, ints(-1, 2))), "reshape -1")
        case.error(
            lambda: call("Reshape", counted, ints(4, 2)),
            "reshape bad",
            says="Input to reshape is a tensor with 6 values, but the requested shape has 8",
            why=RUNNING,
        )
        parts = [p.builder.constant(np.array([v], np.float32)) for v in ([1, 2], [3, 4])]
        case.value(p.run(tf.concat(parts, 0)), "concat")
        wide = [p.builder.constant(np.zeros(s, np.float32)) for s in ((2, 2), (3, 3))]
        case.error(
            lambda: tf.concat(wide, 0),
            "concat mismatch",
            says="ConcatOp : Dimension 1 in both shapes must be equal: "
            "shape[0] = [2,2] vs. shape[1] = [3,3]",
            why=RUNNING,
        )


def _dropout(case: Case) -> None:
    ones = np.ones(10000, np.float32)
    with Program() as p:
        x = p.like("x", ones)
        feeds = {x: ones}

        def values(y: Tensor) -> list[float]:
            return sorted({float(v) for v in p.run(y, feeds)})

        def kept(y: Tensor) -> bool:
            return bool(abs(np.mean(p.run(y, feeds) != 0) - 0.75) < 0.05)

        case.skip(LAYERS, "layers.dropout default training=False is identity")
        entry = "layers.dropout rate .25 training"
        case.value(lambda: values(tf.nn.dropout(x, rate=0.25)), entry, "values")
        case.value(lambda: kept(tf.nn.dropout(x, rate=0.25)), entry, "kept_fraction_within_5%")
        entry = "nn.dropout keep_prob=.25 vs rate=.75"
        case.value(lambda: values(tf.nn.dropout(x, rate=0.75)), entry, "values rate")
        case.value(lambda: values(tf.nn.dropout(x, keep_prob=0.25)), entry, "values keep_prob")
        for rate, entry in ((1.0, "dropout rate=1"), (1.5, "dropout rate out of range")):
            case.error(lambda rate=rate: tf.nn.dropout(x, rate=rate), entry)
        whole = p.builder.constant(ints(1, 2))
        case.error(
            lambda: tf.nn.dropout(whole, rate=0.5),
            "dropout int input",
            says="`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
            "x_dtype=int32",
        )
        case.gradient(
            lambda: _same_mask(p, x, feeds), "dropout gradient uses the same mask in the run"
        )


def _same_mask(p: Program, x: Tensor, feeds: dict[Any, Any]) -> bool:
    y = tf.nn.dropout(x, rate=0.5)
    value, grad = p.run([y, gradients(y, x)[0]], feeds)
    return bool(np.all(value == grad))


@checks("layers_reuse_dense")
def reused(case: Case) -> None:
    """One kernel and bias in two places: outputs are equal, and their gradients add up."""
    with Program() as p:
        kernel = p.variable("test/dense/kernel", np.full((10, 10), 0.1, np.float32))
        bias = p.variable("test/dense/bias", np.zeros(10, np.float32))
        x = p.builder.constant(np.ones((2, 10), np.float32))
        towers = [call("BiasAdd", call("MatMul", x, kernel.read), bias.read) for _ in range(2)]
        first, second = p.run(towers)
        case.value(bool(np.all(first == second)), "same_output")
        case.value(first[0], "value_row0")
        loss = call("Sum", towers[0] + towers[1], ints(0, 1))
        found = p.run(gradients(loss, bias.handle)[0])
        case.gradient(found, "tied_grad_bias (2 towers x 2 rows)")
    for entry in (
        "o1",
        "o2",
        "global_variables",
        "trainable",
        "third_without_reuse",
        "unscoped_twice_makes_two_sets",
    ):
        case.skip("names and reuse in variable scopes of TensorFlow's Python", entry)


@checks("perceptual_loss")
def perceptual(case: Case) -> None:
    keys = ("image", "target", "k1", "k2")
    image, target, k1, k2 = (case.given("inputs", key) for key in keys)
    with Program() as p:
        x = p.variable("image", image)
        first, second = p.variable("vgg_19/conv1/w", k1), p.variable("vgg_19/conv4/w", k2)

        def features(pixels: Any) -> Tensor:
            hidden = call("Relu", conv(pixels, first.read, 1, "SAME"))
            halved = call(
                "MaxPool", hidden, ksize=(1, 2, 2, 1), strides=(1, 2, 2, 1), padding="SAME"
            )
            return call("Relu", conv(halved, second.read, 1, "SAME"))

        wanted = tf.stop_gradient(features(p.builder.constant(target)))
        got = features(x.read)
        loss = call("Mean", call("Square", got - wanted), ints(0, 1, 2, 3))
        case.value(p.run(got), "features")
        case.value(p.run(wanted), "target_features")
        case.value(p.run(loss), "loss0")
        case.gradient(p.run(gradients(loss, x.handle)[0]), "dloss_dimage", within=1e-8)
        updates = p.minimize("GradientDescent", loss, [x], learning_rate=1.0)
        after = []
        for _ in range(5):
            p.run([], targets=updates.targets)
            after.append(p.run(loss).copy())
        case.value(np.array(after), "loss_after_each_step")
        same = np.all(p.value(first) == k1) and np.all(p.value(second) == k2)
        case.value(bool(same), "vgg_weights_unchanged")
    case.skip(LAYERS, "trainable")
