"""What belongs to a tensor: its gradient, what the last update changed, the optimizer's slots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import OtherTensor
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.tensor.side_panes import Beside

_VARIABLES = ("VariableV2", "Variable", "VarHandleOp")


def kin_of(workspace: Workspace, ref: TensorRef, gradient: bool) -> Iterator[Beside]:
    """In the order in which training makes them. gradient: whether that is what the panel shows, so
    that the value is beside it."""
    name = str(ref)
    if gradient:
        yield Beside("value", partial(workspace.value, name), "forward")
    else:
        yield Beside("∂ gradient", partial(workspace.gradient, name), "backward")
    yield from _update(workspace, name)
    for slot in slots_of(workspace, ref.op):
        yield Beside(slot, partial(workspace.value, f"{slot}:0"), "update")


def _update(workspace: Workspace, name: str) -> Iterator[Beside]:
    """The difference to what a variable was before its last write in this run."""
    value, stop = workspace.value(name), workspace.stop
    if value is None or value.update is None or stop is None:
        return
    before = OtherTensor(run=stop.run, step=value.update.step)
    yield Beside("Δ update", partial(_changed, workspace, name), "update", before)


def _changed(workspace: Workspace, name: str) -> TensorValue | None:
    """A variable, of which is known what its differences are."""
    value = workspace.value(name)
    if value is None or value.update is None:
        return value
    return replace(value, stats=value.update.delta, update=None)


def slots_of(workspace: Workspace, variable: str) -> list[str]:
    """Variables that an optimizer keeps beside one, as TensorFlow names them."""
    program = workspace.program
    if program is None:
        return []
    own = f"{variable}/"
    return [s.op for s in program.steps if s.type in _VARIABLES and s.op.startswith(own)]
