"""What the canvas does when it is asked by name, through Workspace.view_requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gradstep.gui.canvas.interact import keyboard_editing, paste_gesture, rename_field, viewport

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView

ANSWERS: Mapping[str, Callable[[GraphView, str], object]] = {
    "fit": lambda view, _: view.fit(),
    "fit_selection": lambda view, _: view.fit_selection(),
    "show_selected": lambda view, _: viewport.show_selected(view),
    "reveal": lambda view, names: view.reveal(names.split()),
    "current": lambda view, _: view.show_current(),
    "zoom_in": lambda view, _: view.zoom_in(),
    "zoom_out": lambda view, _: view.zoom_out(),
    "zoom_100": lambda view, _: view.zoom_100(),
    "arrange": lambda view, _: view.arrange(),
    "duplicate": lambda view, _: paste_gesture.duplicate(view, view.is_pointed),
    "paste": lambda view, _: paste_gesture.paste(view, view.is_pointed),
    "rename": lambda view, _: rename_field.begin(view),
    "add": lambda view, type: view.add(type),
    "wire": lambda view, _: keyboard_editing.wire_by_name(view),
    "run_after": lambda view, _: keyboard_editing.run_after(view),
    "next_wire": lambda view, _: keyboard_editing.next_wire(view),
    "toggle_scope": lambda view, _: view.toggle_scope(),
    "open_scopes": lambda view, _: view.stage.open_scopes(),
    "collapse_scopes": lambda view, _: view.stage.collapse_scopes(),
    "minimap": lambda view, _: view.toggle_minimap(),
}


def answer(view: GraphView, what: str, target: str) -> None:
    """Do it, if it is the canvas's to do."""
    if what in ANSWERS:
        ANSWERS[what](view, target)
