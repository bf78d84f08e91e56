"""Documents and their files: new, open, save, close, and what may be lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from core.errors import GradstepError
from core.io.document import Document
from core.io.example_index import EXAMPLES
from gui.autosave import Recovered
from gui.dialogs import unsaved
from gui.dialogs.file_choice import ask_open, ask_save, remember_folder
from gui.settings import settings
from gui.workspace import Workspace

FILTER = "Graphs (*.gradstep *.pb *.pbtxt);;All files (*)"

_EXPORTS = (
    "Pictures (*.png *.svg);;TensorFlow GraphDef (*.pb *.pbtxt);;Python (*.py);;Graphviz (*.dot)"
)


class Files(QObject):
    """The window's file commands. Each returns whether it went through."""

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self._workspace, self._window = workspace, window

    def new(self) -> bool:
        """An empty document."""
        if not self.may_leave():
            return False
        self._workspace.open_document(Document())
        return True

    def open(self, path: Path | None = None, then: Callable[[], None] = lambda: None) -> bool:
        """Show a file, asking which one if need be."""
        if not self.may_leave():
            return False
        if path is None:
            path = ask_open(self._window, "open", "Open", FILTER)
            if path is None:
                return False
        if not path.exists():
            settings().drop_recent(path)
        chosen = path.absolute()

        def opened() -> None:
            if EXAMPLES not in chosen.parents:
                settings().add_recent(chosen)
                remember_folder("open", chosen)
            then()

        self._workspace.open_path(chosen, opened)
        return True

    def recover(self, found: Recovered, keep: Callable[[], bool]) -> bool:
        """Show unsaved work again, as unsaved work of its own file. Its copy goes when `keep` has
        made another, so that it is there at every moment."""
        if not self.may_leave():
            return False

        def opened() -> None:
            if keep():
                found.discard()

        self._workspace.recover(found.copy, found.path, found.name, opened)
        return True

    def save(self) -> bool:
        """Write the document to its file, or to a new one."""
        path = self._workspace.path
        return self._write(path) if path is not None else self.save_as()

    def save_as(self) -> bool:
        """Write the document to a file that the user names."""
        start = self._workspace.path or Path(self._workspace.name).with_suffix(".gradstep")
        path = ask_save(self._window, "save", "Save as", start, "Gradstep documents (*.gradstep)")
        if path is None:
            return False
        own = path.suffix == ".gradstep"
        return self._write(path if own else path.with_name(f"{path.name}.gradstep"))

    def export(self, picture: Callable[[str], bytes]) -> bool:
        """Write the graph in another format, or as a picture: `picture(suffix)` is its file."""
        from core.io import atomic, export

        start = Path(self._workspace.name).with_suffix(".png")
        path = ask_save(self._window, "export", "Export", start, _EXPORTS)
        if path is None:
            return False
        suffix = path.suffix.lower()
        try:
            pixels = suffix in (".png", ".svg")
            document = self._workspace.document
            data = picture(suffix) if pixels else export.to_bytes(document, suffix)
            atomic.replace_file(path, data)
        except GradstepError as error:
            self._workspace.complain(error)
            return False
        self._workspace.message.emit("info", f"Exported to {path}")
        return True

    def close(self) -> bool:
        """Show the start page."""
        if not self.may_leave():
            return False
        self._workspace.close_document()
        return True

    def may_leave(self) -> bool:
        """Whether the document may be given up: it is saved, or the user says so."""
        workspace = self._workspace
        if not workspace.is_changed:
            return True
        answer = unsaved.ask(self._window, workspace.name)
        if answer is unsaved.Answer.SAVE:
            return self.save()
        return answer is unsaved.Answer.DISCARD

    def _write(self, path: Path) -> bool:
        from core.io import store

        try:
            store.save(path, self._workspace.document)
        except GradstepError as error:
            error.hint = error.hint or "choose another place with Save as…"
            self._workspace.complain(error)
            return False
        self._workspace.saved(path.absolute())
        settings().add_recent(path)
        return True
