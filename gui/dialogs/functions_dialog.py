"""Editing the document's functions, and writing those that its graph asks for by name."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtWidgets import QWidget

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.document.required_python import Asked, missing_code
from gradstep.gui import commands
from gradstep.gui.actions.action_record import selected_operation
from gradstep.gui.dialogs.code_dialog import NO_CHOICE, CodeDialog
from gradstep.gui.dialogs.finder import Entry, Finder, Listed
from gradstep.gui.model.workspace import Workspace


def edit_code(workspace: Workspace, name: str, window: QWidget) -> None:
    """Edit a function: the one named, else that of the selected node, else one to choose."""
    items, missing = workspace.document.code, missing_code(workspace.document)
    entries = [_existing(workspace, item, window) for item in items.values()]
    entries += [_missing(workspace, asked, window) for asked in missing]
    meant = [e for n in (name, *_of_selected(workspace)) for e in entries if e.text == n]
    if meant or len(entries) == 1:
        (meant or entries)[0].run()
    elif entries:
        finder = Finder(workspace.theme, Listed(entries), "Edit a function", "code_finder", window)
        finder.show_over(window)


def _existing(workspace: Workspace, item: CodeItem, window: QWidget) -> Entry:
    return Entry(item.name, partial(_edit, workspace, item, window), item.kind.value)


def _missing(workspace: Workspace, asked: Asked, window: QWidget) -> Entry:
    detail = f"{asked.kind.value}, not written yet"
    return Entry(asked.name, partial(_write, workspace, asked, window), detail)


def _of_selected(workspace: Workspace) -> list[str]:
    """The functions that the selected operation asks for, what it computes first."""
    op = selected_operation(workspace)
    if op is None:
        return []
    missing = [asked.name for asked in missing_code(workspace.document, [op.name])]
    return [str(op.attrs.get("token", "")), *missing]


def _edit(workspace: Workspace, item: CodeItem, window: QWidget) -> None:
    CodeDialog(workspace, item, partial(commands.set_code, workspace), window).open()


def _write(workspace: Workspace, asked: Asked, window: QWidget) -> None:
    """Open the editor on a function of that name and signature; there once it is applied."""
    kinds = (CodeKind.GRADIENT, CodeKind.NUMPY_GRADIENT)
    templates = {kind: replace(asked, kind=kind).stub for kind in kinds}
    choice = templates if asked.kind is CodeKind.GRADIENT else NO_CHOICE
    then = partial(commands.set_code, workspace)
    CodeDialog(workspace, asked.item, then, window, templates=choice).open()
