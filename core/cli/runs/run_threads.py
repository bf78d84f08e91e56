"""`gradstep run --threads`: the document's threads fill the queues while its runs go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.session_restore import begin
from gradstep.core.host.whole_runs import counted_runs
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.questions.run_choice import Values, runs_only


def run_with_threads(
    loaded: Loaded, backend: Backend, names: Sequence[str], runs: int
) -> list[Values]:
    """What `names`, or else the document, asks for, in each of so many runs. Raises GradstepError
    for a run that fails, or waits for what no thread gives."""
    program = derive(loaded.document, loaded.functions)
    if names:
        program = _asking(program, names)
    shown = [*(ref.short for ref in program.fetches), *program.targets]
    threads = begin(program, backend)
    return [next_run(threads, shown) for _ in counted_runs(runs)]


def _asking(program: Program, names: Sequence[str]) -> Program:
    acts = [name for name in names if runs_only(program.graph, name)]
    refs = [TensorRef.parse(name) for name in names if name not in acts]
    return replace(program, fetches=tuple(refs), targets=tuple(acts))


def next_run(threads: Scheduler, names: Sequence[str]) -> Values:
    """What `names` are at the end of the next run. Raises GradstepError for one that fails."""
    stop = threads.command("continue_")
    if stop.reason in (Reason.EXCEPTION, Reason.BLOCKED) and stop.error is not None:
        raise stop.error
    graph, frame = threads.program.graph, threads.session.frame()
    return {n: None if runs_only(graph, n) else frame.value(n) for n in names}
