"""ONNX's recurrent layers: step by step where there are few, else in a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_activations import elu, hard_sigmoid, thresholded_relu
from gradstep.core.lowering.onnx.onnx_operands import (
    add_axis,
    cast,
    concat,
    fixed_size,
    full,
    part,
    scalar,
    size,
    transpose,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call

FEW = 64  # steps that are built one by one

Activation = Callable[[Tensor], Tensor]
State = list[Tensor]
Step = Callable[[Tensor, State], State]  # of a row and the state before it


@dataclass(frozen=True)
class Layer:
    """What is told of a layer. x: [time, batch, features]; the weights have a first axis for each
    direction; begun: [directions, batch, units] for each part of the state."""

    site: Site
    x: Tensor
    w: Tensor
    r: Tensor
    b: Tensor | None
    lengths: Tensor | None
    begun: Sequence[Tensor | None]
    hidden_size: int
    direction: str
    activations: Sequence[str]
    alphas: Sequence[float]
    betas: Sequence[float]
    clip: float | None

    @property
    def directions(self) -> int:
        return 2 if self.direction == "bidirectional" else 1

    def functions(self, way: int, each: int, gates: int | None = None) -> list[Activation]:
        """Those of one direction. gates: how many of them are of gates, whose inputs alone are
        clipped; None for all."""
        names = self.activations[way * each : (way + 1) * each]
        if len(names) != each:
            raise UnloweredError(f"{len(self.activations)} activation functions")
        clipped = each if gates is None else gates
        return [self._function(name, way * each + i, i < clipped) for i, name in enumerate(names)]

    def _function(self, name: str, place: int, is_clipped: bool) -> Activation:
        alpha = self.alphas[place] if place < len(self.alphas) else None
        beta = self.betas[place] if place < len(self.betas) else None
        function = activation(self.site, name, alpha, beta)
        if not self.clip or not is_clipped:
            return function
        bound = self.clip
        return lambda x: function(
            call("Maximum", call("Minimum", x, scalar(x, bound)), scalar(x, -bound))
        )

    def state(self, part_of_it: int, way: int) -> Tensor:
        """What a direction begins with, [batch, units]; zeros where it is not told."""
        told = self.begun[part_of_it]
        if told is not None:
            return told[way]
        shape = [size(self.x, 1), self.hidden_size]
        return full(self.site, shape, np.zeros((), self.x.dtype.numpy))

    def run(self, step: Callable[[int], Step], parts: int) -> list[Tensor]:
        """All hidden states, [time, directions, batch, units], and the last of each part,
        [directions, batch, units]."""
        hidden, ended = [], []
        for way in range(self.directions):
            backwards = self.direction == "reverse" or way == 1
            state = [self.state(i, way) for i in range(parts)]
            rows, last = self._through(step(way), state, backwards)
            hidden.append(add_axis(rows, 1))
            ended.append(last)
        last_parts = [concat([add_axis(one[i], 0) for one in ended], 0) for i in range(parts)]
        return [concat(hidden, 1), *last_parts]

    def _through(self, step: Step, state: State, backwards: bool) -> tuple[Tensor, State]:
        x = self._reversed(self.x) if backwards else self.x
        rows, last = over_time(x, state, step, self.lengths)
        return self._reversed(rows) if backwards else rows, last

    def _reversed(self, x: Tensor) -> Tensor:
        """From the end of each sequence on."""
        if self.lengths is None:
            return call("ReverseV2", x, np.array([0], np.int32))
        return call("ReverseSequence", x, self.lengths, seq_dim=0, batch_dim=1)


def over_time(x: Tensor, state: State, step: Step, lengths: Tensor | None) -> tuple[Tensor, State]:
    """The first part of the state after each row of `x`, and the state at the end. Behind the end
    of a sequence it stays, and its row is zeros."""
    count = size(x, 0)

    def one(index: Any, row: Tensor, before: State) -> tuple[Tensor, State]:
        after = step(row, before)
        if lengths is None:
            return after[0], after
        there = add_axis(call("Less", index, cast(lengths, DType.INT32)), 1)
        kept = [call("SelectV2", there, a, b) for a, b in zip(after, before, strict=True)]
        return call("SelectV2", there, after[0], call("ZerosLike", after[0])), kept

    if isinstance(count, int) and count <= FEW:
        rows = []
        for number in range(count):
            row, state = one(np.int32(number), x[number], state)
            rows.append(row)
        return call("Pack", *rows, axis=0), state
    return _in_a_loop(x, state, one)


def _in_a_loop(x: Tensor, state: State, one: Callable[..., Any]) -> tuple[Tensor, State]:
    count = size(x, 0)
    given = tf.TensorArray(x.dtype, count).unstack(x)
    kept = tf.TensorArray(state[0].dtype, count)

    def step(index: Tensor, before: State, rows: Any) -> Any:
        row, after = one(index, given.read(index), before)
        return index + 1, after, rows.write(index, row)

    _, last, rows = tf.while_loop(
        lambda index, before, rows: index < count, step, (np.int32(0), state, kept), name="steps"
    )
    return rows.stack(), last


# -- cells -----------------------------------------------------------------------------------------


def _product(x: Tensor, weights: Tensor) -> Tensor:
    """[batch, features] and [units, features] -> [batch, units]."""
    return call("MatMul", x, weights, transpose_b=True)


def _plus(x: Tensor, bias: Tensor | None) -> Tensor:
    return x if bias is None else call("AddV2", x, bias)


def _halves(b: Tensor | None, way: int) -> list[Tensor | None]:
    """The biases of what comes in and of what goes round."""
    if b is None:
        return [None, None]
    own, middle = b[way], fixed_size(b, 1) // 2
    return [part(own, 0, 0, middle), part(own, 0, middle, 2 * middle)]


def _gates(x: Tensor, count: int) -> list[Tensor]:
    """[batch, gates x units], gate by gate; the batch may be of any size."""
    each = fixed_size(x, 1) // count
    return [part(x, 1, i * each, (i + 1) * each) for i in range(count)]


def _of_gate(x: Tensor | None, gate: int, units: int) -> Tensor | None:
    return None if x is None else part(x, 0, gate * units, (gate + 1) * units)


@lower("RNN")
def rnn(
    site: Site,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    initial_h: Tensor | None = None,
    *,
    hidden_size: int,
    direction: str = "forward",
    activations: Sequence[str] = ("Tanh", "Tanh"),
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
    layout: int = 0,
) -> list[Tensor]:
    layer = Layer(
        site, _time_first(x, layout), w, r, b, lengths, [_time_first(initial_h, layout)],
        hidden_size, direction, activations, activation_alpha, activation_beta, clip,
    )  # fmt: skip

    def step(way: int) -> Step:
        (f,) = layer.functions(way, 1)
        into, around = _halves(b, way)

        def cell(row: Tensor, state: State) -> State:
            total = call("AddV2", _plus(_product(row, w[way]), into), _product(state[0], r[way]))
            return [f(_plus(total, around))]

        return cell

    return _results(site, layer.run(step, 1), layout)


@lower("GRU")
def gru(
    site: Site,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    initial_h: Tensor | None = None,
    *,
    hidden_size: int,
    direction: str = "forward",
    activations: Sequence[str] = ("Sigmoid", "Tanh", "Sigmoid", "Tanh"),
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
    linear_before_reset: int = 0,
    layout: int = 0,
) -> list[Tensor]:
    layer = Layer(
        site, _time_first(x, layout), w, r, b, lengths, [_time_first(initial_h, layout)],
        hidden_size, direction, activations, activation_alpha, activation_beta, clip,
    )  # fmt: skip

    def step(way: int) -> Step:
        f, g = layer.functions(way, 2)
        into, around = _halves(b, way)
        ways = part(r[way], 0, 0, 2 * hidden_size)
        way_h = part(r[way], 0, 2 * hidden_size, 3 * hidden_size)
        around_gates = None if around is None else part(around, 0, 0, 2 * hidden_size)
        around_h = _of_gate(around, 2, hidden_size)

        def cell(row: Tensor, state: State) -> State:
            (before,) = state
            given = _plus(_product(row, w[way]), into)
            x_z, x_r, x_h = _gates(given, 3)
            h_z, h_r = _gates(_plus(_product(before, ways), around_gates), 2)
            z, reset = f(call("AddV2", x_z, h_z)), f(call("AddV2", x_r, h_r))
            if linear_before_reset:
                inner = call("Mul", reset, _plus(_product(before, way_h), around_h))
            else:
                inner = _plus(_product(call("Mul", reset, before), way_h), around_h)
            new = g(call("AddV2", x_h, inner))
            one = scalar(z, 1)
            kept = call("Mul", z, before)
            return [call("AddV2", call("Mul", call("Sub", one, z), new), kept)]

        return cell

    return _results(site, layer.run(step, 1), layout)


@lower("LSTM")
def lstm(
    site: Site,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    peepholes: Tensor | None = None,
    *,
    hidden_size: int,
    direction: str = "forward",
    activations: Sequence[str] = ("Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"),
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
    input_forget: int = 0,
    layout: int = 0,
) -> list[Tensor]:
    begun = [_time_first(initial_h, layout), _time_first(initial_c, layout)]
    layer = Layer(
        site, _time_first(x, layout), w, r, b, lengths, begun,
        hidden_size, direction, activations, activation_alpha, activation_beta, clip,
    )  # fmt: skip

    def step(way: int) -> Step:
        f, g, h = layer.functions(way, 3, gates=2)  # the state itself is as large as it is
        into, around = _halves(b, way)
        looks = None if peepholes is None else peepholes[way]
        look_i, look_o, look_f = (_of_gate(looks, i, hidden_size) for i in range(3))

        def cell(row: Tensor, state: State) -> State:
            before, kept = state
            total = call("AddV2", _plus(_product(row, w[way]), into), _product(before, r[way]))
            i, o, forget, c = _gates(_plus(total, around), 4)
            i = f(_seen(i, kept, look_i))
            forget = f(_seen(forget, kept, look_f))
            forget = call("Sub", scalar(i, 1), i) if input_forget else forget
            now = call("AddV2", call("Mul", forget, kept), call("Mul", i, g(c)))
            o = f(_seen(o, now, look_o))
            return [call("Mul", o, h(now)), now]

        return cell

    return _results(site, layer.run(step, 2), layout)


def _seen(gate: Tensor, cell: Tensor, weights: Tensor | None) -> Tensor:
    """A gate that looks at the cell's state."""
    return gate if weights is None else call("AddV2", gate, call("Mul", weights, cell))


