"""Letting the document begin with what was learned: variables start with what they hold here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Failed, Message, Read, Stopped, Values
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.commands.session_commands import MOST
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace

LISTED = 3  # names
Arrays = Mapping[str, np.ndarray[Any, Any]]

NOTHING_NEW = (
    "Nothing to keep: every variable holds here what it starts with. Train, or run to the end of a "
    "step, and then keep the values"
)


def keep_values(workspace: Workspace) -> None:
    """Make the values that variables hold where the debugger stands those that they start with, as
    one edit, soon. It stands before the first run then: to make the runs that there were once more,
    from there, would lead to other values than those that were kept."""
    names, stop = workspace.document.graph.of_types(VARIABLES), workspace.stop
    if not names or stop is None:
        return

    def arrived(reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Failed):
            workspace.complain(reply.error)
        elif isinstance(reply, Values):
            values = [TensorValue.of(part, buffers) for part in reply.parts]
            held = {n: v.array for n, v in zip(names, values, strict=True) if v.array is not None}
            _keep(workspace, stop, held, [name for name in names if name not in held])

    workspace.request(Read(refs=[f"{name}:0" for name in names], limit=MOST), (), arrived)


@says_why
def _keep(workspace: Workspace, stop: Stopped, held: Arrays, empty: Sequence[str]) -> None:
    if empty and not held:
        raise GradstepError(
            f"nothing to keep: no variable has a value here, {empty[0]} is not initialized",
            kind="FailedPreconditionError",
            hint="step until it has",
        )
    changed = {n: array for n, array in held.items() if _is_new(workspace.document, n, array)}
    if not changed:
        workspace.say(NOTHING_NEW, "note")
        return
    _started(workspace.document, changed)  # what does not fit is refused before runs are forgotten
    run = stop.run + 1

    def edit() -> None:
        document = _started(workspace.document, changed)
        workspace.edit(f"Keep values of run {run:,}", document)
        names = _some(changed)
        verb = "starts" if len(changed) == 1 else "start"
        is_ = "it" if len(changed) == 1 else "they"
        text = f"{names} {verb} with what {is_} held in run {run:,}; runs begin anew from there"
        notes = [*_notes(changed, empty)]
        workspace.say("; ".join([text, *notes]), "note" if notes else "info")

    workspace.control("restart", "", edit)


def _started(document: Document, values: Arrays) -> Document:
    """The document with initial values, of what is still in it. Raises GradstepError on misfit."""
    for name, value in values.items():
        if name in document.graph:
            document = document_edits.set_initial(document, name, value)
    return document


def _is_new(document: Document, name: str, value: np.ndarray[Any, Any]) -> bool:
    """Whether a variable does not start with that value already."""
    known = document.initial.get(name)
    if known is None:
        return True
    array = known.array
    same_kind = (array.dtype, array.shape) == (value.dtype, value.shape)
    return not (same_kind and array.tobytes() == value.tobytes())


def _notes(changed: Arrays, empty: Sequence[str]) -> list[str]:
    """What else the user should know of it."""
    wrong = [name for name, array in changed.items() if not _is_finite(array)]
    notes = [f"not every number is finite in {_some(wrong)}"] if wrong else []
    if empty:
        notes.append(f"without a value here, and as before: {_some(empty)}")
    return notes


def _some(names: Iterable[str]) -> str:
    every = [*names]
    more = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return ", ".join(every[:LISTED]) + more


def _is_finite(array: np.ndarray[Any, Any]) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
