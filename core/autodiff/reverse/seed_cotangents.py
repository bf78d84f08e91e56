"""The cotangents that a backward pass starts from: ones, or what the user gives as `grad_ys`."""

from __future__ import annotations

from gradstep.core.autodiff.reverse.backward_pass import BackwardPass
from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import Tensor, call


def seed_cotangents(backward: BackwardPass) -> None:
    """Give each tensor that is differentiated its first cotangent. Raises GradstepError, in
    TensorFlow's words, for `grad_ys` that are not one a tensor or do not fit, and for a complex
    tensor without one."""
    of, builder = backward.request.of, backward.builder
    given = backward.request.grad_ys or (None,) * len(of)
    if len(given) != len(of):
        raise GradstepError(
            f"Length mismatch. Passed {len(given)} grad_ys for {len(of)} ys",
            kind="ValueError",
            hint="give one for each tensor that is differentiated",
        )
    for number, (ref, grad_y) in enumerate(zip(of, given, strict=True)):
        y, start = builder.get(ref), None if grad_y is None else builder.get(grad_y)
        builder.origin = ref.op
        cotangent = _make(y, start, f"grad_ys_{number}")
        if cotangent is not None:
            backward.seed(ref, Contribution(cotangent.ref))


def _make(y: Tensor, given: Tensor | None, name: str) -> Tensor | None:
    """The gradient of `y` to start with; None where there can be none, as for whole numbers."""
    if given is None:
        if y.dtype.is_complex:
            raise _wrong(
                y,
                f"Gradients of complex tensors ({y.ref.short}) must set grad_ys "
                f"(y.dtype = {y.dtype.value})",
                "say which gradient arrives there, or take Real or ComplexAbs of it",
            )
        return call("OnesLike", y, name=name) if y.dtype.is_floating else None
    _check(y, given)
    if not (y.dtype.is_floating or y.dtype.is_complex):
        return None
    return call("Identity", given, name=name)


def _check(y: Tensor, given: Tensor) -> None:
    if given.dtype != y.dtype:
        raise _wrong(
            y,
            f"Gradient type {given.dtype.value} generated for tensor {y.ref.short} with type "
            f"{y.dtype.value}",
            f"cast '{given.ref.short}' to {y.dtype.value}",
        )
    try:
        y.shape.merge(given.shape)
    except ValueError:
        raise GradstepError(
            f"grad_ys '{given.ref.short}' has shape {given.shape}; it must be that of "
            f"'{y.ref.short}', {y.shape}",
            kind="ValueError",
            node=y.ref.op,
            hint=f"choose a tensor of the shape of '{y.ref.short}', or leave grad_ys out for ones",
        ) from None


def _wrong(y: Tensor, message: str, hint: str) -> GradstepError:
    return GradstepError(message, kind="TypeError", node=y.ref.op, hint=hint)
