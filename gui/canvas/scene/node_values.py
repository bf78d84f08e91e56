"""What the two rows of a node say: its value and its gradient, as of the current stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from gradstep.core.graph.model import Constant, Operation, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.typing.missing_inputs import Waiting
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.gui.canvas.scene import blamed_array_index
from gradstep.gui.model import variable_change
from gradstep.gui.model.live_output import live_name, live_value
from gradstep.gui.model.number_text import brief, elements, is_wrong, whole
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace

ROOM = 20  # characters of a row
RowTone = Literal["muted", "problem", "current", "forward", "backward"]  # of the theme
WAITS = "waits for "
TILES = 64  # elements; larger tensors are summed up in words


@dataclass(frozen=True, eq=False)
class NodeValues:
    """Text in a theme colour (`tone`), or heat tiles of the array where it has too many numbers.

    marked: first character and length of the element that an error is about."""

    text: str
    tone: RowTone
    tiles: np.ndarray | None = None
    marked: tuple[int, int] | None = None


WAITING = NodeValues("waiting", "muted")
NONE = NodeValues("none", "muted")
DEAD = NodeValues("dead", "muted")  # in a branch that was not taken
DROPPED = NodeValues("not kept", "muted")  # of an iteration that there was no room for
_ABSENT = {"none": NONE, "dead": DEAD, "dropped": DROPPED}


def value(workspace: Workspace, op: Operation, room: int = ROOM) -> NodeValues:
    """The first output's value, or that of the first that is alive; before it is computed what is
    known of it without running."""
    stop = workspace.stop
    error = None if stop is None else stop.error
    if stop is not None and error is not None and error.node == op.name:
        return NodeValues(error.message, "current" if stop.reason == "blocked" else "problem")
    found = live_value(workspace, op)
    if found is not None and found.state == "known":
        name = live_name(workspace, op)
        return _named(name, found, room) if name else _marked(workspace, op, found, room)
    if found is not None and found.absence:
        return _ABSENT[found.state]
    waits = workspace.waits.get(op.name)
    if waits is not None:
        return NodeValues(_waiting(op, waits, room), "muted")
    given = _given(workspace, op)
    if given is not None:
        return of(_known(given.array), "muted", room)
    kind = workspace.inference.types.get(op.output())
    return NodeValues("" if kind is None else str(kind), "muted")


def _named(name: str, found: TensorValue, room: int) -> NodeValues:
    """A value of which it must be said whose it is."""
    reading = of(found, "forward", max(room - len(name) - 2, 1))
    return NodeValues(f"{name}: {reading.text}", reading.tone)


def _waiting(op: Operation, what: Waiting, room: int) -> str:
    if what.node == op.name:
        return f"open: {what.input}" if what.input else "not fed"
    name = what.node if len(what.node) <= room - len(WAITS) else what.node.rpartition("/")[2]
    way = f"{what.input} of {name}" if what.input else name
    texts = (f"waiting for {way}", f"{WAITS}{way}")
    return next((text for text in texts if len(text) <= room), f"{WAITS}{name}")


def gradient(workspace: Workspace, op: Operation, room: int = ROOM) -> NodeValues:
    """The gradient that reaches the first output that has one, or what of it arrived so far."""
    if workspace.program is None:
        return NodeValues("", "muted")
    found = workspace.gradient(str(gradient_output(workspace, op)))
    if found is None or found.state == "waiting":
        return _partial(workspace, op, room) or WAITING
    return _ABSENT.get(found.state) or of(found, "backward", room)


@lru_cache(maxsize=4096)  # what is in view is painted again and again
def of(found: TensorValue, tone: RowTone, room: int = ROOM) -> NodeValues:
    """A known tensor in a row. That numbers are missing is said in words."""
    text = _updated(found, room) or whole(found, room)
    if is_wrong(found):
        return NodeValues(text or brief(found, room), "problem")
    array = found.array
    tiled = array is not None and 1 < array.size <= TILES and kind_of(array.dtype) in "fiu"
    return NodeValues(text or brief(found, room), tone, array if tiled and not text else None)


def _updated(found: TensorValue, room: int) -> str:
    """An updated variable with the digits in which it changed, where there is room for them."""
    changed = variable_change.of(found)
    return "" if changed is None else variable_change.row(changed.after, found, room)


def _marked(workspace: Workspace, op: Operation, found: TensorValue, room: int) -> NodeValues:
    """A value, with the element marked that made its reader fail."""
    reading = of(found, "forward", room)
    index = blamed_array_index.element(workspace, op)
    array = found.array
    if index is None or array is None or reading.tiles is not None or array.ndim != 1:
        return reading
    if found.update is not None:  # with other decimals
        return reading
    width = len(elements(array)[0])
    return replace(reading, marked=(2 + index * (width + 1), width))


def _given(workspace: Workspace, op: Operation) -> Constant | None:
    """A value that the document itself holds."""
    if op.type == "Const":
        constant = op.attrs.get("value")
        return constant if isinstance(constant, Constant) else None
    document = workspace.document
    name = str(op.output())
    fed = None if name in document.columns else document.feeds.get(name)
    return document.initial.get(op.name) or fed


def _known(array: np.ndarray) -> TensorValue:
    head = array.reshape(-1)[:TILES]
    return TensorValue("", "known", str(array.dtype), array.shape, head)


def gradient_output(workspace: Workspace, op: Operation) -> TensorRef:
    """The output whose gradient is shown of a node: the first that has one which is alive, or else
    the first that has one; output 0 where none has."""
    gradients = {} if workspace.program is None else workspace.program.gradients
    outputs = outputs_of(workspace.shown, workspace.inference.types, op.name)
    having = [ref for ref in outputs if str(ref) in gradients]
    if len(having) > 1:
        values = ((ref, workspace.gradient(str(ref))) for ref in having)
        alive = (ref for ref, found in values if found is None or found.state != "dead")
        return next(alive, having[0])
    return having[0] if having else op.output()


def _partial(workspace: Workspace, op: Operation, room: int) -> NodeValues | None:
    """The first summand that is here, of a gradient whose sum is not."""
    carried = workspace.carried
    for wire in workspace.shown.consumers[op.name]:
        found = workspace.value(carried[wire]) if wire in carried else None
        if found is not None and found.state == "known":
            part = of(found, "backward", room - 3)
            return NodeValues(f"{part.text} +…", part.tone)
    return None
