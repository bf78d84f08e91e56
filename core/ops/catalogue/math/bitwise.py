"""Bitwise ops: integers as rows of bits, combined and shifted."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import ufunc
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import Sample, op
from gradstep.core.ops.declare.type_rules import integral, unref


def _samples(rng: np.random.Generator) -> list[Sample]:
    def draw(dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)

    kinds = (np.int32, np.uint8, np.int64)
    return [Sample((draw(kind, (2, 3)), draw(kind, (3,)))) for kind in kinds]


for _type, _ufunc, _sign, _word in (
    ("BitwiseAnd", "bitwise_and", "&", "both"),
    ("BitwiseOr", "bitwise_or", "|", "either"),
    ("BitwiseXor", "bitwise_xor", "^", "one alone"),
):
    op(
        _type,
        inputs="x y",
        outputs="z",
        type_attrs={"T": "x"},
        formula=f"x {_sign} y",
        infer=integral(broadcast),
        kernel=ufunc(_ufunc),
        gradient=NOT_DIFFERENTIABLE,
        broadcasts=True,
        samples=_samples,
        python=_ufunc,
        doc=f"The bits that are set in {_word} of x and y, with broadcasting.",
    )
op(
    "Invert",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="~x",
    infer=integral(unref),
    kernel=ufunc("invert"),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample(sample.inputs[:1]) for sample in _samples(rng)],
    python="invert",
    doc="Every bit the other way.",
)


def _shift(name: str) -> Any:
    def kernel(xp: Any, x: Any, y: Any) -> Any:
        return getattr(xp, name)(x, xp.clip(y, 0, 8 * x.dtype.itemsize - 1))

    return kernel


for _type, _ufunc, _sign, _doc in (
    ("LeftShift", "left_shift", "<<", "The bits of x moved up by y places"),
    ("RightShift", "right_shift", ">>", "The bits of x moved down by y places, its sign kept"),
):
    op(
        _type,
        inputs="x y",
        outputs="z",
        type_attrs={"T": "x"},
        formula=f"x {_sign} clip(y, 0, 8 * x.itemsize - 1)",
        infer=integral(broadcast),
        kernel=_shift(_ufunc),
        gradient=NOT_DIFFERENTIABLE,
        broadcasts=True,
        samples=_samples,
        arithmetic="exact",
        python=_ufunc,
        doc=f"{_doc}; y counts as 0 below 0, as the width less 1 above it; with broadcasting.",
    )
