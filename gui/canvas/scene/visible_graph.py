"""What of a graph is visible: one box per operation or collapsed scope, and the links between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple
from weakref import ref as weak

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import Edge, Graph, Operation
from gradstep.core.graph.scopes import parents
from gradstep.core.graph.stacked_blocks import stacks_in
from gradstep.core.ops.typing.inference import Inference
from gradstep.gui.canvas.scene.drawn_loops import Rounds, drawn_loops
from gradstep.gui.canvas.scene.gradient_path import NO_PATH, GradientPath
from gradstep.gui.canvas.scene.hubs import Hubs, find_hubs
from gradstep.gui.canvas.scene.scene_boxes import Box, Boxes, declared_outputs, scope_box
from gradstep.gui.canvas.scene.scope_frames import Framing, surroundings
from gradstep.gui.model.amended_collections import AmendedSet

NOTHING: Mapping[str, str] = MappingProxyType({})
_TYPE, _WIRES = attrgetter("type"), attrgetter("wires")


class Link(NamedTuple):
    """A drawn line from output port `out` of box number `source` to input port `into` of box
    number `target`; `wires` are the edges it stands for (none for a control input)."""

    source: int
    out: int
    target: int
    into: int
    wires: tuple[Edge, ...]

    @property
    def is_control(self) -> bool:
        return not self.wires


@dataclass(frozen=True, eq=False)
class Source:
    """What a visible graph is made of. collapsed: scope -> the one that the box which shows it is
    called after (gradstep.core.graph.stacked_blocks); path: where there may be a gradient; whole:
    every wire comes from an operation that is there."""

    graph: Graph
    inference: Inference
    request: GradientRequest
    collapsed: Mapping[str, str]
    path: GradientPath = NO_PATH
    whole: bool = False

    @property
    def passed(self) -> AmendedSet[str]:
        """The operations with a gradient at all."""
        return self.path.passed

    def asks_alike(self, other: Source) -> bool:
        """Whether there may be a gradient in the same places."""
        return self.inference is other.inference and self._is_like(other)

    def shows_alike(self, other: Source) -> bool:
        """Whether the same is visible."""
        return self.collapsed == other.collapsed and self._is_like(other)

    def _is_like(self, other: Source) -> bool:
        """Whether graph and request are the same; but for stops and overrides, which are facts
        about links and boxes."""
        mine, others = self.request, other.request
        return self.graph is other.graph and (mine.of, mine.wrt) == (others.of, others.wrt)


Origin = tuple["weak[VisibleGraph]", np.ndarray]


@dataclass(frozen=True, eq=False)
class VisibleGraph:
    """box_of: operation -> number of the box that shows it; on_path: see GradientPath.wires. Links
    are in the order of their targets; after them those of scopes, then control inputs. origin: the
    graph from which an edit led here, and the number that each link had there, int64[m], -1 for
    none."""

    boxes: tuple[Box, ...] = ()
    links: tuple[Link, ...] = ()
    box_of: Mapping[str, int] = field(default_factory=dict)
    on_path: AmendedSet[Edge] = NO_PATH.wires
    source: Source | None = None
    origin: Origin | None = None

    @cached_property
    def number(self) -> Mapping[str, int]:
        """Box id -> its number."""
        if self.source is not None and not self.source.collapsed:
            return self.box_of
        return {box.id: i for i, box in enumerate(self.boxes)}

    def numbers_in(self, before: VisibleGraph) -> np.ndarray | None:
        """The number that each link has in another graph, int64[m], -1 for none; None where no edit
        leads from the one to the other, or back."""
        if self.origin is not None and self.origin[0]() is before:
            return self.origin[1]
        if before.origin is None or before.origin[0]() is not self:
            return None
        numbers, found = before.origin[1], np.full(len(self.links), -1)
        kept = np.flatnonzero(numbers >= 0)
        found[numbers[kept]] = kept
        return found

    def number_of_scope(self, scope: str) -> int | None:
        """Of the box that shows a collapsed scope, by itself or in a stack."""
        shown_by = None if self.source is None else self.source.collapsed.get(scope)
        return None if shown_by is None else self.number.get(f"{shown_by}/")

    @cached_property
    def kinds(self) -> np.ndarray:
        """int8[n]: index into KINDS of each box."""
        return np.array([box.kind for box in self.boxes], dtype=np.int8)

    @cached_property
    def rows(self) -> np.ndarray:
        """int64[n]: how many rows each box has, for a value and a gradient."""
        return np.array([box.has_value + box.has_gradient for box in self.boxes], dtype=np.int64)

    @cached_property
    def port_counts(self) -> np.ndarray:
        """int64[n, 2]: number of outputs and of inputs of each box."""
        return _table(2, ((box.outputs, box.inputs) for box in self.boxes))

    @cached_property
    def declared(self) -> np.ndarray:
        """int64[n]: how many outputs each box has by the declaration of its operation's type."""
        return np.fromiter(map(_DeclaredOutputs().__getitem__, map(_TYPE, self.boxes)), np.int64)

    @cached_property
    def ends(self) -> np.ndarray:
        """int64[m, 2]: source and target box of each link."""
        return self._joints[:, ::2]

    @cached_property
    def end_ports(self) -> np.ndarray:
        """int64[m, 2]: output port of the source and input port of the target."""
        return self._joints[:, 1::2]

    @cached_property
    def link_of(self) -> Mapping[Edge, int]:
        """Wire -> the number of the link that stands for it."""
        if self.source is not None and not self.source.collapsed:
            return SingleLinks(self)
        return {wire: i for i, link in enumerate(self.links) for wire in link.wires}

    @cached_property
    def _joints(self) -> np.ndarray:
        """int64[m, 4]: source, out, target and into of each link."""
        return _table(4, (link[:4] for link in self.links))

    @cached_property
    def control(self) -> np.ndarray:
        """bool[m]: links of control inputs."""
        return ~np.fromiter(map(bool, map(_WIRES, self.links)), dtype=bool, count=len(self.links))

    @property
    def wired(self) -> int:
        """How many links carry something; those of control inputs come after them."""
        return int(np.count_nonzero(~self.control))

    @cached_property
    def wire_counts(self) -> np.ndarray:
        """int64[m]: how many wires each link stands for."""
        if self.source is not None and not self.source.collapsed:
            return (~self.control).astype(np.int64)
        return np.fromiter(map(len, map(_WIRES, self.links)), np.int64, len(self.links))

    @cached_property
    def hubs(self) -> Hubs:
        """Where too many links meet to be drawn whole."""
        return find_hubs(self)

    @cached_property
    def surroundings(self) -> list[tuple[str, ...]]:
        """The scopes and iterations around each box, the outermost first."""
        graph = self.source.graph if self.source is not None else Graph()
        return surroundings(graph, [(box.id, box.members[0]) for box in self.boxes])

    @cached_property
    def loops(self) -> Mapping[str, Rounds]:
        """Those whose iterations are shown."""
        return {} if self.source is None else drawn_loops(self.source.graph, self.box_of)

    @cached_property
    def framing(self) -> Framing:
        """What may get a frame."""
        return Framing(self.surroundings)

    def find_ahead(self) -> None:
        """Find what the first picture asks for, where that keeps nobody waiting."""
        for name in _ASKED_FIRST:
            getattr(self, name)

    @classmethod
    def of(
        cls,
        graph: Graph,
        inference: Inference,
        request: GradientRequest,
        collapsed: Mapping[str, str] = NOTHING,
        path: GradientPath | None = None,
    ) -> VisibleGraph:
        """The graph with scopes as boxes; collapsed, path: as of Source, where that is known."""
        members, stacks = _members(graph, collapsed), stacks_in(collapsed)
        numbers = ((name, i) for i, names in enumerate(members.values()) for name in names)
        number = dict(numbers) if collapsed else graph.places
        path = path or GradientPath.of(graph, inference, request)
        make = Boxes(graph, inference, request, path.passed)
        boxes = tuple(
            scope_box(id, [graph[name] for name in names], stacks.get(id[:-1], ()))
            if id.endswith("/")
            else make.box(graph[id])
            for id, names in members.items()
        )
        links = _bundled(graph, number, boxes) if collapsed else single_links(graph, number)
        source = Source(graph, inference, request, collapsed, path, whole=not graph.readers[1])
        every = (*links, *control_links(graph, number))
        return cls(boxes, every, number, path.wires, source)


