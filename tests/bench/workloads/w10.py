"""W10, a step of a DCGAN: generator and discriminator of 32 by 32 pixels, both trained by Adam."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.bench.program import Program

RATES = {"check": 2e-4, "time": 1e-9}
BATCH, NOISE, SIDE = 16, 100, 32
CHANNELS = (512, 256, 128, 3)  # from the generator's first image to the picture
CRITIC = (3, 64, 128, 256)  # from the picture to the discriminator's last image
WINDOW = 5

Arrays = dict[str, np.ndarray]
Values = dict[str, Any]


def data() -> Arrays:
    random = np.random.default_rng(10)
    return {
        "noise": random.uniform(-1, 1, (BATCH, NOISE)).astype(np.float32),
        "real": random.uniform(-1, 1, (BATCH, SIDE, SIDE, CRITIC[0])).astype(np.float32),
    }


def generator_start() -> Arrays:
    random, first = np.random.default_rng(11), SIDE >> (len(CHANNELS) - 1)
    found = {"g_dense": _normal(random, NOISE, first * first * CHANNELS[0])}
    for level, (inputs, outputs) in enumerate(itertools.pairwise(CHANNELS)):
        found[f"g_scale{level}"] = np.ones(inputs, np.float32)
        found[f"g_offset{level}"] = np.zeros(inputs, np.float32)
        found[f"g_filter{level}"] = _normal(random, WINDOW, WINDOW, outputs, inputs)
    return found


def critic_start(normalized: bool = True) -> Arrays:
    random, last = np.random.default_rng(12), SIDE >> (len(CRITIC) - 1)
    found: Arrays = {}
    for level, (inputs, outputs) in enumerate(itertools.pairwise(CRITIC)):
        found[f"d_filter{level}"] = _normal(random, WINDOW, WINDOW, inputs, outputs)
        if normalized and level:
            found[f"d_scale{level}"] = np.ones(outputs, np.float32)
        found[f"d_offset{level}"] = np.zeros(outputs, np.float32)
    return {**found, "d_dense": _normal(random, last * last * CRITIC[-1], 1)}


def _normal(random: np.random.Generator, *shape: int) -> np.ndarray:
    return (0.02 * random.standard_normal(shape)).astype(np.float32)


def generate(tf: Any, noise: Any, values: Values) -> Any:
    """Pictures from noise, by `tf`, TensorFlow's module or ours."""
    side = SIDE >> (len(CHANNELS) - 1)
    x = tf.reshape(tf.matmul(noise, values["g_dense"]), [BATCH, side, side, CHANNELS[0]])
    for level, outputs in enumerate(CHANNELS[1:]):
        scale, offset = values[f"g_scale{level}"], values[f"g_offset{level}"]
        x = tf.nn.relu(tf.nn.fused_batch_norm(x, scale, offset)[0])
        side *= 2
        x = tf.nn.conv2d_transpose(
            x,
            values[f"g_filter{level}"],
            output_shape=[BATCH, side, side, outputs],
            strides=[1, 2, 2, 1],
            padding="SAME",
        )
    return tf.tanh(x)


def judge(tf: Any, picture: Any, values: Values) -> Any:
    """A number for each picture; normalized where there are scales."""
    x = picture
    for level in range(len(CRITIC) - 1):
        filters, offset = values[f"d_filter{level}"], values[f"d_offset{level}"]
        x = tf.nn.conv2d(x, filters, strides=[1, 2, 2, 1], padding="SAME")
        scale = values.get(f"d_scale{level}")
        if scale is None:
            x = tf.nn.bias_add(x, offset)
        else:
            x = tf.nn.fused_batch_norm(x, scale, offset)[0]
        x = tf.nn.leaky_relu(x, alpha=0.2)
    return tf.matmul(tf.reshape(x, [BATCH, -1]), values["d_dense"])


def losses(tf: Any, noise: Any, real: Any, values: Values) -> tuple[Any, Any]:
    """The discriminator's and the generator's."""
    entropy = tf.nn.sigmoid_cross_entropy_with_logits
    right, wrong = judge(tf, real, values), judge(tf, generate(tf, noise, values), values)
    ones, zeros = np.ones((BATCH, 1), np.float32), np.zeros((BATCH, 1), np.float32)
    told_right = tf.reduce_mean(entropy(labels=ones, logits=right))
    told_wrong = tf.reduce_mean(entropy(labels=zeros, logits=wrong))
    return told_right + told_wrong, tf.reduce_mean(entropy(labels=ones, logits=wrong))


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.autodiff.reverse.tf_gradients import gradients
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder
    from tests.bench.ours import declared, placed, updating

    build, arrays = GraphBuilder(), data()
    noise, real = placed(build, arrays)
    critic, generator = critic_start(), generator_start()
    start = {**critic, **generator}
    values = dict(zip(start, declared(build, start), strict=True))
    for_critic, for_generator = losses(tf, noise, real, values)
    grads = [
        *gradients(for_critic, [values[name] for name in critic]),
        *gradients(for_generator, [values[name] for name in generator]),
    ]
    adam = ("Adam", {"learning_rate": rate, "beta1": 0.5})
    return updating(build, for_critic + for_generator, grads, start, arrays, adam, **how)


def tf1(rate: float) -> Program:
    import tensorflow.compat.v1 as tf

    from tests.bench.tf1_session import adam, placed, variables

    feeds = placed(tf, data())
    critic, generator = critic_start(), generator_start()
    start = {**critic, **generator}
    values = variables(tf, start)
    for_critic, for_generator = losses(tf, *feeds, values)
    grads = [
        *tf.gradients(for_critic, [values[name] for name in critic]),
        *tf.gradients(for_generator, [values[name] for name in generator]),
    ]
    pairs = list(zip(grads, values.values(), strict=True))
    hyper = {"learning_rate": rate, "beta1": 0.5}
    return adam(tf, for_critic + for_generator, pairs, feeds, start, hyper)
