"""Products of matrices, one or many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.linalg.linalg_composites import product, unbroadcast_batches
from gradstep.core.ops.catalogue.linalg.matrix_shape_rules import (
    PRODUCTS,
    Size,
    batch_shape,
    broadcast_batch,
    matrices,
    misfit,
    only,
    same_batch,
    same_size,
)
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.typing.static_values import conj

_INNER = "the columns of the first must match the rows of the second"


def _product_type(ctx: InferContext) -> TensorType:
    dtype = one_dtype(ctx)
    for kind in ctx.types:
        if kind.shape.rank not in (None, 2):
            raise misfit(
                ctx,
                f"Shape must be rank 2 but is rank {kind.shape.rank}",
                "MatMul takes one matrix each; BatchMatMulV2 takes many",
            )
    rows, columns = _outer_sizes(ctx, ctx.attr("transpose_a"), ctx.attr("transpose_b"))
    return TensorType(dtype, Shape.of(rows, columns))


def _outer_sizes(ctx: InferContext, flip_first: bool, flip_second: bool) -> tuple[Size, Size]:
    """Rows and columns of the products; fails when the inner sizes differ."""
    sizes = matrices(ctx, 0)[1:], matrices(ctx, 1)[1:]
    rows, inner = sizes[0][::-1] if flip_first else sizes[0]
    other_inner, columns = sizes[1][::-1] if flip_second else sizes[1]
    flags = [name for name in ctx.definition.attrs if name.startswith(("transpose", "adj"))]
    same_size(ctx, inner, other_inner, f"{_INNER}; {' and '.join(flags)} swap them")
    return rows, columns


def _check_inner(a: Any, b: Any, flip_first: bool, flip_second: bool) -> None:
    if a.shape[-2 if flip_first else -1] != b.shape[-1 if flip_second else -2]:
        raise GradstepError(
            f"Matrix size-incompatible: In[0]: {brackets(a.shape)}, In[1]: {brackets(b.shape)}",
            hint=_INNER,
        )


def _operands(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    if (a.ndim, b.ndim) != (2, 2):
        raise GradstepError(
            f"In[0] and In[1] has different ndims: {brackets(a.shape)} vs. {brackets(b.shape)}",
            hint="MatMul takes one matrix each",
        )
    _check_inner(a, b, transpose_a, transpose_b)
    return a.T if transpose_a else a, b.T if transpose_b else b


def _matmul(xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    return xp.matmul(*_operands(a, b, transpose_a, transpose_b))


def _matmul_calls(
    xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool, out: Any, room: Any
) -> Calls:
    yield np.matmul, *_operands(a, b, transpose_a, transpose_b), out


def _times(a: Tensor, b: Tensor, ta: bool = False, tb: bool = False) -> Tensor:
    return call("MatMul", a, b, transpose_a=ta, transpose_b=tb)


def _matmul_gradient(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    """For each pair of flags the product that undoes it; no Transpose is ever needed."""
    a, b = (conj(x) for x in op.inputs)
    ta, tb = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    if not ta and not tb:
        return _times(g, b, tb=True), _times(a, g, ta=True)
    if not ta:
        return _times(g, b), _times(g, a, ta=True)
    if not tb:
        return _times(b, g, tb=True), _times(a, g)
    return _times(b, g, True, True), _times(g, a, True, True)


_FLAGS = [(first, second) for first in (False, True) for second in (False, True)]


def _matmul_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample(
            (rng.normal(size=(3, 2) if ta else (2, 3)), rng.normal(size=(4, 3) if tb else (3, 4))),
            {"transpose_a": ta, "transpose_b": tb},
        )
        for ta, tb in _FLAGS
    ]


op(
    "MatMul",
    inputs="a b",
    outputs="product",
    attrs={"transpose_a": False, "transpose_b": False, "grad_a": False, "grad_b": False},
    type_attrs={"T": "a"},
    formula="matmul(a.T if transpose_a else a, b.T if transpose_b else b)",
    infer=only(PRODUCTS, _product_type),
    kernel=Kernels(_matmul, calls=_matmul_calls),
    gradient=_matmul_gradient,
    samples=_matmul_samples,
    arithmetic="product",
    doc="The product of two matrices, either of them transposed first if asked for.",
)


def _equal_batches_type(ctx: InferContext) -> TensorType:
    batch = same_batch(ctx, matrices(ctx, 0)[0], matrices(ctx, 1)[0])
    return TensorType(one_dtype(ctx), batch_shape(batch, *_batch_outer_sizes(ctx)))


def _broadcasting_type(ctx: InferContext) -> TensorType:
    batch = broadcast_batch(ctx, matrices(ctx, 0)[0], matrices(ctx, 1)[0])
    return TensorType(one_dtype(ctx), batch_shape(batch, *_batch_outer_sizes(ctx)))


def _mixed_type(ctx: InferContext) -> TensorType:
    batch = broadcast_batch(ctx, matrices(ctx, 0)[0], matrices(ctx, 1)[0])
    dtypes, out = [kind.dtype for kind in ctx.types], DType(ctx.attr("Tout"))
    small = all(d in (DType.INT8, DType.UINT8) for d in dtypes) and out is DType.INT32
    if not small and (dtypes != [out, out] or out not in _MANY):
        raise ctx.fail(
            f"BatchMatMulV3 does not make {out.value} of {dtypes[0].value} and {dtypes[1].value}",
            hint="all three must be equal, or int8 and uint8 give int32",
        )
    return TensorType(out, batch_shape(batch, *_batch_outer_sizes(ctx)))


def _batch_outer_sizes(ctx: InferContext) -> tuple[Size, Size]:
    return _outer_sizes(ctx, ctx.attr("adj_x"), ctx.attr("adj_y"))


def _adjoint(xp: Any, x: Any, wanted: bool) -> Any:
    if not wanted:
        return x
    flipped = xp.swapaxes(x, -1, -2)
    return xp.conj(flipped) if x.dtype.kind == "c" else flipped


def _check_batches(x: Any, y: Any) -> None:
    for index, each in enumerate((x, y)):
        if each.ndim < 2:
            raise GradstepError(
                f"In[{index}] ndims must be >= 2: {each.ndim}",
                hint="a matrix has rows and columns",
            )
    try:
        np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise GradstepError(
            "In[0] and In[1] must have compatible batch dimensions: "
            f"{brackets(x.shape)} vs. {brackets(y.shape)}",
            hint="the axes before the last two broadcast: sizes must be equal or 1",
        ) from None


def _check_equal_batches(x: Any, y: Any) -> None:
    if x.ndim != y.ndim or x.ndim < 2:
        raise GradstepError(
            f"In[0] and In[1] has different ndims: {brackets(x.shape)} vs. {brackets(y.shape)}",
            hint="BatchMatMulV2 broadcasts",
        )
    for axis, sizes in enumerate(zip(x.shape[:-2], y.shape[:-2], strict=True)):
        if sizes[0] != sizes[1]:
            raise GradstepError(
                f"In[0].dim({axis}) and In[1].dim({axis}) must be the same: "
                f"{brackets(x.shape)} vs {brackets(y.shape)}",
                hint="BatchMatMulV2 broadcasts",
            )


def _batch_matmul(xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool) -> Any:
    _check_batches(x, y)
    _check_inner(x, y, adj_x, adj_y)
    return xp.matmul(_adjoint(xp, x, adj_x), _adjoint(xp, y, adj_y))


def _batch_calls(
    xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool, out: Any, room: Any
) -> Calls:
    _check_batches(x, y)
    _check_inner(x, y, adj_x, adj_y)
    if x.dtype.kind == "c":  # whose adjoint is no view
        yield _multiply_into, xp, x, y, adj_x, adj_y, out
    else:
        yield np.matmul, _adjoint(xp, x, adj_x), _adjoint(xp, y, adj_y), out


def _multiply_into(xp: Any, x: Any, y: Any, adj_x: bool, adj_y: bool, out: Any) -> None:
    xp.matmul(_adjoint(xp, x, adj_x), _adjoint(xp, y, adj_y), out=out)


def _equal_batch_calls(
    xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool, out: Any, room: Any
) -> Calls:
    _check_equal_batches(x, y)
    return _batch_calls(xp, x, y, adj_x=adj_x, adj_y=adj_y, out=out, room=room)


def _equal_batch_matmul(xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool) -> Any:
    _check_equal_batches(x, y)
    return _batch_matmul(xp, x, y, adj_x=adj_x, adj_y=adj_y)


def _mixed_matmul(xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool, Tout: DType) -> Any:  # noqa: N803
    wide = DType(Tout).numpy
    return _batch_matmul(xp, x.astype(wide), y.astype(wide), adj_x=adj_x, adj_y=adj_y)


def _factor_gradients(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    x, y = op.inputs
    adj_x, adj_y = op.get_attr("adj_x"), op.get_attr("adj_y")
    if adj_x:
        of_x = product(y, g, adjoint_a=adj_y, adjoint_b=True)
    else:
        of_x = product(g, y, adjoint_b=not adj_y)
    if adj_y:
        return of_x, product(g, x, adjoint_a=True, adjoint_b=adj_x)
    return of_x, product(x, g, adjoint_a=not adj_x)


def _broadcast_gradients(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    x, y = op.inputs
    return unbroadcast_batches(_factor_gradients(op, g), (x, y))


def _batch_samples(*batches: tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
    def make(rng: np.random.Generator) -> list[Sample]:
        return [
            Sample(
                (
                    rng.normal(size=(*first, *((3, 2) if adj_x else (2, 3)))),
                    rng.normal(size=(*second, *((1, 3) if adj_y else (3, 1)))),
                ),
                {"adj_x": adj_x, "adj_y": adj_y},
            )
            for first, second in batches
            for adj_x, adj_y in _FLAGS
        ]

    return make


def _mixed_samples(rng: np.random.Generator) -> list[Sample]:
    pair = rng.integers(-128, 128, (2, 1, 3), np.int8), rng.integers(0, 256, (3, 2), np.uint8)
    return [Sample(pair, {"Tout": DType.INT32})]


_MANY = (*PRODUCTS, DType.INT16)
_FORMULA = "matmul(adjoint_if(adj_x, x), adjoint_if(adj_y, y))"
_ATTRS: dict[str, Any] = {"adj_x": False, "adj_y": False, "grad_x": False, "grad_y": False}
_BROADCAST = (((2,), (2,)), ((2, 1), (3,)), ((), (2,)), ((), ()))

op(
    "BatchMatMul",
    inputs="x y",
    attrs=_ATTRS,
    type_attrs={"T": "x"},
    formula=_FORMULA,
    infer=only(PRODUCTS, _equal_batches_type),
    kernel=Kernels(_equal_batch_matmul, calls=_equal_batch_calls),
    gradient=_factor_gradients,
    samples=_batch_samples(((2,), (2,)), ((1, 2), (1, 2))),
    arithmetic="product",
    doc="Products of matrices, pair by pair; adj_x and adj_y take the adjoint of each first.",
)
op(
    "BatchMatMulV2",
    inputs="x y",
    attrs=_ATTRS,
    type_attrs={"T": "x"},
    formula=_FORMULA,
    infer=only(_MANY, _broadcasting_type),
    kernel=Kernels(_batch_matmul, calls=_batch_calls),
    gradient=_broadcast_gradients,
    samples=_batch_samples(*_BROADCAST),
    arithmetic="product",
    doc="Products of matrices, whose batches broadcast; adj_x and adj_y take the adjoint first.",
)
op(
    "BatchMatMulV3",
    inputs="x y",
    attrs={"Tout": DType, **_ATTRS},
    type_attrs={"Ta": "x", "Tb": "y"},
    formula="matmul(adjoint_if(adj_x, astype(x, Tout)), adjoint_if(adj_y, astype(y, Tout)))",
    infer=_mixed_type,
    kernel=_mixed_matmul,
    gradient=_broadcast_gradients,
    samples=_mixed_samples,
    arithmetic="product",
    doc="BatchMatMulV2 with an element type of its own for the result: int8 factors give int32.",
)
