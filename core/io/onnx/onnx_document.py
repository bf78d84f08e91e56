"""An ONNX model as a document: its operators lowered, its weights variables, its inputs fed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.message_pool import parse
from gradstep.core.io.message_weight import weigh
from gradstep.core.io.onnx.onnx_messages import message
from gradstep.core.io.onnx.onnx_model import ModelReader
from gradstep.core.io.traces.traced_document import to_document
from gradstep.core.lowering.foreign_graph import ForeignGraph

NEWEST = 28  # operator set; of a newer one what is known is read as it was


@collector_paused()
def from_onnx(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document of a model's bytes. What Gradstep cannot lower is kept, and a problem at its
    node. Raises GradstepError: FileError, or OverBudgetError."""
    try:
        graph, note = _read(data, name, budget or Budget())
    except GradstepError as error:
        raise inside(name or "the model", error, kind="FileError") from None
    document = to_document(graph, name)
    note = "\n\n".join([note, *document.note.split("\n\n")[1:]])
    return replace(document, note=note, targets=_targets(document))


def _targets(document: Document) -> tuple[str, ...]:
    """What it says that it gives, and nothing besides; all that can run, where something of the
    model cannot."""
    if any("." in op.type for op in document.graph):
        return document.targets
    return (*document.targets, *(ref.op for ref in document.fetches))


def _read(data: bytes, name: str, budget: Budget) -> tuple[ForeignGraph, str]:
    proto = message("ModelProto")()
    weigh(data, (0, len(data)), proto.DESCRIPTOR, "the model", budget)
    budget.take(len(data), "the model")
    parse(proto, data)
    if not proto.HasField("graph"):
        raise GradstepError(
            "it has no graph", kind="FileError", hint="open a model, which has operators"
        )
    return ModelReader(proto, name, budget).graph(), _note(proto)


def _note(proto: Any) -> str:
    maker = " ".join(part for part in (proto.producer_name, proto.producer_version) if part)
    by = f", written by {maker:.80}" if maker else ""
    versions = [one.version for one in proto.opset_import if one.domain in ("", "ai.onnx")]
    if versions and versions[0] > NEWEST:
        by += f"; newer than operator set {NEWEST}, the last that is known here"
    named = f" '{proto.graph.name:.80}'" if proto.graph.name else ""
    return f"An ONNX model{named}{by}; operator set {versions[0] if versions else 'not told'}."
