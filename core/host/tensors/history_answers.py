"""One number of a tensor over the runs that are known: its norm, its mean, an element."""

from __future__ import annotations

import time
from math import isfinite

from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.history.tensor_history import Moment, TensorHistory
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.tensor_statistics import summarize
from gradstep.core.host.tensors.element_chunks import Array, is_numeric, real
from gradstep.core.host.tensors.other_tensor import Place, other_view, view_of
from gradstep.core.host.tensors.tensor_difference import subtract
from gradstep.core.protocol.messages import History, ReadHistory, TensorSlice
from gradstep.core.protocol.vocabulary import HistoryKind

SECONDS = 0.2  # in which runs may be made again for it, and large tensors looked at
MANY = 1 << 22  # elements that are looked at however long it takes


def read_history(
    request: ReadHistory, session: DebugSession, here: Place, sessions: Sessions
) -> History:
    """Of a tensor that has a value `here`, as far as it is of one shape. Raises GradstepError."""
    of, timeline = request.of, session.timeline
    shape = here.array(of.ref).shape
    history = TensorHistory(timeline, session.frame, TensorRef.parse(of.ref))
    found: dict[tuple[int, int], float | None] = {}
    until, looked = time.monotonic() + SECONDS, 0
    for moment in history.moments(max(request.points, 1), until):
        looked += moment.value.size
        if looked > MANY and time.monotonic() >= until:
            break
        if moment.value.shape == shape and is_numeric(moment.value):
            seen = _seen(moment, of, here, sessions)
            if seen is not None:
                found[moment.run, moment.step] = number_of(seen, request.what)
    places = sorted(found)
    return History(
        runs=[run for run, _ in places],
        steps=[step for _, step in places],
        values=[found[place] for place in places],
        length=timeline.length,
        total=timeline.runs,
        seen=len({run for run, _ in places}),
    )


def _seen(moment: Moment, of: TensorSlice, here: Place, sessions: Sessions) -> Array | None:
    """What is looked at of a moment's value, less what it is held against as of then; None where
    that would have to be made again."""
    view = view_of(of, moment.value)
    if of.minus is None:
        return view
    if moment.frame is None:
        return None
    then = Place(here.known, moment.frame)
    other = other_view(of, then, sessions, moment.value)
    return None if other is None else subtract(view, other)


def number_of(view: Array, what: HistoryKind) -> float | None:
    """None where it is no finite number, as of elements of which one is NaN or infinite."""
    if not view.size:
        return None
    if what == "element":
        found = float(real(view[(slice(0, 1),) * view.ndim]).reshape(-1)[0])
        return found if isfinite(found) else None
    stats = summarize(view)
    if stats is None or stats.nans or stats.infs:
        return None
    measured: float | None = getattr(stats, what)
    return measured if measured is not None and isfinite(measured) else None
