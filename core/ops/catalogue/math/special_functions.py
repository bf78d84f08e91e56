"""The error function and the gamma function with their kin."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import Sample, op
from gradstep.core.ops.declare.type_rules import only, real_floats
from gradstep.core.ops.numerics.special import error_function, gamma_function, zeta_function
from gradstep.core.ops.numerics.special.series import in_double


def _bell(op: OpView) -> Tensor:
    """exp(-x*x)."""
    return call("Exp", -call("Square", op.inputs[0]))


def _erf(op: OpView, g: Tensor) -> Tensor:
    return g * (2 / sqrt(pi)) * _bell(op)


def _erfc(op: OpView, g: Tensor) -> Tensor:
    return g * (-2 / sqrt(pi)) * _bell(op)


def _erfinv(op: OpView, g: Tensor) -> Tensor:
    return g * (sqrt(pi) / 2) * call("Exp", call("Square", op.outputs[0]))


def _ndtri(op: OpView, g: Tensor) -> Tensor:
    return g * sqrt(2 * pi) * call("Exp", call("Square", op.outputs[0]) / 2.0)


def _lgamma(op: OpView, g: Tensor) -> Tensor:
    return g * call("Digamma", op.inputs[0])


def _digamma(op: OpView, g: Tensor) -> Tensor:
    x = op.inputs[0]
    return g * call("Polygamma", np.array(1, x.dtype.numpy), x)


def _around_poles(rng: np.random.Generator) -> list[Sample]:
    negative = np.array([-0.5, -1.7, -3.2, 0.2, 1.3, 2.7, 5.5, 14.0])
    return [*unary(0.5, 4.0)(rng), Sample((negative,))]


_ONE_ARGUMENT: tuple[tuple[Any, ...], ...] = (
    (
        "Erf",
        error_function.erf,
        _erf,
        unary(-3.0, 3.0),
        "The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x.",
        "",
        "1 and -1 at the infinities in float64, too; TensorFlow 2.21 gives NaN there",
    ),
    (
        "Erfc",
        error_function.erfc,
        _erfc,
        unary(-3.0, 3.0),
        "One less the error function, exact where that is small.",
        "",
        "",
    ),
    (
        "Erfinv",
        error_function.erfinv,
        _erfinv,
        unary(-0.95, 0.95),
        "The number whose error function is x.",
        "infinite at -1 and 1, with an infinite derivative; NaN beyond",
        "",
    ),
    (
        "Ndtri",
        error_function.ndtri,
        _ndtri,
        unary(0.05, 0.95),
        "The quantile of the standard normal distribution: below it lies the share x.",
        "infinite at 0 and 1, with an infinite derivative; NaN beyond",
        "",
    ),
    (
        "Lgamma",
        gamma_function.lgamma,
        _lgamma,
        _around_poles,
        "The logarithm of the absolute value of the gamma function.",
        "infinite at 0, -1, -2, …, where the derivative is NaN",
        "",
    ),
    (
        "Digamma",
        gamma_function.digamma,
        _digamma,
        _around_poles,
        "The derivative of Lgamma.",
        "NaN at 0, -1, -2, …",
        "",
    ),
)
_BREAKS = {
    "Erfinv": domain_limits.BEYOND_ONES,
    "Ndtri": domain_limits.SHARE,
    "Lgamma": domain_limits.GAMMA,
    "Digamma": domain_limits.GAMMA,
}
for _type, _function, _gradient, _samples, _doc, _kinks, _differs in _ONE_ARGUMENT:
    op(
        _type,
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula=f"{_type.lower()}(x)",
        infer=real_floats,
        kernel=in_double(_function),
        gradient=_gradient,
        samples=_samples,
        python=_type.lower(),
        causes=Causes(
            breaks=_BREAKS.get(_type, {}),
            flat="saturated" if _type in ("Erf", "Erfc") else "",
            vanishes="underflow" if _type == "Erfc" else "",
        ),
        doc=_doc,
        kinks=_kinks,
        differs=_differs,
    )


def _polygamma(op: OpView, g: Tensor) -> tuple[None, Tensor]:
    a, x = op.inputs
    return None, call("Polygamma", a + 1.0, x) * g


def _zeta(op: OpView, g: Tensor) -> tuple[None, Tensor]:
    x, q = op.inputs
    return None, -x * call("Zeta", x + 1.0, q) * g


def _polygamma_samples(rng: np.random.Generator) -> list[Sample]:
    orders = np.array([[0.0], [1.0], [2.0], [5.0]])
    return [
        Sample((orders, rng.uniform(0.5, 4.0, (3,)))),
        Sample((np.array([0.0, 1.0, 2.0]), np.array([-0.4, -1.7, -2.3]))),
    ]


def _zeta_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.uniform(1.5, 4.0, (2, 1)), rng.uniform(0.5, 4.0, (3,)))),
        Sample((np.array([2.0, 3.0]), np.array([-1.7, -0.4]))),
    ]


op(
    "Polygamma",
    inputs="a x",
    outputs="z",
    type_attrs={"T": "a"},
    formula="polygamma(a, x)",
    infer=only(broadcast, "float32 float64"),
    kernel=in_double(zeta_function.polygamma),
    gradient=_polygamma,
    broadcasts=True,
    samples=_polygamma_samples,
    python="polygamma",
    doc="Derivative number a of Digamma, with broadcasting; a is 0 or a positive whole number.",
    kinks="no gradient for a",
)
op(
    "Zeta",
    inputs="x q",
    outputs="z",
    type_attrs={"T": "x"},
    formula="zeta(x, q)",
    infer=only(broadcast, "float32 float64"),
    kernel=in_double(zeta_function.zeta),
    gradient=_zeta,
    broadcasts=True,
    samples=_zeta_samples,
    python="zeta",
    doc="Hurwitz's zeta function: the sum of 1/(q + k)**x over k = 0, 1, …, with broadcasting.",
    kinks="no gradient for x; NaN for x < 1, and for negative q unless x is whole",
)
