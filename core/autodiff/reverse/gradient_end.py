"""Why a gradient goes no farther over a wire, though its operation had one."""

from __future__ import annotations

from typing import Literal, NamedTuple

from gradstep.core.graph.model import TensorRef

EndCause = Literal["stopped", "override", "not_differentiable"]


class GradientEnd(NamedTuple):
    """cause: stable word for the reason. "stopped": the request has a stop there; "override":
    another gradient than the operation's own gives None; text: the same in words."""

    cause: EndCause
    text: str


STOPPED_ON_WIRE = GradientEnd("stopped", "stop_gradient on this wire")


def stopped_at(tensor: TensorRef) -> GradientEnd:
    """The end at an operation of which this tensor is stopped."""
    return GradientEnd("stopped", f"stop_gradient at {tensor.short}")


def left_out_by(gradient: str) -> GradientEnd:
    """The end at an input for which the gradient of that name, not the operation's own, gives
    nothing."""
    return GradientEnd("override", f"gradient '{gradient}' returns None for this input")
