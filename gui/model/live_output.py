"""The output that stands for an operation: of a conditional's, the one that the run has taken."""

from __future__ import annotations

from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.table import branch_of, find
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace


def live_output(workspace: Workspace, op: Operation) -> TensorRef:
    """The first; where that is dead at this stop, the first that is alive."""
    alive, _ = _sides(workspace, op)
    return alive[0] if alive else op.output()


def live_name(workspace: Workspace, op: Operation) -> str:
    """What to call that output where others of the operation are dead: "true"; "" where there is no
    need to tell it from others."""
    alive, dead = _sides(workspace, op)
    return output_name(op.type, alive[0].index) if alive and dead else ""


def live_value(workspace: Workspace, op: Operation) -> TensorValue | None:
    """What that output is at this stop; None while it is unknown."""
    return workspace.value(str(live_output(workspace, op)))


def output_name(type: str, index: int) -> str:
    """An output's own name without what all of them are called, "true" of `output_true`; its number
    where it has none."""
    definition = find(type)
    names = () if definition is None else definition.outputs
    if index >= len(names) or names[index].endswith("*"):
        return str(index)
    return names[index].removeprefix("output_")


def _sides(workspace: Workspace, op: Operation) -> tuple[list[TensorRef], list[TensorRef]]:
    """Its outputs that are alive, and those that are dead. Only of a Switch some can be one and
    some the other; of all else nothing is asked, for whose value is asked for is read at every
    stop."""
    if branch_of(op.type) != "switch":
        return [], []
    alive, dead = list[TensorRef](), list[TensorRef]()
    for ref in outputs_of(workspace.shown, workspace.inference.types, op.name):
        found = workspace.value(str(ref))
        (dead if found is not None and found.state == "dead" else alive).append(ref)
    return alive, dead
