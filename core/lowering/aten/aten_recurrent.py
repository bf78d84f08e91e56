"""PyTorch's recurrent layers, each step by itself: a .pt2 has them whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradstep.core.lowering.aten.aten_random import dropped
from gradstep.core.lowering.aten.aten_table import lower_as_given
from gradstep.core.lowering.aten.aten_tensors import reshape, scalar, size_at, transpose
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.build.tensor import builder_of

MOST = 4_000  # steps of cells, all layers together: more are no graph to look at


class Weights(NamedTuple):
    """Of one layer in one direction: [gates x units, inputs] and [gates x units, units]."""

    input: Tensor
    hidden: Tensor
    input_bias: Tensor | None
    hidden_bias: Tensor | None


State = list[Tensor]  # of a cell: hidden, and for an LSTM the cell's own
Cell = Callable[[Tensor, State, Weights], State]  # gates of the input, state -> the next state


@dataclass(frozen=True)
class Layers:
    """A stack of layers, as the arguments of PyTorch's operation say."""

    site: Site
    cell: Cell
    params: Sequence[Tensor]
    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool

    def run(self, x: Tensor, states: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """x: [time, batch, features]. states: [layers x directions, batch, units] each. What comes
        out of the last layer, and the states at the end."""
        directions = 2 if self.bidirectional else 1
        if self.num_layers * directions * size_at(x, 0) > MOST:
            raise UnloweredError(f"more than {MOST} steps")
        begun = [_unpacked(self.site, state) for state in states]
        weights, ended = self._weights(), []
        for layer in range(self.num_layers):
            ways = []
            for way in range(directions):
                state = [one[layer * directions + way] for one in begun]
                hidden, last = self._through(x, state, next(weights), backwards=way == 1)
                ways.append(hidden)
                ended.append(last)
            x = ways[0] if directions == 1 else call("ConcatV2", *ways, np.int32(2))
            if self.train and self.dropout and layer + 1 < self.num_layers:
                x = dropped(x, self.dropout)
        return x, [call("Pack", *kind, axis=0) for kind in zip(*ended, strict=True)]

    def _through(
        self, x: Tensor, state: State, weights: Weights, backwards: bool
    ) -> tuple[Tensor, State]:
        """All steps of one layer in one direction: what is hidden after each, in the order of time;
        the last state."""
        steps = _unpacked(self.site, _affine(x, weights.input, weights.input_bias))
        hidden = []
        for gates in reversed(steps) if backwards else steps:
            state = self.cell(gates, state, weights)
            hidden.append(state[0])
        return call("Pack", *(hidden[::-1] if backwards else hidden), axis=0), state

    def _weights(self) -> Iterator[Weights]:
        each = 4 if self.has_biases else 2
        if len(self.params) != each * self.num_layers * (2 if self.bidirectional else 1):
            raise UnloweredError("a projection of the hidden state")
        for at in range(0, len(self.params), each):
            found = [*self.params[at : at + each], None, None]
            yield Weights(*found[:4])  # type: ignore[arg-type]


def lstm_cell(gates: Tensor, state: State, weights: Weights) -> State:
    """PyTorch's order of gates: in, forget, cell, out."""
    hidden, cell = state
    whole = call("AddV2", gates, _affine(hidden, weights.hidden, weights.hidden_bias))
    into, forget, new, out = _split(whole, 4)
    kept = call("Mul", call("Sigmoid", forget), cell)
    cell = call("AddV2", kept, call("Mul", call("Sigmoid", into), call("Tanh", new)))
    return [call("Mul", call("Sigmoid", out), call("Tanh", cell)), cell]


def gru_cell(gates: Tensor, state: State, weights: Weights) -> State:
    """PyTorch's order of gates: reset, update, new; its reset gate lets less through of what the
    hidden state is multiplied to, not of the state."""
    (hidden,) = state
    reset, update, new = _split(gates, 3)
    by_reset, by_update, by_new = _split(_affine(hidden, weights.hidden, weights.hidden_bias), 3)
    reset = call("Sigmoid", call("AddV2", reset, by_reset))
    update = call("Sigmoid", call("AddV2", update, by_update))
    new = call("Tanh", call("AddV2", new, call("Mul", reset, by_new)))
    stays = call("Sub", scalar(update, 1), update)
    return [call("AddV2", call("Mul", stays, new), call("Mul", update, hidden))]


def _plain_cell(activation: str) -> Cell:
    def cell(gates: Tensor, state: State, weights: Weights) -> State:
        through = _affine(state[0], weights.hidden, weights.hidden_bias)
        return [call(activation, call("AddV2", gates, through))]

    return cell


@lower_as_given("lstm.input")
def lstm(
    site: Site,
    input: Tensor,
    hx: list[Tensor],
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> list[Tensor]:
    layers = Layers(site, lstm_cell, params, has_biases, num_layers, dropout, train, bidirectional)
    return _by_time(layers, input, hx, batch_first)


def _declare(name: str, cell: Cell) -> None:
    @lower_as_given(name)
    def layer(
        site: Site,
        input: Tensor,
        hx: Tensor,
        params: list[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> list[Tensor]:
        layers = Layers(site, cell, params, has_biases, num_layers, dropout, train, bidirectional)
        return _by_time(layers, input, [hx], batch_first)


for _name, _cell in {
    "gru.input": gru_cell,
    "rnn_tanh.input": _plain_cell("Tanh"),
    "rnn_relu.input": _plain_cell("Relu"),
}.items():
    _declare(_name, _cell)


def _by_time(
    layers: Layers, x: Tensor, states: Sequence[Tensor], batch_first: bool
) -> list[Tensor]:
    swapped = [1, 0, 2]
    given = transpose(x, swapped) if batch_first else x
    found, ended = layers.run(given, states)
    return [transpose(found, swapped) if batch_first else found, *ended]


def _affine(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x times the transposed weight, of matrices or of matrices by time."""
    whole = tuple(x.shape)
    rows = x if len(whole) == 2 else reshape(x, [-1, size_at(x, -1)])
    y = call("MatMul", rows, weight, transpose_b=True)
    y = y if bias is None else call("BiasAdd", y, bias)
    return y if len(whole) == 2 else reshape(y, [*whole[:-1], size_at(weight, 0)])


def _unpacked(site: Site, x: Tensor) -> Sequence[Tensor]:
    return site.builder.op("Unpack", x, num=size_at(x, 0), axis=0)


def _split(x: Tensor, count: int) -> Sequence[Tensor]:
    return builder_of([x]).op("Split", np.int32(1), x, num_split=count)
