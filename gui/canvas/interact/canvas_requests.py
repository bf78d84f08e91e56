"""What the canvas does when it is asked by name, through Workspace.view_requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gradstep.gui.canvas.interact.aligning import COLUMN, ROW, Aligning
from gradstep.gui.canvas.interact.flash_marker import Revealer
from gradstep.gui.canvas.interact.keyboard_editing import KeyboardEditing
from gradstep.gui.canvas.interact.node_adding import NodeAdding
from gradstep.gui.canvas.interact.paste_gesture import Copies
from gradstep.gui.canvas.interact.pointer import Pointer
from gradstep.gui.canvas.interact.rename_field import Renaming
from gradstep.gui.canvas.interact.scope_opening import ScopeOpening
from gradstep.gui.canvas.interact.viewport import Framing
from gradstep.gui.canvas.paint.minimap import Minimap
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.scene_model import SceneModel


@dataclass(frozen=True)
class Answers:
    """The parts of the canvas that can be asked for something."""

    stage: SceneModel
    camera: Camera
    framing: Framing
    pointer: Pointer
    revealer: Revealer
    minimap: Minimap
    scopes: ScopeOpening
    adding: NodeAdding
    copies: Copies
    renaming: Renaming
    editing: KeyboardEditing
    aligning: Aligning

    def answer(self, what: str, target: str) -> None:
        """Do it, if it is the canvas's to do."""
        if what in ANSWERS:
            ANSWERS[what](self, target)


ANSWERS: Mapping[str, Callable[[Answers, str], object]] = {
    "fit": lambda its, _: its.framing.fit(),
    "fit_selection": lambda its, _: its.framing.fit_selection(),
    "show_selected": lambda its, _: its.framing.show_selected(),
    "reveal": lambda its, names: its.revealer.reveal(names.split()),
    "current": lambda its, _: its.framing.show_current(),
    "zoom_in": lambda its, _: its.camera.zoom_in(),
    "zoom_out": lambda its, _: its.camera.zoom_out(),
    "zoom_100": lambda its, _: its.camera.zoom_100(),
    "arrange": lambda its, _: its.stage.arrange(),
    "duplicate": lambda its, _: its.copies.duplicate(its.pointer.is_over),
    "paste": lambda its, _: its.copies.paste(its.pointer.is_over),
    "rename": lambda its, target: its.renaming.begin(target),
    "add": lambda its, type: its.adding.add(type),
    "wire": lambda its, _: its.editing.wire_by_name(),
    "run_after": lambda its, _: its.editing.run_after(),
    "next_wire": lambda its, _: its.editing.next_wire(),
    "change_type": lambda its, _: its.editing.change_type(),
    "align_row": lambda its, _: its.aligning.align(ROW),
    "align_column": lambda its, _: its.aligning.align(COLUMN),
    "toggle_scope": lambda its, _: its.scopes.toggle(),
    "open_scopes": lambda its, _: its.stage.open_scopes(),
    "collapse_scopes": lambda its, _: its.stage.collapse_scopes(),
    "minimap": lambda its, _: its.minimap.toggle(),
    "pictures": lambda its, _: its.stage.pictures.toggle(),
}
