"""Tensor arrays and stacks do, and refuse, what TensorFlow's do; the texts are TensorFlow 2.21's.

There the number behind a handle's name counts all that the process has made; here, those of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.tensor import Tensor, call, call_many
from tests.support.each_case import each_of

FLOAT = DType.FLOAT32


def array(size: int = 3, dtype: DType = FLOAT, **attrs: Any) -> tuple[Tensor, Tensor]:
    handle, flow = call_many("TensorArrayV3", size, name="ta", dtype=dtype, **attrs)
    return handle, flow


def write(handle: Tensor, index: int, value: Any, flow: Tensor) -> Tensor:
    return call("TensorArrayWriteV3", handle, index, np.float32(value), flow, name="write")


def read(handle: Tensor, index: int, flow: Tensor, after: Tensor | None = None) -> Tensor:
    waits = () if after is None else (after.ref.op,)
    attrs = {"dtype": FLOAT, "name": "read", "control_inputs": waits}
    return call("TensorArrayReadV3", handle, index, flow, **attrs)


def gather(handle: Tensor, indices: list[int], flow: Tensor, **attrs: Any) -> Tensor:
    where = np.array(indices, np.int32)
    return call("TensorArrayGatherV3", handle, where, flow, dtype=FLOAT, **attrs)


def split(size: int, lengths: list[int]) -> tuple[Tensor, Tensor]:
    handle, flow = array(size)
    value, sizes = np.float32([[1], [2], [3]]), np.array(lengths, np.int64)
    return handle, call("TensorArraySplitV3", handle, value, sizes, flow)


def written(count: int, *values: Any, **attrs: Any) -> tuple[Tensor, Tensor]:
    handle, flow = array(count, **attrs)
    for index, value in enumerate(values):
        flow = write(handle, index, value, flow)
    return handle, flow


def of_gradients(handle: Tensor, flow: Tensor) -> tuple[Tensor, Tensor]:
    grads, flow = call_many("TensorArrayGradV3", handle, flow, source="g")
    return grads, flow


def _twice(**attrs: Any) -> Tensor:
    handle, flow = written(1, 1.0, **attrs)
    return read(handle, 0, flow, after=read(handle, 0, flow))


def _write_after_read() -> Tensor:
    handle, flow = written(1, 1.0, clear_after_read=False)
    return write(
        handle, 0, 2.0, call("Identity", flow, control_inputs=(read(handle, 0, flow).ref.op,))
    )


def _closed() -> Tensor:
    handle, flow = array()
    call_many("TensorArrayCloseV3", handle, name="close")
    return read(handle, 0, flow, after=Tensor(handle.builder, handle.ref.__class__("close")))


def _aggregated(*values: Any) -> Tensor:
    handle, flow = written(3, [1.0, 2.0], [3.0, 4.0])
    grads, flow = of_gradients(handle, flow)
    for value in values:
        flow = write(grads, 0, value, flow)
    return gather(of_gradients(handle, flow)[0], [0, 1], flow)


def _stack() -> Tensor:
    return call("StackV2", 2, elem_type=FLOAT, stack_name="s")


def _popped() -> Tensor:
    stack, names = _stack(), ["first"]
    for number in range(3):
        call(
            "StackPushV2", stack, np.float32(number), name=f"push{number}", control_inputs=names[1:]
        )
        names = ["", f"push{number}"]
    return call("StackPopV2", stack, elem_type=FLOAT, control_inputs=names[1:])


GIVES: dict[str, tuple[Callable[[], Any], Any]] = {
    "an element": (lambda: read(*_at(written(2, 1.0, 5.0), 1)), 5.0),
    "nothing written, shape known": (
        lambda: read(*_at(array(element_shape=Shape.of(2)), 1)),
        [0.0, 0.0],
    ),
    "read twice": (lambda: _twice(clear_after_read=False), 1.0),
    "grown": (
        lambda: gather(*_all(written(0, 1.0, 2.0, dynamic_size=True), [1, 0])),
        [2.0, 1.0],
    ),
    "gathered, one not written": (
        lambda: gather(*_all(written(3, 1.0, element_shape=Shape.of()), [0, 1, 2])),
        [1.0, 0.0, 0.0],
    ),
    "none gathered": (
        lambda: gather(*_all(array(), []), element_shape=Shape.of(2)),
        np.zeros((0, 2)),
    ),
    "split and joined": (
        lambda: call_many("TensorArrayConcatV3", *split(2, [1, 2]), dtype=FLOAT)[0],
        [[1.0], [2.0], [3.0]],
    ),
    "gradients add up": (
        lambda: _aggregated([1.0, 1.0], [2.0, 2.0]),
        [[3.0, 3.0], [0.0, 0.0]],
    ),
    "a stack grows": (_popped, 2.0),
}
_TWICE = "cleared after a previous read (perhaps try setting clear_after_read = false?)."
_UNKNOWN = (
    ".  Furthermore, the element shape is not fully defined: <unknown>.  It is possible you are "
    "working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be "
    "written.  If you set the full element_shape property on the forward TensorArray, the proper "
    "all-zeros tensor will be returned instead of incurring this error."
)
REFUSES: dict[str, tuple[Callable[[], Any], str]] = {
    "written beyond the end": (
        lambda: write(*_put(array(), 5, 1.0)),
        "TensorArray ta_0: Tried to write to index 5 but array is not resizeable and size is: 3",
    ),
    "written before the start": (
        lambda: write(*_put(array(tensor_array_name="arr"), -1, 1.0)),
        "TensorArray arr_0: Tried to write to index -1 but array is not resizeable and size is: 3",
    ),
    "read beyond the end": (
        lambda: read(*_at(array(), 5)),
        "Tried to read from index 5 but array size is: 3",
    ),
    "nothing written": (
        lambda: read(*_at(array(), 1)),
        f"TensorArray ta_0: Could not read from TensorArray index 1{_UNKNOWN}",
    ),
    "read twice": (
        _twice,
        f"TensorArray ta_0: Could not read index 0 twice because it was {_TWICE}",
    ),
    "written twice": (
        lambda: write(*_put(written(3, 1.0), 0, 2.0)),
        "TensorArray ta_0: Could not write to TensorArray index 0 because it has already been "
        "written to.",
    ),
    "written after it was read": (
        _write_after_read,
        "TensorArray ta_0: Could not write to TensorArray index 0 because it has already been "
        "read.",
    ),
    "another shape": (
        lambda: write(*_put(written(3, [1.0, 2.0], identical_element_shapes=True), 1, [1.0])),
        "TensorArray ta_0: Could not write to TensorArray index 1 because the value shape is [1] "
        "which is incompatible with the TensorArray's inferred element shape: [2] (consider "
        "setting infer_shape=False).",
    ),
    "gathered of several shapes": (
        lambda: gather(*_all(written(2, [1.0], [1.0, 2.0]), [0, 1])),
        "TensorArray has inconsistent shapes.  Index 0 has shape: [1] but index 1 has shape: [2]",
    ),
    "none gathered, of unknown shape": (
        lambda: gather(*_all(array(), [])),
        "TensorArray has size zero, but element shape <unknown> is not fully defined. Currently "
        "only static shapes are supported when packing zero-size TensorArrays.",
    ),
    "scattered beyond the end": (
        lambda: call(
            "TensorArrayScatterV3", *_put(array(2), np.array([0, 2]), np.float32([1.0, 2.0]))
        ),
        "Max scatter index must be < array size (2 vs. 2)",
    ),
    "a scalar scattered": (
        lambda: call("TensorArrayScatterV3", *_put(array(2), np.array([0]), np.float32(1.0))),
        "Shape must be at least rank 1 but is rank 0",
    ),
    "a scalar scattered of which that was not known": (
        lambda: call("TensorArrayScatterV3", *_put(array(2), np.array([0]), _of_unknown_shape())),
        "Shape must be at least rank 1 but is rank 0",
    ),
    "split into too little": (
        lambda: split(2, [1, 1])[1],
        "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is 2 and "
        "value's shape is: [3,1]",
    ),
    "split into too few": (
        lambda: split(3, [1, 2])[1],
        "TensorArray's size is not equal to the size of lengths (3 vs. 2), and the TensorArray is "
        "not marked as dynamically resizeable",
    ),
    "scalars joined": (
        lambda: call_many("TensorArrayConcatV3", *written(2, 1.0, 2.0), dtype=FLOAT)[0],
        "Concat saw a scalar shape at index 0 but requires at least vectors.  Did you mean to call "
        "pack?",
    ),
    "another element type read": (
        lambda: read(*_at(array(dtype=DType.INT32), 0)),
        "TensorArray dtype is int32 but Op requested dtype float.",
    ),
    "another element type written": (
        lambda: write(*_put(array(dtype=DType.INT32), 0, 1.0)),
        "TensorArray dtype is int32 but Op is trying to write dtype float.",
    ),
    "closed": (_closed, "TensorArray ta_0 has already been closed."),
    "of negative size": (lambda: array(-1)[1], "Size should be >= 0."),
    "gradients of two shapes": (
        lambda: _aggregated([1.0, 1.0], [1.0]),
        "TensorArray ta_0@g: Could not aggregate to TensorArray index 0 because the existing shape "
        "is [2] but the new input shape is [1].",
    ),
    "an empty stack": (
        lambda: call("StackPopV2", _stack(), elem_type=FLOAT),
        "Stack[s_0] is empty when calling Pop().",
    ),
    "a stack taken for an array": (
        lambda: read(_stack(), 0, array()[1]),
        "Trying to access a resource using the wrong type: expected the handle of a tensor array, "
        "got that of a stack",
    ),
}


def _at(made: tuple[Tensor, Tensor], index: int) -> tuple[Tensor, int, Tensor]:
    return made[0], index, made[1]


def _all(made: tuple[Tensor, Tensor], indices: list[int]) -> tuple[Tensor, list[int], Tensor]:
    return made[0], indices, made[1]


def _put(made: tuple[Tensor, Tensor], where: Any, value: Any) -> tuple[Any, ...]:
    index = where if isinstance(where, int) else where.astype(np.int32)
    return made[0], index, value, made[1]


def _of_unknown_shape() -> Tensor:
    """A scalar."""
    return call(
        "Reshape", np.float32(1.0), call("Cast", np.zeros((0,), np.int64), DstT=DType.INT32)
    )


def _run(build: Callable[[], Any], fast: bool) -> np.ndarray:
    builder = GraphBuilder()
    with builder.as_default():
        result = build()
    return Session(builder.build(), fast=fast).run([result.ref])[0]


@each_of("fast", [False, True])
@each_of("case", GIVES)
def test_gives(case: str, fast: bool) -> None:
    build, expected = GIVES[case]
    np.testing.assert_array_equal(_run(build, fast), np.float32(expected))


@each_of("case", REFUSES)
def test_refuses(case: str) -> None:
    build, message = REFUSES[case]
    with pytest.raises(GradstepError) as caught:
        _run(build, False)
    assert caught.value.message == message
    assert caught.value.node
    assert caught.value.hint or "aggregate" in message


def test_what_says_the_shape_of_elements_has_to_be_a_shape() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        handle, flow = array()
        with pytest.raises(GradstepError, match="attribute '_element_shape' must be"):
            call("TensorArrayReadV3", handle, 0, flow, dtype=FLOAT, _element_shape="x")
