"""What of a graph is visible: one box per operation or collapsed scope, and the links between."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from core.autodiff.request import GradientRequest, gradient_name, native_name
from core.graph.model import PYTHON_OPS, Edge, Graph, Operation, Phase, TensorRef
from core.graph.scopes import parents
from core.ops.infer import Inference
from core.ops.table import find

# Stripe of a node's title row: the theme colour of its family.
KINDS = ("muted", "update", "forward", "backward", "override")
INPUT, VARIABLE, COMPUTE, GRADIENT, CUSTOM = range(len(KINDS))
_INPUTS = frozenset({"Placeholder", "PlaceholderWithDefault", "Const"})
_VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp"})


@dataclass(frozen=True, slots=True)
class Box:
    """An operation, or a collapsed scope: then `id` ends in "/" and `members` lie inside.

    kind: index into KINDS; inputs, outputs: number of ports; has_value, has_gradient: whether it
    has a row for each; open_inputs: ports without a wire; variadic: the last port adds an input.
    """

    id: str
    type: str
    kind: int
    inputs: int
    outputs: int
    has_value: bool
    has_gradient: bool
    members: tuple[str, ...]
    open_inputs: frozenset[int] = frozenset()

    @property
    def is_scope(self) -> bool:
        return self.id.endswith("/")


@dataclass(frozen=True, slots=True)
class Link:
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
class VisibleGraph:
    """box_of: operation -> number of the box that shows it; on_path: see gradient_path;
    badges: box -> name of the gradient that replaces the native one of an operation in it."""

    boxes: tuple[Box, ...] = ()
    links: tuple[Link, ...] = ()
    box_of: Mapping[str, int] = field(default_factory=dict)
    on_path: frozenset[Edge] = frozenset()
    badges: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def number(self) -> dict[str, int]:
        """Box id -> its number."""
        return {box.id: i for i, box in enumerate(self.boxes)}

    @cached_property
    def kinds(self) -> np.ndarray:
        """int8[n]: index into KINDS of each box."""
        return np.array([box.kind for box in self.boxes], dtype=np.int8)

    @cached_property
    def port_counts(self) -> np.ndarray:
        """int64[n, 2]: number of outputs and of inputs of each box."""
        return _table([(box.outputs, box.inputs) for box in self.boxes])

    @cached_property
    def ends(self) -> np.ndarray:
        """int64[m, 2]: source and target box of each link."""
        return _table([(link.source, link.target) for link in self.links])

    @cached_property
    def end_ports(self) -> np.ndarray:
        """int64[m, 2]: output port of the source and input port of the target."""
        return _table([(link.out, link.into) for link in self.links])

    @cached_property
    def control(self) -> np.ndarray:
        """bool[m]: links of control inputs."""
        return np.array([not link.wires for link in self.links], dtype=bool)

    @classmethod
    def of(
        cls,
        graph: Graph,
        inference: Inference,
        request: GradientRequest,
        collapsed: Collection[str] = (),
    ) -> VisibleGraph:
        """The graph with each scope of `collapsed` as one box."""
        members: dict[str, list[str]] = {}
        for op in graph:
            members.setdefault(_box_id(op.name, collapsed), []).append(op.name)
        number = {name: i for i, names in enumerate(members.values()) for name in names}
        path = gradient_path(graph, inference, request)
        passed = {e.op for e in path} | {_source(graph, e).op for e in path}
        boxes = tuple(
            _scope_box(id, names)
            if id.endswith("/")
            else _operation_box(graph[id], graph, inference, request, id in passed)
            for id, names in members.items()
        )
        links = tuple(_links(graph, number, boxes))
        return cls(boxes, links, number, path, _badges(graph, number, request))


def _badges(graph: Graph, number: Mapping[str, int], request: GradientRequest) -> dict[int, str]:
    changed = [op for op in graph if request.overrides or op.gradient_op_type]
    named = ((op, gradient_name(op, request.overrides)) for op in changed)
    return {number[op.name]: name for op, name in named if name != native_name(op)}


def _table(rows: list[tuple[int, int]]) -> np.ndarray:
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def gradient_path(graph: Graph, inference: Inference, request: GradientRequest) -> frozenset[Edge]:
    """The wires on some way from `request.wrt` to `request.of` that can carry a gradient at all;
    stops and missing gradients are not looked at."""
    wrt = {ref.op for ref in request.wrt if ref.op in graph}
    found: set[Edge] = set()
    reached = set(wrt)
    stack = list(wrt)
    while stack:
        for edge in graph.consumers[stack.pop()]:
            kind = inference.types.get(_source(graph, edge))
            if kind is None or kind.dtype.is_differentiable:
                found.add(edge)
                if edge.op not in reached:
                    reached.add(edge.op)
                    stack.append(edge.op)
    needed = graph.ancestors(ref.op for ref in request.of if ref.op in graph)
    return frozenset(edge for edge in found if edge.op in needed)


def _source(graph: Graph, edge: Edge) -> TensorRef:
    ref = graph.source(edge)
    assert ref is not None  # consumers and paths name wired inputs only
    return ref


def _box_id(name: str, collapsed: Collection[str]) -> str:
    return next((f"{scope}/" for scope in parents(name) if scope in collapsed), name)


def _scope_box(id: str, members: list[str]) -> Box:
    count = f"{len(members)} op{'s' if len(members) > 1 else ''}"
    return Box(id, count, COMPUTE, 1, 1, False, False, tuple(members))


def _operation_box(
    op: Operation, graph: Graph, inference: Inference, request: GradientRequest, passed: bool
) -> Box:
    definition = find(op.type)
    spare = definition is not None and definition.lists == 1 and definition.inputs[-1].variadic
    outputs = _output_count(op, graph, inference)
    ports = len(op.inputs) + spare
    return Box(
        op.name,
        op.type,
        _kind(op, request),
        ports,
        outputs,
        outputs > 0,
        passed,
        (op.name,),
        frozenset(i for i in range(ports) if op.inputs[i : i + 1] in ((), (None,))),
    )


def _output_count(op: Operation, graph: Graph, inference: Inference) -> int:
    """As typed; for an op that could not be typed as declared, and at least what is used."""
    count = 0
    while TensorRef(op.name, count) in inference.types:
        count += 1
    if count:
        return count
    definition = find(op.type)
    used = (_source(graph, edge).index + 1 for edge in graph.consumers[op.name])
    return max([len(definition.outputs) if definition else 0, *used])


def _kind(op: Operation, request: GradientRequest) -> int:
    if op.type in _INPUTS:
        return INPUT
    if op.type in _VARIABLES or op.phase is Phase.UPDATE or op.type.startswith("Apply"):
        return VARIABLE
    if op.type in PYTHON_OPS:
        return CUSTOM
    from_loss = any(ref.op == op.name for ref in request.of)
    return GRADIENT if from_loss or op.phase is Phase.BACKWARD else COMPUTE


def _links(graph: Graph, number: Mapping[str, int], boxes: tuple[Box, ...]) -> list[Link]:
    links: list[Link] = []
    scopes = {i for i, box in enumerate(boxes) if box.is_scope}
    bundles: dict[tuple[int, int], list[Edge]] = {}
    controls: dict[tuple[int, int], None] = {}
    for op in graph:
        target = number[op.name]
        for index, ref in enumerate(op.inputs):
            if ref is None or ref.op not in number or number[ref.op] == target:
                continue
            source = number[ref.op]
            if source in scopes or target in scopes:
                bundles.setdefault((source, target), []).append(Edge(op.name, index))
            else:
                links.append(Link(source, ref.index, target, index, (Edge(op.name, index),)))
        for name in op.control_inputs:
            if name in number and number[name] != target:
                controls[number[name], target] = None
    links.extend(Link(a, 0, b, 0, tuple(wires)) for (a, b), wires in bundles.items())
    links.extend(Link(a, 0, b, 0, ()) for a, b in controls)
    return links
