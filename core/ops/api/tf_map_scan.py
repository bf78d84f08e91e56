"""`tf.map_fn`, `tf.scan`, `tf.foldl` and `tf.foldr`: a function on one element after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.api.tf_creation import constant
from gradstep.core.ops.api.tf_tensor_array import TensorArray
from gradstep.core.ops.api.tf_while_loop import while_loop
from gradstep.core.ops.build.nest import leaves, map_structure
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call

Function = Callable[..., Any]


def map_fn(
    fn: Function,
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """What `fn` makes of each element along the first axis, put together again. dtype: of the
    results, nested as they are, where they are not as `elems`."""
    elems = map_structure(elems, constant)
    with _builder(elems).scope(name or "map"):
        inputs, count = _unstacked(elems, infer_shape)
        kinds = map_structure(elems, lambda x: x.dtype) if dtype is None else dtype
        first = constant(0)
        outputs = _empty(kinds, count, infer_shape)

        def step(i: Tensor, outputs: Any) -> Any:
            return i + 1, _written(outputs, i, fn(_read(inputs, i)))

        _, outputs = while_loop(
            lambda i, _: i < count,
            step,
            (first, outputs),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            maximum_iterations=count,
        )
        return _stacked(outputs)


def scan(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All that `fn(accumulated, element)` gives on the way along the first axis, put together.
    Without an initializer the first element is what it starts with."""
    elems = map_structure(elems, constant)
    with _builder(elems).scope(name or "scan"):
        inputs, count = _unstacked(elems, infer_shape)
        last = count - 1
        start, begin = _start(inputs, initializer, last if reverse else 0)
        kinds = map_structure(start, lambda x: x.dtype)
        outputs = _empty(kinds, count, infer_shape)
        if begin:
            outputs = _written(outputs, last if reverse else 0, start)

        def step(i: Tensor, sofar: Any, outputs: Any) -> Any:
            made = fn(sofar, _read(inputs, i))
            return _onward(i, reverse), made, _written(outputs, i, made)

        _, _, outputs = while_loop(
            _until(count, reverse),
            step,
            (_number(last - begin if reverse else begin), start, outputs),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            maximum_iterations=count,
        )
        return _stacked(outputs)


def _folding(own_name: str, reverse: bool, doc: str) -> Function:
    def function(
        fn: Function,
        elems: Any,
        initializer: Any = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str | None = None,
    ) -> Any:
        elems = map_structure(elems, constant)
        with _builder(elems).scope(name or own_name):
            inputs, count = _unstacked(elems, True)
            last = count - 1
            sofar, begin = _start(inputs, initializer, last if reverse else 0)
            results = while_loop(
                _until(count, reverse),
                lambda i, sofar: (_onward(i, reverse), fn(sofar, _read(inputs, i))),
                (_number(last - begin if reverse else begin), sofar),
                parallel_iterations=parallel_iterations,
                back_prop=back_prop,
                maximum_iterations=count,
            )
            return results[1]

    function.__name__ = own_name
    function.__doc__ = doc
    return function


def _builder(elems: Any) -> Any:
    tensors = leaves(elems)
    for tensor in tensors:
        if tensor.shape.rank == 0:
            raise GradstepError(
                "elements in elems must be 1+ dimensional Tensors, not scalars",
                kind="ValueError",
                node=tensor.ref.op,
                hint="give a vector or more: the function gets one element of the first axis",
            )
    return builder_of(tensors)


def _unstacked(elems: Any, infer_shape: bool) -> tuple[Any, Any]:
    """An array of each tensor's elements; how many there are, a number where it is known."""
    first = leaves(elems)[0]
    known = (first.shape.dims or (None,))[0]
    count = call("Shape", first)[0] if known is None else known

    def array(x: Tensor) -> TensorArray:
        made = TensorArray(x.dtype, count, infer_shape=infer_shape, clear_after_read=False)
        return made.unstack(x)

    return map_structure(elems, array), count


def _empty(kinds: Any, count: TensorLike, infer_shape: bool) -> Any:
    """An array for as many elements of each type."""
    return map_structure(kinds, lambda kind: TensorArray(kind, count, infer_shape=infer_shape))


def _stacked(arrays: Any) -> Any:
    return map_structure(arrays, lambda array: array.stack())


def _start(inputs: Any, initializer: Any, first: TensorLike) -> tuple[Any, int]:
    """What is accumulated at first, and how many elements that took."""
    if initializer is not None:
        return map_structure(initializer, constant), 0
    return _read(inputs, first), 1


def _read(arrays: Any, index: TensorLike) -> Any:
    return map_structure(arrays, lambda array: array.read(index))


def _written(arrays: Any, index: TensorLike, values: Any) -> Any:
    left = iter(leaves(values))
    return map_structure(arrays, lambda array: array.write(index, next(left)))


def _until(count: TensorLike, reverse: bool) -> Function:
    return lambda i, *_: i >= np.array(0, np.int32) if reverse else i < count


def _onward(i: Tensor, reverse: bool) -> Tensor:
    return i - 1 if reverse else i + 1


def _number(value: TensorLike) -> Tensor:
    return value if isinstance(value, Tensor) else constant(value)


FUNCTIONS = {
    "foldl": _folding(
        "foldl", False, "What is left of `fn(accumulated, element)` at the end of the first axis."
    ),
    "foldr": _folding("foldr", True, "`foldl` from the last element to the first."),
    "map_fn": map_fn,
    "scan": scan,
}
