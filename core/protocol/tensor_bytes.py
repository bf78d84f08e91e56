"""Tensors as raw buffers: what a TensorPart's buffer holds, and back to an array."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import TensorPart


def pack(array: np.ndarray[Any, Any]) -> Buffer:
    """The elements of `array`, row-major, as raw little-endian bytes; strings as a msgpack list."""
    if array.dtype.hasobject or array.dtype.kind in "SU":
        return msgspec.msgpack.encode([_as_bytes(x) for x in array.ravel().tolist()])
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.astype(flat.dtype.newbyteorder("<"), copy=False).view(np.uint8).data


def unpack(part: TensorPart, buffers: tuple[Buffer, ...]) -> np.ndarray[Any, Any]:
    """The elements of `part` that were sent, as a flat read-only array (bytes for strings);
    empty when it has none."""
    if part.buffer < 0:
        return np.empty(0, DType(part.dtype).numpy if part.dtype else np.float32)
    return elements(buffers[part.buffer], DType(part.dtype).numpy)


def unpack_before(part: TensorPart, buffers: tuple[Buffer, ...]) -> np.ndarray[Any, Any] | None:
    """The same elements of the variable before its last update; None where they were not sent."""
    if part.update is None or part.update.before < 0:
        return None
    return elements(buffers[part.update.before], DType(part.dtype).numpy)


def elements(buffer: Buffer, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The flat read-only array that `pack` made a buffer of."""
    if kind.hasobject:
        return np.array([*msgspec.msgpack.decode(buffer, type=list[bytes]), None], object)[:-1]
    array = np.frombuffer(buffer, kind.newbyteorder("<")).astype(kind, copy=False)
    array.setflags(write=False)
    return array


def _as_bytes(element: Any) -> bytes:
    return element if isinstance(element, bytes) else str(element).encode()
