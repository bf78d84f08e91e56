"""What steps do, in words, for the steps that somebody looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from gradstep.core.autodiff.notation.step_notation import Notation, Sentence
from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.model import Operation
from gradstep.core.graph.problems import Problem
from gradstep.core.memory_release import forget_with_document
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.protocol.error_records import info_of_problem
from gradstep.core.protocol.messages import Notated, StepNotation

T = TypeVar("T")


class Telling:
    """What there is to tell of a program, for people. What cannot be told is a problem, at its node
    where it has one, and no more."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def step(self, program: Program, op: Operation) -> Sentence:
        """What the step of `op` does; its type and name where that cannot be told."""
        told = self.part(f"what {op.type} does", lambda: _notation(program).sentence(op), op.name)
        return told or Sentence(f"{op.type} {op.name}", {})

    def condition(self, program: Program, loop: Operation) -> str:
        """While what a loop goes on; "" where that cannot be told."""
        about = "what a loop goes on by"
        return self.part(about, lambda: _notation(program).condition(loop), loop.name) or ""

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


def notate(session: DebugSession, names: Sequence[str]) -> Notated:
    """What the steps of these operations do; those that `session` does not run are left out. What
    cannot be told of an operation as that is wrong itself has been said of it."""
    telling, program = Telling(), session.program
    steps = []
    for op in _operations(session.plan, names):
        check_cancelled()
        text, said = telling.step(program, op)
        operands = {words: str(ref) for words, ref in said.items()}
        steps.append(StepNotation(op=op.name, text=text, operands=operands))
    return Notated(steps=steps, problems=[*map(info_of_problem, _unsaid(telling, program))])


def _unsaid(telling: Telling, program: Program) -> Iterator[Problem]:
    """Those problems of a telling that are none of the program's, nearly always none at all."""
    if telling.problems:
        said = {(problem.node, problem.text) for problem in program.problems}
        yield from (p for p in telling.problems if (p.node, p.text) not in said)


def _operations(plan: Plan, names: Sequence[str]) -> Iterator[Operation]:
    """Those of these names that a plan runs, in loops or not."""
    plans = [plan, *loop_plans(plan)]
    for name in names:
        around = next((one for one in plans if name in one.step_of), None)
        if around is not None:
            yield around.steps[around.step_of[name]].op


def loop_plans(plan: Plan) -> Iterator[Plan]:
    """Of all loops in a plan, those inside of loops as well."""
    for number in plan.loops:
        iteration = plan.steps[number].iteration
        if iteration is not None:
            yield iteration.plan
            yield from loop_plans(iteration.plan)


_KEPT = 2  # of a program, and of the one before the edit that led to it
_recent: list[tuple[Program, Notation]] = []  # the latest first
forget_with_document(_recent.clear)


def _notation(program: Program) -> Notation:
    kept = [*_recent]
    found = next((one for of, one in kept if of is program), None)
    found = found or _make_notation(program, kept[0][1] if kept else None)
    _recent[:] = [(program, found), *(row for row in kept if row[1] is not found)][:_KEPT]
    return found


def _make_notation(program: Program, before: Notation | None) -> Notation:
    """before: of a program much the same, perhaps."""
    graph = flatten_loops(program.graph)
    readers = program.forward.consumers if graph is program.graph else None
    if len(program.derived) < 2:
        about = program.request.of, program.gradients, program.edges
        return Notation(graph, *about, readers=readers, before=before)
    first, *others = program.derived
    about = first.of, first.gradients, first.edges
    return Notation(graph, *about, others=others, readers=readers, before=before)
