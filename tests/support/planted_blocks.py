"""Healthy blocks of graphs, and blocks with one cause of NaN, of zero or of no gradient planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

SIZE = 4

Block = Callable[[Tensor], Tensor]


def vector(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


MIX = np.full((SIZE, SIZE), 0.05, np.float32) + 0.8 * np.eye(SIZE, dtype=np.float32)
ALL = np.ones(SIZE, bool)
SWAP = np.array([1, 0], np.int32)
ORDER = np.array([2, 0, 3, 1], np.int32)

# What has slopes that are neither flat nor steep for numbers between -1 and 2, and stays there.
HEALTHY: dict[str, Block] = {
    "scale": lambda y: y * 0.8 + 0.1,
    "sigmoid": lambda y: tf.sigmoid(y * 2.0 - 1.0),
    "sqrt": lambda y: tf.sqrt(y + 2.5) - 1.0,
    "inverse": lambda y: 3.0 / (3.0 + y),
    "exp": lambda y: tf.exp(-y),
    "log": lambda y: tf.log(y + 3.2),
    "residual": lambda y: y * 0.5 + tf.tanh(y) * 0.5,
    "gate": lambda y: y * tf.sigmoid(y) + 0.2,
    "matmul": lambda y: tf.reshape(tf.matmul(tf.reshape(y, [1, SIZE]), MIX), [SIZE]),
    "gather": lambda y: tf.gather(y, ORDER),
    "rows": lambda y: tf.reshape(tf.gather(tf.reshape(y, [2, 2]), SWAP), [SIZE]),
    "concat": lambda y: tf.slice(tf.concat([y * 0.5, y], 0), [SIZE], [SIZE]),
    "relu": lambda y: tf.relu(y + 2.0) - 2.0,
    "maximum": lambda y: tf.maximum(y, -1.0),
    "reverse": lambda y: y * 0.7 + tf.reverse(y, [0]) * 0.2,
    "masked NaN": lambda y: tf.where(ALL, y, tf.log(tf.zeros_like(y) - 1.0)),
    "masked infinity": lambda y: tf.where(ALL, y, 1.0 / tf.zeros_like(y)),
    "a mask of some": lambda y: y * 0.9 + y * vector(0, 0.1, 0, 0.1),
    "a loop": lambda y: tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a * 0.9 + 0.05), (0, y)
    )[1],
}


@dataclass(frozen=True)
class Plant:
    """block: with the cause at element `at` (of NaN and infinity; zeros are everywhere); its
    operation is called "planted". causes: the names it may go by."""

    block: Callable[[Tensor, int], Tensor]
    causes: tuple[str, ...]


def _only(at: int, there: float, elsewhere: float) -> np.ndarray:
    found = np.full(SIZE, elsewhere, np.float32)
    found[at] = there
    return found


BROKEN = {
    "log of a negative": Plant(
        lambda y, at: tf.log(y - _only(at, 5, 0), name="planted"), ("log_of_negative",)
    ),
    "log of 0": Plant(lambda y, at: tf.log(y * _only(at, 0, 1), name="planted"), ("log_of_zero",)),
    "root": Plant(
        lambda y, at: tf.sqrt(y - _only(at, 5, 0), name="planted"), ("root_of_negative",)
    ),
    "division": Plant(
        lambda y, at: tf.divide(y, _only(at, 0, 1), name="planted"), ("division_by_zero",)
    ),
    "0/0": Plant(
        lambda y, at: tf.divide(y * _only(at, 0, 1), _only(at, 0, 1), name="planted"),
        ("zero_over_zero",),
    ),
    "overflow": Plant(lambda y, at: tf.exp(y + _only(at, 200, 0), name="planted"), ("overflow",)),
    "product": Plant(
        lambda y, at: tf.multiply(y * 1e20, _only(at, 1e30, 1e-20), name="planted"), ("overflow",)
    ),
    "power": Plant(
        lambda y, at: tf.pow(y - _only(at, 5, 0), 0.5, name="planted"), ("negative_to_fraction",)
    ),
}
STOPPED = {
    "mask": Plant(lambda y, at: tf.multiply(y, np.zeros(SIZE, np.float32), name="planted"),
                  ("zero_factor",)),
    "factor": Plant(lambda y, at: tf.multiply(tf.zeros_like(y), y, name="planted"),
                    ("zero_factor",)),
    "weights": Plant(
        lambda y, at: tf.reshape(
            tf.matmul(tf.reshape(y, [1, SIZE]), np.zeros((SIZE, SIZE), np.float32), name="planted"),
            [SIZE],
        ),
        ("zero_factor",),
    ),
    "dead": Plant(lambda y, at: tf.relu(y - 5.0, name="planted"), ("inactive",)),
    "sigmoid": Plant(lambda y, at: tf.sigmoid(y * 100.0 + 100.0, name="planted"), ("saturated",)),
    "tanh": Plant(lambda y, at: tf.tanh(y * -100.0 - 100.0, name="planted"), ("saturated",)),
    "softmax": Plant(
        lambda y, at: tf.nn.softmax(y + _only(at, 1000, 0), name="planted"), ("saturated",)
    ),
    "underflow": Plant(lambda y, at: tf.exp(y - 1000.0, name="planted"), ("underflow",)),
    "select": Plant(
        lambda y, at: tf.where(y > 5.0, y, tf.zeros_like(y) + 0.5, name="planted"), ("not_chosen",)
    ),
    "minimum": Plant(lambda y, at: tf.minimum(y, -1.0, name="planted"), ("not_extreme",)),
    "sign": Plant(lambda y, at: tf.sign(y, name="planted"), ("flat",)),
}  # fmt: skip
ENDED = {
    "stop": Plant(lambda y, at: tf.stop_gradient(y, name="planted"), ("stop",)),
    "floor": Plant(lambda y, at: tf.floor(y, name="planted"), ("not_differentiable",)),
    "whole": Plant(lambda y, at: tf.cast(tf.cast(y, "int32"), "float32"), ("not_float",)),
}


def _in_loop(block: Block) -> Block:
    """In the only iteration of a loop."""
    return lambda y: tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, block(a)), (0, y))[1]


def _in_each(block: Block) -> Block:
    """In each of three iterations."""
    return lambda y: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, block(a)), (0, y))[1]


def _in_cond(block: Block) -> Block:
    """In the branch that is taken; the other one is healthy."""
    return lambda y: tf.cond(tf.reduce_sum(y) > -1e30, lambda: block(y), lambda: y * 0.5)


# Where a block may be: it is planted with the name "planted", which ends with that there.
PLACES: dict[str, Callable[[Block], Block]] = {
    "": lambda block: block,
    "a loop": _in_loop,
    "each iteration": _in_each,
    "a cond": _in_cond,
    "a cond in a loop": lambda block: _in_loop(_in_cond(block)),
    "a loop in a cond": lambda block: _in_cond(_in_loop(block)),
}


# Those of slope 1: however many there are, what comes back through them stays as large.
EVEN = ("relu", "maximum", "gather", "concat", "masked NaN", "masked infinity")


def large_around(
    seed: int, planted: Block, most: int = 700, blocks: Sequence[str] = tuple(sorted(HEALTHY))
) -> Document:
    """Healthy blocks, of 200 operations to `most`, with another one among them; the gradient of
    "loss" with respect to "x", which is fed."""
    random, healthy = np.random.default_rng(seed), blocks
    size, where = int(random.integers(min(200, most // 2), most)), random.uniform(0.2, 0.8)
    builder, is_planted = GraphBuilder(), False
    with builder.as_default():
        y: Tensor = builder.placeholder("x", shape=[SIZE])
        while len(builder.build()) < size:
            if not is_planted and len(builder.build()) > where * size:
                y, is_planted = planted(y), True
            y = HEALTHY[healthy[int(random.integers(len(healthy)))]](y)
        tf.reduce_sum(y * vector(1, 2, 3, 5), name="loss")
    feed = random.uniform(0.25, 0.75, SIZE).astype(np.float32)
    request = GradientRequest.to("loss", "x")
    feeds = {"x:0": Constant(feed)}
    return Document(builder.build(), request, feeds=feeds, fetches=(TensorRef("loss"),))
