"""Recurrent cells, step after step without a loop: outputs, states and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.autodiff.gradients import gradients
from core.ops import api as tf
from core.ops.builder import Tensor, call, call_many
from tests.oracle.program import Program, Variable
from tests.oracle.table import DOCUMENTATION, STATISTIC, Case, checks

LOOPS = "dynamic_rnn itself, which is a while loop: a later version"
LAYERS = "names and initial values that the cell's class in Python gives"

UNITS = 3
Weights = dict[str, Tensor]
State = tuple[Tensor, ...]
Cell = Callable[[Tensor, State, Weights], tuple[Tensor, State]]


def _linear(x: Tensor, h: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    joined = call("ConcatV2", x, h, np.array(1, np.int32))
    return call("BiasAdd", call("MatMul", joined, kernel), bias)


def _split(x: Tensor, count: int) -> list[Tensor]:
    return list(call_many("Split", np.array(1, np.int32), x, num_split=count))


def basic(x: Tensor, state: State, w: Weights) -> tuple[Tensor, State]:
    h = call("Tanh", _linear(x, state[0], w["kernel"], w["bias"]))
    return h, (h,)


def gru(x: Tensor, state: State, w: Weights) -> tuple[Tensor, State]:
    (h,) = state
    gates = call("Sigmoid", _linear(x, h, w["gates/kernel"], w["gates/bias"]))
    r, u = _split(gates, 2)
    c = call("Tanh", _linear(x, r * h, w["candidate/kernel"], w["candidate/bias"]))
    h = u * h + (1.0 - u) * c
    return h, (h,)


def lstm(x: Tensor, state: State, w: Weights) -> tuple[Tensor, State]:
    c, h = state
    i, j, f, o = _split(_linear(x, h, w["kernel"], w["bias"]), 4)
    c = c * call("Sigmoid", f + 1.0) + call("Sigmoid", i) * call("Tanh", j)
    h = call("Tanh", c) * call("Sigmoid", o)
    return h, (c, h)


CELLS: dict[str, tuple[Cell, int]] = {
    "BasicRNNCell": (basic, 1),
    "GRUCell": (gru, 1),
    "LSTMCell": (lstm, 2),
    "BasicLSTMCell": (lstm, 2),
}


def unrolled(
    cell: Cell, states: int, x: Tensor, weights: Weights, lengths: Any = None
) -> tuple[Tensor, State]:
    """Outputs [batch, time, units] and the last state. Past its length a row's output is zero and
    its state stays."""
    batch, time, _ = x.shape.static()
    zeros = np.zeros((batch, UNITS), np.float32)
    state: State = tuple(x.builder.constant(zeros) for _ in range(states))
    outputs = []
    for t, now in enumerate(tf.unstack(x, axis=1)):
        out, after = cell(now, state, weights)
        if lengths is not None:
            running = np.broadcast_to((t < lengths)[:, None], (batch, UNITS))
            alive = x.builder.constant(running.copy())
            out = call("Select", alive, out, zeros)
            after = tuple(call("Select", alive, a, b) for a, b in zip(after, state, strict=True))
        outputs.append(out)
        state = after
    assert len(outputs) == time
    return tf.stack(outputs, axis=1), state


@checks("rnn_dynamic")
def cells(case: Case) -> None:
    start = case.given("inputs", "x")
    lengths = case.given("inputs", "sequence_length")
    for name, (cell, states) in CELLS.items():
        _cell(case, name, cell, states, start, lengths)
    case.skip("what `with sequence_length` checks, in words", "sequence_length_semantics")
    for entry in case.recorded:
        if entry.startswith("tutorial") or entry in ("op_types", "unknown feature dim"):
            case.skip(LOOPS, entry)
    case.skip(LOOPS, "no dtype and no initial_state")


def _cell(
    case: Case, name: str, cell: Cell, states: int, start: np.ndarray, lengths: np.ndarray
) -> None:
    with Program() as p:
        x = p.like("x", start)
        variables: dict[str, Variable] = {}
        for full in case.at(name, "weights"):
            value = case.given(name, "weights", full)
            variables[full] = p.variable(full.removesuffix(":0"), value)
        weights = {_short(full): v.read for full, v in variables.items()}
        feeds = {x: start}

        def last(state: State) -> Any:
            return dict(zip("ch", state, strict=True)) if states == 2 else state[0]

        out, state = unrolled(cell, states, x, weights)
        within = 5e-7
        case.value(p.run(out, feeds), name, "outputs", within=within)
        case.value(p.run(last(state), feeds), name, "final_state", within=within)
        loss = call("Sum", call("Square", out), np.array([0, 1, 2], np.int32))
        found = gradients(loss, [v.handle for v in variables.values()])
        named = dict(zip(variables, p.run(found, feeds), strict=True))
        case.gradient(named, name, "grads sum(o^2)", within=1e-5)
        cut, state = unrolled(cell, states, x, weights, lengths)
        entry = "with sequence_length [4,2,0]"
        found = p.run({"outputs": cut, "final_state": last(state)}, feeds)
        case.value(found, name, entry, within=within)
        loss = call("Sum", call("Square", cut), np.array([0, 1, 2], np.int32))
        entry = "grad x with sequence_length"
        case.gradient(p.run(gradients(loss, x)[0], feeds), name, entry, within=2e-6)
    for key in ("variables", "bias_initial_values"):
        case.skip(LAYERS, name, key)
    case.skip(DOCUMENTATION, name, "formula")
    case.skip(STATISTIC, name, "max_diff_numpy")


def _short(full: str) -> str:
    """ "gates/kernel" of "rnn/gru_cell/gates/kernel:0"."""
    return full.removesuffix(":0").split("/", 2)[2]
