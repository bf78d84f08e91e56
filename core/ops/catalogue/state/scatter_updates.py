"""Updates of some rows of a variable, ref or resource."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import Writes
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.numerics import scatter
from gradstep.core.ops.numerics.index_bounds import (
    bounds_hint,
    check,
    refused_whole,
    resolve,
    subscript,
)
from gradstep.core.ops.numerics.scatter import Combine, combine_rows

WHOLE_OR_NOTHING = (
    "an index outside leaves the variable as it was; TensorFlow applies the rows before it"
)


def check_types(ctx: InferContext, numbers: bool) -> None:
    """Fail unless indices are integers, and updates are of the variable's element type."""
    ref, indices, updates = ctx.types
    if indices.dtype not in (DType.INT32, DType.INT64):
        raise wrong_type(ctx, indices.dtype, "indices of int32 or int64")
    if ref.dtype not in (updates.dtype, DType.RESOURCE):
        wanted = f"updates of the variable's type ({ref.dtype.value})"
        raise wrong_type(ctx, updates.dtype, wanted)
    if numbers and updates.dtype in (DType.BOOL, DType.STRING):
        raise wrong_type(ctx, updates.dtype, "numbers")


def _check_shapes(ref: Shape, indices: Shape, updates: Shape) -> None:
    """Updates are [*indices.shape, *ref.shape[1:]], or one number for all. Raises GradstepError."""
    if ref.rank == 0:
        raise GradstepError(f"params must be at least 1-D, got shape {brackets(ref.dims)}")
    if ref.dims is None or indices.dims is None or updates.rank == 0:
        return
    wanted = Shape((*indices.dims, *ref.dims[1:]))
    try:
        wanted.merge(updates)
    except ValueError:
        raise GradstepError(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
            f"got updates.shape {brackets(updates.dims)}, indices.shape {brackets(indices.dims)}, "
            f"params.shape {brackets(ref.dims)}",
            hint=f"the updates must be of shape {wanted}",
        ) from None


def _scattered(ctx: InferContext, numbers: bool) -> TensorType | tuple[TensorType, ...]:
    check_types(ctx, numbers)
    _check_shapes(*(kind.shape for kind in ctx.types))
    if not ctx.definition.outputs:
        return ()
    return TensorType(ctx.types[0].dtype, ctx.types[0].shape, ref=True)


def _no_such_row(indices: Any, place: tuple[int, ...], size: int) -> GradstepError:
    value = indices[place].item()
    return GradstepError(
        f"indices{subscript(place)} = {value} is not in [0, {size})",
        index=place,
        hint=bounds_hint(size),
    )


def _rows(indices: np.ndarray, size: int, rules: Rules) -> np.ndarray:
    """The rows that `indices` name under these rules, all in one line; -1 where none."""
    rows, outside = resolve(np, indices, size, rules.scatter, rules.negative_ok)
    if rules.scatter == "raise":
        check(np, outside, lambda place: refused_whole(_no_such_row(indices, place, size)))
    elif size == 0 or outside is not None:
        rows = np.where(size == 0 or outside, -1, rows)
    flat: np.ndarray = np.asarray(rows).reshape(-1)
    return flat


def _scatter(xp: Any, ref: Any, indices: Any, updates: Any, combine: Combine, rules: Rules) -> Any:
    _check_shapes(*(Shape(tuple(x.shape)) for x in (ref, indices, updates)))
    rows = _rows(indices, ref.shape[0], rules)
    every = xp.broadcast_to(updates, (*indices.shape, *ref.shape[1:]))
    return combine_rows(xp, ref, rows, every.reshape((rows.size, *ref.shape[1:])), combine)


def _kernel(combine: Combine, resource: bool) -> Callable[..., Any]:
    def kernel(xp: Any, ref: Any, indices: Any, updates: Any, *, rules: Rules = TF_CPU) -> Any:
        # TensorFlow refuses zeros for a resource variable only; no integer can be divided by them.
        if combine is scatter.divide and (resource or ref.dtype.kind in "iu"):
            _refuse_zeros(xp, updates)
        return _scatter(xp, ref, indices, updates, combine, rules)

    return kernel


def _refuse_zeros(xp: Any, updates: Any) -> None:
    if updates.size and xp.any(updates == 0).item():
        raise GradstepError("updates must not contain 0", hint="nothing can be divided by it")


def _samples(rng: np.random.Generator) -> list[Sample]:
    def draw(*shape: int) -> np.ndarray:
        drawn: np.ndarray = rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape)
        return drawn

    return [
        Sample((draw(4, 2), ints(2, 0, 2, 2), draw(4, 2))),
        Sample((draw(5), np.array([[1, 4], [1, 0]], np.int64), draw(2, 2))),
        Sample((draw(3, 2), ints(2, 0), draw())),
        Sample((draw(3, 2), np.array(1, np.int32), draw(2))),
        Sample((draw(3, 2), ints(), draw(0, 2))),
    ]


# Op -> how rows change, whether TensorFlow declares that it has no gradient, and in words.
_KINDS = {
    "Update": (scatter.replace, "new", False, "Replace rows of a variable"),
    "Add": (scatter.add, "old + new", True, "Add to rows of a variable"),
    "Sub": (scatter.subtract, "old - new", True, "Subtract from rows of a variable"),
    "Mul": (scatter.multiply, "old * new", True, "Multiply rows of a variable"),
    "Div": (scatter.divide, "old / new", True, "Divide rows of a variable"),
    "Min": (scatter.smaller, "minimum(old, new)", False, "Make rows of a variable no larger"),
    "Max": (scatter.larger, "maximum(old, new)", False, "Make rows of a variable no smaller"),
}

_ASKS = "whether a divisor is 0"

for _kind, (_combine, _rule, _declared, _doc) in _KINDS.items():
    op(
        f"Scatter{_kind}",
        inputs="&ref #indices updates",
        outputs="&output_ref",
        attrs={"use_locking": _kind == "Update"},
        type_attrs={"T": "updates", "Tindices": "indices"},
        formula=f"row_by_row('{_rule}', ref, indices, updates)",
        infer=partial(_scattered, numbers=_kind != "Update"),
        kernel=Kernels(_kernel(_combine, resource=False), asks=_ASKS if _kind == "Div" else ""),
        state=Writes((0,)),
        gradient=NOT_DIFFERENTIABLE if _declared else None,
        samples=_samples,
        arithmetic="reducing",
        doc=f"{_doc}, one index after the other; the output is the variable's buffer.",
        differs=WHOLE_OR_NOTHING,
    )
    op(
        f"ResourceScatter{_kind}",
        inputs="resource:variable #indices updates",
        outputs="",
        attrs={"dtype": DType},
        type_attrs={"Tindices": "indices"},
        formula=f"row_by_row('{_rule}', resource, indices, updates)",
        infer=partial(_scattered, numbers=_kind != "Update"),
        kernel=Kernels(_kernel(_combine, resource=True), asks=_ASKS if _kind == "Div" else ""),
        state=Writes((0,)),
        gradient=NOT_DIFFERENTIABLE,
        samples=_samples,
        arithmetic="reducing",
        doc=f"{_doc}, one index after the other.",
        differs=WHOLE_OR_NOTHING,
    )
