"""What the document, its problems and the run say about the boxes and links that are visible."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import filterfalse
from operator import is_
from typing import Any, TypeVar

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.graph.foreign_origin import operations_by_line
from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.typing.flatten_loops import shown_as
from gradstep.core.ops.typing.missing_inputs import Waiting
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.core.protocol.messages import BrokenNumbers
from gradstep.gui.canvas.scene.box_differences import DIFFERENCE, differences_of
from gradstep.gui.canvas.scene.box_shares import Shares, shares_of
from gradstep.gui.canvas.scene.device_crossings import Crossing, find_crossings
from gradstep.gui.canvas.scene.drawn_loops import loop_titles
from gradstep.gui.canvas.scene.node_values import ROOM, NodeValues, gradient, value
from gradstep.gui.canvas.scene.override_badges import find_badges
from gradstep.gui.canvas.scene.value_pictures import ValuePicture, ValuePictures
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.canvas.scene.waiting_boxes import WaitingBoxes
from gradstep.gui.model import variable_change
from gradstep.gui.model.amended_collections import AmendedDict, AmendedSet
from gradstep.gui.model.last_step import last_step
from gradstep.gui.model.problem_rows import faults
from gradstep.gui.model.standing_node import standing_node
from gradstep.gui.model.tried_document import tried
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.variable_change import Change
from gradstep.gui.model.workspace import Workspace

T = TypeVar("T")
NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Flow:
    """A gradient that went back over a link. norm: L2; wrong: a NaN or an infinity is in it."""

    norm: float
    wrong: bool


def _broken(first: BrokenNumbers) -> str:
    """What the node that made the first of them is told to have done."""
    kind = {"nan": "NaN", "inf": "infinity"}[first.kind]
    made = "makes" if first.step else "holds"
    way = {"backward": ", in its gradient", "update": ", in its update"}.get(first.phase, "")
    return f"{made} the first {kind} of this run{way}"


class OverlayState:
    """Read once per stop, edit or selection; a new one is made for the next."""

    def __init__(
        self,
        workspace: Workspace,
        visible: VisibleGraph,
        pointed: np.ndarray = NOTHING,
        before: OverlayState | None = None,
    ) -> None:
        """pointed: int64[k], the stubs that the mouse points at. before: what was said until now:
        of that stays what follows from nothing that is new."""
        self._pointed = pointed
        self._kept: dict[str, tuple[tuple[object, ...], Any]] = (
            {} if before is None else before._kept
        )
        self._workspace = workspace
        self._visible = visible
        self._graph = workspace.shown
        space = workspace
        self._stands = visible, space.document, space.inference, space.program, space.stop
        same = before is not None and all(map(is_, before._stands, self._stands))
        # What boxes and links say by values that are all here, and so at the next selection, too.
        self._settled: dict[object, Any] = before._settled if before is not None and same else {}
        self._said: dict[object, Any] = {}  # and by values of which some are still to come

    def _keep(self, what: str, find: Callable[[], T], *follows_from: object) -> T:
        """What `find` gives; what it gave before, where it follows from the same objects."""
        key = (self._visible, *follows_from)
        known = self._kept.get(what)
        if known is None or any(a is not b for a, b in zip(known[0], key, strict=True)):
            known = self._kept[what] = (key, find())
        found: T = known[1]
        return found

    # -- boxes ---------------------------------------------------------------------------------

    @cached_property
    def current(self) -> int | None:
        """The box of the step that is executed next; of one that is folded away in a scope, that
        of the forward operation it belongs to."""
        stop = self._workspace.stop
        if stop is None or stop.reason == "end":
            return None
        number, boxes = self._visible.box_of, self._visible.boxes
        own, node = number.get(stop.op), standing_node(self._workspace)
        if own is None or node != stop.node or (boxes[own].is_scope and node in number):
            return number.get(node)
        return own

    @cached_property
    def problems(self) -> dict[int, str]:
        """Box -> what is wrong there."""
        workspace = self._workspace
        said = faults(workspace.inference.problems, workspace.program)
        stop = workspace.stop
        waits = stop is not None and stop.reason == "blocked"  # which may pass
        for error in (workspace.failure, None if stop is None or waits else stop.error):
            if error is not None and error.node:
                said.append((error.node, error.message))
        first = workspace.soundness.first
        if first is not None and first.reached:
            said.append((first.node, _broken(first)))
        return {self._visible.box_of[n]: text for n, text in said if n in self._visible.box_of}

    @cached_property
    def unfinished(self) -> Mapping[int, Waiting]:
        """Box -> what it waits for. It is drawn no further yet, and no mistake."""
        waits = self._workspace.waits
        return self._keep("unfinished", partial(WaitingBoxes, self._visible, waits), waits)

    def open_inputs(self, box: int) -> tuple[int, ...]:
        """The ports of an operation's box that have to be wired before it runs."""
        if box not in self.unfinished or self._visible.boxes[box].is_scope:
            return ()
        return tuple(i for i, ref in enumerate(self.operation(box).inputs) if ref is None)

    @cached_property
    def fresh(self) -> tuple[int, bool] | None:
        """Where the last step made something new: the box, and whether that is its gradient."""
        last = last_step(self._workspace)
        number = None if last is None else self._visible.box_of.get(last.node)
        if last is None or number is None or self._visible.boxes[number].is_scope:
            return None
        if last.phase == "update":  # which takes several steps, the write being the last of them
            found = self.update(number)
            written = None if found is None else found[0].update
            if written is None or not last.first <= written.step < last.stop:
                return None
        return number, last.phase == "backward"

    def update(self, box: int) -> tuple[TensorValue, Change] | None:
        """The value of a box's variable and what the last update changed in it, if one did."""
        op = self.operation(box)
        if self._visible.boxes[box].is_scope or op.type not in VARIABLES:
            return None
        found = self._workspace.value(str(op.output()))
        changed = variable_change.of(found)
        return None if found is None or changed is None else (found, changed)

    @cached_property
    def _request(self) -> GradientRequest:
        """What is bent, on the branch that is shown."""
        return tried(self._workspace).request

    @cached_property
    def badges(self) -> Mapping[int, str]:
        """Box -> name of the gradient that replaces the native one of an operation in it."""
        overrides, number = self._request.overrides, self._visible.box_of
        find = partial(find_badges, self._graph, number, overrides)
        return self._keep("badges", find, self._graph, overrides)

    @cached_property
    def breakpoints(self) -> dict[int, bool]:
        """Box -> whether one of its breakpoints is enabled."""
        points = self._workspace.document.breakpoints
        return self._keep("breakpoints", self._find_enabled, points)

    @cached_property
    def logpoints(self) -> frozenset[int]:
        """Those of the boxes at which nothing stops, but something is written."""
        return self._keep("logpoints", self._find_logpoints, self._workspace.document.breakpoints)

    def _find_enabled(self) -> dict[int, bool]:
        return {box: any(p.enabled for p in points) for box, points in self._points.items()}

    def _find_logpoints(self) -> frozenset[int]:
        return frozenset(b for b, points in self._points.items() if all(p.log for p in points))

    @property
    def _points(self) -> Mapping[int, Sequence[Breakpoint]]:
        """Box -> the breakpoints that are shown there."""
        return self._keep("points", self._find_points, self._workspace.document.breakpoints)

    def _find_points(self) -> dict[int, list[Breakpoint]]:
        found: dict[int, list[Breakpoint]] = {}
        points = self._workspace.document.breakpoints
        asked = any(point.kind is BreakpointKind.LINE for point in points)
        lines = operations_by_line(self._workspace.shown) if asked else {}
        for point in points:
            number = self._broken_box(point, lines)
            if number is not None:
                found.setdefault(number, []).append(point)
        return found

    def _broken_box(self, point: Breakpoint, lines: Mapping[str, Sequence[str]]) -> int | None:
        """Where a breakpoint is shown: at its operation, at the first that its line asked for, or
        at its scope while that is one box."""
        match point.kind:
            case BreakpointKind.SCOPE:
                return self._visible.number_of_scope(point.target)
            case BreakpointKind.OP | BreakpointKind.GRADIENT | BreakpointKind.WRITE:
                return self._visible.box_of.get(point.target)
            case BreakpointKind.LINE if point.target in lines:
                return self._visible.box_of.get(lines[point.target][0])
        return None

    @cached_property
    def shares(self) -> Shares | None:
        """Of what a run costs, or of what differs on another device, where the canvas is to be
        coloured by that."""
        profiler, comparisons = self._workspace.profiler, self._workspace.comparisons
        if profiler.colouring == DIFFERENCE:
            return differences_of(comparisons, self._visible) if comparisons else None
        if not profiler.colouring or profiler.measured is None:
            return None
        return shares_of(profiler.measured, self._visible, profiler.colouring)

    @cached_property
    def untaken(self) -> frozenset[int]:
        """Boxes with nothing but operations of a branch that was not taken: their values are
        dead."""
        visible = self._visible
        touched = {visible.box_of[ref.op] for ref in self._dead}
        return frozenset(
            number for number in touched if all(map(self._is_dead, visible.boxes[number].members))
        )

    @cached_property
    def _dead(self) -> frozenset[TensorRef]:
        program = self._workspace.program
        if program is None or not program.branches:
            return frozenset()
        refs = map(TensorRef.parse, program.branches)
        shown = [ref for ref in refs if ref.op in self._visible.box_of]
        values = [self._workspace.value(str(ref)) for ref in shown]
        pairs = zip(shown, values, strict=True)
        return frozenset(ref for ref, found in pairs if found is not None and found.state == "dead")

    def _is_dead(self, name: str) -> bool:
        """Whether no output of an operation is alive."""
        types = self._workspace.inference.types
        return all(x in self._dead for x in outputs_of(self._graph, types, name))

    @cached_property
    def loop_titles(self) -> dict[str, str]:
        """Of the frames of loops."""
        return loop_titles(self._workspace.program)

    @cached_property
    def selected(self) -> frozenset[int]:
        number = self._visible.box_of
        return frozenset(number[n] for n in self._workspace.selection if n in number)

    def reading(self, box: int, of_gradient: bool, room: int = ROOM) -> NodeValues:
        """What the value row, or the gradient row, of a box says in so many characters."""
        read = gradient if of_gradient else value
        find = partial(self._read, read, box, room)
        return self._say((box, of_gradient, room), find)

    def _read(
        self, read: Callable[[Workspace, Operation, int], NodeValues], box: int, room: int
    ) -> NodeValues:
        return read(self._workspace, self.operation(box), room)

    def picture(self, box: int, pictures: ValuePictures) -> ValuePicture | None:
        """The small picture of what an operation's box shows."""
        find = partial(pictures.of, self.operation(box))
        return self._say(("picture", box, pictures.are_shown), find, lambda: pictures.awaited)

    def _say(
        self, what: object, find: Callable[[], T], awaited: Callable[[], int] = lambda: 0
    ) -> T:
        """What `find` makes of values, once. awaited: of what else, how often it was not here."""
        for known in (self._settled, self._said):
            if what in known:
                found: T = known[what]
                return found
        debugger = self._workspace.debugger
        before = debugger.lacked, awaited()
        made = find()
        is_settled = before == (debugger.lacked, awaited()) and debugger.knows_this_stop
        (self._settled if is_settled else self._said)[what] = made
        return made

    def is_scope(self, box: int) -> bool:
        """Whether a box stands for a collapsed scope."""
        return self._visible.boxes[box].is_scope

    def operation(self, box: int) -> Operation:
        """The operation that a box shows; of a scope's box its first."""
        return self._graph[self._visible.boxes[box].members[0]]

    # -- links ---------------------------------------------------------------------------------

    @cached_property
    def selected_link(self) -> int | None:
        edge = self._workspace.selected_edge
        return None if edge is None else self._visible.link_of.get(edge)

    @cached_property
    def drawn_out(self) -> np.ndarray:
        """int64[k]: the numbers of stubs that are to be seen whole: those with an end that is
        selected or pointed at."""
        if not self._visible.hubs.all:
            return NOTHING
        space = self._workspace
        chosen = space.selection, space.selected_edge, self._pointed
        return self._keep("drawn out", self._find_drawn_out, *chosen)

    def _find_drawn_out(self) -> np.ndarray:
        hubs = self._visible.hubs
        chosen = np.zeros(len(self._visible.boxes), dtype=bool)
        chosen[[*self.selected]] = True
        stubs = np.flatnonzero(hubs.stubs)
        source, target = self._visible.ends[stubs].T
        found = np.zeros(len(self._visible.ends), dtype=bool)
        found[stubs] = chosen[source] | chosen[target]
        found[self._pointed] = True
        if self.selected_link is not None:
            found[self.selected_link] |= hubs.stubs[self.selected_link]
        return np.flatnonzero(found)

    @property
    def says_of_links(self) -> bool:
        """Whether there is anything to be drawn along links."""
        lines = self.dead_links, self.stopped_links, self.untaken_links
        drawn = self.selected_link is not None or len(self.drawn_out) > 0 or bool(self.carried)
        return drawn or bool(self.crossings) or any(links.any() for links in lines)

    @cached_property
    def crossings(self) -> Mapping[int, Crossing]:
        """Number of a link that leads from one device to another -> what crosses."""
        placed, types = self._workspace.placements, self._workspace.inference.types
        if not placed:
            return {}
        find = partial(find_crossings, self._graph, types, placed, self._visible.link_of)
        return self._keep("crossings", find, self._graph, types)

    @cached_property
    def stopped_links(self) -> np.ndarray:
        """bool[m]: links with a wire that the user stopped, by itself or with its whole tensor."""
        request = self._request
        stops = request.stopped_edges, request.stops
        return self._keep("stopped", self._find_stopped, self._graph, *stops)

    def _find_stopped(self) -> np.ndarray:
        request, graph = self._request, self._graph
        wires = [wire for edge in request.stopped_edges for wire in shown_as(graph, edge)]
        for ref in request.stops:
            readers = graph.consumers[ref.op] if ref.op in graph else ()
            wires += (edge for edge in readers if graph.source(edge) == ref)
        links = self._visible.link_of
        return self._flags({links[wire] for wire in wires if wire in links})

    def _flags(self, links: Iterable[int]) -> np.ndarray:
        """bool[m]: whether a link is among these (their numbers)."""
        found = np.zeros(len(self._visible.links), dtype=bool)
        found[[*links]] = True
        return found

    @cached_property
    def carried(self) -> Mapping[Edge, str]:
        """Wire -> the tensor that goes back over it."""
        return self._workspace.carried

    @cached_property
    def dead_links(self) -> np.ndarray:
        """bool[m]: links on the way from `wrt` to `of` over which no gradient comes back."""
        return self._keep("dead", self._find_dead_links, self._workspace.program)

    def _find_dead_links(self) -> np.ndarray:
        unknown = self._workspace.program is None or self._workspace.gradients_wait
        if unknown or not self._visible.links:  # as while a large graph has no places yet
            return self._flags(())
        visible, debugger = self._visible, self._workspace.debugger
        dead = {*self._find_uncarried(debugger.index.carried)} - debugger.index.waiting.keys()
        if debugger.awaits_program:
            dead = {wire for wire in dead if not debugger.is_new(wire.op)}
        links = map(visible.link_of.get, dead)
        shown = np.array([link for link in links if link is not None], dtype=np.int64)
        counts = np.bincount(shown, minlength=len(visible.links))
        return np.asarray((counts > 0) & (counts == visible.wire_counts))

    def _find_uncarried(self, carried: AmendedDict[Edge, str]) -> AmendedSet[Edge]:
        """The wires on which there may be a gradient and is none. By what an edit made of the
        earlier ones: to look for each of thousands takes a while."""
        path = self._visible.on_path
        known: Any = self._kept.get("uncarried", ())  # that of an edit, and that before it
        found: AmendedSet[Edge] | None
        found = next((f for (p, c), f in known if p is path and c is carried), None)
        if found is None and not known:
            found = AmendedSet(filterfalse(carried.__contains__, path))
        elif found is None:
            (path_before, carried_before), before = known[0]
            others = path.differing(path_before) | carried.differing(carried_before)
            now = {wire for wire in others if wire in path and wire not in carried}
            found = before.flip(now.symmetric_difference(filter(before.has, others)))
        self._kept["uncarried"] = ((path, carried), found), *known[:1]
        return found

    @cached_property
    def untaken_links(self) -> np.ndarray:
        """bool[m]: links that carry what is dead, or wait for it."""
        found: set[int] = set()
        for number, link in enumerate(self._visible.links if self._dead else ()):
            sources = [self._graph.source(edge) for edge in link.wires]
            dead = sources and all(source in self._dead for source in sources)
            if dead or (link.is_control and link.source in self.untaken):
                found.add(number)
        return self._flags(found)

    def why_dead(self, link: int) -> str:
        """The reason that the engine gives, for this wire or for one that it depends on."""
        program = self._workspace.program
        blocked = [] if program is None else program.blocked
        wires = self._visible.links[link].wires
        own = next((b.why for b in blocked if Edge(b.op, b.index) in wires), "")
        if own:
            return own
        after = self._graph.takers(*(edge.op for edge in wires))
        ends = [b for b in blocked if b.op in after]
        return "; ".join(f"it ends at {b.op}: {b.why}" for b in ends[:2])

    def flow(self, link: int) -> Flow | None:
        """What went back over a link up to now; None if nothing did."""
        return self._say(link, partial(self._find_flow, link))

    def _find_flow(self, link: int) -> Flow | None:
        names = [self.carried[e] for e in self._visible.links[link].wires if e in self.carried]
        parts = [self._workspace.value(name) for name in names]
        stats = [p.stats for p in parts if p is not None and p.state == "known"]
        if not stats:
            return None
        norm = math.hypot(*(s.norm or 0.0 for s in stats if s is not None))
        wrong = any(s is not None and bool(s.nans or s.infs) for s in stats)
        # NaN is not equal to itself, and each such link would be painted at every stop.
        return Flow(norm if math.isfinite(norm) else math.inf, wrong)
