"""The values of a TensorProto, taken from its bytes: no number becomes an object of Python.

Source: tensorflow/core/framework/tensor.proto (Apache 2.0), whose lists are packed.
"""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.io.native.tensor_json import objects
from gradstep.core.ops.formats.protobuf import every_field

# The number of the field; what is not here is in that of int_val.
_FIELDS = {
    DType.FLOAT32: 5, DType.FLOAT64: 6, DType.STRING: 8, DType.COMPLEX64: 9, DType.INT64: 10,
    DType.BOOL: 11, DType.COMPLEX128: 12, DType.FLOAT16: 13, DType.BFLOAT16: 13,
    DType.UINT32: 16, DType.UINT64: 17,
}  # fmt: skip
_INT_VAL = 7
_FIXED = (DType.FLOAT32, DType.FLOAT64, DType.COMPLEX64, DType.COMPLEX128)
_HALVES = (DType.FLOAT16, DType.BFLOAT16)
_MORE = np.uint8(0x80)  # the bit of a byte behind which another is of the same number


def packed_values(proto: bytes, dtype: DType) -> np.ndarray:
    """What the message lists, [n]. Raises ValueError where it is none."""
    wanted = _FIELDS.get(dtype, _INT_VAL)
    found = [v for number, v in every_field(proto) if number == wanted and isinstance(v, bytes)]
    if dtype is DType.STRING:
        return objects(found, (len(found),))
    return _numbers(b"".join(found), dtype)


def _numbers(data: bytes, dtype: DType) -> np.ndarray:
    if dtype in _FIXED:
        return np.frombuffer(data, dtype.numpy)
    numbers = varints(data)
    if dtype in _HALVES:
        return numbers.astype(np.uint16).view(dtype.numpy)
    return numbers.view(np.int64).astype(dtype.numpy)


def varints(data: bytes) -> np.ndarray:
    """The numbers that stand one behind the other, uint64 [n]. Raises ValueError where the last is
    cut off, or one is longer than 64 bits."""
    octets = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(octets < _MORE)
    if len(octets) and (not len(ends) or ends[-1] != len(octets) - 1):
        raise ValueError("a number is cut off")
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)[: len(ends)]
    sizes = ends - starts + 1
    if (sizes > 10).any():
        raise ValueError("a number of more than 64 bits")
    made = np.zeros(len(ends), np.uint64)
    for place in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > place)
        bits = (octets[starts[longer] + place] & ~_MORE).astype(np.uint64)
        made[longer] |= bits << np.uint64(7 * place)
    return made
