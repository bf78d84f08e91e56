"""Giving a value: what is fed, what a variable starts with, a constant; typed, or from a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from gradstep.core.data.array_files import SUFFIXES
from gradstep.core.data.value_text import RowsMisfitError
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Constant
from gradstep.core.io.file_errors import inside
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.value_place import ValuePlace
from gradstep.gui.model.value_reader import read_now
from gradstep.gui.model.workspace import Workspace

ANY_ROWS = "Take any number of rows"


def enter_value(
    workspace: Workspace,
    place: ValuePlace,
    text: str,
    refused: Callable[[GradstepError], None] = lambda error: None,
) -> None:
    """Put the value that a text gives into its place: at once where it is written out, soon where
    it is to be read or generated. What is wrong is a message; where that is the number of rows of a
    placeholder, with a way to take any. refused: hears of it, too, also later."""
    try:
        value = read_now(text, place.kind, place.name)
    except GradstepError as error:
        _refuse(workspace, place, text, error)
        refused(error)
        return
    if value is not None:
        put_value(workspace, place, value)
        return

    def read(value: Constant) -> None:
        put_value(workspace, place, value)
        array = value.array
        workspace.say(f"{place.words} {place.name}: {array.dtype.name}{Shape(array.shape)}")

    def fail(error: GradstepError) -> None:
        _refuse(workspace, place, text, error)
        refused(error)

    folder = folder_of(workspace)
    workspace.values.read(text, place.kind, place.name, folder, read, fail)


def _refuse(workspace: Workspace, place: ValuePlace, text: str, error: GradstepError) -> None:
    workspace.complain(inside(f"{place.words} {place.name}", error))
    if isinstance(error, RowsMisfitError) and place.rows_are_free:
        again = partial(enter_value, workspace, place.with_any_rows(), text)
        workspace.offer_fix(ANY_ROWS, again)


@says_why
def put_value(workspace: Workspace, place: ValuePlace, value: Constant) -> None:
    """Put a value into its place."""
    if place.is_here:
        workspace.sessions.inject(place.name, value.array, place.at)
        return
    workspace.edit(place.label, place.put(workspace.document, value), place.merge_key)


def folder_of(workspace: Workspace) -> Path:
    """In which a relative path begins: the document's."""
    return Path() if workspace.path is None else workspace.path.parent


def holds_values(path: Path) -> bool:
    """Whether a file is called as those that hold values, or is a folder, of images."""
    return path.suffix.lower() in SUFFIXES or path.is_dir()
