"""IsNan, IsInf, IsFinite, and NextAfter: what kind of number it is, and its neighbour."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import ufunc
from gradstep.core.ops.declare.samples import binary
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import only, real_floating
from gradstep.core.ops.typing.static_values import zeros_like


def _flag(ctx: InferContext) -> TensorType:
    return TensorType(DType.BOOL, ctx.types[0].shape)


def _samples(rng: np.random.Generator) -> list[Sample]:
    special = np.array([[np.nan, np.inf, -np.inf], [0.0, -1.5, 3.0]])
    return [Sample((special,)), Sample((rng.normal(size=()),))]


for _type, _ufunc, _python, _words in (
    ("IsNan", "isnan", "is_nan", "x is not a number"),
    ("IsInf", "isinf", "is_inf", "x is infinite"),
    ("IsFinite", "isfinite", "is_finite", "x is neither infinite nor NaN"),
):
    op(
        _type,
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula=f"{_ufunc}(x)",
        infer=real_floating(_flag),
        kernel=ufunc(_ufunc),
        gradient=NOT_DIFFERENTIABLE,
        samples=_samples,
        python=_python,
        doc=f"Whether {_words}.",
    )


def _neighbour(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    return g, zeros_like(g)


op(
    "NextAfter",
    inputs="x1 x2",
    type_attrs={"T": "x1"},
    formula="nextafter(x1, x2)",
    infer=only(broadcast, "float32 float64"),
    kernel=ufunc("nextafter"),
    gradient=_neighbour,
    broadcasts=True,
    samples=binary(),
    python="nextafter",
    doc="The next representable number from x1 towards x2, with broadcasting.",
    kinks="the derivative to x1 is 1 everywhere, to x2 it is 0",
)
