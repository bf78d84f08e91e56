"""`tf.nn.dynamic_rnn` and `tf.nn.static_rnn`: a cell run along a sequence.

Source: TensorFlow 1's rnn.py. Past its length a row's outputs are zero and its state stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.api.tf_arrays import ensure_shape
from gradstep.core.ops.api.tf_creation import constant
from gradstep.core.ops.api.tf_dense_layers import last_size, layer_scope
from gradstep.core.ops.api.tf_rnn_cells import RNNCell, State
from gradstep.core.ops.api.tf_scopes import Scope
from gradstep.core.ops.api.tf_tensor_array import TensorArray
from gradstep.core.ops.api.tf_while_loop import while_loop
from gradstep.core.ops.build.nest import leaves, map_structure
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call
from gradstep.core.ops.typing.static_values import select

_EXCHANGED = np.array([1, 0, 2], np.int32)  # batch and time


def dynamic_rnn(
    cell: RNNCell,
    inputs: TensorLike,
    sequence_length: TensorLike = None,
    initial_state: State = None,
    dtype: DType | str | None = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Scope = None,
) -> tuple[Tensor, State]:
    """Outputs [batch, time, units] and the last state, of inputs [batch, time, depth]; with
    time_major both begin with time. sequence_length [batch]: how far each row goes. A loop of as
    many iterations as there are steps."""
    x = constant(inputs)
    if x.shape.rank not in (None, 3):
        raise ValueError(f"inputs must be [batch, time, depth]. Received {x.shape}")
    with layer_scope(scope or "rnn", "rnn", None, x):
        steps = x if time_major else call("Transpose", x, _EXCHANGED)
        depth = _depth(steps)
        state = _first_state(cell, initial_state, steps, dtype)
        cell.prepare(depth, steps.dtype)
        lengths = None if sequence_length is None else _lengths(sequence_length)
        loop = _Loop(cell, steps, lengths, parallel_iterations, swap_memory)
        outputs, last = loop.run(state)
        return outputs if time_major else call("Transpose", outputs, _EXCHANGED), last


class _Loop:
    """steps [time, batch, depth]; lengths [batch] or None."""

    def __init__(
        self, cell: RNNCell, steps: Tensor, lengths: Tensor | None, parallel: int, swap: bool
    ) -> None:
        self._cell, self._lengths = cell, lengths
        self._parallel, self._swap = parallel, swap
        self._element = Shape((steps.shape.dims or (None,))[1:])
        batch = (self._element.dims or (None,))[0]
        self._time: TensorLike = _size(steps, 0)
        self._inputs = TensorArray(steps.dtype, self._time, tensor_array_name="input").unstack(
            steps
        )
        self._outputs = TensorArray(
            steps.dtype,
            self._time,
            tensor_array_name="output",
            element_shape=(batch, cell.output_size),
        )

    def run(self, state: State) -> tuple[Tensor, State]:
        _, flow, last = while_loop(
            lambda time, flow, state: time < self._time,
            self._step,
            (constant(0), self._outputs.flow, state),
            parallel_iterations=self._parallel,
            swap_memory=self._swap,
        )
        return self._outputs.with_flow(flow).stack(), last

    def _step(self, time: Tensor, flow: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        """The array's handle does not change; its flow says what was written before."""
        x = ensure_shape(self._inputs.read(time), self._element)
        y, after = self._cell(x, state)
        if self._lengths is not None:
            over = time >= self._lengths
            y = select(over, call("ZerosLike", y), y)
            after = _kept(over, state, after)
        written = self._outputs.with_flow(flow).write(time, y)
        return time + 1, written.flow, after


def static_rnn(
    cell: RNNCell,
    inputs: Sequence[TensorLike],
    initial_state: State = None,
    dtype: DType | str | None = None,
    sequence_length: TensorLike = None,
    scope: Scope = None,
) -> tuple[list[Tensor], State]:
    """The same without a loop: a list of outputs [batch, units] for a list of inputs [batch,
    depth], the cell's operations once for each."""
    if not inputs:
        raise ValueError("inputs must not be empty")
    steps = [constant(x) for x in inputs]
    with layer_scope(scope or "rnn", "rnn", None, steps[0]):
        state = _first_state(cell, initial_state, call("ExpandDims", steps[0], 0), dtype)
        lengths = None if sequence_length is None else _lengths(sequence_length)
        outputs = []
        for time, x in enumerate(steps):
            y, after = cell(x, state)
            if lengths is not None:
                over = lengths <= np.array(time, np.int32)
                y, after = select(over, call("ZerosLike", y), y), _kept(over, state, after)
            outputs.append(y)
            state = after
        return outputs, state


def _kept(over: Tensor, state: State, after: State) -> State:
    """The state as it was in the rows that are over, else what comes after."""
    pairs = zip(leaves(state), leaves(after), strict=True)
    chosen = iter([select(over, old, new) for old, new in pairs])
    return map_structure(state, lambda _: next(chosen))


def _first_state(cell: RNNCell, initial: State, steps: Tensor, dtype: DType | str | None) -> State:
    if initial is not None:
        return initial
    if dtype is None:
        raise ValueError("If no initial_state is provided, argument `dtype` must be specified")
    return cell.zero_state(_size(steps, 1), dtype)


def _size(steps: Tensor, axis: int) -> TensorLike:
    """A number where it is known."""
    known = (steps.shape.dims or (None,) * 3)[axis]
    return call("Shape", steps)[axis] if known is None else known


def _lengths(given: TensorLike) -> Tensor:
    found = constant(given)
    return found if found.dtype is DType.INT32 else call("Cast", found, DstT=DType.INT32)


def _depth(steps: Tensor) -> int:
    if steps.shape.dims is None or steps.shape.dims[-1] is None:
        raise ValueError(
            "Input size (depth of inputs) must be accessible via shape inference, but saw value "
            f"None for input={steps}."
        )
    return last_size(steps, "a cell")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "nn.dynamic_rnn": dynamic_rnn,
    "nn.static_rnn": static_rnn,
}
