"""Functions of `tf.layers`: layers of units with weights of their own, dropout, flattening.

Source: TensorFlow 1's layers/core.py. Variables are named `<name>/kernel` and `<name>/bias`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from gradstep.core.ops.api.tf_activations import Sizes, gelu, leaky_relu, swish
from gradstep.core.ops.api.tf_activations import dropout as nn_dropout
from gradstep.core.ops.api.tf_cond import cond
from gradstep.core.ops.api.tf_creation import constant, ints
from gradstep.core.ops.api.tf_scopes import Scope, get_variable, variable_scope
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call
from gradstep.core.ops.build.variable_scopes import Reuse, VariableScope

T = TypeVar("T")
Activation = str | Callable[[Tensor], Tensor] | None

# By the names that layers take. Softmax is along the last axis.
ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    **{
        name.lower(): lambda x, name=name: call(name, x)
        for name in ("Relu", "Relu6", "Sigmoid", "Tanh", "Elu", "Selu", "Softplus", "Softsign")
    },
    "leaky_relu": leaky_relu,
    "softmax": lambda x: call("Softmax", x),
    "gelu": gelu,
    "swish": swish,
}


@contextmanager
def layer_scope(name: Scope, default: str, reuse: Reuse, x: TensorLike) -> Iterator[None]:
    """Where a layer's variables and operations go. A name that is the open scope itself is no
    scope further in: a composite block is a layer and nothing else."""
    builder = builder_of((x,))
    with builder.as_default():
        if isinstance(name, VariableScope) and name == builder.variables.scope:
            yield
            return
        shared = name is None and bool(reuse)  # TensorFlow shares under the layer's own name
        with variable_scope(default if shared else name, default, reuse=reuse):
            yield


def activated(x: Tensor, activation: Activation) -> Tensor:
    """Raises ValueError for a name that is not known."""
    if activation is None or activation == "linear":
        return x
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"Unknown activation function: {activation}; there are {', '.join(ACTIVATIONS)}"
            )
        return ACTIVATIONS[activation](x)
    return activation(x)


def dense(
    inputs: TensorLike,
    units: int,
    activation: Activation = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = "zeros",
    trainable: bool = True,
    name: Scope = None,
    reuse: Reuse = None,
) -> Tensor:
    """activation(x kernel + bias): x [..., n], kernel [n, units], bias [units]; [..., units]."""
    with layer_scope(name, "dense", reuse, inputs):
        x = constant(inputs)
        shape = (last_size(x, "a Dense layer"), units)
        kernel = get_variable("kernel", shape, x.dtype, kernel_initializer, trainable)
        y = _multiplied(x, kernel, units)
        if use_bias:
            bias = get_variable("bias", (units,), x.dtype, bias_initializer, trainable)
            y = call("BiasAdd", y, bias)
        return activated(y, activation)


def last_size(x: Tensor, where: str) -> int:
    """The size of the last axis, which weights depend on. Raises ValueError when it is open."""
    size = None if x.shape.dims is None or not x.shape.dims else x.shape.dims[-1]
    if size is None:
        sizes = ["?" if d is None else str(d) for d in (x.shape.dims or ())]
        raise ValueError(
            f"The last dimension of the inputs to {where} should be defined. Found None. "
            f"Full input shape received: ({', '.join(sizes)})"
        )
    return size


def _multiplied(x: Tensor, kernel: Tensor, units: int) -> Tensor:
    """Rows of whatever leading shape times a matrix."""
    if x.shape.rank == 2:
        return call("MatMul", x, kernel)
    rows = call("Reshape", x, ints((-1, last_size(x, "a Dense layer"))))
    product = call("MatMul", rows, kernel)
    sizes = x.shape.dims or ()
    if sum(d is None for d in sizes) <= 1:
        return call(
            "Reshape", product, ints([-1 if d is None else d for d in sizes[:-1]] + [units])
        )
    leading = call("Shape", x)[:-1]
    return call("Reshape", product, call("ConcatV2", leading, ints([units]), ints(0)))


def flatten(inputs: TensorLike, name: str | None = None) -> Tensor:
    """[batch, …] as [batch, n]."""
    with layer_scope(name, "flatten", None, inputs):
        x = constant(inputs)
        sizes = (x.shape.dims or (None,))[1:]
        if x.shape.rank is not None and None not in sizes:
            return call("Reshape", x, ints((-1, math.prod(d for d in sizes if d is not None))))
        batch = call("Reshape", call("Shape", x)[0], ints([1]))
        return call("Reshape", x, call("ConcatV2", batch, ints([-1]), ints(0)))


def dropout(
    inputs: TensorLike,
    rate: TensorLike = 0.5,
    noise_shape: Sizes = None,
    seed: int | None = None,
    training: TensorLike = False,
    name: Scope = None,
) -> Tensor:
    """While training, each element is 0 with probability `rate`, else divided by 1 - rate; by
    default, when it is not training, x itself."""
    with layer_scope(name, "dropout", None, inputs):
        x = constant(inputs)
        return chosen(
            training,
            lambda: nn_dropout(x, noise_shape=noise_shape, seed=seed, rate=rate),
            lambda: call("Identity", x),
        )


def embedding_lookup(params: TensorLike, ids: TensorLike, name: str | None = None) -> Tensor:
    """The rows of a table that `ids` number; its gradient is those rows alone."""
    return call("GatherV2", constant(params), constant(ids), ints(0), name=name)


def chosen(training: TensorLike, yes: Callable[[], T], no: Callable[[], T]) -> T:
    """What the one or the other makes; for a tensor that says which when it runs, tf.cond."""
    if not isinstance(training, Tensor):
        return yes() if training else no()
    found: T = cond(training, yes, no)
    return found


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "layers.dense": dense,
    "layers.dropout": dropout,
    "layers.flatten": flatten,
    "nn.embedding_lookup": embedding_lookup,
}
