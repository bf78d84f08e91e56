"""Diagonals of matrices and tensors: taken out, put in, and made into matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, Shape, TensorType
from gradstep.core.ops.build.builder import call
from gradstep.core.ops.catalogue.linalg import diagonal_kernels as rules
from gradstep.core.ops.catalogue.linalg.diagonal_places import ALIGNMENTS, diagonals
from gradstep.core.ops.catalogue.linalg.matrix_shape_rules import PRODUCTS, misfit, only, same_size
from gradstep.core.ops.declare.host_arrays import integer, integers
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op


def _tensor_type(ctx: InferContext) -> TensorType:
    dims, dtype = ctx.types[0].shape.dims, ctx.types[0].dtype
    if dims == ():
        raise misfit(ctx, "Shape must be at least rank 1 but is rank 0")
    return TensorType(dtype, UNKNOWN if dims is None else Shape(dims * 2))


def _diag(xp: Any, diagonal: Any) -> Any:
    if not diagonal.ndim:
        raise GradstepError("Input must be at least rank 1, got 0")
    size = diagonal.size
    made = xp.zeros((size, size), dtype=diagonal.dtype)
    places = xp.arange(size)
    made[places, places] = diagonal.reshape(-1)
    return made.reshape(diagonal.shape * 2)


def _tensor_part_type(ctx: InferContext) -> TensorType:
    dims, dtype = ctx.types[0].shape.dims, ctx.types[0].dtype
    if dims is None:
        return TensorType(dtype, UNKNOWN)
    if not dims or len(dims) % 2:
        raise misfit(ctx, f"Input must have even and non-zero rank, input rank is {len(dims)}")
    half = len(dims) // 2
    pairs = zip(dims[:half], dims[half:], strict=True)
    return TensorType(dtype, Shape(tuple(same_size(ctx, a, b) for a, b in pairs)))


def _diag_part(xp: Any, x: Any) -> Any:
    half = x.ndim // 2
    if not x.ndim or x.ndim % 2:
        raise GradstepError(
            f"The rank of the tensor should be even and positive, got shape {brackets(x.shape)}"
        )
    for axis in range(half):
        if x.shape[axis] != x.shape[axis + half]:
            raise GradstepError(
                f"Invalid shape {brackets(x.shape)}: dimensions {axis} and {axis + half} do not "
                "match."
            )
    shape = x.shape[:half]
    size = int(np.prod(shape, dtype=np.int64))
    places = xp.arange(size)
    return x.reshape(size, size)[places, places].reshape(shape)


op(
    "Diag",
    inputs="diagonal",
    type_attrs={"T": "diagonal"},
    formula="diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)",
    infer=only(PRODUCTS, _tensor_type),
    kernel=_diag,
    gradient=lambda op, g: call("DiagPart", g),
    samples=lambda rng: [Sample((rng.normal(size=shape),)) for shape in ((3,), (2, 3))],
    arithmetic="exact",
    python="diag tensor_diag",
    doc="A tensor of twice the rank, zero but where both halves of the index are equal.",
)
op(
    "DiagPart",
    inputs="input",
    outputs="diagonal",
    type_attrs={"T": "input"},
    formula="tensor_diagonal(input)",
    infer=only(PRODUCTS, _tensor_part_type),
    kernel=_diag_part,
    gradient=lambda op, g: call("Diag", g),
    samples=lambda rng: [Sample((rng.normal(size=shape),)) for shape in ((3, 3), (2, 3, 2, 3))],
    arithmetic="exact",
    python="diag_part tensor_diag_part",
    doc="The elements where both halves of the index are equal: Diag undone.",
)


def _part(xp: Any, x: Any, k: Any, padding: Any, align: str = "LEFT_LEFT") -> Any:
    return rules.taken(xp, x, diagonals(integers(k)), padding, align)


def _made(
    xp: Any, x: Any, k: Any, rows: Any, columns: Any, padding: Any, align: str = "LEFT_LEFT"
) -> Any:
    size = integer(rows), integer(columns)
    return rules.matrix(xp, x, diagonals(integers(k)), size, padding, align)


def _set(xp: Any, x: Any, given: Any, k: Any, align: str = "LEFT_LEFT") -> Any:
    return rules.replaced(xp, x, given, diagonals(integers(k)), align)


def _aligned(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def with_alignment(xp: Any, *inputs: Any, align: str) -> Any:
        return kernel(xp, *inputs, align)

    return with_alignment


def _first_samples(*shapes: tuple[int, ...]) -> Any:
    return lambda rng: [Sample((rng.normal(size=shape),)) for shape in shapes]


def _part_samples(*attrs: dict[str, Any]) -> Any:
    """Only without padding is there a gradient for each input."""

    def make(rng: np.random.Generator) -> list[Sample]:
        x, padding = rng.normal(size=(2, 3, 4)), np.float64(9)
        ks = (np.int32(0), ints(1)), (ints(-1, 1), ints(-2, 3))
        return [
            Sample((x, k, padding), each, differentiable=not padded)
            for padded, which in enumerate(ks)
            for k in which
            for each in attrs
        ]

    return make


def _matrix_samples(*attrs: dict[str, Any]) -> Any:
    def make(rng: np.random.Generator) -> list[Sample]:
        sizes, least = (np.int32(-1), np.int32(-1)), np.float64(9)
        band = rng.normal(size=(2, 3, 2)), ints(-1, 1), *sizes, least
        others = [
            (rng.normal(size=(2, 3)), np.int32(1), *sizes, least),
            (rng.normal(size=(2, 3)), ints(-1), np.int32(5), np.int32(3), least),
            (rng.normal(size=(2, 3)), ints(0, 1), np.int32(3), np.int32(4), least),
            (rng.normal(size=(2, 3)), ints(-1, 0), np.int32(-1), np.int32(3), least),
        ]
        full = [Sample(band, each) for each in attrs]
        return full + [Sample(i, each, differentiable=False) for i in others for each in attrs]

    return make


def _set_samples(*attrs: dict[str, Any]) -> Any:
    def make(rng: np.random.Generator) -> list[Sample]:
        x, one, many = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=(2, 3))
        pairs = (one, np.int32(0)), (one, ints(1)), (many, ints(0, 1)), (many, ints(-1, 0))
        return [Sample((x, *pair), each) for pair in pairs for each in attrs]

    return make


_OTHER_SIDE = (
    "of several diagonals the gradient is right; TensorFlow's puts those above the main one, "
    "where they are shorter, at the wrong end"
)
_ALIGNED = [{"align": align} for align in ALIGNMENTS]
_ALIGN: dict[str, Any] = {"attrs": {"align": "RIGHT_LEFT"}, "choices": {"align": ALIGNMENTS}}

op(
    "MatrixDiag",
    inputs="diagonal",
    type_attrs={"T": "diagonal"},
    formula="matrix_of(diagonal, 0, -1, -1, 0, 'LEFT_LEFT')",
    infer=rules.matrix_type,
    kernel=lambda xp, given: rules.matrix(xp, given, rules.MAIN, (-1, -1), None, "LEFT_LEFT"),
    gradient=rules.matrix_gradient,
    samples=_first_samples((3,), (2, 3)),
    arithmetic="exact",
    doc="Square matrices with these diagonals, zero elsewhere.",
)
op(
    "MatrixDiagPart",
    inputs="input",
    outputs="diagonal",
    type_attrs={"T": "input"},
    formula="diagonals_of(input, 0, 0, 'LEFT_LEFT')",
    infer=rules.taken_type,
    kernel=lambda xp, x: rules.taken(xp, x, rules.MAIN, None, "LEFT_LEFT"),
    gradient=rules.part_gradient,
    samples=_first_samples((3, 3), (2, 3, 2), (2, 2, 3)),
    arithmetic="exact",
    doc="The diagonal of each matrix.",
)
op(
    "MatrixSetDiag",
    inputs="input diagonal",
    type_attrs={"T": "input"},
    formula="with_diagonals(input, diagonal, 0, 'LEFT_LEFT')",
    infer=rules.replaced_type,
    kernel=lambda xp, x, given: rules.replaced(xp, x, given, rules.MAIN, "LEFT_LEFT"),
    gradient=rules.set_gradient,
    samples=lambda rng: [Sample((rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3))))],
    arithmetic="exact",
    doc="Each matrix with another diagonal.",
)
for _version, _attrs, _samples in (
    ("V2", {}, ({},)),
    ("V3", _ALIGN, _ALIGNED),
):
    _align = "align" if _attrs else "'LEFT_LEFT'"
    _gradient_differs = "" if _attrs else _OTHER_SIDE
    _words = "; align says at which end the shorter ones are filled up" if _attrs else ""
    op(
        f"MatrixDiag{_version}",
        inputs="diagonal #k:int32 #num_rows:int32 #num_cols:int32 padding_value:diagonal",
        type_attrs={"T": "diagonal"},
        formula=f"matrix_of(diagonal, k, num_rows, num_cols, padding_value, {_align})",
        infer=rules.matrix_type,
        kernel=_aligned(_made) if _attrs else _made,
        gradient=rules.matrix_gradient,
        samples=_matrix_samples(*_samples),
        arithmetic="exact",
        doc=f"Matrices with these diagonals, k saying which; padding_value elsewhere{_words}.",
        kinks="padding_value has no gradient",
        differs=_gradient_differs,
        **_attrs,
    )
    op(
        f"MatrixDiagPart{_version}",
        inputs="input #k:int32 padding_value:input",
        outputs="diagonal",
        type_attrs={"T": "input"},
        formula=f"diagonals_of(input, k, padding_value, {_align})",
        infer=rules.taken_type,
        kernel=_aligned(_part) if _attrs else _part,
        gradient=rules.part_gradient,
        samples=_part_samples(*_samples),
        arithmetic="exact",
        doc=f"The diagonals k of each matrix, the highest first{_words}.",
        kinks="padding_value has no gradient",
        differs=_gradient_differs,
        **_attrs,
    )
    op(
        f"MatrixSetDiag{_version}",
        inputs="input diagonal #k:int32",
        type_attrs={"T": "input"},
        formula=f"with_diagonals(input, diagonal, k, {_align})",
        infer=rules.replaced_type,
        kernel=_aligned(_set) if _attrs else _set,
        gradient=rules.set_gradient,
        samples=_set_samples(*_samples),
        arithmetic="exact",
        doc=f"Each matrix with other diagonals k{_words}.",
        differs=_gradient_differs,
        **_attrs,
    )
