"""The rows that a run is fed, for the window to show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.data.data_source import row_words as said_rows
from gradstep.core.data.opened_data import OpenedData
from gradstep.core.data.row_numbers import holds
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.row_supply import take_rows
from gradstep.core.protocol.messages import BatchSeen, ColumnSeen, LookAtBatch

_NUMBERS = 10  # of a row that are said


def look_at_batch(session: DebugSession, request: LookAtBatch) -> BatchSeen:
    """The batch of a run. Raises GradstepError for one that cannot be had."""
    run = session.stop.run if request.run < 0 else request.run
    data = session.program.batches
    if not isinstance(data, OpenedData):
        return BatchSeen(run=run)
    rows, words, feeds = _asked_rows(data, request.rows) or _batch(data, run)
    return BatchSeen(
        run=run,
        text=words,
        rows=rows[: request.limit].tolist(),
        size=len(rows),
        columns=[_column(data, ref, feeds[ref][: request.limit]) for ref in feeds],
        changed=data.changed_files,
        gone=data.gone_files,
    )


Part = tuple[np.ndarray, str, Mapping[TensorRef, np.ndarray]]  # rows, in words, and what is fed


def _batch(data: OpenedData, run: int) -> Part:
    return data.batch_at(run).rows, data.words_at(run), data.feeds_at(run)


def _asked_rows(data: OpenedData, rows: list[int]) -> Part | None:
    """Rows by their numbers; None for none."""
    if not rows:
        return None
    words, asked = _words_of(data, rows), np.array(rows)
    columns = data.training.columns
    return asked, words, {ref: take_rows(column, asked) for ref, column in columns.items()}


def _words_of(data: OpenedData, rows: list[int]) -> str:
    """Of rows that were asked for. Raises GradstepError for one that there is not."""
    sources = {"": data.training, ", held back": data.validation, ", held back to test": data.test}
    of = [words for words, s in sources.items() if s is not None and holds(s.rows, rows)]
    if not of:
        raise GradstepError(
            f"{said_rows(np.array(rows))} of the data are neither trained on nor held back",
            kind="ValueError",
        )
    return f"{said_rows(np.array(rows))}{of[0]}"


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
