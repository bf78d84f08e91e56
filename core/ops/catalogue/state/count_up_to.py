"""CountUpTo: counting up to a limit, as `limit_epochs` does."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, DType, Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import Writes
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type


def _counted(ctx: InferContext) -> TensorType:
    want_rank(ctx, 0, 0)
    dtype = ctx.attr("T") if "T" in ctx.definition.attrs else ctx.types[0].dtype
    if dtype not in (DType.INT32, DType.INT64):
        raise wrong_type(ctx, dtype, "a variable of int32 or int64")
    return TensorType(dtype, Shape.of())


def _count(xp: Any, ref: Any, *, limit: int) -> tuple[Any, Any]:
    if ref.item() >= limit:
        raise GradstepError(
            f"Reached limit of {limit}",
            kind="OutOfRangeError",
            hint="this is how it says that it is done; set the variable to count again",
        )
    return xp.array(ref), ref + xp.ones_like(ref)


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [Sample((np.array(n, np.int32),), {"limit": 5}) for n in (0, 4)]


for _type, _input, _extra, _doc in (
    ("CountUpTo", "&ref", {}, "The variable's value, which it then makes one larger."),
    ("ResourceCountUpTo", "resource:variable", {"T": DType}, "The same for a resource variable."),
):
    op(
        _type,
        inputs=_input,
        attrs={"limit": int, **_extra},
        type_attrs={} if _extra else {"T": "ref"},
        choices=dict.fromkeys(_extra, INDEX),
        formula=_input.strip("&").partition(":")[0],
        infer=_counted,
        kernel=Kernels(_count, asks="whether the limit is reached"),
        state=Writes((0,)),
        gradient=NOT_DIFFERENTIABLE,
        samples=lambda rng, _extra=_extra: [  # type: ignore[misc]
            Sample(s.inputs, {**s.attrs, **({"T": DType.INT32} if _extra else {})})
            for s in _samples(rng)
        ],
        arithmetic="exact",
        doc=_doc,
    )
