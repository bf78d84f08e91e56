"""What the window asks about the document's data: the rows that a run is fed.

Part of the messages; see messages.py.
"""

from __future__ import annotations

import msgspec

from gradstep.core.protocol.message_base import Glance, Reply


class LookAtBatch(Glance, frozen=True, kw_only=True):
    """What a run (-1: that in which the debugger stands) is fed of the data. Replied to with
    BatchSeen. limit: at most so many rows. rows: these of the data, by their numbers, in place of
    those of the run."""

    run: int = -1
    limit: int = 64
    rows: list[int] = []


class ColumnSeen(msgspec.Struct, frozen=True, kw_only=True):
    """What a placeholder is fed. cells: each row in a few words."""

    tensor: str
    kind: str
    cells: list[str]


class BatchSeen(Reply, frozen=True, kw_only=True):
    """text: "batch 17 of epoch 3, rows 512 to 543", or "row 7, held back" of a row that was asked
    for; "" where there is no data. rows: their numbers, from 0; size: how many there are in all.
    changed: files that are not as they were when they were read; gone: those that are not there
    any more."""

    run: int
    text: str = ""
    rows: list[int] = []
    size: int = 0
    columns: list[ColumnSeen] = []
    changed: list[str] = []
    gone: list[str] = []
