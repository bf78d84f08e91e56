"""Complex numbers: their making, their parts, and the conjugate that gradients need."""

from __future__ import annotations

import numpy as np

from core.graph.dtypes import TensorType
from core.ops.builder import call
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import unref, wrong_type


def _complex(ctx: InferContext) -> TensorType:
    if not ctx.types[0].dtype.is_complex:
        raise wrong_type(ctx, ctx.types[0].dtype, "complex numbers")
    return unref(ctx)


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.uniform(0.5, 2, shape) + 1j * rng.uniform(-2, 2, shape),))
        for shape in ((3,), (2, 3), ())
    ]


op(
    "Conj",
    inputs="input",
    type_attrs={"T": "input"},
    formula="conj(input)",
    infer=_complex,
    ufunc="conj",
    gradient=lambda op, g: call("Conj", g),
    samples=_samples,
    doc="The complex conjugate: the imaginary part with the opposite sign.",
)
