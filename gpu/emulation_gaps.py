"""What an emulated device does not imitate: unknown corners, the order of sums, last bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import OpDef, lookup
from gradstep.gpu.corner_cases import Corner, corners_met
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.lockstep import Turn
from gradstep.gpu.rule_statuses import BITS, status_of
from gradstep.gpu.sum_terms import terms

_COMMUTES = 2  # so many terms have no order


@dataclass(frozen=True)
class Gap:
    """text: what is open, "" for nothing. terms: how many terms are summed in an order that need
    not be the device's. unmeasured: corners that these inputs are in, and in which nobody knows
    what the device does, with its name."""

    text: str = ""
    terms: int = 0
    unmeasured: str = ""


def unemulated(turn: Turn, left: Backend, right: Backend) -> Gap:
    """What the row of this turn leaves open where one of the backends imitates a device."""
    if left.measured and right.measured:
        return Gap()
    unmeasured = "; ".join(filter(None, (_unmeasured(turn, each) for each in (left, right))))
    text, count = _rounding(turn, right)
    return Gap("; ".join(filter(None, (unmeasured, text))), count, unmeasured)


def _unmeasured(turn: Turn, device: Backend) -> str:
    profile = _profile(device)
    if not profile:
        return ""
    inputs = complete(turn.inputs)
    if inputs is None:
        return ""
    met = corners_met(turn.op, inputs)
    open_ = [c for c, _ in met if status_of(profile, turn.op.type, c.name).status == "unknown"]
    if not open_:
        return ""
    whats = " and ".join(dict.fromkeys(map(_one, open_)))
    return f"what {profile} does with {whats} is not known"


def _profile(device: Backend) -> str:
    """The system that it imitates; "" for none that there is a table of."""
    imitates = not device.measured and device.rules.name in PROFILES
    return device.rules.name if imitates else ""


def _one(corner: Corner) -> str:
    if corner.what == "NaN":
        return corner.what
    return f"{'an' if corner.what[0] in 'aeiou' else 'a'} {corner.what}"


def complete(inputs: Sequence[np.ndarray | None]) -> list[np.ndarray] | None:
    """The inputs, where there are all of them, and some."""
    known = [x for x in inputs if x is not None]
    return known if known and len(known) == len(inputs) else None


def _rounding(turn: Turn, right: Backend) -> tuple[str, int]:
    """What is open of the last bits, and how many terms are summed."""
    if not _computes_floats(turn):
        return "", 0
    if loop_of(turn.op) is not None:
        inside = (lookup(op.type, op.name) for op in within([turn.op]) if op is not turn.op)
        open_ = any(_approximates(definition) or _sums(definition) for definition in inside)
        return ("the last bits of what it computes are not emulated" if open_ else ""), 0
    definition = lookup(turn.op.type, turn.op.name)
    if _approximates(definition) or _is_open(definition, right):
        return f"the last bits of {turn.op.type} are not emulated", 0
    outcome = turn.left if turn.left.ok else turn.right
    count = terms(turn.op, turn.inputs, outcome.outputs, right.rules)
    if count <= _COMMUTES:
        return "", 0
    return f"the order of {count:,} terms is not emulated", count


def _is_open(definition: OpDef, device: Backend) -> bool:
    """Whether a device may round otherwise what others round correctly."""
    profile = _profile(device)
    if not profile or definition.arithmetic != "rounded":
        return False
    return status_of(profile, definition.type, BITS).status == "unknown"


def _computes_floats(turn: Turn) -> bool:
    return any(kind_of(array.dtype) in "fc" for array in (*turn.left.outputs, *turn.right.outputs))


def _approximates(definition: OpDef) -> bool:
    return definition.arithmetic == "library" and bool(definition.inputs)


def _sums(definition: OpDef) -> bool:
    return definition.arithmetic in ("reducing", "product")
