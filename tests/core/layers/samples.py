"""Every block drawn on inputs of its own, with values that suit what it reads."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.document.block_insertion import add_block
from gradstep.core.document.document import Document
from gradstep.core.graph.model import TensorRef
from gradstep.core.layers.block_expansion import expand
from gradstep.core.layers.block_table import Block

# Settings of blocks that need some; the network that they name is drawn first.
NETWORKS = {"perceptual_loss": "conv2d", "towers": "dense"}


@dataclass(frozen=True)
class Drawn:
    """A document with one block in it; what it gives; the values of placeholders and variables."""

    document: Document
    scope: str
    outputs: tuple[TensorRef, ...]
    point: dict[TensorRef, np.ndarray]


def drawn(block: Block, settings: dict[str, Any] | None = None) -> Drawn:
    """`block` on placeholders, with random values, the same every time."""
    document, chosen = Document(), dict(settings or {})
    if network := NETWORKS.get(block.name):
        wider = {"dense": {"activation": "tanh"}, "conv2d": {"padding": "same"}}[network]
        document, chosen["network"] = add_block(document, network, (0, 0), settings=wider)
    outputs = tuple(expand(document.graph, block, settings=chosen).outputs)
    document, scope = add_block(document, block.name, (0, 0), settings=chosen)
    rng = np.random.default_rng(zlib.crc32(block.name.encode()))
    point = {}
    for op in document.graph:
        if op.type == "Placeholder":
            fed = document.feeds[f"{op.name}:0"].array
            point[op.output()] = _value(rng, block.name, op.name.rpartition("/")[2], fed)
        if op.type == "VariableV2":
            start = document.initial[op.name].array
            point[op.output()] = np.asarray(start + 0.1 * rng.random(start.shape), start.dtype)
    return Drawn(document, scope, outputs, point)


def _value(rng: np.random.Generator, block: str, name: str, like: np.ndarray) -> np.ndarray:
    """Of the placeholder's type and shape, and what the block means by it."""
    flags = name == "done" or (name == "labels" and "sigmoid" in block)
    if like.dtype.kind == "i" or flags:  # numbers of classes, actions, rows; or yes and no
        found: np.ndarray = rng.integers(0, 2, like.shape)
    elif name == "labels" and "softmax" in block:  # TensorFlow's gradient takes distributions
        found = rng.dirichlet(np.ones(like.shape[-1]), like.shape[:-1])
    elif block == "log_loss" or name == "variance":
        found = rng.uniform(0.2, 0.8, like.shape)
    else:
        found = rng.normal(size=like.shape)
    return np.asarray(found, like.dtype)
