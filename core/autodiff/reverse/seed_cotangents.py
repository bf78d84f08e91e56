"""The cotangents that a backward pass starts from: ones, or what the user gives as `grad_ys`."""

from __future__ import annotations

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import Tensor, call


def starting(y: Tensor, given: Tensor | None, name: str) -> Tensor | None:
    """The gradient of `y` to start with; None where there can be none, as for whole numbers.

    Raises GradstepError, in TensorFlow's words, for a complex `y` without `given` and for a
    `given` of another element type or shape."""
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
