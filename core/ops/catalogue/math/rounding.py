"""Rounding to whole numbers."""

from __future__ import annotations

from typing import Any

from gradstep.core.ops.declare.declared_gradient import ROUNDING
from gradstep.core.ops.declare.kernel_forms import ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import real, real_floats, require_signed, unref

_FLOATS_ONLY = (
    ("Floor", "floor", "The largest whole number that is not above x."),
    ("Ceil", "ceil", "The smallest whole number that is not below x."),
    ("Rint", "rint", "The nearest whole number; the even one of two."),
)
for _type, _ufunc, _doc in _FLOATS_ONLY:
    op(
        _type,
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula=f"{_ufunc}(x)",
        infer=real_floats,
        kernel=ufunc(_ufunc),
        gradient=ROUNDING,
        samples=unary(),
        python=_ufunc,
        causes=Causes(vanishes="rounded"),
        doc=_doc,
    )


def _round(xp: Any, x: Any) -> Any:
    return xp.rint(x) if x.dtype.kind == "f" else x


op(
    "Round",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="rint(x)",
    infer=require_signed(real(unref)),
    kernel=_round,
    gradient=ROUNDING,
    samples=unary(),
    arithmetic="exact",
    causes=Causes(vanishes="rounded"),
    doc="The nearest whole number, the even one of two; integers stay as they are.",
    differs="TensorFlow's kernel makes 0 of every integer; tf.round, there and here, leaves it out",
)
