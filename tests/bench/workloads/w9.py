"""W9, ResNet-50 in use: what a class owes to each pixel of one image of 224 by 224."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.bench.program import Program, norm

RATES = {"check": 0.0, "time": 0.0}  # nothing is trained
CLASS, CLASSES, STEM = 7, 1000, 64
# Of each stage: blocks, the channels inside them, the stride of the first one.
STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
SIDE = 224
_WIDER = 4  # a block's output has so many times the channels inside it

Arrays = dict[str, np.ndarray]


def start() -> Arrays:
    """Filters and what normalizes after them, by the names of layers; the classifier's weights."""
    random = np.random.default_rng(9)
    found: Arrays = {}
    for name, size, inputs, outputs in _layers():
        spread = (2 / (size * size * inputs)) ** 0.5
        shape = (size, size, inputs, outputs)
        found[f"{name}_filter"] = (spread * random.standard_normal(shape)).astype(np.float32)
        for vector, low, high in (("scale", 0.3, 0.9), ("offset", -0.1, 0.1)):
            found[f"{name}_{vector}"] = random.uniform(low, high, outputs).astype(np.float32)
        found[f"{name}_mean"] = random.uniform(-0.1, 0.1, outputs).astype(np.float32)
        found[f"{name}_variance"] = random.uniform(0.8, 1.2, outputs).astype(np.float32)
    features = STAGES[-1][1] * _WIDER
    weights = random.standard_normal((features, CLASSES)) / features**0.5
    return {**found, "classes": weights.astype(np.float32)}


def data() -> Arrays:
    image = np.random.default_rng(10).uniform(-1, 1, (1, SIDE, SIDE, 3))
    return {"image": image.astype(np.float32)}


def _layers() -> Iterator[tuple[str, int, int, int]]:
    """Name, window, channels in and out of every convolution."""
    yield "stem", 7, 3, STEM
    inputs = STEM
    for stage, (blocks, inside, _) in enumerate(STAGES):
        for block in range(blocks):
            name, outputs = f"s{stage}b{block}", inside * _WIDER
            if block == 0:
                yield f"{name}_shortcut", 1, inputs, outputs
            yield f"{name}_1", 1, inputs, inside
            yield f"{name}_2", 3, inside, inside
            yield f"{name}_3", 1, inside, outputs
            inputs = outputs


def score(tf: Any, image: Any, values: dict[str, Any]) -> Any:
    """The logit of one class, by `tf`, TensorFlow's module or ours."""

    def layer(x: Any, name: str, stride: int = 1) -> Any:
        y = tf.nn.conv2d(
            x, values[f"{name}_filter"], strides=[1, stride, stride, 1], padding="SAME"
        )
        vectors = [values[f"{name}_{v}"] for v in ("scale", "offset", "mean", "variance")]
        return tf.nn.fused_batch_norm(y, *vectors, epsilon=1e-5, is_training=False)[0]

    x = tf.nn.relu(layer(image, "stem", 2))
    x = tf.nn.max_pool(x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")
    for stage, (blocks, _, first) in enumerate(STAGES):
        for block in range(blocks):
            name, stride = f"s{stage}b{block}", first if block == 0 else 1
            kept = layer(x, f"{name}_shortcut", stride) if block == 0 else x
            y = tf.nn.relu(layer(x, f"{name}_1"))
            y = tf.nn.relu(layer(y, f"{name}_2", stride))
            x = tf.nn.relu(layer(y, f"{name}_3") + kept)
    logits = tf.matmul(tf.reduce_mean(x, axis=[1, 2]), values["classes"])
    return tf.reduce_sum(logits[:, CLASS])


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.autodiff.reverse.tf_gradients import gradients
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder, Tensor
    from tests.bench.ours import declared, placed, program

    build, given, arrays = GraphBuilder(), start(), data()
    (image,) = placed(build, arrays)
    values = dict(zip(given, declared(build, given), strict=True))
    value = score(tf, image, values)
    (to_image,) = gradients(value, [image])
    assert isinstance(to_image, Tensor)
    run = program(build.build(), [value.ref, to_image.ref], (), arrays, given, **how)
    return Program(
        run.step,
        lambda: {"value": float(run.read(value.ref)), "gradient": norm(run.read(to_image.ref))},
        facts={"calls": str(run.calls)},
    )


def tf1(rate: float) -> Program:
    import tensorflow.compat.v1 as tf

    from tests.bench.tf1_session import opened, placed, variables

    given, arrays = start(), data()
    feeds = placed(tf, arrays)
    (image,) = feeds
    value = score(tf, image, variables(tf, given))
    fetches = [value, tf.gradients(value, image)[0]]
    session, last = opened(tf), [0.0, 0.0]

    def step() -> None:
        last[:] = session.run(fetches, feeds)

    return Program(step, lambda: {"value": float(last[0]), "gradient": norm(last[1])})
