"""What a run executes when the document does not say it: all that was drawn and can run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import compress
from operator import not_

from gradstep.core.debug.concurrency.thread_state import MAIN, Thread
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.requests import whole_request
from gradstep.core.document.required_python import missing_code
from gradstep.core.graph.model import Graph, TensorRef, predecessors
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.declare.table import find

_NEAR = "name an operation of this graph"


def run_targets(document: Document, graph: Graph, broken: Collection[str]) -> tuple[str, ...]:
    """The document's targets; for one that names none, the ends of what can run of its graph.

    With something else asked for, an end beside the way to it must not disturb the run: one that
    needs a placeholder which is not fed or Python that is not there, or updates a variable, is left
    out; so are those that threads run.
    """
    if document.targets:
        return tuple(name for name in document.targets if name in graph)
    beside = {name for thread in document.threads for name in (*thread.targets, thread.closes)}
    ends = [name for name in _ends(graph, broken) if name not in beside]
    asked = {ref.op for ref in (*whole_request(document).of, *document.fetches)}
    disturbing = _disturbing(document, graph) if asked else set()
    return tuple(name for name in ends if name not in asked and name not in disturbing)


def _ends(graph: Graph, broken: Collection[str]) -> Iterator[str]:
    """Operations that nothing reads, or only what cannot run."""
    if not broken:
        names = graph.operations
        yield from compress(names, map(not_, map(graph.consumers.__getitem__, names)))
        return
    for name in graph.operations:
        if name not in broken and all(edge.op in broken for edge in graph.consumers[name]):
            yield name


def missing_names(document: Document) -> list[Problem]:
    """What the document asks every run for that its graph does not have."""
    asked = {
        "target": document.targets,
        "fetch": [ref.op for ref in document.fetches],
        "initializer": [document.init] if document.init else [],
    }
    return [
        Problem("", "missing-name", f"the document's {role} '{name}' does not exist", _NEAR)
        for role, names in asked.items()
        for name in names
        if name not in document.graph
    ]


def sound_threads(document: Document, graph: Graph) -> tuple[tuple[Thread, ...], list[Problem]]:
    """The document's threads that can run, and why others cannot."""
    names, found, problems = {MAIN}, [], []
    for thread in document.threads:
        asked = [*thread.targets, *(r.op for r in thread.fetches), *filter(None, [thread.closes])]
        missing = [name for name in asked if name not in graph]
        if missing:
            text = f"thread '{thread.name}' runs '{missing[0]}', which does not exist"
            problems.append(Problem("", "thread", text, _NEAR))
        elif thread.name in names:
            text = f"there are two threads '{thread.name}'"
            problems.append(Problem("", "thread", text, "rename one"))
        else:
            names.add(thread.name)
            found.append(thread)
    return tuple(found), problems


def _disturbing(document: Document, graph: Graph) -> set[str]:
    """Operations that need a placeholder without a feed, Python that nobody has written, or an
    update of a variable."""
    calls = (asked for asked in missing_code(document) if asked.kind is CodeKind.PYFUNC)
    lacking = {name for asked in calls for name in asked.nodes}
    fed = {TensorRef.parse(name).op for name in document.feeds}
    found = {*lacking, *{*graph.by_type.get("Placeholder", ())} - fed}
    found.update(*(names for type, names in graph.by_type.items() if _writes(type)))
    for name in graph.order if found else ():
        if any(before in found for before in predecessors(graph[name])):
            found.add(name)
    return found


def _writes(type: str) -> bool:
    definition = find(type)
    return definition is not None and bool(definition.state.writes)
