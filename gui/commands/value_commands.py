"""Giving a value: what is fed, what a variable starts with, a constant; typed, or from a file."""

from __future__ import annotations

from pathlib import Path

from gradstep.core.data.array_files import SUFFIXES
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Constant
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.value_place import ValuePlace, place_of
from gradstep.gui.model.value_reader import read_now
from gradstep.gui.model.workspace import Workspace


def enter_value(workspace: Workspace, place: ValuePlace, text: str) -> None:
    """Put the value that a text gives into its place: at once where it is written out, soon where
    it is to be read or generated. Raises GradstepError for what is wrong at once; what is found
    later is a message."""
    value = read_now(text, place.kind, place.name)
    if value is not None:
        _put(workspace, place, value)
        return

    def read(value: Constant) -> None:
        put_value(workspace, place, value)
        array = value.array
        workspace.say(f"{place.words} {place.name}: {array.dtype.name}{Shape(array.shape)}")

    folder = folder_of(workspace)
    workspace.values.read(text, place.kind, place.name, folder, read, workspace.complain)


def load_value(workspace: Workspace, name: str, path: Path) -> None:
    """Put what a file holds into the place of an operation's value."""
    enter_value(workspace, place_of(workspace, workspace.shown[name]), f"@{path}")


def _put(workspace: Workspace, place: ValuePlace, value: Constant) -> None:
    workspace.edit(place.label, place.put(workspace.document, value), place.merge_key)


put_value = says_why(_put)


def folder_of(workspace: Workspace) -> Path:
    """In which a relative path begins: the document's."""
    return Path() if workspace.path is None else workspace.path.parent


def holds_values(path: Path) -> bool:
    """Whether a file is called as those that hold values."""
    return path.suffix.lower() in SUFFIXES
