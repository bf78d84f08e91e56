"""Bessel functions of order 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import real_floats
from gradstep.core.ops.numerics.special import bessel_functions
from gradstep.core.ops.numerics.special.series import in_double


def _to_one(other: str, sign: float = 1.0) -> Any:
    """Of order 0: the function of order 1."""

    def rule(op: OpView, g: Tensor) -> Tensor:
        return g * (call(other, op.inputs[0]) * sign)

    return rule


def _i0e(op: OpView, g: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    return g * (call("BesselI1e", x) - call("Sign", x) * y)


def _over(x: Tensor, value: Tensor) -> Tensor:
    """`value` where x is not 0, and 1/2 there, which is the slope of those of order 1."""
    zero = call("Equal", x, np.zeros((), x.dtype.numpy))
    return call("SelectV2", zero, np.array(0.5, x.dtype.numpy), value)


def _apart(x: Tensor) -> Tensor:
    """x, and 1 where it is 0."""
    zero = call("Equal", x, np.zeros((), x.dtype.numpy))
    return call("SelectV2", zero, np.ones((), x.dtype.numpy), x)


def _to_zero(other: str) -> Any:
    """Of order 1: the function of order 0."""

    def rule(op: OpView, g: Tensor) -> Tensor:
        x, y = op.inputs[0], op.outputs[0]
        return g * _over(x, call(other, x) - y / _apart(x))

    return rule


def _i1e(op: OpView, g: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    inverse = call("Reciprocal", _apart(x))
    return g * _over(x, call("BesselI0e", x) - y * (call("Sign", x) + inverse))


def _k0e(op: OpView, g: Tensor) -> Tensor:
    return g * (op.outputs[0] - call("BesselK1e", op.inputs[0]))


def _k1(op: OpView, g: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    return g * (-call("BesselK0", x) - y / x)


def _k1e(op: OpView, g: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    return g * (y * (1.0 - call("Reciprocal", x)) - call("BesselK0e", x))


_K = "infinite at 0 and below"
for _name, _gradient, _says, _kinks, _low in (
    ("I0", _to_one("BesselI1"), "The modified Bessel function of the first kind, of order 0",
     "", 0),
    ("I1", _to_zero("BesselI0"), "The modified Bessel function of the first kind, of order 1",
     "", 0),
    ("I0e", _i0e, "BesselI0 times exp(-|x|)", "a corner at 0, where the gradient is 0", 0),
    ("I1e", _i1e, "BesselI1 times exp(-|x|)", "", 0),
    ("J0", _to_one("BesselJ1", -1.0), "The Bessel function of the first kind, of order 0", "", 0),
    ("J1", _to_zero("BesselJ0"), "The Bessel function of the first kind, of order 1", "", 0),
    ("K0", _to_one("BesselK1", -1.0), "The modified Bessel function of the second kind, of order 0",
     _K, 1),
    ("K1", _k1, "The modified Bessel function of the second kind, of order 1", _K, 1),
    ("K0e", _k0e, "BesselK0 times exp(x)", _K, 1),
    ("K1e", _k1e, "BesselK1 times exp(x)", _K, 1),
):  # fmt: skip
    op(
        f"Bessel{_name}",
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula=f"bessel_{_name.lower()}(x)",
        infer=real_floats,
        kernel=in_double(getattr(bessel_functions, _name.lower())),
        gradient=_gradient,
        samples=unary(0.2, 5.0) if _low else unary(0.1, 6.0),
        doc=f"{_says}.",
        kinks=_kinks,
    )
