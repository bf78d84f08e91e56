"""Which documented rule explains why two devices differ, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import is_bfloat16
from gradstep.core.ops.declare.host_arrays import holds_bfloat16
from gradstep.core.ops.declare.table import lookup
from gradstep.core.protocol.vocabulary import DifferenceKind
from gradstep.gpu.corner_cases import corners_met, count_subnormals
from gradstep.gpu.emulation import flushes
from gradstep.gpu.emulation_gaps import complete
from gradstep.gpu.lockstep import Turn
from gradstep.gpu.rule_words import words

_NO_BFLOAT16 = "CuPy has no bfloat16: computed on the host, in float32, and rounded"
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
    if failed or creates:
        found = _by_corner(turn, backend)
        if found is not None:
            return found
    if not holds_bfloat16(backend.xp) and _has_bfloat16(turn):
        return Reason(backend.name, "bfloat16", _NO_BFLOAT16)
    if not (turn.left.ok and turn.isolated.ok) or _same(turn):
        return None
    if rules.tf32 and _multiplies(turn.op):
        return _of(backend, "tf32", "factors are rounded to TF32, 10 bits of fraction")
    if flushes(rules, definition) and _meets_subnormals(turn):
        return _of(backend, "flush_subnormals", "subnormal numbers count as 0")
    return None


def _by_corner(turn: Turn, backend: Backend) -> Reason | None:
    """The rule for the first corner that the inputs are in."""
    inputs = complete(turn.inputs)
    for corner, _ in () if inputs is None else corners_met(turn.op, inputs):
        said = words(corner.name, backend.rules)
        if said is not None:
            return _of(backend, *said)
    return None


def kind_of_difference(
    turn: Turn, creates: bool, created: float | None, why: Reason | None
) -> DifferenceKind | None:
    """What kind of difference the operation makes by itself; None for none. What is more than a
    tolerance is no rounding, which that leaves room for."""
    if creates:
        return "semantics" if why is not None and why.field not in _ROUNDS else "unexplained"
    return "rounding" if created else None


def _multiplies(op: Operation) -> bool:
    """Whether it is a matrix product, or a loop with one in it."""
    return any(lookup(inner.type, inner.name).arithmetic == "product" for inner in within([op]))


def _has_bfloat16(turn: Turn) -> bool:
    return any(map(is_bfloat16, (*turn.inputs, *turn.right.outputs)))


def _of(backend: Backend, field: str, text: str) -> Reason:
    return Reason(backend.name, field, text, backend.rules.source_of(field))


def _same(turn: Turn) -> bool:
    return all(map(np.array_equal, turn.left.outputs, turn.isolated.outputs))


def _meets_subnormals(turn: Turn) -> bool:
    met = (*turn.left.outputs, *(x for x in turn.inputs if x is not None))
    return any(map(count_subnormals, met))
