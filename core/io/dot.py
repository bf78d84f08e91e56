"""A document as Graphviz DOT text."""

from __future__ import annotations

from core.autodiff.request import gradient_name, native_name
from core.graph.model import Edge, Operation, TensorRef
from core.io.document import Document

_HEAD = """\
  rankdir=LR;
  node [shape=box, style=rounded, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=10];
"""


def to_dot(document: Document) -> bytes:
    """The graph with its wires (control inputs dashed), overrides and stopped wires, as UTF-8."""
    lines = [_node(op, document) for op in document.graph]
    for op in document.graph:
        for index, ref in enumerate(op.inputs):
            if ref is not None:
                lines.append(_wire(ref, Edge(op.name, index), document))
        lines += [
            f"  {_quoted(c)} -> {_quoted(op.name)} [style=dashed];" for c in op.control_inputs
        ]
    title = f"  label={_quoted(document.title)};\n" if document.title else ""
    return ("digraph gradstep {\n" + _HEAD + title + "\n".join(lines) + "\n}\n").encode()


def _node(op: Operation, document: Document) -> str:
    label = f"{op.name}\n{op.type}"
    name = gradient_name(op, document.request.overrides)
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
