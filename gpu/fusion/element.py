"""An element of an array, of which only its name is known.

What a function does to it is written down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradstep.gpu.fusion.kernel_text import KernelText


class Element:
    """text: what it is called in the kernel."""

    __array_ufunc__ = None  # operators of NumPy's numbers leave it to those here

    def __init__(self, kernel: KernelText, dtype: np.dtype, text: str) -> None:
        self.kernel = kernel
        self.dtype = dtype
        self.text = text

    def astype(self, dtype: Any) -> Element:
        return self.kernel.cast(self, np.dtype(dtype))

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("a function that is to be one kernel asked for the value of an element")

    __bool__ = __float__ = __int__ = __index__ = __iter__ = __array__ = _refuse


def _operator(name: str, function: str) -> None:
    def forward(self: Element, *others: Any) -> Any:
        return self.kernel.call(function, self, *others)

    def backward(self: Element, other: Any) -> Any:
        return self.kernel.call(function, other, self)

    setattr(Element, f"__{name}__", forward)
    setattr(Element, f"__r{name}__", backward)


for _pair in (
    "add:add sub:subtract mul:multiply truediv:true_divide pow:power neg:negative abs:absolute "
    "and:bitwise_and or:bitwise_or xor:bitwise_xor invert:invert "
    "lt:less le:less_equal gt:greater ge:greater_equal eq:equal ne:not_equal"
).split():
    _operator(*_pair.split(":"))
