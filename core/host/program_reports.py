"""The engine's own records as the messages that the window understands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, repeat
from operator import is_, itemgetter

from gradstep.core.checks.why.finiteness_survey import Surveyor
from gradstep.core.data.opened_data import OpenedData
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.thread_branches import ThreadBranches
from gradstep.core.debug.concurrency.thread_state import ThreadState
from gradstep.core.debug.history.batches import Batches
from gradstep.core.debug.history.branch_record import Branch, ThreadPlace
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.frozen_program import Program, named
from gradstep.core.debug.history.loop_iterations import LoopView
from gradstep.core.debug.history.run_lineage import lineage
from gradstep.core.debug.motion.branches import Branches
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_builder import Whereabouts
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.host.retold import Told
from gradstep.core.host.retold_gradients import retell_entries, retell_rows
from gradstep.core.host.step_words import Telling, loop_plans
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.missing_inputs import find_waiting
from gradstep.core.persistent.joined_sequence import in_parts
from gradstep.core.program.race_problems import problems_of
from gradstep.core.program.runnable_part import held_up
from gradstep.core.protocol.branch_queries import StandInfo
from gradstep.core.protocol.error_records import info_of, info_of_problem
from gradstep.core.protocol.messages import (
    BlockedEdge,
    BranchInfo,
    BrokenNumbers,
    DataInfo,
    EdgeGradient,
    LoopInfo,
    LoopPlace,
    LoopShown,
    LossInfo,
    ProgramInfo,
    StepInfo,
    Stopped,
    ThreadInfo,
)

_LOOPS = 200  # of which is told which iteration is looked at
_OPERATION = itemgetter(0)  # of a TensorRef


def _step(step: Step, tensors: Whereabouts | None) -> StepInfo:
    """tensors: what a plan has for each output; None for one that it has not."""
    op, there = step.op, enumerate(tensors or ())
    return StepInfo(
        op=op.name,
        type=op.type,
        phase=op.phase.value,
        origin=owner(op),
        outputs=[f"{op.name}:{i}" for i, found in there if found is not None],
        writes=_writes(op),
    )


def program_info(session: DebugSession, told: Told | None = None) -> ProgramInfo:
    """What the window shows of the program that `session` runs. Gradients that no step computes
    are left out: nothing would ever be known of them, but what they wait for, if they do. A part
    that cannot be told is a problem, and the rest is there. told: of the programs before it."""
    told = told or Told()
    program, plan, backend = session.program, session.plan, session.backend
    told.begin()
    told.follow(plan)
    telling = Telling()
    waits = telling.part("what waits", partial(find_waiting, program.graph, program.feeds)) or {}
    races = telling.part("which races there are", partial(problems_of, session))
    listed = telling.listed
    loops = listed("what loops do", partial(_loops, program, plan, told))
    held = listed("what gradients wait for", partial(held_up, program.gradients, waits))
    edges = listed("what wires wait for", partial(held_up, program.edges, waits))
    losses = listed("what is differentiated", partial(_losses, program, plan, told))
    return ProgramInfo(
        steps=_steps(plan, told),
        loops=loops,
        gradients=_gradients(program.gradients, plan, told),
        rows=[str(ref) for ref in program.slices],
        edges=_edges(program.edges, plan, told),
        waiting={str(ref): why for ref, why in held},
        waiting_edges=[BlockedEdge(op=e.op, index=e.index, why=why) for e, why in edges],
        blocked=[
            BlockedEdge(op=edge.op, index=edge.index, why=end.text)
            for edge, end in program.blocked.items()
        ],
        custom=dict(program.custom),
        slots=told.keep("slots", program.slots, _lists),
        problems=[
            info_of_problem(p)
            for p in (*(program.problems if races is None else races), *telling.problems)
        ],
        device=backend.name,
        measured=backend.measured,
        source=backend.source,
        branches=[str(ref) for ref in plan.alive],
        rates=[str(ref) for ref in program.rates],
        losses=losses,
        data=data_info(program.batches),
    )


def _lists(slots: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {name: [*names] for name, names in slots.items()}


def _gradients(
    gradients: Mapping[TensorRef, TensorRef], plan: Plan, told: Told, loss: str = ""
) -> dict[str, str]:
    """Those that a step computes, of a run or of an iteration. loss: whose they are, if there are
    several."""
    name = "gradients", loss

    def tell() -> dict[str, str]:
        columns = [*gradients], [*gradients.values()], _anywhere(gradients.values(), plan)
        return dict(filter(None, told.tell(name, _gradient, *columns)))

    def each(ref: TensorRef, held: TensorRef) -> tuple[str, str] | None:
        return _gradient(ref, held, plan.tensors.of.get(held.op))

    def retell(
        then: Mapping[TensorRef, TensorRef], said: dict[str, str], flipped: Collection[TensorRef]
    ) -> dict[str, str] | None:
        return retell_entries(said, then, gradients, each, flipped)

    return told.say(name, gradients, tell, retell)


def _edges(
    edges: Mapping[Edge, TensorRef], plan: Plan, told: Told, loss: str = ""
) -> Sequence[EdgeGradient]:
    """The same for wires."""
    name = "edges", loss

    def tell() -> Sequence[EdgeGradient]:
        columns = [*edges], [*edges.values()], _tensors(edges.values(), plan)
        return in_parts([*filter(None, told.tell(name, _edge, *columns))])

    def each(edge: Edge, held: TensorRef) -> EdgeGradient | None:
        return _edge(edge, held, plan.tensors.of.get(held.op))

    def retell(
        then: Mapping[Edge, TensorRef], said: Sequence[EdgeGradient], flipped: Collection[TensorRef]
    ) -> Sequence[EdgeGradient] | None:
        return retell_rows(said, then, edges, each, flipped)

    return told.say(name, edges, tell, retell)


def _anywhere(held: Iterable[TensorRef], plan: Plan) -> list[Whereabouts | None]:
    """Likewise, in the iterations of loops as well."""
    found = _tensors(refs := [*held], plan)
    if not any(map(is_, found, repeat(None))):
        return found
    inside: dict[str, Whereabouts] = {}
    for each in loop_plans(plan):
        inside.update(each.tensors.of)
    return [inside.get(ref.op) if at is None else at for ref, at in zip(refs, found, strict=True)]


def _tensors(held: Iterable[TensorRef], plan: Plan) -> list[Whereabouts | None]:
    """Where the outputs are of the operations that make these."""
    return [*map(plan.tensors.of.get, map(_OPERATION, held))]


def _gradient(
    ref: TensorRef, held: TensorRef, tensors: Whereabouts | None
) -> tuple[str, str] | None:
    return (str(ref), str(held)) if _is_there(held, tensors) else None


def _edge(edge: Edge, held: TensorRef, tensors: Whereabouts | None) -> EdgeGradient | None:
    if not _is_there(held, tensors):
        return None
    return EdgeGradient(op=edge.op, index=edge.index, gradient=str(held))


def _is_there(ref: TensorRef, tensors: Whereabouts | None) -> bool:
    """Whether a plan has it. tensors: what that has for the outputs of its operation."""
    return tensors is not None and ref.index < len(tensors) and tensors[ref.index] is not None


def _losses(program: Program, plan: Plan, told: Told) -> Iterator[LossInfo]:
    """Those of which runs compute gradients, if there are several."""
    for name, one in named(program.derived) if len(program.derived) > 1 else ():
        gradients = _gradients(one.gradients, plan, told, name)
        if gradients:
            edges = _edges(one.edges, plan, told, name)
            yield LossInfo(of=name, gradients=gradients, edges=edges)


def data_info(batches: Batches | None) -> DataInfo:
    """The document's data, in numbers."""
    if not isinstance(batches, OpenedData):
        return DataInfo()
    training, validation, test = batches.training, batches.validation, batches.test
    return DataInfo(
        rows=len(training.rows),
        held=0 if validation is None else len(validation.rows),
        tested=0 if test is None else len(test.rows),
        batch=training.batch,
        per_epoch=batches.per_epoch,
    )


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
        first=session.timeline.first,
        phase=stop.phase.value if stop.phase else "",
        node=stop.node,
        op=stop.op,
        text="" if here is None else Telling().step(session.program, here).text,
        inside=[_place(place) for place in stop.inside],
        error=None if stop.error is None else info_of(stop.error),
        legal=[str(command) for command in stop.legal],
        recorded_bytes=stop.recorded_bytes,
        recorded_limit=stop.recorded_limit,
        threads=[] if len(states) == 1 else [_thread_info(state) for state in states],
        batch=stop.batch,
        branches=branch_infos(threads.branches),
        loops=[*islice(_shown(session, session.view(), session.plan), _LOOPS)],
        lineage=lineage(session.plan, session.changes, session.branches.edits),
    )


