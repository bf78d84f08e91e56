"""A document's data, opened: its files read or mapped, cut into batches, and seen to fit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gradstep.core.data.array_files import Reading, map_array
from gradstep.core.data.data_source import Batch, Column, DataSource, row_words, split_rows
from gradstep.core.data.data_stamp import NOT_THERE, Stamp, data_stamp, names_files
from gradstep.core.data.file_owner import file_owner
from gradstep.core.data.file_place import split_place
from gradstep.core.data.fixed_rows import require_rows_fit
from gradstep.core.data.row_numbers import RowNumbers
from gradstep.core.data.transforms import (
    STANDARDISE,
    Classes,
    OneHot,
    Transform,
    read_transform,
    standardise,
)
from gradstep.core.data.value_text import as_array, is_generated, read_value
from gradstep.core.document.dataset import Dataset, require_sound, short_text
from gradstep.core.document.document import Document
from gradstep.core.document.packed_rows import packed_name
from gradstep.core.engine.run.feed_values import fed_type
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.number_kinds import kind_of

Kinds = Mapping[TensorRef, TensorType]
# Of an array: the text, whether it is of texts, and the shape that images are arranged for.
Place = tuple[str, bool, Shape]
Sources = tuple[DataSource, DataSource | None, DataSource | None]  # to train, validate, test on
_ANY = TensorType(DType.FLOAT32)  # of what nobody knows the type of
_CHUNK = 1 << 14  # rows that are looked at in one go
_LOOKED_THROUGH = 256 << 20  # bytes


@dataclass(frozen=True, eq=False)
class OpenedData:
    """The `Batches` of a program. kinds: what its placeholders take. training: the rows that runs
    are fed, in batches; validation: those that are held back, None for none; test: those that are
    looked at once all is over. arrays: what was read,
    and stamps: of which state of the file; None for what is no file."""

    dataset: Dataset
    kinds: Kinds
    training: DataSource
    validation: DataSource | None
    test: DataSource | None = None
    arrays: Mapping[Place, np.ndarray] = field(default_factory=dict)
    stamps: Mapping[Place, Stamp | None] = field(default_factory=dict)

    @cached_property
    def types(self) -> Kinds:
        """See Batches."""
        source = self.training
        open_columns = {ref: _of_any_rows(column) for ref, column in source.columns.items()}
        shapes = {ref: c.take(source.rows[:1]).shape[1:] for ref, c in open_columns.items()}
        rows = None if source.is_ragged else min(source.batch, len(source.rows))
        return {
            ref: TensorType(kind.dtype, Shape.of(rows, *shapes[ref]))
            for ref, kind in self.kinds.items()
        }

    @property
    def per_epoch(self) -> int:
        return self.training.batches_per_epoch

    def batch_at(self, run: int) -> Batch:
        return self.training.batch_at(run)

    def feeds_at(self, run: int) -> Mapping[TensorRef, np.ndarray]:
        """See Batches."""
        self._require_unchanged()
        return self.training.feeds_at(run)

    def words_at(self, run: int) -> str:
        return str(self.batch_at(run))

    def held_back(self) -> Iterator[tuple[Mapping[TensorRef, np.ndarray], int]]:
        """See Batches."""
        source = self.validation
        for step in range(0 if source is None else source.batches_per_epoch):
            assert source is not None
            self._require_unchanged()
            yield source.feeds_at(step), len(source.batch_at(step).rows)

    @property
    def changed_files(self) -> list[str]:
        """The files, by their names, that are there, and not as they were when they were read."""
        return self._other_files(is_there=True)

    @property
    def gone_files(self) -> list[str]:
        """Those that are not there any more."""
        return self._other_files(is_there=False)

    def _other_files(self, is_there: bool) -> list[str]:
        names = (
            os.path.basename(split_place(place[0][1:])[0])
            for place, stamp in self.stamps.items()
            if stamp is not None
            and (now := data_stamp(place[0])) != stamp
            and (now != NOT_THERE) == is_there
        )
        return [*dict.fromkeys(names)]  # of which several columns may be

    def _require_unchanged(self) -> None:
        """Raise GradstepError where a file has changed that rows are still taken from."""
        for place, array in self.arrays.items():
            if isinstance(array, np.memmap) and data_stamp(place[0]) != self.stamps[place]:
                what = "is gone" if data_stamp(place[0]) == NOT_THERE else "was changed"
                raise GradstepError(
                    f"{short_text(place[0])[1:]} {what} while it is trained on",
                    kind="FileError",
                    hint="read it again, in the Data panel, or restart the engine",
                )


def open_data(
    dataset: Dataset, kinds: Kinds, reading: Reading, before: OpenedData | None = None
) -> OpenedData:
    """`dataset` for placeholders that take `kinds`. before: what was opened before an edit; what is
    as it was is taken from it. Raises GradstepError that names the placeholder: what files give,
    and for what does not fit."""
    require_sound(dataset)
    if before is not None and _is_as(before, dataset, kinds, reading):
        return before
    arrays: dict[Place, np.ndarray] = {}
    stamps: dict[Place, Stamp | None] = {}
    columns: dict[TensorRef, tuple[Column, list[Transform | str]]] = {}
    for ref, kind in kinds.items():
        place, steps = read_column(dataset.columns[str(ref)], ref)
        key = column_place(place, steps, kind)
        if key not in arrays:
            stamps[key] = data_stamp(place)
            arrays[key] = _array(key, kind.dtype, ref, reading, before, stamps[key])
        columns[ref] = Column(arrays[key], kind), steps
    sources = _fit(_cut(dataset, columns), reading.allow_nan)
    return OpenedData(dataset, kinds, *sources, arrays, stamps)


def fed_kinds(document: Document, graph: Graph) -> Kinds:
    """What the tensors take that data feeds. Raises GradstepError where there is no such tensor."""
    refs = [TensorRef.parse(name) for name in document.columns]
    return {ref: fed_type(graph, ref) or _ANY for ref in refs}


def read_column(text: str, ref: TensorRef) -> tuple[str, list[Transform | str]]:
    """Where the rows of a column are, and what is done to them. Raises GradstepError; for a file on
    another machine, too: a document that is merely opened must not make this one call that."""
    place, *transforms = text.split("|")
    if place.lstrip()[:3].replace("\\", "/") == "@//":
        hint = "copy it to this machine, or give the share a drive letter"
        raise _unusable(f"{place.strip()} lies on another machine", hint, ref)
    try:
        return place.strip(), [read_transform(transform) for transform in transforms]
    except GradstepError as error:
        raise error.at(ref.op) from None


def column_place(text: str, steps: Sequence[Transform | str], kind: TensorType) -> Place:
    """Which array a column takes its rows from. text, steps: as `read_column` has them."""
    as_texts = kind.dtype is DType.STRING or any(isinstance(step, Classes) for step in steps)
    return text, as_texts, kind.shape


def _is_as(before: OpenedData, dataset: Dataset, kinds: Kinds, reading: Reading) -> bool:
    same = before.dataset == dataset and before.kinds == kinds
    return same and all(
        _is_packed_as(array, place[0], reading)
        if packed_name(place[0])
        else data_stamp(place[0]) == before.stamps[place]
        for place, array in before.arrays.items()
    )


def _is_packed_as(array: np.ndarray, text: str, reading: Reading) -> bool:
    found = (reading.packed or {}).get(packed_name(text))
    return found is not None and found.array is array


def _array(
    key: Place,
    dtype: DType,
    ref: TensorRef,
    reading: Reading,
    before: OpenedData | None,
    stamp: Stamp | None,
) -> np.ndarray:
    """[rows, …], of the shape that they have where they are. Raises GradstepError."""
    known = before is not None and key in before.arrays and not packed_name(key[0])
    if before is not None and known and before.stamps[key] == stamp:
        return before.arrays[key]
    try:
        return read_rows(key, dtype, ref, reading)
    except GradstepError as error:
        if stamp == NOT_THERE:
            error.hint = f"{error.hint}, or {_GONE}" if error.hint else _GONE
        raise


_GONE = "choose the data again; rows that are packed into the document need no file"


def read_rows(place: Place, dtype: DType, ref: TensorRef, reading: Reading) -> np.ndarray:
    """The array of a column, [rows, …]. Raises GradstepError."""
    text, as_texts, shape = place
    try:
        kind = TensorType(DType.STRING if as_texts else dtype, shape)
        array = _read(text, kind, ref, reading)
    except GradstepError as error:
        raise error.at(ref.op) from None
    if not array.ndim or not len(array):
        what = "no rows" if array.ndim else "one number"
        raise _unusable(
            f"{short_text(text)} is {what} for {ref.short}", "give it rows, or feed it", ref
        )
    return array


def _read(text: str, kind: TensorType, ref: TensorRef, reading: Reading) -> np.ndarray:
    if text.startswith("@"):
        owner = file_owner() if names_files(text) else None
        return file_rows(text, kind, reading) if owner is None else owner.rows(text, kind)
    # Rows have the shape that they are written in; a generator that has none says which is meant.
    shape = kind.shape.any_rows() if is_generated(text) else UNKNOWN
    value = read_value(text, TensorType(kind.dtype, shape), ref.op, reading)
    return as_array(value, kind.dtype)


def file_rows(text: str, kind: TensorType, reading: Reading) -> np.ndarray:
    """What `@FILE` names, for what takes `kind`. Raises GradstepError."""
    table_of = np.dtype(object) if kind.dtype is DType.STRING else np.dtype(np.float64)
    return map_array(text[1:], replace(reading, dtype=table_of, shape=kind.shape))


def _cut(
    dataset: Dataset, columns: Mapping[TensorRef, tuple[Column, list[Transform | str]]]
) -> Sources:
    count = _even({ref: column for ref, (column, _) in columns.items()})
    limit = min(count, dataset.limit or count)
    shares = dataset.validate, dataset.test
    train, *held = split_rows(limit, shares[0], dataset.shuffle or 0, shares[1])
    if not len(train):
        raise _unusable(
            f"holding back {sum(shares):g} of {limit} rows leaves none", "hold back fewer"
        )
    fitted = {ref: _fitted(*column, train) for ref, column in columns.items()}
    training = DataSource(
        fitted, train, dataset.batch, dataset.shuffle, dataset.drop_last, varies=True
    )
    # Held-back rows are all looked at, in their order.
    validation, test = (
        DataSource(fitted, rows, dataset.batch) if len(rows) else None for rows in held
    )
    return training, validation, test


def _fitted(column: Column, steps: list[Transform | str], train: RowNumbers) -> Column:
    """The column with its transforms, which may have to see the rows that are trained on."""
    made: list[Transform] = []
    for step in steps:
        if isinstance(step, str):
            assert step == STANDARDISE
            made.append(standardise(column.array, train, made))
        else:
            made.append(step)
    return replace(column, transforms=tuple(made))


def _even(columns: Mapping[TensorRef, Column]) -> int:
    """How many rows all columns have. Raises GradstepError where they differ."""
    counts = {ref.short: len(column.array) for ref, column in columns.items()}
    if len({*counts.values()}) > 1:
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise GradstepError(
            f"the columns differ in rows: {said}",
            kind="ValueError",
            node=next(iter(columns)).op,
            hint="give each row of one a row of the others",
        )
    return next(iter(counts.values()))


def _fit(sources: Sources, allow_nan: bool) -> Sources:
    """They, of columns whose rows are ready where that takes little memory. Raises GradstepError
    where a batch, or a row, is not what a placeholder takes. Rows of large arrays are looked at
    when they are fed, but for classes."""
    training, *others = sources
    require_rows_fit(training, *others)
    training.feeds_at(0)
    training.feeds_at(training.batches_per_epoch - 1)
    rows = [each.rows for each in sources if each is not None]
    columns = {ref: _seen(ref, c, rows, allow_nan) for ref, c in training.columns.items()}
    validation, test = (each and replace(each, columns=columns) for each in others)
    return replace(training, columns=columns), validation, test


def _seen(ref: TensorRef, column: Column, rows: Sequence[RowNumbers], allow_nan: bool) -> Column:
    """The column, its rows looked at as they are fed, and kept if they are few."""
    if plain := _of_any_rows(column).is_plain:
        column = replace(column, ready=np.asarray(column.array))
    classes = any(isinstance(step, OneHot) for step in column.transforms)
    if not classes and column.array.nbytes > _LOOKED_THROUGH:
        return column
    before = _before_draws(column)
    ready = None if plain or before is None else _room(before, sum(map(len, rows)))
    for part in (each[i : i + _CHUNK] for each in rows for i in range(0, len(each), _CHUNK)):
        values = _required(ref, column, part, allow_nan)
        if ready is not None and before is not None:
            ready[part] = before.take(part) if column.drawn else values
    return column if plain else replace(column, ready=ready)


def _before_draws(column: Column) -> Column | None:
    """What is the same in all epochs; None where that is not all that comes first."""
    if not column.drawn:
        return _of_any_rows(column)
    if column.fixed is None:
        return None
    return Column(column.array, TensorType(column.kind.dtype), column.fixed)


def _room(column: Column, count: int) -> np.ndarray | None:
    """Where so many rows go; None for too many."""
    row = column.take(np.arange(1))
    if row.dtype.hasobject or count * row.nbytes > _LOOKED_THROUGH:
        return None
    return np.empty((count, *row.shape[1:]), row.dtype)


def _required(ref: TensorRef, column: Column, rows: np.ndarray, allow_nan: bool) -> np.ndarray:
    """These rows as they are fed. Raises GradstepError for one that cannot be."""
    try:
        values = _of_any_rows(column).take(rows)
    except GradstepError as error:
        raise _misfit(ref, f"{row_words(rows)}: {error.message}", error.hint) from None
    if allow_nan or kind_of(values.dtype) not in "fc" or not np.isnan(values).any():
        return values
    row = rows[np.argwhere(np.isnan(values))[0][0]]
    raise _misfit(ref, f"row {row} is NaN", "mend the row, or leave it out")


def _of_any_rows(column: Column) -> Column:
    return replace(column, kind=TensorType(column.kind.dtype, column.kind.shape.any_rows()))


def _misfit(ref: TensorRef, what: str, hint: str) -> GradstepError:
    text = f"the data of {ref.short}: {what}"
    return GradstepError(text, kind="ValueError", node=ref.op, hint=hint)


def _unusable(what: str, hint: str, ref: TensorRef | None = None) -> GradstepError:
    """What was asked for makes no sense."""
    return GradstepError(what, kind=USAGE, node=ref and ref.op, hint=hint)
