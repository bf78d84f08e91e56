"""What only the window can do, by name: dialogs, files, panels."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from gradstep.core.autodiff.reverse.gradient_request import OverrideKind
from gradstep.core.capture.exporter_files import EXPORTERS
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.formats.gradstep_document import is_named_as_own
from gradstep.core.layers.block_table import Block
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gui import commands
from gradstep.gui.actions.action_record import selected_operation
from gradstep.gui.actions.dialog_table import DIALOGS, DialogRecord
from gradstep.gui.canvas.interact.canvas_requests import ANSWERS
from gradstep.gui.model.settings import state_folder
from gradstep.gui.model.window_requests import FrameRequest

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog

    from gradstep.gui.frame.main_window import MainWindow

P = TypeVar("P")


class Views:
    """Answers Workspace.view_requested(what, target)."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._workspace = window.workspace
        self._dialogs = {dialog.id: dialog for dialog in DIALOGS}
        answers: dict[FrameRequest, Callable[[str], object]] = {
            "new": lambda _: window.files.new(),
            "new_window": lambda _: window.open_beside(),
            "open": lambda target: window.files.open(Path(target) if target else None),
            "restore": lambda _: self._restore(),
            "events": lambda _: self._open_events(),
            "save": lambda _: window.files.save(),
            "save_as": lambda _: window.files.save_as(),
            "export": lambda _: window.files.export(window.canvas.as_picture),
            "close": lambda _: window.files.close(),
            "quit": lambda _: window.close(),
            "reset_layout": lambda _: window.reset_layout(),
            "palette": lambda _: self._palette(),
            "find": lambda _: self._find(),
            "query": lambda _: self._query(),
            "console": lambda _: self._console(),
            "edit_value": lambda _: self._edit_value(),
            "gradient": lambda _: self._gradient(),
            "code": self._code,
            "log": lambda _: self._log(),
            "example": self._example,
            "smallest": self._smallest,
            "exporter": self._save_exporter,
        }
        self.answered: dict[str, Callable[[str], object]] = dict(answers.items())
        self.answered["show"] = window.docks.show

    def run(self, what: str, target: str) -> None:
        """Do it, if it is not the canvas's to do."""
        if what in self._dialogs:
            self.open_dialog(self._dialogs[what])
        elif what not in ANSWERS:
            self.answered[what](target)

    def open_dialog(self, dialog: DialogRecord) -> QDialog | None:
        """Open it; nothing for one of an operation where not a single one is selected."""
        kind = getattr(import_module(dialog.module), dialog.kind)
        if not dialog.of_operation:
            return _opened(kind(self._workspace, self._window))
        op = selected_operation(self._workspace)
        return None if op is None else _opened(kind(self._workspace, op, self._window))

    def ask_block(self, block: Block, at: tuple[float, float], source: TensorRef | None) -> QDialog:
        """Ask for the settings of a block, and add it."""
        from gradstep.gui.dialogs.block_dialog import BlockDialog

        return _opened(BlockDialog(self._workspace, block, at, source, self._window))

    def _palette(self) -> None:
        from gradstep.gui.frame.finder_entries import command_palette

        finder = command_palette(self._workspace, self._window.actions_, self._window)
        finder.show_over(self._window)

    def _find(self) -> None:
        from gradstep.gui.frame.finder_entries import node_finder

        node_finder(self._workspace, self._window).show_over(self._window)

    def _query(self) -> None:
        """Put the cursor into the field of the queries."""
        from gradstep.gui.panels.queries.queries_panel import QueriesPanel

        panel = self._shown("queries", QueriesPanel)
        panel.field.setFocus()
        panel.field.selectAll()

    def _console(self) -> None:
        """Put the cursor into the console's line."""
        from gradstep.gui.panels.console_panel import ConsolePanel

        self._shown("console", ConsolePanel).field.setFocus()

    def _edit_value(self) -> None:
        """Put the cursor into the value of the selected node; from there Enter leads back."""
        from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel

        field = self._shown("inspector", InspectorPanel).value_field()
        if field is not None:
            field.setFocus()
            field.selectAll()

    def _shown(self, panel: str, kind: type[P]) -> P:
        """A panel, once its dock is in front."""
        self._window.docks.show(panel)
        found = self._window.docks.by_id[panel].panel
        assert isinstance(found, kind)
        return found

    def _restore(self) -> None:
        from gradstep.gui.dialogs.file_choice import ask_open
        from gradstep.gui.dialogs.file_filters import checkpoint_filter

        path = ask_open(self._window, "data", "Restore variables", checkpoint_filter())
        if path is not None:
            commands.restore_variables(self._workspace, path)

    def _smallest(self, question: str) -> None:
        """The few operations that show what was explained, in a file that the user names and, if it
        opens, a window beside."""
        from gradstep.gui.dialogs import file_filters
        from gradstep.gui.dialogs.file_choice import ask_save

        name = Path(self._workspace.name).stem
        named, complete = file_filters.smallest_filter(), file_filters.with_suffix_of
        title, file = "Smallest graph that shows it", Path(f"{name}-smallest.gradstep")
        path = ask_save(self._window, "export", title, file, named, complete)
        if path is not None:
            commands.find_smallest(self._workspace, question, path, self._beside)

    def _beside(self, path: Path) -> None:
        if is_named_as_own(path):
            commands.open_path(self._window.open_beside().workspace, path)

    def _example(self, stem: str) -> None:
        """In a window of its own: what is open here is what the question came from."""
        path = EXAMPLES / f"{stem}.gradstep"
        commands.open_path(self._window.open_beside().workspace, path)

    def _save_exporter(self, framework: str) -> None:
        """The one file that writes traces where that framework is."""
        from gradstep.gui.dialogs.file_choice import ask_save
        from gradstep.gui.dialogs.file_filters import python_filter, with_suffix_of

        file = EXPORTERS[framework].name
        place = ask_save(
            self._window, "exporter", "Save the exporter", Path(file), python_filter(),
            with_suffix_of,
        )  # fmt: skip
        if place is not None:
            commands.save_exporter(self._workspace, framework, place)

    def _open_events(self) -> None:
        from gradstep.gui.dialogs.file_choice import ask_folder

        path = ask_folder(self._window, "events", "Open a folder of event files")
        if path is not None:
            commands.open_events(self._workspace, path)

    def _gradient(self) -> None:
        from gradstep.gui.dialogs.override_dialog import write_gradient

        op = selected_operation(self._workspace)
        if op is not None:
            write_gradient(self._workspace, op, OverrideKind.OP, op.name, self._window)

    def _code(self, name: str) -> None:
        from gradstep.gui.dialogs.functions_dialog import edit_code

        edit_code(self._workspace, name, self._window)

    def _log(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(state_folder() / "gradstep.log")))


def _opened(dialog: QDialog) -> QDialog:
    dialog.open()
    return dialog
