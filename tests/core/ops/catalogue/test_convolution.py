"""Convolutions are TensorFlow's: values, gradients, formats, dilations, groups, empty tensors."""

from __future__ import annotations

from math import prod
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.catalogue.neural import image_blocks
from gradstep.core.ops.catalogue.neural.im2col_convolution import correlate
from gradstep.core.ops.catalogue.neural.sliding_windows import Axis, Slide
from gradstep.core.ops.declare.parted_calls import make_calls
from tests.support.interpret import evaluate
from tests.support.windows import STILL, explicit, first, ints, numbers, pattern, run

# Type, attributes, shapes of input and filter; then what TensorFlow 2.21 made of `pattern`s of 11
# and 5: the output, the gradients of its sum weighted with a pattern of 9, and the gradients of
# their sum weighted with patterns of 13.
ROWS: list[tuple[str, dict[str, Any], tuple[int, ...], tuple[int, ...], list[str]]] = [
    (
        "Conv2D",
        {"strides": (1, 2, 1, 1), "padding": "SAME"},
        (1, 4, 3, 2),
        (2, 3, 2, 2),
        [
            "4 -8 2 3 -6 -9 -22 15 9 14 17 1",
            "-2 6 3 -7 4 0 6 -1 -7 -2 0 6 10 6 -24 -4 10 9 6 -13 -4 16 9 -12",
            "6 -23 9 31 -17 18 -5 -38 27 -4 -17 25 2 -29 5 25 -11 12 -32 0 27 -6 -6 12",
            "-21 20 14 -12 -18 12 4 6 27 27 -20 -16 15 -25 -1 12 33 -18 -17 -18 12 12 -26 -25",
            "-21 11 19 -7 -28 32 29 -25 -13 11 26 -8 24 -32 -27 2 -11 2 -19 23 26 -12 -13 8",
        ],
    ),
    (
        "Conv2D",
        {"strides": (1, 2, 2, 1), "padding": "VALID"},
        (2, 4, 5, 1),
        (2, 2, 1, 2),
        [
            "6 14 0 -5 -2 -4 3 -12 -10 11 6 14 4 -7 -2 -4",
            "5 -6 0 4 0 -2 2 -2 -8 0 4 -4 -10 6 0 -2 0 7 8 0 "
            "3 -2 -11 8 0 -2 -2 7 6 0 2 0 6 -8 0 -2 -4 -2 4 0",
            "-19 8 -40 12 19 -27 -2 -1",
            "-9 -13 -4 2 0 -17 18 8 -12 0 -8 -10 24 23 0 -12 12 22 -18 0 "
            "-7 -7 25 26 0 -7 6 27 -24 0 -6 -4 -10 -16 0 -2 0 -22 24 0",
            "-10 -4 47 28 -37 0 -19 -7",
        ],
    ),
    (
        "Conv2D",
        {"strides": (1, 1, 2, 1), **explicit(0, 0, 2, 0, 1, 1, 0, 0)},
        (1, 2, 3, 2),
        (3, 2, 2, 1),
        [
            "-12 9 -6 -3",
            "-9 2 -8 5 -7 6 4 -8 4 -2 2 -4",
            "0 0 0 0 2 -6 0 20 -5 -1 -22 3",
            "-2 -20 -5 27 -6 0 8 -16 2 -10 4 -8",
            "0 0 0 0 -4 10 -14 28 8 -25 10 -54",
        ],
    ),
    (
        "DepthwiseConv2dNative",
        {"strides": (1, 2, 2, 1), "padding": "SAME"},
        (1, 3, 4, 2),
        (3, 2, 2, 2),
        [
            "0 0 -2 -12 -5 -6 -1 10 -3 10 1 -3 -2 -12 -11 3",
            "1 0 -6 -2 2 -10 -4 7 5 14 3 10 2 -19 2 10 3 -11 -2 7 4 6 0 -2",
            "9 1 13 -24 -4 -2 -2 -24 -8 -2 28 -14 -2 2 -31 -21 1 -7 -24 -7 -2 0 -24 8",
            "14 0 6 12 10 -20 6 -22 -9 50 -4 -40 -4 -40 -4 50 6 -22 6 -20 2 12 6 0",
            "7 -1 21 -8 10 -2 16 -8 -4 6 -7 18 -2 0 40 -16 -1 -9 -8 -19 -2 -14 -8 -14",
        ],
    ),
    (
        "DepthwiseConv2dNative",
        {"strides": STILL, **explicit(0, 0, 1, 0, 0, 1, 0, 0)},
        (1, 3, 2, 2),
        (2, 2, 2, 1),
        [
            "0 5 -1 -3 2 -16 5 9 1 1 -6 -8",
            "1 1 -6 -8 1 0 1 -7 -1 -1 1 4",
            "12 -7 -4 3 15 -15 1 5",
            "1 -26 8 32 -3 -16 11 41 -1 -6 3 30",
            "7 -23 0 -4 -10 -43 4 1",
        ],
    ),
]


