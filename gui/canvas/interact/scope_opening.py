"""Opening scopes on the canvas, and looking into them; collapsing what is around the selection."""

from __future__ import annotations

from gradstep.gui.canvas.interact.viewport import Framing
from gradstep.gui.canvas.scene import scope_folding
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.model.workspace import Workspace


class ScopeOpening:
    """Folds scopes, as edits, and brings what came out of them into view."""

    def __init__(self, workspace: Workspace, stage: SceneModel, framing: Framing) -> None:
        self._workspace = workspace
        self._stage = stage
        self._framing = framing

    def toggle(self) -> None:
        """Collapse the scope around the selected node, or open the selected one."""
        arrays, selected = self._stage.arrays, self._stage.facts.selected
        self._framing.show_scopes(scope_folding.toggle(self._workspace, arrays, selected))

    def open_box(self, number: int) -> None:
        box = self._stage.arrays.visible.boxes[number]
        scope_folding.open_box(self._workspace, box)
        self._framing.show_scopes({box.id.rstrip("/")})

    def open_selected(self) -> bool:
        """Open the box that is selected by itself, if it is a scope's; whether it is."""
        chosen = [*self._stage.facts.selected]
        is_scope = len(chosen) == 1 and self._stage.arrays.visible.boxes[chosen[0]].is_scope
        if is_scope:
            self.open_box(chosen[0])
        return is_scope

    def collapse(self, scope: str) -> None:
        scope_folding.collapse(self._workspace, scope)
