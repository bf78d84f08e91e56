"""The attributes that say how windows slide, checked in TensorFlow's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.catalogue.neural.sliding_windows import Slide
from gradstep.core.ops.declare.table import InferContext

FORMATS_2D = ("NHWC", "NCHW")
FORMATS_3D = ("NDHWC", "NCDHW")
PADDINGS = ("SAME", "VALID")
PADDINGS_EXPLICIT = (*PADDINGS, "EXPLICIT")
MAX_INT32 = 2**31 - 1


def wrong(message: str, hint: str = "") -> GradstepError:
    """An attribute that cannot be, to be raised."""
    return GradstepError(message, kind="ValueError", hint=hint)


def unimplemented(message: str, hint: str = "") -> GradstepError:
    """What TensorFlow has not implemented either, to be raised."""
    return GradstepError(message, kind="UnimplementedError", hint=hint)


def attributes(ctx: InferContext) -> dict[str, Any]:
    """All attributes by name, defaults included, those of sliding windows checked one by one."""
    found = {name: ctx.attr(name) for name in ctx.definition.attrs}
    for name in ("ksize", "strides", "dilations", "explicit_paddings"):
        require_int32(name, found.get(name, ()))
    return found


def require_int32(name: str, values: Sequence[Any]) -> None:
    """Raises GradstepError unless attribute `name` is a list of what TensorFlow reads of it."""
    if not all(_whole(value) for value in values):
        raise wrong(f"attribute '{name}' must be a list of whole numbers, not {values!r}")
    for value in values:
        if not -MAX_INT32 - 1 <= value <= MAX_INT32:
            raise wrong(f"Attr {name} has value {value} out of range for an int32")


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def convolution_slide(ctx: InferContext, kind: str) -> Slide:
    """The slide of a convolution of this `kind`. Raises GradstepError for what cannot be."""
    attrs = attributes(ctx)
    rank = len(attrs["data_format"])
    _check_length(kind, "dilation", attrs["dilations"], rank)
    _check_length(f"{kind} on data format {attrs['data_format']}", "stride", attrs["strides"], rank)
    for value in attrs["dilations"]:
        if value < 1:
            raise wrong(f"Dilation rate must be >= 1, but got {value}")
    slide = check_slide(attrs)
    for name, values in (("strides", slide.strides), ("dilations", slide.dilations)):
        if values[0] != 1 or values[slide.channel] != 1:
            raise unimplemented(
                f"Current implementation does not yet support {name} in the batch and depth "
                "dimensions.",
                hint="windows slide along the spatial axes only",
            )
    return slide


def _check_length(kind: str, name: str, values: Sequence[int], rank: int) -> None:
    if len(values) != rank:
        raise wrong(
            f"{kind} requires the {name} attribute to contain {rank} values, but got: "
            f"{len(values)}",
            hint="one number for each axis of the input",
        )


def check_slide(attrs: Mapping[str, Any]) -> Slide:
    """The slide that attributes of the right length describe."""
    for value in attrs["strides"]:
        if value <= 0:
            raise wrong(f"Stride must be > 0, but got {value}")
    slide = Slide.of(attrs)
    if slide.padding == "EXPLICIT":
        _check_explicit(slide)
    elif slide.explicit:
        raise wrong(
            "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT",
            hint="set padding to EXPLICIT, or leave explicit_paddings out",
        )
    return slide


def _check_explicit(slide: Slide) -> None:
    explicit, wanted = slide.explicit, 2 * len(slide.strides)
    if len(explicit) != wanted:
        raise wrong(
            f"explicit_paddings attribute must contain {wanted} values, but got: {len(explicit)}",
            hint="the padding before and after each axis of the input",
        )
    if min(explicit) < 0:
        raise wrong("All elements of explicit_paddings must be nonnegative")
    inner = {2 * i + side for i in slide.spatial for side in (0, 1)}
    if any(value for i, value in enumerate(explicit) if i not in inner):
        raise wrong("Nonzero explicit padding in the batch or depth dimensions is not supported")
