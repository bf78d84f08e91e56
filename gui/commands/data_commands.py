"""The document's data: choosing where rows come from, and which of them go where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradstep.core.document.data_edits import add_placeholders, set_column, set_data
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.document.packed_rows import packed_name, packed_place
from gradstep.core.document.value_edits import take_any_rows
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import TensorRef
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.commands.reveal import reveal
from gradstep.gui.model.workspace import Workspace

if TYPE_CHECKING:
    from gradstep.core.data.source_survey import Survey

SEED = 1  # of a new document's order
Point = tuple[float, float]


def begin_data(workspace: Workspace, place: str, at: Point = (0.0, 0.0)) -> None:
    """Feed the placeholders from what a file, or a set by its name, offers: as names and shapes
    suggest. Where there is no placeholder, those are made at a point that it asks for."""
    workspace.ask_window("show", "data")
    workspace.data.survey(place, lambda found: _begin(workspace, found, at))


@says_why
def _begin(workspace: Workspace, found: Survey, at: Point) -> None:
    from gradstep.core.data.column_guesses import guess_columns, guess_placeholders

    document, kinds = workspace.document, fed_kinds(workspace)
    if not kinds:
        document, made = add_placeholders(document, guess_placeholders(found), at)
        types = guess_placeholders(found)
        kinds = {ref: types[name] for name, ref in made.items()}
    columns = {str(ref): text for ref, text in guess_columns(found, kinds).items()}
    before = document.data or Dataset({}, shuffle=SEED)
    workspace.edit("Choose data", set_data(document, replace(before, columns=columns)))


def place_of_file(path: Path) -> str:
    """What a file is called in a column's text."""
    return path.absolute().as_posix()


@says_why
def feed_column(workspace: Workspace, tensor: str, text: str) -> None:
    """Feed one placeholder from these rows; "" for none."""
    text = _with_whole_path(workspace, text.strip())
    if workspace.document.columns.get(tensor, "") != text:
        workspace.edit("Feed from data", set_column(workspace.document, tensor, text))


@says_why
def change_data(workspace: Workspace, /, **changes: Any) -> None:
    """Other batches, another order, other rows."""
    data = workspace.document.data
    if data is not None and replace(data, **changes) != data:
        key = f"data {' '.join(changes)}"
        changed = set_data(workspace.document, replace(data, **changes))
        workspace.edit("Change batches", changed, key)


@says_why
def free_rows(workspace: Workspace, placeholder: str) -> None:
    """Let it take any number of rows from here on, so that every batch fits."""
    workspace.edit("Take any number of rows", take_any_rows(workspace.document, placeholder))


def drop_data(workspace: Workspace) -> None:
    """Feed all placeholders their own values."""
    if workspace.document.data is not None:
        workspace.edit("Feed no data", set_data(workspace.document, None))


def read_data_again(workspace: Workspace) -> None:
    """Its files have changed: from here on with what they hold now."""
    workspace.debugger.reopen()
    workspace.data.look_again()


def show_row(workspace: Workspace, row: int, ref: str) -> None:
    """A row of the data, in the Data panel; where there is none, what `ref` is fed in every run."""
    if workspace.program is None or workspace.program.data.rows:
        workspace.data.look_at_row(row)
        workspace.ask_window("show", "data")
    elif ref:
        reveal(workspace, ref)
        workspace.say(f"row {row:,} of what every run is fed")


def fed_kinds(workspace: Workspace) -> dict[TensorRef, TensorType]:
    """What the document's placeholders take; those that data feeds first, in its order."""
    document, types = workspace.document, workspace.inference.types
    refs = [TensorRef.parse(name) for name in document.columns]
    refs += [op.output() for op in document.graph if op.type == "Placeholder"]
    known = ((ref, types.get(ref)) for ref in dict.fromkeys(refs) if ref.op in document.graph)
    return {ref: kind for ref, kind in known if kind is not None}


def offered_columns(
    document: Document, surveys: Sequence[Survey], ref: TensorRef, kind: TensorType
) -> list[str]:
    """What a placeholder may be fed of these, and of what is packed."""
    from gradstep.core.data.column_guesses import offered_texts

    texts = [text for found in surveys for text in offered_texts(found, ref, kind)]
    texts += map(packed_place, document.packed)
    return list(dict.fromkeys(texts))


def with_transform(text: str, step: str) -> str:
    """A column's text with one thing more that is done to its rows; without any for ""."""
    place, *steps = (part.strip() for part in text.split("|"))
    return " | ".join([place, *steps, step] if step else [place])


def places_of(document: Document) -> Sequence[str]:
    """The files and sets that its data is in, without "@", the first column's first; nothing of
    what is packed."""
    from gradstep.core.data.built_in_sets import SETS
    from gradstep.core.data.file_place import split_place

    found = []
    for text in document.columns.values():
        place = text.partition("|")[0].strip()
        if place.startswith("@") and not packed_name(text):
            name = place[1:].partition(":")[0]
            found.append(name if name in SETS else split_place(place[1:])[0])
    return list(dict.fromkeys(found))


def source_names(document: Document) -> list[str]:
    """What its rows come from, as people know it: "iris.csv", "digits", "iris.csv (packed)",
    "normal", "typed rows"."""
    found = [Path(place).name for place in places_of(document)]
    packed = filter(None, map(packed_name, document.columns.values()))
    found += dict.fromkeys(f"{name.partition(':')[0]} (packed)" for name in packed)
    written = (text for text in document.columns.values() if not text.startswith("@"))
    return [*found, *dict.fromkeys(map(_name_of_written, written))]


def _name_of_written(text: str) -> str:
    from gradstep.core.data.generators import GENERATORS

    name = text.partition("(")[0].strip()
    return name if name in GENERATORS else "typed rows"


def _with_whole_path(workspace: Workspace, text: str) -> str:
    """A file that is named from the document's folder, by its whole path."""
    from gradstep.core.data.data_stamp import names_files

    if not names_files(text):
        return text
    path = Path(text[1:]).expanduser()
    folder = Path() if workspace.path is None else workspace.path.parent
    return f"@{(folder / path).absolute().as_posix()}"
