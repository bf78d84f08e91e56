"""`gradstep run --threads`: the document's threads fill the queues while its runs go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.plan.why_dead import without_value
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.session_restore import begin
from gradstep.core.host.whole_runs import counted_runs
from gradstep.core.program.questions.run_choice import Values, runs_only


def run_with_threads(
    program: Program, backend: Backend, names: Sequence[str], runs: int
) -> list[Values]:
    """What `names`, or else the program, asks for, in each of so many runs. Raises GradstepError
    for a run that fails, or waits for what no thread gives."""
    if names:
        program = _asking(program, names)
    shown = [*(ref.short for ref in program.fetches), *program.targets]
    threads = begin(program, backend)
    return [next_run(threads, shown, asked=bool(names)) for _ in counted_runs(runs)]


def _asking(program: Program, names: Sequence[str]) -> Program:
    acts = [name for name in names if runs_only(program.graph, name)]
    refs = [TensorRef.parse(name) for name in names if name not in acts]
    return replace(program, fetches=tuple(refs), targets=tuple(acts))


def next_run(threads: Scheduler, names: Sequence[str], asked: bool = False) -> Values:
    """What `names` are at the end of the next run. asked: whether somebody asked for them. Raises
    GradstepError for a run that fails, and for what was asked for and is dead."""
    stop = threads.command("continue_")
    if stop.reason in (Reason.EXCEPTION, Reason.BLOCKED) and stop.error is not None:
        raise stop.error
    graph, frame = threads.program.graph, threads.session.frame()
    for number, name in enumerate(names if asked else ()):
        if (dead := frame.dead(name)) is not None:
            raise without_value(number, TensorRef.parse(name), dead)
    return {n: None if runs_only(graph, n) else frame.value(n) for n in names}
