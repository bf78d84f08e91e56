"""A document as Graphviz DOT text."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.autodiff.reverse.gradient_request import OverrideTable, native_name
from gradstep.core.document.document import Document
from gradstep.core.graph.loop import Loop, loop_of
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef

_HEAD = """\
  rankdir=LR;
  node [shape=box, style=rounded, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=10];
"""


def to_dot(document: Document) -> bytes:
    """The graph with its wires (control inputs dashed), overrides and stopped wires, as UTF-8."""
    lines = [*_part(document.graph, document, OverrideTable(document.request.overrides))]
    title = f"  label={_quoted(document.title)};\n" if document.title else ""
    return ("digraph gradstep {\n" + _HEAD + title + "\n".join(lines) + "\n}\n").encode()


def _part(graph: Graph, document: Document, overrides: OverrideTable) -> Iterator[str]:
    """A graph, with a box around each loop and what is in it."""
    for op in graph:
        yield _node(op, overrides)
        loop = loop_of(op)
        if loop is not None:
            yield f"  subgraph {_quoted(f'cluster {op.name}')} {{\n  label={_quoted(op.name)};"
            yield from _part(loop.graph, document, overrides)
            yield from _round(op, loop)
            yield "  }"
    for op in graph:
        for index, ref in enumerate(op.inputs):
            if ref is not None:
                yield _wire(ref, Edge(op.name, index), document)
        for name in op.control_inputs:
            yield f"  {_quoted(name)} -> {_quoted(op.name)} [style=dashed];"


def _round(op: Operation, loop: Loop) -> Iterator[str]:
    """How values come into a loop, and into its next iteration."""
    for name in loop.arguments:
        yield f"  {_quoted(op.name)} -> {_quoted(name)};"
    for name, ref in zip(loop.variables, loop.results, strict=True):
        wire = f"{_quoted(ref.op)} -> {_quoted(name)}"
        yield f'  {wire} [label="next", style=dotted, constraint=false];'


def _node(op: Operation, overrides: OverrideTable) -> str:
    label = f"{op.name}\n{op.type}"
    name = overrides.gradient_name(op)
    if name != native_name(op):
        label += f"\ngradient: {name}"
    return f"  {_quoted(op.name)} [label={_quoted(label)}];"


def _wire(ref: TensorRef, edge: Edge, document: Document) -> str:
    labels = [f":{ref.index}"] if ref.index else []
    style = ""
    if edge in document.request.stopped_edges:
        labels.append("stopped")
        style = ", arrowhead=tee"
    return f"  {_quoted(ref.op)} -> {_quoted(edge.op)} [label={_quoted(' '.join(labels))}{style}];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
