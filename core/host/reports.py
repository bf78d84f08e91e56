"""The engine's own records as the messages that the window understands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from core.autodiff.notation import Notation
from core.debug.place import Place
from core.debug.program import Program, named
from core.debug.session import DebugSession
from core.debug.thread import ThreadState
from core.debug.threads import Threads
from core.engine.groups import owner
from core.engine.plan import Plan
from core.graph.model import Edge, Operation, TensorRef
from core.host.failures import info_of, info_of_problem
from core.host.messages import (
    BlockedEdge,
    EdgeGradient,
    LoopInfo,
    LoopPlace,
    LossInfo,
    ProgramInfo,
    StepInfo,
    Stopped,
    ThreadInfo,
)
from core.ops.opened import opened
from core.ops.table import find


def program_info(session: DebugSession) -> ProgramInfo:
    """What the window shows of the program that `session` runs. Gradients that no step computes
    are left out: nothing would ever be known of them."""
    program, plan, backend = session.program, session.plan, session.backend
    return ProgramInfo(
        steps=_steps(_notation(program), plan),
        loops=[*_loops(_notation(program), plan)],
        gradients=_gradients(program.gradients, plan),
        rows=[str(ref) for ref in program.slices],
        edges=_edges(program.edges, plan),
        blocked=[
            BlockedEdge(op=edge.op, index=edge.index, why=why)
            for edge, why in program.blocked.items()
        ],
        custom=dict(program.custom),
        slots={name: list(slots) for name, slots in program.slots.items()},
        problems=[info_of_problem(problem) for problem in program.problems],
        device=backend.name,
        measured=backend.measured,
        source=backend.source,
        branches=[str(ref) for ref in plan.alive],
        losses=[*_losses(program, plan)],
    )


def _gradients(gradients: Mapping[TensorRef, TensorRef], plan: Plan) -> dict[str, str]:
    return {str(ref): str(held) for ref, held in gradients.items() if held in plan.tensors}


def _edges(edges: Mapping[Edge, TensorRef], plan: Plan) -> list[EdgeGradient]:
    return [
        EdgeGradient(op=edge.op, index=edge.index, gradient=str(held))
        for edge, held in edges.items()
        if held in plan.tensors
    ]


def _losses(program: Program, plan: Plan) -> Iterator[LossInfo]:
    """Those of which runs compute gradients, if there are several."""
    for name, one in named(program.derived) if len(program.derived) > 1 else ():
        gradients = _gradients(one.gradients, plan)
        if gradients:
            yield LossInfo(of=name, gradients=gradients, edges=_edges(one.edges, plan))


def stopped(threads: Threads) -> Stopped:
    """Where the current thread stands, with its next step in words, and the others."""
    session, stop = threads.session, threads.stop
    here = session.next_op
    states = threads.states
    return Stopped(
        reason=str(stop.reason),
        run=stop.run,
        step=stop.step,
        runs=stop.runs,
        phase=stop.phase,
        node=stop.node,
        op=stop.op,
        text="" if here is None else _notation(session.program).step(here),
        inside=[_place(place) for place in stop.inside],
        error=None if stop.error is None else info_of(stop.error),
        legal=[str(command) for command in stop.legal],
        recorded_bytes=stop.recorded_bytes,
        recorded_limit=stop.recorded_limit,
        threads=[] if len(states) == 1 else [_thread_info(state) for state in states],
    )


@lru_cache(maxsize=2)
def _notation(program: Program) -> Notation:
    graph = opened(program.graph)
    if len(program.derived) < 2:
        return Notation(graph, program.request.of, program.gradients, program.edges)
    first, *others = program.derived
    return Notation(graph, first.of, first.gradients, first.edges, others=others)


def _place(place: Place) -> LoopPlace:
    return LoopPlace(
        loop=place.loop,
        iteration=place.iteration,
        step=place.step,
        length=place.length,
        iterations=-1 if place.iterations is None else place.iterations,
        text=place.text,
    )


def _loops(notation: Notation, plan: Plan, around: str = "") -> Iterator[LoopInfo]:
    """The loops of a plan, each followed by those in it."""
    for step in plan.steps:
        if step.iteration is not None:
            inner, name = step.iteration.plan, step.op.name
            steps = _steps(notation, inner)
            yield LoopInfo(loop=name, around=around, split=step.iteration.split, steps=steps)
            yield from _loops(notation, inner, name)


def _steps(notation: Notation, plan: Plan) -> list[StepInfo]:
    outputs: dict[str, list[str]] = {step.op.name: [] for step in plan.steps}
    for ref in sorted(plan.tensors, key=lambda ref: ref.index):
        if ref.op in outputs:
            outputs[ref.op].append(str(ref))
    return [
        StepInfo(
            op=op.name,
            type=op.type,
            phase=op.phase.value,
            origin=owner(op),
            text=notation.step(op),
            outputs=outputs[op.name],
            writes=_writes(op),
        )
        for op in (step.op for step in plan.steps)
    ]


def _writes(op: Operation) -> bool:
    definition = find(op.type)
    return definition is not None and bool(definition.writes)


def _thread_info(state: ThreadState) -> ThreadInfo:
    return ThreadInfo(
        name=state.name,
        condition=str(state.condition),
        text=state.text,
        run=state.run,
        step=state.step,
        steps=state.steps,
        op=state.op,
        current=state.current,
    )
