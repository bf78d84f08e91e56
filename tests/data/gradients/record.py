"""Writes graphs.zip: training graphs of TensorFlow, and which of their operations are gradients.

TensorFlow itself says what it passes back over which wire while `tf.gradients` runs; the files hold
that as facts. Needs TensorFlow 2.21 and tf_keras 2.21, which the project does not depend on:

    python tests/data/gradients/record.py
"""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ |= {"TF_USE_LEGACY_KERAS": "1", "TF_ENABLE_ONEDNN_OPTS": "0"}

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gradients_util, script_ops

tf1 = tf.compat.v1
calls: list[dict[str, Any]] = []  # of tf.gradients, in the graph that is being made


# -- what TensorFlow does ------------------------------------------------------------------------


def name_of(gradient: Any) -> Any:
    if isinstance(gradient, tf1.IndexedSlices):
        return {"values": gradient.values.name, "indices": gradient.indices.name}
    return None if gradient is None else gradient.name


def record() -> None:
    """Let TensorFlow's loop over operations tell what it passes on."""
    starting, helping = gradients_util._DefaultGradYs, gradients_util._GradientsHelper
    setting, adding = gradients_util._SetGrad, gradients_util._AggregatedGrads

    def start(*args: Any, **kwargs: Any) -> Any:
        made = starting(*args, **kwargs)
        calls[-1]["scope"] = made[0].name.rpartition("/")[0]
        return made

    def send(grads: Any, x: Any, gradient: Any) -> Any:
        frame = sys._getframe(1).f_locals
        op, index = frame.get("op"), frame.get("i")
        if op is not None and index is not None and op.inputs[index] is x:
            calls[-1]["edges"][f"{op.name}<{index}"] = name_of(gradient)
        return setting(grads, x, gradient)

    def add(grads: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        sums = adding(grads, op, *args, **kwargs)
        known = ((i, g) for i, g in enumerate(sums) if g is not None and not isinstance(g, list))
        calls[-1]["gradients"] |= {f"{op.name}:{i}": name_of(g) for i, g in known}
        return sums

    def helper(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append({"edges": {}, "gradients": {}})
        result = helping(ys, xs, *args, **kwargs)
        ys, xs = ([*many] if isinstance(many, list | tuple) else [many] for many in (ys, xs))
        names = [(x.handle if hasattr(x, "handle") else x).name for x in xs]
        calls[-1]["of"] = [y.name for y in ys]
        calls[-1]["xs"] = {n: name_of(g) for n, g in zip(names, result, strict=True)}
        return result

    gradients_util._DefaultGradYs, gradients_util._GradientsHelper = start, helper
    gradients_util._SetGrad, gradients_util._AggregatedGrads = send, add


# -- graphs --------------------------------------------------------------------------------------


def network(resource: bool = False) -> tuple[Any, list[Any]]:
    """Two layers, a bias of either kind, and weight decay: the loss, and the variables."""
    rng = np.random.RandomState(0)
    x = tf1.placeholder(tf.float32, [None, 4], name="x")
    y = tf1.placeholder(tf.int32, [None], name="y")

    def variable(name: str, *shape: int) -> Any:
        return tf1.Variable(rng.randn(*shape).astype("f"), name=name, use_resource=resource)

    w1, b1, w2, b2 = (
        variable(n, *s) for n, s in (("w1", (4, 8)), ("b1", (8,)), ("w2", (8, 3)), ("b2", (3,)))
    )
    h = tf.nn.relu(tf.matmul(x, w1) + b1, name="h")
    logits = tf.nn.bias_add(tf.matmul(h, w2), b2, name="logits")
    entropies = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    decay = 0.01 * (tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2))
    return tf.add(tf.reduce_mean(entropies), decay, name="loss"), [w1, b1, w2, b2]


def trained(optimizer: Any, resource: bool = False) -> None:
    loss, _ = network(resource)
    step = tf1.train.get_or_create_global_step()
    rate = tf1.train.exponential_decay(0.1, step, 10, 0.9)
    optimizer(rate).minimize(loss, global_step=step)


def clipped() -> None:
    loss, _ = network()
    optimizer = tf1.train.AdamOptimizer(0.01)
    pairs = optimizer.compute_gradients(loss)
    gradients, norm = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
    optimizer.apply_gradients(zip(gradients, [v for _, v in pairs], strict=True))
    tf1.summary.scalar("norm", norm)


def by_hand() -> None:
    loss, variables = network()
    for variable, gradient in zip(variables, tf1.gradients(loss, variables), strict=True):
        variable.assign_sub(0.1 * gradient)


def embedding() -> None:
    ids = tf1.placeholder(tf.int32, [5], name="ids")
    table, w = tf1.get_variable("table", [10, 4]), tf1.get_variable("w", [4, 1])
    rows = tf.nn.embedding_lookup(table, ids) + tf.gather(table, ids[::-1])
    loss = tf.reduce_sum(tf.square(tf.matmul(rows, w)), name="loss")
    tf1.train.AdamOptimizer(0.1).minimize(loss)


def critic(x: Any, reuse: bool = False) -> Any:
    with tf1.variable_scope("D", reuse=reuse):
        h = tf1.layers.dense(x, 6, tf.nn.leaky_relu, name="a")
        return tf1.layers.dense(h, 1, name="b")


def gan() -> None:
    z = tf1.placeholder(tf.float32, [8, 3], name="z")
    real = tf1.placeholder(tf.float32, [8, 2], name="real")
    with tf1.variable_scope("G"):
        made = tf1.layers.dense(tf1.layers.dense(z, 5, tf.nn.tanh), 2)
    d_real, d_made = critic(real), critic(made, reuse=True)

    def entropy(labels: Any, logits: Any) -> Any:
        made = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels(logits), logits=logits)
        return tf.reduce_mean(made)

    d_loss = tf.add(entropy(tf.ones_like, d_real), entropy(tf.zeros_like, d_made), name="d_loss")
    g_loss = tf.identity(entropy(tf.ones_like, d_made), name="g_loss")
    for loss, scope in ((d_loss, "D"), (g_loss, "G")):
        variables = tf1.trainable_variables(scope)
        tf1.train.AdamOptimizer(1e-3, name=f"{scope}_adam").minimize(loss, var_list=variables)


