"""Taking rows of data into the document, which needs no file for them then."""

from __future__ import annotations

from gradstep.core.document.document import Document
from gradstep.core.document.packed_rows import packed_name, with_packed_column
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.gui.commands.data_commands import fed_kinds
from gradstep.gui.model.workspace import Workspace


def pack_column(workspace: Workspace, tensor: str) -> None:
    """Take the rows of a placeholder into the document, once they are read."""
    before, ref = workspace.document, TensorRef.parse(tensor)
    kind = fed_kinds(workspace).get(ref)

    def pack(name: str, rows: Constant) -> None:
        now = workspace.document
        if now.columns.get(tensor) != before.columns[tensor]:
            return  # it is fed others now
        if now.packed is not before.packed:  # where the name may be taken
            pack_column(workspace, tensor)
            return
        workspace.edit("Pack rows", with_packed_column(now, tensor, name, rows))

    if kind is not None and can_pack(before.columns.get(tensor, "")):
        workspace.data.read_rows(ref, kind, pack)


def can_pack(text: str) -> bool:
    """Whether the rows of a column are in files."""
    from gradstep.core.data.data_stamp import names_files

    return names_files(text)


def packed_counts(document: Document) -> dict[str, int]:
    """Tensor -> how many rows are packed for it, of those that are fed such."""
    names = {tensor: packed_name(text) for tensor, text in document.columns.items()}
    found = {tensor: document.packed[n] for tensor, n in names.items() if n in document.packed}
    return {tensor: len(rows.array) for tensor, rows in found.items()}
