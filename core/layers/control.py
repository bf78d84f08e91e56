"""Blocks of control flow: small ones that work as they are, to be edited into what is wanted."""

from __future__ import annotations

from gradstep.core.layers.block_settings import whole
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor


@block(
    "while_loop",
    "initial:float32[2,3]",
    "A loop that counts, and hands a tensor from one iteration to the next. Whatever is put into "
    "the wire behind 'body' happens in each. Source: tf.while_loop(lambda i, x: i < iterations, "
    "lambda i, x: (i + 1, tf.identity(x)), (0, initial)).",
    iterations=whole(3, "how often the body runs", least=0),
)
def while_loop(initial: Tensor, iterations: int) -> Outputs:
    return tf.while_loop(
        lambda i, x: tf.less(i, iterations, name="goes_on"),
        lambda i, x: (tf.add(i, 1, name="next"), tf.identity(x, name="body")),
        (0, initial),
        name="loop",
    )[1]


@block(
    "cond",
    "condition:bool[] input:float32[2,3]",
    "Two ways for a tensor, of which a run takes one: the other is dead. Whatever is put into the "
    "wires behind 'if_true' and 'if_false' happens there. Source: tf.cond(condition, lambda: "
    "tf.identity(input), lambda: tf.identity(input)).",
)
def cond(condition: Tensor, input: Tensor) -> Outputs:
    return tf.cond(
        condition,
        lambda: tf.identity(input, name="if_true"),
        lambda: tf.identity(input, name="if_false"),
        name="cond",
    )
