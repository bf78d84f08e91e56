"""What --data and its fellows give: batches to train on, and rows to validate on."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.cli.arguments.data_flags import BATCH
from gradstep.core.cli.arguments.shared_arguments import require_with
from gradstep.core.cli.output.command_output import usage
from gradstep.core.data.array_files import Reading, map_array
from gradstep.core.data.data_source import Column, DataSource, split_rows
from gradstep.core.data.transforms import STANDARDISE, Transform, read_transform, standardise
from gradstep.core.data.value_text import read_value
from gradstep.core.engine.run.feed_values import fed_type
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, TensorType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.io.disk.memory_budget import Budget


@dataclass(frozen=True)
class TrainingData:
    """validation: None where no rows are held back for it."""

    training: DataSource
    validation: DataSource | None


_Steps = list[Transform | str]
_OF_DATA = ("batch", "epochs", "limit", "shuffle", "drop_last", "validate")


def read_data(graph: Graph, args: argparse.Namespace) -> TrainingData | None:
    """What the arguments say; None without --data. Raises GradstepError."""
    if not args.data:
        require_with(args, "--data", _OF_DATA, "say --data x=@FILE.csv")
        return None
    columns = _columns(graph, args)
    count = _even(columns)
    limit = min(count, args.limit or count)
    train, held = split_rows(limit, args.validate or 0.0, args.shuffle or 0)
    if not len(train):
        raise usage(f"--validate {args.validate} of {limit} rows leaves none", "hold back fewer")
    batch = args.batch or min(BATCH, len(train))
    fitted = {ref: _fitted(*column, train) for ref, column in columns.items()}
    training = DataSource(fitted, train, batch, args.shuffle, args.drop_last)
    # Held-back rows are all looked at, in their order.
    validation = DataSource(fitted, held, batch) if len(held) else None
    return TrainingData(training, validation)


def _columns(graph: Graph, args: argparse.Namespace) -> dict[TensorRef, tuple[Column, _Steps]]:
    columns: dict[TensorRef, tuple[Column, _Steps]] = {}
    for text in args.data:
        ref, column = _column(text, graph, args)
        if ref in columns:
            raise usage(f"'{ref.short}' is given twice by --data", "leave one of them away")
        columns[ref] = column
    fed = {TensorRef.parse(text.partition("=")[0].strip()) for text in args.feed}
    for ref in fed & columns.keys():
        raise usage(f"'{ref.short}' is given by --feed and by --data", "leave one of them away")
    return columns


def _column(
    text: str, graph: Graph, args: argparse.Namespace
) -> tuple[TensorRef, tuple[Column, _Steps]]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise usage(f"'{text}' is not NAME=ROWS", "write --data x=@FILE.csv:COLUMN")
    ref = TensorRef.parse(name.strip())
    kind = fed_type(graph, ref) or TensorType(DType.FLOAT32)
    place, *transforms = value.split("|")
    steps = [read_transform(transform) for transform in transforms]
    reading = Reading(budget=Budget(args.memory), allow_nan=args.allow_nan)
    return ref, (Column(_rows(place.strip(), kind, ref, reading), kind), steps)


def _rows(text: str, kind: TensorType, ref: TensorRef, reading: Reading) -> np.ndarray:
    """[rows, …], of the shape that they have where they are."""
    array = _array(text, kind, ref, reading)
    if not array.ndim or not len(array):
        what = "no rows" if array.ndim else "one number"
        raise usage(f"{text} is {what} for {ref.short}", "give it rows, or use --feed")
    return array


def _array(text: str, kind: TensorType, ref: TensorRef, reading: Reading) -> np.ndarray:
    if text.startswith("@"):
        table_of = np.dtype(object) if kind.dtype is DType.STRING else np.dtype(np.float64)
        return map_array(text[1:], replace(reading, dtype=table_of))
    return np.asarray(read_value(text, TensorType(kind.dtype, UNKNOWN), ref.op, reading))


def _fitted(column: Column, steps: _Steps, train: np.ndarray) -> Column:
    """The column with its transforms, which may have to see the rows that are trained on."""
    made: list[Transform] = []
    for step in steps:
        if isinstance(step, str):
            assert step == STANDARDISE
            made.append(standardise(column.array, train, made))
        else:
            made.append(step)
    return replace(column, transforms=tuple(made))


def _even(columns: dict[TensorRef, tuple[Column, _Steps]]) -> int:
    """How many rows all columns have. Raises GradstepError where they differ."""
    counts = {ref.short: len(column.array) for ref, (column, _) in columns.items()}
    if len({*counts.values()}) > 1:
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise GradstepError(
            f"the columns differ in rows: {said}",
            kind="ValueError",
            hint="give each row of one a row of the others",
        )
    return next(iter(counts.values()))