_ASKED_FIRST = (
    "framing",
    "hubs",
    "control",
    "wire_counts",
    "port_counts",
    "rows",
    "declared",
    "kinds",
    "number",
    "link_of",
)


class _DeclaredOutputs(dict[str, int]):
    """Op type -> how many outputs it has by its declaration."""

    def __missing__(self, type: str) -> int:
        self[type] = declared_outputs(type)
        return self[type]


class SingleLinks(Mapping[Edge, int]):
    """Wire -> the number of its link, where each wire has one: found among those of its target."""

    def __init__(self, visible: VisibleGraph) -> None:
        self._box_of, self._links, self._wired = visible.box_of, visible.links, visible.wired
        targets = visible.ends[: self._wired, 1]
        self._first = np.searchsorted(targets, np.arange(len(visible.boxes) + 1)).tolist()

    def __getitem__(self, wire: Edge) -> int:
        box = self._box_of[wire.op]
        for number in range(self._first[box], self._first[box + 1]):
            if self._links[number].into == wire.index:
                found: int = number
                return found
        raise KeyError(wire)

    def __iter__(self) -> Iterator[Edge]:
        return (link.wires[0] for link in self._links[: self._wired])

    def __len__(self) -> int:
        return self._wired


def _members(graph: Graph, collapsed: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    """Box id -> the operations in it."""
    if not collapsed:
        return {name: (name,) for name in graph.operations}
    members: dict[str, list[str]] = {}
    for name in graph.operations:
        members.setdefault(box_id(name, collapsed), []).append(name)
    return members


def _table(width: int, rows: Iterable[tuple[int, ...]]) -> np.ndarray:
    return np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, width)


