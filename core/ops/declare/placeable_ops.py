"""Which operations another device can do: those that compute tensors from tensors, and no more."""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.graph.loop import loop_of, with_a_device
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.graph.placed_devices import placed_on
from gradstep.core.name_list import name_list
from gradstep.core.ops.declare.table import find

_REF = ("Switch", "Merge", "Enter", "Exit", "NextIteration")
_STAYING = frozenset({*_REF, *(f"Ref{type}" for type in _REF), "LoopCond"})
_NAMED = 3  # of those whose placement is not followed
STAY = (
    "variables, feeds, constants, state, random numbers, Python, what chooses between branches and "
    "what holds a loop together stay on the device of the run"
)


def can_be_placed(op: Operation) -> bool:
    """Whether a placement of `op` is followed."""
    definition = find(op.type)
    if definition is None or not op.inputs or op.type in _STAYING or loop_of(op) is not None:
        return False
    python = "functions" in definition.kernel.keywords
    return definition.is_pure and not definition.state.counter and not python


def device_that_computes(op: Operation) -> str:
    """The device that a placement of `op` leads to; "" for that of the run."""
    device = placed_on(op)
    return device if device and can_be_placed(op) else ""


def placements(graph: Graph) -> Mapping[str, str]:
    """Operation -> the device that computes it, of those that another than that of the run does;
    those in loops as well."""
    found = ((op.name, device_that_computes(op)) for op in with_a_device(graph))
    return {name: device for name, device in found if device}


def unfollowed(graph: Graph, instead: str) -> str:
    """For who computes in another way, a sentence: that placements are not followed, and what is
    done `instead`; "" where nothing is placed."""
    names = [*placements(graph)]
    if not names:
        return ""
    are, what = ("is", "placement") if len(names) == 1 else ("are", "placements")
    return f"The {what} of {name_list(names, _NAMED)} {are} not followed: {instead}."
