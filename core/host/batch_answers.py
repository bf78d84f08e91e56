"""The rows that a run is fed, for the window to show."""

from __future__ import annotations

import numpy as np

from gradstep.core.data.opened_data import OpenedData
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import BatchSeen, ColumnSeen, LookAtBatch

_NUMBERS = 10  # of a row that are said


def look_at_batch(session: DebugSession, request: LookAtBatch) -> BatchSeen:
    """The batch of a run. Raises GradstepError for one that cannot be had."""
    run = session.stop.run if request.run < 0 else request.run
    data = session.program.batches
    if not isinstance(data, OpenedData):
        return BatchSeen(run=run)
    rows = data.batch_at(run).rows
    changed = data.changed_files
    feeds = data.feeds_at(run)
    return BatchSeen(
        run=run,
        text=data.words_at(run),
        rows=rows[: request.limit].tolist(),
        size=len(rows),
        columns=[_column(data, ref, feeds[ref][: request.limit]) for ref in feeds],
        changed=changed,
    )


def _column(data: OpenedData, ref: TensorRef, values: np.ndarray) -> ColumnSeen:
    return ColumnSeen(tensor=str(ref), kind=str(data.types[ref]), cells=[*map(row_text, values)])


def row_text(row: np.ndarray) -> str:
    """A row in a few words: `1 0 0.5 …`."""
    flat = np.asarray(row).reshape(-1)
    more = " …" if flat.size > _NUMBERS else ""
    return " ".join(map(_number, flat[:_NUMBERS].tolist())) + more


def _number(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return f"{value:.4g}" if isinstance(value, float) else str(value)