def weighted(builder: GraphBuilder, tensors: list[Tensor], spread: int) -> Tensor:
    """The sum of all elements, each times its own number."""
    total = builder.constant(np.float32(0))
    for x in tensors:
        flat = builder.one("Reshape", x * pattern(x.shape.static(), spread), ints(-1))
        total = total + builder.one("Sum", flat, ints(0))
    return total


@pytest.mark.parametrize(("type", "attrs", "image", "window", "expected"), ROWS)
def test_values_and_derivatives(
    type: str, attrs: Any, image: Any, window: Any, expected: list[str]
) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", shape=image)
    w = builder.placeholder("w", shape=window)
    y = builder.one(type, x, w, **attrs)
    wanted, total = [y.ref], weighted(builder, [y], 9)
    for _ in range(2):
        result = differentiate(builder.build(), GradientRequest((total.ref,), (x.ref, w.ref)))
        builder = GraphBuilder(result.graph)
        found = [builder.get(result.gradients[r]) for r in (x.ref, w.ref)]
        wanted += [g.ref for g in found]
        total = weighted(builder, found, 13)
    feeds = {"x": pattern(image, 11), "w": pattern(window, 5)}
    for value, text in zip(evaluate(builder.build(), wanted, feeds), expected, strict=True):
        assert value.dtype == np.float32
        assert value.reshape(-1).tolist() == numbers(text)


def test_dilations_and_groups() -> None:
    """TensorFlow 2.21 computed the numbers."""
    dilated = {"strides": STILL, "padding": "SAME", "dilations": (1, 2, 1, 1)}
    y = run("Conv2D", pattern((1, 5, 4, 1), 11), pattern((2, 2, 1, 1), 5), **dilated)
    assert y.reshape(-1).tolist() == numbers("0 -8 6 0 -22 7 3 -3 6 2 -2 3 1 -3 4 -2 3 7 -11 4")
    grouped = {"strides": STILL, "padding": "VALID"}
    y = run("Conv2D", pattern((1, 2, 2, 4), 11), pattern((1, 2, 2, 4), 5), **grouped)
    assert y.reshape(-1).tolist() == numbers("1 5 -1 13 14 -6 -3 14")


FAMILIES = {
    "Conv2D": ("Conv2DBackpropInput", "Conv2DBackpropFilter"),
    "DepthwiseConv2dNative": (
        "DepthwiseConv2dNativeBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter",
    ),
}


def all_three(type: str, x: Any, w: Any, g: Any, **attrs: Any) -> list[np.ndarray]:
    """Output, and the gradients of input and filter."""
    to_input, to_filter = FAMILIES[type]
    return [
        run(type, x, w, **attrs),
        run(to_input, ints(*x.shape), w, g, **attrs),
        run(to_filter, x, ints(*w.shape), g, **attrs),
    ]


@pytest.mark.parametrize(("type", "multiplier"), [("Conv2D", 5), ("DepthwiseConv2dNative", 2)])
def test_nchw_is_nhwc_transposed(type: str, multiplier: int) -> None:
    x, w = pattern((2, 5, 4, 3), 11), pattern((3, 2, 3, multiplier), 5)
    outputs = 5 if type == "Conv2D" else 6
    g = pattern((2, 3, 2, outputs), 7)
    last = all_three(type, x, w, g, strides=(1, 2, 2, 1), padding="SAME")
    nchw = {"strides": (1, 1, 2, 2), "padding": "SAME", "data_format": "NCHW"}
    y, dx, dw = all_three(type, first(x), w, first(g), **nchw)
    assert np.array_equal(y, first(last[0]))
    assert np.array_equal(dx, first(last[1]))
    assert np.array_equal(dw, last[2])


def test_a_dilated_filter_is_one_with_zeros_between() -> None:
    x, w = pattern((1, 7, 6, 2), 11), pattern((2, 3, 2, 2), 5)
    wide = np.zeros((4, 5, 2, 2), np.float32)
    wide[::3, ::2] = w
    g = pattern((1, 4, 2, 2), 7)
    attrs = {"strides": STILL, "padding": "VALID"}
    y, dx, dw = all_three("Conv2D", x, w, g, dilations=(1, 3, 2, 1), **attrs)
    expected = all_three("Conv2D", x, wide, g, **attrs)
    assert np.array_equal(y, expected[0])
    assert np.array_equal(dx, expected[1])
    assert np.array_equal(dw, expected[2][::3, ::2])


