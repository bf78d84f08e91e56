"""W1, the tutorial net: 2-vectors and Adam. What an operation costs when it computes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.adam import Adam, Flat
from tests.bench.aligned import aligned, empty
from tests.bench.program import Program, moved

RATES = {"check": 1e-2, "time": 1e-8}
DATA = {"data": np.array([1, 2], np.float32), "labels": np.array([0, 1], np.float32)}
START = {"c": np.array([0.06, -0.04], np.float32), "k": np.array([0.05, 0.13], np.float32)}


def raw(rate: float) -> Program:
    data, labels = (aligned(x) for x in DATA.values())
    values, grads = Flat(START), Flat(START)
    c, k = values.views.values()
    dc, dk = grads.views.values()
    d, e, a, z, p, t = (empty((2,)) for _ in range(6))
    top, total, logarithm, loss = (empty(()) for _ in range(4))
    adam = Adam(values.vector, grads.vector, rate)

    def step() -> None:
        np.add(data, c, d)
        np.add(c, k, e)
        np.multiply(d, e, a)
        np.maximum.reduce(a, 0, None, top)
        np.subtract(a, top, z)
        np.exp(z, p)
        np.add.reduce(p, 0, None, total)
        np.log(total, logarithm)
        np.subtract(logarithm, z, t)
        np.multiply(t, labels, t)
        np.add.reduce(t, 0, None, loss)
        np.divide(p, total, p)
        np.subtract(p, labels, t)  # the gradient of a
        np.multiply(t, d, dk)
        np.multiply(t, e, dc)
        np.add(dc, dk, dc)
        adam.step()

    return Program(step, lambda: {"loss": float(loss), "moved": moved((c, k), START.values())})


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.ops.build.builder import GraphBuilder
    from tests.bench.ours import declared, placed, training

    build = GraphBuilder()
    data, labels = placed(build, DATA)
    c, k = declared(build, START)
    a = (data + c) * (c + k)
    loss = build.op("SoftmaxCrossEntropyWithLogits", a, labels, name="loss")[0]
    return training(build, loss, START, DATA, ("Adam", {"learning_rate": rate}), **how)


def session(rate: float) -> Program:
    from tests.bench.ours import fed_session

    return fed_session(ours, rate, START)


def torch(rate: float) -> Program:
    import torch
    from torch.nn.functional import cross_entropy

    from tests.bench.torch_inputs import refilling

    data, labels = (torch.tensor(x) for x in DATA.values())
    c, k = (torch.tensor(x, requires_grad=True) for x in START.values())
    adam = torch.optim.Adam([c, k], lr=rate, fused=True, capturable=c.is_cuda)
    last: list[Any] = [None]

    def step() -> None:
        adam.zero_grad()
        loss = cross_entropy((data + c) * (c + k), labels)
        loss.backward()
        last[0] = loss.detach()
        adam.step()

    def numbers() -> dict[str, float]:
        now = [x.detach() for x in (c, k)]
        return {"loss": float(last[0]), "moved": moved(now, START.values())}

    feed = refilling((data, DATA["data"]), (labels, DATA["labels"]))
    return Program(step, numbers, feed=feed)


def tf1(rate: float) -> Program:
    """Fed in every step, as the tutorial does; from constants it takes half as long."""
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    data, labels = (tf.placeholder(tf.float32, [2]) for _ in DATA)
    feeds = dict(zip((data, labels), DATA.values(), strict=True))
    variables = c, k = [tf.Variable(x, use_resource=False) for x in START.values()]
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=(data + c) * (c + k))
    train = tf.train.AdamOptimizer(rate).minimize(loss)
    threads = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    session = tf.Session(config=threads)
    session.run(tf.global_variables_initializer())
    last: list[Any] = [None]

    def step() -> None:
        last[0] = session.run([loss, train], feeds)[0]

    def numbers() -> dict[str, float]:
        return {"loss": float(last[0]), "moved": moved(session.run(variables), START.values())}

    return Program(step, numbers)


def jax(rate: float) -> Program:
    import jax
    from jax import numpy as jnp

    from tests.bench.jax_training import adam

    data, labels = DATA.values()

    def loss_of(values: Any) -> Any:
        c, k = values
        return -jnp.sum(labels * jax.nn.log_softmax((data + c) * (c + k)))

    return adam(loss_of, [*START.values()], (), rate)
