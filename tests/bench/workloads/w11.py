"""W11, a step of a WGAN-GP's critic: its gradient is penalized, so a gradient of a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.bench.program import Program
from tests.bench.workloads import w10

RATES = {"check": 1e-4, "time": 1e-9}
PENALTY = 10.0


def data() -> w10.Arrays:
    mix = np.random.default_rng(13).uniform(0, 1, (w10.BATCH, 1, 1, 1)).astype(np.float32)
    return {**w10.data(), "mix": mix}


def loss(tf: Any, gradients: Callable[..., Any], inputs: list[Any], values: w10.Values) -> Any:
    """The critic's, by `tf` and its function for gradients."""
    noise, real, mix = inputs
    fake = tf.stop_gradient(w10.generate(tf, noise, values))
    between = real + mix * (fake - real)
    (slope,) = gradients(w10.judge(tf, between, values), [between])
    steep = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=[1, 2, 3]) + 1e-12)
    penalty = tf.reduce_mean(tf.square(steep - 1.0))
    right, wrong = w10.judge(tf, real, values), w10.judge(tf, fake, values)
    return tf.reduce_mean(wrong) - tf.reduce_mean(right) + PENALTY * penalty


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.autodiff.reverse.tf_gradients import gradients
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder
    from tests.bench.ours import declared, placed, updating

    build, arrays = GraphBuilder(), data()
    inputs = placed(build, arrays)
    critic, generator = w10.critic_start(normalized=False), w10.generator_start()
    start = {**critic, **generator}
    values = dict(zip(start, declared(build, start), strict=True))
    found = loss(tf, gradients, inputs, values)
    grads = [*gradients(found, [values[name] for name in critic]), *[None] * len(generator)]
    adam = ("Adam", {"learning_rate": rate, "beta1": 0.5, "beta2": 0.9})
    return updating(build, found, grads, start, arrays, adam, **how)


def tf1(rate: float) -> Program:
    import tensorflow.compat.v1 as tf

    from tests.bench.tf1_session import adam, placed, variables

    feeds = placed(tf, data())
    critic, generator = w10.critic_start(normalized=False), w10.generator_start()
    values = variables(tf, {**critic, **generator})
    found = loss(tf, tf.gradients, list(feeds), values)
    trained = [values[name] for name in critic]
    pairs = list(zip(tf.gradients(found, trained), trained, strict=True))
    hyper = {"learning_rate": rate, "beta1": 0.5, "beta2": 0.9}
    return adam(tf, found, pairs, feeds, critic, hyper)
