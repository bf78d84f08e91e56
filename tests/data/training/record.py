"""Writes tensorflow.npz: what TensorFlow's losses and variables are when it is fed given batches.

Digits through four networks, with the optimizers, schedules and clippings that a document can ask
for; `NAMES` of test_training_in_batches.py is made of `TRAININGS`. The rows of each step are drawn
here anew, from the description of that order: by the numbers that Philox gives for seed and epoch.
Needs TensorFlow 2.21 and tf_keras 2.21, which the project does not depend on:

    python tests/data/training/record.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ |= {"TF_USE_LEGACY_KERAS": "1", "TF_ENABLE_ONEDNN_OPTS": "0"}

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_v2_behavior()

HERE = Path(__file__).parent
DIGITS = HERE.parents[2] / "assets" / "data" / "digits.npz"
SEED, BATCH, STEPS, LIMIT = 7, 24, 30, 200  # of 200 rows an epoch has 9 batches, the last of 8

# -- the rows of each step -----------------------------------------------------------------------


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox 4x32-10 (Salmon et al. 2011)."""
    a, b, c, d = counter
    for _ in range(10):
        x, y = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (y >> 32) ^ b ^ key[0], y % 2**32, (x >> 32) ^ d ^ key[1], x % 2**32
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return [a, b, c, d]


def order(epoch: int) -> list[int]:
    numbers: list[int] = []
    for block in range(LIMIT // 2):
        w = philox([block, 0, epoch, 0], [SEED, 0])
        numbers += [w[0] << 32 | w[1], w[2] << 32 | w[3]]
    return sorted(range(LIMIT), key=numbers.__getitem__)


def batches() -> Iterator[list[int]]:
    epoch = 0
    while True:
        rows = order(epoch)
        yield from (rows[i : i + BATCH] for i in range(0, LIMIT, BATCH))
        epoch += 1


# -- networks ------------------------------------------------------------------------------------


def initial(shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    random = np.random.RandomState(3)
    return {
        name: (random.randn(*shape) * (1 / max(np.prod(shape[:-1]), 1)) ** 0.5).astype("f")
        for name, shape in shapes.items()
    }


def softmax(x: Any, w: dict[str, Any]) -> Any:
    return tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, 64]), w["w"]), w["b"])


def perceptron(x: Any, w: dict[str, Any]) -> Any:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, 64]), w["w1"]), w["b1"]))
    return tf.nn.bias_add(tf.matmul(h, w["w2"]), w["b2"])


def convolutional(x: Any, w: dict[str, Any]) -> Any:
    y = tf.nn.conv2d(tf.reshape(x, [-1, 8, 8, 1]), w["k"], [1, 1, 1, 1], "SAME")
    y = tf.nn.relu(tf.nn.bias_add(y, w["c"]))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return tf.nn.bias_add(tf.matmul(tf.reshape(y, [-1, 64]), w["w"]), w["b"])


def lstm(x: Any, w: dict[str, Any]) -> Any:
    """Each row of pixels is a step. One matrix gives i, j, f and o."""
    h = c = tf.zeros([tf.shape(x)[0], 6])
    for row in range(8):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([x[:, row], h], 1), w["kernel"]), w["bias"])
        i, j, f, o = tf.split(gates, 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
    return tf.nn.bias_add(tf.matmul(h, w["w"]), w["b"])


NETWORKS: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]]]] = {
    "softmax": (softmax, {"w": (64, 10), "b": (10,)}),
    "perceptron": (perceptron, {"w1": (64, 12), "b1": (12,), "w2": (12, 10), "b2": (10,)}),
    "convolutional": (
        convolutional, {"k": (3, 3, 1, 4), "c": (4,), "w": (64, 10), "b": (10,)}
    ),
    "lstm": (lstm, {"kernel": (14, 24), "bias": (24,), "w": (6, 10), "b": (10,)}),
}  # fmt: skip

# -- trainings -----------------------------------------------------------------------------------


def sgd(rate: Any) -> Any:
    return tf1.train.GradientDescentOptimizer(rate)


def momentum(rate: Any) -> Any:
    return tf1.train.MomentumOptimizer(rate, 0.9)


def adam(rate: Any) -> Any:
    return tf1.train.AdamOptimizer(rate)


train = tf1.train
OPTIMIZERS = {"sgd": (sgd, 0.3), "momentum": (momentum, 0.05), "adam": (adam, 0.02)}
SCHEDULES: dict[str, Callable[[float, Any], Any]] = {
    "exponential": lambda r, s: train.exponential_decay(r, s, 5, 0.7, staircase=True),
    "natural": lambda r, s: train.natural_exp_decay(r, s, 10, 0.5),
    "inverse": lambda r, s: train.inverse_time_decay(r, s, 10, 0.5),
    "polynomial": lambda r, s: train.polynomial_decay(r, s, 8, 0.01, 2.0, cycle=True),
    "cosine": lambda r, s: train.cosine_decay(r, s, 25, 0.1),
    "piecewise": lambda r, s: train.piecewise_constant(s, [4, 11], [0.3, 0.1, 0.02]),
}
CLIPS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "value": lambda gs: [tf.clip_by_value(g, -0.05, 0.05) for g in gs],
    "norm": lambda gs: [tf.clip_by_norm(g, 0.1) for g in gs],
    "global_norm": lambda gs: tf.clip_by_global_norm(gs, 0.2)[0],
}
TRAININGS = [
    *(f"{network} {optimizer}" for network in NETWORKS for optimizer in OPTIMIZERS),
    *(f"softmax sgd {schedule}" for schedule in SCHEDULES),
    *(f"perceptron momentum {clip}" for clip in CLIPS),
    "lstm adam cosine global_norm",
    "convolutional momentum polynomial global_norm",
]


def record(name: str, images: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """The losses of the steps, and the variables after the last of them."""
    network, optimizer, *bent = name.split()
    build, shapes = NETWORKS[network]
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [None, 8, 8])
        y = tf1.placeholder(tf.float32, [None, 10])
        w = {n: tf1.Variable(a, use_resource=False) for n, a in initial(shapes).items()}
        entropies = tf1.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=build(x, w))
        loss = tf.reduce_mean(entropies)
        step = train.get_or_create_global_step()
        make, rate = OPTIMIZERS[optimizer]
        schedule = next((SCHEDULES[b] for b in bent if b in SCHEDULES), lambda r, s: r)
        clip = next((CLIPS[b] for b in bent if b in CLIPS), lambda gs: gs)
        made = make(schedule(rate, step))
        pairs = made.compute_gradients(loss)
        gradients = clip([g for g, _ in pairs])
        update = made.apply_gradients(zip(gradients, [v for _, v in pairs], strict=True), step)
        session.run(tf1.global_variables_initializer())
        losses = []
        for _, rows in zip(range(STEPS), batches(), strict=False):
            losses.append(session.run([loss, update], {x: images[rows], y: labels[rows]})[0])
        found = {f"{name}/{n}": session.run(v) for n, v in w.items()}
    return {f"{name}/losses": np.array(losses, np.float32), **found}


def main() -> None:
    with np.load(DIGITS) as digits:
        images = (digits["images"][:LIMIT] / 16).astype(np.float32)
        labels = np.eye(10, dtype=np.float32)[digits["labels"][:LIMIT]]
    found: dict[str, np.ndarray] = {}
    for network, (_, shapes) in NETWORKS.items():
        found |= {f"{network}/{name}": array for name, array in initial(shapes).items()}
    for name in TRAININGS:
        found |= record(name, images, labels)
    np.savez_compressed(HERE / "tensorflow.npz", **found)


if __name__ == "__main__":
    main()
