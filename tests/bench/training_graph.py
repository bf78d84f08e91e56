"""A training graph as TensorFlow programs leave them in a .pb: one constant that every layer reads,
a group of all initial assignments, scopes in scopes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, Edge
from gradstep.core.io.export_document import write
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder

LAYER = 6  # operations: a variable, its first value, the assignment, a product, a gain, a sum
STAGE = 10  # layers in a scope
WIDTH = 4
INIT, SHARED = "init", "shared/gain"  # what waits for, and what is read by, every layer
LOSS = "loss"
MIDDLE = 100  # a layer
_NEAR = 15
FEED = np.ones((1, WIDTH), np.float32)


def layers(nodes: int) -> int:
    """Of a graph of so many operations; five stand outside of them."""
    return round((nodes - 5) / LAYER)


def scope(layer: int) -> str:
    return f"stage{layer // STAGE}/layer{layer}"


def wire(nodes: int) -> Edge:
    """From one layer to the next, in the middle of a small graph and not far into a large one."""
    return Edge(f"{scope(min(MIDDLE, layers(nodes) // 2))}/AddV2", 0)


def near_input(nodes: int) -> Edge:
    """From one layer to the next, on whose gradient a hundred steps of a training step by Adam
    hang; the last such one of a small graph."""
    return Edge(f"{scope(min(_NEAR, layers(nodes) - 1))}/AddV2", 0)


def variables(nodes: int) -> list[str]:
    """The names of all."""
    return [f"{scope(layer)}/w" for layer in range(layers(nodes))]


def drawn(nodes: int) -> Document:
    """h = h + gain * (h @ w), again and again; the assignments come with writing it."""
    build = GraphBuilder()
    h = build.placeholder("x", "float32", (1, WIDTH))
    gain = build.constant(np.float32(0.01), name=SHARED)
    initial = {}
    for layer in range(layers(nodes)):
        with build.scope(f"{scope(layer)}/"):
            w = build.variable("w", "float32", (WIDTH, WIDTH))
            h = tf.add(h, tf.multiply(tf.matmul(h, w), gain))
            initial[w.ref.op] = Constant(np.eye(WIDTH, dtype=np.float32))
    tf.reduce_sum(h, name=LOSS)
    return Document(graph=build.build(), initial=initial)


def save(nodes: int, folder: Path) -> Path:
    """The file of a graph of about `nodes` operations."""
    path = folder / f"training{nodes}.pb"
    write(path, drawn(nodes))
    return path
