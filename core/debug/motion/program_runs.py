"""A program as a session runs it: its plan, the runs recorded of it, and who moves along them."""

from __future__ import annotations

from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.history.branching_timeline import BranchingTimeline
from gradstep.core.debug.history.first_variables import first_variables
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.cursor import Cursor
from gradstep.core.debug.motion.move_logging import MoveLog
from gradstep.core.debug.motion.stepping import Stepper
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.variable_map import fits, variables
from gradstep.core.engine.run.variable_store import VariableStore


class ProgramRuns:
    """Those of a session's own program; and of each that an edit made on a branch of it.

    before: of the program before an edit; what the edit left is taken over from it. keeps: it goes
    on beside these. start: what variables begin with, for others than those of `shared`. The rest
    as of DebugSession and Timeline. Raises GradstepError when the program cannot start."""

    def __init__(
        self,
        program: Program,
        backend: Backend,
        limit_bytes: int,
        before: ProgramRuns | None = None,
        shared: SharedVariables | None = None,
        origin: int = 0,
        keeps: bool = False,
        start: VariableStore | None = None,
        whole: Plan | None = None,
    ) -> None:
        self.program = program
        feeds, batches = feed_arrays(program.graph, program.feeds), program.batches
        fed = infer_fed_types(feeds) | ({} if batches is None else {**batches.types})
        plan_before = None if before is None else before.plan
        graph, asked = program.graph, (program.fetches, program.targets)
        if start is None:
            start = first_variables(program, backend) if shared is None else shared.start
        self.plan: Plan = compile_plan(graph, *asked, fed, plan_before, whole)
        self.timeline: BranchingTimeline = BranchingTimeline(
            self.plan,
            backend,
            program.functions,
            feeds,
            start,
            limit_bytes,
            None if before is None or keeps else before.timeline,
            shared,
            batches,
            origin,
        )
        self.cursor = Cursor(self.timeline, program.gradients, program.losses)
        self.cursor.stand(origin, 0)
        self.stepper = Stepper(self.cursor)
        self.log = MoveLog(self.timeline)

    def edited(self, program: Program, origin: int, started: VariableStore | None) -> ProgramRuns:
        """Those of a program that an edit makes of this one, from run `origin` on, which starts
        with these variables, as far as they fit it; None: with those that it begins with."""
        backend, limit = self.timeline.backend, self.timeline.limit_bytes
        first = first_variables(program, backend)
        if started is not None:
            first = over(program, first, started)
        shared = SharedVariables(first)
        return ProgramRuns(program, backend, limit, self, shared, origin, keeps=True)

    @property
    def nbytes(self) -> int:
        """Bytes held for all recorded runs."""
        return self.timeline.nbytes


def over(program: Program, first: VariableStore, started: VariableStore) -> VariableStore:
    """What each variable has in `started`, if that fits it, over what it begins with."""
    store, there = VariableStore(first.backend), variables(program.graph).values()
    declared = {storage_name(op): op for op in there}
    for name, array in first.items():
        store.hold(name, array)
    for name, array in started.items():
        op = declared.get(name)
        if op is None or fits(op, array):
            store.hold(name, array)
    return store
