"""The smallest document that shows what is wrong with a value or a gradient of another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gradstep.core.checks.reduction.reduction_search import Reduction
from gradstep.core.checks.reduction.reduction_symptom import Clues, Explained
from gradstep.core.checks.reduction.values_read import ValuesRead
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.explained_runs import explainer_of_runs
from gradstep.core.host.whole_runs import make_runs
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.messages import Explanation


def reduced(
    loaded: Loaded,
    backend: Backend,
    found: Explanation,
    of: TensorRef,
    wrt: TensorRef | None,
    runs: int = 1,
) -> Document:
    """What shows the same as `found`, which explains the value of `of`, or its gradient with
    respect to `wrt`, in the last of so many runs. Raises GradstepError."""
    program = derive(loaded.document, loaded.functions)
    fetching = _fetching(program, of, cotangents_of(program, of), runs)
    return reduced_in(make_runs(fetching, backend, runs), loaded, found, of, wrt)


def reduced_in(
    session: DebugSession,
    loaded: Loaded,
    found: Explanation,
    of: TensorRef,
    wrt: TensorRef | None,
) -> Document:
    """The same in the run that `session` stands in."""
    program, backend = session.program, session.backend
    values = ValuesRead(session, session.stop.run, cotangents_of(program, of))

    def ask(document: Document, of: TensorRef, wrt: TensorRef | None) -> Explanation:
        smaller = Loaded(document, loaded.functions)
        derived = derive(document, loaded.functions)
        explainer = explainer_of_runs(smaller, derived, backend, [of])
        return explainer.value(str(of)) if wrt is None else explainer.gradient(str(of), str(wrt))

    symptom = Explained.of(found, wrt is not None, ask)
    about = loaded.document, program.forward, symptom, Clues.of(found), of, wrt, values
    small = Reduction(*about).document()
    what = of.short if wrt is None else f"d {of.short} / d {wrt.short}"
    return small.with_(title=f"The smallest that shows {what}: {found.state}", note=found.text)


def cotangents_of(program: Program, of: TensorRef) -> Mapping[TensorRef, TensorRef]:
    """Tensor -> what holds the gradient of `of` with respect to it, where that is computed."""
    return next((one.gradients for one in program.derived if one.of == (of,)), {})


def _fetching(
    program: Program, of: TensorRef, cotangents: Mapping[TensorRef, TensorRef], runs: int
) -> Program:
    """The program with what is looked at; of one run nothing else."""
    wanted = (of, *(ref for ref in cotangents.values() if ref.op in program.graph))
    if runs == 1:
        return replace(program, fetches=tuple(dict.fromkeys(wanted)), targets=(), threads=())
    return replace(program, fetches=tuple(dict.fromkeys((*program.fetches, *wanted))))
