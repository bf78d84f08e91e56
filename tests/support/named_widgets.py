"""The controls of a panel or a dialog: each has names, for tests and for screen readers."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

KINDS = (QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QPlainTextEdit)


def controls(widget: QWidget) -> list[QWidget]:
    """What can be used in it, as far as it shows; no parts of Qt's own compound widgets."""
    found = [w for kind in KINDS for w in widget.findChildren(kind) if w.isVisible()]
    return [w for w in found if not w.objectName().startswith("qt_") and not _is_part(w)]


def require_names(widget: QWidget) -> None:
    """Fails for a control without a name, or that Tab does not lead to."""
    assert widget.objectName()
    assert widget.accessibleName()
    for control in controls(widget):
        where = f"{widget.objectName()}: {control} {control.objectName()}"
        assert control.objectName(), where
        assert control.accessibleName() or _text(control), where
        reached = control.focusPolicy() & Qt.FocusPolicy.TabFocus or _by_arrows(control)
        assert reached or not control.isEnabled(), where


def _text(control: QWidget) -> str:
    """What a screen reader says of a button that has no other name."""
    return control.text() if isinstance(control, QAbstractButton) else ""


def _is_part(widget: QWidget) -> bool:
    """The corner of a table, a header, a clear button."""
    parent = widget.parentWidget()
    name = type(widget).__name__
    return isinstance(parent, QLineEdit | QAbstractItemView | QComboBox) or "Header" in name


def _by_arrows(control: QWidget) -> bool:
    """In an exclusive group Tab goes to the checked button, and arrows to the others."""
    return isinstance(control, QAbstractButton) and control.group() is not None
