"""The output that stands for an operation: of a conditional's, the one that the run has taken."""

from __future__ import annotations

from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.gui.model.workspace import Workspace


def live_output(workspace: Workspace, op: Operation) -> TensorRef:
    """The first; where that is dead at this stop, the first that is alive."""
    first = op.output()
    if not _is_dead(workspace, first):
        return first
    outputs = outputs_of(workspace.shown, workspace.inference.types, op.name)
    return next((ref for ref in outputs if not _is_dead(workspace, ref)), first)


def live_name(workspace: Workspace, op: Operation) -> str:
    """What to call that output where others of the operation are dead: "true"; "" where there is no
    need to tell it from others."""
    outputs = outputs_of(workspace.shown, workspace.inference.types, op.name)
    if len(outputs) < 2:
        return ""
    dead = [_is_dead(workspace, ref) for ref in outputs]
    alive = live_output(workspace, op)
    return output_name(op.type, alive.index) if any(dead) and not all(dead) else ""


def output_name(type: str, index: int) -> str:
    """An output's own name without what all of them are called, "true" of `output_true`; its number
    where it has none."""
    definition = find(type)
    names = () if definition is None else definition.outputs
    if index >= len(names) or names[index].endswith("*"):
        return str(index)
    return names[index].removeprefix("output_")


def _is_dead(workspace: Workspace, ref: TensorRef) -> bool:
    found = workspace.value(str(ref))
    return found is not None and found.state == "dead"
