"""Why-questions about whole runs of a document, without a debugger that stands somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import CodeKind
from gradstep.core.document.requests import main_request
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.whole_runs import make_runs
from gradstep.core.program.gradient_context import situation_of
from gradstep.core.program.questions.first_run_values import with_request
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.messages import Explanation


def explainer_of_runs(
    loaded: Loaded, program: Program, backend: Backend, of: Sequence[TensorRef], runs: int = 1
) -> Explainer:
    """Answers about the last of so many runs of the document's program; of a single one only what
    `of` needs is run. Raises GradstepError."""
    session = _run(program, backend, of, runs)
    here = situation_of(session, loaded.of_kind(CodeKind.GRADIENT))
    here = with_request(here, loaded.document, main_request(loaded.document))
    functions = loaded.of_kind(CodeKind.PYFUNC)
    return Explainer(here, functions, backend, session, session.stop.run)


def _run(program: Program, backend: Backend, of: Sequence[TensorRef], runs: int) -> DebugSession:
    """So many runs, or as many as there are before one fails."""
    if runs == 1:
        program = replace(program, fetches=tuple(of), targets=(), threads=())
    else:
        program = replace(program, fetches=tuple(dict.fromkeys((*program.fetches, *of))))
    return make_runs(program, backend, runs)


def explanation_text(found: Explanation, source: str = "") -> str:
    """What was found, and below it the place, the line of source that it is from, and the path."""
    path = f"\n  path: {' → '.join(found.path)}" if found.path else ""
    index = "" if found.index is None else f", element {found.index}"
    place = f"\n  at:   {found.node}{index}" if found.node else ""
    line = f"\n  line: {source}" if source else ""
    return f"{found.text}{place}{line}{path}"
