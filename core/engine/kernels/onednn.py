"""What this program calls of oneDNN's C interface: memory, primitives, and their execution.

The names are the library's without `dnnl_`; numbers are those of its version 3 headers. Handles
are freed when the object that holds them is.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_int, c_int64, c_size_t, c_void_p
from functools import cache
from typing import Any

from gradstep.core.engine.kernels.kernel_libraries import ONEDNN
from gradstep.core.errors import GradstepError

FLOAT32 = 3
FORWARD, CONVOLUTION_DIRECT = 64, 1
# Arguments of an execution.
SOURCE, TARGET, WEIGHTS = 1, 17, 33
GRADIENT_OF = 128  # added to one of these
_CPU, _IN_ORDER, _ANY_FORMAT, _MOST_AXES = 1, 1, 1, 12
_QUERY_WEIGHTS, _QUERY_WEIGHTS_GRADIENT = 131, 132
_ALLOCATE = c_void_p(-1)


class _Argument(ctypes.Structure):
    _fields_ = (("number", c_int), ("memory", c_void_p))


def numbers(values: Sequence[int]) -> Any:
    """Dimensions, strides or paddings as the library takes them."""
    return (c_int64 * _MOST_AXES)(*values)


def check(status: int) -> None:
    """Raises GradstepError unless a call has succeeded."""
    if status:
        raise GradstepError(f"oneDNN failed with status {status}", kind="InternalError")


class Handle:
    """One thing that the library made, and `destroy`s."""

    def __init__(self, create: str, destroy: str, *arguments: Any) -> None:
        handle = c_void_p()
        check(getattr(library(), f"dnnl_{create}")(byref(handle), *arguments))
        self.value = handle
        weakref.finalize(self, getattr(library(), f"dnnl_{destroy}"), handle)


@cache
def library() -> Any:
    """The library, its functions declared as far as ctypes' defaults do not do."""
    loaded = ONEDNN.load()
    loaded.dnnl_primitive_desc_query_md.restype = c_void_p
    return loaded


@cache
def engine() -> Handle:
    return Handle("engine_create", "engine_destroy", _CPU, c_size_t(0))


@cache
def stream() -> Handle:
    return Handle("stream_create", "stream_destroy", engine().value, _IN_ORDER)


class Format:
    """How the numbers of a float32 tensor lie in memory. strides: in elements; None: the library
    is to choose."""

    def __init__(self, dims: Sequence[int], strides: Sequence[int] | None = None) -> None:
        how, last = ("tag", _ANY_FORMAT) if strides is None else ("strides", numbers(strides))
        self._handle = Handle(
            f"memory_desc_create_with_{how}",
            "memory_desc_destroy",
            len(dims),
            numbers(dims),
            FLOAT32,
            last,
        )
        self.value: c_void_p = self._handle.value


class Chosen:
    """The format of weights (or their gradient) that a primitive wants."""

    def __init__(self, description: Handle, gradient: bool) -> None:
        self._owner = description
        what = _QUERY_WEIGHTS_GRADIENT if gradient else _QUERY_WEIGHTS
        query = library().dnnl_primitive_desc_query_md
        self.value = c_void_p(query(description.value, what, 0))

    def is_like(self, other: Format) -> bool:
        return bool(library().dnnl_memory_desc_equal(self.value, other.value))


class Memory:
    """An array as the library sees it, in its format; without one, memory of the library's."""

    def __init__(self, format: Format | Chosen, array: Any = None) -> None:
        self.format, self._array = format, array
        place = _ALLOCATE if array is None else c_void_p(array.ctypes.data)
        self._handle = Handle(
            "memory_create", "memory_destroy", format.value, engine().value, place
        )
        self.value: c_void_p = self._handle.value


def execution(description: Handle, memories: Mapping[int, Memory]) -> Callable[[], None]:
    """The call that runs the primitive described so on these arguments."""
    primitive = Handle("primitive_create", "primitive_destroy", description.value)
    arguments = (_Argument * len(memories))(
        *[_Argument(number, memory.value) for number, memory in memories.items()]
    )
    execute, where, count = library().dnnl_primitive_execute, stream().value, len(memories)
    kept = tuple(memories.values())  # which the arguments point to

    def call(primitive: Handle = primitive, kept: tuple[Memory, ...] = kept) -> None:
        check(execute(primitive.value, where, count, arguments))

    return call


def bind_reorder(source: Memory, target: Memory) -> Callable[[], None]:
    """The call that copies from one format into another."""
    description = Handle(
        "reorder_primitive_desc_create",
        "primitive_desc_destroy",
        *(source.format.value, engine().value, target.format.value, engine().value, None),
    )
    return execution(description, {SOURCE: source, TARGET: target})
