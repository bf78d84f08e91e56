"""Documents with equal blocks in a row, named as those of a transformer: h/0, h/1, h/2."""

from __future__ import annotations

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, View
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.graph.scopes import parents
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

ROWS, WIDTH = 6, 8  # of what flows through


def decoder(blocks: int, fold: bool = True, broken: int | None = None) -> Document:
    """A small decoder, with so many blocks, its loss and gradients. fold: every scope is closed but
    the one around the blocks. broken: the number of a block that makes NaN of its gradient, by
    what stands in its weights."""
    build = GraphBuilder()
    ids = build.placeholder("ids", "int32", (ROWS,))
    wanted = build.placeholder("targets", "int32", (ROWS,))
    with build.scope("wte"):
        table = build.variable("weight", shape=(16, WIDTH))
        x = tf.gather(table, ids)
    for number in range(blocks):
        with build.scope(f"h/{number}"):
            x = _block(build, x)
    with build.scope("ln_f"):
        x = _normalized(build, x)
    with build.scope("loss"):
        scores = tf.matmul(x, table, transpose_b=True)
        each = tf.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=scores)
        loss = tf.reduce_mean(each)
    graph = build.build()
    weights = [op for op in graph if op.type == "VariableV2"]
    random = np.random.default_rng(3)
    closed = {scope for name in graph.operations for scope in parents(name)} - {"h"}
    initial = {op.name: Constant(_initial(op.attrs["shape"].dims, random)) for op in weights}
    if broken is not None:
        initial[f"h/{broken}/mlp/gate"] = Constant(np.float32(0))
    return Document(
        graph=graph,
        request=GradientRequest(
            of=(TensorRef.parse(str(loss.ref)),), wrt=tuple(op.output() for op in weights)
        ),
        initial=initial,
        feeds={
            "ids:0": Constant(np.arange(ROWS, dtype=np.int32) * 2),
            "targets:0": Constant(np.arange(ROWS, dtype=np.int32) * 2 + 1),
        },
        fetches=(TensorRef.parse(str(loss.ref)),),
        view=View(collapsed=frozenset(closed if fold else ())),
        title="decoder",
    )


def _initial(shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Gains are ones."""
    drawn = random.normal(0, 0.3, shape) if len(shape) > 1 else np.ones(shape)
    return drawn.astype(np.float32)


def _block(build: GraphBuilder, x: Tensor) -> Tensor:
    """Attention and a perceptron, each added to what it read."""
    with build.scope("ln_1"):
        y = _normalized(build, x)
    with build.scope("attn"):
        q, k, v = (_linear(build, y, name, WIDTH, WIDTH) for name in ("q", "k", "v"))
        scores = tf.matmul(q, k, transpose_b=True, name="scores") * WIDTH**-0.5
        y = tf.matmul(tf.softmax(scores), v, name="mixed")
        y = _linear(build, y, "c_proj", WIDTH, WIDTH)
    x = x + y
    with build.scope("ln_2"):
        y = _normalized(build, x)
    with build.scope("mlp"):
        y = tf.square(_linear(build, y, "c_fc", WIDTH, 2 * WIDTH))
        y = tf.sqrt(y * build.variable("gate", shape=()))  # of 0 it has the derivative 0 / 0
        y = _linear(build, y, "c_proj", 2 * WIDTH, WIDTH)
    return x + y


def _linear(build: GraphBuilder, x: Tensor, name: str, rows: int, columns: int) -> Tensor:
    with build.scope(name):
        return tf.matmul(x, build.variable("weight", shape=(rows, columns)))


def _normalized(build: GraphBuilder, x: Tensor) -> Tensor:
    mean = tf.reduce_mean(x, axis=-1, keepdims=True)
    centred = x - mean
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    return centred * tf.rsqrt(variance + 1e-5) * build.variable("gain", shape=(WIDTH,))
