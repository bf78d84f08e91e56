"""Training on batches gives TensorFlow's losses and variables, where that is fed the same batches.

tests/data/training/record.py says what was trained, and how that was written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.core.cli.conftest import Cli
from tests.support.rounding import Rounding, assert_rounded_alike

RECORD = Path(__file__).parents[2] / "data" / "training" / "tensorflow.npz"
COLUMNS = {"x:0": "@digits:images | scale(1/16)", "y:0": "@digits:labels | one_hot(10)"}
DATA = Dataset(COLUMNS, batch=24, shuffle=7, limit=200)
STEPS = 30

Weights = Mapping[str, Tensor]


def softmax(x: Tensor, w: Weights) -> Tensor:
    return tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, 64]), w["w"]), w["b"])


def perceptron(x: Tensor, w: Weights) -> Tensor:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, 64]), w["w1"]), w["b1"]))
    return tf.nn.bias_add(tf.matmul(h, w["w2"]), w["b2"])


def convolutional(x: Tensor, w: Weights) -> Tensor:
    y = tf.nn.conv2d(tf.reshape(x, [-1, 8, 8, 1]), w["k"], [1, 1, 1, 1], "SAME")
    y = tf.nn.relu(tf.nn.bias_add(y, w["c"]))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return tf.nn.bias_add(tf.matmul(tf.reshape(y, [-1, 64]), w["w"]), w["b"])


def lstm(x: Tensor, w: Weights) -> Tensor:
    h = c = tf.zeros(tf.stack([tf.shape(x)[0], 6]))
    for row in range(8):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([x[:, row], h], 1), w["kernel"]), w["bias"])
        i, j, f, o = tf.split(gates, 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
    return tf.nn.bias_add(tf.matmul(h, w["w"]), w["b"])


# How to build it, its variables, and the terms of its longest product.
NETWORKS: Mapping[str, tuple[Callable[..., Tensor], str, int]] = {
    "softmax": (softmax, "w b", 64),
    "perceptron": (perceptron, "w1 b1 w2 b2", 64),
    "convolutional": (convolutional, "k c w b", 64),
    "lstm": (lstm, "kernel bias w b", 24),
}
OPTIMIZERS = {
    "sgd": ("GradientDescent", {"learning_rate": 0.3}),
    "momentum": ("Momentum", {"learning_rate": 0.05, "momentum": 0.9}),
    "adam": ("Adam", {"learning_rate": 0.02}),
}
SCHEDULES = {
    "exponential": "exponential_decay(5, 0.7, staircase=True)",
    "natural": "natural_exp_decay(10, 0.5)",
    "inverse": "inverse_time_decay(10, 0.5)",
    "polynomial": "polynomial_decay(8, 0.01, 2.0, cycle=True)",
    "cosine": "cosine_decay(25, 0.1)",
    "piecewise": "piecewise_constant([4, 11], [0.3, 0.1, 0.02])",
}
CLIPS = {"value": "value(0.05)", "norm": "norm(0.1)", "global_norm": "global_norm(0.2)"}


@cache
def record() -> Mapping[str, np.ndarray]:
    with np.load(RECORD) as arrays:
        return dict(arrays)


NAMES = [name.removesuffix("/losses") for name in np.load(RECORD).files if "/losses" in name]


def document(name: str) -> Document:
    network, optimizer, *bent = name.split()
    build, variables, _ = NETWORKS[network]
    starts = {variable: record()[f"{network}/{variable}"] for variable in variables.split()}
    b = GraphBuilder()
    with b.as_default():
        x, y = b.placeholder("x", shape=(None, 8, 8)), b.placeholder("y", shape=(None, 10))
        weights = {n: b.variable(n, shape=array.shape) for n, array in starts.items()}
        logits = build(x, weights)
        entropies = tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits)
        loss = tf.identity(tf.reduce_mean(entropies), name="loss")
    type, hyper = OPTIMIZERS[optimizer]
    chosen: dict[str, Any] = {
        "schedule": next((SCHEDULES[one] for one in bent if one in SCHEDULES), ""),
        "clip": next((CLIPS[one] for one in bent if one in CLIPS), ""),
    }
    return Document(
        graph=b.build(),
        data=DATA,
        initial={n: Constant(array) for n, array in starts.items()},
        optimizers=(Optimizer(type, hyper, of=(loss.ref,), **chosen),),
    )


@pytest.mark.parametrize("name", NAMES)
def test_losses_and_variables_are_tensorflows(name: str, cli: Cli, tmp_path: Path) -> None:
    path, out = tmp_path / "given.gradstep", tmp_path / "trained.gradstep"
    gradstep_file.save(path, document(name))
    asked = ["--steps", STEPS, "--every", "1", "--out", out, "--json"]
    found = cli("train", path, *asked).json
    losses = [one["values"]["loss"]["data"] for one in found["shown"]]
    _, variables, terms = NETWORKS[name.split()[0]]
    assert len(losses) == STEPS
    for step, (loss, wanted) in enumerate(zip(losses, record()[f"{name}/losses"], strict=True)):
        assert_rounded_alike(loss, wanted, Rounding(terms, step + 1), f"loss of step {step}")
    trained = read(out).initial
    for variable in variables.split():
        wanted = record()[f"{name}/{variable}"]
        assert_rounded_alike(trained[variable].array, wanted, Rounding(terms, STEPS), variable)
