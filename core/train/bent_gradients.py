"""Gradients on their way to an optimizer: an L2 term added, then clipped, as TensorFlow clips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Phase
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.train.training_settings import Settings
from gradstep.core.train.update_ops import Gradient, Pair


def bend_gradients(builder: GraphBuilder, pairs: Sequence[Pair], settings: Settings) -> list[Pair]:
    """The pairs with what is asked for done to the gradients: weight decay by an L2 term comes
    first, being part of the gradient, then the clipping. Rows stay rows, unless weight decay is
    asked for, which moves all of a variable."""
    found = [*pairs]
    if settings.decay is not None:
        found = [(name, _whole(builder, name, g)) for name, g in found]
    if settings.decay is not None and settings.decay.name == "l2":
        factor = settings.decay.number("factor")
        found = [(name, _with_l2(builder, name, g, factor)) for name, g in found]
    if settings.clip is not None:
        return _CLIPS[settings.clip.name](builder, found, settings.clip.number("limit"))
    return found


def _whole(builder: GraphBuilder, name: str, gradient: Gradient) -> Tensor:
    if isinstance(gradient, Tensor):
        return gradient
    with builder.belonging_to(name, Phase.UPDATE), builder.scope(f"dense_{name}"):
        return gradient.dense()


def _with_l2(builder: GraphBuilder, name: str, gradient: Gradient, factor: float) -> Gradient:
    """`gradient + factor * w`: that of the loss with `factor / 2 * sum(w ** 2)` added."""
    assert isinstance(gradient, Tensor)
    with builder.belonging_to(name, Phase.UPDATE), builder.scope(f"decay_{name}"):
        scaled = _times(builder, read_variable(builder, name), factor)
        return builder.one("AddV2", gradient, scaled)


def read_variable(builder: GraphBuilder, name: str) -> Tensor:
    """What a variable holds, read here."""
    declared = builder.operation(name)
    handle = builder.get(name)
    if declared.type == "VarHandleOp":
        return builder.one("ReadVariableOp", handle, dtype=attribute(declared, "dtype", DType))
    return builder.one("Identity", handle, name="read")


def _by_value(builder: GraphBuilder, pairs: Sequence[Pair], limit: float) -> list[Pair]:
    """tf.clip_by_value(g, -limit, limit)."""

    def clip(g: Tensor) -> Tensor:
        below = builder.one("Minimum", g, builder.constant(limit, g.dtype, name="max"))
        return builder.one("Maximum", below, builder.constant(-limit, g.dtype, name="min"))

    return _each(builder, pairs, clip)


def _by_norm(builder: GraphBuilder, pairs: Sequence[Pair], limit: float) -> list[Pair]:
    """tf.clip_by_norm(g, limit): g * limit / max(norm(g), limit)."""

    def clip(g: Tensor) -> Tensor:
        most = builder.constant(limit, g.dtype, name="clip_norm")
        norm = builder.one("Sqrt", _sum_of_squares(builder, g))
        scaled = builder.one("Mul", g, most)
        return builder.one("RealDiv", scaled, builder.one("Maximum", norm, most))

    return _each(builder, pairs, clip)


def _by_global_norm(builder: GraphBuilder, pairs: Sequence[Pair], limit: float) -> list[Pair]:
    """tf.clip_by_global_norm: all by one factor, limit * min(1 / norm, 1 / limit) in float32; NaN
    where the norm of all is not finite."""
    with builder.belonging_to(pairs[-1][0], Phase.UPDATE), builder.scope("global_norm"):
        halves = [_half_square(builder, _values(g)) for _, g in pairs]
        total = builder.one("AddN", *halves) if len(halves) > 1 else halves[0]
        two, one = (builder.constant(np.float32(x), name="Const") for x in (2, 1))
        norm = builder.one("Sqrt", builder.one("Mul", total, two), name="norm")
        most = builder.constant(np.float32(limit), name="clip_norm")
        least = builder.one(
            "Minimum", builder.one("RealDiv", one, norm), builder.one("RealDiv", one, most)
        )
        factor = builder.one("Mul", most, least)
        nan = builder.constant(np.float32(np.nan), name="nan")
        factor = builder.one("SelectV2", builder.one("IsFinite", norm), factor, nan, name="factor")

    def clip(g: Tensor) -> Tensor:
        same = g.dtype is DType.FLOAT32
        return builder.one("Mul", g, factor if same else builder.one("Cast", factor, DstT=g.dtype))

    return _each(builder, pairs, clip)


def _half_square(builder: GraphBuilder, g: Tensor) -> Tensor:
    half = builder.one("L2Loss", g)
    return half if g.dtype is DType.FLOAT32 else builder.one("Cast", half, DstT=DType.FLOAT32)


def _sum_of_squares(builder: GraphBuilder, g: Tensor) -> Tensor:
    two = builder.constant(2, g.dtype, name="two")
    return builder.one("Mul", builder.one("L2Loss", g), two)


def _each(
    builder: GraphBuilder, pairs: Sequence[Pair], clip: Callable[[Tensor], Tensor]
) -> list[Pair]:
    found: list[Pair] = []
    for name, gradient in pairs:
        with builder.belonging_to(name, Phase.UPDATE), builder.scope(f"clip_{name}"):
            clipped = clip(_values(gradient))
        found.append((name, _with_values(gradient, clipped)))
    return found


def _with_values(gradient: Gradient, values: Tensor) -> Gradient:
    return values if isinstance(gradient, Tensor) else replace(gradient, values=values)


def _values(gradient: Gradient) -> Tensor:
    return gradient if isinstance(gradient, Tensor) else gradient.values


def _times(builder: GraphBuilder, x: Tensor, factor: float) -> Tensor:
    return builder.one("Mul", builder.constant(factor, x.dtype, name="factor"), x)


_Clip = Callable[[GraphBuilder, Sequence[Pair], float], list[Pair]]
_CLIPS: Mapping[str, _Clip] = {
    "value": _by_value,
    "norm": _by_norm,
    "global_norm": _by_global_norm,
}
