"""Which expressions can be followed in a training, and what is wrong with the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from gradstep.core.debug.breaks.curves import Curves, FetchedValues
from gradstep.core.debug.breaks.expression_names import names_a_tensor
from gradstep.core.debug.breaks.histograms import Histograms
from gradstep.core.debug.history.fast_runs import Fetch, RunStart
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.error_records import info_of
from gradstep.core.protocol.messages import CheckCurves, CurvesChecked

_MOST = 1 << 16  # elements of a tensor with which it is tried what an expression gives


def check_curves(session: DebugSession, request: CheckCurves) -> CurvesChecked:
    """What is wrong with each, of the program that is shown."""
    loss = next(iter(computed_losses(session, request.losses)), None)
    wrong = wrong_curves(session, request.texts, loss)
    return CurvesChecked(wrong={text: info_of(error) for text, error in wrong.items()})


def computed_losses(session: DebugSession, losses: Iterable[str]) -> list[TensorRef]:
    """Those of these that runs compute; `loss` means the first of them."""
    refs = map(TensorRef.parse, losses)
    return [ref for ref in refs if ref in session.plan.tensors]


def wrong_curves(
    session: DebugSession, texts: Sequence[str], subject: TensorRef | None = None
) -> Mapping[str, GradstepError]:
    """Those that cannot be followed: what cannot be read, names what no run computes, or is not one
    number as far as the sizes of tensors are known before a run."""
    return _all_wrong(session, texts, Curves.read, subject)


def wrong_histograms(session: DebugSession, texts: Sequence[str]) -> Mapping[str, GradstepError]:
    """Likewise, of those of which there can be no histogram: what holds no real numbers."""
    return _all_wrong(session, texts, lambda curves, values: Histograms(curves).read(values))


def _all_wrong(
    session: DebugSession,
    texts: Sequence[str],
    read: Callable[[Curves, FetchedValues], object],
    subject: TensorRef | None = None,
) -> Mapping[str, GradstepError]:
    """Those of the texts that are refused, or that `read` refuses of what they would read."""
    found = dict[str, GradstepError]()
    for text in texts:
        try:
            curves = session.curves([text], subject=subject)
            values = _examples(session.plan, curves, text)
            if values is not None:
                read(curves, values)
        except GradstepError as error:
            found[text] = error
    return found


def _examples(plan: Plan, curves: Curves, text: str) -> FetchedValues | None:
    """What an expression reads, as far as sizes go; None where that is not known, or too much to be
    tried."""
    values = {fetch: _ones(fetch, plan) for fetch in curves.fetches}
    known = {fetch: value for fetch, value in values.items() if value is not None}
    small = names_a_tensor(text) or all(value.size <= _MOST for value in known.values())
    return FetchedValues(known, curves.holders) if small and len(known) == len(values) else None


def _ones(fetch: Fetch, plan: Plan) -> np.ndarray | None:
    """A tensor of that size and type, which takes no memory; None where its size is not known."""
    place = plan.tensors[fetch.tensor if isinstance(fetch, RunStart) else fetch]
    type = plan.values[plan.versions[place][0] if isinstance(place, str) else place].type
    dims = [-1] if type.shape.dims is None else [-1 if n is None else n for n in type.shape.dims]
    if min(dims, default=0) < 0 or math.prod(dims) < 0:
        return None
    return np.broadcast_to(np.ones((), type.dtype.numpy), dims)
