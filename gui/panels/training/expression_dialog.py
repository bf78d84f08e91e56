"""Asking for an expression to follow, with those at hand offered while one types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QLineEdit, QWidget

from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.theme import mono
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.name_completion import complete

SPOKEN = 'norm(update["w"])', 'max(abs(x["w"]))', 'ratio(update["w"], x["w"])', 'dead(x["relu"])'
EMPTY = "Type an expression of tensors, or the name of one in x[…]"
WAITING = "Whether it can be followed the engine says once this training is over"


class ExpressionDialog(Dialog):
    """Whether what is typed can be followed the engine says; what cannot is said here, and it stays
    open. offers: whole expressions, found by any part of them."""

    def __init__(self, workspace: Workspace, offers: Sequence[str], parent: QWidget) -> None:
        super().__init__(workspace, "training.expression", "Follow an expression", parent)
        self._is_over = False
        self.finished.connect(self._end)
        self.add_text("One number a step, in the breakpoints' language. For example:")
        examples = self.add_text("\n".join(SPOKEN), "muted")
        examples.setFont(mono(12))
        self.field = QLineEdit()
        self.field.setObjectName("training.expression.text")
        self.field.setAccessibleName("Expression to follow")
        self.field.setFont(mono(12))
        self.field.setMinimumWidth(420)
        self.field.textEdited.connect(lambda: self.complain(""))
        complete(self.field, offers)
        self.column.addWidget(self.field)
        self.column.addStretch(1)
        self.add_buttons("Follow")
        self.field.setFocus()

    def finish(self) -> None:
        """Follow it, once the engine has said that it can be."""
        text = self.field.text().strip()
        waits = WAITING if self.workspace.training.busy else ""
        self.complain(waits if text else EMPTY)
        if text:
            self.workspace.training.check(text, partial(self._take, text))

    def _take(self, text: str, wrong: str) -> None:
        if self._is_over or text != self.field.text().strip():
            return  # nobody waits for what is said of this
        self.complain(wrong)
        if not wrong:
            commands.follow_expression(self.workspace, text)
            self.accept()

    def _end(self) -> None:
        self._is_over = True
