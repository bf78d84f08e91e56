"""What a run executes when the document does not say it: all that was drawn and can run."""

from __future__ import annotations

from collections.abc import Container

from core.graph.model import Graph, Operation, TensorRef, predecessors
from core.io.document import Document
from core.ops.table import find


def run_targets(document: Document, graph: Graph, broken: Container[str]) -> tuple[str, ...]:
    """The document's targets; for one that names none, the ends of its graph.

    With something else asked for, an end beside the way to it must not disturb the run: one that
    needs a placeholder which is not fed, or updates a variable, is left out.
    """
    if document.targets:
        return tuple(name for name in document.targets if name in graph)
    ends = [op.name for op in graph if op.name not in broken and not graph.consumers[op.name]]
    asked = {ref.op for ref in (*document.request.of, *document.fetches)}
    disturbing = _disturbing(document, graph) if asked else set()
    return tuple(name for name in ends if name not in asked and name not in disturbing)


def _disturbing(document: Document, graph: Graph) -> set[str]:
    """Operations that need a placeholder without a feed, or an update of a variable."""
    fed = {TensorRef.parse(name).op for name in document.feeds}
    found: set[str] = set()
    for name in graph.order:
        op = graph[name]
        unfed = op.type == "Placeholder" and name not in fed
        if unfed or _writes(op) or any(before in found for before in predecessors(op)):
            found.add(name)
    return found


def _writes(op: Operation) -> bool:
    definition = find(op.type)
    return definition is not None and bool(definition.writes)
