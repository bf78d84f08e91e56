"""What the window asks of branches: a value given on one of its own, another one shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.history.injection_target import step_that_tells
from gradstep.core.debug.history.program_tensors import find_tensor
from gradstep.core.debug.history.random_streams import seeded
from gradstep.core.document.named_edits import words_of
from gradstep.core.document.repairs import require_start
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.program_reports import report_stop
from gradstep.core.host.session_answers import brief, listed, sent_value
from gradstep.core.host.tensors.slice_syntax import parse_slice
from gradstep.core.protocol.branch_queries import SEED
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Inject, ManageBranches, SessionList


def inject_value(sessions: Sessions, request: Inject, buffers: Sequence[Buffer]) -> SessionList:
    """Do what is asked, and say what there is then. Raises GradstepError."""
    text = inject(
        sessions.session, request.name, sent_value(request, buffers), request.at, request.branch
    )
    return listed(sessions, report_stop(sessions.session), text, held=False)


def inject(threads: Scheduler, name: str, value: np.ndarray, at: str = "", branch: str = "") -> str:
    """Give a tensor or a variable, or a part of it, another value; what was done, in words. A part
    takes a number for each of its elements. Raises GradstepError."""
    if name == SEED:
        words, values = f"seed = {value}", _reseeded(threads, value)
    else:
        words = f"{TensorRef.parse(name).short}{at} = {brief(value).removesuffix('.')}"
        values = {name: _whole(threads, name, value, at)}
    words += _iteration(threads)
    step = None
    if len(threads.states) > 1:
        words += f" in {threads.current}"
    elif name != SEED:
        step = step_that_tells(threads.session, name)
    threads.inject(values, branch, words, step)
    since = "from here on" if step is None else "since it was computed"
    return f"{words} {since}, on branch {branch_of(threads)}"


def _iteration(threads: Scheduler) -> str:
    """In which iterations of loops it stands, in words."""
    numbers = [str(place.iteration + 1) for place in threads.stop.inside]
    return f" in iteration {', '.join(numbers)}" if numbers else ""


def _reseeded(threads: Scheduler, value: np.ndarray) -> dict[str, np.ndarray]:
    """What random operations' counters become by a seed."""
    if value.shape or value.dtype.kind not in "iu":
        raise GradstepError("a seed is a whole number", kind="ValueError", hint="for example 7")
    return seeded(threads.session, int(value))


def manage_branches(sessions: Sessions, request: ManageBranches) -> SessionList:
    """Do what is asked, and say what there is then. Raises GradstepError."""
    text = manage(sessions.session, request)
    return listed(sessions, report_stop(sessions.session), text, held=False)


def manage(threads: Scheduler, request: ManageBranches) -> str:
    """Do it; what was done, in words."""
    name = request.name
    if request.command == "switch":
        threads.switch_branch(name)
        return f"branch {name}"
    if request.command == "edit":
        words = words_of(request.kind, request.edited)
        require_start(request.kind, request.edited, threads.stop.run)
        threads.edit(request.kind, request.edited, name, words)
        return f"{words} {_held_from(threads)}, on branch {branch_of(threads)}"
    if request.command == "rename":
        threads.rename_branch(name, request.to)
        return f"branch {name} is {request.to.strip()}"
    threads.drop_branch(name)
    return f"branch {name} is gone"


def _held_from(threads: Scheduler) -> str:
    """Since when the edit that was just made on a branch holds, in words."""
    if len(threads.states) == 1:
        return f"from run {threads.stop.run + 1} on"
    where = [f"run {run + 1} of {name}" for name, run in threads.edited_in.items()]
    return f"from {' and '.join(where)} on" if where else "from the beginning on"


def branch_of(threads: Scheduler) -> str:
    """The branch that is shown."""
    return threads.branches.current


def _whole(threads: Scheduler, name: str, value: np.ndarray, at: str) -> np.ndarray:
    """The value of the whole tensor, a part of which is another."""
    if not at:
        return value
    held = threads.session.frame().value(find_tensor(threads.session.program, name))
    if held is None:
        raise GradstepError(
            f"'{name}' has no value here", kind="FailedPreconditionError", hint="give all of it"
        )
    part = parse_slice(at, held.shape).apply(held)
    if held.dtype != value.dtype or value.ndim > part.ndim:
        raise GradstepError(
            f"{name}{at} is {DType.of(held.dtype).value}{[*part.shape]}, and the value "
            f"{DType.of(value.dtype).value}{[*value.shape]}",
            kind="InvalidArgumentError",
        )
    try:
        part[...] = value
    except ValueError:
        raise GradstepError(
            f"{name}{at} is of shape {[*part.shape]}, and the value of {[*value.shape]}",
            kind="InvalidArgumentError",
        ) from None
    return held
