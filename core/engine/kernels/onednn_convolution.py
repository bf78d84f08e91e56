"""Conv2D and its gradients by oneDNN, on the plan's own memory, made ready when bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradstep.core.engine.calls.bound_calls import Several
from gradstep.core.engine.calls.call_loop import Call
from gradstep.core.engine.kernels import onednn
from gradstep.core.engine.kernels.onednn import (
    Chosen,
    Format,
    Handle,
    Memory,
    bind_reorder,
    execution,
)
from gradstep.core.graph.model import Operation
from gradstep.core.ops.catalogue.neural.sliding_windows import Slide

_DESTROY = "primitive_desc_destroy"
_BACK = onednn.GRADIENT_OF


@dataclass(frozen=True, eq=False)
class _Shapes:
    """What one convolution and both of its gradients are described by."""

    image: Format
    filter: Format
    output: Format
    freely: Format  # the filter, in whatever format is quickest
    sliding: tuple[Any, ...]

    @classmethod
    def of(cls, op: Operation, image: Any, filter: Any, output: Any) -> _Shapes:
        taps, slide = filter.shape[:2], Slide.of(op.attrs)
        axes = slide.axes(image.shape[1:3], taps)
        # Behind the last window there may be less than nothing: elements that no window sees.
        after = [axis.seen - axis.before - axis.size for axis in axes]
        sliding = (
            onednn.numbers([axis.stride for axis in axes]),
            onednn.numbers([axis.dilation - 1 for axis in axes]),
            onednn.numbers([axis.before for axis in axes]),
            onednn.numbers(after),
        )
        h, w, channels, outputs = filter.shape
        dims = (outputs, channels, h, w)
        plain = Format(dims, (1, outputs, w * channels * outputs, channels * outputs))
        return cls(_pixels(image), plain, _pixels(output), Format(dims), sliding)

    def forward(self) -> Handle:
        """The convolution itself; its gradients are described with it as a hint."""
        return Handle(
            "convolution_forward_primitive_desc_create",
            _DESTROY,
            *(onednn.engine().value, onednn.FORWARD, onednn.CONVOLUTION_DIRECT),
            *(self.image.value, self.freely.value, None, self.output.value),
            *self.sliding,
            None,
        )

    def to_input(self) -> Handle:
        return self._back("data", self.image.value, self.freely.value, self.output.value)

    def to_filter(self) -> Handle:
        return self._back("weights", self.image.value, self.freely.value, None, self.output.value)

    def _back(self, of: str, *formats: Any) -> Handle:
        hint = self.forward()
        return Handle(
            f"convolution_backward_{of}_primitive_desc_create",
            _DESTROY,
            *(onednn.engine().value, onednn.CONVOLUTION_DIRECT, *formats),
            *self.sliding,
            hint.value,
            None,
        )


def _pixels(image: Any) -> Format:
    """Of images with the channels last, whose axes the library names channels first."""
    n, h, w, c = image.shape
    return Format((n, c, h, w), (h * w * c, 1, w * c, c))


def forward(op: Operation, inputs: Sequence[Any], place: Any) -> Call:
    """Conv2D(input, filter)."""
    image, filter = inputs
    shapes = _Shapes.of(op, image, filter, place)
    primitive = shapes.forward()
    weights, reorder = _weights(primitive, Memory(shapes.filter, filter))
    run = execution(
        primitive,
        {
            onednn.SOURCE: Memory(shapes.image, image),
            onednn.WEIGHTS: weights,
            onednn.TARGET: Memory(shapes.output, place),
        },
    )
    return Several([*reorder, run])


def to_input(op: Operation, inputs: Sequence[Any], place: Any) -> Call:
    """Conv2DBackpropInput(input_sizes, filter, out_backprop)."""
    _, filter, backprop = inputs
    shapes = _Shapes.of(op, place, filter, backprop)
    primitive = shapes.to_input()
    weights, reorder = _weights(primitive, Memory(shapes.filter, filter))
    run = execution(
        primitive,
        {
            _BACK + onednn.SOURCE: Memory(shapes.image, place),
            onednn.WEIGHTS: weights,
            _BACK + onednn.TARGET: Memory(shapes.output, backprop),
        },
    )
    return Several([*reorder, run])


def to_filter(op: Operation, inputs: Sequence[Any], place: Any) -> Call:
    """Conv2DBackpropFilter(input, filter_sizes, out_backprop)."""
    image, _, backprop = inputs
    shapes = _Shapes.of(op, image, place, backprop)
    primitive = shapes.to_filter()
    result = Memory(shapes.filter, place)
    wanted = Chosen(primitive, gradient=True)
    direct = wanted.is_like(shapes.filter)
    made = result if direct else Memory(wanted)
    run = execution(
        primitive,
        {
            onednn.SOURCE: Memory(shapes.image, image),
            _BACK + onednn.WEIGHTS: made,
            _BACK + onednn.TARGET: Memory(shapes.output, backprop),
        },
    )
    return run if direct else Several([run, bind_reorder(made, result)])


def _weights(primitive: Handle, given: Memory) -> tuple[Memory, list[Callable[[], None]]]:
    """The weights in the format that the primitive wants, and the calls that bring them there."""
    wanted = Chosen(primitive, gradient=False)
    assert isinstance(given.format, Format)
    if wanted.is_like(given.format):
        return given, []
    own = Memory(wanted)
    return own, [bind_reorder(given, own)]
