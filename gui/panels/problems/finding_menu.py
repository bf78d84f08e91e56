"""The menu of a finding: what can be done about it, and how to hear no more of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from gradstep.core.document.named_edits import label_of
from gradstep.core.protocol.messages import LintFinding
from gradstep.gui import commands
from gradstep.gui.actions.dialog_table import LINTS, open_dialog
from gradstep.gui.look.plain_text import add_row
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace


def finding_menu(workspace: Workspace, finding: LintFinding, parent: QWidget) -> QMenu:
    """It goes when it is closed."""
    menu = QMenu(parent)
    menu.setObjectName("problems.finding_menu")
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def row(text: str, run: Callable[[], object]) -> None:
        add_row(menu, text).triggered.connect(lambda: run())

    if finding.remedy:
        label = label_of(finding.remedy, finding.names)
        row(label, lambda: commands.mend_finding(workspace, finding))
        row("Try that first…", lambda: commands.try_finding(workspace, finding))
    if finding.example:
        row("Show an example", lambda: commands.show_example(workspace, finding.example))
    if not menu.isEmpty():
        menu.addSeparator()
    if finding.node in workspace.document.graph:
        exempt = f"Not at {finding.node}"
        row(exempt, lambda: commands.exempt_node(workspace, finding))
    off = [*settings().lints_off, finding.code]
    row(f"Never: {finding.title}", lambda: commands.leave_out_lints(workspace, *off))
    row("All lints…", lambda: open_dialog(workspace, LINTS))
    return menu
