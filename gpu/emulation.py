"""A NumPy backend that computes as another system documents it.

Subnormals flushed, TF32 products, casts of what does not fit; beside it are the rules for integers,
floating-point numbers and classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.engine.calls.changed_kernels import with_inputs, with_results
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.system_rules import Flush, NoRoom, Rules
from gradstep.core.ops.declare.table import OpDef
from gradstep.core.ops.numerics.short_rounding import is_float32, round_to_tf32
from gradstep.gpu import float_rules, index_rules, integer_rules

Kernel = Callable[..., Any]

# Exact, and computed nevertheless: elementwise kernels, whose operands are flushed.
COMPARING = frozenset(
    "Abs Neg Maximum Minimum Greater GreaterEqual Less LessEqual Equal NotEqual Relu Relu6 "
    "Ceil Floor".split()
)


_SIGNS = ("Neg", "Abs")


class EmulatedBackend(NumpyBackend):
    """NumPy under a profile's rules; `emulate:NAME`. Never measured, never timed."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules, f"emulate:{rules.name}")

    def adapt(self, definition: OpDef, kernel: Kernel, op: Operation) -> Kernel:
        """`kernel` as the emulated system would compute it."""
        for rules_for in (integer_rules, float_rules, index_rules):
            kernel = rules_for.adapted(self.rules, definition.type, kernel)
        if self.rules.tf32 and definition.arithmetic == "product":
            kernel = with_inputs(round_to_tf32, kernel)
        if flushes(self.rules, definition):
            kernel = with_results(flush_subnormals, with_inputs(flush_subnormals, kernel))
        if self.rules.flush_subnormals is not Flush.NEVER and definition.type == "Cast":
            kernel = _flushing_cast(kernel)
        if self.rules.no_room is not NoRoom.X86 and definition.type == "Cast":
            kernel = _casting(kernel, self.rules.no_room)
        return kernel


def flushes(rules: Rules, definition: OpDef) -> bool:
    """Whether an operation takes subnormal numbers for 0. What only moves values never does:
    memory is not flushed."""
    if rules.flush_subnormals is Flush.NEVER:
        return False
    if definition.type in _SIGNS and rules.flush_subnormals is Flush.ARITHMETIC:
        return False  # XLA changes the one bit
    if definition.type in COMPARING or definition.arithmetic in ("rounded", "library"):
        return True
    return rules.flush_subnormals is Flush.ARITHMETIC and definition.arithmetic != "exact"


def to_integers(x: Any, target: np.dtype, no_room: NoRoom) -> Any:
    """Floating-point numbers rounded to zero into an integer type, by XLA's or CUDA's rule for
    those that it has no room for."""
    if no_room in (NoRoom.TORCH, NoRoom.ONNXRUNTIME):
        return _by_int64(x, target)
    narrow = no_room is NoRoom.CUDA and target.itemsize < 4
    wide = np.dtype(f"{target.kind}4") if narrow else target
    limits, bits = np.iinfo(wide), 8 * wide.itemsize
    nan = 0
    if no_room is NoRoom.CUDA and (x.dtype == np.float64 or bits == 64):
        nan = limits.min if wide.kind == "i" else 1 << (bits - 1)
    x = x if x.dtype == np.float64 else x.astype(np.float32)
    above, below = x >= 2.0 ** (bits - (wide.kind == "i")), x < limits.min
    found = np.where(above | below | np.isnan(x), 0, x).astype(wide)
    found = np.where(above, wide.type(limits.max), np.where(below, wide.type(limits.min), found))
    return np.where(np.isnan(x), wide.type(nan), found).astype(target)


def _by_int64(x: Any, target: np.dtype) -> Any:
    """By way of int64 for uint64, of which half is taken off first, and from float64 for uint8;
    what has no room there is the smallest number."""
    if target == np.uint64:
        upper = x >= 2.0**63
        low = _x86_int64(np.where(upper, x - x.dtype.type(2.0**63), x)).view(np.uint64)
        return np.where(upper, low ^ np.uint64(1 << 63), low)
    return _x86_int64(x).astype(target)


def _is_as_on_x86(kind: np.dtype, target: np.dtype, no_room: NoRoom) -> bool:
    """Whether nothing is done by way of int64."""
    if no_room is NoRoom.TORCH and target == np.uint8 and kind == np.float64:
        return False
    return no_room in (NoRoom.TORCH, NoRoom.ONNXRUNTIME) and target != np.uint64


def _x86_int64(x: Any) -> Any:
    fits = (x >= -(2.0**63)) & (x < 2.0**63)
    return np.where(fits, np.where(fits, x, 0).astype(np.int64), np.iinfo(np.int64).min)


def _flushing_cast(kernel: Kernel) -> Kernel:
    """To the type that a tensor has, it is handed on."""

    def cast(x: Any) -> Any:
        result = kernel(x)
        if result.dtype == x.dtype:
            return result
        return flush_subnormals(kernel(flush_subnormals(x)))

    return cast


def _casting(kernel: Kernel, no_room: NoRoom) -> Kernel:
    def cast(x: Any) -> Any:
        result = kernel(x)
        if kind_of(x.dtype) != "f" or kind_of(result.dtype) not in "iu":
            return result
        if _is_as_on_x86(x.dtype, result.dtype, no_room):
            return result
        return to_integers(x, result.dtype, no_room)

    return cast


def flush_subnormals(array: Any) -> Any:
    """float32 magnitudes below the normal range become zero of the same sign; other arrays
    unchanged. Source: PTX ISA, the modifier .ftz, for operands and results."""
    if not is_float32(array):
        return array
    tiny = np.abs(array) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), array), array)
