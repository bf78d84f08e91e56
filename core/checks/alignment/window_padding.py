"""What the windows of convolutions and pools are padded with, however the graph says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradstep.core.checks.alignment.stretches import Stretch
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.catalogue.neural.sliding_windows import Axis, Slide

_WINDOWS = frozenset({
    "Conv2D", "DepthwiseConv2dNative", "Conv3D", "MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D",
})  # fmt: skip
_PADS = frozenset({"Pad", "PadV2", "MirrorPad"})


@dataclass(frozen=True)
class WindowPadding:
    """edges: before and after, for each axis of the image."""

    name: str
    edges: tuple[tuple[int, int], ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    mode: str

    def __str__(self) -> str:
        said = " × ".join(f"{before}+{after}" for before, after in self.edges)
        return f"{said} ({self.name}, {self.mode})"


def window_paddings(stretch: Stretch) -> list[WindowPadding]:
    """In order."""
    return [*_found(stretch)]


def _found(stretch: Stretch) -> Iterator[WindowPadding]:
    for op in stretch.operations:
        read = op.inputs[0] if op.type in _WINDOWS else None
        if read is not None and read in stretch.values:
            yield _padding(stretch, op, read)


def _padding(stretch: Stretch, op: Operation, read: TensorRef) -> WindowPadding:
    slide = Slide.of(op.attrs)
    shape, axes = stretch.values[read].shape, [*slide.spatial]
    strides = _taken(slide.strides, axes)
    dilations = _taken(slide.dilations, axes)
    edges = [(0, 0)] * len(axes)
    if slide.padding == "EXPLICIT":
        edges = [(slide.explicit[2 * i], slide.explicit[2 * i + 1]) for i in axes]
    elif slide.padding == "SAME":
        kernel = _kernel(stretch, op, axes)
        edges = [_same(axis) for axis in slide.axes([shape[i] for i in axes], kernel)]
    before = _padded_before(stretch, read, axes)
    both = zip(edges, before, strict=True)
    return WindowPadding(
        op.name, tuple((a + c, b + d) for (a, b), (c, d) in both), strides, dilations, slide.padding
    )


def _taken(values: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(values[i] for i in axes)


def _kernel(stretch: Stretch, op: Operation, axes: Sequence[int]) -> tuple[int, ...]:
    """Of the window, or of the weights, whose first axes are the image's."""
    if "ksize" in op.attrs:
        return _taken(op.attrs["ksize"], axes)
    weights = op.inputs[1]
    held = None if weights is None else stretch.run.shape_of(weights)
    return tuple(held[: len(axes)]) if held else (1,) * len(axes)


def _same(axis: Axis) -> tuple[int, int]:
    """TensorFlow's: what is odd goes to the end."""
    return axis.before, max(axis.seen - axis.size, 0) - axis.before


def _padded_before(stretch: Stretch, read: TensorRef, axes: Sequence[int]) -> list[tuple[int, int]]:
    """By an operation of its own."""
    op = stretch.run.graph[read.op]
    if op.type in _PADS and op.inputs[1] is not None:
        sizes = stretch.run.graph[op.inputs[1].op]
        if sizes.type == "Const":
            return [(int(a), int(b)) for a, b in sizes.attrs["value"].array[axes]]
    return [(0, 0)] * len(axes)
