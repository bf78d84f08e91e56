"""When a difference counts: tolerances by what kind of arithmetic an op does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.graph.number_kinds import BFLOAT16, kind_of
from gradstep.core.ops.declare.arithmetic_class import Arithmetic

# Relative L2 that two good libraries may be apart, by bytes of an element. float16 and float32 are
# those of torch.testing.assert_close (11 ε in float32; CUDA's functions are within 2 ULP of the
# true value, NumPy's within 3.6); sums in float32 have ten times the room.
_LIBRARY: Mapping[int | np.dtype, float] = {2: 1e-3, 4: 1.3e-6, 8: 1e-14, BFLOAT16: 1.6e-2}
_REDUCING: Mapping[int | np.dtype, float] = {2: 2e-3, 4: 1e-5, 8: 1e-13, BFLOAT16: 1.6e-2}
_TF32 = 1e-3  # two factors of 10 bits
SCALED = 4.0  # reordering alone was measured up to 3.1; or of a bound of the error


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest differences that still are "close"; 0 everywhere: only equal bits are.

    rel_l2: relative L2 difference. scaled: largest difference over ε times the sum of magnitudes,
    or times the bound of what rounding may carry (gpu/running_error.py); either will do. flushed:
    equality is asked after subnormals became 0. why: for people.
    """

    rel_l2: float = 0.0
    scaled: float = 0.0
    flushed: bool = False
    why: str = "bit-equal"


BIT_EQUAL = Tolerance()


def tolerance(arithmetic: Arithmetic, dtype: np.dtype, tf32: bool = False) -> Tolerance:
    """What one op may create by itself on equal inputs, for results of this element type.

    tf32: whether either side rounds the factors of matrix products to TF32."""
    if kind_of(dtype) not in "fc" or arithmetic == "exact":
        return BIT_EQUAL
    if arithmetic == "rounded" and dtype.kind == "c":  # each part is of several operations
        return Tolerance(_of(_LIBRARY, dtype), flushed=True, why="complex: relative L2")
    if arithmetic == "rounded":
        return Tolerance(flushed=True, why="correctly rounded: bit-equal, but for subnormals")
    if arithmetic == "library":
        return Tolerance(_of(_LIBRARY, dtype), why="approximated: relative L2")
    if arithmetic == "product" and tf32:
        return Tolerance(_TF32, why="factors rounded to TF32: relative L2 of 1e-3")
    allowed = _of(_REDUCING, dtype)
    return Tolerance(allowed, scaled=SCALED, why="summed in any order: 4 ε of the magnitudes")


def with_inherited(own: Tolerance, dtype: np.dtype) -> Tolerance:
    """`own`, for results of inputs that differ themselves, as far as sums and functions may."""
    if kind_of(dtype) not in "fc":
        return own
    return replace(own, rel_l2=max(own.rel_l2, _of(_REDUCING, dtype)), flushed=True)


def _of(table: Mapping[int | np.dtype, float], dtype: np.dtype) -> float:
    if dtype in table:
        return table[dtype]
    part = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return table.get(part, table[8])
