"""Checking what a gradient function returned: one gradient per input, its type and its shape."""

from __future__ import annotations

from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices

Result = Tensor | IndexedSlices | None


def as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


def check_results(
    op: Operation, name: str, results: list[Any], view: OpView, any_shape: bool
) -> list[Result]:
    """`results` if they can be the gradients of `op`'s inputs; TensorFlow's errors if not.
    any_shape: they are summed to their inputs' shapes afterwards."""
    if len(results) != len(op.inputs):
        raise GradstepError(
            f"Num gradients {len(results)} generated for op '{op.name}' (op type: {op.type}, "
            f"gradient: {name}) do not match num inputs {len(op.inputs)}",
            kind="ValueError",
            node=op.name,
            hint=f"return {len(op.inputs)} gradients, None for an input that has none",
        )
    for index, (grad, x) in enumerate(zip(results, view.inputs, strict=True)):
        if grad is None or isinstance(grad, IndexedSlices):
            continue
        if not isinstance(grad, Tensor):
            raise GradstepError(
                f"gradient '{name}' returned a {type(grad).__name__} for input {index}",
                kind="AttributeError",
                node=op.name,
                hint="a gradient function builds operations: return a tensor made from "
                "op.inputs and grad, or None",
            )
        if not any_shape and x.dtype is not DType.RESOURCE:  # a handle has no shape to speak of
            _check_shape(op, name, index, grad, x)
    return results


def _check_shape(op: Operation, name: str, index: int, grad: Tensor, x: Tensor) -> None:
    try:
        grad.shape.merge(x.shape)
    except ValueError:
        raise GradstepError(
            "Incompatible shapes between op input and calculated input gradient. Forward "
            f"operation: {op.name}. Input index: {index}. Original input shape: {x.shape}. "
            f"Calculated input gradient shape: {grad.shape}",
            kind="ValueError",
            node=op.name,
            hint=f"gradient '{name}' must return a tensor shaped like its input",
        ) from None
