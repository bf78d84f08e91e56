"""Asking for an expression to follow, with those at hand offered while one types."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QInputDialog, QLineEdit, QWidget

from gradstep.gui.look.theme import mono
from gradstep.gui.panels.widgets.name_completion import complete

SPOKEN = 'norm(update["w"])', 'max(abs(x["w"]))', 'ratio(update["w"], x["w"])', 'dead(x["relu"])'


def ask_expression(parent: QWidget, offers: Sequence[str]) -> str:
    """What the user wants to follow; "" for nothing. offers: whole expressions, found by any part
    of them."""
    dialog = QInputDialog(parent)
    dialog.setObjectName("training.expression")
    dialog.setWindowTitle(dialog.tr("Follow an expression"))
    dialog.setLabelText(
        dialog.tr("One number a step, in the breakpoints' language. For example:")
        + "\n"
        + "\n".join(SPOKEN)
    )
    dialog.setTextValue("")  # makes the field
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setFont(mono(12))
    field.setMinimumWidth(420)
    complete(field, offers)
    return dialog.textValue().strip() if dialog.exec() else ""
