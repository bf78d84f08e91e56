"""Answering Read: parts of tensors as of a step, with their statistics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.debug.frame import Frame
from core.engine.untaken import Untaken
from core.errors import GradstepError
from core.graph.dtypes import DType
from core.graph.model import TensorRef
from core.host.messages import Read, TensorPart, Values
from core.host.statistics import summarize
from core.host.tensor_bytes import pack
from core.host.wire import Buffer

Known = Callable[[TensorRef], bool]  # whether the program has such a tensor


def read(request: Read, known: Known, frame: Frame) -> tuple[Values, tuple[Buffer, ...]]:
    """The parts that `request` names, in its order, and their buffers. A tensor that is not in
    the program has the state "none", one that is not computed yet "waiting"."""
    if request.limit < 0 or request.offset < 0:
        raise GradstepError("limit and offset must not be negative", kind="ValueError")
    parts: list[TensorPart] = []
    buffers: list[Buffer] = []
    for name in request.refs:
        ref = TensorRef.parse(name)
        array = frame.value(ref) if known(ref) else None
        if array is None:
            parts.append(_without_value(name, frame.dead(ref)) if known(ref) else _nothing(name))
            continue
        opaque = array.dtype.hasobject and frame.state(ref) is not None
        dtype = DType.RESOURCE if opaque else DType.of(array.dtype)
        parts.append(_part(name, array, dtype, len(buffers)))
        buffers.append(pack(_slice(array, request.offset, request.limit)))
    return Values(parts=parts), tuple(buffers)


def _without_value(name: str, dead: Untaken | None) -> TensorPart:
    if dead is None:
        return TensorPart(ref=name, state="waiting")
    return TensorPart(ref=name, state="dead", why=dead.reason)


def _nothing(name: str) -> TensorPart:
    return TensorPart(ref=name, state="none")


def _part(name: str, array: np.ndarray, dtype: DType, buffer: int) -> TensorPart:
    return TensorPart(
        ref=name,
        state="known",
        dtype=dtype.value,
        shape=list(array.shape),
        buffer=buffer,
        stats=summarize(array),
    )


def _slice(array: np.ndarray, offset: int, limit: int) -> np.ndarray:
    """Elements `offset` to `offset + limit` in row-major order, flat."""
    if array.flags.c_contiguous:
        return array.reshape(-1)[offset : offset + limit]
    return np.array(array.flat[offset : offset + limit], array.dtype)
