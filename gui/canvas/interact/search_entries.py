"""The entries of the canvas's search menu: ops to add, wired at once, and ends for a wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from gradstep.core.document.retyping import why_not_type
from gradstep.core.document.wire_completion import first_fit
from gradstep.core.graph.loop import anywhere, graph_around, tensor_carried, within
from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.layers.block_table import all_blocks
from gradstep.core.ops.declare.op_subjects import catalogue, family_title, subject_title
from gradstep.core.ops.declare.op_successors import SUCCESSORS, names_of
from gradstep.core.ops.declare.table import OpDef, all_ops, lookup
from gradstep.gui import commands
from gradstep.gui.canvas.interact.search_menu import Entry
from gradstep.gui.canvas.scene.input_names import input_name
from gradstep.gui.canvas.scene.scene_arrays import Point
from gradstep.gui.canvas.scene.wire_compatibility import Wiring
from gradstep.gui.model.workspace import Workspace

_VALUED = ("Const", "Placeholder", "VariableV2")


def operations(workspace: Workspace, at: Point) -> list[Entry]:
    """Every op type, to be added at a point of the scene."""
    types = [_entry(d, partial(commands.add_node, workspace, d.type, at)) for d in _catalogue()]
    return types + _blocks(workspace, at)


def readers(workspace: Workspace, at: Point, source: TensorRef) -> list[Entry]:
    """Op types that can read `source`, to be added and wired to it."""
    kind = workspace.inference.types.get(source)
    types = [
        _entry(d, partial(commands.add_node, workspace, d.type, at, source=source))
        for d in _catalogue()
        if first_fit(d, kind) is not None
    ]
    return types + _blocks(workspace, at, source)


def makers(workspace: Workspace, at: Point, edge: Edge) -> list[Entry]:
    """Op types with an output, to be added and wired into `edge`; first what has a value of its
    own."""

    def entry(definition: OpDef) -> Entry:
        return _entry(definition, lambda: commands.add_source(workspace, definition.type, at, edge))

    first = [replace(entry(lookup(type)), groups=()) for type in _VALUED]
    return first + [entry(d) for d in _catalogue() if d.outputs and d.type not in _VALUED]


def between(workspace: Workspace, at: Point, edge: Edge) -> list[Entry]:
    """Op types that can read what the wire at `edge` carries, to be put into it."""
    source = workspace.shown.source(edge)
    kind = workspace.inference.types.get(source) if source is not None else None
    return [
        _entry(d, partial(commands.insert_node, workspace, d.type, at, edge))
        for d in _catalogue()
        if d.outputs and first_fit(d, kind) is not None
    ]


def starts(workspace: Workspace, op: Operation) -> list[Entry]:
    """Tensors of the graph that the open inputs of `op` may take: wiring by keyboard."""
    found: list[Entry] = []
    for edge in (Edge(op.name, i) for i, ref in enumerate(op.inputs) if ref is None):
        wiring = Wiring(workspace.document.graph, workspace.inference, edge)
        name = input_name(workspace.shown, edge)
        found += [
            Entry(
                f"{source.short} → {name}",
                "",
                f"Connect {source.short} to input '{name}' of {op.name}.",
                partial(commands.connect, workspace, source, edge),
            )
            for source in workspace.inference.types
            if wiring.refusal(source, edge) is None
        ]
    return found


def ends(workspace: Workspace, source: TensorRef) -> list[Entry]:
    """Inputs of the graph's operations that may take `source`: wiring by keyboard."""
    graph = workspace.document.graph
    wiring = Wiring(graph, workspace.inference)
    return [
        Entry(
            f"{edge.op} · {name}",
            "" if tensor_carried(graph, edge) is None else "replaces its wire",
            f"Connect {source.short} to input '{name}' of {edge.op}.",
            partial(commands.connect, workspace, source, edge),
        )
        for edge, name in _inputs(workspace)
        if wiring.refusal(source, edge) is None
    ]


def others(workspace: Workspace, op: Operation) -> list[Entry]:
    """Op types that can stand in the place of `op`, with all its wires."""
    document, types = workspace.document, workspace.inference.types
    own = anywhere(document.graph, op.name)
    return [
        _entry(d, partial(commands.change_type, workspace, op.name, d.type))
        for d in _catalogue()
        if d.type != op.type and not why_not_type(document, own, d, types)
    ]


def forerunners(workspace: Workspace, op: Operation) -> list[Entry]:
    """Operations that `op` could run after, without taking anything from them."""
    graph = graph_around(workspace.document.graph, op.name)
    after = graph.descendants(op.name)
    return [
        Entry(
            other.name,
            other.type,
            f"Run {op.name} only after {other.name} has run.",
            partial(commands.add_control, workspace, op.name, other.name),
        )
        for other in graph
        if other.name not in op.control_inputs and other.name not in after
    ]


def _inputs(workspace: Workspace) -> Iterator[tuple[Edge, str]]:
    for op in within(workspace.document.graph):
        for index in range(len(op.inputs)):
            yield Edge(op.name, index), input_name(workspace.shown, Edge(op.name, index))


def _catalogue() -> Iterator[OpDef]:
    import gradstep.core.ops.catalogue  # noqa: F401 - declares every op

    for families in catalogue(all_ops()).values():
        for definitions in families.values():
            yield from definitions


def _blocks(workspace: Workspace, at: Point, source: TensorRef | None = None) -> list[Entry]:
    """Composite blocks; they read `source`, else what is selected."""
    return [
        Entry(
            b.name,
            "block",
            b.doc,
            partial(commands.begin_block, workspace, b.name, at, source),
            ("blocks", family_title(b.family)),
        )
        for b in all_blocks()
    ]


def _entry(definition: OpDef, choose: Callable[[], object]) -> Entry:
    newer = SUCCESSORS.get(definition.type, "")
    lines = definition.doc, definition.formula, newer and f"TensorFlow uses {newer} in its place."
    return Entry(
        definition.type,
        family_title(definition.family),
        "\n".join(filter(None, lines)),
        choose,
        (subject_title(definition.subject), family_title(definition.family)),
        names_of(definition),
        bool(newer),
    )
