"""What is on the canvas now: the visible graph, its places as arrays, and the facts about them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from itertools import filterfalse
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, QTimer, Signal

from gradstep.core.document.document import Document
from gradstep.core.document.requests import whole_request
from gradstep.core.errors import GradstepError
from gradstep.core.graph.changes import are_related
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.layout import layout_process
from gradstep.core.persistent.spliced_mapping import copied
from gradstep.gui import commands
from gradstep.gui.canvas.scene import box_placement, scope_folding
from gradstep.gui.canvas.scene.foreseen_scene import foreseen_scene
from gradstep.gui.canvas.scene.hit_test import Hit, Port
from gradstep.gui.canvas.scene.incremental_scene import revising
from gradstep.gui.canvas.scene.overlay_state import NOTHING, OverlayState
from gradstep.gui.canvas.scene.scene_arrays import EMPTY, Point, SceneArrays
from gradstep.gui.canvas.scene.value_pictures import ValuePictures
from gradstep.gui.canvas.scene.visible_graph import Source, VisibleGraph
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.workspace import Workspace

LARGE = 20_000  # boxes, from which on a scene is made in parts
_DONE = object()  # of parts there are no more
EARLIER = 4  # scenes that undoing may lead back to, and redoing forth
MANY = 64  # boxes; of more it is not asked whether they are covered


class Shown(NamedTuple):
    """A scene that was shown, and what it was made of."""

    source: Source
    places: dict[str, Point]
    arrays: SceneArrays

    def shows(self, source: Source) -> bool:
        """Whether that is what `source` says."""
        return self.source.asks_alike(source) and self.source.shows_alike(source)

    def is_of(self, visible: VisibleGraph, places: dict[str, Point]) -> bool:
        """Whether that is shown there."""
        return self.arrays.visible is visible and _are_same(self.places, places)


class SceneModel(QObject):
    """Follows the workspace. `arrays` and `facts` are replaced, never changed. After an edit of a
    large graph they are made in parts, between which the window looks at what the user does; who
    asks for them meanwhile has the rest made at once."""

    changed = Signal()  # arrays, and maybe facts
    facts_changed = Signal()
    placed = Signal()  # what had no places yet: nothing was looked at
    replaced = Signal(object)  # an edit, or another way of showing it, led here from these arrays

    def __init__(self, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self._arrays = EMPTY
        self._facts = OverlayState(workspace, EMPTY.visible)
        self._parts: Iterator[None] | None = None  # of what is still to be made
        self._goes_on = False  # one of them is being made
        self._raises = False  # then what is selected is raised
        self._next_part = QTimer(self, singleShot=True, interval=0)
        self._next_part.timeout.connect(self._go_on)
        self.pictures = ValuePictures(workspace, self)
        self.pictures.changed.connect(self._new_facts)
        self._awaited: Source | None = None  # what of is to be seen as soon as it has places
        self._document = Document()
        self._drawn = EMPTY.visible  # of the document, also while nothing has a place yet
        self._source = EMPTY.visible.source  # what that shows now; it may have been made of another
        self._placed: dict[str, Point] = {}  # the places that `arrays` were made of
        self._placed_by: tuple[object, Mapping[str, Point]] = (None, {})  # and by what
        self._laid: dict[str, Point] = {}  # places that layout gave and no edit took over yet
        self._arranged: SceneArrays | None = None  # what was put together beside, until it is taken
        self._left: SceneArrays | None = None  # what was shown until layout began beside
        self._pointed = NOTHING  # stubs, by number
        self._shown: list[Shown] = []
        self._raised: dict[str, None] = {}  # boxes that lie over the others, by id, from below
        self._background = Background(self)
        workspace.document_changing.connect(self.finish)
        workspace.document_changed.connect(self.rebuild)
        workspace.stacks.toggled.connect(self._restack)
        workspace.selection_changed.connect(self._raise_selected)
        for signal in (
            workspace.program_changed,
            workspace.stopped,
            workspace.values_changed,
            workspace.selection_changed,
            workspace.soundness.changed,
        ):
            signal.connect(self._new_facts)
        workspace.profiler.changed.connect(self._note_profile)
        workspace.compared.connect(self._note_profile)
        self.rebuild()

    @property
    def arrays(self) -> SceneArrays:
        """Where everything is."""
        self.finish()
        return self._arrays

    @property
    def facts(self) -> OverlayState:
        """What is said about it."""
        self.finish()
        return self._facts

    @property
    def is_behind(self) -> bool:
        """Whether the scene of the last edit is still being made."""
        return self._parts is not None

    @property
    def laying_out(self) -> bool:
        """Whether a large graph has no places yet; a process is finding them."""
        return self._awaited is not None

    @property
    def area(self) -> QRectF:
        """All of the graph, scene units."""
        left, top, right, bottom = self.arrays.extent
        return QRectF(QPointF(left, top), QPointF(right, bottom))

    def box_rect(self, box: int) -> QRectF:
        return QRectF(*self.arrays.rects[box].tolist())

    def rebuild(self, changes: object = None) -> None:
        """Read the document again."""
        self.finish()
        related = are_related(self._document.graph, self.workspace.document.graph)
        self._parts = self._rebuilt(related)
        if related and len(self._arrays) >= LARGE:
            self._next_part.start()
        else:
            self.finish()

    def finish(self) -> None:
        """Make what is still to be made of the scene, now."""
        while self._parts is not None and not self._goes_on:
            self._go_on()

    def _go_on(self) -> None:
        """Make the next part of it."""
        parts = self._parts
        if parts is None or self._goes_on:
            return
        self._goes_on, is_done = True, True
        try:
            is_done = next(parts, _DONE) is _DONE
        finally:
            self._goes_on = False
            if is_done and self._parts is parts:
                self._parts = None
        if self._parts is not None:
            self._next_part.start()
        elif self._raises:
            self._raises = False
            self._raise_selected()

    def _rebuilt(self, related: bool) -> Iterator[None]:
        """Reads the document again, in parts. related: an edit led to it."""
        old, new, before = self._document, self.workspace.document, self._arrays
        self._document = new
        refolded = old.view.collapsed != new.view.collapsed
        if not related:
            self._raised = {}
            self._shown = []
        if not related or (refolded and not new.view.positions):
            self._laid = {}  # nobody arranged it: laid out anew
        drawn, visible = self._drawn, (yield from self._visible(new))
        yield
        if visible is None:
            self._show_places(EMPTY, {}, before if related else None)
            return
        if self._stands(old, new, visible):
            self._new_facts()
            return
        names = box_placement.renamed(visible, drawn)
        self._rekey_laid(names, visible, old)
        if names and self._only_renamed(new, names, drawn, visible):
            arrays = self._scene(visible, self._placed, self._arrays.middles)
            yield
            self._show_places(arrays, self._placed, before if related else None)
            return
        stay = self._stay(new, visible)
        found = {} if stay else self._laid | copied(new.view.positions)
        found |= box_placement.of_renamed(names, visible, found)
        places = self._placed if stay else self._known(visible, found)
        if not places and not box_placement.is_small(visible):
            self._lay_out_beside(self._source, lambda: visible)
            arrays = EMPTY
        else:
            self._awaited = None
            if not stay:
                if len(places) < len(visible.boxes):
                    places = box_placement.complete(visible, places, found)
                given = new.view.positions  # those are the document's, to be undone with it
                others = filterfalse(self._laid.__contains__, places)
                self._laid.update([(id, places[id]) for id in others if id not in given])
            if visible is self._arrays.visible and _are_same(places, self._placed):
                self._new_facts()
                return
            arrays = self._scene(visible, places)
        yield
        self._show_places(arrays, places, before if related else None)

    def show(self, arrays: SceneArrays) -> None:
        """Put other arrays in force: a drag does so before it becomes an edit."""
        self.finish()
        self._arrays, self._placed = arrays, {}
        self.changed.emit()

    def point_at(self, hit: Hit) -> None:
        """The mouse is over `hit`: links of which only the ends are drawn are drawn out there."""
        visible = self.arrays.visible
        found = NOTHING
        if hit.link is not None and visible.hubs.stubs[hit.link]:
            found = np.array([hit.link])
        elif hit.port is not None and hit.port.is_output:
            found = visible.hubs.at_port(hit.port.box, hit.port.index)
        if not np.array_equal(found, self._pointed):
            self._pointed = found
            self._new_facts()

    def raise_boxes(self, boxes: Sequence[int]) -> None:
        """Let boxes lie over all others, in this order."""
        if len(boxes) <= MANY and not any(map(self.arrays.is_covered, boxes)):
            return
        shown = self.arrays.visible.boxes
        for id in (shown[box].id for box in boxes):
            self._raised.pop(id, None)
            self._raised[id] = None
        self._arrays = self.arrays.with_raised(self._on_top(self.arrays.visible))
        self.changed.emit()

    def move(self, boxes: list[int], dx: float, dy: float) -> None:
        """Make a move of some boxes an edit."""
        commands.move_nodes(self.workspace, self.moved(boxes, dx, dy))

    def moved(self, boxes: Sequence[int], dx: float, dy: float) -> dict[str, Point]:
        """Where everything is once some boxes moved. All places become the document's with them,
        so that nothing else moves when it is opened again."""
        return self.moved_apart(dict.fromkeys(boxes, (dx, dy)))

    def moved_apart(self, shifts: Mapping[int, Point]) -> dict[str, Point]:
        """The same, each box by itself."""
        positions = self.places()
        for number, (dx, dy) in shifts.items():
            box = self.arrays.visible.boxes[number]
            scopes = (f"{scope}/" for scope in box.stack)
            for name in {box.id, *scopes, *box.members} & positions.keys():
                x, y = positions[name]
                positions[name] = (x + dx, y + dy)
        return positions

    def places(self) -> dict[str, Point]:
        """The centre of everything, as the document stores it."""
        positions = self._laid | copied(self.workspace.document.view.positions)
        for box in self.arrays.visible.boxes:
            positions.setdefault(box.id, (0.0, 0.0))
        return self._storable(positions)

    def arrange(self) -> None:
        """Lay the whole graph out anew, as an edit."""
        visible = self.arrays.visible
        boxes, arrows = box_placement.diagram(visible)
        self._background.run(
            lambda: layout_process.arrange(boxes, arrows),
            lambda places: self._take_arranged(visible, places),
            self.workspace.complain,
        )

    def open_scopes(self) -> None:
        """Show every operation in its own box, as an edit."""
        scope_folding.open_all(self.workspace)

    def collapse_scopes(self) -> None:
        """Show every scope as one box, as an edit."""
        scope_folding.collapse_all(self.workspace)

    def tensor(self, port: Port) -> TensorRef:
        """The tensor at an output port."""
        return TensorRef(self.arrays.visible.boxes[port.box].id, port.index)

    def wire(self, port: Port) -> Edge:
        """The wire that ends, or would end, at an input port."""
        return Edge(self.arrays.visible.boxes[port.box].id, port.index)

    def members(self, mask: np.ndarray) -> list[str]:
        """Operations in the boxes chosen by bool[n]."""
        boxes = self.arrays.visible.boxes
        return [name for i in np.flatnonzero(mask).tolist() for name in boxes[i].members]

    # -- inside ---------------------------------------------------------------------------------

    def _show_places(
        self, arrays: SceneArrays, places: dict[str, Point], before: SceneArrays | None
    ) -> None:
        """before: the arrays from which an edit led here; None from another document."""
        if before is None or len(before):
            self._left = before
        self._pointed = NOTHING
        self._facts = OverlayState(self.workspace, arrays.visible, before=self._facts)
        self.show(arrays)
        if arrays.centres is not None:
            places = arrays.centres  # which are the same; so that who asks again can tell at once
        self._placed, self._placed_by = places, (self._laid, self._document.view.positions)
        if self._source is not None and arrays.visible is self._drawn:  # it has places
            self._keep(Shown(self._source, places, arrays))
        if before is not None and len(arrays):
            left, self._left = self._left, None
            self.placed.emit() if left is None else self.replaced.emit(left)

    def _keep(self, shown: Shown) -> None:
        """As the last one, and once: who undoes and does again goes on to find the others."""
        visible, places = shown.arrays.visible, shown.places
        self._shown = [*(s for s in self._shown if not s.is_of(visible, places)), shown][-EARLIER:]

    def _restack(self) -> None:
        """Equal blocks are stacked now, or are not any more."""
        self.finish()  # which says where boxes are that there will be no more
        self._laid = {}
        self.rebuild()

    def _stay(self, new: Document, visible: VisibleGraph) -> bool:
        """Whether all boxes are those that there were, by the same numbers, and nobody said another
        place of any."""
        laid, given = self._placed_by
        same = laid is self._laid and given is new.view.positions
        return same and bool(self._placed) and visible.number is self._arrays.visible.number

    def _rekey_laid(
        self, names: Mapping[str, str], visible: VisibleGraph, before: Document
    ) -> None:
        """Have the places that layout gave go along with names: who is called so next stays where
        it is, too; the place of what was called so and is gone waits under the other name, where
        undoing finds it. names: see box_placement.renamed."""
        laid, stand = self._laid, (before.view.positions, self._document.view.positions)
        gone = [old for old in names if not any(old in each for each in (visible.number, *stand))]
        moved = [(old, names[old]) for old in gone if old in laid]
        left = {old: laid[new] for old, new in moved if new in laid}
        laid.update([(new, laid.pop(old)) for old, new in moved])
        laid.update(left)

    def _only_renamed(
        self, new: Document, names: Mapping[str, str], drawn: VisibleGraph, visible: VisibleGraph
    ) -> bool:
        """Whether boxes are called otherwise in the same places, and nobody said another place of
        any; those names have the places then."""
        laid, given = self._placed_by
        if not self._placed or laid is not self._laid or drawn is not self._arrays.visible:
            return False
        if not visible.number.keys().isdisjoint(names):
            return False
        if not box_placement.moves_none(names, new.view.positions, given):
            return False
        stood = ((now, self._placed[was]) for was, now in names.items())
        free = ((now, place) for now, place in stood if now not in new.view.positions)
        if any(self._laid.get(now, place) != place for now, place in free):
            return False
        places = self._placed = self._placed.copy()
        for old, now in names.items():
            places[now] = places.pop(old)
            if now not in new.view.positions:
                self._laid[now] = places[now]
        return True

    def _stands(self, old: Document, new: Document, visible: VisibleGraph) -> bool:
        """Whether an edit has no say in what is drawn where: a stop, an override, a breakpoint."""
        is_edit = old is not new  # else there are other places to be read
        same = is_edit and old.graph is new.graph and old.view is new.view
        return same and visible is self._arrays.visible and bool(self._placed)

    def _on_top(self, visible: VisibleGraph) -> tuple[int, ...]:
        return tuple(visible.number[id] for id in self._raised if id in visible.number)

    def _visible(self, new: Document) -> Generator[None, None, VisibleGraph | None]:
        """What is to be shown, found in parts; None while that is found out beside, together with
        its places."""
        request, collapsed = whole_request(new), self.workspace.stacks.shown_by
        was = self._source
        now = Source(self.workspace.shown, self.workspace.inference, request, collapsed)
        if was is not None and was.shows_alike(now):
            return self._drawn
        shown = next((each for each in self._shown if each.shows(now)), None)
        if shown is not None:  # undone, or done again
            self._drawn, self._source = shown.arrays.visible, shown.source
            return self._drawn
        again = None if was is None else (yield from revising(self._drawn, was, now))
        if again is not None:
            self._drawn, self._source = again
            return self._drawn
        found, self._arranged = foreseen_scene(now.graph, request, collapsed)
        if found is None:
            path = was.path if was is not None and was.asks_alike(now) else None
            draw = partial(VisibleGraph.of, now.graph, now.inference, request, collapsed, path)
            unplaced = not self._laid and not new.view.positions
            if unplaced and not box_placement.are_few(now.graph, collapsed):
                self._drawn, self._source = EMPTY.visible, None
                self._lay_out_beside(now, draw)
                return None
            found = draw()
        self._drawn, self._source = found, found.source
        return found

    def _raise_selected(self) -> None:
        """What was chosen by itself is to be seen whole."""
        if self._waits:
            self._raises = True
            return
        if len(self.workspace.selection) == 1:
            number = self.arrays.visible.box_of.get(self.workspace.selection[0])
            self.raise_boxes([] if number is None else [number])

    def _known(self, visible: VisibleGraph, found: dict[str, Point]) -> dict[str, Point]:
        """The centres of boxes that there are; found: of them and what is not visible. Where there
        are none, those that layout gave beside."""
        scene = self._arranged
        there = None if scene is None or scene.visible is not visible else scene.centres
        if there is not None and (not found or there == found):
            return there
        return box_placement.known(visible, found)

    def _scene(
        self,
        visible: VisibleGraph,
        places: dict[str, Point],
        middles: np.ndarray | None = None,
    ) -> SceneArrays:
        """Boxes in their places, and the links between them. middles: those places as numbers,
        where they are known."""
        found, raised = self._arranged, self._on_top(visible)
        self._arranged = None
        if found is not None and found.visible is visible and _are_same(found.centres, places):
            return found.with_raised(raised) if raised else found
        for shown in self._shown:
            if shown.is_of(visible, places):
                known = shown.arrays
                return known if known.raised == raised else known.with_raised(raised)
        before = self._arrays.base or self._arrays
        return SceneArrays.of(visible, places, raised, before, middles)

    @property
    def _waits(self) -> bool:
        """Whether a scene comes soon, which takes in what is said by then."""
        return self.is_behind and not self._goes_on

    def _new_facts(self) -> None:
        if self._waits:
            return
        visible = self.arrays.visible
        self._facts = OverlayState(self.workspace, visible, self._pointed, self._facts)
        self.facts_changed.emit()

    def _note_profile(self) -> None:
        """Take it in where it changes colours, which its progress does not."""
        if self._waits:
            return
        if self.facts.shares is not OverlayState(self.workspace, self.arrays.visible).shares:
            self._new_facts()

    def _lay_out_beside(self, source: Source | None, draw: Callable[[], VisibleGraph]) -> None:
        """source: what `draw` makes the visible graph of."""
        assert source is not None  # of the empty graph, which is small
        if self._awaited is not None and self._awaited.shows_alike(source):
            return

        def arrange() -> SceneArrays:
            visible = draw()
            places = layout_process.arrange(*box_placement.diagram(visible))
            found = SceneArrays.of(visible, box_placement.complete(visible, places))
            visible.find_ahead()
            assert found.extent  # the frames, too, are found while nobody waits
            return found

        def placed(found: SceneArrays) -> None:
            if source is self._awaited and found.centres is not None:
                if self._source is None:
                    self._drawn, self._source = found.visible, found.visible.source
                self._laid, self._arranged = {**found.centres}, found
                self.rebuild()

        def given_up(error: GradstepError) -> None:
            if source is self._awaited:
                self._awaited = None
            self.workspace.complain(error)

        self._awaited = source
        self._background.run(arrange, placed, given_up)

    def _take_arranged(self, visible: VisibleGraph, places: dict[str, Point]) -> None:
        if visible is self.arrays.visible:
            commands.move_nodes(self.workspace, self._storable(places))

    def _storable(self, positions: dict[str, Point]) -> dict[str, Point]:
        """Places of what the document has: operations, and scopes with their slash."""
        graph = self.workspace.shown
        return {n: p for n, p in positions.items() if n.endswith("/") or n in graph}


def _are_same(one: Mapping[str, Point] | None, other: Mapping[str, Point]) -> bool:
    return one is other or one == other
