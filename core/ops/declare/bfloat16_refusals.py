"""Op types whose registry in TensorFlow 2.21 allows floating-point numbers, and not bfloat16.

Float16 is taken wherever the mathematics takes it; bfloat16 only where TensorFlow does, so that
there is a number of TensorFlow's to hold every result to. A test holds this to a recording.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.declare.definition import Infer, InferContext
from gradstep.core.ops.declare.input_dtypes import not_allowed

_REAL = "float32 float64"
_HALF = f"float16 {_REAL}"
_COUNTED, _DRAWN = f"int32 int64 {_REAL}", f"{_HALF} int32 int64"
_MATRIX = "float64 float32 float16 complex64 complex128"
_DETERMINANT = f"{_HALF} complex64 complex128"
_ROWS = (
    ("T", _REAL, "Betainc Complex IgammaGradA Polygamma Zeta"),
    ("T", _HALF, "CholeskyGrad RandomGamma"),
    ("T", _COUNTED, "Bincount DenseBincount HistogramFixedWidth Bucketize"),
    ("T", _MATRIX, "Cholesky MatrixInverse MatrixSolve"),
    ("T", _DETERMINANT, "MatrixDeterminant LogMatrixDeterminant"),
    ("T", "float64 float32", "NextAfter"),
    ("T", "float32", "FusedBatchNorm FusedBatchNormGrad"),
    ("T", "float16 float32", "AdjustContrastv2"),
    ("T", "uint8 float32 float16 float64", "ImageSummary"),
    ("U", "float32", "FusedBatchNormV2 FusedBatchNormGradV2 FusedBatchNormGradV3"),
    ("R", _DRAWN, "RandomPoissonV2"),
)
# op type -> attribute that an input has -> what TensorFlow allows for it. (Others are `choices`.)
REFUSALS: dict[str, dict[str, str]] = {}
for _attr, _allowed, _types in _ROWS:
    for _type in _types.split():
        REFUSALS.setdefault(_type, {})[_attr] = _allowed


def refusing_bfloat16(type: str, rule: Infer, type_attrs: Mapping[str, str]) -> Infer:
    """`rule`, the type rule of op type `type`, which refuses bfloat16 where TensorFlow does."""
    refused = REFUSALS.get(type)
    if refused is None:
        return rule

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for attr, allowed in refused.items():
            if _given(ctx, type_attrs[attr]) is DType.BFLOAT16:
                kinds = [DType(name) for name in allowed.split()]
                text = not_allowed(attr, DType.BFLOAT16, kinds)
                raise ctx.fail(text, "put a Cast to float32 before it, and one back behind it")
        return rule(ctx)

    return checked


def _given(ctx: InferContext, name: str) -> DType:
    """The element type of the input of that name."""
    return ctx.types[ctx.definition.arity(len(ctx.types)).index(name)].dtype
