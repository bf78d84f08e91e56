"""Starting a debug session, and finding again the place where another one stood."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import is_not
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from gradstep.core.cancellation import Cancelled
from gradstep.core.debug.concurrency.scheduler import BREAKPOINTS, Scheduler
from gradstep.core.debug.concurrency.session_registry import FIRST, Sessions
from gradstep.core.debug.history.branch_record import FIRST_BRANCH, Branch
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import Assignment, repeat
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.exact_place import ExactPlace
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError
from gradstep.core.graph.problems import Problem
from gradstep.core.position_text import position_text


def begin(
    program: Program,
    backend: Backend,
    limit_bytes: int = 2 << 30,
    before: Scheduler | None = None,
    rest: bool = False,
    given_up: Callable[[], bool] | None = None,
) -> Scheduler:
    """The program's threads before run 0, which keep so many bytes of recorded runs, and take over
    what they can from `before`, which may have to `rest`: see Scheduler, also for `given_up`. When
    the program's `init` fails, or is cancelled, it starts without, and that is among its
    problems."""
    try:
        return Scheduler(program, backend, limit_bytes, before, rest, given_up)
    except (GradstepError, Cancelled) as error:
        if not program.init:
            raise
        why = _CANCELLED if isinstance(error, Cancelled) else error
        problems = (*program.problems, Problem.of(why, "init"))
        program = replace(program, init="", problems=problems)
        return Scheduler(program, backend, limit_bytes, before, rest, given_up)


_CANCELLED = GradstepError(
    "the initial operation was cancelled before it was done",
    kind="CancelledError",
    hint="restart the engine to run it again",
)


@dataclass(frozen=True, eq=False)
class Course:
    """How a session came to where it stands, which leads one of another program, or in another
    engine, to the same place.

    op: what comes next there; "" at the end of a run. inside: the loops it stands in. changes: what
    variables were given on the way. history: where threads share queues, all commands. branches:
    all that there are, if there are several, of which `branch` is shown; beside threads those that
    there were before the first command. missed: the one that edits have cut off, which an edit may
    mend, as undoing does; None once the session was moved.
    """

    run: int
    step: int
    op: str
    inside: tuple[Place, ...] = ()
    changes: tuple[Assignment, ...] = ()
    history: tuple[tuple[str, Any], ...] = ()
    branches: tuple[Branch, ...] = ()
    branch: str = FIRST_BRANCH
    missed: Course | None = None

    @property
    def is_place(self) -> bool:
        """Whether the place says it all."""
        return not (self.changes or self.history or self.branches or self.missed)

    @property
    def moves(self) -> int:
        """How many commands moved something."""
        return sum(name != BREAKPOINTS for name, _ in self.history)

    def is_at(self, other: Course) -> bool:
        """Whether nothing was done to the session since `other` was its course."""
        same_place = (self.run, self.step, self.inside) == (other.run, other.step, other.inside)
        same_line = (self.branch, len(self.branches)) == (other.branch, len(other.branches))
        same_moves = self.moves == other.moves
        return same_place and same_line and same_moves and self.changes == other.changes

    def is_open(self, plan: Plan) -> bool:
        """Whether a plan has all operations that the course leads by."""
        given, left = (each.op for each in self.changes), (each.op for each in self.branches)
        return all(op in plan.step_of for op in (self.op, *given, *left) if op)


@dataclass(frozen=True, eq=False)
class Courses:
    """Of all sessions, by their names."""

    by_name: Mapping[str, Course]
    current: str


Begun = Mapping[Scheduler, Course]  # of those sessions, whatever others are called like them


def course_of(threads: Scheduler, begun: Course | None = None) -> Course:
    """How a session came to where it stands now. begun: as of `follow_all`."""
    session = threads.session
    stop, op = session.stop, session.plan.op_after(session.stop.step)
    alone = len(threads.states) == 1
    branches = session.branches.all if alone else threads.begun
    first = branches[0].name if branches else FIRST_BRANCH
    course = Course(
        *(stop.run, stop.step, op, stop.inside, tuple(session.changes), tuple(threads.history)),
        branches=branches if len(branches) > 1 else (),  # what one was given, the changes say
        branch=session.branches.current if alone else first,
    )
    if begun is None or not course.is_at(begun):
        return course
    return replace(course, missed=begun.missed)


def courses_of(sessions: Sessions, begun: Begun = MappingProxyType({})) -> Courses:
    """How all of them did."""
    every = {name: course_of(each, begun.get(each)) for name, each in sessions.by_name.items()}
    return Courses(every, sessions.current)


Make = Callable[[Scheduler | None], Scheduler]


def begin_all(make: Make, courses: Courses | None, before: Sessions | None = None) -> Sessions:
    """The sessions of a program: one before run 0; or one for each of the courses, not on its way
    yet. before: the sessions before an edit. make: `begin` but for its last argument."""
    if courses is None:
        return Sessions({FIRST: make(None)})
    made = {
        name: make(None if before is None else before.by_name.get(name)) for name in courses.by_name
    }
    return Sessions(made, courses.current)


def follow_all(sessions: Sessions, courses: Courses, before: Sessions | None = None) -> Begun:
    """Run each to where the course of the same name leads, or to where it is paused: an edit may
    have made a loop on the way endless. before: the sessions before the edit. The courses of those
    that missed where theirs leads."""
    begun: WeakKeyDictionary[Scheduler, Course] = WeakKeyDictionary()  # some may be deleted
    for name, threads in sessions.by_name.items():
        course = courses.by_name[name]
        old = None if before is None else before.by_name[name].session.plan
        follow(threads, course, old)
        came, wanted = course_of(threads), course.missed or course
        if came.moves < wanted.moves or _has_missed(threads, course, old):
            begun[threads] = replace(came, missed=replace(wanted, missed=None))
    return begun


def _has_missed(threads: Scheduler, course: Course, old: Plan | None) -> bool:
    """Whether a session that followed a course missed its place, which is gone, or which a step on
    the way keeps it from as it fails now. Where all steps are of the types that they were, the
    place is there still, whatever it is called now."""
    if len(threads.states) > 1:
        return False
    plan = threads.session.plan
    if threads.session.stop.reason is Reason.EXCEPTION:
        return True
    if (course.missed or course).is_open(plan):
        return False
    return course.missed is not None or (old is not None and not _have_same_types(old, plan))


def follow(threads: Scheduler, course: Course, old: Plan | None = None) -> None:
    """Run to where a course leads, or the one that it missed, if that is open again. Where several
    threads share queues, they take all its commands again. old: the plan that the course is of,
    where an edit has made it another."""
    if len(threads.states) > 1:
        if course.branches:
            threads.begin_branches(course.branches)
        threads.repeat((course.missed or course).history)
    elif course.missed is not None and course.missed.is_open(threads.session.plan):
        _go(threads, course.missed)
    else:
        plan = threads.session.plan
        _go(threads, course if old is None else _led_on(course, old, plan))


def _have_same_types(old: Plan, plan: Plan) -> bool:
    """Whether the steps of both are of the same types, one after the other. The very same steps are
    passed over in C, or not looked at where it is known which are others."""
    then, now, known = old.steps, plan.steps, plan.exchanged
    if len(then) != len(now):
        return False
    others: Iterable[tuple[Step, Step]]
    others = compress(zip(then, now, strict=True), map(is_not, then, now))
    if known is not None and known.before is then:
        exchanged = [(step, now[known.places[step.op.name]]) for step in known.gone]
        if known.new.issuperset(step for _, step in exchanged):  # all else is where it was
            others = exchanged
    return all(a.op.type == b.op.type for a, b in others)


def _led_on(course: Course, old: Plan, plan: Plan) -> Course:
    """A course as another plan has it: operations that are gone are the next ones that are there
    still, or, where all steps are of the types that they were, what those are called now."""
    every = (*course.changes, *(each for branch in course.branches for each in branch.changes))
    given = {tensor.partition(":")[0] for change in every for tensor in change.values}
    gone = (op for op in given if op in old.step_of and op not in plan.step_of)
    if course.is_open(plan) and not any(gone):
        return course
    renamed = _have_same_types(old, plan)
    made: dict[Assignment, Assignment] = {}  # branches have some in common

    def now(op: str) -> str:
        if not op or op in plan.step_of:
            return op
        at = old.step_of.get(op, len(old.steps))
        if renamed:
            return plan.op_after(at)
        later = (step.op.name for step in old.steps[at:])
        return next(filter(plan.step_of.__contains__, later), "")

    def called(tensor: str) -> str:
        op, colon, index = tensor.partition(":")
        return f"{now(op)}{colon}{index}" if renamed and op in old.step_of else tensor

    def moved(changes: Sequence[Assignment]) -> tuple[Assignment, ...]:
        for each in changes:
            values = {called(tensor): value for tensor, value in each.values.items()}
            made.setdefault(each, replace(each, op=now(each.op), values=values))
        return tuple(map(made.__getitem__, changes))

    op, inside = now(course.op), course.inside
    if op != course.op:
        inside = (replace(inside[0], loop=op), *inside[1:]) if inside and renamed else ()
    branches = (
        replace(each, op=now(each.op), changes=moved(each.changes)) for each in course.branches
    )
    return replace(
        course, op=op, inside=inside, changes=moved(course.changes), branches=tuple(branches)
    )


def _go(threads: Scheduler, course: Course) -> None:
    """To the same run, before the same operation; its end, if the course ends there; after as many
    steps, if the operation is gone; the first run that is kept, if that one is not any more. On the
    way variables are given what they were given there."""
    session = threads.session
    if course.branches:
        session.branches.take_over(course.branches, course.branch)
        if session.branches[course.branch].edits:
            session.lead()
            return
    for change in course.changes:
        if not repeat(change, session):
            return
    length = len(session.plan.steps)
    step = length
    if course.op:
        step = session.plan.step_of.get(course.op, min(course.step, length))
    inside = _inside(course, session, step)
    run, stands = max(course.run, session.timeline.first), session.stop
    if length and (inside or [(run, step)] != stands.place):
        threads.command("run_to", position_text([(run, step), *inside]))


def _inside(course: Course, session: DebugSession, step: int) -> ExactPlace:
    """The place in the loop that is step number `step` of `session`, too."""
    loop = session.plan.steps[step].op if step < len(session.plan.steps) else None
    if not course.inside or loop is None or loop.name != course.inside[0].loop:
        return ()
    return [(place.iteration, place.step) for place in course.inside]
