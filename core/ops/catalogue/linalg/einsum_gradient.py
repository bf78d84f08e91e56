"""The gradient of Einsum, which is an Einsum again but for sums and broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.catalogue.linalg.einsum_equation import ELLIPSIS
from gradstep.core.ops.catalogue.linalg.linalg_composites import broadcast_axes, sizes_of
from gradstep.core.ops.declare.axes import kept_shape
from gradstep.core.ops.typing.static_values import conj, reshape_like, shape_of


def gradient(op: OpView, g: Tensor) -> list[Tensor]:
    text = op.get_attr("equation")
    left, out = (text.decode() if isinstance(text, bytes) else str(text)).split("->")
    subscripts = left.split(",")
    if len(subscripts) == 1:
        return [_of_one(g, op.inputs[0], left, out)]
    if ELLIPSIS in out:  # the gradient's equation needs it everywhere
        subscripts = [s if ELLIPSIS in s else s + ELLIPSIS for s in subscripts]
    x, y = op.inputs
    grads = (
        _of_factor(g, conj(y), x, subscripts, out),
        _of_factor(g, conj(x), y, subscripts[::-1], out),
    )
    if ELLIPSIS not in out:
        return list(grads)
    return _unbroadcast(grads, (x, y), subscripts)


def _einsum(equation: str, *operands: Tensor) -> Tensor:
    return call("Einsum", *operands, equation=equation)


def _of_one(g: Tensor, x: Tensor, subscript: str, out: str) -> Tensor:
    if not _only_in(subscript, out):
        return _einsum(f"{out}->{subscript}", g)
    return _summed_back(g, x, subscript, out)


def _only_in(subscript: str, *others: str) -> str:
    """The labels that are in none of the others."""
    elsewhere = {".", *"".join(others)}
    return "".join(dict.fromkeys(label for label in subscript if label not in elsewhere))


def _of_factor(g: Tensor, other: Tensor, x: Tensor, subscripts: list[str], out: str) -> Tensor:
    """For `x`, whose subscript is the first, before what broadcast is summed again."""
    own, others = subscripts
    summed = _only_in(own, others, out)
    kept = "".join(label for label in own if label not in summed)
    grad = _einsum(f"{out},{others}->{kept}", g, other)
    return _summed_back(grad, x, own, kept) if summed else grad


def _summed_back(g: Tensor, x: Tensor, subscript: str, out: str) -> Tensor:
    """The gradient of `subscript->out` where that sums over labels: repeated along their axes."""
    summed = _only_in(subscript, out)
    kept = "".join(label for label in subscript if label not in summed)
    axes = np.array([_axis(subscript, label) for label in summed], np.int32)
    if kept == out and not any(_repeats(s) for s in (subscript, out)):
        ones = kept_shape(x, x.builder.tensor(axes))
        return call("BroadcastTo", call("Reshape", g, ones), shape_of(x))
    # The summed axes come first, then the Einsum backwards puts all in their places.
    shape, zero = sizes_of(g), np.array(0, np.int32)
    lifted = call("Reshape", g, call("ConcatV2", np.ones_like(axes), shape, zero))
    repeated = call("BroadcastTo", lifted, call("ConcatV2", _sizes(x, axes), shape, zero))
    return _einsum(f"{summed}{out}->{subscript}", repeated)


def _repeats(subscript: str) -> bool:
    letters = subscript.replace(ELLIPSIS, "")
    return len(set(letters)) < len(letters)


def _axis(subscript: str, label: str) -> int:
    """The first axis with this label, counted from the end where it stands after `...`."""
    before, dots, after = subscript.partition(ELLIPSIS)
    return before.index(label) if label in before or not dots else after.index(label) - len(after)


def _sizes(x: Tensor, axes: np.ndarray) -> Any:
    if x.shape.is_static:
        return np.array(x.shape.static(), np.int32)[axes]
    shape = call("Shape", x)
    places = call("FloorMod", x.builder.tensor(axes), call("Size", shape))
    return call("GatherV2", shape, places, np.array(0, np.int32))


def _unbroadcast(
    grads: tuple[Tensor, Tensor], inputs: tuple[Tensor, Tensor], subscripts: list[str]
) -> list[Tensor]:
    """Each gradient summed over the axes of `...` along which its input was broadcast."""
    starts = [s.index(ELLIPSIS) for s in subscripts]
    ends = [start + len(ELLIPSIS) - len(s) for s, start in zip(subscripts, starts, strict=True)]
    axes: Any
    if all(x.shape.is_static for x in inputs):
        shapes = [x.shape.static() for x in inputs]
        bounds = zip(shapes, starts, ends, strict=True)
        axes = broadcast_axes(*(shape[start : end or None] for shape, start, end in bounds))
        axes = [list(each) for each in axes]
    else:
        hidden = [_hidden(*each) for each in zip(inputs, starts, ends, strict=True)]
        axes = call_many("BroadcastGradientArgs", *hidden)
    triples = zip(grads, inputs, starts, axes, strict=True)
    return [_summed(g, x, start, over) for g, x, start, over in triples]


def _hidden(x: Tensor, start: int, end: int) -> Tensor:
    """The sizes that `...` stands for."""
    ends = (np.array([i], np.int32) for i in (start, end, 1))
    return call("StridedSlice", sizes_of(x), *ends, end_mask=0 if end else 1)


def _summed(g: Tensor, x: Tensor, start: int, axes: Tensor | list[int]) -> Tensor:
    if isinstance(axes, list):
        over = np.array(axes, np.int32) + np.int32(start)
        return reshape_like(call("Sum", g, over) if axes else g, x)
    return call("Reshape", call("Sum", g, axes + np.int32(start)), shape_of(x))
