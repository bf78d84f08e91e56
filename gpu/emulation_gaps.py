"""What an emulated device does not imitate: the order of sums, and last bits of functions."""

from __future__ import annotations

from gradstep.core.engine.backend import Backend
from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import OpDef, lookup
from gradstep.gpu.lockstep import Turn
from gradstep.gpu.sum_terms import terms

_COMMUTES = 2  # so many terms have no order


def unemulated(turn: Turn, left: Backend, right: Backend) -> tuple[str, int]:
    """What the row of this turn leaves open where one of the backends imitates a device, "" for
    nothing; and how many terms are summed in an order that need not be that device's."""
    if (left.measured and right.measured) or not _computes_floats(turn):
        return "", 0
    if loop_of(turn.op) is not None:
        inside = (lookup(op.type, op.name) for op in within([turn.op]) if op is not turn.op)
        open_ = any(_approximates(definition) or _sums(definition) for definition in inside)
        return ("the last bits of what it computes are not emulated" if open_ else ""), 0
    definition = lookup(turn.op.type, turn.op.name)
    if _approximates(definition):
        return f"the last bits of {turn.op.type} are not emulated", 0
    outcome = turn.left if turn.left.ok else turn.right
    count = terms(turn.op, turn.inputs, outcome.outputs, right.rules)
    if count <= _COMMUTES:
        return "", 0
    return f"the order of {count:,} terms is not emulated", count


def _computes_floats(turn: Turn) -> bool:
    return any(kind_of(array.dtype) in "fc" for array in (*turn.left.outputs, *turn.right.outputs))


def _approximates(definition: OpDef) -> bool:
    return definition.arithmetic == "library" and bool(definition.inputs)


def _sums(definition: OpDef) -> bool:
    return definition.arithmetic in ("reducing", "product")
