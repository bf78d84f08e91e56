"""What our dialogs share: a column of widgets, a place for what is wrong, buttons at the end."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradstep.gui.dialogs.confirm_dialog import confirm
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.workspace import Workspace

NATIVE = QKeySequence.SequenceFormat.NativeText


class Dialog(QDialog):
    """Modal to its window and never blocking: `open` it, and override `apply`."""

    def __init__(self, workspace: Workspace, name: str, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        self.column.setSpacing(GRID)
        self._quick = False  # whether Ctrl+Enter applies
        self._wrong = Label()
        self._wrong.setObjectName(f"{name}.wrong")
        self._wrong.setWordWrap(True)
        self._wrong.hide()

    def add_text(self, text: str, tone: Tone = "text") -> QLabel:
        """A paragraph in a theme colour."""
        label = Label(text)
        label.setWordWrap(True)
        self._color(label, tone)
        self.column.addWidget(label)
        return label

    def add_buttons(
        self,
        apply: str,
        cancel: str = "Cancel",
        careful: bool = False,
        beside: QPushButton | None = None,
    ) -> QPushButton:
        """The last row: a button that does it, and one that does not; Enter means the first, or
        the second where care is due. Ctrl+Enter means the first from within a text as well. beside:
        another one in that row, which does something else."""
        self.column.addWidget(self._wrong)
        box = QDialogButtonBox()
        yes = box.addButton(apply, QDialogButtonBox.ButtonRole.AcceptRole)
        no = box.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        if beside is not None:
            box.addButton(beside, QDialogButtonBox.ButtonRole.ResetRole)
        for button, name in ((yes, "apply"), (no, "cancel")):
            button.setObjectName(f"{self.objectName()}.{name}")
            button.setAccessibleName(button.text())
        yes.setAutoDefault(not careful)
        no.setAutoDefault(careful)
        (no if careful else yes).setDefault(True)
        self._quick = not careful
        if self._quick:
            yes.setToolTip(plain(QKeySequence("Ctrl+Return").toString(NATIVE)))
        box.accepted.connect(self.finish)
        box.rejected.connect(self._give_up)
        self.column.addWidget(box)
        return yes

    def show_beside(self, kind: type[Dialog]) -> None:
        """Show it beside the window's work, in place of any other of a kind: it is no question."""
        window = self.parent()
        for other in [] if window is None else window.findChildren(kind):
            if other is not self:
                other.close()
        self.show()

    def complain(self, text: str) -> None:
        """Say what is wrong, above the buttons; "" for nothing."""
        self._wrong.setText(text)
        self._color(self._wrong, "problem")
        self._wrong.setVisible(bool(text))
        self._make_room()

    def _make_room(self) -> None:
        """For text of more lines than before, which Qt would take from the fields. A dialog that
        has not been shown makes it by itself."""
        if not self.isVisible():
            return
        self.column.activate()
        needed = max(self.column.totalHeightForWidth(self.width()), self.minimumSizeHint().height())
        most = self.screen().availableGeometry().height()
        if self.height() < needed:
            self.resize(self.width(), min(needed, most))

    def apply(self) -> str:
        """Do what the dialog is for. Returns what is wrong; "" closes it."""
        return ""

    def finish(self) -> None:
        """As the button does: apply, and close if nothing is wrong."""
        wrong = self.apply()
        self.complain(wrong)
        if not wrong:
            self.accept()

    def reject(self) -> None:
        """Escape, or the window's close button: asks where a text was written meanwhile, for it is
        soon done by mistake. The button that says so does not ask."""
        if not self._is_written() or confirm(
            self,
            self.windowTitle(),
            "The text was changed.",
            "Without applying it, what was written here is lost.",
            "Discard",
            "Keep editing",
        ):
            self._give_up()

    def _give_up(self) -> None:
        super().reject()

    def _is_written(self) -> bool:
        """Whether a text of several lines is not as the dialog showed it."""
        texts = self.findChildren(QPlainTextEdit)
        return any(text.document().isModified() and not text.isReadOnly() for text in texts)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        entered = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if entered and event.modifiers() & Qt.KeyboardModifier.ControlModifier and self._quick:
            self.finish()
        else:
            super().keyPressEvent(event)

    def _color(self, label: QLabel, tone: Tone) -> None:
        palette = label.palette()
        palette.setColor(label.foregroundRole(), self.workspace.theme.tone(tone))
        label.setPalette(palette)
