"""Which values a small picture tells more of than numbers: images, digits, kernels, attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt, prod

from msgspec import structs

from gradstep.core.graph.model import Operation
from gradstep.core.host.tensors.axis_layout import channel_axis, is_kernel
from gradstep.core.host.tensors.slice_syntax import parse_slice
from gradstep.core.protocol.messages import TensorSlice
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.view_choice import View, ViewKind, is_number

PLANES = 8  # pictures of one tensor at most
PIXELS = 64  # of each, down and across; larger ones are made smaller
_MOST = 1 << 21  # elements that are looked at for them
_LEAST = 4  # rows and columns: less is told by numbers
_DIGITS = (64, 784, 1024)  # numbers of a row that is a square image, as data sets have them


@dataclass(frozen=True, slots=True)
class PictureWish:
    """part: what the engine is asked for; planes: how many pictures of `rows` × `columns`.
    channels: whether each has some; is_image: pixels, not numbers; square: whether rows of the part
    are images, to be folded."""

    part: TensorSlice
    planes: int
    rows: int
    columns: int
    channels: bool = False
    is_image: bool = True
    square: bool = False


def wish_for(op: Operation, value: TensorValue) -> PictureWish | None:
    """What is to be drawn of an operation's value; None where numbers say it as well."""
    if value.state != "known" or not is_number(value.dtype) or not value.size:
        return None
    if value.dtype.startswith("complex"):
        return None
    shape = value.shape
    if op.type.startswith("Placeholder") and _holds_digits(value):
        return _digits(value)
    if op.type == "Softmax" and len(shape) in (3, 4) and shape[-1] == shape[-2] >= _LEAST:
        return _viewed(value, "heat_map", "[:1]" if len(shape) == 4 else f"[:{PLANES}]")
    if channel_axis(shape) >= 0:
        first = f"[:{PLANES}]" if len(shape) == 4 else ""
        return _viewed(value, "image", first)
    if is_kernel(shape):
        return _viewed(value, "heat_map", "") if shape[0] > 1 else None
    if len(shape) == 4 and shape[1] == shape[2] >= _LEAST:  # features of a convolution
        return _viewed(value, "heat_map", "[:1]")
    return None


def gradient_wish(op: Operation, value: TensorValue, gradient: TensorValue) -> PictureWish | None:
    """What is to be drawn of the gradient of an operation's value, so that it can be laid beside
    that value, drawn as `input_wish` says."""
    wish = input_wish(op, value)
    if wish is None or gradient.state != "known" or gradient.shape != value.shape:
        return None
    part = structs.replace(wish.part, ref=gradient.ref)
    return replace(wish, part=part, is_image=False)


def input_wish(op: Operation, value: TensorValue) -> PictureWish | None:
    """What is to be drawn of a value beside its gradient: a picture, or a matrix."""
    found = wish_for(op, value)
    is_matrix = len(value.shape) == 2 and min(value.shape) >= _LEAST
    if found is not None or value.state != "known" or not is_number(value.dtype) or not is_matrix:
        return found
    return None if value.dtype.startswith("complex") else _viewed(value, "heat_map", "")


def _holds_digits(value: TensorValue) -> bool:
    """Whether rows are square images: as many numbers as such have, and none below zero."""
    least = None if value.stats is None else value.stats.minimum
    return len(value.shape) == 2 and value.shape[1] in _DIGITS and least is not None and least >= 0


def _digits(value: TensorValue) -> PictureWish:
    side, planes = isqrt(value.shape[1]), min(PLANES, value.shape[0])
    part = TensorSlice(ref=value.ref, index=f"[:{planes}]")
    return PictureWish(part, planes, side, side, square=True)


def _viewed(value: TensorValue, kind: ViewKind, index: str) -> PictureWish | None:
    """The tensor as the Tensor panel shows it, of the first few of a batch."""
    view = View(kind, parse_slice(index, value.shape))
    sizes, channels = view.sizes, view.arranged.channels >= 0
    spread = sizes[:-1] if channels else sizes
    if prod(sizes) > _MOST or len(spread) < 2 or min(spread[-2:]) < 2:
        return None
    planes = min(PLANES, prod(spread[:-2]))
    part, (rows, columns) = view.part(value.ref), spread[-2:]
    return PictureWish(part, planes, rows, columns, channels, kind == "image")
