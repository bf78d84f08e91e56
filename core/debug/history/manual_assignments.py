"""Giving variables and tensors other values between two steps, by hand or from another session."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.debug.history.injection_target import Target, find_target
from gradstep.core.debug.history.iteration_target import find_inside, view_at
from gradstep.core.debug.motion.stopped_state import Reason, Stop
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.loop_places import Places
from gradstep.core.engine.run.variable_map import fits, require_fitting, variables
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, unknown_name
from gradstep.core.graph.splat_array import folded_bytes
from gradstep.core.part_digest import digest
from gradstep.core.position_text import position_text

if TYPE_CHECKING:
    from gradstep.core.debug.motion.debug_session import DebugSession
    from gradstep.core.engine.plan.execution_plan import Plan


InnerPlace = tuple[int, int, str]  # iteration, step, and the operation that comes then


@dataclass(frozen=True, eq=False)
class Assignment:
    """What variables and tensors ("w", "a:0") were given, where: in which run, after how many steps
    and before which operation ("" at the end of the run). words: the same for people; "" where it
    needs none. inside: where that operation runs a loop, in which iteration of it, after how many
    steps and before which operation, and so on in loops inside that."""

    run: int
    step: int
    op: str
    values: Mapping[str, np.ndarray]
    words: str = ""
    inside: tuple[InnerPlace, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Of the values, one after the other, whatever they were given to."""
        return digest(part for value in self.values.values() for part in _parts(np.asarray(value)))

    @property
    def at(self) -> tuple[int, ...]:
        """The place, to be compared with others of the same plan."""
        return place_of(self.run, self.step, [(number, step) for number, step, _ in self.inside])

    def step_in(self, plan: Plan) -> int:
        """After how many steps of a plan that an edit may have made another."""
        length = len(plan.steps)
        return plan.step_of.get(self.op, length) if self.op else length

    def inside_in(self, plan: Plan) -> Places | None:
        """The place in loops of such a plan; None where it has none."""
        return inside_in(plan, self.step_in(plan), self.inside)


def _parts(array: np.ndarray) -> tuple[str, str | bytes]:
    """By which an array's numbers are known again."""
    has_text = array.dtype.hasobject
    data = repr(array.tolist()) if has_text else folded_bytes(array)
    return f"{array.dtype} {array.shape}", data


def place_of(run: int, step: int, inside: Places = ()) -> tuple[int, ...]:
    """A place as one tuple: what comes later is greater."""
    return run, step, *(number for pair in inside for number in pair)


def inside_in(plan: Plan, step: int, inside: Sequence[InnerPlace]) -> Places | None:
    """The place in the loop that is step number `step` of a plan, which an edit may have made
    another; None where that is no such loop."""
    found: list[tuple[int, int]] = []
    for number, at, op in inside:
        loop = plan.steps[step].iteration if step < len(plan.steps) else None
        if loop is None:
            return None
        plan = loop.plan
        step = plan.step_of.get(op, min(at, len(plan.steps))) if op else len(plan.steps)
        found.append((number, step))
    return found


def inner_places(plan: Plan, step: int, inside: Places) -> tuple[InnerPlace, ...]:
    """The same place, with the operations that come next there."""
    found: list[InnerPlace] = []
    for number, at in inside:
        loop = plan.steps[step].iteration
        assert loop is not None
        plan, step = loop.plan, at
        found.append((number, at, plan.op_after(at)))
    return tuple(found)


def assign(sessions: Sequence[DebugSession], values: Mapping[str, np.ndarray]) -> None:
    """Give variables other values where the sessions stand, all or none; the line of runs goes on
    with them. sessions: the threads of one session; each takes what it has to do with.

    Raises GradstepError for what is no variable or does not fit it, and where steps after this
    one have been executed: they would not follow from what was before them any more."""
    there = variables(sessions[0].program.graph)
    parts: dict[DebugSession, dict[str, np.ndarray]] = {}
    for name, value in values.items():
        if name not in there:
            raise unknown_name(name, there)
        require_fitting(there[name], value)
        parts.setdefault(concerned(sessions, there[name]), {})[name] = value
    for session in parts:
        require_outside(session)
        require_newest(session)
    for session, part in parts.items():
        here = session.stop.run, session.stop.step
        _give(session, {n: find_target(session, n, here) for n in part}, part, here)


def give(
    session: DebugSession,
    values: Mapping[str, np.ndarray],
    at: tuple[int, int],
    words: str = "",
    inside: Places = (),
) -> None:
    """Give variables and tensors other values after a step of the last run, all or none; what hangs
    on them, and is done already behind there, is done again. inside: the place in the loop that
    comes next, which stands there. Raises GradstepError for what cannot be given there."""
    _give(session, find_fitting(session, values, at, inside), values, at, words, inside)


