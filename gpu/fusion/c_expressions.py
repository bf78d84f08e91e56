"""NumPy's functions of single elements as expressions of CUDA C: what CuPy's own kernels say.

Numbers of float16 come in as float, and what is given is rounded to them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float16": "float16",
    "float32": "float",
    "float64": "double",
}
EXPRESSIONS = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "true_divide": "{0} / {1}",
    "negative": "-{0}",
    "square": "{0} * {0}",
    "power": "pow({0}, {1})",
    "absolute": "fabs({0})",
    "sign": "{0} != 0 ? copysign({one}, {0}) : {0} - {0}",
    "maximum": "isnan({0}) ? {0} : isnan({1}) ? {1} : max({0}, {1})",
    "minimum": "isnan({0}) ? {0} : isnan({1}) ? {1} : min({0}, {1})",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "fmax": "fmax({0}, {1})",
    "fmin": "fmin({0}, {1})",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_xor": "{0} ^ {1}",
    "invert": "!{0}",
    **{
        name: f"{name}({{0}})"
        for name in "sqrt exp expm1 log log1p sin cos tan sinh cosh tanh floor rint isnan".split()
    },
}
# Those that are others for whole numbers.
_OF_INTEGERS = {
    "absolute": "{0} < 0 ? -{0} : {0}",
    "sign": "({0} > 0) - ({0} < 0)",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "fmax": "max({0}, {1})",
    "fmin": "min({0}, {1})",
    "invert": "~{0}",
}

_LARGEST = np.iinfo(np.int64).max


def expression(function: str, dtype: np.dtype) -> str:
    """Of operands of that type."""
    if dtype.kind in "iu" and function in _OF_INTEGERS:
        return _OF_INTEGERS[function]
    return EXPRESSIONS[function]


def literal(value: Any, dtype: np.dtype) -> str:
    """A Python number as one of that type."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        return f"({TYPES[dtype.name]}){_whole(int(value))}"
    return f"({_computed(dtype)}){_real(float(dtype.type(value)))}"


def converted(text: str, old: np.dtype, new: np.dtype) -> str:
    """An element of one type as an operand of another one."""
    if new.name == "float16" or old != new:
        return f"({_computed(new)}){text}"
    return text


def _computed(dtype: np.dtype) -> str:
    return "float" if dtype.name == "float16" else TYPES[dtype.name]


def _whole(value: int) -> str:
    """C reads the digits without the sign, and those of int64's smallest number are one too many
    for it."""
    if value > _LARGEST:
        return f"{value}ULL"
    return f"({value + 1}LL - 1)" if value < -_LARGEST else f"{value}LL"


def _real(value: float) -> str:
    if np.isfinite(value):
        return f"({value!r})"
    bits = int(np.float32(value).view(np.uint32))  # there is no other word for them
    return f"__int_as_float({bits:#x})"
