"""Placeholders that take a fixed number of rows: whether each batch of the data has as many."""

from __future__ import annotations

from gradstep.core.data.data_source import DataSource
from gradstep.core.data.value_text import RowsMisfitError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import TensorRef


def require_rows_fit(training: DataSource, *held: DataSource | None) -> None:
    """Raise RowsMisfitError (ValueError) that names the first placeholder whose rows are fixed and
    not those of a batch, and both ways out. held: what is only looked at, whole."""
    for ref, column in training.columns.items():
        rows = (column.kind.shape.dims or (None,))[0]
        if rows is None:
            continue
        _require(ref, column.kind, rows, training)
        for source in held:
            if source is not None and (rest := len(source.rows) % rows):
                said = f"the last batch of those held back has {rest}"
                raise _misfit(ref, column.kind, rows, said, "")


def _require(ref: TensorRef, kind: TensorType, rows: int, training: DataSource) -> None:
    count, batch = len(training.rows), training.batch
    if batch != rows:
        there = f"a batch has {batch}" if batch <= count else f"there are {count}"
        way = (
            f"take batches of {rows} (--batch {rows})" if count >= rows else f"give it {rows} rows"
        )
        raise _misfit(ref, kind, rows, there, way)
    if count < batch:
        raise _misfit(ref, kind, rows, f"there are {count}", f"give it {rows} rows")
    if training.is_ragged:
        said = f"the last batch of an epoch has {count % batch}"
        raise _misfit(ref, kind, rows, said, "leave that out (--drop-last)")


def _misfit(ref: TensorRef, kind: TensorType, rows: int, said: str, way: str) -> RowsMisfitError:
    shape = f"give it the shape {kind.shape.any_rows()}"
    return RowsMisfitError(
        f"{ref.short} takes {rows} row{'s' * (rows != 1)} in each run, and {said}",
        kind="ValueError",
        node=ref.op,
        hint=f"{way}, or {shape}" if way else shape,
    )
