"""Switch and Merge: data goes into one of two branches, and what comes out is merged.

What needs the output that a Switch does not use is dead, and does not run. The gradient of a Merge
is a Switch, and that of a Switch a Merge, of what comes back and zeros: an input that only the
other branch reads has the gradient zero, and not None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, DType, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.declare.declared_gradient import Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_memory import View
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.typing.static_values import shape_of

Cotangent = Tensor | IndexedSlices


def _both(ctx: InferContext) -> tuple[TensorType, ...]:
    data, predicate = ctx.types
    if predicate.dtype is not DType.BOOL:
        raise ctx.fail(
            f"Input 'pred' of '{ctx.op.type}' Op has type {predicate.dtype.value} that does not "
            "match expected type of bool.",
            hint="compare it with something, or put a Cast to bool before it",
        )
    if predicate.shape.rank not in (0, None):
        raise ctx.fail(
            f"Shape must be rank 0 but is rank {predicate.shape.rank}",
            hint="one branch is taken for all: use Select to choose element by element",
        )
    kind = data if ctx.op.type == "RefSwitch" else _plain(data)
    return kind, kind


def _plain(kind: TensorType) -> TensorType:
    return replace(kind, ref=False)


def _switch(xp: Any, data: Any, pred: Any) -> tuple[Any, Any]:
    """Nobody looks at the output that is dead."""
    if pred.ndim:
        raise GradstepError(
            f"The second input must be a scalar, but it has shape {list(pred.shape)}",
            kind="InvalidArgumentError",
            hint="one branch is taken for all: use Select to choose element by element",
        )
    return data, data


def _switch_into(xp: Any, data: Any, pred: Any, *, out: Any) -> Any:
    """The outputs may be one place."""
    first, second = out
    for place in (first,) if second is first else (first, second):
        xp.copyto(place, _switch(xp, data, pred)[0])
    return out


def _switch_gradient(op: OpView, *grads: Cotangent | None) -> tuple[Cotangent | None, None]:
    """What comes back out of the branch that was taken, or zeros. Zeros that stand for an output
    that nobody reads are dead where the branch of the other was taken, and so are gradients of what
    is in a branch; both are gradients only where somebody uses both outputs."""
    known = [g for g in grads if g is not None]
    if not known:
        return None, None
    sides = [_zeros(op, i, known[0]) if g is None else g for i, g in enumerate(grads)]
    if not any(g is None or _is_zeros(op, i, g) for i, g in enumerate(grads)):
        sides = [_side(g, op.inputs[1], i) for i, g in enumerate(sides)]
    elif _is_zeros(op, 1, sides[1]):
        return _merged(sides[::-1], op.inputs[0]), None
    return _merged(sides, op.inputs[0]), None


def _is_zeros(op: OpView, index: int, g: Cotangent | None) -> bool:
    made = isinstance(g, Tensor) and g.op.type == "ZerosLike"
    return made and g.op.inputs[0].ref == op.outputs[index].ref  # type: ignore[union-attr]


def _zeros(op: OpView, index: int, like: Cotangent) -> Tensor:
    """Zeros for a variable that is passed by its handle."""
    values = like.values if isinstance(like, IndexedSlices) else like
    shape = call("VariableShape", op.outputs[index], out_type=DType.INT32)
    return call("Fill", shape, np.zeros((), values.dtype.numpy), name="zeros")


def _side(g: Cotangent, pred: Tensor, index: int) -> Cotangent:
    """`g` where the branch of output `index` is taken."""

    def of(x: Tensor) -> Tensor:
        return call_many("Switch", x, pred)[index]

    if isinstance(g, Tensor):
        return of(g)
    return IndexedSlices(of(g.values), of(g.indices), g.dense_shape)


def _merged(sides: Sequence[Cotangent], data: Tensor) -> Cotangent:
    if all(isinstance(g, Tensor) for g in sides):
        return call_many("Merge", *sides, name="cond_grad")[0]
    rows = [_rows(g) for g in sides]
    wide = next((r.indices.dtype for r in rows if r.indices.dtype is DType.INT64), DType.INT32)
    indices = [
        r.indices if r.indices.dtype is wide else call("Cast", r.indices, DstT=wide) for r in rows
    ]
    given = next(g for g in sides if isinstance(g, IndexedSlices))
    return IndexedSlices(
        call_many("Merge", *(r.values for r in rows), name="cond_grad")[0],
        call_many("Merge", *indices, name="cond_grad_indices")[0],
        given.dense_shape,
    )


def _rows(g: Cotangent) -> IndexedSlices:
    """All the rows of a whole tensor, as TensorFlow converts it."""
    if isinstance(g, IndexedSlices):
        return g
    shape = shape_of(g)
    zero, one = np.array(0, np.int32), np.array(1, np.int32)
    count = call("GatherV2", call("Shape", g), zero, zero)
    return IndexedSlices(g, call("Range", zero, count, one), shape)


for _type, _data in (("Switch", "data"), ("RefSwitch", "&data")):
    op(
        _type,
        inputs=f"{_data} pred:bool",
        outputs="&output_false output_true",
        type_attrs={"T": "data"},
        formula="data",
        infer=_both,
        kernel=Kernels(_switch, out=_switch_into),
        memory=View(),
        gradient=Gradient(_switch_gradient, takes_slices=True),
        branch="switch",
        arithmetic="exact",
        doc="Passes data on at output_true where pred is true, else at output_false; what "
        "needs the other output is dead and does not run.",
    )


def _one(ctx: InferContext) -> tuple[TensorType, TensorType]:
    if not ctx.types:
        raise ctx.fail("Merge takes at least one input", hint="connect what is to be merged")
    first = ctx.types[0]
    shape = first.shape
    for other in ctx.types[1:]:
        shape = shape.in_common(other.shape)
    alike = all((k.handle, k.holds) == (first.handle, first.holds) for k in ctx.types)
    merged = TensorType(one_dtype(ctx), shape)
    if alike:
        merged = replace(merged, handle=first.handle, holds=first.holds)
    return merged, TensorType(DType.INT32, SCALAR)


def _merge_gradient(op: OpView, g: Tensor, _: Tensor | None) -> list[Tensor]:
    """To each input where it was the one that was taken."""
    taken = op.outputs[1]
    if len(op.inputs) == 2:
        second = call("Equal", taken, np.array(1, np.int32))
        return list(call_many("Switch", g, second, name="cond_grad"))
    return [
        call_many("Switch", g, call("Equal", taken, np.array(i, np.int32)), name="cond_grad")[1]
        for i in range(len(op.inputs))
    ]


for _type in ("Merge", "RefMerge"):
    op(
        _type,
        inputs="inputs*",
        outputs="output value_index",
        type_attrs={"T": "inputs", "N": "len(inputs)"},
        infer=_one,
        kernel=lambda xp, *inputs: (inputs[0], np.int32(0)),
        gradient=_merge_gradient,
        branch="merge",
        arithmetic="exact",
        doc="The one of its inputs that is not dead, and which of them that is.",
    )
