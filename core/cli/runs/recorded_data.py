"""The data of a training as its checkpoints name it."""

from __future__ import annotations

import hashlib

from gradstep.core.data.opened_data import OpenedData
from gradstep.core.document.dataset import short_text
from gradstep.core.io.checkpoints.data_record import DataRecord

_LONGEST = 80  # characters of a column's text that are kept


def record_data(data: OpenedData | None, step: int) -> DataRecord:
    """What it is, and where a training stands in it that has made so many steps."""
    if data is None:
        return DataRecord()
    said, batch = data.dataset, data.batch_at(step)
    return DataRecord(
        {name: _recorded(text) for name, text in said.columns.items()},
        said.batch,
        said.shuffle,
        said.drop_last,
        said.limit or None,
        said.validate or None,
        said.test or None,
        len(data.training.rows),
        batch.epoch,
        batch.number,
    )


def _recorded(text: str) -> str:
    """Without folders, which may be others on the next machine; typed rows by their beginning."""
    text = " | ".join(part.strip() for part in short_text(text).split("|"))
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({hashlib.sha256(text.encode()).hexdigest()[:8]})"
