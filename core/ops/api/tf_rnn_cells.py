"""`tf.nn.rnn_cell`: what a recurrent network does in one step, with weights made once.

Source: TensorFlow 1's rnn_cell_impl.py. Inputs are [batch, depth], states [batch, units].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import cast, constant, ints
from gradstep.core.ops.api.tf_dense_layers import Activation, activated, last_size
from gradstep.core.ops.api.tf_scopes import Scope, get_variable, variable_scope
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call, call_many
from gradstep.core.ops.build.variable import Variable
from gradstep.core.ops.build.variable_scopes import Reuse, VariableScope


class LSTMStateTuple(NamedTuple):
    """What an LSTM keeps: its memory and its last output."""

    c: Any
    h: Any


State = Any  # a Tensor, an LSTMStateTuple, or a tuple of them


class RNNCell(ABC):
    """cell(inputs, state) gives the output and the next state. The first call makes the weights
    in the variable scope that is open, under the cell's name; later calls share them."""

    default_name = "rnn_cell"

    def __init__(self, name: Scope = None, reuse: Reuse = None) -> None:
        self._name, self._reuse = name, reuse
        self._built = False
        self._weights: dict[str, Variable] = {}

    @property
    @abstractmethod
    def state_size(self) -> Any:
        """Units of each part of the state, in the state's nesting."""

    @property
    @abstractmethod
    def output_size(self) -> int: ...

    @abstractmethod
    def build(self, depth: int, dtype: DType) -> None:
        """Make the weights; `prepare` calls it once."""

    @abstractmethod
    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]: ...

    def __call__(self, inputs: TensorLike, state: State) -> tuple[Tensor, State]:
        x = constant(inputs)
        builder = builder_of((x,))
        with builder.as_default():
            self.prepare(last_size(x, f"a {type(self).__name__}"), x.dtype)
            with self._operations(builder):
                return self.step(x, state)

    def prepare(self, depth: int, dtype: DType) -> None:
        """Make the weights for inputs of that many columns, unless they are there."""
        if not self._built:
            with self._variables():
                self.build(depth, dtype)
            self._built = True

    def zero_state(self, batch_size: TensorLike, dtype: DType | str) -> State:
        """batch_size: a number or a tensor."""
        return _zeros(self.state_size, batch_size, DType(dtype))

    def weight(self, name: str, shape: tuple[int, ...], dtype: DType, initializer: Any) -> None:
        """For `build`."""
        self._weights[name] = get_variable(name, shape, dtype, initializer)

    def linear(self, x: Tensor, state: Tensor, scope: str = "") -> Tensor:
        """[x, state] times the kernel of `scope`, plus its bias."""
        joined = call("ConcatV2", x, state, ints(1))
        product = call("MatMul", joined, self._weights[f"{scope}kernel"])
        return call("BiasAdd", product, self._weights[f"{scope}bias"])

    def _operations(self, builder: GraphBuilder) -> AbstractContextManager[object]:
        """Where a step's operations go; a name that is a scope is the open one."""
        if isinstance(self._name, VariableScope):
            return nullcontext()
        return builder.scope(self._name or self.default_name)

    def _variables(self) -> AbstractContextManager[object]:
        shared = self._name is None and bool(self._reuse)
        name = self.default_name if shared else self._name
        return variable_scope(
            name, self.default_name, reuse=self._reuse, auxiliary_name_scope=False
        )


def _zeros(size: Any, batch: TensorLike, dtype: DType) -> Any:
    if isinstance(size, tuple):
        parts = [_zeros(part, batch, dtype) for part in size]
        return LSTMStateTuple(*parts) if isinstance(size, LSTMStateTuple) else tuple(parts)
    zero = constant(0, dtype)
    if isinstance(batch, Tensor):
        rows = call("Reshape", cast(batch, DType.INT32), ints([1]))
        return call("Fill", call("ConcatV2", rows, ints([size]), ints(0)), zero)
    return constant(np.zeros((batch, size), dtype.numpy))


class _Units(RNNCell):
    """A cell of so many units."""

    def __init__(
        self,
        num_units: int,
        activation: Activation = None,
        reuse: Reuse = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Scope = None,
    ) -> None:
        super().__init__(name, reuse)
        self.num_units = num_units
        self._activation = activation or "tanh"
        self._kernel, self._bias = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> Any:
        return self.num_units

    @property
    def output_size(self) -> int:
        return self.num_units

    def affine(
        self, depth: int, columns: int, dtype: DType, scope: str = "", bias: Any = "zeros"
    ) -> None:
        """A kernel for [x, state] and its bias."""
        self.weight(f"{scope}kernel", (depth + self.num_units, columns), dtype, self._kernel)
        start = bias if self._bias is None else self._bias
        self.weight(f"{scope}bias", (columns,), dtype, start)


class BasicRNNCell(_Units):
    """h = tanh([x, h] W + b)."""

    default_name = "basic_rnn_cell"

    def build(self, depth: int, dtype: DType) -> None:
        self.affine(depth, self.num_units, dtype)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        h = activated(self.linear(x, state), self._activation)
        return h, h


class GRUCell(_Units):
    """r, u = sigmoid([x, h] Wg + bg); c = tanh([x, r h] Wc + bc); h = u h + (1 - u) c.

    The gates' bias starts at 1. Source: Cho et al. 2014, arXiv:1406.1078.
    """

    default_name = "gru_cell"

    def build(self, depth: int, dtype: DType) -> None:
        self.affine(depth, 2 * self.num_units, dtype, "gates/", bias="ones")
        self.affine(depth, self.num_units, dtype, "candidate/")

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        r, u = _split(call("Sigmoid", self.linear(x, state, "gates/")), 2)
        c = activated(self.linear(x, r * state, "candidate/"), self._activation)
        h = u * state + (1.0 - u) * c
        return h, h


class LSTMCell(_Units):
    """i, j, f, o = [x, h] W + b; c = sigmoid(f + forget_bias) c + sigmoid(i) tanh(j);
    h = sigmoid(o) tanh(c). The state is an LSTMStateTuple(c, h).

    Source: Hochreiter and Schmidhuber 1997; the forget gate is Gers et al. 1999.
    """

    default_name = "lstm_cell"

    def __init__(self, num_units: int, forget_bias: float = 1.0, **more: Any) -> None:
        super().__init__(num_units, **more)
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self.num_units, self.num_units)

    def build(self, depth: int, dtype: DType) -> None:
        self.affine(depth, 4 * self.num_units, dtype)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        c, h = state
        i, j, f, o = _split(self.linear(x, h), 4)
        written = call("Sigmoid", i) * activated(j, self._activation)
        c = call("Sigmoid", f + self._forget_bias) * c + written
        h = call("Sigmoid", o) * activated(c, self._activation)
        return h, LSTMStateTuple(c, h)


class BasicLSTMCell(LSTMCell):
    """The same under another name."""

    default_name = "basic_lstm_cell"


def _split(x: Tensor, count: int) -> tuple[Tensor, ...]:
    return call_many("Split", ints(1), x, num_split=count)


VALUES: dict[str, Any] = {
    f"nn.rnn_cell.{kind.__name__}": kind
    for kind in (*(RNNCell, BasicRNNCell, GRUCell, LSTMCell, BasicLSTMCell, LSTMStateTuple),)
}