def gradient_penalty() -> None:
    real = tf1.placeholder(tf.float32, [8, 2], name="real")
    d = critic(real)
    (slope,) = tf1.gradients(d, [real])
    norms = tf.sqrt(tf.reduce_sum(slope**2, 1))
    penalty = tf.reduce_mean(tf.square(norms - 1))
    loss = tf.add(tf.reduce_mean(d), 10 * penalty, name="loss")
    tf1.train.RMSPropOptimizer(1e-3).minimize(loss)


def residual_network() -> None:
    """Batch norm, shortcuts, a temperature behind a stop_gradient, gradients asked for twice."""
    images = tf1.placeholder(tf.float32, [4, 8, 8, 3], name="images")
    labels = tf1.placeholder(tf.int32, [4], name="labels")

    def conv(h: Any, filters: int, stride: int, name: str) -> Any:
        h = tf1.layers.conv2d(h, filters, 3, stride, "same", use_bias=False, name=name)
        return tf1.layers.batch_normalization(h, training=True, name=f"{name}_bn")

    h = tf.nn.relu(conv(images, 4, 1, "stem"))
    for number, stride in enumerate((1, 2)):
        with tf1.variable_scope(f"block{number}"):
            inner = tf.nn.relu(conv(h, 4 * stride, stride, "a"))
            inner = conv(inner, 4 * stride, 1, "b")
            shortcut = h if stride == 1 else tf1.layers.conv2d(h, 8, 1, 2, name="short")
            h = tf.nn.relu(inner + shortcut)
    with tf1.variable_scope("head"):
        w, b = tf1.get_variable("w", [8, 10]), tf1.get_variable("b", [10])
        start = tf1.ones_initializer()
        temperature = tf1.get_variable("temperature", [], initializer=start)
        frozen = tf.stop_gradient(temperature, name="frozen_t")
        logits = (tf.matmul(tf.reduce_mean(h, [1, 2]), w) + b) / frozen
    entropies = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(entropies, name="loss")
    optimizer = tf1.train.AdamOptimizer(0.01)
    optimizer.compute_gradients(loss)
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        optimizer.minimize(loss, global_step=tf1.train.get_or_create_global_step())
    right = tf.equal(tf.argmax(logits, 1, tf.int32), labels)
    tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
    tf1.summary.scalar("loss", loss)


def control_flow() -> None:
    x, w = tf1.placeholder(tf.float32, [3], name="x"), tf1.get_variable("w", [3])
    taken = tf.cond(tf.reduce_sum(x) > 0, lambda: x * w, lambda: tf.sin(w) + x)
    start = [tf.constant(0), taken]
    _, last = tf1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a * w)), start)
    tf1.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(last, name="loss"))


def many_operations() -> None:
    """Rules that make gradients of several inputs in one way or another, and gradients that meet:
    not gated, so that what arrives is passed on as it is."""
    a = tf1.placeholder(tf.float32, [2, 6], name="a")
    w, k = tf1.get_variable("w", [6, 6]), tf1.get_variable("k", [6])
    h = tf.concat([tf.matmul(a, w), a * k, a - k], 1)
    p, q, r = tf.split(h, 3, 1)
    u, v = tf.unstack(tf.stack([p, q], 0), axis=0)
    m = tf.maximum(u, v) / (1.0 + tf.square(r))
    m = tf.nn.softmax(tf.where(m > 0, m, tf.zeros_like(m)))
    m = tf.transpose(tf.pow(m + 0.1, k**2 + 1.0))[1:, :]
    m = tf.reshape(tf.tile(tf.pad(m, [[1, 1], [0, 0]]), [1, 2]), [-1])
    m = tf.nn.dropout(m, rate=0.2, seed=3)
    m = tf.clip_by_value(tf.expand_dims(m, 0) * tf.identity(m), -1e3, 1e3)
    m = tf.cast(tf.cast(m, tf.float64), tf.float32)
    parts = [tf.reduce_sum(m), tf.reduce_prod(k + 2.0), tf.reduce_max(w), tf.norm(w)]
    tf1.gradients(tf.add_n(parts, name="loss"), [w, k, a])


