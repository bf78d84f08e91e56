"""The engine's own records as the messages that the window understands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import TypeVar

from gradstep.core.autodiff.notation.step_notation import Notation
from gradstep.core.checks.why.finiteness_survey import Surveyor
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.thread_state import ThreadState
from gradstep.core.debug.history.frozen_program import Program, named
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.ops.typing.missing_inputs import find_waiting
from gradstep.core.program.race_problems import problems_of
from gradstep.core.program.runnable_part import held_up
from gradstep.core.protocol.error_records import info_of, info_of_problem
from gradstep.core.protocol.messages import (
    BlockedEdge,
    BrokenNumbers,
    EdgeGradient,
    LoopInfo,
    LoopPlace,
    LossInfo,
    ProgramInfo,
    StepInfo,
    Stopped,
    ThreadInfo,
)

T = TypeVar("T")


def program_info(session: DebugSession) -> ProgramInfo:
    """What the window shows of the program that `session` runs. Gradients that no step computes
    are left out: nothing would ever be known of them, but what they wait for, if they do. A part
    that cannot be told is a problem, and the rest is there."""
    program, plan, backend = session.program, session.plan, session.backend
    telling = Telling(lambda: _notation(program))
    waits = telling.part("what waits", partial(find_waiting, program.graph, program.feeds)) or {}
    races = telling.part("which races there are", partial(problems_of, session))
    listed = telling.listed
    steps, loops = _steps(telling, plan), listed("what loops do", partial(_loops, telling, plan))
    held = listed("what gradients wait for", partial(held_up, program.gradients, waits))
    edges = listed("what wires wait for", partial(held_up, program.edges, waits))
    losses = listed("what is differentiated", partial(_losses, program, plan))
    return ProgramInfo(
        steps=steps,
        loops=loops,
        gradients=_gradients(program.gradients, plan),
        rows=[str(ref) for ref in program.slices],
        edges=_edges(program.edges, plan),
        waiting={str(ref): why for ref, why in held},
        waiting_edges=[BlockedEdge(op=e.op, index=e.index, why=why) for e, why in edges],
        blocked=[
            BlockedEdge(op=edge.op, index=edge.index, why=why)
            for edge, why in program.blocked.items()
        ],
        custom=dict(program.custom),
        slots={name: list(slots) for name, slots in program.slots.items()},
        problems=[
            info_of_problem(p)
            for p in (*(program.problems if races is None else races), *telling.problems)
        ],
        device=backend.name,
        measured=backend.measured,
        source=backend.source,
        branches=[str(ref) for ref in plan.alive],
        losses=losses,
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


def report_stop(threads: Scheduler) -> Stopped:
    """Where the current thread stands, with its next step in words, and the others."""
    session, stop = threads.session, threads.stop
    here = session.next_op
    states = threads.states
    return Stopped(
        reason=stop.reason.value,
        run=stop.run,
        step=stop.step,
        runs=stop.runs,
        phase=stop.phase.value if stop.phase else "",
        node=stop.node,
        op=stop.op,
        text="" if here is None else Telling(lambda: _notation(session.program)).step(here),
        inside=[_place(place) for place in stop.inside],
        error=None if stop.error is None else info_of(stop.error),
        legal=[str(command) for command in stop.legal],
        recorded_bytes=stop.recorded_bytes,
        recorded_limit=stop.recorded_limit,
        threads=[] if len(states) == 1 else [_thread_info(state) for state in states],
    )


def broken_numbers(surveyor: Surveyor, run: int, seconds: float) -> BrokenNumbers:
    """What is known of NaN and infinity in a run once it was looked through for so long."""
    found = surveyor.look(run, seconds)
    first, later = found.first, None if found.first_nan is found.first else found.first_nan
    if first is None:
        return BrokenNumbers(run=run, complete=found.complete)
    return BrokenNumbers(
        run=run,
        complete=found.complete,
        kind=first.kind,
        op=first.op.name,
        tensor=str(first.tensor),
        node=owner(first.op),
        phase=first.op.phase.value,
        step=first.step + 1,
        position=f"{run}:{first.step + 1}",
        nan_node="" if later is None else owner(later.op),
        nan_phase="" if later is None else later.op.phase.value,
        nodes=len(found.nodes),
        reached=found.reached,
    )


class Telling:
    """What steps do, in words, and what else there is to tell of a program. What cannot be told is
    a problem, at its node where it has one, and no more."""

    def __init__(self, notation: Callable[[], Notation]) -> None:
        self._notation = notation
        self.problems: list[Problem] = []

    def step(self, op: Operation) -> str:
        """The step of `op`; its type and name where it cannot be told."""
        text = self.part(f"what {op.type} does", lambda: self._notation().step(op), op.name)
        return f"{op.type} {op.name}" if text is None else text

    def listed(self, what: str, tell: Callable[[], Iterable[T]]) -> list[T]:
        """What `tell` tells as a list; nothing where it cannot."""
        return self.part(what, lambda: [*tell()]) or []

    def part(self, what: str, tell: Callable[[], T], node: str | None = None) -> T | None:
        """What `tell` tells, of an operation if one is named; None where it cannot."""
        try:
            return tell()
        except GradstepError as error:  # an attribute that is missing: the step will say so
            wrong = error if node is None else error.at(node)
        except Exception as error:
            wrong = unforeseen(f"{what} could not be told", error, node)
        self.problems.append(replace(Problem.of(wrong, "notation"), severity="warning"))
        return None


@lru_cache(maxsize=2)
def _notation(program: Program) -> Notation:
    graph = flatten_loops(program.graph)
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


def _loops(telling: Telling, plan: Plan, around: str = "") -> Iterator[LoopInfo]:
    """The loops of a plan, each followed by those in it."""
    for step in plan.steps:
        if step.iteration is not None:
            inner, name = step.iteration.plan, step.op.name
            steps = _steps(telling, inner)
            yield LoopInfo(loop=name, around=around, split=step.iteration.split, steps=steps)
            yield from _loops(telling, inner, name)


def _steps(telling: Telling, plan: Plan) -> list[StepInfo]:
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
            text=telling.step(op),
            outputs=outputs[op.name],
            writes=_writes(op),
        )
        for op in (step.op for step in plan.steps)
    ]


def operands(program: Program, name: str) -> dict[str, str]:
    """What stands for a tensor in the words of an operation's step -> that tensor. Nothing for an
    operation that is not in the program."""
    notation = _notation(program)
    if name not in notation.graph:
        return {}
    said = notation.sentence(notation.graph[name]).operands
    return {text: str(ref) for text, ref in said.items()}


def _writes(op: Operation) -> bool:
    definition = find(op.type)
    return definition is not None and bool(definition.state.writes)


def _thread_info(state: ThreadState) -> ThreadInfo:
    return ThreadInfo(
        name=state.name,
        condition=state.condition.value,
        text=state.text,
        run=state.run,
        step=state.step,
        steps=state.steps,
        op=state.op,
        current=state.current,
    )