def _shown(
    session: DebugSession, view: Frame, plan: Plan, around: tuple[Operation, ...] = ()
) -> Iterator[LoopShown]:
    """Which iterations are looked at, of the loops of a plan and of those inside them."""
    for number in plan.loops:
        step = plan.steps[number]
        if step.iteration is None:
            continue
        way = (*around, step.op)
        yield _loop_shown(step.op, view.view_of(way), step.op.name in session.chosen.numbers)
        yield from _shown(session, view, step.iteration.plan, way)


def _loop_shown(op: Operation, found: LoopView | None, chosen: bool) -> LoopShown:
    if found is None:
        return LoopShown(loop=op.name, chosen=chosen)
    count = found.loop.count
    reached = found.loop.reached[0] + 1 if count is None else count
    taking_place = -1 if count is None else count
    return LoopShown(
        loop=op.name,
        iteration=found.number,
        reached=reached,
        iterations=taking_place,
        chosen=chosen,
    )


def branch_infos(branches: Branches | ThreadBranches) -> list[BranchInfo]:
    """All of them, in the order in which they were made; none where there is but the first."""
    found = branches.all
    return [] if len(found) == 1 else [_branch_info(b, branches.current) for b in found]


def _branch_info(branch: Branch, current: str) -> BranchInfo:
    run, step = branch.place
    return BranchInfo(
        name=branch.name,
        parent=branch.parent,
        run=branch.run,
        step=branch.step,
        op=branch.op,
        text=branch.words,
        at_run=run,
        at_step=step,
        current=branch.name == current,
        edits=[(edit.kind, [*edit.names]) for edit in branch.edits],
        left=[*map(_stand_info, branch.left)],
        stands=sorted(map(_stand_info, branch.stands), key=lambda s: s.thread != branch.thread),
    )


def _stand_info(place: ThreadPlace) -> StandInfo:
    return StandInfo(place.thread, *place.place[0])


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


def _place(place: Place) -> LoopPlace:
    return LoopPlace(
        loop=place.loop,
        iteration=place.iteration,
        step=place.step,
        length=place.length,
        iterations=-1 if place.iterations is None else place.iterations,
        text=place.text,
    )


def _loops(program: Program, plan: Plan, told: Told, around: str = "") -> Iterator[LoopInfo]:
    """The loops of a plan, each followed by those in it."""
    for step in map(plan.steps.__getitem__, plan.loops):
        if step.iteration is not None:
            inner, name = step.iteration.plan, step.op.name
            split = step.iteration.split
            yield LoopInfo(
                loop=name,
                around=around,
                split=split,
                steps=_steps(inner, told, name),
                condition=Telling().condition(program, step.op),
            )
            yield from _loops(program, inner, told, name)


def _steps(plan: Plan, told: Told, loop: str = "") -> Sequence[StepInfo]:
    """Those of a plan, or of an iteration of a loop."""
    if not loop:
        return told.tell_steps(_step, plan)
    return told.tell(("steps", loop), _step, plan.steps, plan.whereabouts)


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
