"""A data source: which rows a step is fed, and their values, as a function of the step alone.

Nothing is counted on from step to step: stepping back, replaying, another process and another
machine see the same batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from gradstep.core.data.drawn_transforms import Drawn, row_draws
from gradstep.core.data.row_numbers import MANY, MOST_HELD, SPLIT, RowNumbers, SplitRows, all_rows
from gradstep.core.data.row_order import row_order, sorted_order
from gradstep.core.data.transforms import Transform, apply
from gradstep.core.data.value_text import fit_value, shape_rows
from gradstep.core.engine.run.chosen_rows import ChosenRows
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.build.constant_cast import convert_given

_T = TypeVar("_T")
_Taking = Callable[["Column", np.ndarray, np.ndarray | None], _T]


@dataclass(frozen=True, eq=False)
class Column:
    """What one placeholder is fed. array: [rows, …], perhaps mapped from a file; transforms: of the
    rows of a batch; kind: what the placeholder takes; ready: the rows as they are fed, where all
    were made at once, but for what each epoch draws."""

    array: np.ndarray
    kind: TensorType
    transforms: tuple[Transform, ...] = ()
    ready: np.ndarray | None = None

    def take(self, rows: np.ndarray, draws: np.ndarray | None = None) -> np.ndarray:
        """The values of these rows, as they are fed. draws: as row_draws has them, None for none.
        Raises GradstepError."""
        if self.ready is not None and self._count in (None, len(rows)) and not self.drawn:
            return self.ready.take(rows, 0)
        if self.ready is None:
            values = apply(np.asarray(self.array[rows]), self.transforms, draws)
        else:
            values = apply(self.ready.take(rows, 0), self.drawn, draws)
        if values.shape[1:] != self._row:
            values = shape_rows(values, self.kind.shape)
        if values.shape[1:] == self._row and kind_of(values.dtype) in "biufc":
            if values.dtype == self._dtype:
                return values
            return convert_given(values, self.kind.dtype)
        return fit_value(values, self.kind)

    def choose(self, rows: np.ndarray, draws: np.ndarray | None = None) -> np.ndarray | ChosenRows:
        """`take`, for who feeds them at once. Raises GradstepError."""
        if self.ready is not None and self._count in (None, len(rows)) and not self.drawn:
            return ChosenRows(self.ready, rows)
        return self.take(rows, draws)

    @cached_property
    def drawn(self) -> tuple[Drawn, ...]:
        """The transforms that each epoch draws anew."""
        return tuple(step for step in self.transforms if isinstance(step, Drawn))

    @property
    def fixed(self) -> tuple[Transform, ...] | None:
        """The transforms before these; None where others come behind."""
        count = len(self.transforms) - len(self.drawn)
        before = self.transforms[:count]
        return None if any(isinstance(step, Drawn) for step in before) else before

    @property
    def is_plain(self) -> bool:
        """Whether the rows are fed as they are."""
        array = self.array
        same = array.dtype == self._dtype and array.shape[1:] == self._row
        return same and not self.transforms and not self._dtype.hasobject

    @cached_property
    def _row(self) -> tuple[int | None, ...]:
        """The declared shape of a row, where any number of them is taken."""
        dims = self.kind.shape.dims
        return dims[1:] if dims and dims[0] is None else (None,)

    @cached_property
    def _count(self) -> int | None:
        """The declared number of rows; None for any."""
        dims = self.kind.shape.dims
        return None if dims is None else (*dims, -1)[0]

    @cached_property
    def _dtype(self) -> np.dtype:
        return self.kind.dtype.numpy


@dataclass(frozen=True, eq=False)
class Batch:
    """What a step is fed. epoch, number: both from 0; rows: of the data, int64 [n]."""

    epoch: int
    number: int
    rows: np.ndarray

    def __str__(self) -> str:
        """As people count: "batch 17 of epoch 3, rows 512 to 543"."""
        return f"batch {self.number + 1} of epoch {self.epoch + 1}, {row_words(self.rows)}"


@dataclass(frozen=True, eq=False)
class DataSource:
    """columns: by tensor. rows: which of the data's rows it is made of, in their order. batch: rows
    of a step. seed: of the order in each epoch; None for that of `rows`. drop_last: whether an
    epoch leaves out what is less than a batch. varies: whether an epoch crops and flips its rows by
    chance, where they are to be cropped or flipped."""

    columns: Mapping[TensorRef, Column]
    rows: RowNumbers
    batch: int
    seed: int | None = None
    drop_last: bool = False
    varies: bool = False
    batches_per_epoch: int = field(init=False)

    def __post_init__(self) -> None:
        whole, rest = divmod(len(self.rows), self.batch)
        count = whole + (1 if rest and not self.drop_last else 0)
        if not count:
            raise GradstepError(
                f"there are {len(self.rows)} rows, and no batch of {self.batch}",
                kind="ValueError",
                hint="take smaller batches, or more rows",
            )
        object.__setattr__(self, "batches_per_epoch", count)

    @property
    def is_ragged(self) -> bool:
        """Whether the last batch of an epoch is smaller."""
        rows, batch = len(self.rows), self.batch
        return not self.drop_last and rows > batch and rows % batch != 0

    def batch_at(self, step: int) -> Batch:
        """The batch of a step, from 0."""
        epoch, number = divmod(step, self.batches_per_epoch)
        return Batch(epoch, number, self._rows_of(epoch, number))

    def _rows_of(self, epoch: int, number: int) -> np.ndarray:
        places: slice | np.ndarray = slice(number * self.batch, (number + 1) * self.batch)
        if self.seed is not None:
            places = row_order(len(self.rows), self.seed, epoch)[places]
        chosen: np.ndarray = self.rows[places]
        return chosen

    def feeds_at(self, step: int) -> Mapping[TensorRef, np.ndarray]:
        """What a step, from 0, is fed. Raises GradstepError that names the rows and the tensor."""
        return self._values_at(step, Column.take)

    def chosen_at(self, step: int) -> Mapping[TensorRef, np.ndarray | ChosenRows]:
        """`feeds_at`, for who feeds it at once."""
        return self._values_at(step, Column.choose)

    @cached_property
    def _draws(self) -> bool:
        return self.varies and any(column.drawn for column in self.columns.values())

    def _values_at(self, step: int, of: _Taking[_T]) -> dict[TensorRef, _T]:
        epoch, number = divmod(step, self.batches_per_epoch)
        rows = self._rows_of(epoch, number)
        draws = row_draws(rows, self.seed or 0, epoch) if self._draws else None
        feeds = {}
        for ref, column in self.columns.items():
            try:
                feeds[ref] = of(column, rows, draws)
            except GradstepError as error:
                raise GradstepError(
                    f"{row_words(rows)} of {ref.short}: {error.message}",
                    kind=error.kind,
                    node=ref.op,
                    hint=error.hint,
                ) from None
        return feeds


def row_words(rows: np.ndarray) -> str:
    """`rows 512 to 543`, or the first of them; from 0."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return f"rows {rows[0]} to {rows[-1]}"
    more = ", …" if len(rows) > _NAMED else ""
    return f"rows {', '.join(map(str, rows[:_NAMED]))}{more}"


_NAMED = 6


def split_rows(
    count: int, validate: float, seed: int, test: float = 0.0
) -> tuple[RowNumbers, RowNumbers, RowNumbers]:
    """Rows to train on, and shares of them to validate and to test on, rounded down but one at
    least: drawn by `seed`, as files are often sorted. All in the order of the data. Those to
    validate on are the same, whatever is tested on. Raises GradstepError."""
    if not validate and not test:
        return all_rows(count), np.arange(0), np.arange(0)
    if count > MANY:
        shares = validate, test
        if sum(shares) > MOST_HELD:
            raise GradstepError(
                f"holding back {sum(shares):g} of {count:,} rows leaves too few",
                kind=USAGE,
                hint=f"hold back {MOST_HELD:g} of so many at most",
            )
        held, tested, train = (SplitRows(count, seed, shares, part) for part in range(3))
        return train, held, tested
    sizes = [max(1, int(count * share)) if share else 0 for share in (validate, test)]
    parts = np.split(sorted_order(count, seed, SPLIT), np.cumsum(sizes))
    validated, testing, rest = map(np.sort, parts)
    return rest, validated, testing
