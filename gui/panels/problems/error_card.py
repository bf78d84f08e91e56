"""The card of a step that failed, or waits: the message, what it is about, what to do."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.document.required_python import missing_code
from gradstep.core.graph.problems import UNFINISHED
from gradstep.core.ops.typing.missing_inputs import Waiting
from gradstep.core.protocol.messages import ErrorInfo
from gradstep.gui import commands
from gradstep.gui.actions.dialog_table import TRUST, VALUE, open_dialog
from gradstep.gui.look.theme import GRID, Tone, mono
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.inspected_node import blamed_tensor, error_at
from gradstep.gui.panels.widgets.card import Card, LinkSpec
from gradstep.gui.panels.widgets.heat_tiles import HeatTiles
from gradstep.gui.panels.widgets.small_labels import Text


class ErrorCard(QWidget):
    """Shows only while the current step stands failed at the node, or the node cannot run."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.error")
        self._workspace = workspace
        theme = lambda: workspace.theme  # noqa: E731
        self.card = Card(theme, "inspector.error.card")
        self.blamed = Text(theme, "muted", mono(12))
        self.tiles = HeatTiles(theme, "inspector.error.tiles")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID // 2)
        for part in (self.card, self.blamed, self.tiles):
            column.addWidget(part)

    def show_node(self, name: str) -> None:
        """Show the error that the current step raised at this node, if it did; or what the node
        waits for; or what is wrong with it as it is drawn."""
        error, waits = error_at(self._workspace, name), self._workspace.waits.get(name)
        drawn = (p for p in self._workspace.inference.problems if p.node == name)
        wrong = next((p for p in drawn if p.code not in UNFINISHED), None)
        self.setVisible(any(found is not None for found in (error, waits, wrong)))
        if error is None:
            self.blamed.hide()
            self.tiles.hide()
            if waits is not None:
                self._show_waiting(name, waits)
            elif wrong is not None:
                title = self.tr("{} cannot run").format(name)
                self.card.say(title, wrong.text, hint=wrong.fix)
            return
        stop = self._workspace.stop
        blocked = stop is not None and stop.reason == "blocked"  # which may pass
        tone: Tone = "backward" if blocked else "problem"
        title = self.tr("{} waits") if blocked else self.tr("{} failed: {}")
        title = title.format(error.node, error.type)
        self.card.say(title, error.message, self._links(error), error.hint, tone)
        self._show_blamed(error)

    def _show_waiting(self, name: str, what: Waiting) -> None:
        """Quietly: nobody has made a mistake."""
        links: list[LinkSpec] = []
        if not what.input:
            text = self.tr("Feed {}…").format(what.node)
            links.append((text, "inspector.error.feed", partial(self._feed, what.node)))
        if what.node != name:
            text = self.tr("Go to {}").format(what.node)
            select = partial(self._workspace.select, [what.node])
            links.append((text, "inspector.error.go", select))
        hint = self.tr("drag a wire to it, or from it into the air") if what.input else ""
        title = self.tr("{} waits").format(name)
        self.card.say(title, self._waited_for(name, what), links, hint, "selection")

    def _waited_for(self, name: str, what: Waiting) -> str:
        """In a sentence, which names the node only where it is another one."""
        if not what.input:
            own, other = self.tr("It is not fed"), self.tr("{} is not fed").format(what.node)
        else:
            own = self.tr("Its input '{}' has no wire").format(what.input)
            other = self.tr("Input '{}' of {} has no wire").format(what.input, what.node)
        return own if what.node == name else other

    def _show_blamed(self, error: ErrorInfo) -> None:
        """The input that the message names, with the element framed."""
        ref = blamed_tensor(self._workspace.shown, error)
        value = self._workspace.value(str(ref)) if ref is not None else None
        known = value is not None and value.state == "known"
        self.blamed.setVisible(known)
        self.tiles.setVisible(known)
        if ref is None or value is None or not known:
            return
        where = ", ".join(map(str, error.index or ()))
        self.blamed.set_text(f"{ref.short}[{where}]")
        self.tiles.show_head(value.head, value.shape, [tuple(error.index or ())])

    def _links(self, error: ErrorInfo) -> list[LinkSpec]:
        graph = self._workspace.shown
        ref = blamed_tensor(graph, error)
        links: list[LinkSpec] = []
        if ref is not None:
            text = self.tr("Go to {}").format(ref.op)
            links.append(
                (text, "inspector.error.go", lambda: commands.reveal(self._workspace, ref.op))
            )
        node = error.node or ""
        if node in graph and graph[node].type == "Placeholder":
            text = self.tr("Feed {}…").format(node)
            links.append((text, "inspector.error.feed", partial(self._feed, node)))
        if error.type in ("UntrustedCodeError", "SandboxError"):
            text = self.tr("Review and trust…")
            links.append((text, "inspector.error.trust", self._review))
        for asked in missing_code(self._workspace.document, [node] if node else ()):
            text = self.tr("Write {}…").format(asked.name)
            links.append((text, "inspector.error.write", partial(self._write, asked.name)))
        compare = self.tr("Compare devices")
        if error.index:
            links.append((compare, "inspector.error.compare", self._compare))
        return links

    def _feed(self, name: str) -> None:
        self._workspace.select([name])
        open_dialog(self._workspace, VALUE)

    def _write(self, name: str) -> None:
        self._workspace.ask_window("code", name)

    def _review(self) -> None:
        open_dialog(self._workspace, TRUST)

    def _compare(self) -> None:
        self._workspace.ask_window("show", "device_diff")
