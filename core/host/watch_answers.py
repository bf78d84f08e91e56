"""Answering Watch: what watched expressions are, and were, in words and numbers."""

from __future__ import annotations

import time

import numpy as np

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.value_words import value_text
from gradstep.core.debug.watches import Watched, watch
from gradstep.core.graph.number_kinds import kind_of, widened
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.error_records import info_of

LOOKING_BACK = 0.05  # seconds that runs before may take, of all watches together


def read_watches(session: DebugSession, request: m.Watch) -> m.Watched:
    """Where the session stands."""
    until = time.monotonic() + LOOKING_BACK
    return m.Watched(
        rows=[_row(found) for found in watch(session, request.texts, request.most, until)]
    )


def _row(found: Watched) -> m.WatchRow:
    if found.error is not None:
        error = info_of(found.error)
        return m.WatchRow(text=found.text, error=error.message, hint=error.hint)
    numbers = [*found.numbers]
    if found.value is None:
        return m.WatchRow(text=found.text, numbers=numbers)
    array = np.asarray(found.value)
    return m.WatchRow(
        text=found.text,
        said=value_text(found.value),
        wrong=kind_of(array.dtype) in "fc" and not bool(np.isfinite(widened(array)).all()),
        is_norm=array.size != 1,
        numbers=numbers,
    )
