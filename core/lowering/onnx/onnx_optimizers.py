"""ONNX's steps of training: tensors, gradients and what is kept of them, all together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_operands import cast, scalar
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call


def _groups(xs: Sequence[Tensor], count: int) -> list[Sequence[Tensor]]:
    """As many of each kind; kind by kind."""
    each, rest = divmod(len(xs), count)
    if rest:
        raise UnloweredError(f"{len(xs)} tensors in groups of {count}")
    return [xs[i * each : (i + 1) * each] for i in range(count)]


def _sum(*terms: tuple[float, Tensor]) -> Tensor:
    """Of tensors times numbers."""
    scaled = [x if by == 1 else call("Mul", x, scalar(x, by)) for by, x in terms if by]
    found = scaled[0]
    for one in scaled[1:]:
        found = call("AddV2", found, one)
    return found


@lower("Momentum")
def momentum(
    site: Site,
    rate: Tensor,
    count: Tensor,
    *tensors: Tensor,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> list[Tensor]:
    """In the first step the gradient counts in full, and after that `beta` of it."""
    new, kept = [], []
    for x, gradient, velocity in zip(*_groups(tensors, 3), strict=True):
        g = _sum((1, gradient), (norm_coefficient, x))
        share = call("SelectV2", call("Equal", count, scalar(count, 0)),
                     site.constant(scalar(x, 1)), scalar(x, beta))  # fmt: skip
        v = call("AddV2", _sum((alpha, velocity)) if alpha else call("ZerosLike", velocity),
                 call("Mul", g, share))  # fmt: skip
        move = _sum((1, g), (alpha, v)) if mode == "nesterov" else v
        new.append(call("Sub", x, call("Mul", move, rate)))
        kept.append(v)
    return [*new, *kept]


@lower("Adagrad")
def adagrad(
    site: Site,
    rate: Tensor,
    count: Tensor,
    *tensors: Tensor,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> list[Tensor]:
    new, kept = [], []
    times = cast(count, rate.dtype)
    slower = call("AddV2", call("Mul", times, scalar(rate, decay_factor)), scalar(rate, 1))
    now = call("RealDiv", rate, slower)
    for x, gradient, squares in zip(*_groups(tensors, 3), strict=True):
        g = _sum((1, gradient), (norm_coefficient, x))
        h = call("AddV2", squares, call("Square", g))
        below = call("AddV2", call("Sqrt", h), scalar(x, epsilon))
        new.append(call("Sub", x, call("RealDiv", call("Mul", g, now), below)))
        kept.append(h)
    return [*new, *kept]


@lower("Adam")
def adam(
    site: Site,
    rate: Tensor,
    count: Tensor,
    *tensors: Tensor,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> list[Tensor]:
    """What the averages lack in the beginning is made up for from the second step on."""
    new, means, squares = [], [], []
    now = call("Mul", rate, _made_up(rate, count, alpha, beta))
    for x, gradient, mean, square in zip(*_groups(tensors, 4), strict=True):
        g = _sum((1, gradient), (norm_coefficient, x))
        v = _sum((alpha, mean), (1 - alpha, g))
        h = _sum((beta, square), (1 - beta, call("Square", g)))
        below = call("AddV2", call("Sqrt", h), scalar(x, epsilon))
        moved = call("Sub", x, call("RealDiv", call("Mul", v, now), below))
        new.append(_sum((1 - norm_coefficient_post, moved)))
        means.append(v)
        squares.append(h)
    return [*new, *means, *squares]


def _made_up(rate: Tensor, count: Tensor, alpha: float, beta: float) -> Tensor:
    times = cast(count, rate.dtype)
    one = scalar(rate, 1)
    first = call("Sub", one, call("Pow", np.array(alpha, rate.dtype.numpy), times))
    second = call("Sub", one, call("Pow", np.array(beta, rate.dtype.numpy), times))
    started = call("Greater", times, scalar(rate, 0))
    safe = call("SelectV2", started, first, one)
    ratio = call("RealDiv", call("Sqrt", second), safe)
    return call("SelectV2", started, ratio, one)
