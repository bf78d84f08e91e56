"""Answering FindMoments: at which steps of all runs an expression holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.debug.breaks.ready_conditions import condition_named
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.query.query_search import find
from gradstep.core.debug.query.recorded_query import Answer, Query, Which
from gradstep.core.debug.value_words import value_text
from gradstep.core.protocol import messages as m


def find_moments(session: DebugSession, request: m.FindMoments) -> m.Moments:
    """As of where the session stands. A word of `ready_conditions` is that expression."""
    query = Query(condition_named(request.text), Which(request.which), request.most)
    found = find(session, query)
    return m.Moments(
        rows=[_row(answer) for answer in found.found],
        count=found.count,
        runs=found.runs,
        repeated=found.repeated,
        lost=found.lost,
    )


def _row(answer: Answer) -> m.MomentRow:
    run, step, *_ = answer.path
    inside = answer.inside[-1] if answer.inside else None
    return m.MomentRow(
        position=answer.position,
        run=run,
        step=step,
        iteration=None if inside is None else inside.iteration,
        inside="" if inside is None else inside.text,
        node=answer.node,
        tensor="" if answer.tensor is None else answer.tensor.short,
        element=None if answer.element is None else [*answer.element],
        said=_said(answer.value),
    )


def _said(value: Any) -> str:
    texts = np.asarray(value).dtype.kind in "OSU" and not isinstance(value, tuple)
    return "" if value is None or texts else value_text(value)