def test_groups_are_convolutions_side_by_side() -> None:
    x, w, g = pattern((2, 4, 4, 6), 11), pattern((2, 2, 3, 4), 5), pattern((2, 4, 4, 4), 7)
    attrs = {"strides": STILL, "padding": "SAME"}
    whole = all_three("Conv2D", x, w, g, **attrs)
    halves = [
        all_three("Conv2D", x[..., a], w[..., b], g[..., b], **attrs)
        for a, b in ((slice(0, 3), slice(0, 2)), (slice(3, 6), slice(2, 4)))
    ]
    for found, parts in zip(whole, zip(*halves, strict=True), strict=True):
        assert np.array_equal(found, np.concatenate(parts, -1))


@pytest.mark.parametrize("type", FAMILIES)
@pytest.mark.parametrize("channels", [2, 6, 9])
@pytest.mark.parametrize("outputs", [60, 8, 1])  # three images, two rows, less than one row
@pytest.mark.parametrize("stride", [1, 2])
def test_images_are_taken_in_parts(
    type: str, channels: int, outputs: int, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, w = pattern((7, 5, 4, channels), 11), pattern((3, 3, channels, 2), 5)
    rows, columns = (5, 4) if stride == 1 else (3, 2)
    g = pattern((7, rows, columns, 2 if type == "Conv2D" else 2 * channels), 7)
    attrs = {"strides": (1, stride, stride, 1), "padding": "SAME"}
    together = all_three(type, x, w, g, **attrs)
    monkeypatch.setattr(image_blocks, "_HOST_BLOCK", 4 * outputs * 9 * channels)
    for found, expected in zip(all_three(type, x, w, g, **attrs), together, strict=True):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("channels", [2, 6])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_memory_for_patches_does_not_grow_with_the_image(channels: int, padding: str) -> None:
    """A few rows of it are laid out at a time, and padded."""

    def taken(size: int) -> int:
        sizes: list[int] = []

        def room(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
            sizes.append(prod(shape) * np.dtype(dtype).itemsize)
            return np.empty(shape, dtype)

        slide = Slide.of({"strides": STILL, "padding": padding})
        axes = slide.axes((size, 8), (3, 3))
        x, w = pattern((1, size, 8, channels), 11), pattern((3, 3, channels, 2), 5)
        out = np.empty((1, *(axis.out for axis in axes), 2), np.float32)
        make_calls(correlate(np, x, w, axes, out, room), room)
        return sum(sizes)

    with patch.object(image_blocks, "_HOST_BLOCK", 1 << 13):
        assert taken(400) <= taken(40) * 1.5


@given(
    st.builds(Axis, *(st.integers(least, 6) for least in (0, 1, 1, 1, 0, 1))),
    st.data(),
)
def test_some_outputs_of_an_axis_see_what_they_did(axis: Axis, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, axis.out - 1))
    outputs = slice(start, data.draw(st.integers(start + 1, axis.out)))
    part, there = axis.only(outputs)
    assert part.size == len(range(axis.size)[there])
    assert part.padded <= axis.padded
    for tap in range(axis.window):
        whole, few = (_seen(one, tap) for one in (axis, part))
        wanted = {o - start: e for o, e in whole.items() if start <= o < outputs.stop}
        assert {o: e + there.start for o, e in few.items()} == wanted


def _seen(axis: Axis, tap: int) -> dict[int, int]:
    """Output -> the element that it sees there."""
    outputs, elements = axis.within(tap)
    return dict(
        zip(*(range(s.start, s.stop, s.step or 1) for s in (outputs, elements)), strict=True)
    )


windows = st.tuples(*(st.integers(1, top) for top in (3, 3, 2)))  # taps, stride, dilation


@given(
    axes=st.tuples(windows, windows),
    sizes=st.tuples(st.integers(1, 3), st.integers(5, 9), st.integers(5, 9)),
    channels=st.sampled_from([1, 3, 9]),
    padding=st.sampled_from(["SAME", "VALID"]),
    block=st.sampled_from([64, 4096]),
)
def test_both_gradients_are_adjoint_to_the_output(
    axes: Any, sizes: tuple[int, ...], channels: int, padding: str, block: int
) -> None:
    """<y(x, w), g> = <x, dx(w, g)> = <w, dw(x, g)>, of whole numbers exactly."""
    taps, strides, dilations = ((1, *one, 1) for one in zip(*axes, strict=True))
    attrs = {"strides": strides, "dilations": dilations, "padding": padding}
    x, w = pattern((*sizes, channels), 11), pattern((*taps[1:3], channels, 4), 5)
    with patch.object(image_blocks, "_HOST_BLOCK", block):
        g = pattern(run("Conv2D", x, w, **attrs).shape, 7)
        y, dx, dw = all_three("Conv2D", x, w, g, **attrs)
    assert np.sum(y * g) == np.sum(x * dx) == np.sum(w * dw)


@pytest.mark.parametrize("type", FAMILIES)
def test_half_precision_is_added_up_in_single_precision(type: str) -> None:
    """In half precision, 2048 + 1 is 2048."""
    x = np.ones((1, 1, 4096, 1), np.float16)
    w = np.full((1, 4096, 1, 1), 0.5, np.float16)
    g = np.ones((1, 1, 1, 1), np.float16)
    y, dx, dw = all_three(type, x, w, g, strides=STILL, padding="VALID")
    assert y.dtype == dx.dtype == dw.dtype == np.float16
    assert y.item() == 2048
    assert np.array_equal(dx, w.reshape(x.shape))
    assert np.array_equal(dw, x.reshape(w.shape))


@pytest.mark.parametrize("type", FAMILIES)
def test_empty_tensors(type: str) -> None:
    w = pattern((3, 3, 2, 2), 5)
    outputs = 2 if type == "Conv2D" else 4
    no_image = np.zeros((0, 5, 5, 2), np.float32)
    no_gradient = np.zeros((0, 5, 5, outputs), np.float32)
    y, dx, dw = all_three(type, no_image, w, no_gradient, strides=STILL, padding="SAME")
    assert (y.shape, dx.shape) == (no_gradient.shape, no_image.shape)
    assert np.array_equal(dw, np.zeros_like(w))
    no_output = np.zeros((3, 3, 2, 0), np.float32)
    x, none = pattern((1, 5, 5, 2), 11), np.zeros((1, 5, 5, 0), np.float32)
    y, dx, dw = all_three(type, x, no_output, none, strides=STILL, padding="SAME")
    assert (y.shape, dw.shape) == (none.shape, no_output.shape)
    assert np.array_equal(dx, np.zeros_like(x))


def test_whole_numbers() -> None:
    x, w = pattern((1, 4, 4, 2), 11, np.int32), pattern((2, 2, 2, 3), 5, np.int32)
    y = run("Conv2D", x, w, strides=STILL, padding="VALID")
    floats = run("Conv2D", x.astype("f4"), w.astype("f4"), strides=STILL, padding="VALID")
    assert y.dtype == np.int32
    assert np.array_equal(y, floats)


def test_a_weight_that_is_not_finite_meets_the_padding_only_forwards() -> None:
    """TensorFlow 2.21: padding is multiplied by weights, but gradients do not come from it."""
    x, w = np.ones((1, 1, 3, 1), np.float32), np.array([1, np.nan], np.float32)
    g = np.array([1, 1, np.nan], np.float32).reshape(x.shape)
    y, dx, dw = all_three("Conv2D", x, w.reshape(1, 2, 1, 1), g, strides=STILL, padding="SAME")
    np.testing.assert_array_equal(y.reshape(-1), [np.nan] * 3)
    np.testing.assert_array_equal(dx.reshape(-1), [1, np.nan, np.nan])
    np.testing.assert_array_equal(dw.reshape(-1), [np.nan] * 2)


def test_the_sizes_of_the_input_may_be_the_spatial_ones_alone() -> None:
    w, g = pattern((3, 3, 2, 4), 5), pattern((2, 3, 3, 4), 7)
    attrs = {"strides": STILL, "padding": "VALID"}
    short = run("Conv2DBackpropInput", ints(5, 5), w, g, **attrs)
    assert np.array_equal(short, run("Conv2DBackpropInput", ints(2, 5, 5, 2), w, g, **attrs))


def test_gradients_of_known_shapes_need_no_shape_ops() -> None:
    builder = GraphBuilder()
    x, w = (
        builder.placeholder("x", shape=(1, 4, 4, 1)),
        builder.placeholder("w", shape=(2, 2, 1, 1)),
    )
    y = builder.one("Conv2D", x, w, strides=STILL, padding="SAME")
    pooled = builder.one("AvgPool", y, ksize=(1, 2, 2, 1), strides=STILL, padding="VALID")
    graph = differentiate(builder.build(), GradientRequest((pooled.ref,), (x.ref, w.ref))).graph
    types = [graph[name].type for name in graph.order]
    assert "Shape" not in types
    assert {"Conv2DBackpropInput", "Conv2DBackpropFilter", "AvgPoolGrad"} <= set(types)
