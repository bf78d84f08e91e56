"""Calling one gradient rule, and checking the gradients that it returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradstep.core.autodiff.reverse.gradient_end import GradientEnd, left_out_by
from gradstep.core.autodiff.reverse.gradient_request import native_name
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction, find_rule
from gradstep.core.autodiff.reverse.unbroadcast import sum_to_shape_of
from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import GraphBuilder, OpView, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.input_description import with_inputs

Cotangent = Tensor | IndexedSlices | None


def call_rule(
    builder: GraphBuilder,
    op: Operation,
    name: str,
    functions: Mapping[str, GradientFunction],
    cotangents: Sequence[Cotangent],
) -> list[Cotangent]:
    """The gradients of `op`'s inputs, by the rule called `name`, from those of its outputs.

    Raises GradstepError at the operation: TensorFlow's errors for a rule that is not there or
    returns what cannot be a gradient; what a user's function raises, and what another op type's
    rule raises, is a GradientFunctionError."""
    is_custom, view = name in functions, OpView(builder, op)
    rule = find_rule(op, name, functions)
    try:
        returned = rule(view, *cotangents)
    except GradstepError as error:
        raise error.at(op.name) from None
    except Exception as error:
        raise _failed(view, name, error, is_custom) from error
    results = list(returned) if isinstance(returned, list | tuple) else [returned]
    if name == native_name(op) != op.type:  # a Python function that stands for another op
        results += [None] * (len(op.inputs) - len(results))
    definition = None if is_custom else find(name)
    if definition is None or not definition.broadcasts:
        return _check(op, name, results, view, any_shape=False)
    summed = [
        sum_to_shape_of(grad, x) if isinstance(grad, Tensor) else grad
        for grad, x in zip(
            _check(op, name, results, view, any_shape=True), view.inputs, strict=True
        )
    ]
    return _check(op, name, summed, view, any_shape=False)


def find_end(op: Operation, dtype: DType, custom: str) -> GradientEnd:
    """Why a rule gave no gradient for an input of this element type. custom: the name of the
    gradient that was called, if it is not the operation's own."""
    if custom:
        return left_out_by(custom)
    definition = find(op.type)
    if not dtype.is_differentiable:
        text = f"{dtype.value} values have no gradient"
    elif loop_of(op) is not None:
        text = "nothing comes back to it from the loop's iterations"
    elif definition is not None and not definition.gradient.differentiable:
        text = f"{op.type} has no gradient"
    else:
        text = f"{op.type} has no gradient for this input"
    return GradientEnd("not_differentiable", text)


def _failed(view: OpView, name: str, error: Exception, custom: bool) -> GradstepError:
    """What is to be said of a rule that raised: of the user's own function what it raised."""
    given = with_inputs(view.operation, [x.type for x in view.inputs])
    if not custom and name == view.operation.type:
        return unforeseen(f"the gradient of {given} could not be made", error, view.name)
    text = f"the gradient of {name} does not fit {given}"
    hint = f"it is for an operation with the inputs and outputs of {name}"
    if custom:
        text = f"gradient function '{name}' raised {type(error).__name__}: {error}"
        hint = "its signature is f(op, grad)"
    return GradstepError(
        text,
        kind="GradientFunctionError",
        node=view.name,
        hint=f"{hint}: one gradient per output in, one per input out",
    )


def _check(
    op: Operation, name: str, results: list[Any], view: OpView, any_shape: bool
) -> list[Cotangent]:
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
