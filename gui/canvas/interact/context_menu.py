"""The menu of a right click: what can be done with what lies there, from the table of actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QMenu

from gradstep.core.graph.model import Edge
from gradstep.core.layout.box_diagram import LAYER_GAP
from gradstep.gui import commands
from gradstep.gui.actions.action_table import BY_ID
from gradstep.gui.canvas.interact import canvas_keys, search_entries, tooltips
from gradstep.gui.canvas.interact.gestures import press_box
from gradstep.gui.canvas.interact.keyboard_editing import KeyboardEditing
from gradstep.gui.canvas.interact.menu_items import SEPARATOR, Item, fill, heading
from gradstep.gui.canvas.interact.node_adding import NodeAdding
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.interact.paste_gesture import Copies
from gradstep.gui.canvas.interact.scope_opening import ScopeOpening
from gradstep.gui.canvas.interact.search_menu import Search
from gradstep.gui.canvas.scene.box_placement import free_place
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.hit_test import Hit, Port, port_point
from gradstep.gui.canvas.scene.scene_arrays import WIDTH, Point
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.model.workspace import Workspace


@dataclass(frozen=True)
class Group:
    """Entries that stand in a menu of their own, which opens beside theirs."""

    title: str
    ids: tuple[str, ...]


NODE = (
    "edit.rename", "graph.value", "",
    "run.run_to", "run.breakpoint", "",
    "graph.stop_gradient", "graph.override",
    Group(
        "Gradient, function, device",
        (
            "graph.request", "graph.try_stop", "graph.native", "run.check_node", "graph.pyfunc",
            "graph.place",
        ),
    ),
    "run.why_value", "run.why", "",
    Group("Connect, arrange", (
        "graph.wire", "graph.run_after", "graph.swap_inputs", "graph.replace",
        "edit.delete_and_reconnect", "edit.group", "edit.dissolve", "edit.align_row",
        "edit.align_column",
    )),
    Group("Select", ("edit.select_inputs", "edit.select_passes", "edit.select_repeats")),
    Group("Show", (
        "view.tensor", "view.outline", "view.fit_selection", "view.toggle_scope",
        "run.who_wrote", "run.first_broken",
    )), "",
    "edit.cut", "edit.copy", "edit.duplicate", "edit.delete",
)  # fmt: skip
SCOPE = (
    "view.toggle_scope", "edit.rename", "edit.dissolve", "run.breakpoint", "",
    "graph.place", "",
    "edit.select_inputs", "edit.select_repeats", "view.outline", "view.fit_selection", "",
    "edit.cut", "edit.copy", "edit.duplicate", "edit.delete", "edit.delete_and_reconnect",
)  # fmt: skip
WIRE = ("graph.stop_gradient", "graph.try_stop", "", "graph.wire_start", "graph.wire_end", "")
NOTHING = (
    "edit.select_all", "edit.find", "",
    "view.arrange", "view.fit", "view.open_scopes", "view.collapse_scopes", "view.minimap",
)  # fmt: skip


class ContextMenu:
    """Selects what the menu is asked of, and opens it. Pixels are those of the viewport."""

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        overlay: Overlay,
        scopes: ScopeOpening,
        search: Search,
        adding: NodeAdding,
        copies: Copies,
        editing: KeyboardEditing,
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._overlay = overlay
        self._scopes = scopes
        self._search = search
        self._adding = adding
        self._copies = copies
        self._editing = editing

    def open_at(self, pixel: QPoint, hit: Hit, pointed: bool = True) -> QMenu:
        """The menu for what lies at a pixel, which is selected by that. pointed: the mouse asked
        for it, so what is added hangs on it, or goes there."""
        items = self._items(hit, pixel, pointed)
        menu = QMenu(self._overlay.window)
        menu.setObjectName("canvas.menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fill(menu, items, self._workspace.theme)
        menu.popup(self._overlay.to_screen(pixel))
        return menu

    def open_by_key(self) -> QMenu:
        """The menu of what is selected; of the canvas where nothing is."""
        facts, pixel = self._stage.facts, self._camera.middle
        if facts.selected:
            box = max(facts.selected)
            pixel, hit = self._camera.to_pixel(self._stage.box_rect(box).center()), Hit(box=box)
        elif facts.selected_link is not None:
            middle = self._stage.arrays.routes.middle(facts.selected_link).tolist()
            pixel, hit = self._camera.to_pixel(QPointF(*middle)), Hit(link=facts.selected_link)
        else:
            hit = Hit()
        inside = self._overlay.port.rect()
        pixel.setX(min(max(pixel.x(), inside.left()), inside.right()))
        pixel.setY(min(max(pixel.y(), inside.top()), inside.bottom()))
        return self.open_at(pixel, hit, pointed=False)

    def _items(self, hit: Hit, pixel: QPoint, pointed: bool) -> Sequence[Item]:
        if hit.port is not None:
            return self._of_port(hit.port, pixel)
        if hit.box is not None:
            return self._of_box(hit.box, pointed)
        if hit.link is not None:
            return self._of_link(hit.link, pixel)
        if hit.frame is not None and hit.frame.scope:
            self._workspace.select(self._stage.members(hit.frame.boxes))
            collapse = partial(self._scopes.collapse, hit.frame.scope)
            first = replace(self._row(SCOPE[0]), title="Collapse scope", run=collapse)
            return [first, *self._rows(SCOPE[1:], pointed)]
        return self._of_nothing(pixel, pointed)

    def _rows(self, ids: Sequence[str | Group], pointed: bool) -> list[Item]:
        """Entries by the ids of actions, some in menus of their own; "" for a line between them."""
        rows = [self._group(id) if isinstance(id, Group) else self._row(id) for id in ids]
        if not pointed:
            return rows
        hang = partial(self._copies.duplicate, hang=True)
        return [replace(row, run=hang) if row.id == "edit.duplicate" else row for row in rows]

    def _group(self, group: Group) -> Item:
        return Item("", group.title, items=tuple(self._row(id) for id in group.ids))

    def _row(self, id: str) -> Item:
        if not id:
            return SEPARATOR
        action = BY_ID[id]
        need = action.enabled.obstacle(self._workspace)
        key = action.keys[0] if action.keys else ""
        run = partial(canvas_keys.run, self._workspace, action)
        return Item(id, action.title, run, action.tip, need, action.icon, key)

    def _of_box(self, box: int, pointed: bool) -> Sequence[Item]:
        press_box(self._workspace, self._stage, box, Qt.KeyboardModifier.NoModifier)
        shown = self._stage.arrays.visible.boxes[box]
        if not shown.is_scope:
            return self._rows(NODE, pointed)
        title = "Open the first block" if shown.stack else "Open scope"
        first = replace(self._row(SCOPE[0]), title=title)
        return [first, *self._rows(SCOPE[1:], pointed)]

    def _of_link(self, link: int, pixel: QPoint) -> Sequence[Item]:
        shown = self._stage.arrays.visible.links[link]
        if shown.is_control:
            return self._of_control(link)
        self._workspace.select([], shown.wires[0])
        if len(shown.wires) > 1:
            return [heading(tooltips.text(self._stage, Hit(link=link)))]
        edge = shown.wires[0]
        unplug = replace(self._row("edit.delete"), title="Unplug")
        return [*self._rows(WIRE, False), self._insert(edge, pixel), unplug]

    def _of_control(self, link: int) -> Sequence[Item]:
        """A control input: only where it leads from one operation to another it can be taken
        away."""
        visible, space = self._stage.arrays.visible, self._workspace
        shown = visible.links[link]
        first, last = visible.boxes[shown.source].id, visible.boxes[shown.target].id
        remove = partial(commands.remove_control, space, last, first)
        need = "" if first in space.shown and last in space.shown else "open the scope first"
        title = f"Do not run {last} after {first}"
        return [Item("wire.free", title, remove, need=need, icon="delete")]

    def _of_port(self, port: Port, pixel: QPoint) -> Sequence[Item]:
        said = tooltips.text(self._stage, Hit(port=port, box=port.box)).splitlines()[:2]
        items = (self._of_output if port.is_output else self._of_input)(port, pixel)
        return [heading(" · ".join(said)), *items]

    def _of_output(self, port: Port, pixel: QPoint) -> Sequence[Item]:
        space, tensor = self._workspace, self._stage.tensor(port)
        space.select([tensor.op])
        wires = [e for e in space.shown.consumers[tensor.op] if space.shown.source(e) == tensor]
        at = self._beside(port)
        return [
            Item("port.wire", "Connect to…", partial(self._editing.wire_tensor, tensor),
                 "Choose an input by its name"),
            Item("port.add", "Add what reads it…",
                 lambda: self._search.open(search_entries.readers(space, at, tensor), pixel),
                 "Add an operation, wired to this output", icon="add"),
            SEPARATOR,
            Item("port.unplug", "Unplug all" if len(wires) != 1 else "Unplug",
                 lambda: commands.disconnect(space, *wires), "Open the inputs that it is wired to",
                 "" if wires else "nothing is wired to it", "delete"),
        ]  # fmt: skip

    def _of_input(self, port: Port, pixel: QPoint) -> Sequence[Item]:
        space, edge = self._workspace, self._stage.wire(port)
        inputs = space.shown[edge.op].inputs
        if edge.index < len(inputs) and inputs[edge.index] is not None:
            space.select([], edge)
            unplug = replace(self._row("edit.delete"), title="Unplug")
            rows = self._rows(("graph.stop_gradient", "graph.wire_start", ""), False)
            return [*rows, self._insert(edge, pixel), unplug]
        space.select([edge.op])
        at = self._beside(port)
        return [
            Item("port.add", "Add what it reads…",
                 lambda: self._search.open(search_entries.makers(space, at, edge), pixel),
                 "Add an operation, wired to this input", icon="add"),
        ]  # fmt: skip

    def _of_nothing(self, pixel: QPoint, pointed: bool) -> Sequence[Item]:
        add, paste = self._row("graph.add"), self._row("edit.paste")
        if pointed:
            add = replace(add, run=partial(self._adding.offer, pixel))
            paste = replace(paste, run=partial(self._copies.paste, hang=True))
        return [add, paste, SEPARATOR, *self._rows(NOTHING, pointed)]

    def _insert(self, edge: Edge, pixel: QPoint) -> Item:
        at = free_place(self._camera.to_scene(pixel).toTuple(), self._stage.arrays.rects)
        return Item(
            "wire.insert",
            "Insert an operation…",
            lambda: self._search.open(search_entries.between(self._workspace, at, edge), pixel),
            "Put an operation into the wire",
            icon="add",
        )

    def _beside(self, port: Port) -> Point:
        """A free place for a node that is wired to a port."""
        arrays = self._stage.arrays
        x, y = port_point(arrays, port)
        away = (LAYER_GAP + WIDTH / 2) * (1 if port.is_output else -1)
        return free_place((x + away, y), arrays.rects)
