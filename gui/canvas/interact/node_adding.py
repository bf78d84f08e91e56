"""Adding nodes to the canvas: where the pointer is, where one is dropped, or by a search."""

from __future__ import annotations

from PySide6.QtCore import QPoint

from gradstep.gui import commands
from gradstep.gui.canvas.interact import search_entries
from gradstep.gui.canvas.interact.pointer import Pointer
from gradstep.gui.canvas.interact.search_menu import Search
from gradstep.gui.canvas.interact.viewport import Framing
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.model.workspace import Workspace


class NodeAdding:
    """Finds a new node its place. Pixels are those of the viewport."""

    def __init__(
        self,
        workspace: Workspace,
        camera: Camera,
        pointer: Pointer,
        framing: Framing,
        search: Search,
    ) -> None:
        self._workspace = workspace
        self._camera = camera
        self._pointer = pointer
        self._framing = framing
        self._search = search

    def add(self, type: str = "", text: str = "") -> None:
        """Add a node of `type`, or one that is searched for, by `text` at first: where the pointer
        is, if that is free, else beside what is selected, else near the middle."""
        pointed = self._pointer.is_known
        pixel = self._pointer.pixel if pointed else self._camera.middle
        at = self._framing.place_for_new(self._pointer.on_grid(pixel), pointed)
        if type:
            commands.place(self._workspace, type, at)
        else:
            entries = search_entries.operations(self._workspace, at)
            self._search.open(entries, pixel, text=text)

    def offer(self, pixel: QPoint) -> None:
        """Search for a node to be added at a pixel."""
        entries = search_entries.operations(self._workspace, self._pointer.on_grid(pixel))
        self._search.open(entries, pixel)

    def drop(self, type: str, pixel: QPoint) -> None:
        """Add a node of `type` at a pixel."""
        commands.place(self._workspace, type, self._pointer.on_grid(pixel))
