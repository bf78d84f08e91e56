"""Layers of units: dense, embedding, dropout, flatten."""

from __future__ import annotations

from typing import Any

from gradstep.core.layers.block_settings import choice, flag, number, whole
from gradstep.core.layers.block_table import Outputs, block, here
from gradstep.core.ops import api as tf
from gradstep.core.ops.api.tf_dense_layers import ACTIVATIONS
from gradstep.core.ops.build.initializers import INITIALIZERS
from gradstep.core.ops.build.tensor import Tensor

ACTIVATION = choice("what is done to each output", "linear", *ACTIVATIONS)
INITIALIZER = choice("what the kernel starts with", *INITIALIZERS)
BIAS = flag(True, "whether a bias is added")


@block(
    "dense",
    "inputs:float32[2,4]",
    "activation(x W + b): every input to every unit. Source: tf.layers.dense.",
    weights=True,
    units=whole(3, "how many outputs"),
    activation=ACTIVATION,
    use_bias=BIAS,
    kernel_initializer=INITIALIZER,
)
def dense(inputs: Tensor, **how: Any) -> Outputs:
    return tf.layers.dense(inputs, **how, name=tf.get_variable_scope())


@block(
    "embedding",
    "ids:int32[2,3]",
    "A row of a table [vocabulary, size] for each number; its gradient touches those rows alone. "
    "Source: tf.nn.embedding_lookup.",
    weights=True,
    vocabulary=whole(5, "how many numbers there are"),
    size=whole(4, "how long the rows are"),
    initializer=choice("what the table starts with", "random_uniform", *INITIALIZERS),
)
def embedding(ids: Tensor, vocabulary: int, size: int, initializer: str) -> Outputs:
    """ids [...] of int: [..., size]."""
    table = tf.get_variable("embeddings", (vocabulary, size), initializer=initializer)
    return tf.nn.embedding_lookup(table, ids)


@block(
    "dropout",
    "x:float32[2,3]",
    "Zeros at random, the rest scaled up to keep the mean. Source: tf.nn.dropout.",
    rate=number(0.5, "how probable a zero is", least=0, below=1),
)
def dropout(x: Tensor, **how: Any) -> Outputs:
    return tf.nn.dropout(x, **how, name=here())


@block(
    "flatten",
    "inputs:float32[2,2,3]",
    "Each example as one row: [batch, …] as [batch, n]. Source: tf.layers.flatten.",
)
def flatten(inputs: Tensor) -> Outputs:
    return tf.layers.flatten(inputs, name=tf.get_variable_scope())
