"""The engine's own records as the messages that the window understands."""

from __future__ import annotations

from functools import lru_cache

from core.autodiff.notation import Notation
from core.debug.program import Program
from core.debug.session import DebugSession
from core.debug.stop import Stop
from core.engine.groups import owner
from core.engine.plan import Plan
from core.graph.model import Operation
from core.host.failures import info_of, info_of_problem
from core.host.messages import BlockedEdge, EdgeGradient, ProgramInfo, StepInfo, Stopped
from core.ops.table import find


def program_info(session: DebugSession) -> ProgramInfo:
    """What the window shows of the program that `session` runs. Gradients that no step computes
    are left out: nothing would ever be known of them."""
    program, plan, backend = session.program, session.plan, session.backend
    return ProgramInfo(
        steps=_steps(program, plan),
        gradients={
            str(ref): str(gradient)
            for ref, gradient in program.gradients.items()
            if gradient in plan.tensors
        },
        rows=[str(ref) for ref in program.slices],
        edges=[
            EdgeGradient(op=edge.op, index=edge.index, gradient=str(gradient))
            for edge, gradient in program.edges.items()
            if gradient in plan.tensors
        ],
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
    )


def stopped(session: DebugSession, stop: Stop) -> Stopped:
    """Where `session` stands, with the next step in words."""
    steps = session.plan.steps
    here = steps[stop.step].op if stop.step < len(steps) else None
    return Stopped(
        reason=str(stop.reason),
        run=stop.run,
        step=stop.step,
        runs=stop.runs,
        phase=stop.phase,
        node=stop.node,
        op=stop.op,
        text="" if here is None else _notation(session.program).step(here),
        error=None if stop.error is None else info_of(stop.error),
        legal=[str(command) for command in stop.legal],
        recorded_bytes=stop.recorded_bytes,
        recorded_limit=stop.recorded_limit,
    )


@lru_cache(maxsize=2)
def _notation(program: Program) -> Notation:
    return Notation(program.graph, program.request.of, program.gradients, program.edges)


def _steps(program: Program, plan: Plan) -> list[StepInfo]:
    notation = _notation(program)
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
