"""Unsupported operations that no run needs: a remark, and no problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import Document
from gradstep.core.document.requests import whole_request
from gradstep.core.graph.loop import loops_around
from gradstep.core.graph.model import Graph
from gradstep.core.graph.problems import Problem, Severity
from gradstep.core.ops.typing.inference import infer_declared

_REMARK = "nothing that is run needs it"
# What a tf.train.Saver ends in; a run of the network has no part in it.
_SAVING = frozenset(
    (
        "Save", "SaveSlices", "SaveV2", "ShardedFilename", "MergeV2Checkpoints", "Restore",
        "RestoreSlice", "RestoreV2",
    )
)  # fmt: skip


def as_remarks(problems: Iterable[Problem], program: Program, document: Document) -> list[Problem]:
    """`problems`, those of what Gradstep lacks as remarks where nothing that is run needs the
    operation: it saves variables, or is not on the way to what the document asks for. A document
    that asks for nothing is to run all that it can: of what that leaves out it is warned."""
    found = list(problems)
    if not any(map(_is_lacking, found)):
        return found
    chosen = _chosen(program, document)
    asked = [*chosen, *document.targets]
    asked += [document.init] if asked else []
    needed = program.graph.ancestors(name for name in asked if name in program.graph)
    saving = _saving(program.graph)

    def severity(problem: Problem) -> Severity:
        stopped = [*_stopped(program.forward, problem.node)]
        if any(name in needed or not (asked or name in saving) for name in stopped):
            return "error"
        return "info" if chosen or saving.issuperset(stopped) else "warning"

    judged = ((p, severity(p) if _is_lacking(p) else "error") for p in found)
    return [p if s == "error" else replace(p, severity=s, fix=_REMARK) for p, s in judged]


def _is_lacking(problem: Problem) -> bool:
    return problem.severity == "error" and problem.kind in ("UnknownOpError", "UnimplementedError")


def _chosen(program: Program, document: Document) -> list[str]:
    """The operations of what somebody has chosen to see; targets may be all ends that can run."""
    refs = (*document.fetches, *whole_request(document).of)
    threads = (n for t in program.threads for n in (*t.targets, *(r.op for r in t.fetches)))
    return [*(ref.op for ref in refs), *threads]


def _saving(graph: Graph) -> set[str]:
    """Operations that save or restore variables, and those that only such ones read."""
    found: set[str] = set()
    for name in reversed(graph.order):
        readers = {edge.op for edge in graph.consumers[name]}
        if graph[name].type in _SAVING or (readers and readers <= found):
            found.add(name)
    return found


def _stopped(graph: Graph, name: str) -> Iterator[str]:
    """What of the graph cannot run without an operation: itself, or the loop that it is in, if
    that does not go round without it."""
    if name in graph:
        yield name
    for loop in loops_around(graph, name)[:1] if name not in graph else ():
        if loop not in infer_declared(graph).types.of:
            yield loop
