"""Which optimizers train the variables of the graph, in which order, and how."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QListWidget, QPushButton, QVBoxLayout, QWidget

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.optimizer_labels import changes, is_settings_alone, optimizer_labels
from gradstep.core.document.requests import loss_of, trained_variables
from gradstep.core.errors import GradstepError
from gradstep.gui import commands
from gradstep.gui.actions.action_record import can_branch
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.dialogs.optimizer_form import OptimizerForm
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.error_words import words
from gradstep.gui.model.workspace import Workspace

FIRST = Optimizer("Adam", {"learning_rate": 0.001})


class OptimizersDialog(Dialog):
    """A list, and the fields of what is selected in it; all edits are applied as one."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "optimizers_dialog", "Optimizers", parent)
        self.optimizers = list(workspace.document.optimizers)
        self._unread = ""  # what is wrong with the fields of the selected one
        self.list = QListWidget()
        self.list.setObjectName("optimizers_dialog.list")
        self.list.setAccessibleName("Optimizers")
        self.list.setSpacing(GRID // 2)
        self.form = OptimizerForm(_names(workspace.document))
        self._lay_out()
        self.list.currentRowChanged.connect(self._show)
        self.form.changed.connect(self._take)
        self.form.wrong.connect(self._cannot_read)
        self._refresh(0)

    def apply(self) -> str:
        if self._unread:
            return self._unread
        try:
            document_edits.set_optimizers(self.workspace.document, self.optimizers)
        except GradstepError as error:
            return words(error)
        if tuple(self.optimizers) != self.workspace.document.optimizers:
            commands.set_optimizers(self.workspace, self.optimizers)
        return ""

    def add(self) -> None:
        """One more, which starts like the selected one."""
        row = self.list.currentRow()
        self.optimizers.append(self.optimizers[row] if row >= 0 else FIRST)
        self._refresh(len(self.optimizers) - 1)

    def remove(self) -> None:
        """Take the selected one away."""
        row = self.list.currentRow()
        if row >= 0:
            del self.optimizers[row]
            self._refresh(min(row, len(self.optimizers) - 1))

    def try_on_branch(self) -> None:
        """Run on, from the beginning of this run, with what was set of the selected optimizer, on a
        branch."""
        row, document = self.list.currentRow(), self.workspace.document
        before = document.optimizers[row] if 0 <= row < len(document.optimizers) else None
        wrong = self._unread
        if not wrong and (before is None or not is_settings_alone(before, self.optimizers[row])):
            wrong = "On a branch its settings can be others; for anything else apply it first"
        changed = [] if wrong or before is None else changes(before, self.optimizers[row])
        if not wrong and not changed:
            wrong = "Nothing was set: change a number first"
        self.complain(wrong)
        if not wrong:
            label = optimizer_labels(document)[row]
            pairs = (text for pair in changed for text in pair)
            commands.edit_on_branch(self.workspace, "hyper", label, *pairs)
            self.reject()

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(GRID)
        left.addWidget(self.list, 1)
        buttons = QHBoxLayout()
        self.add_button = self._button("add", "Add", self.add)
        self.remove_button = self._button("remove", "Remove", self.remove)
        buttons.addWidget(self.add_button)
        buttons.addWidget(self.remove_button)
        left.addLayout(buttons)
        both = QHBoxLayout()
        both.setSpacing(2 * GRID)
        both.addLayout(left, 2)
        both.addWidget(self.form, 4)
        self.column.addLayout(both, 1)
        self.branch_button = self._button("branch", "Try on a branch", self.try_on_branch)
        self.branch_button.setToolTip(
            plain("The settings of the selected optimizer, from this run on; the document stays")
        )
        self.branch_button.setVisible(can_branch(self.workspace))
        self.add_buttons("Apply", beside=self.branch_button)
        self.resize(840, 500)

    def _button(self, name: str, title: str, run: Callable[[], None]) -> QPushButton:
        button = QPushButton(title)
        button.setObjectName(f"optimizers_dialog.{name}")
        button.setAccessibleName(f"{title} optimizer")
        button.setAutoDefault(False)
        button.clicked.connect(run)
        return button

    def _refresh(self, row: int) -> None:
        """Show the list as it is now, with `row` selected."""
        self.list.blockSignals(True)
        self.list.clear()
        self.list.addItems([self._caption(optimizer) for optimizer in self.optimizers])
        self.list.setCurrentRow(row)
        self.list.blockSignals(False)
        self._show(self.list.currentRow())

    def _show(self, row: int) -> None:
        self._cannot_read("")
        self.form.setEnabled(row >= 0)
        self.remove_button.setEnabled(row >= 0)
        self.form.show_optimizer(self.optimizers[row] if row >= 0 else FIRST)

    def _take(self, optimizer: Optimizer) -> None:
        row = self.list.currentRow()
        self.optimizers[row] = optimizer
        self.list.item(row).setText(self._caption(optimizer))

    def _cannot_read(self, wrong: str) -> None:
        self._unread = wrong
        self.complain(wrong)

    def _caption(self, optimizer: Optimizer) -> str:
        document = self.workspace.document
        of = " + ".join(ref.short for ref in loss_of(document, optimizer)) or "nothing"
        wrt = ", ".join(ref.short for ref in optimizer.wrt) or "all variables"
        off = "" if optimizer.enabled else " (off)"
        return f"{optimizer.type}{off}\n{of} by {wrt}"


def _names(document: Document) -> dict[str, str]:
    """What an empty field stands for."""
    return {
        "of": " ".join(ref.short for ref in document.request.of) or "a loss",
        "wrt": " ".join(ref.short for ref in trained_variables(document, FIRST)) or "all variables",
        "scales": "w=0.1",
        "schedule": "constant",
        "clip": "none",
        "decay": "none",
        "name": "train",
    }
