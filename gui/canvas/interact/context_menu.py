"""The menu of a right click: what can be done with what lies there, from the table of actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from gradstep.core.graph.model import Edge
from gradstep.core.layout.box_diagram import LAYER_GAP
from gradstep.gui import commands
from gradstep.gui.canvas.interact import (
    canvas_keys,
    keyboard_editing,
    paste_gesture,
    search_entries,
    tooltips,
)
from gradstep.gui.canvas.interact.gestures import press_box
from gradstep.gui.canvas.scene import scope_folding
from gradstep.gui.canvas.scene.box_placement import free_place
from gradstep.gui.canvas.scene.hit_test import Hit, Port, port_point
from gradstep.gui.canvas.scene.scene_arrays import WIDTH, Point
from gradstep.gui.frame.action_table import BY_ID
from gradstep.gui.look import icons
from gradstep.gui.look.plain_text import plain, unmarked

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView


@dataclass(frozen=True)
class Group:
    """Entries that stand in a menu of their own, which opens beside theirs."""

    title: str
    ids: tuple[str, ...]


NODE = (
    "edit.rename", "graph.value", "",
    "run.run_to", "run.breakpoint", "",
    "graph.stop_gradient", "graph.override",
    Group("Gradient and function", ("graph.native", "run.check_node", "graph.pyfunc")),
    "run.why_value", "run.why", "",
    Group("Connect", ("graph.wire", "graph.run_after")),
    Group("Select", ("edit.select_inputs", "edit.select_passes", "edit.select_repeats")),
    Group("Show", (
        "view.tensor", "view.outline", "view.fit_selection", "view.toggle_scope",
        "run.first_broken",
    )), "",
    "edit.cut", "edit.copy", "edit.duplicate", "edit.delete",
)  # fmt: skip
SCOPE = (
    "view.toggle_scope", "edit.rename", "run.breakpoint", "",
    "edit.select_inputs", "edit.select_repeats", "view.outline", "view.fit_selection", "",
    "edit.cut", "edit.copy", "edit.duplicate", "edit.delete",
)  # fmt: skip
WIRE = ("graph.stop_gradient", "", "graph.wire_start", "graph.wire_end", "")
NOTHING = (
    "edit.select_all", "edit.find", "",
    "view.arrange", "view.fit", "view.open_scopes", "view.collapse_scopes", "view.minimap",
)  # fmt: skip
Plain = Qt.KeyboardModifier.NoModifier


@dataclass(frozen=True)
class Item:
    """One entry. need: what is in the way of it, "" for nothing; a `title` alone is a heading.
    items: those of a menu of its own, instead of something to run."""

    id: str
    title: str = ""
    run: Callable[[], object] | None = None
    tip: str = ""
    need: str = ""
    icon: str = ""
    key: str = ""
    items: tuple[Item, ...] = ()


SEPARATOR = Item("")


def open_at(view: GraphView, pixel: QPoint, hit: Hit, pointed: bool = True) -> QMenu:
    """The menu for what lies at a pixel of the viewport, which is selected by that. pointed: the
    mouse asked for it, so what is added hangs on it, or goes there."""
    items = _items(view, hit, pixel, pointed)
    menu = QMenu(view)
    menu.setObjectName("canvas.menu")
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    _fill(view, menu, items)
    menu.popup(view.viewport().mapToGlobal(pixel))
    return menu


def _fill(view: GraphView, menu: QMenu, items: Sequence[Item]) -> None:
    menu.setToolTipsVisible(True)
    for item in items:
        if item is SEPARATOR:
            menu.addSeparator()
        elif item.items:
            _fill(view, menu.addMenu(item.title), item.items)
        else:
            menu.addAction(_action(view, menu, item))


def open_by_key(view: GraphView) -> QMenu:
    """The menu of what is selected; of the canvas where nothing is."""
    facts, pixel = view.stage.facts, view.viewport().rect().center()
    if facts.selected:
        box = max(facts.selected)
        pixel, hit = view.mapFromScene(view.box_rect(box).center()), Hit(box=box)
    elif facts.selected_link is not None:
        pixel = view.mapFromScene(*view.arrays.routes.middle(facts.selected_link).tolist())
        hit = Hit(link=facts.selected_link)
    else:
        hit = Hit()
    inside = view.viewport().rect()
    pixel.setX(min(max(pixel.x(), inside.left()), inside.right()))
    pixel.setY(min(max(pixel.y(), inside.top()), inside.bottom()))
    return open_at(view, pixel, hit, pointed=False)


def _items(view: GraphView, hit: Hit, pixel: QPoint, pointed: bool) -> Sequence[Item]:
    if hit.port is not None:
        return _of_port(view, hit.port, pixel)
    if hit.box is not None:
        press_box(view, hit.box, Plain)
        if not view.arrays.visible.boxes[hit.box].is_scope:
            return _rows(view, NODE, pointed)
        first = replace(_row(view, SCOPE[0]), title="Open scope")
        return [first, *_rows(view, SCOPE[1:], pointed)]
    if hit.link is not None:
        return _of_link(view, hit.link, pixel)
    if hit.frame is not None and hit.frame.scope:
        view.workspace.select(view.stage.members(hit.frame.boxes))
        collapse = partial(scope_folding.collapse, view.workspace, hit.frame.scope)
        first = replace(_row(view, SCOPE[0]), title="Collapse scope", run=collapse)
        return [first, *_rows(view, SCOPE[1:], pointed)]
    return _of_nothing(view, pixel, pointed)


def _rows(view: GraphView, ids: Sequence[str | Group], pointed: bool) -> list[Item]:
    """Entries by the ids of actions, some in menus of their own; "" for a line between them."""
    rows = [_group(view, id) if isinstance(id, Group) else _row(view, id) for id in ids]
    if not pointed:
        return rows
    hang = partial(paste_gesture.duplicate, view, hang=True)
    return [replace(row, run=hang) if row.id == "edit.duplicate" else row for row in rows]


def _group(view: GraphView, group: Group) -> Item:
    return Item("", group.title, items=tuple(_row(view, id) for id in group.ids))


def _row(view: GraphView, id: str) -> Item:
    if not id:
        return SEPARATOR
    action, workspace = BY_ID[id], view.workspace
    need = action.enabled.obstacle(workspace)
    key = action.keys[0] if action.keys else ""
    run = partial(canvas_keys.run, workspace, action)
    return Item(id, action.title, run, action.tip, need, action.icon, key)


def _of_link(view: GraphView, link: int, pixel: QPoint) -> Sequence[Item]:
    shown = view.arrays.visible.links[link]
    if shown.is_control:
        return _of_control(view, link)
    view.workspace.select([], shown.wires[0])
    if len(shown.wires) > 1:
        return [_heading(tooltips.text(view.stage, Hit(link=link)))]
    edge = shown.wires[0]
    unplug = replace(_row(view, "edit.delete"), title="Unplug")
    return [*_rows(view, WIRE, False), _insert(view, edge, pixel), unplug]


def _of_control(view: GraphView, link: int) -> Sequence[Item]:
    """A control input: only where it leads from one operation to another it can be taken away."""
    shown, boxes = view.arrays.visible.links[link], view.arrays.visible.boxes
    first, last = boxes[shown.source].id, boxes[shown.target].id
    remove = partial(commands.remove_control, view.workspace, last, first)
    waits = first in view.workspace.shown and last in view.workspace.shown
    need = "" if waits else "open the scope first"
    return [Item("wire.free", f"Do not run {last} after {first}", remove, need=need, icon="delete")]


def _of_port(view: GraphView, port: Port, pixel: QPoint) -> Sequence[Item]:
    said = tooltips.text(view.stage, Hit(port=port, box=port.box)).splitlines()[:2]
    heading = _heading(" · ".join(said))
    return [heading, *(_of_output if port.is_output else _of_input)(view, port, pixel)]


def _of_output(view: GraphView, port: Port, pixel: QPoint) -> Sequence[Item]:
    space, tensor = view.workspace, view.stage.tensor(port)
    space.select([tensor.op])
    wires = [e for e in space.shown.consumers[tensor.op] if space.shown.source(e) == tensor]
    at = _beside(view, port)
    return [
        Item("port.wire", "Connect to…", partial(keyboard_editing.wire_tensor, view, tensor),
             "Choose an input by its name"),
        Item("port.add", "Add what reads it…",
             lambda: _search(view, search_entries.readers(space, at, tensor), pixel),
             "Add an operation, wired to this output", icon="add"),
        SEPARATOR,
        Item("port.unplug", "Unplug all" if len(wires) != 1 else "Unplug",
             lambda: commands.disconnect(space, *wires), "Open the inputs that it is wired to",
             "" if wires else "nothing is wired to it", "delete"),
    ]  # fmt: skip


def _of_input(view: GraphView, port: Port, pixel: QPoint) -> Sequence[Item]:
    space, edge = view.workspace, view.stage.wire(port)
    inputs = space.shown[edge.op].inputs
    if edge.index < len(inputs) and inputs[edge.index] is not None:
        space.select([], edge)
        unplug = replace(_row(view, "edit.delete"), title="Unplug")
        rows = _rows(view, ("graph.stop_gradient", "graph.wire_start", ""), False)
        return [*rows, _insert(view, edge, pixel), unplug]
    space.select([edge.op])
    at = _beside(view, port)
    return [
        Item("port.add", "Add what it reads…",
             lambda: _search(view, search_entries.makers(space, at, edge), pixel),
             "Add an operation, wired to this input", icon="add"),
    ]  # fmt: skip


def _of_nothing(view: GraphView, pixel: QPoint, pointed: bool) -> Sequence[Item]:
    space, at = view.workspace, view.snapped(view.mapToScene(pixel))
    add, paste = _row(view, "graph.add"), _row(view, "edit.paste")
    if pointed:
        add = replace(add, run=lambda: _search(view, search_entries.operations(space, at), pixel))
        paste = replace(paste, run=partial(paste_gesture.paste, view, hang=True))
    return [add, paste, SEPARATOR, *_rows(view, NOTHING, pointed)]


def _insert(view: GraphView, edge: Edge, pixel: QPoint) -> Item:
    at = free_place(view.mapToScene(pixel).toTuple(), view.arrays.rects)
    return Item(
        "wire.insert",
        "Insert an operation…",
        lambda: _search(view, search_entries.between(view.workspace, at, edge), pixel),
        "Put an operation into the wire",
        icon="add",
    )


def _beside(view: GraphView, port: Port) -> Point:
    """A free place for a node that is wired to a port."""
    x, y = port_point(view.arrays, port)
    away = (LAYER_GAP + WIDTH / 2) * (1 if port.is_output else -1)
    return free_place((x + away, y), view.arrays.rects)


def _search(view: GraphView, entries: Sequence[search_entries.Entry], pixel: QPoint) -> None:
    view.open_menu(entries, view.viewport().mapToGlobal(pixel))


def _heading(text: str) -> Item:
    return Item("menu.heading", text)


def _action(view: GraphView, menu: QMenu, item: Item) -> QAction:
    action = QAction(unmarked(item.title), menu)
    action.setObjectName(item.id)
    action.setEnabled(item.run is not None and not item.need)
    tip = [item.tip, *([f"Not now: {item.need}"] if item.need else [])]
    action.setToolTip(plain("\n".join(filter(None, tip)) or item.title))
    if item.icon:
        action.setIcon(icons.icon(item.icon, view.workspace.theme))
    if item.key:
        action.setShortcut(QKeySequence(item.key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setShortcutVisibleInContextMenu(True)
    if item.run is not None:
        action.triggered.connect(lambda _=False, run=item.run: run())
    return action
