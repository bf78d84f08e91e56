"""The gradients that an imported graph holds, as a part of its program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradstep.core.autodiff.recognition.imported_request import find_written_variables
from gradstep.core.autodiff.recognition.recognised_gradients import answer_request
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError, only_errors_of_ours
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.program.training_updates import first_entries


def add_imported_gradients(
    program: Program, document: Document, previous: Program | None
) -> Program:
    """`program`, and the gradients that its graph makes by itself; those that are derived come
    first. previous: the program before an edit, which knows them if it left the graph alone."""
    found = [*_found(program, document, previous)]
    if not found:
        return program
    graph = program.graph
    for one in found:
        graph = _with_views(graph, one.graph)
    derived = [*_shown(program, found)]
    wanted = [one.gradients.get(ref) for one in found for ref in one.request.wrt]
    edges = first_entries(d.edges for d in derived)
    blocked = first_entries(d.blocked for d in derived)
    return replace(
        program,
        graph=graph,
        derived=(*program.derived, *found),
        request=program.request if program.request.of else _asked(program, found[0]),
        gradients=first_entries(d.gradients for d in derived),
        slices=first_entries(d.slices for d in derived),
        edges=edges,
        blocked={edge: why for edge, why in blocked.items() if edge not in edges},
        fetches=tuple(dict.fromkeys((*program.fetches, *(ref for ref in wanted if ref)))),
        slots={**_slots(program.forward), **program.slots},
    )


def _shown(program: Program, found: Sequence[Differentiation]) -> Iterator[Differentiation]:
    """The first of each thing that was differentiated: what is derived anew, with stops perhaps,
    stands for what the graph has."""
    known: set[tuple[TensorRef, ...]] = set()
    for one in (*program.derived, *found):
        if one.of not in known:
            known.add(one.of)
            yield one


def _found(
    program: Program, document: Document, previous: Program | None
) -> Iterator[Differentiation]:
    before = previous.derived if previous is not None else ()
    same = previous is not None and previous.forward is program.forward
    known = {d.imported: d for d in before if d.imported} if same else {}
    for one in document.imported:
        if one.scope in known:
            yield known[one.scope]
            continue
        try:
            with only_errors_of_ours(f"the gradients in '{one.scope}' could not be recognised"):
                found = answer_request(program.forward, one)
        except GradstepError:
            continue  # of an operation on the way, which says what is wrong with it, or in the log
        if found.edges:
            yield found


def _asked(program: Program, found: Differentiation) -> GradientRequest:
    """What the graph itself has asked for, bent as the document asks for it."""
    asked = found.request
    return replace(program.request, of=asked.of, wrt=asked.wrt, grad_ys=asked.grad_ys)


def _with_views(graph: Graph, found: Graph) -> Graph:
    """`graph` with what was added to the imported one, each behind what it stands behind there."""
    if all(name in graph for name in found.operations):
        return graph
    behind: dict[str, list[Operation]] = {}
    last = ""
    for op in found:
        if op.name in graph:
            last = op.name
        else:
            behind.setdefault(last, []).append(op)
    return Graph.of(each for op in graph for each in (op, *behind.get(op.name, ())))


def _slots(graph: Graph) -> dict[str, tuple[str, ...]]:
    """Variable -> what its update gives new values beside it."""
    updates = (find_written_variables(op, graph) for op in graph if op.phase is Phase.UPDATE)
    return {names[0]: tuple(names[1:]) for names in updates if len(names) > 1}
