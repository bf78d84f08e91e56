"""Complex numbers: their making, their parts, and the conjugate that gradients need."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.kernel_forms import ufunc
from gradstep.core.ops.declare.samples import binary
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import complexes, real_floating, unref
from gradstep.core.ops.typing.static_values import zeros_like

_REAL = {DType.COMPLEX64: DType.FLOAT32, DType.COMPLEX128: DType.FLOAT64}
_COMPLEX = {real: kind for kind, real in _REAL.items()}


def complex_of(real: Tensor, imag: Tensor, name: str | None = None) -> Tensor:
    return call("Complex", real, imag, name=name, Tout=_COMPLEX.get(real.dtype, DType.COMPLEX64))


def part(type: str, x: Tensor, name: str | None = None) -> Tensor:
    """The op Real, Imag, Angle or ComplexAbs (`type`) of complex `x`."""
    return call(type, x, name=name, Tout=_REAL[x.dtype])


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.uniform(-2, 2, shape) + 1j * rng.uniform(0.3, 2, shape),))
        for shape in ((3,), (2, 3), ())
    ]


op(
    "Conj",
    inputs="input",
    type_attrs={"T": "input"},
    formula="conj(input)",
    infer=complexes(unref),
    kernel=ufunc("conj"),
    gradient=lambda op, g: call("Conj", g),
    samples=_samples,
    doc="The complex conjugate: the imaginary part with the opposite sign.",
)


def _complex_type(ctx: InferContext) -> TensorType:
    kind = broadcast(ctx)
    return TensorType(_checked(ctx, _COMPLEX.get(kind.dtype)), kind.shape)


def _part_type(ctx: InferContext) -> TensorType:
    return TensorType(_checked(ctx, _REAL[ctx.types[0].dtype]), ctx.types[0].shape)


def _checked(ctx: InferContext, wanted: DType | None) -> DType:
    """The result's element type; Tout has to be it."""
    source, said = ctx.types[0].dtype, DType(ctx.attr("Tout"))
    if wanted is None:
        raise ctx.fail(f"{ctx.op.type} takes float32 or float64, not {source.value}")
    if said is not wanted:
        raise ctx.fail(
            f"{ctx.op.type} of {source.value} is {wanted.value}, not {said.value}",
            hint=f"set Tout to {wanted.value}",
        )
    return wanted


def join_parts(xp: Any, real: Any, imag: Any) -> Any:
    """The complex array of these parts, infinities and all."""
    shape = np.broadcast_shapes(real.shape, imag.shape)
    pair = xp.stack([xp.broadcast_to(x, shape) for x in (real, imag)], -1)
    return pair.view(np.result_type(real.dtype, np.complex64)).reshape(shape)


def _parts(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    return part("Real", g), part("Imag", g)


op(
    "Complex",
    inputs="real imag",
    outputs="out",
    attrs={"Tout": DType.COMPLEX64},
    type_attrs={"T": "real"},
    choices={"Tout": tuple(_REAL)},
    formula="real + 1j * imag",
    infer=real_floating(_complex_type),
    kernel=join_parts,
    gradient=_parts,
    broadcasts=True,
    samples=binary(),
    arithmetic="exact",
    doc="Complex numbers made of their real and imaginary parts, with broadcasting.",
)


def _of_real(op: OpView, g: Tensor) -> Tensor:
    return complex_of(g, zeros_like(g))


def _of_imag(op: OpView, g: Tensor) -> Tensor:
    return complex_of(zeros_like(g), g)


def _of_angle(op: OpView, g: Tensor) -> Tensor:
    """-g / (imag + i real)."""
    x = op.inputs[0]
    turned = call("Reciprocal", complex_of(part("Imag", x), part("Real", x)))
    return -complex_of(g, zeros_like(g)) * turned


def _of_size(op: OpView, g: Tensor) -> Tensor:
    size = op.outputs[0]
    pulled = complex_of(g, zeros_like(g)) * op.inputs[0]
    return call("DivNoNan", pulled, complex_of(size, zeros_like(size)))


def _angle(xp: Any, x: Any) -> Any:
    return xp.arctan2(xp.imag(x), xp.real(x))


_PARTS: tuple[tuple[Any, ...], ...] = (
    ("Real", "real(input)", lambda xp, x: xp.real(x), _of_real, "exact", "The real part.", ""),
    ("Imag", "imag(input)", lambda xp, x: xp.imag(x), _of_imag, "exact", "The imaginary part.", ""),
    (
        "Angle",
        "angle(input)",
        _angle,
        _of_angle,
        "library",
        "The angle in radians from the real axis.",
        "the derivative at 0 is NaN",
    ),
    (
        "ComplexAbs",
        "abs(x)",
        lambda xp, x: xp.abs(x),
        _of_size,
        "library",
        "The size: the root of the parts' squares.",
        "the derivative at 0 is 0",
    ),
)
for _type, _formula, _kernel, _gradient, _arithmetic, _doc, _kinks in _PARTS:
    op(
        _type,
        inputs="x" if _type == "ComplexAbs" else "input",
        outputs="y" if _type == "ComplexAbs" else "output",
        attrs={"Tout": DType.FLOAT32},
        type_attrs={"T": "x" if _type == "ComplexAbs" else "input"},
        choices={"Tout": tuple(_COMPLEX)},
        formula=_formula,
        infer=complexes(_part_type),
        kernel=_kernel,
        gradient=_gradient,
        samples=_samples,
        arithmetic=_arithmetic,
        doc=_doc,
        kinks=_kinks,
    )
