"""Letting a document's variables start as a checkpoint has them, by their names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradstep.core.io.tensorflow.tensor_bundle import INDEX
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.workspace import Workspace

if TYPE_CHECKING:
    from gradstep.core.data.restored_variables import Restored


def restore_variables(workspace: Workspace, path: Path) -> None:
    """Give the variables the values of a checkpoint, or of a file of tensors by name, as one edit,
    soon; what does not fit is said, and stays."""

    def restored(found: Restored) -> None:
        _put(workspace, found)

    workspace.values.read_variables(workspace.document.graph, path, restored, workspace.complain)


@says_why
def _put(workspace: Workspace, found: Restored) -> None:
    """For those that are there by now."""
    document, name = workspace.document, Path(found.path).name
    values = {op: value for op, value in found.values.items() if op in document.graph}
    with_them = document.with_(initial={**document.initial, **values})
    workspace.edit(f"Variables of {name}", with_them)
    count = f"{len(values)} variables" if len(values) > 1 else "One variable"
    taken = f"{count} of {name} {'are' if len(values) > 1 else 'is'} taken"
    notes = [*found.notes()]
    workspace.say("; ".join([taken, *notes]), "note" if notes else "info")


def is_checkpoint(path: Path) -> bool:
    """Whether a file is called as TensorFlow calls the index of one."""
    return path.suffix == INDEX
