"""What only the window can do, by name: dialogs, files, zoom, panels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from gradstep.core.autodiff.reverse.gradient_request import OverrideKind
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.layers.block_table import Block
from gradstep.gui.canvas.interact.canvas_requests import ANSWERS
from gradstep.gui.frame.action_record import selected_operation
from gradstep.gui.model.settings import state_folder

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog

    from gradstep.gui.frame.main_window import MainWindow


class Views:
    """Answers Workspace.view_requested(what, target)."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._workspace = window.workspace
        self.by_name: dict[str, Callable[[str], object]] = {
            "new": lambda _: window.files.new(),
            "new_window": lambda _: window.open_beside(),
            "open": lambda target: window.files.open(Path(target) if target else None),
            "save": lambda _: window.files.save(),
            "save_as": lambda _: window.files.save_as(),
            "export": lambda _: window.files.export(window.canvas.as_picture),
            "close": lambda _: window.files.close(),
            "quit": lambda _: window.close(),
            "show": window.docks.show,
            "reset_layout": lambda _: window.reset_layout(),
            "palette": lambda _: self._palette(),
            "find": lambda _: self._find(),
            "value": lambda _: self._with_operation(self._value),
            "edit_value": lambda _: self._edit_value(),
            "override": lambda _: self._with_operation(self._override),
            "gradient": lambda _: self._with_operation(self._gradient),
            "pyfunc": lambda _: self._with_operation(self._pyfunc),
            "code": self._code,
            "request": lambda _: self._request(),
            "note": lambda _: self._note(),
            "optimizers": lambda _: self._optimizers(),
            "copy_values": lambda _: self._copy_values(),
            "trust": lambda _: self._trust(),
            "trusted": lambda _: self._trusted(),
            "shortcuts": lambda _: self._shortcuts(),
            "doctor": lambda _: self._doctor(),
            "log": lambda _: self._log(),
            "about": lambda _: self._about(),
        }

    def run(self, what: str, target: str) -> None:
        if what not in ANSWERS:  # which are the canvas's
            self.by_name[what](target)

    def ask_block(self, block: Block, at: tuple[float, float], source: TensorRef | None) -> QDialog:
        """Ask for the settings of a block, and add it."""
        from gradstep.gui.dialogs.block_dialog import BlockDialog

        return _opened(BlockDialog(self._workspace, block, at, source, self._window))

    def _with_operation(self, then: Callable[[Operation], object]) -> None:
        op = selected_operation(self._workspace)
        if op is not None:
            then(op)

    def _palette(self) -> None:
        from gradstep.gui.frame.finder_entries import command_palette

        finder = command_palette(self._workspace, self._window.actions_, self._window)
        finder.show_over(self._window)

    def _find(self) -> None:
        from gradstep.gui.frame.finder_entries import node_finder

        node_finder(self._workspace, self._window).show_over(self._window)

    def _value(self, op: Operation) -> QDialog:
        from gradstep.gui.dialogs.value_dialog import ValueDialog

        return _opened(ValueDialog(self._workspace, op, self._window))

    def _edit_value(self) -> None:
        """Put the cursor into the value of the selected node; from there Enter leads back."""
        from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel

        self._window.docks.show("inspector")
        inspector = self._window.docks.by_id["inspector"].panel
        assert isinstance(inspector, InspectorPanel)
        field = inspector.value_field()
        if field is not None:
            field.setFocus()
            field.selectAll()

    def _override(self, op: Operation) -> QDialog:
        from gradstep.gui.dialogs.override_dialog import OverrideDialog

        return _opened(OverrideDialog(self._workspace, op, self._window))

    def _gradient(self, op: Operation) -> QDialog:
        from gradstep.gui.dialogs.override_dialog import write_gradient

        return write_gradient(self._workspace, op, OverrideKind.OP, op.name, self._window)

    def _pyfunc(self, op: Operation) -> QDialog:
        from gradstep.gui.dialogs.py_func_conversion_dialog import PyFuncDialog

        return _opened(PyFuncDialog(self._workspace, op, self._window))

    def _code(self, name: str) -> None:
        from gradstep.gui.dialogs.functions_dialog import edit_code

        edit_code(self._workspace, name, self._window)

    def _request(self) -> QDialog:
        from gradstep.gui.dialogs.request_dialog import RequestDialog

        return _opened(RequestDialog(self._workspace, self._window))

    def _optimizers(self) -> QDialog:
        from gradstep.gui.dialogs.optimizers_dialog import OptimizersDialog

        return _opened(OptimizersDialog(self._workspace, self._window))

    def _note(self) -> QDialog:
        from gradstep.gui.dialogs.note_dialog import NoteDialog

        return _opened(NoteDialog(self._workspace, self._window))

    def _copy_values(self) -> QDialog:
        from gradstep.gui.dialogs.copy_values_dialog import CopyValuesDialog

        return _opened(CopyValuesDialog(self._workspace, self._window))

    def _trust(self) -> QDialog:
        from gradstep.gui.dialogs.trust_dialog import TrustDialog

        return _opened(TrustDialog(self._workspace, self._window))

    def _trusted(self) -> QDialog:
        from gradstep.gui.dialogs.trusted_code_dialog import TrustedCodeDialog

        return _opened(TrustedCodeDialog(self._workspace, self._window))

    def _shortcuts(self) -> QDialog:
        from gradstep.gui.dialogs.shortcuts_dialog import ShortcutsDialog

        return _opened(ShortcutsDialog(self._workspace, self._window))

    def _doctor(self) -> QDialog:
        from gradstep.gui.dialogs.doctor_dialog import DoctorDialog

        return _opened(DoctorDialog(self._workspace, self._window))

    def _about(self) -> QDialog:
        from gradstep.core.version import version
        from gradstep.gui.dialogs.about_dialog import AboutDialog

        return _opened(AboutDialog(self._workspace, version(), self._window))

    def _log(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(state_folder() / "gradstep.log")))


def _opened(dialog: QDialog) -> QDialog:
    dialog.open()
    return dialog
