"""The equal blocks that the canvas shows as one box, as of the document and the user's wish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.graph.block_kinds import BlockKinds
from gradstep.core.graph.model import Graph
from gradstep.core.graph.stacked_blocks import each_by_itself, stack_blocks
from gradstep.gui.model.foreseen import Stacked, foreseen_kinds, foreseen_stacks
from gradstep.gui.model.settings import settings

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace


class BlockStacks(QObject):
    """toggled: the user wants them stacked, or not any more."""

    toggled = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._kinds = BlockKinds(Graph())
        self._is_stale = False  # blocks are other ones since the mapping was made
        self._made: Stacked = frozenset(), True  # what the mapping is of
        self._shown_by: Mapping[str, str] = {}
        self.are_shown: bool = settings().stacks
        workspace.reader.stacked = self.are_shown

    def toggle(self) -> None:
        """Stack them, or not, here and in windows to come."""
        settings().stacks = self.are_shown = not self.are_shown
        self._workspace.reader.stacked = self.are_shown
        self.toggled.emit()

    @property
    def kinds(self) -> BlockKinds:
        """Which blocks of the graph are equal, as it is now."""
        graph = self._workspace.shown
        if self._kinds.graph is not graph:
            self._kinds = foreseen_kinds(graph) or BlockKinds(graph, self._kinds)
            self._is_stale |= not self._kinds.is_same
        return self._kinds

    @property
    def shown_by(self) -> Mapping[str, str]:
        """Each closed scope -> the one that the box which shows it is called after. The same
        mapping as long as nothing of it differs."""
        kinds, made = self.kinds, (self._workspace.document.view.collapsed, self.are_shown)
        if self._is_stale or self._made != made:
            self._is_stale, self._made = False, made
            found = foreseen_stacks(kinds.graph, made)
            if found is None:
                found = stack_blocks(made[0], kinds) if made[1] else each_by_itself(made[0])
            self._shown_by = self._shown_by if found == self._shown_by else found
        return self._shown_by
