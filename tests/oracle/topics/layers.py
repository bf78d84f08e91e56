"""Convolutions, pooling, activations and dense layers, tied weights, a frozen feature network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.layers.block_expansion import expand
from gradstep.core.layers.block_table import find_block
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.build.python_values import as_written
from gradstep.core.ops.build.variable import found_variable
from tests.oracle.program import Program
from tests.oracle.shorthand import ints
from tests.oracle.table import DOCUMENTATION, Case, checks
from tests.support.rounding import Rounding, fan_in

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
    _defaults(case)


def _defaults(case: Case) -> None:
    """What variables start with unless something else is said."""
    with Program() as p:
        x = p.placeholder("x", shape=(2, 4))
        tf.layers.dense(x, 3, name="d")
        tf.layers.conv2d(p.placeholder("i", shape=(1, 5, 5, 2)), 3, 3, name="c")
        glorot = tf.glorot_uniform_initializer()
        initial = p.builder.variables.initial

        def start(name: str, initializer: Any) -> bool:
            value = initial[name]
            return bool(np.array_equal(value, initializer(value.shape, value.dtype, name)))

        names = {True: "glorot_uniform", False: "another"}
        zeros = {True: "zeros", False: "another"}
        found = {
            "dense kernel": names[start("d/kernel", glorot)],
            "bias": zeros[start("d/bias", tf.zeros_initializer())],
            "conv2d kernel": names[start("c/kernel", glorot)],
        }
        case.value(found, "default initializers")
        unknown = p.placeholder("u", shape=(None, None))
        case.error(lambda: tf.layers.dense(unknown, 3), "dense unknown last dim")


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
        half = tf.constant_initializer(0.5)
        y = tf.layers.dense(x, 3, kernel_initializer=half, name="d")
        case.value(p.run(y), "dense", "value")
        made = tf.global_variables()
        case.graph([[v.name, as_written(v.shape)] for v in made], "dense", "vars")
        case.value(made[1].initial_value, "dense", "bias_init")
        deep = p.builder.constant(np.ones((2, 5, 4), np.float32))
        case.graph(str(tf.layers.dense(deep, 3).shape.static()), "dense rank 3 input")
        image = p.placeholder("image", shape=(None, 2, 2, 3))
        rows = tf.layers.flatten(image)
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

        same = p.run(tf.layers.dropout(x, rate=0.25), feeds)
        entry = "layers.dropout default training=False is identity"
        case.value(bool(np.array_equal(same, ones)), entry)
        entry = "layers.dropout rate .25 training"
        dropped = tf.layers.dropout(x, rate=0.25, training=True)
        case.value(lambda: values(dropped), entry, "values")
        case.value(lambda: kept(dropped), entry, "kept_fraction_within_5%")
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
        x = p.placeholder("x", shape=(None, 10))
        kernel = tf.constant_initializer(0.1)
        towers = []
        for reuse in (None, True):
            with tf.variable_scope("test", reuse=reuse):
                towers.append(tf.layers.dense(x, 10, kernel_initializer=kernel))
        for entry, y in zip(("o1", "o2"), towers, strict=True):
            said = f'Tensor("{y.name}", shape={as_written(y.shape)}, dtype={y.dtype.value})'
            case.graph(said, entry)
        made = tf.global_variables()
        case.graph([[v.name, as_written(v.shape)] for v in made], "global_variables")
        case.graph([v.name for v in tf.trainable_variables()], "trainable")
        feeds = {x: np.ones((2, 10), np.float32)}
        first, second = p.run(towers, feeds)
        case.value(bool(np.all(first == second)), "same_output")
        case.value(first[0], "value_row0")
        loss = call("Sum", towers[0] + towers[1], ints(0, 1))
        found = p.run(gradients(loss, made[1].handle)[0], feeds)
        case.gradient(found, "tied_grad_bias (2 towers x 2 rows)")

        def third() -> None:
            with tf.variable_scope("test"):
                tf.layers.dense(x, 10)

        case.error(third, "third_without_reuse")
        for _ in range(2):
            tf.layers.dense(x, 10)
        names = [v.name for v in tf.global_variables()]
        case.graph(names, "unscoped_twice_makes_two_sets")


@checks("perceptual_loss")
def perceptual(case: Case) -> None:
    """The block on a network of two convolutions: nothing but the image is trained."""
    keys = ("image", "target", "k1", "k2")
    image, target, k1, k2 = (case.given("inputs", key) for key in keys)
    with Program() as p:
        x = tf.Variable(image, name="image")
        seen = p.like("seen", target)
        with tf.variable_scope("vgg_19"):
            _features(seen, k1, k2)
        case.graph([v.name for v in tf.trainable_variables()], "trainable")
        network = {"network": "vgg_19/features"}
        sources = [x.handle.ref, p.builder.constant(target).ref]
        made = expand(p.builder.build(), find_block("perceptual_loss"), sources, settings=network)
        trained = Program(made.graph, p.builder.variables.initial)
        image_features, target_features = (
            trained.builder.get(f"perceptual_loss/{name}/vgg_19/features")
            for name in ("features", "target_features")
        )
        loss = trained.builder.get(next(iter(made.outputs)))
        shown = found_variable(trained.builder, "image")
        there = Rounding(terms=fan_in(k1.shape, k2.shape), steps=2)
        case.value(trained.run(image_features), "features", rounding=there)
        case.value(trained.run(target_features), "target_features", rounding=there)
        case.value(trained.run(loss), "loss0", rounding=there)
        there_and_back = there.of(steps=4)
        slope = trained.run(gradients(loss, shown.handle)[0])
        case.gradient(slope, "dloss_dimage", rounding=there_and_back)
        updates = trained.minimize("GradientDescent", loss, [shown], learning_rate=1.0)
        after = []
        for _ in range(5):
            trained.run([], targets=updates.targets)
            after.append(trained.run(loss).copy())
        many = there_and_back.of(steps=5 * 4)
        case.value(np.array(after), "loss_after_each_step", rounding=many)
        weights = [trained.session.store[f"vgg_19/{n}/w"] for n in ("conv1", "conv4")]
        same = all(np.array_equal(w, k) for w, k in zip(weights, (k1, k2), strict=True))
        case.value(bool(same), "vgg_weights_unchanged")


def _features(pixels: Tensor, k1: np.ndarray, k2: np.ndarray) -> Tensor:
    first = tf.get_variable("conv1/w", initializer=k1)
    second = tf.get_variable("conv4/w", initializer=k2)
    halved = tf.layers.max_pooling2d(call("Relu", conv(pixels, first, 1, "SAME")), 2, 2, "same")
    return call("Relu", conv(halved, second, 1, "SAME"), name="features")
