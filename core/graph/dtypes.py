"""Element types and partial shapes, as TensorFlow names them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from ml_dtypes import bfloat16

# What is no name of NumPy's: Python objects, and the numbers that another package has.
_PYTHON = dict.fromkeys(("string", "resource", "variant"), object) | {"bfloat16": bfloat16}


class DType(StrEnum):
    """An element type; the value is TensorFlow's (and NumPy's) name for it."""

    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    BOOL = "bool"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"
    STRING = "string"
    RESOURCE = "resource"
    VARIANT = "variant"

    numpy: np.dtype  # strings, resource handles and variants are Python objects
    is_floating: bool
    is_complex: bool
    is_integer: bool

    def __init__(self, name: str) -> None:
        """They are asked for several times of every operation that is made."""
        self.numpy = np.dtype(_PYTHON.get(name, name))
        self.is_floating = name.startswith(("float", "bfloat"))
        self.is_short = name in ("float16", "bfloat16")
        self.is_complex = name.startswith("complex")
        self.is_integer = name.startswith(("int", "uint"))

    @property
    def cpp_name(self) -> str:
        """As TensorFlow's messages call it: float, not float32."""
        return _CPP_NAMES.get(self, self.value)

    @property
    def is_number(self) -> bool:
        """Not bool, string or a handle."""
        return self.is_integer or self.is_floating or self.is_complex

    @property
    def is_castable(self) -> bool:
        """Whether a Cast takes it, and gives it."""
        return self.is_number or self is DType.BOOL

    @property
    def is_differentiable(self) -> bool:
        """Whether a gradient can flow through a tensor of this type, as in TensorFlow."""
        return self.is_floating or self.is_complex or self is DType.RESOURCE

    @classmethod
    def of(cls, dtype: np.typing.DTypeLike) -> DType:
        """The element type of a NumPy dtype. Raises TypeError for one TensorFlow lacks."""
        if isinstance(dtype, np.dtype) and (known := _OF_NUMPY.get(dtype)) is not None:
            return known
        name = np.dtype(dtype).name
        if name.startswith(("str", "bytes", "object")):
            return cls.STRING
        try:
            return cls(name)
        except ValueError:
            raise TypeError(f"no tensor has element type {name}") from None


def array_bytes(shape: Sequence[int], itemsize: int) -> int:
    """Bytes of a NumPy array of `shape`. Raises ValueError where NumPy has no such arrays: its
    other sizes count even where one is 0."""
    if len(shape) > MAX_RANK or any(size < 0 for size in shape):
        raise ValueError(f"there is no array of shape {list(shape)}")
    if math.prod(size for size in shape if size) * max(itemsize, 1) > MAX_ARRAY:
        raise ValueError(f"an array of shape {list(shape)} is larger than any memory")
    return math.prod(shape) * itemsize


MAX_RANK = 32
MAX_ARRAY = (1 << 63) - 1  # bytes; NumPy counts them in a C long
INDEX = (DType.INT32, DType.INT64)  # what positions and sizes are of, in most op types
_CPP_NAMES = {DType.FLOAT16: "half", DType.FLOAT32: "float", DType.FLOAT64: "double"}
_OF_NUMPY = {kind.numpy: kind for kind in DType if not kind.numpy.hasobject}


@dataclass(frozen=True, slots=True)
class Shape:
    """A partial shape: `dims` is None for unknown rank; a None inside it is an unknown size."""

    dims: tuple[int | None, ...] | None

    @classmethod
    def of(cls, *dims: int | None) -> Shape:
        return cls(dims)

    @property
    def rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def is_static(self) -> bool:
        return self.dims is not None and None not in self.dims

    def static(self) -> tuple[int, ...]:
        """All sizes; raises ValueError when one is unknown."""
        if self.dims is None or None in self.dims:
            raise ValueError(f"shape {self} is not fully known")
        return tuple(d for d in self.dims if d is not None)

    def accepts(self, shape: Sequence[int]) -> bool:
        """Whether a tensor of exactly `shape` may stand where this shape is declared."""
        if self.dims is None:
            return True
        return len(self.dims) == len(shape) and all(
            d is None or d == s for d, s in zip(self.dims, shape, strict=True)
        )

    def any_rows(self) -> Shape:
        """The same with its first size unknown, if it has one."""
        return Shape((None, *self.dims[1:])) if self.dims else self

    def lacks_rows_only(self, shape: Sequence[int]) -> bool:
        """Whether `shape` may not stand here, for its number of rows alone."""
        return not self.accepts(shape) and self.any_rows().accepts(shape)

    def merge(self, other: Shape) -> Shape:
        """What both shapes together say; raises ValueError when they contradict each other."""
        if self.dims is None:
            return other
        if other.dims is None:
            return self
        if len(self.dims) != len(other.dims):
            raise ValueError(f"shapes {self} and {other} differ in rank")
        return Shape(tuple(_same(a, b) for a, b in zip(self.dims, other.dims, strict=True)))

    def in_common(self, other: Shape) -> Shape:
        """What is true of tensors of either shape."""
        if self.dims is None or other.dims is None or len(self.dims) != len(other.dims):
            return UNKNOWN
        alike = zip(self.dims, other.dims, strict=True)
        return Shape(tuple(a if a == b else None for a, b in alike))

    def __iter__(self) -> Iterator[int | None]:
        if self.dims is None:
            raise ValueError("a shape of unknown rank has no dimensions to walk")
        return iter(self.dims)

    def __str__(self) -> str:
        if self.dims is None:
            return "<unknown>"
        return "[" + ", ".join("?" if d is None else str(d) for d in self.dims) + "]"


def _same(a: int | None, b: int | None) -> int | None:
    if a is not None and b is not None and a != b:
        raise ValueError(f"sizes {a} and {b} differ")
    return b if a is None else a


UNKNOWN = Shape(None)
SCALAR = Shape(())


@dataclass(frozen=True, slots=True)
class TensorType:
    """Static type of one tensor. `ref`: it aliases a variable's buffer (TensorFlow's T_ref).
    `handle`: what it is the handle of ("queue"), if that is known; `holds`: the types of what is in
    that."""

    dtype: DType
    shape: Shape = UNKNOWN
    ref: bool = False
    holds: tuple[TensorType, ...] = ()
    handle: str = ""

    def __str__(self) -> str:
        return f"{self.dtype.value}{self.shape}"
