"""Gradients of the ops of tensor arrays, by an array of gradients, as TensorFlow has them.

Reading an element writes its gradient to an array of gradients, and writing one reads it from
there.
"""

from __future__ import annotations

from typing import Any

from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.declare.declared_gradient import GradientRule

_GRADIENTS = "gradients"  # how TensorFlow's scopes of gradients begin


def source(g: Tensor) -> str:
    """The scope of the gradient computation that is under way: two of them must not share arrays.
    It is the scope around, up to its last part that begins with "gradients"."""
    parts = g.builder.scope_name.split("/")
    last = max((i for i, part in enumerate(parts) if part.startswith(_GRADIENTS)), default=-1)
    return "/".join(parts[: last + 1]) or _GRADIENTS


def read_gradient(write: str) -> GradientRule:
    """Of an op that reads elements: `write`, an op type, writes their gradients."""

    def rule(op: OpView, g: Tensor) -> tuple[Any, ...]:
        """`flow_in`: the flow of the array of gradients, once what comes back is added there."""
        handle, where, flow = op.inputs
        grads, grads_flow = _array(handle, flow, source(g))
        return None, None, call(write, grads, where, g, grads_flow)

    return rule


def concat_gradient(op: OpView, g: Tensor, lengths: Any) -> tuple[Any, ...]:
    """`flow_in`: the flow of the array of gradients, once the parts are added there."""
    handle, flow = op.inputs
    grads, grads_flow = _array(handle, flow, source(g))
    return None, call("TensorArraySplitV3", grads, g, op.outputs[1], grads_flow)


def write_gradient(read: str) -> GradientRule:
    """Of an op that writes elements: `read`, an op type, reads their gradients."""

    def rule(op: OpView, flow: Tensor) -> tuple[Any, ...]:
        """`value`: what is in the array of gradients; `flow_in`: the gradient's flow."""
        grads, grads_flow, late = _behind(op, flow)
        value = call(read, grads, op.inputs[1], grads_flow, dtype=op.inputs[2].dtype)
        return None, None, value, late

    return rule


def split_gradient(op: OpView, flow: Tensor) -> tuple[Any, ...]:
    """`value`: what is in the array of gradients, joined; `flow_in`: the gradient's flow."""
    grads, grads_flow, late = _behind(op, flow)
    value, _ = call_many("TensorArrayConcatV3", grads, grads_flow, dtype=op.inputs[1].dtype)
    return None, value, None, late


def _behind(op: OpView, flow: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The array of gradients and its flow, and the gradient's flow once `op` has written."""
    written = call("Identity", op.outputs[0], name="flow_out")
    late = call("Identity", flow, name="write_barrier", control_inputs=(written.ref.op,))
    return *_array(op.inputs[0], late, source(flow)), late


def _array(handle: Tensor, flow: Tensor, source: str) -> tuple[Tensor, Tensor]:
    """The array of gradients and its flow, which comes after `flow`."""
    with handle.builder.scope("TensorArrayGrad"):
        grads, _ = call_many("TensorArrayGradV3", handle, flow, source=source)
        waits = (grads.ref.op,)
        return grads, call("Identity", flow, name="gradient_flow", control_inputs=waits)
