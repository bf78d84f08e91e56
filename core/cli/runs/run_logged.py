"""`gradstep run` of a document with breakpoints that write: its runs as the debugger makes them."""

from __future__ import annotations

from dataclasses import replace

from gradstep.core.cli.runs.run_threads import next_run
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.engine.backend import Backend
from gradstep.core.host.session_restore import begin
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.questions.run_choice import RunChoice, Values


def logs_of(loaded: Loaded) -> list[Breakpoint]:
    """The document's breakpoints that write and do not stop."""
    return [b for b in loaded.document.breakpoints if b.log and b.enabled]


def run_logged(loaded: Loaded, backend: Backend, choice: RunChoice, runs: int) -> list[Values]:
    """What `choice` names, in each of so many runs of the document; what is written goes to
    standard error. Raises GradstepError for a run that fails."""
    program = replace(derive(loaded.document, loaded.functions), threads=())
    threads = begin(program, backend)
    threads.set_breakpoints(logs_of(loaded))
    return [next_run(threads, choice.names) for _ in range(runs)]
