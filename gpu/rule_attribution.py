"""Which documented rule explains why two devices differ, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.graph.number_kinds import is_bfloat16
from gradstep.core.ops.declare.host_arrays import holds_bfloat16
from gradstep.core.ops.declare.system_rules import NoRoom, OutOfRange
from gradstep.core.ops.declare.table import lookup
from gradstep.core.protocol.vocabulary import DifferenceKind
from gradstep.gpu.emulation import flushes
from gradstep.gpu.lockstep import Turn

_GATHERED = {
    OutOfRange.RAISE: "fails",
    OutOfRange.ZERO: "gives 0",
    OutOfRange.WRAP: "wraps around",
    OutOfRange.CLAMP: "is clamped to the nearest row",
    OutOfRange.NAN: "gives NaN",
}
_SCATTERED = {
    OutOfRange.RAISE: "fails",
    OutOfRange.ZERO: "is dropped",
    OutOfRange.WRAP: "wraps around",
    OutOfRange.CLAMP: "is clamped to the nearest row",
    OutOfRange.NAN: "is dropped",
}

_NO_BFLOAT16 = "CuPy has no bfloat16: computed on the host, in float32, and rounded"
_PLACES = ("ArgMax", "ArgMin")
_CASTS = {
    NoRoom.X86: "what has no room becomes the smallest number, or its low bits",
    NoRoom.XLA: "what has no room becomes the nearest number, and NaN 0",
    NoRoom.CUDA: "what has no room becomes the nearest number of 32 bits at least, and NaN 0",
}
_ROUNDS = ("tf32", "flush_subnormals", "bfloat16")  # rules by which the same is rounded otherwise


@dataclass(frozen=True)
class Reason:
    """device: whose rule it is. field: its name in Rules. text: in a few words. source: where it
    is documented."""

    device: str
    field: str
    text: str
    source: str = ""

    @property
    def said(self) -> str:
        return f"{self.device}: {self.text}{f' ({self.source})' if self.source else ''}"


def reason(turn: Turn, creates: bool, backend: Backend) -> Reason | None:
    """The rule of `backend`, on the right, that applied to this turn; None for none. creates: the
    two part here, on equal inputs."""
    definition, rules = lookup(turn.op.type, turn.op.name), backend.rules
    failed = turn.left.error is not None or turn.right.error is not None
    if "rules" in definition.kernel.keywords and (failed or creates):
        # Of the ops that follow index rules, those that scatter add up, and those that gather move.
        outcome = _GATHERED[rules.gather]
        if definition.arithmetic == "reducing":
            outcome = _SCATTERED[rules.scatter]
        return _of(backend, "gather", f"an index out of range {outcome}")
    if not holds_bfloat16(backend.xp) and _has_bfloat16(turn):
        return Reason(backend.name, "bfloat16", _NO_BFLOAT16)
    if not (turn.left.ok and turn.isolated.ok) or _same(turn):
        return None
    if creates and definition.type in _PLACES:
        text = "NaN counts as an extreme: the first is found"
        return _of(backend, "nan_is_found", text)
    if creates and definition.type == "Cast":
        return _of(backend, "no_room", _CASTS[rules.no_room])
    if rules.tf32 and definition.arithmetic == "product":
        return _of(backend, "tf32", "factors are rounded to TF32, 10 bits of fraction")
    if flushes(rules, definition) and _meets_subnormals(turn):
        return _of(backend, "flush_subnormals", "subnormal numbers count as 0")
    return None


def kind_of_difference(
    turn: Turn, creates: bool, created: float | None, why: Reason | None
) -> DifferenceKind | None:
    """What kind of difference the operation makes by itself; None for none. What is more than a
    tolerance is no rounding, which that leaves room for."""
    if creates:
        return "semantics" if why is not None and why.field not in _ROUNDS else "unexplained"
    return "rounding" if created else None


def _has_bfloat16(turn: Turn) -> bool:
    return any(map(is_bfloat16, (*turn.inputs, *turn.right.outputs)))


def _of(backend: Backend, field: str, text: str) -> Reason:
    return Reason(backend.name, field, text, backend.rules.source_of(field))


def _same(turn: Turn) -> bool:
    return all(map(np.array_equal, turn.left.outputs, turn.isolated.outputs))


def _meets_subnormals(turn: Turn) -> bool:
    met = (*turn.left.outputs, *(x for x in turn.inputs if x is not None))
    return any(map(count_subnormals, met))


def count_subnormals(array: np.ndarray) -> int:
    """How many elements of a float32 array lie below the normal range, and are not 0."""
    if array.dtype != np.float32:
        return 0
    return int(np.count_nonzero((array != 0) & (np.abs(array) < np.finfo(np.float32).tiny)))