def unrolled() -> None:
    """One weight in every step; towers in scopes of their own; a start that was given."""
    x = tf1.placeholder(tf.float32, [3, 2], name="x")
    w, b = tf1.get_variable("w", [4, 2]), tf1.get_variable("b", [2])
    for tower in range(2):
        with tf.name_scope(f"tower_{tower}"):
            state = tf.zeros([3, 2])
            for _ in range(3):
                state = tf.tanh(tf.matmul(tf.concat([x, state], 1), w) + b)
            far = tf.reduce_sum(state, 1, name="far")
            near = tf.reduce_mean(x * b, 1, name="near")
            tf1.gradients([far, near], [w, b], grad_ys=[tf.constant([1.0, 2.0, 3.0]), None])


def overridden() -> None:
    """A gradient that only the program knew: a function with one of its own, and an override."""

    @tf.custom_gradient
    def halved(x: Any) -> Any:
        return tf.identity(x, name="halved"), lambda g: 0.5 * g

    @tf.RegisterGradient("Doubled")
    def doubled(op: Any, g: Any) -> Any:
        return 2.0 * g

    x, w = tf1.placeholder(tf.float32, [3], name="x"), tf1.get_variable("w", [3])
    h = halved(tf.sin(x * w))
    with tf1.get_default_graph().gradient_override_map({"Floor": "Doubled"}):
        h = tf.floor(h, name="floored") + tf.exp(h)
    tf1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h, name="loss"))


@tf.RegisterGradient("CustomAdd")
def custom_add(op: Any, grad: Any) -> Any:
    c, k, d = op.inputs
    e = c + k
    return (e + d) * grad, d * grad, e * grad


def article(training: bool) -> None:
    """Of a well-known article: a sum as a Python function, with a gradient that is not its own."""
    data = tf1.placeholder(tf.float32, [2], name="data")
    labels = tf1.placeholder(tf.float32, [2], name="labels")
    c, k = tf1.Variable([0.06, -0.04], name="c"), tf1.Variable([0.05, 0.13], name="k")
    d = tf.add(data, c, name="d")
    script_ops._py_funcs._unique_id = 0  # so that it is pyfunc_0, as in a program of its own
    with tf1.get_default_graph().gradient_override_map({"PyFunc": "CustomAdd"}):
        (e,) = tf1.py_func(lambda c, k, d: c + k, [c, k, d], [tf.float32], name="e")
    a = tf.reshape(tf.multiply(d, e, name="a"), [1, 2])
    entropies = tf.nn.softmax_cross_entropy_with_logits(labels=labels[None], logits=a)
    loss = tf.reduce_sum(entropies, name="loss")
    if training:
        tf1.train.AdamOptimizer(0.001, epsilon=0.1).minimize(loss, name="train")


def graphs() -> Iterator[tuple[str, Callable[[], object]]]:
    """Name, and what makes the graph."""
    momentum = lambda rate: tf1.train.MomentumOptimizer(rate, 0.9, use_nesterov=True)  # noqa: E731
    rmsprop = lambda rate: tf1.train.RMSPropOptimizer(rate, centered=True)  # noqa: E731
    rules = {
        "adam": tf1.train.AdamOptimizer,
        "momentum": momentum,
        "adagrad": tf1.train.AdagradOptimizer,
        "rmsprop": rmsprop,
        "ftrl": tf1.train.FtrlOptimizer,
        "adadelta": tf1.train.AdadeltaOptimizer,
        "sgd": tf1.train.GradientDescentOptimizer,
    }
    for name, rule in rules.items():
        for resource in (False, True):
            kind = "resource" if resource else "ref"
            yield f"{name}_{kind}", lambda rule=rule, on=resource: trained(rule, on)
    yield "gradients_alone", lambda: tf1.gradients(*network())
    yield "gradients_named", lambda: tf1.gradients(*network(), name="backprop")
    for function in (
        clipped, by_hand, embedding, gan, gradient_penalty, residual_network, control_flow,
        many_operations, unrolled, overridden,
    ):  # fmt: skip
        yield function.__name__, function
    yield "article", lambda: article(training=True)
    yield "article_forward", lambda: article(training=False)


# -- the file ------------------------------------------------------------------------------------


def main() -> None:
    tf1.disable_v2_behavior()
    record()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, make in graphs():
            calls.clear()
            with tf.Graph().as_default() as graph:
                tf1.set_random_seed(1)
                make()
                tf1.global_variables_initializer()
                facts = {
                    "calls": [dict(call) for call in calls],
                    "trainable": [v.op.name for v in tf1.trainable_variables()],
                }
                data = graph.as_graph_def().SerializeToString(deterministic=True)
            for member, content in ((f"{name}.pb", data), (f"{name}.json", json.dumps(facts))):
                info = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
                archive.writestr(info, content, zipfile.ZIP_DEFLATED, 9)
    Path(__file__).with_name("graphs.zip").write_bytes(packed.getvalue())


if __name__ == "__main__":
    main()
