"""Kernels on bfloat16: they are given float32, and their results are rounded to nearest even.

That is how TensorFlow's CPU kernels compute in it, sums in float32 included, and the one place that
knows: no kernel does, but for those that move bits or make them (`Kernels.takes_bfloat16`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import BFLOAT16, is_bfloat16, widened
from gradstep.core.ops.declare.definition import InferContext, OpDef
from gradstep.core.ops.declare.host_arrays import on_host
from gradstep.core.ops.state.opaque_state import OpaqueState

Kernel = Callable[..., Any]


def rounding_kernel(
    definition: OpDef, op: Operation, make: Callable[[Operation], Kernel]
) -> Kernel:
    """The kernel of `op` on NumPy, for every element type. make: binds the op's kernel to the
    attributes of an operation, of this one or of the same in float32."""
    if not computes_in_float32(definition):
        return make(op)
    kernel, in_float32 = make(op), _in_float32(op)
    if in_float32 is not op:
        return _Rounded(definition, op, kernel, make(in_float32))
    return partial(_rounded_if_short, kernel, _Rounded(definition, op, kernel, kernel))


def _rounded_if_short(kernel: Kernel, rounded: Kernel, *inputs: Any) -> Any:
    return rounded(*inputs) if any_bfloat16(inputs) else kernel(*inputs)


class _Rounded:
    """The kernel of `op` in float32, given bfloat16, and what it gives of that rounded. Which
    results those are follows from the element types, and is asked once for each. own: the kernel
    with the attributes of `op`, for state: what goes in there comes out of there as it was."""

    def __init__(self, definition: OpDef, op: Operation, own: Kernel, kernel: Kernel) -> None:
        self._definition, self._op, self._own, self._kernel = definition, op, own, kernel
        self._short: dict[tuple[Any, ...], Sequence[bool]] = {}

    def __call__(self, *inputs: Any) -> Any:
        if any(isinstance(x, OpaqueState) for x in inputs):
            return self._own(*inputs)
        results = self._kernel(*map(widened, inputs))
        several = results if isinstance(results, tuple | list) else (results,)
        short = self._are_short(inputs, len(several))
        made = tuple(_rounded(x) if of else x for x, of in zip(several, short, strict=True))
        return made if isinstance(results, tuple | list) else made[0]

    def _are_short(self, inputs: Sequence[Any], count: int) -> Sequence[bool]:
        key = (count, *(None if x is None else x.dtype for x in inputs))
        known = self._short.get(key)
        if known is None:
            known = self._short[key] = _are_bfloat16(self._definition, self._op, inputs, count)
        return known


def _rounded(result: Any) -> Any:
    return result.astype(BFLOAT16) if result.dtype == np.float32 else result


def computes_in_float32(definition: OpDef) -> bool:
    """Whether the op's kernel is given float32 in place of bfloat16. What only moves bytes is not,
    nor is a user's function, which gets what TensorFlow would give it."""
    kernel, memory = definition.kernel, definition.memory
    as_it_is = kernel.takes_bfloat16 or memory.keeps_bytes or memory.slices
    return not as_it_is and "functions" not in kernel.keywords


def any_bfloat16(arrays: Sequence[Any]) -> bool:
    """Whether one of them is of bfloat16."""
    return any(map(is_bfloat16, arrays))


def names_bfloat16(op: Operation) -> bool:
    """Whether an attribute says so, of what the op makes or takes."""
    return _in_float32(op) is not op


def _in_float32(op: Operation) -> Operation:
    """The operation with float32 wherever its attributes say bfloat16; itself where none does."""
    found = {name: _wide(value) for name, value in op.attrs.items()}
    same = all(value is op.attrs[name] for name, value in found.items())
    return op if same else replace(op, attrs=found)


def _wide(value: Any) -> Any:
    if value is DType.BFLOAT16:
        return DType.FLOAT32
    if type(value) is tuple and DType.BFLOAT16 in value:
        return tuple(map(_wide, value))
    return value


def _are_bfloat16(
    definition: OpDef, op: Operation, inputs: Sequence[Any], count: int
) -> Sequence[bool]:
    """Which of `count` results are of bfloat16: outputs by the op's type rule, new values of
    variables as the variables are."""
    state = definition.state
    written = [is_bfloat16(_of_variable(inputs, n)) for n in state.writes]
    behind = [*written, *[False] * bool(state.counter)]
    own = count - len(behind)
    return [*_outputs(definition, op, inputs, own), *behind] if own else behind


def _of_variable(inputs: Sequence[Any], number: int) -> Any:
    """What tells its element type: what it holds or, before that, what it is to hold."""
    held = inputs[number]
    return held if held is not None else next((x for x in inputs if is_bfloat16(x)), None)


def _outputs(definition: OpDef, op: Operation, inputs: Sequence[Any], own: int) -> list[bool]:
    types = [*map(_type, inputs[: len(op.inputs)])]
    ctx = InferContext(definition, op, types, lambda index: on_host(inputs[index]))
    try:
        found = definition.infer(ctx)
    except GradstepError:  # the kernel took them: what it made of bfloat16 is that
        return [True] * own
    several = found if isinstance(found, tuple) else (found,)
    return [kind.dtype is DType.BFLOAT16 for kind in several[len(several) - own :]]


def _type(held: Any) -> TensorType:
    """Of an input; of a variable that holds nothing yet, what it may be."""
    if held is None:
        return TensorType(DType.BFLOAT16)
    return TensorType(DType.of(held.dtype), Shape(held.shape))
