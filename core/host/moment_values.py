"""What all tensors hold at two moments: of steps, runs, branches, sessions, documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.concurrency.thread_branches import ThreadBranches
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.motion.branches import Branches
from gradstep.core.debug.motion.debug_session import DebugSession
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
        run, step = _place(branches, session, moment, branch)
        _require_run(session, run, step)
        frame = session.frame(run, step)
        operations = [*_operations(session)]
        values = {op.name: _outputs(session, frame, op) for op in operations}
    there = [op for op in operations if values[op.name]]
    since = {op.name: _since(session, op, step) for op in there}
    return Taken(_title(sessions, moment, branch, run, step), there, values, since)


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
) -> tuple[int, int]:
    """Where it stands, or was left, but for what is said."""
    run, step = branches[branch].place
    if branch == branches.current:
        run, step = session.stop.run, session.stop.step
    elsewhere = moment.run not in (-1, run)
    if moment.step >= 0:
        step = moment.step
    elif elsewhere:
        step = session.timeline.length
    return (run if moment.run < 0 else moment.run), step


def _require_run(session: DebugSession, run: int, step: int) -> None:
    timeline = session.timeline
    timeline.require(run)
    if run >= timeline.runs or step > timeline.done(run):
        raise GradstepError(
            f"{position_text([(run, step)])} has not been run there",
            kind="NotFoundError",
            hint="run on to it first, or compare what was run",
        )


def _operations(session: DebugSession) -> Iterator[Operation]:
    graph, steps = session.program.graph, session.plan.steps
    run = {step.op.name for step in steps}
    yield from (graph[ref.op] for ref in session.program.feeds if ref.op not in run)
    yield from (step.op for step in steps)


def _outputs(session: DebugSession, frame: Frame, op: Operation) -> dict[int, np.ndarray]:
    check_cancelled()
    places = session.plan.tensors.of.get(op.name, ())
    refs = [TensorRef(op.name, i) for i, there in enumerate(places) if there is not None]
    found = {ref.index: frame.value(ref) for ref in refs if frame.state(ref) is None}
    return {index: value for index, value in found.items() if value is not None}


def _title(sessions: Sessions, moment: Moment, branch: str, run: int, step: int) -> str:
    """As few words as tell it from others."""
    names = []
    if len(sessions.by_name) > 1:
        names.append(moment.session or sessions.current)
    if len(branches_of(sessions, moment).all) > 1:
        names.append(branch)
    return " · ".join([*names, position_text([(run, step)])])
