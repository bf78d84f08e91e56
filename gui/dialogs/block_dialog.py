"""Choosing the settings of a composite block before it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QWidget

from gradstep.core.document.block_insertion import shareable
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.scopes import children
from gradstep.core.layers.block_expansion import Expansion, expand
from gradstep.core.layers.block_table import Block
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.dialogs.setting_fields import SettingField, field_of, title_of
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.error_words import words
from gradstep.gui.model.workspace import Workspace

OWN = "none: its own weights"


class BlockDialog(Dialog):
    """What the block will be is tried out with every change: its weights and outputs, or what is
    wrong, stand below the fields."""

    def __init__(
        self,
        workspace: Workspace,
        block: Block,
        at: tuple[float, float],
        source: TensorRef | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, "block_dialog", f"Add {block.name}", parent)
        self._block, self._at = block, at
        self._sources = commands.block_sources(workspace, source)
        self.add_text(block.doc, "muted")
        self.fields: dict[str, SettingField] = {}
        self.reuse = self._sharing()
        self.updates = QCheckBox("Every run executes its updates")
        self.updates.setObjectName("block_dialog.updates")
        self.updates.setToolTip("No: the moving averages keep what they start with")
        self.updates.setChecked(True)
        self.updates.hide()
        self.column.addLayout(self._form())
        self._outcome = self.add_text("")
        self._outcome.setObjectName("block_dialog.outcome")
        self.column.addStretch(1)
        self._add = self.add_buttons("Add")
        self.setMinimumWidth(400)
        self._try()

    def apply(self) -> str:
        try:
            settings = self._settings()
        except GradstepError as error:
            return words(error)
        commands.add_block(
            self.workspace,
            self._block.name,
            self._at,
            sources=self._sources,
            settings=settings,
            reuse=self._reused(),
            run_updates=self.updates.isChecked(),
        )
        return ""

    # -- the form ------------------------------------------------------------------------------

    def _form(self) -> QFormLayout:
        form = QFormLayout()
        networks = _networks(self.workspace)
        for name, setting in self._block.settings.items():
            field = self.fields[name] = field_of(name, setting, networks, self._try)
            form.addRow(plain(title_of(name)), field.widget)
        if self.reuse is not None:
            form.addRow("Share weights with", self.reuse)
        form.addRow("", self.updates)
        return form

    def _sharing(self) -> QComboBox | None:
        """The scopes whose weights it could have; None where there is no choice."""
        scopes = shareable(self.workspace.document.graph) if self._block.has_weights else []
        if not scopes:
            return None
        box = QComboBox()
        box.setObjectName("block_dialog.reuse")
        box.setAccessibleName("Share weights with")
        box.setToolTip("As variable_scope(reuse=True): the same variables, under their own names")
        box.addItem(OWN, "")
        for scope in scopes:
            box.addItem(scope, scope)
        box.currentTextChanged.connect(self._try)
        return box

    def _reused(self) -> str:
        return "" if self.reuse is None else self.reuse.currentData()

    def _settings(self) -> dict[str, Any]:
        return {name: field.read() for name, field in self.fields.items()}

    # -- what will come of it ------------------------------------------------------------------

    def _try(self) -> None:
        if not hasattr(self, "_add"):
            return  # the fields are still being made
        try:
            made = self._expanded()
        except GradstepError as error:
            self._show(words(error), "problem")
        else:
            self._show(outcome(made, self._sources), "muted")
            self.updates.setHidden(not made.updates)

    def _show(self, text: str, tone: Tone) -> None:
        self._outcome.setText(text)
        self._color(self._outcome, tone)
        self._add.setEnabled(tone != "problem")

    def _expanded(self) -> Expansion:
        document, types = self.workspace.document, self.workspace.inference.types
        return expand(
            document.graph, self._block, self._sources, types, self._settings(), self._reused()
        )


def outcome(made: Expansion, sources: Sequence[TensorRef]) -> str:
    """What a block reads and gives, and the weights that it makes, in a few lines."""
    read = ", ".join(ref.short for ref in sources)
    given = ", ".join(str(kind) for kind in made.outputs.values())
    lines = [f"Reads {read}." if read else "Nothing is selected: it reads placeholders.",
             f"Gives {given}."]  # fmt: skip
    if made.initial:
        count = sum(int(np.size(value)) for value in made.initial.values())
        names = ", ".join(
            f"{name.removeprefix(made.scope + '/')} {list(value.shape)}"
            for name, value in made.initial.items()
        )
        lines.append(f"Makes {names}: {count:,} numbers.")
    return "\n".join(lines)


def _networks(workspace: Workspace) -> list[str]:
    """Scopes that a block can apply again: that of what is selected first, then the outermost."""
    graph = workspace.document.graph
    chosen = [graph[name].scope for name in workspace.selection if name in graph]
    return list(dict.fromkeys([*filter(None, chosen), *children(graph)[0]]))
