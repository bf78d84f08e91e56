"""Operations that multiply and add: products of matrices, convolutions and their gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.bench.small_sizes import sized
from tests.card.speed.op_row import SIDE, SQUARE, Arrays, OpRow, Peer, signed

BATCH, ROWS = sized(128, 2), sized(512, 16)
IMAGES, HEIGHT, INPUTS, OUTPUTS = sized(32, 2), sized(56, 6), sized(64, 4), sized(128, 8)
_X, _F, _G = (IMAGES, HEIGHT, HEIGHT, INPUTS), (3, 3, INPUTS, OUTPUTS), OUTPUTS
_Y = (IMAGES, HEIGHT, HEIGHT, OUTPUTS)
_CONV = f"{'×'.join(map(str, _X))}, 3×3 to {OUTPUTS}"
_CONV_FLOP = 2.0 * IMAGES * HEIGHT * HEIGHT * 9 * INPUTS * OUTPUTS
_WINOGRAD = 5e-4  # what it computes with fewer products is off by more
_WAY: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
Tensors = Mapping[str, Tensor]


def _product(a: bool, b: bool) -> OpRow:
    said = "".join((" aᵀ" if a else "", " bᵀ" if b else ""))
    return OpRow(
        f"MatMul{said}",
        SQUARE,
        lambda: {"a": signed("a", SIDE, SIDE), "b": signed("b", SIDE, SIDE)},
        lambda build, t: build.op("MatMul", t["a"], t["b"], transpose_a=a, transpose_b=b),
        lambda torch, t: lambda: (t["a"].T if a else t["a"]) @ (t["b"].T if b else t["b"]),
        flop=2.0 * SIDE**3,
    )


def images(tensor: Any) -> Any:
    """As PyTorch has them: channels before height and width."""
    return tensor.permute(0, 3, 1, 2).contiguous()


def as_ours(tensor: Any) -> Any:
    return tensor.permute(0, 2, 3, 1)


def filters(tensor: Any) -> Any:
    return tensor.permute(3, 2, 0, 1).contiguous()


def _conv_arrays() -> Arrays:
    return {"x": signed("x", *_X), "f": signed("f", *_F), "g": signed("g", *_Y)}


def _conv(torch: Any, t: Mapping[str, Any]) -> Peer:
    x, f = images(t["x"]), filters(t["f"])
    return lambda: torch.nn.functional.conv2d(x, f, padding=1)


def _backward(which: int) -> Any:
    def prepare(torch: Any, t: Mapping[str, Any]) -> Peer:
        x, f, g = images(t["x"]), filters(t["f"]), images(t["g"])
        mask = [which == 0, which == 1, False]
        backward = torch.ops.aten.convolution_backward
        one = [1, 1]
        return lambda: backward(g, x, f, None, one, one, one, False, [0, 0], 1, mask)[which]

    return prepare


def _depthwise_arrays() -> Arrays:
    return {"x": signed("x", *_X), "f": signed("f", 3, 3, INPUTS, 1)}


def _depthwise(torch: Any, t: Mapping[str, Any]) -> Peer:
    x, f = images(t["x"]), t["f"].permute(2, 3, 0, 1).contiguous()
    return lambda: torch.nn.functional.conv2d(x, f, padding=1, groups=INPUTS)


def _input_gradient(build: GraphBuilder, t: Tensors) -> tuple[Tensor, ...]:
    sizes = build.constant(np.array(_X, np.int32))
    return build.op("Conv2DBackpropInput", sizes, t["f"], t["g"], **_WAY)


def _filter_gradient(build: GraphBuilder, t: Tensors) -> tuple[Tensor, ...]:
    sizes = build.constant(np.array(_F, np.int32))
    return build.op("Conv2DBackpropFilter", t["x"], sizes, t["g"], **_WAY)


ROWS_OF_PRODUCTS = (
    _product(False, False),
    _product(True, False),
    _product(False, True),
    OpRow(
        "BatchMatMulV2",
        f"{BATCH} of {ROWS}×{ROWS}",
        lambda: {"a": signed("a", BATCH, ROWS, ROWS), "b": signed("b", BATCH, ROWS, ROWS)},
        lambda build, t: build.op("BatchMatMulV2", t["a"], t["b"]),
        lambda torch, t: lambda: t["a"] @ t["b"],
        flop=2.0 * BATCH * ROWS**3,
    ),
    OpRow(
        "Conv2D",
        _CONV,
        _conv_arrays,
        lambda build, t: build.op("Conv2D", t["x"], t["f"], **_WAY),
        _conv,
        as_ours,
        flop=_CONV_FLOP,
        tolerance=_WINOGRAD,
    ),
    OpRow(
        "Conv2DBackpropInput",
        _CONV,
        _conv_arrays,
        _input_gradient,
        _backward(0),
        as_ours,
        flop=_CONV_FLOP,
        tolerance=_WINOGRAD,
    ),
    OpRow(
        "Conv2DBackpropFilter",
        _CONV,
        _conv_arrays,
        _filter_gradient,
        _backward(1),
        lambda tensor: tensor.permute(2, 3, 1, 0),
        flop=_CONV_FLOP,
        tolerance=_WINOGRAD,
    ),
    OpRow(
        "DepthwiseConv2dNative",
        f"{'×'.join(map(str, _X))}, 3×3",
        _depthwise_arrays,
        lambda build, t: build.op("DepthwiseConv2dNative", t["x"], t["f"], **_WAY),
        _depthwise,
        as_ours,
        nbytes=8.0 * np.prod(_X),
    ),
)