def give_in_thread(
    session: DebugSession,
    values: Mapping[str, np.ndarray],
    words: str = "",
    possible: bool = False,
) -> Stop:
    """Give a thread's variables and tensors other values where it stands, at its newest step; what
    others share of that, they see. possible: those that can be given; else all or none. Raises
    GradstepError for what cannot be, and where steps behind this one have been executed, by this
    thread, perhaps for others."""
    stop, timeline = session.stop, session.timeline
    here, *inside = stop.place
    require_newest(session, "go on to the thread's newest step: what others saw of it stays")
    if timeline.link.is_amid_work:
        raise GradstepError(
            "the next step waits, and has done a part of its work with what is there",
            kind="FailedPreconditionError",
            hint="let others go on until it is done, and give the value behind it",
        )
    find = _find_possible if possible else find_fitting
    targets = find(session, values, here, inside)
    _give(session, targets, {name: values[name] for name in targets}, here, words, inside)
    return stop


def find_fitting(
    session: DebugSession,
    values: Mapping[str, np.ndarray],
    at: tuple[int, int],
    inside: Places = (),
) -> dict[str, Target]:
    """What is to be given each of the values, after a step of a run, or at a place in a loop.
    Raises GradstepError for what cannot be."""
    if inside:
        view = view_at(session.timeline, *at, inside)
        targets = {name: find_inside(session.timeline, name, view) for name in values}
    else:
        targets = {name: find_target(session, name, at) for name in values}
    for name, value in values.items():
        targets[name].require_fitting(value)
    return targets


def _find_possible(
    session: DebugSession,
    values: Mapping[str, np.ndarray],
    at: tuple[int, int],
    inside: Places,
) -> dict[str, Target]:
    """The same of those that can be given."""
    targets = dict[str, Target]()
    for name, value in values.items():
        with contextlib.suppress(GradstepError):
            targets |= find_fitting(session, {name: value}, at, inside)
    return targets


def give_possible(session: DebugSession, change: Assignment, at: tuple[int, int]) -> None:
    """Make a change again, of which an edit may have made a part impossible, or its place in a
    loop: that is remembered."""
    timeline, inside = session.timeline, change.inside_in(session.plan)
    if inside is None or (inside and not timeline.go_inside(at[1], inside)):
        timeline.changes.append(replace(change, run=at[0], step=at[1]))
        return
    targets = _find_possible(session, change.values, at, inside)
    _give(session, targets, change.values, at, change.words, inside)


def _give(
    session: DebugSession,
    targets: Mapping[str, Target],
    values: Mapping[str, np.ndarray],
    at: tuple[int, int],
    words: str = "",
    inside: Places = (),
) -> None:
    timeline, (run, step) = session.timeline, at
    if inside:
        there = ((t.index, values[n]) for n, t in targets.items() if t.index is not None)
        timeline.give_inside(step, inside, {i: session.backend.put(x) for i, x in there})
    else:
        for name, target in targets.items():
            array = session.backend.put(values[name])
            newest = timeline.done(run) == step
            if target.index is None or (target.variable is not None and newest):
                timeline.assign({target.storage: array})
            else:
                timeline.give(target.index, array, step)
            if target.fed is not None:
                timeline.feed_on(step, target.fed, values[name])
    op, places = session.plan.op_after(step), inner_places(session.plan, step, inside)
    timeline.changes.append(Assignment(run, step, op, dict(values), words, places))


def concerned(sessions: Sequence[DebugSession], variable: Operation) -> DebugSession:
    """The first of the threads whose program has to do with a variable."""
    name = storage_name(variable)
    return next((s for s in sessions if name in s.plan.versions), sessions[0])


def repeat(change: Assignment, session: DebugSession) -> bool:
    """Make the change in a session of the program after an edit, in its place; false where it was
    paused on the way there, or a step failed."""
    step, inside = change.step_in(session.plan), change.inside_in(session.plan) or ()
    stop = session.run_to(position_text([(change.run, step), *inside]))
    if stop.reason in (Reason.PAUSE, Reason.EXCEPTION):
        return False
    give_possible(session, change, (change.run, session.stop.step))
    return True


def fitting(graph: Graph, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The `values` whose variables are there and can hold them."""
    there = variables(graph)
    return {n: value for n, value in values.items() if n in there and fits(there[n], value)}


def require_outside(session: DebugSession) -> None:
    """Raise GradstepError where a session stands in a loop."""
    if session.stop.inside:
        raise GradstepError(
            f"the session stands in a loop: {session.stop.inside[-1].text}",
            kind="FailedPreconditionError",
            hint="step out of the loop, or restart and do it before the loop begins",
        )


_BRANCH = "inject it, which makes a branch here, or continue to the newest step"


def require_newest(session: DebugSession, hint: str = _BRANCH) -> None:
    """Raise GradstepError where a session stands before what was executed last, in loops too."""
    timeline, stop = session.timeline, session.stop
    here, *inside = stop.place
    is_last = here == (timeline.runs - 1, timeline.done(timeline.runs - 1))
    if not is_last or not timeline.stands_at(stop.step, inside):
        raise GradstepError(
            f"run {stop.run + 1}, step {stop.step} is in the past: what follows from it has been "
            "executed already",
            kind="FailedPreconditionError",
            hint=hint,
        )
