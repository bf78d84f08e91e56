"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.kernel_forms import ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.samples import unary, with_complex
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import floats
from gradstep.core.ops.typing.static_values import conj


def _sinh(op: OpView, g: Tensor) -> Tensor:
    return g * call("Cosh", conj(op.inputs[0]))


def _cosh(op: OpView, g: Tensor) -> Tensor:
    return g * call("Sinh", conj(op.inputs[0]))


def _tanh(op: OpView, g: Tensor) -> Tensor:
    return call("TanhGrad", conj(op.outputs[0]), g)


_FUNCTIONS = (
    ("Sinh", _sinh, "Hyperbolic sine."),
    ("Cosh", _cosh, "Hyperbolic cosine."),
    ("Tanh", _tanh, "Hyperbolic tangent."),
)
for _type, _gradient, _doc in _FUNCTIONS:
    op(
        _type,
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula=f"{_type.lower()}(x)",
        infer=floats,
        kernel=ufunc(_type.lower()),
        gradient=_gradient,
        samples=with_complex(unary()),
        python=_type.lower(),
        causes=Causes(flat="saturated" if _type == "Tanh" else ""),
        doc=_doc,
    )


def _asinh(op: OpView, g: Tensor) -> Tensor:
    return g / call("Cosh", conj(op.outputs[0]))


def _acosh(op: OpView, g: Tensor) -> Tensor:
    return g / call("Sinh", conj(op.outputs[0]))


def _atanh(op: OpView, g: Tensor) -> Tensor:
    return g * call("Reciprocal", 1.0 - call("Square", conj(op.inputs[0])))


_INVERSES: tuple[tuple[Any, ...], ...] = (
    ("Asinh", "arcsinh", _asinh, (-2.0, 2.0), {}, "sine", ""),
    (
        "Acosh",
        "arccosh",
        _acosh,
        (1.5, 3.0),
        domain_limits.FROM_ONE,
        "cosine",
        "the derivative at 1 is infinite",
    ),
    (
        "Atanh",
        "arctanh",
        _atanh,
        (-0.9, 0.9),
        domain_limits.BEYOND_ONES,
        "tangent",
        "the derivative at -1 and 1 is infinite",
    ),
)
for _type, _ufunc, _gradient, _range, _breaks, _word, _kinks in _INVERSES:
    op(
        _type,
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula=f"{_ufunc}(x)",
        infer=floats,
        kernel=ufunc(_ufunc),
        gradient=_gradient,
        samples=with_complex(unary(*_range)),
        python=_type.lower(),
        causes=Causes(breaks=_breaks),
        doc=f"The number whose hyperbolic {_word} is x.",
        kinks=_kinks,
    )
