"""What a tensor is held against: another tensor, step, run or session, as the window names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.tensor_reads import Known, known_in
from gradstep.core.host.tensors.element_chunks import Array
from gradstep.core.host.tensors.slice_syntax import parse_slice
from gradstep.core.protocol.messages import OtherTensor, TensorSlice


@dataclass(frozen=True)
class Place:
    """Where tensors are looked at: known, what there are; frame: as of when."""

    known: Known
    frame: Frame

    def array(self, ref: str, hint: str = "step on until it is computed") -> Array:
        """All of a tensor, where it lies. Raises GradstepError where it has no value."""
        parsed = TensorRef.parse(ref)
        array = self.frame.look(parsed) if self.known(parsed) else None
        if array is None:
            raise GradstepError(f"{ref} has no value at this step", kind="NotFoundError", hint=hint)
        return array


def view_of(wanted: TensorSlice, array: Array) -> Array:
    """The elements that are asked for of a whole tensor, as a view. Raises GradstepError where the
    slice does not fit."""
    view = parse_slice(wanted.index, array.shape).apply(array)
    if not wanted.axes:
        return view
    if sorted(wanted.axes) != [*range(view.ndim)]:
        raise GradstepError(
            f"axes {wanted.axes} of a slice that has {view.ndim}", kind="ValueError"
        )
    return view.transpose(wanted.axes)


def other_view(wanted: TensorSlice, here: Place, sessions: Sessions, like: Array) -> Array | None:
    """The same elements of what `wanted` is held against; None where that is nothing. like: all of
    the tensor that is looked at. Raises GradstepError where there is none, or of another shape."""
    other = wanted.minus
    if other is None:
        return None
    hint = "hold it against another step, or nothing"
    if other.recorded:
        array = _recorded(sessions.session.session, other.ref or wanted.ref)
    elif other.branch:
        array = _of_branch(other, here, sessions, other.ref or wanted.ref)
    else:
        array = place_of(other, here, sessions).array(other.ref or wanted.ref, hint)
    if array.shape != like.shape:
        raise GradstepError(
            f"{other.ref or wanted.ref} has shape {[*array.shape]} there, and {wanted.ref} "
            f"{[*like.shape]}",
            kind="ValueError",
            hint="hold it against a tensor of the same shape",
        )
    return view_of(wanted, array)


def _of_branch(other: OtherTensor, here: Place, sessions: Sessions, ref: str) -> Array:
    """A copy of a tensor of another branch, which is there for a moment. Raises GradstepError."""
    run = here.frame.run if other.run < 0 else other.run
    step = here.frame.step if other.step < 0 else other.step
    with sessions.session.branches.looking_at(other.branch) as session:
        place = Place(here.known, session.frame(run, step))
        array: Array = place.array(ref, "go on there until it is computed").copy()
    return array


def _recorded(session: DebugSession, ref: str) -> Array:
    """What another framework computed of a tensor, or of a gradient. Raises GradstepError where
    that is not known."""
    program = session.program
    of = next((str(of) for of, held in program.gradients.items() if str(held) == ref), "")
    found = None if program.recorded is None else program.recorded.told_of(ref, of)
    if found is None:
        raise GradstepError(
            f"nothing was recorded of {ref} elsewhere",
            kind="NotFoundError",
            hint="hold it against another step, or nothing",
        )
    array: Array = session.backend.put(found.array)
    return array


def place_of(other: OtherTensor, here: Place, sessions: Sessions) -> Place:
    """Raises GradstepError for a session or a run that is not there."""
    if other.session and other.session != sessions.current:
        session = sessions[other.session].session
        place = Place(known_in(session.program.graph), session.view())
        return _moved(other, place, session.frame)
    return _moved(other, here, sessions.session.session.frame)


def _moved(other: OtherTensor, place: Place, frame: Callable[[int, int], Frame]) -> Place:
    """To another run or step, where one is named."""
    if other.run < 0 and other.step < 0 and not other.earlier:
        return place
    run = (place.frame.run if other.run < 0 else other.run) - other.earlier
    step = place.frame.step if other.step < 0 else other.step
    if run < 0:
        raise GradstepError(
            f"there is no run {other.earlier} before this one",
            kind="NotFoundError",
            hint="hold it against another step, or nothing",
        )
    return Place(place.known, frame(run, step))
