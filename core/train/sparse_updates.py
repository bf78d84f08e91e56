"""The updates by rows that TensorFlow composes of several ops: gradient descent and Adam."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.train.unique_rows import sum_duplicate_rows
from gradstep.core.train.update_ops import Update


def descend_rows(update: Update, variable: str, rate: Tensor, rows: IndexedSlices) -> None:
    """Gradient descent of the named rows, a row named twice in two steps."""
    builder, target = update.builder, update.builder.get(TensorRef(variable))
    with update.updating(variable) as scope:
        rate = update.cast(rate, variable)
        if target.dtype is DType.RESOURCE:
            step = builder.one("Mul", -rows.values, rate, name="mul")
        else:
            step = builder.one("Mul", rows.values, rate, name="mul")
            done = builder.one("ScatterSub", target, rows.indices, step, use_locking=False)
            update.done(done.ref.op)
            return
    attrs = {"dtype": step.dtype}
    update.done(
        update.no_result(scope, "ResourceScatterAdd", target, rows.indices, step, attrs=attrs)
    )


def adam_rows(
    update: Update,
    variable: str,
    slots: Sequence[Tensor],
    powers: Sequence[Tensor],
    hyper: Sequence[Tensor],
    rows: IndexedSlices,
) -> None:
    """Adam where the gradient is rows: the moments decay everywhere, the rows add to them, and
    the whole variable moves."""
    builder = update.builder
    with update.updating(variable) as scope:
        unique = sum_duplicate_rows(rows)
        scalars = [update.cast(update.value(x), variable) for x in (*powers, *hyper)]
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = scalars
        rate = rate * builder.one("Sqrt", 1 - beta2_power) / (1 - beta1_power)
        g = unique.values
        mean, first = _moment(update, scope, slots[0], beta1, unique.indices, g * (1 - beta1))
        square = (g * g) * (1 - beta2)
        variance, second = _moment(update, scope, slots[1], beta2, unique.indices, square)
        step = rate * mean / (builder.one("Sqrt", variance) + epsilon)
        target = builder.get(TensorRef(variable))
        if target.dtype is not DType.RESOURCE:
            last = builder.one("AssignSub", target, step, use_locking=False).ref.op
        else:
            attrs = {"dtype": step.dtype}
            last = update.no_result(scope, "AssignSubVariableOp", target, step, attrs=attrs)
        group = update.no_result(scope, "NoOp", control_inputs=(last, first, second))
    update.done(group)


def _moment(
    update: Update, scope: str, slot: Tensor, factor: Tensor, indices: Tensor, rows: Tensor
) -> tuple[Tensor, str]:
    """slot = slot * factor, and then `rows` added to those that are named; what it holds then,
    and the operation after which it does."""
    builder = update.builder
    if slot.dtype is not DType.RESOURCE:
        decayed = builder.one("Assign", slot, update.read_once(slot) * factor, use_locking=False)
        with builder.control_dependencies([decayed.ref.op]):
            added = builder.one("ScatterAdd", slot, indices, rows, use_locking=False)
        return added, added.ref.op
    attrs = {"dtype": rows.dtype}
    product = update.value(slot) * factor
    decayed_by = update.no_result(
        scope, "AssignVariableOp", slot, product, attrs={**attrs, "validate_shape": True}
    )
    added_by = update.no_result(
        scope,
        "ResourceScatterAdd",
        slot,
        indices,
        rows,
        attrs=attrs,
        control_inputs=(decayed_by,),
    )
    with builder.control_dependencies([decayed_by, added_by]):
        read = update.value(slot)
    return read, read.ref.op
