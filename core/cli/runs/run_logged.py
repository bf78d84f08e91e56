"""`gradstep run` of a document with breakpoints that write: its runs as the debugger makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradstep.core.cli.runs.run_threads import next_run
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.engine.backend import Backend
from gradstep.core.host.session_restore import begin
from gradstep.core.host.whole_runs import counted_runs
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.questions.run_choice import RunChoice, Values


def run_logged(
    loaded: Loaded, backend: Backend, choice: RunChoice, runs: int, logs: Sequence[Breakpoint]
) -> list[Values]:
    """What `choice` names, in each of so many runs of the document; what `logs`, its breakpoints
    that do not stop, write goes to standard error. Raises GradstepError for a run that fails."""
    program = replace(derive(loaded.document, loaded.functions), threads=())
    threads = begin(program, backend)
    threads.set_breakpoints(logs)
    return [next_run(threads, choice.names) for _ in counted_runs(runs)]