def _time_first(x: Any, layout: int) -> Any:
    return x if x is None or not layout else transpose(x, [1, 0, 2])


def _results(site: Site, made: Sequence[Tensor], layout: int) -> list[Tensor]:
    hidden, *last = made
    if layout:
        hidden = transpose(hidden, [2, 0, 1, 3])
        last = [transpose(one, [1, 0, 2]) for one in last]
    return [hidden, *last]


def activation(site: Site, name: str, alpha: float | None, beta: float | None) -> Activation:
    """A function by its name, which is written in any case."""
    a, b = alpha, beta
    table: dict[str, Activation] = {
        "relu": lambda x: call("Relu", x),
        "tanh": lambda x: call("Tanh", x),
        "sigmoid": lambda x: call("Sigmoid", x),
        "softsign": lambda x: call("Softsign", x),
        "softplus": lambda x: call("Softplus", x),
        "affine": lambda x: _line(x, 1.0 if a is None else a, b or 0.0),
        "leakyrelu": lambda x: call("LeakyRelu", x, alpha=0.01 if a is None else float(a)),
        "thresholdedrelu": lambda x: thresholded_relu(site, x, alpha=1.0 if a is None else a),
        "scaledtanh": lambda x: _line(
            call("Tanh", _line(x, 1.0 if b is None else b, 0.0)), 1.0 if a is None else a, 0.0
        ),
        "hardsigmoid": lambda x: hard_sigmoid(
            site, x, alpha=0.2 if a is None else a, beta=0.5 if b is None else b
        ),
        "elu": lambda x: elu(site, x, alpha=1.0 if a is None else a),
    }
    if name.lower() not in table:
        raise UnloweredError(f"the activation function {name!r:.40}")
    return table[name.lower()]


def _line(x: Tensor, by: float, more: float) -> Tensor:
    return call("AddV2", call("Mul", x, scalar(x, by)), scalar(x, more))
