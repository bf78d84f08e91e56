"""Sine, cosine, tangent and their inverses."""

from __future__ import annotations

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.kernel_forms import ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.samples import binary, unary, with_complex
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import floats, real_floating, real_numbers
from gradstep.core.ops.typing.static_values import conj


def _sin(op: OpView, g: Tensor) -> Tensor:
    return g * call("Cos", conj(op.inputs[0]))


def _cos(op: OpView, g: Tensor) -> Tensor:
    return -g * call("Sin", conj(op.inputs[0]))


def _tan(op: OpView, g: Tensor) -> Tensor:
    secant = call("Reciprocal", call("Cos", conj(op.inputs[0])))
    return call("Square", secant) * g


def _arc(op: OpView) -> Tensor:
    """1 / sqrt(1 - x*x)."""
    return call("Reciprocal", call("Sqrt", 1.0 - call("Square", conj(op.inputs[0]))))


def _asin(op: OpView, g: Tensor) -> Tensor:
    return g * _arc(op)


def _acos(op: OpView, g: Tensor) -> Tensor:
    return -g * _arc(op)


def _atan(op: OpView, g: Tensor) -> Tensor:
    return g * call("Reciprocal", 1.0 + call("Square", conj(op.inputs[0])))


_ANGLES = (
    ("Sin", "sin", _sin, "The sine of x in radians."),
    ("Cos", "cos", _cos, "The cosine of x in radians."),
    ("Tan", "tan", _tan, "The tangent of x in radians."),
)
for _type, _ufunc, _gradient, _doc in _ANGLES:
    op(
        _type,
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula=f"{_ufunc}(x)",
        infer=floats,
        kernel=ufunc(_ufunc),
        gradient=_gradient,
        samples=with_complex(unary(-1.4, 1.4)),
        python=_ufunc,
        doc=_doc,
    )

_INVERSES = (
    ("Asin", "arcsin", _asin, 0.9, "infinite at -1 and 1", "sine"),
    ("Acos", "arccos", _acos, 0.9, "infinite at -1 and 1", "cosine"),
    ("Atan", "arctan", _atan, 2.0, "", "tangent"),
)
for _type, _ufunc, _gradient, _high, _kinks, _word in _INVERSES:
    op(
        _type,
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula=f"{_ufunc}(x)",
        infer=floats,
        kernel=ufunc(_ufunc),
        gradient=_gradient,
        samples=with_complex(unary(-_high, _high)),
        python=_type.lower(),
        causes=Causes(
            breaks={} if _type == "Atan" else domain_limits.BETWEEN_ONES,
            flat="saturated" if _type == "Atan" else "",
        ),
        doc=f"The angle in radians whose {_word} is x.",
        kinks=f"the derivative is {_kinks}" if _kinks else "",
    )


def _atan2(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    y, x = op.inputs
    over = g / (call("Square", y) + call("Square", x))
    return x * over, -y * over


op(
    "Atan2",
    inputs="y x",
    outputs="z",
    type_attrs={"T": "y"},
    formula="arctan2(y, x)",
    infer=real_floating(real_numbers),
    kernel=ufunc("arctan2"),
    gradient=_atan2,
    broadcasts=True,
    samples=binary(),
    python="atan2",
    doc="The angle in radians from the x axis to the point (x, y), with broadcasting.",
    kinks="both derivatives are NaN at the origin",
)
