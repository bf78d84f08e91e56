"""Rows that a question is about, beside those that runs are fed: of the data, or of the feeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.data.data_source import Column, DataSource
from gradstep.core.data.opened_data import OpenedData
from gradstep.core.data.row_numbers import all_rows
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.class_queries import RowShare

Feeds = Mapping[TensorRef, np.ndarray]
_CHUNK = 256  # rows that are fed at a time, at least, where any number is taken


@dataclass(frozen=True, eq=False)
class Rows:
    """source: where they are from; None for the one batch that every run is fed, `feeds`. Of these,
    `refs` have a row for each of `total`."""

    share: RowShare
    total: int
    refs: tuple[TensorRef, ...]
    source: DataSource | None
    feeds: Feeds

    def chunks(self) -> Iterator[tuple[Feeds, np.ndarray]]:
        """What is fed, and the numbers of the rows; in an order by chance, that is always the same,
        so that those that come first tell of all. Raises GradstepError."""
        if self.source is None:
            yield {}, np.arange(self.total)
            return
        source = _spread(self.source)
        for step in range(source.batches_per_epoch):
            yield source.feeds_at(step), source.batch_at(step).rows

    def first(self, most: int) -> np.ndarray:
        """The numbers of the first rows, at most so many."""
        found: np.ndarray = (all_rows(self.total) if self.source is None else self.source.rows)[
            :most
        ]
        return found

    def take(self, ref: TensorRef, rows: np.ndarray) -> np.ndarray:
        """What `ref` is fed for these rows. Raises GradstepError."""
        if self.source is None:
            found: np.ndarray = self.feeds[ref][rows]
            return found
        return take_rows(self.source.columns[ref], rows)


def take_rows(column: Column, rows: np.ndarray) -> np.ndarray:
    """What is fed for these rows, however many of them a placeholder takes. Raises
    GradstepError."""
    kind = replace(column.kind, shape=column.kind.shape.any_rows())
    return replace(column, kind=kind).take(rows)


def rows_of(session: DebugSession, share: RowShare) -> Rows:
    """Those of the document's data, or of what every run is fed. Raises GradstepError where there
    are none."""
    data, feeds = session.program.batches, session.timeline.feeds_at(session.stop.run)
    if not isinstance(data, OpenedData):
        count = max((len(each) for each in feeds.values() if each.ndim), default=0)
        if not count:
            raise _lacking("no rows are fed", "choose data in the Data panel")
        refs = (ref for ref, each in feeds.items() if each.ndim and len(each) == count)
        return Rows("fed", count, tuple(refs), None, feeds)
    source = {"held": data.validation, "test": data.test}.get(share, data.training)
    if source is None:
        raise _lacking("no rows are held back", "hold some back in the Data panel")
    of: RowShare = share if share in ("held", "test") else "trained"
    return Rows(of, len(source.rows), tuple(source.columns), source, feeds)


def _lacking(what: str, hint: str) -> GradstepError:
    return GradstepError(what, kind="FailedPreconditionError", hint=hint)


def _spread(source: DataSource) -> DataSource:
    """The same rows in an order by chance, in batches that the placeholders take."""
    kinds = [column.kind for column in source.columns.values()]
    is_open = all(kind.shape == kind.shape.any_rows() for kind in kinds)
    batch = max(source.batch, _CHUNK) if is_open else source.batch
    return replace(source, batch=batch, seed=0, drop_last=not is_open, varies=False)