def box_id(name: str, collapsed: Mapping[str, str]) -> str:
    """Of the box that shows an operation."""
    return next((f"{collapsed[scope]}/" for scope in parents(name) if scope in collapsed), name)


def single_links(operations: Iterable[Operation], number: Mapping[str, int]) -> list[Link]:
    """The wires into operations, each by itself."""
    links: list[Link] = []
    for op in operations:
        target = number[op.name]
        for index, ref in enumerate(op.inputs):
            source = None if ref is None else number.get(ref.op)
            if ref is not None and source is not None and ref.op != op.name:
                links.append(Link(source, ref.index, target, index, (Edge(op.name, index),)))
    return links


def _bundled(graph: Graph, number: Mapping[str, int], boxes: Sequence[Box]) -> list[Link]:
    """The wires between boxes; of a scope those to the same box as one link."""
    links: list[Link] = []
    bundles: dict[tuple[int, int], list[Edge]] = {}
    for link in single_links(graph, number):
        source, _, target, _, wires = link
        if boxes[source].is_scope or boxes[target].is_scope:
            if source != target:
                bundles.setdefault((source, target), []).extend(wires)
        else:
            links.append(link)
    return links + [Link(a, 0, b, 0, tuple(wires)) for (a, b), wires in bundles.items()]


def control_links(graph: Graph, number: Mapping[str, int]) -> list[Link]:
    """One between each two boxes of which one waits for the other."""
    waiting = [op for op in graph if op.control_inputs]
    pairs = [
        (number[n], number[op.name]) for op in waiting for n in op.control_inputs if n in number
    ]
    return [Link(a, 0, b, 0, ()) for a, b in dict.fromkeys(pairs) if a != b]
