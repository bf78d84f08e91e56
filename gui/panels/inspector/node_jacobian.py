"""The Jacobian of a node, asked for here: a matrix for each of its inputs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.graph.model import Operation
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.jacobian_bytes import matrices
from gradstep.core.protocol.messages import (
    Failed,
    FindJacobian,
    GaveWay,
    Jacobian,
    JacobianBlock,
    Message,
)
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.pending_answers import PendingAnswers
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.matrix_view import MatrixView
from gradstep.gui.panels.inspector.node_gradcheck import can_be_checked
from gradstep.gui.panels.widgets.small_labels import Link, SectionHeader, Wrapped


class NodeJacobian(QWidget):
    """A link that asks; then a matrix for each output and input, and what comes of them. It is of
    one node at one place: gone where the debugger, the iteration or the document is another."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.jacobian")
        self._workspace, self._name = workspace, ""
        self._of: object = None  # what is shown, or on its way, is of
        self._answers = PendingAnswers(workspace)
        theme = lambda: workspace.theme  # noqa: E731
        self.header = SectionHeader(theme, self.tr("Local Jacobian"))
        self.link = Link(theme, self.tr("Show it"), "inspector.jacobian.show")
        self.link.setToolTip(
            self.tr(
                "Each element of its outputs by each of its inputs, and where its rule is wrong"
            )
        )
        self.link.clicked.connect(self._ask)
        self.text = Wrapped(theme, "inspector.jacobian.text", "muted")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, GRID, 0, 0)
        self._column.setSpacing(GRID // 2)
        self.views: list[MatrixView] = []
        self._parts: list[QWidget] = []
        for part in (self.header, self.link, self.text):
            self._column.addWidget(part)

    def show_node(self, op: Operation) -> None:
        """Of this node; hidden for one that computes nothing of the kind."""
        self._name = op.name
        known = self._workspace.program is not None and can_be_checked(self._workspace, op)
        self.setVisible(known)
        if self._of != self._here():
            self._forget()

    def _forget(self) -> None:
        self._of = None
        self._answers.forget()
        self._clear()
        self.link.show()
        self.text.hide()
        self.header.set_texts(self.tr("Local Jacobian"), "")

    def _here(self) -> object:
        """What a Jacobian is of: the node, and all that its numbers hang on."""
        stop, document = self._workspace.stop, self._workspace.document
        return self._name, stop, document

    def _ask(self) -> None:
        here = self._of = self._here()
        self.link.hide()
        self._say(self.tr("computing…"), "muted")

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, Jacobian):
                self._show(reply, buffers)
            elif isinstance(reply, Failed):
                self.link.show()
                hint = f". {reply.error.hint}" if reply.error.hint else ""
                self._say(f"{reply.error.message}{hint}", "problem")
            elif isinstance(reply, GaveWay):
                self._forget()

        message = FindJacobian(node=self._name)
        self._answers.ask_alone(message, answered, lambda: here == self._here())

    def _show(self, found: Jacobian, buffers: Sequence[Buffer]) -> None:
        self._clear()
        self.header.set_texts(self.tr("Local Jacobian"), found.gradient)
        wrong = any(block.wrong for block in found.blocks)
        for block in found.blocks:
            self._add(block, buffers)
        self._say(f"{found.text[:1].upper()}{found.text[1:]}.", "problem" if wrong else "muted")

    def _add(self, block: JacobianBlock, buffers: Sequence[Buffer]) -> None:
        parts, theme = matrices(block, buffers), lambda: self._workspace.theme
        rows, columns = parts["rule"].shape
        output, input = (_last(name) for name in (block.output, block.input))
        caption = Wrapped(theme, "inspector.jacobian.caption", "muted")
        caption.setText(f"∂{output}/∂{input}, {rows} × {columns}")
        view = MatrixView(theme, "inspector.jacobian.matrix")
        view.setAccessibleName(f"∂{output}/∂{input}")
        shapes = tuple(block.output_shape), tuple(block.input_shape)
        view.show_matrix(parts, (output, input), shapes)
        for part in (caption, view):
            self._column.insertWidget(self._column.count() - 1, part)
            self._parts.append(part)
        self.views.append(view)

    def _say(self, text: str, tone: Tone) -> None:
        self.text.set_tone(tone)
        self.text.setText(text)
        self.text.show()

    def _clear(self) -> None:
        for part in self._parts:
            self._column.removeWidget(part)
            part.deleteLater()
        self._parts, self.views = [], []


def _last(name: str) -> str:
    """Without its scopes."""
    return name.rpartition("/")[2]
