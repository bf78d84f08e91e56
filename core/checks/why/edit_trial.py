"""What an edit would do: the run that is looked at, made once more with it and once without.

Both begin with the same variables, feeds and random numbers. An edit of what runs begin with is
tried from the first run on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.history.frozen_program import NamedEdit, Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.program_runs import ProgramRuns
from gradstep.core.document.repairs import FROM_THE_START, require_start
from gradstep.core.graph.model import TensorRef

MOST_RUNS = 200  # from the first one on; of a later run, that one alone is tried


@dataclass(frozen=True)
class Effect:
    """Of one program, at the end of a run. loss: of what is differentiated, the sum of its
    elements; norm: of all gradients together, each None where there is none. elements: of those
    gradients; broken, zero: how many of them are NaN or infinite, or 0; missing: the tensors whose
    gradient is None. bad: elements of what was asked about, and of the loss, that are NaN or
    infinite; of a tensor that was asked about beside the loss, size: its elements, and lost: those
    of them. error: what stopped the run."""

    loss: float | None
    norm: float | None
    elements: int
    broken: int
    zero: int
    missing: tuple[str, ...]
    bad: int
    error: str = ""
    size: int = 0
    lost: int = 0


@dataclass(frozen=True)
class Trial:
    """of: the loss, or what else was asked about; about: a tensor that was asked about beside it.
    first, run: which runs were made, counted from 0."""

    of: TensorRef
    before: Effect
    after: Effect
    first: int
    run: int
    about: TensorRef | None = None


def try_edit(
    session: DebugSession,
    edit: NamedEdit,
    of: TensorRef,
    wrt: Sequence[TensorRef],
    about: TensorRef | None = None,
) -> Trial:
    """In the run in which the session stands, on the branch that is shown; what was given by hand
    within that run is left out. of: what is asked about, a loss where `wrt` names something; about:
    a tensor beside it.
    Raises GradstepError for an edit that cannot be made. The session stays as it is."""
    programs, run = session.branches.programs, session.stop.run
    branch = session.branches[session.branches.current]
    edited = programs.program_after_all(programs.possible(branch.edits), edit)
    begins = edit[0] in FROM_THE_START and run < MOST_RUNS and not branch.edits
    first = 0 if begins else run
    require_start(*edit, first)
    sides = session.program, edited
    made = (_made(session, one, first, run) for one in sides)
    before, after = (_effect(runs, run, of, wrt, about) for runs in made)
    return Trial(of, before, after, first, run, about)


def _made(session: DebugSession, program: Program, first: int, run: int) -> ProgramRuns:
    """The runs from `first` to `run` of a program, as far as they can be made."""
    runs = session.branches.beside(program, first)
    timeline = runs.timeline
    for _ in range(first, run):
        check_cancelled()
        if timeline.reach(timeline.length) is not None:
            break
        error = timeline.advance(timeline.runs - 1)
        if error is not None:
            raise error
    return runs


def _effect(
    runs: ProgramRuns,
    run: int,
    of: TensorRef,
    wrt: Sequence[TensorRef],
    about: TensorRef | None = None,
) -> Effect:
    timeline = runs.timeline
    error = timeline.reach(timeline.length)
    last = timeline.runs - 1
    frame = runs.cursor.frame(last, timeline.done(last))
    there = runs.program.graph
    value = frame.value(of) if of.op in there else None
    loss = None if value is None else _floats(value)
    beside = _floats(frame.value(about) if about is not None and about.op in there else None)
    lost = int(np.sum(~np.isfinite(beside)))
    named = {ref: _held(runs.program, of, ref) for ref in wrt}
    found = {ref: None if held is None else frame.value(held) for ref, held in named.items()}
    parts = [_floats(x).ravel() for x in found.values() if x is not None]
    all_of = np.concatenate(parts) if parts else np.zeros(0)
    told = "" if error is None else f"{error.message} (at {error.node})"
    if last < run and not told:
        told = f"it stops in run {last + 1}"
    return Effect(
        loss=None if loss is None else float(np.sum(loss)),
        norm=float(np.sqrt(np.sum(all_of * all_of))) if parts else None,
        elements=all_of.size,
        broken=int(np.sum(~np.isfinite(all_of))),
        zero=int(np.sum(all_of == 0)),
        missing=tuple(ref.short for ref, held in named.items() if held is None),
        bad=lost + (0 if loss is None else int(np.sum(~np.isfinite(loss)))),
        error=told,
        size=beside.size,
        lost=lost,
    )


def _held(program: Program, of: TensorRef, ref: TensorRef) -> TensorRef | None:
    """The tensor that holds a gradient."""
    for one in program.derived:
        if of in one.of:
            return one.gradients.get(ref)
    return program.gradients.get(ref)


def _floats(x: np.ndarray | None) -> np.ndarray:
    if x is None:
        return np.zeros(0)
    kind = np.complex128 if x.dtype.kind == "c" else np.float64
    try:
        with np.errstate(all="ignore"):
            found = x.astype(kind)
    except (TypeError, ValueError):
        return np.zeros(0)
    return np.abs(found) if kind is np.complex128 else found


def is_mended(before: Effect, after: Effect) -> bool:
    """Whether what was wrong is not so any more: NaN and infinity, no gradient, nothing but 0."""
    worse = after.broken + after.bad > 0 or (after.error and not before.error)
    lacks = len(after.missing) > len(before.missing)
    better = (
        before.broken + before.bad > 0
        or len(before.missing) > len(after.missing)
        or (after.elements > 0 and after.zero < after.elements and _is_dead(before))
        or bool(before.error and not after.error)
    )
    return better and not worse and not lacks


def _is_dead(effect: Effect) -> bool:
    return 0 < effect.elements == effect.zero
