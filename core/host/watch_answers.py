"""Answering Watch: what watched expressions are, and were, in words and numbers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.watches import Watched, watch
from gradstep.core.float_text import float_text
from gradstep.core.graph.number_kinds import kind_of, widened
from gradstep.core.host.tensor_statistics import summarize
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.error_records import info_of

LOOKING_BACK = 0.05  # seconds that runs before may take, of all watches together
_WRITTEN = 8  # elements; of more, their range


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


def value_text(value: Any) -> str:
    """In a line: a number, a few, or the shape and the range of many."""
    if isinstance(value, tuple):
        return str(tuple(int(n) for n in value)) if all(map(_is_whole, value)) else str(value)
    array = np.asarray(value)
    if array.size == 0:
        return f"{_shape(array)} empty"
    if array.size <= _WRITTEN:
        words = " ".join(_number(x) for x in widened(array).reshape(-1).tolist())
        return words if not array.ndim else f"[{words}]{_shape(array) if array.ndim > 1 else ''}"
    stats = summarize(array)
    parts = [_shape(array)]
    if stats is not None and stats.minimum is not None and stats.maximum is not None:
        parts.append(f"{stats.minimum:.4g} … {stats.maximum:.4g}")
    if stats is not None:
        parts += [f"{n} {word}" for n, word in ((stats.nans, "NaN"), (stats.infs, "Inf")) if n]
    return "  ".join(parts)


def _shape(array: np.ndarray[Any, Any]) -> str:
    """ "64×32"; of a vector "[64]"."""
    return f"[{array.size}]" if array.ndim == 1 else "×".join(map(str, array.shape))


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _number(x: Any) -> str:
    return float_text(x) if isinstance(x, float) else str(x)
