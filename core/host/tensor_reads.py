"""Answering Read: parts of tensors as of a step, with their statistics."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

import numpy as np
from msgspec import structs

from gradstep.core.debug.history.frame import Frame
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.host.tensor_statistics import difference, differs, summarize
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Read, TensorPart, UpdateInfo, Values
from gradstep.core.protocol.tensor_bytes import pack

NO_ROOM = "recorded runs had no room for this iteration (Run > Keep recorded)"
Known = Callable[[TensorRef], bool]  # whether the program has such a tensor


def known_in(graph: Graph) -> Known:
    """What the program of `graph` has, in loops or not."""
    return lambda ref: way_to(graph, ref.op) is not None


def read(
    request: Read, known: Known, frame: Frame, until: float = inf
) -> tuple[Values, tuple[Buffer, ...]]:
    """The parts that `request` names, in its order, and their buffers. A tensor that is not in
    the program has the state "none", one that is not computed yet "waiting", one that was computed
    in a loop and is not kept any more "dropped". until: the time, of time.monotonic, from which on
    the rest is left out."""
    if request.limit < 0 or request.offset < 0:
        raise GradstepError("limit and offset must not be negative", kind="ValueError")
    parts: list[TensorPart] = []
    buffers: list[Buffer] = []
    for name in request.refs:
        if time.monotonic() >= until:
            break
        ref = TensorRef.parse(name)
        array = frame.look(ref) if known(ref) else None
        if array is None:
            missing = _without_value(name, frame, ref)
            parts.append(missing if known(ref) else TensorPart(ref=name, state="none"))
            continue
        opaque = array.dtype.hasobject and frame.state(ref) is not None
        dtype = DType.RESOURCE if opaque else DType.of(array.dtype)
        part = _part(name, array, dtype, len(buffers))
        buffers.append(pack(_slice(array, request.offset, request.limit)))
        if (write := frame.last_write(ref)) is not None:
            before = _comparable(write.before, array)
            update = _update(array, before, write.step, len(buffers))
            part = structs.replace(part, update=update)
            if before is not None:
                buffers.append(pack(_slice(before, request.offset, request.limit)))
        parts.append(part)
    return Values(parts=parts), tuple(buffers)


def _without_value(name: str, frame: Frame, ref: TensorRef) -> TensorPart:
    if (dead := frame.dead(ref)) is not None:
        return TensorPart(ref=name, state="dead", why=dead.reason)
    if frame.is_dropped(ref):
        return TensorPart(ref=name, state="dropped", why=NO_ROOM)
    return TensorPart(ref=name, state="waiting")


def _part(name: str, array: np.ndarray, dtype: DType, buffer: int) -> TensorPart:
    return TensorPart(
        ref=name,
        state="known",
        dtype=dtype.value,
        shape=list(array.shape),
        buffer=buffer,
        stats=summarize(array),
    )


def _comparable(before: np.ndarray | None, now: np.ndarray) -> np.ndarray | None:
    """What a variable held before, if it is of the shape and dtype that it has now."""
    if before is None or (before.shape, before.dtype) != (now.shape, now.dtype):
        return None
    return before


def _update(now: np.ndarray, before: np.ndarray | None, step: int, buffer: int) -> UpdateInfo:
    """What a step changed; `buffer`: the number of the one that will hold what was before."""
    if before is None:
        return UpdateInfo(step=step, changed=now.size)
    return UpdateInfo(
        step=step,
        before=buffer,
        delta=summarize(difference(now, before)) if kind_of(now.dtype) in "iufc" else None,
        changed=int(np.count_nonzero(differs(now, before))),
    )


def _slice(array: np.ndarray, offset: int, limit: int) -> np.ndarray:
    """Elements `offset` to `offset + limit` in row-major order, flat."""
    if array.flags.c_contiguous:
        return array.reshape(-1)[offset : offset + limit].copy()  # a run may go on meanwhile
    return np.array(array.flat[offset : offset + limit], array.dtype)
