"""Operations that make few numbers of many: sums, extremes, softmax, normalization, pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.bench.small_sizes import sized
from tests.card.speed.op_row import Arrays, OpRow, Peer, numbers, of_square, signed
from tests.card.speed.product_rows import as_ours, images

BATCH, CLASSES = sized(8192, 8), sized(1024, 16)
IMAGES, HEIGHT, CHANNELS = sized(32, 2), sized(56, 6), sized(64, 4)
_SHAPE = (IMAGES, HEIGHT, HEIGHT, CHANNELS)
_SIZE = "×".join(map(str, _SHAPE))
_BYTES = 4.0 * np.prod(_SHAPE)
_LONG = 1e-4  # of sums of very many, in any order
_POOL: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
Tensors = Mapping[str, Tensor]


def _reduced(type: str, axis: list[int] | None, peer: Any, said: str) -> OpRow:
    axes = [0, 1] if axis is None else axis
    return of_square(
        f"{type} {said}",
        lambda build, x: build.op(type, x, build.constant(np.array(axes, np.int32))),
        peer,
        tolerance=_LONG,
        reduces=True,
    )


def _entropy_arrays() -> Arrays:
    labels = np.random.default_rng(1).integers(0, CLASSES, BATCH).astype(np.int32)
    return {"x": signed("x", BATCH, CLASSES), "labels": labels}


def _entropy(torch: Any, t: Mapping[str, Any]) -> Peer:
    x, labels = t["x"].requires_grad_(), t["labels"].long()

    def step() -> Any:
        each = torch.nn.functional.cross_entropy(x, labels, reduction="none")
        return each.detach(), torch.autograd.grad(each.sum(), x)[0]

    return step


def _normalized(build: GraphBuilder, t: Tensors) -> Sequence[Tensor]:
    nothing = build.constant(np.zeros(0, np.float32))
    return build.op(
        "FusedBatchNormV3", t["x"], t["scale"], t["offset"], nothing, nothing, is_training=True
    )[:1]


def _normalized_back(build: GraphBuilder, t: Tensors) -> Sequence[Any]:
    (y,) = _normalized(build, t)
    return gradients(y, [t["x"]], grad_ys=[t["g"]])


def _norm_arrays() -> Arrays:
    found = {"x": signed("x", *_SHAPE), "scale": numbers("scale", CHANNELS)}
    return {**found, "offset": signed("offset", CHANNELS), "g": signed("g", *_SHAPE)}


def _torch_norm(torch: Any, t: Mapping[str, Any]) -> Peer:
    x = images(t["x"])
    norm, scale, offset = torch.nn.functional.batch_norm, t["scale"], t["offset"]
    return lambda: norm(x, None, None, scale, offset, training=True, eps=1e-4)


def _torch_norm_back(torch: Any, t: Mapping[str, Any]) -> Peer:
    x, g = images(t["x"]).requires_grad_(), images(t["g"])
    norm, scale, offset = torch.nn.functional.batch_norm, t["scale"], t["offset"]

    def step() -> Any:
        y = norm(x, None, None, scale, offset, training=True, eps=1e-4)
        return torch.autograd.grad(y, x, g)[0]

    return step


def _pool_arrays() -> Arrays:
    x = signed("x", *_SHAPE)
    half = HEIGHT // 2
    y = x.reshape(IMAGES, half, 2, half, 2, CHANNELS).max((2, 4))
    return {"x": x, "y": y, "g": signed("g", *y.shape)}


def _torch_pool(torch: Any, t: Mapping[str, Any]) -> Peer:
    x = images(t["x"])
    return lambda: torch.nn.functional.max_pool2d(x, 2)


def _torch_pool_back(torch: Any, t: Mapping[str, Any]) -> Peer:
    x, g = images(t["x"]), images(t["g"])
    _, places = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    backward = torch.ops.aten.max_pool2d_with_indices_backward
    return lambda: backward(g, x, [2, 2], [2, 2], [0, 0], [1, 1], False, places)


REDUCING_ROWS = (
    _reduced("Sum", None, lambda torch, x: x.sum(), "of all"),
    _reduced("Sum", [0], lambda torch, x: x.sum(0), "along 0"),
    _reduced("Sum", [1], lambda torch, x: x.sum(1), "along 1"),
    _reduced("Mean", [1], lambda torch, x: x.mean(1), "along 1"),
    _reduced("Max", [1], lambda torch, x: x.amax(1), "along 1"),
    of_square(
        "ArgMax along 1",
        lambda build, x: build.op("ArgMax", x, build.constant(np.int32(1))),
        lambda torch, x: x.argmax(1),
        reduces=True,
    ),
    OpRow(
        "BiasAddGrad",
        _SIZE,
        lambda: {"g": numbers("g", *_SHAPE)},
        lambda build, t: build.op("BiasAddGrad", t["g"]),
        lambda torch, t: lambda: t["g"].sum((0, 1, 2)),
        nbytes=_BYTES,
        tolerance=_LONG,
        reduces=True,
    ),
    OpRow(
        "Softmax",
        f"{BATCH}×{CLASSES}",
        lambda: {"x": signed("x", BATCH, CLASSES)},
        lambda build, t: build.op("Softmax", t["x"]),
        lambda torch, t: lambda: torch.softmax(t["x"], 1),
        nbytes=8.0 * BATCH * CLASSES,
        reduces=True,
    ),
    OpRow(
        "SparseSoftmaxCrossEntropyWithLogits",
        f"{BATCH}×{CLASSES}, with its gradient",
        _entropy_arrays,
        lambda build, t: build.op("SparseSoftmaxCrossEntropyWithLogits", t["x"], t["labels"]),
        _entropy,
        nbytes=8.0 * BATCH * CLASSES,
        reduces=True,
    ),
    OpRow(
        "FusedBatchNormV3",
        _SIZE,
        _norm_arrays,
        _normalized,
        _torch_norm,
        as_ours,
        nbytes=2 * _BYTES,
        tolerance=_LONG,
    ),
    OpRow(
        "FusedBatchNormV3, there and back",
        _SIZE,
        _norm_arrays,
        _normalized_back,
        _torch_norm_back,
        as_ours,
        nbytes=5 * _BYTES,
        tolerance=_LONG,
    ),
    OpRow(
        "MaxPool",
        f"{_SIZE}, 2×2",
        _pool_arrays,
        lambda build, t: build.op("MaxPool", t["x"], **_POOL),
        _torch_pool,
        as_ours,
        nbytes=1.25 * _BYTES,
    ),
    OpRow(
        "MaxPoolGrad",
        f"{_SIZE}, 2×2",
        _pool_arrays,
        lambda build, t: build.op("MaxPoolGrad", t["x"], t["y"], t["g"], **_POOL),
        _torch_pool_back,
        as_ours,
        nbytes=2.5 * _BYTES,
    ),
)
