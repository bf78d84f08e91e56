"""NumPy's functions of each element by itself, computed by PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gradstep.gpu.torch_device import complex_order, element_types
from gradstep.gpu.torch_device.operands import closed, device_of, lifted
from gradstep.gpu.torch_device.promotion import kind, loop
from gradstep.gpu.torch_device.torch_array import TorchArray, index_tensor
from gradstep.gpu.torch_device.uint64_division import DIVIDED

Compute = Callable[..., torch.Tensor]

_SAME_NAME = (
    "add subtract multiply true_divide divide remainder fmod fmax fmin nextafter "
    "hypot copysign logaddexp logical_and logical_or logical_xor logical_not bitwise_and "
    "bitwise_or bitwise_xor not_equal negative sqrt square "
    "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh "
    "arccosh arctanh arctan2 floor ceil trunc isnan isinf isfinite reciprocal signbit"
).split()
COMPUTED: dict[str, Compute] = {name: getattr(torch, name) for name in _SAME_NAME}


def _floored(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.div(x, y, rounding_mode="floor")


def _sign(x: torch.Tensor) -> torch.Tensor:
    return torch.sgn(x) if x.is_complex() else torch.sign(x)


COMPUTED.update(
    power=torch.pow,
    absolute=torch.abs,
    equal=torch.eq,
    invert=torch.bitwise_not,
    left_shift=torch.bitwise_left_shift,
    right_shift=torch.bitwise_right_shift,
    rint=torch.round,
    floor_divide=_floored,
    sign=_sign,
    conjugate=torch.conj_physical,
    less=complex_order.LESS,
    less_equal=complex_order.LESS_EQUAL,
    greater=complex_order.GREATER,
    greater_equal=complex_order.GREATER_EQUAL,
    maximum=complex_order.MAXIMUM,
    minimum=complex_order.MINIMUM,
)
_OTHER_NAMES = {"abs": "absolute", "conj": "conjugate"}
# What gives the right bits of uint64 on int64, and what does in another order of the numbers.
_BITWISE = frozenset(
    "add subtract multiply square negative invert bitwise_and bitwise_or bitwise_xor equal "
    "not_equal logical_and logical_or logical_not left_shift conjugate isnan isinf isfinite".split()
)
_ORDERED = frozenset("less less_equal greater greater_equal maximum minimum fmax fmin".split())
# PyTorch's functions that write where they are told to.
_NATIVE_OUT = frozenset(_SAME_NAME) - {"signbit", "isnan", "isinf", "isfinite"} | {"power"}


class Elementwise:
    """One such function: `(*arrays or numbers, out=None)`, NumPy's promotion before it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._compute = COMPUTED[name]
        self._count = getattr(np, name).nin

    def __call__(self, *given: Any, out: Any = None) -> Any:
        operands = given[: self._count]
        place = given[self._count] if len(given) > self._count else out
        takes, gives = loop(self._name, tuple(map(kind, operands)))
        device = device_of(operands)
        tensors = [lifted(x, d, device) for x, d in zip(operands, takes, strict=True)]
        wide = element_types.UINT64 in takes
        if wide:
            tensors = self._of_uint64(tensors)
        elif place is not None and self._takes_place(tensors, gives, place):
            self._compute(*tensors, out=place.t)
            return place
        compute = DIVIDED.get(self._name, self._compute) if wide else self._compute
        found = compute(*tensors)
        if wide and self._name in _ORDERED and gives == element_types.UINT64:
            found = element_types.reversed_order(found)
        return closed(found, gives, place)

    def _of_uint64(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        if self._name in _ORDERED:
            return [element_types.reversed_order(x) for x in tensors]
        if self._name not in _BITWISE and self._name not in DIVIDED:
            raise TypeError("it has no uint64")
        return tensors

    def _takes_place(self, tensors: list[torch.Tensor], gives: np.dtype, place: Any) -> bool:
        """Whether PyTorch's function itself may write there: nothing is converted or spread."""
        return (
            self._name in _NATIVE_OUT
            and isinstance(place, TorchArray)
            and place.dtype == gives
            and gives not in element_types.SHORT_UNSIGNED
            and all(x.ndim == 0 or x.shape == place.t.shape for x in tensors)
            and (place.t.ndim == 0 or any(x.shape == place.t.shape for x in tensors))
        )


def add_at(target: TorchArray, index: Any, values: Any) -> None:
    """target[index] += values, in place, as often as the index names a place."""
    picked = target[index]
    added = lifted(values, target.dtype, target.t.device)
    added = element_types.narrowed(added, target.dtype).expand(picked.shape)
    places = tuple(map(index_tensor, index if isinstance(index, tuple) else (index,)))
    target.t.index_put_(places, added, accumulate=True)


FUNCTIONS: dict[str, Elementwise] = {name: Elementwise(name) for name in COMPUTED}
FUNCTIONS.update({name: FUNCTIONS[of] for name, of in _OTHER_NAMES.items()})
