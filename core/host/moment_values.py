"""What all tensors hold at two moments: of steps, runs, branches, sessions, documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.concurrency.thread_branches import ThreadBranches
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.loop_iterations import LoopView
from gradstep.core.debug.motion.branches import Branches
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.exact_place import require_place
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.loop_places import Places
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.position_text import position_text
from gradstep.core.protocol.messages import Moment


@dataclass(frozen=True, eq=False)
class Taken:
    """title: of which moment, in a few words. operations: those that have values there, in the
    order of the run; values: of each the outputs that are known, by their numbers; since: behind
    which step it holds them, -1 for a variable as the run began."""

    title: str
    operations: Sequence[Operation]
    values: Mapping[str, Mapping[int, np.ndarray]]
    since: Mapping[str, int]


def take(sessions: Sessions, moment: Moment) -> Taken:
    """All values of a moment, copied. Raises GradstepError for one that is not there, or was not
    run yet."""
    branches = branches_of(sessions, moment)
    branch = moment.branch or branches.current
    with branches.looking_at(branch) as session:
        (run, step), *inside = place = _place(branches, session, moment, branch)
        _require_run(session, run, step)
        require_place(session.plan, place)
        frame = session.frame(run, step, inside)
        operations = [*_operations(session)]
        values = {op.name: _outputs(session.plan, frame, op) for op in operations}
        since = {op.name: _since(session, op, step) for op in operations}
        for view in reversed(frame.loops):
            _require_begun(view, place)
            plan, first = view.loop.plan, max(since.values(), default=0) + 1
            inner = [plan.graph[name] for name in plan.tensors.of if name in plan.graph]
            values |= {op.name: _outputs(plan, frame, op) for op in inner}
            since |= {op.name: first + plan.step_of.get(op.name, -1) + 1 for op in inner}
            operations += inner
    there = [op for op in operations if values[op.name]]
    since = {op.name: since[op.name] for op in there}
    return Taken(_title(sessions, moment, branch, place), there, values, since)


def branches_of(sessions: Sessions, moment: Moment) -> Branches | ThreadBranches:
    """Those of the session that a moment is of. Raises GradstepError for a name that there is
    not."""
    return sessions[moment.session or sessions.current].branches


def _since(session: DebugSession, op: Operation, step: int) -> int:
    """The step that made the value which the operation stands for, once `step` steps are done."""
    plan = session.plan
    where = plan.tensors.get(TensorRef(op.name))
    if isinstance(where, str):
        return plan.made_by[plan.newest(where, step)]
    return plan.step_of.get(op.name, -1)


def _place(
    branches: Branches | ThreadBranches, session: DebugSession, moment: Moment, branch: str
) -> Places:
    """Where it stands, or was left, but for what is said."""
    run, step = branches[branch].place
    inside: Places = ()
    if branch == branches.current:
        (run, step), *inside = session.stop.place
    elsewhere = moment.run not in (-1, run)
    if moment.step >= 0:
        step, inside = moment.step, moment.inside
    elif elsewhere:
        step, inside = session.timeline.length, ()
    return [(run if moment.run < 0 else moment.run, step), *inside]


def _require_run(session: DebugSession, run: int, step: int) -> None:
    timeline = session.timeline
    timeline.require(run)
    if run >= timeline.runs or step > timeline.done(run):
        raise GradstepError(
            f"{position_text([(run, step)])} has not been run there",
            kind="NotFoundError",
            hint="run on to it first, or compare what was run",
        )


def _require_begun(view: LoopView, place: Places) -> None:
    """Raise GradstepError where a loop has not come to a place."""
    loop = view.loop
    under_way = loop.under_way(view.number)
    step = loop.length_of(view.number) if under_way is None else under_way.step
    gone = loop.count is not None and view.number > loop.count
    if gone or not loop.has_begun(view.number) or view.step > step:
        raise GradstepError(
            f"{position_text(place)} has not been run there: {loop.name} has not come to it",
            kind="NotFoundError",
            hint="run on to it first, or compare an iteration that was run",
        )


def _operations(session: DebugSession) -> Iterator[Operation]:
    graph, steps = session.program.graph, session.plan.steps
    run = {step.op.name for step in steps}
    yield from (graph[ref.op] for ref in session.program.feeds if ref.op not in run)
    yield from (step.op for step in steps)


def _outputs(plan: Plan, frame: Frame, op: Operation) -> dict[int, np.ndarray]:
    check_cancelled()
    places = plan.tensors.of.get(op.name, ())
    refs = [TensorRef(op.name, i) for i, there in enumerate(places) if there is not None]
    found = {ref.index: frame.value(ref) for ref in refs if frame.state(ref) is None}
    return {index: value for index, value in found.items() if value is not None}


def _title(sessions: Sessions, moment: Moment, branch: str, place: Places) -> str:
    """As few words as tell it from others."""
    names = []
    if len(sessions.by_name) > 1:
        names.append(moment.session or sessions.current)
    if len(branches_of(sessions, moment).all) > 1:
        names.append(branch)
    return " · ".join([*names, position_text(place)])
